#include "poets_hex_test.h"
#include "poets_mothership.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { THREADS = 3 };
static const uint32_t threads[THREADS] = { 0x10, 0x411, 0x2000 };
static uint8_t reported[THREADS];
static struct leat_poets_app app;
static struct leat_poets_mothership ms;
static struct leat_poets_event event;

static void make(bool stop_ack)
{
    leat_poets_app_init(&app, threads, THREADS, reported, stop_ack);
    leat_poets_mothership_init(&ms, 10, 2, true);
    ms.app[0] = &app;
}

static uint32_t define_all(void)
{
    return leat_poets_app_define(&app, LEAT_POETS_PART_SPEC, 0, 1) |
           leat_poets_app_define(&app, LEAT_POETS_PART_DIST, 0, 0) |
           leat_poets_app_define(&app, LEAT_POETS_PART_SUPD, 0, 0);
}

static void give(const char *hex)
{
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    const size_t len = unhex(hex, octets);
    leat_poets_mothership_receive(&ms, octets, len, &event);
}

/* A report of thread 0x10, 0x411 or 0x2000; opcode FD or FE. */
static void report(const char *opcode, uint32_t address)
{
    char hex[40];
    snprintf(hex, sizeof hex, "0000%sc0%02x%02x00000000000000000000", opcode, address & 0xff,
             address >> 8);
    give(hex);
}

static void all_report(const char *opcode)
{
    for (int i = 0; i < THREADS; i++)
        report(opcode, threads[i]);
}

static void go_to(enum leat_poets_app_state state)
{
    make(true);
    if (state == LEAT_POETS_APP_UNDERDEFINED) return;
    define_all();
    if (state == LEAT_POETS_APP_DEFINED) return;
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_INIT);
    if (state == LEAT_POETS_APP_LOADING) return;
    all_report("fd");
    if (state == LEAT_POETS_APP_READY) return;
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_RUN);
    if (state == LEAT_POETS_APP_RUNNING) return;
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_STOP);
    if (state == LEAT_POETS_APP_STOPPING) return;
    all_report("fe");
}

static void an_application_lives_and_ends(void)
{
    make(true);
    EQ(define_all(), 0);
    EQ(app.state, LEAT_POETS_APP_DEFINED);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_INIT), LEAT_POETS_ACTION_LOAD);
    report("fd", threads[0]);
    report("fd", threads[0]); /* a repeat counts once */
    report("fd", threads[2]);
    EQ(app.state, LEAT_POETS_APP_LOADING);
    report("fd", threads[1]);
    EQ(app.state, LEAT_POETS_APP_READY);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_RUN), LEAT_POETS_ACTION_RELEASE);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_STOP), LEAT_POETS_ACTION_STOP);
    EQ(app.state, LEAT_POETS_APP_STOPPING);
    all_report("fe");
    EQ(event.actions, LEAT_POETS_ACTION_END);
    EQ(app.state, LEAT_POETS_APP_STOPPED);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_RECL), LEAT_POETS_ACTION_PURGE);
    EQ(app.state, LEAT_POETS_APP_GONE);
}

/* The table of 3.2: what each command does in each state. */
static void every_command_in_every_state(void)
{
    enum { U, D, L, Y, R, P, S, B, G }; /* the states, in their order */
    static const struct {
        enum leat_poets_command command;
        uint8_t to[7];
    } rows[] = { { LEAT_POETS_COMMAND_INIT, { U, L, L, Y, R, P, S } },
                 { LEAT_POETS_COMMAND_RUN, { U, D, L, R, R, P, S } },
                 { LEAT_POETS_COMMAND_STOP, { U, D, L, Y, P, P, S } },
                 { LEAT_POETS_COMMAND_RECL, { G, G, L, P, P, P, G } },
                 { LEAT_POETS_COMMAND_BRKN, { U, D, L, Y, P, P, S } } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int from = U; from <= S; from++) {
            go_to((enum leat_poets_app_state)from);
            EQ(app.state, from);
            leat_poets_app_command(&app, rows[i].command);
            EQ(app.state, rows[i].to[from]);
        }
}

