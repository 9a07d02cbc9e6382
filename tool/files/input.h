/*
 * A file or pipe, read in pieces. The unread octets are contiguous in one buffer, which grows only
 * as far as one packet needs.
 */
#ifndef LEAT_INPUT_H
#define LEAT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_PIECE = 1 << 18 };
/* One packet, written as hex text: a PacketWay message may have 256 MiB. */
#define INPUT_PACKET_LEN_MAX ((size_t)1 << 30)

struct input {
    int fd;
    const char *name;
    uint8_t *buf;
    size_t cap, begin, end; /* unread: buf[begin..end) */
    uint64_t offset;        /* of buf[begin] in the file */
    bool at_end, failed;
};

/* NULL or "-" is standard input. False after a complaint: it cannot be opened. */
bool input_open(struct input *in, const char *name);
void input_close(struct input *in);

/* Reads until at least `wanted` octets are unread, or to the end of the file. False after a
 * complaint. */
bool input_fill(struct input *in, size_t wanted);

static inline const uint8_t *input_octets(const struct input *in)
{
    return in->buf + in->begin;
}

static inline size_t input_len(const struct input *in)
{
    return in->end - in->begin;
}

static inline void input_skip(struct input *in, size_t len)
{
    in->begin += len;
    in->offset += len;
}

#endif
