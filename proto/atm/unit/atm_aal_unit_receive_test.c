/*
 * The receiving side of the adaptation layer unit, rule by rule, with the cycles of note 5 as
 * literals: cells and acknowledgements, time-outs, and reading messages.
 */
#include "atm_aal_unit_test.h"

/* Note R5 */

static void bad_cells_and_cells_for_others_leave_no_trace(void)
{
    struct leat_atm_aal_unit *unit = alone();
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    leat_put_be16(cell + 13, HERE);
    leat_put_be16(cell + 51, (uint16_t)(leat_crc16(0, cell + 5, 46) ^ 1));
    leat_atm_aal_unit_receive(unit, cell, 0);
    arrive(10, LEAT_ATM_TASK_MESSAGE, SINGLE, 1, 3, HERE + 1);
    arrive(20, LEAT_ATM_TASK_MESSAGE, SINGLE, 1, PORTS, HERE); /* from a port that does not exist */
    arrive(30, 2, SINGLE, 1, 3, HERE);                         /* no such type */
    EQ(unit->counts.bad_cells, 1);
    EQ(unit->counts.misdelivered, 3);
    EQ(unit->receive.busy_count, 0);
    run(1000);
    EQ(stations[0].line_count, 0);
}

static void a_cell_known_to_be_sound_is_not_checked(void)
{
    struct leat_atm_aal_unit *unit = alone();
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    leat_put_be16(cell + 9, 1);
    leat_put_be16(cell + 11, 3);
    leat_put_be16(cell + 13, HERE);
    leat_put_be16(cell + 51, (uint16_t)(leat_crc16(0, cell + 5, 46) ^ 1));
    leat_atm_aal_unit_receive_sound(unit, cell, 0);
    EQ(unit->receive.busy_count, 1);
    EQ(unit->counts.cells_received, 1);
    EQ(unit->counts.bad_cells, 0);
    leat_put_be16(cell + 13, HERE + 1);
    leat_atm_aal_unit_receive_sound(unit, cell, 1);
    EQ(unit->counts.misdelivered, 1);
}

static void to_fetch_a_message_changes_nothing(void)
{
    static struct leat_atm_aal_unit before;
    struct leat_atm_aal_unit *unit = alone();
    data(1000, SINGLE, 1, 3);
    run(1100);
    before = *unit;
    leat_atm_aal_unit_fetch(unit, unit->message_reported);
    leat_atm_aal_unit_fetch_state(unit);
    leat_atm_aal_unit_fetch_blocks(unit, NULL, 1100);
    leat_atm_aal_unit_fetch_blocks(unit, unit->receive_cell, LEAT_NEVER);
    EQ(memcmp(&before, unit, sizeof before), 0);
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
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), 2025);
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
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), 1023);
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 1), 1084);
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 2), 1145);
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
        EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), q + 10);
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
    ack(1100, 7, THERE); /* no block waits for it: the whole list of one */
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

static void acknowledgements_of_broadcast_and_of_point_to_point_are_distinguished(void)
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
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 1);
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
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 0), 1437);
    EQ(stations[0].line_count, 3); /* no second acknowledgement of the parked one */
    EQ(unit->in_message_count, 3);
    uint8_t last[36 * 2 + 16];
    leat_atm_aal_unit_copy(unit, unit->message_reported, 0, last, sizeof last);
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
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 2);
    EQ(unit->counts.duplicates, 1);
    EQ(unit->receive.busy_count, 2);
    EQ(unit->peer[3].stream.parked_first, 0);
}

static void parked_cells_join_in_the_order_of_their_numbers_however_they_came(void)
{
    static const uint16_t came[] = { 65535, 1, 4, 3, 0, 2, 3 }; /* the last is a copy */
    struct leat_atm_aal_unit *unit = alone();
    unit->peer[3].stream.received = 65533;
    for (uint16_t i = 0; i < sizeof came / sizeof *came; i++)
        data(1000 + 200u * i, SINGLE, came[i], 3);
    run(2500);
    EQ(unit->counts.parked, 6);
    EQ(unit->counts.duplicates, 1);
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 0);
    data(3000, SINGLE, 65534, 3);
    run(3500);
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 7);
    uint16_t message = unit->peer[3].first_message;
    for (uint16_t number = 65534; number != 5; number++) {
        EQ(unit->receive_block[message].sequence, number);
        message = unit->message[message].next_of_source;
    }
    EQ(unit->peer[3].stream.parked_first, 0);
}

