/* Fingerprints of a cell network: the same messages at another time give the same one, others do
 * not. */
#include "leat_text.h"
#include "sim_atm_fingerprint.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 16, MESSAGES_MAX = 64, CYCLE_PS = 50000, LEN = 400 };

static struct leat_sim_atm_ports port;
static void *memory;
static uint8_t octets[LEN];
static uint64_t word[WORDS];
static uint32_t entry[MESSAGES_MAX], entry_count;
static uint64_t sent_hash, arrived_count;

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
    arrived_count++;
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false); /* no message is lost */
}

static void set_up(enum leat_sim_atm_model model)
{
    struct leat_sim_atm_ports_config config = { .model = model, .messages_max = MESSAGES_MAX };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse("clos444", &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.obsolete_cycles = 1000;
    arrived_count = 0;
    free(memory);
    memory = calloc(1, leat_sim_atm_ports_footprint(&config));
    if (!memory) abort();
    leat_sim_atm_ports_init(&port, &config, memory);
    port.net.observer =
        (struct leat_port_observer){ .sent = on_sent, .arrived = on_arrived, .lost = on_lost };
}

static void run_to(uint64_t cycle)
{
    while (leat_port_run(&port.net, cycle * CYCLE_PS) < cycle * CYCLE_PS)
        ;
}

static void send(uint32_t from, uint32_t to, uint64_t len, uint64_t cycle)
{
    const struct leat_port_message m = { .from = from, .to = to, .octets = octets, .len = len };
    OK(leat_port_send(&port.net, &m, cycle * CYCLE_PS));
}

static size_t keep(void)
{
    struct leat_fingerprint l = { .word = word, .cap = WORDS };
    leat_sim_atm_fingerprint(&port, &l, entry, &entry_count);
    return leat_fingerprint_holds(&l) ? l.count : 0;
}

static bool state_matches(size_t count)
{
    struct leat_fingerprint l = { .word = word, .cap = count, .compares = true };
    uint32_t now[MESSAGES_MAX], now_count;
    leat_sim_atm_fingerprint(&port, &l, now, &now_count);
    return leat_fingerprint_holds(&l);
}

/* Two messages that meet, run for `after` cycles. Each takes four cells and acknowledgements,
 * because the units use their paths in turn. */
static void begin(uint64_t at, uint64_t after, uint64_t len, uint32_t to)
{
    run_to(at);
    send(2, 9, len, at);
    send(3, to, len, at + 3);
    run_to(at + after);
}

static void the_same_messages_at_another_time_look_the_same(void)
{
    for (uint64_t after = 1; after < 2000; after += 37) {
        set_up(LEAT_SIM_ATM_CELL);
        begin(5000, 4000, 100, 9);
        begin(10000, after, 100, 9);
        const size_t count = keep();
        OK(count > 0);
        EQ(entry_count, port.net.in_flight);
        begin(20000, after, 100, 9);
        OK(state_matches(count));
        run_to(24000);
        begin(30000, after, 100, 9);
        OK(state_matches(count));
        begin(40000, after, 104, 9); /* longer */
        if (after < 1200) OK(!state_matches(count));
        run_to(44000);
        begin(50000, after, 100, 8); /* elsewhere */
        if (after < 1200) OK(!state_matches(count));
        run_to(54000);
        begin(60000, after + 1, 100, 9); /* a cycle later */
        if (after < 1200) OK(!state_matches(count));
        run_to(64000);
    }
}

static void networks_that_do_not_go_in_strides_are_like_nothing(void)
{
    set_up(LEAT_SIM_ATM_RTL);
    begin(100, 50, 100, 9);
    EQ(keep(), 0);
    set_up(LEAT_SIM_ATM_ALONE);
    begin(100, 50, 100, 9);
    EQ(keep(), 0);
    set_up(LEAT_SIM_ATM_CELL);
    leat_sim_atm_load_be_prompt(&port.load);
    begin(100, 50, 100, 9);
    EQ(keep(), 0);
}

static void skipped_cycles_count_for_those_who_look_at_a_clock(void)
{
    set_up(LEAT_SIM_ATM_CELL);
    run_to(100);
    EQ(leat_sim_atm_ports_edge(&port, 100), 100 * CYCLE_PS);
    port.load.skipped_cycles = 1000;
    EQ(leat_sim_atm_ports_edge(&port, 100), 1100 * CYCLE_PS);
    EQ(leat_sim_atm_ports_cycle_from(&port, 1100 * CYCLE_PS), 100);
    EQ(leat_sim_atm_ports_cycle_from(&port, 1100 * CYCLE_PS + 1), 101);
    EQ(leat_sim_atm_ports_last_cycle(&port, 1100 * CYCLE_PS + 1), 100);
    EQ(leat_sim_atm_ports_last_cycle(&port, LEAT_NEVER), LEAT_NEVER);
    /* The certificate of a delivery is that of a run which skipped nothing. */
    struct leat_sim_certificate plain = port.load.certificate;
    port.load.host[3].skipped = 70;
    leat_sim_atm_load_certify(
        &port.load,
        &(struct leat_sim_delivery){ .at = 90, .source = 3, .destination = 4, .number = 7 });
    leat_sim_certificate_add(&plain, &(struct leat_sim_delivery){
                                         .at = 1090, .source = 3, .destination = 4, .number = 77 });
    EQ(leat_sim_certificate_value(&port.load.certificate), leat_sim_certificate_value(&plain));
}

/* The certificate depends on the message's own octets, even if it replaced another message. */
static uint64_t certificate_with(uint64_t replaced_after, const uint64_t *hash)
{
    static uint8_t other[LEN], blank[LEN];
    for (uint32_t i = 0; i < LEN; i++)
        other[i] = (uint8_t)(i * 3);
    set_up(LEAT_SIM_ATM_CELL);
    run_to(10);
    const struct leat_port_message m = { .from = 1, .to = 2, .octets = other, .len = 100 };
    if (replaced_after) {
        send(1, 2, 100, 10);
        run_to(10 + replaced_after);
        keep();
        EQ(entry_count, 1);
        EQ(leat_sim_atm_ports_piece_of(&port, 1, 0)->entry, entry[0] + 1);
        leat_sim_atm_ports_replace(&port, entry[0], &m, blank, hash);
    } else
        OK(leat_port_send(&port.net, &m, 10 * CYCLE_PS));
    run_to(5000);
    EQ(arrived_count, 1);
    sent_hash = leat_sim_payload_hash(other, 100);
    return port.net.certificate;
}

static void a_message_takes_the_place_of_another(void)
{
    const uint64_t wanted = certificate_with(0, NULL);
    EQ(certificate_with(1, NULL), wanted);   /* before it is written, */
    EQ(certificate_with(300, NULL), wanted); /* while it is, */
    EQ(certificate_with(700, NULL), wanted); /* in the network, */
    const uint64_t hash = sent_hash;
    EQ(certificate_with(1000, &hash), wanted); /* and while it is read */
}

TAP_MAIN(T(the_same_messages_at_another_time_look_the_same),
         T(networks_that_do_not_go_in_strides_are_like_nothing),
         T(skipped_cycles_count_for_those_who_look_at_a_clock),
         T(a_message_takes_the_place_of_another))
