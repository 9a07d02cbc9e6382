#include "esp_text.h"
#include "esp_text_parts.h"
#include "leat_bytes.h"
#include <string.h>

/* clang-format off */
#define NAME(value, name, text) { value, text },
#define SAY(value, name, text)  " " text

const struct leat_name leat_esp_service_names[] = { LEAT_ESP_SERVICE_LIST(NAME) { 0, NULL } };
const struct leat_name leat_esp_value_names[] = { LEAT_ESP_VALUE_LIST(NAME) { 0, NULL } };
const struct leat_name leat_esp_result_names[] = { LEAT_ESP_RESULT_LIST(NAME) { 0, NULL } };
static const struct leat_name join_flag_names[] = { { LEAT_ESP_JOIN_HAS_VALUE, "value" }, { 0, NULL } };
static const struct leat_name welcome_flag_names[] = { { LEAT_ESP_WELCOME_KNOWN, "known" }, { 0, NULL } };
/* clang-format on */

/* Fields follow one another: `at` advances with them. */
struct walk {
    struct leat_fields *f;
    size_t at;
};

static void hex(struct walk *w, const char *name, uint64_t *value)
{
    *value = leat_fields_hex(w->f, name, w->at, 64, *value);
    w->at += 8;
}

static uint64_t number(struct walk *w, const char *name, unsigned bits, uint64_t value)
{
    value = leat_fields_uint(w->f, name, w->at, bits, value);
    w->at += bits / 8;
    return value;
}

/* A named value; any other is refused with `expected`. */
static uint64_t named(struct walk *w, const char *name, unsigned bits,
                      const struct leat_name *names, const char *expected, uint64_t value)
{
    value = leat_fields_enum(w->f, name, w->at, bits, names, value);
    if (!leat_name_of(names, value)) leat_fields_refuse(w->f, LEAT_ERR_RANGE, name, expected);
    w->at += bits / 8;
    return value;
}

static uint64_t store(struct walk *w, unsigned bits, uint64_t value)
{
    return named(w, "store", bits, leat_esp_loc_names,
                 "no such store, expected one of input centre output", value);
}

static void walk_query(struct walk *w, struct leat_esp_query *q)
{
    hex(w, "target", &q->target);
    hex(w, "nonce", &q->nonce);
    q->store = (uint32_t)store(w, 32, q->store);
    q->cursor = (uint32_t)number(w, "cursor", 32, q->cursor);
}

static void walk_reply(struct walk *w, struct leat_esp_reply *r)
{
    hex(w, "node", &r->node);
    hex(w, "nonce", &r->nonce);
    r->store = (uint8_t)store(w, 8, r->store);
    w->at++;
    leat_fields_derived(w->f, "count", w->at, 16, r->count);
    w->at += 2;
    r->next = (uint32_t)number(w, "next", 32, r->next);
    r->tau = number(w, "tau", 64, r->tau);
    r->count = (uint16_t)leat_fields_list(w->f, "bindings", w->at, r->count, LEAT_ESP_BINDINGS_MAX);
    for (unsigned i = 0; i < r->count; i++) {
        if (!leat_fields_open(w->f, NULL, w->at)) break;
        hex(w, "tag", &r->binding[i].tag);
        r->binding[i].value = number(w, "value", 64, r->binding[i].value);
        r->binding[i].remaining = number(w, "remaining", 64, r->binding[i].remaining);
        leat_fields_close(w->f);
    }
    leat_fields_list_end(w->f);
}

static void walk_next(struct walk *w, struct leat_esp_next *next)
{
    leat_fields_octets_fixed(w->f, "address", w->at, next->address, LEAT_ESP_ADDRESS_LEN, false);
    w->at += LEAT_ESP_ADDRESS_LEN;
    next->port = (uint16_t)number(w, "port", 16, next->port);
    w->at += 6;
}

static void walk_join(struct walk *w, struct leat_esp_join *j)
{
    hex(w, "group", &j->group);
    hex(w, "member", &j->member);
    hex(w, "serial", &j->serial);
    hex(w, "challenge", &j->challenge);
    j->value = number(w, "value", 64, j->value);
    j->flags = (uint8_t)leat_fields_mask(w->f, "has", w->at, 1, join_flag_names, j->flags);
    w->at += 4;
    j->lifetime_ms = (uint32_t)number(w, "lifetimeMs", 32, j->lifetime_ms);
    walk_next(w, &j->from);
}

