/*
 * Groups: reduce, gather, scatter, and the reduction functions. All go through the root, except
 * reductions that the network carries out (pvm_service_fold.c).
 */
#include "coll_fold.h"
#include "pvm_library.h"
#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ------------------------------------------------------------------------------- */

/* x = f(x, y), for all of one type. */
#define EACH(item, expression)          \
    do {                                \
        item *x = into;                 \
        const item *y = from;           \
        for (int i = 0; i < count; i++) \
            x[i] = (item)(expression);  \
    } while (0)

#define FOR_TYPES(expression, complex_expression)                    \
    switch (type) {                                                  \
    case PVM_SHORT: EACH(short, expression); break;                  \
    case PVM_INT: EACH(int, expression); break;                      \
    case PVM_LONG: EACH(long, expression); break;                    \
    case PVM_USHORT: EACH(unsigned short, expression); break;        \
    case PVM_UINT: EACH(unsigned, expression); break;                \
    case PVM_ULONG: EACH(unsigned long, expression); break;          \
    case PVM_FLOAT: EACH(float, expression); break;                  \
    case PVM_DOUBLE: EACH(double, expression); break;                \
    case PVM_CPLX: EACH(float complex, complex_expression); break;   \
    case PVM_DCPLX: EACH(double complex, complex_expression); break; \
    default: return PvmBadParam;                                     \
    }                                                                \
    return PvmOk

static int sum(int type, void *into, const void *from, int count)
{
    FOR_TYPES(x[i] + y[i], x[i] + y[i]);
}

static int product(int type, void *into, const void *from, int count)
{
    FOR_TYPES(x[i] * y[i], x[i] * y[i]);
}

