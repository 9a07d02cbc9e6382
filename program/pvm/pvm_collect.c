/* Groups: reduce, gather, scatter, and the reduction functions. All go through the root. */
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

static int round_begin(struct round *round, const char *function, const char *name, int root,
                       int items, int type, int tag)
{
    const size_t len = leat_pvm_type_len(type);
    *round = (struct round){ .me = -1,
                             .root = -1,
                             .items = items,
                             .type = type,
                             .tag = tag,
                             .octets = (size_t)items * len };
    if (!len || items < 0 || tag < 0) return PvmBadParam;
    const int count = leat_pvm_group_members(name, &round->member, function);
    if (count < 0) return count;
    round->count = count;
    for (int i = 0; i < count; i++) {
        if (round->member[i].tid == leat_pvm_self.tid) round->me = i;
        if (round->member[i].instance == root) round->root = i;
    }
    return round->me < 0 || round->root < 0 ? PvmNoInst : PvmOk;
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

int pvm_reduce(void (*function)(int *, void *, void *, int *, int *), void *items, int count,
               int type, int tag, char *name, int root)
{
    struct round round;
    int result = function ? round_begin(&round, "pvm_reduce", name, root, count, type, tag)
                          : PvmBadParam;
    if (!function) return lpvmerr("pvm_reduce", result);
    if (result == PvmOk && round.me != round.root)
        return round_end(&round, "pvm_reduce", round_send(&round, round.root, items));
    void *theirs = result == PvmOk ? malloc(round.octets + 1) : NULL;
    if (result == PvmOk && !theirs) result = PvmNoMem;
    for (int i = 0; i < round.count && result >= 0; i++) {
        if (i == round.me) continue;
        result = round_receive(&round, i, theirs);
        if (result >= 0) function(&type, items, theirs, &count, &result);
    }
    free(theirs);
    return round_end(&round, "pvm_reduce", result);
}

int pvm_gather(void *all, void *items, int count, int type, int tag, char *name, int root)
{
    struct round round;
    int result = round_begin(&round, "pvm_gather", name, root, count, type, tag);
    if (result == PvmOk && round.me != round.root)
        return round_end(&round, "pvm_gather", round_send(&round, round.root, items));
    for (int i = 0; i < round.count && result >= 0; i++) {
        uint8_t *part = (uint8_t *)all + (size_t)i * round.octets;
        if (i != round.me)
            result = round_receive(&round, i, part);
        else if (round.octets)
            memmove(part, items, round.octets);
    }
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
