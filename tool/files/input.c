#include "input.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool input_open(struct input *in, const char *name)
{
    const bool standard = !name || strcmp(name, "-") == 0;
    if (name && !*name) return complain("'' is no file name, expected one");
    *in = (struct input){ .fd = standard ? STDIN_FILENO : open(name, O_RDONLY),
                          .name = standard ? "standard input" : name };
    if (in->fd < 0) return complain("%s: %s", name, strerror(errno));
    return true;
}

void input_close(struct input *in)
{
    if (in->fd > STDIN_FILENO) close(in->fd);
    free(in->buf);
    in->buf = NULL;
}

/* Moves what is unread to the front and makes room for `wanted` octets in all, plus a piece. */
static bool make_room(struct input *in, size_t wanted)
{
    if (in->begin) memmove(in->buf, in->buf + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    if (wanted <= in->cap && in->cap - in->end >= INPUT_PIECE / 2) return true;
    if (wanted > INPUT_PACKET_LEN_MAX)
        return complain("%s: packet at octet %llu is longer than %zu octets", in->name,
                        (unsigned long long)in->offset, INPUT_PACKET_LEN_MAX);
    size_t cap = in->cap ? in->cap : INPUT_PIECE;
    while (cap < wanted || cap - in->end < INPUT_PIECE / 2)
        cap *= 2;
    uint8_t *grown = realloc(in->buf, cap);
    if (!grown) return complain("%s: no memory for %zu octets", in->name, cap);
    in->buf = grown;
    in->cap = cap;
    return true;
}

bool input_fill(struct input *in, size_t wanted)
{
    if (wanted <= input_len(in) || in->at_end) return true;
    if ((wanted > in->cap - in->begin || !in->buf) && !make_room(in, wanted)) {
        in->failed = true;
        return false;
    }
    while (input_len(in) < wanted && !in->at_end) {
        const ssize_t got = read(in->fd, in->buf + in->end, in->cap - in->end);
        if (got > 0) {
            in->end += (size_t)got;
        } else if (got == 0 || (errno == EINTR && interrupted)) {
            in->at_end = true;
        } else if (errno != EINTR) {
            complain("%s: %s", in->name, strerror(errno));
            in->failed = true;
            return false;
        }
    }
    return true;
}
