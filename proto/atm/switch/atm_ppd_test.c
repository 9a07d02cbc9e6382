#include "atm_bmx.h"
#include "atm_switch_model_test.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

/* One PPD in front of a row of XPMs, as in its unit bench. */
static alignas(max_align_t) uint8_t memory[1 << 18];

static struct leat_atm_bmx *row(unsigned outputs, unsigned cells, unsigned header_len,
                                leat_atm_route_find *find)
{
    const struct leat_atm_bmx_config config = { .inputs = 1,
                                                .outputs = outputs,
                                                .cells = cells,
                                                .header_len = header_len,
                                                .depth = LEAT_ATM_TABLE_DEPTH_MIN,
                                                .find = find };
    struct leat_atm_bmx *bmx = NULL;
    EQ(leat_atm_bmx_init(memory, sizeof memory, &config, &bmx), LEAT_ERR_OK);
    return bmx;
}

static void step(struct leat_atm_bmx *bmx, unsigned byte, bool byteind)
{
    leat_atm_ppd_step(&bmx->ppd[0], &bmx->matrix, (uint8_t)byte, byteind);
}

static void write_entry(struct leat_atm_ppd *ppd, unsigned wadr, const uint8_t *datain)
{
    ppd->wadr = (uint16_t)wadr;
    memcpy(ppd->datain, datain, leat_atm_route_entry_len(ppd->outputs));
    ppd->wcmd = true;
}

static int size_of(const struct leat_atm_bmx *bmx, unsigned u)
{
    return leat_atm_xpm_at(&bmx->matrix, 0, u)->size;
}

static uint8_t last_of(const struct leat_atm_bmx *bmx, unsigned u)
{
    return leat_atm_xpm_at(&bmx->matrix, 0, u)->mem[leat_atm_xpm_last_at(&bmx->matrix, 0, u)];
}

/* The entries of the published benches: a broadcast and a point-to-point connection. */
static const uint8_t broadcast[7] = { 0x07, 0x08, 0x50, 0x63, 0x04, 0x10, 0x2f };
static const uint8_t to_port_2[7] = { 0x00, 0x00, 0x36, 0x30, 0x00, 0x00, 0x04 };

/* ---- VP ----------------------------------------------------------------------------------- */

static void a_cell_goes_through_on_the_published_timetable(void)
{
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    write_entry(ppd, 0x1f, broadcast);
    for (unsigned k = 1; k <= 53; k++) { /* byte k in link cycle u + k - 1 */
        step(bmx, k == 1 ? 0x01 : k == 2 ? 0xf2 : k, true);
        EQ(size_of(bmx, 0), k < 4 ? 0 : k - 3);
        if (k == 1) EQ(held_of(ppd), 1);
        if (k == 2) EQ(held_of(ppd), 2);
        if (k == 2) EQ(ppd->select, 0);
        if (k == 3) EQ(ppd->select, 15); /* translated in u + 2 */
        if (k == 3) EQ(ready_of(ppd), 1);
        if (k == 4) EQ(last_of(bmx, 0), 0x10);
        if (k == 4) EQ(last_of(bmx, 3), 0x70);
        if (k == 5) EQ(last_of(bmx, 1), 0x42);
        if (k >= 6) EQ(last_of(bmx, 2), k - 3); /* byte k is pushed in u + k + 2 */
        EQ(ppd->count, k % 53);
    }
    step(bmx, 0, false);
    step(bmx, 0, false);
    EQ(size_of(bmx, 3), 52);
    step(bmx, 0, false); /* byte 53 in u + 55 */
    EQ(size_of(bmx, 3), 53);
    EQ(last_of(bmx, 3), 53);
    step(bmx, 0, false);
    EQ(size_of(bmx, 3), 53);
    EQ(ppd->wcmd, false);
    OK(leat_atm_ppd_is_idle(ppd));
}

