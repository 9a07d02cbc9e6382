#include "poets_hex_test.h"
#include "poets_softswitch.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/*
 * A device type in C: it counts what it receives and sends as often as configured. Pins: inputs 0
 * (12 octets of payload) and 1 (none); outputs 0, 1 (indexed) and the supervisor's.
 */
struct state {
    uint32_t wants; /* result of ReadyToSend */
    uint32_t drops; /* after OnSend: flags to clear */
    uint32_t received, last, sends, idles, hardware_idles, controls, impls;
    uint8_t fails, asks_idle, sends_nothing, index, init_says;
};

enum { STATE_AT = 16, PINS_AT = STATE_AT + (int)sizeof(struct state) + 4, DEVICES = 3, UNITS = 8 };

static struct state *state_of(struct leat_poets_block *block)
{
    return (struct state *)(void *)((uint8_t *)block + STATE_AT);
}

static uint64_t ready(struct leat_poets_env *env, struct leat_poets_block *block)
{
    struct state *s = state_of(block);
    const bool asks = s->asks_idle;
    (void)env;
    s->asks_idle = 0;
    return (s->fails ? LEAT_POETS_FAILED : s->wants) | (asks ? LEAT_POETS_REQUEST_IDLE : 0);
}

static uint64_t receive(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t *edge,
                        const uint8_t *payload)
{
    state_of(block)->received++;
    state_of(block)->last = payload[0];
    if (edge) edge[0]++;
    return ready(env, block);
}

static uint64_t impl(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t *edge,
                     const uint8_t *payload)
{
    (void)edge;
    state_of(block)->impls++;
    state_of(block)->last = payload[0];
    return ready(env, block);
}

static uint64_t control(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t opcode,
                        const uint8_t *payload)
{
    (void)payload;
    state_of(block)->controls += opcode;
    return ready(env, block);
}

static bool send(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t *payload)
{
    struct state *s = state_of(block);
    payload[0] = (uint8_t)++s->sends;
    payload[1] = (uint8_t)s->last;
    s->wants &= ~s->drops;
    env->do_send = !s->sends_nothing;
    env->send_index = s->index;
    return true;
}

static int init(struct leat_poets_env *env, struct leat_poets_block *block)
{
    (void)env;
    return state_of(block)->init_says;
}

static int device_idle(struct leat_poets_env *env, struct leat_poets_block *block)
{
    (void)env;
    state_of(block)->idles++;
    return 1;
}

static int hardware_idle(struct leat_poets_env *env, struct leat_poets_block *block)
{
    (void)env;
    state_of(block)->hardware_idles++;
    return 1;
}

static const struct leat_poets_pin inputs[] = {
    { .payload_len = 12, .edge_len = 1, .edge_align = 1, .receive = receive },
    { .payload_len = 0, .edge_len = 1, .edge_align = 1, .receive = receive }
};
static const struct leat_poets_pin outputs[] = {
    { .payload_len = 2, .send = send },
    { .payload_len = 2, .send = send, .indexed = true },
    { .payload_len = 2, .send = send }
};
static const struct leat_poets_type type = { .abi = LEAT_POETS_ABI,
                                             .state_at = STATE_AT,
                                             .state_len = sizeof(struct state),
                                             .pins_at = PINS_AT,
                                             .input_count = 2,
                                             .output_count = 3,
                                             .to_supervisor = true,
                                             .input = inputs,
                                             .output = outputs,
                                             .from_supervisor_len = 1,
                                             .ready = ready,
                                             .init = init,
                                             .device_idle = device_idle,
                                             .hardware_idle = hardware_idle,
                                             .control = control,
                                             .from_supervisor = impl };

static struct leat_poets_softswitch ss;
static struct leat_poets_env env;
static struct leat_poets_step_out out;
static uint64_t now;

static struct leat_poets_block *block_at(uint32_t device)
{
    return leat_poets_block_at(&ss, ss.config.device[device]);
}

static struct state *state_at(uint32_t device)
{
    return state_of(block_at(device));
}

static _Alignas(16) uint8_t memory[1 << 20];