static void walk_welcome(struct walk *w, struct leat_esp_welcome *m)
{
    hex(w, "group", &m->group);
    hex(w, "member", &m->member);
    hex(w, "serial", &m->serial);
    hex(w, "challenge", &m->challenge);
    hex(w, "announced", &m->announced);
    m->flags = (uint8_t)leat_fields_mask(w->f, "is", w->at, 1, welcome_flag_names, m->flags);
    w->at += 8;
}

/* The instruction is an object of its own; the computation is the packet's. */
static void walk_task(struct walk *w, size_t head_at, struct leat_esp_packet *task)
{
    if (!leat_fields_open(w->f, "task", head_at)) return;
    task->opcode = (uint8_t)leat_esp_opcode_walk(w->f, head_at, task->opcode, false);
    leat_esp_control_walk(w->f, head_at + 1, task);
    if (!w->f->err) leat_esp_operands_walk(w->f, w->at, task);
    leat_esp_tags_check(w->f, task);
    leat_fields_close(w->f);
}

static void walk_announce(struct walk *w, struct leat_esp_announce *a)
{
    hex(w, "group", &a->group);
    hex(w, "member", &a->member);
    hex(w, "serial", &a->serial);
    a->service = (uint8_t)named(w, "service", 8, leat_esp_service_names,
                                "no such service, expected one of" LEAT_ESP_SERVICE_LIST(SAY),
                                a->service);
    a->phase = (uint8_t)number(w, "phase", 8, a->phase);
    const size_t head_at = w->at;
    w->at += 2;
    a->rounds = (uint16_t)number(w, "rounds", 16, a->rounds);
    a->value_from = (uint8_t)named(w, "valueFrom", 8, leat_esp_value_names,
                                   "no such source, expected one of" LEAT_ESP_VALUE_LIST(SAY),
                                   a->value_from);
    a->value_shift = (uint8_t)number(w, "valueShift", 8, a->value_shift);
    a->delay_us = (uint32_t)number(w, "delayUs", 32, a->delay_us);
    a->interval_us = (uint32_t)number(w, "intervalUs", 32, a->interval_us);
    walk_task(w, head_at, &a->task);
    w->at += LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX;
}

static void walk_install(struct walk *w, struct leat_esp_install *in)
{
    hex(w, "group", &in->group);
    hex(w, "target", &in->target);
    hex(w, "serial", &in->serial);
    in->lifetime_ms = (uint32_t)number(w, "lifetimeMs", 32, in->lifetime_ms);
    leat_fields_derived(w->f, "count", w->at, 8, in->count);
    w->at += 4;
    in->count = (uint8_t)leat_fields_list(w->f, "next", w->at, in->count, LEAT_ESP_COPIES_MAX);
    for (unsigned i = 0; i < in->count; i++) {
        if (!leat_fields_open(w->f, NULL, w->at)) break;
        walk_next(w, &in->next[i]);
        leat_fields_close(w->f);
    }
    leat_fields_list_end(w->f);
}

static void walk_installed(struct walk *w, struct leat_esp_installed *in)
{
    hex(w, "group", &in->group);
    hex(w, "node", &in->node);
    hex(w, "serial", &in->serial);
    in->lifetime_ms = (uint32_t)number(w, "lifetimeMs", 32, in->lifetime_ms);
    in->result = (uint32_t)named(w, "result", 32, leat_esp_result_names,
                                 "no such result, expected one of" LEAT_ESP_RESULT_LIST(SAY),
                                 in->result);
}

static void walk_cast(struct walk *w, struct leat_esp_cast *c)
{
    const uint8_t *payload = c->payload;
    size_t len = c->payload_len;
    hex(w, "group", &c->group);
    hex(w, "serial", &c->serial);
    c->hops = (uint8_t)number(w, "hops", 8, c->hops);
    w->at++;
    leat_fields_derived(w->f, "payloadLen", w->at, 16, len);
    w->at += 6;
    leat_fields_octets(w->f, "payload", w->at, LEAT_ESP_PAYLOAD_LEN_MAX, &payload, &len);
    if (payload != c->payload && len) memcpy(c->payload, payload, len);
    c->payload_len = (uint16_t)len;
    w->at += (len + 7) / 8 * 8;
}

