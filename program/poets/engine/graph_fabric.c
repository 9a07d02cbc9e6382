/*
 * Threads over a fabric: events of threads and of the host in one heap, by cycle; the network runs
 * up to each of them. The order is the same on every machine.
 */
#include "graph_fabric.h"
#include "graph_run_parts.h"
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "leat_heap.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHECK_EVENTS = 256,    /* between two checks for external ends */
    HOST_QUEUE_MAX = 4096, /* packets waiting at the host before it stops receiving */
    TICKS_PER_RECORD = 16, /* checks of sleeping threads per record interval */
    NAP_NS = 50000,
    HOST_IDLE_MS = 1, /* minimum interval of OnSupervisorIdle */
};
#define NEVER UINT64_MAX

/* A thread, or the host. */
struct unit {
    uint64_t at;                   /* when its turn ends and the next begins; NEVER: it sleeps */
    struct leat_poets_mail *taken; /* received by the turn that ends then */
    struct leat_poets_mail *out;   /* sent by it */
};

struct fabric {
    struct leat_poets_run *run;
    const struct leat_poets_fabric_options *options;
    struct leat_poets_env env;
    struct leat_poets_mailboxes mail;
    struct unit *unit; /* the last is the host */
    uint32_t *heap, heap_count;
    uint32_t host;                     /* its number */
    struct leat_poets_mail_list queue; /* packets that the host has to send */
    uint32_t queued;
    uint64_t now, tick, tick_cycles, host_idle_at, limit, events;
    uint64_t ran_from, ran_to;
    double began; /* by the clock of this machine */
    bool failed;  /* no memory */
};

/* ---- time ----------------------------------------------------------------------------------- */

static leat_time edge(const struct fabric *f, uint64_t cycle)
{
    const uint64_t num = f->options->clock_num, den = f->options->clock_den;
    return cycle / den * num + cycle % den * num / den;
}

/* The first cycle that does not begin before `at`. */
static uint64_t cycle_from(const struct fabric *f, leat_time at)
{
    const uint64_t num = f->options->clock_num, den = f->options->clock_den;
    return at / num * den + (at % num * den + num - 1) / num;
}

/* The present. A network with a different clock may be a fraction of a cycle ahead. */
static leat_time network_time(const struct fabric *f)
{
    const leat_time at = edge(f, f->now);
    return at > f->mail.net->now ? at : f->mail.net->now;
}

static double seconds(const struct fabric *f)
{
    return (double)f->now * (double)f->options->clock_num / (double)f->options->clock_den * 1e-12;
}

/* The first cycle that is later. */
static uint64_t cycles_until(const struct fabric *f, double seconds_max)
{
    const double ps = seconds_max * 1e12;
    return ps < 1e19 ? cycle_from(f, (leat_time)ps) + 1 : NEVER;
}

static uint64_t cycles_of_ms(const struct fabric *f, uint64_t ms)
{
    return cycle_from(f, ms * UINT64_C(1000000000));
}

/* ---- events --------------------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct fabric *f = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return f->unit[x].at != f->unit[y].at ? f->unit[x].at < f->unit[y].at : x < y;
}

static struct leat_heap units_of(struct fabric *f)
{
    return (struct leat_heap){
        .element = f->heap, .size = sizeof *f->heap, .before = is_before, .context = f
    };
}

static void plan(struct fabric *f, uint32_t number, uint64_t at)
{
    const struct leat_heap heap = units_of(f);
    f->unit[number].at = at;
    leat_heap_push(&heap, &f->heap_count, &number);
}

static uint32_t take_next(struct fabric *f)
{
    const struct leat_heap heap = units_of(f);
    uint32_t number;
    leat_heap_take(&heap, &f->heap_count, &number);
    return number;
}

/* A unit that is busy, or has its turn, checks by itself when it is done. */
static void wake(struct fabric *f, uint32_t number, uint64_t at)
{
    if (f->unit[number].at == NEVER) plan(f, number, at > f->now ? at : f->now);
}

static void wake_at(void *context, uint32_t number, leat_time at)
{
    struct fabric *f = context;
    wake(f, number, cycle_from(f, at));
}

/* ---- a thread ------------------------------------------------------------------------------- */

/* What handlers ran so far. */
struct work {
    uint64_t received, sent, idled;
};

