#include "graph_run_parts.h"
#include <stdlib.h>
#include <string.h>

enum {
    AT_A_TIME = 256,      /* datagrams, before the graph gets its turn */
    AT_THE_END = 1 << 16, /* datagrams that are refused after the application has stopped */
    PATIENCE_MS = 10000,  /* for a process that does not read */
    STEP_MS = 20,
};

/* ---- the table ------------------------------------------------------------------------------ */

static bool is_external(const struct leat_poets_machine *m, uint32_t device)
{
    return m->graph->type[m->instance->device[device].type].kind == LEAT_GRAPH_EXTERNAL;
}

static struct leat_poets_route route_of(const struct leat_poets_machine *m, const uint32_t *index,
                                        uint32_t edge)
{
    const struct leat_graph_edge *e = &m->instance->edge[edge];
    const uint32_t pin_address = e->to_pin | e->number << 8;
    if (is_external(m, e->to))
        return (struct leat_poets_route){ LEAT_GRAPH_NONE, index[e->to], pin_address };
    const struct leat_poets_seat seat = m->seat[index[e->to]];
    return (struct leat_poets_route){ seat.thread, seat.device, pin_address };
}

/* By the number in the file: the device's index, or the external's number. */
static uint32_t *number_all(const struct leat_poets_machine *m)
{
    const uint32_t count = m->instance->device_count;
    uint32_t *index = malloc(((size_t)count + 1) * sizeof *index), device = 0, external = 0;
    for (uint32_t d = 0; index && d < count; d++)
        index[d] = is_external(m, d) ? external++ : device++;
    return index;
}

/* A payload that only a compiler knows has the length of the pin at its edges' other ends. */
static uint32_t payload_of(const struct leat_poets_machine *m, const struct leat_graph_pin *pin,
                           uint32_t out_from, uint32_t out_to)
{
    const struct leat_graph_instance *i = m->instance;
    const uint32_t len = leat_graph_payload_len(m->graph, pin);
    for (uint32_t k = out_from; k < out_to && len == LEAT_GRAPH_NONE; k++) {
        const struct leat_graph_edge *e = &i->edge[i->out[k]];
        if (!is_external(m, e->to))
            return m->handlers->type[i->device[e->to].type]->input[e->to_pin].payload_len;
    }
    return len == LEAT_GRAPH_NONE ? LEAT_POETS_EXTERNAL_ANY_LEN : len;
}

/* Pins and routes of an external; `at` counts both. */
static void fill_external(struct leat_poets_graph_externals *x, const uint32_t *index,
                          uint32_t device, uint32_t number, uint32_t at[2])
{
    const struct leat_poets_machine *m = x->machine;
    const struct leat_graph_instance *i = m->instance;
    const struct leat_graph_type *type = &m->graph->type[i->device[device].type];
    const char *name = leat_graph_device_name(m->graph, i, device);
    const bool halts = strcmp(name, "__halt__") == 0;
    x->pin_first[number] = at[0];
    x->external[number] = (struct leat_poets_external){
        .name = name,
        .payload_len = x->payload_len + at[0],
        .output_count = type->output.count,
        .peer = halts ? LEAT_POETS_PEER_HOST : LEAT_POETS_PEER_NONE,
    };
    for (uint32_t p = 0; p < type->output.count; p++) {
        const uint32_t base = i->output_base[device] + p;
        const uint32_t from = i->out_base[base], to = i->out_base[base + 1];
        x->first[at[0]] = at[1];
        x->payload_len[at[0]++] = payload_of(m, &type->output.pin[p], from, to);
        for (uint32_t k = from; k < to; k++)
            x->route[at[1]++] = route_of(m, index, i->out[k]);
    }
}

static void fill(struct leat_poets_graph_externals *x, const uint32_t *index)
{
    uint32_t at[2] = { 0, 0 }, number = 0;
    for (uint32_t d = 0; d < x->machine->instance->device_count; d++)
        if (is_external(x->machine, d)) fill_external(x, index, d, number++, at);
    x->pin_first[number] = at[0];
    x->first[at[0]] = at[1];
}

