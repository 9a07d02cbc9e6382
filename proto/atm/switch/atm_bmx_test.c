#include "atm_bmx.h"
#include "atm_switch_model_test.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

static alignas(max_align_t) uint8_t memory[3][1 << 20];

static const struct leat_atm_bmx_config prototype = { .inputs = 4,
                                                      .outputs = 4,
                                                      .cells = LEAT_ATM_XPM_CELLS,
                                                      .header_len = LEAT_ATM_VP_HEADER,
                                                      .depth = LEAT_ATM_TABLE_DEPTH_MIN };

static struct leat_atm_bmx *make(int place, const struct leat_atm_bmx_config *config)
{
    struct leat_atm_bmx *bmx = NULL;
    EQ(leat_atm_bmx_init(memory[place], sizeof memory[place], config, &bmx), LEAT_ERR_OK);
    return bmx;
}

static void connect(struct leat_atm_bmx *bmx, unsigned input, unsigned vpi, uint64_t select,
                    uint32_t label)
{
    const struct leat_atm_route route = { select, label };
    EQ(leat_atm_bmx_connect(bmx, input, vpi, &route), LEAT_ERR_OK);
}

/* Bit s of `suspend`: the suspend signal of output s. */
static void step_spds(struct leat_atm_bmx *bmx, uint64_t suspend)
{
    for (unsigned s = 0; s < bmx->matrix.outputs; s++)
        leat_atm_bmx_step_spd(bmx, s, suspend >> s & 1);
}

static void step_ppds(struct leat_atm_bmx *bmx, const struct leat_atm_link *links)
{
    for (unsigned p = 0; p < bmx->matrix.inputs; p++)
        leat_atm_bmx_step_ppd(bmx, p, links[p]);
}

static bool is_idle(const struct leat_atm_bmx *bmx)
{
    bool idle = true;
    for (unsigned s = 0; s < bmx->matrix.outputs; s++)
        idle = idle && leat_atm_spd_is_idle(&bmx->spd[s], &bmx->matrix);
    for (unsigned p = 0; p < bmx->matrix.inputs; p++)
        idle = idle && leat_atm_ppd_is_idle(&bmx->ppd[p]);
    return idle;
}

/* ---- one switch --------------------------------------------------------------------------- */

static bool find_fixed(const void *context, uint32_t rank, uint32_t label,
                       struct leat_atm_route *out)
{
    *out = (struct leat_atm_route){ .select = 4, .label = label + rank };
    return context != NULL;
}

static void an_idle_switch_takes_six_cycles_by_vp_and_eight_by_vc(void)
{
    for (unsigned h = 2; h <= 4; h += 2) {
        struct leat_atm_bmx_config config = prototype;
        config.header_len = h;
        config.find = find_fixed;
        config.context = &config;
        config.rank = 100;
        struct leat_atm_bmx *bmx = make(0, &config);
        if (h == 2) connect(bmx, 3, 0x12, 4, 0x345);
        for (unsigned t = 0; t < 70; t++) { /* first byte in at u = 0 */
            struct leat_atm_link in[4] = { 0 };
            in[3] = (struct leat_atm_link){ t == 0 ? 1 : t == 1 ? 0x20 : (uint8_t)t, t < 53 };
            step_spds(bmx, 0);
            step_ppds(bmx, in);
            const struct leat_atm_link out = leat_atm_bmx_link(bmx, 2);
            const unsigned delay = h + 4;
            EQ(out.byteind, t >= delay && t < delay + 53);
            if (t >= delay + h && t < delay + 53) EQ(out.byte, t - delay);
            if (t == delay && h == 2) EQ(out.byte, 0x34);
            if (t == delay + 2 && h == 4) EQ(out.byte, 0x08); /* 0120020 + 103 */
            EQ(leat_atm_bmx_link(bmx, 0).byteind, false);
        }
        OK(is_idle(bmx));
    }
}

