#include "sim_atm_load.h"
#include "leat_bytes.h"
#include "sim_atm_load_group.h"
#include "sim_atm_load_line_parts.h"
#include "sim_atm_load_memory.h"
#include "sim_atm_load_settle_parts.h"
#include <assert.h>
#include <leat/random.h>
#include <string.h>

enum { FAR_PORTS = 256 };  /* so many hosts are not in the cache */
enum { SEND_CYCLES = 15 }; /* the minimum to send or request a message */
static const uint32_t task_name[LEAT_ATM_TASK_NAME_COUNT] = { 's', 'y', 'n' };

static uint32_t cells_of(uint32_t len)
{
    return (len + LEAT_ATM_TASK_MESSAGE_LEN + LEAT_ATM_TASK_PAYLOAD_LEN - 1) /
           LEAT_ATM_TASK_PAYLOAD_LEN;
}

/* The octets of message `number` of a port. */
static void write_octets(uint32_t port, uint32_t number, uint8_t *out, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    uint32_t at = 0;
    for (; at + 8 <= len; at += 8)
        leat_put_be64(out + at, leat_random_splitmix(&state));
    if (at == len) return;
    uint8_t word[8];
    leat_put_be64(word, leat_random_splitmix(&state));
    memcpy(out + at, word, len - at);
}

static bool made_up_same(uint32_t port, uint32_t number, const uint8_t *octets, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    uint32_t at = 0;
    for (; at + 8 <= len; at += 8)
        if (leat_get_be64(octets + at) != leat_random_splitmix(&state)) return false;
    if (at == len) return true;
    uint8_t word[8];
    leat_put_be64(word, leat_random_splitmix(&state));
    return memcmp(octets + at, word, len - at) == 0;
}

/* Are these the octets of the message? */
static bool same_octets(const struct leat_sim_atm_load_sent *sent, uint32_t port, uint32_t number,
                        const uint8_t *octets, uint32_t len)
{
    if (sent->number == number && sent->octets) return memcmp(sent->octets, octets, len) == 0;
    return made_up_same(port, number, octets, len);
}

/* The minimum number of cycles to write or read a message; one that is too long may be abandoned at
 * any time. */
static uint64_t reported_after(const struct leat_sim_atm_load *load, uint32_t len)
{
    const bool fits = len <= leat_atm_aal_message_max(load->config.aal.send_blocks);
    return fits ? SEND_CYCLES + leat_atm_aal_io_cycles(len) : 1;
}

/* Operations that begin in cycle `now` are not reported before the cycle that this returns. */
static uint64_t begin_operation(struct leat_sim_atm_load *load, uint32_t len, uint64_t now)
{
    const uint64_t from = now + reported_after(load, len);
    if (load->config.handed_over) load->quiet_before = leat_smaller(load->quiet_before, from);
    return from;
}

static void draw_message(struct leat_sim_atm_load *load, uint32_t port)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    host->has_message = load->config.next(load->config.next_context, port, &host->message);
    if (!host->has_message) return;
    assert(host->message.len <= load->config.len_max);
    if (load->config.handed_over)
        load->reports_after = leat_smaller(load->reports_after,
                                           reported_after(load, host->message.len));
}

static void begin_write(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const struct leat_sim_message *m = &host->message;
    const bool to_many = leat_sim_atm_traffic_is_to_many(m->to);
    const uint8_t *octets = m->octets ? m->octets : host->octets;
    const struct leat_atm_aal_command write = {
        .verb = LEAT_ATM_AAL_WRITE,
        .len = m->len,
        .octets = octets,
        .message = { .name = { task_name[0], task_name[1], task_name[2] },
                     .instance = to_many ? UINT32_MAX : m->to,
                     .id = leat_sim_atm_load_message_id(load, port, host->number) },
        .destination = (uint16_t)m->to,
    };
    if (!m->octets) write_octets(port, host->number, host->octets, m->len);
    leat_sim_atm_load_keep_sent(
        load, port,
        &(struct leat_sim_atm_load_sent){ .at = m->at,
                                          .octets = m->octets,
                                          .number = host->number,
                                          .len = m->len,
                                          .copies = leat_sim_atm_load_copies(load, m->to) });
    leat_atm_aal_unit_command(&host->unit, &write, now);
    host->writing = true;
    host->written_from = begin_operation(load, m->len, now);
    host->part->counts.messages_offered++;
    host->part->counts.cells_offered += cells_of(m->len);
}

