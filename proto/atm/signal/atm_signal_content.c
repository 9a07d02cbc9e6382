#include "atm_signal_parts.h"
#include "leat_bytes.h"
#include <string.h>

enum { MORE = 0x80 }; /* bit 8 of an octet: 1 = its group of octets ends */
enum { CODING = 0x60 };

static const struct leat_name causes[] = {
    { 1, "unallocated-number" },
    { 3, "no-route" },
    { 10, "vpci-vci-unacceptable" },
    { 16, "normal" },
    { 17, "user-busy" },
    { 18, "no-user-responding" },
    { 21, "call-rejected" },
    { 27, "destination-out-of-order" },
    { 30, "response-to-status-enquiry" },
    { 31, "normal-unspecified" },
    { 35, "vpci-vci-not-available" },
    { 36, "vpci-vci-assignment-failure" },
    { 37, "cell-rate-not-available" },
    { 38, "network-out-of-order" },
    { 41, "temporary-failure" },
    { 45, "no-vpci-vci-available" },
    { 47, "resource-unavailable" },
    { 49, "qos-unavailable" },
    { 57, "bearer-capability-not-authorized" },
    { 58, "bearer-capability-not-available" },
    { 65, "bearer-capability-not-implemented" },
    { 73, "traffic-parameters-unsupported" },
    { 81, "invalid-call-reference" },
    { 88, "incompatible-destination" },
    { 89, "invalid-endpoint-reference" },
    { 92, "too-many-add-party-requests" },
    { 96, "mandatory-element-missing" },
    { 97, "message-type-unknown" },
    { 99, "element-unknown" },
    { 100, "invalid-element-contents" },
    { 101, "message-not-compatible-with-state" },
    { 102, "timer-expired" },
    { 111, "protocol-error" },
    { 0, NULL },
};
static const struct leat_name locations[] = {
    { 0, "user" },          { 1, "private-local" },        { 2, "public-local" },
    { 3, "transit" },       { 4, "public-remote" },        { 5, "private-remote" },
    { 7, "international" }, { 10, "beyond-interworking" }, { 0, NULL },
};
static const struct leat_name call_states[] = {
    { 0, "null" },
    { 1, "call-initiated" },
    { 3, "outgoing-call-proceeding" },
    { 4, "call-delivered" },
    { 6, "call-present" },
    { 7, "call-received" },
    { 8, "connect-request" },
    { 9, "incoming-call-proceeding" },
    { 10, "active" },
    { 11, "release-request" },
    { 12, "release-indication" },
    { 0, NULL },
};
static const struct leat_name endpoint_states[] = {
    { 0, "null" },
    { 1, "add-party-initiated" },
    { 4, "party-alerting-delivered" },
    { 6, "add-party-received" },
    { 7, "party-alerting-received" },
    { 10, "active" },
    { 11, "drop-party-initiated" },
    { 12, "drop-party-received" },
    { 0, NULL },
};
static const struct leat_name aal_types[] = {
    { 0, "voice" }, { 1, "aal1" },  { 2, "aal2" }, { 3, "aal34" },
    { 5, "aal5" },  { 16, "user" }, { 0, NULL },
};
static const struct leat_name options[] = {
    { LEAT_ATM_SIGNAL_TAG_FORWARD, "tag-forward" },
    { LEAT_ATM_SIGNAL_TAG_BACKWARD, "tag-backward" },
    { LEAT_ATM_SIGNAL_DISCARD_BACKWARD, "discard-backward" },
    { LEAT_ATM_SIGNAL_DISCARD_FORWARD, "discard-forward" },
    { 0, NULL },
};
static const struct leat_name associations[] = { { 0, "vp-associated" },
                                                 { 1, "explicit" },
                                                 { 0, NULL } };
static const struct leat_name exclusives[] = {
    { 0, "vpci-and-vci" }, { 1, "any-vci" }, { 4, "no-vci" }, { 0, NULL }
};
static const struct leat_name bearer_classes[] = {
    { LEAT_ATM_SIGNAL_CLASS_A, "BCOB-A" },
    { LEAT_ATM_SIGNAL_CLASS_C, "BCOB-C" },
    { LEAT_ATM_SIGNAL_CLASS_X, "BCOB-X" },
    { 0, NULL },
};
/* Q.2961.2: octet 5a; ABR from the ATM Forum's Signalling 4.0. */
static const struct leat_name transfers[] = {
    { 5, "CBR" }, { 9, "VBR-rt" }, { 10, "VBR-nrt" }, { 12, "ABR" }, { 0, NULL },
};
static const struct leat_name configurations[] = { { 0, "point-to-point" },
                                                   { 1, "point-to-multipoint" },
                                                   { 0, NULL } };
