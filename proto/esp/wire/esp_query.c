#include "esp_query.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>
#include <string.h>

enum { HOPS_AT = LEAT_ESP_OPERANDS_AT + 16, CONTROL_RESERVED = 0x10 };

/*
 * One walk over the fields in order reads or writes the octets: the layout is written down once.
 * The first fault stops either.
 */
struct walk {
    const uint8_t *from; /* NULL: writing */
    uint8_t *to;
    size_t at, end; /* end: of the operands, where the MAC begins */
    leat_err err;
    size_t fault_at;
};

static void refuse(struct walk *w, leat_err err, size_t at)
{
    if (w->err) return;
    w->err = err;
    w->fault_at = at;
}

/* `len` octets as a number. A count that exceeds the octets present ends the walk. */
static uint64_t number(struct walk *w, size_t len, uint64_t value)
{
    if (w->err) return value;
    if (len > w->end - w->at) {
        refuse(w, LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT);
        return value;
    }
    if (w->from) {
        value = 0;
        for (size_t i = 0; i < len; i++)
            value = value << 8 | w->from[w->at + i];
    } else {
        for (size_t i = 0; i < len; i++)
            w->to[w->at + i] = (uint8_t)(value >> 8 * (len - 1 - i));
    }
    w->at += len;
    return value;
}

static void wide(struct walk *w, uint64_t *value)
{
    *value = number(w, 8, *value);
}

static void word(struct walk *w, uint32_t *value)
{
    *value = (uint32_t)number(w, 4, *value);
}

static void half(struct walk *w, uint16_t *value)
{
    *value = (uint16_t)number(w, 2, *value);
}

static void octet(struct walk *w, uint8_t *value)
{
    *value = (uint8_t)number(w, 1, *value);
}

static void zeros(struct walk *w, size_t len)
{
    const size_t at = w->at;
    for (size_t i = 0; i < len; i++)
        if (number(w, 1, 0) != 0) refuse(w, LEAT_ERR_RESERVED, at);
}

/* The field of `len` octets before this position must not exceed `max`. */
static bool bounded(struct walk *w, size_t len, uint64_t value, uint64_t max)
{
    if (!w->err && value > max) refuse(w, LEAT_ERR_RANGE, w->at - len);
    return !w->err;
}

/* ---- the packets, one function each ------------------------------------------------------- */

static void store(struct walk *w, size_t len, uint64_t bit)
{
    const bool one = bit == LEAT_ESP_LOC_INPUT || bit == LEAT_ESP_LOC_CENTRE ||
                     bit == LEAT_ESP_LOC_OUTPUT;
    if (!one) refuse(w, LEAT_ERR_RANGE, w->at - len);
}

static void walk_query(struct walk *w, struct leat_esp_query *q)
{
    wide(w, &q->target);
    wide(w, &q->nonce);
    word(w, &q->store);
    store(w, 4, q->store);
    word(w, &q->cursor);
}

static void walk_reply(struct walk *w, struct leat_esp_reply *r)
{
    wide(w, &r->node);
    wide(w, &r->nonce);
    octet(w, &r->store);
    store(w, 1, r->store);
    zeros(w, 1);
    half(w, &r->count);
    if (!bounded(w, 2, r->count, LEAT_ESP_BINDINGS_MAX)) return;
    word(w, &r->next);
    wide(w, &r->tau);
    for (unsigned i = 0; i < r->count; i++) {
        wide(w, &r->binding[i].tag);
        wide(w, &r->binding[i].value);
        wide(w, &r->binding[i].remaining);
    }
}

static void walk_next(struct walk *w, struct leat_esp_next *next)
{
    for (unsigned i = 0; i < LEAT_ESP_ADDRESS_LEN; i++)
        octet(w, &next->address[i]);
    half(w, &next->port);
    zeros(w, 6);
}

