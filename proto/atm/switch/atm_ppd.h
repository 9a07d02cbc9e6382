/*
 * PPD: the input unit of a bus-matrix switch (spec/atm.md, 4.2), one step per network cycle. It
 * takes a cell byte by byte from its link, translates the header by a table and writes the cell
 * into the XPMs of all outputs that the table selects, or into none and suspends the sender.
 *
 *            header a b        translated, per output u        XPM(input, u)
 *   link --> [ held ] --table--> [ first, second, select ] ----> push
 *        \-> o -> p -> q ---------------------------------------/
 *
 *   link cycle   u        u+1      u+2              u+3               u+4               u+5
 *   input        a=byte1  b=byte2  o=byte3          o=byte4           o=byte5           o=byte6
 *   action                         translate (P4)   push VPI high     push VPI low      push byte3
 *   if full                                         suspend, push     byte 5 ignored,   next cell
 *                                                   nothing           count=0           may start
 *
 * That is VP switching: h = 2 header octets are held and translated. In VC switching (4.6) h = 4,
 * the pipe has h + 1 = 5 stages as VP's has 3, and everything after the header happens 2 cycles
 * later.
 *
 * Registers of the thesis, all reset to 0. The valid bits lie side by side in one word, so that a
 * cycle (P5) shifts it once; LEAT_ATM_VALID_... is where a group begins.
 *
 *   a b            header[0], header[1]     aind bind        VALID_HELD + 0, + 1
 *   o p q          bytes 0, 1, 2 of pipe    oind pind qind   VALID_PIPE + 0, + 1, + 2
 *   c f i l        translated[2u]           cind dind        valid_ready(h) + 0, + 1
 *   d g j m        translated[2u + 1]       e h k n          bit u of select
 *
 * The table (VP) has a write port: wadr, datain, and wcmd, which the write clears.
 */
#ifndef LEAT_ATM_PPD_H
#define LEAT_ATM_PPD_H

#include "atm_route.h"
#include "atm_xpm.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LEAT_ATM_TABLE_DEPTH_MIN = 256, /* the prototype's */
    LEAT_ATM_TABLE_DEPTH_MAX = 4096,
    LEAT_ATM_ROLLBACK_EXTRA = 3, /* bytes sent after the header when suspend reaches the sender */
};

/* VC switching: the new label of a cell, or false: no such connection. */
typedef bool leat_atm_route_find(const void *context, uint32_t rank, uint32_t label,
                                 struct leat_atm_route *out);

/* The tables that translate labels. */
struct leat_atm_ppd_tables {
    uint8_t *entries; /* VP: depth * leat_atm_route_entry_len(outputs) octets, zeroed */
    uint16_t depth;
    leat_atm_route_find *find; /* VC */
    const void *context;
    uint32_t rank; /* of this unit, for find */
};

/* Bits of `valid`. After the h held header octets come the h translated ones: bind becomes cind. */
enum { LEAT_ATM_VALID_HELD = 0, LEAT_ATM_VALID_PIPE = 16 };

static inline unsigned leat_atm_valid_ready(unsigned header_len)
{
    return LEAT_ATM_VALID_HELD + header_len;
}

struct leat_atm_ppd {
    uint64_t select;
    uint64_t pipe;
    uint32_t valid;
    uint32_t valid_moving; /* constant: the bits that shift on */
    uint32_t valid_header; /* constant: a header is complete, or being written */
    uint8_t count;         /* bytes of the cell received: 0..52 */
    bool suspend, wcmd;
    bool unknown;          /* the label translated last has no entry */
    uint8_t header_len;    /* h */
    uint8_t input;         /* number in the matrix */
    uint8_t outputs;       /* fan-out */
    uint8_t output_step;   /* from one output's octets in `translated` to the next's */
    uint16_t wadr;         /* < depth */
    int32_t full_size_min; /* an XPM of this size refuses cells */
    uint8_t header[LEAT_ATM_VC_HEADER];
    uint8_t translated[LEAT_ATM_ROUTE_VP_FAN_OUT_MAX * LEAT_ATM_VP_HEADER]; /* VC: one for all */
    uint8_t datain[LEAT_ATM_ROUTE_ENTRY_LEN_MAX]; /* as in atm_route.h, one VPOUT per output */
    struct leat_atm_ppd_tables tables;
    /* Cells, counted when their first push is due. */
    uint64_t refused;  /* suspend was raised */
    uint64_t accepted; /* all others */
    uint64_t dropped;  /* of these: the label has no entry */
};

