/*
 * The library and its service together: tasks are real processes (this program again, with the name
 * of its role), the network is the cell network of the thesis.
 */
#include "hub.h"
#include "leat_text.h"
#include "pvm_service_parts.h"
#include "sim_atm_ports.h"
#include "tap.h"
#include <pvm3.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 24 };

/* ---- roles of tasks -------------------------------------------------------------------------- */

#define HOLDS(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static _Noreturn void fail(const char *what, int line)
{
    char text[200];
    snprintf(text, sizeof text, "line %d: %s", line, what);
    leat_task_fail(text);
}

static int spawn(const char *body, int count, int *tids)
{
    char *argv[] = { (char *)body, NULL };
    return pvm_spawn((char *)"/proc/self/exe", argv, PvmTaskDefault, NULL, count, tids);
}

static void send_number(int tid, int tag, int number)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    HOLDS(pvm_send(tid, tag) == PvmOk);
}

static int receive_number(int tid, int tag)
{
    int number = 0;
    HOLDS(pvm_recv(tid, tag) > 0);
    HOLDS(pvm_upkint(&number, 1, 1) == PvmOk);
    return number;
}

static const int lengths[] = { 0, 1, 1000, (1 << 20) - 40, (1 << 20) - 39, 3 << 20 };

static void do_lengths(void)
{
    static uint8_t octets[3 << 20];
    int tids[2];
    pvm_mytid();
    if (pvm_joingroup((char *)"pair") < 0) fail("join", __LINE__);
    pvm_barrier((char *)"pair", 2);
    for (int i = 0; i < 2; i++)
        tids[i] = pvm_gettid((char *)"pair", i);
    const bool sends = pvm_mytid() == tids[0];
    for (int i = 0; i < 6; i++) {
        if (sends) {
            memset(octets, i + 1, sizeof octets);
            pvm_initsend(i % 2 ? PvmDataRaw : PvmDataInPlace);
            pvm_pkbyte((char *)octets, lengths[i], 1);
            pvm_send(tids[1], 9);
            continue;
        }
        int len = -1;
        HOLDS(pvm_bufinfo(pvm_recv(tids[0], -1), &len, NULL, NULL) == PvmOk);
        HOLDS(len == lengths[i]);
        HOLDS(pvm_upkbyte((char *)octets, len, 1) == PvmOk);
        HOLDS(!len || (octets[0] == i + 1 && octets[len - 1] == i + 1));
    }
    pvm_exit();
}

static void do_child(void)
{
    int *siblings = NULL;
    const int parent = pvm_parent(), count = pvm_siblings(&siblings);
    HOLDS(parent > 0 && count == 3);
    int me = -1;
    for (int i = 0; i < count; i++)
        if (siblings[i] == pvm_mytid()) me = i;
    HOLDS(getenv("WISH") && !strcmp(getenv("WISH"), "come true"));
    HOLDS(pvm_getcontext() == receive_number(parent, 1));
    send_number(parent, 2, 100 * me);
    pvm_exit();
}

static void do_parent(void)
{
    int tids[3], count = 0, sum = 0;
    struct pvmtaskinfo *task = NULL;
    HOLDS(pvm_parent() == PvmNoParent);
    setenv("WISH", "come true", 1);
    pvm_export((char *)"WISH");
    const int context = pvm_newcontext();
    HOLDS(pvm_setcontext(context) == 0);
    HOLDS(spawn("child", 3, tids) == 3);
    HOLDS(pvm_tasks(0, &count, &task) == PvmOk && count == 4);
    HOLDS(task[1].ti_tid == tids[0] && task[1].ti_ptid == pvm_mytid());
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&(int){ context }, 1, 1);
    HOLDS(pvm_mcast(tids, 3, 1) == PvmOk);
    for (int i = 0; i < 3; i++)
        sum += receive_number(-1, 2);
    HOLDS(sum == 300);
    HOLDS(pvm_spawn((char *)"there is no such program", NULL, 0, NULL, 2, tids) == 0);
    HOLDS(tids[0] == PvmNoFile && tids[1] == PvmNoFile);
    HOLDS(pvm_freecontext(context) == PvmOk);
    pvm_setopt(PvmAutoErr, 0);
    HOLDS(pvm_freecontext(context) == PvmNotFound);
    pvm_exit();
}

