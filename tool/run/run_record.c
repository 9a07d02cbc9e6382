/*
 * leat run --record: records the tasks of a run and its network in the network's time. It is an
 * observer of the hub (hub.h); for ATM fabrics it also has everything that leat sim records.
 *
 *   program      group
 *     rank 3     lane     spans: what it waits in ("MPI_Recv"), or "computing"; messages leave and
 *                         arrive (flows); where it is (place); "task 3" where it is not MPI
 *                         A collective operation of the network: a flow from the task with the last
 *                         part that it needs to each other's result; its tag is the operation's
 *                         number in its group
 *     inbox3     signal   messages that have arrived, and that it has not been handed
 *   network      group
 *     in_flight  signal   messages handed over, not arrived
 *     queue5     signal   messages handed to port 5, not taken by it
 *     flits      signal   inside a network of flits, after each callback
 *     fabric     lane     which network it is (record_fabric.h)
 *     port5 ...  lanes    of ATM fabrics: sim_record.c; of networks of switches: record_net.h. Of
 *                         networks that compute: packets where they enter and leave (frames);
 *                         router5, or half-routers, too
 *
 * A wait that takes no time is left out, unless a message arrives in it, and so is computing that
 * takes none, unless a message is sent in it. A task that keeps waiting in the same call, and has
 * received and sent nothing (it polls), waits in one span.
 */
#include "leat_bytes.h"
#include "record_fabric.h"
#include "record_net.h"
#include "record_order.h"
#include "result_file.h"
#include "run.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNTER_BITS = 32,
    CALLS_MAX = 250, /* different names of what tasks wait in; others are "waiting" */
    SPAN_LEN = LEAT_TASK_CALL_LEN + 32,
    TRACKS_APART = 16, /* besides those of tasks and ports */
};
_Static_assert(LEAT_HUB_SLOTS_MAX <= 1 << LEAT_SIM_MEMBER_BITS,
               "members of a group have their own flows");
#define NOBODY UINT32_MAX

/* Messages of tasks are numbered from here on, behind those of ATM hosts (sim_record.c). */
#define FIRST_OF_TASKS (UINT64_C(1) << 31)

struct lane {
    uint32_t track, inbox;              /* a counter */
    bool is_there;                      /* has begun, and not left */
    bool waits;                         /* else it computes ... */
    leat_time since;                    /* ... since then */
    bool is_shown;                      /* its computing: the span has begun */
    bool is_reached;                    /* a message has arrived in this wait */
    bool is_idle;                       /* since its last wait it has received and sent nothing */
    uint32_t call;                      /* name of what it waits in, or waited in last */
    struct record_ticket turn;          /* the end of its last wait, or the beginning of this one */
    uint32_t parts;                     /* of collective operations, without their results */
    uint32_t group;                     /* of the last one ... */
    char part_call[LEAT_TASK_CALL_LEN]; /* ... and the call that it is of */
};

struct call {
    char text[SPAN_LEN];
    uint32_t name;
};

static struct {
    bool is_open;
    bool is_cell;      /* an ATM fabric */
    bool has_messages; /* of port.h; not where tasks drive ATM units themselves */
    enum run_library library;
    struct result_file file;
    struct leat_sim_recorder recorder;
    struct record_order order;
    const struct run_network *network;
    struct lane *lane;    /* [slots] */
    uint32_t *queue;      /* [ports]: a counter, or NOBODY */
    uint32_t *place_name; /* [ports]; 0: none yet */
    uint32_t *seen_at;    /* [places]: lanes of packets */
    uint32_t places;
    bool has_collectives; /* by the network, if it can */
    uint32_t in_flight, flits;
    leat_time late; /* so long after the time of events others are told of */
    uint64_t flits_recorded;
    uint32_t computing, waiting, lost, redone; /* names */
    struct call call[CALLS_MAX];
    uint32_t calls;
} rec;

/* ---- events ---------------------------------------------------------------------------------- */