/* Thesis, 11.1.4: cells arrive at inputs 1 (for output 1) and 2 (for all outputs) in cycle 1. */
static void two_cells_at_once_leave_as_in_the_published_test(void)
{
    struct leat_atm_bmx *bmx = make(0, &prototype);
    static const uint8_t all_ports[7] = { 0x04, 0xd4, 0x4c, 0x44, 0xb4, 0x4a, 0x4f };
    connect(bmx, 1, 0x16, 2, 0x010);
    memcpy(bmx->ppd[2].datain, all_ports, sizeof all_ports);
    bmx->ppd[2].wadr = 0x11;
    bmx->ppd[2].wcmd = true;
    for (unsigned cycle = 1; cycle <= 120; cycle++) {
        struct leat_atm_link in[4] = { 0 };
        const uint8_t rest = (uint8_t)cycle;
        const bool valid = cycle < 54;
        in[1] = (struct leat_atm_link){ cycle == 1 ? 0x01 : cycle == 2 ? 0x60 : rest, valid };
        in[2] = (struct leat_atm_link){ cycle == 1 ? 0x01 : cycle == 2 ? 0x10 : rest, valid };
        step_spds(bmx, 0);
        step_ppds(bmx, in);
        for (unsigned s = 0; s < 4; s++)
            EQ(bmx->spd[s].bufind, cycle >= 6 && cycle <= (s == 1 ? 111 : 58));
        if (cycle == 6) EQ(bmx->spd[1].buf, 0x01);  /* VPI 010 */
        if (cycle == 59) EQ(bmx->spd[1].buf, 0x4b); /* VPI 4b4 */
        if (cycle == 6) EQ(bmx->spd[3].buf, 0x4d);
        if (cycle == 7) EQ(bmx->spd[0].buf, 0x40);
    }
}

/* ---- two switches in a row ---------------------------------------------------------------- */

struct row {
    struct leat_atm_bmx *bmx[2];
    struct leat_atm_bmx_config config[2];
};

/* SPDs, then (by the caller) sources and sinks, then PPDs. */
static void step_row(struct row *row, const struct leat_atm_link *in)
{
    struct leat_atm_link between[MODEL_PORTS];
    uint64_t suspend = 0;
    for (unsigned p = 0; p < row->config[1].inputs; p++)
        suspend |= (uint64_t)leat_atm_bmx_suspends(row->bmx[1], p) << p;
    step_spds(row->bmx[0], suspend);
    step_spds(row->bmx[1], 0);
    for (unsigned p = 0; p < row->config[1].inputs; p++)
        between[p] = leat_atm_bmx_link(row->bmx[0], p);
    step_ppds(row->bmx[0], in);
    step_ppds(row->bmx[1], between);
}

static void a_lone_congested_cell_is_retried_every_six_cycles(void)
{
    struct row row = { .config = { prototype, prototype } };
    for (int i = 0; i < 2; i++)
        row.bmx[i] = make(i, &row.config[i]);
    connect(row.bmx[0], 0, 0, 1, 0);
    connect(row.bmx[1], 0, 0, 9, 0);
    leat_atm_xpm_resize(&row.bmx[1]->matrix, 0, 3, 424);
    uint64_t suspended_at[8] = { 0 }, times = 0;
    for (unsigned t = 0; t < 60; t++) {
        struct leat_atm_link in[4] = { 0 };
        in[0].byteind = t < 53;
        row.bmx[1]->spd[3].trsmit = false; /* nothing drains XPM(0,3) */
        row.bmx[1]->matrix.waiting[3] = 0;
        step_row(&row, in);
        if (leat_atm_bmx_suspends(row.bmx[1], 0) && times < 8) suspended_at[times++] = t;
    }
    EQ(suspended_at[0], 4 + 5); /* selected at T = 4, tested at T+5 */
    for (uint64_t i = 1; i < times; i++)
        EQ(suspended_at[i] - suspended_at[i - 1], 6);
    EQ(times, 8);
    EQ(leat_atm_xpm_at(&row.bmx[1]->matrix, 0, 0)->size, 0);
}

/* Random legal traffic: sources that restart when suspended; nothing is lost. */

enum { LABELS = 256 };

struct source {
    uint8_t cell[53];
    unsigned at, sent;
    bool busy;
};

