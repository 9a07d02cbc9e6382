/*
 * Random multicasts, messages, barriers, reductions and gathers of a group of PVM tasks, which all
 * follow the same script. What each task gets depends on the script alone, not on time: so the
 * digest of all results is the same on every network, whoever carries them out.
 *
 *     leat run --fabric F -n TASKS -- random_groups SEED STEPS
 */
#include <pvm3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TASKS_MAX = 32,
    LEN_MAX = 3000,
    ITEMS_MAX = 6,
    MESSAGE_TAG = 1,
    TOKEN_TAG = 2,
    REDUCE_TAG = 100
};

static char group[] = "all";
static int me, tasks, tid[TASKS_MAX];
static uint64_t script, digest = 14695981039346656037u;
static int pending[TASKS_MAX][1000], first[TASKS_MAX], count[TASKS_MAX]; /* lengths, by sender */

static uint32_t draw(uint32_t below)
{
    script ^= script << 13;
    script ^= script >> 7;
    script ^= script << 17;
    return (uint32_t)((script >> 20) % below);
}

static void note(const void *octets, size_t len)
{
    for (size_t i = 0; i < len; i++)
        digest = (digest ^ ((const uint8_t *)octets)[i]) * 1099511628211u;
}

static void need(int holds, const char *what, int step)
{
    if (holds) return;
    printf("wrong: %s in step %d at %d\n", what, step, me);
    fflush(stdout);
    abort();
}

/* ---- messages ---- */

static void pack(int step, int len)
{
    static char octets[LEN_MAX];
    memset(octets, step, sizeof octets);
    pvm_initsend(step % 2 ? PvmDataRaw : PvmDataDefault);
    pvm_pkint(&step, 1, 1);
    pvm_pkint(&len, 1, 1);
    pvm_pkbyte(octets, len, 1);
}

static void expect(int from, int len)
{
    pending[from][(first[from] + count[from]++) % 1000] = len;
}

/* The oldest message of this sender. */
static void take_one(int from, int now)
{
    static char octets[LEN_MAX];
    int step = -1, len = -1;
    const int want = pending[from][first[from]];
    first[from] = (first[from] + 1) % 1000;
    count[from]--;
    need(pvm_recv(tid[from], MESSAGE_TAG) > 0, "pvm_recv", now);
    pvm_upkint(&step, 1, 1);
    pvm_upkint(&len, 1, 1);
    need(len == want, "the order of messages", now);
    pvm_upkbyte(octets, len, 1);
    for (int i = 0; i < len; i++)
        need(octets[i] == (char)step, "octets", now);
    note(&step, sizeof step);
}

static void drain(int from, int most, int now)
{
    while (count[from] && most--)
        take_one(from, now);
}

static void multicast(int step)
{
    const int root = (int)draw((uint32_t)tasks), len = (int)draw(draw(4) ? 60 : LEN_MAX);
    const uint32_t mask = draw(3) ? UINT32_MAX : draw(1u << 30), how = draw(3);
    int to[TASKS_MAX], receivers = 0;
    for (int i = 0; i < tasks; i++)
        if (mask >> i & 1 && i != root) to[receivers++] = tid[i];
    if (me == root) {
        pack(step, len);
        if (mask == UINT32_MAX && how == 0)
            need(pvm_bcast(group, MESSAGE_TAG) == PvmOk, "pvm_bcast", step);
        else
            need(pvm_mcast(to, receivers, MESSAGE_TAG) == PvmOk, "pvm_mcast", step);
    } else if (mask >> me & 1) {
        expect(root, len);
    }
}

static void message(int step)
{
    const int from = (int)draw((uint32_t)tasks), to = (int)draw((uint32_t)tasks);
    const int len = (int)draw(LEN_MAX);
    if (from == to) return;
    if (me == from) {
        pack(step, len);
        need(pvm_send(tid[to], MESSAGE_TAG) == PvmOk, "pvm_send", step);
    } else if (me == to) {
        expect(from, len);
    }
}

/* ---- reductions ---- */

static void exclusive(int *type, void *x, void *y, int *items, int *info)
{
    for (int i = 0; i < *items; i++)
        ((int *)x)[i] ^= ((int *)y)[i];
    *info = *type == PVM_INT ? PvmOk : PvmBadParam;
}