static void do_host(void)
{
    int tid = 0, hosts = 0;
    struct pvmhostinfo *host = NULL;
    HOLDS(pvm_config(&hosts, NULL, &host) == PvmOk && hosts == 16);
    char *argv[] = { (char *)"nothing", NULL }, *me = (char *)"/proc/self/exe";
    HOLDS(pvm_spawn(me, argv, PvmTaskHost, host[7].hi_name, 1, &tid) == 1);
    HOLDS(pvm_tidtohost(tid) == host[7].hi_tid);
    HOLDS(pvm_spawn(me, argv, PvmTaskHost, (char *)".", 1, &tid) == 1);
    HOLDS(pvm_tidtohost(tid) == pvm_tidtohost(pvm_mytid()));
    HOLDS(pvm_spawn(me, argv, PvmTaskHost | PvmHostCompl, (char *)".", 1, &tid) == 1);
    HOLDS(pvm_tidtohost(tid) != pvm_tidtohost(pvm_mytid()));
    HOLDS(pvm_spawn(me, argv, PvmTaskHost, (char *)"nowhere", 1, &tid) == 0 && tid == PvmNoHost);
    HOLDS(pvm_mstat((char *)"port3") == PvmOk && pvm_mstat((char *)"port99") == PvmNoHost);
    pvm_exit();
}

static void do_nothing(void)
{
    pvm_exit();
}

/* Two messages of 64 octets: each takes more than 100 cycles of 50 ns. */
#define BARRIER_PS_MIN UINT64_C(10000000)

static void do_group(void)
{
    char *const name = (char *)"workers";
    int all[8] = { 0 }, part = 0;
    const int me = pvm_joingroup(name);
    HOLDS(me >= 0 && pvm_joingroup(name) == PvmDupGroup);
    HOLDS(pvm_barrier(name, 4) == PvmOk);
    const leat_time before = leat_task_now();
    HOLDS(pvm_barrier(name, 4) == PvmOk);
    HOLDS(leat_task_now() - before > BARRIER_PS_MIN);
    HOLDS(pvm_gsize(name) == 4 && pvm_gettid(name, me) == pvm_mytid());
    HOLDS(pvm_getinst(name, pvm_mytid()) == me && pvm_gettid(name, 4) == PvmNoInst);
    HOLDS(pvm_gsize((char *)"nobody") == PvmNoGroup);
    double sum[2] = { me, 1 };
    HOLDS(pvm_reduce(PvmSum, sum, 2, PVM_DOUBLE, 11, name, 1) == PvmOk);
    if (me == 1) HOLDS(sum[0] == 6 && sum[1] == 4);
    HOLDS(pvm_gather(all, &(int[]){ me, 10 * me }, 2, PVM_INT, 12, name, 2) == PvmOk);
    for (int i = 0; i < 4 && me == 2; i++)
        HOLDS(all[2 * i] == i && all[2 * i + 1] == 10 * i);
    HOLDS(pvm_scatter(&part, (int[]){ 5, 6, 7, 8 }, 1, PVM_INT, 13, name, 0) == PvmOk);
    HOLDS(part == 5 + me);
    if (me == 3) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&(int){ 77 }, 1, 1);
        HOLDS(pvm_bcast(name, 14) == PvmOk);
    } else {
        HOLDS(receive_number(-1, 14) == 77);
    }
    HOLDS(pvm_freezegroup(name, 4) == PvmOk);
    HOLDS(pvm_barrier(name, -1) == PvmOk);
    pvm_exit();
}