static struct record_ticket put(leat_sim_kind kind, const struct lane *lane, uint32_t name,
                                leat_time at)
{
    return record_order_put(
        &rec.order,
        &(struct leat_sim_event){ .kind = kind, .at = at, .track = lane->track, .name = name });
}

static void put_in_order(const struct leat_sim_event *e)
{
    record_order_put(&rec.order, e);
}

static void write_at_once(const struct leat_sim_event *e)
{
    record_order_write(&rec.order, e);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* As recordings require. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (!leat_sim_is_printable((uint8_t)*text)) *text = '?';
}

static uint32_t name_of_call(const char *call)
{
    char text[SPAN_LEN];
    snprintf(text, sizeof text, "%s", call);
    make_printable(text);
    if (!*text) return rec.waiting;
    for (uint32_t i = 0; i < rec.calls; i++)
        if (strcmp(rec.call[i].text, text) == 0) return rec.call[i].name;
    if (rec.calls == CALLS_MAX) return rec.waiting;
    struct call *fresh = &rec.call[rec.calls++];
    memcpy(fresh->text, text, sizeof text);
    fresh->name = leat_sim_recorder_name(&rec.recorder, text);
    return fresh->name;
}

/* Calls that networks carry out (program/collective/coll_calls.c). */
static bool is_collective(const char *call)
{
    static const char *const names[] = { "MPI_Barrier", "MPI_Bcast",     "MPI_Allreduce",
                                         "MPI_Reduce",  "MPI_Allgather", "MPI_Reduce_scatter_block",
                                         "MPI_Scan",    "MPI_Exscan" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(call, names[i]) == 0) return true;
    return false;
}

/* What a task waits in; of a collective call also who carries it out. */
static uint32_t name_of_wait(const struct lane *lane, const char *call)
{
    char text[SPAN_LEN];
    if (lane->parts && strcmp(call, lane->part_call) == 0)
        snprintf(text, sizeof text, "%s in the network (group %u)", call, lane->group);
    else
        snprintf(text, sizeof text, "%s%s", call,
                 rec.has_collectives && is_collective(call) ? " by hosts" : "");
    return name_of_call(text);
}

