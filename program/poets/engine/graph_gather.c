/*
 * The result of a run over ranks. The hash of states covers all devices in the order of the file,
 * on whichever rank: rank 0 walks over them and requests states from a rank when it needs them, so
 * that no rank has to hold all.
 */
#include "graph_run_parts.h"
#include "leat_fnv.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts --------------------------------------------------------------------------------- */

static uint32_t list_totals(struct leat_poets_run_result *r, uint64_t **list)
{
    uint32_t count = 0;
    list[count++] = &r->receives;
    list[count++] = &r->sends;
    list[count++] = &r->debug_octets;
    list[count++] = &r->frames_bad;
    list[count++] = &r->frames_unknown;
    for (int i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
        list[count++] = &r->cause[i];
    return count;
}

_Static_assert(LEAT_POETS_CAUSE_COUNT + 5 <= LEAT_POETS_NOTE_WORDS_MAX, "totals fit into a note");

static void wait_for(struct leat_poets_link *link, uint32_t kind, struct leat_poets_note *note)
{
    uint32_t from;
    while (!leat_poets_link_receive_note(link, &from, note) || note->kind != kind)
        sched_yield();
}

static void add_totals(struct leat_poets_link *link, struct leat_poets_run_result *out)
{
    uint64_t *list[LEAT_POETS_NOTE_WORDS_MAX];
    struct leat_poets_note note = { .kind = LEAT_POETS_NOTE_TOTALS };
    const uint32_t count = list_totals(out, list);
    for (uint32_t r = 1; r < link->rank_count; r++) {
        wait_for(link, LEAT_POETS_NOTE_TOTALS, &note);
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

/* ---- states --------------------------------------------------------------------------------- */

/* Octets received from a rank, or to be sent. */
struct piece {
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
    size_t at, len;
};

struct states {
    struct leat_poets_link *link;
    const struct leat_poets_machine *machine;
    struct piece mine;
    struct piece **of; /* by rank, rank 0's */
    uint64_t hash;
    bool no_memory;
};

static void send_piece(struct states *s)
{
    struct leat_poets_note note;
    if (!s->mine.len) return;
    wait_for(s->link, LEAT_POETS_NOTE_PULL, &note);
    while (!s->link->send(s->link, 0, LEAT_POETS_LINK_DATA, s->mine.octets, s->mine.len))
        sched_yield();
    s->mine.len = 0;
}

static void put(void *context, const uint8_t *octets, size_t len)
{
    struct states *s = context;
    while (len) {
        const size_t room = sizeof s->mine.octets - s->mine.len, some = len < room ? len : room;
        memcpy(s->mine.octets + s->mine.len, octets, some);
        s->mine.len += some;
        octets += some;
        len -= some;
        if (s->mine.len == sizeof s->mine.octets) send_piece(s);
    }
}

static void hash(void *context, const uint8_t *octets, size_t len)
{
    struct states *s = context;
    s->hash = leat_fnv(s->hash, octets, len);
}

static struct piece *piece_of(struct states *s, uint32_t rank)
{
    if (!s->of[rank]) s->of[rank] = calloc(1, sizeof **s->of);
    s->no_memory = s->no_memory || !s->of[rank];
    return s->of[rank];
}

/* The next `len` octets of another rank. */
static void pull(struct states *s, uint32_t rank, size_t len)
{
    static const struct leat_poets_note note = { .kind = LEAT_POETS_NOTE_PULL };
    struct piece *piece = piece_of(s, rank);
    while (piece && len) {
        if (piece->at == piece->len) {
            uint32_t from;
            leat_poets_link_send_note(s->link, rank, &note);
            while (
                !s->link->receive(s->link, LEAT_POETS_LINK_DATA, piece->octets, &from, &piece->len))
                sched_yield();
            piece->at = 0;
        }
        const size_t have = piece->len - piece->at, some = len < have ? len : have;
        hash(s, piece->octets + piece->at, some);
        piece->at += some;
        len -= some;
    }
}

static void walk(struct states *s, bool of_edges)
{
    const struct leat_poets_machine *m = s->machine;
    for (uint32_t i = 0; i < m->device_count && !s->no_memory; i++) {
        const uint32_t rank = leat_poets_machine_rank_of(m, m->seat[i].thread);
        if (rank == m->rank)
            leat_poets_machine_states(m, i, of_edges, m->rank ? put : hash, s);
        else if (!m->rank)
            pull(s, rank, leat_poets_machine_states_len(m, i, of_edges));
    }
}

static void hash_states(struct leat_poets_link *link, const struct leat_poets_machine *machine,
                        struct leat_poets_run_result *out)
{
    struct states *s = calloc(1, sizeof *s);
    struct piece **of = calloc(link->rank_count, sizeof *of);
    if (!s || !of) link->abort(link, 1);
    if (!s || !of) abort();
    *s = (struct states){ .link = link, .machine = machine, .of = of };
    s->hash = LEAT_FNV_EMPTY;
    walk(s, false);
    walk(s, true);
    if (s->no_memory) link->abort(link, 1);
    if (link->rank) send_piece(s);
    out->digest = s->hash;
    for (uint32_t r = 0; r < link->rank_count; r++)
        free(of[r]);
    free(of);
    free(s);
}

void leat_poets_ranks_gather(const struct leat_poets_run *run, struct leat_poets_run_result *out)
{
    static const struct leat_poets_note bye = { .kind = LEAT_POETS_NOTE_BYE };
    struct leat_poets_link *link = run->options->link;
    struct leat_poets_note note;
    if (link->rank)
        send_totals(link, out);
    else
        add_totals(link, out);
    hash_states(link, run->machine, out);
    if (link->rank)
        wait_for(link, LEAT_POETS_NOTE_BYE, &note);
    else
        leat_poets_link_send_note_to_all(link, &bye);
}
