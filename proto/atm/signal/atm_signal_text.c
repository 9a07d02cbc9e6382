/*
 * Format q2931. One walk names the fields, for showing and for building:
 *
 *   call toOriginator type follow action length elements [ { id coding follow action length ... } ]
 *
 * An element whose contents are known has their fields (atm_signal_content.c), any other `octets`.
 * A user may write `octets` for any element. `spare` has those bits of an instruction octet that
 * should be 1 000 ... and are not; it is shown only then.
 */
#include "atm_signal_parts.h"
#include "atm_text.h"
#include "leat_bytes.h"
#include <assert.h>

enum { CALL_AT = 2, TYPE_AT = 5, INSTRUCTION_AT = 6, LENGTH_AT = 7 };
enum { FOLLOW = 0x10, CODING_AT = 5 };
enum { MESSAGE_ACTION = 3, ELEMENT_ACTION = 7 };

static const struct leat_name types[] = {
    { LEAT_ATM_SIGNAL_CALL_PROCEEDING, "CALL-PROCEEDING" },
    { LEAT_ATM_SIGNAL_SETUP, "SETUP" },
    { LEAT_ATM_SIGNAL_CONNECT, "CONNECT" },
    { LEAT_ATM_SIGNAL_CONNECT_ACK, "CONNECT-ACKNOWLEDGE" },
    { LEAT_ATM_SIGNAL_RELEASE, "RELEASE" },
    { LEAT_ATM_SIGNAL_RELEASE_COMPLETE, "RELEASE-COMPLETE" },
    { LEAT_ATM_SIGNAL_STATUS_ENQUIRY, "STATUS-ENQUIRY" },
    { LEAT_ATM_SIGNAL_STATUS, "STATUS" },
    { LEAT_ATM_SIGNAL_ADD_PARTY, "ADD-PARTY" },
    { LEAT_ATM_SIGNAL_ADD_PARTY_ACK, "ADD-PARTY-ACKNOWLEDGE" },
    { LEAT_ATM_SIGNAL_ADD_PARTY_REJECT, "ADD-PARTY-REJECT" },
    { LEAT_ATM_SIGNAL_DROP_PARTY, "DROP-PARTY" },
    { LEAT_ATM_SIGNAL_DROP_PARTY_ACK, "DROP-PARTY-ACKNOWLEDGE" },
    { 0, NULL },
};
static const struct leat_name ids[] = {
    { LEAT_ATM_SIGNAL_CAUSE, "cause" },
    { LEAT_ATM_SIGNAL_CALL_STATE, "call-state" },
    { LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE, "endpoint-reference" },
    { LEAT_ATM_SIGNAL_ENDPOINT_STATE, "endpoint-state" },
    { LEAT_ATM_SIGNAL_AAL_PARAMETERS, "aal-parameters" },
    { LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, "traffic-descriptor" },
    { LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER, "connection-identifier" },
    { LEAT_ATM_SIGNAL_QOS, "qos" },
    { LEAT_ATM_SIGNAL_BEARER_CAPABILITY, "bearer-capability" },
    { LEAT_ATM_SIGNAL_CALLING_NUMBER, "calling-number" },
    { LEAT_ATM_SIGNAL_CALLED_NUMBER, "called-number" },
    { 0, NULL },
};
static const struct leat_name codings[] = {
    { 0, "ITU-T" }, { 1, "ISO-IEC" }, { 2, "national" }, { 3, "network" }, { 0, NULL },
};
static const struct leat_name message_actions[] = {
    { 0, "clear" },
    { 1, "ignore" },
    { 2, "ignore-and-report" },
    { 0, NULL },
};
static const struct leat_name element_actions[] = {
    { 0, "clear" },
    { 1, "ignore-element" },
    { 2, "ignore-element-and-report" },
    { 5, "ignore-message" },
    { 6, "ignore-message-and-report" },
    { 0, NULL },
};

