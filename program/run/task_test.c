/* A task as a process: its calls are counted, its forks and orphans end. */
#include "child.h"
#include "hub_scene_test.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define MICROSECOND_PS UINT64_C(1000000)

/* ---- profile --------------------------------------------------------------------------------- */

enum { CALLS = 3, NAMES = LEAT_SHARE_PROFILES + 6 };

/* Each waits a microsecond of its three; what it calls meanwhile is not counted. */
static void makes_calls(void)
{
    static char name[NAMES][16];
    for (int i = 0; i < CALLS; i++) {
        const struct leat_task_span outer = leat_task_enter("outer");
        leat_task_charge(2 * MICROSECOND_PS);
        const struct leat_task_span inner = leat_task_enter("inner");
        leat_task_wait(leat_task_now() + MICROSECOND_PS, "something", "");
        leat_task_exit(inner, 5);
        leat_task_exit(outer, 10);
    }
    for (int i = 0; leat_task_number() && i < NAMES; i++) {
        snprintf(name[i], sizeof name[i], "call %d", i);
        leat_task_exit(leat_task_enter(name[i]), 1);
    }
}

static void calls_are_counted_by_their_names(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, makes_calls);
    ended(&scene, LEAT_HUB_DONE);
    const struct leat_task_profile *outer = leat_hub_profile(scene.hub, 0, 0);
    OK(strcmp(outer->name, "outer") == 0 && !leat_hub_profile(scene.hub, 0, 1));
    OK(outer->calls == CALLS && outer->octets == 10 * CALLS);
    EQ(outer->took_ps, 3 * CALLS * MICROSECOND_PS);
    EQ(outer->waited_ps, CALLS * MICROSECOND_PS);
    const struct leat_task_profile *rest = leat_hub_profile(scene.hub, 1, LEAT_SHARE_PROFILES - 1);
    OK(strcmp(rest->name, "other calls") == 0);
    EQ(rest->calls, NAMES - (LEAT_SHARE_PROFILES - 2));
    OK(!leat_hub_profile(scene.hub, 1, LEAT_SHARE_PROFILES));
    tear_down(&scene);
}

static void short_turns_change_no_policy_and_no_priority(void)
{
    const int policy = sched_getscheduler(0), priority = getpriority(PRIO_PROCESS, 0);
    leat_share_take_short_turns();
    EQ(sched_getscheduler(0), policy);
    EQ(getpriority(PRIO_PROCESS, 0), priority);
}

/* ---- turns ----------------------------------------------------------------------------------- */

enum { SLEEPER = LEAT_SHARE_GROUP + 8 };
static _Atomic bool has_looked; /* the first sleep of a thread ends at once */

static void *sleep_until_turn(void *share)
{
    while (!atomic_load(&leat_share_slot(share, SLEEPER)->turn)) {
        leat_share_await_turn(share, SLEEPER, 0, INT64_MAX / 2);
        atomic_store(&has_looked, true);
    }
    return NULL;
}

/* Otherwise the thread would sleep for centuries. */
static void a_bell_wakes_the_task_of_its_bit(void)
{
    char why[80];
    const int file = memfd_create("leat run", MFD_CLOEXEC);
    uint32_t waking = 0;
    pthread_t sleeper;
    struct leat_share *share = leat_share_create(2 * LEAT_SHARE_GROUP, file, why, sizeof why);
    OK(share && !pthread_create(&sleeper, NULL, sleep_until_turn, share));
    while (!atomic_load(&has_looked) || !atomic_load(&leat_share_slot(share, SLEEPER)->sleeps))
        sched_yield();
    leat_share_give_turn(share, SLEEPER, &waking);
    EQ(waking, 1 << SLEEPER % LEAT_SHARE_GROUP);
    leat_share_ring(share, SLEEPER, waking);
    OK(!pthread_join(sleeper, NULL));
    waking = 0;
    leat_share_give_turn(share, 0, &waking);
    EQ(waking, 0);
    leat_share_end_life(share);
    munmap(share, share->len);
    close(file);
}

/* ---- forks and orphans ----------------------------------------------------------------------- */

enum copy_does { COPY_SENDS, COPY_WAITS, COPY_NAMES_A_CALL, COPY_ENDS };
static enum copy_does copy_does;

/* Task 0 forks, and waits in real time for its child. */
static void fork_a_copy(void)
{
    int status;
    if (leat_task_number() != 0) return;
    check_that(!leat_task_is_copy());
    const pid_t pid = fork();
    if (pid) {
        check_that(waitpid(pid, &status, 0) == pid);
        check_that(WIFEXITED(status) && WEXITSTATUS(status) == (copy_does == COPY_ENDS ? 0 : 1));
        while (copy_does != COPY_ENDS)
            pause();
        return;
    }
    if (leat_task_is_copy() && !leat_task_has_begun()) switch (copy_does) {
        case COPY_SENDS: send_pattern(1, 4, 1); break;
        case COPY_WAITS: leat_task_wait(LEAT_NEVER, "nothing", ""); break;
        case COPY_NAMES_A_CALL: leat_task_refuse_copy("MPI_Barrier"); break;
        case COPY_ENDS: leat_task_leave(); _exit(0);
        }
    _exit(7);
}