static void walk_join(struct walk *w, struct leat_esp_join *j)
{
    wide(w, &j->group);
    wide(w, &j->member);
    wide(w, &j->serial);
    wide(w, &j->challenge);
    wide(w, &j->value);
    octet(w, &j->flags);
    if (j->flags & ~LEAT_ESP_JOIN_HAS_VALUE) refuse(w, LEAT_ERR_RESERVED, w->at - 1);
    zeros(w, 3);
    word(w, &j->lifetime_ms);
    walk_next(w, &j->from);
}

static void walk_welcome(struct walk *w, struct leat_esp_welcome *m)
{
    wide(w, &m->group);
    wide(w, &m->member);
    wide(w, &m->serial);
    wide(w, &m->challenge);
    wide(w, &m->announced);
    octet(w, &m->flags);
    if (m->flags & ~LEAT_ESP_WELCOME_KNOWN) refuse(w, LEAT_ERR_RESERVED, w->at - 1);
    zeros(w, 7);
}

/* The operands of the instruction within an ANNOUNCE: refuses what its decoder would refuse. */
static void walk_task(struct walk *w, struct leat_esp_packet *task)
{
    uint64_t operand[LEAT_ESP_OPERANDS_MAX] = { 0 }, again[LEAT_ESP_OPERANDS_MAX] = { 0 };
    const size_t operands_at = w->at;
    size_t at;
    if (w->err) return;
    const size_t len = leat_esp_packet_len(task->opcode) - LEAT_ESP_PACKET_LEN_MIN;
    if (!w->from) leat_esp_packet_gather(task, operand);
    for (unsigned i = 0; i < len / LEAT_ESP_OPERAND_LEN; i++)
        wide(w, &operand[i]);
    if (w->from) leat_esp_packet_scatter(operand, task);
    const leat_err err = leat_esp_packet_check(task, &at);
    if (err) refuse(w, err, operands_at + at - LEAT_ESP_OPERANDS_AT);
    leat_esp_packet_gather(task, again); /* a struct does not hold the word after an operator */
    if (memcmp(operand, again, sizeof again) != 0) refuse(w, LEAT_ERR_RESERVED, w->at - 4);
    zeros(w, LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX - len);
}

static void walk_announce(struct walk *w, struct leat_esp_announce *a, uint64_t computation)
{
    uint8_t control = (uint8_t)((unsigned)a->task.loc << LEAT_ESP_LOC_SHIFT | a->task.flags);
    if (!w->from && (a->task.loc > LEAT_ESP_LOC_ALL || a->task.flags > LEAT_ESP_FLAGS_ALL))
        refuse(w, LEAT_ERR_RANGE, w->at);
    wide(w, &a->group);
    wide(w, &a->member);
    wide(w, &a->serial);
    octet(w, &a->service);
    bounded(w, 1, a->service, LEAT_ESP_SERVICES - 1);
    octet(w, &a->phase);
    octet(w, &a->task.opcode);
    if (!leat_esp_instruction_of(a->task.opcode)) refuse(w, LEAT_ERR_TYPE, w->at - 1);
    octet(w, &control);
    if (control & CONTROL_RESERVED) refuse(w, LEAT_ERR_RESERVED, w->at - 1);
    a->task.loc = control >> LEAT_ESP_LOC_SHIFT;
    a->task.flags = control & LEAT_ESP_FLAGS_ALL;
    a->task.computationId = computation;
    half(w, &a->rounds);
    octet(w, &a->value_from);
    bounded(w, 1, a->value_from, LEAT_ESP_VALUES - 1);
    octet(w, &a->value_shift);
    bounded(w, 1, a->value_shift, 63);
    word(w, &a->delay_us);
    word(w, &a->interval_us);
    walk_task(w, &a->task);
}

static void walk_install(struct walk *w, struct leat_esp_install *in)
{
    wide(w, &in->group);
    wide(w, &in->target);
    wide(w, &in->serial);
    word(w, &in->lifetime_ms);
    octet(w, &in->count);
    if (!bounded(w, 1, in->count, LEAT_ESP_COPIES_MAX)) return;
    zeros(w, 3);
    for (unsigned i = 0; i < in->count; i++)
        walk_next(w, &in->next[i]);
}

