/*
 * The adaptation layer unit, rule by rule, with the cycles of note 5 as literals. One or two units
 * hang on an ideal wire; or the test itself is the network and hands in cells.
 */
#include "atm_aal_unit.h"
#include "leat_bytes.h"
#include "leat_crc.h"
#include "tap.h"
#include <string.h>

enum { MEMORY_OCTETS = 1 << 20, LINES = 4096, EVENTS = 64, FLAGS = 11, WIRE = 71 /* note R4 */ };
enum { HERE = 1, THERE = 5, PORTS = 16, PATHS = 4 };

struct line {
    uint64_t at;
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN];
};

struct events {
    uint64_t at[EVENTS];
    unsigned count;
};

struct station {
    struct leat_atm_aal_unit unit;
    struct events events[FLAGS];
    struct line lines[LINES];
    unsigned line_count, arrived_count; /* of those, put on the wire so far */
};

static struct station stations[2];
static unsigned station_count;
static bool wired;
static uint64_t now;
static _Alignas(max_align_t) uint8_t memory[2][MEMORY_OCTETS];

static struct leat_atm_aal_config thesis(uint32_t port)
{
    struct leat_atm_aal_config c;
    leat_atm_aal_config_default(&c, port, PORTS, PATHS);
    return c;
}

static void set_up(const struct leat_atm_aal_config *config)
{
    struct station *s = &stations[station_count];
    OK(leat_atm_aal_unit_footprint(config) <= MEMORY_OCTETS);
    memset(memory[station_count], 0, sizeof memory[0]);
    memset(s, 0, sizeof *s);
    leat_atm_aal_unit_init(&s->unit, config, memory[station_count++]);
}

static struct leat_atm_aal_unit *alone_with(struct leat_atm_aal_config config)
{
    now = station_count = 0;
    wired = false;
    set_up(&config);
    return &stations[0].unit;
}

static struct leat_atm_aal_unit *alone(void)
{
    return alone_with(thesis(HERE));
}

static void collect(struct station *s)
{
    for (unsigned flag = 0; flag < FLAGS; flag++)
        if (s->unit.told >> flag & 1) s->events[flag].at[s->events[flag].count++ % EVENTS] = now;
    if (s->unit.told & LEAT_ATM_AAL_LINE) {
        struct line *l = &s->lines[s->line_count++ % LINES];
        l->at = s->unit.line_at;
        memcpy(l->cell, s->unit.line_cell, sizeof l->cell);
    }
    s->unit.told = 0;
}

static unsigned bit_of(enum leat_atm_aal_told flag)
{
    unsigned bit = 0;
    while (1u << bit != (unsigned)flag)
        bit++;
    return bit;
}

static unsigned told_count(enum leat_atm_aal_told flag)
{
    return stations[0].events[bit_of(flag)].count;
}

/* The cycle in which this was told for the i-th time; never: 0. */
static uint64_t told_at(enum leat_atm_aal_told flag, unsigned i)
{
    return i < told_count(flag) ? stations[0].events[bit_of(flag)].at[i] : 0;
}

static const struct line *line(unsigned i)
{
    static const struct line none;
    return i < stations[0].line_count ? &stations[0].lines[i] : &none;
}

static uint16_t line_word(unsigned i, size_t at)
{
    return leat_get_be16(line(i)->cell + at);
}

/* The ideal network: whoever a cell is for has its last octet 71 cycles after its first. */
static void carry(struct station *from)
{
    if (!wired || from->arrived_count == from->line_count) return;
    const struct line *l = &from->lines[from->arrived_count % LINES];
    if (l->at + WIRE != now) return;
    const uint16_t to = leat_get_be16(l->cell + 13);
    for (unsigned i = 0; i < station_count; i++)
        if (to == LEAT_ATM_TASK_BROADCAST || to == stations[i].unit.config.port)
            leat_atm_aal_unit_receive(&stations[i].unit, l->cell, now);
    from->arrived_count++;
}

static uint64_t next_deed(void)
{
    uint64_t at = LEAT_NEVER;
    for (unsigned i = 0; i < station_count; i++) {
        const struct station *s = &stations[i];
        if (s->unit.wake_at < at) at = s->unit.wake_at;
        if (!wired || s->arrived_count == s->line_count) continue;
        const uint64_t arrives_at = s->lines[s->arrived_count % LINES].at + WIRE;
        if (arrives_at < at) at = arrives_at;
    }
    return at;
}

/* Up to and with step `until`. */
static void run(uint64_t until)
{
    while (now < until) {
        const uint64_t at = next_deed();
        now = at < until ? at : until;
        for (unsigned i = 0; i < station_count; i++) {
            leat_atm_aal_unit_step(&stations[i].unit, now);
            collect(&stations[i]);
        }
        for (unsigned i = 0; i < station_count; i++)
            carry(&stations[i]);
    }
}

/* The host */

static const struct leat_atm_task_message for_rcv = { { 'r', 'c', 'v' }, 1, 1 };
static const struct leat_atm_task_message for_all = { { 'r', 'c', 'v' }, UINT32_MAX, 1 };

static bool tell(struct leat_atm_aal_unit *unit, struct leat_atm_aal_command c)
{
    const bool taken = leat_atm_aal_unit_command(unit, &c, now);
    collect(&stations[unit == &stations[1].unit]);
    return taken;
}

static uint8_t octets[LEAT_ATM_AAL_BLOCKS * 36];

static void write_to(struct leat_atm_aal_unit *unit, uint16_t to, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(i * 7 + i / 256);
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND });
    if (len)
        tell(unit, (struct leat_atm_aal_command){
                       .verb = LEAT_ATM_AAL_PUT, .octets = octets, .len = len });
    tell(unit,
         (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_DESTINATION, .destination = to });
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_SEND,
                                              .message = to == LEAT_ATM_TASK_BROADCAST ? for_all
                                                                                       : for_rcv });
}

static void ask(struct leat_atm_aal_unit *unit, struct leat_atm_task_message message)
{
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE, .message = message });
}