/* The second waits for what the first puts, a second later. */
static void do_mail(void)
{
    char *const name = (char *)"letter";
    const bool is_first = pvm_joingroup((char *)"mail") == 0;
    struct timeval second = { .tv_sec = 1 };
    if (is_first) {
        pvm_trecv(-1, 99, &second);
        pvm_initsend(PvmDataDefault);
        pvm_pkstr((char *)"dear task");
        static char filling[3000];
        pvm_pkbyte(filling, sizeof filling, 1);
        HOLDS(pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault) == 0);
        pvm_barrier((char *)"mail", 2);
        pvm_exit();
        return;
    }
    char text[32] = "";
    const leat_time before = leat_task_now();
    HOLDS(pvm_recvinfo(name, 0, 0) == PvmNotFound);
    HOLDS(pvm_recvinfo(name, 0, PvmMboxWaitForInfo) > 0);
    HOLDS(leat_task_now() - before >= UINT64_C(999000000000));
    HOLDS(pvm_upkstr(text) == PvmOk && !strcmp(text, "dear task"));
    HOLDS(pvm_delinfo(name, 0, 0) == PvmDenied);
    struct pvmmboxinfo *class = NULL;
    int count = 0;
    HOLDS(pvm_getmboxinfo((char *)"*", &count, &class) == PvmOk && count == 1);
    HOLDS(!strcmp(class->mi_name, name) && class->mi_nentries == 1);
    HOLDS(pvm_insert((char *)"number", -1, 42) == 0 && pvm_insert((char *)"number", 0, 1) < 0);
    HOLDS(pvm_lookup((char *)"number", -1, &count) == 0 && count == 42);
    pvm_barrier((char *)"mail", 2);
    pvm_exit();
}

static void do_wait_for_ever(void)
{
    pvm_recv(pvm_parent(), 5);
}

static void do_kill(void)
{
    int tid = 0;
    HOLDS(spawn("wait_for_ever", 1, &tid) == 1);
    HOLDS(pvm_pstat(tid) == PvmOk);
    HOLDS(pvm_notify(PvmTaskExit, 8, 1, &tid) == PvmOk);
    HOLDS(pvm_nrecv(-1, 8) == 0);
    HOLDS(pvm_kill(tid) == PvmOk);
    HOLDS(receive_number(-1, 8) == tid);
    HOLDS(pvm_pstat(tid) == PvmNoTask);
    HOLDS(pvm_notify(PvmTaskExit, 9, 1, &tid) == PvmOk); /* it is gone already */
    HOLDS(receive_number(-1, 9) == tid);
    pvm_exit();
}

static void do_halt(void)
{
    int tids[2];
    HOLDS(spawn("wait_for_ever", 2, tids) == 2);
    signal(SIGTERM, SIG_IGN);
    HOLDS(pvm_notify(PvmTaskExit, 8, 2, tids) == PvmOk);
    HOLDS(pvm_halt() == PvmOk);
    HOLDS(receive_number(-1, 8) + receive_number(-1, 8) == tids[0] + tids[1]);
    pvm_exit();
}

