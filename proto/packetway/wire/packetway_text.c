#include "packetway_text.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include "packetway_auth.h"
#include "packetway_grammar.h"
#include "packetway_memory.h"
#include "packetway_record.h"
#include "packetway_wire.h"
#include <string.h>

#define NAME(id, value, name) { value, name },
#define END     \
    {           \
        0, NULL \
    }

static const struct leat_name pt_names[] = { LEAT_PACKETWAY_PT_LIST(NAME) END };
/* An alias for the name that shells take for a pattern. */
static const struct leat_name te_rrp_names[] = {
    LEAT_PACKETWAY_TE_RRP_LIST(NAME){ LEAT_PACKETWAY_TE_WRU, "WRU" }, END
};
static const struct leat_name te_err_names[] = { LEAT_PACKETWAY_TE_ERR_LIST(NAME) END };
static const struct leat_name rtyp_names[] = { LEAT_PACKETWAY_RTYP_LIST(NAME) END };
static const struct leat_name cc_names[] = { LEAT_PACKETWAY_CC_LIST(NAME) END };
static const struct leat_name oh_names[] = {
    LEAT_PACKETWAY_OH_LIST(NAME){ LEAT_PACKETWAY_OH_CRYPTOGRAPHIC, "CRYPTOGRAPHIC" }, END
};
static const struct leat_name st_names[] = { { 1, "MULTICAST" }, { 2, "SCID" }, END };
static const struct leat_name kind_names[] = { { LEAT_PACKETWAY_L2RH, "L2RH" },
                                               { LEAT_PACKETWAY_SYMBOL, "SYMBOL" },
                                               END };

struct walk {
    struct leat_fields *f;
    const uint8_t *buf; /* showing: the message; else NULL */
    struct leat_packetway_message *m;
    struct leat_packetway_build db; /* reading: the records so far */
};

/* Showing: the offset of something in the message. */
static size_t offset(const struct walk *w, const uint8_t *p)
{
    return w->buf ? (size_t)(p - w->buf) : 0;
}

/* Empty lists are not shown, and lists that a user did not write are not read. */
static bool has_list(struct walk *w, const char *name, size_t shown_count)
{
    return leat_fields_reading(w->f) ? leat_fields_has(w->f, name) : shown_count > 0;
}

/* A builder that refuses gives no reason; the text says what was expected. */
static void note(struct walk *w, leat_err err, const char *name, const char *text)
{
    if (err) leat_fields_refuse(w->f, err, name, text);
}

/* ---- leading records, OH, OT ---- */

static void walk_leading(struct walk *w, struct leat_packetway_leading *r)
{
    const bool symbol = r->kind == LEAT_PACKETWAY_SYMBOL;
    const size_t at = offset(w, r->octets) - (w->buf ? (symbol ? 5 : 2) : 0);
    size_t len = r->len;
    if (!leat_fields_open(w->f, NULL, at)) return;
    r->kind = leat_fields_enum(w->f, "kind", at + 1, 1, kind_names, r->kind) ? LEAT_PACKETWAY_SYMBOL
                                                                             : LEAT_PACKETWAY_L2RH;
    if (r->kind == LEAT_PACKETWAY_SYMBOL) {
        const uint32_t preset = w->buf ? r->type : 1;
        r->type = (uint32_t)leat_fields_enum(w->f, "type", at + 1, 20, st_names, preset);
    }
    leat_fields_octets(w->f, "octets", offset(w, r->octets),
                       r->kind == LEAT_PACKETWAY_L2RH ? LEAT_PACKETWAY_L2RH_LEN_MAX
                                                      : LEAT_PACKETWAY_SYMBOL_LEN_MAX,
                       &r->octets, &len);
    r->len = (uint16_t)len;
    if (leat_packetway_leading_check(r))
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, NULL,
                           "expected an L2RH of 1..63 octets or a symbol of type 1 or more");
    leat_fields_close(w->f);
}

static void walk_leading_list(struct walk *w)
{
    struct leat_packetway_message *m = w->m;
    if (!has_list(w, "leading", m->leading_count)) return;
    m->leading_count = (unsigned)leat_fields_list(w->f, "leading", 0, m->leading_count,
                                                  LEAT_PACKETWAY_LEADING_MAX);
    for (unsigned i = 0; i < m->leading_count; i++) {
        if (!w->buf) m->leading[i] = (struct leat_packetway_leading){ .kind = LEAT_PACKETWAY_L2RH };
        walk_leading(w, &m->leading[i]);
    }
    leat_fields_list_end(w->f);
}