static void parts_come_in_any_order(void)
{
    static const enum leat_poets_part orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                                       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (int i = 0; i < 6; i++) {
        make(true);
        for (int k = 0; k < 3; k++) {
            EQ(app.state, LEAT_POETS_APP_UNDERDEFINED);
            leat_poets_app_define(&app, orders[i][k], 5, 1);
        }
        EQ(app.state, LEAT_POETS_APP_DEFINED);
        EQ(app.task, 5);
        leat_poets_app_define(&app, LEAT_POETS_PART_DIST, 0, 0); /* one more than announced */
        EQ(app.state, LEAT_POETS_APP_BROKEN);
    }
    make(true);
    leat_poets_app_define(&app, LEAT_POETS_PART_DIST, 0, 0);
    leat_poets_app_define(&app, LEAT_POETS_PART_DIST, 0, 0);
    leat_poets_app_define(&app, LEAT_POETS_PART_SPEC, 0, 1);
    EQ(app.state, LEAT_POETS_APP_BROKEN);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_RECL), LEAT_POETS_ACTION_PURGE);
}

static void commands_are_staged(void)
{
    make(true);
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_STOP); /* before RUN: right after it */
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_RUN);
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_INIT);
    EQ(define_all(), LEAT_POETS_ACTION_LOAD);
    all_report("fd");
    EQ(event.actions, LEAT_POETS_ACTION_RELEASE | LEAT_POETS_ACTION_STOP);
    EQ(app.state, LEAT_POETS_APP_STOPPING);
}

static void without_threads_there_is_nothing_to_wait_for(void)
{
    make(true);
    leat_poets_app_init(&app, NULL, 0, NULL, true);
    define_all();
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_INIT), LEAT_POETS_ACTION_LOAD);
    EQ(app.state, LEAT_POETS_APP_READY);
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_RUN);
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_STOP),
       LEAT_POETS_ACTION_STOP | LEAT_POETS_ACTION_END);
    EQ(app.state, LEAT_POETS_APP_STOPPED);
}

static void without_acknowledgements_stopping_is_over_at_once(void)
{
    go_to(LEAT_POETS_APP_RUNNING);
    app.stop_ack = false;
    EQ(leat_poets_app_command(&app, LEAT_POETS_COMMAND_STOP),
       LEAT_POETS_ACTION_STOP | LEAT_POETS_ACTION_END);
}

static void a_kill_stops_and_fails_the_application(void)
{
    go_to(LEAT_POETS_APP_RUNNING);
    give("0000ffc0110400000000000000000000");
    EQ(event.actions, LEAT_POETS_ACTION_STOP);
    OK(app.failed);
    go_to(LEAT_POETS_APP_RUNNING);
    leat_poets_app_command(&app, LEAT_POETS_COMMAND_BRKN);
    all_report("fe");
    EQ(app.state, LEAT_POETS_APP_BROKEN);
}

static bool warns(const char *hex, enum leat_poets_host_cause cause)
{
    const uint64_t before = ms.cause[cause];
    give(hex);
    return event.kind == LEAT_POETS_EVENT_WARNING && event.cause == cause &&
           ms.cause[cause] == before + 1;
}

static void packets_are_routed_by_class_and_opcode(void)
{
    go_to(LEAT_POETS_APP_RUNNING);
    OK(warns("01020003020301000700000000000000", LEAT_POETS_HOST_MS0));
    OK(warns("02000080000000000000000000000000", LEAT_POETS_HOST_NO_EXTERNAL));
    OK(warns("0000fac5000000000000000000000000", LEAT_POETS_HOST_BAD_TASK));
    OK(warns("01000085000000000000000000000000", LEAT_POETS_HOST_BAD_TASK));
    OK(warns("0000f3c0000000000000000000000000", LEAT_POETS_HOST_BAD_OP));
    OK(warns("000000c0000000000000000000000000", LEAT_POETS_HOST_BAD_OP));
    OK(warns("0000fac00a0000000000000000000000", LEAT_POETS_HOST_BAD_INDEX));
    OK(warns("0000fcc0100000000000000000000000", LEAT_POETS_HOST_BAD_INDEX));
    OK(warns("0000fcc0010000000900000000000000", LEAT_POETS_HOST_LOG_BAD));
    OK(warns("0000fdc0110400000000000000000000", LEAT_POETS_HOST_WRONG_STATE));
    OK(warns("0000fec0120400000000000000000000", LEAT_POETS_HOST_UNKNOWN_THREAD));
    OK(warns("0000ffc0120400000000000000000000", LEAT_POETS_HOST_UNKNOWN_THREAD));
    OK(warns("0000fbc0110400000000000000000000", LEAT_POETS_HOST_BAD_PACKET));
    OK(warns("0000", LEAT_POETS_HOST_BAD_PACKET));
    give("01000080000000000000000000000000");
    EQ(event.kind, LEAT_POETS_EVENT_EXTERNAL);
    give("0000fac0040000000409000000000000"); /* V10 */
    EQ(event.kind, LEAT_POETS_EVENT_SUPERVISOR);
    EQ(event.packet.sender, 4);
    give("000004c0000000000000000000000000"); /* V2 */
    EQ(event.kind, LEAT_POETS_EVENT_CONTROL);
    EQ(event.packet.opcode, 4);
    go_to(LEAT_POETS_APP_STOPPING);
    OK(warns("0000fac0040000000409000000000000", LEAT_POETS_HOST_SUP_DROP));
    OK(strcmp(leat_poets_host_cause_name(LEAT_POETS_HOST_SUP_DROP), "sup_drop") == 0);
    OK(!leat_poets_host_cause_name(LEAT_POETS_HOST_COUNT));
}