static void do_crash(void)
{
    pvm_mytid();
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void do_parent_of_crash(void)
{
    int tid = 0;
    HOLDS(spawn("crash", 1, &tid) == 1);
    pvm_recv(tid, 1);
}

static void do_watch_crash(void)
{
    int tid = 0;
    HOLDS(spawn("late_crash", 1, &tid) == 1);
    pvm_notify(PvmTaskExit, 8, 1, &tid);
    send_number(tid, 1, 0);
    HOLDS(receive_number(-1, 8) == tid);
    pvm_exit();
}

static void do_late_crash(void)
{
    pvm_recv(-1, 1);
    abort();
}

static void do_print(void)
{
    pvm_mytid();
    printf("one\ntwo");
    fflush(stdout);
    pvm_recv(pvm_parent(), 3);
    printf(" and a half\nlast, without an end");
    pvm_exit();
}

static void do_catch(void)
{
    int tids[2];
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    pvm_catchout(file);
    HOLDS(spawn("print", 2, tids) == 2);
    send_number(tids[1], 3, 0);
    send_number(tids[0], 3, 0);
    pvm_exit();
    fclose(file);
    for (int i = 0; i < 2; i++) {
        char want[200];
        snprintf(want, sizeof want, "[t%x] two and a half\n", (unsigned)tids[i]);
        if (!strstr(text, want)) _exit(3);
        snprintf(want, sizeof want, "[t%x] last, without an end\n[t%x] EOF\n", (unsigned)tids[i],
                 (unsigned)tids[i]);
        if (!strstr(text, want)) _exit(3);
    }
    if (strncmp(text, "[t", 2) || !strstr(text, "] BEGIN\n")) _exit(3);
    free(text);
}

static void do_no_exit(void)
{
    pvm_mytid();
    send_number(pvm_mytid(), 1, 1);
}

static void do_clock(void)
{
    struct timeval before, after;
    pvm_mytid();
    gettimeofday(&before, NULL);
    sleep(3600);
    gettimeofday(&after, NULL);
    HOLDS(after.tv_sec - before.tv_sec == 3600);
    pvm_exit();
}

/* Each sends a number to all others, repeatedly, and receives from any. */
/* ---- by the network ---- */

static char team[] = "team";

static int tid_of(uint32_t task)
{
    return leat_pvm_task_tid(task, leat_task_port_of(task));
}

/* The first so many tasks are the team, and settled. */
static int join_team(uint32_t members)
{
    pvm_mytid();
    if (leat_task_number() >= members) return -1;
    const int me = pvm_joingroup(team);
    HOLDS(pvm_barrier(team, (int)members) == PvmOk);
    return me;
}

/* Some send a sum and go on to a barrier, others come from the barrier to the sum. */
static void do_settled(void)
{
    const int me = join_team(4);
    for (int i = 0; i < 5; i++) {
        int sum = me + i;
        double least = me - 0.5;
        if (me % 2) HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
        HOLDS(pvm_barrier(team, i % 2 ? 4 : -1) == PvmOk);
        if (me % 2 == 0) HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
        if (me == 0) HOLDS(sum == 6 + 4 * i);
        HOLDS(pvm_reduce(PvmMin, &least, 1, PVM_DOUBLE, 6, team, 3) == PvmOk);
        if (me == 3) HOLDS(least == -0.5);
        HOLDS(pvm_reduce(PvmProduct, &sum, 1, PVM_INT, 7, team, 1) == PvmOk);
    }
    HOLDS(pvm_barrier(team, 4) == PvmOk);
    pvm_exit();
}

/* Those who are in a barrier wait for the one that joins, too. */
static void do_late_join(void)
{
    join_team(3);
    if (leat_task_number() == 3) {
        usleep(1000);
        HOLDS(pvm_joingroup(team) == 3);
        send_number(tid_of(2), 1, 1);
        usleep(1000);
    }
    if (leat_task_number() == 2) receive_number(-1, 1);
    HOLDS(pvm_barrier(team, -1) == PvmOk);
    HOLDS(leat_task_now() > UINT64_C(1002000000000)); /* 2 ms: when the last one came */
    HOLDS(pvm_barrier(team, -1) == PvmOk);
    pvm_exit();
}

/* A member of a static group leaves it while the others are in a barrier. */
static void do_end_of_static(void)
{
    const int me = join_team(3);
    HOLDS(pvm_freezegroup(team, 3) == PvmOk);
    HOLDS(pvm_barrier(team, 3) == PvmOk);
    if (me == 2) {
        usleep(1000);
        HOLDS(pvm_lvgroup(team) == PvmOk);
    } else {
        HOLDS(pvm_barrier(team, 3) == PvmNoGroup);
    }
    pvm_exit();
}

/* One asks for a barrier of two: the first that waits is one of them. */
static void do_other_number(void)
{
    const int me = join_team(3);
    if (me == 1) usleep(1000);
    if (me == 2) receive_number(-1, 1);
    HOLDS(pvm_barrier(team, me == 1 ? 2 : 3) == PvmOk || me == 2);
    if (me == 1) send_number(tid_of(2), 1, 1);
    if (me == 1) HOLDS(pvm_barrier(team, 3) == PvmOk);
    if (me == 0) HOLDS(pvm_barrier(team, 3) == PvmOk);
    pvm_exit();
}

/* Who joins while the network computes a sum waits, and is not in it. */
static void do_join_in_sum(void)
{
    const int me = join_team(3);
    int sum = me + 1;
    if (leat_task_number() == 3) {
        usleep(1000);
        HOLDS(pvm_joingroup(team) == 3);
        HOLDS(leat_task_now() > UINT64_C(1003000000000));
    } else {
        if (me == 0) usleep(3000);
        HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
        if (me == 0) HOLDS(sum == 6);
    }
    HOLDS(pvm_barrier(team, 4) == PvmOk);
    sum = 1;
    HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
    if (me == 0) HOLDS(sum == 4);
    HOLDS(pvm_barrier(team, 4) == PvmOk);
    pvm_exit();
}

/* Who leaves meanwhile is not waited for. */
static void do_leave_in_sum(void)
{
    const int me = join_team(3);
    int least = me + 10;
    if (me == 2) {
        usleep(1000);
        HOLDS(pvm_lvgroup(team) == PvmOk);
    } else {
        if (me == 0) usleep(2000);
        HOLDS(pvm_reduce(PvmMin, &least, 1, PVM_INT, 5, team, 0) == PvmOk);
        if (me == 0) HOLDS(least == 10);
        HOLDS(pvm_barrier(team, 2) == PvmOk);
    }
    pvm_exit();
}

/* A member sends its part by a message, since the group is not settled; a barrier later the root
 * must know that. */
static void do_unsettled_sum(void)
{
    pvm_mytid();
    const int me = pvm_joingroup(team);
    int sum = me + 1;
    while (pvm_gsize(team) < 3)
        usleep(10);
    if (me == 1) HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
    HOLDS(pvm_barrier(team, 3) == PvmOk);
    if (me != 1) HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
    if (me == 0) HOLDS(sum == 6);
    HOLDS(pvm_barrier(team, 3) == PvmOk);
    sum = me;
    HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
    if (me == 0) HOLDS(sum == 3);
    HOLDS(pvm_barrier(team, 3) == PvmOk);
    pvm_exit();
}

/* A multicast is among messages, and as long as it likes. */
static void do_multicast(void)
{
    static char octets[2 << 20];
    const int me = join_team(6);
    int tids[6];
    for (uint32_t i = 0; i < 6; i++)
        tids[i] = tid_of(i);
    for (int i = 0; i < 12; i++) {
        const int len = i % 4 == 3 ? 2 << 20 : 100 * i;
        if (leat_task_number() == 0) {
            send_number(tids[1 + i % 5], 8, i);
            pvm_initsend(PvmDataRaw);
            pvm_pkint(&i, 1, 1);
            pvm_pkbyte(octets, len, 1);
            HOLDS(pvm_mcast(tids, 6, 8) == PvmOk);
        } else {
            int number = -1, there = 0, tag = 0, from = 0;
            if (leat_task_number() == 1u + (uint32_t)i % 5) HOLDS(receive_number(tids[0], 8) == i);
            HOLDS(pvm_bufinfo(pvm_recv(-1, -1), &there, &tag, &from) == PvmOk);
            HOLDS(there == len + 4 && tag == 8 && from == tids[0]);
            struct pvmminfo info;
            HOLDS(pvm_getminfo(pvm_getrbuf(), &info) == PvmOk && info.dst == pvm_mytid());
            HOLDS(pvm_upkint(&number, 1, 1) == PvmOk && number == i);
        }
    }
    HOLDS(pvm_barrier(team, 6) == PvmOk && me >= 0);
    pvm_exit();
}

/* While the line of a port is dead, from 2 ms on. */
static void do_outage(void)
{
    const int me = join_team(6);
    int tids[6];
    for (uint32_t i = 0; i < 6; i++)
        tids[i] = tid_of(i);
    struct timespec rest = { .tv_nsec = 2000000 - (long)(leat_task_now() % 1000000000000 / 1000) };
    nanosleep(&rest, NULL);
    for (int i = 0; i < 6; i++) {
        int sum = me + i;
        HOLDS(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 5, team, 0) == PvmOk);
        if (me == 0) HOLDS(sum == 15 + 6 * i);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&i, 1, 1);
        if (leat_task_number() == 1)
            HOLDS(pvm_mcast(tids, 6, 6) == PvmOk);
        else
            HOLDS(receive_number(tids[1], 6) == i);
        HOLDS(pvm_barrier(team, 6) == PvmOk);
    }
    pvm_exit();
}