static struct work work_of(const struct leat_poets_softswitch *ss)
{
    return (struct work){ ss->handled, ss->instr.counter[LEAT_POETS_INSTR_TX_HAN_CNT],
                          ss->instr.counter[LEAT_POETS_INSTR_IDLE_HAN_CNT] };
}

/* Counters restart with each record; then nothing else was done. */
static uint64_t since(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static uint64_t cost_of(const struct fabric *f, const struct leat_poets_softswitch *ss,
                        struct work before, bool sends)
{
    const struct leat_poets_fabric_costs *c = &f->options->costs;
    const struct work after = work_of(ss);
    return c->turn + since(before.received, after.received) * c->receive +
           since(before.sent, after.sent) * c->send + since(before.idled, after.idled) * c->idle +
           (sends ? c->edge : 0);
}

/* Posts and releases the packets of the previous turn. */
static void end_turn(struct fabric *f, struct unit *u)
{
    if (u->taken) leat_poets_mail_done(&f->mail, u->taken, network_time(f));
    u->taken = NULL;
    if (u->out) leat_poets_mail_post(&f->mail, u->out, network_time(f));
    u->out = NULL;
}

/* The packet that has arrived for a thread. Data waits until the barrier is open. */
static struct leat_poets_mail *arrived_for(const struct fabric *f, uint32_t thread)
{
    const enum leat_poets_softswitch_state state = f->run->softswitch[thread].state;
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&f->mail, thread);
    const bool early = state == LEAT_POETS_SS_INIT || state == LEAT_POETS_SS_BARRIER;
    return mail && early && mail->from != f->host ? NULL : mail;
}

static uint64_t send(struct fabric *f, uint32_t thread, const struct leat_poets_step_out *out)
{
    struct unit *u = &f->unit[thread];
    const bool to_host = out->kind == LEAT_POETS_STEP_SEND_HOST;
    const uint32_t to = to_host ? f->host : out->thread;
    leat_poets_run_show(f->run, to_host, to_host ? thread : to, out->out.packet, out->out.nflit);
    u->out = leat_poets_mail_new(&f->mail, thread, to, out->out.packet, out->out.nflit);
    if (!u->out) f->failed = true;
    return f->mail.user[thread].box == f->mail.user[to].box
               ? f->options->costs.copy * out->out.nflit
               : 0;
}

/* The cycle of its next turn; NEVER: it sleeps. */
static uint64_t thread_turn(struct fabric *f, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &f->run->softswitch[thread];
    struct unit *u = &f->unit[thread];
    end_turn(f, u);
    struct leat_poets_mail *mail = arrived_for(f, thread);
    const struct work before = work_of(ss);
    const bool begins = ss->state == LEAT_POETS_SS_INIT;
    const struct leat_poets_step_in in = { .now = f->now,
                                           .can_send = !f->mail.user[thread].sends,
                                           .packet = mail ? leat_poets_mail_packet(mail) : NULL,
                                           .nflit = mail ? mail->nflit : 0 };
    struct leat_poets_step_out out;
    f->run->turns = f->now;
    leat_poets_softswitch_step(ss, &in, &out);
    f->env.block = NULL; /* no handler runs any more */
    const bool sends = out.kind == LEAT_POETS_STEP_SEND || out.kind == LEAT_POETS_STEP_SEND_HOST;
    uint64_t cost = cost_of(f, ss, before, sends);
    if (begins) cost += ss->config.device_count * f->options->costs.receive;
    if (out.taken) {
        leat_poets_mail_take(&f->mail, mail);
        u->taken = mail;
    }
    if (sends) cost += send(f, thread, &out);
    return out.kind == LEAT_POETS_STEP_TURN || sends || out.taken ? f->now + cost : NEVER;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct fabric *f = host->engine;
    struct leat_poets_mail *mail = leat_poets_mail_new(&f->mail, f->host, thread, packet, nflit);
    if (!mail) {
        f->failed = true;
        return;
    }
    f->run->turns = f->now;
    leat_poets_run_show(f->run, false, thread, packet, nflit);
    leat_poets_mail_append(&f->queue, mail);
    f->queued++;
    wake(f, f->host, f->now);
}

