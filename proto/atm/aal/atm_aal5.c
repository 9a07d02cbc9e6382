#include "leat_bytes.h"
#include "leat_err.h"
#include <assert.h>
#include <leat/atm.h>
#include <leat/crc.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { UU_AT = 0, CPI_AT = 1, LENGTH_AT = 2, CRC_AT = 4, CRC_LEN = 4 }; /* in the trailer */
enum { PT_NOT_USER_DATA = 4 };

/*
 * Bursts are handled in chunks that stay in the first-level cache, so that the CRC finds the octets
 * that copying fetched. The next octets of a payload are prefetched meanwhile. Both sizes are
 * measured.
 */
enum { CHUNK_CELLS = 32, AHEAD_CELLS = 85 };

/* Clause 2.4: over a good PDU with its CRC the register ends as c704dd7b; here complemented. */
static const uint32_t CRC_OF_GOOD = ~UINT32_C(0xc704dd7b);

/* `crc` is that of all the octets, a whole number of cells. */
static leat_err decode_summed(const uint8_t *buf, size_t len, uint32_t crc,
                              struct leat_atm_aal5_pdu *out, size_t *fault_at)
{
    const size_t trailer_at = len - LEAT_ATM_AAL5_TRAILER_LEN;
    const uint8_t *trailer = buf + trailer_at;
    if (crc != CRC_OF_GOOD) return leat_fault(LEAT_ERR_CHECKSUM, trailer_at + CRC_AT, fault_at);
    /* PAD is 0..47 octets, so Length is known within one cell. */
    const size_t length = leat_get_be16(trailer + LENGTH_AT);
    if (length == 0 || leat_atm_aal5_pdu_len(length) != len)
        return leat_fault(LEAT_ERR_LENGTH, trailer_at + LENGTH_AT, fault_at);

    out->uu = trailer[UU_AT];
    out->cpi = trailer[CPI_AT];
    out->payload = buf;
    out->payload_len = length;
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal5_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal5_pdu *out,
                                  size_t *fault_at)
{
    if (len < LEAT_ATM_PAYLOAD_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len % LEAT_ATM_PAYLOAD_LEN != 0 || len > LEAT_ATM_AAL5_PDU_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, len, fault_at);
    return decode_summed(buf, len, leat_crc32_msb(0, buf, len), out, fault_at);
}

static bool length_fits(size_t payload_len)
{
    return payload_len >= 1 && payload_len <= LEAT_ATM_AAL5_PAYLOAD_LEN_MAX;
}

/*
 * The end of a PDU: `rest` octets of payload, PAD and trailer, in the last `len` octets. `crc`
 * covers the octets before.
 */
static void put_tail(const struct leat_atm_aal5_pdu *pdu, size_t rest, uint32_t crc, uint8_t *tail,
                     size_t len)
{
    uint8_t *trailer = tail + len - LEAT_ATM_AAL5_TRAILER_LEN;
    memcpy(tail, pdu->payload + pdu->payload_len - rest, rest);
    memset(tail + rest, 0, len - LEAT_ATM_AAL5_TRAILER_LEN - rest);
    trailer[UU_AT] = pdu->uu;
    trailer[CPI_AT] = pdu->cpi;
    leat_put_be16(trailer + LENGTH_AT, (uint16_t)pdu->payload_len);
    leat_put_be32(trailer + CRC_AT, leat_crc32_msb(crc, tail, len - CRC_LEN));
}

leat_err leat_atm_aal5_pdu_encode(const struct leat_atm_aal5_pdu *pdu, uint8_t *buf, size_t cap,
                                  size_t *len)
{
    if (!length_fits(pdu->payload_len)) return LEAT_ERR_RANGE;
    const size_t total = leat_atm_aal5_pdu_len(pdu->payload_len);
    if (cap < total) return LEAT_ERR_SPACE;
    put_tail(pdu, pdu->payload_len, 0, buf, total);
    *len = total;
    return LEAT_ERR_OK;
}

/* ---- segmentation ------------------------------------------------------------------------- */

