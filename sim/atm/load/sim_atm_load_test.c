#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { RTL = LEAT_SIM_ATM_RTL, CELL = LEAT_SIM_ATM_CELL, PORTS_MAX = 256 };

static const char *const model_name[] = { "rtl", "cell" };
static struct leat_sim_atm_load load;
static void *memory;

static struct leat_sim_atm_fabric fabric_of(const char *name)
{
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    return fabric;
}

static struct leat_sim_atm_load_config config_of(const char *fabric, int model, uint32_t len_max,
                                                 leat_sim_atm_load_next *next, void *context)
{
    struct leat_sim_atm_load_config config = {
        .fabric = fabric_of(fabric),
        .model = (enum leat_sim_atm_model)model,
        .len_max = len_max,
        .next = next,
        .next_context = context,
    };
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

static void set_up(const struct leat_sim_atm_load_config *config)
{
    free(memory);
    memory = calloc(1, leat_sim_atm_load_footprint(config));
    if (!memory) abort();
    leat_sim_atm_load_init(&load, config, memory);
}

/* ---- messages of a list -------------------------------------------------------------------- */

/* Every port in `from` sends `left` messages, all at once. */
struct list {
    uint32_t to, len;
    uint32_t left[PORTS_MAX];
};

static bool next_of_list(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct list *list = context;
    if (list->left[port] == 0) return false;
    list->left[port]--;
    *out = (struct leat_sim_message){ .at = 0, .to = list->to, .len = list->len };
    return true;
}

/* The delay of one message in an otherwise idle network. */
static uint64_t one_way(const char *fabric, int model, uint32_t from, uint32_t to, uint32_t len)
{
    struct list list = { .to = to, .len = len };
    list.left[from] = 1;
    const struct leat_sim_atm_load_config config = config_of(fabric, model, len, next_of_list,
                                                             &list);
    set_up(&config);
    leat_sim_atm_load_run(&load, 2 * leat_atm_aal_one_way_cycles(len) + 1000);
    EQ(load.counts.messages_delivered, 1);
    EQ(load.counts.altered, 0);
    return load.last_delivery_at;
}

static void the_published_delays_are_those_of_the_simulated_network(void)
{
    static const struct {
        uint32_t len, cycles;
    } row[] = {
        { 1, 169 },        { 2, 177 },        { 3, 185 },        { 4, 193 },
        { 8, 231 },        { 16, 307 },       { 17, 389 },       { 52, 717 },
        { 53, 802 },       { 1000, 11640 },   { 5000, 57521 },   { 10000, 114890 },
        { 15000, 172259 }, { 20000, 229628 }, { 25000, 286926 }, { 30000, 344295 },
        { 35000, 401664 }, { 40000, 459033 }, { 45000, 516402 }, { 50000, 573771 },
        { 55000, 631140 }, { 60000, 688509 }, { 65000, 745878 }, { 67912, 779222 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        EQ(one_way("clos444", CELL, 1, 5, row[i].len), row[i].cycles);
        if (row[i].len <= 20000 || LEAT_ROUNDS >= 250000)
            EQ(one_way("clos444", RTL, 1, 5, row[i].len), row[i].cycles);
    }
}

static void an_empty_message_takes_155_cycles(void)
{
    for (int m = 0; m < 2; m++)
        EQ(one_way("clos444", m, 1, 5, 0), 155);
}

/* Note, 5.4. A few hundred sizes, and every one in long runs. */
static void the_delay_is_the_formula_for_every_size(void)
{
    enum { LEN_MAX = 67912, EVERY = LEAT_ROUNDS >= 100000000 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t len = 1; len <= LEN_MAX;) {
        EQ(one_way("clos444", CELL, len % 16, (len + 5) % 16, len),
           leat_atm_aal_one_way_cycles(len));
        if (EVERY || len < 150)
            len++;
        else
            len += 1 + (uint32_t)leat_random_below(&r, 500);
    }
    for (uint32_t len = 1; len <= 2000; len += 1 + (uint32_t)leat_random_below(&r, 60))
        EQ(one_way("clos444", RTL, len % 16, (len + 7) % 16, len),
           leat_atm_aal_one_way_cycles(len));
}

/* Only the path through the switches differs: 6 cycles a stage, 8 with virtual channels. */
static void other_networks_add_or_save_the_time_of_their_stages(void)
{
    static const char *const names[] = { "bmx:2", "bmx:20", "clos:3,5,2", "clos:2,17,3" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int m = 0; m < 2; m++)
            for (uint32_t len = 4; len < 400; len += 95) {
                const uint64_t cycles = one_way(names[i], m, 1, 0, len);
                const uint32_t stages = leat_atm_clos_idle_cycles(&load.config.fabric.net);
                EQ(cycles + 18, leat_atm_aal_one_way_cycles(len) + stages);
                EQ(cycles, leat_atm_aal_one_way_cycles_over(len, stages));
            }
}

/* A host whose source had nothing is woken; octets are the caller's; the run pauses on request. */
struct late {
    struct leat_sim_message message;
    bool has_message;
    uint64_t written_at, delivered_at;
    uint8_t got[8];
};

static bool next_late(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct late *late = context;
    if (port != 1 || !late->has_message) return false;
    late->has_message = false;
    *out = late->message;
    return true;
}

static void note_written(void *context, uint32_t port, uint32_t number, uint64_t at)
{
    struct late *late = context;
    EQ(port, 1);
    EQ(number, 0);
    late->written_at = at;
}

static void pause_at_delivery(void *context, const struct leat_sim_delivery *delivery,
                              const uint8_t *octets, uint32_t len)
{
    struct late *late = context;
    EQ(len, sizeof late->got);
    memcpy(late->got, octets, len);
    late->delivered_at = delivery->at;
    leat_sim_atm_load_pause(&load);
}

static void a_host_can_be_woken_with_octets_of_the_callers_and_a_run_can_pause(void)
{
    static const uint8_t octets[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    for (int m = 0; m < 2; m++) {
        struct late late = { .message = { .at = 1000, .to = 5, .len = 8, .octets = octets } };
        struct leat_sim_atm_load_config config = config_of("clos444", m, 8, next_late, &late);
        config.watch = (struct leat_sim_atm_load_watch){ .context = &late,
                                                         .written = note_written,
                                                         .delivered = pause_at_delivery };
        config.handed_over = true;
        set_up(&config);
        leat_sim_atm_load_run(&load, 1000);
        late.has_message = true;
        leat_sim_atm_load_wake(&load, 1);
        leat_sim_atm_load_run(&load, 1000000);
        EQ(late.delivered_at, 1000 + leat_atm_aal_one_way_cycles(8));
        OK(late.written_at > 1000 && late.written_at < late.delivered_at);
        EQ(load.sim.now, late.delivered_at + 1);
        EQ(memcmp(late.got, octets, sizeof octets), 0);
        EQ(load.counts.altered, 0);
    }
}

static void a_broadcast_reaches_every_port_once_and_its_sender_too(void)
{
    for (int m = 0; m < 2; m++)
        for (uint32_t len = 4; len <= 100; len += 96) {
            struct list list = { .to = LEAT_SIM_ATM_TRAFFIC_ALL, .len = len };
            struct leat_atm_aal_counts units;
            list.left[1] = 1;
            const struct leat_sim_atm_load_config config = config_of("clos444", m, len,
                                                                     next_of_list, &list);
            const uint64_t cells = (len + 20 + 35) / 36;
            set_up(&config);
            leat_sim_atm_load_run(&load, 50000);
            leat_sim_atm_load_units(&load, &units);
            EQ(load.counts.messages_delivered, 16);
            EQ(load.counts.cells_delivered, 16 * cells);
            EQ(load.counts.bytes_delivered, 16 * len);
            EQ(load.counts.messages_offered, 1);
            EQ(units.cells_received, 16 * cells);
            EQ(units.acks_sent, 16 * cells);
            EQ(units.acks_received, 16 * cells);
            EQ(units.retransmissions, 0);
            EQ(load.host[1].unit.send.busy_count, 0);
        }
}

/*
 * Seventy messages each from twelve ports to one without room for them all: each arrives once. The
 * senders are at other switches than the receiver, so that its acknowledgements never queue behind
 * cells that wait for it; otherwise a full buffer would deadlock the network.
 */
static void what_is_sent_arrives_once_and_unaltered(void)
{
    enum { TO = 3, FIRST = 4, SENDERS = 12, EACH = 70, LEN = 90 };
    for (int m = 0; m < 2; m++) {
        struct list list = { .to = TO, .len = LEN };
        struct leat_atm_aal_counts units;
        for (uint32_t port = FIRST; port < FIRST + SENDERS; port++)
            list.left[port] = EACH;
        struct leat_sim_atm_load_config config = config_of("clos444/buffer=1", m, LEN, next_of_list,
                                                           &list);
        config.aal.receive_blocks = 120; /* the hosts' buffers fill as well */
        config.aal.send_blocks = 9;
        config.aal.retransmit_cycles = 30000;
        config.aal.transmissions_max = 255;
        config.aal.obsolete_cycles = 500;
        set_up(&config);
        leat_sim_atm_load_run(&load, 10000000);
        leat_sim_atm_load_units(&load, &units);
        EQ(load.counts.messages_offered, SENDERS * EACH);
        EQ(load.counts.messages_delivered, SENDERS * EACH);
        EQ(load.counts.bytes_delivered, SENDERS * EACH * LEN);
        EQ(load.counts.altered, 0);
        EQ(units.undeliverable, 0);
        EQ(units.discarded_unread, 0);
        OK(load.sim.counts.port_refusals > 0);
        OK(load.sim.counts.suspensions > 0);
        EQ(load.latency.count, SENDERS * EACH);
        for (uint32_t port = 0; port < 16; port++)
            EQ(load.host[port].unit.send.busy_count, 0);
    }
}

static void a_message_longer_than_the_buffer_is_refused_and_the_next_one_written(void)
{
    for (int m = 0; m < 2; m++) {
        struct list list = { .to = 1, .len = 53 }; /* three cells */
        list.left[0] = 2;
        struct leat_sim_atm_load_config config = config_of("bmx:2", m, 53, next_of_list, &list);
        config.aal.send_blocks = 2;
        set_up(&config);
        leat_sim_atm_load_run(&load, 20000);
        EQ(load.counts.refused, 2);
        EQ(load.counts.messages_delivered, 0);
        EQ(list.left[0], 0);
    }
}

static void without_messages_a_long_time_passes_at_once(void)
{
    for (int m = 0; m < 2; m++) {
        struct list list = { .to = 0, .len = 4 };
        list.left[2] = 1;
        const struct leat_sim_atm_load_config config = config_of("clos444", m, 4, next_of_list,
                                                                 &list);
        set_up(&config);
        leat_sim_atm_load_run(&load, UINT64_C(1000000000000));
        EQ(load.sim.now, UINT64_C(1000000000001));
        EQ(load.last_delivery_at, 193);
    }
}

/* ---- random runs ---------------------------------------------------------------------------- */

struct synthetic {
    struct leat_sim_atm_traffic traffic;
    struct leat_sim_atm_traffic_source source[PORTS_MAX];
    uint32_t partner[PORTS_MAX];
    uint32_t len;
};

static bool next_synthetic(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct synthetic *s = context;
    out->len = s->len;
    return leat_sim_atm_traffic_next(&s->traffic, &s->source[port], port, &out->at, &out->to);
}

struct chance {
    char fabric[64];
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t load_ppm, bytes;
    uint64_t cycles, seed;
    uint32_t blocks, descriptors, retransmit, obsolete, transmissions;
};

/* Everything that both models must agree on, as 64-bit numbers. */
struct outcome {
    uint64_t certificate, last_delivery_at, latency_hash;
    uint64_t suspensions, port_refusals, unrouted, cells_out;
    struct leat_sim_atm_load_counts counts;
    struct leat_atm_aal_counts units;
};

static void seed_synthetic(struct synthetic *s, const struct chance *c, uint32_t ports)
{
    const uint64_t cells = (c->bytes + 20 + 35) / 36;
    s->len = c->bytes;
    leat_sim_atm_traffic_init(&s->traffic, c->pattern, ports, c->load_ppm,
                              53 * cells << LEAT_SIM_ATM_TRAFFIC_TIME_BITS, c->seed, s->partner);
    for (uint32_t port = 0; port < ports; port++)
        leat_sim_atm_traffic_source_init(&s->source[port], c->seed, port);
}

static bool prompt; /* nothing is done before its cycle */

static struct outcome run(const struct chance *c, int model, struct leat_random *pieces)
{
    static struct synthetic s;
    struct leat_sim_atm_load_config config = config_of(c->fabric, model, c->bytes, next_synthetic,
                                                       &s);
    config.aal.send_blocks = config.aal.receive_blocks = c->blocks;
    config.aal.descriptors = c->descriptors;
    config.aal.retransmit_cycles = c->retransmit;
    config.aal.obsolete_cycles = c->obsolete;
    config.aal.transmissions_max = c->transmissions;
    seed_synthetic(&s, c, config.fabric.net.ports);
    set_up(&config);
    if (prompt) leat_sim_atm_load_be_prompt(&load);
    for (uint64_t to = 1; pieces && to < c->cycles; to += 1 + leat_random_below(pieces, 500))
        leat_sim_atm_load_run(&load, to);
    leat_sim_atm_load_run(&load, c->cycles);
    leat_sim_atm_load_count_offered(&load);
    struct outcome out = {
        .certificate = leat_sim_certificate_value(&load.certificate),
        .last_delivery_at = load.last_delivery_at,
        .latency_hash = leat_sim_payload_hash((const uint8_t *)&load.latency, sizeof load.latency),
        .suspensions = load.sim.counts.suspensions,
        .port_refusals = load.sim.counts.port_refusals,
        .unrouted = load.sim.counts.unrouted,
        .cells_out = load.sim.counts.cells_out,
        .counts = load.counts,
    };
    leat_sim_atm_load_units(&load, &out.units);
    return out;
}

static void choose_fabric(struct leat_random *r, char name[64])
{
    const unsigned buffer = 1 + (unsigned)leat_random_below(r, 8);
    const char *switching = leat_random_below(r, 4) ? "" : "/switching=vc";
    if (leat_random_below(r, 3) == 0) {
        snprintf(name, 64, "bmx:%u/buffer=%u%s", 2 + (unsigned)leat_random_below(r, 15), buffer,
                 switching);
    } else {
        const unsigned e = 1 + (unsigned)leat_random_below(r, 5),
                       m = 1 + (unsigned)leat_random_below(r, 6),
                       n = 1 + (unsigned)leat_random_below(r, 5);
        snprintf(name, 64, "clos:%u,%u,%u/buffer=%u%s", e, m, n, buffer, switching);
    }
}

/* Small buffers, short times: everything that can happen to a unit happens within a few thousand
 * cycles. */
static struct chance choose(struct leat_random *r)
{
    struct chance c = { .seed = leat_random_next(r) >> 32 };
    choose_fabric(r, c.fabric);
    c.pattern = (enum leat_sim_atm_traffic_pattern)leat_random_below(r, 5);
    c.load_ppm = (uint32_t)leat_random_below(r, 1000001);
    c.cycles = 1000 + leat_random_below(r, 20000);
    c.blocks = 3 + (uint32_t)leat_random_below(r, 38);
    c.bytes = (uint32_t)leat_random_below(r, leat_random_below(r, 4) ? 60 : 500);
    if (c.bytes > leat_atm_aal_message_max(c.blocks)) c.bytes = 16;
    c.descriptors = 1 + (uint32_t)leat_random_below(r, 4);
    c.retransmit = 100 + (uint32_t)leat_random_below(r, leat_random_below(r, 2) ? 2000 : 20000);
    c.obsolete = 1 + (uint32_t)leat_random_below(r, 3000);
    c.transmissions = 1 + (uint32_t)leat_random_below(r, 8);
    return c;
}

static void report_how_to_replay(const struct chance *c)
{
    for (int m = 0; m < 2; m++)
        printf("# leat sim %s --traffic %s --load %u.%06u --bytes %u --cycles %llu --seed %llu "
               "--blocks %u --descriptors %u --retransmit %u --obsolete %u --transmissions %u "
               "--model %s\n",
               c->fabric, leat_sim_atm_traffic_name(c->pattern), c->load_ppm / 1000000,
               c->load_ppm % 1000000, c->bytes, (unsigned long long)c->cycles,
               (unsigned long long)c->seed, c->blocks, c->descriptors, c->retransmit, c->obsolete,
               c->transmissions, model_name[m]);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* 64-bit numbers, summed element by element. */
static void add_up(uint64_t *sum, const struct outcome *one)
{
    uint64_t more[sizeof *one / sizeof(uint64_t)];
    memcpy(more, one, sizeof more);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        sum[i] += more[i];
}

static void random_runs_are_the_same_in_both_models(void)
{
    enum { CASES = 40 + LEAT_ROUNDS / 5000 };
    /* In this one everything happens that can happen to a unit; the others are random. */
    static const struct chance rough = { .fabric = "clos:1,6,4/buffer=6/switching=vc",
                                         .pattern = LEAT_SIM_ATM_TRAFFIC_BROADCAST,
                                         .load_ppm = 620000,
                                         .bytes = 13,
                                         .cycles = 20000,
                                         .seed = 2248327872,
                                         .blocks = 25,
                                         .descriptors = 3,
                                         .retransmit = 1600,
                                         .obsolete = 1500,
                                         .transmissions = 4 };
    uint64_t sum[sizeof(struct outcome) / sizeof(uint64_t)] = { 0 };
    struct outcome all;
    for (uint64_t i = 0; i < CASES; i++) {
        struct leat_random r;
        leat_random_seed_entity(&r, tap_seed(), i);
        const struct chance c = i ? choose(&r) : rough;
        const struct outcome rtl = run(&c, RTL, NULL), cell = run(&c, CELL, NULL);
        add_up(sum, &cell);
        EQ(cell.counts.altered, 0);
        EQ(cell.units.bad_cells, 0);
        if (same(&rtl, &cell)) continue;
        tap_checks_failed++;
        report_how_to_replay(&c);
    }
    memcpy(&all, sum, sizeof all);
    OK(all.suspensions > 0);
    OK(all.port_refusals > 0);
    OK(all.counts.messages_delivered > 0);
    OK(all.units.retransmissions > 0);
    OK(all.units.duplicates > 0);
    OK(all.units.parked > 0);
    OK(all.units.undeliverable > 0);
    OK(all.units.discarded > all.units.discarded_unread);
    OK(all.units.discarded_unread > 0);
}

static void a_run_in_pieces_is_the_same_run(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 4; i++) {
        const struct chance c = choose(&r);
        for (int m = 0; m < 2; m++) {
            const struct outcome whole = run(&c, m, NULL), pieces = run(&c, m, &r);
            OK(same(&whole, &pieces));
            if (!same(&whole, &pieces)) report_how_to_replay(&c);
        }
    }
}

static void compare_with_events(const struct chance *c, struct leat_random *pieces)
{
    prompt = false;
    const struct outcome foreseen = run(c, CELL, pieces);
    prompt = true;
    const struct outcome in_time = run(c, CELL, NULL);
    prompt = false;
    OK(same(&foreseen, &in_time));
    if (!same(&foreseen, &in_time)) report_how_to_replay(c);
}

static void what_ports_foresee_changes_nothing(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 40; i++) {
        const struct chance c = choose(&r);
        compare_with_events(&c, &r);
    }
}

/* Its cells go in batches, and its hosts get hints. */
static void nor_does_it_in_a_large_network(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 5; i++) {
        struct chance c = choose(&r);
        memcpy(c.fabric, "clos:16,17,16/buffer=6", sizeof "clos:16,17,16/buffer=6");
        c.cycles = 3000;
        c.blocks = 40;
        if (i < 3) c.pattern = LEAT_SIM_ATM_TRAFFIC_UNIFORM; /* others fill buffers: few strides */
        compare_with_events(&c, &r);
        OK(load.config.fabric.net.ports == PORTS_MAX);
    }
}

/* A ring whose first places are in the host. */
static void what_can_be_read_is_in_order(void)
{
    struct leat_sim_atm_load_complete ring[4];
    struct leat_sim_atm_load_host host = { .complete = ring, .complete_head = 3 };
    static struct leat_sim_atm_load of_4_blocks = { .config.aal.receive_blocks = 4 };
    OK(leat_sim_atm_load_readable(&of_4_blocks, &host, 0) == &ring[3]);
    OK(leat_sim_atm_load_readable(&of_4_blocks, &host, 1) == &host.near[0]);
    OK(leat_sim_atm_load_readable(&of_4_blocks, &host, 2) == &host.near[1]);
    OK(leat_sim_atm_load_readable(&of_4_blocks, &host, 3) == &ring[2]);
}

static void the_run_of_the_issue_has_one_certificate(void)
{
    const struct chance c = { .fabric = "clos444",
                              .pattern = LEAT_SIM_ATM_TRAFFIC_UNIFORM,
                              .load_ppm = 800000,
                              .bytes = LEAT_SIM_ATM_LOAD_BYTES_DEFAULT,
                              .cycles = LEAT_ROUNDS < 250000 ? 50000 : 300000,
                              .seed = 7,
                              .blocks = LEAT_ATM_AAL_BLOCKS,
                              .descriptors = LEAT_ATM_AAL_DESCRIPTORS,
                              .retransmit = LEAT_ATM_AAL_RETRANSMIT,
                              .obsolete = LEAT_ATM_AAL_OBSOLETE,
                              .transmissions = LEAT_ATM_AAL_TRANSMISSIONS };
    const struct outcome rtl = run(&c, RTL, NULL), cell = run(&c, CELL, NULL);
    OK(same(&rtl, &cell));
    OK(cell.counts.messages_delivered > 1000);
}

/* Offered messages do not depend on what the network does with them. */
static void offered_messages_are_those_that_the_traffic_draws(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 10; i++) {
        static struct synthetic s;
        const struct chance c = choose(&r);
        const struct outcome out = run(&c, CELL, NULL);
        const uint32_t ports = load.config.fabric.net.ports;
        uint64_t arisen = 0;
        seed_synthetic(&s, &c, ports);
        for (uint32_t port = 0; port < ports; port++)
            for (struct leat_sim_message m; next_synthetic(&s, port, &m) && m.at <= c.cycles;)
                arisen++;
        EQ(out.counts.messages_offered, arisen);
        EQ(out.counts.cells_offered, arisen * ((c.bytes + 20 + 35) / 36));
    }
}

TAP_MAIN(T(the_published_delays_are_those_of_the_simulated_network),
         T(an_empty_message_takes_155_cycles), T(the_delay_is_the_formula_for_every_size),
         T(other_networks_add_or_save_the_time_of_their_stages),
         T(a_host_can_be_woken_with_octets_of_the_callers_and_a_run_can_pause),
         T(a_broadcast_reaches_every_port_once_and_its_sender_too),
         T(what_is_sent_arrives_once_and_unaltered),
         T(a_message_longer_than_the_buffer_is_refused_and_the_next_one_written),
         T(without_messages_a_long_time_passes_at_once), T(a_run_in_pieces_is_the_same_run),
         T(what_ports_foresee_changes_nothing), T(nor_does_it_in_a_large_network),
         T(what_can_be_read_is_in_order), T(the_run_of_the_issue_has_one_certificate),
         T(offered_messages_are_those_that_the_traffic_draws),
         T(random_runs_are_the_same_in_both_models))
