/*
 * leat experiment circuit: a constant bit rate over a lossy line. AAL1 with its Reed-Solomon code
 * (124,128) and its interleaver of 47 x 128 octets (I.363.1), cells in a physical layer of the
 * room, wrong bits on the line, lost cells behind it; and what is left of the errors, beside the
 * closed form (spec/atm.md, 10.1 and 10.2).
 *
 *     octets -> matrix -> SAR-PDUs -> cells -> line ~~~ wrong bits ~~~> line -> cells
 *                                                                              | lost cells
 *     octets <- rows corrected <----------------- SAR-PDUs <------------------ +
 */
#include "atm_aal1_interleave.h"
#include "atm_line.h"
#include "experiment.h"
#include "json_out.h"
#include "leat_bytes.h"
#include "number.h"
#include <inttypes.h>
#include <leat/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 2048,
    SETTLE_LEN = 60000, /* octets in which any line finds its frames and cells */
    COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS,
    QUEUE_CELLS = 2 * COLUMNS,
    USER_LEN = LEAT_ATM_AAL1_INTERLEAVE_USER_LEN,
    SENT_KEPT = 1024,  /* cells that may be under way */
    BLOCKS_KEPT = 16,  /* the same of blocks */
    PDU_BITS_MAX = 96, /* wrong ones of a SAR-PDU; other ones differ in half of their 384 */
    VCI = 32,
    NS = 1000000000, /* chances are in parts of this: SHARE(9) */
};

/* What is asked for. */
struct circuit {
    const struct leat_atm_line *line;
    uint32_t bit_errors, cell_losses; /* in parts of NS */
    uint64_t blocks, seed;
};

/* Everything that happens to a circuit. */
struct measured {
    uint64_t cells, delivered;         /* sent; handed to AAL1 */
    uint64_t discarded;                /* by the line, because of their headers */
    uint64_t lost_sync;                /* times */
    uint64_t dropped;                  /* behind the line */
    uint64_t misrouted;                /* their header became another valid one */
    uint64_t octets_wrong;             /* of delivered SAR-PDUs */
    uint64_t blocks, cut, octets_left; /* delivered; given up; wrong octets in delivered ones */
};

struct chain {
    struct circuit job;
    struct leat_random bits, cells, users;
    struct leat_atm_stream stream;
    struct leat_atm_line_sender tx;
    struct leat_atm_line_receiver rx;
    struct leat_atm_aal1_interleave aal;
    struct measured m;
    bool quiet;           /* no errors yet */
    uint64_t heard;       /* cells before it have arrived or are lost */
    uint64_t made, taken; /* blocks */
    uint8_t queue[QUEUE_CELLS * LEAT_ATM_CELL_LEN];
    uint8_t sent[SENT_KEPT][LEAT_ATM_AAL1_PDU_LEN];
    uint8_t user[BLOCKS_KEPT][USER_LEN];
};

static const uint8_t header[LEAT_ATM_HEADER_LEN - 1] = { 0, 0, VCI >> 4, (VCI & 0xf) << 4 };

/* ---- the receiver ---------------------------------------------------------------------------- */

static unsigned differences(const uint8_t *a, const uint8_t *b, size_t len, bool in_bits)
{
    unsigned count = 0;
    for (size_t i = 0; i < len; i++)
        count += in_bits ? (unsigned)__builtin_popcount(a[i] ^ b[i]) : a[i] != b[i];
    return count;
}

/* Which of the cells sent is this? Those before it are lost. */
static void count_wrong(struct chain *c, const uint8_t *pdu)
{
    for (uint64_t i = c->heard; i < c->m.cells; i++) {
        const uint8_t *sent = c->sent[i % SENT_KEPT];
        if (differences(pdu, sent, LEAT_ATM_AAL1_PDU_LEN, true) > PDU_BITS_MAX) continue;
        c->m.octets_wrong += differences(pdu, sent, LEAT_ATM_AAL1_PDU_LEN, false);
        c->heard = i + 1;
        return;
    }
}

static void take_block(struct chain *c, const struct leat_atm_aal1_interleave_out *out)
{
    c->m.cut += out->cut;
    if (!out->user) return;
    c->m.blocks++;
    for (uint64_t i = c->taken; i < c->made; i++) {
        const unsigned wrong = differences(out->user, c->user[i % BLOCKS_KEPT], USER_LEN, false);
        if (wrong > USER_LEN / 2) continue;
        c->m.octets_left += wrong;
        c->taken = i + 1;
        return;
    }
    c->m.octets_left += USER_LEN;
}

