/* Single errors on the lines: the exact fate of the message that each of them hits. */
#include "sim_atm_line_oracle_test.h"

enum { RETRANSMIT = 3000, PATIENCE = 1000000 };

static struct leat_sim_atm_load_config scene_config(const char *fabric,
                                                    enum leat_sim_atm_model model)
{
    struct leat_sim_atm_load_config config = { .model = model };
    if (!fabric_named(fabric, &config.fabric)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.retransmit_cycles = RETRANSMIT;
    return config;
}

static void add_message(struct run *run, uint32_t from, uint32_t to, uint64_t at)
{
    run->message[from][run->message_count[from]++] =
        (struct message){ .to = to, .len = 16, .at = at };
}

/* Every port sends a few messages to every port. */
static void add_round(struct run *run, uint32_t ports, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t from = 0; from < ports; from++)
            for (uint32_t to = 0; to < ports; to++)
                add_message(run, from, to, 0);
}

static struct run *new_run(void)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) abort();
    return run;
}

/* Octets 5..52 with the requested differences from 0; the last two make them divisible by the
 * generator. */
static void seal_mask(uint8_t mask[CELL])
{
    mask[CRC_AT] = mask[CRC_AT + 1] = 0;
    const unsigned rest = remainder_of(mask + TYPE_AT, 8 * (CELL - TYPE_AT), 16, 0x1021);
    mask[CRC_AT] = (uint8_t)(rest >> 8);
    mask[CRC_AT + 1] = (uint8_t)rest;
}

struct attack {
    uint32_t port;
    enum leat_sim_atm_line_direction direction;
    unsigned type, sequence; /* of the cells that are hit */
    bool once;
    uint8_t mask[CELL];
    uint64_t hits;
    struct attack *next;
};

static bool is_hit(const struct attack *a, uint32_t port,
                   enum leat_sim_atm_line_direction direction, const uint8_t *cell)
{
    return port == a->port && direction == a->direction && word_at(cell, TYPE_AT) == a->type &&
           word_at(cell, SEQUENCE_AT) == a->sequence && !(a->once && a->hits > 0);
}

static leat_sim_atm_line_damage strike;
static void strike(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                   const uint8_t *cell, uint8_t *mask)
{
    for (struct attack *a = context; a; a = a->next)
        if (is_hit(a, port, direction, cell)) {
            a->hits++;
            memcpy(mask, a->mask, CELL);
        }
}

static void the_oracle_divides_as_the_note_says(void)
{
    static const struct {
        uint8_t header[4], hec;
    } headers[] = { { { 0, 0, 0, 0 }, 0x55 },
                    { { 0, 0, 0, 1 }, 0x52 },
                    { { 0x04, 0, 0, 0 }, 0x0d },
                    { { 0x01, 0x23, 0x45, 0x62 }, 0x8e },
                    { { 0xab, 0xc3, 0x45, 0x67 }, 0x38 },
                    { { 0xff, 0xff, 0xff, 0xff }, 0x8b } };
    static const uint8_t syndromes[] = { 0x31, 0x9b, 0xce, 0x67, 0xb0, 0x58, 0x2c, 0x16 };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        uint8_t header[5];
        memcpy(header, headers[i].header, 4);
        header[4] = headers[i].hec;
        EQ(header_syndrome(header), 0);
        for (unsigned bit = 0; bit < 40; bit++) {
            header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            EQ(guilty_bit(header_syndrome(header)), bit);
            if (bit < 8) EQ(header_syndrome(header), syndromes[bit]);
            header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        }
    }
    uint8_t cell[CELL] = { 0 };
    for (unsigned i = 0; i < 46; i++)
        cell[TYPE_AT + i] = (uint8_t)i;
    seal_mask(cell);
    EQ(word_at(cell, CRC_AT), 0xd909);
    OK(divides(cell));
    memset(cell, 0xff, sizeof cell);
    seal_mask(cell);
    EQ(word_at(cell, CRC_AT), 0x4b41);
    cell[9] ^= 1;
    OK(!divides(cell));
}