/* Sends one packet if its slot is free, and receives one unless too many wait to be sent. */
static uint64_t host_turn(struct fabric *f)
{
    struct unit *u = &f->unit[f->host];
    end_turn(f, u);
    if (f->queued && !f->mail.user[f->host].sends) {
        f->queued--;
        leat_poets_mail_post(&f->mail, leat_poets_mail_first(&f->queue), network_time(f));
    }
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&f->mail, f->host);
    if (!mail) leat_poets_graph_host_flush(&f->run->host);
    if (!mail || f->queued >= HOST_QUEUE_MAX) return NEVER;
    leat_poets_mail_take(&f->mail, mail);
    u->taken = mail;
    leat_poets_graph_host_packet(&f->run->host, leat_poets_mail_packet(mail), mail->nflit);
    return f->now + f->options->costs.host;
}

/* ---- idleness ------------------------------------------------------------------------------- */

static void supervisor_idle(struct fabric *f)
{
    if (f->now < f->host_idle_at) return;
    f->host_idle_at = f->now + cycles_of_ms(f, HOST_IDLE_MS);
    leat_poets_graph_host_idle(&f->run->host);
}

/* OnHardwareIdle everywhere. True: a device wants to continue. */
static bool hardware_idle(struct fabric *f)
{
    const struct leat_poets_fabric_costs *c = &f->options->costs;
    const bool handlers = f->run->machine->has_hardware_idle;
    bool active = false;
    f->run->turns = f->now;
    for (uint32_t t = 0; t < f->host; t++) {
        struct leat_poets_softswitch *ss = &f->run->softswitch[t];
        active = leat_poets_softswitch_hardware_idle(ss) || active;
        if (leat_poets_softswitch_is_passive(ss)) continue;
        wake(f, t, f->now + c->turn + (handlers ? ss->config.device_count * c->receive : 0));
    }
    f->env.block = NULL;
    return active || f->heap_count;
}

/* Idleness does not end the run. Waits until OnSupervisorIdle is due; what it waits for may need
 * this processor. */
static void wait_for_supervisor(struct fabric *f)
{
    static const struct timespec nap = { .tv_nsec = NAP_NS };
    if (f->now >= f->host_idle_at) return;
    f->now = f->host_idle_at;
    nanosleep(&nap, NULL);
}

/* All sleep and nothing is in flight. `steps`: how often in a row. */
static void idle_step(struct fabric *f, uint32_t *steps)
{
    struct leat_poets_run *run = f->run;
    f->now += f->options->costs.detect;
    *steps = hardware_idle(f) ? 0 : *steps + 1;
    if (*steps >= leat_poets_run_idle_steps(run)) {
        leat_poets_run_end_idle(run);
        if (run->host.reason == LEAT_POETS_RUN_RUNNING && atomic_load(&run->exit_code) < 0)
            wait_for_supervisor(f);
    }
    supervisor_idle(f);
    leat_poets_run_check_end_after(run, seconds(f));
}

/* ---- the run -------------------------------------------------------------------------------- */

/* External reasons to end, and progress. */
static void check_outside(struct fabric *f)
{
    leat_poets_run_check_end_after(f->run, seconds(f));
    if (f->run->options->watch.progress)
        leat_poets_run_progress(f->run, f->began, leat_poets_run_received(f->run));
}

/* Timed events, whatever else happens. */
static void keep_time(struct fabric *f)
{
    if (f->now >= f->tick) {
        f->tick = f->now + f->tick_cycles;
        for (uint32_t t = 0; t < f->host; t++)
            wake(f, t, f->now);
    }
    if (!f->queued) supervisor_idle(f);
    if (f->now >= f->limit || f->events++ % CHECK_EVENTS == 0 ||
        atomic_load(&f->run->exit_code) >= 0)
        check_outside(f);
}

static void note_state(struct fabric *f)
{
    const bool running = f->run->host.app.state == LEAT_POETS_APP_RUNNING;
    if (running && f->ran_from == NEVER) f->ran_from = f->now;
    if (!running && f->ran_from != NEVER && f->ran_to == NEVER) f->ran_to = f->now;
}

/* The next event: of the network, of a unit, or of a timer. False: there will be none. */
static bool next_event(struct fabric *f)
{
    const uint64_t unit_at = f->heap_count ? f->unit[f->heap[0]].at : NEVER;
    const uint64_t next = unit_at < f->tick ? unit_at : f->tick;
    if (f->mail.net->in_flight &&
        leat_poets_mailboxes_run(&f->mail, next == NEVER ? LEAT_NEVER : edge(f, next)))
        return true;
    if (next == NEVER) return false;
    f->now = next;
    keep_time(f);
    if (unit_at != next) return true;
    const uint32_t number = take_next(f);
    const uint64_t again = number == f->host ? host_turn(f) : thread_turn(f, number);
    f->unit[number].at = NEVER;
    if (again != NEVER) plan(f, number, again);
    return true;
}