static bool happens(struct leat_random *random, uint32_t chance)
{
    return chance && leat_random_below(random, NS) < chance;
}

static void take_cell(struct chain *c, const uint8_t *cell)
{
    const uint8_t *pdu = cell + LEAT_ATM_HEADER_LEN;
    if (memcmp(cell, header, sizeof header) != 0) {
        c->m.misrouted++;
    } else if (happens(&c->cells, c->job.cell_losses)) {
        c->m.dropped++;
    } else {
        c->m.delivered++;
        count_wrong(c, pdu);
        const struct leat_atm_aal1_interleave_out out = leat_atm_aal1_interleave_step(&c->aal, pdu);
        take_block(c, &out);
    }
}

static void receive(struct chain *c, const uint8_t *octets, size_t len)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        at += leat_atm_line_feed(&c->rx, octets + at, len - at, &out);
        switch (out.event) {
        case LEAT_ATM_TC_CELL: take_cell(c, out.cell); break;
        case LEAT_ATM_TC_DISCARD: c->m.discarded += !c->quiet; break;
        case LEAT_ATM_TC_LOST:
        case LEAT_ATM_TC_FRAME_LOST: c->m.lost_sync++; break;
        case LEAT_ATM_TC_NOTHING:
        case LEAT_ATM_TC_SYNC:
        case LEAT_ATM_TC_FRAME_SYNC:
        case LEAT_ATM_TC_LABEL:
        case LEAT_ATM_TC_POINTER:
        case LEAT_ATM_TC_OFFSET:
        case LEAT_ATM_TC_PARITY: break;
        }
    }
}

/* ---- the sender and the line ----------------------------------------------------------------- */

static void carry(struct chain *c, size_t len)
{
    uint8_t octets[CHUNK];
    leat_atm_line_pull(&c->tx, octets, len);
    for (size_t bit = 0; !c->quiet && c->job.bit_errors && bit < 8 * len; bit++)
        if (happens(&c->bits, c->job.bit_errors)) octets[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    receive(c, octets, len);
}

static void send_block(struct chain *c)
{
    static struct leat_atm_aal1_matrix matrix;
    uint8_t *user = c->user[c->made++ % BLOCKS_KEPT];
    leat_random_fill(&c->users, user, USER_LEN);
    leat_atm_aal1_interleave_fill(user, &matrix);
    for (unsigned column = 0; column < COLUMNS; column++) {
        uint8_t cell[LEAT_ATM_CELL_LEN] = { 0 }, *pdu = c->sent[c->m.cells % SENT_KEPT];
        leat_atm_aal1_interleave_pdu(&matrix, column, pdu);
        memcpy(cell, header, sizeof header);
        memcpy(cell + LEAT_ATM_HEADER_LEN, pdu, LEAT_ATM_AAL1_PDU_LEN);
        while (leat_atm_stream_put(&c->stream, cell) != LEAT_ERR_OK)
            carry(c, CHUNK);
        c->m.cells++;
    }
}

static bool run_circuit(const struct circuit *job, struct measured *out)
{
    struct chain *c = calloc(1, sizeof *c);
    if (!c) return complain("no memory for a circuit");
    c->job = *job;
    leat_random_seed_entity(&c->bits, job->seed, 0);
    leat_random_seed_entity(&c->cells, job->seed, 1);
    leat_random_seed_entity(&c->users, job->seed, 2);
    (void)leat_atm_stream_init(&c->stream, c->queue, sizeof c->queue);
    leat_atm_line_sender_init(&c->tx, job->line, &c->stream);
    leat_atm_line_receiver_init(&c->rx, job->line);
    leat_atm_aal1_interleave_init(&c->aal);
    c->quiet = true;
    for (size_t i = 0; i < SETTLE_LEN / CHUNK; i++)
        carry(c, CHUNK);
    c->quiet = false;
    for (uint64_t i = 0; i < job->blocks && !interrupted; i++)
        send_block(c);
    while (c->stream.count)
        carry(c, CHUNK);
    c->quiet = true;
    for (size_t i = 0; i < SETTLE_LEN / CHUNK; i++)
        carry(c, CHUNK);
    const struct leat_atm_aal1_interleave_out last = leat_atm_aal1_interleave_flush(&c->aal);
    take_block(c, &last);
    *out = c->m;
    free(c);
    return true;
}

/* ---- the closed form ------------------------------------------------------------------------- */

struct expected {
    double discarded;    /* cells, because of their headers; NAN: this line has no such formula */
    double lost;         /* SAR-PDUs that AAL1 lacks: lost cells, or an invalid sequence number */
    double octets_wrong; /* of those that arrive */
    double octets_left;  /* after correction; NAN as above */
};

/* A receiver that corrects one wrong bit, but only after an intact word: it discards two or more,
 * and any behind a wrong word. */
static double chance_to_discard(double bit, unsigned bits)
{
    const double any = 1 - pow(1 - bit, bits), one = bits * bit * pow(1 - bit, bits - 1);
    return (1 - any) * (any - one) + any * any;
}

/* The chance that of n octets of a row so many are lost and so many wrong. */
static double row_chance(unsigned n, double lost, double wrong, unsigned k, unsigned t)
{
    const double right = 1 - lost - wrong;
    if ((k && lost <= 0) || (t && wrong <= 0)) return 0;
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(t + 1) - lgamma(n - k - t + 1) +
               (k ? k * log(lost) : 0) + (t ? t * log(wrong) : 0) + (n - k - t) * log(right));
}