/* Spec 1.6: the contents of types 2..6 in OH; no other type has a form of its own. */
static bool fixed_len_of(uint8_t type, uint16_t *len)
{
    *len = 0;
    if (type == LEAT_PACKETWAY_OH_CRC32_HERE) *len = 4;
    if (type == LEAT_PACKETWAY_OH_CRC64_HERE) *len = 8;
    return type >= LEAT_PACKETWAY_OH_CRC32_HERE && type <= LEAT_PACKETWAY_OH_SELF_DEFINED_OT;
}

static void walk_octets_of(struct walk *w, struct leat_packetway_field *field)
{
    size_t len = field->len;
    leat_fields_octets(w->f, "octets", offset(w, field->octets), LEAT_PACKETWAY_FIELD_LEN_MAX,
                       &field->octets, &len);
    field->len = (uint16_t)len;
}

static void walk_field_head(struct walk *w, struct leat_packetway_field *field, size_t at,
                            const struct leat_name *names)
{
    field->type = (uint8_t)leat_fields_enum(w->f, "type", at, 6, names, field->type);
    field->mandatory = leat_fields_flag(w->f, "mandatory", at, field->mandatory);
    if (field->type == 0)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "type", "expected 1..63 or a name");
}

/* The meaning of the octets of a keyed control message. Only the octets are read. */
static void walk_auth(struct walk *w, const struct leat_packetway_field *field, size_t at)
{
    static const uint8_t nothing[LEAT_PACKETWAY_AUTH_L];
    const uint8_t *octets = w->buf ? field->octets : nothing;
    if (w->buf && field->len != LEAT_PACKETWAY_AUTH_L) return;
    leat_fields_checksum(w->f, "from", at + 2, 24, leat_get_be24(octets));
    leat_fields_checksum(w->f, "to", at + 5, 24, leat_get_be24(octets + 3));
    leat_fields_derived(w->f, "serial", at + 8, 64, leat_get_be64(octets + 6));
    leat_fields_checksum(w->f, "mac", at + 16, 64, leat_get_be64(octets + 14));
}

/* In the field itself, or in OT, where *entry is the next one. */
static void walk_crc(struct walk *w, const struct leat_packetway_field *field, size_t at,
                     const uint8_t **entry)
{
    const bool wide = field->type == LEAT_PACKETWAY_OH_CRC64_HERE ||
                      field->type == LEAT_PACKETWAY_OH_CRC64_OT;
    leat_fields_checksum(w->f, "crc", field->len ? at + 2 : offset(w, *entry), wide ? 64 : 32,
                         field->crc);
    if (!field->len && w->buf) *entry += 8;
}

/* `*entry` is the offset of the next CRC of OT. */
static void walk_oh_field(struct walk *w, struct leat_packetway_field *field, const uint8_t **entry)
{
    const size_t at = w->buf ? offset(w, field->octets) - 2 : 0;
    uint16_t len;
    if (!leat_fields_open(w->f, NULL, at)) return;
    walk_field_head(w, field, at, oh_names);
    if (!fixed_len_of(field->type, &len)) {
        walk_octets_of(w, field);
        if (field->type == LEAT_PACKETWAY_OH_CRYPTOGRAPHIC) walk_auth(w, field, at);
        if (field->mandatory)
            leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "mandatory",
                               "only types 2..6 are known, others must not be mandatory");
    } else {
        field->len = len;
        if (field->type != LEAT_PACKETWAY_OH_SELF_DEFINED_OT) walk_crc(w, field, at, entry);
    }
    leat_fields_close(w->f);
}

static void walk_oh_list(struct walk *w)
{
    struct leat_packetway_message *m = w->m;
    const uint8_t *entry = w->buf ? m->data + (size_t)8 * m->header.dl : NULL;
    if (!has_list(w, "oh", m->oh_count)) return;
    m->oh_count = (unsigned)leat_fields_list(w->f, "oh", m->header_at + LEAT_PACKETWAY_HEADER_LEN,
                                             m->oh_count, LEAT_PACKETWAY_OH_MAX);
    for (unsigned i = 0; i < m->oh_count; i++) {
        if (!w->buf) m->oh[i] = (struct leat_packetway_field){ .type = LEAT_PACKETWAY_OH_CRC32_OT };
        walk_oh_field(w, &m->oh[i], &entry);
    }
    leat_fields_list_end(w->f);
}

