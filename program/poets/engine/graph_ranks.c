/*
 * Ranks: processes that share the threads of an application (spec/poets.md, 5.2 and 5.3). Each has
 * its workers (graph_workers.h), the first of them in this very thread, and a post:
 *
 *   worker --ring--> post --frames--> post --ring--> worker          device to device
 *   worker --ring--> post --frames--> rank 0's host --frames--> ...  supervisor, lines, records
 *
 * The post never waits: packets without room stay where they are, and receiving continues. A frame
 * is sent when it is full, or when there is nothing more to put into it.
 *
 * Rank 0 has the host and coordinates: it queries in waves whether all ranks are idle
 * (poets_waves.h), then has all run OnHardwareIdle and vote. No rank sends until all have voted.
 * Rank 0 announces the end to all.
 */
#include "graph_workers.h"
#include "poets_host.h"
#include "poets_waves.h"
#include <sched.h>
#include <stdlib.h>

enum {
    FRAME_CHANNELS = 2,  /* data and host */
    FRAMES_AT_A_TIME = 8 /* received before other work gets its turn */
};

_Static_assert((int)LEAT_POETS_LINK_LEN_MAX >= (int)LEAT_POETS_FRAME_LEN_MAX, "frames fit");

/* A frame that is being filled, for one rank. */
struct outbox {
    uint8_t *octets; /* NULL: nothing was ever sent there */
    struct leat_poets_frame_writer writer;
    uint32_t seq;
};

/* A frame whose records are being distributed. */
struct inbox {
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
    struct leat_poets_frame_cursor cursor;
    struct leat_poets_record record;
    bool waits; /* `record` has found no room yet */
};

struct ranks {
    struct leat_poets_crew crew;
    struct leat_poets_workers *workers;
    struct leat_poets_run *run;
    struct leat_poets_link *link;
    struct outbox *out[FRAME_CHANNELS]; /* by rank */
    struct inbox in[FRAME_CHANNELS];
    uint32_t ended[FRAME_CHANNELS]; /* ranks that will send nothing more */
    uint32_t open_count;            /* outboxes that are not empty */
    uint32_t host_address;
    uint64_t sent, received;     /* packets to and from other ranks */
    uint32_t wave_requested;     /* and not answered; 0: none */
    bool vote_requested, voting; /* voting: all wait for RESUME */
    bool sent_exit, sent_interrupt, over, no_memory;
    /* Rank 0. */
    struct leat_poets_waves waves;
    bool wave_open;
    enum leat_poets_verdict verdict;
    uint32_t votes_missing;
    bool unanimous;
    uint64_t sent_at_idle;
    double supervised;
};

/* ---- frames out ----------------------------------------------------------------------------- */

static bool begin_frame(struct ranks *r, struct outbox *box)
{
    const struct leat_poets_frame frame = { .src_rank = r->link->rank, .seq = box->seq++ };
    if (!box->octets) box->octets = malloc(LEAT_POETS_FRAME_LEN_MAX);
    if (!box->octets) return r->no_memory = true, false;
    return !leat_poets_frame_begin(&box->writer, box->octets, LEAT_POETS_FRAME_LEN_MAX, &frame);
}

/* False: the link has no room; the frame stays. */
static bool send_frame(struct ranks *r, unsigned channel, uint32_t to)
{
    struct outbox *box = &r->out[channel][to];
    if (!box->octets || !box->writer.record_count) return true;
    if (!r->link->send(r->link, to, channel, box->octets, box->writer.len)) return false;
    r->open_count--;
    return begin_frame(r, box);
}

/* Puts a packet into the frame to its rank. False: there is no room. */
static bool post(struct ranks *r, unsigned channel, uint32_t to, uint32_t address,
                 const uint8_t *packet, uint8_t nflit)
{
    struct outbox *box = &r->out[channel][to];
    const struct leat_poets_record record = { .hw_addr = address,
                                              .nflit = nflit,
                                              .control = channel == LEAT_POETS_LINK_HOST,
                                              .packet = packet };
    if (!box->octets && !begin_frame(r, box)) return false;
    const bool first = !box->writer.record_count;
    if (leat_poets_frame_add(&box->writer, &record)) {
        if (!send_frame(r, channel, to) || leat_poets_frame_add(&box->writer, &record))
            return false;
        r->open_count++;
    } else {
        r->open_count += first;
    }
    r->sent++;
    return true;
}

static void send_frames(struct ranks *r)
{
    for (unsigned c = 0; c < FRAME_CHANNELS && r->open_count; c++)
        for (uint32_t to = 0; to < r->link->rank_count; to++)
            send_frame(r, c, to);
}

/* ---- the host, on rank 0 --------------------------------------------------------------------- */