static void get(struct leat_atm_aal_unit *unit, uint32_t len)
{
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_GET, .len = len });
}

static void end_reading(struct leat_atm_aal_unit *unit)
{
    leat_atm_aal_unit_read_end(unit, now);
    collect(&stations[0]);
}

/* The network: the last octet of this cell comes in in step `at`. */

static void arrive(uint64_t at, uint16_t type, uint16_t flag, uint16_t number, uint16_t from,
                   uint16_t to)
{
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    leat_put_be16(cell + 5, type);
    leat_put_be16(cell + 7, flag);
    leat_put_be16(cell + 9, number);
    leat_put_be16(cell + 11, from);
    leat_put_be16(cell + 13, to);
    if (type == LEAT_ATM_TASK_MESSAGE && (flag & LEAT_ATM_TASK_FIRST))
        leat_atm_task_message_encode(to == LEAT_ATM_TASK_BROADCAST ? &for_all : &for_rcv, cell + 15,
                                     36);
    cell[50] = (uint8_t)number;
    leat_put_be16(cell + 51, leat_crc16(0, cell + 5, 46));
    run(at);
    leat_atm_aal_unit_receive(&stations[0].unit, cell, at);
}

enum { BEGIN = LEAT_ATM_TASK_FIRST, MIDDLE = 0, END = LEAT_ATM_TASK_LAST, SINGLE = 3 };

static void data(uint64_t at, uint16_t flag, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_MESSAGE, flag, number, from, HERE);
}

static void data_for_all(uint64_t at, uint16_t flag, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_MESSAGE, flag, number, from, LEAT_ATM_TASK_BROADCAST);
}

static void ack(uint64_t at, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_ACK, LEAT_ATM_TASK_ACK_POINT, number, from, HERE);
}

static void ack_of_broadcast(uint64_t at, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_ACK, 0, number, from, HERE);
}

static uint8_t state5(void)
{
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&stations[0].unit, now, &view);
    return view.state5;
}

static uint16_t cursnd(void)
{
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&stations[0].unit, now, &view);
    return view.cursnd;
}

/* Note 5.4 */

static void the_closed_form_has_the_values_of_the_note(void)
{
    static const uint32_t value[][2] = {
        { 0, 155 },        { 1, 169 },        { 2, 177 },        { 3, 185 },
        { 4, 193 },        { 8, 231 },        { 16, 307 },       { 17, 389 },
        { 52, 717 },       { 53, 802 },       { 1000, 11640 },   { 5000, 57521 },
        { 10000, 114890 }, { 15000, 172259 }, { 20000, 229628 }, { 25000, 286926 },
        { 30000, 344295 }, { 35000, 401664 }, { 40000, 459033 }, { 45000, 516402 },
        { 50000, 573771 }, { 55000, 631140 }, { 60000, 688509 }, { 65000, 745878 },
        { 67912, 779222 },
    };
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        EQ(leat_atm_aal_one_way_cycles(value[i][0]), value[i][1]);
    EQ(leat_atm_aal_io_cycles(0), 0);
    EQ(leat_atm_aal_io_cycles(1), 7);
    EQ(leat_atm_aal_io_cycles(4), 19);
    EQ(leat_atm_aal_io_cycles(7), 34);
}

static void four_octets_to_oneself_take_the_stages_of_the_note(void)
{
    struct leat_atm_aal_unit *unit = alone();
    wired = true;
    write_to(unit, HERE, 4);
    run(2);
    EQ(unit->send.busy_count, 0);
    run(3); /* initsend 1-3, put 4-22, set destination 23-25, atmsnd 26-40 */
    EQ(unit->send.busy_count, 1);
    run(54); /* STATE1 41-49 */
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), -1);
    EQ(unit->messages_busy, 0);
    run(55); /* STATE2-4 50-55 */
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 0);
    EQ(unit->messages_busy, 1);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 0), 55);
    run(111);
    EQ(line(0)->at, 58);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 399999);
    run(128);
    EQ(unit->receive.busy_count, 0);
    run(129); /* E */
    EQ(unit->receive.busy_count, 1);
    run(152);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), 152);
    EQ(line(1)->at, 146); /* its acknowledgement: q = 142, and the walk looks in even cycles */
    ask(unit, for_rcv);   /* atmrcv 153-167, STATE8 168-174 */
    get(unit, 4);
    run(192);
    EQ(told_at(LEAT_ATM_AAL_GRANTED, 0), 168);
    EQ(unit->reply_at, 174);
    EQ(told_count(LEAT_ATM_AAL_GOT), 0);
    run(193);
    EQ(told_at(LEAT_ATM_AAL_GOT, 0), 193);
    uint8_t got[4];
    leat_atm_aal_unit_copy(unit, unit->message_read, 0, got, sizeof got);
    OK(memcmp(got, octets, sizeof got) == 0);
}

static void eight_octets_to_oneself_take_231_cycles(void)
{
    struct leat_atm_aal_unit *unit = alone();
    wired = true;
    write_to(unit, HERE, 8);
    run(171);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 0), 74);
    EQ(line(0)->at, 77);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), 171);
    ask(unit, for_rcv);
    get(unit, 8);
    run(300);
    EQ(told_at(LEAT_ATM_AAL_GOT, 0), 231);
}

/* The reader is stations[0], so that told_at speaks of it. */
static uint64_t one_way(uint32_t len)
{
    const struct leat_atm_aal_config here = thesis(HERE), there = thesis(THERE);
    now = station_count = 0;
    wired = true;
    set_up(&there);
    set_up(&here);
    write_to(&stations[1].unit, THERE, len);
    while (!told_count(LEAT_ATM_AAL_COMPLETE) && now < 1000000)
        run(now + 1);
    ask(&stations[0].unit, for_rcv);
    if (len) get(&stations[0].unit, len);
    run(now + 40 + 5 * (uint64_t)len);
    return len ? told_at(LEAT_ATM_AAL_GOT, 0) : stations[0].unit.reply_at;
}

