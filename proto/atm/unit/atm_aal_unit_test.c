/*
 * The sending side of the adaptation layer unit, rule by rule, with the cycles of note 5 as
 * literals: commands, segmentation, sending, and limits.
 */
#include "atm_aal_unit_test.h"

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
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 0), 55);
    run(111);
    EQ(line(0)->at, 58);
    EQ(leat_atm_aal_unit_blktime(unit, 0, now), 399999);
    run(128);
    EQ(unit->receive.busy_count, 0);
    run(129); /* E */
    EQ(unit->receive.busy_count, 1);
    run(152);
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), 152);
    struct leat_atm_task_message other = for_rcv;
    other.id++;
    OK(leat_atm_aal_unit_has(unit, &for_rcv) && !leat_atm_aal_unit_has(unit, &other));
    EQ(line(1)->at, 146); /* its acknowledgement: q = 142, and the walk looks in even cycles */
    ask(unit, for_rcv);   /* atmrcv 153-167, STATE8 168-174 */
    get(unit, 4);
    run(192);
    EQ(reported_at(LEAT_ATM_AAL_GRANTED, 0), 168);
    OK(!leat_atm_aal_unit_has(unit, &for_rcv)); /* it has been served */
    EQ(unit->reply_at, 174);
    EQ(reported_count(LEAT_ATM_AAL_GOT), 0);
    run(193);
    EQ(reported_at(LEAT_ATM_AAL_GOT, 0), 193);
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
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 0), 74);
    EQ(line(0)->at, 77);
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), 171);
    ask(unit, for_rcv);
    get(unit, 8);
    run(300);
    EQ(reported_at(LEAT_ATM_AAL_GOT, 0), 231);
}

/* The reader is stations[0], because reported_at refers to it. */
static uint64_t one_way(uint32_t len)
{
    const struct leat_atm_aal_config here = thesis(HERE), there = thesis(THERE);
    now = station_count = 0;
    wired = true;
    set_up(&there);
    set_up(&here);
    write_to(&stations[1].unit, THERE, len);
    while (!reported_count(LEAT_ATM_AAL_COMPLETE) && now < 1000000)
        run(now + 1);
    ask(&stations[0].unit, for_rcv);
    if (len) get(&stations[0].unit, len);
    run(now + 40 + 5 * (uint64_t)len);
    return len ? reported_at(LEAT_ATM_AAL_GOT, 0) : stations[0].unit.reply_at;
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
    EQ(leat_atm_aal_unit_octets(reader, reader->message_read), 67912);
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
        OK(command(unit, c[i]));
    run(300);
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 0), 60);
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 1), 148);
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

static void checksums_may_be_left_out_and_nothing_else_changes(void)
{
    struct line cell[2];
    for (int i = 0; i < 2; i++) {
        struct leat_atm_aal_config c = thesis(HERE);
        c.unsealed = i == 1;
        write_to(alone_with(c), HERE, 4);
        run(60);
        cell[i] = *line(0);
    }
    EQ(memcmp(cell[0].cell, cell[1].cell, 51), 0);
    OK(leat_get_be16(cell[0].cell + 51) != 0);
    EQ(leat_get_be16(cell[1].cell + 51), 0);
    EQ(cell[0].at, cell[1].at);
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
    data(50, SINGLE, 1, 9); /* requests its acknowledgement in cycle 63 */
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
    EQ(stations[0].line_count, 12); /* the first start, ten more, then the acknowledgement */
    EQ(line(11)->at, 118 + 56);
    EQ(line_word(11, 5), LEAT_ATM_TASK_ACK);
}

