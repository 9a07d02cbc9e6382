/*
 * Log lines as packets, SUP/LOG (spec/poets.md, 1.5 and 3.5).
 *
 *   payload:   | seq (8) | 55 octets of text |
 *
 * A text goes with its NUL into 1 to 4 fragments, sent with seq descending; the last has seq 0 and
 * only the flits it needs. Longer text is cut to 219 characters.
 *
 * Reassembly, per device:
 *
 *   fragment                      nothing open              a message open, first seq `expect`
 *   ----------------------------  ------------------------  ----------------------------------
 *   no SUP/LOG, or seq > 3        DROPPED                   DROPPED
 *   seq present, or > expect      -                         a truncated line, then as if
 *                                                           nothing were open
 *   else, expect..0 all present   LINE (seq was 0)          LINE, nothing open
 *   else                          NONE, open, expect = seq  NONE
 */
#ifndef LEAT_POETS_LOG_H
#define LEAT_POETS_LOG_H

#include "poets_wire.h"
#include <stdbool.h>

enum {
    LEAT_POETS_LOG_FRAGMENT_LEN = LEAT_POETS_PAYLOAD_LEN_MAX - 1,
    LEAT_POETS_LOG_FRAGMENT_COUNT_MAX = 4,
    LEAT_POETS_LOG_JOINED_LEN_MAX = LEAT_POETS_LOG_FRAGMENT_LEN * LEAT_POETS_LOG_FRAGMENT_COUNT_MAX,
    LEAT_POETS_LOG_TEXT_LEN_MAX = LEAT_POETS_LOG_JOINED_LEN_MAX - 1, /* its NUL needs one */
    LEAT_POETS_LOG_LINE_COUNT_MAX = 2,
};

/*
 * Splits one text into *count fragments, in sending order. The text ends at `len` or at its first
 * NUL. Errors: P_E_TASK; nothing is written then.
 */
leat_err leat_poets_log_split(const char *text, size_t len, uint8_t task, uint32_t device_index,
                              struct leat_poets_packet out[LEAT_POETS_LOG_FRAGMENT_COUNT_MAX],
                              size_t *count);

/* The open message of one device. All zero: nothing is open. */
struct leat_poets_log_state {
    uint8_t present; /* one bit per seq */
    uint8_t expect;  /* seq of the first fragment */
    uint8_t text[LEAT_POETS_LOG_FRAGMENT_COUNT_MAX][LEAT_POETS_LOG_FRAGMENT_LEN]; /* by seq */
};

/* Cut at its first NUL; not terminated. A faulty peer may send no NUL; then the whole array is
 * text. */
struct leat_poets_log_line {
    bool truncated; /* fragments are missing: mark the line */
    size_t len;
    char text[LEAT_POETS_LOG_JOINED_LEN_MAX];
};

/* One fragment may complete two messages: an incomplete one, and its own. */
struct leat_poets_log_lines {
    unsigned count;
    struct leat_poets_log_line line[LEAT_POETS_LOG_LINE_COUNT_MAX];
};

enum leat_poets_log_verdict {
    LEAT_POETS_LOG_NONE,
    LEAT_POETS_LOG_LINE,    /* out->count lines, 1 or 2 */
    LEAT_POETS_LOG_DROPPED, /* the fragment was refused; the state is unchanged */
};

/* Processes one fragment of the device that `state` belongs to. Total: accepts any packet. */
enum leat_poets_log_verdict leat_poets_log_join(struct leat_poets_log_state *state,
                                                const struct leat_poets_packet *packet,
                                                struct leat_poets_log_lines *out);

#endif
