#include "sim_load.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include "leat_random.h"
#include "sim_traffic.h"
#include <assert.h>
#include <string.h>

enum { WINDOW_MIN = 1024, WINDOW_TOTAL = 1 << 16 };
enum { ID_MASK = 0x7fffffff }; /* a message's id is not negative */
static const uint32_t task_name[LEAT_ATM_TASK_NAME_COUNT] = { 's', 'y', 'n' };

static uint32_t cells_of(uint32_t len)
{
    return (len + LEAT_ATM_TASK_MESSAGE_LEN + LEAT_ATM_TASK_PAYLOAD_LEN - 1) /
           LEAT_ATM_TASK_PAYLOAD_LEN;
}

/* What message `number` of a port says. */
static void write_octets(uint32_t port, uint32_t number, uint8_t *out, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    for (uint32_t at = 0; at < len; at += 8) {
        uint8_t word[8];
        leat_put_be64(word, leat_random_splitmix(&state));
        memcpy(out + at, word, len - at < 8 ? len - at : 8);
    }
}

static bool same_octets(uint32_t port, uint32_t number, const uint8_t *octets, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    for (uint32_t at = 0; at < len; at += 8) {
        uint8_t word[8];
        leat_put_be64(word, leat_random_splitmix(&state));
        if (memcmp(octets + at, word, len - at < 8 ? len - at : 8) != 0) return false;
    }
    return true;
}

static uint32_t message_id(const struct leat_sim_load *load, uint32_t port, uint32_t number)
{
    return (number * load->config.fabric.net.ports + port) & ID_MASK;
}

static struct leat_sim_load_sent *sent_of(const struct leat_sim_load *load, uint32_t port,
                                          uint32_t number)
{
    return &load->sent[(size_t)port * load->window + number % load->window];
}

static void draw_message(struct leat_sim_load *load, uint32_t port)
{
    struct leat_sim_load_host *host = &load->host[port];
    host->has_message = load->config.next(load->config.next_context, port, &host->message);
    assert(!host->has_message || host->message.len <= load->config.len_max);
}

static void begin_write(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_load_host *host = &load->host[port];
    const struct leat_sim_message *m = &host->message;
    const bool all = m->to == LEAT_SIM_TRAFFIC_ALL;
    const uint16_t to = (uint16_t)(all ? LEAT_ATM_TASK_BROADCAST : m->to);
    const struct leat_atm_aal_command commands[] = {
        { .verb = LEAT_ATM_AAL_INITSEND },
        { .verb = LEAT_ATM_AAL_PUT, .octets = host->octets, .len = m->len },
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = to },
        { .verb = LEAT_ATM_AAL_SEND,
          .message = { .name = { task_name[0], task_name[1], task_name[2] },
                       .instance = all ? UINT32_MAX : m->to,
                       .id = message_id(load, port, host->number) } },
    };
    write_octets(port, host->number, host->octets, m->len);
    *sent_of(load, port, host->number) =
        (struct leat_sim_load_sent){ .at = m->at, .number = host->number, .len = m->len };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].verb != LEAT_ATM_AAL_PUT || m->len > 0)
            leat_atm_aal_unit_command(&host->unit, &commands[i], now);
    host->writing = true;
    load->counts.messages_offered++;
    load->counts.cells_offered += cells_of(m->len);
}

static uint32_t id_in(const struct leat_atm_aal_unit *unit, uint16_t message)
{
    enum { PAYLOAD_AT = 15, ID_AT = PAYLOAD_AT + 16 };
    return leat_get_be32(unit->receive_cell + (size_t)message * LEAT_ATM_AAL_CELL_STRIDE + ID_AT);
}

/* The number of a message of that source, from its id; the high bit of a number is lost. */
static uint32_t number_in(const struct leat_sim_load *load, const struct leat_atm_aal_unit *unit,
                          uint16_t message)
{
    return (id_in(unit, message) - unit->message[message].source) / load->config.fabric.net.ports;
}