/* The number of a message of that source, from its id, which lacks the high bit of the number. */
static uint32_t number_in(const struct leat_sim_atm_load *load,
                          const struct leat_atm_aal_unit *unit, uint16_t message)
{
    const struct leat_atm_aal_message *m = &unit->message[message];
    return (m->id - m->source) / load->config.fabric.net.ports;
}

static struct leat_sim_atm_load_complete *first_complete(const struct leat_sim_atm_load *load,
                                                         struct leat_sim_atm_load_host *host)
{
    return leat_sim_atm_load_readable(load, host, 0);
}

static void drop_complete(struct leat_sim_atm_load *load, struct leat_sim_atm_load_host *host)
{
    const uint32_t next = host->complete_head + 1;
    host->complete_count--;
    /* From the start again if it is empty: that is in the cache. */
    host->complete_head = host->complete_count && next < load->config.aal.receive_blocks ? next : 0;
}

/* Removes messages that expired unread. */
static void sift_complete(struct leat_sim_atm_load *load, struct leat_sim_atm_load_host *host,
                          uint64_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < host->complete_count; i++) {
        const struct leat_sim_atm_load_complete *c = leat_sim_atm_load_readable(load, host, i);
        if (c->until > now) *leat_sim_atm_load_readable(load, host, kept++) = *c;
    }
    host->complete_count = kept;
}

/* Is this broadcast for nobody here? If it is, it stays until it is read. */
static bool is_ignored(struct leat_sim_atm_load *load, uint32_t port, uint16_t message)
{
    struct leat_atm_aal_unit *unit = &load->host[port].unit;
    const struct leat_atm_aal_message *m = &unit->message[message];
    if (m->stream == LEAT_ATM_AAL_TO_ONE || !load->config.keeps) return false;
    if (!load->config.keeps(load->config.next_context, port, m->source,
                            number_in(load, unit, message)))
        return true;
    leat_atm_aal_unit_keep(unit, message);
    return false;
}

/* Messages that can still be read have a block each, so there is room. */
static void add_complete(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const uint16_t message = host->unit.message_reported;
    const struct leat_atm_aal_message *m = &host->unit.message[message];
    const uint32_t number = number_in(load, &host->unit, message);
    if (is_ignored(load, port, message)) return;
    if (host->complete_count == load->config.aal.receive_blocks) sift_complete(load, host, now);
    struct leat_sim_atm_load_complete *c = leat_sim_atm_load_readable(load, host,
                                                                      host->complete_count++);
    *c = (struct leat_sim_atm_load_complete){
        .at = now,
        .until = m->stream == LEAT_ATM_AAL_TO_ONE || m->kept ? LEAT_NEVER : m->obsolete_at,
        .id = m->id,
        .number = number,
        .len = leat_sim_atm_load_sent_of(load, m->source, number)->len,
        .source = m->source,
        .block = message,
    };
}

static void begin_read(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const struct leat_sim_atm_load_complete *c = first_complete(load, host);
    const struct leat_atm_aal_command read = {
        .verb = LEAT_ATM_AAL_READ,
        .len = c->len,
        .message = { .name = { task_name[0], task_name[1], task_name[2] },
                     .instance = port,
                     .id = c->id },
    };
    host->reading = true;
    host->reading_len = c->len;
    host->reading_number = c->number;
    host->reading_source = c->source;
    host->reading_block = c->block;
    host->read_from = begin_operation(load, c->len, now);
    drop_complete(load, host);
    if (host->complete_count) /* the next one may have waited for long */
        leat_atm_aal_unit_fetch(&host->unit, first_complete(load, host)->block);
    leat_atm_aal_unit_command(&host->unit, &read, now);
}

/* The lock is free, or a stalled writer lets readers in. */
static bool may_serve(const struct leat_sim_atm_load_host *host)
{
    return !host->reading && (!host->writing || host->unit.nomem);
}

/* The one who has waited longest is served. */
static void serve(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    while (host->complete_count && first_complete(load, host)->until <= now)
        drop_complete(load, host);
    const uint64_t read_at = host->complete_count
                                 ? leat_larger(first_complete(load, host)->at, host->read_end_at)
                                 : LEAT_NEVER;
    const uint64_t write_at = host->has_message && !host->writing
                                  ? leat_larger(host->message.at, host->write_end_at)
                                  : LEAT_NEVER;
    if (write_at <= now && write_at <= read_at)
        begin_write(load, port, now);
    else if (read_at <= now)
        begin_read(load, port, now);
}

/* The message that this host reads, arriving in cycle `at`; its octets are copied to
 * the part's memory for it. */
