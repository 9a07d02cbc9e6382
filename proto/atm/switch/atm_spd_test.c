#include "atm_bmx.h"
#include "atm_switch_model_test.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

/* One SPD after a column of XPMs, as in its unit bench. */
static alignas(max_align_t) uint8_t memory[1 << 18];

static bool find_nothing(const void *context, uint32_t rank, uint32_t label,
                         struct leat_atm_route *out)
{
    (void)context;
    (void)rank;
    (void)label;
    (void)out;
    return false;
}

static struct leat_atm_bmx *column(unsigned inputs, unsigned cells, unsigned header_len)
{
    const struct leat_atm_bmx_config config = { .inputs = inputs,
                                                .outputs = 1,
                                                .cells = cells,
                                                .header_len = header_len,
                                                .depth = LEAT_ATM_TABLE_DEPTH_MIN,
                                                .find = find_nothing };
    struct leat_atm_bmx *bmx = NULL;
    EQ(leat_atm_bmx_init(memory, sizeof memory, &config, &bmx), LEAT_ERR_OK);
    return bmx;
}

static void step(struct leat_atm_bmx *bmx, bool suspend)
{
    leat_atm_spd_step(&bmx->spd[0], &bmx->matrix, suspend);
}

static void put_cell(struct leat_atm_bmx *bmx, unsigned input, unsigned first)
{
    for (unsigned k = 0; k < 53; k++)
        leat_atm_xpm_push(&bmx->matrix, input, 0, (uint8_t)(first + k));
}

static void a_cell_leaves_on_the_published_timetable(void)
{
    struct leat_atm_bmx *bmx = column(4, 8, LEAT_ATM_VP_HEADER);
    const struct leat_atm_spd *spd = &bmx->spd[0];
    put_cell(bmx, 2, 1);
    for (unsigned t = 0; t <= 56; t++) { /* selected in cycle T = 0 */
        step(bmx, false);
        EQ(spd->siqnum, 2);
        EQ(spd->trsmit, t < 53);
        EQ(spd->bufind, t >= 1 && t <= 53); /* byte k popped in T+k */
        EQ(spd->byteind, t >= 2 && t <= 54);
        if (spd->bufind) EQ(spd->buf, t);
        if (spd->byteind) EQ(spd->byte, t - 1);
        EQ(leat_atm_spd_iqcnt(spd, 2), t < 53 ? t : 0);
        EQ(leat_atm_spd_iqcnt(spd, 1), 0);
    }
    EQ(leat_atm_xpm_at(&bmx->matrix, 2, 0)->size, 0);
}

/* One byte is enough to be selected: the writer is never slower than the reader. */
static void a_cell_may_leave_while_it_still_arrives(void)
{
    struct leat_atm_bmx *bmx = column(4, 8, LEAT_ATM_VP_HEADER);
    for (unsigned t = 0; t <= 54; t++) {
        if (t < 53) leat_atm_xpm_push(&bmx->matrix, 0, 0, (uint8_t)(t + 1));
        step(bmx, false);
        EQ(leat_atm_xpm_at(&bmx->matrix, 0, 0)->size, t < 53);
        if (t >= 2) EQ(bmx->spd[0].byte, t - 1);
    }
}

static void cells_of_all_inputs_follow_each_other_in_turn_without_a_gap(void)
{
    struct leat_atm_bmx *bmx = column(5, 8, LEAT_ATM_VP_HEADER);
    static const unsigned turn[] = { 1, 3, 4, 0, 1, 3, 0 }; /* the first scan starts at XPM 1 */
    put_cell(bmx, 0, 0);
    put_cell(bmx, 0, 10);
    put_cell(bmx, 1, 20);
    put_cell(bmx, 1, 30);
    put_cell(bmx, 3, 40);
    put_cell(bmx, 3, 50);
    put_cell(bmx, 4, 60);
    step(bmx, false);
    for (unsigned t = 0; t < 7 * 53; t++) {
        EQ(bmx->spd[0].siqnum, turn[t / 53]);
        step(bmx, false);
        EQ(bmx->spd[0].bufind, true);
    }
    EQ(bmx->spd[0].trsmit, false);
    EQ(bmx->matrix.waiting[0], 0);
}

static void a_suspension_takes_five_bytes_back_and_serves_the_next(void)
{
    struct leat_atm_bmx *bmx = column(4, 8, LEAT_ATM_VP_HEADER);
    const struct leat_atm_spd *spd = &bmx->spd[0];
    put_cell(bmx, 1, 1);
    put_cell(bmx, 3, 101);
    for (unsigned t = 0; t <= 5; t++)
        step(bmx, false);
    EQ(leat_atm_xpm_at(&bmx->matrix, 1, 0)->head, 5);
    step(bmx, true); /* T+6 */
    EQ(leat_atm_xpm_at(&bmx->matrix, 1, 0)->head, 0);
    EQ(leat_atm_xpm_at(&bmx->matrix, 1, 0)->size, 53);
    EQ(spd->siqnum, 3); /* after the refused one */
    EQ(spd->trsmit, true);
    EQ(spd->bufind, false); /* one invalid byte */
    EQ(spd->byteind, true);
    step(bmx, false);
    EQ(spd->buf, 101);
    EQ(spd->byteind, false);
    for (unsigned t = 0; t < 52 + 53; t++)
        step(bmx, false);
    EQ(spd->buf, 53);
    EQ(bmx->matrix.waiting[0], 0);
}