bool leat_poets_graph_externals_make(struct leat_poets_graph_externals *externals,
                                     struct leat_poets_machine *machine,
                                     struct leat_poets_door *door, double wait_seconds,
                                     const atomic_int *interrupted)
{
    struct leat_poets_graph_externals *x = externals;
    const struct leat_graph_instance *i = machine->instance;
    size_t pins = 1, routes = 1;
    *x = (struct leat_poets_graph_externals){
        .machine = machine, .door = door, .wait_seconds = wait_seconds, .interrupted = interrupted
    };
    for (uint32_t d = 0; d < i->device_count; d++) {
        if (!is_external(machine, d)) continue;
        pins += i->output_base[d + 1] - i->output_base[d];
        routes += i->out_base[i->output_base[d + 1]] - i->out_base[i->output_base[d]];
    }
    x->external = calloc((size_t)machine->external_count + 1, sizeof *x->external);
    x->pin_first = calloc((size_t)machine->external_count + 1, sizeof *x->pin_first);
    x->payload_len = calloc(pins, sizeof *x->payload_len);
    x->first = calloc(pins, sizeof *x->first);
    x->route = calloc(routes, sizeof *x->route);
    uint32_t *index = number_all(machine);
    const bool good = x->external && x->pin_first && x->payload_len && x->first && x->route &&
                      index;
    x->table.external = x->external;
    if (good) x->table.count = machine->external_count;
    if (good) fill(x, index);
    free(index);
    return good;
}

void leat_poets_graph_externals_free(struct leat_poets_graph_externals *externals)
{
    free(externals->external);
    free(externals->pin_first);
    free(externals->payload_len);
    free(externals->first);
    free(externals->route);
    *externals = (struct leat_poets_graph_externals){ 0 };
}

/* ---- to processes --------------------------------------------------------------------------- */

static void leave(struct leat_poets_graph_externals *x, uint32_t peer)
{
    leat_poets_externals_leave(&x->table, peer);
    leat_poets_door_forget(x->door, peer);
}

static void serve_some(struct leat_poets_graph_host *host);

/* A process that does not read holds the graph back, from `began` on, but not for ever. False: the
 * frame is lost. A process that has ended is kept until all that it has sent is read, which its
 * socket reports. */
static bool send_frame(struct leat_poets_graph_host *host, uint32_t number, const uint8_t *frame,
                       size_t len, double began)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    for (;;) {
        const uint32_t peer = x->external[number].peer;
        if (peer >= LEAT_POETS_PEER_HOST) return false; /* it left meanwhile */
        const enum leat_poets_door_sent sent = leat_poets_door_send(x->door, peer, frame, len);
        if (sent == LEAT_POETS_DOOR_SENT) return true;
        if (sent == LEAT_POETS_DOOR_LOST && !x->door->udp) return false;
        if (sent == LEAT_POETS_DOOR_LOST || (x->interrupted && *x->interrupted)) {
            leave(x, peer);
            return false;
        }
        if ((leat_poets_run_seconds() - began) * 1e3 > PATIENCE_MS) {
            fprintf(stderr, "leat: external %s: its process has read nothing for %d s, detached\n",
                    x->external[number].name, PATIENCE_MS / 1000);
            leave(x, peer);
            return false;
        }
        leat_poets_door_wait(x->door, peer, STEP_MS);
        /* It may itself wait until somebody reads. Packets from external to external end here. */
        if (x->blocked) continue;
        x->blocked = true;
        serve_some(host);
        x->blocked = false;
    }
}

static void send_control(struct leat_poets_graph_externals *x, uint32_t number, uint8_t opcode)
{
    uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX];
    const size_t len = leat_poets_external_control(x->table.task, opcode, number, NULL, frame);
    if (x->external[number].peer < LEAT_POETS_PEER_HOST)
        leat_poets_door_send(x->door, x->external[number].peer, frame, len);
}

void leat_poets_graph_externals_release(struct leat_poets_graph_externals *externals)
{
    externals->table.running = true;
    for (uint32_t i = 0; externals->door && i < externals->table.count; i++)
        send_control(externals, i, LEAT_POETS_OP_BARRIER);
}