static uint8_t walk_instruction(struct leat_fields *f, size_t at, uint8_t octet, bool element)
{
    const unsigned action_mask = element ? ELEMENT_ACTION : MESSAGE_ACTION;
    const unsigned coding_mask = element ? 3u << CODING_AT : 0;
    const unsigned spare_mask = 0xff & ~(action_mask | coding_mask | FOLLOW);
    uint64_t coding = (octet & coding_mask) >> CODING_AT, action = octet & action_mask;
    uint64_t spare = (octet ^ LEAT_ATM_SIGNAL_INSTRUCTION) & spare_mask;

    if (element) coding = leat_fields_enum(f, "coding", at, 2, codings, coding);
    const bool follow = leat_fields_flag(f, "follow", at, octet & FOLLOW);
    action = leat_fields_enum(f, "action", at, element ? 3 : 2,
                              element ? element_actions : message_actions, action);
    if (spare || leat_fields_reading(f)) spare = leat_fields_hex(f, "spare", at, 8, spare);
    if (spare & ~(uint64_t)spare_mask)
        leat_fields_refuse(f, LEAT_ERR_RANGE, "spare",
                           "expected only bits that are no other field");
    return (uint8_t)((spare ^ LEAT_ATM_SIGNAL_INSTRUCTION) | coding << CODING_AT |
                     (follow ? FOLLOW : 0) | action);
}

/* ---- contents ------------------------------------------------------------------------------- */

static void walk_tail(struct leat_fields *f, const struct leat_atm_signal_layout *layout,
                      struct leat_atm_signal_content *c, size_t at)
{
    static const uint8_t none[1];
    const bool digits = layout->number &&
                        c->value[LEAT_ATM_SIGNAL_NUMBER_PLAN] == LEAT_ATM_SIGNAL_PLAN_E164;
    const uint8_t *tail = c->tail ? c->tail : none;
    size_t len = c->tail_len;
    if (digits)
        leat_fields_string(f, "number", at, LEAT_ATM_SIGNAL_DIGITS_MAX, &tail, &len);
    else if (layout->number)
        leat_fields_octets(f, "address", at, LEAT_ATM_SIGNAL_NSAP_LEN, &tail, &len);
    else if (len || leat_fields_reading(f))
        leat_fields_octets(f, "diagnostics", at, layout->tail_len_max, &tail, &len);
    c->tail = tail;
    c->tail_len = (uint8_t)len;
}

static void walk_row(struct leat_fields *f, const struct leat_atm_signal_row *row, size_t at,
                     struct leat_atm_signal_content *c, unsigned field)
{
    uint64_t value = c->value[field];
    if (row->bits == 0) {
        if (!leat_fields_flag(f, row->name, at, true)) return;
    } else if (row->mask) {
        value = leat_fields_mask(f, row->name, at, row->bits, row->names, value);
    } else if (row->names) {
        value = leat_fields_enum(f, row->name, at, row->bits, row->names, value);
    } else {
        value = leat_fields_uint(f, row->name, at, row->bits, value);
    }
    leat_atm_signal_content_set(c, field, (uint32_t)value);
}

/* Both fields of an optional octet are there or none is. */
static bool has_optional_octet(struct leat_fields *f, const struct leat_atm_signal_layout *layout,
                               const struct leat_atm_signal_content *c)
{
    for (unsigned i = 0; layout->row[i].name; i++)
        if (layout->optional && layout->row[i].at / 8 == layout->optional &&
            (leat_fields_reading(f) ? leat_fields_has(f, layout->row[i].name)
                                    : leat_atm_signal_content_has(c, i)))
            return true;
    return false;
}