static struct leat_sim_delivery take_message(struct leat_sim_atm_load *load, uint32_t port,
                                             uint64_t at)
{
    const struct leat_sim_atm_load_host *host = &load->host[port];
    const uint16_t message = host->unit.message_read;
    const uint32_t source = host->unit.message[message].source, len = host->reading_len;
    const bool expected = message == host->reading_block && source == host->reading_source;
    const uint32_t number = expected ? host->reading_number : number_in(load, &host->unit, message);
    struct leat_sim_delivery delivery = {
        .at = at, .source = source, .destination = port, .number = number
    };
    if (load->config.digest &&
        load->config.digest(load->config.next_context, &delivery, len, &delivery.payload_hash))
        return delivery;
    uint8_t *received = host->part->received;
    if (load->line) memset(received, 0, len); /* a damaged message may be shorter */
    leat_atm_aal_unit_copy(&host->unit, message, 0, received, len);
    if (!same_octets(leat_sim_atm_load_sent_of(load, source, number), source, number, received,
                     len))
        host->part->counts.altered++;
    const bool is_private = load->config.is_private &&
                            load->config.is_private(load->config.next_context, &delivery);
    delivery.payload_hash = is_private ? len : leat_sim_payload_hash(received, len);
    return delivery;
}

static bool reports_coming(const struct leat_sim_atm_load *load)
{
    return load->config.watch.coming && load->cells_stay_sound;
}

/* Its read is granted, and its end is now known: nothing stops it. */
static void report_coming(struct leat_sim_atm_load *load, uint32_t port)
{
    const struct leat_sim_atm_load_watch *watch = &load->config.watch;
    struct leat_sim_atm_load_host *host = &load->host[port];
    const uint64_t got_at = host->unit.due[LEAT_ATM_AAL_STATE8];
    host->reading_coming = take_message(load, port, got_at);
    watch->coming(watch->context, &host->reading_coming, host->reading_len);
}

static void finish_read(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    const struct leat_sim_atm_load_watch *watch = &load->config.watch;
    struct leat_sim_atm_load_host *host = &load->host[port];
    struct leat_sim_atm_load_part *part = host->part;
    const bool reported = reports_coming(load);
    const uint32_t len = host->reading_len;
    const struct leat_sim_delivery delivery = reported ? host->reading_coming
                                                       : take_message(load, port, now);
    assert(delivery.at == now);
    part->counts.messages_delivered++;
    part->counts.cells_delivered += cells_of(len);
    part->counts.bytes_delivered += len;
    part->last_delivery_at = leat_larger(part->last_delivery_at, now);
    leat_sim_atm_load_certify_in(load, &delivery,
                                 leat_sim_atm_load_settles_later(load) ? &part->certificate
                                                                       : &load->certificate);
    leat_sim_atm_load_report_end(load, port, &delivery, false);
    if (watch->delivered)
        watch->delivered(watch->context, &delivery, reported ? NULL : part->received, len);
    leat_atm_aal_unit_read_end(&host->unit, now);
    host->reading = false;
    host->read_end_at = now;
}

/* The unit's cell. */
static void send_line(struct leat_sim_atm_load *load, uint32_t port)
{
    const struct leat_atm_aal_unit *unit = &load->host[port].unit;
    if (load->line)
        leat_sim_atm_load_line_send(load, port);
    else
        leat_sim_atm_load_send_cell(load, port, unit->line_cell, unit->line_at);
}

static void on_given_up(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    const struct leat_sim_atm_load_watch *watch = &load->config.watch;
    const struct leat_atm_aal_unit *unit = &load->host[port].unit;
    const uint32_t number = unit->send_block[unit->block_reported].message;
    const struct leat_sim_delivery of = { .at = now, .source = port, .number = number };
    load->host[port].part->counts.undeliverable++;
    if (watch->undeliverable) watch->undeliverable(watch->context, port, number, now);
    leat_sim_atm_load_report_end(load, port, &of, true);
}