/* Complex numbers compare by their modulus. */
static double square(double complex z)
{
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

static int greatest(int type, void *into, const void *from, int count)
{
    if (type == PVM_BYTE) {
        EACH(char, y[i] > x[i] ? y[i] : x[i]);
        return PvmOk;
    }
    FOR_TYPES(y[i] > x[i] ? y[i] : x[i], square(y[i]) > square(x[i]) ? y[i] : x[i]);
}

static int least(int type, void *into, const void *from, int count)
{
    if (type == PVM_BYTE) {
        EACH(char, y[i] < x[i] ? y[i] : x[i]);
        return PvmOk;
    }
    FOR_TYPES(y[i] < x[i] ? y[i] : x[i], square(y[i]) < square(x[i]) ? y[i] : x[i]);
}

#define EXPORTED(name, function)                                  \
    void name(int *type, void *x, void *y, int *count, int *info) \
    {                                                             \
        *info = function(*type, x, y, *count);                    \
    }
EXPORTED(PvmSum, sum)
EXPORTED(PvmProduct, product)
EXPORTED(PvmMax, greatest)
EXPORTED(PvmMin, least)

/* ---- the round ------------------------------------------------------------------------------- */

/* The common start of all three: the group, the caller's place in it and the root's. */
struct round {
    struct leat_pvm_member *member;
    int count;
    int me, root;  /* places in the list */
    size_t octets; /* of each member's items */
    int items, type, tag;
};

static int take_members(struct round *round, int root)
{
    for (int i = 0; i < round->count; i++) {
        if (round->member[i].tid == leat_pvm_self.tid) round->me = i;
        if (round->member[i].instance == root) round->root = i;
    }
    return round->me < 0 || round->root < 0 ? PvmNoInst : PvmOk;
}

static int round_prepare(struct round *round, int items, int type, int tag)
{
    const size_t len = leat_pvm_type_len(type);
    *round = (struct round){ .me = -1,
                             .root = -1,
                             .items = items,
                             .type = type,
                             .tag = tag,
                             .octets = (size_t)items * len };
    return !len || items < 0 || tag < 0 ? PvmBadParam : PvmOk;
}

static int round_begin(struct round *round, const char *function, const char *name, int root,
                       int items, int type, int tag)
{
    const int result = round_prepare(round, items, type, tag);
    if (result < 0) return result;
    const int count = leat_pvm_group_members(name, &round->member, function);
    if (count < 0) return count;
    round->count = count;
    return take_members(round, root);
}

static int round_end(struct round *round, const char *function, int result)
{
    free(round->member);
    return leat_pvm_result(function, result);
}

static int round_send(const struct round *round, int to, const void *items)
{
    return pvm_psend(round->member[to].tid, round->tag, (void *)items, round->items, round->type);
}

static int round_receive(const struct round *round, int from, void *items)
{
    int len = 0;
    const int result = pvm_precv(round->member[from].tid, round->tag, items, round->items,
                                 round->type, NULL, NULL, &len);
    return result < 0 || (size_t)len == round->octets ? result : PvmMismatch;
}

/* ---- reductions ------------------------------------------------------------------------------ */

typedef void reducer(int *, void *, void *, int *, int *);

struct reduction {
    struct round round;
    struct leat_coll_plan plan;
    bool has_plan; /* the network may compute it */
    enum leat_collect_carrier carrier;
    struct leat_pvm_octets answer;
};

static bool find_type(int type, struct leat_coll_type *out)
{
    const bool is_real = type == PVM_FLOAT || type == PVM_DOUBLE;
    const bool is_unsigned = type == PVM_USHORT || type == PVM_UINT || type == PVM_ULONG ||
                             (type == PVM_BYTE && (char)-1 > 0);
    const uint32_t len = (uint32_t)leat_pvm_type_len(type);
    *out = (struct leat_coll_type){ .class = is_real       ? LEAT_COLL_REAL
                                             : is_unsigned ? LEAT_COLL_UNSIGNED
                                                           : LEAT_COLL_SIGNED,
                                    .octets = len,
                                    .stride = len };
    return type != PVM_CPLX && type != PVM_DCPLX && type != PVM_STR;
}

/* What the network would fold. Sums of octets are an error of the program, which hosts notice. */
static bool find_plan(reducer *function, int type, struct leat_coll_plan *out)
{
    struct leat_coll_type known;
    if (!find_type(type, &known)) return false;
    if (function == PvmSum && type == PVM_BYTE) return false;
    if (function != PvmSum && function != PvmMax && function != PvmMin) return false;
    return leat_coll_plan_make(function == PvmSum   ? LEAT_COLL_SUM
                               : function == PvmMax ? LEAT_COLL_MAX
                                                    : LEAT_COLL_MIN,
                               &known, false, out);
}

static void put_words(struct leat_pvm_octets *q, const struct reduction *r, const void *items)
{
    const uint32_t count = (uint32_t)r->round.items;
    uint64_t *word = calloc(count, sizeof *word);
    if (word) leat_coll_load(&r->plan, 0, items, count, NULL, word);
    if (word)
        leat_pvm_put(q, word, count * sizeof *word);
    else
        q->failed = true;
    free(word);
}

/* The members, or the result, or nothing: as the carrier says. */
static int ask(struct reduction *r, const char *name, int root, const void *items)
{
    struct leat_pvm_octets q = { 0 };
    const struct round *round = &r->round;
    const bool is_long = (size_t)round->items > leat_pvm_self.words_max;
    const bool is_fold = r->has_plan && round->items && !is_long;
    char about[LEAT_TASK_ABOUT_LEN];
    if (!name || !*name) return PvmNullGroup;
    if (strlen(name) >= LEAT_PVM_NAME_LEN) return PvmBadParam;
    leat_pvm_put_text(&q, name);
    leat_pvm_put_i32(&q, root);
    leat_pvm_put_i32(&q, round->tag);
    leat_pvm_put_i32(&q, (int)r->plan.op << 8 | round->type);
    leat_pvm_put_i32(&q, round->items);
    leat_pvm_put_i32(&q, is_fold ? (int)r->plan.fold[0] : -1);
    leat_pvm_put_i32(&q, r->has_plan && is_long ? LEAT_COLLECT_LENGTH : LEAT_COLLECT_OPERATION);
    if (is_fold) put_words(&q, r, items);
    snprintf(about, sizeof about, " of %s", name);
    int result = leat_pvm_enrol();
    if (result >= 0)
        result = leat_pvm_ask(LEAT_PVM_GROUP_REDUCE, &q, &r->answer, "pvm_reduce", about);
    leat_pvm_octets_free(&q);
    r->carrier = result < 0 ? LEAT_COLLECT_OPERATION
                            : (enum leat_collect_carrier)leat_pvm_get_i32(&r->answer);
    return result;
}

static bool is_done_by_network(const struct reduction *r)
{
    return r->carrier == LEAT_COLLECT_BY_NETWORK || r->carrier == LEAT_COLLECT_FAILURE;
}

/* Only the root has words. */
static int take_words(struct reduction *r, void *items)
{
    const uint32_t count = (uint32_t)r->round.items;
    const size_t len = r->answer.len - r->answer.read_at;
    if (!len) return PvmOk;
    uint64_t *word = malloc(len);
    const uint8_t *octets = leat_pvm_get(&r->answer, len);
    if (!word || len != count * sizeof *word) {
        free(word);
        return word ? PvmSysErr : PvmNoMem;
    }
    memcpy(word, octets, len);
    leat_coll_store(&r->plan, (const uint64_t *const[]){ word, NULL }, count, items);
    free(word);
    return PvmOk;
}

static int by_hosts(const struct round *round, reducer *function, void *items)
{
    if (round->me != round->root) return round_send(round, round->root, items);
    void *theirs = malloc(round->octets + 1);
    int result = theirs ? PvmOk : PvmNoMem, type = round->type, count = round->items;
    for (int i = 0; i < round->count && result >= 0; i++) {
        if (i == round->me) continue;
        result = round_receive(round, i, theirs);
        if (result >= 0) function(&type, items, theirs, &count, &result);
    }
    free(theirs);
    return result;
}

/* The service decides who carries it out. */
static int reduce(struct reduction *r, reducer *function, const char *name, int root, void *items)
{
    const leat_time from = leat_pvm_count_from();
    r->has_plan = find_plan(function, r->round.type, &r->plan);
    const int count = ask(r, name, root, items);
    if (count < 0) return count;
    int result;
    if (is_done_by_network(r)) {
        result = take_words(r, items);
    } else {
        r->round.count = leat_pvm_read_members(&r->answer, count, &r->round.member);
        result = r->round.count < 0 ? r->round.count : take_members(&r->round, root);
        if (result == PvmOk) result = by_hosts(&r->round, function, items);
    }
    if (result >= 0) leat_pvm_count("pvm_reduce", r->carrier, r->round.octets, from);
    return result;
}

int pvm_reduce(void (*function)(int *, void *, void *, int *, int *), void *items, int count,
               int type, int tag, char *name, int root)
{
    struct reduction r = { 0 };
    if (!function) return lpvmerr("pvm_reduce", PvmBadParam);
    int result = leat_pvm_enrol();
    if (result >= 0 && leat_pvm_self.collectives == LEAT_PVM_BY_HOSTS) {
        result = round_begin(&r.round, "pvm_reduce", name, root, count, type, tag);
        if (result == PvmOk) result = by_hosts(&r.round, function, items);
    } else if (result >= 0) {
        result = round_prepare(&r.round, count, type, tag);
        if (result == PvmOk) result = reduce(&r, function, name, root, items);
    }
    leat_pvm_octets_free(&r.answer);
    return round_end(&r.round, "pvm_reduce", result);
}

/* ---- the others ------------------------------------------------------------------------------ */

/* By messages, whoever carries out reductions: see doc/collectives.md. */
static void count_gather(const struct round *round, leat_time from)
{
    leat_pvm_count("pvm_gather",
                   leat_pvm_self.collectives == LEAT_PVM_BY_NETWORK ? LEAT_COLLECT_OPERATION
                                                                    : LEAT_COLLECT_CHOSEN,
                   round->octets, from);
}

static int gather(const struct round *round, uint8_t *all, const void *items)
{
    int result = PvmOk;
    if (round->me != round->root) return round_send(round, round->root, items);
    for (int i = 0; i < round->count && result >= 0; i++) {
        uint8_t *part = all + (size_t)i * round->octets;
        if (i != round->me)
            result = round_receive(round, i, part);
        else if (round->octets)
            memmove(part, items, round->octets);
    }
    return result;
}

int pvm_gather(void *all, void *items, int count, int type, int tag, char *name, int root)
{
    struct round round;
    const leat_time from = leat_pvm_count_from();
    int result = round_begin(&round, "pvm_gather", name, root, count, type, tag);
    if (result == PvmOk) result = gather(&round, all, items);
    if (result >= 0) count_gather(&round, from);
    return round_end(&round, "pvm_gather", result);
}

int pvm_scatter(void *items, void *all, int count, int type, int tag, char *name, int root)
{
    struct round round;
    int result = round_begin(&round, "pvm_scatter", name, root, count, type, tag);
    if (result == PvmOk && round.me != round.root)
        return round_end(&round, "pvm_scatter", round_receive(&round, round.root, items));
    for (int i = 0; i < round.count && result >= 0; i++) {
        const uint8_t *part = (const uint8_t *)all + (size_t)i * round.octets;
        if (i != round.me)
            result = round_send(&round, i, part);
        else if (round.octets)
            memmove(items, part, round.octets);
    }
    return round_end(&round, "pvm_scatter", result);
}