static void any_size_takes_the_time_of_the_closed_form(void)
{
    for (uint32_t len = 0; len < 200; len += 1 + len / 20)
        EQ(one_way(len), leat_atm_aal_one_way_cycles(len));
    EQ(one_way(1000), 11640);
    EQ(one_way(5000), 57521);
}

static void the_longest_message_has_67912_octets_and_arrives_whole(void)
{
    static uint8_t got[67912];
    EQ(leat_atm_aal_message_max(LEAT_ATM_AAL_BLOCKS), 67912);
    EQ(one_way(67912), 779222);
    const struct leat_atm_aal_unit *reader = &stations[0].unit;
    leat_atm_aal_unit_copy(reader, reader->message_read, 0, got, sizeof got);
    OK(memcmp(got, octets, sizeof got) == 0);
    leat_atm_aal_unit_copy(reader, reader->message_read, 40001, got, 100);
    OK(memcmp(got, octets + 40001, 100) == 0);
    EQ(stations[1].events[bit_of(LEAT_ATM_AAL_TOOLONG)].count, 1);
    EQ(leat_atm_aal_unit_room(reader), 0);
}

/* Note 2.5 and R1 */

static void the_cells_of_the_two_message_test_have_the_published_checksums(void)
{
    static const uint8_t first[] = { 0, 0, 1, 0x1d };                          /* 285 */
    static const uint8_t second[] = { 0, 0, 2, 0x20, 0x44, 0xa2, 0x2e, 0x98 }; /* 544, 1297.456 */
    struct leat_atm_aal_unit *unit = alone();
    wired = true;
    const struct leat_atm_aal_command c[] = {
        { .verb = LEAT_ATM_AAL_INITSEND },
        { .verb = LEAT_ATM_AAL_PUT, .not_before = 9, .octets = first, .len = 4 },
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = LEAT_ATM_TASK_BROADCAST },
        { .verb = LEAT_ATM_AAL_SEND, .message = for_all },
        { .verb = LEAT_ATM_AAL_INITSEND, .not_before = 70 },
        { .verb = LEAT_ATM_AAL_PUT, .not_before = 78, .octets = second, .len = 8 },
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = THERE },
        { .verb = LEAT_ATM_AAL_SEND, .message = for_rcv },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        OK(tell(unit, c[i]));
    run(300);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 0), 60);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 1), 148);
    EQ(line(0)->at, 63);
    EQ(line_word(0, 51), 0x4a78);
    EQ(line(1)->at, 151); /* the acknowledgement of its own copy, a cycle later: R6, collision */
    EQ(line_word(1, 51), 0xbe22);
    EQ(line(2)->at, 207);
    EQ(line_word(2, 51), 0xdfbd);
    EQ(line_word(0, 0), (4 * 16 + 0) << 4); /* k: broadcast, cell 2, acknowledgement */
    EQ(line_word(2, 0), (4 * THERE + 1) << 4);
    EQ(line_word(1, 0), (4 * HERE + 2) << 4);
}

static void labels_of_four_octets_are_a_vpi_and_a_vci(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.ports = 4096;
    c.header_octets = 4;
    c.send_blocks = 10;
    struct leat_atm_aal_unit *unit = alone_with(c);
    write_to(unit, 4000, 4);
    run(60);
    EQ(leat_get_be32(line(0)->cell), (4u * 4000) << 4);
}

/* Note R2 */

static void cells_start_56_cycles_apart_and_take_the_paths_in_turn(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 160); /* five cells */
    run(3 + 760 + 3 + 15 + 25 + 30 + 3);
    const uint64_t s = line(0)->at;
    EQ(s, now);
    static const uint16_t flag[] = { BEGIN, MIDDLE, MIDDLE, MIDDLE, END };
    run(s + 52);
    EQ(state5(), 8);
    run(s + 5 * 56);
    EQ(stations[0].line_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        EQ(line(i)->at, s + 56 * i);
        EQ(line_word(i, 0), (4 * THERE + i % 4) << 4);
        EQ(line_word(i, 7), flag[i]);
        EQ(line_word(i, 9), i + 1);
    }
}

static void an_idle_list_is_walked_at_two_cycles_a_block(void)
{
    static const uint8_t state[] = { 10, 0, 10, 0, 9, 0, 10, 0 };
    static const uint16_t block[] = { 0, 1, 1, 2, 2, 0, 0, 1 };
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 80); /* three cells */
    run(3 + 380 + 3 + 15 + 17 + 18 + 3);
    const uint64_t s = line(0)->at;
    run(s + 2 * 56 + 52);
    EQ(state5(), 6);
    run(now + 1);
    EQ(state5(), 0);
    EQ(cursnd(), 0);
    for (size_t i = 0; i < sizeof state; i++) {
        run(now + 1);
        EQ(state5(), state[i]);
        EQ(cursnd(), block[i]);
    }
}

/* Note R3 */

static void a_refused_cell_starts_again_six_cycles_later_until_it_passes(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4);
    data(50, SINGLE, 1, 9); /* asks for its acknowledgement in cycle 63 */
    for (uint64_t first = 58; first < 58 + 60; first += 6) {
        run(first + 4);
        now = first + 5;
        leat_atm_aal_unit_refuse(unit, now);
        leat_atm_aal_unit_step(unit, now);
        collect(&stations[0]);
        EQ(state5(), 5);
        EQ(unit->line_at, first + 6);
    }
    run(118 + 53);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 399999);
    EQ(unit->counts.refusals, 10);
    EQ(unit->counts.cells_sent, 1);
    run(300);
    EQ(stations[0].line_count, 12); /* the first start, ten more, the acknowledgement behind them */
    EQ(line(11)->at, 118 + 56);
    EQ(line_word(11, 5), LEAT_ATM_TASK_ACK);
}

static void a_cell_that_is_held_begins_later(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4);
    run(56);
    EQ(line(0)->at, 58);
    leat_atm_aal_unit_hold(unit, 53);
    EQ(unit->line_at, 111);
    run(111 + 53);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 399999);
}

/* Note R5 */