static void host_packet(struct ranks *r, const uint8_t *packet, unsigned nflit)
{
    r->workers->worker[0].env.block = NULL; /* a crash would not be a device's */
    leat_poets_graph_host_packet(&r->run->host, packet, nflit);
}

/* Other ranks and local workers keep receiving, so this ends. */
static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct ranks *r = host->engine;
    const uint32_t rank = leat_poets_machine_rank_of(r->run->machine, thread);
    leat_poets_run_show(r->run, false, thread, packet, nflit);
    if (rank == r->link->rank)
        while (!leat_poets_workers_from_host(r->workers, thread, packet, nflit))
            sched_yield();
    else
        while (!post(r, LEAT_POETS_LINK_HOST, rank, r->run->machine->address[thread], packet,
                     (uint8_t)nflit) &&
               !r->no_memory)
            sched_yield();
}

/* Packets of workers for the host and for other ranks. */
static bool take_cells(struct ranks *r)
{
    const struct leat_poets_workers_cell *cell;
    bool any = false;
    for (uint32_t i = 0; i < r->workers->count; i++)
        while ((cell = leat_poets_workers_oldest(r->workers, i))) {
            const bool to_host = cell->thread == LEAT_POETS_WORKERS_HOST;
            const uint32_t to = to_host ? 0
                                        : leat_poets_machine_rank_of(r->run->machine, cell->thread);
            if (to_host && !r->link->rank) {
                const struct leat_poets_workers_cell copy = *cell; /* handling it may take more */
                leat_poets_workers_take(r->workers, i);
                host_packet(r, copy.slot.packet, copy.slot.nflit);
            } else if (post(r, to_host ? LEAT_POETS_LINK_HOST : LEAT_POETS_LINK_DATA, to,
                            to_host ? r->host_address : r->run->machine->address[cell->thread],
                            cell->slot.packet, cell->slot.nflit)) {
                leat_poets_workers_take(r->workers, i);
            } else {
                break;
            }
            any = true;
        }
    return any;
}

/* ---- frames in ------------------------------------------------------------------------------ */

/* False: there is no room for it now. */
static bool hand_out(struct ranks *r, unsigned channel, const struct leat_poets_record *record)
{
    const struct leat_poets_machine *m = r->run->machine;
    if (record->hw_addr == r->host_address && !r->link->rank) {
        host_packet(r, record->packet, record->nflit);
        return true;
    }
    if (record->hw_addr < m->thread_from || record->hw_addr >= m->thread_to) {
        r->run->frames_unknown++;
        return true;
    }
    return (channel == LEAT_POETS_LINK_HOST ? leat_poets_workers_from_host
                                            : leat_poets_workers_from_ranks)(
        r->workers, record->hw_addr, record->packet, record->nflit);
}

/* False: some of its records wait. */
static bool hand_out_all(struct ranks *r, unsigned channel)
{
    struct inbox *in = &r->in[channel];
    while (in->waits || leat_poets_frame_next(&in->cursor, &in->record)) {
        in->waits = !hand_out(r, channel, &in->record);
        if (in->waits) return false;
        r->received++;
    }
    return true;
}