static void walk_installed(struct walk *w, struct leat_esp_installed *in)
{
    wide(w, &in->group);
    wide(w, &in->node);
    wide(w, &in->serial);
    word(w, &in->lifetime_ms);
    word(w, &in->result);
    bounded(w, 4, in->result, LEAT_ESP_RESULTS - 1);
}

static void walk_cast(struct walk *w, struct leat_esp_cast *c)
{
    wide(w, &c->group);
    wide(w, &c->serial);
    octet(w, &c->hops);
    zeros(w, 1);
    half(w, &c->payload_len);
    if (!bounded(w, 2, c->payload_len, LEAT_ESP_PAYLOAD_LEN_MAX)) return;
    zeros(w, 4);
    for (unsigned i = 0; i < c->payload_len; i++)
        octet(w, &c->payload[i]);
    zeros(w, (0u - c->payload_len) % 8);
}

static void walk(struct walk *w, struct leat_esp_management *m)
{
    switch ((enum leat_esp_management_opcode)m->opcode) {
    case LEAT_ESP_QUERY: walk_query(w, &m->query); break;
    case LEAT_ESP_REPLY: walk_reply(w, &m->reply); break;
    case LEAT_ESP_JOIN: walk_join(w, &m->join); break;
    case LEAT_ESP_ANNOUNCE: walk_announce(w, &m->announce, m->computationId); break;
    case LEAT_ESP_INSTALL: walk_install(w, &m->install); break;
    case LEAT_ESP_INSTALLED: walk_installed(w, &m->installed); break;
    case LEAT_ESP_CAST: walk_cast(w, &m->cast); break;
    case LEAT_ESP_WELCOME: walk_welcome(w, &m->welcome); break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    if (!w->err && w->from && w->at != w->end) refuse(w, LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT);
}

/* ---- octets ------------------------------------------------------------------------------- */

static bool is_management(unsigned opcode)
{
    return opcode >= LEAT_ESP_QUERY && opcode < LEAT_ESP_MANAGEMENT_END;
}

/* Every operand list consists of whole 64-bit words; the MAC is the last. */
static bool length_is_possible(unsigned words)
{
    return words >= LEAT_ESP_MANAGEMENT_WORDS_MIN && words <= LEAT_ESP_MANAGEMENT_WORDS_MAX &&
           words % 2 == 0;
}

size_t leat_esp_management_len(const uint8_t *buf, size_t len)
{
    if (len < LEAT_ESP_OPERANDS_AT || !is_management(buf[LEAT_ESP_OPCODE_AT])) return 0;
    const unsigned words = leat_get_be16(buf + LEAT_ESP_LENGTH_AT);
    return length_is_possible(words) ? LEAT_ESP_PACKET_LEN_MIN + 4 * (size_t)words : 0;
}

uint64_t leat_esp_management_mac(const uint8_t key[LEAT_ESP_KEY_LEN], const uint8_t *buf,
                                 size_t len)
{
    const size_t mac_at = len - LEAT_ESP_CRC_LEN - LEAT_ESP_MAC_LEN;
    const bool cast = buf[LEAT_ESP_OPCODE_AT] == LEAT_ESP_CAST;
    struct leat_sip s;
    leat_sip_start(&s, key);
    size_t at = 0;
    for (; mac_at - at >= 8; at += 8) {
        uint64_t eight = leat_get_le64(buf + at);
        if (cast && at + 8 > HOPS_AT && at <= HOPS_AT)
            eight &= ~(UINT64_C(0xff) << 8 * (HOPS_AT - at));
        leat_sip_word(&s, eight);
    }
    return leat_sip_rest(&s, buf, at, mac_at);
}

void leat_esp_key_of_group(const uint8_t key[LEAT_ESP_KEY_LEN], uint64_t group,
                           uint8_t out[LEAT_ESP_KEY_LEN])
{
    struct leat_sip s;
    for (unsigned half_of_it = 0; half_of_it < 2; half_of_it++) {
        leat_sip_start(&s, key);
        leat_sip_word(&s, group);
        leat_put_le64(out + 8 * half_of_it, leat_sip_finish(&s, half_of_it, 9));
    }
}

/* The header, CRC and MAC of a packet; *packet_len is its length. */
static leat_err check(const uint8_t *buf, size_t len, const uint8_t *key, size_t *packet_len,
                      size_t *fault_at)
{
    if (len < LEAT_ESP_PACKET_LEN_MIN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (!is_management(buf[LEAT_ESP_OPCODE_AT]))
        return leat_fault(LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT, fault_at);
    if (buf[LEAT_ESP_CONTROL_AT] != 0)
        return leat_fault(LEAT_ERR_RESERVED, LEAT_ESP_CONTROL_AT, fault_at);
    *packet_len = leat_esp_management_len(buf, len);
    if (!*packet_len) return leat_fault(LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT, fault_at);
    if (len < *packet_len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    const size_t crc_at = *packet_len - LEAT_ESP_CRC_LEN, mac_at = crc_at - LEAT_ESP_MAC_LEN;
    if (leat_crc32(0, buf, crc_at) != leat_get_be32(buf + crc_at))
        return leat_fault(LEAT_ERR_CHECKSUM, crc_at, fault_at);
    if (key && leat_esp_management_mac(key, buf, *packet_len) != leat_get_be64(buf + mac_at))
        return leat_fault(LEAT_ERR_CHECKSUM, mac_at, fault_at);
    return LEAT_ERR_OK;
}

leat_err leat_esp_management_decode(const uint8_t *buf, size_t len,
                                    const uint8_t key[LEAT_ESP_KEY_LEN],
                                    struct leat_esp_management *out, size_t *fault_at)
{
    size_t packet_len;
    const leat_err err = check(buf, len, key, &packet_len, fault_at);
    if (err) return err;
    struct walk w = { .from = buf,
                      .at = LEAT_ESP_OPERANDS_AT,
                      .end = packet_len - LEAT_ESP_CRC_LEN - LEAT_ESP_MAC_LEN };
    struct leat_esp_management m = { .opcode = buf[LEAT_ESP_OPCODE_AT],
                                     .computationId = leat_get_be64(buf + LEAT_ESP_COMPUTATION_AT),
                                     .mac = leat_get_be64(buf + w.end) };
    walk(&w, &m);
    if (w.err) return leat_fault(w.err, w.fault_at, fault_at);
    *out = m;
    return LEAT_ERR_OK;
}

leat_err leat_esp_management_encode(const struct leat_esp_management *m,
                                    const uint8_t key[LEAT_ESP_KEY_LEN], uint8_t *buf, size_t cap,
                                    size_t *len)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    struct leat_esp_management copy = *m;
    struct walk w = { .to = octets, .at = LEAT_ESP_OPERANDS_AT, .end = sizeof octets };
    if (!is_management(m->opcode)) return LEAT_ERR_TYPE;
    walk(&w, &copy);
    if (w.err) return w.err;

    const size_t mac_at = w.at, crc_at = mac_at + LEAT_ESP_MAC_LEN;
    const size_t packet_len = crc_at + LEAT_ESP_CRC_LEN;
    if (cap < packet_len) return LEAT_ERR_SPACE;
    octets[LEAT_ESP_CONTROL_AT] = 0;
    octets[LEAT_ESP_OPCODE_AT] = m->opcode;
    leat_put_be16(octets + LEAT_ESP_LENGTH_AT, (uint16_t)((crc_at - LEAT_ESP_OPERANDS_AT) / 4));
    leat_put_be64(octets + LEAT_ESP_COMPUTATION_AT, m->computationId);
    leat_put_be64(octets + mac_at, key ? leat_esp_management_mac(key, octets, packet_len) : m->mac);
    leat_put_be32(octets + crc_at, leat_crc32(0, octets, crc_at));
    memcpy(buf, octets, packet_len);
    if (len) *len = packet_len;
    return LEAT_ERR_OK;
}
