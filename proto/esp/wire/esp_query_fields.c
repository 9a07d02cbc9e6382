#include "esp_text.h"
#include "esp_text_parts.h"
#include "leat_err.h"
#include <string.h>

#define SAY(value, name, text) " " text

enum { CONTROL_RESERVED = 0x10, SHIFT_MAX = 63 };

static const struct leat_name join_flag_names[] = { { LEAT_ESP_JOIN_HAS_VALUE, "value" },
                                                    { 0, NULL } };
static const struct leat_name welcome_flag_names[] = { { LEAT_ESP_WELCOME_KNOWN, "known" },
                                                       { 0, NULL } };

/* ---- one field ---------------------------------------------------------------------------- */

static void refuse(struct leat_esp_walk *w, leat_err err, size_t at)
{
    if (w->err || w->text) return;
    w->err = err;
    w->fault_at = at;
}

/* `len` octets as a number. A count that exceeds the octets present ends the walk. */
static uint64_t octets_of(struct leat_esp_walk *w, size_t len, uint64_t value)
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

static uint64_t number(struct leat_esp_walk *w, const char *name, size_t len, uint64_t value)
{
    if (!w->text) return octets_of(w, len, value);
    value = leat_fields_uint(w->text, name, w->at, 8 * (unsigned)len, value);
    w->at += len;
    return value;
}

/* A name, a tag: the tree shows it in hexadecimal. */
static void hex(struct leat_esp_walk *w, const char *name, uint64_t *value)
{
    if (!w->text) {
        *value = octets_of(w, 8, *value);
        return;
    }
    *value = leat_fields_hex(w->text, name, w->at, 64, *value);
    w->at += 8;
}

static void wide(struct leat_esp_walk *w, const char *name, uint64_t *value)
{
    *value = number(w, name, 8, *value);
}

static void word(struct leat_esp_walk *w, const char *name, uint32_t *value)
{
    *value = (uint32_t)number(w, name, 4, *value);
}

static void half(struct leat_esp_walk *w, const char *name, uint16_t *value)
{
    *value = (uint16_t)number(w, name, 2, *value);
}

static void octet(struct leat_esp_walk *w, const char *name, uint8_t *value)
{
    *value = (uint8_t)number(w, name, 1, *value);
}

static void zeros(struct leat_esp_walk *w, size_t len)
{
    const size_t at = w->at;
    if (w->text) w->at += len;
    for (size_t i = 0; !w->text && i < len; i++)
        if (octets_of(w, 1, 0) != 0) refuse(w, LEAT_ERR_RESERVED, at);
}

/* A value that has a name; text that has none is refused with `expected`. */
static uint64_t named(struct leat_esp_walk *w, const char *name, size_t len,
                      const struct leat_name *names, const char *expected, uint64_t value)
{
    if (!w->text) {
        value = octets_of(w, len, value);
        if (!leat_name_of(names, value)) refuse(w, LEAT_ERR_RANGE, w->at - len);
        return value;
    }
    value = leat_fields_enum(w->text, name, w->at, 8 * (unsigned)len, names, value);
    if (!leat_name_of(names, value)) leat_fields_refuse(w->text, LEAT_ERR_RANGE, name, expected);
    w->at += len;
    return value;
}

static uint64_t store(struct leat_esp_walk *w, size_t len, uint64_t value)
{
    return named(w, "store", len, leat_esp_loc_names,
                 "no such store, expected one of input centre output", value);
}

/* One octet of which only this flag is defined. */
static void flags(struct leat_esp_walk *w, const char *name, const struct leat_name *flag,
                  uint8_t *value)
{
    if (w->text)
        *value = (uint8_t)leat_fields_mask(w->text, name, w->at++, 1, flag, *value);
    else
        *value = (uint8_t)octets_of(w, 1, *value);
    if (*value & ~flag->value) refuse(w, LEAT_ERR_RESERVED, w->at - 1);
}

/* The octets before this position must not hold more than `max`. */
static bool bounded(struct leat_esp_walk *w, size_t len, uint64_t value, uint64_t max)
{
    if (value > max) refuse(w, LEAT_ERR_RANGE, w->at - len);
    return !w->err;
}

/* How many items follow; in text the list itself says so. False: too many. */
static bool count(struct leat_esp_walk *w, const char *name, size_t len, uint64_t max,
                  uint64_t *value)
{
    if (!w->text) {
        *value = octets_of(w, len, *value);
        return bounded(w, len, *value, max);
    }
    leat_fields_derived(w->text, name, w->at, 8 * (unsigned)len, *value);
    w->at += len;
    return true;
}

static size_t list(struct leat_esp_walk *w, const char *name, size_t items, size_t max)
{
    return w->text ? leat_fields_list(w->text, name, w->at, items, max) : items;
}