static void walk_content(struct leat_fields *f, const struct leat_atm_signal_layout *layout,
                         struct leat_atm_signal_content *c, size_t at)
{
    const bool whole = has_optional_octet(f, layout, c);
    const size_t fixed_len = (size_t)layout->fixed_len - (layout->optional && !whole);
    size_t item_at = at + fixed_len;
    for (unsigned i = 0; layout->row[i].name; i++) {
        const struct leat_atm_signal_row *row = &layout->row[i];
        const unsigned octet = row->at / 8;
        if (!row->item) {
            const bool optional = leat_atm_signal_row_is_optional(layout, row);
            const bool behind = layout->optional && !whole && octet > layout->optional;
            if (!optional || whole) walk_row(f, row, at + octet - behind, c, i);
        } else if (leat_fields_reading(f) ? leat_fields_has(f, row->name)
                                          : leat_atm_signal_content_has(c, i)) {
            walk_row(f, row, item_at, c, i);
            item_at += 1 + row->bits / 8u;
        }
    }
    if (layout->tail_len_max) walk_tail(f, layout, c, at + fixed_len);
}

/* ---- elements ------------------------------------------------------------------------------- */

/* What a user writes few words for: an E.164 number, a connection by VPCI and VCI, AAL5. */
static struct leat_atm_signal_content preset(uint8_t id)
{
    struct leat_atm_signal_content c = { .id = id };
    if (id == LEAT_ATM_SIGNAL_CALLED_NUMBER || id == LEAT_ATM_SIGNAL_CALLING_NUMBER)
        c.value[LEAT_ATM_SIGNAL_NUMBER_PLAN] = LEAT_ATM_SIGNAL_PLAN_E164;
    if (id == LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER)
        c.value[LEAT_ATM_SIGNAL_CONNECTION_ASSOCIATED] = 1;
    if (id == LEAT_ATM_SIGNAL_AAL_PARAMETERS)
        c.value[LEAT_ATM_SIGNAL_AAL_TYPE] = LEAT_ATM_SIGNAL_AAL_5;
    if (id == LEAT_ATM_SIGNAL_BEARER_CAPABILITY)
        c.value[LEAT_ATM_SIGNAL_BEARER_CLASS] = LEAT_ATM_SIGNAL_CLASS_X;
    return c;
}

static void show_contents(struct leat_fields *f, const struct leat_atm_signal_element *e, size_t at)
{
    struct leat_atm_signal_content c;
    const uint8_t *octets = e->octets;
    size_t len = e->len;
    if (leat_atm_signal_content_decode(e, &c) == LEAT_ERR_OK)
        walk_content(f, leat_atm_signal_layout(e->id), &c, at);
    else
        leat_fields_octets(f, "octets", at, len, &octets, &len);
}

/* Contents built from fields go to `store`, whose room was checked; others stay in the arena. */
static void read_contents(struct leat_fields *f, struct leat_atm_signal_element *e, uint8_t *store)
{
    const struct leat_atm_signal_layout *layout = leat_atm_signal_layout(e->id);
    const uint8_t *octets = store;
    size_t len = 0;
    if (!layout || leat_fields_has(f, "octets")) {
        leat_fields_octets(f, "octets", 0, LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX, &octets, &len);
        e->octets = octets;
        e->len = (uint16_t)len;
        return;
    }
    struct leat_atm_signal_content c = preset(e->id);
    walk_content(f, layout, &c, 0);
    if (f->err) return;
    if (leat_atm_signal_content_encode(&c, store, LEAT_ATM_SIGNAL_CONTENT_LEN_MAX, &e->len))
        leat_fields_refuse(f, LEAT_ERR_LENGTH, layout->number ? "number" : "octets",
                           "expected a number of 1 to 15 digits with plan E.164, or an address of "
                           "20 octets with plan ATM-end-system");
    e->octets = store;
}

static void walk_element(struct leat_fields *f, struct leat_atm_signal_element *e, size_t at,
                         uint8_t *store)
{
    e->id = (uint8_t)leat_fields_enum(f, "id", at, 8, ids, e->id);
    e->instruction = walk_instruction(f, at + 1, e->instruction, true);
    leat_fields_derived(f, "length", at + 2, 16, e->len);
    if (leat_fields_reading(f))
        read_contents(f, e, store);
    else
        show_contents(f, e, at + LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN);
}