struct traffic {
    struct row row;
    struct model *model[2];
    struct leat_random r;
    struct source source[MODEL_PORTS];
    unsigned expected[MODEL_PORTS][MODEL_PORTS], delivered[MODEL_PORTS][MODEL_PORTS];
    uint8_t arriving[MODEL_PORTS][53];
    unsigned arrived[MODEL_PORTS];
};

static struct leat_atm_route routes[2][MODEL_PORTS][LABELS];
static int model_at_hand;

static bool look_up(int input, uint32_t label, bool *select, uint32_t *labels)
{
    if (label >= LABELS) return false;
    const struct leat_atm_route *route = &routes[model_at_hand][input][label];
    for (int u = 0; u < MODEL_PORTS; u++) {
        select[u] = route->select >> u & 1;
        labels[u] = route->label;
    }
    return true;
}

/* A VP table's entry has VPI 0 where the output is not selected (atm_route.h). */
static bool look_up_path(int input, uint32_t label, bool *select, uint32_t *labels)
{
    if (!look_up(input, label, select, labels)) return false;
    for (int u = 0; u < MODEL_PORTS; u++)
        if (!select[u]) labels[u] = 0;
    return true;
}

static bool find_route(const void *context, uint32_t rank, uint32_t label,
                       struct leat_atm_route *out)
{
    const struct leat_atm_route *table = context; /* of a stage: [input][label] */
    if (label >= LABELS) return false;
    *out = table[rank * LABELS + label];
    return true;
}

static void choose_routes(struct traffic *x, int stage, unsigned hot)
{
    const uint32_t outputs = x->row.config[stage].outputs;
    for (unsigned p = 0; p < x->row.config[stage].inputs; p++)
        for (unsigned label = 0; label < LABELS; label++) {
            struct leat_atm_route *route = &routes[stage][p][label];
            const uint64_t one = leat_random_below(&x->r, hot) ? 0
                                                               : leat_random_below(&x->r, outputs);
            const uint64_t any = leat_random_next(&x->r) & (UINT64_MAX >> (64 - outputs));
            route->select = leat_random_below(&x->r, 4) ? UINT64_C(1) << one : any;
            route->label = (uint32_t)leat_random_below(&x->r, LABELS);
            if (x->row.config[stage].header_len == LEAT_ATM_VP_HEADER)
                connect(x->row.bmx[stage], p, label, route->select, route->label);
        }
}

static void set_up(struct traffic *x)
{
    static struct model models[2];
    const bool vp = leat_random_below(&x->r, 2);
    const uint64_t ports_max = vp ? 5 : 8;
    uint32_t ports[3];
    for (int i = 0; i < 3; i++)
        ports[i] = 1 + (uint32_t)leat_random_below(&x->r, ports_max);
    const unsigned hot = 1 + (unsigned)leat_random_below(&x->r, 3);
    for (int i = 0; i < 2; i++) {
        x->row.config[i] = (struct leat_atm_bmx_config){
            .inputs = ports[i],
            .outputs = ports[i + 1],
            .cells = 1 + (uint32_t)leat_random_below(&x->r, 4),
            .header_len = vp ? LEAT_ATM_VP_HEADER : LEAT_ATM_VC_HEADER,
            .depth = LABELS,
            .find = find_route,
            .context = routes[i][0],
        };
        x->row.bmx[i] = make(i, &x->row.config[i]);
        x->model[i] = &models[i];
        memset(&models[i], 0, sizeof models[i]);
        models[i].inputs = (int)ports[i];
        models[i].outputs = (int)ports[i + 1];
        models[i].capacity = (int)x->row.config[i].cells * 53;
        models[i].h = vp ? 2 : 4;
        models[i].look_up = vp ? look_up_path : look_up;
        choose_routes(x, i, hot);
    }
}

