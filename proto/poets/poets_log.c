#include "poets_log.h"
#include <string.h>

static size_t text_len(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && n < LEAT_POETS_LOG_TEXT_LEN_MAX && text[n])
        n++;
    return n;
}

leat_err leat_poets_log_split(const char *text, size_t len, uint8_t task, uint32_t device_index,
                              struct leat_poets_packet out[LEAT_POETS_LOG_FRAGMENT_COUNT_MAX],
                              size_t *count)
{
    if (task > LEAT_POETS_TASK_MAX) return LEAT_ERR_POETS_TASK;
    len = text_len(text, len);
    const size_t fragments = len / LEAT_POETS_LOG_FRAGMENT_LEN + 1; /* the NUL is included */

    for (size_t i = 0; i < fragments; i++) {
        const size_t at = i * LEAT_POETS_LOG_FRAGMENT_LEN;
        const bool last = i + 1 == fragments;
        const size_t chars = last ? len - at : LEAT_POETS_LOG_FRAGMENT_LEN;
        out[i] = (struct leat_poets_packet){
            .packet_class = LEAT_POETS_CLASS_SUP,
            .task = task,
            .opcode = LEAT_POETS_OP_LOG,
            .sender = device_index,
            .payload_len = (uint16_t)(1 + chars + last),
        };
        out[i].nflit = (uint8_t)leat_poets_nflit(out[i].payload_len);
        out[i].payload[0] = (uint8_t)(fragments - 1 - i);
        memcpy(out[i].payload + 1, text + at, chars);
    }
    *count = fragments;
    return LEAT_ERR_OK;
}

/* The fragments present, first fragment first, up to the first NUL. Nothing is open afterwards. */
static void post(struct leat_poets_log_state *s, bool truncated, struct leat_poets_log_lines *out)
{
    struct leat_poets_log_line *line = &out->line[out->count++];
    line->truncated = truncated;
    line->len = 0;
    for (unsigned seq = s->expect + 1u; seq-- > 0;) {
        if (!(s->present >> seq & 1)) continue;
        const size_t n = text_len((const char *)s->text[seq], LEAT_POETS_LOG_FRAGMENT_LEN);
        memcpy(line->text + line->len, s->text[seq], n);
        line->len += n;
        if (n < LEAT_POETS_LOG_FRAGMENT_LEN) break;
    }
    s->present = 0;
}

static void keep(struct leat_poets_log_state *s, unsigned seq, const struct leat_poets_packet *p)
{
    const size_t n = p->payload_len > 1 ? p->payload_len - 1u : 0;
    memcpy(s->text[seq], p->payload + 1, n);
    memset(s->text[seq] + n, 0, LEAT_POETS_LOG_FRAGMENT_LEN - n);
    if (!s->present) s->expect = (uint8_t)seq;
    s->present = (uint8_t)(s->present | 1u << seq);
}

enum leat_poets_log_verdict leat_poets_log_join(struct leat_poets_log_state *s,
                                                const struct leat_poets_packet *p,
                                                struct leat_poets_log_lines *out)
{
    const unsigned seq = p->payload_len ? p->payload[0] : 0;

    out->count = 0;
    if (p->packet_class != LEAT_POETS_CLASS_SUP || p->opcode != LEAT_POETS_OP_LOG ||
        p->payload_len > LEAT_POETS_PAYLOAD_LEN_MAX || seq >= LEAT_POETS_LOG_FRAGMENT_COUNT_MAX)
        return LEAT_POETS_LOG_DROPPED;
    if (s->present && (s->present >> seq & 1 || seq > s->expect)) post(s, true, out);
    keep(s, seq, p);
    if (s->present == (1u << (s->expect + 1u)) - 1u) post(s, false, out);
    return out->count ? LEAT_POETS_LOG_LINE : LEAT_POETS_LOG_NONE;
}
