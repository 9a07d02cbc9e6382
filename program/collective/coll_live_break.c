/* Giving up the network: messages of hosts on a tag of our own (coll_live.h has the protocol). */
#include "coll_live.h"
#include "port_fold.h"
#include <stdlib.h>
#include <string.h>

#include <ompi/mca/coll/base/coll_tags.h>
#include <ompi/mca/pml/pml.h>
#include <opal/runtime/opal_progress.h>

/* Of those that Open MPI leaves to HCOLL; the library's own use other ones. */
enum { TAG = MCA_COLL_BASE_TAG_HCOLL_BASE - 1581 };

struct live_letter {
    struct live_letter *next;
    ompi_request_t *request;
    struct live_note note;
};

struct live_sum {
    struct live_sum *next;
    struct live_part all;
    int parts;
};

/* Of a rank: the operations after those that it doubts, and doubts although rank 0 has completed
 * them; 0: none. */
struct live_doubts {
    uint64_t next, late;
};

static void handle(struct leat_live *r, const struct live_note *note);

/* ---- sending and receiving ------------------------------------------------------------------- */

static void must(int result)
{
    if (result != OMPI_SUCCESS) abort(); /* as the library's own collective calls would fail */
}

/* Through MPI_COMM_WORLD: a receive that waits for ever would keep any other communicator from
 * ending. Its ranks are the numbers of processes in the job. */
static int world_rank(const struct leat_live *r, int rank)
{
    return (int)ompi_group_get_proc_name(r->m->comm->c_local_group, rank).vpid;
}

static void send_note(struct leat_live *r, int to, const struct live_note *note)
{
    if (to == r->rank) {
        handle(r, note);
        return;
    }
    struct live_letter *letter = malloc(sizeof *letter);
    if (!letter) abort();
    letter->note = *note;
    letter->note.communicator = ompi_comm_get_cid(r->m->comm);
    letter->next = r->sending;
    r->sending = letter;
    must(MCA_PML_CALL(isend(&letter->note, sizeof letter->note, MPI_BYTE, world_rank(r, to), TAG,
                            MCA_PML_BASE_SEND_STANDARD, &ompi_mpi_comm_world.comm,
                            &letter->request)));
}

static void send_to_all(struct leat_live *r, const struct live_note *note)
{
    for (int to = r->ranks - 1; to >= 0; to--) /* itself last: it may go on by this */
        send_note(r, to, note);
}

static void free_letters(struct leat_live *r)
{
    for (struct live_letter **link = &r->sending; *link;) {
        struct live_letter *letter = *link;
        if (!REQUEST_COMPLETE(letter->request)) {
            link = &letter->next;
            continue;
        }
        *link = letter->next;
        ompi_request_free(&letter->request);
        free(letter);
    }
}

static ompi_request_t *receiving;
static bool notes_have_ended;
static struct live_note received;

static void receive_next(void)
{
    must(MCA_PML_CALL(irecv(&received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE, TAG,
                            &ompi_mpi_comm_world.comm, &receiving)));
}

static struct leat_live *live_of(uint32_t communicator)
{
    struct leat_live *r = lives;
    while (r && ompi_comm_get_cid(r->m->comm) != communicator)
        r = r->next;
    return r;
}

void live_notes(void)
{
    if (notes_have_ended) return;
    if (!receiving) receive_next();
    while (REQUEST_COMPLETE(receiving)) {
        const struct live_note note = received;
        struct leat_live *r = live_of(note.communicator);
        ompi_request_free(&receiving);
        receive_next();
        if (r) handle(r, &note);
    }
    for (struct leat_live *r = lives; r; r = r->next)
        if (r->sending) free_letters(r);
}

/* Communicators that the program has not freed end after MPI_COMM_WORLD. */
void live_end_notes(void)
{
    notes_have_ended = true;
    if (!receiving) return;
    ompi_request_cancel(receiving);
    ompi_request_free(&receiving);
}