static void bad_cells_and_cells_for_others_leave_no_trace(void)
{
    struct leat_atm_aal_unit *unit = alone();
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    leat_put_be16(cell + 13, HERE);
    leat_put_be16(cell + 51, (uint16_t)(leat_crc16(0, cell + 5, 46) ^ 1));
    leat_atm_aal_unit_receive(unit, cell, 0);
    arrive(10, LEAT_ATM_TASK_MESSAGE, SINGLE, 1, 3, HERE + 1);
    arrive(20, LEAT_ATM_TASK_MESSAGE, SINGLE, 1, PORTS, HERE); /* from a port that is not there */
    arrive(30, 2, SINGLE, 1, 3, HERE);                         /* no such type */
    EQ(unit->counts.bad_cells, 1);
    EQ(unit->counts.misdelivered, 3);
    EQ(unit->receive.busy_count, 0);
    run(1000);
    EQ(stations[0].line_count, 0);
}

static void room_is_what_the_receive_buffer_has_left(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.receive_blocks = 3;
    struct leat_atm_aal_unit *unit = alone_with(c);
    for (uint16_t i = 0; i < 3; i++) {
        EQ(leat_atm_aal_unit_room(unit), 3u - i);
        data(100 + 53u * i, SINGLE, (uint16_t)(i + 1), 3);
    }
    EQ(leat_atm_aal_unit_room(unit), 0);
}

/* Note R6 */

static void a_data_cell_is_acknowledged_13_cycles_after_it_is_in_15_behind_others(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, BEGIN, 1, 3);
    run(1022);
    EQ(unit->in_message_count, 0);
    run(1023); /* q + 10 */
    EQ(unit->in_message_count, 1);
    EQ(line(0)->at, 1016);
    EQ(line_word(0, 0), (4 * 3 + 0) << 4);
    EQ(line_word(0, 5), LEAT_ATM_TASK_ACK);
    EQ(line_word(0, 7), LEAT_ATM_TASK_ACK_POINT);
    EQ(line_word(0, 9), 1);
    EQ(line_word(0, 11), HERE);
    EQ(line_word(0, 13), 3);
    data(2000, END, 2, 3);
    run(2100);
    EQ(line(1)->at, 2018);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), 2025);
}

static void cells_that_come_at_once_wait_for_the_acknowledgement_before_theirs(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 3); /* F = 1016 + 53 */
    data(1053, SINGLE, 2, 3); /* x = 1068, so q = F + 5 = 1074 */
    data(1106, SINGLE, 3, 3); /* x = 1121, F = 1130, q = 1135 */
    run(1300);
    EQ(line(0)->at, 1016);
    EQ(line(1)->at, 1077);
    EQ(line(2)->at, 1138);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), 1023);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 1), 1084);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 2), 1145);
    EQ(unit->in_message_count, 3);
}

static void an_acknowledgement_request_at_its_end_waits_and_one_after_it_does_not(void)
{
    alone();
    data(1000, SINGLE, 1, 3); /* F = 1069 */
    data(1054, SINGLE, 2, 3); /* x = 1069: not above F */
    run(1300);
    EQ(line(1)->at, 1069 + 5 + 3);
    alone();
    data(1000, SINGLE, 1, 3);
    data(1055, SINGLE, 2, 3); /* x = 1070 */
    run(1300);
    EQ(line(1)->at, 1070 + 3);
}

static void state2_takes_its_label_first(void)
{
    /* The pass of the only cell is 50-55, its second cycle 51: x - 3 where E = 41. */
    for (uint64_t e = 40; e <= 42; e++) {
        struct leat_atm_aal_unit *unit = alone();
        write_to(unit, THERE, 4);
        data(e, SINGLE, 1, 3);
        run(200);
        const uint64_t q = e + 13 + (e == 41);
        EQ(line_word(0, 5), LEAT_ATM_TASK_ACK);
        EQ(line(0)->at, q + 3);
        EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), q + 10);
        EQ(line_word(0, 0) >> 4, 4 * 3 + (e == 40 ? 0 : 1));
        EQ(line_word(1, 0) >> 4, 4 * THERE + (e == 40 ? 1 : 0));
        EQ(unit->path, 2);
    }
}

static void an_acknowledgement_is_counted_after_9_cycles_and_2_for_each_block_before(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 40); /* two cells, on the line at 253 and 309 */
    ack(1000, 2, THERE);
    run(1010);
    EQ(unit->send_block[1].acks_missing, 1);
    run(1011);
    EQ(unit->send_block[1].acks_missing, 0);
    run(1013);
    OK(!leat_atm_aal_unit_blktofr(unit, 1, now));
    run(1014);
    OK(leat_atm_aal_unit_blktofr(unit, 1, now));
    run(1015);
    EQ(unit->receive.busy_count, 1);
    run(1016);
    EQ(unit->receive.busy_count, 0);
    run(1030);
    EQ(unit->send.busy_count, 1);
    EQ(unit->messages_busy, 1);
    ack(1100, 7, THERE); /* nobody waits for it: the whole list of one */
    run(1115);
    EQ(unit->receive.busy_count, 1);
    run(1116);
    EQ(unit->receive.busy_count, 0);
    EQ(unit->counts.acks_unmatched, 1);
    ack(1200, 1, THERE);
    run(1220);
    EQ(unit->send.busy_count, 0);
    EQ(unit->messages_busy, 0); /* with the last block of the message */
}

static void a_lone_acknowledged_block_is_freed_whatever_cycle_the_walk_is_in(void)
{
    for (uint64_t e = 200; e < 204; e++) {
        struct leat_atm_aal_unit *unit = alone();
        write_to(unit, THERE, 4);
        ack(e, 1, THERE);
        run(e + 9 + 3 + 3);
        EQ(unit->send.busy_count, 0);
    }
}

static void acknowledgements_of_broadcast_and_of_point_to_point_are_told_apart(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4);
    ack_of_broadcast(500, 1, THERE);
    run(600);
    EQ(unit->counts.acks_unmatched, 1);
    EQ(unit->send_block[0].acks_missing, 1);
}

