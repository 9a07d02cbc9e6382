#include "atm_aal2_engine.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

enum { LONGEST = 200, GAP_PS = 1000 };

static alignas(max_align_t) unsigned char memory[512];
static const struct leat_atm_aal2_reassemble_config config = { .message_len_max = LONGEST,
                                                               .gap_ps_max = GAP_PS };

static struct leat_atm_aal2_reassemble *fresh(void)
{
    struct leat_atm_aal2_reassemble *r = NULL;
    EQ(leat_atm_aal2_reassemble_init(memory, sizeof memory, &config, &r), LEAT_ERR_OK);
    return r;
}

static struct leat_atm_aal2_out step(struct leat_atm_aal2_reassemble *r, leat_time now,
                                     const struct leat_atm_cell *cell)
{
    const struct leat_atm_aal2_in in = { cell ? LEAT_ATM_AAL2_CELL : LEAT_ATM_AAL2_TIMER, cell };
    return leat_atm_aal2_reassemble_step(r, now, &in);
}

static struct leat_atm_cell cell_of(enum leat_atm_aal2_it it, uint8_t sn, uint8_t li, uint8_t mark)
{
    struct leat_atm_aal2_pdu pdu = { .sn = sn, .it = it, .li = li };
    struct leat_atm_cell c = { .pt = 0 };
    memset(pdu.payload, mark, li);
    EQ(leat_atm_aal2_pdu_encode(&pdu, c.payload, sizeof c.payload), LEAT_ERR_OK);
    return c;
}

static struct leat_atm_aal2_out give(struct leat_atm_aal2_reassemble *r, leat_time now,
                                     enum leat_atm_aal2_it it, uint8_t sn)
{
    const struct leat_atm_cell c = cell_of(it, sn, 45, sn);
    return step(r, now, &c);
}

#define NOTHING LEAT_ATM_AAL2_DROP_NOTHING
#define BOM     LEAT_ATM_AAL2_BOM
#define COM     LEAT_ATM_AAL2_COM
#define EOM     LEAT_ATM_AAL2_EOM
#define SSM     LEAT_ATM_AAL2_SSM

/* ---- segmentation ------------------------------------------------------------------------- */

static void a_message_is_cut_into_begin_middle_and_end(void)
{
    struct leat_atm_aal2_segment s = { 0 };
    uint8_t message[100], cell[48];
    struct leat_atm_aal2_pdu pdu;
    static const enum leat_atm_aal2_it types[] = { BOM, COM, EOM };
    static const uint8_t lens[] = { 45, 45, 10 };
    for (uint8_t i = 0; i < sizeof message; i++)
        message[i] = i;

    OK(!leat_atm_aal2_segment_next(&s, cell));
    EQ(leat_atm_aal2_segment_message(&s, message, sizeof message), LEAT_ERR_OK);
    EQ(leat_atm_aal2_segment_message(&s, message, 1), LEAT_ERR_FULL);
    for (uint8_t i = 0; i < 3; i++) {
        OK(leat_atm_aal2_segment_next(&s, cell));
        EQ(leat_atm_aal2_pdu_decode(cell, sizeof cell, &pdu, NULL), LEAT_ERR_OK);
        EQ(pdu.sn, i);
        EQ(pdu.it, types[i]);
        EQ(pdu.li, lens[i]);
        EQ(pdu.payload[0], i * 45);
    }
    OK(!leat_atm_aal2_segment_next(&s, cell));
}

static void a_short_message_is_a_single_cell_and_numbers_run_on(void)
{
    struct leat_atm_aal2_segment s = { 0 };
    uint8_t message[45] = { 0 }, cell[48];
    struct leat_atm_aal2_pdu pdu;
    for (unsigned i = 0; i < 40; i++) {
        EQ(leat_atm_aal2_segment_message(&s, message, 1 + i % 45), LEAT_ERR_OK);
        OK(leat_atm_aal2_segment_next(&s, cell));
        EQ(leat_atm_aal2_pdu_decode(cell, sizeof cell, &pdu, NULL), LEAT_ERR_OK);
        EQ(pdu.sn, i % 16);
        EQ(pdu.it, SSM);
        EQ(pdu.li, 1 + i % 45);
        OK(!leat_atm_aal2_segment_next(&s, cell));
    }
}

static void empty_and_huge_messages_are_refused(void)
{
    struct leat_atm_aal2_segment s = { 0 };
    const uint8_t octet = 0;
    EQ(leat_atm_aal2_segment_message(&s, &octet, 0), LEAT_ERR_LENGTH);
    EQ(leat_atm_aal2_segment_message(&s, &octet, LEAT_ATM_AAL2_MESSAGE_LEN_MAX + 1),
       LEAT_ERR_LENGTH);
    EQ(leat_atm_aal2_segment_message(&s, &octet, SIZE_MAX), LEAT_ERR_LENGTH);
}