/* Between translation and first push, as where a wire broke: the table says output 2. */
static void a_redirected_cell_goes_where_it_is_told_with_the_label_it_is_told(void)
{
    const struct leat_atm_route elsewhere = { .select = 1 << 3, .label = 0xabc };
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    write_entry(ppd, 0x1f, to_port_2);
    for (unsigned k = 1; k <= 53 + 3; k++) {
        if (k == 4) EQ(ppd->select, 1 << 2);
        if (k == 4) leat_atm_ppd_redirect(ppd, &elsewhere);
        step(bmx, k == 1 ? 0x01 : k == 2 ? 0xf2 : k, k <= 53);
        if (k == 4) EQ(last_of(bmx, 3), 0xab);
        if (k == 5) EQ(last_of(bmx, 3), 0xc2);
    }
    EQ(size_of(bmx, 3), 53);
    EQ(size_of(bmx, 2), 0);
    EQ(ppd->accepted, 1);
}

static void one_full_destination_refuses_the_whole_cell(void)
{
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    leat_atm_xpm_resize(&bmx->matrix, 0, 3, 419);
    write_entry(ppd, 0x1f, broadcast);
    for (unsigned cell = 0; cell < 3; cell++) { /* and again five cycles later */
        step(bmx, 0x01, true);
        step(bmx, 0xf2, true);
        step(bmx, 3, true);
        EQ(ppd->suspend, false);
        EQ(ppd->select, 15);
        step(bmx, 4, true);
        EQ(ppd->suspend, true); /* in u + 3, for one cycle */
        EQ(ppd->select, 0);
        EQ(ppd->count, 4);
        step(bmx, 5, true);
        EQ(ppd->suspend, false);
        EQ(ppd->count, 0); /* byte 5 is ignored */
        EQ(piped_of(ppd) & 3, 0);
    }
    for (unsigned u = 0; u < 3; u++)
        EQ(size_of(bmx, u), 0);
    EQ(ppd->refused, 3);
}

static void the_full_test_is_exact_and_examines_selected_outputs_only(void)
{
    for (int size = 410; size < 425; size++) {
        struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
        struct leat_atm_ppd *ppd = &bmx->ppd[0];
        write_entry(ppd, 0x63, to_port_2);
        leat_atm_xpm_resize(&bmx->matrix, 0, 1, 424);
        leat_atm_xpm_resize(&bmx->matrix, 0, 2, size);
        step(bmx, 0x06, true);
        step(bmx, 0x37, true);
        step(bmx, 3, true);
        EQ(leat_atm_ppd_is_full(ppd, &bmx->matrix), size >= 419);
        step(bmx, 4, true);
        EQ(ppd->suspend, size >= 419);
        EQ(size_of(bmx, 2), size >= 419 ? size : size + 1);
    }
}

/* 4.2, the table of the input stage, row by row. */
static void the_input_stage_follows_its_table(void)
{
    for (unsigned row_number = 0; row_number < 2 * 53 * 2; row_number++) {
        const unsigned count = row_number % 53;
        const bool byteind = row_number / 53 % 2, suspend = row_number / 106;
        struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
        struct leat_atm_ppd *ppd = &bmx->ppd[0];
        ppd->count = (uint8_t)count;
        ppd->suspend = suspend;
        ppd->header[0] = 1;
        ppd->header[1] = 2;
        ppd->pipe = 3;
        step(bmx, 0x99, byteind);
        EQ(held_of(ppd), byteind && count < 2 ? 1 << count : 0);
        EQ(piped_of(ppd) & 1, byteind && count >= 2 && !suspend);
        EQ(ppd->header[0], byteind && count == 0 ? 0x99 : 1);
        EQ(ppd->header[1], byteind && count == 1 ? 0x99 : 2);
        EQ(ppd->pipe & 0xff, byteind && count >= 2 && !suspend ? 0x99 : 3);
        EQ(ppd->count, !byteind ? count : count < 2 ? count + 1 : suspend ? 0 : (count + 1) % 53);
        EQ(ppd->suspend, false);
    }
}

static void a_table_write_serves_the_cell_of_the_same_cycle(void)
{
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    step(bmx, 0x06, true);
    step(bmx, 0x37, true);
    write_entry(&bmx->ppd[0], 0x63, to_port_2); /* P1 comes before P4 */
    step(bmx, 0, true);
    EQ(bmx->ppd[0].select, 4);
    EQ(bmx->ppd[0].translated[4], 0x36);
    EQ(bmx->ppd[0].translated[5], 0x37);
    EQ(bmx->ppd[0].wcmd, false);
}