static void walk_ot_field(struct walk *w, struct leat_packetway_field *field)
{
    static const struct leat_name no_names[] = { END };
    const size_t at = w->buf ? offset(w, field->octets) - 2 : 0;
    if (!leat_fields_open(w->f, NULL, at)) return;
    walk_field_head(w, field, at, no_names);
    walk_octets_of(w, field);
    if (field->mandatory)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "mandatory",
                           "no self-defined type is known, so none may be mandatory");
    leat_fields_close(w->f);
}

static void walk_ot_list(struct walk *w)
{
    struct leat_packetway_message *m = w->m;
    const bool wanted = has_list(w, "ot", m->ot_count);
    if (leat_fields_reading(w->f) && leat_packetway_message_announces_ot(m) != wanted)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "ot",
                           "goes together with an oh field of type SELF-DEFINED-OT");
    if (!wanted) return;
    const size_t at = m->ot_count ? offset(w, m->ot[0].octets) - 2 : 0; /* its type and length */
    m->ot_count = (unsigned)leat_fields_list(w->f, "ot", at, m->ot_count, LEAT_PACKETWAY_OT_MAX);
    for (unsigned i = 0; i < m->ot_count; i++) {
        if (!w->buf) m->ot[i] = (struct leat_packetway_field){ .type = 0 };
        walk_ot_field(w, &m->ot[i]);
    }
    leat_fields_list_end(w->f);
}

/* ---- records ---- */

/* The fields that say how an address is meant: the user's, or those of what is shown. */
static enum leat_packetway_at form_of(struct walk *w, const struct leat_packetway_address *a)
{
    if (w->buf) return a->at;
    if (leat_fields_has(w->f, "min") || leat_fields_has(w->f, "max")) return LEAT_PACKETWAY_AT_MIN;
    if (leat_fields_has(w->f, "value") || leat_fields_has(w->f, "mask"))
        return LEAT_PACKETWAY_AT_VALUE;
    return LEAT_PACKETWAY_AT_SINGLE;
}

static void walk_pair(struct walk *w, const char *low, const char *high, size_t at,
                      struct leat_packetway_address *a)
{
    a->low = (uint32_t)leat_fields_hex(w->f, low, at + 1, 24, a->low);
    if (high) a->high = (uint32_t)leat_fields_hex(w->f, high, at + 5, 24, a->high);
}

static void walk_address(struct walk *w, size_t at, bool logical_only,
                         struct leat_packetway_address *a)
{
    a->at = form_of(w, a);
    switch (a->at) {
    case LEAT_PACKETWAY_AT_MIN: walk_pair(w, "min", "max", at, a); break;
    case LEAT_PACKETWAY_AT_VALUE: walk_pair(w, "value", "mask", at, a); break;
    case LEAT_PACKETWAY_AT_SINGLE:
    case LEAT_PACKETWAY_AT_MAX:
    case LEAT_PACKETWAY_AT_MASK: walk_pair(w, "address", NULL, at, a); break;
    }
    if (leat_fields_reading(w->f))
        note(w, leat_packetway_address_check(a, logical_only), NULL,
             logical_only ? "expected address, min and max, or value and mask, all logical "
                            "(0xe00000..0xefffff)"
                          : "expected address, min and max, or value and mask, physical "
                            "(1..0x7ffffd) or logical (0xe00000..0xefffff)");
}

static void walk_name(struct walk *w, const struct leat_packetway_record *r)
{
    size_t len = 0;
    const uint8_t *name = r ? leat_packetway_record_name(r, &len) : NULL;
    leat_fields_string(w->f, "name", offset(w, name), LEAT_PACKETWAY_NAME_LEN_MAX, &name, &len);
    if (!r) note(w, leat_packetway_build_name(&w->db, name, len), "name", "expected some octets");
}

static void walk_capability(struct walk *w, const struct leat_packetway_record *r)
{
    size_t len = 0;
    const uint8_t *parameters = NULL;
    uint8_t cc = r ? leat_packetway_record_capability(r, &parameters, &len)
                   : (uint8_t)LEAT_PACKETWAY_CC_NODE;
    const size_t at = offset(w, parameters);
    cc = (uint8_t)leat_fields_enum(w->f, "cc", at - (r ? 1 : 0), 8, cc_names, cc);
    leat_fields_octets(w->f, "parameters", at, LEAT_PACKETWAY_PARAMETERS_LEN_MAX, &parameters,
                       &len);
    if (!r)
        note(w, leat_packetway_build_capability(&w->db, cc, parameters, len), "cc",
             "expected 1..255, and room for the parameters");
}