/*
 * A row beyond correction may look like another one: as often as a syndrome of the checks that the
 * lost octets leave is one of those that are corrected. Then the correction itself makes octets
 * wrong: two without a lost octet, one beside two (of 256^2 syndromes, half). Other rows hardly
 * ever do. The result is the share of octets.
 */
static double made_wrong(double lost, double wrong)
{
    const double n = COLUMNS, others = 255,
                 of_two = n * (n - 1) / 2 * others * others / pow(256, 4),
                 beside_two = (n - 2) * others / pow(256, 2);
    double correctable = 0;
    for (unsigned t = 0; t <= 2; t++)
        correctable += row_chance(COLUMNS, lost, wrong, 0, t);
    const double three = pow(1 - lost, n) - correctable;
    const double two = n * (n - 1) / 2 * lost * lost * pow(1 - lost, n - 2) -
                       row_chance(COLUMNS, lost, wrong, 2, 0) -
                       row_chance(COLUMNS, lost, wrong, 2, 1);
    return (three * of_two * 2 + two * beside_two) / n;
}

/* An octet stays wrong if its row has 2t + e > 4. A lost one that stays is 0, which is right once
 * in 256. */
static double residual(double lost, double wrong)
{
    const double zero_is_wrong = 255.0 / 256;
    double good_beside_lost = 0, good_beside_wrong = 0;
    for (unsigned k = 0; k <= LEAT_ATM_AAL1_FEC_CHECK_LEN; k++)
        for (unsigned t = 0; k + 2 * t <= LEAT_ATM_AAL1_FEC_CHECK_LEN; t++) {
            const double chance = row_chance(COLUMNS - 1, lost, wrong, k, t);
            if (k + 1 + 2 * t <= LEAT_ATM_AAL1_FEC_CHECK_LEN) good_beside_lost += chance;
            if (k + 2 * (t + 1) <= LEAT_ATM_AAL1_FEC_CHECK_LEN) good_beside_wrong += chance;
        }
    return lost * (1 - good_beside_lost) * zero_is_wrong + wrong * (1 - good_beside_wrong) +
           made_wrong(lost, wrong);
}

static struct expected expect(const struct circuit *job)
{
    const double bit = job->bit_errors / (double)NS, loss = job->cell_losses / (double)NS;
    const double octet = 1 - pow(1 - bit, 8);
    const bool is_known = job->line->corrects || !job->bit_errors;
    struct expected x = { .octets_wrong = octet, .lost = NAN, .octets_left = NAN };
    x.discarded = is_known ? chance_to_discard(bit, 8 * LEAT_ATM_HEADER_LEN) : NAN;
    if (!is_known) {
        x.octets_wrong = NAN; /* a wrong symbol of the code is several wrong bits */
        return x;
    }
    x.lost = 1 - (1 - x.discarded) * (1 - loss) * (1 - chance_to_discard(bit, 8));
    x.octets_left = residual(x.lost, (1 - x.lost) * octet);
    return x;
}