static void do_storm(void)
{
    enum { TASKS = 6, ROUNDS = 10 };
    char *const name = (char *)"storm";
    int tids[TASKS];
    unsigned hash = 1;
    pvm_joingroup(name);
    pvm_barrier(name, TASKS);
    for (int i = 0; i < TASKS; i++)
        tids[i] = pvm_gettid(name, i);
    for (int r = 0; r < ROUNDS; r++) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&r, 1, 1);
        pvm_pkuint(&hash, 1, 1);
        pvm_mcast(tids, TASKS, r % 3);
        for (int i = 0; i < TASKS - 1; i++) {
            unsigned theirs = 0;
            int round = 0;
            pvm_recv(-1, r % 3);
            pvm_upkint(&round, 1, 1);
            pvm_upkuint(&theirs, 1, 1);
            hash = hash * 31 + theirs; /* depends on the order of arrival */
        }
    }
    pvm_exit();
}

static const struct {
    const char *name;
    void (*run)(void);
} bodies[] = {
    { "lengths", do_lengths },
    { "child", do_child },
    { "parent", do_parent },
    { "host", do_host },
    { "nothing", do_nothing },
    { "group", do_group },
    { "mail", do_mail },
    { "wait_for_ever", do_wait_for_ever },
    { "kill", do_kill },
    { "halt", do_halt },
    { "crash", do_crash },
    { "parent_of_crash", do_parent_of_crash },
    { "watch_crash", do_watch_crash },
    { "late_crash", do_late_crash },
    { "print", do_print },
    { "catch", do_catch },
    { "no_exit", do_no_exit },
    { "clock", do_clock },
    { "storm", do_storm },
    { "outage", do_outage },
    { "settled", do_settled },
    { "late_join", do_late_join },
    { "end_of_static", do_end_of_static },
    { "other_number", do_other_number },
    { "join_in_sum", do_join_in_sum },
    { "leave_in_sum", do_leave_in_sum },
    { "unsettled_sum", do_unsettled_sum },
    { "multicast", do_multicast },
};