static void walk(struct leat_fields *f, struct leat_esp_management *m, unsigned words, uint32_t crc)
{
    struct walk w = { f, LEAT_ESP_OPERANDS_AT };
    if (!leat_fields_reading(f)) leat_esp_opcode_walk(f, LEAT_ESP_OPCODE_AT, m->opcode, true);
    leat_fields_derived(f, "length", LEAT_ESP_LENGTH_AT, 16, words);
    m->computationId = leat_fields_hex(f, "computationId", LEAT_ESP_COMPUTATION_AT, 64,
                                       m->computationId);
    switch ((enum leat_esp_management_opcode)m->opcode) {
    case LEAT_ESP_QUERY: walk_query(&w, &m->query); break;
    case LEAT_ESP_REPLY: walk_reply(&w, &m->reply); break;
    case LEAT_ESP_JOIN: walk_join(&w, &m->join); break;
    case LEAT_ESP_ANNOUNCE: walk_announce(&w, &m->announce); break;
    case LEAT_ESP_INSTALL: walk_install(&w, &m->install); break;
    case LEAT_ESP_INSTALLED: walk_installed(&w, &m->installed); break;
    case LEAT_ESP_CAST: walk_cast(&w, &m->cast); break;
    case LEAT_ESP_WELCOME: walk_welcome(&w, &m->welcome); break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    hex(&w, "mac", &m->mac);
    leat_fields_checksum(f, "crc", w.at, 32, crc);
}

leat_err leat_esp_management_show(const uint8_t *octets, size_t len, struct leat_fields *f,
                                  size_t *fault_at)
{
    struct leat_esp_management m;
    const leat_err err = leat_esp_management_decode(octets, len, NULL, &m, fault_at);
    if (err) return err;
    const size_t crc_at = leat_esp_management_len(octets, len) - LEAT_ESP_CRC_LEN;
    walk(f, &m, leat_get_be16(octets + LEAT_ESP_LENGTH_AT), leat_get_be32(octets + crc_at));
    return LEAT_ERR_OK;
}

/* Defaults: 1 for numbers that distinguish things, the centre, ten seconds. */
static struct leat_esp_management preset(unsigned opcode)
{
    struct leat_esp_management m = { .opcode = (uint8_t)opcode, .computationId = 1 };
    switch ((enum leat_esp_management_opcode)opcode) {
    case LEAT_ESP_QUERY:
        m.query = (struct leat_esp_query){ .nonce = 1, .store = LEAT_ESP_LOC_CENTRE };
        break;
    case LEAT_ESP_REPLY:
        m.reply = (struct leat_esp_reply){
            .node = 1, .nonce = 1, .store = LEAT_ESP_LOC_CENTRE, .tau = UINT64_C(10000000000)
        };
        break;
    case LEAT_ESP_JOIN:
        m.join =
            (struct leat_esp_join){ .group = 1, .member = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_ANNOUNCE:
        m.announce = (struct leat_esp_announce){
            .group = 1, .serial = 1, .rounds = 1, .task = { .opcode = LEAT_ESP_NOP }
        };
        break;
    case LEAT_ESP_INSTALL:
        m.install = (struct leat_esp_install){ .group = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_INSTALLED:
        m.installed = (struct leat_esp_installed){ .group = 1, .node = 1, .serial = 1 };
        break;
    case LEAT_ESP_CAST:
        m.cast = (struct leat_esp_cast){ .group = 1, .serial = 1, .hops = 8 };
        break;
    case LEAT_ESP_WELCOME:
        m.welcome = (struct leat_esp_welcome){ .group = 1, .member = 1, .serial = 1 };
        break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    return m;
}

leat_err leat_esp_management_build(struct leat_fields *f, unsigned opcode, uint8_t *octets,
                                   size_t cap, size_t *len)
{
    struct leat_esp_management m = preset(opcode);
    if (opcode == LEAT_ESP_ANNOUNCE && leat_fields_has(f, "task"))
        m.announce.task = leat_esp_preset;
    walk(f, &m, 0, 0);
    if (f->err) return f->err;
    return leat_esp_management_encode(&m, NULL, octets, cap, len);
}
