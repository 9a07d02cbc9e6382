#include "fi_pairs.h"
#include "fi_behind.h"
#include "fi_rank.h"
#include "task.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <ompi_config.h> /* Open MPI's own headers need it first */

#include <ompi/mca/osc/osc.h>
#include <ompi/win/win.h>

/* ---- types ----------------------------------------------------------------------------------- */

struct pair {
    const char *object; /* of the MPI library */
    int extent;
    bool has_gap_inside;
    MPI_Datatype type, derived;
};

static struct pair pairs[] = {
    { "ompi_mpi_short_int", sizeof(struct {
          short a;
          int b;
      }),
      true, NULL, NULL },
    { "ompi_mpi_long_int", sizeof(struct {
          long a;
          int b;
      }),
      false, NULL, NULL },
    { "ompi_mpi_double_int", sizeof(struct {
          double a;
          int b;
      }),
      false, NULL, NULL },
    { "ompi_mpi_longdbl_int", sizeof(struct {
          long double a;
          int b;
      }),
      false, NULL, NULL },
};

/* NULL: another type. */
static struct pair *pair_of(MPI_Datatype type)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        LEAT_FI_OBJECT(pairs[i].type, pairs[i].object);
        if (pairs[i].type == type) return &pairs[i];
    }
    return NULL;
}

static MPI_Datatype derived_from(struct pair *pair)
{
    static int (*contiguous)(int, MPI_Datatype, MPI_Datatype *), (*commit)(MPI_Datatype *);
    LEAT_FI_FIND(contiguous, "PMPI_Type_contiguous");
    LEAT_FI_FIND(commit, "PMPI_Type_commit");
    if (!pair->derived) {
        contiguous(1, pair->type, &pair->derived);
        commit(&pair->derived);
    }
    return pair->derived;
}

/* ---- operations ------------------------------------------------------------------------------ */

struct amount {
    int count;
    MPI_Datatype type; /* NULL: there is none */
};

struct access {
    struct amount given, fetched, there;
    MPI_Op op;
};

static bool is_no_op(MPI_Op op)
{
    static MPI_Op no_op;
    LEAT_FI_OBJECT(no_op, "ompi_mpi_op_no_op");
    return op == no_op;
}

static bool only_moves(MPI_Op op)
{
    static MPI_Op replace;
    LEAT_FI_OBJECT(replace, "ompi_mpi_op_replace");
    return op == replace || is_no_op(op);
}

static bool are_alike(const struct access *a)
{
    return (is_no_op(a->op) || a->given.type == a->there.type) &&
           (!a->fetched.type || a->fetched.type == a->there.type);
}

static void be_octets(struct amount *a)
{
    static MPI_Datatype octet;
    const struct pair *pair = a->type ? pair_of(a->type) : NULL;
    if (!pair) return;
    if (a->count > INT_MAX / pair->extent)
        leat_task_fail("a one-sided operation has more than 2 GiB of pairs");
    LEAT_FI_OBJECT(octet, "ompi_mpi_byte");
    a->count *= pair->extent;
    a->type = octet;
}

static void be_derived(struct amount *a)
{
    struct pair *pair = a->type ? pair_of(a->type) : NULL;
    if (pair) a->type = derived_from(pair);
}

/* As osc rdma can do it. */
static struct access adapted(struct access a)
{
    const struct pair *pair = pair_of(a.there.type);
    if (!pair) return a;
    const bool as_octets = only_moves(a.op) && are_alike(&a);
    if (!as_octets && pair->has_gap_inside)
        leat_task_fail("a one-sided operation compares values of MPI_SHORT_INT, which Open MPI "
                       "cannot do over a network; expected MPI_2INT");
    struct amount *const amounts[] = { &a.given, &a.fetched, &a.there };
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        as_octets ? be_octets(amounts[i]) : be_derived(amounts[i]);
    return a;
}

/* ---- in place of those of a window ----------------------------------------------------------- */

static ompi_osc_base_module_t plain;

static int accumulate(const void *out, int outs, MPI_Datatype out_type, int rank, ptrdiff_t at,
                      int ins, MPI_Datatype in_type, MPI_Op op, MPI_Win win)
{
    const struct access a = adapted(
        (struct access){ .given = { outs, out_type }, .there = { ins, in_type }, .op = op });
    return plain.osc_accumulate(out, a.given.count, a.given.type, rank, at, a.there.count,
                                a.there.type, op, win);
}

static int raccumulate(const void *out, int outs, MPI_Datatype out_type, int rank, ptrdiff_t at,
                       int ins, MPI_Datatype in_type, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    const struct access a = adapted(
        (struct access){ .given = { outs, out_type }, .there = { ins, in_type }, .op = op });
    return plain.osc_raccumulate(out, a.given.count, a.given.type, rank, at, a.there.count,
                                 a.there.type, op, win, request);
}

static int get_accumulate(const void *out, int outs, MPI_Datatype out_type, void *fetched,
                          int results, MPI_Datatype result_type, int rank, ptrdiff_t at, int ins,
                          MPI_Datatype in_type, MPI_Op op, MPI_Win win)
{
    const struct access a = adapted(
        (struct access){ { outs, out_type }, { results, result_type }, { ins, in_type }, op });
    return plain.osc_get_accumulate(out, a.given.count, a.given.type, fetched, a.fetched.count,
                                    a.fetched.type, rank, at, a.there.count, a.there.type, op, win);
}

static int rget_accumulate(const void *out, int outs, MPI_Datatype out_type, void *fetched,
                           int results, MPI_Datatype result_type, int rank, ptrdiff_t at, int ins,
                           MPI_Datatype in_type, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    const struct access a = adapted(
        (struct access){ { outs, out_type }, { results, result_type }, { ins, in_type }, op });
    return plain.osc_rget_accumulate(out, a.given.count, a.given.type, fetched, a.fetched.count,
                                     a.fetched.type, rank, at, a.there.count, a.there.type, op, win,
                                     request);
}

static int fetch_and_op(const void *out, void *fetched, MPI_Datatype type, int rank, ptrdiff_t at,
                        MPI_Op op, MPI_Win win)
{
    if (!pair_of(type)) return plain.osc_fetch_and_op(out, fetched, type, rank, at, op, win);
    return get_accumulate(out, 1, type, fetched, 1, type, rank, at, 1, type, op, win);
}

static bool is_of_rdma(const ompi_osc_base_module_t *module)
{
    Dl_info where = { 0 };
    void *address;
    memcpy(&address, &module->osc_accumulate, sizeof address);
    return dladdr(address, &where) && where.dli_fname && strstr(where.dli_fname, "osc_rdma");
}

void leat_fi_pairs_mend(MPI_Win win)
{
    static MPI_Win none;
    LEAT_FI_OBJECT(none, "ompi_mpi_win_null");
    if (win == none || !is_of_rdma(win->w_osc_module)) return;
    ompi_osc_base_module_t *module = win->w_osc_module;
    plain = *module; /* the same for all of them */
    module->osc_accumulate = accumulate;
    module->osc_raccumulate = raccumulate;
    module->osc_get_accumulate = get_accumulate;
    module->osc_rget_accumulate = rget_accumulate;
    module->osc_fetch_and_op = fetch_and_op;
}