/* A new cell: label, PT and CLP 5, its source and number in the payload, then a pattern. */
static void begin_cell(struct traffic *x, unsigned p)
{
    struct source *s = &x->source[p];
    const bool vp = x->row.config[0].header_len == LEAT_ATM_VP_HEADER;
    const uint32_t label = (uint32_t)leat_random_below(&x->r, LABELS);
    memset(s->cell, 0, sizeof s->cell);
    s->cell[0] = (uint8_t)(vp ? label >> 4 : 0);
    s->cell[1] = (uint8_t)(vp ? label << 4 | 5 : 0);
    s->cell[2] = (uint8_t)(vp ? 0 : label >> 4);
    s->cell[3] = (uint8_t)(vp ? 0 : label << 4 | 5);
    s->cell[5] = (uint8_t)p;
    s->cell[6] = (uint8_t)(++s->sent >> 8);
    s->cell[7] = (uint8_t)s->sent;
    for (unsigned k = 8; k < 53; k++)
        s->cell[k] = (uint8_t)(k * (p + 1) + s->sent);
    s->at = 0;
    s->busy = true;
}

/* Where a cell must leave: over the outputs of both switches. */
static void expect(struct traffic *x, unsigned p)
{
    const bool vp = x->row.config[0].header_len == LEAT_ATM_VP_HEADER;
    const uint8_t *header = x->source[p].cell + (vp ? 0 : 2);
    const struct leat_atm_route *first = &routes[0][p][header[0] << 4 | header[1] >> 4];
    for (unsigned u = 0; u < x->row.config[0].outputs; u++)
        if (first->select >> u & 1)
            for (unsigned v = 0; v < x->row.config[1].outputs; v++)
                x->expected[p][v] += (unsigned)(routes[1][u][first->label].select >> v & 1);
}

static struct leat_atm_link source_step(struct traffic *x, unsigned p, bool generate)
{
    struct source *s = &x->source[p];
    if (!s->busy && generate && leat_random_below(&x->r, 8)) begin_cell(x, p);
    if (!s->busy) return (struct leat_atm_link){ 0, false };
    const struct leat_atm_link link = { s->cell[s->at++], true };
    if (leat_atm_bmx_suspends(x->row.bmx[0], p)) s->at = 0; /* this byte is the ignored one */
    if (s->at == 53) {
        expect(x, p);
        s->busy = false;
    }
    return link;
}

static void sink_step(struct traffic *x, unsigned v)
{
    const struct leat_atm_link link = leat_atm_bmx_link(x->row.bmx[1], v);
    if (!link.byteind) {
        EQ(x->arrived[v], 0); /* no gap inside a cell */
        return;
    }
    x->arriving[v][x->arrived[v]++] = link.byte;
    if (x->arrived[v] < 53) return;
    const uint8_t *cell = x->arriving[v];
    const unsigned p = cell[5], number = (unsigned)cell[6] << 8 | cell[7];
    bool whole = p < x->row.config[0].inputs && (cell[1] | cell[3]) % 16 == 5;
    for (unsigned k = 8; k < 53; k++)
        whole &= cell[k] == (uint8_t)(k * (p + 1) + number);
    OK(whole);
    x->delivered[p % MODEL_PORTS][v]++;
    x->arrived[v] = 0;
}

static void check_bounds(const struct leat_atm_matrix *m)
{
    bool within = true;
    for (unsigned p = 0; p < m->inputs; p++)
        for (unsigned s = 0; s < m->outputs; s++) {
            const int32_t size = leat_atm_xpm_at(m, p, s)->size;
            within &= size >= 0 && size <= m->capacity;
        }
    OK(within);
}

static void traffic_cycle(struct traffic *x, bool generate)
{
    struct leat_atm_link in[MODEL_PORTS], between[MODEL_PORTS];
    bool suspend[MODEL_PORTS];
    for (unsigned p = 0; p < x->row.config[0].inputs; p++)
        in[p] = source_step(x, p, generate);
    for (unsigned p = 0; p < x->row.config[1].inputs; p++)
        suspend[p] = x->model[1]->ppd[p].suspend;
    step_row(&x->row, in);
    for (int s = 0; s < x->model[0]->outputs; s++)
        model_spd_step(x->model[0], s, suspend[s]);
    for (int s = 0; s < x->model[1]->outputs; s++)
        model_spd_step(x->model[1], s, false);
    for (int s = 0; s < x->model[0]->outputs; s++)
        between[s] = (struct leat_atm_link){ x->model[0]->spd[s].byte,
                                             x->model[0]->spd[s].byteind };
    for (model_at_hand = 0; model_at_hand < 2; model_at_hand++)
        for (int p = 0; p < x->model[model_at_hand]->inputs; p++) {
            const struct leat_atm_link *l = model_at_hand ? &between[p] : &in[p];
            model_ppd_step(x->model[model_at_hand], p, l->byte, l->byteind);
        }
    for (unsigned v = 0; v < x->row.config[1].outputs; v++)
        sink_step(x, v);
    for (int i = 0; i < 2; i++) {
        OK(model_agrees(x->model[i], x->row.bmx[i]));
        check_bounds(&x->row.bmx[i]->matrix);
    }
}