/* Cells further ahead could not be kept: acknowledging them would lose them. */
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
    unit->peer[3].stream.received = 65533;
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
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 4);
    EQ(unit->peer[3].stream.received, 1);
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
    EQ(reported_count(LEAT_ATM_AAL_UNDELIVERABLE), 1);
    EQ(reported_at(LEAT_ATM_AAL_UNDELIVERABLE, 0), line(7)->at + 400052);
    EQ(unit->block_reported, 0);
    EQ(unit->send_block[unit->block_reported].destination, THERE);
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
    EQ(reported_count(LEAT_ATM_AAL_GRANTED), 1);
    EQ(unit->in_message_count, 1); /* not while it is being read */
    end_reading(unit);
    run(now + 1);
    EQ(unit->in_message_count, 0);
    EQ(reported_count(LEAT_ATM_AAL_DISCARDED), 2);
    EQ(unit->counts.discarded, 2);
    EQ(unit->counts.discarded_unread, 1);
    EQ(unit->receive.busy_count, 0);
}

static void a_broadcast_that_is_kept_stays_until_it_is_served(void)
{
    struct leat_atm_aal_unit *unit = alone();
    data_for_all(1000, SINGLE, 1, 3); /* complete at 1023 */
    run(1023);
    leat_atm_aal_unit_keep(unit, unit->message_reported);
    data_for_all(2000, SINGLE, 1, 4);
    run(100000);
    EQ(unit->in_message_count, 1);
    EQ(unit->counts.discarded_unread, 1);
    ask(unit, for_rcv);
    run(now + 200);
    EQ(reported_count(LEAT_ATM_AAL_GRANTED), 1);
    end_reading(unit);
    run(now + 1);
    EQ(unit->in_message_count, 0);
    EQ(unit->counts.discarded_unread, 1);
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
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 3);
    run(41023 + 100);
    EQ(reported_at(LEAT_ATM_AAL_COMPLETE, 3), 41023 + 12 + 11);
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
    EQ(reported_count(LEAT_ATM_AAL_COMPLETE), 1);
    EQ(unit->message_reported, 1); /* the block of the second cell */
    data(1500, END, 2, 4);
    run(1600);
    EQ(unit->message_reported, 2);
    data(1700, END, 2, 3);
    run(1800);
    EQ(unit->message_reported, 0);
}

/* Note 5.2 and R10 */

static uint16_t served(struct leat_atm_aal_unit *unit, struct leat_atm_task_message message)
{
    const unsigned before = reported_count(LEAT_ATM_AAL_GRANTED);
    const uint64_t at = now + 1;
    ask(unit, message);
    run(now + 100);
    if (reported_count(LEAT_ATM_AAL_GRANTED) == before) {
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
    command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND });
    command(unit,
            (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_DESTINATION, .destination = HERE });
    command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_SEND, .message = for_all });
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
    EQ(reported_count(LEAT_ATM_AAL_GOT), 1);
    EQ(reported_at(LEAT_ATM_AAL_GOT, 0), 2022 + 19 + 15);
}

TAP_MAIN(T(bad_cells_and_cells_for_others_leave_no_trace),
         T(a_cell_known_to_be_sound_is_not_checked), T(to_fetch_a_message_changes_nothing),
         T(room_is_what_the_receive_buffer_has_left),
         T(a_data_cell_is_acknowledged_13_cycles_after_it_is_in_15_behind_others),
         T(cells_that_come_at_once_wait_for_the_acknowledgement_before_theirs),
         T(an_acknowledgement_request_at_its_end_waits_and_one_after_it_does_not),
         T(state2_takes_its_label_first),
         T(an_acknowledgement_is_counted_after_9_cycles_and_2_for_each_block_before),
         T(a_lone_acknowledged_block_is_freed_whatever_cycle_the_walk_is_in),
         T(acknowledgements_of_broadcast_and_of_point_to_point_are_distinguished),
         T(every_copy_is_acknowledged_and_kept_once),
         T(a_cell_ahead_is_parked_and_joins_twelve_cycles_after_the_one_it_waits_for),
         T(a_copy_of_a_parked_cell_is_acknowledged_and_not_kept),
         T(parked_cells_join_in_the_order_of_their_numbers_however_they_came),
         T(ahead_is_less_than_a_send_buffer), T(numbers_go_from_65535_to_0_on_both_sides),
         T(a_broadcast_needs_the_acknowledgement_of_every_port),
         T(a_cell_without_acknowledgement_is_sent_again_after_400000_cycles),
         T(after_eight_transmissions_a_block_is_undeliverable),
         T(a_block_given_up_shows_no_time_until_it_is_freed),
         T(broadcasts_leave_after_40000_cycles_and_others_only_once_served),
         T(a_broadcast_that_is_kept_stays_until_it_is_served),
         T(a_served_message_keeps_its_blocks_until_it_is_obsolete),
         T(a_message_without_a_descriptor_waits_for_one),
         T(end_cells_join_the_open_message_of_their_source_and_type),
         T(messages_are_served_by_source_and_the_oldest_first),
         T(a_read_request_matches_name_instance_and_id),
         T(a_message_for_all_instances_is_served_to_each_of_them_once),
         T(a_message_to_one_port_may_be_for_all_instances_too),
         T(gets_that_wait_behind_a_request_do_not_move_its_answer))