static size_t count_addresses(struct leat_packetway_addresses addresses)
{
    struct leat_packetway_address a;
    size_t count = 0;
    while (leat_packetway_addresses_next(&addresses, &a))
        count++;
    return count;
}

static void show_logical(struct walk *w, const struct leat_packetway_record *r)
{
    struct leat_packetway_addresses rest = leat_packetway_record_addresses(r);
    struct leat_packetway_address a;
    leat_fields_list(w->f, "addresses", offset(w, rest.at), count_addresses(rest), 0);
    for (const uint8_t *p = rest.at; leat_packetway_addresses_next(&rest, &a); p = rest.at) {
        leat_fields_open(w->f, NULL, offset(w, p));
        walk_address(w, offset(w, p), true, &a);
        leat_fields_close(w->f);
    }
    leat_fields_list_end(w->f);
}

static void read_logical(struct walk *w)
{
    const size_t count = leat_fields_list(w->f, "addresses", 0, 0, LEAT_PACKETWAY_LADR_MAX);
    struct leat_packetway_address *all = leat_arena_take(w->f->arena, (count + 1) * sizeof *all);
    if (!all) leat_fields_refuse(w->f, LEAT_ERR_MEMORY, NULL, "too many addresses");
    for (size_t i = 0; all && i < count; i++) {
        if (!leat_fields_open(w->f, NULL, 0)) break;
        walk_address(w, 0, true, &all[i]);
        leat_fields_close(w->f);
    }
    leat_fields_list_end(w->f);
    if (!w->f->err)
        note(w, leat_packetway_build_logical(&w->db, all, count), "addresses",
             "expected 1 or more addresses, and room for them");
}

static void walk_route(struct walk *w, const struct leat_packetway_record *r)
{
    struct leat_packetway_leading l2rh[LEAT_PACKETWAY_SRQR_MAX];
    struct leat_packetway_route route = { .q = 0 };
    size_t count = 0;
    if (r) route = leat_packetway_record_route(r);
    const size_t at = offset(w, route.at);
    while (r && leat_packetway_route_next(&route, &l2rh[count]))
        count++;
    const uint16_t q = (uint16_t)leat_fields_uint(w->f, "q", at - (r ? 2 : 0), 16, route.q);
    count = leat_fields_list(w->f, "routes", at, count, LEAT_PACKETWAY_SRQR_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!r) l2rh[i] = (struct leat_packetway_leading){ .kind = LEAT_PACKETWAY_L2RH };
        size_t len = l2rh[i].len;
        leat_fields_octets(w->f, NULL, offset(w, l2rh[i].octets), LEAT_PACKETWAY_L2RH_LEN_MAX,
                           &l2rh[i].octets, &len);
        l2rh[i].len = (uint16_t)len;
    }
    leat_fields_list_end(w->f);
    if (!r && !w->f->err)
        note(w, leat_packetway_build_route(&w->db, q, l2rh, count), "routes",
             "expected routes of 1..63 octets, and room for them");
}

static void walk_mtu(struct walk *w, const struct leat_packetway_record *r)
{
    const uint32_t shown = r ? leat_packetway_record_mtu(r) : 0;
    const size_t at = r ? offset(w, r->octets) + 4 : 0;
    const uint32_t mtu = (uint32_t)leat_fields_uint(w->f, "mtu", at, 32, shown);
    if (!r) note(w, leat_packetway_build_mtu(&w->db, mtu), "mtu", "no room for the record");
}

static void walk_received_from(struct walk *w, const struct leat_packetway_record *r)
{
    uint32_t hr[LEAT_PACKETWAY_RCVF_MAX] = { 0 };
    size_t count = 0;
    const size_t at = r ? offset(w, r->octets) + 4 : 0;
    if (r) {
        struct leat_packetway_addresses rest = leat_packetway_record_addresses(r);
        struct leat_packetway_address a;
        while (leat_packetway_addresses_next(&rest, &a))
            hr[count++] = a.low;
    }
    count = leat_fields_list(w->f, "addresses", at, count, LEAT_PACKETWAY_RCVF_MAX);
    for (size_t i = 0; i < count; i++)
        hr[i] = (uint32_t)leat_fields_hex(w->f, NULL, at + 4 * i, 24, hr[i]);
    leat_fields_list_end(w->f);
    if (!r)
        note(w, leat_packetway_build_received_from(&w->db, hr, count), "addresses",
             "expected 1..128 physical addresses (1..0x7ffffd), and room for them");
}

