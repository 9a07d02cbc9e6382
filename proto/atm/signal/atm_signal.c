#include "atm_signal.h"
#include "leat_bytes.h"

enum { CALL_LEN_AT = 1, CALL_AT = 2, TYPE_AT = 5, INSTRUCTION_AT = 6, LENGTH_AT = 7 };
enum { CALL_LEN = 3, CALL_FLAG = 1 << 23 };

/* Fills in the elements of *out, which the caller does not show before all are sound. */
static leat_err decode_elements(const uint8_t *buf, size_t len, struct leat_atm_signal_message *out,
                                size_t *fault_at)
{
    size_t at = LEAT_ATM_SIGNAL_HEADER_LEN;
    while (at < len) {
        const size_t octets_at = at + LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN;
        if (octets_at > len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
        if (out->element_count == LEAT_ATM_SIGNAL_ELEMENTS_MAX)
            return leat_fault(LEAT_ERR_FULL, at, fault_at);
        const uint16_t octets_len = leat_get_be16(buf + at + 2);
        if (octets_len > len - octets_at) return leat_fault(LEAT_ERR_LENGTH, at + 2, fault_at);
        out->element[out->element_count++] = (struct leat_atm_signal_element){
            .id = buf[at],
            .instruction = buf[at + 1],
            .octets = buf + octets_at,
            .len = octets_len,
        };
        at = octets_at + octets_len;
    }
    return LEAT_ERR_OK;
}

leat_err leat_atm_signal_message_decode(const uint8_t *buf, size_t len,
                                        struct leat_atm_signal_message *out, size_t *fault_at)
{
    if (len < LEAT_ATM_SIGNAL_HEADER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (buf[0] != LEAT_ATM_SIGNAL_DISCRIMINATOR) return leat_fault(LEAT_ERR_TYPE, 0, fault_at);
    if (buf[CALL_LEN_AT] >> 4) return leat_fault(LEAT_ERR_RESERVED, CALL_LEN_AT, fault_at);
    if (buf[CALL_LEN_AT] != CALL_LEN) return leat_fault(LEAT_ERR_LENGTH, CALL_LEN_AT, fault_at);
    const size_t elements_len = leat_get_be16(buf + LENGTH_AT);
    if (elements_len > len - LEAT_ATM_SIGNAL_HEADER_LEN)
        return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (elements_len < len - LEAT_ATM_SIGNAL_HEADER_LEN || len > LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, LENGTH_AT, fault_at);

    const uint32_t call = leat_get_be24(buf + CALL_AT);
    struct leat_atm_signal_message m = { .call = call & LEAT_ATM_SIGNAL_CALL_MAX,
                                         .to_originator = call & CALL_FLAG,
                                         .type = buf[TYPE_AT],
                                         .instruction = buf[INSTRUCTION_AT] };
    const leat_err err = decode_elements(buf, len, &m, fault_at);
    if (err == LEAT_ERR_OK) *out = m;
    return err;
}

leat_err leat_atm_signal_message_encode(const struct leat_atm_signal_message *m, uint8_t *buf,
                                        size_t cap, size_t *len)
{
    size_t total = LEAT_ATM_SIGNAL_HEADER_LEN;
    if (m->call > LEAT_ATM_SIGNAL_CALL_MAX) return LEAT_ERR_RANGE;
    if (m->element_count > LEAT_ATM_SIGNAL_ELEMENTS_MAX) return LEAT_ERR_FULL;
    for (unsigned i = 0; i < m->element_count; i++)
        total += LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN + (size_t)m->element[i].len;
    if (total > LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX) return LEAT_ERR_LENGTH;
    if (total > cap) return LEAT_ERR_SPACE;

    buf[0] = LEAT_ATM_SIGNAL_DISCRIMINATOR;
    buf[CALL_LEN_AT] = CALL_LEN;
    leat_put_be24(buf + CALL_AT, m->call | (m->to_originator ? CALL_FLAG : 0));
    buf[TYPE_AT] = m->type;
    buf[INSTRUCTION_AT] = m->instruction;
    leat_put_be16(buf + LENGTH_AT, (uint16_t)(total - LEAT_ATM_SIGNAL_HEADER_LEN));
    uint8_t *p = buf + LEAT_ATM_SIGNAL_HEADER_LEN;
    for (unsigned i = 0; i < m->element_count; i++) {
        const struct leat_atm_signal_element *e = &m->element[i];
        p[0] = e->id;
        p[1] = e->instruction;
        leat_put_be16(p + 2, e->len);
        p += LEAT_ATM_SIGNAL_ELEMENT_HEADER_LEN;
        for (uint16_t k = 0; k < e->len; k++)
            *p++ = e->octets[k];
    }
    *len = total;
    return LEAT_ERR_OK;
}

const struct leat_atm_signal_element *
leat_atm_signal_message_find(const struct leat_atm_signal_message *message,
                             enum leat_atm_signal_id id)
{
    for (unsigned i = 0; i < message->element_count; i++)
        if (message->element[i].id == id) return &message->element[i];
    return NULL;
}