static void a_label_beyond_the_table_is_dropped_and_counted(void)
{
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    write_entry(ppd, 0xff, broadcast);
    static const unsigned vpis[] = { 0x0ff, 0x100, 0xfff, 0x0fe };
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t dropped = ppd->dropped;
        for (unsigned k = 0; k < 53; k++)
            step(bmx, k == 0 ? vpis[i] >> 4 : k == 1 ? vpis[i] << 4 | 9 : k, true);
        EQ(ppd->dropped - dropped, vpis[i] > 0xff);
        EQ(ppd->translated[1] & 15, 9);
    }
    for (unsigned k = 0; k < 3; k++)
        step(bmx, 0, false);
    EQ(size_of(bmx, 0), 53); /* the one that has an entry with a port; 0xfe selects none */
    EQ(ppd->dropped, 2);
    EQ(ppd->accepted, 4);
    EQ(ppd->refused, 0);
}

/* ---- VC ----------------------------------------------------------------------------------- */

static bool find_simple(const void *context, uint32_t rank, uint32_t label,
                        struct leat_atm_route *out)
{
    (void)context;
    (void)rank;
    if (label == 0x7777777) return false;
    *out = (struct leat_atm_route){ .select = UINT64_C(1) << 63 | 1, .label = label ^ 0xfffffff };
    return true;
}

static void vc_switching_waits_for_octet_3_and_keeps_its_low_nibble(void)
{
    static const uint8_t header[4] = { 0x12, 0x34, 0x56, 0x7b };
    static const uint8_t new_header[4] = { 0xed, 0xcb, 0xa9, 0x8b };
    struct leat_atm_bmx *bmx = row(64, 8, LEAT_ATM_VC_HEADER, find_simple);
    for (unsigned k = 1; k <= 53 + 5; k++) {
        step(bmx, k <= 4 ? header[k - 1] : k, k <= 53);
        EQ(size_of(bmx, 0), k < 6 ? 0 : k - 5); /* first push in u + 5, byte k in u + k + 4 */
        if (k == 4) EQ(bmx->ppd[0].select, 0);
        if (k == 5) EQ(bmx->ppd[0].select, UINT64_C(1) << 63 | 1);
        if (k >= 6 && k < 10) EQ(last_of(bmx, 63), new_header[k - 6]);
        if (k >= 10) EQ(last_of(bmx, 63), k - 5);
    }
    EQ(size_of(bmx, 63), 53);
    EQ(size_of(bmx, 1), 0);
}

static void vc_switching_refuses_after_seven_bytes(void)
{
    struct leat_atm_bmx *bmx = row(64, 8, LEAT_ATM_VC_HEADER, find_simple);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    leat_atm_xpm_resize(&bmx->matrix, 0, 63, 424 - 7);
    for (unsigned k = 1; k <= 7; k++) {
        step(bmx, k, true);
        EQ(ppd->suspend, k == 6);
        EQ(ppd->count, k == 7 ? 0 : k);
    }
    for (unsigned k = 0; k < 6; k++)
        step(bmx, 0, false);
    EQ(size_of(bmx, 0), 0);
    leat_atm_xpm_resize(&bmx->matrix, 0, 63, 424 - 8);
    for (unsigned k = 1; k <= 7; k++)
        step(bmx, k, true);
    EQ(size_of(bmx, 63), 424 - 8 + 2);
    EQ(ppd->refused, 1);
}

static void a_label_that_nobody_knows_is_dropped_and_counted(void)
{
    struct leat_atm_bmx *bmx = row(64, 8, LEAT_ATM_VC_HEADER, find_simple);
    for (unsigned k = 1; k <= 60; k++)
        step(bmx, 0x77, k <= 53);
    EQ(bmx->ppd[0].dropped, 1);
    EQ(bmx->matrix.waiting[0] | bmx->matrix.waiting[63], 0);
}

/* ---- against the plain model --------------------------------------------------------------- */

static uint16_t vpouts[LEAT_ATM_TABLE_DEPTH_MIN][LEAT_ATM_ROUTE_VP_FAN_OUT_MAX];
static uint16_t flags[LEAT_ATM_TABLE_DEPTH_MIN];
static int fan_out;

