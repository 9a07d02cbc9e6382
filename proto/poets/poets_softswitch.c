#include "poets_softswitch.h"
#include "leat_arena.h"
#include "leat_text.h"
#include <assert.h>
#include <string.h>

enum { LINE_CAP = 64, HOST_RESERVE = 8 /* slots of the host queue that log lines may not use */ };

static const char *const cause_name[] = {
#define X(id, name) name,
    LEAT_POETS_CAUSE_LIST(X)
#undef X
};

const char *leat_poets_cause_name(unsigned cause)
{
    return cause < LEAT_POETS_CAUSE_COUNT ? cause_name[cause] : NULL;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Every output pin may be queued; or every device, where flags are levels. */
static uint32_t ring_cap(const struct leat_poets_softswitch_config *c)
{
    uint64_t cap = 1;
    for (uint32_t i = 0; i < c->device_count; i++) {
        const void *at = c->blocks + (size_t)c->device[i] * LEAT_POETS_BLOCK_UNIT;
        const struct leat_poets_block *block = at;
        cap += c->rts == LEAT_POETS_LEVEL ? 1 : c->type[block->type]->output_count;
    }
    return (uint32_t)cap;
}

static void lay(struct leat_poets_softswitch *ss, const struct leat_poets_softswitch_config *c,
                struct leat_arena *arena)
{
    ss->ring_cap = ring_cap(c);
    ss->ring = leat_arena_lay(arena, ss->ring_cap, sizeof *ss->ring);
    ss->host.cap = LEAT_POETS_HOST_MAX + HOST_RESERVE;
    ss->host.slot = leat_arena_lay(arena, ss->host.cap, sizeof *ss->host.slot);
    ss->held.cap = LEAT_POETS_HELD_MAX;
    ss->held.slot = leat_arena_lay(arena, ss->held.cap, sizeof *ss->held.slot);
}

size_t leat_poets_softswitch_footprint(const struct leat_poets_softswitch_config *config)
{
    struct leat_poets_softswitch ss;
    struct leat_arena arena;
    leat_arena_init(&arena, NULL, 0);
    lay(&ss, config, &arena);
    return arena.used;
}

void leat_poets_softswitch_init(struct leat_poets_softswitch *ss,
                                const struct leat_poets_softswitch_config *config, void *memory)
{
    struct leat_arena arena;
    assert(config->device_count < LEAT_POETS_DEVICE_ALL);
    memset(ss, 0, sizeof *ss);
    leat_arena_init(&arena, memory, leat_poets_softswitch_footprint(config));
    lay(ss, config, &arena);
    ss->config = *config;
    ss->instr.count = LEAT_POETS_INSTR_COUNT_MAX;
}

/* ---- queues --------------------------------------------------------------------------------- */

static bool put_slot(struct leat_poets_slots *slots, const uint8_t *packet, unsigned nflit)
{
    if (slots->count == slots->cap) return false;
    struct leat_poets_slot *slot = &slots->slot[(slots->first + slots->count++) % slots->cap];
    slot->nflit = (uint8_t)nflit;
    memcpy(slot->packet, packet, nflit * LEAT_POETS_FLIT_LEN);
    return true;
}

static bool take_slot(struct leat_poets_slots *slots, struct leat_poets_slot *out)
{
    if (!slots->count) return false;
    const struct leat_poets_slot *slot = &slots->slot[slots->first];
    out->nflit = slot->nflit;
    memcpy(out->packet, slot->packet, slot->nflit * (size_t)LEAT_POETS_FLIT_LEN);
    slots->first = (slots->first + 1) % slots->cap;
    slots->count--;
    return true;
}

bool leat_poets_softswitch_take_host(struct leat_poets_softswitch *ss, struct leat_poets_slot *out)
{
    return take_slot(&ss->host, out);
}

/* To the mothership. `reserve` slots stay free for packets that must not be lost. */
static bool send_host(struct leat_poets_softswitch *ss, const struct leat_poets_packet *packet,
                      uint32_t reserve)
{
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len = 0;
    const leat_err err = leat_poets_packet_encode(packet, octets, sizeof octets, &len);
    assert(!err);
    if (ss->host.count + reserve >= ss->host.cap) return false;
    return put_slot(&ss->host, octets, (unsigned)(len / LEAT_POETS_FLIT_LEN));
}

static struct leat_poets_packet to_mothership(const struct leat_poets_softswitch *ss,
                                              uint8_t opcode)
{
    return (struct leat_poets_packet){ .packet_class = LEAT_POETS_CLASS_SUP,
                                       .task = ss->config.task,
                                       .opcode = opcode,
                                       .sender = ss->config.hw_address };
}

static void report(struct leat_poets_softswitch *ss, uint8_t opcode)
{
    const struct leat_poets_packet packet = to_mothership(ss, opcode);
    send_host(ss, &packet, 0);
}

/* ---- log lines ------------------------------------------------------------------------------ */

void leat_poets_softswitch_log(struct leat_poets_softswitch *ss, uint32_t index, const char *text)
{
    struct leat_poets_packet fragment[LEAT_POETS_LOG_FRAGMENT_COUNT_MAX];
    size_t count = 0;
    if (leat_poets_log_split(text, strlen(text), ss->config.task, index, fragment, &count)) return;
    for (size_t i = 0; i < count; i++)
        if (!send_host(ss, &fragment[i], HOST_RESERVE)) ss->cause[LEAT_POETS_CAUSE_LOG_DROP]++;
}

/* Always counts; reports the first few, then at powers of two. As device 0 of the thread. */
static void note(struct leat_poets_softswitch *ss, enum leat_poets_cause cause, const char *what,
                 const uint32_t *number, int count)
{
    const uint64_t times = ++ss->cause[cause];
    struct leat_text line = LEAT_TEXT(LINE_CAP); /* zeroed: it ends with a NUL */
    if (!what || LEAT_POETS_LEVEL_OOR > ss->config.env->log_level) return;
    if (times > LEAT_POETS_NOTES_MAX && (times & (times - 1))) return;
    leat_text_puts(&line, what);
    for (int i = 0; i < count; i++) {
        leat_text_putc(&line, ' ');
        leat_text_decimal(&line, number[i]);
    }
    const uint32_t index = ss->config.device_count
                               ? leat_poets_block_at(ss, ss->config.device[0])->index
                               : 0;
    leat_poets_softswitch_log(ss, index, line.buf);
}

/* ---- opcodes of the application ------------------------------------------------------------- */

bool leat_poets_softswitch_control(struct leat_poets_softswitch *ss, uint32_t index, uint8_t opcode,
                                   const void *payload, size_t len)
{
    struct leat_poets_packet packet = to_mothership(ss, opcode);
    if (!opcode || opcode >= LEAT_POETS_OP_RESERVED || len > sizeof packet.payload) return false;
    if (ss->state == LEAT_POETS_SS_INIT) return false; /* the mothership would discard it */
    packet.sender = index;
    packet.payload_len = (uint16_t)len;
    if (len) memcpy(packet.payload, payload, len);
    return send_host(ss, &packet, HOST_RESERVE);
}

/* ---- the ends ------------------------------------------------------------------------------- */

static void forget_sends(struct leat_poets_softswitch *ss)
{
    for (uint32_t i = 0; i < ss->config.device_count; i++) {
        struct leat_poets_block *block = leat_poets_block_at(ss, ss->config.device[i]);
        block->ready = 0;
        block->flags = 0;
    }
    ss->ring_count = ss->idle_asked = 0;
    ss->sending.block = NULL;
}

void leat_poets_softswitch_kill(struct leat_poets_softswitch *ss)
{
    if (ss->state == LEAT_POETS_SS_KILLED) return;
    ss->state = LEAT_POETS_SS_KILLED;
    forget_sends(ss);
    report(ss, LEAT_POETS_OP_KILL);
}

static void on_stop(struct leat_poets_softswitch *ss, uint64_t now)
{
    struct leat_poets_slot record;
    /* A record requested before STOP is the last one. */
    if (ss->instr_due && leat_poets_softswitch_instr(ss, now, &record))
        put_slot(&ss->host, record.packet, record.nflit);
    if (!ss->holds || ss->state == LEAT_POETS_SS_KILLED) forget_sends(ss);
    ss->cause[LEAT_POETS_CAUSE_DISCARDED] += ss->held.count;
    ss->held.count = 0;
    ss->state = LEAT_POETS_SS_DEAD;
    if (ss->config.stop_ack) report(ss, LEAT_POETS_OP_STOP);
}

/* The result of OnInit or of idling. */
static void after_turn(struct leat_poets_softswitch *ss, struct leat_poets_block *block, int said)
{
    if (said < 0)
        leat_poets_softswitch_kill(ss);
    else if (said || ss->config.rts == LEAT_POETS_LEVEL)
        leat_poets_softswitch_ready(ss, block,
                                    ss->config.type[block->type]->ready(ss->config.env, block));
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* What the device wanted when it was held. */
static void resume(struct leat_poets_softswitch *ss, struct leat_poets_block *block)
{
    const bool idles = block->flags & LEAT_POETS_FLAG_IDLE;
    const uint64_t wants = block->ready | (idles ? LEAT_POETS_REQUEST_IDLE : 0);
    block->ready = 0;
    block->flags = 0;
    leat_poets_softswitch_ready(ss, block, wants);
}

void leat_poets_softswitch_start(struct leat_poets_softswitch *ss, uint64_t now)
{
    ss->instr_at = now;
    for (uint32_t i = 0; i < ss->config.device_count && ss->state == LEAT_POETS_SS_INIT; i++) {
        struct leat_poets_block *block = leat_poets_block_at(ss, ss->config.device[i]);
        const struct leat_poets_type *type = ss->config.type[block->type];
        if (ss->config.resumes) {
            resume(ss, block);
            continue;
        }
        after_turn(ss, block, type->init ? type->init(ss->config.env, block) : 1);
    }
    /* The mothership waits for every thread, even one that failed. */
    report(ss, LEAT_POETS_OP_BARRIER);
    if (ss->state == LEAT_POETS_SS_INIT) ss->state = LEAT_POETS_SS_BARRIER;
}

/* ---- receiving ------------------------------------------------------------------------------ */

/* A packet to an existing device: its pin, its edge, its length. */
static void receive_pin(struct leat_poets_softswitch *ss, struct leat_poets_block *block,
                        const struct leat_poets_packet *packet)
{
    const struct leat_poets_type *type = ss->config.type[block->type];
    const uint8_t *octets = (const uint8_t *)block;
    const struct leat_poets_edges *edges = (const void *)(octets + type->pins_at);
    if (packet->pin >= type->input_count) {
        const uint32_t number[] = { block->index, packet->pin };
        note(ss, LEAT_POETS_CAUSE_OOR_PIN, "pIDX OOR", number, 2);
    } else if (packet->edge >= edges[packet->pin].count) {
        const uint32_t number[] = { packet->pin, packet->edge };
        note(ss, LEAT_POETS_CAUSE_OOR_EDGE, "eIDX OOR", number, 2);
    } else if (packet->nflit < leat_poets_nflit(type->input[packet->pin].payload_len)) {
        note(ss, LEAT_POETS_CAUSE_SHORT, NULL, NULL, 0);
    } else {
        leat_poets_softswitch_deliver(ss, block, packet->pin | packet->edge << 8, packet->payload);
    }
}

static void receive_device(struct leat_poets_softswitch *ss, struct leat_poets_block *block,
                           const struct leat_poets_packet *packet)
{
    const struct leat_poets_type *type = ss->config.type[block->type];
    struct leat_poets_env *env = ss->config.env;
    uint64_t said;
    if (packet->packet_class == LEAT_POETS_CLASS_DEV) {
        receive_pin(ss, block, packet);
        return;
    }
    if (packet->opcode == LEAT_POETS_OP_IMPL) {
        if (type->from_supervisor && packet->nflit < leat_poets_nflit(type->from_supervisor_len)) {
            note(ss, LEAT_POETS_CAUSE_SHORT, NULL, NULL, 0);
            return;
        }
        ss->handled += type->from_supervisor != NULL;
        said = type->from_supervisor ? type->from_supervisor(env, block, NULL, packet->payload)
                                     : type->ready(env, block);
    } else {
        ss->handled += type->control != NULL;
        said = type->control ? type->control(env, block, packet->opcode, packet->payload)
                             : type->ready(env, block);
    }
    leat_poets_softswitch_ready(ss, block, said);
}

/* Opcodes for the softswitch itself. True: nothing more to do. */
static bool receive_control(struct leat_poets_softswitch *ss,
                            const struct leat_poets_packet *packet, uint64_t now)
{
    const uint32_t opcode = packet->opcode;
    if (packet->packet_class == LEAT_POETS_CLASS_DEV || packet->opcode == LEAT_POETS_OP_IMPL)
        return false;
    if (opcode == LEAT_POETS_OP_STOP) {
        on_stop(ss, now);
    } else if (opcode == LEAT_POETS_OP_INSTR) {
        ss->instr_due = true;
    } else if (opcode == LEAT_POETS_OP_BARRIER) {
        ss->cause[LEAT_POETS_CAUSE_BARRIER]++;
    } else if (opcode == LEAT_POETS_OP_HOLD) {
        ss->holds = true;
    } else if (opcode == LEAT_POETS_OP_NOP) {
        ss->cause[LEAT_POETS_CAUSE_NOP]++;
    } else if (opcode >= LEAT_POETS_OP_RESERVED) {
        note(ss, LEAT_POETS_CAUSE_BAD_OP, "BAD-OP", &opcode, 1);
    } else {
        return false;
    }
    return true;
}

static void receive_packet(struct leat_poets_softswitch *ss, const struct leat_poets_packet *packet,
                           uint64_t now)
{
    if (packet->packet_class >= LEAT_POETS_CLASS_EXT) {
        ss->cause[LEAT_POETS_CAUSE_MS]++;
        return;
    }
    if (receive_control(ss, packet, now)) return;
    if (packet->device == LEAT_POETS_DEVICE_ALL) {
        for (uint32_t i = 0; i < ss->config.device_count && ss->state == LEAT_POETS_SS_RUN; i++)
            receive_device(ss, leat_poets_block_at(ss, ss->config.device[i]), packet);
    } else if (packet->device < ss->config.device_count) {
        receive_device(ss, leat_poets_block_at(ss, ss->config.device[packet->device]), packet);
    } else {
        note(ss, LEAT_POETS_CAUSE_OOR_DEVICE, "dIDX OOR", &packet->device, 1);
    }
}

/* Before the barrier opens: everything but BARRIER and STOP is held. */
static bool receive_at_barrier(struct leat_poets_softswitch *ss, const uint8_t *octets,
                               const struct leat_poets_packet *packet, uint64_t now)
{
    if (packet->packet_class == LEAT_POETS_CLASS_CTL && packet->opcode == LEAT_POETS_OP_BARRIER)
        ss->state = LEAT_POETS_SS_RUN;
    else if (packet->packet_class == LEAT_POETS_CLASS_CTL && packet->opcode == LEAT_POETS_OP_STOP)
        on_stop(ss, now);
    else
        return put_slot(&ss->held, octets, packet->nflit);
    return true;
}

bool leat_poets_softswitch_receive(struct leat_poets_softswitch *ss, const uint8_t *packet,
                                   unsigned nflit, uint64_t now)
{
    struct leat_poets_packet meaning;
    if (leat_poets_packet_decode(packet, (size_t)nflit * LEAT_POETS_FLIT_LEN, &meaning, NULL)) {
        ss->received++;
        ss->cause[LEAT_POETS_CAUSE_BAD_PACKET]++;
        return true;
    }
    if (meaning.task != ss->config.task) {
        ss->received++;
        ss->cause[LEAT_POETS_CAUSE_BAD_TASK]++;
        return true;
    }
    switch (ss->state) {
    case LEAT_POETS_SS_INIT:
    case LEAT_POETS_SS_BARRIER: return receive_at_barrier(ss, packet, &meaning, now);
    case LEAT_POETS_SS_RUN:
        ss->received++;
        receive_packet(ss, &meaning, now);
        return true;
    case LEAT_POETS_SS_KILLED:
        if (meaning.packet_class == LEAT_POETS_CLASS_CTL && meaning.opcode == LEAT_POETS_OP_STOP) {
            on_stop(ss, now);
            return true;
        }
        ss->cause[LEAT_POETS_CAUSE_DISCARDED]++;
        return true;
    case LEAT_POETS_SS_DEAD: ss->cause[LEAT_POETS_CAUSE_DISCARDED]++; return true;
    }
    return true;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* The index of the lowest set bit; there is one. */
static uint32_t lowest(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}

/* The next pin to send, taken from the ring; false: none. */
static bool next_pin(struct leat_poets_softswitch *ss, struct leat_poets_block **block,
                     uint32_t *pin)
{
    while (ss->ring_count) {
        const struct leat_poets_ring_entry *entry = &ss->ring[ss->ring_first];
        *block = leat_poets_block_at(ss, entry->block);
        *pin = entry->pin;
        if (++ss->ring_first == ss->ring_cap) ss->ring_first = 0;
        ss->ring_count--;
        if (ss->config.rts == LEAT_POETS_LATCHED) return true;
        (*block)->flags &= (uint8_t)~LEAT_POETS_FLAG_QUEUED;
        const uint32_t ready = (*block)->ready;
        if (!ready) continue; /* the device changed its mind */
        /* The next one after the last, round robin. */
        const uint32_t after = ready & ~((UINT32_C(2) << (*block)->last) - 1);
        *pin = lowest(after ? after : ready);
        return true;
    }
    return false;
}

bool leat_poets_softswitch_begin_send(struct leat_poets_softswitch *ss)
{
    struct leat_poets_sending *s = &ss->sending;
    struct leat_poets_env *env = ss->config.env;
    uint32_t pin;
    if (ss->holds || !next_pin(ss, &s->block, &pin)) return s->block = NULL, false;
    const struct leat_poets_type *type = ss->config.type[s->block->type];
    const uint8_t *octets = (const uint8_t *)s->block;
    const struct leat_poets_edges *edges = (const void *)(octets + type->pins_at);
    s->pin = pin;
    s->payload_len = type->output[pin].payload_len;
    s->to_supervisor = type->to_supervisor && pin + 1 == type->output_count;
    s->block->last = (uint8_t)pin;
    memset(s->payload, 0, sizeof s->payload);
    ss->instr.counter[LEAT_POETS_INSTR_TX_HAN_CNT]++;
    if (!type->output[pin].send(env, s->block, s->payload)) {
        leat_poets_softswitch_kill(ss);
        return false;
    }
    const struct leat_poets_edges mine = s->to_supervisor ? (struct leat_poets_edges){ 0, 1 }
                                                          : edges[type->input_count + pin];
    s->edge = ss->config.edge + mine.first;
    s->count = env->do_send ? mine.count : 0;
    if (type->output[pin].indexed && env->do_send) {
        if (env->send_index >= mine.count) {
            leat_poets_softswitch_log(ss, s->block->index, "sendIndex is out of range");
            leat_poets_softswitch_kill(ss);
            return false;
        }
        s->edge += env->send_index;
        s->count = 1;
    }
    ss->next_edge = 0;
    if (s->count) return true;
    leat_poets_softswitch_end_send(ss);
    return false;
}

void leat_poets_softswitch_end_send(struct leat_poets_softswitch *ss)
{
    struct leat_poets_block *block = ss->sending.block;
    if (!block) return; /* killed meanwhile */
    ss->sending.block = NULL;
    if (ss->config.rts == LEAT_POETS_LATCHED) block->ready &= ~(UINT32_C(1) << ss->sending.pin);
    leat_poets_softswitch_ready(ss, block,
                                ss->config.type[block->type]->ready(ss->config.env, block));
}

static struct leat_poets_seat seat_of(const struct leat_poets_softswitch *ss, uint32_t block)
{
    if (block & LEAT_POETS_AWAY) return ss->config.seat[block & ~LEAT_POETS_AWAY];
    const struct leat_poets_block *to = leat_poets_block_at(ss, block);
    return (struct leat_poets_seat){ to->thread, to->device };
}

void leat_poets_softswitch_packet(struct leat_poets_softswitch *ss, uint32_t edge,
                                  struct leat_poets_step_out *out)
{
    const struct leat_poets_sending *s = &ss->sending;
    struct leat_poets_packet packet = { .task = ss->config.task,
                                        .compat = ss->config.compat,
                                        .payload_len = (uint16_t)s->payload_len };
    size_t len;
    memcpy(packet.payload, s->payload, sizeof packet.payload);
    out->kind = LEAT_POETS_STEP_SEND_HOST;
    if (s->to_supervisor) {
        packet.packet_class = LEAT_POETS_CLASS_SUP;
        packet.opcode = LEAT_POETS_OP_IMPL;
        packet.sender = s->block->index;
    } else {
        const struct leat_poets_out_edge *e = &s->edge[edge];
        packet.pin = (uint16_t)(e->pin_address & 0xff);
        packet.edge = e->pin_address >> 8;
        if (e->block & LEAT_POETS_EXTERNAL) {
            packet.packet_class = LEAT_POETS_CLASS_EXT;
            packet.device = e->block & LEAT_POETS_DEVICE_MAX;
        } else {
            const struct leat_poets_seat to = seat_of(ss, e->block);
            packet.packet_class = LEAT_POETS_CLASS_DEV;
            packet.device = to.device;
            out->thread = to.thread;
            out->kind = LEAT_POETS_STEP_SEND;
        }
    }
    *(out->kind == LEAT_POETS_STEP_SEND ? &ss->sent : &ss->sent_host) += 1;
    const leat_err err = leat_poets_packet_encode(&packet, out->out.packet, sizeof out->out.packet,
                                                  &len);
    assert(!err);
    out->out.nflit = (uint8_t)(len / LEAT_POETS_FLIT_LEN);
}

static void send_turn(struct leat_poets_softswitch *ss, struct leat_poets_step_out *out)
{
    if (!ss->sending.block && !leat_poets_softswitch_begin_send(ss)) return;
    leat_poets_softswitch_packet(ss, ss->next_edge++, out);
    if (ss->next_edge == ss->sending.count) leat_poets_softswitch_end_send(ss);
}

/* ---- idling, instrumentation ---------------------------------------------------------------- */

bool leat_poets_softswitch_idle(struct leat_poets_softswitch *ss)
{
    struct leat_poets_env *env = ss->config.env;
    const uint32_t count = ss->config.device_count;
    bool progress = false;
    if (ss->holds) return false;
    if (!ss->idle_asked && !ss->config.no_request_idle) return false;
    ss->instr.counter[LEAT_POETS_INSTR_IDLE_CNT]++;
    for (uint32_t i = 0; i < count && !progress; i++) {
        struct leat_poets_block *block = leat_poets_block_at(ss, ss->config.device[ss->idle_next]);
        const struct leat_poets_type *type = ss->config.type[block->type];
        if (++ss->idle_next == count) ss->idle_next = 0;
        const bool asked = block->flags & LEAT_POETS_FLAG_IDLE;
        if (!asked && !(ss->config.no_request_idle && type->device_idle)) continue;
        block->flags &= (uint8_t)~LEAT_POETS_FLAG_IDLE;
        ss->idle_asked -= asked;
        const uint32_t queued = ss->ring_count;
        const int said = type->device_idle ? type->device_idle(env, block) : 0;
        ss->instr.counter[LEAT_POETS_INSTR_IDLE_HAN_CNT] += type->device_idle != NULL;
        after_turn(ss, block, said);
        if (said < 0) return true;
        /* A device that idles without a request and then wants nothing has made no progress. */
        progress = asked || ss->ring_count != queued || ss->idle_asked;
    }
    return progress;
}

bool leat_poets_softswitch_hardware_idle(struct leat_poets_softswitch *ss)
{
    for (uint32_t i = 0; i < ss->config.device_count && ss->state == LEAT_POETS_SS_RUN; i++) {
        struct leat_poets_block *block = leat_poets_block_at(ss, ss->config.device[i]);
        const struct leat_poets_type *type = ss->config.type[block->type];
        if (type->hardware_idle) after_turn(ss, block, type->hardware_idle(ss->config.env, block));
    }
    return ss->ring_count || ss->idle_asked;
}

bool leat_poets_softswitch_is_passive(const struct leat_poets_softswitch *ss)
{
    const bool wants = (ss->ring_count || ss->idle_asked) && !ss->holds;
    return !ss->host.count && !ss->instr_due &&
           (ss->state == LEAT_POETS_SS_DEAD || ss->state == LEAT_POETS_SS_KILLED ||
            (!ss->held.count && !ss->sending.block && !wants));
}

static bool is_instr_due(struct leat_poets_softswitch *ss, uint64_t now)
{
    if (ss->config.instruments && now - ss->instr_at > ss->config.interval) ss->instr_due = true;
    return ss->instr_due;
}

/* Counts of the whole run since the last record. What was delivered without a turn was received,
 * too. */
static void count_since(struct leat_poets_softswitch *ss)
{
    const uint64_t received = ss->received > ss->handled ? ss->received : ss->handled;
    const uint64_t now[] = { received, ss->handled, ss->sent, ss->sent_host };
    static const enum leat_poets_instr_counter which[] = { LEAT_POETS_INSTR_RX_CNT,
                                                           LEAT_POETS_INSTR_RX_HAN_CNT,
                                                           LEAT_POETS_INSTR_TX_CNT,
                                                           LEAT_POETS_INSTR_SUP_CNT };
    for (int i = 0; i < 4; i++) {
        ss->instr.counter[which[i]] = (uint32_t)(now[i] - ss->reported[i]);
        ss->reported[i] = now[i];
    }
}

bool leat_poets_softswitch_instr(struct leat_poets_softswitch *ss, uint64_t now,
                                 struct leat_poets_slot *out)
{
    struct leat_poets_packet packet = to_mothership(ss, LEAT_POETS_OP_INSTR);
    size_t len = 0;
    uint32_t *counter = ss->instr.counter;
    if (!is_instr_due(ss, now)) return false;
    counter[LEAT_POETS_INSTR_CYCLES] = (uint32_t)(now - ss->instr_at);
    if (ss->waiting) counter[LEAT_POETS_INSTR_CPU_IDLE_COUNT] += (uint32_t)(now - ss->waited_since);
    count_since(ss);
    ss->waited_since = now;
    leat_poets_instr_encode(&ss->instr, packet.payload, sizeof packet.payload, &len);
    packet.payload_len = (uint16_t)len;
    leat_poets_packet_encode(&packet, out->packet, sizeof out->packet, &len);
    out->nflit = (uint8_t)(len / LEAT_POETS_FLIT_LEN);
    const uint32_t number = counter[LEAT_POETS_INSTR_CIDX] + 1;
    memset(counter, 0, sizeof ss->instr.counter);
    counter[LEAT_POETS_INSTR_CIDX] = number;
    ss->instr_at = now;
    ss->instr_due = false;
    return true;
}

/* ---- the turn ------------------------------------------------------------------------------- */

/* The next packet: held ones first. False: there is nothing to receive. */
static bool receive_turn(struct leat_poets_softswitch *ss, const struct leat_poets_step_in *in,
                         struct leat_poets_step_out *out)
{
    struct leat_poets_slot held;
    if (ss->state == LEAT_POETS_SS_RUN && take_slot(&ss->held, &held)) {
        leat_poets_softswitch_receive(ss, held.packet, held.nflit, in->now);
        return true;
    }
    if (!in->packet) return false;
    out->taken = leat_poets_softswitch_receive(ss, in->packet, in->nflit, in->now);
    return out->taken;
}

static void run_turn(struct leat_poets_softswitch *ss, const struct leat_poets_step_in *in,
                     struct leat_poets_step_out *out)
{
    const bool running = ss->state == LEAT_POETS_SS_RUN;
    const bool wants = running && (ss->sending.block || (ss->ring_count && !ss->holds));
    const bool instr_first = ss->config.instr_first && in->can_send;
    if (instr_first && leat_poets_softswitch_instr(ss, in->now, &out->out)) {
        out->kind = LEAT_POETS_STEP_SEND_HOST;
        return;
    }
    if (!(in->prefer_send && wants && in->can_send) && receive_turn(ss, in, out)) return;
    if (in->can_send && leat_poets_softswitch_instr(ss, in->now, &out->out)) {
        out->kind = LEAT_POETS_STEP_SEND_HOST;
    } else if (wants && in->can_send) {
        send_turn(ss, out);
    } else if (wants) {
        ss->instr.counter[LEAT_POETS_INSTR_BLOCK_CNT]++;
        out->kind = LEAT_POETS_STEP_WAIT_TX_OR_RX;
    } else if (!running || !leat_poets_softswitch_idle(ss)) {
        out->kind = is_instr_due(ss, in->now) || ss->host.count ? LEAT_POETS_STEP_WAIT_TX_OR_RX
                                                                : LEAT_POETS_STEP_WAIT_RX;
    }
}

void leat_poets_softswitch_step(struct leat_poets_softswitch *ss,
                                const struct leat_poets_step_in *in,
                                struct leat_poets_step_out *out)
{
    out->kind = LEAT_POETS_STEP_TURN;
    out->taken = false;
    if (in->can_send && take_slot(&ss->host, &out->out)) {
        out->kind = LEAT_POETS_STEP_SEND_HOST;
        return;
    }
    if (ss->state == LEAT_POETS_SS_INIT) {
        leat_poets_softswitch_start(ss, in->now);
        return;
    }
    if (ss->state == LEAT_POETS_SS_DEAD && !ss->host.count) {
        if (in->packet) receive_turn(ss, in, out);
        out->kind = LEAT_POETS_STEP_DONE;
        return;
    }
    run_turn(ss, in, out);
    const bool waits = out->kind == LEAT_POETS_STEP_WAIT_RX ||
                       out->kind == LEAT_POETS_STEP_WAIT_TX_OR_RX;
    if (waits && !ss->waiting) ss->waited_since = in->now;
    if (!waits && ss->waiting)
        ss->instr.counter[LEAT_POETS_INSTR_CPU_IDLE_COUNT] += (uint32_t)(in->now -
                                                                         ss->waited_since);
    ss->waiting = waits;
}
