/*
 * The input is first a text, which must be reassembled from its fragments, then a script of
 * fragments (length, then payload), under which the reassembly state must keep its invariants.
 */
#include "poets_log.h"
#include <stdlib.h>
#include <string.h>

static void try_text(const uint8_t *data, size_t len)
{
    struct leat_poets_packet out[LEAT_POETS_LOG_FRAGMENT_COUNT_MAX];
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines lines = { 0 };
    size_t count = 0, chars = 0;

    while (chars < len && chars < LEAT_POETS_LOG_TEXT_LEN_MAX && data[chars])
        chars++;
    if (leat_poets_log_split((const char *)data, len, 0, 0, out, &count)) abort();
    for (size_t i = 0; i < count; i++)
        if ((leat_poets_log_join(&s, &out[i], &lines) == LEAT_POETS_LOG_LINE) != (i + 1 == count))
            abort();
    if (lines.count != 1 || lines.line[0].truncated || lines.line[0].len != chars) abort();
    if (memcmp(lines.line[0].text, data, chars) != 0) abort();
}

static void check_state(const struct leat_poets_log_state *s)
{
    if (!s->present) return;
    if (s->expect >= LEAT_POETS_LOG_FRAGMENT_COUNT_MAX) abort();
    if (s->present >> s->expect != 1) abort();                /* the first, and none above it */
    if (s->present == (1u << (s->expect + 1u)) - 1u) abort(); /* complete, but not posted */
}

static void check_lines(const struct leat_poets_log_lines *lines)
{
    for (unsigned i = 0; i < lines->count; i++) {
        const struct leat_poets_log_line *line = &lines->line[i];
        if (line->len > LEAT_POETS_LOG_JOINED_LEN_MAX) abort();
        for (size_t k = 0; k < line->len; k++)
            if (!line->text[k]) abort();
    }
    if (lines->count == 2 && (!lines->line[0].truncated || lines->line[1].truncated)) abort();
}

static void try_fragments(const uint8_t *data, size_t len)
{
    struct leat_poets_log_state s = { 0 };
    for (size_t at = 0; at < len;) {
        struct leat_poets_packet p = { .packet_class = LEAT_POETS_CLASS_SUP,
                                       .opcode = LEAT_POETS_OP_LOG };
        struct leat_poets_log_lines lines = { 0 };
        size_t n = data[at++] % (LEAT_POETS_PAYLOAD_LEN_MAX + 1);
        if (n > len - at) n = len - at;
        memcpy(p.payload, data + at, n);
        p.payload_len = (uint16_t)n;
        at += n;
        const struct leat_poets_log_state before = s;
        switch (leat_poets_log_join(&s, &p, &lines)) {
        case LEAT_POETS_LOG_NONE:
            if (lines.count) abort();
            break;
        case LEAT_POETS_LOG_LINE:
            if (!lines.count || lines.count > LEAT_POETS_LOG_LINE_COUNT_MAX) abort();
            break;
        case LEAT_POETS_LOG_DROPPED:
            if (lines.count || memcmp(&s, &before, sizeof s) != 0) abort();
            break;
        }
        check_state(&s);
        check_lines(&lines);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_text(data, len);
    try_fragments(data, len);
    return 0;
}