static void lines_that_do_nothing_change_nothing(void)
{
    for (int model = 0; model < 2; model++) {
        static struct attack none = { .port = UINT32_MAX };
        struct leat_sim_atm_load_config config = scene_config("clos:2,3,2",
                                                              (enum leat_sim_atm_model)model);
        struct run *plain = new_run(), *lined = new_run();
        add_round(plain, 4, 5);
        add_round(lined, 4, 5);
        config.line.hec = true;
        start(plain, &config);
        config.line.damage = strike;
        config.line.damage_context = &none;
        start(lined, &config);
        OK(!plain->load.line);
        OK(lined->load.line);
        OK(comes_to_rest(&plain->load, PATIENCE));
        OK(comes_to_rest(&lined->load, PATIENCE));
        EQ(plain->load.counts.messages_delivered, 80);
        EQ(leat_sim_certificate_value(&plain->load.certificate),
           leat_sim_certificate_value(&lined->load.certificate));
        end(plain);
        end(lined);
    }
}

/* Multiples of the generator in the data: the receiver cannot detect them, and no other message is
 * affected. */
static void an_error_that_the_crc_cannot_see_alters_just_the_message_it_hits(void)
{
    for (unsigned shift = 0; shift <= 8 * 16 - 17; shift++) {
        struct attack attack = { .port = 0, .type = LEAT_ATM_TASK_MESSAGE, .sequence = 3 };
        struct leat_sim_atm_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        static const unsigned powers[] = { 16, 12, 5, 0 };
        for (size_t i = 0; i < 4; i++) {
            const unsigned bit = 8 * DATA_AT + shift + 16 - powers[i];
            attack.mask[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        }
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 0, 2, 0);
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 1, 2, 0);
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(comes_to_rest(&run->load, PATIENCE));
        EQ(attack.hits, 1);
        EQ(run->oracle.counts.undetected, 1);
        EQ(run->load.counts.messages_delivered, 10);
        EQ(run->load.counts.altered, 1);
        EQ(run->load.counts.duplicated, 0);
        EQ(run->wrong, 0);
        EQ(run->doubted, 1);
        EQ(run->wrong_number, 2);
        OK(memcmp(run->wrong_bits, attack.mask + DATA_AT, 16) == 0);
        end(run);
    }
}

static void one_bit_more_and_it_is_repaired(void)
{
    for (unsigned bit = 40; bit < 8 * CELL; bit++) {
        struct attack attack = {
            .port = 2,
            .direction = LEAT_SIM_ATM_LINE_TO_HOST,
            .type = LEAT_ATM_TASK_MESSAGE,
            .sequence = 3,
            .once = true,
        };
        struct leat_sim_atm_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        attack.mask[DATA_AT] = 0x5a;
        seal_mask(attack.mask);
        OK(divides(attack.mask));
        attack.mask[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 0, 2, 0);
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(comes_to_rest(&run->load, PATIENCE));
        EQ(attack.hits, 1);
        EQ(run->oracle.counts.undetected, 0);
        EQ(run->load.counts.messages_delivered, 5);
        EQ(run->load.counts.altered, 0);
        EQ(run->wrong, 0);
        EQ(run->load.host[0].unit.counts.retransmissions, 1);
        EQ(run->load.host[2].unit.counts.bad_cells, 1);
        end(run);
    }
}

/* The sender's numbers continue beyond its buffer, because all but one are acknowledged and
 * freed. */
