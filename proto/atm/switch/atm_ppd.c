#include "atm_ppd.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

static uint32_t bits(unsigned from, unsigned count)
{
    return ((1u << count) - 1) << from;
}

void leat_atm_ppd_init(struct leat_atm_ppd *ppd, const struct leat_atm_matrix *matrix,
                       unsigned input, unsigned header_len,
                       const struct leat_atm_ppd_tables *tables)
{
    const bool vp = header_len == LEAT_ATM_VP_HEADER;
    assert(vp ? tables->entries != NULL : tables->find != NULL);
    memset(ppd, 0, sizeof *ppd);
    ppd->header_len = (uint8_t)header_len;
    /* of the held octets the last one shifts on; of the translated and piped, all but the last */
    ppd->valid_moving = bits(LEAT_ATM_VALID_HELD + header_len - 1, header_len) |
                        bits(LEAT_ATM_VALID_PIPE, header_len);
    ppd->valid_header = bits(LEAT_ATM_VALID_HELD + header_len - 1, header_len + 1);
    ppd->input = (uint8_t)input;
    ppd->outputs = (uint8_t)matrix->outputs;
    ppd->output_step = vp ? LEAT_ATM_VP_HEADER : 0;
    ppd->full_size_min = matrix->capacity - (int32_t)header_len - LEAT_ATM_ROLLBACK_EXTRA;
    ppd->tables = *tables;
}

void leat_atm_ppd_write_table(struct leat_atm_ppd *ppd)
{
    const size_t len = leat_atm_route_entry_len(ppd->outputs);
    memcpy(ppd->tables.entries + ppd->wadr * len, ppd->datain, len);
    ppd->wcmd = false;
}

/* Up to 16 bits of an entry; bit 0 is its last octet's lowest. */
static unsigned entry_bits(const uint8_t *entry, size_t len, unsigned lsb, unsigned width)
{
    const size_t at = len - 1 - lsb / 8;
    unsigned word = 0;
    for (size_t i = 0; i < 3 && i <= at; i++)
        word |= (unsigned)entry[at - i] << 8 * i;
    return word >> lsb % 8 & ((1u << width) - 1);
}

/* In the header of two or four octets: VPI, or VPI and VCI, above a nibble that stays. */
enum { LABEL_SHIFT = 4, KEPT_MASK = (1 << LABEL_SHIFT) - 1 };

/* A VPI beyond the table reads an all-zero entry: the cell is dropped. */
static void translate_path(struct leat_atm_ppd *ppd)
{
    enum { BITS = LEAT_ATM_ROUTE_VPI_BITS };
    static const uint8_t nowhere[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
    const size_t len = leat_atm_route_entry_len(ppd->outputs);
    const unsigned old = leat_get_be16(ppd->header), vpi = old >> LABEL_SHIFT,
                   kept = old & KEPT_MASK;
    const bool known = vpi < ppd->tables.depth;
    const uint8_t *entry = known ? ppd->tables.entries + vpi * len : nowhere;
    for (unsigned u = 0; u < ppd->outputs; u++) {
        const unsigned vpout = entry_bits(entry, len, ppd->outputs + BITS * u, BITS);
        leat_put_be16(ppd->translated + ppd->output_step * u,
                      (uint16_t)(vpout << LABEL_SHIFT | kept));
    }
    ppd->select = entry_bits(entry, len, 0, ppd->outputs);
    ppd->unknown = !known;
}

/* 4.6: VPI and VCI together are a label of 28 bits; PT and CLP, the last nibble, stay. */
static void translate_channel(struct leat_atm_ppd *ppd)
{
    const uint32_t old = leat_get_be32(ppd->header);
    struct leat_atm_route route = { 0 };
    ppd->unknown = !ppd->tables.find(ppd->tables.context, ppd->tables.rank, old >> LABEL_SHIFT,
                                     &route);
    if (ppd->unknown) route = (struct leat_atm_route){ 0 };
    assert(leat_fits(route.select, ppd->outputs) &&
           leat_fits(route.label, LEAT_ATM_ROUTE_LABEL_BITS));
    ppd->select = route.select;
    leat_put_be32(ppd->translated, route.label << LABEL_SHIFT | (old & KEPT_MASK));
}

void leat_atm_ppd_translate(struct leat_atm_ppd *ppd)
{
    if (ppd->header_len == LEAT_ATM_VP_HEADER)
        translate_path(ppd);
    else
        translate_channel(ppd);
}

void leat_atm_ppd_redirect(struct leat_atm_ppd *ppd, const struct leat_atm_route *route)
{
    const unsigned h = ppd->header_len;
    assert(leat_fits(route->select, ppd->outputs));
    ppd->select = route->select;
    for (uint64_t left = route->select; left; left &= left - 1) {
        uint8_t *header = ppd->translated + ppd->output_step * (unsigned)__builtin_ctzll(left);
        memcpy(header, ppd->header, h);
        leat_atm_label_put(header, h, route->label);
    }
}

/* 4.5: a cell goes to all its outputs or to none. */
bool leat_atm_ppd_is_full(const struct leat_atm_ppd *ppd, const struct leat_atm_matrix *matrix)
{
    for (uint64_t left = ppd->select; left; left &= left - 1) {
        const unsigned u = (unsigned)__builtin_ctzll(left);
        if (leat_atm_xpm_at(matrix, ppd->input, u)->size >= ppd->full_size_min) return true;
    }
    return false;
}

static void push_header(const struct leat_atm_ppd *ppd, struct leat_atm_matrix *matrix,
                        unsigned octet)
{
    for (uint64_t left = ppd->select; left; left &= left - 1) {
        const unsigned u = (unsigned)__builtin_ctzll(left);
        leat_atm_xpm_push(matrix, ppd->input, u, ppd->translated[ppd->output_step * u + octet]);
    }
}

bool leat_atm_ppd_forward(struct leat_atm_ppd *ppd, struct leat_atm_matrix *matrix)
{
    const unsigned h = ppd->header_len;
    const uint32_t ready = ppd->valid >> leat_atm_valid_ready(h) & ((1u << h) - 1);
    const bool is_due = ready & 1, refused = is_due && leat_atm_ppd_is_full(ppd, matrix);
    ppd->accepted += is_due && !refused;
    ppd->dropped += is_due && ppd->unknown;
    if (refused) {
        ppd->select = 0;
        ppd->refused++;
    } else if (ppd->valid >> (LEAT_ATM_VALID_PIPE + h) & 1) {
        leat_atm_ppd_push(ppd, matrix, (uint8_t)(ppd->pipe >> 8 * h));
    } else if (ready) {
        push_header(ppd, matrix, (unsigned)__builtin_ctz(ready));
    }
    if (ppd->valid >> (LEAT_ATM_VALID_HELD + h - 1) & 1) leat_atm_ppd_translate(ppd);
    return refused;
}