/* Note R7 */

static void every_copy_is_acknowledged_and_kept_once(void)
{
    struct leat_atm_aal_unit *unit = alone();
    for (uint16_t i = 0; i < 3; i++)
        data(1000 + 100u * i, SINGLE, 1, 3);
    run(2000);
    EQ(stations[0].line_count, 3);
    EQ(told_count(LEAT_ATM_AAL_COMPLETE), 1);
    EQ(unit->receive.busy_count, 1);
    EQ(unit->counts.duplicates, 2);
}

static void a_cell_ahead_is_parked_and_joins_twelve_cycles_after_the_one_it_waits_for(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, BEGIN, 1, 3);
    data(1200, END, 3, 3);
    run(1300);
    EQ(unit->counts.parked, 1);
    EQ(unit->in_message_count, 1);
    data(1400, MIDDLE, 2, 3); /* q = 1415, joins 1425, its service ends 1426 */
    run(2000);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 0), 1437);
    EQ(stations[0].line_count, 3); /* no second acknowledgement of the parked one */
    EQ(unit->in_message_count, 3);
    uint8_t last[36 * 2 + 16];
    leat_atm_aal_unit_copy(unit, unit->message_told, 0, last, sizeof last);
    EQ(last[15], 1);
    EQ(last[15 + 36], 2);
    EQ(last[15 + 72], 3);
}

static void a_copy_of_a_parked_cell_is_acknowledged_and_not_kept(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 2, 3);
    data(1200, SINGLE, 2, 3);
    data(1400, SINGLE, 1, 3);
    run(2000);
    EQ(stations[0].line_count, 3);
    EQ(told_count(LEAT_ATM_AAL_COMPLETE), 2);
    EQ(unit->counts.duplicates, 1);
    EQ(unit->receive.busy_count, 2);
    EQ(unit->parked_count, 0);
}

/* What is further ahead could not be kept: who acknowledged it would lose it. */
static void ahead_is_less_than_a_send_buffer(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1 + 1886, 3);
    data(1200, SINGLE, 1 + 1887, 3);
    data(1400, SINGLE, 32768, 3);
    data(1600, SINGLE, 32769, 3);
    run(2200);
    EQ(unit->counts.parked, 1);
    EQ(unit->counts.beyond, 2);
    EQ(unit->counts.duplicates, 1); /* half of all numbers are behind */
    EQ(stations[0].line_count, 2);
    EQ(unit->receive.busy_count, 1);
}

static void numbers_go_from_65535_to_0_on_both_sides(void)
{
    struct leat_atm_aal_unit *unit = alone();
    unit->peer[THERE].number = 65533;
    unit->peer[3].received[1] = 65533;
    write_to(unit, THERE, 80);
    run(800);
    EQ(line_word(0, 9), 65534);
    EQ(line_word(1, 9), 65535);
    EQ(line_word(2, 9), 0);
    ack(1000, 0, THERE);
    ack(1200, 65535, THERE);
    data(2000, SINGLE, 0, 3); /* parked */
    data(2200, SINGLE, 65534, 3);
    data(2400, SINGLE, 65535, 3);
    data(2600, SINGLE, 65535, 3);
    data(2800, SINGLE, 1, 3);
    run(3000);
    EQ(unit->send.busy_count, 1);
    EQ(unit->counts.parked, 1);
    EQ(unit->counts.duplicates, 1);
    EQ(told_count(LEAT_ATM_AAL_COMPLETE), 4);
    EQ(unit->peer[3].received[1], 1);
}

/* Note R8 */

static void a_broadcast_needs_the_acknowledgement_of_every_port(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, LEAT_ATM_TASK_BROADCAST, 4);
    run(200);
    EQ(line_word(0, 13), LEAT_ATM_TASK_BROADCAST);
    EQ(line_word(0, 0), (4 * 16) << 4);
    EQ(unit->send_block[0].acks_missing, 16);
    for (uint16_t port = 0; port < PORTS; port++) {
        EQ(unit->send.busy_count, 1);
        ack_of_broadcast(1000 + 100u * port, 1, port);
        ack_of_broadcast(1050 + 100u * port, 1, port); /* not counted twice */
        run(1099 + 100u * port);
        EQ(unit->counts.acks_unmatched, port + 1u);
    }
    EQ(unit->send.busy_count, 0);
}

static void a_cell_without_acknowledgement_is_sent_again_after_400000_cycles(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4);
    run(58 + 53 + 399998);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 1);
    run(now + 1);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 0);
    run(now + 60);
    EQ(stations[0].line_count, 2);
    EQ(line(1)->at, 58 + 400056); /* seen at the next look: the walk looks in even cycles here */
    OK(memcmp(line(0)->cell, line(1)->cell, LEAT_ATM_TASK_CELL_LEN) == 0);
    EQ(unit->counts.retransmissions, 1);
    ack(now + 100, 1, THERE);
    run(now + 500000);
    EQ(stations[0].line_count, 2);
    EQ(unit->send.busy_count, 0);
}

static void after_eight_transmissions_a_block_is_undeliverable(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4);
    run(10 * 400100);
    EQ(stations[0].line_count, 8);
    EQ(told_count(LEAT_ATM_AAL_UNDELIVERABLE), 1);
    EQ(told_at(LEAT_ATM_AAL_UNDELIVERABLE, 0), line(7)->at + 400052);
    EQ(unit->block_told, 0);
    EQ(unit->send_block[unit->block_told].destination, THERE);
    EQ(unit->send.busy_count, 0);
    EQ(unit->messages_busy, 0);
    EQ(unit->counts.undeliverable, 1);
    ack(now + 10, 1, THERE); /* too late */
    run(now + 100);
    EQ(unit->counts.acks_unmatched, 1);
}

static void a_block_given_up_shows_no_time_until_it_is_freed(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.transmissions_max = 1;
    struct leat_atm_aal_unit *unit = alone_with(c);
    write_to(unit, THERE, 4);
    while (unit->counts.undeliverable == 0 && now < 500000)
        run(now + 1);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 0);
    EQ(unit->send.busy_count, 1);
    run(now + 1);
    EQ(unit->send.busy_count, 1);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 0);
}

