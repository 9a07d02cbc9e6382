#include "atm_aal34_engine.h"
#include "leat_bytes.h"
#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { SN_MASK = 15, PT_NOT_USER_DATA = 4 };
enum { LI_BAD = 0 }; /* suits no ST */
enum { OVERHEAD_LEN = LEAT_ATM_AAL34_CPCS_HEADER_LEN + LEAT_ATM_AAL34_CPCS_TRAILER_LEN };

/* Header, payload and PAD, trailer: a multiple of four octets. */
static size_t cpcs_len_of(size_t payload_len)
{
    return OVERHEAD_LEN + (payload_len + 3) / 4 * 4;
}

/* ---- segmentation ------------------------------------------------------------------------- */

leat_err leat_atm_aal34_sender_init(struct leat_atm_aal34_sender *s, uint16_t mid10)
{
    if (mid10 >= LEAT_ATM_AAL34_MID_COUNT) return LEAT_ERR_RANGE;
    *s = (struct leat_atm_aal34_sender){ .mid10 = mid10 };
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal34_sender_begin(struct leat_atm_aal34_sender *s, uint8_t cpi,
                                     const uint8_t *payload, size_t payload_len)
{
    if (payload_len > LEAT_ATM_AAL34_PAYLOAD_LEN_MAX) return LEAT_ERR_RANGE;
    s->tag++;
    s->payload = payload;
    s->payload_len = payload_len;
    s->cpcs_len = cpcs_len_of(payload_len);
    s->sent = 0;

    s->header[0] = cpi;
    s->header[1] = s->tag;
    leat_put_be16(s->header + 2, (uint16_t)payload_len); /* the length is known: BASize equals it */
    uint8_t *trailer = s->tail + (-payload_len & 3);     /* after PAD */
    memset(s->tail, 0, sizeof s->tail);
    trailer[1] = s->tag;
    leat_put_be16(trailer + 2, (uint16_t)payload_len);
    return LEAT_ERR_OK;
}

/* Copies the overlap of [from, from + len) of the CPCS-PDU and one of its parts. */
static void gather(uint8_t *to, size_t from, size_t len, const uint8_t *part, size_t part_at,
                   size_t part_len)
{
    const size_t begin = from > part_at ? from : part_at;
    const size_t end = from + len < part_at + part_len ? from + len : part_at + part_len;
    if (begin < end) memcpy(to + (begin - from), part + (begin - part_at), end - begin);
}

static void put_sar(struct leat_atm_aal34_sender *s, struct leat_atm_aal34_sar *sar,
                    uint8_t octets[LEAT_ATM_AAL34_SAR_LEN])
{
    sar->sn = s->sn;
    sar->mid10 = s->mid10;
    s->sn = (s->sn + 1) & SN_MASK;
    const leat_err err = leat_atm_aal34_sar_encode(sar, octets, LEAT_ATM_AAL34_SAR_LEN);
    assert(err == LEAT_ERR_OK);
}

bool leat_atm_aal34_sender_next(struct leat_atm_aal34_sender *s,
                                uint8_t octets[LEAT_ATM_AAL34_SAR_LEN])
{
    const size_t left = s->cpcs_len - s->sent;
    if (left == 0) return false;

    struct leat_atm_aal34_sar sar;
    const bool last = left <= LEAT_ATM_AAL34_SEGMENT_LEN;
    const size_t len = last ? left : LEAT_ATM_AAL34_SEGMENT_LEN;
    if (s->sent == 0)
        sar.st = last ? LEAT_ATM_AAL34_SSM : LEAT_ATM_AAL34_BOM;
    else
        sar.st = last ? LEAT_ATM_AAL34_EOM : LEAT_ATM_AAL34_COM;
    sar.li = (uint8_t)len;

    const size_t payload_at = LEAT_ATM_AAL34_CPCS_HEADER_LEN;
    const size_t tail_at = payload_at + s->payload_len;
    gather(sar.payload, s->sent, len, s->header, 0, sizeof s->header);
    gather(sar.payload, s->sent, len, s->payload, payload_at, s->payload_len);
    gather(sar.payload, s->sent, len, s->tail, tail_at, s->cpcs_len - tail_at);
    put_sar(s, &sar, octets);
    s->sent += len;
    return true;
}

bool leat_atm_aal34_sender_abort(struct leat_atm_aal34_sender *s,
                                 uint8_t octets[LEAT_ATM_AAL34_SAR_LEN])
{
    const bool begun = s->sent > 0 && s->sent < s->cpcs_len;
    s->sent = s->cpcs_len;
    if (begun) {
        struct leat_atm_aal34_sar sar = { .st = LEAT_ATM_AAL34_EOM, .li = LEAT_ATM_AAL34_LI_ABORT };
        put_sar(s, &sar, octets);
    }
    return begun;
}

/* ---- reassembly --------------------------------------------------------------------------- */

/* A MID is CLOSED, SKIPPING, or the number of the slot in which its PDU is OPEN. */
enum { CLOSED = 0xffff, SKIPPING = 0xfffe, NO_SLOT = 0xffff };

struct slot {
    leat_time seen_at; /* its latest cell */
    size_t used;       /* invariant: used <= capacity */
    uint16_t mid10;
    uint16_t older, newer; /* open: in the order of seen_at; free: `newer` alone */
    uint8_t sn_next;
};

struct leat_atm_aal34 {
    struct leat_atm_aal34_config config;
    leat_time now; /* of the latest step */
    size_t capacity, open_count;
    uint16_t free, oldest, newest;
    uint16_t state[LEAT_ATM_AAL34_MID_COUNT];
    struct leat_atm_aal34_sar sar; /* the latest: an SSM is delivered from here */
    struct slot slots[];           /* mids_max of them, then as many buffers */
};

static size_t slots_len(const struct leat_atm_aal34_config *c)
{
    return sizeof(struct leat_atm_aal34) + c->mids_max * sizeof(struct slot);
}

size_t leat_atm_aal34_footprint(const struct leat_atm_aal34_config *c)
{
    return slots_len(c) + c->mids_max * cpcs_len_of(c->pdu_len_max);
}

leat_err leat_atm_aal34_init(void *memory, size_t memory_len, const struct leat_atm_aal34_config *c,
                             struct leat_atm_aal34 **out)
{
    if (c->pdu_len_max < 1 || c->pdu_len_max > LEAT_ATM_AAL34_PAYLOAD_LEN_MAX)
        return LEAT_ERR_RANGE;
    if (c->mids_max < 1 || c->mids_max > LEAT_ATM_AAL34_MID_COUNT) return LEAT_ERR_RANGE;
    if (memory_len < leat_atm_aal34_footprint(c)) return LEAT_ERR_MEMORY;
    if ((uintptr_t)memory % alignof(struct leat_atm_aal34)) return LEAT_ERR_MEMORY;

    struct leat_atm_aal34 *a = memory;
    *a = (struct leat_atm_aal34){ .config = *c, .capacity = cpcs_len_of(c->pdu_len_max) };
    for (size_t mid = 0; mid < LEAT_ATM_AAL34_MID_COUNT; mid++)
        a->state[mid] = CLOSED;
    for (size_t i = 0; i < c->mids_max; i++)
        a->slots[i].newer = (uint16_t)(i + 1 < c->mids_max ? i + 1 : NO_SLOT);
    a->free = 0;
    a->oldest = a->newest = NO_SLOT;
    *out = a;
    return LEAT_ERR_OK;
}

size_t leat_atm_aal34_open_count(const struct leat_atm_aal34 *a)
{
    return a->open_count;
}

static uint8_t *buffer_of(struct leat_atm_aal34 *a, uint16_t slot)
{
    return (uint8_t *)a + slots_len(&a->config) + slot * a->capacity;
}

static bool is_open(const struct leat_atm_aal34 *a, uint16_t mid10)
{
    return a->state[mid10] != CLOSED && a->state[mid10] != SKIPPING;
}

static void unlink_slot(struct leat_atm_aal34 *a, const struct slot *s)
{
    *(s->older == NO_SLOT ? &a->oldest : &a->slots[s->older].newer) = s->newer;
    *(s->newer == NO_SLOT ? &a->newest : &a->slots[s->newer].older) = s->older;
}

static void link_newest(struct leat_atm_aal34 *a, uint16_t slot)
{
    a->slots[slot].older = a->newest;
    a->slots[slot].newer = NO_SLOT;
    *(a->newest == NO_SLOT ? &a->oldest : &a->slots[a->newest].newer) = slot;
    a->newest = slot;
}

/* The one place where a MID's state changes; a trace hook belongs here. */
static void enter(struct leat_atm_aal34 *a, uint16_t mid10, uint16_t next)
{
    if (is_open(a, mid10)) {
        const uint16_t slot = a->state[mid10];
        unlink_slot(a, &a->slots[slot]);
        a->slots[slot].newer = a->free;
        a->free = slot;
        a->open_count--;
    }
    a->state[mid10] = next;
    if (is_open(a, mid10)) {
        assert(next == a->free);
        a->free = a->slots[next].newer;
        a->slots[next].mid10 = mid10;
        a->slots[next].used = 0;
        link_newest(a, next);
        a->open_count++;
    }
}

static void drop(struct leat_atm_aal34 *a, uint16_t next, enum leat_atm_aal34_drop why,
                 uint16_t mid10, struct leat_atm_aal34_out *out)
{
    assert(out->drop_count < LEAT_ATM_AAL34_DROPS_MAX);
    out->drops[out->drop_count++] = why;
    out->mid10 = mid10;
    enter(a, mid10, next);
}

/* Appends the latest SAR-PDU to the open PDU; the caller has checked the room. */
static void append(struct leat_atm_aal34 *a)
{
    const struct leat_atm_aal34_sar *sar = &a->sar;
    const uint16_t slot = a->state[sar->mid10];
    struct slot *s = &a->slots[slot];
    memcpy(buffer_of(a, slot) + s->used, sar->payload, sar->li);
    s->used += sar->li;
    s->sn_next = (sar->sn + 1) & SN_MASK;
    s->seen_at = a->now;
    unlink_slot(a, s);
    link_newest(a, slot);
}

static void finish(struct leat_atm_aal34 *a, const uint8_t *cpcs, size_t len,
                   struct leat_atm_aal34_out *out)
{
    const uint16_t mid10 = a->sar.mid10;
    const leat_err err = leat_atm_aal34_cpcs_decode(cpcs, len, &out->pdu, NULL);
    if (err == LEAT_ERR_FIELD)
        drop(a, CLOSED, LEAT_ATM_AAL34_DROP_TAG, mid10, out);
    else if (err == LEAT_ERR_RESERVED)
        drop(a, CLOSED, LEAT_ATM_AAL34_DROP_AL, mid10, out);
    else if (err == LEAT_ERR_RANGE)
        drop(a, CLOSED, LEAT_ATM_AAL34_DROP_BASIZE, mid10, out);
    else if (err != LEAT_ERR_OK)
        drop(a, CLOSED, LEAT_ATM_AAL34_DROP_LENGTH, mid10, out);
    else if (out->pdu.payload_len > a->config.pdu_len_max)
        drop(a, CLOSED, LEAT_ATM_AAL34_DROP_OVERFLOW, mid10, out);
    else {
        out->delivered = true;
        out->mid10 = mid10;
        enter(a, mid10, CLOSED);
    }
}

static void on_begin(struct leat_atm_aal34 *a, struct leat_atm_aal34_out *out)
{
    const struct leat_atm_aal34_sar *sar = &a->sar;
    if (is_open(a, sar->mid10)) drop(a, CLOSED, LEAT_ATM_AAL34_DROP_UNENDED, sar->mid10, out);
    if (sar->li == LI_BAD) {
        drop(a, sar->st == LEAT_ATM_AAL34_SSM ? CLOSED : SKIPPING, LEAT_ATM_AAL34_DROP_LI,
             sar->mid10, out);
    } else if (sar->st == LEAT_ATM_AAL34_SSM) {
        finish(a, sar->payload, sar->li, out);
    } else if (a->free == NO_SLOT) {
        drop(a, SKIPPING, LEAT_ATM_AAL34_DROP_FULL, sar->mid10, out);
    } else if (sar->li > a->capacity) {
        drop(a, SKIPPING, LEAT_ATM_AAL34_DROP_OVERFLOW, sar->mid10, out);
    } else {
        enter(a, sar->mid10, a->free);
        append(a);
    }
}

static void on_continuation(struct leat_atm_aal34 *a, struct leat_atm_aal34_out *out)
{
    const struct leat_atm_aal34_sar *sar = &a->sar;
    const bool last = sar->st == LEAT_ATM_AAL34_EOM;
    const uint16_t after = last ? CLOSED : SKIPPING, slot = a->state[sar->mid10];

    if (slot == SKIPPING) {
        enter(a, sar->mid10, after);
        return;
    }
    if (slot == CLOSED) {
        drop(a, after, LEAT_ATM_AAL34_DROP_NOT_OPEN, sar->mid10, out);
        return;
    }
    const struct slot *s = &a->slots[slot];
    if (sar->li == LI_BAD) {
        drop(a, after, LEAT_ATM_AAL34_DROP_LI, sar->mid10, out);
    } else if (sar->li == LEAT_ATM_AAL34_LI_ABORT) {
        drop(a, after, LEAT_ATM_AAL34_DROP_ABORT, sar->mid10, out);
    } else if (sar->sn != s->sn_next) {
        drop(a, after, LEAT_ATM_AAL34_DROP_SEQUENCE, sar->mid10, out);
    } else if (sar->li > a->capacity - s->used) {
        drop(a, after, LEAT_ATM_AAL34_DROP_OVERFLOW, sar->mid10, out);
    } else {
        append(a);
        if (last) finish(a, buffer_of(a, slot), s->used, out);
    }
}

static void on_cell(struct leat_atm_aal34 *a, const struct leat_atm_aal34_in *in,
                    struct leat_atm_aal34_out *out)
{
    if (in->pt & PT_NOT_USER_DATA) return;
    const leat_err err = leat_atm_aal34_sar_decode(in->sar, LEAT_ATM_AAL34_SAR_LEN, &a->sar, NULL);
    if (err == LEAT_ERR_CHECKSUM) {
        out->drops[out->drop_count++] = LEAT_ATM_AAL34_DROP_CRC;
        return;
    }
    if (err != LEAT_ERR_OK) {
        /* The CRC is correct, so ST and MID can be trusted. */
        const uint16_t head = leat_get_be16(in->sar);
        a->sar.st = (enum leat_atm_aal34_st)(head >> 14);
        a->sar.mid10 = head & (LEAT_ATM_AAL34_MID_COUNT - 1);
        a->sar.li = LI_BAD;
    }
    switch (a->sar.st) {
    case LEAT_ATM_AAL34_BOM:
    case LEAT_ATM_AAL34_SSM: on_begin(a, out); return;
    case LEAT_ATM_AAL34_COM:
    case LEAT_ATM_AAL34_EOM: on_continuation(a, out); return;
    }
    abort();
}

/* The deadline of the PDU silent for longest. */
static leat_time deadline(const struct leat_atm_aal34 *a)
{
    return a->oldest == NO_SLOT ? LEAT_NEVER
                                : leat_time_add(a->slots[a->oldest].seen_at, a->config.gap_ps_max);
}

static void on_timer(struct leat_atm_aal34 *a, struct leat_atm_aal34_out *out)
{
    if (a->oldest == NO_SLOT || a->now < deadline(a)) return; /* an early wake only re-arms */
    drop(a, SKIPPING, LEAT_ATM_AAL34_DROP_LATE, a->slots[a->oldest].mid10, out);
}

void leat_atm_aal34_step(struct leat_atm_aal34 *a, leat_time now,
                         const struct leat_atm_aal34_in *in, struct leat_atm_aal34_out *out)
{
    assert(now >= a->now);
    a->now = now;
    out->delivered = false;
    out->drop_count = 0;
    switch (in->event) {
    case LEAT_ATM_AAL34_CELL: on_cell(a, in, out); break;
    case LEAT_ATM_AAL34_TIMER: on_timer(a, out); break;
    }
    const leat_time due = deadline(a);
    out->wake_at = due > now ? due : now; /* overdue means: at once */
}