static void no_cell_is_lost_torn_or_misled_and_no_queue_overflows(void)
{
    static struct traffic x;
    const int networks = 40, cycles = LEAT_ROUNDS / 10 / networks;
    uint64_t refused = 0;
    for (int i = 0; (i < networks || (!refused && i < 20 * networks)) && !tap_checks_failed; i++) {
        memset(&x, 0, sizeof x);
        leat_random_seed_entity(&x.r, tap_seed(), (uint64_t)i);
        set_up(&x);
        for (int c = 0; c < cycles && !tap_checks_failed; c++)
            traffic_cycle(&x, true);
        for (int c = 0; c < 10000 && !tap_checks_failed; c++) { /* long enough to drain */
            if (is_idle(x.row.bmx[0]) && is_idle(x.row.bmx[1])) break;
            traffic_cycle(&x, false);
        }
        OK(is_idle(x.row.bmx[0]) && is_idle(x.row.bmx[1]));
        for (unsigned p = 0; p < x.row.config[0].inputs; p++)
            for (unsigned v = 0; v < x.row.config[1].outputs; v++)
                EQ(x.delivered[p][v], x.expected[p][v]);
        for (unsigned p = 0; p < x.row.config[1].inputs; p++)
            refused += x.row.bmx[1]->ppd[p].refused;
    }
    OK(refused > 0); /* there was congestion, which may need some more networks */
}

/* Stepping all units, or only those that are not idle, gives the same result. */
static void leaving_idle_units_out_changes_nothing(void)
{
    struct leat_atm_bmx *lazy = make(0, &prototype), *eager = make(1, &prototype);
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned vpi = 0; vpi < 256; vpi++)
        for (unsigned p = 0; p < 4; p++) {
            const uint64_t select = leat_random_below(&r, 16);
            connect(lazy, p, vpi, select, vpi);
            connect(eager, p, vpi, select, vpi);
        }
    unsigned left[4] = { 0 };
    for (int c = 0; c < LEAT_ROUNDS / 20; c++) {
        const uint64_t suspend = leat_random_below(&r, 50) ? 0 : leat_random_below(&r, 16);
        for (unsigned s = 0; s < 4; s++) {
            leat_atm_bmx_step_spd(lazy, s, suspend >> s & 1);
            leat_atm_spd_step(&eager->spd[s], &eager->matrix, suspend >> s & 1);
        }
        for (unsigned p = 0; p < 4; p++) {
            if (!left[p] && leat_random_below(&r, 100) == 0) left[p] = 53;
            const struct leat_atm_link link = { (uint8_t)leat_random_below(&r, 16), left[p] > 0 };
            left[p] -= left[p] > 0;
            leat_atm_bmx_step_ppd(lazy, p, link);
            leat_atm_ppd_step(&eager->ppd[p], &eager->matrix, link.byte, link.byteind);
        }
    }
    for (unsigned p = 0; p < 4; p++) {
        struct leat_atm_ppd a = lazy->ppd[p], b = eager->ppd[p];
        a.tables.entries = b.tables.entries = NULL;
        OK(same_ppd(a, b));
        EQ(memcmp(&lazy->spd[p], &eager->spd[p], sizeof lazy->spd[p]), 0);
    }
    EQ(memcmp(lazy->matrix.xpms, eager->matrix.xpms, (size_t)16 * lazy->matrix.stride), 0);
}

/* ---- sizes -------------------------------------------------------------------------------- */