leat_err leat_atm_aal5_sender_init(struct leat_atm_aal5_sender *s, const struct leat_atm_cell *like)
{
    struct leat_atm_cell cell = *like;
    uint8_t octets[2][LEAT_ATM_CELL_LEN];
    if (like->pt & ~LEAT_ATM_PT_EFCI) return LEAT_ERR_RANGE;
    for (uint8_t last = 0; last < 2; last++) {
        cell.pt = like->pt | last;
        const leat_err err = leat_atm_cell_encode(&cell, octets[last], sizeof octets[last]);
        if (err) return err;
    }
    *s = (struct leat_atm_aal5_sender){ .pt = like->pt };
    for (int last = 0; last < 2; last++)
        memcpy(s->header[last], octets[last], sizeof s->header[last]);
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal5_sender_begin(struct leat_atm_aal5_sender *s,
                                    const struct leat_atm_aal5_pdu *pdu)
{
    if (!length_fits(pdu->payload_len)) return LEAT_ERR_RANGE;
    s->pdu = *pdu;
    s->whole_count = pdu->payload_len / LEAT_ATM_PAYLOAD_LEN;
    s->cell_count = leat_atm_aal5_pdu_len(pdu->payload_len) / LEAT_ATM_PAYLOAD_LEN;
    s->next = s->summed_count = 0;
    s->crc = 0;
    return LEAT_ERR_OK;
}

/* Extends the CRC to `count` cells of the payload. */
static void sum_sent(struct leat_atm_aal5_sender *s, size_t count)
{
    s->crc = leat_crc32_msb(s->crc, s->pdu.payload + s->summed_count * LEAT_ATM_PAYLOAD_LEN,
                            (count - s->summed_count) * LEAT_ATM_PAYLOAD_LEN);
    s->summed_count = count;
}

static const uint8_t *tail_payload(struct leat_atm_aal5_sender *s, size_t index)
{
    if (index == s->whole_count) {
        sum_sent(s, s->whole_count);
        put_tail(&s->pdu, s->pdu.payload_len % LEAT_ATM_PAYLOAD_LEN, s->crc, s->tail,
                 (s->cell_count - s->whole_count) * LEAT_ATM_PAYLOAD_LEN);
    }
    return s->tail + (index - s->whole_count) * LEAT_ATM_PAYLOAD_LEN;
}

bool leat_atm_aal5_sender_next(struct leat_atm_aal5_sender *s, uint8_t *pt, const uint8_t **payload)
{
    if (s->next == s->cell_count) return false;
    const size_t index = s->next++;
    *payload = index < s->whole_count ? s->pdu.payload + index * LEAT_ATM_PAYLOAD_LEN
                                      : tail_payload(s, index);
    *pt = (uint8_t)(s->pt | (s->next == s->cell_count ? LEAT_ATM_PT_SDU : 0));
    return true;
}

static void put_cell(const uint8_t *header, const uint8_t *payload, uint8_t *cell)
{
    memcpy(cell, header, LEAT_ATM_HEADER_LEN);
    memcpy(cell + LEAT_ATM_HEADER_LEN, payload, LEAT_ATM_PAYLOAD_LEN);
}

/* Writes cells that are lent from the payload, at most count_max. Returns how many. */
static size_t put_whole_cells(struct leat_atm_aal5_sender *s, uint8_t *cells, size_t count_max)
{
    if (s->next >= s->whole_count) return 0;
    const size_t left = s->whole_count - s->next, count = left < count_max ? left : count_max;
    const uint8_t *payload = s->pdu.payload + s->next * LEAT_ATM_PAYLOAD_LEN;
    uint8_t header[LEAT_ATM_HEADER_LEN];
    memcpy(header, s->header[0], sizeof header);
    for (size_t i = 0; i < count; i++) {
        put_cell(header, payload + i * LEAT_ATM_PAYLOAD_LEN, cells + i * LEAT_ATM_CELL_LEN);
        if (i + AHEAD_CELLS < left)
            __builtin_prefetch(payload + (i + AHEAD_CELLS) * LEAT_ATM_PAYLOAD_LEN);
    }
    s->next += count;
    sum_sent(s, s->next);
    return count;
}

size_t leat_atm_aal5_sender_cells(struct leat_atm_aal5_sender *s, uint8_t *cells, size_t count_max)
{
    size_t count = 0, run;
    uint8_t pt;
    const uint8_t *payload;
    do {
        const size_t left = count_max - count, chunk = left < CHUNK_CELLS ? left : CHUNK_CELLS;
        run = put_whole_cells(s, cells + count * LEAT_ATM_CELL_LEN, chunk);
        count += run;
    } while (run > 0);
    while (count < count_max && leat_atm_aal5_sender_next(s, &pt, &payload)) {
        put_cell(s->header[pt & LEAT_ATM_PT_SDU], payload, cells + count * LEAT_ATM_CELL_LEN);
        count++;
    }
    return count;
}

/* ---- reassembly --------------------------------------------------------------------------- */

enum state { IDLE, COLLECTING, SKIPPING };

struct leat_atm_aal5 {
    struct leat_atm_aal5_config config;
    enum state state;
    leat_time now;     /* of the latest step */
    leat_time seen_at; /* the latest cell of the open PDU */
    size_t used;       /* invariant: used <= capacity */
    size_t summed;     /* octets that crc covers: <= used */
    size_t capacity;
    uint32_t crc;
    uint8_t plain[LEAT_ATM_HEADER_LEN]; /* latest good header of a cell that only appends */
    alignas(max_align_t) uint8_t buffer[];
};

size_t leat_atm_aal5_footprint(const struct leat_atm_aal5_config *c)
{
    return sizeof(struct leat_atm_aal5) + leat_atm_aal5_pdu_len(c->pdu_len_max);
}

leat_err leat_atm_aal5_init(void *memory, size_t memory_len, const struct leat_atm_aal5_config *c,
                            struct leat_atm_aal5 **out)
{
    if (!length_fits(c->pdu_len_max)) return LEAT_ERR_RANGE;
    if (memory_len < leat_atm_aal5_footprint(c)) return LEAT_ERR_MEMORY;
    if ((uintptr_t)memory % alignof(struct leat_atm_aal5)) return LEAT_ERR_MEMORY;

    struct leat_atm_aal5 *a = memory;
    *a = (struct leat_atm_aal5){ .config = *c,
                                 .state = IDLE,
                                 .capacity = leat_atm_aal5_pdu_len(c->pdu_len_max),
                                 .plain = { 0, 0, 0, 0, 0x55 } };
    *out = a;
    return LEAT_ERR_OK;
}

static leat_time deadline(const struct leat_atm_aal5 *a)
{
    return a->state == COLLECTING ? leat_time_add(a->seen_at, a->config.gap_ps_max) : LEAT_NEVER;
}

/* The one place where the state changes; a trace hook belongs here. */
static void enter(struct leat_atm_aal5 *a, enum state next)
{
    a->state = next;
    if (next == COLLECTING) return;
    a->used = a->summed = 0;
    a->crc = 0;
}

/* Extends the CRC to everything collected. */
static void sum_collected(struct leat_atm_aal5 *a)
{
    a->crc = leat_crc32_msb(a->crc, a->buffer + a->summed, a->used - a->summed);
    a->summed = a->used;
}

static void drop(struct leat_atm_aal5 *a, enum state next, enum leat_atm_aal5_drop why,
                 struct leat_atm_aal5_out *out)
{
    out->what = LEAT_ATM_AAL5_DROP;
    out->reason = why;
    enter(a, next);
}

static void finish(struct leat_atm_aal5 *a, struct leat_atm_aal5_out *out)
{
    sum_collected(a);
    const leat_err err = decode_summed(a->buffer, a->used, a->crc, &out->pdu, NULL);
    if (err == LEAT_ERR_CHECKSUM) {
        drop(a, IDLE, LEAT_ATM_AAL5_DROP_CRC, out);
    } else if (err != LEAT_ERR_OK) {
        drop(a, IDLE, LEAT_ATM_AAL5_DROP_LENGTH, out);
    } else if (out->pdu.payload_len > a->config.pdu_len_max) {
        drop(a, IDLE, LEAT_ATM_AAL5_DROP_OVERFLOW, out);
    } else {
        out->what = LEAT_ATM_AAL5_DELIVER;
        enter(a, IDLE);
    }
}

static void collect(struct leat_atm_aal5 *a, bool last, const uint8_t *payload,
                    struct leat_atm_aal5_out *out)
{
    if (a->capacity - a->used < LEAT_ATM_PAYLOAD_LEN) {
        drop(a, last ? IDLE : SKIPPING, LEAT_ATM_AAL5_DROP_OVERFLOW, out);
        return;
    }
    memcpy(a->buffer + a->used, payload, LEAT_ATM_PAYLOAD_LEN);
    a->used += LEAT_ATM_PAYLOAD_LEN;
    a->seen_at = a->now;
    enter(a, COLLECTING);
    if (last) finish(a, out);
}

static void on_cell(struct leat_atm_aal5 *a, unsigned pt, const uint8_t *payload,
                    struct leat_atm_aal5_out *out)
{
    const bool last = pt & LEAT_ATM_PT_SDU;
    if (pt & PT_NOT_USER_DATA) return;
    switch (a->state) {
    case IDLE:
    case COLLECTING: collect(a, last, payload, out); return;
    case SKIPPING: enter(a, last ? IDLE : SKIPPING); return;
    }
    abort();
}

static void on_timer(struct leat_atm_aal5 *a, struct leat_atm_aal5_out *out)
{
    switch (a->state) {
    case IDLE:
    case SKIPPING: return;
    case COLLECTING: /* an early wake is harmless: it only re-arms */
        if (a->now >= deadline(a)) drop(a, IDLE, LEAT_ATM_AAL5_DROP_LATE, out);
        return;
    }
    abort();
}

static void begin_step(struct leat_atm_aal5 *a, leat_time now, struct leat_atm_aal5_out *out)
{
    assert(now >= a->now);
    a->now = now;
    out->what = LEAT_ATM_AAL5_NOTHING;
}

static void end_step(const struct leat_atm_aal5 *a, struct leat_atm_aal5_out *out)
{
    const leat_time due = deadline(a);
    out->wake_at = due > a->now ? due : a->now; /* overdue means: at once */
}

void leat_atm_aal5_step(struct leat_atm_aal5 *a, leat_time now, const struct leat_atm_aal5_in *in,
                        struct leat_atm_aal5_out *out)
{
    begin_step(a, now, out);
    switch (in->event) {
    case LEAT_ATM_AAL5_CELL: on_cell(a, in->pt, in->payload, out); break;
    case LEAT_ATM_AAL5_TIMER: on_timer(a, out); break;
    }
    end_step(a, out);
}

/*
 * Takes the cells at the front of a burst that only append. Returns how many. Headers of a channel
 * hardly ever change, so one comparison shows that the HEC is correct and PT is unchanged.
 */
static size_t collect_run(struct leat_atm_aal5 *a, const uint8_t *cells, size_t count)
{
    const size_t room = (a->capacity - a->used) / LEAT_ATM_PAYLOAD_LEN;
    const uint32_t plain = leat_get_be32(a->plain);
    const uint8_t hec = a->plain[4];
    uint8_t *to = a->buffer + a->used;
    size_t n = 0;
    if (count > room) count = room;
    while (n < count && leat_get_be32(cells) == plain && cells[4] == hec) {
        memcpy(to, cells + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN);
        to += LEAT_ATM_PAYLOAD_LEN;
        cells += LEAT_ATM_CELL_LEN;
        n++;
    }
    if (n == 0) return 0;
    a->used += n * LEAT_ATM_PAYLOAD_LEN;
    a->seen_at = a->now;
    enter(a, COLLECTING);
    sum_collected(a); /* while they are in the cache */
    return n;
}

static void on_octets(struct leat_atm_aal5 *a, const uint8_t *cell, struct leat_atm_aal5_out *out)
{
    const unsigned pt = cell[3] >> 1 & 7u;
    if (leat_crc_hec(cell) != cell[4]) return;
    if (!(pt & (LEAT_ATM_PT_SDU | PT_NOT_USER_DATA))) memcpy(a->plain, cell, sizeof a->plain);
    on_cell(a, pt, cell + LEAT_ATM_HEADER_LEN, out);
}

size_t leat_atm_aal5_step_cells(struct leat_atm_aal5 *a, leat_time now, const uint8_t *cells,
                                size_t count, struct leat_atm_aal5_out *out)
{
    size_t taken = 0;
    begin_step(a, now, out);
    while (taken < count && out->what == LEAT_ATM_AAL5_NOTHING) {
        const size_t left = count - taken, chunk = left < CHUNK_CELLS ? left : CHUNK_CELLS;
        const size_t run = a->state == SKIPPING ? 0 : collect_run(a, cells, chunk);
        if (run == 0) on_octets(a, cells, out);
        taken += run ? run : 1;
        cells += (run ? run : 1) * LEAT_ATM_CELL_LEN;
    }
    end_step(a, out);
    return taken;
}