/* Three devices, in a ring by output 0; output 1 has three edges, one to each device. */
static void make(enum leat_poets_rts rts)
{
    static _Alignas(16) uint8_t blocks[DEVICES * UNITS * LEAT_POETS_BLOCK_UNIT];
    static const uint32_t device[DEVICES] = { 0, UNITS, 2 * UNITS };
    static const struct leat_poets_type *const types[] = { &type };
    static const struct leat_poets_out_edge edges[] = { { UNITS, 0 }, { 2 * UNITS, 0 },
                                                        { 0, 0 },     { 0, 1 },
                                                        { UNITS, 1 }, { 2 * UNITS, 0x101 } };
    const struct leat_poets_softswitch_config config = { .type = types,
                                                         .blocks = blocks,
                                                         .device = device,
                                                         .device_count = DEVICES,
                                                         .edge = edges,
                                                         .env = &env,
                                                         .hw_address = 0x411,
                                                         .rts = rts,
                                                         .stop_ack = true,
                                                         .interval = 1000 };
    memset(blocks, 0, sizeof blocks);
    env = (struct leat_poets_env){ .log_level = 2 };
    for (uint32_t i = 0; i < DEVICES; i++) {
        struct leat_poets_block *block = (void *)(blocks +
                                                  (size_t)device[i] * LEAT_POETS_BLOCK_UNIT);
        struct leat_poets_edges *pins = (void *)((uint8_t *)block + PINS_AT);
        *block = (struct leat_poets_block){ .index = i, .device = (uint16_t)i };
        pins[0] = (struct leat_poets_edges){ PINS_AT + 40, 1 };
        pins[1] = (struct leat_poets_edges){ PINS_AT + 41, 2 };
        pins[2] = (struct leat_poets_edges){ i, 1 };
        pins[3] = (struct leat_poets_edges){ 3, 3 };
    }
    OK(leat_poets_softswitch_footprint(&config) <= sizeof memory);
    leat_poets_softswitch_init(&ss, &config, memory);
    now = 0;
}

static enum leat_poets_step_kind step_with(const uint8_t *packet, unsigned nflit, bool can_send)
{
    now++;
    const struct leat_poets_step_in in = {
        .now = now, .can_send = can_send, .packet = packet, .nflit = nflit
    };
    leat_poets_softswitch_step(&ss, &in, &out);
    return out.kind;
}

static enum leat_poets_step_kind step(void)
{
    return step_with(NULL, 0, true);
}

/* A packet of hex digits. */
static enum leat_poets_step_kind give(const char *hex)
{
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    const size_t len = unhex(hex, octets);
    return step_with(octets, (unsigned)(len / LEAT_POETS_FLIT_LEN), true);
}

static bool is_packet(const char *hex)
{
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    const size_t len = unhex(hex, octets);
    return len == out.out.nflit * (size_t)LEAT_POETS_FLIT_LEN &&
           memcmp(octets, out.out.packet, len) == 0;
}

#define RELEASE "fffffd40000000000000000000000000"
#define STOP    "fffffe40000000000000000000000000"
#define INSTR   "fffffb40000000000000000000000000"
/* 7 to pin 0 of device 0 */
#define TO_0    "0000000000000000070000000000000000000000000000000000000000000000"
#define TO_2_1  "02000000010100000000000000000000" /* pin 1, edge 1 of device 2 */

static void start(enum leat_poets_rts rts)
{
    make(rts);
    for (uint32_t i = 0; i < DEVICES; i++)
        state_at(i)->init_says = 1;
    EQ(step(), LEAT_POETS_STEP_TURN);
    EQ(step(), LEAT_POETS_STEP_SEND_HOST);
    OK(is_packet("0000fdc0110400000000000000000000")); /* V8 */
    EQ(give(RELEASE), LEAT_POETS_STEP_TURN);
    EQ(ss.state, LEAT_POETS_SS_RUN);
}

/* ---- the states ----------------------------------------------------------------------------- */

static void packets_before_the_barrier_are_held_and_come_first(void)
{
    make(LEAT_POETS_LEVEL);
    step();
    step();
    EQ(ss.state, LEAT_POETS_SS_BARRIER);
    give(TO_0);
    OK(out.taken);
    give(TO_2_1);
    EQ(state_at(0)->received, 0);
    OK(!leat_poets_softswitch_is_passive(&ss));
    give(RELEASE);
    give("01000000010000000000000000000000"); /* comes after those that were held */
    OK(!out.taken);
    EQ(state_at(0)->received, 1);
    give("01000000010000000000000000000000");
    OK(!out.taken);
    EQ(state_at(2)->received, 1);
    give("01000000010000000000000000000000");
    OK(out.taken);
    EQ(state_at(1)->received, 1);
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    OK(leat_poets_softswitch_is_passive(&ss));
}