/* Note R9 */

static void broadcasts_leave_after_40000_cycles_and_others_only_once_served(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data_for_all(1000, SINGLE, 1, 3); /* complete at 1023 */
    data(2000, SINGLE, 1, 3);         /* complete at 2025 */
    run(1023 + 39999);
    EQ(unit->in_message_count, 2);
    run(1023 + 40000);
    EQ(unit->in_message_count, 1);
    EQ(unit->counts.discarded_unread, 1);
    run(100000);
    EQ(unit->in_message_count, 1);
    ask(unit, for_rcv);
    run(now + 200);
    EQ(told_count(LEAT_ATM_AAL_GRANTED), 1);
    EQ(unit->in_message_count, 1); /* not while it is being read */
    end_reading(unit);
    run(now + 1);
    EQ(unit->in_message_count, 0);
    EQ(told_count(LEAT_ATM_AAL_DISCARDED), 2);
    EQ(unit->counts.discarded, 2);
    EQ(unit->counts.discarded_unread, 1);
    EQ(unit->receive.busy_count, 0);
}

static void a_served_message_keeps_its_blocks_until_it_is_obsolete(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 3);
    run(1100);
    ask(unit, for_rcv);
    run(1200);
    end_reading(unit);
    run(41022);
    EQ(unit->in_message_count, 1);
    run(41023);
    EQ(unit->in_message_count, 0);
}

static void a_message_without_a_descriptor_waits_for_one(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.descriptors = 2;
    struct leat_atm_aal_unit *unit = alone_with(c);
    data_for_all(1000, SINGLE, 1, 3); /* obsolete at 41023 */
    data(2000, SINGLE, 1, 3);
    data(3000, BEGIN, 2, 3);
    data(3200, END, 3, 3);
    data(3400, SINGLE, 1, 4); /* other sources have their own */
    run(41022);
    EQ(unit->counts.parked, 2);
    EQ(told_count(LEAT_ATM_AAL_COMPLETE), 3);
    run(41023 + 100);
    EQ(told_at(LEAT_ATM_AAL_COMPLETE, 3), 41023 + 12 + 11);
    EQ(unit->peer[3].message_count, 2);
}

static void end_cells_join_the_open_message_of_their_source_and_type(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, BEGIN, 1, 3);
    data_for_all(1100, BEGIN, 1, 3);
    data(1200, BEGIN, 1, 4);
    data_for_all(1300, END, 2, 3);
    run(1400);
    EQ(told_count(LEAT_ATM_AAL_COMPLETE), 1);
    EQ(unit->message_told, 1); /* the block of the second cell */
    data(1500, END, 2, 4);
    run(1600);
    EQ(unit->message_told, 2);
    data(1700, END, 2, 3);
    run(1800);
    EQ(unit->message_told, 0);
}

/* Note 5.2 and R10 */

static uint16_t served(struct leat_atm_aal_unit *unit, struct leat_atm_task_message message)
{
    const unsigned before = told_count(LEAT_ATM_AAL_GRANTED);
    const uint64_t at = now + 1;
    ask(unit, message);
    run(now + 100);
    if (told_count(LEAT_ATM_AAL_GRANTED) == before) {
        EQ(unit->reply_at, at + 80); /* 15 for the words, 66 for the search */
        return LEAT_ATM_AAL_NONE;
    }
    EQ(unit->reply_at, at + 21);
    const uint16_t message_read = unit->message_read;
    end_reading(unit);
    return message_read;
}

static void messages_are_served_by_source_and_the_oldest_first(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 9);
    data(1100, SINGLE, 2, 9);
    data(1200, BEGIN, 1, 4); /* begun before and complete after the next one */
    data_for_all(1300, SINGLE, 1, 4);
    data(1400, END, 2, 4);
    run(2000);
    EQ(served(unit, for_rcv), 2);
    EQ(served(unit, for_rcv), 3);
    EQ(served(unit, for_rcv), 0);
    EQ(served(unit, for_rcv), 1);
    EQ(served(unit, for_rcv), LEAT_ATM_AAL_NONE);
}

static void a_read_request_matches_name_instance_and_id(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 9);
    run(2000);
    for (int i = 0; i < 5; i++) {
        struct leat_atm_task_message other = for_rcv;
        uint32_t *field[] = { &other.name[0], &other.name[1], &other.name[2], &other.instance,
                              &other.id };
        *field[i] += 1;
        EQ(served(unit, other), LEAT_ATM_AAL_NONE);
    }
    EQ(served(unit, for_rcv), 0);
    EQ(served(unit, for_rcv), LEAT_ATM_AAL_NONE);
}

static void a_message_for_all_instances_is_served_to_each_of_them_once(void)
{
    struct leat_atm_aal_unit *unit = alone();
    struct leat_atm_task_message asked = for_rcv;
    data_for_all(1000, SINGLE, 1, 9);
    run(2000);
    for (asked.instance = 0; asked.instance < LEAT_ATM_AAL_SERVED_MAX; asked.instance++) {
        EQ(served(unit, asked), 0);
        EQ(served(unit, asked), LEAT_ATM_AAL_NONE);
    }
    EQ(served(unit, asked), LEAT_ATM_AAL_NONE); /* more of one name are a mistake of the set-up */
}

static void a_message_to_one_port_may_be_for_all_instances_too(void)
{
    struct leat_atm_aal_unit *unit = alone();
    struct leat_atm_task_message asked = for_rcv;
    wired = true;
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND });
    tell(unit,
         (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_DESTINATION, .destination = HERE });
    tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_SEND, .message = for_all });
    run(1000);
    EQ(served(unit, asked), 0);
    asked.instance++;
    EQ(served(unit, asked), 0);
    run(50000);
    EQ(unit->in_message_count, 0);
    EQ(served(unit, asked), LEAT_ATM_AAL_NONE);
}