static void a_lone_refused_cell_is_sent_again_every_six_cycles_or_eight(void)
{
    for (unsigned h = 2; h <= 4; h += 2) {
        struct leat_atm_bmx *bmx = column(4, 8, h);
        put_cell(bmx, 2, 1);
        step(bmx, false);
        for (unsigned t = 1; t < 100; t++) {
            step(bmx, t % (h + 4) == 0);
            const bool start = t % (h + 4) == 2;
            if (start) EQ(bmx->spd[0].byte, 1);
            EQ(bmx->spd[0].byteind, t > 1 && t % (h + 4) != 1);
        }
        EQ(leat_atm_xpm_at(&bmx->matrix, 2, 0)->size + (int)leat_atm_spd_iqcnt(&bmx->spd[0], 2),
           53);
    }
}

static void every_register_equals_the_plain_model_s_for_every_fan_in(void)
{
    static struct model m;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 2 * 64; i++) {
        const unsigned inputs = 1 + (unsigned)i / 2, cells = 1 + (unsigned)leat_random_below(&r, 8);
        memset(&m, 0, sizeof m);
        m.inputs = (int)inputs;
        m.outputs = 1;
        m.capacity = (int)cells * 53;
        m.h = i % 2 ? 4 : 2;
        struct leat_atm_bmx *bmx = column(inputs, cells, (unsigned)m.h);
        /* Pushes and suspensions at any time, also where no correct neighbour would have them. */
        const uint64_t pushes = 1 + leat_random_below(&r, 3), calm = 1 + leat_random_below(&r, 40);
        for (int c = 0; c < LEAT_ROUNDS / 128; c++) {
            for (uint64_t k = leat_random_below(&r, pushes + 1); k; k--) {
                const unsigned p = (unsigned)leat_random_below(&r, inputs);
                const uint8_t byte = (uint8_t)leat_random_next(&r);
                leat_atm_xpm_push(&bmx->matrix, p, 0, byte);
                model_push(&m, &m.xpm[p][0], byte);
            }
            const bool suspend = leat_random_below(&r, calm) == 0;
            const bool idle = leat_atm_spd_is_idle(&bmx->spd[0], &bmx->matrix);
            const struct leat_atm_spd before = bmx->spd[0];
            step(bmx, suspend);
            model_spd_step(&m, 0, suspend);
            const bool agrees = model_spd_agrees(&m, 0, &bmx->spd[0]) &&
                                model_xpms_agree(&m, &bmx->matrix);
            OK(agrees);
            if (!agrees) return;
            if (idle && !suspend) EQ(memcmp(&before, &bmx->spd[0], sizeof before), 0);
        }
    }
}

static void a_unit_is_idle_exactly_when_a_step_changes_nothing(void)
{
    struct leat_atm_bmx *bmx = column(4, 8, LEAT_ATM_VP_HEADER);
    OK(leat_atm_spd_is_idle(&bmx->spd[0], &bmx->matrix));
    put_cell(bmx, 0, 1);
    for (unsigned t = 0; t < 60; t++) {
        const bool idle = leat_atm_spd_is_idle(&bmx->spd[0], &bmx->matrix);
        const struct leat_atm_spd before = bmx->spd[0];
        const struct leat_atm_xpm queue = *leat_atm_xpm_at(&bmx->matrix, 0, 0);
        step(bmx, false);
        const bool same = memcmp(&before, &bmx->spd[0], sizeof before) == 0 &&
                          memcmp(&queue, leat_atm_xpm_at(&bmx->matrix, 0, 0), sizeof queue) == 0;
        EQ(idle, same);
        EQ(idle, t > 55);
    }
}

static void the_parts_of_a_step_do_what_their_phase_says(void)
{
    struct leat_atm_bmx *bmx = column(4, 8, LEAT_ATM_VP_HEADER);
    struct leat_atm_spd spd;
    leat_atm_spd_init(&spd, 0, LEAT_ATM_VC_HEADER);
    EQ(spd.rollback, 7);
    leat_atm_spd_init(&spd, 0, LEAT_ATM_VP_HEADER);
    leat_atm_spd_select(&spd, &bmx->matrix);
    EQ(spd.trsmit, false);
    leat_atm_xpm_push(&bmx->matrix, 0, 0, 1);
    leat_atm_spd_select(&spd, &bmx->matrix);
    EQ(spd.trsmit, true);
    EQ(spd.siqnum, 0);
    leat_atm_spd_roll_back(&spd, &bmx->matrix); /* before anything was sent: it still adds */
    EQ(leat_atm_xpm_at(&bmx->matrix, 0, 0)->size, 6);
    EQ(spd.trsmit, false);
}

TAP_MAIN(T(a_cell_leaves_on_the_published_timetable), T(a_cell_may_leave_while_it_still_arrives),
         T(cells_of_all_inputs_follow_each_other_in_turn_without_a_gap),
         T(a_suspension_takes_five_bytes_back_and_serves_the_next),
         T(a_lone_refused_cell_is_sent_again_every_six_cycles_or_eight),
         T(every_register_equals_the_plain_model_s_for_every_fan_in),
         T(a_unit_is_idle_exactly_when_a_step_changes_nothing),
         T(the_parts_of_a_step_do_what_their_phase_says))