/* ---- results --------------------------------------------------------------------------------- */

/* NAN: of nothing. */
static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static void put_share(int width, double share)
{
    if (isnan(share))
        printf("%*s", width, "-");
    else
        printf("%*.4e", width, share);
}

static void put_ratio(const char *name, double got, double want)
{
    printf("  %-44s ", name);
    put_share(12, got);
    put_share(14, want);
    printf("\n");
}

static void put_text(const struct circuit *job, const struct measured *m, const struct expected *x)
{
    printf("%s, %.1f cells/s: %" PRIu64 " cells in %" PRIu64 " blocks, bit errors %.3g, lost cells "
           "%.3g%s\n"
           "  %-44s %12s%14s\n",
           job->line->name, (double)job->line->cells_num / (double)job->line->cells_den, m->cells,
           m->cells / COLUMNS, job->bit_errors / (double)NS, job->cell_losses / (double)NS,
           interrupted ? ", interrupted" : "", "", "measured", "closed form");
    put_ratio("cells discarded for their headers", ratio(m->discarded, m->cells), x->discarded);
    put_ratio("octets wrong in SAR-PDUs that arrive",
              ratio(m->octets_wrong, m->delivered * LEAT_ATM_AAL1_PDU_LEN), x->octets_wrong);
    put_ratio("user octets wrong after correction", ratio(m->octets_left, m->blocks * USER_LEN),
              x->octets_left);
    printf("  blocks delivered %" PRIu64 ", given up %" PRIu64 "; synchronisation lost %" PRIu64
           " times, cells misrouted %" PRIu64 "\n\n",
           m->blocks, m->cut, m->lost_sync, m->misrouted);
}

static void put_number(struct leat_json *j, const char *name, double value)
{
    if (!isnan(value)) json_fixed(j, name, value, 12);
}

static void put_json(const struct circuit *job, const struct measured *m, const struct expected *x)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "experiment", "circuit");
    leat_json_string(j, "physical_line", job->line->name);
    LEAT_JSON_UINTS(j, { "seed", job->seed }, { "cells", m->cells }, { "delivered", m->delivered },
                    { "headers_discarded", m->discarded }, { "cells_dropped", m->dropped },
                    { "cells_misrouted", m->misrouted }, { "synchronisation_lost", m->lost_sync },
                    { "octets_wrong", m->octets_wrong }, { "blocks", m->blocks },
                    { "blocks_given_up", m->cut }, { "octets_left_wrong", m->octets_left });
    leat_json_object(j, "expected");
    put_number(j, "discarded_share", x->discarded);
    put_number(j, "lost_share", x->lost);
    put_number(j, "octets_wrong_share", x->octets_wrong);
    put_number(j, "octets_left_wrong_share", x->octets_left);
    leat_json_end(j);
    json_close(&out, json_status());
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool read_circuit(const struct arguments *args, struct circuit *job)
{
    *job = (struct circuit){ .blocks = 100, .seed = 1 };
    return number_take_share(args, "--ber", &job->bit_errors) &&
           number_take_share(args, "--cell-loss", &job->cell_losses) &&
           number_take(args, "--blocks", &job->blocks) && number_take(args, "--seed", &job->seed);
}

static int run_line(const struct arguments *args, struct circuit *job)
{
    struct measured m;
    if (interrupted) return DONE;
    if (!run_circuit(job, &m)) return FAILED;
    const struct expected x = expect(job);
    (argument(args, "--json") ? put_json : put_text)(job, &m, &x);
    return DONE;
}

int experiment_circuit(const struct arguments *args)
{
    struct circuit job;
    const char *name = argument(args, "--line");
    int code = DONE;
    if (args->operand_count != 1)
        return misuse(args->verb, "circuit: expected no file, as in leat experiment circuit");
    if (!read_circuit(args, &job)) return WRONG;
    if (!name) name = "stm1";
    job.line = leat_atm_line_find(name, strlen(name));
    if (job.line) return finish(run_line(args, &job));
    if (strcmp(name, "all") != 0)
        return misuse(args->verb, "--line '%s', expected one of leat fabric lines, or all", name);
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT && !code; i++) {
        job.line = &leat_atm_lines[i];
        code = run_line(args, &job);
    }
    return finish(code);
}