static const struct leat_name number_types[] = {
    { 0, "unknown" }, { 1, "international" }, { 2, "national" }, { 4, "subscriber" }, { 0, NULL },
};
static const struct leat_name plans[] = {
    { LEAT_ATM_SIGNAL_PLAN_E164, "E.164" },
    { LEAT_ATM_SIGNAL_PLAN_NSAP, "ATM-end-system" },
    { 0, NULL },
};
static const struct leat_name presentations[] = {
    { 0, "allowed" }, { 1, "restricted" }, { 2, "not-available" }, { 0, NULL }
};
static const struct leat_name screenings[] = {
    { 0, "user-not-screened" }, { 1, "user-passed" }, { 2, "user-failed" },
    { 3, "network" },           { 0, NULL },
};

/* Q.2931, 4.5; Q.2971 for endpoints; Q.2961.1 for sustainable rates, bursts and options. */
static const struct leat_atm_signal_layout layouts[] = {
    { .id = LEAT_ATM_SIGNAL_CAUSE,
      .fixed_len = 2,
      .tail_len_max = LEAT_ATM_SIGNAL_DIAGNOSTICS_LEN_MAX,
      .fixed = { MORE, MORE },
      .row = { { "location", locations, 0, 4, 4 }, { "cause", causes, 0, 9, 7 } } },
    { .id = LEAT_ATM_SIGNAL_CALL_STATE,
      .fixed_len = 1,
      .row = { { "state", call_states, 0, 2, 6 } } },
    { .id = LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE,
      .fixed_len = 3,
      .row = { { "type", NULL, 0, 0, 8 },
               { "flag", NULL, 0, 8, 1 },
               { "endpoint", NULL, 0, 9, 15 } } },
    { .id = LEAT_ATM_SIGNAL_ENDPOINT_STATE,
      .fixed_len = 1,
      .row = { { "state", endpoint_states, 0, 2, 6 } } },
    { .id = LEAT_ATM_SIGNAL_AAL_PARAMETERS,
      .fixed_len = 1,
      .row = { { "aal", aal_types, 0, 0, 8 },
               { "forwardSdu", NULL, 0x8c, 0, 16 },
               { "backwardSdu", NULL, 0x81, 0, 16 },
               { "sscs", NULL, 0x84, 0, 8 } } },
    { .id = LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR,
      .row = { { "forwardPeakClp0", NULL, 0x82, 0, 24 },
               { "backwardPeakClp0", NULL, 0x83, 0, 24 },
               { "forwardPeak", NULL, 0x84, 0, 24 },
               { "backwardPeak", NULL, 0x85, 0, 24 },
               { "forwardSustainableClp0", NULL, 0x88, 0, 24 },
               { "backwardSustainableClp0", NULL, 0x89, 0, 24 },
               { "forwardSustainable", NULL, 0x90, 0, 24 },
               { "backwardSustainable", NULL, 0x91, 0, 24 },
               { "forwardBurstClp0", NULL, 0xa0, 0, 24 },
               { "backwardBurstClp0", NULL, 0xa1, 0, 24 },
               { "forwardBurst", NULL, 0xb0, 0, 24 },
               { "backwardBurst", NULL, 0xb1, 0, 24 },
               { "bestEffort", NULL, 0xbe, 0, 0 },
               { "options", options, 0xbf, 0, 8, .mask = true } } },
    { .id = LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER,
      .fixed_len = 5,
      .fixed = { MORE },
      .row = { { "associated", associations, 0, 3, 2 },
               { "exclusive", exclusives, 0, 5, 3 },
               { "vpci", NULL, 0, 8, 16 },
               { "vci", NULL, 0, 24, 16 } } },
    { .id = LEAT_ATM_SIGNAL_QOS,
      .fixed_len = 2,
      .row = { { "forwardClass", NULL, 0, 0, 8 }, { "backwardClass", NULL, 0, 8, 8 } } },
    { .id = LEAT_ATM_SIGNAL_BEARER_CAPABILITY,
      .fixed_len = 3,
      .optional = 1,
      .fixed = { 0, MORE, MORE },
      .row = { { "class", bearer_classes, 0, 3, 5 },
               { "transfer", transfers, 0, 9, 7 },
               { "clipping", NULL, 0, 17, 2 },
               { "configuration", configurations, 0, 22, 2 } } },
    { .id = LEAT_ATM_SIGNAL_CALLING_NUMBER,
      .fixed_len = 2,
      .optional = 1,
      .tail_len_max = LEAT_ATM_SIGNAL_NSAP_LEN,
      .number = true,
      .fixed = { 0, MORE },
      .row = { { "type", number_types, 0, 1, 3 },
               { "plan", plans, 0, 4, 4 },
               { "presentation", presentations, 0, 9, 2 },
               { "screening", screenings, 0, 14, 2 } } },
    { .id = LEAT_ATM_SIGNAL_CALLED_NUMBER,
      .fixed_len = 1,
      .tail_len_max = LEAT_ATM_SIGNAL_NSAP_LEN,
      .number = true,
      .fixed = { MORE },
      .row = { { "type", number_types, 0, 1, 3 }, { "plan", plans, 0, 4, 4 } } },
};

