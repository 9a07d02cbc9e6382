/*
 * The result of a run, also over ranks. The hash of states covers all devices in the order of the
 * file, on whichever rank: rank 0 walks over them and requests states from a rank when it needs
 * them, so that no rank has to hold all.
 */
#include "graph_run_parts.h"
#include "graph_streams.h"
#include "leat_bytes.h"
#include "leat_fnv.h"
#include <stdlib.h>
#include <string.h>

enum { LEN_AT = 0, WANTS_AT = 8, HEAD_LEN = 16 };

/* ---- counts --------------------------------------------------------------------------------- */

static uint32_t list_totals(struct leat_poets_run_result *r, uint64_t **list)
{
    uint32_t count = 0;
    list[count++] = &r->receives;
    list[count++] = &r->sends;
    list[count++] = &r->debug_octets;
    list[count++] = &r->frames_bad;
    list[count++] = &r->frames_unknown;
    list[count++] = &r->packets;
    list[count++] = &r->cut_threads;
    list[count++] = &r->cut_workers;
    list[count++] = &r->cut_ranks;
    for (int i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
        list[count++] = &r->cause[i];
    return count;
}

_Static_assert(LEAT_POETS_CAUSE_COUNT + 9 <= LEAT_POETS_NOTE_WORDS_MAX, "totals fit into a note");

static void add_totals(struct leat_poets_link *link, struct leat_poets_run_result *out)
{
    uint64_t *list[LEAT_POETS_NOTE_WORDS_MAX];
    struct leat_poets_note note = { .kind = LEAT_POETS_NOTE_TOTALS };
    const uint32_t count = list_totals(out, list);
    for (uint32_t r = 1; r < link->rank_count; r++) {
        leat_poets_streams_wait(link, LEAT_POETS_NOTE_TOTALS, &note);
        for (uint32_t i = 0; i < count && i < note.count; i++)
            *list[i] += note.word[i];
    }
}

static void send_totals(struct leat_poets_link *link, struct leat_poets_run_result *out)
{
    uint64_t *list[LEAT_POETS_NOTE_WORDS_MAX];
    struct leat_poets_note note = { .kind = LEAT_POETS_NOTE_TOTALS };
    note.count = list_totals(out, list);
    for (uint32_t i = 0; i < note.count; i++)
        note.word[i] = *list[i];
    leat_poets_link_send_note(link, 0, &note);
}

static void count_cuts(const struct leat_poets_run *run, struct leat_poets_run_result *out)
{
    const struct leat_poets_machine *m = run->machine;
    const struct leat_poets_run_options *o = run->options;
    /* With a fixed order one worker does everything, however many there are. */
    const bool free_order = o->schedule == LEAT_POETS_RUN_FREE && !o->fabric.net;
    out->cut_threads = leat_poets_machine_cut(m, m->thread_count);
    out->cut_workers = leat_poets_machine_cut(m, free_order ? m->rank_count * o->workers : 1);
    out->cut_ranks = leat_poets_machine_cut(m, m->rank_count);
}

/* ---- states --------------------------------------------------------------------------------- */

struct states {
    const struct leat_poets_machine *machine;
    const struct leat_poets_run_watch *watch;
    struct leat_poets_streams *streams;
    uint8_t *shown; /* what the observer gets of a device */
    size_t shown_len, shown_cap;
    uint64_t hash;
    bool no_memory;
};

/* For the observer. */
static void keep(struct states *s, const uint8_t *octets, size_t len)
{
    const size_t need = s->shown_len + len;
    if (need > s->shown_cap) {
        uint8_t *grown = realloc(s->shown, 2 * need);
        s->no_memory = s->no_memory || !grown;
        if (!grown) return;
        s->shown = grown;
        s->shown_cap = 2 * need;
    }
    memcpy(s->shown + s->shown_len, octets, len);
    s->shown_len += len;
}

static void take(void *context, const uint8_t *octets, size_t len)
{
    struct states *s = context;
    s->hash = leat_fnv(s->hash, octets, len);
    if (s->watch->state && len) keep(s, octets, len);
}

static void take_number(void *context, const uint8_t *octets, size_t len)
{
    uint64_t *number = context;
    while (len--)
        *number = *number << 8 | *octets++;
}

static void show_local(struct states *s, uint32_t index, bool of_edges)
{
    leat_poets_machine_states(s->machine, index, of_edges, take, s);
}

/* What a device wants comes before its state, and before both the length: only this rank knows the
 * device's edges. */
static void send_local(struct states *s, uint32_t index, bool of_edges)
{
    uint8_t head[HEAD_LEN];
    leat_put_be64(head + LEN_AT, leat_poets_machine_states_len(s->machine, index, of_edges));
    leat_put_be64(head + WANTS_AT, leat_poets_machine_wants(s->machine, index));
    leat_poets_streams_put(s->streams, head, sizeof head);
    leat_poets_machine_states(s->machine, index, of_edges, leat_poets_streams_put, s->streams);
}

static uint64_t fetch(struct states *s, uint32_t rank)
{
    uint64_t len = 0, wants = 0;
    s->no_memory = !leat_poets_streams_take(s->streams, rank, 8, take_number, &len) ||
                   !leat_poets_streams_take(s->streams, rank, 8, take_number, &wants) ||
                   !leat_poets_streams_take(s->streams, rank, len, take, s);
    return wants;
}

static void walk(struct states *s, bool of_edges)
{
    const struct leat_poets_machine *m = s->machine;
    for (uint32_t i = 0; i < m->device_count && !s->no_memory; i++) {
        const uint32_t rank = leat_poets_machine_rank_of(m, m->seat[i].thread);
        uint64_t wants = 0;
        s->shown_len = 0;
        if (rank == m->rank && m->rank) {
            send_local(s, i, of_edges);
        } else if (rank == m->rank) {
            wants = leat_poets_machine_wants(m, i);
            show_local(s, i, of_edges);
        } else if (!m->rank) {
            wants = fetch(s, rank);
        }
        if (!m->rank && s->watch->state && !s->no_memory)
            s->watch->state(s->watch->context, i, of_edges, wants, s->shown);
    }
}

static bool walk_states(const struct leat_poets_run *run, struct leat_poets_streams *streams,
                        struct leat_poets_run_result *out)
{
    const struct leat_poets_run_watch *watch = &run->options->watch;
    struct states s = {
        .machine = run->machine, .watch = watch, .streams = streams, .hash = LEAT_FNV_EMPTY
    };
    if (!run->machine->rank && watch->states) watch->states(watch->context, out);
    walk(&s, false);
    walk(&s, true);
    out->digest = s.hash;
    free(s.shown);
    return !s.no_memory;
}

bool leat_poets_run_gather(struct leat_poets_run *run, struct leat_poets_run_result *out)
{
    static const struct leat_poets_note bye = { .kind = LEAT_POETS_NOTE_BYE };
    struct leat_poets_link *link = run->options->link;
    struct leat_poets_streams streams;
    struct leat_poets_note note;
    bool good = leat_poets_streams_make(&streams, link);
    if (run->options->counts_cuts) count_cuts(run, out);
    if (good && link && link->rank)
        send_totals(link, out);
    else if (good && link)
        add_totals(link, out);
    good = good && (!link || leat_poets_spool_merge(&run->spool, &run->options->watch, &streams)) &&
           walk_states(run, &streams, out);
    if (!good && link) link->abort(link, 1);
    if (good && link && link->rank) {
        leat_poets_streams_end(&streams);
        leat_poets_streams_wait(link, LEAT_POETS_NOTE_BYE, &note);
    } else if (good && link) {
        leat_poets_link_send_note_to_all(link, &bye);
    }
    leat_poets_streams_free(&streams);
    return good;
}
