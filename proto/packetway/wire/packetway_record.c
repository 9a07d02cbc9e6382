#include "packetway_record.h"
#include "leat_bytes.h"
#include <assert.h>

enum { HEAD = LEAT_PACKETWAY_RECORD_HEAD_LEN, ENTRY_LEN = 4, DATA_AT = 4 };
enum { PL_ENTRIES = 4, PL_BEFORE_16_BITS = 2 }; /* legal paddings of records that allow only one */

static bool is_known(uint8_t type)
{
    return type >= LEAT_PACKETWAY_RTYP_ADDR && type <= LEAT_PACKETWAY_RTYP_SNID;
}

static unsigned padding_of(const uint8_t *head)
{
    return head[1];
}

static unsigned words_of(const uint8_t *head)
{
    return leat_get_be16(head + 2);
}

/* ---- addresses ---- */

static leat_err check_one(uint32_t address, bool logical_only)
{
    if (address > LEAT_PACKETWAY_ADDRESS_BITS) return LEAT_ERR_PACKETWAY_ADDR;
    if (leat_packetway_class_of(address) == LEAT_PACKETWAY_CLASS_LOGICAL) return LEAT_ERR_OK;
    if (!logical_only && leat_packetway_address_is_node(address)) return LEAT_ERR_OK;
    return LEAT_ERR_PACKETWAY_ADDR;
}

static leat_err check_min_max(const struct leat_packetway_address *a, bool logical_only)
{
    if (check_one(a->low, logical_only) || check_one(a->high, logical_only))
        return LEAT_ERR_PACKETWAY_ADDR;
    if (a->low > a->high || leat_packetway_class_of(a->low) != leat_packetway_class_of(a->high))
        return LEAT_ERR_PACKETWAY_RANGE;
    return LEAT_ERR_OK;
}