static void steps_that_were_left_are_done_each_in_its_cycle(void)
{
    enum { LAST = 900000 }; /* the block is retransmitted meanwhile */
    static struct station prompt;
    for (int left = 0; left < 2; left++) {
        struct leat_atm_aal_unit *unit = alone();
        write_to(unit, THERE, 100);
        data(50, SINGLE, 1, 9);
        if (!left) {
            run(LAST);
            prompt = stations[0];
            continue;
        }
        EQ(leat_atm_aal_unit_step(unit, 50), 50); /* nothing is pending up to here */
        while (unit->wake_at <= LAST) {
            now = leat_atm_aal_unit_step(unit, LAST);
            collect(&stations[0]);
        }
    }
    OK(prompt.line_count > 4);
    EQ(stations[0].line_count, prompt.line_count);
    EQ(memcmp(stations[0].lines, prompt.lines, sizeof prompt.lines), 0);
    EQ(memcmp(&stations[0].unit.counts, &prompt.unit.counts, sizeof prompt.unit.counts), 0);
    for (unsigned flag = 0; flag < FLAGS; flag++) {
        EQ(stations[0].events[flag].count, prompt.events[flag].count);
        EQ(memcmp(stations[0].events[flag].at, prompt.events[flag].at,
                  sizeof prompt.events[flag].at),
           0);
    }
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

static void eight_commands_of_each_kind_wait_and_no_more(void)
{
    struct leat_atm_aal_unit *unit = alone();
    for (int i = 0; i < LEAT_ATM_AAL_COMMANDS_MAX; i++) {
        OK(command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND,
                                                        .not_before = 1000 }));
        OK(command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE,
                                                        .not_before = 1000 }));
    }
    OK(!command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND }));
    OK(!command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE }));
}

/* Two messages, one after the other. */
static void only_the_numbers_of_blocks_differ_if_the_last_one_is_used_again(void)
{
    struct line cell[2][4];
    for (int i = 0; i < 2; i++) {
        struct leat_atm_aal_config c = thesis(HERE);
        c.send_blocks = 3;
        c.reuses_last = i == 1;
        struct leat_atm_aal_unit *unit = alone_with(c);
        wired = true;
        write_to(unit, HERE, 4);
        run(1000);
        EQ(unit->send.busy_count, 0);
        write_to(unit, HERE, 4);
        run(1010);
        EQ(unit->send.busy_head, c.reuses_last ? 0 : 1);
        run(2000);
        for (unsigned k = 0; k < 4; k++)
            cell[i][k] = *line(k);
    }
    for (unsigned k = 0; k < 4; k++) {
        EQ(cell[0][k].at, cell[1][k].at);
        EQ(memcmp(cell[0][k].cell, cell[1][k].cell, LEAT_ATM_TASK_CELL_LEN), 0);
    }
}

static void all_blocks_are_used_and_freed_if_the_last_one_is_used_again(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.send_blocks = 3;
    c.receive_blocks = 4; /* and an acknowledgement */
    c.reuses_last = true;
    struct leat_atm_aal_unit *unit = alone_with(c);
    wired = true;
    for (int i = 0; i < 2; i++) {
        write_to(unit, HERE, leat_atm_aal_message_max(3));
        run(now + 1500);
        EQ(unit->in_message_count, 3);
        ask(unit, for_rcv);
        run(now + 100);
        EQ(reported_count(LEAT_ATM_AAL_GRANTED), i + 1);
        end_reading(unit);
        run(now + LEAT_ATM_AAL_OBSOLETE);
        EQ(leat_atm_aal_unit_room(unit), 4);
        EQ(unit->send.busy_count, 0);
    }
}

static void grants_are_not_reported_to_owners_that_do_not_wait_for_them(void)
{
    struct leat_atm_aal_config c = thesis(HERE);
    c.grants_unreported = true;
    struct leat_atm_aal_unit *unit = alone_with(c);
    wired = true;
    write_to(unit, HERE, 4);
    run(1000);
    command(unit, (struct leat_atm_aal_command){
                      .verb = LEAT_ATM_AAL_READ, .len = 4, .message = for_rcv });
    run(2000);
    EQ(reported_count(LEAT_ATM_AAL_GRANTED), 0);
    EQ(reported_count(LEAT_ATM_AAL_GOT), 1);
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
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 1), 55 + 3 + 3 + 15 + 15);
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
    EQ(reported_count(LEAT_ATM_AAL_NOMEM), 0);
    run(1084);
    EQ(reported_at(LEAT_ATM_AAL_NOMEM, 0), 1084);
    EQ(unit->nomem, 1);
    ack(2000, 2, THERE); /* counted 2011, to be freed from 2014 on */
    while (unit->nomem && now < 3000)
        run(now + 1);
    OK(now > 2014 && now <= 2014 + 2 * 3 + 1);
    const uint64_t waited = now - 1084;
    run(3000);
    EQ(reported_count(LEAT_ATM_AAL_TOOLONG), 0);
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 1), 1000 + waited + 3 + 95 + 3 + 15 + 5 + 20);
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
    EQ(reported_at(LEAT_ATM_AAL_GOT, 0), 2098);
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
    EQ(reported_count(LEAT_ATM_AAL_WRITTEN), 2);
}