/* ---- reassembly: the table, row by row ---------------------------------------------------- */

static void single_and_cut_messages_are_delivered(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    struct leat_atm_aal2_out out = give(r, 0, SSM, 9);
    EQ(out.message_len, 45);
    EQ(out.message[44], 9);
    EQ(out.dropped, NOTHING);
    OK(out.wake_at == LEAT_NEVER);
    out = give(r, 1, BOM, 15);
    OK(out.message == NULL);
    EQ(out.wake_at, 1 + GAP_PS);
    out = give(r, 2, COM, 0); /* modulo 16 */
    EQ(out.wake_at, 2 + GAP_PS);
    const struct leat_atm_cell last = cell_of(EOM, 1, 7, 1);
    out = step(r, 3, &last);
    EQ(out.message_len, 97);
    EQ(out.message[0], 15);
    EQ(out.message[45], 0);
    EQ(out.message[96], 1);
    OK(out.wake_at == LEAT_NEVER);
}

/* Partly filled cells may stand anywhere (the note, 2.2: LI 1..45). */
static void partly_filled_cells_may_stand_anywhere(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    const struct leat_atm_cell cells[] = { cell_of(BOM, 0, 1, 'a'), cell_of(COM, 1, 2, 'b'),
                                           cell_of(EOM, 2, 1, 'c') };
    struct leat_atm_aal2_out out = { .message = NULL };
    for (unsigned i = 0; i < 3; i++)
        out = step(r, i, &cells[i]);
    EQ(out.message_len, 4);
    OK(out.message && memcmp(out.message, "abbc", 4) == 0);
}

static void a_gap_in_the_numbers_drops_the_message_once(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    (void)give(r, 0, BOM, 3);
    EQ(give(r, 1, COM, 5).dropped, LEAT_ATM_AAL2_DROP_SEQUENCE);
    EQ(give(r, 2, COM, 6).dropped, NOTHING); /* skipped */
    EQ(give(r, 3, EOM, 7).dropped, NOTHING);
    EQ(give(r, 4, EOM, 8).dropped, LEAT_ATM_AAL2_DROP_ORPHAN); /* idle again */

    (void)give(r, 5, BOM, 3);
    EQ(give(r, 6, EOM, 3).dropped, LEAT_ATM_AAL2_DROP_SEQUENCE); /* a repeated number */
    EQ(give(r, 7, COM, 4).dropped, LEAT_ATM_AAL2_DROP_ORPHAN);
    EQ(give(r, 8, COM, 5).dropped, NOTHING);
}

static void a_new_beginning_drops_the_open_message(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    (void)give(r, 0, BOM, 0);
    EQ(give(r, 1, BOM, 1).dropped, LEAT_ATM_AAL2_DROP_BEGUN);
    struct leat_atm_aal2_out out = give(r, 2, EOM, 2);
    EQ(out.message_len, 90);
    EQ(out.message[0], 1);

    (void)give(r, 3, BOM, 3);
    out = give(r, 4, SSM, 9); /* the end was lost with others */
    EQ(out.dropped, LEAT_ATM_AAL2_DROP_SEQUENCE);
    EQ(out.message_len, 45);
    EQ(out.message[0], 9);
    OK(out.wake_at == LEAT_NEVER);
}

static void a_cell_without_its_beginning_is_an_orphan(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    EQ(give(r, 0, COM, 0).dropped, LEAT_ATM_AAL2_DROP_ORPHAN);
    EQ(give(r, 1, COM, 1).dropped, NOTHING);
    EQ(give(r, 2, SSM, 2).message_len, 45);
    EQ(give(r, 3, EOM, 3).dropped, LEAT_ATM_AAL2_DROP_ORPHAN);
}

static void damage_drops_the_message_once(void)
{
    struct leat_atm_cell bad = cell_of(COM, 1, 45, 0);
    bad.payload[20] ^= 4;
    struct leat_atm_aal2_reassemble *r = fresh();
    EQ(step(r, 0, &bad).dropped, LEAT_ATM_AAL2_DROP_CRC);
    EQ(step(r, 1, &bad).dropped, NOTHING); /* already skipping */
    (void)give(r, 2, BOM, 0);
    EQ(step(r, 3, &bad).dropped, LEAT_ATM_AAL2_DROP_CRC);
    EQ(give(r, 4, COM, 2).dropped, NOTHING);
    EQ(give(r, 5, BOM, 3).dropped, NOTHING);
    EQ(give(r, 6, EOM, 4).message_len, 90);
}