static void a_copy_of_a_task_that_communicates_ends_the_run(void)
{
    static struct scene scene;
    for (copy_does = COPY_SENDS; copy_does < COPY_ENDS; copy_does++) {
        run_scene(&scene, "clos444", 2, fork_a_copy);
        ended(&scene, LEAT_HUB_FAILED);
        OK(strstr(scene.reason, "task 0: a process that it forked called "));
        OK(copy_does != COPY_NAMES_A_CALL || strstr(scene.reason, "called MPI_Barrier: only"));
        tear_down(&scene);
    }
    run_scene(&scene, "clos444", 2, fork_a_copy);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

/* Task 2 ends in this way; then all others are terminated, as a launcher does it. */
static enum { BY_ABORT, BY_SIGNAL, BY_KILL, WAYS } way;
static _Atomic pid_t *first; /* its process; in shared memory */

static void await_end_of_first(void)
{
    int descriptor = -1;
    while (!atomic_load(first) || !leat_child_is_gone(atomic_load(first), &descriptor))
        poll(NULL, 0, 1);
}

static void end_first(void)
{
    leat_task_enter("MPI_Barrier");
    if (leat_task_number() != 2) {
        await_end_of_first();
        leat_task_note_signal(SIGTERM);
        _exit(1);
    }
    atomic_store(first, getpid());
    if (way == BY_ABORT) leat_task_abort("it gives up");
    if (way == BY_SIGNAL) leat_task_note_signal(SIGSEGV);
    _exit(7);
}

static void the_first_task_that_ends_is_the_reason(void)
{
    static const char *const reason[WAYS] = {
        "task 2: it gives up",
        "the process of task 2 was ended by signal 11 (Segmentation fault) in MPI_Barrier",
        "the process of task 2 is gone, without having left",
    };
    static struct scene scene;
    first = mmap(NULL, sizeof *first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    OK(first != MAP_FAILED);
    for (way = 0; way < WAYS; way++) {
        atomic_store(first, 0);
        run_scene(&scene, "clos444", 4, end_first);
        ended(&scene, way == BY_ABORT ? LEAT_HUB_ABORTED : LEAT_HUB_DIED);
        OK(!strcmp(scene.reason, reason[way]));
        tear_down(&scene);
    }
}

static int word_of_orphans[2]; /* a pipe */

/* Task 0 waits in simulated time, task 1 in real time: so the run continues. */
static void wait_for_ever(void)
{
    const struct {
        uint32_t task;
        pid_t pid;
    } self = { leat_task_number(), getpid() };
    check_that(write(word_of_orphans[1], &self, sizeof self) == sizeof self);
    while (self.task == 0)
        leat_task_wait(LEAT_NEVER, "nothing", "");
    leat_task_end_with_run();
    for (;;)
        pause();
}

/* Does the kernel release the locks of a process that dies? Emulators of user programs do not. */
static bool robust_locks_work(void)
{
    void *head = NULL;
    size_t len = 0;
    return syscall(SYS_get_robust_list, 0, &head, &len) == 0;
}

/* Killed and not reaped: its process id stays in use. */
static void a_task_ends_when_its_run_was_killed_and_is_a_zombie(void)
{
    enum { PATIENCE_MS = 300000 };
    static struct scene scene;
    struct {
        uint32_t task;
        pid_t pid;
    } reported;
    pid_t orphan[2];
    int status = -1;
    if (!robust_locks_work()) {
        printf("# no robust locks here\n");
        return;
    }
    OK(!prctl(PR_SET_CHILD_SUBREAPER, 1)); /* so that orphans are ours */
    OK(!pipe(word_of_orphans));
    const pid_t run = fork();
    if (!run) {
        run_scene(&scene, "clos444", 2, wait_for_ever);
        _exit(0);
    }
    for (int i = 0; i < 2; i++) {
        OK(read(word_of_orphans[0], &reported, sizeof reported) == sizeof reported);
        orphan[reported.task % 2] = reported.pid;
    }
    kill(run, SIGKILL);
    for (int i = 0; i < 2; i++) {
        pid_t waited = 0;
        for (int ms = 0; ms < PATIENCE_MS && waited <= 0; ms += 10) {
            waited = waitpid(orphan[i], &status, WNOHANG); /* at first it is not ours */
            poll(NULL, 0, 10);
        }
        EQ(waited, orphan[i]);
        OK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
    EQ(waitpid(run, &status, 0), run);
    OK(!prctl(PR_SET_CHILD_SUBREAPER, 0));
    close(word_of_orphans[0]);
    close(word_of_orphans[1]);
}

TAP_MAIN(T(calls_are_counted_by_their_names), T(short_turns_change_no_policy_and_no_priority),
         T(a_bell_wakes_the_task_of_its_bit), T(a_copy_of_a_task_that_communicates_ends_the_run),
         T(the_first_task_that_ends_is_the_reason),
         T(a_task_ends_when_its_run_was_killed_and_is_a_zombie))