static void refused(const struct leat_atm_bmx_config *config, const char *part)
{
    const char *text = leat_atm_bmx_refusal(config);
    struct leat_atm_bmx *bmx = NULL;
    OK(text && strstr(text, part));
    EQ(leat_atm_bmx_footprint(config), 0);
    EQ(leat_atm_bmx_init(memory[0], sizeof memory[0], config, &bmx), LEAT_ERR_RANGE);
    OK(!bmx);
}

static void impossible_switches_are_refused_with_the_limit(void)
{
    struct leat_atm_bmx_config c = prototype;
    OK(!leat_atm_bmx_refusal(&c));
    c.inputs = 0;
    refused(&c, "1 to 64 inputs");
    c.inputs = 65;
    refused(&c, "1 to 64 inputs");
    c.inputs = 64;
    OK(!leat_atm_bmx_refusal(&c));
    c.outputs = 0;
    refused(&c, "1 to 64 outputs");
    c.outputs = 65;
    refused(&c, "1 to 64 outputs");
    c.outputs = 17;
    refused(&c, "at most 16 outputs");
    c.outputs = 16;
    OK(!leat_atm_bmx_refusal(&c));
    c.depth = 255;
    refused(&c, "256 to 4096 entries");
    c.depth = 4097;
    refused(&c, "256 to 4096 entries");
    c.depth = 4096;
    OK(!leat_atm_bmx_refusal(&c));
    c.cells = 0;
    refused(&c, "1 to 1024 cells");
    c.cells = 1025;
    refused(&c, "1 to 1024 cells");
    c.cells = 1024;
    OK(!leat_atm_bmx_refusal(&c));
    c.header_len = 3;
    refused(&c, "2 header octets (VP) or 4 (VC)");
    c.header_len = LEAT_ATM_VC_HEADER;
    refused(&c, "finds labels");
    c.find = find_fixed;
    c.outputs = 64;
    OK(!leat_atm_bmx_refusal(&c));
}

static void memory_is_as_small_as_the_footprint_and_checked(void)
{
    struct leat_atm_bmx *bmx = NULL;
    const size_t footprint = leat_atm_bmx_footprint(&prototype);
    OK(footprint - 16 * 424 <= 8192); /* without the queues, tables included */
    EQ(leat_atm_bmx_init(memory[0], footprint - 1, &prototype, &bmx), LEAT_ERR_MEMORY);
    EQ(leat_atm_bmx_init(memory[0] + 1, footprint, &prototype, &bmx), LEAT_ERR_MEMORY);
    memory[0][footprint] = 0xa5;
    EQ(leat_atm_bmx_init(memory[0], footprint, &prototype, &bmx), LEAT_ERR_OK);
    leat_atm_xpm_at(&bmx->matrix, 3, 3)->mem[423] = 1; /* the last byte of the last queue */
    EQ(memory[0][footprint], 0xa5);
    OK(is_idle(bmx));
}

static void a_connection_must_fit_the_table(void)
{
    struct leat_atm_bmx *bmx = make(0, &prototype);
    struct leat_atm_route route = { .select = 15, .label = 0xfff };
    EQ(leat_atm_bmx_connect(bmx, 3, 255, &route), LEAT_ERR_OK);
    EQ(leat_atm_bmx_connect(bmx, 3, 256, &route), LEAT_ERR_RANGE);
    route.label = 0x1000;
    EQ(leat_atm_bmx_connect(bmx, 3, 0, &route), LEAT_ERR_RANGE);
    route = (struct leat_atm_route){ .select = 16 };
    EQ(leat_atm_bmx_connect(bmx, 3, 0, &route), LEAT_ERR_RANGE);
}

TAP_MAIN(T(an_idle_switch_takes_six_cycles_by_vp_and_eight_by_vc),
         T(two_cells_at_once_leave_as_in_the_published_test),
         T(a_lone_congested_cell_is_retried_every_six_cycles),
         T(no_cell_is_lost_torn_or_misled_and_no_queue_overflows),
         T(leaving_idle_units_out_changes_nothing),
         T(impossible_switches_are_refused_with_the_limit),
         T(memory_is_as_small_as_the_footprint_and_checked), T(a_connection_must_fit_the_table))