static uint32_t name_of_port(uint32_t port)
{
    char text[32];
    snprintf(text, sizeof text, "port%u", port);
    if (!rec.place_name[port]) rec.place_name[port] = leat_sim_recorder_name(&rec.recorder, text);
    return rec.place_name[port];
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void show_computing(struct lane *lane)
{
    if (!lane->is_shown) put(LEAT_SIM_BEGIN, lane, rec.computing, lane->since);
    lane->is_shown = true;
}

static void end_computing(struct lane *lane, leat_time at)
{
    if (at > lane->since) show_computing(lane);
    if (lane->is_shown) put(LEAT_SIM_END, lane, 0, at);
    lane->is_shown = false;
}

/* A wait that took no time is dropped, unless an arrow ends at it. */
static void end_wait(struct lane *lane, leat_time at)
{
    const bool was = at > lane->since || lane->is_reached ||
                     !record_order_take_back(&rec.order, lane->turn);
    lane->turn = was ? put(LEAT_SIM_END, lane, 0, at) : (struct record_ticket){ 0 };
}

static void begins(void *context, uint32_t task, uint32_t port, leat_time at)
{
    struct lane *lane = &rec.lane[task];
    (void)context;
    lane->is_there = true;
    lane->since = at;
    put(LEAT_SIM_PLACE, lane, name_of_port(port), at);
    if (!rec.has_messages) return;
    record_order_count(&rec.order, lane->inbox, 0, at);
    record_order_count(&rec.order, rec.queue[port], 0, at);
}

static void waits(void *context, uint32_t task, const char *text, leat_time at)
{
    struct lane *lane = &rec.lane[task];
    const uint32_t call = name_of_wait(lane, text);
    const bool same = lane->is_idle && lane->since == at && lane->call == call;
    (void)context;
    lane->waits = true;
    if (same && record_order_take_back(&rec.order, lane->turn)) { /* it keeps waiting */
        lane->turn = (struct record_ticket){ 0 };
        return;
    }
    end_computing(lane, at);
    lane->since = at;
    lane->is_reached = false;
    lane->call = call;
    lane->turn = put(LEAT_SIM_BEGIN, lane, call, at);
}

static void goes_on(void *context, uint32_t task, uint32_t messages, leat_time at)
{
    struct lane *lane = &rec.lane[task];
    (void)context;
    end_wait(lane, at);
    lane->waits = false;
    lane->since = at;
    lane->is_idle = messages == 0;
    if (messages) record_order_count(&rec.order, lane->inbox, -(int32_t)messages, at);
}

/* If its process is gone, the task may have been ahead of the run. */
static void leaves(void *context, uint32_t task, leat_time at)
{
    struct lane *lane = &rec.lane[task];
    const leat_time end = at > lane->since ? at : lane->since;
    (void)context;
    if (lane->waits)
        end_wait(lane, end);
    else
        end_computing(lane, end);
    lane->is_there = false;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* From the header that a library puts before its messages: of MPI (program/mpi/fi_wire.h) the low
 * half of the tag, which Open MPI uses for the program's; of PVM program/pvm/pvm_shared.h. */
static bool find_tag(const struct leat_hub_message *m, uint32_t *tag)
{
    enum { MPI_EAGER = 1, MPI_REQUEST = 2, MPI_TAG_AT = 8, PVM_TAG_AT = 12, HEAD_MIN = 16 };
    if (m->len < HEAD_MIN) return false;
    switch (rec.library) {
    case RUN_MPI:
        *tag = (uint32_t)leat_get_be64(m->octets + MPI_TAG_AT);
        return m->octets[0] == MPI_EAGER || m->octets[0] == MPI_REQUEST;
    case RUN_PVM: *tag = leat_get_be32(m->octets + PVM_TAG_AT); return true;
    case RUN_ATM: break; /* its messages are the hosts' own */
    }
    return false;
}

static void put_flow(const struct leat_hub_message *m, uint32_t task, uint32_t peer,
                     leat_sim_step step, leat_time at)
{
    struct leat_sim_flow flow = { .message = m->number + (rec.is_cell ? FIRST_OF_TASKS : 0),
                                  .peer = rec.lane[peer].track,
                                  .len = m->len };
    uint32_t tag;
    flow.has_tag = find_tag(m, &tag);
    if (flow.has_tag) flow.tag = tag;
    record_order_put(&rec.order, &(struct leat_sim_event){ .kind = LEAT_SIM_FLOW,
                                                           .at = at,
                                                           .track = rec.lane[task].track,
                                                           .step = step,
                                                           .flow = flow });
}

static void handed_over(void *context, const struct leat_hub_message *m, leat_time at)
{
    struct lane *lane = &rec.lane[m->from];
    (void)context;
    show_computing(lane); /* an arrow begins at a span */
    lane->is_idle = false;
    put_flow(m, m->from, m->to, LEAT_SIM_LEAVES, at);
    record_order_count(&rec.order, rec.queue[m->port], 1, at);
    record_order_count(&rec.order, rec.in_flight, 1, at);
}

static void sent(void *context, const struct leat_hub_message *m, leat_time at)
{
    (void)context;
    record_order_count(&rec.order, rec.queue[m->port], -1, at);
}

static void arrived(void *context, const struct leat_hub_message *m, leat_time at)
{
    struct lane *lane = &rec.lane[m->to];
    (void)context;
    if (at >= lane->since) lane->is_reached = true;
    put_flow(m, m->to, m->from, LEAT_SIM_ARRIVES, at);
    record_order_count(&rec.order, rec.in_flight, -1, at);
    if (lane->is_there) record_order_count(&rec.order, lane->inbox, 1, at);
}

static void lost(void *context, const struct leat_hub_message *m, leat_time at)
{
    (void)context;
    put(LEAT_SIM_INSTANT, &rec.lane[m->from], rec.lost, at);
    record_order_count(&rec.order, rec.in_flight, -1, at);
}

/* ---- collective operations ------------------------------------------------------------------- */

static void put_operation(const struct leat_hub_operation *op, uint32_t task, uint32_t peer,
                          uint32_t member, leat_sim_step step, leat_time at)
{
    const struct leat_sim_flow flow = {
        .message = leat_sim_operation_flow(op->group, (uint32_t)op->number, member),
        .peer = rec.lane[peer].track,
        .tag = (uint32_t)op->number,
        .has_tag = true,
        .len = op->len,
    };
    record_order_put(&rec.order, &(struct leat_sim_event){ .kind = LEAT_SIM_FLOW,
                                                           .at = at,
                                                           .track = rec.lane[task].track,
                                                           .step = step,
                                                           .flow = flow });
}

static void takes_part(void *context, const struct leat_hub_operation *op, uint32_t member,
                       leat_time at)
{
    struct lane *lane = &rec.lane[op->task[member]];
    (void)context, (void)at;
    lane->is_idle = false;
    lane->parts++;
    lane->group = op->group;
    snprintf(lane->part_call, sizeof lane->part_call, "%s", op->call);
}

static void completes(void *context, const struct leat_hub_operation *op, uint32_t member,
                      leat_time at)
{
    const uint32_t task = op->task[member];
    struct lane *lane = &rec.lane[task];
    (void)context;
    if (lane->waits)
        lane->is_reached = true; /* arrows begin at it */
    else
        show_computing(lane);
    for (uint32_t i = 0; i < op->members; i++)
        if (i != member) put_operation(op, task, op->task[i], i, LEAT_SIM_LEAVES, at);
}

static void gets_result(void *context, const struct leat_hub_operation *op, uint32_t member,
                        leat_time at)
{
    const uint32_t task = op->task[member];
    struct lane *lane = &rec.lane[task];
    (void)context;
    lane->parts--;
    if (op->is_redone) put(LEAT_SIM_INSTANT, lane, rec.redone, at);
    if (op->completed_by == member) return;
    if (at >= lane->since) lane->is_reached = true;
    put_operation(op, task, op->task[op->completed_by], member, LEAT_SIM_ARRIVES, at);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void catch_up(void)
{
    if (rec.is_cell) sim_record_catch_up(rec.network->load->sim.now - 1);
}

static void reached(void *context, leat_time at)
{
    (void)context;
    catch_up();
    record_order_until(&rec.order, at > rec.late ? at - rec.late : 0);
    if (!rec.network->flits) return;
    const uint64_t flits = leat_net_flits_inside(rec.network->flits);
    if (flits != rec.flits_recorded)
        record_order_count(&rec.order, rec.flits, (int32_t)(flits - rec.flits_recorded), at);
    rec.flits_recorded = flits;
}

static void packet_is_seen(void *context, const struct leat_port_packet *p, leat_time at)
{
    (void)context;
    if (p->place >= rec.places) return;
    record_order_put(&rec.order,
                     &(struct leat_sim_event){
                         .kind = LEAT_SIM_FRAME,
                         .at = at,
                         .track = rec.seen_at[p->place],
                         .direction = p->is_out ? LEAT_SIM_OUT : LEAT_SIM_IN,
                         .octets = p->octets,
                         .len = p->len < LEAT_SIM_FRAME_LEN_MAX ? p->len : LEAT_SIM_FRAME_LEN_MAX,
                     });
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t declare_counter(uint32_t group, const char *what, uint32_t number)
{
    char name[32];
    if (number == NOBODY)
        snprintf(name, sizeof name, "%s", what);
    else
        snprintf(name, sizeof name, "%s%u", what, number);
    return record_order_counter(
        &rec.order, leat_sim_recorder_signal(&rec.recorder, group, 0, COUNTER_BITS, name));
}

static void declare_program(uint32_t slots)
{
    const uint32_t group = leat_sim_recorder_group(&rec.recorder, 0, "program");
    for (uint32_t i = 0; i < slots; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %u", rec.library == RUN_MPI ? "rank" : "task", i);
        rec.lane[i].track = leat_sim_recorder_lane(&rec.recorder, group, 0, 0, name);
        if (rec.has_messages) rec.lane[i].inbox = declare_counter(group, "inbox", i);
    }
    rec.computing = leat_sim_recorder_name(&rec.recorder, "computing");
    rec.waiting = leat_sim_recorder_name(&rec.recorder, "waiting");
    rec.lost = leat_sim_recorder_name(&rec.recorder, "lost");
    rec.redone = leat_sim_recorder_name(&rec.recorder, "done again by hosts");
}

/* Where the network shows its packets. */
static void declare_places(uint32_t group)
{
    struct leat_port_place place;
    for (uint32_t i = 0; i < rec.places && leat_port_place(rec.network->net, i, &place); i++) {
        char name[LEAT_SIM_PATH_LEN_MAX / 2];
        snprintf(name, sizeof name, "%s%s%s%u", place.part ? place.part : "", place.part ? "." : "",
                 place.what, place.number);
        rec.seen_at[i] = leat_sim_recorder_lane(&rec.recorder, group, 0, place.link_type, name);
    }
}

/* As many as the recording has room for beside lanes, inboxes and queues; packets at others are
 * not recorded. */
static uint32_t count_places(uint32_t slots)
{
    const uint32_t queues = rec.library == RUN_PVM ? rec.network->net->ports : slots;
    const uint32_t used = 2 * slots + queues + TRACKS_APART;
    const uint32_t most = used < LEAT_SIM_TRACKS_MAX ? LEAT_SIM_TRACKS_MAX - used : 0;
    struct leat_port_place place;
    uint32_t count = 0;
    while (count < most && leat_port_place(rec.network->net, count, &place))
        count++;
    return count;
}

/* Queues of the ports of tasks; PVM tasks may come to any. */
static void declare_counters(uint32_t group, uint32_t slots, const uint32_t *port)
{
    const uint32_t ports = rec.network->net->ports;
    for (uint32_t p = 0; p < ports; p++)
        rec.queue[p] = rec.library == RUN_PVM ? 0 : NOBODY;
    for (uint32_t i = 0; i < slots; i++)
        rec.queue[port[i]] = 0;
    for (uint32_t p = 0; p < ports; p++)
        if (rec.queue[p] != NOBODY) rec.queue[p] = declare_counter(group, "queue", p);
    rec.in_flight = declare_counter(group, "in_flight", NOBODY);
    record_order_count(&rec.order, rec.in_flight, 0, 0);
    if (!rec.network->flits) return;
    rec.flits = declare_counter(group, "flits", NOBODY);
    record_order_count(&rec.order, rec.flits, 0, 0);
}

static uint32_t tracks_left(void)
{
    return LEAT_SIM_TRACKS_MAX - rec.recorder.tracks;
}

/* Hops are known late, so that all events of cells need to be put in order. */
static bool join_cells(const struct run_job *job, const struct run_network *network, uint32_t group)
{
    struct leat_sim_atm *sim = &network->load->sim;
    struct sim_recorded what = { .hops = job->record_hops };
    const bool has_hops = what.hops && leat_sim_atm_can_observe(sim);
    if (has_hops) what.wires = sim_wires(job->args, network->fabric);
    if (has_hops && !what.wires) return false;
    rec.late = has_hops ? leat_sim_clock_at(&network->fabric->clock, SIM_RECORD_LATE) : 0;
    return sim_record_join(&rec.recorder, group, has_hops ? put_in_order : write_at_once, &what,
                           sim, network->load);
}

/* The lanes of terminals where packets of collective operations are seen, too. */
static void find_lanes(const struct leat_port_net *net, uint32_t terminals, uint32_t *lane)
{
    struct leat_port_place place;
    for (uint32_t i = 0; i < rec.places && leat_port_place(net, i, &place); i++) {
        const uint32_t first = strcmp(place.what, "port") == 0 ? 0 : net->ports;
        if (!place.part && first + place.number < terminals)
            lane[first + place.number] = rec.seen_at[i];
    }
}

static bool join_flits(const struct run_job *job, const struct run_network *network, uint32_t group)
{
    const uint32_t terminals = network->flits->topology->terminals;
    uint32_t *lane = calloc(terminals, sizeof *lane);
    if (!lane) return complain("no memory for a recording of %u terminals", terminals);
    find_lanes(network->net, terminals, lane);
    const struct record_net_config config = { .recorder = &rec.recorder,
                                              .group = group,
                                              .put = put_in_order,
                                              .net = network->flits,
                                              .clock = network->fabric->clock,
                                              .flit_octets = job->flit_octets,
                                              .room = tracks_left(),
                                              .hops = job->record_hops,
                                              .lane = lane };
    const bool done = record_net_join(&config);
    free(lane);
    return done;
}

static bool join_network(const struct run_job *job, const struct run_network *network,
                         uint32_t group)
{
    rec.late = 0;
    if (rec.is_cell) return join_cells(job, network, group);
    return !network->flits || !job->record_hops || join_flits(job, network, group);
}

static void forget(void)
{
    record_order_free(&rec.order);
    sim_record_leave();
    record_net_leave();
    free(rec.lane);
    free(rec.queue);
    free(rec.place_name);
    free(rec.seen_at);
    rec.lane = NULL;
    rec.queue = rec.place_name = rec.seen_at = NULL;
    rec.is_open = false;
}

static bool make_room(uint32_t slots, uint32_t ports)
{
    rec.lane = calloc(slots, sizeof *rec.lane);
    rec.queue = calloc(ports, sizeof *rec.queue);
    rec.place_name = calloc(ports, sizeof *rec.place_name);
    rec.seen_at = calloc(rec.places + 1, sizeof *rec.seen_at);
    if (rec.lane && rec.queue && rec.place_name && rec.seen_at) return true;
    return complain("no memory for a recording of %u tasks", slots);
}

bool run_record_open(const struct run_job *job, const struct run_network *network, uint32_t slots,
                     const uint32_t *port)
{
    rec.library = job->library;
    rec.network = network;
    rec.is_cell = network->load;
    rec.has_messages = job->library != RUN_ATM;
    rec.calls = 0;
    rec.flits_recorded = 0;
    rec.has_collectives = job->collectives == RUN_BY_NETWORK;
    rec.places = count_places(slots);
    record_order_init(&rec.order, &rec.recorder);
    if (!make_room(slots, network->net->ports) || !result_file_open(&rec.file, job->record)) {
        forget();
        return false;
    }
    leat_sim_recorder_init(&rec.recorder, &rec.file.out.text);
    declare_program(slots);
    const uint32_t group = leat_sim_recorder_group(&rec.recorder, 0, "network");
    if (rec.has_messages) declare_counters(group, slots, port);
    declare_places(group);
    struct leat_sim_event name;
    const bool has_name = record_fabric_declare(&rec.recorder, group, network->fabric->name, &name);
    rec.is_open = join_network(job, network, group) && !rec.order.failed;
    if (rec.is_open && has_name) put_in_order(&name);
    if (rec.is_open) return true;
    result_file_drop(&rec.file);
    forget();
    return false;
}

const struct leat_hub_watch *run_record_watch(void)
{
    static const struct leat_hub_watch watch = {
        .begins = begins,
        .waits = waits,
        .goes_on = goes_on,
        .leaves = leaves,
        .handed_over = handed_over,
        .sent = sent,
        .arrived = arrived,
        .lost = lost,
        .reached = reached,
        .takes_part = takes_part,
        .completes = completes,
        .gets_result = gets_result,
        .packet = packet_is_seen,
    };
    return rec.is_open ? &watch : NULL;
}

bool run_record_close(bool keep)
{
    if (!rec.is_open) return true;
    catch_up();
    const leat_time end = record_order_end(&rec.order), now = rec.network->net->now;
    leat_sim_recorder_close(&rec.recorder, end > now ? end : now);
    const bool whole = !rec.order.failed;
    forget();
    return result_file_close(&rec.file, keep && whole) && whole;
}
