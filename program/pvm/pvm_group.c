/* Groups: membership and barriers. The service of the run keeps them. */
#include "pvm_library.h"
#include <stdlib.h>
#include <string.h>

extern int pvmgs_tmout; /* seconds that programs of the stock library wait for its group server */
int pvmgs_tmout = 30;

int leat_pvm_group_ask(enum leat_pvm_op op, const char *name, int number,
                       struct leat_pvm_octets *answer, const char *function)
{
    if (!name || !*name) return PvmNullGroup;
    if (strlen(name) >= LEAT_PVM_NAME_LEN) return PvmBadParam;
    return leat_pvm_query(op, name, &number, 1, answer, function);
}

/* Errors of groups are common (is it there yet?): recorded, not printed. */
static int quietly(int result)
{
    if (result < 0) pvm_errno = result;
    return result;
}

int pvm_joingroup(char *name)
{
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_JOIN, name, 0, NULL, "pvm_joingroup"));
}

int pvm_lvgroup(char *name)
{
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_LEAVE, name, 0, NULL, "pvm_lvgroup"));
}

int pvm_gsize(char *name)
{
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_SIZE, name, 0, NULL, "pvm_gsize"));
}

int pvm_gettid(char *name, int instance)
{
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_TID, name, instance, NULL, "pvm_gettid"));
}

int pvm_getinst(char *name, int tid)
{
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_INST, name, tid, NULL, "pvm_getinst"));
}

int pvm_barrier(char *name, int count)
{
    struct leat_pvm_octets answer = { 0 };
    if (count < -1 || !count) return quietly(PvmBadParam);
    const leat_time from = leat_pvm_count_from();
    const int result = leat_pvm_group_ask(LEAT_PVM_GROUP_BARRIER, name, count, &answer,
                                          "pvm_barrier");
    if (result >= 0)
        leat_pvm_count("pvm_barrier", (enum leat_collect_carrier)leat_pvm_get_i32(&answer), 0,
                       from);
    leat_pvm_octets_free(&answer);
    return quietly(result);
}

int pvm_freezegroup(char *name, int size)
{
    if (size < -1 || !size) return quietly(PvmBadParam);
    return quietly(leat_pvm_group_ask(LEAT_PVM_GROUP_FREEZE, name, size, NULL, "pvm_freezegroup"));
}

int leat_pvm_read_members(struct leat_pvm_octets *answer, int count, struct leat_pvm_member **out)
{
    struct leat_pvm_member *member = calloc((size_t)count + 1, sizeof *member);
    for (int i = 0; member && i < count; i++) {
        member[i].instance = leat_pvm_get_i32(answer);
        member[i].tid = leat_pvm_get_i32(answer);
    }
    *out = member;
    return member ? count : PvmNoMem;
}

int leat_pvm_group_members(const char *name, struct leat_pvm_member **out, const char *function)
{
    struct leat_pvm_octets answer = { 0 };
    const int count = leat_pvm_group_ask(LEAT_PVM_GROUP_LIST, name, 0, &answer, function);
    *out = NULL;
    const int result = count < 0 ? count : leat_pvm_read_members(&answer, count, out);
    leat_pvm_octets_free(&answer);
    return result;
}

int pvm_bcast(char *name, int tag)
{
    struct leat_pvm_member *member = NULL;
    if (tag < 0) return quietly(PvmBadParam);
    const int count = leat_pvm_group_members(name, &member, "pvm_bcast");
    int *tids = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *tids);
    for (int i = 0; tids && i < count; i++)
        tids[i] = member[i].tid;
    free(member);
    const int result = tids        ? leat_pvm_result("pvm_mcast",
                                                     leat_pvm_multicast("pvm_bcast", tids, count, tag))
                       : count < 0 ? count
                                   : PvmNoMem;
    free(tids);
    return quietly(result);
}