static bool look_up_path(int input, uint32_t label, bool *select, uint32_t *labels)
{
    (void)input;
    if (label >= LEAT_ATM_TABLE_DEPTH_MIN) return false;
    for (int u = 0; u < fan_out; u++) {
        select[u] = flags[label] >> u & 1;
        labels[u] = vpouts[label][u];
    }
    return true;
}

/* Bit by bit from the left, as the note draws it. */
static void pack(unsigned vpi, uint8_t *entry)
{
    unsigned bit = (unsigned)(8 * leat_atm_route_entry_len((uint32_t)fan_out)) -
                   13u * (unsigned)fan_out;
    memset(entry, 0, LEAT_ATM_ROUTE_ENTRY_LEN_MAX);
    for (int u = fan_out - 1; u >= 0; u--)
        for (int b = 11; b >= 0; b--, bit++)
            entry[bit / 8] |= (uint8_t)((vpouts[vpi][u] >> b & 1) << (7 - bit % 8));
    for (int u = fan_out - 1; u >= 0; u--, bit++)
        entry[bit / 8] |= (uint8_t)((flags[vpi] >> u & 1) << (7 - bit % 8));
}

static bool find_mixed(const void *context, uint32_t rank, uint32_t label,
                       struct leat_atm_route *out)
{
    (void)context;
    (void)rank;
    uint64_t mix = label * UINT64_C(0x9E3779B97F4A7C15);
    if (mix >> 60 == 0) return false;
    out->select = (mix ^ mix >> 32) & (UINT64_MAX >> (64 - fan_out));
    out->label = mix >> 7 & 0xfffffff;
    return true;
}

static bool look_up_channel(int input, uint32_t label, bool *select, uint32_t *labels)
{
    struct leat_atm_route route = { 0 };
    if (!find_mixed(NULL, (uint32_t)input, label, &route)) return false;
    for (int u = 0; u < fan_out; u++) {
        select[u] = route.select >> u & 1;
        labels[u] = route.label;
    }
    return true;
}

/* A random link and random readers: gaps anywhere, jumping sizes. */
static void random_cycles(struct leat_random *r, struct leat_atm_bmx *bmx, struct model *m,
                          int cycles)
{
    for (int c = 0; c < cycles; c++) {
        const uint8_t byte = (uint8_t)leat_random_below(r, leat_random_below(r, 4) ? 16 : 256);
        const bool byteind = leat_random_below(r, 16) != 0;
        if (leat_random_below(r, 40) == 0) {
            const unsigned u = (unsigned)leat_random_below(r, (uint64_t)fan_out);
            const int size = (int)leat_random_below(r, (uint64_t)m->capacity + 1);
            leat_atm_xpm_resize(&bmx->matrix, 0, u, size);
            m->xpm[0][u].size = size;
        }
        if (m->h == 2 && leat_random_below(r, 30) == 0) {
            uint8_t entry[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
            const unsigned vpi = (unsigned)leat_random_below(r, LEAT_ATM_TABLE_DEPTH_MIN);
            flags[vpi] = (uint16_t)(leat_random_next(r) & ((1u << fan_out) - 1));
            for (int u = 0; u < fan_out; u++)
                vpouts[vpi][u] = (uint16_t)(leat_random_next(r) & 0xfff);
            pack(vpi, entry);
            write_entry(&bmx->ppd[0], vpi, entry);
        }
        const bool idle = leat_atm_ppd_is_idle(&bmx->ppd[0]);
        const struct leat_atm_ppd before = bmx->ppd[0];
        step(bmx, byte, byteind);
        model_ppd_step(m, 0, byte, byteind);
        const bool agrees = model_ppd_agrees(m, 0, &bmx->ppd[0]) &&
                            model_xpms_agree(m, &bmx->matrix);
        OK(agrees);
        if (!agrees) return;
        if (!byteind) EQ(idle, same_ppd(before, bmx->ppd[0]));
    }
}

static void every_register_equals_the_plain_model_s_for_every_fan_out(void)
{
    static struct model m;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 2 * 64; i++) {
        const bool vp = i % 2 == 0;
        const unsigned cells = 1 + (unsigned)leat_random_below(&r, 8);
        fan_out = 1 + i / 2 % (vp ? 16 : 64);
        memset(&m, 0, sizeof m);
        memset(flags, 0, sizeof flags);
        memset(vpouts, 0, sizeof vpouts);
        m.inputs = 1;
        m.outputs = fan_out;
        m.capacity = (int)cells * 53;
        m.h = vp ? 2 : 4;
        m.look_up = vp ? look_up_path : look_up_channel;
        struct leat_atm_bmx *bmx = row((unsigned)fan_out, cells, (unsigned)m.h,
                                       vp ? NULL : find_mixed);
        random_cycles(&r, bmx, &m, LEAT_ROUNDS / 128);
    }
}