void leat_poets_graph_externals_stop(struct leat_poets_graph_externals *externals)
{
    externals->table.running = false;
    externals->stops = true;
}

static void lose(struct leat_poets_graph_host *host, uint32_t number)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    struct leat_poets_external *e = &x->external[number];
    host->mothership.cause[LEAT_POETS_HOST_NO_EXTERNAL]++;
    x->lost++;
    if (e->lost++) return;
    fprintf(stderr,
            "leat: external %s: a packet for it is lost, expected a process attached to "
            "it%s\n",
            e->name, x->door ? "" : " (--attach ADDRESS)");
}

void leat_poets_graph_externals_packet(struct leat_poets_graph_host *host,
                                       const struct leat_poets_packet *packet)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    struct leat_poets_external *e = &x->external[packet->device];
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX], frame[LEAT_POETS_EXTERNAL_FRAME_MAX];
    size_t len = 0;
    uint32_t code;
    if (e->peer == LEAT_POETS_PEER_HOST) {
        memcpy(&code, packet->payload, sizeof code);
        leat_poets_graph_host_end(host, code ? LEAT_POETS_RUN_FAILED : LEAT_POETS_RUN_SUCCESS,
                                  code != 0);
        return;
    }
    leat_poets_packet_encode(packet, octets, sizeof octets, &len);
    len = leat_poets_carriage_put(true, 0, octets, len, frame);
    if (e->peer != LEAT_POETS_PEER_NONE &&
        send_frame(host, packet->device, frame, len, leat_poets_run_seconds()))
        e->sent++;
    else
        lose(host, packet->device);
}

/* ---- from processes ------------------------------------------------------------------------- */

static void send_along(struct leat_poets_graph_host *host, const struct leat_poets_route *route,
                       const struct leat_poets_packet *from, uint32_t pin_len)
{
    const uint16_t payload_len = pin_len < from->payload_len ? (uint16_t)pin_len
                                                             : from->payload_len;
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len = 0;
    struct leat_poets_packet packet = { .packet_class = LEAT_POETS_CLASS_DEV,
                                        .task = from->task,
                                        .device = route->device,
                                        .pin = route->pin_address & 0xff,
                                        .edge = route->pin_address >> 8,
                                        .payload_len = payload_len };
    memcpy(packet.payload, from->payload, payload_len);
    if (route->thread == LEAT_GRAPH_NONE) {
        packet.packet_class = LEAT_POETS_CLASS_EXT;
        leat_poets_graph_externals_packet(host, &packet);
        return;
    }
    leat_poets_packet_encode(&packet, octets, sizeof octets, &len);
    host->send(host, route->thread, octets, (unsigned)(len / LEAT_POETS_FLIT_LEN));
}

static void on_sent(struct leat_poets_graph_host *host,
                    const struct leat_poets_external_event *event)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    const uint32_t at = x->pin_first[event->external] + event->packet.pin;
    for (uint32_t k = x->first[at]; k < x->first[at + 1]; k++)
        send_along(host, &x->route[k], &event->packet, x->payload_len[at]);
}

static void on_refused(struct leat_poets_graph_externals *x, uint32_t peer,
                       const struct leat_poets_external_event *event)
{
    uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX];
    const uint32_t number = event->external < x->table.count ? event->external : 0;
    const char *why = leat_poets_refusal_text(event->refusal);
    const size_t len = leat_poets_external_control(x->table.task, LEAT_POETS_OP_KILL, number, why,
                                                   frame);
    /* CTL/STOP, which comes, is the answer to what is too late. */
    if (!x->stops) leat_poets_door_send(x->door, peer, frame, len);
    if (x->table.refused[event->refusal] == 1)
        fprintf(stderr, "leat: a packet of a process is refused: %s\n", why);
}

/* Addresses that send nothing that is understood take no place. */
static void forget_strangers(struct leat_poets_graph_externals *x, uint32_t peer)
{
    for (uint32_t i = 0; i < x->table.count; i++)
        if (x->external[i].peer == peer) return;
    if (x->door->udp) leat_poets_door_forget(x->door, peer);
}