static void records_and_lines_come_out_whole(void)
{
    go_to(LEAT_POETS_APP_RUNNING);
    give("0000fbc01104000000000000001c4e0e e8030000e6030000f401000007000000 "
         "ea010000030000000200000001000000 0b00000016000000210000002c000000"); /* V17 */
    EQ(event.kind, LEAT_POETS_EVENT_INSTR);
    EQ(event.instr.counter[LEAT_POETS_INSTR_RX_CNT], 1000);
    give("0000fcc0010000000161626364656667 68696a6162636465666768696a616263 "
         "6465666768696a616263646566676869 6a6162636465666768696a6162636465"); /* V15 */
    EQ(event.kind, LEAT_POETS_EVENT_NOTHING);
    give("0000fcc0020000000064494458204f4f52203900000000000000000000000000"); /* V14, between */
    EQ(event.kind, LEAT_POETS_EVENT_LINES);
    give("0000fcc00100000000666768696a0000");
    EQ(event.kind, LEAT_POETS_EVENT_LINES);
    EQ(event.lines.line[0].len, 60);
}

static void open_lines_are_bounded(void)
{
    make(true);
    ms.device_count = 1000;
    for (uint32_t i = 0; i < 3 * LEAT_POETS_JOINS_MAX; i++) {
        const struct leat_poets_packet first = { .packet_class = LEAT_POETS_CLASS_SUP,
                                                 .opcode = LEAT_POETS_OP_LOG,
                                                 .sender = i,
                                                 .payload_len = 56,
                                                 .payload = { 1, 'a' } };
        uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
        size_t len;
        leat_poets_packet_encode(&first, octets, sizeof octets, &len);
        leat_poets_mothership_receive(&ms, octets, len, &event);
        EQ(event.kind, LEAT_POETS_EVENT_NOTHING);
    }
    give("0000fcc0bf0000000062000000000000"); /* the newest is still open */
    EQ(event.kind, LEAT_POETS_EVENT_LINES);
    EQ(event.lines.line[0].text[0], 'a');
}

static void any_octets_are_survived(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    go_to(LEAT_POETS_APP_RUNNING);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
        leat_random_fill(&r, octets, sizeof octets);
        octets[3] &= 0xc0;
        octets[5] = octets[6] = octets[7] = 0;
        leat_poets_mothership_receive(&ms, octets, 16 * (size_t)(1 + (octets[63] & 3)), &event);
        OK(event.kind != LEAT_POETS_EVENT_WARNING || event.cause < LEAT_POETS_HOST_COUNT);
    }
}

TAP_MAIN(T(an_application_lives_and_ends), T(every_command_in_every_state),
         T(parts_come_in_any_order), T(commands_are_staged),
         T(without_threads_there_is_nothing_to_wait_for),
         T(without_acknowledgements_stopping_is_over_at_once),
         T(a_kill_stops_and_fails_the_application), T(packets_are_routed_by_class_and_opcode),
         T(records_and_lines_come_out_whole), T(open_lines_are_bounded), T(any_octets_are_survived))