/* header_len VP_HEADER or VC_HEADER; sizes as leat_atm_bmx_refusal allows them. */
void leat_atm_ppd_init(struct leat_atm_ppd *ppd, const struct leat_atm_matrix *matrix,
                       unsigned input, unsigned header_len,
                       const struct leat_atm_ppd_tables *tables);

/* ---- one cycle ---------------------------------------------------------------------------- */

static inline void leat_atm_ppd_push(const struct leat_atm_ppd *ppd, struct leat_atm_matrix *matrix,
                                     uint8_t byte)
{
    for (uint64_t left = ppd->select; left; left &= left - 1)
        leat_atm_xpm_push(matrix, ppd->input, (unsigned)__builtin_ctzll(left), byte);
}

/* The phases that only a few cycles of each cell need; leat_atm_ppd_step calls them. */
void leat_atm_ppd_write_table(struct leat_atm_ppd *ppd);                             /* P1 */
bool leat_atm_ppd_forward(struct leat_atm_ppd *ppd, struct leat_atm_matrix *matrix); /* P2-P4 */
bool leat_atm_ppd_is_full(const struct leat_atm_ppd *ppd, const struct leat_atm_matrix *matrix);
void leat_atm_ppd_translate(struct leat_atm_ppd *ppd);

/* The cell whose header was translated last takes this route, whatever the table says. */
void leat_atm_ppd_redirect(struct leat_atm_ppd *ppd, const struct leat_atm_route *route);

/* One step with the byte on the link. The phases run in order; each sees the results of those
 * before. */
static inline void leat_atm_ppd_step(struct leat_atm_ppd *ppd, struct leat_atm_matrix *matrix,
                                     uint8_t byte, bool byteind)
{
    const unsigned h = ppd->header_len, o = 1u << LEAT_ATM_VALID_PIPE;
    uint32_t valid = ppd->valid;
    bool refused = false;
    if (ppd->wcmd) leat_atm_ppd_write_table(ppd);
    if (valid & ppd->valid_header)
        refused = leat_atm_ppd_forward(ppd, matrix);
    else if (valid >> (LEAT_ATM_VALID_PIPE + h) & 1)
        leat_atm_ppd_push(ppd, matrix, (uint8_t)(ppd->pipe >> 8 * h));

    /* P5: a suspension makes the data it overtakes invalid */
    if (refused) valid &= ~(1u << leat_atm_valid_ready(h));
    if (refused || ppd->suspend) valid &= ~o;
    valid = (valid & ppd->valid_moving) << 1;
    uint64_t pipe = ppd->pipe << 8 | (ppd->pipe & 0xff);

    /* P6, P7: the input stage; `suspend` is still last cycle's */
    unsigned count = ppd->count;
    if (byteind && count < h) {
        ppd->header[count] = byte;
        valid |= 1u << (LEAT_ATM_VALID_HELD + count);
        count++;
    } else if (byteind && ppd->suspend) {
        count = 0;
    } else if (byteind) {
        pipe = (pipe & ~UINT64_C(0xff)) | byte;
        valid |= o;
        count = count + 1 == LEAT_ATM_CELL_LEN ? 0 : count + 1;
    }
    ppd->pipe = pipe;
    ppd->valid = valid;
    ppd->count = (uint8_t)count;
    ppd->suspend = refused;
}

/* Would a step change no register as long as the link carries no byte? */
static inline bool leat_atm_ppd_is_idle(const struct leat_atm_ppd *ppd)
{
    const uint64_t even = UINT64_C(0x0101010101010101) * (ppd->pipe & 0xff); /* o = p = q */
    return !(ppd->valid | ppd->suspend | ppd->wcmd) &&
           (ppd->pipe ^ even) << (56 - 8 * ppd->header_len) == 0;
}

#endif