const struct leat_atm_signal_layout *leat_atm_signal_layout(uint8_t id)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].id == id) return &layouts[i];
    return NULL;
}

/* Bit fields, octet by octet: `take` bits at a time, which stand `low` bits above the lowest. */
static uint32_t bits_get(const uint8_t *p, unsigned at, unsigned bits)
{
    uint32_t value = 0;
    while (bits) {
        const unsigned room = 8 - at % 8, take = bits < room ? bits : room, low = room - take;
        value = value << take | ((unsigned)p[at / 8] >> low & ((1u << take) - 1));
        at += take;
        bits -= take;
    }
    return value;
}

static void bits_put(uint8_t *p, unsigned at, unsigned bits, uint32_t value)
{
    while (bits) {
        const unsigned room = 8 - at % 8, take = bits < room ? bits : room, low = room - take;
        const unsigned mask = ((1u << take) - 1) << low;
        p[at / 8] = (uint8_t)((p[at / 8] & ~mask) | ((value >> (bits - take)) << low & mask));
        at += take;
        bits -= take;
    }
}

/* ---- encoding ------------------------------------------------------------------------------- */

static leat_err check_tail(const struct leat_atm_signal_layout *layout,
                           const struct leat_atm_signal_content *c)
{
    if (!layout->number) return c->tail_len > layout->tail_len_max ? LEAT_ERR_LENGTH : LEAT_ERR_OK;
    if (c->value[LEAT_ATM_SIGNAL_NUMBER_PLAN] == LEAT_ATM_SIGNAL_PLAN_NSAP)
        return c->tail_len == LEAT_ATM_SIGNAL_NSAP_LEN ? LEAT_ERR_OK : LEAT_ERR_LENGTH;
    if (c->value[LEAT_ATM_SIGNAL_NUMBER_PLAN] != LEAT_ATM_SIGNAL_PLAN_E164) return LEAT_ERR_TYPE;
    if (c->tail_len < 1 || c->tail_len > LEAT_ATM_SIGNAL_DIGITS_MAX) return LEAT_ERR_LENGTH;
    for (unsigned i = 0; i < c->tail_len; i++)
        if (c->tail[i] < '0' || c->tail[i] > '9') return LEAT_ERR_RANGE;
    return LEAT_ERR_OK;
}

static bool is_there(const struct leat_atm_signal_layout *layout,
                     const struct leat_atm_signal_content *c, unsigned field)
{
    return !leat_atm_signal_row_is_optional(layout, &layout->row[field]) ||
           leat_atm_signal_content_has(c, field);
}

/* The fixed part; without its optional octet if no field needs it. */
static size_t put_fixed(const struct leat_atm_signal_layout *layout,
                        const struct leat_atm_signal_content *c, uint8_t *out)
{
    bool whole = false;
    memcpy(out, layout->fixed, layout->fixed_len);
    for (unsigned i = 0; layout->row[i].name; i++) {
        const struct leat_atm_signal_row *row = &layout->row[i];
        if (row->item || !is_there(layout, c, i)) continue;
        bits_put(out, row->at, row->bits, c->value[i]);
        if (leat_atm_signal_row_is_optional(layout, row)) whole = true;
    }
    if (!layout->optional || whole) return layout->fixed_len;
    out[layout->optional - 1] |= MORE;
    memmove(out + layout->optional, out + layout->optional + 1,
            (size_t)(layout->fixed_len - layout->optional - 1));
    return (size_t)layout->fixed_len - 1;
}

static size_t put_items(const struct leat_atm_signal_layout *layout,
                        const struct leat_atm_signal_content *c, uint8_t *out)
{
    size_t at = 0;
    for (unsigned i = 0; layout->row[i].name; i++) {
        const struct leat_atm_signal_row *row = &layout->row[i];
        if (!row->item || !is_there(layout, c, i)) continue;
        out[at++] = row->item;
        bits_put(out + at, 0, row->bits, c->value[i]);
        at += row->bits / 8u;
    }
    return at;
}