static void walk_san(struct walk *w, const struct leat_packetway_record *r)
{
    const uint32_t shown = r ? leat_packetway_record_san(r) : 0;
    const size_t at = r ? offset(w, r->octets) + 5 : 0;
    const uint32_t san = (uint32_t)leat_fields_hex(w->f, "sanId", at, 24, shown);
    if (!r)
        note(w, leat_packetway_build_san(&w->db, san), "sanId",
             "expected 0 or a physical address (1..0x7ffffd)");
}

static void walk_records(struct walk *w, size_t at, struct leat_packetway_records shown);

static void walk_nested(struct walk *w, const struct leat_packetway_record *r)
{
    static const struct leat_packetway_records nothing = { .at = NULL, .end = NULL };
    const struct leat_packetway_records shown = r ? leat_packetway_record_nested(r) : nothing;
    if (!has_list(w, "records", leat_packetway_records_count(&shown))) return;
    if (!r)
        note(w, leat_packetway_build_nest(&w->db), "records",
             "nesting is ADDR, RTHD, or ADDR in RTHD");
    walk_records(w, offset(w, shown.at), shown);
    if (!r) leat_packetway_build_leave(&w->db);
}

static void walk_address_record(struct walk *w, const struct leat_packetway_record *r)
{
    struct leat_packetway_address a = { .at = LEAT_PACKETWAY_AT_SINGLE };
    if (r) a = leat_packetway_record_address(r);
    walk_address(w, r ? offset(w, r->octets) + 4 : 0, false, &a);
    if (!r && !w->f->err)
        note(w, leat_packetway_build_address(&w->db, &a), NULL, "no room for the record");
    walk_nested(w, r);
}

static void walk_table(struct walk *w, const struct leat_packetway_record *r)
{
    const uint16_t shown = r ? leat_packetway_record_sequence(r) : 0;
    const size_t at = r ? offset(w, r->octets) + 6 : 0;
    const uint16_t sn = (uint16_t)leat_fields_uint(w->f, "sn", at, 16, shown);
    if (!r) note(w, leat_packetway_build_table(&w->db, sn), "sn", "no room for the record");
    walk_nested(w, r);
}

/* r == NULL: the record is read and built. */
static void walk_content(struct walk *w, unsigned type, const struct leat_packetway_record *r)
{
    switch ((enum leat_packetway_rtyp)type) {
    case LEAT_PACKETWAY_RTYP_ADDR: walk_address_record(w, r); return;
    case LEAT_PACKETWAY_RTYP_NAME: walk_name(w, r); return;
    case LEAT_PACKETWAY_RTYP_CAPA: walk_capability(w, r); return;
    case LEAT_PACKETWAY_RTYP_LADR:
        if (r)
            show_logical(w, r);
        else
            read_logical(w);
        return;
    case LEAT_PACKETWAY_RTYP_SRQR: walk_route(w, r); return;
    case LEAT_PACKETWAY_RTYP_MTUR: walk_mtu(w, r); return;
    case LEAT_PACKETWAY_RTYP_RCVF: walk_received_from(w, r); return;
    case LEAT_PACKETWAY_RTYP_RTHD: walk_table(w, r); return;
    case LEAT_PACKETWAY_RTYP_SNID: walk_san(w, r); return;
    }
    leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "type",
                       "expected ADDR NAME CAPA LADR SRQR MTUR RCVF RTHD or SNID");
}

static void walk_record(struct walk *w, const struct leat_packetway_record *r)
{
    const size_t at = r ? offset(w, r->octets) : 0;
    if (!leat_fields_open(w->f, NULL, at)) return;
    const unsigned type = (unsigned)leat_fields_enum(w->f, "type", at, 8, rtyp_names,
                                                     r ? (unsigned)r->type : 0);
    leat_fields_derived(w->f, "rl", at + 2, 16, r ? leat_get_be16(r->octets + 2) : 0);
    if (!w->f->err) walk_content(w, type, r);
    leat_fields_close(w->f);
}

/* Recursive through walk_nested; RTHD in DB, ADDR in RTHD, and no deeper. */
static void walk_records(struct walk *w, size_t at, struct leat_packetway_records shown)
{
    const size_t count = leat_fields_list(w->f, "records", at, leat_packetway_records_count(&shown),
                                          LEAT_PACKETWAY_DL_MAX);
    struct leat_packetway_record r;
    if (w->buf)
        while (leat_packetway_records_next(&shown, &r))
            walk_record(w, &r);
    else
        for (size_t i = 0; i < count && !w->f->err; i++)
            walk_record(w, NULL);
    leat_fields_list_end(w->f);
}