static void gets_that_wait_behind_a_request_do_not_move_its_answer(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 9);
    run(2000);
    ask(unit, for_rcv); /* 2001-2015, STATE8 2016-2022 */
    get(unit, 4);
    get(unit, 3);
    run(2016);
    EQ(unit->reply_at, 2022);
    run(3000);
    EQ(told_count(LEAT_ATM_AAL_GOT), 1);
    EQ(told_at(LEAT_ATM_AAL_GOT, 0), 2022 + 19 + 15);
}

static void eight_commands_of_each_kind_wait_and_no_more(void)
{
    struct leat_atm_aal_unit *unit = alone();
    for (int i = 0; i < LEAT_ATM_AAL_COMMANDS_MAX; i++) {
        OK(tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND,
                                                     .not_before = 1000 }));
        OK(tell(unit,
                (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE, .not_before = 1000 }));
    }
    OK(!tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND }));
    OK(!tell(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE }));
}

static void the_next_message_waits_until_this_one_is_written(void)
{
    struct leat_atm_aal_unit *unit = alone();
    write_to(unit, THERE, 4); /* written in cycle 55 */
    write_to(unit, 3, 0);
    run(57);
    EQ(unit->send.busy_count, 1);
    run(58);
    EQ(unit->send.busy_count, 2);
    run(1000);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 1), 55 + 3 + 3 + 15 + 15);
    EQ(line_word(0, 13), THERE);
    EQ(line_word(0, 7), SINGLE);
    EQ(line_word(1, 13), 3);
}

/* Full send buffers: note 5.2 */

static struct leat_atm_aal_unit *three_blocks(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.send_blocks = 3;
    return alone_with(c);
}

static void a_message_that_finds_no_block_waits_for_those_before_it(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, 40); /* two blocks */
    run(1000);
    write_to(unit, 3, 20); /* 16 octets, then a block: 1004 + 19 * 4 + 4 */
    run(1083);
    EQ(told_count(LEAT_ATM_AAL_NOMEM), 0);
    run(1084);
    EQ(told_at(LEAT_ATM_AAL_NOMEM, 0), 1084);
    EQ(unit->nomem, 1);
    ack(2000, 2, THERE); /* counted 2011, to be freed from 2014 on */
    while (unit->nomem && now < 3000)
        run(now + 1);
    OK(now > 2014 && now <= 2014 + 2 * 3 + 1);
    const uint64_t waited = now - 1084;
    run(3000);
    EQ(told_count(LEAT_ATM_AAL_TOOLONG), 0);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 1), 1000 + waited + 3 + 95 + 3 + 15 + 5 + 20);
    EQ(unit->messages_busy, 2);
}

static void readers_use_the_unit_while_a_writer_waits(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, 40);
    data(500, SINGLE, 1, 9);
    run(1000);
    write_to(unit, 3, 20);
    run(2000);
    ask(unit, for_rcv);
    get(unit, 16);
    ack(2010, 2, THERE);
    run(2098);
    EQ(told_at(LEAT_ATM_AAL_GOT, 0), 2098);
    EQ(unit->nomem, 1); /* a block is free, but the unit is not */
    end_reading(unit);
    run(2099);
    EQ(unit->nomem, 0);
}

static void a_writer_goes_on_after_a_reader_that_was_denied(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, 40);
    run(1000);
    write_to(unit, 3, 20);
    ack(2000, 1, THERE);
    ask(unit, for_rcv);
    run(2081); /* atmrcv 2001-2015, STATE8 2016-2081 */
    EQ(unit->send.busy_count, 2);
    EQ(unit->nomem, 1);
    run(2082);
    EQ(unit->nomem, 0);
    run(3000);
    EQ(told_count(LEAT_ATM_AAL_WRITTEN), 2);
}

static void a_message_that_fills_the_buffer_is_warned_of_and_a_longer_one_thrown_away(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, leat_atm_aal_message_max(3));
    run(2000);
    EQ(told_count(LEAT_ATM_AAL_TOOLONG), 1);
    EQ(told_count(LEAT_ATM_AAL_EXIT), 0);
    EQ(told_count(LEAT_ATM_AAL_WRITTEN), 1);
    EQ(unit->send.busy_count, 3);

    unit = three_blocks();
    write_to(unit, THERE, leat_atm_aal_message_max(3) + 1);
    run(2000); /* octet 88: 4 + 19 * 22 + 4 */
    EQ(told_at(LEAT_ATM_AAL_EXIT, 0), 426);
    EQ(told_count(LEAT_ATM_AAL_WRITTEN), 0);
    EQ(unit->send.busy_count, 0);
    EQ(stations[0].line_count, 0);
    write_to(unit, THERE, 4); /* the rest of the long one is forgotten */
    run(3000);
    EQ(told_at(LEAT_ATM_AAL_WRITTEN, 0), 2055);
    EQ(stations[0].line_count, 1);
}

static void an_exit_follows_when_those_before_it_are_gone(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, 4);
    run(500);
    write_to(unit, 3, leat_atm_aal_message_max(3) + 1);
    run(1500);
    EQ(told_count(LEAT_ATM_AAL_NOMEM), 1);
    ack(2000, 1, THERE);
    run(4000);
    EQ(told_count(LEAT_ATM_AAL_EXIT), 1);
    EQ(told_count(LEAT_ATM_AAL_TOOLONG), 1);
    EQ(unit->send.busy_count, 0);
}

/* Set-up */

static void values_of_the_thesis_are_the_defaults(void)
{
    const struct leat_atm_aal_config c = thesis(HERE);
    EQ(c.port, HERE);
    EQ(c.ports, PORTS);
    EQ(c.paths, PATHS);
    EQ(c.header_octets, 2);
    EQ(c.send_blocks, 1887);
    EQ(c.receive_blocks, 1887);
    EQ(c.descriptors, 32);
    EQ(c.retransmit_cycles, 400000);
    EQ(c.obsolete_cycles, 40000);
    EQ(c.transmissions_max, 8);
    EQ(leat_atm_aal_config_check(&c), LEAT_ERR_OK);
}

