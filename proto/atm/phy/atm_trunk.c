#include "atm_trunk.h"
#include <assert.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    SETTLE_CELLS = 256, /* in which any line finds its frames and cells */
    STEP_LEN_MAX = 160, /* octets of a step: 8B/10B has a cell between blocks */
};

/* A step while it is carried out. */
struct step {
    struct leat_atm_trunk_out *out;
    uint64_t own; /* the octet of the line that completes the cell */
    bool has_cell, got, corrected, discarded;
};

static void take_cell(struct step *s, const struct leat_atm_tc_out *event, uint64_t at)
{
    if (at != s->own || !s->has_cell) {
        s->out->strays++;
        return;
    }
    s->got = true;
    s->corrected = event->corrected;
    memcpy(s->out->cell, event->cell, CELL_LEN);
}

/* What the receiver says at octet `at`. Of an octet that it has been shown before, only what it
 * could not know then counts. */
static void take_event(struct step *s, const struct leat_atm_tc_out *event, uint64_t at, bool again)
{
    switch (event->event) {
    case LEAT_ATM_TC_CELL:
        if (!again) take_cell(s, event, at);
        return;
    case LEAT_ATM_TC_DISCARD: s->discarded |= !again; return;
    case LEAT_ATM_TC_LOST:
    case LEAT_ATM_TC_FRAME_LOST: s->out->losses++; return;
    case LEAT_ATM_TC_NOTHING:
    case LEAT_ATM_TC_SYNC:
    case LEAT_ATM_TC_FRAME_SYNC:
    case LEAT_ATM_TC_LABEL:
    case LEAT_ATM_TC_POINTER:
    case LEAT_ATM_TC_OFFSET:
    case LEAT_ATM_TC_PARITY: return;
    }
}

/* Octets at `at` of the line. True of `shown`: the first one was shown before. */
static void feed(struct leat_atm_line_receiver *rx, struct step *s, const uint8_t *octets,
                 size_t len, uint64_t at, bool shown)
{
    for (size_t done = 0; done < len;) {
        struct leat_atm_tc_out event;
        done += leat_atm_line_feed(rx, octets + done, len - done, &event);
        take_event(s, &event, at + done - 1, shown && done == 1);
    }
}

/* The next octets. Errors of the first one are known if it was shown before. */
static void pull(struct leat_atm_trunk *trunk, uint8_t *octets, size_t len,
                 const struct leat_atm_trunk_errors *errors)
{
    const size_t known = trunk->shown;
    leat_atm_line_pull(&trunk->tx, octets, len);
    if (known) octets[0] ^= trunk->ahead;
    if (errors) errors->damage(errors->context, octets + known, len - known);
}

/* What would come of the next octet, which has the end of the cell and what follows it? */
static void show_next(struct leat_atm_trunk *trunk, struct step *s,
                      const struct leat_atm_trunk_errors *errors)
{
    struct leat_atm_stream stream = trunk->stream;
    struct leat_atm_line_sender tx = trunk->tx;
    struct leat_atm_line_receiver rx = trunk->rx;
    const unsigned losses = s->out->losses; /* they count in the next step */
    uint8_t octet;
    leat_atm_line_sender_moved(&tx, &stream);
    leat_atm_line_pull(&tx, &octet, 1);
    trunk->ahead = 0;
    if (errors) errors->damage(errors->context, &trunk->ahead, 1);
    octet ^= trunk->ahead;
    feed(&rx, s, &octet, 1, trunk->octets, false);
    s->out->losses = losses;
}

void leat_atm_trunk_step(struct leat_atm_trunk *trunk, const uint8_t *cell,
                         const struct leat_atm_trunk_errors *errors, struct leat_atm_trunk_out *out)
{
    const uint64_t end = leat_atm_line_cell_end(trunk->tx.line, trunk->cells++);
    const size_t len = (size_t)(end / 8 - trunk->octets);
    struct step s = { .out = out, .own = (end - 1) / 8, .has_cell = cell };
    uint8_t octets[STEP_LEN_MAX], idle[CELL_LEN];
    assert(len <= sizeof octets);
    out->strays = out->losses = 0;
    leat_atm_cell_idle(idle);
    const leat_err err = leat_atm_stream_put(&trunk->stream, cell ? cell : idle);
    assert(err == LEAT_ERR_OK); /* the one before has begun */
    pull(trunk, octets, len, errors);
    feed(&trunk->rx, &s, octets, len, trunk->octets, trunk->shown);
    trunk->octets += len;
    trunk->shown = end % 8;
    if (trunk->shown) show_next(trunk, &s, errors);
    out->fate = s.corrected   ? LEAT_ATM_TRUNK_CORRECTED
                : s.got       ? LEAT_ATM_TRUNK_PASSED
                : s.discarded ? LEAT_ATM_TRUNK_DISCARDED
                              : LEAT_ATM_TRUNK_MISSED;
}

void leat_atm_trunk_init(struct leat_atm_trunk *trunk, const struct leat_atm_line *line)
{
    struct leat_atm_trunk_out out;
    *trunk = (struct leat_atm_trunk){ .cells = 0 };
    const leat_err err = leat_atm_stream_init(&trunk->stream, trunk->queue, sizeof trunk->queue);
    assert(err == LEAT_ERR_OK);
    leat_atm_line_sender_init(&trunk->tx, line, &trunk->stream);
    leat_atm_line_receiver_init(&trunk->rx, line);
    for (int i = 0; i < SETTLE_CELLS; i++)
        leat_atm_trunk_step(trunk, NULL, NULL, &out);
}

void leat_atm_trunk_copy(struct leat_atm_trunk *to, const struct leat_atm_trunk *from)
{
    *to = *from;
    to->stream.queue = to->queue;
    leat_atm_line_sender_moved(&to->tx, &to->stream);
}

uint64_t leat_atm_trunk_skip(struct leat_atm_trunk *trunk, uint64_t steps)
{
    const struct leat_atm_line *line = trunk->tx.line;
    const uint64_t period = leat_atm_line_period(line), periods = steps / period;
    const uint64_t bits = leat_atm_line_cell_end(line, period) - leat_atm_line_cell_end(line, 0);
    trunk->cells += periods * period;
    trunk->octets += periods * bits / 8;
    return periods * period;
}