static void a_message_that_fills_the_buffer_is_warned_of_and_a_longer_one_thrown_away(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, leat_atm_aal_message_max(3));
    run(2000);
    EQ(reported_count(LEAT_ATM_AAL_TOOLONG), 1);
    EQ(reported_count(LEAT_ATM_AAL_EXIT), 0);
    EQ(reported_count(LEAT_ATM_AAL_WRITTEN), 1);
    EQ(unit->send.busy_count, 3);

    unit = three_blocks();
    write_to(unit, THERE, leat_atm_aal_message_max(3) + 1);
    run(2000); /* octet 88: 4 + 19 * 22 + 4 */
    EQ(reported_at(LEAT_ATM_AAL_EXIT, 0), 426);
    EQ(reported_count(LEAT_ATM_AAL_WRITTEN), 0);
    EQ(unit->send.busy_count, 0);
    EQ(stations[0].line_count, 0);
    write_to(unit, THERE, 4); /* the rest of the long one is discarded */
    run(3000);
    EQ(reported_at(LEAT_ATM_AAL_WRITTEN, 0), 2055);
    EQ(stations[0].line_count, 1);
}

static void an_exit_follows_when_those_before_it_are_gone(void)
{
    struct leat_atm_aal_unit *unit = three_blocks();
    write_to(unit, THERE, 4);
    run(500);
    write_to(unit, 3, leat_atm_aal_message_max(3) + 1);
    run(1500);
    EQ(reported_count(LEAT_ATM_AAL_NOMEM), 1);
    ack(2000, 1, THERE);
    run(4000);
    EQ(reported_count(LEAT_ATM_AAL_EXIT), 1);
    EQ(reported_count(LEAT_ATM_AAL_TOOLONG), 1);
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
        uint32_t *field, low, high; /* the ends of the legal range */
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
    EQ(unit->send_block[0].acks_missing, 69); /* its own has arrived */
}

TAP_MAIN(T(the_closed_form_has_the_values_of_the_note),
         T(four_octets_to_oneself_take_the_stages_of_the_note),
         T(eight_octets_to_oneself_take_231_cycles), T(any_size_takes_the_time_of_the_closed_form),
         T(the_longest_message_has_67912_octets_and_arrives_whole),
         T(the_cells_of_the_two_message_test_have_the_published_checksums),
         T(labels_of_four_octets_are_a_vpi_and_a_vci),
         T(checksums_may_be_left_out_and_nothing_else_changes),
         T(cells_start_56_cycles_apart_and_take_the_paths_in_turn),
         T(an_idle_list_is_walked_at_two_cycles_a_block),
         T(a_refused_cell_starts_again_six_cycles_later_until_it_passes),
         T(steps_that_were_left_are_done_each_in_its_cycle), T(a_cell_that_is_held_begins_later),
         T(eight_commands_of_each_kind_wait_and_no_more),
         T(only_the_numbers_of_blocks_differ_if_the_last_one_is_used_again),
         T(all_blocks_are_used_and_freed_if_the_last_one_is_used_again),
         T(grants_are_not_reported_to_owners_that_do_not_wait_for_them),
         T(the_next_message_waits_until_this_one_is_written),
         T(a_message_that_finds_no_block_waits_for_those_before_it),
         T(readers_use_the_unit_while_a_writer_waits),
         T(a_writer_goes_on_after_a_reader_that_was_denied),
         T(a_message_that_fills_the_buffer_is_warned_of_and_a_longer_one_thrown_away),
         T(an_exit_follows_when_those_before_it_are_gone), T(values_of_the_thesis_are_the_defaults),
         T(configurations_outside_the_limits_are_refused), T(a_unit_stays_within_its_footprint))