static void run_to_the_end(struct fabric *f)
{
    struct leat_poets_graph_host *host = &f->run->host;
    uint32_t idle_steps = 0;
    leat_poets_graph_host_begin(host);
    for (uint32_t t = 0; t < f->host; t++)
        wake(f, t, 0);
    while (!leat_poets_graph_host_is_over(host) && !f->failed && !f->mail.failed[0]) {
        note_state(f);
        if (f->heap_count || f->mail.alive) {
            if (next_event(f)) continue;
            snprintf(f->mail.failed, sizeof f->mail.failed, "packets wait and nothing moves");
        } else if (host->app.state == LEAT_POETS_APP_RUNNING) {
            idle_step(f, &idle_steps);
        } else {
            snprintf(f->mail.failed, sizeof f->mail.failed, "the host waits for threads in vain");
        }
    }
    note_state(f);
}

static void sum_up(const struct fabric *f, struct leat_poets_fabric_result *out)
{
    const struct leat_poets_mailboxes *m = &f->mail;
    uint8_t words[24];
    *out = (struct leat_poets_fabric_result){
        .cycles = f->now, .threads = m->threads_count, .host = m->host_count, .copied = m->copied
    };
    if (f->ran_to != NEVER) out->ran_cycles = f->ran_to - f->ran_from;
    for (uint32_t b = 0; b <= m->boxes; b++)
        if (m->box[b].packets > out->busiest_packets) {
            out->busiest_packets = m->box[b].packets;
            out->busiest_port = m->box[b].port;
        }
    memcpy(out->failed, m->failed, sizeof out->failed);
    leat_put_le64(words, m->net->certificate);
    leat_put_le64(words + 8, out->cycles);
    leat_put_le64(words + 16, out->copied);
    out->certificate = leat_fnv(LEAT_FNV_EMPTY, words, sizeof words);
}

bool leat_poets_run_fabric(struct leat_poets_run *run)
{
    const struct leat_poets_fabric_options *o = &run->options->fabric;
    const uint32_t threads = run->machine->thread_count;
    const struct leat_poets_mailbox_config config = { .net = o->net,
                                                      .bare = o->bare,
                                                      .place = o->place,
                                                      .boxes = o->boxes,
                                                      .threads = threads,
                                                      .slots = o->slots,
                                                      .host_port = o->host_port,
                                                      .host_address = o->host_address };
    struct fabric f = { .run = run,
                        .options = o,
                        .host = threads,
                        .tick = NEVER,
                        .ran_from = NEVER,
                        .ran_to = NEVER,
                        .began = leat_poets_run_seconds() };
    leat_poets_run_env(run, &f.env, false);
    f.unit = calloc((size_t)threads + 1, sizeof *f.unit);
    f.heap = calloc((size_t)threads + 1, sizeof *f.heap);
    bool good = leat_poets_mailboxes_make(&f.mail, &config) && f.unit && f.heap;
    f.mail.context = &f;
    f.mail.came = f.mail.free_to_send = wake_at;
    for (uint32_t t = 0; good && t <= threads; t++)
        f.unit[t].at = NEVER;
    for (uint32_t t = 0; good && t < threads; t++)
        run->machine->address[t] = f.mail.user[t].address;
    good = good && leat_poets_run_make(run, &f.env, threads + 1);
    f.limit = run->options->seconds_max > 0 ? cycles_until(&f, run->options->seconds_max) : NEVER;
    if (run->options->host.instrument)
        f.tick = f.tick_cycles = run->options->host.interval / TICKS_PER_RECORD + 1;
    if (good) {
        run->host.send = send_to_thread;
        run->host.engine = &f;
        leat_poets_run_watch_crashes(&f.env);
        run_to_the_end(&f);
        leat_poets_run_forget_crashes();
        sum_up(&f, &run->fabric);
        good = !f.failed;
    }
    leat_poets_run_lend_env(run, false);
    leat_poets_mailboxes_free(&f.mail);
    free(f.unit);
    free(f.heap);
    return good;
}
