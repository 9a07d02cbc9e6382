#include "output.h"
#include "tool.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void flush(struct leat_text *text)
{
    struct output *out = text->user;
    size_t done = 0;
    while (done < text->len && !out->error) {
        const ssize_t n = write(out->fd, text->buf + done, text->len - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out->error = errno;
    }
    text->len = 0;
}

void output_init(struct output *out, int fd)
{
    out->fd = fd;
    out->error = 0;
    leat_text_init(&out->text, out->buf, sizeof out->buf, flush, out);
}

void output_checkpoint(struct output *out)
{
    if (out->text.cap - out->text.len < OUTPUT_ROLLBACK) flush(&out->text);
}

void output_flush(struct output *out)
{
    flush(&out->text);
}

bool output_finish(struct output *out, const char *name)
{
    flush(&out->text);
    if (!out->error && out->text.overflowed)
        return complain("%s: not complete, a part of it could not be made", name);
    if (!out->error) return true;
    return complain("%s: %s", name, strerror(out->error));
}