/* ---- runs ------------------------------------------------------------------------------------ */

struct result {
    enum leat_hub_end end;
    char reason[256];
    char doing[LEAT_TASK_CALL_LEN + LEAT_TASK_ABOUT_LEN]; /* of task 0, if it is stuck */
    uint64_t certificate;
    int status; /* of task 0 */
    struct leat_task_collective barriers, reductions, multicasts;
};

static enum leat_pvm_collectives collectives; /* of the next run */

static struct leat_task_collective calls_of(const struct leat_hub *hub, const char *name)
{
    struct leat_task_collective sum = { 0 };
    const struct leat_task_collective *c;
    for (uint32_t task = 0; task < SLOTS; task++)
        for (uint32_t i = 0; (c = leat_hub_collective(hub, task, i)); i++)
            for (int k = 0; k < LEAT_TASK_CARRIERS && !strcmp(c->name, name); k++)
                sum.calls[k] += c->calls[k];
    return sum;
}

static bool has_outage; /* in the next run */

static struct leat_sim_atm_ports_config network_config(void)
{
    static struct leat_sim_atm_line_outage outage = { .port = 2, .from = 39900, .to = 52000 };
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL, .messages_max = 10000 };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse("clos444", &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    if (has_outage) {
        config.aal.retransmit_cycles = 5000;
        config.aal.transmissions_max = 2;
        config.aal.resync = true;
        config.line.outage = &outage;
        config.line.outage_count = 1;
    }
    return config;
}

static struct result run_body(const char *body, uint32_t tasks)
{
    const struct leat_sim_atm_ports_config config = network_config();
    static struct leat_sim_atm_ports port;
    void *memory = calloc(1, leat_sim_atm_ports_footprint(&config));
    char why[200] = "";
    struct result result = { .end = LEAT_HUB_FAILED };
    if (!memory) abort();
    leat_sim_atm_ports_init(&port, &config, memory);
    /* A leak checker scans all memory of the run, for each task. */
    char *const environment[] = { (char *)"ASAN_OPTIONS=detect_leaks=0", NULL };
    const struct leat_pvm_service_config service_config = { .slots = SLOTS,
                                                            .ports = port.net.ports,
                                                            .environment = environment,
                                                            .collectives = collectives,
                                                            .log = -1 };
    struct leat_pvm_service *service = leat_pvm_service_create(&service_config, why, sizeof why);
    const struct leat_hub_config hub_config = { .net = &port.net,
                                                .slots = SLOTS,
                                                .expected = tasks,
                                                .port = leat_pvm_service_ports(service),
                                                .has_casts = collectives != LEAT_PVM_BY_HOSTS,
                                                .service = leat_pvm_service_hooks(service) };
    struct leat_hub *hub = leat_hub_create(&hub_config, why, sizeof why);
    if (!hub) abort();
    char *argv[] = { (char *)"/proc/self/exe", (char *)body, NULL };
    for (uint32_t i = 0; i < tasks; i++)
        OK(leat_pvm_service_start(service, hub, i, argv, why, sizeof why));
    result.end = leat_hub_run(hub, result.reason, sizeof result.reason);
    leat_pvm_service_finish(service, result.end != LEAT_HUB_DONE);
    memcpy(result.doing, leat_hub_task(hub, 0)->doing, sizeof result.doing);
    result.certificate = leat_port_certificate(&port.net);
    result.barriers = calls_of(hub, "pvm_barrier");
    result.reductions = calls_of(hub, "pvm_reduce");
    result.multicasts = calls_of(hub, "pvm_mcast");
    result.status = service->process[0].status;
    leat_hub_destroy(hub);
    leat_pvm_service_destroy(service);
    free(memory);
    return result;
}

