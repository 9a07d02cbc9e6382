/*
 * Message buffers: what is packed, sent, received and unpacked, each known by a number.
 *
 *     new(encoding) -- pack, pack, ... -- finish -- unpack, unpack, ... -- free
 *
 * Encodings: XDR (big-endian, four or eight octets each), raw (as in memory), and in place (only
 * the location of the items is recorded; they are copied, raw, when the message is sent).
 *
 * Results are PvmOk or the error codes of pvm3.h.
 */
#ifndef LEAT_PVM_BUFFER_H
#define LEAT_PVM_BUFFER_H

#include "pvm_octets.h"

enum leat_pvm_encoding { /* as in struct pvmminfo */
                         LEAT_PVM_XDR = 0x10000000,
                         LEAT_PVM_IN_PLACE = 0x20000000,
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                         LEAT_PVM_RAW = 0x00408c41, /* the data signature of this kind of machine */
#else
                         LEAT_PVM_RAW = 0x00408c42,
#endif
};

struct leat_pvm_span {
    const void *at;
    size_t len;
};

struct leat_pvm_buffer {
    int id;
    int encoding;
    int context, tag, wait_id, source, destination;
    struct leat_pvm_octets body;
    struct leat_pvm_span *span; /* in place */
    size_t span_count, span_cap;
    bool is_read;                 /* being unpacked */
    bool is_queued;               /* not received yet */
    struct leat_pvm_buffer *next; /* in a queue */
};

/* `how`: PvmDataDefault, PvmDataRaw or PvmDataInPlace; -1: none of these. */
int leat_pvm_encoding_of(int how);

struct leat_pvm_buffer *leat_pvm_buffer_new(int encoding); /* NULL: no memory */
struct leat_pvm_buffer *leat_pvm_buffer_find(int id);      /* NULL: there is none */
void leat_pvm_buffer_free(struct leat_pvm_buffer *buffer); /* NULL: nothing */

/* Octets of the message. */
size_t leat_pvm_buffer_len(const struct leat_pvm_buffer *buffer);
/* Copies octets [at, at + len) of the message. */
void leat_pvm_buffer_copy(const struct leat_pvm_buffer *buffer, size_t at, void *to, size_t len);

/* Prepares it for unpacking from its beginning, unless it is being unpacked already. */
int leat_pvm_buffer_finish(struct leat_pvm_buffer *buffer);

/* `type`: PVM_BYTE .. PVM_ULONG. Strides count items. On error nothing is packed. */
int leat_pvm_pack(struct leat_pvm_buffer *buffer, int type, const void *items, int count,
                  int stride);
int leat_pvm_unpack(struct leat_pvm_buffer *buffer, int type, void *items, int count, int stride);
int leat_pvm_pack_text(struct leat_pvm_buffer *buffer, const char *text);
/* The next string, lent, `len` octets with its final zero. */
int leat_pvm_unpack_text(struct leat_pvm_buffer *buffer, const char **text, size_t *len);

size_t leat_pvm_type_len(int type); /* octets in memory; 0: no such type */

#endif
