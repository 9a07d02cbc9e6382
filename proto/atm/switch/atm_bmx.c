#include "atm_bmx.h"
#include "leat_bytes.h"
#include <assert.h>
#include <stdalign.h>
#include <string.h>

/* The limits in the texts below. */
static_assert(LEAT_ATM_BMX_PORTS_MAX == 64, "in a text");
static_assert(LEAT_ATM_ROUTE_VP_FAN_OUT_MAX == 16, "in a text");
static_assert(LEAT_ATM_XPM_CELLS_MAX == 1024, "in a text");
static_assert(LEAT_ATM_TABLE_DEPTH_MIN == 256 && LEAT_ATM_TABLE_DEPTH_MAX == 4096, "in a text");
static_assert(LEAT_ATM_XPM_CELLS_MAX * LEAT_ATM_CELL_LEN <= UINT16_MAX, "places are 16 bits");

const char *leat_atm_bmx_refusal(const struct leat_atm_bmx_config *c)
{
    const bool vp = c->header_len == LEAT_ATM_VP_HEADER;
    if (c->inputs < 1 || c->inputs > LEAT_ATM_BMX_PORTS_MAX) return "a switch has 1 to 64 inputs";
    if (c->outputs < 1 || c->outputs > LEAT_ATM_BMX_PORTS_MAX)
        return "a switch has 1 to 64 outputs";
    if (vp && c->outputs > LEAT_ATM_ROUTE_VP_FAN_OUT_MAX)
        return "a VP switch has at most 16 outputs; VC switching goes to 64";
    if (c->cells < 1 || c->cells > LEAT_ATM_XPM_CELLS_MAX)
        return "a crosspoint memory holds 1 to 1024 cells";
    if (!vp && c->header_len != LEAT_ATM_VC_HEADER)
        return "a switch translates 2 header octets (VP) or 4 (VC)";
    if (vp && (c->depth < LEAT_ATM_TABLE_DEPTH_MIN || c->depth > LEAT_ATM_TABLE_DEPTH_MAX))
        return "the table of a VP switch has 256 to 4096 entries, a VPI being 12 bits";
    if (!vp && !c->find) return "a VC switch needs a function that finds labels";
    return NULL;
}

/* The layout of the memory; each part begins at a multiple of the largest alignment. */
struct parts {
    size_t bmx, ppds, spds, waiting, tables, xpms, total;
};

static size_t take(size_t *total, size_t len)
{
    const size_t at = *total;
    *total += (len + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    return at;
}

static struct parts divide(const struct leat_atm_bmx_config *c)
{
    const size_t xpms = (size_t)c->inputs * c->outputs;
    const bool vp = c->header_len == LEAT_ATM_VP_HEADER;
    const size_t table_len = vp ? c->depth * leat_atm_route_entry_len(c->outputs) : 0;
    struct parts p = { 0 };
    p.bmx = take(&p.total, sizeof(struct leat_atm_bmx));
    p.ppds = take(&p.total, c->inputs * sizeof(struct leat_atm_ppd));
    p.spds = take(&p.total, c->outputs * sizeof(struct leat_atm_spd));
    p.waiting = take(&p.total, c->outputs * sizeof(uint64_t));
    p.tables = take(&p.total, c->inputs * table_len);
    p.xpms = take(&p.total, xpms * leat_atm_xpm_stride(c->cells * LEAT_ATM_CELL_LEN));
    return p;
}

size_t leat_atm_bmx_footprint(const struct leat_atm_bmx_config *config)
{
    return leat_atm_bmx_refusal(config) ? 0 : divide(config).total;
}

static void init_units(struct leat_atm_bmx *bmx, const struct leat_atm_bmx_config *c,
                       uint8_t *tables)
{
    const bool vp = c->header_len == LEAT_ATM_VP_HEADER;
    const size_t table_len = vp ? c->depth * leat_atm_route_entry_len(c->outputs) : 0;
    for (unsigned p = 0; p < c->inputs; p++) {
        const struct leat_atm_ppd_tables t = {
            .entries = vp ? tables + p * table_len : NULL,
            .depth = (uint16_t)(vp ? c->depth : 0),
            .find = c->find,
            .context = c->context,
            .rank = c->rank + p,
        };
        leat_atm_ppd_init(&bmx->ppd[p], &bmx->matrix, p, c->header_len, &t);
    }
    for (unsigned s = 0; s < c->outputs; s++)
        leat_atm_spd_init(&bmx->spd[s], s, c->header_len);
}

leat_err leat_atm_bmx_init(void *memory, size_t memory_len,
                           const struct leat_atm_bmx_config *config, struct leat_atm_bmx **out)
{
    if (leat_atm_bmx_refusal(config)) return LEAT_ERR_RANGE;
    const struct parts p = divide(config);
    uint8_t *base = memory;
    if (memory_len < p.total || (uintptr_t)memory % alignof(max_align_t)) return LEAT_ERR_MEMORY;
    memset(base, 0, p.total);

    struct leat_atm_bmx *bmx = memory;
    bmx->matrix = (struct leat_atm_matrix){
        .xpms = base + p.xpms,
        .waiting = (void *)(base + p.waiting),
        .stride = leat_atm_xpm_stride(config->cells * LEAT_ATM_CELL_LEN),
        .inputs = (uint16_t)config->inputs,
        .outputs = (uint16_t)config->outputs,
        .capacity = (uint16_t)(config->cells * LEAT_ATM_CELL_LEN),
    };
    bmx->ppd = (void *)(base + p.ppds);
    bmx->spd = (void *)(base + p.spds);
    init_units(bmx, config, base + p.tables);
    *out = bmx;
    return LEAT_ERR_OK;
}

leat_err leat_atm_bmx_connect(struct leat_atm_bmx *bmx, unsigned input, unsigned vpi,
                              const struct leat_atm_route *route)
{
    assert(input < bmx->matrix.inputs);
    const struct leat_atm_ppd *ppd = &bmx->ppd[input];
    const size_t len = leat_atm_route_entry_len(ppd->outputs);
    if (vpi >= ppd->tables.depth || !leat_fits(route->select, ppd->outputs) ||
        !leat_fits(route->label, LEAT_ATM_ROUTE_VPI_BITS))
        return LEAT_ERR_RANGE;
    leat_atm_route_pack(route, ppd->outputs, ppd->tables.entries + vpi * len);
    return LEAT_ERR_OK;
}

void leat_atm_bmx_step_spds(struct leat_atm_bmx *bmx, uint64_t suspend)
{
    for (unsigned s = 0; s < bmx->matrix.outputs; s++)
        leat_atm_bmx_step_spd(bmx, s, suspend >> s & 1);
}

void leat_atm_bmx_step_ppds(struct leat_atm_bmx *bmx, const struct leat_atm_link *links)
{
    for (unsigned p = 0; p < bmx->matrix.inputs; p++)
        leat_atm_bmx_step_ppd(bmx, p, links[p]);
}

bool leat_atm_bmx_is_idle(const struct leat_atm_bmx *bmx)
{
    for (unsigned s = 0; s < bmx->matrix.outputs; s++)
        if (!leat_atm_spd_is_idle(&bmx->spd[s], &bmx->matrix)) return false;
    for (unsigned p = 0; p < bmx->matrix.inputs; p++)
        if (!leat_atm_ppd_is_idle(&bmx->ppd[p])) return false;
    return true;
}