static void read_records(struct walk *w)
{
    const struct leat_packetway_header *h = &w->m->header;
    const struct leat_packetway_records none = { .at = NULL, .end = NULL };
    if (leat_fields_has(w->f, "records")) walk_records(w, 0, none);
    w->m->data = w->db.buf;
    w->m->data_len = w->db.len;
    const leat_err err = leat_packetway_grammar_check(h->pt, h->te, w->db.buf, w->db.len,
                                                      LEAT_PACKETWAY_STRICT, NULL);
    char expected[128];
    struct leat_text text;
    leat_text_init(&text, expected, sizeof expected - 1, NULL, NULL);
    leat_text_puts(&text, "expected ");
    leat_text_puts(&text, leat_packetway_grammar_text(h->pt, h->te));
    expected[text.len] = '\0';
    note(w, err, "records", expected);
}

/* ---- the message ---- */

static void walk_te(struct walk *w, size_t at)
{
    struct leat_packetway_header *h = &w->m->header;
    const bool rrp = h->pt == LEAT_PACKETWAY_PT_RRP, err = h->pt == LEAT_PACKETWAY_PT_ERR;
    if (!rrp && !err) {
        h->te = (uint16_t)leat_fields_uint(w->f, "te", at, 16, h->te);
        return;
    }
    if (!w->buf) h->te = rrp ? LEAT_PACKETWAY_TE_WRU : LEAT_PACKETWAY_TE_UNK;
    h->te = (uint16_t)leat_fields_enum(w->f, "te", at, 16, rrp ? te_rrp_names : te_err_names,
                                       h->te);
    if (!leat_packetway_grammar_exists(h->pt, h->te))
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "te",
                           rrp ? "expected GVL2 L2SR RDRC TELL INFO HRTO WRU? GVRT or RTBL"
                               : "expected UNK HRDOWN LINKDOWN or GENERAL");
}

/* What the encoder would refuse as E_LIMIT is reported here with what was expected. */
static void check_header(struct walk *w)
{
    const struct leat_packetway_header *h = &w->m->header;
    const enum leat_packetway_class class = leat_packetway_class_of(h->dt);
    if (h->dt == 0 ||
        (class != LEAT_PACKETWAY_CLASS_PHYSICAL && class != LEAT_PACKETWAY_CLASS_LOGICAL))
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "dt",
                           "expected physical 1..0x7fffff or logical 0xe00000..0xefffff");
    if (h->pt == 0)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "pt", "expected 1..65535 or a name");
    if ((h->e & LEAT_PACKETWAY_E_SIZE) > LEAT_PACKETWAY_E_SIZE_MAX)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "e",
                           "expected 0..4 (big-endian, 8 to 128 bits) or 8..12 (little-endian)");
    if (h->e & LEAT_PACKETWAY_E_LITTLE &&
        (h->pt == LEAT_PACKETWAY_PT_RRP || h->pt == LEAT_PACKETWAY_PT_ERR))
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "e",
                           "RRP and ERR are big-endian, expected 0..4");
    if (h->sa > LEAT_PACKETWAY_ADDRESS_MAX)
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "sa",
                           "expected 0 (not given) or physical 1..0x7ffffd");
}

static void walk_header(struct walk *w)
{
    struct leat_packetway_header *h = &w->m->header;
    const size_t at = w->m->header_at;
    struct leat_fields *f = w->f;
    h->priority = (uint8_t)leat_fields_uint(f, "priority", at, 6, h->priority);
    h->dt = (uint32_t)leat_fields_hex(f, "dt", at + LEAT_PACKETWAY_DT_AT, 24, h->dt);
    h->pt = (uint16_t)leat_fields_enum(f, "pt", at + LEAT_PACKETWAY_PT_AT, 16, pt_names, h->pt);
    walk_te(w, at + LEAT_PACKETWAY_TE_AT);
    h->e = (uint8_t)leat_fields_hex(f, "e", at + LEAT_PACKETWAY_E_AT, 4, h->e);
    leat_fields_derived(f, "pl", at + LEAT_PACKETWAY_E_AT, 3, h->pl);
    leat_fields_derived(f, "dl", at + LEAT_PACKETWAY_E_AT, 25, h->dl);
    leat_fields_derived(f, "h", at + LEAT_PACKETWAY_H_AT, 1, h->h);
    h->sa = (uint32_t)leat_fields_hex(f, "sa", at + LEAT_PACKETWAY_SA_AT, 24, h->sa);
    if (!w->buf) check_header(w);
}