static void ends_well(const char *body, uint32_t tasks)
{
    const struct result result = run_body(body, tasks);
    EQ(result.end, LEAT_HUB_DONE);
    EQ(result.status, 0);
    if (result.end != LEAT_HUB_DONE) printf("# %s: %s\n", result.reason, result.doing);
}

static void messages_of_any_length_arrive_whole_and_in_order(void)
{
    ends_well("lengths", 2);
}

static void a_parent_spawns_children_and_receives_their_messages(void)
{
    ends_well("parent", 1);
}

static void a_task_is_spawned_where_it_is_wanted(void)
{
    ends_well("host", 1);
}

static void groups_meet_and_compute(void)
{
    ends_well("group", 4);
}

static void a_task_that_waits_for_a_letter_gets_it_when_it_comes(void)
{
    ends_well("mail", 2);
}

static void a_killed_task_is_reported_and_ends_nothing_else(void)
{
    ends_well("kill", 1);
}

static void halting_ends_all_that_do_not_mind(void)
{
    ends_well("halt", 1);
}

static void output_is_caught_to_its_last_line(void)
{
    ends_well("catch", 1);
}

static void to_end_without_leaving_is_no_crash(void)
{
    ends_well("no_exit", 2);
}

static void a_crash_ends_the_run_unless_somebody_watches(void)
{
    EQ(run_body("parent_of_crash", 1).end, LEAT_HUB_DIED);
    ends_well("watch_crash", 1);
}

static void the_run_reports_which_task_waits_for_ever(void)
{
    const struct result result = run_body("late_crash", 1);
    EQ(result.end, LEAT_HUB_STUCK);
    OK(!strcmp(result.doing, "pvm_recv from any task, tag 1"));
}

static void clocks_and_sleep_are_simulated(void)
{
    ends_well("clock", 1);
}

static void the_same_run_gives_the_same_certificate(void)
{
    const struct result first = run_body("storm", 6);
    EQ(first.end, LEAT_HUB_DONE);
    for (int i = 0; i < 3; i++)
        EQ(run_body("storm", 6).certificate, first.certificate);
}

/* The same by hosts, which count, and by the network, twice. */
static struct result ends_well_by_both(const char *body, uint32_t tasks)
{
    struct result result[2];
    for (int i = 0; i < 2; i++) {
        collectives = LEAT_PVM_COUNTED;
        ends_well(body, tasks);
        collectives = LEAT_PVM_BY_NETWORK;
        result[i] = run_body(body, tasks);
        EQ(result[i].end, LEAT_HUB_DONE);
        EQ(result[i].status, 0);
        if (result[i].end != LEAT_HUB_DONE) printf("# %s: %s\n", result[i].reason, result[i].doing);
        collectives = LEAT_PVM_BY_HOSTS;
    }
    EQ(result[0].certificate, result[1].certificate);
    return result[0];
}

static void settled_groups_meet_and_compute_in_the_network(void)
{
    const struct result r = ends_well_by_both("settled", 4);
    EQ(r.barriers.calls[LEAT_COLLECT_MEMBERS], 4);
    EQ(r.barriers.calls[LEAT_COLLECT_BY_NETWORK], 24);
    EQ(r.reductions.calls[LEAT_COLLECT_BY_NETWORK], 40);
    EQ(r.reductions.calls[LEAT_COLLECT_OPERATION], 20);
}