static void begin_read(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_load_host *host = &load->host[port];
    const uint16_t message = host->complete[host->complete_head];
    const struct leat_sim_load_sent *sent =
        sent_of(load, host->unit.message[message].source, number_in(load, &host->unit, message));
    const struct leat_atm_aal_command receive = {
        .verb = LEAT_ATM_AAL_RECEIVE,
        .message = { .name = { task_name[0], task_name[1], task_name[2] },
                     .instance = port,
                     .id = id_in(&host->unit, message) },
    };
    const struct leat_atm_aal_command get = { .verb = LEAT_ATM_AAL_GET, .len = sent->len };
    host->complete_head = (host->complete_head + 1) % load->config.aal.receive_blocks;
    host->complete_count--;
    host->reading = true;
    host->reading_len = sent->len;
    leat_atm_aal_unit_command(&host->unit, &receive, now);
    leat_atm_aal_unit_command(&host->unit, &get, now);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The lock is free, or a stalled writer lets readers in: who has waited longest? */
static void serve(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_load_host *host = &load->host[port];
    if (host->reading || (host->writing && !host->unit.nomem)) return;
    const uint64_t read_at = host->complete_count
                                 ? later(host->complete_at[host->complete_head], host->read_end_at)
                                 : LEAT_NEVER;
    const uint64_t write_at = host->has_message && !host->writing
                                  ? later(host->message.at, host->write_end_at)
                                  : LEAT_NEVER;
    if (write_at <= now && write_at <= read_at)
        begin_write(load, port, now);
    else if (read_at <= now)
        begin_read(load, port, now);
}

static void finish_read(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_load_host *host = &load->host[port];
    const uint16_t message = host->unit.message_read;
    const uint32_t source = host->unit.message[message].source, len = host->reading_len;
    const uint32_t number = number_in(load, &host->unit, message);
    const struct leat_sim_load_sent *sent = sent_of(load, source, number);
    leat_atm_aal_unit_copy(&host->unit, message, 0, load->received, len);
    const struct leat_sim_delivery delivery = {
        .at = now,
        .source = source,
        .destination = port,
        .number = number,
        .payload_hash = leat_sim_payload_hash(load->received, len),
    };
    leat_sim_certificate_add(&load->certificate, &delivery);
    load->counts.messages_delivered++;
    load->counts.cells_delivered += cells_of(len);
    load->counts.bytes_delivered += len;
    if (!same_octets(source, number, load->received, len)) load->counts.altered++;
    if (sent->number == number) leat_sim_histogram_add(&load->latency, now - sent->at);
    load->last_delivery_at = now;
    leat_atm_aal_unit_read_end(&host->unit, now);
    host->reading = false;
    host->read_end_at = now;
}

static void hear(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_load_host *host = &load->host[port];
    const uint32_t told = host->unit.told;
    host->unit.told = 0;
    if (told & LEAT_ATM_AAL_LINE)
        leat_sim_atm_send(&load->sim, port, host->unit.line_cell, host->unit.line_at);
    if (told & LEAT_ATM_AAL_COMPLETE) {
        const uint32_t place = (host->complete_head + host->complete_count++) %
                               load->config.aal.receive_blocks;
        host->complete[place] = host->unit.message_told;
        host->complete_at[place] = now;
    }
    if (told & (LEAT_ATM_AAL_WRITTEN | LEAT_ATM_AAL_EXIT)) {
        if (told & LEAT_ATM_AAL_EXIT) load->counts.refused++;
        host->writing = false;
        host->write_end_at = now;
        host->number++;
        draw_message(load, port);
    }
    if (told & LEAT_ATM_AAL_GOT) finish_read(load, port, now);
    if (told & LEAT_ATM_AAL_UNDELIVERABLE) load->counts.undeliverable++;
}

/* The unit's next deed, or a message that arises while the host has nothing to do. */
static void plan(struct leat_sim_load *load, uint32_t port, uint64_t now)
{
    const struct leat_sim_load_host *host = &load->host[port];
    uint64_t at = host->unit.wake_at;
    if (host->has_message && !host->writing && !host->reading && host->message.at > now &&
        host->message.at < at)
        at = host->message.at;
    leat_sim_atm_wake(&load->sim, port, at);
}

static void refused(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_load *load = context;
    leat_atm_aal_unit_refuse(&load->host[port].unit, now);
    hear(load, port, now);
    plan(load, port, now - 1);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_load *load = context;
    struct leat_sim_load_host *host = &load->host[port];
    leat_atm_aal_unit_step(&host->unit, now);
    if (host->unit.told) hear(load, port, now);
    serve(load, port, now);
    plan(load, port, now);
}

static uint32_t room(void *context, uint32_t port)
{
    struct leat_sim_load *load = context;
    return leat_atm_aal_unit_room(&load->host[port].unit);
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_load *load = context;
    leat_atm_aal_unit_receive(&load->host[port].unit, cell, now);
    plan(load, port, now);
}

static uint32_t window_of(uint32_t ports)
{
    uint32_t window = WINDOW_MIN;
    while (window * 2 <= WINDOW_TOTAL / ports) window *= 2;
    return window;
}

static struct leat_atm_aal_config unit_config(const struct leat_sim_load_config *config,
                                              uint32_t port)
{
    struct leat_atm_aal_config aal = config->aal;
    aal.port = port;
    aal.ports = config->fabric.net.ports;
    aal.paths = config->fabric.net.paths;
    aal.header_octets = config->fabric.net.header_octets;
    return aal;
}

static size_t lay_out(struct leat_sim_load *load, const struct leat_sim_load_config *config,
                      void *memory, void **network, void **units)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const uint32_t ports = config->fabric.net.ports, blocks = config->aal.receive_blocks;
    const struct leat_atm_aal_config aal = unit_config(config, 0);
    load->window = window_of(ports);
    load->host = leat_arena_lay(&arena, ports, sizeof *load->host);
    load->sent = leat_arena_lay(&arena, (size_t)ports * load->window, sizeof *load->sent);
    load->received = leat_arena_lay(&arena, config->len_max + 1, 1);
    *network = leat_arena_lay(&arena, 1, leat_sim_atm_footprint(&config->fabric, config->model));
    *units = leat_arena_lay(&arena, ports, leat_atm_aal_unit_footprint(&aal));
    for (uint32_t i = 0; i < ports; i++) {
        uint8_t *octets = leat_arena_lay(&arena, config->len_max + 1, 1);
        uint16_t *complete = leat_arena_lay(&arena, blocks, sizeof *complete);
        uint64_t *complete_at = leat_arena_lay(&arena, blocks, sizeof *complete_at);
        if (!memory) continue;
        load->host[i].octets = octets;
        load->host[i].complete = complete;
        load->host[i].complete_at = complete_at;
    }
    return arena.used;
}