static void a_full_hold_takes_nothing_more(void)
{
    make(LEAT_POETS_LEVEL);
    step();
    step();
    for (int i = 0; i < LEAT_POETS_HELD_MAX; i++) {
        give(TO_0);
        OK(out.taken);
    }
    give(TO_0);
    OK(!out.taken);
    give(RELEASE);
    OK(out.taken);
    for (int i = 0; i < LEAT_POETS_HELD_MAX; i++)
        step();
    EQ(state_at(0)->received, LEAT_POETS_HELD_MAX);
}

static void every_device_is_queried_at_the_start_as_its_dialect_wants(void)
{
    /* Latched: only where OnInit says so. Level: always. */
    for (int level = 0; level < 2; level++) {
        make(level ? LEAT_POETS_LEVEL : LEAT_POETS_LATCHED);
        for (uint32_t i = 0; i < DEVICES; i++)
            state_at(i)->wants = 1;
        state_at(1)->init_says = 1;
        leat_poets_softswitch_start(&ss, 0);
        EQ(ss.ring_count, level ? 3 : 1);
        EQ(ss.ring[0].block, ss.config.device[level ? 0 : 1]);
        EQ(ss.host.count, 1);
    }
    leat_poets_softswitch_push(&ss, block_at(2), 1);
    EQ(ss.ring_count, 4);
    EQ(ss.ring[3].pin, 1);
}

static void stop_is_acknowledged_and_ends_it(void)
{
    start(LEAT_POETS_LATCHED);
    state_at(0)->wants = 1;
    give(TO_0);
    give(STOP);
    EQ(step(), LEAT_POETS_STEP_SEND_HOST);
    OK(is_packet("0000fec0110400000000000000000000")); /* V18 */
    EQ(step(), LEAT_POETS_STEP_DONE);
    EQ(give(TO_0), LEAT_POETS_STEP_DONE);
    OK(out.taken);
    EQ(ss.cause[LEAT_POETS_CAUSE_DISCARDED], 1);
    EQ(state_at(0)->sends, 0);
    make(LEAT_POETS_LATCHED); /* also at the barrier; and not at all if disabled */
    ss.config.stop_ack = false;
    step();
    step();
    give(STOP);
    EQ(step(), LEAT_POETS_STEP_DONE);
}

static void a_failed_assertion_kills_and_stop_is_still_received(void)
{
    start(LEAT_POETS_LEVEL);
    state_at(0)->fails = 1;
    give(TO_0);
    EQ(ss.state, LEAT_POETS_SS_KILLED);
    EQ(step(), LEAT_POETS_STEP_SEND_HOST);
    OK(is_packet("0000ffc0110400000000000000000000"));
    give(TO_0);
    EQ(state_at(0)->received, 1);
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    give(STOP);
    EQ(step(), LEAT_POETS_STEP_SEND_HOST);
    EQ(step(), LEAT_POETS_STEP_DONE);
    leat_poets_softswitch_kill(&ss);
}

#define HOLD "fffff940000000000000000000000000"

/* Device 0 wants to send and to idle, device 1 has begun a send. */
static void begin_some(enum leat_poets_rts rts)
{
    start(rts);
    state_at(1)->wants = 1;
    state_at(1)->drops = 1;
    give("0100000000000000070000000000000000000000000000000000000000000000");
    OK(leat_poets_softswitch_begin_send(&ss));
    state_at(0)->wants = 5;
    state_at(0)->asks_idle = 1;
    give(TO_0);
    OK(leat_poets_softswitch_can_begin(&ss));
    EQ(give(HOLD), LEAT_POETS_STEP_TURN);
}

static void a_held_softswitch_completes_its_send_receives_and_does_nothing_else(void)
{
    static const enum leat_poets_rts both[] = { LEAT_POETS_LEVEL, LEAT_POETS_LATCHED };
    for (int i = 0; i < 2; i++) {
        begin_some(both[i]);
        OK(!leat_poets_softswitch_is_passive(&ss));
        EQ(step(), LEAT_POETS_STEP_SEND);
        OK(leat_poets_softswitch_is_passive(&ss));
        EQ(step(), LEAT_POETS_STEP_WAIT_RX);
        OK(!leat_poets_softswitch_can_begin(&ss));
        OK(!leat_poets_softswitch_begin_send(&ss));
        give(TO_0);
        EQ(state_at(0)->received, 2);
        EQ(step(), LEAT_POETS_STEP_WAIT_RX);
        EQ(state_at(0)->idles, 0);
        give(STOP);
        EQ(step(), LEAT_POETS_STEP_SEND_HOST);
        EQ(block_at(0)->ready, 5);
        OK(block_at(0)->flags & LEAT_POETS_FLAG_IDLE);
        EQ(block_at(1)->ready, 0);
    }
}