void live_silence(struct leat_live *r)
{
    while (r->sending) {
        opal_progress();
        free_letters(r);
    }
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

static void stop_all(struct leat_live *r, const struct live_note *cause)
{
    const struct live_note stop = { .kind = LIVE_STOP };
    if (r->is_stopping) return;
    r->is_stopping = true;
    r->lowest = UINT64_MAX;
    live_say(r,
             "%s. Collective calls of this communicator go by host messages from now on; results "
             "are right",
             cause->why);
    send_to_all(r, &stop);
}

/* If all speakers doubt an operation, all ranks have started it, and nothing came of it. If rank 0
 * has completed it, its result is lost; one doubt may be on its way when it arrives, not two. */
static void on_doubt(struct leat_live *r, const struct live_note *doubt)
{
    const struct live_note heard = { .kind = LIVE_HEARD };
    const uint64_t next = doubt->from + 1;
    struct live_doubts *own;
    uint32_t doubts = 0;
    if (!r->doubts) r->doubts = calloc((size_t)r->ranks, sizeof *r->doubts);
    if (!r->doubts) abort();
    own = &r->doubts[doubt->until];
    const bool is_lost = own->late == next;
    own->next = next;
    if (r->completed >= next) own->late = next;
    for (int i = 0; i < r->ranks; i++)
        doubts += r->doubts[i].next == next;
    if (is_lost || doubts == r->hosts) stop_all(r, doubt);
    send_note(r, (int)doubt->until, &heard);
}

static void on_report(struct leat_live *r, const struct live_note *report)
{
    struct live_note verdict = { .kind = LIVE_VERDICT };
    if (report->from < r->lowest) r->lowest = report->from;
    if (report->until > r->highest) r->highest = report->until;
    if (++r->reports < r->ranks) return;
    verdict.from = r->lowest;
    verdict.until = r->highest;
    send_to_all(r, &verdict);
}

static void on_part(struct leat_live *r, const struct live_part *part)
{
    struct live_note result = { .kind = LIVE_RESULT, .part = *part };
    struct live_sum **link = &r->sums;
    if (part->is_cast) { /* the others have nothing to add, and may come late */
        if (part->is_root) send_to_all(r, &result);
        return;
    }
    while (*link && (*link)->all.number != part->number)
        link = &(*link)->next;
    struct live_sum *sum = *link;
    if (!sum) {
        sum = calloc(1, sizeof *sum);
        if (!sum) abort();
        sum->all = *part;
        *link = sum;
    } else {
        leat_port_fold_words(part->fold, sum->all.word, part->word, part->words);
    }
    if (++sum->parts < r->ranks) return;
    result.part = sum->all;
    *link = sum->next;
    free(sum);
    send_to_all(r, &result);
}

static void on_leave(struct leat_live *r)
{
    const struct live_note left = { .kind = LIVE_LEFT };
    if (++r->leaving == r->ranks) send_to_all(r, &left);
}

/* ---- every rank ------------------------------------------------------------------------------ */

static void on_heard(struct leat_live *r)
{
    r->is_doubting = false;
    r->heard_at = MPI_Wtime();
}

static void on_stop(struct leat_live *r)
{
    const struct live_note report = { .kind = LIVE_REPORT,
                                      .from = r->completed,
                                      .until = r->promised };
    r->trust = LIVE_FROZEN;
    send_note(r, 0, &report);
}

static void send_part(struct leat_live *r, const struct live_part *part)
{
    const struct live_note note = { .kind = LIVE_PART, .part = *part };
    send_note(r, 0, &note);
}

/* A part may be the last one that rank 0 needs, and its result may end operations at once: each
 * operation is looked up again. */
static void on_verdict(struct leat_live *r, const struct live_note *verdict)
{
    r->trust = LIVE_SETTLED;
    r->until = verdict->until;
    if (r->group) live_by->close(r->group);
    r->group = NULL;
    for (uint64_t number = verdict->from; number < r->completed; number++)
        send_part(r, &r->done[number % LIVE_KEPT]);
    for (uint64_t number = r->completed; number < r->started; number++) {
        const struct live_operation *op = r->first;
        while (op && op->part.number != number)
            op = op->next;
        if (op) send_part(r, &op->part);
    }
}

static void keep_early(struct leat_live *r, const struct live_part *result)
{
    struct live_sum *early = calloc(1, sizeof *early);
    if (!early) abort();
    early->all = *result;
    early->next = r->early;
    r->early = early;
}

static void on_result(struct leat_live *r, const struct live_part *result)
{
    struct live_operation *op = r->first;
    while (op && op->part.number != result->number)
        op = op->next;
    if (!op && result->number >= r->started) keep_early(r, result);
    if (!op) return; /* or the network was first */
    memcpy(op->word, result->word, sizeof op->word);
    op->is_redone = true;
    live_complete(op);
}

void live_redo(struct leat_live *r, const struct live_part *part)
{
    struct live_sum **link = &r->early;
    while (*link && (*link)->all.number != part->number)
        link = &(*link)->next;
    struct live_sum *early = *link;
    if (!early) {
        send_part(r, part);
        return;
    }
    *link = early->next;
    on_result(r, &early->all);
    free(early);
}

void live_free_early(struct leat_live *r)
{
    while (r->early) {
        struct live_sum *early = r->early;
        r->early = early->next;
        free(early);
    }
}

static void handle(struct leat_live *r, const struct live_note *note)
{
    switch (note->kind) {
    case LIVE_BREAK: stop_all(r, note); break;
    case LIVE_DOUBT: on_doubt(r, note); break;
    case LIVE_HEARD: on_heard(r); break;
    case LIVE_STOP: on_stop(r); break;
    case LIVE_REPORT: on_report(r, note); break;
    case LIVE_VERDICT: on_verdict(r, note); break;
    case LIVE_PART: on_part(r, &note->part); break;
    case LIVE_RESULT: on_result(r, &note->part); break;
    case LIVE_LEAVE: on_leave(r); break;
    case LIVE_LEFT: r->is_left = true; break;
    }
}

void live_give_up(struct leat_live *r, const char *why)
{
    struct live_note note = { .kind = LIVE_BREAK };
    r->trust = LIVE_FROZEN;
    strncpy(note.why, why, sizeof note.why - 1);
    send_note(r, 0, &note);
}

void live_doubt(struct leat_live *r, uint64_t number, const char *why)
{
    struct live_note note = { .kind = LIVE_DOUBT, .from = number, .until = (uint64_t)r->rank };
    if (r->is_doubting || MPI_Wtime() - r->heard_at < leat_coll_patience_ms / 1e3) return;
    r->is_doubting = true;
    strncpy(note.why, why, sizeof note.why - 1);
    send_note(r, 0, &note);
}

void live_send_leave(struct leat_live *r)
{
    const struct live_note leave = { .kind = LIVE_LEAVE };
    send_note(r, 0, &leave);
}