/* Is the DB shown by the fields of MEM-READ or MEM-WRITE? A DB that is too short or too long for
 * them is data alone, and so is one that a user writes as such. */
static bool is_memory(struct walk *w, struct leat_packetway_memory *memory)
{
    const struct leat_packetway_message *m = w->m;
    const uint16_t pt = m->header.pt;
    *memory = (struct leat_packetway_memory){ 0 };
    if (w->buf) return !leat_packetway_memory_decode(pt, m->data, m->data_len, memory);
    if (pt == LEAT_PACKETWAY_PT_MEM_WRITE) return leat_fields_has(w->f, "memoryAddress");
    return pt == LEAT_PACKETWAY_PT_MEM_READ &&
           (leat_fields_has(w->f, "replyAddress") || leat_fields_has(w->f, "sourceAddress") ||
            leat_fields_has(w->f, "count"));
}

static void walk_memory(struct walk *w, struct leat_packetway_memory *memory)
{
    struct leat_packetway_message *m = w->m;
    const size_t at = offset(w, m->data);
    size_t len = (size_t)memory->count;
    if (m->header.pt == LEAT_PACKETWAY_PT_MEM_READ) {
        memory->reply = leat_fields_hex(w->f, "replyAddress", at, 64, memory->reply);
        memory->address = leat_fields_hex(w->f, "sourceAddress", at + 8, 64, memory->address);
        memory->count = leat_fields_uint(w->f, "count", at + 16, 64, memory->count);
        len = 0;
    } else {
        memory->address = leat_fields_hex(w->f, "memoryAddress", at, 64, memory->address);
        leat_fields_octets(w->f, "data", at + LEAT_PACKETWAY_MEMORY_WRITE_HEAD,
                           LEAT_PACKETWAY_DATA_LEN_MAX - LEAT_PACKETWAY_MEMORY_WRITE_HEAD,
                           &memory->data, &len);
        memory->count = len;
    }
    if (w->buf || w->f->err) return;
    const size_t cap = LEAT_PACKETWAY_MEMORY_READ_LEN + len;
    uint8_t *db = leat_arena_take_octets(w->f->arena, cap);
    if (db) m->data = db;
    if (!db || leat_packetway_memory_encode(m->header.pt, memory, db, cap, &m->data_len))
        leat_fields_refuse(w->f, LEAT_ERR_MEMORY, "data", "too many octets");
}

static void walk_db(struct walk *w)
{
    struct leat_packetway_message *m = w->m;
    struct leat_packetway_memory memory;
    if (leat_packetway_grammar_has_records(m->header.pt, m->header.te)) {
        const struct leat_packetway_records shown = leat_packetway_message_records(m);
        if (!w->buf)
            read_records(w);
        else if (m->data_len)
            walk_records(w, offset(w, m->data), shown);
        return;
    }
    if (is_memory(w, &memory)) {
        walk_memory(w, &memory);
        return;
    }
    leat_fields_octets(w->f, "data", offset(w, m->data), LEAT_PACKETWAY_DATA_LEN_MAX, &m->data,
                       &m->data_len);
    const bool quote = m->header.pt == LEAT_PACKETWAY_PT_ERR;
    if (!w->buf && quote && (m->data_len % 8 || m->data_len < LEAT_PACKETWAY_HEADER_LEN))
        leat_fields_refuse(w->f, LEAT_ERR_PACKETWAY_LIMIT, "data",
                           "expected the quoted message, 16 octets or more in whole words");
}