static void on_report(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const struct leat_sim_atm_load_watch *watch = &load->config.watch;
    const uint32_t reported = host->unit.reported;
    host->unit.reported = 0;
    if (reported & LEAT_ATM_AAL_LINE) send_line(load, port);
    if (load->config.desk.on_report) {
        load->config.desk.on_report(load->config.desk.context, port, reported, now);
        return;
    }
    if (reported & LEAT_ATM_AAL_COMPLETE) add_complete(load, port, now);
    if (reported & (LEAT_ATM_AAL_WRITTEN | LEAT_ATM_AAL_EXIT)) {
        if (reported & LEAT_ATM_AAL_EXIT) host->part->counts.refused++;
        if (watch->written) watch->written(watch->context, port, host->number, now);
        host->writing = false;
        host->write_end_at = now;
        host->number++;
        draw_message(load, port);
    }
    if (reported & LEAT_ATM_AAL_GRANTED && reports_coming(load)) report_coming(load, port);
    if (reported & LEAT_ATM_AAL_DENIED) {
        host->part->counts.unreadable++;
        host->reading = false;
        host->read_end_at = now;
    }
    if (reported & LEAT_ATM_AAL_GOT) finish_read(load, port, now);
    if (reported & LEAT_ATM_AAL_UNDELIVERABLE) on_given_up(load, port, now);
}

/* When the host acts on its own: a message arises while it is idle, or its line is free. */
static uint64_t next_own(const struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    const struct leat_sim_atm_load_host *host = &load->host[port];
    const bool waits = host->has_message && !host->writing && !host->reading;
    const uint64_t at = waits && host->message.at > now ? host->message.at : host->desk_at;
    return load->line ? leat_smaller(at, load->line[port].next_at) : at;
}

/* The host does all it can in this cycle. */
static void attend(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const struct leat_sim_atm_load_desk *desk = &load->config.desk;
    if (desk->serve)
        host->desk_at = desk->serve(desk->context, port, now);
    else if (may_serve(host))
        serve(load, port, now);
    host->own_at = next_own(load, port, now);
}

/* The next actions, each in its cycle, up to `last` or to the first that is reported. */
static void next_actions(struct leat_sim_atm_load *load, uint32_t port, uint64_t last)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const uint64_t until = leat_smaller(last, host->own_at);
    if (load->line && load->line[port].next_at <= until) {
        leat_sim_atm_load_line_go_on(load, port, until);
    }
    const uint64_t at = leat_atm_aal_unit_step(&host->unit, until);
    const uint32_t reported = host->unit.reported;
    if (at < host->own_at) {
        if (!(reported & LEAT_ATM_AAL_NEWS)) return;
        if (reported == LEAT_ATM_AAL_LINE && !load->line && !load->config.desk.on_report) {
            /* Not for the host. */
            host->unit.reported = 0;
            send_line(load, port);
            return;
        }
    }
    if (reported) on_report(load, port, at);
    attend(load, port, at);
}

/* Everything due up to and including cycle `now`. */
static void catch_up(struct leat_sim_atm_load *load, uint32_t port, uint64_t now)
{
    const struct leat_sim_atm_load_host *host = &load->host[port];
    while (leat_smaller(host->unit.wake_at, host->own_at) <= now)
        next_actions(load, port, now);
}

/* No operation of this host, and none of its cells, is reported before this cycle. */
static uint64_t reported_from(const struct leat_sim_atm_load_host *host, uint64_t now)
{
    const struct leat_atm_aal_unit *unit = &host->unit;
    const uint64_t written_at = unit->segment_cells
                                    ? unit->due[LEAT_ATM_AAL_STATE2]
                                    : leat_larger(host->written_from, now + SEND_CYCLES);
    const uint64_t read_at = unit->message_read != LEAT_ATM_AAL_NONE
                                 ? unit->due[LEAT_ATM_AAL_STATE8]
                                 : leat_larger(host->read_from, now + 1);
    /* The first time-out of a sent cell, or of one that is sent from now on. */
    uint64_t from = leat_smaller(unit->due[LEAT_ATM_AAL_STATE9],
                                 now + unit->config.retransmit_cycles - 1);
    if (host->writing) from = leat_smaller(from, written_at);
    if (host->reading) from = leat_smaller(from, read_at);
    return from;
}

/*
 * With handed_over, a run ends in the cycle of a callback, and no port may have advanced beyond it,
 * because a message may be sent in reply. So no port runs further than to the cycle before the
 * first possible callback, whether for an operation in progress or for one that begins at `now` or
 * later.
 */
static uint64_t nothing_reported_up_to(struct leat_sim_atm_load *load, uint64_t now)
{
    if (load->sim.pauses) return now;
    if (load->quiet_before <= now) {
        load->quiet_before = LEAT_NEVER;
        for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
            load->quiet_before = leat_smaller(load->quiet_before,
                                              reported_from(&load->host[port], now));
    }
    return leat_smaller(load->quiet_before, now + load->reports_after) - 1;
}