static bool open_item(struct leat_esp_walk *w)
{
    return !w->text || leat_fields_open(w->text, NULL, w->at);
}

static void close_item(struct leat_esp_walk *w)
{
    if (w->text) leat_fields_close(w->text);
}

static void list_end(struct leat_esp_walk *w)
{
    if (w->text) leat_fields_list_end(w->text);
}

/* ---- the packets, one function each ------------------------------------------------------- */

static void walk_query(struct leat_esp_walk *w, struct leat_esp_query *q)
{
    hex(w, "target", &q->target);
    hex(w, "nonce", &q->nonce);
    q->store = (uint32_t)store(w, 4, q->store);
    word(w, "cursor", &q->cursor);
}

static void walk_reply(struct leat_esp_walk *w, struct leat_esp_reply *r)
{
    uint64_t items = r->count;
    hex(w, "node", &r->node);
    hex(w, "nonce", &r->nonce);
    r->store = (uint8_t)store(w, 1, r->store);
    zeros(w, 1);
    if (!count(w, "count", 2, LEAT_ESP_BINDINGS_MAX, &items)) return;
    word(w, "next", &r->next);
    wide(w, "tau", &r->tau);
    r->count = (uint16_t)list(w, "bindings", items, LEAT_ESP_BINDINGS_MAX);
    for (unsigned i = 0; i < r->count && open_item(w); i++) {
        hex(w, "tag", &r->binding[i].tag);
        wide(w, "value", &r->binding[i].value);
        wide(w, "remaining", &r->binding[i].remaining);
        close_item(w);
    }
    list_end(w);
}

static void walk_next(struct leat_esp_walk *w, struct leat_esp_next *next)
{
    if (w->text) {
        leat_fields_octets_fixed(w->text, "address", w->at, next->address, LEAT_ESP_ADDRESS_LEN,
                                 false);
        w->at += LEAT_ESP_ADDRESS_LEN;
    }
    for (unsigned i = 0; !w->text && i < LEAT_ESP_ADDRESS_LEN; i++)
        next->address[i] = (uint8_t)octets_of(w, 1, next->address[i]);
    half(w, "port", &next->port);
    zeros(w, 6);
}

static void walk_join(struct leat_esp_walk *w, struct leat_esp_join *j)
{
    hex(w, "group", &j->group);
    hex(w, "member", &j->member);
    hex(w, "serial", &j->serial);
    hex(w, "challenge", &j->challenge);
    wide(w, "value", &j->value);
    flags(w, "has", join_flag_names, &j->flags);
    zeros(w, 3);
    word(w, "lifetimeMs", &j->lifetime_ms);
    walk_next(w, &j->from);
}

static void walk_welcome(struct leat_esp_walk *w, struct leat_esp_welcome *m)
{
    hex(w, "group", &m->group);
    hex(w, "member", &m->member);
    hex(w, "serial", &m->serial);
    hex(w, "challenge", &m->challenge);
    hex(w, "announced", &m->announced);
    flags(w, "is", welcome_flag_names, &m->flags);
    zeros(w, 7);
}

/* Opcode and Control of the instruction within an ANNOUNCE; text has them in its object. */
static void walk_task_head(struct leat_esp_walk *w, struct leat_esp_packet *task)
{
    if (w->text) {
        w->at += 2;
        return;
    }
    task->opcode = (uint8_t)octets_of(w, 1, task->opcode);
    if (!leat_esp_instruction_of(task->opcode)) refuse(w, LEAT_ERR_TYPE, w->at - 1);
    const unsigned given = (unsigned)task->loc << LEAT_ESP_LOC_SHIFT | task->flags;
    const uint8_t control = (uint8_t)octets_of(w, 1, (uint8_t)given);
    if (control & CONTROL_RESERVED) refuse(w, LEAT_ERR_RESERVED, w->at - 1);
    task->loc = control >> LEAT_ESP_LOC_SHIFT;
    task->flags = control & LEAT_ESP_FLAGS_ALL;
}

/* Its operands: refuses what the decoder of the instruction would refuse. */
static void walk_task(struct leat_esp_walk *w, struct leat_esp_packet *task)
{
    uint64_t operand[LEAT_ESP_OPERANDS_MAX] = { 0 }, again[LEAT_ESP_OPERANDS_MAX] = { 0 };
    const size_t operands_at = w->at;
    size_t at;
    if (w->err) return;
    const size_t len = leat_esp_packet_len(task->opcode) - LEAT_ESP_PACKET_LEN_MIN;
    if (!w->from) leat_esp_packet_gather(task, operand);
    for (unsigned i = 0; i < len / LEAT_ESP_OPERAND_LEN; i++)
        operand[i] = octets_of(w, 8, operand[i]);
    if (w->from) leat_esp_packet_scatter(operand, task);
    const leat_err err = leat_esp_packet_check(task, &at);
    if (err) refuse(w, err, operands_at + at - LEAT_ESP_OPERANDS_AT);
    leat_esp_packet_gather(task, again); /* a struct does not hold the word after an operator */
    if (memcmp(operand, again, sizeof again) != 0) refuse(w, LEAT_ERR_RESERVED, w->at - 4);
    zeros(w, LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX - len);
}