static void walk(struct leat_fields *f, struct leat_atm_signal_message *m, size_t elements_len,
                 uint8_t (*store)[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX])
{
    size_t at = LEAT_ATM_SIGNAL_HEADER_LEN;
    m->call = (uint32_t)leat_fields_uint(f, "call", CALL_AT, 23, m->call);
    m->to_originator = leat_fields_flag(f, "toOriginator", CALL_AT, m->to_originator);
    m->type = (uint8_t)leat_fields_enum(f, "type", TYPE_AT, 8, types, m->type);
    m->instruction = walk_instruction(f, INSTRUCTION_AT, m->instruction, false);
    leat_fields_derived(f, "length", LENGTH_AT, 16, elements_len);
    m->element_count = (unsigned)leat_fields_list(f, "elements", at, m->element_count,
                                                  LEAT_ATM_SIGNAL_ELEMENTS_MAX);
    for (unsigned i = 0; i < m->element_count; i++) {
        if (!leat_fields_open(f, NULL, at)) break;
        walk_element(f, &m->element[i], at, store ? store[i] : NULL);
        at += LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN + m->element[i].len;
        leat_fields_close(f);
    }
    leat_fields_list_end(f);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_signal_message m;
    const leat_err err = leat_atm_signal_message_decode(octets, len, &m, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &m, len - LEAT_ATM_SIGNAL_HEADER_LEN, NULL);
    return err;
}

/* One element of each kind, with all fields that it can have. */
static void put_example(struct leat_atm_signal_message *m,
                        uint8_t (*store)[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX])
{
    static const uint8_t digits[] = { '1' };
    const struct leat_atm_signal_layout *layout;
    for (const struct leat_name *id = ids; id->name; id++) {
        struct leat_atm_signal_content c = preset((uint8_t)id->value);
        struct leat_atm_signal_element *e = &m->element[m->element_count];
        layout = leat_atm_signal_layout(c.id);
        for (unsigned i = 0; layout->row[i].name; i++)
            leat_atm_signal_content_set(&c, i, c.value[i]);
        if (layout->number) c.tail = digits;
        c.tail_len = layout->number;
        const leat_err err = leat_atm_signal_content_encode(&c, store[m->element_count],
                                                            sizeof *store, &e->len);
        assert(err == LEAT_ERR_OK);
        e->id = c.id;
        e->octets = store[m->element_count++];
    }
}

/* No fields: an example, a SETUP. A user who names a type begins without elements. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    uint8_t store[LEAT_ATM_SIGNAL_ELEMENTS_MAX][LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
    struct leat_atm_signal_message m = { .type = LEAT_ATM_SIGNAL_SETUP,
                                         .instruction = LEAT_ATM_SIGNAL_INSTRUCTION };
    const bool example = !leat_fields_has(f, "type") && !leat_fields_has(f, "elements");
    for (unsigned i = 0; i < LEAT_ATM_SIGNAL_ELEMENTS_MAX; i++)
        m.element[i].instruction = LEAT_ATM_SIGNAL_INSTRUCTION;
    walk(f, &m, 0, store);
    if (f->err) return f->err;
    if (example) put_example(&m, store);
    const leat_err err = leat_atm_signal_message_encode(&m, octets, cap, len);
    if (err == LEAT_ERR_LENGTH)
        leat_fields_refuse(f, err, "elements", "expected at most 4087 octets in all");
    return f->err ? f->err : err;
}

static size_t measure(const uint8_t *octets, size_t len)
{
    return len < LEAT_ATM_SIGNAL_HEADER_LEN
               ? 0
               : LEAT_ATM_SIGNAL_HEADER_LEN + (size_t)leat_get_be16(octets + LENGTH_AT);
}

const struct leat_format leat_q2931_format = {
    .name = "q2931",
    .in_cells = true,
    .summary = "signalling message of Q.2931 and Q.2971: sets up and releases ATM connections",
    .show = show,
    .build = build,
    .measure = measure,
};