/* How far may ports run independently? */
static uint64_t stride(void *context, uint64_t now)
{
    struct leat_sim_atm_load *load = context;
    if (!load->ahead || leat_sim_atm_load_is_scarce(load)) return 0;
    const uint64_t unreported = load->config.handed_over ? nothing_reported_up_to(load, now)
                                                         : LEAT_NEVER;
    load->stride_from = now;
    return leat_larger(now, leat_smaller(unreported, load->last));
}

/* The next action; all before it are done. */
static void plan(struct leat_sim_atm_load *load, uint32_t port)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const bool scarce = leat_atm_aal_unit_room(&host->unit) < LEAT_SIM_ATM_STRIDE_ROOM;
    if (scarce != host->scarce) {
        host->part->scarce = scarce ? host->part->scarce + 1 : host->part->scarce - 1;
        host->scarce = scarce;
    }
    leat_sim_atm_wake(&load->sim, port, leat_smaller(host->unit.wake_at, host->own_at));
}

static void refused(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load *load = context;
    catch_up(load, port, now - 1);
    if (load->line)
        leat_sim_atm_load_line_send_again(load, port, now);
    else {
        leat_atm_aal_unit_refuse(&load->host[port].unit, now);
        on_report(load, port, now);
    }
    load->host[port].own_at = next_own(load, port, now - 1);
    plan(load, port);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_load *load = context;
    catch_up(load, port, now);
    plan(load, port);
}

/* The network counts one block for each cell that it delivers; the line may take three. */
static uint32_t room(void *context, uint32_t port)
{
    enum { CELLS_MAX = 1 + LEAT_SIM_ATM_LINE_EXTRAS_MAX };
    struct leat_sim_atm_load *load = context;
    const uint32_t blocks = leat_atm_aal_unit_room(&load->host[port].unit);
    return load->line ? (blocks + CELLS_MAX - 1) / CELLS_MAX : blocks;
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_load *load = context;
    catch_up(load, port, now);
    if (load->line)
        leat_sim_atm_load_line_receive(load, port, cell, now);
    else
        leat_sim_atm_load_receive_cell(load, port, cell, now);
    plan(load, port);
}

/* ---- hints: what a host touches in a large network is seldom in the cache -------------------- */

static void fetch(void *context, uint32_t port)
{
    const struct leat_sim_atm_load *load = context;
    const struct leat_sim_atm_load_host *host = &load->host[port];
    leat_atm_aal_unit_fetch_state(&host->unit);
    leat_arena_fetch(host);
    leat_arena_fetch(&host->write_end_at);
    leat_arena_fetch(host->near);
}

static void fetch_more(void *context, uint32_t port, const uint8_t *cell, uint64_t last)
{
    const struct leat_sim_atm_load *load = context;
    struct leat_sim_atm_load_host *host = &load->host[port];
    const struct leat_atm_aal_unit *unit = &host->unit;
    leat_atm_aal_unit_fetch_blocks(unit, cell, last);
    if (host->reading && unit->due[LEAT_ATM_AAL_STATE8] <= last) {
        leat_atm_aal_unit_fetch(unit, host->reading_block);
        leat_arena_fetch(
            leat_sim_atm_load_sent_of(load, host->reading_source, host->reading_number));
    }
    if (host->complete_count) {
        leat_arena_fetch(leat_sim_atm_load_readable(load, host, 0));
        leat_arena_fetch(leat_sim_atm_load_readable(load, host, host->complete_count));
    }
}

