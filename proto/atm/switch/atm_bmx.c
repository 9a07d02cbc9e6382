#include "atm_bmx.h"
#include "leat_arena.h"
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

static bool is_vp(const struct leat_atm_bmx_config *c)
{
    return c->header_len == LEAT_ATM_VP_HEADER;
}

const char *leat_atm_bmx_refusal(const struct leat_atm_bmx_config *c)
{
    const bool vp = is_vp(c);
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

/* Octets of an input's table; VC has none. */
static size_t table_len(const struct leat_atm_bmx_config *c)
{
    return is_vp(c) ? c->depth * leat_atm_route_entry_len(c->outputs) : 0;
}

/* Lays out the parts of *bmx after it; returns the tables. */
static uint8_t *lay_out(struct leat_arena *arena, const struct leat_atm_bmx_config *c,
                        struct leat_atm_bmx *bmx)
{
    const uint32_t capacity = c->cells * LEAT_ATM_CELL_LEN;
    bmx->matrix = (struct leat_atm_matrix){ .stride = leat_atm_xpm_stride(capacity),
                                            .inputs = (uint16_t)c->inputs,
                                            .outputs = (uint16_t)c->outputs,
                                            .capacity = (uint16_t)capacity };
    bmx->ppd = leat_arena_lay(arena, c->inputs, sizeof *bmx->ppd);
    bmx->spd = leat_arena_lay(arena, c->outputs, sizeof *bmx->spd);
    bmx->matrix.waiting = leat_arena_lay(arena, c->outputs, sizeof *bmx->matrix.waiting);
    uint8_t *tables = leat_arena_lay(arena, c->inputs, table_len(c));
    bmx->matrix.xpms = leat_arena_lay(arena, (size_t)c->inputs * c->outputs, bmx->matrix.stride);
    return tables;
}

size_t leat_atm_bmx_footprint(const struct leat_atm_bmx_config *config)
{
    struct leat_arena arena = { 0 };
    struct leat_atm_bmx measured;
    if (leat_atm_bmx_refusal(config)) return 0;
    leat_arena_lay(&arena, 1, sizeof measured);
    lay_out(&arena, config, &measured);
    return arena.used;
}

static void init_units(struct leat_atm_bmx *bmx, const struct leat_atm_bmx_config *c,
                       uint8_t *tables)
{
    for (unsigned p = 0; p < c->inputs; p++) {
        const struct leat_atm_ppd_tables t = {
            .entries = is_vp(c) ? tables + p * table_len(c) : NULL,
            .depth = (uint16_t)(is_vp(c) ? c->depth : 0),
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
    const size_t need = leat_atm_bmx_footprint(config);
    struct leat_arena arena;
    if (!need) return LEAT_ERR_RANGE;
    if (memory_len < need || (uintptr_t)memory % alignof(max_align_t)) return LEAT_ERR_MEMORY;
    memset(memory, 0, need);
    leat_arena_init(&arena, memory, memory_len);
    struct leat_atm_bmx *bmx = leat_arena_lay(&arena, 1, sizeof *bmx);
    init_units(bmx, config, lay_out(&arena, config, bmx));
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