size_t leat_sim_load_footprint(const struct leat_sim_load_config *config)
{
    struct leat_sim_load load;
    void *network, *units;
    return lay_out(&load, config, NULL, &network, &units);
}

void leat_sim_load_init(struct leat_sim_load *load, const struct leat_sim_load_config *config,
                        void *memory)
{
    const struct leat_sim_atm_host host = { load, refused, act, room, deliver };
    const uint32_t ports = config->fabric.net.ports;
    void *network, *units;
    *load = (struct leat_sim_load){ .config = *config };
    lay_out(load, config, memory, &network, &units);
    leat_sim_atm_init(&load->sim, &config->fabric, config->model, &host, network);
    leat_sim_certificate_init(&load->certificate);
    leat_sim_histogram_init(&load->latency);
    load->sim.now = 1;
    for (uint32_t port = 0; port < ports; port++) {
        const struct leat_atm_aal_config aal = unit_config(config, port);
        leat_atm_aal_unit_init(&load->host[port].unit, &aal,
                               (uint8_t *)units + port * leat_atm_aal_unit_footprint(&aal));
        draw_message(load, port);
        serve(load, port, 0); /* a request of cycle 0 is accepted in cycle 1 */
        plan(load, port, 0);
    }
}

void leat_sim_load_run(struct leat_sim_load *load, uint64_t last)
{
    leat_sim_atm_run(&load->sim, last + 1);
}

void leat_sim_load_units(const struct leat_sim_load *load, struct leat_atm_aal_counts *out)
{
    uint64_t sum[sizeof *out / sizeof(uint64_t)] = { 0 }, one[sizeof *out / sizeof(uint64_t)];
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++) {
        memcpy(one, &load->host[port].unit.counts, sizeof one);
        for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) sum[i] += one[i];
    }
    memcpy(out, sum, sizeof *out);
}

void leat_sim_load_count_offered(struct leat_sim_load *load)
{
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++) {
        struct leat_sim_load_host *host = &load->host[port];
        if (host->writing) draw_message(load, port); /* the one being written is counted */
        while (host->has_message && host->message.at < load->sim.now) {
            load->counts.messages_offered++;
            load->counts.cells_offered += cells_of(host->message.len);
            draw_message(load, port);
        }
    }
}