static void a_damaged_cell_holds_up_the_later_ones_and_loses_none(void)
{
    for (uint32_t blocks = 1; blocks <= 40; blocks++) {
        struct leat_sim_atm_load_config config = scene_config("bmx:2", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        struct attack attack = {
            .port = 0, .sequence = 3, .once = true, .mask = { [DATA_AT] = 1 }
        };
        uint64_t missing[2];
        for (int i = 0; i < MESSAGES_MAX; i++)
            add_message(run, 0, 1, 0);
        config.aal.send_blocks = blocks;
        config.aal.retransmit_cycles = 20000;
        config.aal.obsolete_cycles = 1000;
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(comes_to_rest(&run->load, PATIENCE));
        count_missing(run, missing);
        EQ(missing[0], 0);
        EQ(run->wrong, 0);
        EQ(attack.hits, 1);
        end(run);
    }
}

/* Its acknowledgement was lost while it waits for the cell before it, so it is retransmitted. */
static void a_copy_of_a_parked_cell_does_not_stay(void)
{
    struct leat_sim_atm_load_config config = scene_config("bmx:2", LEAT_SIM_ATM_CELL);
    struct run *run = new_run();
    struct attack no_ack = { .port = 0,
                             .direction = LEAT_SIM_ATM_LINE_TO_HOST,
                             .type = LEAT_ATM_TASK_ACK,
                             .sequence = 2,
                             .once = true,
                             .mask = { [DATA_AT] = 1 } };
    struct attack attack = { .port = 0, .sequence = 1, .mask = { [DATA_AT] = 1 }, .next = &no_ack };
    add_message(run, 0, 1, 0);
    add_message(run, 0, 1, 0);
    config.line.damage = strike;
    config.line.damage_context = &attack;
    start(run, &config);
    leat_sim_atm_load_run(&run->load, 2 * RETRANSMIT);
    EQ(run->load.host[1].unit.counts.duplicates, 1);
    EQ(parked_cells(run), 1);
    attack.once = true;
    OK(comes_to_rest(&run->load, PATIENCE));
    EQ(run->load.counts.messages_delivered, 2);
    EQ(parked_cells(run), 0);
    EQ(run->wrong, 0);
    end(run);
}

/* The acknowledgement of 1 is turned into one of 2, and 2 does not get through. */
static void an_acknowledgement_altered_unseen_loses_the_message_it_names(void)
{
    struct leat_sim_atm_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
    struct run *run = new_run();
    struct attack no_second = {
        .port = 2, .direction = LEAT_SIM_ATM_LINE_TO_HOST, .sequence = 2, .mask = { [DATA_AT] = 1 }
    };
    struct attack attack = { .port = 0,
                             .direction = LEAT_SIM_ATM_LINE_TO_HOST,
                             .type = LEAT_ATM_TASK_ACK,
                             .sequence = 1,
                             .once = true,
                             .next = &no_second };
    attack.mask[SEQUENCE_AT + 1] = 1 ^ 2;
    seal_mask(attack.mask);
    add_message(run, 0, 2, 0);
    add_message(run, 0, 2, 0);
    config.line.damage = strike;
    config.line.damage_context = &attack;
    start(run, &config);
    OK(comes_to_rest(&run->load, PATIENCE));
    EQ(attack.hits, 1);
    EQ(no_second.hits, 1); /* no retransmission */
    EQ(run->oracle.counts.undetected, 1);
    OK(run->oracle.doubtful[0][2]);
    EQ(run->load.counts.messages_delivered, 1);
    EQ(run->load.counts.undeliverable, 0);
    EQ(run->load.host[0].unit.counts.retransmissions, 1); /* of the first */
    EQ(run->load.host[2].unit.counts.duplicates, 1);
    end(run);
}

/* Eight transmissions of every cell to and from it, and the others are not disturbed. */
static void a_dead_port_is_undeliverable_and_never_a_hang(void)
{
    const struct leat_sim_atm_line_outage outage = { .port = 1, .from = 0, .to = LEAT_NEVER };
    struct run *run[2];
    for (int model = 0; model < 2; model++) {
        struct leat_sim_atm_load_config config = scene_config("clos:2,3,2",
                                                              (enum leat_sim_atm_model)model);
        config.line.outage = &outage;
        config.line.outage_count = 1;
        run[model] = new_run();
        add_round(run[model], 4, 5);
        add_message(run[model], 0, LEAT_SIM_ATM_TRAFFIC_ALL, 0);
        start(run[model], &config);
        OK(comes_to_rest(&run[model]->load, PATIENCE));
        struct leat_atm_aal_counts units;
        struct leat_sim_atm_line_counts lines;
        leat_sim_atm_load_units(&run[model]->load, &units);
        leat_sim_atm_load_lines(&run[model]->load, &lines);
        const uint64_t given_up = 5 * (3 + 4) + 1; /* to it, from it, and the broadcast */
        EQ(run[model]->load.counts.undeliverable, given_up);
        EQ(lines.outage, 8 * given_up);
        EQ(units.retransmissions, 7 * given_up);
        EQ(run[model]->load.counts.messages_delivered, 5 * 9 + 3);
        EQ(run[model]->wrong, 0);
    }
    EQ(leat_sim_certificate_value(&run[0]->load.certificate),
       leat_sim_certificate_value(&run[1]->load.certificate));
    end(run[0]);
    end(run[1]);
}

static void a_port_that_comes_back_in_time_misses_nothing(void)
{
    const struct leat_sim_atm_line_outage outages[] = {
        { .port = 1, .from = 500, .to = 10000 },
        { .port = 3, .from = 2000, .to = 2500 },
        { .port = 1, .from = 11000, .to = 14000 },
    };
    for (int model = 0; model < 2; model++) {
        struct leat_sim_atm_load_config config = scene_config("clos:2,3,2",
                                                              (enum leat_sim_atm_model)model);
        struct run *run = new_run();
        uint64_t missing[2];
        config.line.outage = outages;
        config.line.outage_count = 3;
        add_round(run, 4, 5);
        add_message(run, 1, LEAT_SIM_ATM_TRAFFIC_ALL, 0);
        start(run, &config);
        OK(comes_to_rest(&run->load, PATIENCE));
        count_missing(run, missing);
        EQ(missing[0] + missing[1], 0);
        EQ(run->wrong, 0);
        EQ(run->load.counts.undeliverable, 0);
        OK(run->oracle.counts.outage > 10);
        end(run);
    }
}

/* Note R2: 56 cycles from cell to cell; a copy takes its turn before the unit's own cell. */
static void a_copy_holds_the_cell_behind_it(void)
{
    for (int model = 0; model < 2; model++) {
        struct leat_sim_atm_load_config config = scene_config("bmx:3",
                                                              (enum leat_sim_atm_model)model);
        struct run *run = new_run();
        add_message(run, 0, 1, 0);
        config.line.duplicate = LEAT_SIM_ATM_LINE_RATE_ONE;
        config.len_max = LEN_MAX;
        start(run, &config);
        leat_sim_atm_load_run(&run->load, 200);
        const uint64_t first_at = 1 + 3 + 76 + 3 + 15 + 9 + 6 + 2; /* note 5.2: octet on buf */
        EQ(run->sent_count[0], 2);
        EQ(run->on_line_at[0], first_at + 56);
        OK(comes_to_rest(&run->load, PATIENCE));
        EQ(run->load.counts.messages_delivered, 1);
        EQ(run->load.host[0].unit.counts.retransmissions, 0);
        /* Four copies arrive: two over the network, each twice at the end. */
        EQ(run->load.host[1].unit.counts.cells_received, 4);
        EQ(run->load.host[1].unit.counts.duplicates, 3);
        EQ(run->load.host[1].unit.counts.acks_sent, 4);
        EQ(run->load.host[0].unit.counts.acks_received, 16);
        EQ(run->load.host[0].unit.counts.acks_unmatched, 15);
        end(run);
    }
}

/* A unit alone: the cell that LINE reported begins later and ends later. */
static void a_held_unit_waits(void)
{
    static const uint8_t octets[16];
    struct leat_atm_aal_config config;
    struct leat_atm_aal_unit unit;
    leat_atm_aal_config_default(&config, 0, 4, 2);
    void *memory = calloc(1, leat_atm_aal_unit_footprint(&config));
    if (!memory) abort();
    leat_atm_aal_unit_init(&unit, &config, memory);
    const struct leat_atm_aal_command commands[] = {
        { .verb = LEAT_ATM_AAL_INITSEND },
        { .verb = LEAT_ATM_AAL_PUT, .octets = octets, .len = 16 },
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = 2 },
        { .verb = LEAT_ATM_AAL_SEND },
    };
    for (size_t i = 0; i < 4; i++)
        OK(leat_atm_aal_unit_command(&unit, &commands[i], 0));
    uint64_t now = 1;
    for (; !(unit.reported & LEAT_ATM_AAL_LINE) && now < 1000; now++)
        leat_atm_aal_unit_step(&unit, now);
    const uint64_t first_at = unit.line_at;
    leat_atm_aal_unit_hold(&unit, 56);
    leat_atm_aal_unit_hold(&unit, 6);
    EQ(unit.line_at, first_at + 62);
    for (; unit.sending && now < 1000; now++)
        leat_atm_aal_unit_step(&unit, now);
    EQ(now - 1, first_at + 62 + CELL);
    EQ(leat_atm_aal_unit_blktime(&unit, 0, now - 1), LEAT_ATM_AAL_RETRANSMIT - 1);
    free(memory);
}

TAP_MAIN(T(the_oracle_divides_as_the_note_says), T(a_held_unit_waits),
         T(a_copy_holds_the_cell_behind_it), T(lines_that_do_nothing_change_nothing),
         T(an_error_that_the_crc_cannot_see_alters_just_the_message_it_hits),
         T(one_bit_more_and_it_is_repaired),
         T(a_damaged_cell_holds_up_the_later_ones_and_loses_none),
         T(a_copy_of_a_parked_cell_does_not_stay),
         T(an_acknowledgement_altered_unseen_loses_the_message_it_names),
         T(a_dead_port_is_undeliverable_and_never_a_hang),
         T(a_port_that_comes_back_in_time_misses_nothing))