static void what_was_held_resumes_without_oninit(void)
{
    static const enum leat_poets_rts both[] = { LEAT_POETS_LEVEL, LEAT_POETS_LATCHED };
    for (int i = 0; i < 2; i++) {
        begin_some(both[i]);
        step();
        give(STOP);
        struct leat_poets_softswitch_config config = ss.config;
        config.resumes = true;
        leat_poets_softswitch_init(&ss, &config, memory);
        state_at(0)->fails = 1; /* neither OnInit nor ReadyToSend is asked */
        EQ(step(), LEAT_POETS_STEP_TURN);
        EQ(step(), LEAT_POETS_STEP_SEND_HOST);
        OK(is_packet("0000fdc0110400000000000000000000"));
        EQ(give(RELEASE), LEAT_POETS_STEP_TURN);
        state_at(0)->fails = 0;
        state_at(0)->drops = 5;
        if (both[i] == LEAT_POETS_LATCHED) EQ(step(), LEAT_POETS_STEP_SEND);
        EQ(step(), LEAT_POETS_STEP_SEND_HOST);
        EQ(state_at(0)->sends, both[i] == LEAT_POETS_LATCHED ? 2 : 1);
        EQ(step(), LEAT_POETS_STEP_TURN);
        EQ(state_at(0)->idles, 1);
        EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    }
}

/* ---- receiving ------------------------------------------------------------------------------ */

static bool says(const char *text)
{
    struct leat_poets_packet packet;
    struct leat_poets_log_state state = { 0 };
    struct leat_poets_log_lines lines;
    if (step() != LEAT_POETS_STEP_SEND_HOST) return false;
    if (leat_poets_packet_decode(out.out.packet, out.out.nflit * (size_t)LEAT_POETS_FLIT_LEN,
                                 &packet, NULL))
        return false;
    return leat_poets_log_join(&state, &packet, &lines) == LEAT_POETS_LOG_LINE &&
           lines.line[0].len == strlen(text) && memcmp(lines.line[0].text, text, strlen(text)) == 0;
}