/* A correct CRC over an illegal IT or LI. */
static void fields_without_meaning_are_a_format_error(void)
{
    struct leat_atm_cell zero = { .pt = 0 }; /* all zero: CRC 0 is correct, LI 0 is not */
    struct leat_atm_aal2_reassemble *r = fresh();
    EQ(step(r, 0, &zero).dropped, LEAT_ATM_AAL2_DROP_FORMAT);
}

static void a_message_too_long_is_dropped_once(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    unsigned drops = 0;
    for (uint8_t i = 0; i < 12; i++) {
        const struct leat_atm_aal2_out out = give(r, i, i == 0 ? BOM : i == 11 ? EOM : COM, i);
        if (out.dropped) EQ(out.dropped, LEAT_ATM_AAL2_DROP_OVERFLOW);
        drops += out.dropped != NOTHING;
        OK(out.message == NULL);
    }
    EQ(drops, 1);
    EQ(give(r, 12, SSM, 12).message_len, 45);

    /* 200 fit exactly, one more does not */
    for (uint8_t extra = 0; extra < 2; extra++) {
        (void)give(r, 20, BOM, 0);
        (void)give(r, 20, COM, 1);
        (void)give(r, 20, COM, 2);
        (void)give(r, 20, COM, 3);
        const struct leat_atm_cell last = cell_of(EOM, 4, 20 + extra, 0);
        const struct leat_atm_aal2_out out = step(r, 20, &last);
        EQ(out.message_len, extra ? 0 : 200);
        EQ(out.dropped, extra ? LEAT_ATM_AAL2_DROP_OVERFLOW : NOTHING);
        EQ(give(r, 20, EOM, 5).dropped, LEAT_ATM_AAL2_DROP_ORPHAN); /* idle after an end */
    }
}

static void silence_drops_the_open_message_and_only_then(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    EQ(give(r, 5, BOM, 0).wake_at, 5 + GAP_PS);
    EQ(step(r, 4 + GAP_PS, NULL).dropped, NOTHING); /* early */
    EQ(step(r, 5 + GAP_PS, NULL).dropped, LEAT_ATM_AAL2_DROP_LATE);
    const struct leat_atm_aal2_out out = step(r, 6 + GAP_PS, NULL);
    EQ(out.dropped, NOTHING);
    OK(out.wake_at == LEAT_NEVER);
    EQ(give(r, 7 + GAP_PS, EOM, 1).dropped, NOTHING); /* the rest of it: skipped */
}

static void an_overdue_message_may_still_be_completed(void)
{
    struct leat_atm_aal2_reassemble *r = fresh();
    (void)give(r, 0, BOM, 0);
    struct leat_atm_cell oam = cell_of(COM, 1, 45, 0);
    oam.pt = 5;
    const struct leat_atm_aal2_out out = step(r, 5 * GAP_PS, &oam); /* ignored */
    EQ(out.dropped, NOTHING);
    EQ(out.wake_at, 5 * GAP_PS); /* overdue: at once */
    EQ(give(r, 5 * GAP_PS, EOM, 1).message_len, 90);
}

static void memory_and_limits_are_checked(void)
{
    struct leat_atm_aal2_reassemble *r = NULL;
    const size_t need = leat_atm_aal2_reassemble_footprint(&config);
    EQ(leat_atm_aal2_reassemble_init(memory, need - 1, &config, &r), LEAT_ERR_MEMORY);
    EQ(leat_atm_aal2_reassemble_init(memory + 1, need, &config, &r), LEAT_ERR_MEMORY);
    const struct leat_atm_aal2_reassemble_config small = { .message_len_max = 44 };
    EQ(leat_atm_aal2_reassemble_init(memory, sizeof memory, &small, &r), LEAT_ERR_RANGE);
    const struct leat_atm_aal2_reassemble_config big = { .message_len_max = 65536 };
    EQ(leat_atm_aal2_reassemble_init(memory, sizeof memory, &big, &r), LEAT_ERR_RANGE);
    OK(r == NULL);
    EQ(leat_atm_aal2_reassemble_init(memory, need, &config, &r), LEAT_ERR_OK);
}

/* ---- a line that loses, repeats, misinserts and damages ------------------------------------ */

/*
 * The model knows the messages: among cells received in a row, a run of BOM, COM..., EOM (or SSM)
 * with consecutive numbers is a message, and nothing else is.
 */
enum { SCRIPT = 96 };