static void on_datagram(struct leat_poets_graph_host *host, uint32_t peer, const uint8_t *octets,
                        size_t len)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    struct leat_poets_external_event event;
    leat_poets_externals_receive(&x->table, peer, octets, len, &event);
    switch (event.kind) {
    case LEAT_POETS_EXTERNAL_REFUSED: on_refused(x, peer, &event); break;
    case LEAT_POETS_EXTERNAL_ATTACHED:
        if (x->table.running) send_control(x, event.external, LEAT_POETS_OP_BARRIER);
        break;
    case LEAT_POETS_EXTERNAL_DETACHED: break;
    case LEAT_POETS_EXTERNAL_SENT: on_sent(host, &event); break;
    }
    if (event.kind != LEAT_POETS_EXTERNAL_SENT) forget_strangers(x, peer);
}

static void on_crowd(struct leat_poets_graph_externals *x, uint32_t peer)
{
    struct leat_poets_external_event event = { 0 };
    leat_poets_externals_refuse(&x->table, LEAT_POETS_REFUSED_CROWDED, &event);
    on_refused(x, peer, &event);
    leat_poets_door_forget(x->door, peer);
}

/* False: there was nothing more. */
static bool serve_one(struct leat_poets_graph_host *host)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    uint8_t octets[256];
    uint32_t peer;
    size_t len;
    switch (leat_poets_door_receive(x->door, &peer, octets, sizeof octets, &len)) {
    case LEAT_POETS_DOOR_NOTHING: return false;
    case LEAT_POETS_DOOR_GONE: leat_poets_externals_leave(&x->table, peer); break;
    case LEAT_POETS_DOOR_CROWDED: on_crowd(x, peer); break;
    case LEAT_POETS_DOOR_DATAGRAM: on_datagram(host, peer, octets, len); break;
    }
    return true;
}

static void serve_some(struct leat_poets_graph_host *host)
{
    for (int i = 0; i < AT_A_TIME && serve_one(host); i++) {
    }
}

void leat_poets_graph_externals_end(struct leat_poets_graph_host *host)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX];
    const double began = leat_poets_run_seconds(); /* one patience for all of them */
    if (!x || !x->door) return;
    for (uint32_t i = 0; i < x->table.count; i++) {
        const size_t len = leat_poets_external_control(x->table.task, LEAT_POETS_OP_STOP, i, NULL,
                                                       frame);
        send_frame(host, i, frame, len, began);
    }
    leat_poets_door_deafen(x->door);
    for (int i = 0; i < AT_THE_END && serve_one(host); i++) {
    }
}

/* ---- the start ------------------------------------------------------------------------------ */

bool leat_poets_graph_externals_begin(struct leat_poets_graph_externals *externals)
{
    struct leat_poets_graph_externals *x = externals;
    x->waits_since = leat_poets_run_seconds();
    x->waits = x->door && x->wait_seconds > 0 && leat_poets_externals_missing(&x->table);
    return x->waits;
}

static void tell_missing(const struct leat_poets_graph_externals *x)
{
    for (uint32_t i = 0; i < x->table.count; i++)
        if (x->external[i].peer == LEAT_POETS_PEER_NONE)
            fprintf(stderr, "leat: external %s: no process has attached to it within %g s\n",
                    x->external[i].name, x->wait_seconds);
}

void leat_poets_graph_externals_serve(struct leat_poets_graph_host *host, int milliseconds)
{
    struct leat_poets_graph_externals *x = host->options.externals;
    if (!x || !x->door) return;
    if (milliseconds) leat_poets_door_wait(x->door, LEAT_POETS_DOOR_PEERS_MAX, milliseconds);
    serve_some(host);
    if (!x->waits) return;
    const double waited = leat_poets_run_seconds() - x->waits_since;
    if (!leat_poets_externals_missing(&x->table)) {
        leat_poets_graph_host_go(host, waited);
    } else if (waited > x->wait_seconds && host->reason == LEAT_POETS_RUN_RUNNING) {
        tell_missing(x);
        leat_poets_graph_host_end(host, LEAT_POETS_RUN_FAILED, 1);
    }
}