static void walk_message(struct walk *w, size_t tail_at)
{
    walk_leading_list(w);
    walk_header(w);
    walk_oh_list(w);
    walk_db(w);
    walk_ot_list(w);
    w->m->ei = leat_fields_hex(w->f, "ei", tail_at, 64, w->m->ei);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_packetway_message m;
    const leat_err err = leat_packetway_message_decode(octets, len, LEAT_PACKETWAY_STRICT,
                                                       LEAT_PACKETWAY_DESTINATION, &m, fault_at);
    if (err) return err;
    walk_message(&(struct walk){ .f = f, .buf = octets, .m = &m }, len - LEAT_PACKETWAY_TAIL_LEN);
    return LEAT_ERR_OK;
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_packetway_message m;
    struct walk w = { .f = f, .m = &m };
    m.header = (struct leat_packetway_header){ .dt = LEAT_PACKETWAY_ADDRESS_HEY_YOU,
                                               .pt = LEAT_PACKETWAY_PT_RRP };
    m.header_at = m.data_len = m.extra_len = 0;
    m.data = m.extra = NULL;
    m.ei = 0;
    m.leading_count = m.oh_count = m.ot_count = 0;

    /* Half of the arena is for the records, the other for the octets they are made of. */
    const size_t half = (f->arena->cap - f->arena->used) / 2 / 8 * 8;
    const size_t room = half < cap ? half : cap;
    uint8_t *db = leat_arena_take_octets(f->arena, room);
    leat_packetway_build_init(&w.db, db, db ? room : 0);
    walk_message(&w, 0);
    if (f->err) return f->err;
    return leat_packetway_message_encode(&m, octets, cap, len);
}

/* ---- frames ---- */

enum { COUNT_LEN = 2, COUNT_MAX = 0xFFFF, ETHER_LEN = 5 };

/* A 16-bit count of words, then the message; padding after it belongs to the carrier. */
static leat_err unframe(const uint8_t *frame, size_t len, struct leat_fields *f, size_t *packet_at,
                        size_t *packet_len, size_t *fault_at)
{
    (void)f;
    if (len < COUNT_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    const size_t message_len = (size_t)8 * leat_get_be16(frame);
    if (message_len > len - COUNT_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    *packet_at = COUNT_LEN;
    *packet_len = message_len;
    return LEAT_ERR_OK;
}

static leat_err frame(struct leat_fields *f, const uint8_t *packet, size_t packet_len, uint8_t *out,
                      size_t cap, size_t *len)
{
    (void)f;
    if (packet_len % 8 || packet_len / 8 > COUNT_MAX) return LEAT_ERR_LENGTH;
    if (cap < COUNT_LEN || packet_len > cap - COUNT_LEN) return LEAT_ERR_SPACE;
    leat_put_be16(out, (uint16_t)(packet_len / 8));
    memcpy(out + COUNT_LEN, packet, packet_len);
    *len = COUNT_LEN + packet_len;
    return LEAT_ERR_OK;
}

/* An OUI and a protocol of that OUI precede the count. */
static leat_err unframe_ether(const uint8_t *frame, size_t len, struct leat_fields *f,
                              size_t *packet_at, size_t *packet_len, size_t *fault_at)
{
    size_t at, fault = 0;
    if (len < ETHER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_get_be24(frame) != LEAT_PACKETWAY_ETHER_OUI ||
        leat_get_be16(frame + 3) != LEAT_PACKETWAY_ETHER_PROTOCOL)
        return leat_fault(LEAT_ERR_TYPE, 0, fault_at);
    const leat_err err = unframe(frame + ETHER_LEN, len - ETHER_LEN, f, &at, packet_len, &fault);
    if (err) return leat_fault(err, ETHER_LEN + fault, fault_at);
    *packet_at = ETHER_LEN + at;
    return LEAT_ERR_OK;
}

static leat_err frame_ether(struct leat_fields *f, const uint8_t *packet, size_t packet_len,
                            uint8_t *out, size_t cap, size_t *len)
{
    if (cap < ETHER_LEN) return LEAT_ERR_SPACE;
    const leat_err err = frame(f, packet, packet_len, out + ETHER_LEN, cap - ETHER_LEN, len);
    if (err) return err;
    leat_put_be24(out, LEAT_PACKETWAY_ETHER_OUI);
    leat_put_be16(out + 3, LEAT_PACKETWAY_ETHER_PROTOCOL);
    *len += ETHER_LEN;
    return LEAT_ERR_OK;
}

static const struct leat_framing framing = { unframe, frame };
static const struct leat_framing ether_framing = { unframe_ether, frame_ether };

const struct leat_format leat_packetway_format = {
    .name = "packetway",
    .summary = "PacketWay message between system-area networks, RRP and ERR messages included",
    .link_type = LEAT_PACKETWAY_LINK_TYPE,
    .ether_type = LEAT_PACKETWAY_ETHER_TYPE,
    .udp_port = LEAT_PACKETWAY_UDP_PORT,
    .show = show,
    .build = build,
    .framing = &framing,
    .ether_framing = &ether_framing,
};