void leat_sim_atm_load_init(struct leat_sim_atm_load *load,
                            const struct leat_sim_atm_load_config *config, void *memory)
{
    const bool far = config->fabric.net.ports >= FAR_PORTS;
    const struct leat_sim_atm_host host = {
        load, refused, act, room, deliver, stride, far ? fetch : NULL, far ? fetch_more : NULL,
    };
    const struct leat_sim_atm_crew crew = { config->crew, leat_sim_atm_load_part_done,
                                            leat_sim_atm_load_stride_done };
    const uint32_t ports = config->fabric.net.ports;
    struct leat_sim_atm_load_pieces pieces;
    *load = (struct leat_sim_atm_load){ .config = *config };
    leat_sim_atm_load_lay(load, config, memory, &pieces);
    if (load->line) leat_sim_atm_load_line_init(load);
    load->cells_stay_sound = config->model != LEAT_SIM_ATM_RTL && !load->line &&
                             !leat_sim_atm_fabric_errs(&config->fabric);
    load->ahead = config->model == LEAT_SIM_ATM_CELL && !config->fabric.graph && !load->line &&
                  !config->watch.cell;
    load->reports_after = reported_after(load, config->len_max);
    load->number_max = LEAT_SIM_ATM_LOAD_ID_MASK / ports - 1;
    assert(load->parts == 1 || (!config->handed_over && !config->desk.serve && !config->keeps &&
                                !config->digest && !config->is_private));
    leat_sim_atm_init(&load->sim, &config->fabric, config->model, &host, pieces.network);
    leat_sim_atm_lend_crew(&load->sim, &crew);
    load->received = load->part[0].received;
    leat_sim_certificate_init(&load->certificate);
    leat_sim_histogram_init(&load->latency);
    load->sim.now = 1;
    for (uint32_t port = 0; port < ports; port++) {
        struct leat_atm_aal_config aal = leat_sim_atm_fabric_unit(&config->fabric, &config->aal,
                                                                  port);
        aal.unsealed = load->cells_stay_sound && !config->watch.cell;
        aal.reuses_last = true;
        aal.grants_unreported = !config->desk.on_report && !reports_coming(load);
        leat_atm_aal_unit_init_in(&load->host[port].unit, &aal,
                                  pieces.often + port * leat_atm_aal_unit_footprint_often(&aal),
                                  pieces.seldom + port * leat_atm_aal_unit_footprint_seldom(&aal));
        load->host[port].part = &load->part[load->sim.port[port].part];
        load->host[port].desk_at = LEAT_NEVER;
        if (config->next) draw_message(load, port);
        attend(load, port, 0); /* a request of cycle 0 is accepted in cycle 1 */
        plan(load, port);
    }
}

void leat_sim_atm_load_run(struct leat_sim_atm_load *load, uint64_t last)
{
    load->last = last;
    leat_sim_atm_run(&load->sim, last + 1);
    leat_sim_atm_load_collect(load);
}

void leat_sim_atm_load_wake(struct leat_sim_atm_load *load, uint32_t port)
{
    struct leat_sim_atm_load_host *host = &load->host[port];
    const uint64_t now = load->sim.now - 1;
    assert(load->config.handed_over || !load->ahead);
    if (host->has_message || host->writing) return;
    if (load->config.next) draw_message(load, port);
    attend(load, port, now);
    plan(load, port);
}

bool leat_sim_atm_load_is_scarce(const struct leat_sim_atm_load *load)
{
    for (uint32_t part = 0; part < load->parts; part++)
        if (load->part[part].scarce) return true;
    return false;
}

void leat_sim_atm_load_pause(struct leat_sim_atm_load *load)
{
    load->sim.pauses = true;
}

void leat_sim_atm_load_be_prompt(struct leat_sim_atm_load *load)
{
    load->ahead = false;
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        load->host[port].unit.config.unsealed = false;
}

static bool is_quiet(const struct leat_sim_atm_load_host *host)
{
    const struct leat_atm_aal_unit *unit = &host->unit;
    return !host->has_message && !host->writing && !host->reading && host->complete_count == 0 &&
           unit->send.busy_count == 0 && !unit->sending && unit->ack_asked_at == LEAT_NEVER &&
           unit->service_block == LEAT_ATM_AAL_NONE && unit->waiting_head == LEAT_ATM_AAL_NONE;
}

bool leat_sim_atm_load_is_quiet(const struct leat_sim_atm_load *load)
{
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        if (!is_quiet(&load->host[port])) return false;
    return true;
}

uint64_t leat_sim_atm_load_gaps(const struct leat_sim_atm_load *load)
{
    uint64_t gaps = 0;
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        gaps += load->host[port].unit.gap_count;
    return gaps;
}

void leat_sim_atm_load_units(const struct leat_sim_atm_load *load, struct leat_atm_aal_counts *out)
{
    *out = (struct leat_atm_aal_counts){ 0 };
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        for (size_t i = 0; i < sizeof *out / sizeof(uint64_t); i++)
            ((uint64_t *)out)[i] += ((const uint64_t *)&load->host[port].unit.counts)[i];
}

void leat_sim_atm_load_count_offered(struct leat_sim_atm_load *load)
{
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++) {
        struct leat_sim_atm_load_host *host = &load->host[port];
        if (host->writing) draw_message(load, port); /* the one being written is counted */
        while (host->has_message && host->message.at < load->sim.now) {
            load->counts.messages_offered++;
            load->counts.cells_offered += cells_of(host->message.len);
            draw_message(load, port);
        }
    }
}