static bool receive_frames(struct ranks *r, unsigned channel)
{
    struct inbox *in = &r->in[channel];
    struct leat_poets_frame frame;
    uint32_t from;
    size_t len;
    int count = 0;
    while (hand_out_all(r, channel) && count < FRAMES_AT_A_TIME &&
           r->link->receive(r->link, channel, in->octets, &from, &len)) {
        count++;
        if (!len) /* it already knows that the run is over */
            r->ended[channel]++;
        else if (leat_poets_frame_decode(in->octets, len, &frame, NULL))
            r->run->frames_bad++;
        else
            leat_poets_frame_cursor_init(&in->cursor, in->octets, len);
    }
    return count;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void send_note(struct ranks *r, uint32_t kind, uint64_t a, uint64_t b, uint64_t c)
{
    const struct leat_poets_note note = { .kind = kind, .count = 3, .word = { a, b, c } };
    if (r->link->rank)
        leat_poets_link_send_note(r->link, 0, &note);
    else
        leat_poets_link_send_note_to_all(r->link, &note);
}

static void on_end(struct ranks *r, const struct leat_poets_note *note)
{
    struct leat_poets_graph_host *host = &r->run->host;
    host->reason = note->word[0] < LEAT_POETS_RUN_REASON_COUNT
                       ? (enum leat_poets_run_reason)note->word[0]
                       : LEAT_POETS_RUN_FAILED;
    host->exit_code = (int)note->word[1];
    if (note->word[2] && r->run->options->interrupted)
        *r->run->options->interrupted = (int)note->word[2];
    r->over = true;
    atomic_store(&r->workers->ended, true);
}

/* Requests are served between the rounds of workers. */
static void on_note(struct ranks *r, const struct leat_poets_note *note)
{
    int none = -1;
    switch (note->kind) {
    case LEAT_POETS_NOTE_PROBE: r->wave_requested = (uint32_t)note->word[0]; break;
    case LEAT_POETS_NOTE_COUNTS:
        if (!r->wave_open) break;
        r->verdict = leat_poets_waves_report(&r->waves, (uint32_t)note->word[0], note->word[1],
                                             note->word[2]);
        break;
    case LEAT_POETS_NOTE_IDLE: r->vote_requested = true; break;
    case LEAT_POETS_NOTE_VOTE:
        r->votes_missing--;
        r->unanimous = r->unanimous && note->word[0];
        break;
    case LEAT_POETS_NOTE_RESUME:
        leat_poets_workers_resume(r->workers);
        r->voting = false;
        break;
    case LEAT_POETS_NOTE_EXIT:
        atomic_compare_exchange_strong(&r->run->exit_code, &none, note->word[0] != 0);
        break;
    case LEAT_POETS_NOTE_INTERRUPT:
        if (r->run->options->interrupted) *r->run->options->interrupted = (int)note->word[0];
        break;
    case LEAT_POETS_NOTE_END: on_end(r, note); break;
    default: break;
    }
}

static bool receive_notes(struct ranks *r)
{
    struct leat_poets_note note;
    uint32_t from;
    bool any = false;
    while (!r->over && leat_poets_link_receive_note(r->link, &from, &note)) {
        on_note(r, &note);
        any = true;
    }
    return any;
}

/* ---- the post ------------------------------------------------------------------------------- */

/* True: something moved. Until all have voted nobody sends, not even the host. */
static bool serve(struct ranks *r)
{
    bool any = receive_notes(r);
    if (r->over || r->voting) return any;
    any = receive_frames(r, LEAT_POETS_LINK_HOST) || any;
    any = receive_frames(r, LEAT_POETS_LINK_DATA) || any;
    any = take_cells(r) || any;
    if (!r->link->rank) leat_poets_run_check_end(r->run);
    send_frames(r);
    return any;
}

static void meanwhile(struct leat_poets_workers *workers)
{
    serve(workers->run->host.engine);
}

static bool is_passive(const struct ranks *r)
{
    return !r->open_count && !r->in[LEAT_POETS_LINK_DATA].waits &&
           !r->in[LEAT_POETS_LINK_HOST].waits && leat_poets_workers_is_idle(r->workers);
}

/* Of all local workers. */
static bool is_unanimous(struct ranks *r)
{
    bool unanimous;
    leat_poets_workers_vote(r->workers);
    while (!leat_poets_workers_have_voted(r->workers, &unanimous))
        sched_yield();
    return unanimous;
}

/* Replies that every rank but the first owes it. */
static void answer(struct ranks *r)
{
    const atomic_int *interrupted = r->run->options->interrupted;
    const int code = atomic_load(&r->run->exit_code);
    if (code >= 0 && !r->sent_exit) {
        r->sent_exit = true;
        send_note(r, LEAT_POETS_NOTE_EXIT, (uint64_t)code, 0, 0);
    }
    if (interrupted && *interrupted && !r->sent_interrupt) {
        r->sent_interrupt = true;
        send_note(r, LEAT_POETS_NOTE_INTERRUPT, (uint64_t)*interrupted, 0, 0);
    }
    if (r->vote_requested) {
        r->vote_requested = false;
        r->voting = true;
        send_note(r, LEAT_POETS_NOTE_VOTE, is_unanimous(r), 0, 0);
    }
    if (r->wave_requested && is_passive(r)) {
        send_note(r, LEAT_POETS_NOTE_COUNTS, r->wave_requested, r->sent, r->received);
        r->wave_requested = 0;
    }
}

/* ---- rank 0 coordinates ---------------------------------------------------------------------- */

static void begin_wave(struct ranks *r)
{
    r->wave_requested = leat_poets_waves_begin(&r->waves);
    r->wave_open = true;
    r->verdict = LEAT_POETS_NOT_YET;
    send_note(r, LEAT_POETS_NOTE_PROBE, r->wave_requested, 0, 0);
}

static void count_idle_step(struct ranks *r)
{
    if (r->waves.sent != r->sent_at_idle) r->run->idle_steps = 0; /* there was traffic since */
    r->sent_at_idle = r->waves.sent;
    leat_poets_run_count_idle(r->run, !r->unanimous);
}

static void request_votes(struct ranks *r)
{
    r->unanimous = true;
    if (leat_poets_run_end_held(r->run)) return;
    if (!r->run->machine->has_hardware_idle) {
        count_idle_step(r);
        return;
    }
    r->votes_missing = r->link->rank_count - 1;
    send_note(r, LEAT_POETS_NOTE_IDLE, 0, 0, 0);
    r->voting = true;
    const bool mine = is_unanimous(r);
    r->unanimous = r->unanimous && mine;
}

static void find_idleness(struct ranks *r)
{
    if (r->voting) {
        if (r->votes_missing) return;
        send_note(r, LEAT_POETS_NOTE_RESUME, 0, 0, 0);
        leat_poets_workers_resume(r->workers);
        r->voting = false;
        count_idle_step(r);
    } else if (!r->wave_open) {
        if (is_passive(r)) begin_wave(r);
    } else if (r->wave_requested && is_passive(r)) { /* its own report */
        r->verdict = leat_poets_waves_report(&r->waves, r->wave_requested, r->sent, r->received);
        r->wave_requested = 0;
    } else if (r->verdict != LEAT_POETS_NOT_YET) {
        r->wave_open = false;
        if (r->verdict == LEAT_POETS_IDLE) request_votes(r);
    }
}

static void coordinate(struct ranks *r)
{
    struct leat_poets_run *run = r->run;
    const atomic_int *interrupted = run->options->interrupted;
    r->workers->worker[0].env.block = NULL;
    if (!r->voting) leat_poets_workers_supervise(r->workers, &r->supervised);
    if (leat_poets_run_is_over(run)) {
        send_note(r, LEAT_POETS_NOTE_END, run->host.reason, (uint64_t)run->host.exit_code,
                  interrupted ? (uint64_t)*interrupted : 0);
        r->over = true;
        return;
    }
    if (run->host.app.state == LEAT_POETS_APP_RUNNING || r->voting) find_idleness(r);
}

/* ---- the run -------------------------------------------------------------------------------- */

static void run_to_the_end(struct ranks *r)
{
    unsigned without_work = 0;
    leat_poets_run_watch_crashes();
    leat_poets_worker_begin(&r->workers->worker[0]);
    while (!r->over && !r->no_memory) {
        bool any = !r->voting && leat_poets_worker_round(&r->workers->worker[0]);
        any = serve(r) || any;
        if (r->over) break;
        if (r->link->rank)
            answer(r);
        else
            coordinate(r);
        without_work = any ? 0 : without_work + 1;
        if (any) continue;
        leat_poets_graph_host_flush(&r->run->host);
        leat_poets_workers_rest(without_work);
    }
    leat_poets_run_forget_crashes(r->run->all);
}

/* An empty message ends a channel. Receives until all channels have ended, so that nothing is in
 * flight any more. */
static void drain(struct ranks *r)
{
    const uint32_t others = r->link->rank_count - 1;
    uint32_t sent[FRAME_CHANNELS] = { 0 }, from;
    size_t len;
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned c = 0; c < FRAME_CHANNELS; c++) {
            const uint32_t to = sent[c] + (sent[c] >= r->link->rank);
            if (sent[c] < others && r->link->send(r->link, to, c, "", 0)) sent[c]++;
            if (r->ended[c] < others && r->link->receive(r->link, c, r->in[c].octets, &from, &len))
                r->ended[c] += len == 0;
            busy = busy || sent[c] < others || r->ended[c] < others;
        }
    }
}