/* In text the instruction is an object of its own; the computation is the packet's. */
static void walk_task_text(struct leat_esp_walk *w, size_t head_at, struct leat_esp_packet *task)
{
    const size_t operands_at = w->at;
    w->at += LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX;
    if (!leat_fields_open(w->text, "task", head_at)) return;
    task->opcode = (uint8_t)leat_esp_opcode_walk(w->text, head_at, task->opcode, false);
    leat_esp_control_walk(w->text, head_at + 1, task);
    if (!w->text->err) leat_esp_operands_walk(w->text, operands_at, task);
    leat_esp_tags_check(w->text, task);
    leat_fields_close(w->text);
}

static void walk_announce(struct leat_esp_walk *w, struct leat_esp_announce *a,
                          uint64_t computation)
{
    if (!w->from && (a->task.loc > LEAT_ESP_LOC_ALL || a->task.flags > LEAT_ESP_FLAGS_ALL))
        refuse(w, LEAT_ERR_RANGE, w->at);
    hex(w, "group", &a->group);
    hex(w, "member", &a->member);
    hex(w, "serial", &a->serial);
    a->service = (uint8_t)named(w, "service", 1, leat_esp_service_names,
                                "no such service, expected one of" LEAT_ESP_SERVICE_LIST(SAY),
                                a->service);
    octet(w, "phase", &a->phase);
    const size_t head_at = w->at;
    walk_task_head(w, &a->task);
    a->task.computationId = computation;
    half(w, "rounds", &a->rounds);
    a->value_from = (uint8_t)named(w, "valueFrom", 1, leat_esp_value_names,
                                   "no such source, expected one of" LEAT_ESP_VALUE_LIST(SAY),
                                   a->value_from);
    octet(w, "valueShift", &a->value_shift);
    bounded(w, 1, a->value_shift, SHIFT_MAX);
    word(w, "delayUs", &a->delay_us);
    word(w, "intervalUs", &a->interval_us);
    if (w->text)
        walk_task_text(w, head_at, &a->task);
    else
        walk_task(w, &a->task);
}

static void walk_install(struct leat_esp_walk *w, struct leat_esp_install *in)
{
    uint64_t items = in->count;
    hex(w, "group", &in->group);
    hex(w, "target", &in->target);
    hex(w, "serial", &in->serial);
    word(w, "lifetimeMs", &in->lifetime_ms);
    if (!count(w, "count", 1, LEAT_ESP_COPIES_MAX, &items)) return;
    zeros(w, 1);
    half(w, "children", &in->children);
    if (in->children) hex(w, "parent", &in->parent);
    in->count = (uint8_t)list(w, "next", items, LEAT_ESP_COPIES_MAX);
    for (unsigned i = 0; i < in->count && open_item(w); i++) {
        walk_next(w, &in->next[i]);
        close_item(w);
    }
    list_end(w);
}

static void walk_installed(struct leat_esp_walk *w, struct leat_esp_installed *in)
{
    hex(w, "group", &in->group);
    hex(w, "node", &in->node);
    hex(w, "serial", &in->serial);
    word(w, "lifetimeMs", &in->lifetime_ms);
    in->result = (uint32_t)named(w, "result", 4, leat_esp_result_names,
                                 "no such result, expected one of" LEAT_ESP_RESULT_LIST(SAY),
                                 in->result);
}

static void walk_cast(struct leat_esp_walk *w, struct leat_esp_cast *c)
{
    const uint8_t *payload = c->payload;
    uint64_t items = c->payload_len;
    hex(w, "group", &c->group);
    hex(w, "serial", &c->serial);
    octet(w, "hops", &c->hops);
    zeros(w, 1);
    if (!count(w, "payloadLen", 2, LEAT_ESP_PAYLOAD_LEN_MAX, &items)) return;
    zeros(w, 4);
    size_t len = items;
    if (w->text) {
        leat_fields_octets(w->text, "payload", w->at, LEAT_ESP_PAYLOAD_LEN_MAX, &payload, &len);
        if (payload != c->payload && len) memcpy(c->payload, payload, len);
        w->at += len;
    }
    for (size_t i = 0; !w->text && i < len; i++)
        c->payload[i] = (uint8_t)octets_of(w, 1, c->payload[i]);
    c->payload_len = (uint16_t)len;
    zeros(w, (0u - c->payload_len) % 8);
}

void leat_esp_management_walk(struct leat_esp_walk *w, struct leat_esp_management *m)
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
}