leat_err leat_atm_signal_content_encode(const struct leat_atm_signal_content *c, uint8_t *octets,
                                        size_t cap, uint16_t *len)
{
    const struct leat_atm_signal_layout *layout = leat_atm_signal_layout(c->id);
    uint8_t out[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX] = { 0 }; /* bits are put between others */
    if (!layout) return LEAT_ERR_TYPE;
    for (unsigned i = 0; layout->row[i].name; i++)
        if (is_there(layout, c, i) && !leat_fits(c->value[i], layout->row[i].bits))
            return LEAT_ERR_RANGE;
    const leat_err err = check_tail(layout, c);
    if (err) return err;
    size_t at = put_fixed(layout, c, out);
    at += put_items(layout, c, out + at);
    if (c->tail_len) memcpy(out + at, c->tail, c->tail_len);
    at += c->tail_len;
    if (at > cap) return LEAT_ERR_SPACE;
    memcpy(octets, out, at);
    *len = (uint16_t)at;
    return LEAT_ERR_OK;
}

/* ---- decoding ------------------------------------------------------------------------------- */

/* Reads the fixed part; the octets that it has, 0 if there are too few. */
static leat_err get_fixed(const struct leat_atm_signal_layout *layout,
                          const struct leat_atm_signal_element *e,
                          struct leat_atm_signal_content *c, size_t *used)
{
    uint8_t whole[LEAT_ATM_SIGNAL_FIXED_LEN_MAX] = { 0 };
    const unsigned optional = layout->optional;
    const bool short_form = optional && e->len >= optional && e->octets[optional - 1] & MORE;
    const size_t len = (size_t)layout->fixed_len - short_form;
    if (e->len < len) return LEAT_ERR_SHORT;
    for (size_t i = 0; i < len; i++)
        whole[i + (short_form && i >= optional)] = e->octets[i];
    for (unsigned i = 0; layout->row[i].name; i++) {
        const struct leat_atm_signal_row *row = &layout->row[i];
        if (row->item || (short_form && leat_atm_signal_row_is_optional(layout, row))) continue;
        leat_atm_signal_content_set(c, i, bits_get(whole, row->at, row->bits));
    }
    *used = len;
    return LEAT_ERR_OK;
}

static const struct leat_atm_signal_row *item_row(const struct leat_atm_signal_layout *layout,
                                                  uint8_t item, unsigned *field)
{
    for (*field = 0; layout->row[*field].name; ++*field)
        if (layout->row[*field].item == item) return &layout->row[*field];
    return NULL;
}

static leat_err get_items(const struct leat_atm_signal_layout *layout,
                          const struct leat_atm_signal_element *e, size_t at,
                          struct leat_atm_signal_content *c)
{
    while (at < e->len) {
        unsigned field;
        const struct leat_atm_signal_row *row = item_row(layout, e->octets[at], &field);
        if (!row || !row->item) return LEAT_ERR_TYPE;
        if (row->bits / 8u > e->len - ++at) return LEAT_ERR_SHORT;
        leat_atm_signal_content_set(c, field, bits_get(e->octets + at, 0, row->bits));
        at += row->bits / 8u;
    }
    return LEAT_ERR_OK;
}

leat_err leat_atm_signal_content_decode(const struct leat_atm_signal_element *e,
                                        struct leat_atm_signal_content *out)
{
    const struct leat_atm_signal_layout *layout = leat_atm_signal_layout(e->id);
    struct leat_atm_signal_content c = { .id = e->id };
    uint8_t again[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
    uint16_t again_len;
    size_t used = 0;
    if (!layout || e->instruction & CODING) return LEAT_ERR_TYPE;
    if (e->len > LEAT_ATM_SIGNAL_CONTENT_LEN_MAX) return LEAT_ERR_LENGTH;
    leat_err err = get_fixed(layout, e, &c, &used);
    if (!err && layout->tail_len_max) {
        c.tail = e->octets + used;
        c.tail_len = (uint8_t)(e->len - used);
    } else if (!err) {
        err = get_items(layout, e, used, &c);
    }
    if (!err) err = leat_atm_signal_content_encode(&c, again, sizeof again, &again_len);
    if (err) return err;
    /* Reserved bits, and items twice or in another order, would be lost. */
    if (again_len != e->len || memcmp(again, e->octets, e->len) != 0) return LEAT_ERR_RESERVED;
    *out = c;
    return LEAT_ERR_OK;
}