static void reduce(int step)
{
    static const int types[] = { PVM_INT,    PVM_LONG,  PVM_SHORT,  PVM_UINT,
                                 PVM_USHORT, PVM_FLOAT, PVM_DOUBLE, PVM_ULONG };
    const int root = (int)draw((uint32_t)tasks), tag = REDUCE_TAG + (int)draw(3);
    const int type = types[draw(8)], how = (int)draw(5);
    const int items = 1 + (int)draw(draw(8) ? ITEMS_MAX : 300);
    static union {
        int i[300];
        long l[300];
        short s[300];
        float f[300];
        double d[300];
    } a;
    uint64_t own = (uint64_t)step * 7919 + (uint64_t)me * 104729 + 1;
    for (int i = 0; i < items; i++) {
        own = own * 6364136223846793005u + 1442695040888963407u;
        const long v = (long)(own >> 33) - (1 << 30);
        if (type == PVM_INT || type == PVM_UINT)
            a.i[i] = (int)(v >> 5);
        else if (type == PVM_LONG || type == PVM_ULONG)
            a.l[i] = v << 8;
        else if (type == PVM_SHORT || type == PVM_USHORT)
            a.s[i] = (short)(v >> 20);
        else if (type == PVM_FLOAT)
            a.f[i] = (float)v;
        else
            a.d[i] = (double)v / 3;
    }
    void (*f)(int *, void *, void *, int *, int *) = how == 0                         ? PvmMax
                                                     : how == 1                       ? PvmMin
                                                     : how == 2 && type == PVM_INT    ? exclusive
                                                     : how == 3 && type == PVM_DOUBLE ? PvmProduct
                                                                                      : PvmSum;
    need(pvm_reduce(f, &a, items, type, tag, group, root) >= 0, "pvm_reduce", step);
    const size_t len = type == PVM_SHORT || type == PVM_USHORT                    ? 2
                       : type == PVM_INT || type == PVM_UINT || type == PVM_FLOAT ? 4
                                                                                  : 8;
    if (me == root) note(&a, len * (size_t)items);
}

static void gather(int step)
{
    const int root = (int)draw((uint32_t)tasks);
    int all[TASKS_MAX] = { 0 }, own = step * 100 + me;
    need(pvm_gather(all, &own, 1, PVM_INT, REDUCE_TAG + 10, group, root) >= 0, "pvm_gather", step);
    if (me == root) note(all, sizeof all);
}

/* ---- the group ---- */

/* Whoever is not in a barrier of some waits for those: it must not be counted in their place. */
static void send_token(int to)
{
    pvm_initsend(PvmDataDefault);
    pvm_send(tid[to], TOKEN_TAG);
}

static void barrier(int step)
{
    const int how = (int)draw(4), size = how == 3 ? 1 + (int)draw((uint32_t)tasks) : tasks;
    if (me >= size) {
        pvm_recv(tid[0], TOKEN_TAG);
        return;
    }
    need(pvm_barrier(group, how == 0 && size == tasks ? -1 : size) == PvmOk, "pvm_barrier", step);
    for (int i = size; i < tasks && me == 0; i++)
        send_token(i);
}

/* A member leaves, and joins again. */
static void change(int step)
{
    const int who = (int)draw((uint32_t)tasks), other = who == 0;
    need(pvm_barrier(group, tasks) == PvmOk, "pvm_barrier", step);
    if (me == who) {
        need(pvm_lvgroup(group) == PvmOk, "pvm_lvgroup", step);
        pvm_recv(tid[other], TOKEN_TAG);
        need(pvm_joingroup(group) == who, "pvm_joingroup", step);
    } else {
        need(pvm_barrier(group, tasks - 1) == PvmOk, "pvm_barrier", step);
        if (me == other) send_token(who);
    }
    need(pvm_barrier(group, tasks) == PvmOk, "pvm_barrier", step);
}

static void do_step(int step)
{
    const uint32_t kind = draw(20), pause = draw(4), most = draw(5);
    const int lazy = (int)draw((uint32_t)tasks);
    if (!pause && me == lazy) usleep(1 + (unsigned)step % 50);
    if (kind < 6)
        multicast(step);
    else if (kind < 10)
        message(step);
    else if (kind < 13)
        barrier(step);
    else if (kind < 17)
        reduce(step);
    else if (kind < 18)
        gather(step);
    else if (kind < 19 && step % 5 == 0)
        change(step);
    else
        for (int i = 0; i < tasks; i++)
            drain(i, (int)most, step);
    for (int i = 0; i < tasks; i++)
        if (count[i] > 900) drain(i, 900, step);
}

int main(int words, char **word)
{
    char digests[TASKS_MAX][32] = { { 0 } }, own[32] = { 0 };
    int steps = words > 2 ? atoi(word[2]) : 100;
    const char *n = getenv("TASKS");
    tasks = n ? atoi(n) : 5;
    script = 88172645463325252u + (words > 1 ? strtoull(word[1], NULL, 10) : 1) * 2654435761u;
    pvm_mytid();
    me = pvm_joingroup(group);
    pvm_barrier(group, tasks);
    for (int i = 0; i < tasks; i++)
        tid[i] = pvm_gettid(group, i);
    for (int i = 0; i < 10; i++)
        draw(2);
    for (int i = 0; i < steps; i++)
        do_step(i);
    for (int i = 0; i < tasks; i++)
        drain(i, 1000, steps);
    pvm_barrier(group, tasks);
    snprintf(own, sizeof own, "%016llx", (unsigned long long)digest);
    pvm_gather(digests, own, 32, PVM_BYTE, REDUCE_TAG + 20, group, 0);
    pvm_barrier(group, tasks); /* nobody leaves before the root has called */
    digest = 1;
    note(digests, sizeof digests);
    if (me == 0) printf("results %016llx\n", (unsigned long long)digest);
    pvm_exit();
    return 0;
}
