/*
 * Signalling messages (ITU-T Q.2931, Q.2971), on VCI 5. A message is a header and information
 * elements; each element says how long it is, so those that nobody here knows pass unharmed.
 *
 *   octet  0          1          2..4            5        6              7..8
 *         +----------+----------+---+-----------+--------+--------------+--------+----------+
 *         | 09       | 0 | 3    | F | call (23) |  type  | 1 00 f 00 aa | length | elements |
 *         +----------+----------+---+-----------+--------+--------------+--------+----------+
 *                      length of the call reference        instruction    of the elements
 *
 *   element   0            1               2..3
 *         +------------+----------------+--------+----------+
 *         | identifier | 1 cc f - aaa   | length | contents |      cc: coding standard, 0 = ITU-T
 *         +------------+----------------+--------+----------+      f: obey the action aa (aaa)
 *
 * Two levels. leat_atm_signal_message is a view of the octets: all elements, in their order.
 * leat_atm_signal_content is the meaning of one element: numbers by field.
 */
#ifndef LEAT_ATM_SIGNAL_H
#define LEAT_ATM_SIGNAL_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_SIGNAL_VCI = 5, /* of every VPI; VPI 0 at a user-network interface */
    LEAT_ATM_SIGNAL_DISCRIMINATOR = 9,
    LEAT_ATM_SIGNAL_HEADER_LEN = 9,
    LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN = 4,
    LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX = 4096, /* the longest SDU of the signalling AAL (Q.2130) */
    LEAT_ATM_SIGNAL_ELEMENTS_MAX = 32,
    LEAT_ATM_SIGNAL_CALL_MAX = (1 << 23) - 1,
    LEAT_ATM_SIGNAL_INSTRUCTION = 0x80, /* of headers and elements: nothing special */
};

/* Message types of the subset; others are carried by number. */
enum leat_atm_signal_type {
    LEAT_ATM_SIGNAL_CALL_PROCEEDING = 0x02,
    LEAT_ATM_SIGNAL_SETUP = 0x05,
    LEAT_ATM_SIGNAL_CONNECT = 0x07,
    LEAT_ATM_SIGNAL_CONNECT_ACK = 0x0f,
    LEAT_ATM_SIGNAL_RELEASE = 0x4d,
    LEAT_ATM_SIGNAL_RELEASE_COMPLETE = 0x5a,
    LEAT_ATM_SIGNAL_STATUS_ENQUIRY = 0x75,
    LEAT_ATM_SIGNAL_STATUS = 0x7d,
    LEAT_ATM_SIGNAL_ADD_PARTY = 0x80,
    LEAT_ATM_SIGNAL_ADD_PARTY_ACK = 0x81,
    LEAT_ATM_SIGNAL_ADD_PARTY_REJECT = 0x82,
    LEAT_ATM_SIGNAL_DROP_PARTY = 0x83,
    LEAT_ATM_SIGNAL_DROP_PARTY_ACK = 0x84,
};

/* Identifiers of elements whose contents are known here. */
enum leat_atm_signal_id {
    LEAT_ATM_SIGNAL_CAUSE = 0x08,
    LEAT_ATM_SIGNAL_CALL_STATE = 0x14,
    LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE = 0x54,
    LEAT_ATM_SIGNAL_ENDPOINT_STATE = 0x55,
    LEAT_ATM_SIGNAL_AAL_PARAMETERS = 0x58,
    LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR = 0x59,
    LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER = 0x5a,
    LEAT_ATM_SIGNAL_QOS = 0x5c,
    LEAT_ATM_SIGNAL_BEARER_CAPABILITY = 0x5e,
    LEAT_ATM_SIGNAL_CALLING_NUMBER = 0x6c,
    LEAT_ATM_SIGNAL_CALLED_NUMBER = 0x70,
};

struct leat_atm_signal_element {
    uint8_t id;
    uint8_t instruction;   /* the whole octet: LEAT_ATM_SIGNAL_INSTRUCTION unless said otherwise */
    const uint8_t *octets; /* contents; decode: lent from the octets decoded */
    uint16_t len;
};

struct leat_atm_signal_message {
    uint32_t call;      /* 0..LEAT_ATM_SIGNAL_CALL_MAX; 0: all calls */
    bool to_originator; /* F: sent to the side that chose the call reference */
    uint8_t type;
    uint8_t instruction;
    unsigned element_count;
    struct leat_atm_signal_element element[LEAT_ATM_SIGNAL_ELEMENTS_MAX];
};

/*
 * The whole of buf is one message. On error *out is untouched and *fault_at (may be NULL) is the
 * offset: SHORT, TYPE (another protocol), LENGTH, RESERVED, FULL (too many elements).
 */
leat_err leat_atm_signal_message_decode(const uint8_t *buf, size_t len,
                                        struct leat_atm_signal_message *out, size_t *fault_at);

/* RANGE, FULL, LENGTH (beyond LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX), SPACE: nothing is written. */
leat_err leat_atm_signal_message_encode(const struct leat_atm_signal_message *message, uint8_t *buf,
                                        size_t cap, size_t *len);

/* The first element of this kind, NULL if there is none. */
const struct leat_atm_signal_element *
leat_atm_signal_message_find(const struct leat_atm_signal_message *message,
                             enum leat_atm_signal_id id);

/* ---- contents ------------------------------------------------------------------------------- */