/* The mask is a pattern, not an address. Value 0 is legal: it covers blocks of low addresses. */
static leat_err check_value_mask(const struct leat_packetway_address *a, bool logical_only)
{
    const bool low_block = a->low == 0 && !logical_only;
    if (!low_block && check_one(a->low, logical_only)) return LEAT_ERR_PACKETWAY_ADDR;
    if (a->high > LEAT_PACKETWAY_ADDRESS_BITS || a->low & ~a->high) return LEAT_ERR_PACKETWAY_RANGE;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_address_check(const struct leat_packetway_address *a, bool logical_only)
{
    switch (a->at) {
    case LEAT_PACKETWAY_AT_SINGLE: return check_one(a->low, logical_only);
    case LEAT_PACKETWAY_AT_MIN: return check_min_max(a, logical_only);
    case LEAT_PACKETWAY_AT_VALUE: return check_value_mask(a, logical_only);
    case LEAT_PACKETWAY_AT_MAX:
    case LEAT_PACKETWAY_AT_MASK: break;
    }
    return LEAT_ERR_PACKETWAY_AT;
}

bool leat_packetway_address_matches(const struct leat_packetway_address *a, uint32_t x)
{
    if (leat_packetway_class_of(x) != leat_packetway_class_of(a->low)) return false;
    switch (a->at) {
    case LEAT_PACKETWAY_AT_SINGLE: return x == a->low;
    case LEAT_PACKETWAY_AT_MIN: return a->low <= x && x <= a->high;
    case LEAT_PACKETWAY_AT_VALUE: return (a->high & x) == a->low;
    case LEAT_PACKETWAY_AT_MAX:
    case LEAT_PACKETWAY_AT_MASK: break;
    }
    return false;
}

/* One entry at `p`, a pair where its AT begins one. NULL: the pair is incomplete; otherwise what
 * follows. */
static const uint8_t *read_entry(const uint8_t *p, const uint8_t *end,
                                 struct leat_packetway_address *out)
{
    *out = (struct leat_packetway_address){ .at = p[0], .low = leat_get_be24(p + 1) };
    p += ENTRY_LEN;
    if (out->at != LEAT_PACKETWAY_AT_MIN && out->at != LEAT_PACKETWAY_AT_VALUE) return p;
    if (p == end || p[0] != (unsigned)out->at + 1) return NULL;
    out->high = leat_get_be24(p + 1);
    return p + ENTRY_LEN;
}

/* ---- checks of one record ---- */

/* A record whose end is known to lie within its parent. */
struct subject {
    const uint8_t *head;
    size_t len;
    enum leat_packetway_mode mode;
};

static bool is_lenient(const struct subject *s)
{
    return s->mode == LEAT_PACKETWAY_LENIENT;
}

static size_t data_len_of(const struct subject *s)
{
    return s->len - DATA_AT - padding_of(s->head);
}

static leat_err check_address_record(const struct subject *s)
{
    struct leat_packetway_address a;
    const unsigned at = s->head[DATA_AT];

    if (at == LEAT_PACKETWAY_AT_SINGLE) {
        if (padding_of(s->head) != 0) return LEAT_ERR_PACKETWAY_REC_PL;
    } else if (at == LEAT_PACKETWAY_AT_MIN || at == LEAT_PACKETWAY_AT_VALUE) {
        if (padding_of(s->head) != PL_ENTRIES) return LEAT_ERR_PACKETWAY_REC_PL;
        if (words_of(s->head) == 0) return LEAT_ERR_PACKETWAY_REC_LEN;
    } else {
        return LEAT_ERR_PACKETWAY_AT;
    }
    if (!read_entry(s->head + DATA_AT, s->head + s->len, &a)) return LEAT_ERR_PACKETWAY_AT;
    return leat_packetway_address_check(&a, false);
}

static leat_err check_capability(const struct subject *s)
{
    if (data_len_of(s) < 1) return LEAT_ERR_PACKETWAY_REC_PL;
    return s->head[DATA_AT] ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_CC;
}

/* LADR and RCVF: entries of four octets, then nothing or four octets of pad. */
static leat_err check_entries_fit(const struct subject *s)
{
    const unsigned pl = padding_of(s->head);
    if ((pl != 0 && pl != PL_ENTRIES) || data_len_of(s) < ENTRY_LEN)
        return LEAT_ERR_PACKETWAY_REC_PL;
    return LEAT_ERR_OK;
}

static leat_err check_logical(const struct subject *s)
{
    leat_err err = check_entries_fit(s);
    const uint8_t *p = s->head + DATA_AT, *const end = p + (err ? 0 : data_len_of(s));
    while (!err && p != end) {
        struct leat_packetway_address a;
        p = read_entry(p, end, &a);
        err = p ? leat_packetway_address_check(&a, true) : LEAT_ERR_PACKETWAY_AT;
    }
    return err;
}

static leat_err check_received_from(const struct subject *s)
{
    const leat_err err = check_entries_fit(s);
    if (err) return err;
    const uint8_t *const end = s->head + DATA_AT + data_len_of(s);
    for (const uint8_t *p = s->head + DATA_AT; p != end; p += ENTRY_LEN) {
        if (p[0] != LEAT_PACKETWAY_AT_SINGLE) return LEAT_ERR_PACKETWAY_AT;
        if (!leat_packetway_address_is_node(leat_get_be24(p + 1))) return LEAT_ERR_PACKETWAY_ADDR;
    }
    return data_len_of(s) > ENTRY_LEN * LEAT_PACKETWAY_RCVF_MAX ? LEAT_ERR_PACKETWAY_TOO_MANY
                                                                : LEAT_ERR_OK;
}

static leat_err check_padding_before(const struct subject *s)
{
    const unsigned pl = padding_of(s->head);
    return pl == PL_BEFORE_16_BITS || (is_lenient(s) && pl == 0) ? LEAT_ERR_OK
                                                                 : LEAT_ERR_PACKETWAY_REC_PL;
}

static leat_err check_route(const struct subject *s)
{
    const leat_err err = check_padding_before(s);
    const uint8_t *p = s->head + HEAD, *const end = s->head + s->len;
    if (err) return err;
    for (unsigned count = 0; p != end; count++) {
        struct leat_packetway_leading l2rh;
        if (leat_packetway_leading_decode(p, (size_t)(end - p), s->mode, &l2rh, NULL) ||
            l2rh.kind != LEAT_PACKETWAY_L2RH)
            return LEAT_ERR_PACKETWAY_SR;
        if (count == LEAT_PACKETWAY_SRQR_MAX) return LEAT_ERR_PACKETWAY_TOO_MANY;
        p += leat_packetway_leading_size(&l2rh);
    }
    return LEAT_ERR_OK;
}

static leat_err check_mtu(const struct subject *s)
{
    const unsigned pl_max = is_lenient(s) ? 1 : 0; /* spec 8, row 12: an example has PL=1 */
    if (padding_of(s->head) > pl_max) return LEAT_ERR_PACKETWAY_REC_PL;
    return words_of(s->head) == 0 ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_REC_LEN;
}

static leat_err check_san(const struct subject *s)
{
    const uint32_t id = leat_get_be24(s->head + DATA_AT + 1);
    if (padding_of(s->head)) return LEAT_ERR_PACKETWAY_REC_PL;
    if (words_of(s->head)) return LEAT_ERR_PACKETWAY_REC_LEN;
    if (s->head[DATA_AT] != LEAT_PACKETWAY_AT_SINGLE) return LEAT_ERR_PACKETWAY_AT;
    if (id == 0 || leat_packetway_address_is_node(id)) return LEAT_ERR_OK;
    if (is_lenient(s) && leat_packetway_class_of(id) == LEAT_PACKETWAY_CLASS_LOGICAL)
        return LEAT_ERR_OK;
    return LEAT_ERR_PACKETWAY_ADDR;
}

static leat_err check_content(const struct subject *s)
{
    if (padding_of(s->head) > LEAT_PACKETWAY_PL_MAX) return LEAT_ERR_PACKETWAY_REC_PL;
    if (s->len < DATA_AT + padding_of(s->head)) return LEAT_ERR_PACKETWAY_REC_PL;
    switch ((enum leat_packetway_rtyp)s->head[0]) {
    case LEAT_PACKETWAY_RTYP_ADDR: return check_address_record(s);
    case LEAT_PACKETWAY_RTYP_NAME:
        return data_len_of(s) >= 1 ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_REC_PL;
    case LEAT_PACKETWAY_RTYP_CAPA: return check_capability(s);
    case LEAT_PACKETWAY_RTYP_LADR: return check_logical(s);
    case LEAT_PACKETWAY_RTYP_SRQR: return check_route(s);
    case LEAT_PACKETWAY_RTYP_MTUR: return check_mtu(s);
    case LEAT_PACKETWAY_RTYP_RCVF: return check_received_from(s);
    case LEAT_PACKETWAY_RTYP_RTHD: return check_padding_before(s);
    case LEAT_PACKETWAY_RTYP_SNID: return check_san(s);
    }
    return LEAT_ERR_PACKETWAY_REC_TYPE;
}

/* ---- walking ---- */

struct leat_packetway_records leat_packetway_records_of(const uint8_t *db, size_t len,
                                                        enum leat_packetway_mode mode)
{
    const uint8_t *end = len ? db + len : db; /* db may be NULL then */
    return (struct leat_packetway_records){ db, end, LEAT_PACKETWAY_IN_DB, mode, false };
}

/* Lenient: an RTHD of RL=0 contains the rest of DB (spec 2.3). */
static size_t record_len(const struct leat_packetway_records *records)
{
    const uint8_t *head = records->at;
    if (records->mode == LEAT_PACKETWAY_LENIENT && records->depth == LEAT_PACKETWAY_IN_DB &&
        head[0] == LEAT_PACKETWAY_RTYP_RTHD && words_of(head) == 0)
        return (size_t)(records->end - head);
    return HEAD + (size_t)8 * words_of(head);
}

static bool has_nested(const struct leat_packetway_record *r)
{
    /* A misplaced ADDR or RTHD is not descended into: the grammar refuses it anyway. */
    return (r->type == LEAT_PACKETWAY_RTYP_RTHD && r->depth == LEAT_PACKETWAY_IN_DB) ||
           (r->type == LEAT_PACKETWAY_RTYP_ADDR && r->depth != LEAT_PACKETWAY_IN_ADDR);
}

static leat_err check_next(struct leat_packetway_records *records,
                           struct leat_packetway_record *out)
{
    const uint8_t *head = records->at;
    const struct subject s = { head, record_len(records), records->mode };

    /* Type 0 is illegal, not merely unknown. */
    if (!is_known(head[0]) && (!is_lenient(&s) || head[0] == 0)) return LEAT_ERR_PACKETWAY_REC_TYPE;
    if (s.len > (size_t)(records->end - head)) return LEAT_ERR_PACKETWAY_REC_LEN;
    const leat_err err = is_known(head[0]) ? check_content(&s) : LEAT_ERR_OK;
    if (err) return err;
    *out = (struct leat_packetway_record){ head, s.len, head[0], records->depth, records->mode };
    records->at += s.len;
    return LEAT_ERR_OK;
}

/* Recursive for RTHD in DB and ADDR in RTHD: at most three deep. */
static leat_err check_all(struct leat_packetway_records records, const uint8_t **fault)
{
    leat_err err = LEAT_ERR_OK;
    while (!err && records.at != records.end) {
        struct leat_packetway_record r;
        *fault = records.at;
        err = check_next(&records, &r);
        if (!err && has_nested(&r)) err = check_all(leat_packetway_record_nested(&r), fault);
    }
    return err;
}

leat_err leat_packetway_records_check(const uint8_t *db, size_t len, enum leat_packetway_mode mode,
                                      size_t *fault_at)
{
    const uint8_t *fault = db;
    assert(len % LEAT_PACKETWAY_WORD_LEN == 0);
    const leat_err err = check_all(leat_packetway_records_of(db, len, mode), &fault);
    if (err && fault_at) *fault_at = (size_t)(fault - db);
    return err;
}

bool leat_packetway_records_next(struct leat_packetway_records *records,
                                 struct leat_packetway_record *out)
{
    while (records->at != records->end) {
        const uint8_t *head = records->at;
        const size_t len = record_len(records);
        records->at += len;
        if (!is_known(head[0])) continue;
        if (records->names_dropped && head[0] == LEAT_PACKETWAY_RTYP_NAME) continue;
        *out = (struct leat_packetway_record){ head, len, head[0], records->depth, records->mode };
        return true;
    }
    return false;
}

size_t leat_packetway_records_count(const struct leat_packetway_records *records)
{
    struct leat_packetway_records rest = *records;
    struct leat_packetway_record r;
    size_t count = 0;
    while (leat_packetway_records_next(&rest, &r))
        count++;
    return count;
}

/* ---- accessors ---- */

static size_t record_data_len(const struct leat_packetway_record *r)
{
    return r->len - DATA_AT - padding_of(r->octets);
}

struct leat_packetway_address leat_packetway_record_address(const struct leat_packetway_record *r)
{
    struct leat_packetway_address a;
    read_entry(r->octets + DATA_AT, r->octets + r->len, &a);
    return a;
}

struct leat_packetway_records leat_packetway_record_nested(const struct leat_packetway_record *r)
{
    const bool range = r->type == LEAT_PACKETWAY_RTYP_ADDR &&
                       r->octets[DATA_AT] != LEAT_PACKETWAY_AT_SINGLE;
    const size_t at = range ? 2 * HEAD : HEAD;
    return (struct leat_packetway_records){
        .at = r->octets + (has_nested(r) ? at : r->len), /* no further than what was checked */
        .end = r->octets + r->len,
        .depth = r->type == LEAT_PACKETWAY_RTYP_ADDR ? LEAT_PACKETWAY_IN_ADDR
                                                     : LEAT_PACKETWAY_IN_RTHD,
        .mode = r->mode,
        .names_dropped = range && r->mode == LEAT_PACKETWAY_LENIENT,
    };
}

const uint8_t *leat_packetway_record_name(const struct leat_packetway_record *r, size_t *len)
{
    *len = record_data_len(r);
    return r->octets + DATA_AT;
}

uint8_t leat_packetway_record_capability(const struct leat_packetway_record *r,
                                         const uint8_t **parameters, size_t *len)
{
    *len = record_data_len(r) - 1;
    *parameters = r->octets + DATA_AT + 1;
    return r->octets[DATA_AT];
}

struct leat_packetway_addresses
leat_packetway_record_addresses(const struct leat_packetway_record *r)
{
    const uint8_t *first = r->octets + DATA_AT;
    return (struct leat_packetway_addresses){ first, first + record_data_len(r) };
}

bool leat_packetway_addresses_next(struct leat_packetway_addresses *addresses,
                                   struct leat_packetway_address *out)
{
    if (addresses->at == addresses->end) return false;
    addresses->at = read_entry(addresses->at, addresses->end, out);
    return true;
}

struct leat_packetway_route leat_packetway_record_route(const struct leat_packetway_record *r)
{
    return (struct leat_packetway_route){ r->octets + HEAD, r->octets + r->len,
                                          leat_get_be16(r->octets + DATA_AT + 2) };
}

bool leat_packetway_route_next(struct leat_packetway_route *route,
                               struct leat_packetway_leading *out)
{
    if (route->at == route->end) return false;
    /* Lenient accepts what strict does, and what was checked leniently. */
    const leat_err err = leat_packetway_leading_decode(route->at, (size_t)(route->end - route->at),
                                                       LEAT_PACKETWAY_LENIENT, out, NULL);
    assert(!err);
    route->at += leat_packetway_leading_size(out);
    return true;
}

uint32_t leat_packetway_record_mtu(const struct leat_packetway_record *r)
{
    return leat_get_be32(r->octets + DATA_AT);
}

uint16_t leat_packetway_record_sequence(const struct leat_packetway_record *r)
{
    return leat_get_be16(r->octets + DATA_AT + 2);
}

uint32_t leat_packetway_record_san(const struct leat_packetway_record *r)
{
    return leat_get_be24(r->octets + DATA_AT + 1);
}