static bool make(struct ranks *r)
{
    for (unsigned c = 0; c < FRAME_CHANNELS; c++) {
        r->out[c] = calloc(r->link->rank_count, sizeof *r->out[c]);
        if (!r->out[c]) return false;
    }
    if (leat_poets_hw_host(&leat_poets_hw_tinsel, &r->host_address)) return false;
    r->waves = (struct leat_poets_waves){ .rank_count = r->link->rank_count };
    r->supervised = leat_poets_run_seconds();
    r->run->host.send = send_to_thread;
    r->run->host.engine = r;
    r->workers->meanwhile = meanwhile;
    r->workers->worker[0].inside = true;
    return true;
}

static void free_ranks(struct ranks *r)
{
    for (unsigned c = 0; c < FRAME_CHANNELS; c++) {
        for (uint32_t i = 0; r->out[c] && i < r->link->rank_count; i++)
            free(r->out[c][i].octets);
        free(r->out[c]);
    }
    free(r);
}

bool leat_poets_run_ranks(struct leat_poets_runs *runs)
{
    struct leat_poets_run *run = runs->run;
    struct leat_poets_link *link = run->options->link;
    struct ranks *r = calloc(1, sizeof *r);
    if (!r) return link->abort(link, 1), false;
    r->run = run;
    r->link = link;
    bool good = leat_poets_crew_make(&r->crew, runs);
    r->workers = r->crew.of;
    good = good && make(r);
    if (good && !link->rank) leat_poets_graph_host_begin(&run->host);
    good = good && leat_poets_crew_start(&r->crew, 1);
    if (good) run_to_the_end(r);
    leat_poets_crew_end(&r->crew);
    good = good && !r->no_memory;
    if (good)
        drain(r);
    else
        link->abort(link, 1);
    free_ranks(r);
    return good;
}