struct script {
    unsigned len;
    struct leat_atm_aal2_pdu pdu[SCRIPT];
    bool damaged[SCRIPT];
};

/* The length of the message that ends with cell `end`, or 0 if none does. */
static size_t message_ending_at(const struct script *s, unsigned end)
{
    size_t len = 0;
    if (s->damaged[end] || (s->pdu[end].it != EOM && s->pdu[end].it != SSM)) return 0;
    for (unsigned k = end;; k--) {
        const struct leat_atm_aal2_pdu *p = &s->pdu[k];
        len += p->li;
        if (p->it == (k == end ? SSM : BOM)) return len <= LONGEST ? len : 0;
        if (k == 0 || s->damaged[k - 1]) return 0;
        if ((s->pdu[k - 1].sn + 1) % 16 != p->sn) return 0;
        if (s->pdu[k - 1].it != COM && s->pdu[k - 1].it != BOM) return 0;
    }
}

static void keep_cell(struct script *s, const struct leat_atm_aal2_pdu *pdu, bool damaged)
{
    if (s->len == SCRIPT) return;
    s->pdu[s->len] = *pdu;
    s->damaged[s->len++] = damaged;
}

static void random_script(struct script *s, struct leat_atm_aal2_segment *segment,
                          struct leat_random *r)
{
    static uint8_t message[LONGEST + 50];
    s->len = 0;
    while (s->len < SCRIPT - 20) {
        uint8_t cell[48];
        leat_random_fill(r, message, sizeof message);
        const size_t len = 1 + leat_random_below(r, sizeof message);
        OK(leat_atm_aal2_segment_message(segment, message, len) == LEAT_ERR_OK);
        while (leat_atm_aal2_segment_next(segment, cell)) {
            struct leat_atm_aal2_pdu pdu;
            OK(leat_atm_aal2_pdu_decode(cell, sizeof cell, &pdu, NULL) == LEAT_ERR_OK);
            const uint64_t fate = leat_random_below(r, 40);
            if (fate == 0) continue;                  /* lost */
            if (fate == 1) keep_cell(s, &pdu, false); /* twice */
            keep_cell(s, &pdu, fate == 2);
            if (fate == 3) { /* another connection's */
                pdu.sn = (uint8_t)leat_random_below(r, 16);
                pdu.it = (enum leat_atm_aal2_it)leat_random_below(r, 4);
                keep_cell(s, &pdu, false);
            }
        }
    }
}

static void only_whole_messages_are_delivered_and_all_of_them(void)
{
    static struct script s;
    struct leat_random random;
    struct leat_atm_aal2_segment segment = { 0 };
    unsigned long delivered = 0, dropped = 0;
    leat_random_seed(&random, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / SCRIPT; i++) {
        struct leat_atm_aal2_reassemble *r = fresh();
        random_script(&s, &segment, &random);
        for (unsigned k = 0; k < s.len; k++) {
            struct leat_atm_cell c = { .pt = 0 };
            OK(leat_atm_aal2_pdu_encode(&s.pdu[k], c.payload, 48) == LEAT_ERR_OK);
            if (s.damaged[k]) c.payload[leat_random_below(&random, 48)] ^= 0x10;
            const struct leat_atm_aal2_out out = step(r, k, &c);
            const size_t want = message_ending_at(&s, k);
            OK(out.message_len == want && (out.message != NULL) == (want != 0));
            size_t at = want;
            for (unsigned from = k; at > 0; from--) { /* backwards, as it was found */
                at -= s.pdu[from].li;
                OK(memcmp(out.message + at, s.pdu[from].payload, s.pdu[from].li) == 0);
            }
            delivered += want != 0;
            dropped += out.dropped != NOTHING;
        }
    }
    OK(delivered > (unsigned long)LEAT_ROUNDS / 20 && dropped > (unsigned long)LEAT_ROUNDS / 100);
}

TAP_MAIN(T(a_message_is_cut_into_begin_middle_and_end),
         T(a_short_message_is_a_single_cell_and_numbers_run_on),
         T(empty_and_huge_messages_are_refused), T(single_and_cut_messages_are_delivered),
         T(partly_filled_cells_may_stand_anywhere), T(a_gap_in_the_numbers_drops_the_message_once),
         T(a_new_beginning_drops_the_open_message), T(a_cell_without_its_beginning_is_an_orphan),
         T(damage_drops_the_message_once), T(fields_without_meaning_are_a_format_error),
         T(a_message_too_long_is_dropped_once), T(silence_drops_the_open_message_and_only_then),
         T(an_overdue_message_may_still_be_completed), T(memory_and_limits_are_checked),
         T(only_whole_messages_are_delivered_and_all_of_them))