static void what_is_out_of_range_is_logged_and_counted(void)
{
    start(LEAT_POETS_LEVEL);
    give("09000000000000000000000000000000");
    OK(says("dIDX OOR 9"));
    give("02000000050000000000000000000000");
    OK(says("pIDX OOR 2 5"));
    give("00000000010200000000000000000000");
    OK(says("eIDX OOR 1 2"));
    give("00000000000000000700000000000000"); /* 12 octets need two flits */
    give("0000008000000000"
         "0000000000000000");
    give("0000f140000000000000000000000000");
    OK(says("BAD-OP 241"));
    give("00000040000000000000000000000000");
    give(RELEASE);
    give("00000100000000000000000000000000"); /* an opcode without CNC */
    static const enum leat_poets_cause causes[] = {
        LEAT_POETS_CAUSE_OOR_DEVICE, LEAT_POETS_CAUSE_OOR_PIN, LEAT_POETS_CAUSE_OOR_EDGE,
        LEAT_POETS_CAUSE_SHORT,      LEAT_POETS_CAUSE_MS,      LEAT_POETS_CAUSE_BAD_OP,
        LEAT_POETS_CAUSE_NOP,        LEAT_POETS_CAUSE_BARRIER, LEAT_POETS_CAUSE_BAD_PACKET
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        EQ(ss.cause[causes[i]], 1);
    for (uint32_t i = 0; i < DEVICES; i++)
        EQ(state_at(i)->received, 0);
    OK(strcmp(leat_poets_cause_name(LEAT_POETS_CAUSE_OOR_DEVICE), "rx_oor_dev") == 0);
    OK(!leat_poets_cause_name(LEAT_POETS_CAUSE_COUNT));
}

/* Whatever its class and the state of the thread. */
static void packets_of_another_task_reach_no_device(void)
{
    make(LEAT_POETS_LEVEL);
    ss.config.task = 5;
    step();
    step();
    OK(is_packet("0000fdc5110400000000000000000000"));
    give(RELEASE);
    EQ(ss.state, LEAT_POETS_SS_BARRIER);
    give("fffffd45000000000000000000000000");
    EQ(ss.state, LEAT_POETS_SS_RUN);
    give(TO_0);
    OK(out.taken);
    give(STOP);
    give("ffff0440000000000000000000000000");
    EQ(ss.state, LEAT_POETS_SS_RUN);
    EQ(ss.cause[LEAT_POETS_CAUSE_BAD_TASK], 4);
    for (uint32_t i = 0; i < DEVICES; i++)
        EQ(state_at(i)->received + state_at(i)->controls, 0);
    give("0000000500000000070000000000000000000000000000000000000000000000");
    EQ(state_at(0)->received, 1);
    give("fffffe45000000000000000000000000");
    EQ(ss.state, LEAT_POETS_SS_DEAD);
}

static void lines_of_one_cause_become_rare(void)
{
    int lines = 0;
    start(LEAT_POETS_LEVEL);
    for (int i = 0; i < 1000; i++) {
        give("09000000000000000000000000000000");
        while (ss.host.count) {
            step();
            lines++;
        }
    }
    EQ(lines, 8 + 6); /* 16, 32, 64, 128, 256, 512 */
    EQ(ss.cause[LEAT_POETS_CAUSE_OOR_DEVICE], 1000);
}

static void opcodes_of_the_application_leave_for_the_supervisor(void)
{
    static const uint8_t payload[57] = { 4, 9 };
    uint8_t want[16];
    size_t sent = 0;
    start(LEAT_POETS_LEVEL);
    ss.state = LEAT_POETS_SS_INIT; /* the mothership would discard what OnInit sends */
    OK(!leat_poets_softswitch_control(&ss, 4, 1, payload, 2));
    EQ(ss.host.count, 0);
    ss.state = LEAT_POETS_SS_RUN;
    OK(!leat_poets_softswitch_control(&ss, 4, 0, payload, 2));
    OK(!leat_poets_softswitch_control(&ss, 4, 0xf0, payload, 2));
    OK(!leat_poets_softswitch_control(&ss, 4, 1, payload, 57));
    OK(leat_poets_softswitch_control(&ss, 4, 0x0b, payload, 2));
    step();
    EQ(out.kind, LEAT_POETS_STEP_SEND_HOST);
    EQ(out.out.nflit, 1);
    unhex("00000bc0040000000409000000000000", want);
    EQ(memcmp(out.out.packet, want, sizeof want), 0);
    OK(leat_poets_softswitch_control(&ss, 4, 0xef, payload, 56));
    step();
    EQ(out.out.nflit, 4);
    while (leat_poets_softswitch_control(&ss, 4, 1, NULL, 0))
        sent++;
    OK(sent && sent <= LEAT_POETS_HOST_MAX);
}

static void control_packets_reach_one_device_or_all(void)
{
    start(LEAT_POETS_LEVEL);
    give("ffff0340000000000000000000000000");
    give("01000540000000000000000000000000");
    EQ(state_at(0)->controls, 3);
    EQ(state_at(1)->controls, 8);
    give("0200fa40000000000a00000000000000"); /* V11, as replies are */
    give("0200fa00000000000b00000000000000"); /* and as the original sends them */
    EQ(state_at(2)->impls, 2);
    EQ(state_at(2)->last, 0xb);
    give("fffffa40000000000100000000000000");
    EQ(state_at(0)->impls, 1);
    EQ(state_at(2)->impls, 3);
}

/* ---- sending -------------------------------------------------------------------------------- */

static void a_fan_out_is_one_edge_a_turn_and_its_payload_is_frozen(void)
{
    start(LEAT_POETS_LATCHED);
    ss.config.edge += 3; /* output 0 of device 0 becomes the three edges of output 1 */
    struct leat_poets_edges *pins = (void *)((uint8_t *)block_at(0) + PINS_AT);
    pins[2] = (struct leat_poets_edges){ 0, 3 };
    state_at(0)->wants = 1;
    state_at(0)->drops = 1;
    give(TO_0);
    EQ(step(), LEAT_POETS_STEP_SEND);
    OK(is_packet("00000000010000000107000000000000"));
    give("00000000000000000900000000000000"
         "00000000000000000000000000000000"); /* between two edges */
    EQ(state_at(0)->last, 9);
    EQ(step(), LEAT_POETS_STEP_SEND);
    OK(is_packet("01000000010000000107000000000000"));
    EQ(step(), LEAT_POETS_STEP_SEND);
    OK(is_packet("02000000010100000107000000000000"));
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    EQ(state_at(0)->sends, 1);
    EQ(ss.sent, 3);
}

static void latched_flags_are_sent_and_levels_may_drop(void)
{
    /* Sending by one pin withdraws the request of the other. */
    for (int level = 0; level < 2; level++) {
        start(level ? LEAT_POETS_LEVEL : LEAT_POETS_LATCHED);
        state_at(0)->wants = 1 | 4;
        state_at(0)->drops = 1 | 4;
        give(TO_0);
        int sends = 0;
        while (step() != LEAT_POETS_STEP_WAIT_RX)
            sends++;
        EQ(sends, level ? 1 : 2);
    }
}

static void pins_of_a_level_take_turns(void)
{
    start(LEAT_POETS_LEVEL);
    state_at(1)->wants = 1 | 4;
    give("01000000010000000000000000000000");
    static const enum leat_poets_step_kind want[] = { LEAT_POETS_STEP_SEND_HOST,
                                                      LEAT_POETS_STEP_SEND,
                                                      LEAT_POETS_STEP_SEND_HOST,
                                                      LEAT_POETS_STEP_SEND };
    for (int i = 0; i < 4; i++)
        EQ(step(), want[i]);
}

static void the_supervisor_gets_the_devices_index(void)
{
    start(LEAT_POETS_LATCHED);
    block_at(0)->index = 4;
    state_at(0)->wants = 4;
    state_at(0)->drops = 4;
    state_at(0)->sends = 3;
    state_at(0)->last = 0;
    give(TO_0);
    state_at(0)->last = 9;
    EQ(step(), LEAT_POETS_STEP_SEND_HOST);
    OK(is_packet("0000fac0040000000409000000000000")); /* V10 */
    EQ(ss.sent_host, 1);
}

/* It has no block here: its thread and number there come from a table. */
static void a_device_elsewhere_is_addressed_by_its_seat(void)
{
    static const struct leat_poets_seat seats[] = { [5] = { .thread = 0x1234, .device = 7 } };
    static const struct leat_poets_out_edge edges[] = { { LEAT_POETS_AWAY | 5, 0x201 } };
    start(LEAT_POETS_LATCHED);
    ss.config.edge = edges;
    ss.config.seat = seats;
    state_at(0)->wants = state_at(0)->drops = 1;
    give(TO_0);
    EQ(step(), LEAT_POETS_STEP_SEND);
    EQ(out.thread, 0x1234);
    OK(is_packet("07000000010200000107000000000000"));
    EQ(ss.sent, 1);
}

static void an_indexed_pin_sends_to_one_and_a_bad_index_kills(void)
{
    start(LEAT_POETS_LATCHED);
    state_at(0)->wants = state_at(0)->drops = 2;
    state_at(0)->index = 2;
    give(TO_0);
    EQ(step(), LEAT_POETS_STEP_SEND);
    OK(is_packet("02000000010100000107000000000000"));
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    state_at(0)->index = 3;
    state_at(0)->wants = 2;
    give(TO_0);
    step();
    EQ(ss.state, LEAT_POETS_SS_KILLED);
}

static void do_send_false_sends_nothing(void)
{
    start(LEAT_POETS_LATCHED);
    state_at(0)->wants = state_at(0)->drops = 1;
    state_at(0)->sends_nothing = 1;
    give(TO_0);
    EQ(step(), LEAT_POETS_STEP_TURN);
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    EQ(state_at(0)->sends, 1);
    EQ(ss.sent, 0);
}

static void a_softswitch_that_cannot_send_receives(void)
{
    start(LEAT_POETS_LATCHED);
    state_at(0)->wants = 1;
    give(TO_0);
    EQ(step_with(NULL, 0, false), LEAT_POETS_STEP_WAIT_TX_OR_RX);
    EQ(ss.instr.counter[LEAT_POETS_INSTR_BLOCK_CNT], 1);
    uint8_t octets[16];
    unhex(TO_2_1, octets);
    EQ(step_with(octets, 1, false), LEAT_POETS_STEP_TURN);
    OK(out.taken);
}

/* ---- idling, records, priorities ------------------------------------------------------------ */

static void idling_is_requested_and_done_once(void)
{
    start(LEAT_POETS_LATCHED);
    state_at(1)->asks_idle = 1;
    give("01000000010000000000000000000000");
    OK(!leat_poets_softswitch_is_passive(&ss));
    EQ(step(), LEAT_POETS_STEP_TURN);
    EQ(state_at(1)->idles, 1);
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    EQ(state_at(0)->idles + state_at(2)->idles, 0);
    ss.config.no_request_idle = true;
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    EQ(state_at(0)->idles, 1);
    OK(!leat_poets_softswitch_idle(&ss));
}

static void hardware_idle_reaches_every_device(void)
{
    start(LEAT_POETS_LEVEL);
    OK(!leat_poets_softswitch_hardware_idle(&ss));
    for (uint32_t i = 0; i < DEVICES; i++)
        EQ(state_at(i)->hardware_idles, 1);
    state_at(2)->wants = 1;
    OK(leat_poets_softswitch_hardware_idle(&ss));
}

static void turns_have_priorities(void)
{
    uint8_t octets[32];
    for (int first = 0; first < 2; first++) {
        start(LEAT_POETS_LATCHED);
        ss.config.instr_first = first;
        unhex(TO_0, octets);
        state_at(0)->wants = 1;
        give(TO_0);
        leat_poets_softswitch_log(&ss, 2, "dIDX OOR 9");
        give(INSTR); /* not taken: the line goes first */
        OK(!out.taken && out.kind == LEAT_POETS_STEP_SEND_HOST);
        OK(is_packet("0000fcc0020000000064494458204f4f52203900000000000000000000000000")); /* V14 */
        give(INSTR);
        EQ(step_with(octets, 2, true), first ? LEAT_POETS_STEP_SEND_HOST : LEAT_POETS_STEP_TURN);
        EQ(out.taken, !first);
        EQ(step_with(first ? octets : NULL, 2, true),
           first ? LEAT_POETS_STEP_TURN : LEAT_POETS_STEP_SEND_HOST);
        EQ(step(), LEAT_POETS_STEP_SEND);
    }
}

static void records_count_since_the_last(void)
{
    struct leat_poets_packet packet;
    struct leat_poets_instr instr;
    start(LEAT_POETS_LATCHED);
    state_at(0)->wants = state_at(0)->drops = 1;
    give(TO_0);
    give("09000000000000000000000000000000");
    step(); /* the line */
    EQ(step(), LEAT_POETS_STEP_SEND);
    for (uint32_t record = 0; record < 2; record++) {
        give(INSTR);
        EQ(step(), LEAT_POETS_STEP_SEND_HOST);
        OK(!leat_poets_packet_decode(out.out.packet, 64, &packet, NULL));
        EQ(packet.sender, 0x411);
        OK(!leat_poets_instr_decode(packet.payload, packet.payload_len, &instr, NULL));
        EQ(instr.counter[LEAT_POETS_INSTR_CIDX], record);
        EQ(instr.counter[LEAT_POETS_INSTR_RX_CNT], record ? 1 : 3); /* INSTR is one of them */
        EQ(instr.counter[LEAT_POETS_INSTR_RX_HAN_CNT], record ? 0 : 1);
        EQ(instr.counter[LEAT_POETS_INSTR_TX_CNT], record ? 0 : 1);
        EQ(instr.counter[LEAT_POETS_INSTR_TX_HAN_CNT], record ? 0 : 1);
    }
    ss.config.instruments = true;
    EQ(step(), LEAT_POETS_STEP_WAIT_RX);
    now += 1001;
    EQ(step(), LEAT_POETS_STEP_SEND_HOST); /* also while it waits */
    struct leat_poets_slot slot;
    OK(!leat_poets_softswitch_instr(&ss, now, &slot));
    give(INSTR);
    give(STOP); /* a requested record is not lost */
    OK(leat_poets_softswitch_take_host(&ss, &slot) && slot.packet[2] == LEAT_POETS_OP_INSTR);
    OK(leat_poets_softswitch_take_host(&ss, &slot) && slot.packet[2] == LEAT_POETS_OP_STOP);
    OK(!leat_poets_softswitch_take_host(&ss, &slot));
}

static void log_lines_beyond_the_queue_are_counted(void)
{
    start(LEAT_POETS_LATCHED);
    for (int i = 0; i < LEAT_POETS_HOST_MAX + 10; i++)
        leat_poets_softswitch_log(&ss, 0, "x");
    EQ(ss.cause[LEAT_POETS_CAUSE_LOG_DROP], 10);
    int reported = 0;
    for (; reported < LEAT_POETS_HOST_MAX + 10 && step() == LEAT_POETS_STEP_SEND_HOST; reported++) {
    }
    EQ(reported, LEAT_POETS_HOST_MAX);
}

/* What engines in shared memory do is one of the orders that turns could produce. */
static void whole_sends_come_to_what_turns_come_to(void)
{
    uint32_t received[2] = { 0 };
    for (int whole = 0; whole < 2; whole++) {
        start(LEAT_POETS_LEVEL);
        state_at(0)->wants = 1;
        state_at(0)->drops = 1;
        give(TO_0);
        for (int i = 0; i < 10 && whole; i++) {
            if (!leat_poets_softswitch_begin_send(&ss)) break;
            leat_poets_softswitch_deliver(&ss, leat_poets_block_at(&ss, ss.sending.edge->block),
                                          ss.sending.edge->pin_address, ss.sending.payload);
            leat_poets_softswitch_end_send(&ss);
        }
        while (!whole && step() == LEAT_POETS_STEP_SEND) {
            struct leat_poets_slot slot = out.out;
            leat_poets_softswitch_receive(&ss, slot.packet, 2, now); /* its pin needs two flits */
        }
        received[whole] = state_at(1)->received;
    }
    EQ(received[0], 1);
    EQ(received[0], received[1]);
}

static void any_octets_are_survived(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    start(LEAT_POETS_LATCHED);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
        leat_random_fill(&r, octets, sizeof octets);
        octets[2] = (uint8_t)(octets[2] % 3 ? 0 : octets[2]);
        octets[1] &= 1;
        octets[3] &= octets[62] & 3 ? 0x40 : 0x7f;
        if (octets[2] == LEAT_POETS_OP_STOP) octets[2] = 0;
        octets[5] &= 1;
        octets[6] = octets[7] = 0;
        const struct leat_poets_step_in in = { now, leat_random_next(&r) & 1, false, octets,
                                               1 + (unsigned)(octets[63] & 3) };
        leat_poets_softswitch_step(&ss, &in, &out);
        OK(ss.ring_count < ss.ring_cap);
    }
    uint64_t counted = ss.handled;
    for (int i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
        counted += ss.cause[i];
    OK(counted > ss.received / 2);
    struct leat_poets_step_out packet;
    ss.sending.block = block_at(0);
    ss.sending.to_supervisor = true;
    leat_poets_softswitch_packet(&ss, 0, &packet);
    EQ(packet.kind, LEAT_POETS_STEP_SEND_HOST);
    leat_poets_softswitch_ready(&ss, block_at(0), 0);
}

TAP_MAIN(T(packets_before_the_barrier_are_held_and_come_first), T(a_full_hold_takes_nothing_more),
         T(every_device_is_queried_at_the_start_as_its_dialect_wants),
         T(stop_is_acknowledged_and_ends_it),
         T(a_failed_assertion_kills_and_stop_is_still_received),
         T(a_held_softswitch_completes_its_send_receives_and_does_nothing_else),
         T(what_was_held_resumes_without_oninit), T(what_is_out_of_range_is_logged_and_counted),
         T(packets_of_another_task_reach_no_device), T(lines_of_one_cause_become_rare),
         T(opcodes_of_the_application_leave_for_the_supervisor),
         T(control_packets_reach_one_device_or_all),
         T(a_fan_out_is_one_edge_a_turn_and_its_payload_is_frozen),
         T(latched_flags_are_sent_and_levels_may_drop), T(pins_of_a_level_take_turns),
         T(the_supervisor_gets_the_devices_index), T(a_device_elsewhere_is_addressed_by_its_seat),
         T(an_indexed_pin_sends_to_one_and_a_bad_index_kills), T(do_send_false_sends_nothing),
         T(a_softswitch_that_cannot_send_receives), T(idling_is_requested_and_done_once),
         T(hardware_idle_reaches_every_device), T(turns_have_priorities),
         T(records_count_since_the_last), T(log_lines_beyond_the_queue_are_counted),
         T(whole_sends_come_to_what_turns_come_to), T(any_octets_are_survived))