static void a_group_that_changes_in_a_barrier_turns_to_its_server(void)
{
    const struct result r = ends_well_by_both("late_join", 4);
    EQ(r.barriers.calls[LEAT_COLLECT_MEMBERS], 3 + 4);
    EQ(r.barriers.calls[LEAT_COLLECT_BY_NETWORK], 4);
    ends_well_by_both("end_of_static", 3);
    ends_well_by_both("other_number", 3);
}

static void a_sum_in_the_network_has_those_who_were_there(void)
{
    collectives = LEAT_PVM_BY_NETWORK;
    ends_well("join_in_sum", 4);
    const struct result r = run_body("leave_in_sum", 3);
    EQ(r.end, LEAT_HUB_DONE);
    EQ(r.reductions.calls[LEAT_COLLECT_BY_NETWORK], 2);
    collectives = LEAT_PVM_BY_HOSTS;
}

static void all_members_compute_a_sum_in_the_same_way(void)
{
    const struct result r = ends_well_by_both("unsettled_sum", 3);
    EQ(r.reductions.calls[LEAT_COLLECT_MEMBERS], 3);
    EQ(r.reductions.calls[LEAT_COLLECT_BY_NETWORK], 3);
}

static void multicasts_arrive_whole_and_in_order(void)
{
    const struct result r = ends_well_by_both("multicast", 6);
    EQ(r.multicasts.calls[LEAT_COLLECT_BY_NETWORK], 9);
    EQ(r.multicasts.calls[LEAT_COLLECT_LENGTH], 3);
    ends_well_by_both("storm", 6);
    ends_well_by_both("group", 4);
}

static void hosts_do_again_what_the_network_cannot(void)
{
    collectives = LEAT_PVM_BY_NETWORK;
    has_outage = true;
    const struct result r = run_body("outage", 6);
    EQ(r.end, LEAT_HUB_DONE);
    if (r.end != LEAT_HUB_DONE) printf("# %s: %s\n", r.reason, r.doing);
    const uint64_t lost = r.reductions.calls[LEAT_COLLECT_FAILURE] +
                          r.multicasts.calls[LEAT_COLLECT_FAILURE] +
                          r.barriers.calls[LEAT_COLLECT_FAILURE];
    OK(lost > 0);
    OK(r.barriers.calls[LEAT_COLLECT_BY_NETWORK] > 0);
    has_outage = false;
    collectives = LEAT_PVM_BY_HOSTS;
}

static void a_program_that_is_not_there_is_not_started(void)
{
    char why[200] = "";
    const struct leat_pvm_service_config config = { .slots = 1, .ports = 1, .log = -1 };
    struct leat_pvm_service *service = leat_pvm_service_create(&config, why, sizeof why);
    char *argv[] = { (char *)"/nowhere/nothing", NULL };
    OK(!leat_pvm_service_start(service, NULL, 0, argv, why, sizeof why));
    OK(strstr(why, "no such program") != NULL);
    leat_pvm_service_destroy(service);
}

int main(int argc, char **argv)
{
    static const struct tap_test all[] = {
        T(messages_of_any_length_arrive_whole_and_in_order),
        T(a_parent_spawns_children_and_receives_their_messages),
        T(a_task_is_spawned_where_it_is_wanted),
        T(groups_meet_and_compute),
        T(a_task_that_waits_for_a_letter_gets_it_when_it_comes),
        T(a_killed_task_is_reported_and_ends_nothing_else),
        T(halting_ends_all_that_do_not_mind),
        T(output_is_caught_to_its_last_line),
        T(to_end_without_leaving_is_no_crash),
        T(a_crash_ends_the_run_unless_somebody_watches),
        T(the_run_reports_which_task_waits_for_ever),
        T(clocks_and_sleep_are_simulated),
        T(the_same_run_gives_the_same_certificate),
        T(settled_groups_meet_and_compute_in_the_network),
        T(a_group_that_changes_in_a_barrier_turns_to_its_server),
        T(a_sum_in_the_network_has_those_who_were_there),
        T(all_members_compute_a_sum_in_the_same_way),
        T(multicasts_arrive_whole_and_in_order),
        T(hosts_do_again_what_the_network_cannot),
        T(a_program_that_is_not_there_is_not_started),
    };
    if (argc < 2) return tap_main(all, (int)(sizeof all / sizeof *all), argv[0]);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (strcmp(argv[1], bodies[i].name)) continue;
        bodies[i].run();
        return 0;
    }
    return 2;
}