/* is_idle is exact: nothing changes, down to the bytes without meaning. */
static void a_unit_is_idle_exactly_when_a_step_changes_nothing(void)
{
    for (unsigned len = 1; len <= 53; len++) {
        struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
        OK(leat_atm_ppd_is_idle(&bmx->ppd[0]));
        for (unsigned k = 0; k < len; k++)
            step(bmx, k + 1, true);
        for (unsigned k = 0; k < 8; k++) {
            const bool idle = leat_atm_ppd_is_idle(&bmx->ppd[0]);
            const struct leat_atm_ppd before = bmx->ppd[0];
            step(bmx, 0, false);
            EQ(idle, same_ppd(before, bmx->ppd[0]));
        }
        OK(leat_atm_ppd_is_idle(&bmx->ppd[0]));
    }
}

/* The parts of a step, called one by one. */
static void the_parts_of_a_step_do_what_their_phase_says(void)
{
    struct leat_atm_bmx *bmx = row(4, 8, LEAT_ATM_VP_HEADER, NULL);
    struct leat_atm_ppd *ppd = &bmx->ppd[0];
    write_entry(ppd, 0x1f, broadcast);
    leat_atm_ppd_write_table(ppd);
    EQ(ppd->wcmd, false);
    ppd->header[0] = 0x01;
    ppd->header[1] = 0xf2;
    leat_atm_ppd_translate(ppd);
    EQ(ppd->select, 15);
    ppd->valid = 1u << (leat_atm_valid_ready(2) + 1); /* dind */
    EQ(leat_atm_ppd_forward(ppd, &bmx->matrix), false);
    EQ(last_of(bmx, 2), 0x62);
    leat_atm_ppd_push(ppd, &bmx->matrix, 0x55);
    EQ(last_of(bmx, 3), 0x55);
    ppd->valid = 1u << leat_atm_valid_ready(2); /* cind */
    EQ(leat_atm_ppd_forward(ppd, &bmx->matrix), false);
    EQ(last_of(bmx, 0), 0x10);
    leat_atm_xpm_resize(&bmx->matrix, 0, 1, 419);
    EQ(leat_atm_ppd_forward(ppd, &bmx->matrix), true);
    EQ(ppd->select, 0);
    struct leat_atm_ppd again;
    leat_atm_ppd_init(&again, &bmx->matrix, 0, LEAT_ATM_VP_HEADER, &ppd->tables);
    OK(leat_atm_ppd_is_idle(&again));
    EQ(again.full_size_min, 419);
}

TAP_MAIN(T(a_cell_goes_through_on_the_published_timetable),
         T(a_redirected_cell_goes_where_it_is_told_with_the_label_it_is_told),
         T(one_full_destination_refuses_the_whole_cell),
         T(the_full_test_is_exact_and_examines_selected_outputs_only),
         T(the_input_stage_follows_its_table), T(a_table_write_serves_the_cell_of_the_same_cycle),
         T(a_label_beyond_the_table_is_dropped_and_counted),
         T(vc_switching_waits_for_octet_3_and_keeps_its_low_nibble),
         T(vc_switching_refuses_after_seven_bytes),
         T(a_label_that_nobody_knows_is_dropped_and_counted),
         T(every_register_equals_the_plain_model_s_for_every_fan_out),
         T(a_unit_is_idle_exactly_when_a_step_changes_nothing),
         T(the_parts_of_a_step_do_what_their_phase_says))