static void configurations_outside_the_limits_are_refused(void)
{
    struct leat_atm_aal_config c = thesis(0);
    const struct {
        uint32_t *field, low, high; /* the ends of what is allowed */
    } limits[] = {
        { &c.ports, 1, 1023 }, /* 4 paths to 1023 ports and to all: a VPI has 12 bits */
        { &c.port, 0, PORTS - 1 },
        { &c.paths, 1, 240 },
        { &c.send_blocks, 1, LEAT_ATM_AAL_BLOCKS_MAX },
        { &c.receive_blocks, 1, LEAT_ATM_AAL_BLOCKS_MAX },
        { &c.descriptors, 1, UINT16_MAX },
        { &c.retransmit_cycles, 1, UINT32_MAX },
        { &c.obsolete_cycles, 1, UINT32_MAX },
        { &c.transmissions_max, 1, UINT8_MAX },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint32_t *field = limits[i].field;
        const uint32_t sound = *field, low = limits[i].low, high = limits[i].high;
        const uint32_t tried[] = { low, high, low - 1, high + 1 };
        for (int j = 0; j < 4; j++) {
            *field = tried[j];
            const bool allowed = tried[j] >= low && tried[j] <= high;
            EQ(leat_atm_aal_config_check(&c), allowed ? LEAT_ERR_OK : LEAT_ERR_RANGE);
        }
        *field = sound;
    }
    for (uint32_t i = 0; i < 6; i++) {
        c.header_octets = i;
        EQ(leat_atm_aal_config_check(&c), i == 2 || i == 4 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
    }
    c.header_octets = 4;
    c.ports = LEAT_ATM_AAL_PORTS_MAX;
    EQ(leat_atm_aal_config_check(&c), LEAT_ERR_OK);
    c.ports++;
    EQ(leat_atm_aal_config_check(&c), LEAT_ERR_RANGE);
}

static void a_unit_stays_within_its_footprint(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.send_blocks = 5;
    c.receive_blocks = 9;
    c.ports = 70;
    const size_t len = leat_atm_aal_unit_footprint(&c);
    OK(len > (5 + 9) * 53);
    OK(len < MEMORY_OCTETS - 64);
    struct leat_atm_aal_unit *unit = alone_with(c);
    memset(memory[0] + len, 0xa5, 64);
    wired = true;
    write_to(unit, LEAT_ATM_TASK_BROADCAST, leat_atm_aal_message_max(5));
    run(5000);
    for (size_t i = 0; i < 64; i++)
        EQ(memory[0][len + i], 0xa5);
    EQ(unit->in_message_count, 5);
    EQ(unit->send_block[0].acks_missing, 69); /* its own has come */
}

TAP_MAIN(T(the_closed_form_has_the_values_of_the_note),
         T(four_octets_to_oneself_take_the_stages_of_the_note),
         T(eight_octets_to_oneself_take_231_cycles), T(any_size_takes_the_time_of_the_closed_form),
         T(the_longest_message_has_67912_octets_and_arrives_whole),
         T(the_cells_of_the_two_message_test_have_the_published_checksums),
         T(labels_of_four_octets_are_a_vpi_and_a_vci),
         T(cells_start_56_cycles_apart_and_take_the_paths_in_turn),
         T(an_idle_list_is_walked_at_two_cycles_a_block),
         T(a_refused_cell_starts_again_six_cycles_later_until_it_passes),
         T(a_cell_that_is_held_begins_later), T(bad_cells_and_cells_for_others_leave_no_trace),
         T(room_is_what_the_receive_buffer_has_left),
         T(a_data_cell_is_acknowledged_13_cycles_after_it_is_in_15_behind_others),
         T(cells_that_come_at_once_wait_for_the_acknowledgement_before_theirs),
         T(an_acknowledgement_request_at_its_end_waits_and_one_after_it_does_not),
         T(state2_takes_its_label_first),
         T(an_acknowledgement_is_counted_after_9_cycles_and_2_for_each_block_before),
         T(a_lone_acknowledged_block_is_freed_whatever_cycle_the_walk_is_in),
         T(acknowledgements_of_broadcast_and_of_point_to_point_are_told_apart),
         T(every_copy_is_acknowledged_and_kept_once),
         T(a_cell_ahead_is_parked_and_joins_twelve_cycles_after_the_one_it_waits_for),
         T(a_copy_of_a_parked_cell_is_acknowledged_and_not_kept),
         T(ahead_is_less_than_a_send_buffer), T(numbers_go_from_65535_to_0_on_both_sides),
         T(a_broadcast_needs_the_acknowledgement_of_every_port),
         T(a_cell_without_acknowledgement_is_sent_again_after_400000_cycles),
         T(after_eight_transmissions_a_block_is_undeliverable),
         T(a_block_given_up_shows_no_time_until_it_is_freed),
         T(broadcasts_leave_after_40000_cycles_and_others_only_once_served),
         T(a_served_message_keeps_its_blocks_until_it_is_obsolete),
         T(a_message_without_a_descriptor_waits_for_one),
         T(end_cells_join_the_open_message_of_their_source_and_type),
         T(messages_are_served_by_source_and_the_oldest_first),
         T(a_read_request_matches_name_instance_and_id),
         T(a_message_for_all_instances_is_served_to_each_of_them_once),
         T(a_message_to_one_port_may_be_for_all_instances_too),
         T(gets_that_wait_behind_a_request_do_not_move_its_answer),
         T(eight_commands_of_each_kind_wait_and_no_more),
         T(the_next_message_waits_until_this_one_is_written),
         T(a_message_that_finds_no_block_waits_for_those_before_it),
         T(readers_use_the_unit_while_a_writer_waits),
         T(a_writer_goes_on_after_a_reader_that_was_denied),
         T(a_message_that_fills_the_buffer_is_warned_of_and_a_longer_one_thrown_away),
         T(an_exit_follows_when_those_before_it_are_gone), T(values_of_the_thesis_are_the_defaults),
         T(configurations_outside_the_limits_are_refused), T(a_unit_stays_within_its_footprint))
