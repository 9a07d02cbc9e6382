#include "view_reader.h"

void view_reader_init(struct view_reader *r, const struct view_source *source)
{
    r->source = source;
    r->offset = r->begin = r->end = 0;
    r->err = LEAT_ERR_OK;
    r->kind = 0;
    leat_sim_recording_init(&r->rec);
}

/* False: there are no more. */
static bool fill(struct view_reader *r, bool *is_lost)
{
    const size_t len = r->end - r->begin;
    const uint64_t rest = view_source_octets(r->source) - r->offset - len;
    const size_t wanted = rest < sizeof r->buf - len ? (size_t)rest : sizeof r->buf - len;
    memmove(r->buf, r->buf + r->begin, len);
    const ssize_t got = view_source_read(r->source, r->offset + len, r->buf + len, wanted);
    *is_lost = got != (ssize_t)wanted;
    r->begin = 0;
    r->end = len + (got > 0 ? (size_t)got : 0);
    return got > 0;
}

enum view_read view_reader_next(struct view_reader *r, struct leat_sim_event *out)
{
    for (;;) {
        bool found, is_lost;
        size_t used, fault_at = 0;
        r->err = leat_sim_recording_next(&r->rec, r->buf + r->begin, r->end - r->begin, out, &found,
                                         &used, &fault_at);
        if (r->err) {
            r->kind = r->buf[r->begin];
            r->offset += fault_at;
            return VIEW_READ_DAMAGED;
        }
        r->begin += used;
        r->offset += used;
        if (found) return VIEW_READ_EVENT;
        if (used || fill(r, &is_lost)) continue;
        if (is_lost) return VIEW_READ_LOST;
        if (r->rec.closed) return VIEW_READ_END;
        r->offset += r->end - r->begin;
        return VIEW_READ_CUT;
    }
}
