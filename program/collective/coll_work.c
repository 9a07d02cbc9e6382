#include "coll_work.h"
#include <stdlib.h>
#include <string.h>

#include <opal/runtime/opal_progress.h>

void leat_coll_work_begin(struct leat_coll_work *w, mca_coll_base_module_t *module,
                          const char *name, bool waits)
{
    *w = (struct leat_coll_work){
        .m = (leat_coll_module *)module, .name = name, .waits = waits, .began = leat_coll_by->now()
    };
    w->is_refused = !leat_coll_join(w->m, waits);
    if (w->is_refused) w->carrier = w->m->refusal;
}

static int rank_of(const struct leat_coll_work *w)
{
    return ompi_comm_rank(w->m->comm);
}

static int ranks_of(const struct leat_coll_work *w)
{
    return ompi_comm_size(w->m->comm);
}

/* Of one rank. */
static uint64_t len_of(const struct leat_coll_work *w)
{
    return leat_coll_octets(w->type, w->count);
}

/* ---- what is handed over --------------------------------------------------------------------- */

static uint64_t *room(uint64_t octets)
{
    uint64_t *word = calloc((size_t)octets / sizeof *word + 2, sizeof *word);
    if (!word) abort();
    return word;
}

static uint32_t words_of(const struct leat_coll_work *w)
{
    if (w->kind == LEAT_COLL_FOLD) return w->all * w->plan.words[w->step];
    const uint64_t octets = len_of(w) * (uint64_t)ranks_of(w);
    return (uint32_t)((octets + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

/* The words, or octets, of the present step. */
static void load(struct leat_coll_work *w)
{
    const uint32_t step = w->step;
    switch (w->kind) {
    case LEAT_COLL_FOLD:
        w->word[step] = room(words_of(w) * sizeof(uint64_t));
        if (w->all)
            leat_coll_load(&w->plan, step, w->in, w->all, step ? w->word[step - 1] : NULL,
                           w->word[step]);
        break;
    case LEAT_COLL_CAST:
        if (step) break;
        w->word[0] = room(len_of(w));
        if (rank_of(w) == w->root) leat_coll_pack(w->in, w->count, w->type, (uint8_t *)w->word[0]);
        break;
    case LEAT_COLL_GATHER: /* with zeros where others have theirs */
        w->word[0] = room(len_of(w) * (uint64_t)ranks_of(w));
        leat_coll_pack(w->in, w->in_count, w->in_type,
                       (uint8_t *)w->word[0] + len_of(w) * (uint64_t)rank_of(w));
        break;
    }
}

/* A piece of the octets that the network takes at once. */
static void hand_over_piece(struct leat_coll_work *w, struct leat_collect_question *part)
{
    const uint64_t most = w->m->group.means.octets_max, at = w->step * most;
    uint8_t *octets = (uint8_t *)w->word[0] + at;
    const bool is_root = rank_of(w) == w->root;
    part->kind = LEAT_PORT_CAST;
    part->root = (uint32_t)w->root;
    part->len = len_of(w) - at < most ? len_of(w) - at : most;
    w->operation = leat_coll_by->start(w->m, part, is_root ? octets : NULL,
                                       is_root ? NULL : octets);
}

static void hand_over_words(struct leat_coll_work *w, struct leat_collect_question *part)
{
    uint64_t *word = w->word[w->step];
    part->fold = w->kind == LEAT_COLL_FOLD ? w->plan.fold[w->step] : LEAT_PORT_OR;
    part->len = words_of(w) * sizeof *word;
    w->operation = leat_coll_by->start(w->m, part, word, word);
}

static void hand_over(struct leat_coll_work *w)
{
    struct leat_collect_question part = { .kind = LEAT_PORT_FOLD };
    strncpy(part.call, w->name, sizeof part.call - 1);
    load(w);
    if (w->kind == LEAT_COLL_CAST)
        hand_over_piece(w, &part);
    else
        hand_over_words(w, &part);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static uint8_t *element_of(void *elements, MPI_Datatype type, int64_t index)
{
    return (uint8_t *)elements + index * (type->super.ub - type->super.lb);
}

/* In the order of ranks: the library's operations have what comes first on the left, and their
 * result on the right. */
static void combine(const struct leat_coll_work *w)
{
    const uint8_t *octets = (const uint8_t *)w->word[0];
    uint8_t *next = (uint8_t *)room((uint64_t)w->count * (uint64_t)w->type->super.ub);
    for (int i = 0; i < w->ranks; i++, octets += len_of(w)) {
        leat_coll_unpack(octets, w->count, w->type, i ? next : w->out);
        if (!i) continue;
        PMPI_Reduce_local(w->out, next, w->count, w->type, w->op);
        ompi_datatype_copy_content_same_ddt(w->type, (size_t)w->count, w->out, (char *)next);
    }
    free(next);
}

static void store(const struct leat_coll_work *w)
{
    const struct leat_coll_plan *p = &w->plan;
    const uint64_t *folded[LEAT_COLL_STEPS_MAX] = { NULL };
    if (!w->out) return;
    switch (w->kind) {
    case LEAT_COLL_FOLD:
        for (uint32_t i = 0; i < p->steps; i++)
            folded[i] = w->word[i] + (size_t)w->from * p->words[i];
        leat_coll_store(p, folded, (uint32_t)w->count, w->out);
        break;
    case LEAT_COLL_CAST:
        leat_coll_unpack((const uint8_t *)w->word[0], w->count, w->type, w->out);
        break;
    case LEAT_COLL_GATHER:
        if (w->op != MPI_OP_NULL) combine(w);
        for (int i = 0; w->op == MPI_OP_NULL && i < ranks_of(w); i++)
            leat_coll_unpack((const uint8_t *)w->word[0] + len_of(w) * (uint64_t)i, w->count,
                             w->type, element_of(w->out, w->type, (int64_t)i * w->count));
        break;
    }
}

static uint32_t steps_of(const struct leat_coll_work *w)
{
    if (w->kind == LEAT_COLL_FOLD) return w->plan.steps;
    if (w->kind == LEAT_COLL_GATHER) return 1;
    return (uint32_t)((len_of(w) - 1) / w->m->group.means.octets_max + 1);
}

bool leat_coll_work_is_promised(struct leat_coll_work *w)
{
    if (leat_coll_by->promise(w->m, steps_of(w))) return true;
    w->carrier = w->m->refusal = LEAT_COLLECT_FAILURE;
    return false;
}

/* True: all steps are over, and the result is where the program wants it. */
static bool advance(struct leat_coll_work *w)
{
    if (!leat_coll_by->is_over(w->operation)) return false;
    if (leat_coll_by->end(w->operation) != LEAT_COLLECT_GRANTED) w->carrier = LEAT_COLLECT_FAILURE;
    if (++w->step < steps_of(w)) {
        hand_over(w);
        return false;
    }
    store(w);
    for (uint32_t i = 0; i < LEAT_COLL_STEPS_MAX; i++)
        free(w->word[i]);
    leat_coll_by->count(w->name, w->carrier, w->octets, w->began);
    return true;
}

int leat_coll_work_by_hosts(const struct leat_coll_work *w, int result)
{
    leat_coll_by->count(w->name, w->carrier, w->octets, w->began);
    return result;
}

/* ---- one after the other --------------------------------------------------------------------- */

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static struct leat_coll_work *first; /* those that nobody waits for, in the order of their calls */

/* Ranks hand over the steps of all their operations in a communicator in the same order. So one
 * begins only when those before it have no further steps. `end`: of the list, for the latest. */
static bool is_next(const leat_coll_module *m, const struct leat_coll_work *end)
{
    for (const struct leat_coll_work *w = first; w != end; w = w->next)
        if (w->m == m && (!w->operation || w->step + 1 < steps_of(w))) return false;
    return true;
}

/* ---- waiting for it -------------------------------------------------------------------------- */

/* Other operations of the rank, which others may wait for, go on meanwhile. */
int leat_coll_work_run(struct leat_coll_work *w)
{
    while (!is_next(w->m, NULL))
        opal_progress();
    hand_over(w);
    for (uint32_t times = 0; !advance(w); times++) {
        opal_progress();
        leat_coll_by->rest(w->m, times);
    }
    return OMPI_SUCCESS;
}

/* ---- or going on ----------------------------------------------------------------------------- */

static int free_request(ompi_request_t **request)
{
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int refuse_to_cancel(ompi_request_t *request, int is_complete)
{
    (void)request, (void)is_complete;
    return MPI_ERR_REQUEST;
}

/* Takes those that are over out of the list. */
static struct leat_coll_work *take_over(void)
{
    struct leat_coll_work *over = NULL, **last = &over;
    for (struct leat_coll_work **link = &first; *link;) {
        struct leat_coll_work *w = *link;
        if (!w->operation && is_next(w->m, w)) hand_over(w);
        if (!w->operation || !advance(w)) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        w->next = NULL;
        *last = w;
        last = &w->next;
    }
    return over;
}

/* Called whenever the library polls. What waits for a request may start others. */
static int progress(void)
{
    int completed = 0;
    if (!first || OPAL_THREAD_TRYLOCK(&lock)) return 0;
    struct leat_coll_work *over = take_over();
    OPAL_THREAD_UNLOCK(&lock);
    for (; over; completed++) {
        struct leat_coll_work *w = over;
        over = w->next;
        ompi_request_complete(w->request, true);
        OBJ_RELEASE(w->m->comm);
        free(w);
    }
    return completed;
}

static ompi_request_t *new_request(struct ompi_communicator_t *comm)
{
    ompi_request_t *request = OBJ_NEW(ompi_request_t);
    if (!request) abort();
    OMPI_REQUEST_INIT(request, false);
    request->req_state = OMPI_REQUEST_ACTIVE;
    request->req_type = OMPI_REQUEST_COLL;
    request->req_status = (ompi_status_public_t){ .MPI_SOURCE = MPI_ANY_SOURCE,
                                                  .MPI_TAG = MPI_ANY_TAG,
                                                  .MPI_ERROR = MPI_SUCCESS };
    request->req_free = free_request;
    request->req_cancel = refuse_to_cancel;
    request->req_mpi_object.comm = comm;
    return request;
}

int leat_coll_work_start(struct leat_coll_work *w, ompi_request_t **request)
{
    static bool is_registered;
    struct leat_coll_work **last = &first;
    OPAL_THREAD_LOCK(&lock);
    if (!is_registered) opal_progress_register(progress);
    is_registered = true;
    w->request = *request = new_request(w->m->comm);
    OBJ_RETAIN(w->m->comm); /* the program may free it before the end */
    if (is_next(w->m, NULL)) hand_over(w);
    while (*last)
        last = &(*last)->next;
    *last = w;
    OPAL_THREAD_UNLOCK(&lock);
    return OMPI_SUCCESS;
}