/* Fields, by element: indexes of leat_atm_signal_content. */
enum { LEAT_ATM_SIGNAL_CAUSE_LOCATION, LEAT_ATM_SIGNAL_CAUSE_VALUE };
enum { LEAT_ATM_SIGNAL_STATE }; /* of calls and of endpoints */
enum {
    LEAT_ATM_SIGNAL_ENDPOINT_TYPE,
    LEAT_ATM_SIGNAL_ENDPOINT_FLAG,
    LEAT_ATM_SIGNAL_ENDPOINT_VALUE
};
enum {
    LEAT_ATM_SIGNAL_AAL_TYPE,
    LEAT_ATM_SIGNAL_AAL_FORWARD_SDU,
    LEAT_ATM_SIGNAL_AAL_BACKWARD_SDU,
    LEAT_ATM_SIGNAL_AAL_SSCS
};
/* Rates in cells per second, bursts in cells; each pair is forward, backward. */
enum {
    LEAT_ATM_SIGNAL_PEAK_CLP0,
    LEAT_ATM_SIGNAL_PEAK = 2, /* CLP 0 and 1 together */
    LEAT_ATM_SIGNAL_SUSTAINABLE_CLP0 = 4,
    LEAT_ATM_SIGNAL_SUSTAINABLE = 6,
    LEAT_ATM_SIGNAL_BURST_CLP0 = 8,
    LEAT_ATM_SIGNAL_BURST = 10,
    LEAT_ATM_SIGNAL_BEST_EFFORT = 12, /* there or not: no value */
    LEAT_ATM_SIGNAL_TRAFFIC_OPTIONS
};
enum { /* traffic options */
       LEAT_ATM_SIGNAL_TAG_FORWARD = 1,
       LEAT_ATM_SIGNAL_TAG_BACKWARD = 2,
       LEAT_ATM_SIGNAL_DISCARD_BACKWARD = 64,
       LEAT_ATM_SIGNAL_DISCARD_FORWARD = 128,
};
enum {
    LEAT_ATM_SIGNAL_CONNECTION_ASSOCIATED,
    LEAT_ATM_SIGNAL_CONNECTION_EXCLUSIVE,
    LEAT_ATM_SIGNAL_CONNECTION_VPCI,
    LEAT_ATM_SIGNAL_CONNECTION_VCI
};
enum { LEAT_ATM_SIGNAL_QOS_FORWARD, LEAT_ATM_SIGNAL_QOS_BACKWARD };
enum {
    LEAT_ATM_SIGNAL_BEARER_CLASS,
    LEAT_ATM_SIGNAL_BEARER_TRANSFER, /* optional */
    LEAT_ATM_SIGNAL_BEARER_CLIPPING,
    LEAT_ATM_SIGNAL_BEARER_CONFIGURATION
};
enum {
    LEAT_ATM_SIGNAL_NUMBER_TYPE,
    LEAT_ATM_SIGNAL_NUMBER_PLAN,
    LEAT_ATM_SIGNAL_NUMBER_PRESENTATION, /* optional, calling numbers only: both or none */
    LEAT_ATM_SIGNAL_NUMBER_SCREENING
};

enum {
    LEAT_ATM_SIGNAL_FIELDS_MAX = 14,
    LEAT_ATM_SIGNAL_CONTENT_LEN_MAX = 64,
    LEAT_ATM_SIGNAL_DIAGNOSTICS_LEN_MAX = 28,
    LEAT_ATM_SIGNAL_DIGITS_MAX = 15, /* of an E.164 number */
    LEAT_ATM_SIGNAL_NSAP_LEN = 20,   /* of an ATM end-system address */
};
enum { LEAT_ATM_SIGNAL_PLAN_E164 = 1, LEAT_ATM_SIGNAL_PLAN_NSAP = 2 };
enum { LEAT_ATM_SIGNAL_CLASS_A = 1, LEAT_ATM_SIGNAL_CLASS_C = 3, LEAT_ATM_SIGNAL_CLASS_X = 16 };
enum { LEAT_ATM_SIGNAL_AAL_5 = 5 };

struct leat_atm_signal_content {
    uint8_t id;
    uint16_t has; /* bit per field: optional ones are there */
    uint32_t value[LEAT_ATM_SIGNAL_FIELDS_MAX];
    const uint8_t *tail; /* diagnostics of a cause, digits or address of a number: lent */
    uint8_t tail_len;
};

static inline bool leat_atm_signal_content_has(const struct leat_atm_signal_content *c,
                                               unsigned field)
{
    return c->has >> field & 1;
}

static inline void leat_atm_signal_content_set(struct leat_atm_signal_content *c, unsigned field,
                                               uint32_t value)
{
    c->value[field] = value;
    c->has = (uint16_t)(c->has | 1u << field);
}

/*
 * On error *out is untouched. TYPE: an element or coding that is not known. SHORT, LENGTH, RANGE
 * (digits), RESERVED (whatever else encode would write otherwise): wrong contents.
 */
leat_err leat_atm_signal_content_decode(const struct leat_atm_signal_element *element,
                                        struct leat_atm_signal_content *out);

/* TYPE, RANGE (a field, or a digit), LENGTH (of the tail), SPACE: nothing is written. */
leat_err leat_atm_signal_content_encode(const struct leat_atm_signal_content *content,
                                        uint8_t *octets, size_t cap, uint16_t *len);

#endif
