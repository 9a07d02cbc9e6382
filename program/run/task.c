#include "task.h"
#include "collect.h"
#include "share.h"
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CHECK_EVERY_NS INT64_C(1000000000) /* checks whether the run still exists */

/* The one task of this process. */
static struct {
    struct leat_share *share;
    struct leat_share_slot *slot;
    struct leat_share_blocks blocks;
    uint32_t number;
    uint32_t cast; /* leat_task_set_cast */
    bool has_begun, is_copy;
    leat_time clock;
    const char *profiled[LEAT_SHARE_PROFILES]; /* the names of the slot's profiles */
} self;

/* Of each thread of the process. */
static _Thread_local struct {
    uint64_t measured_ns; /* computing time that has been charged */
    leat_time waited;
    struct leat_task_span call; /* that it is in */
} mine;

static void copy_text(char *to, const char *text, size_t cap)
{
    const size_t len = strnlen(text, cap - 1);
    memcpy(to, text, len);
    to[len] = '\0';
}

/* ---- start and end --------------------------------------------------------------------------- */

bool leat_task_is_wanted(void)
{
    return getenv(LEAT_TASK_RUN_VARIABLE) != NULL;
}

static struct leat_share *map_run(const char *path, const char **why)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    struct leat_share *share = MAP_FAILED;
    if (file < 0 || fstat(file, &status))
        *why = "the memory of the run cannot be opened: is `leat run` still there?";
    else if ((size_t)status.st_size < sizeof *share)
        *why = "LEAT_RUN names something else than the memory of a run";
    else
        share = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, file, 0);
    if (file >= 0) close(file);
    if (share == MAP_FAILED) {
        if (!*why) *why = "the memory of the run cannot be mapped";
        return NULL;
    }
    if (share->magic == LEAT_SHARE_MAGIC && share->version == LEAT_SHARE_VERSION) return share;
    *why = "the run has another version of leat than this library";
    munmap(share, (size_t)status.st_size);
    return NULL;
}

/* In a fork of the task, which shares only the run's memory with it. */
static void become_copy(void)
{
    self.is_copy = true;
    self.has_begun = false;
}

bool leat_task_attach(uint32_t slot, const char **why)
{
    const char *path = getenv(LEAT_TASK_RUN_VARIABLE);
    *why = NULL;
    if (self.share) return true;
    if (!path) {
        *why = "LEAT_RUN is not set: this program was not started by `leat run`";
        return false;
    }
    struct leat_share *share = map_run(path, why);
    if (!share) return false;
    uint32_t expected = LEAT_SHARE_EXPECTED;
    if (slot >= share->slots ||
        !atomic_compare_exchange_strong(&leat_share_slot(share, slot)->state, &expected,
                                        LEAT_SHARE_ATTACHED)) {
        *why = "its place in the run is taken, or was not expected";
        munmap(share, share->len);
        return false;
    }
    pthread_atfork(NULL, NULL, become_copy);
    self.share = share;
    self.number = slot;
    self.slot = leat_share_slot(share, slot);
    leat_share_blocks_init(&self.blocks, share, slot);
    leat_share_take_short_turns();
    atomic_store(&self.slot->pid, (uint32_t)getpid());
    self.clock = self.slot->clock;
    return true;
}

bool leat_task_is_attached(void)
{
    return self.share != NULL;
}

/* The run that LEAT_RUN names, also for a process that is not attached. NULL: none. */
static struct leat_share *see_run(void)
{
    const char *path = getenv(LEAT_TASK_RUN_VARIABLE), *why = NULL;
    if (self.share || !path) return self.share;
    return map_run(path, &why);
}

static void see_no_more(struct leat_share *share)
{
    if (share && share != self.share) munmap(share, share->len);
}

/* Only the first: later ones are those that it starts. */
void leat_task_announce(uint32_t slot)
{
    struct leat_share *share = see_run();
    uint32_t nobody = 0;
    if (share && slot < share->slots)
        atomic_compare_exchange_strong(&leat_share_slot(share, slot)->pid, &nobody,
                                       (uint32_t)getpid());
    see_no_more(share);
}

/* CPU time of this thread, by system call, so that no simulated clock interferes. */
static uint64_t computed_ns(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void charge_computing(void)
{
    if (!self.has_begun || self.share->compute_scale <= 0) return;
    const uint64_t now = computed_ns();
    self.clock += (leat_time)(1e3 * (double)(now - mine.measured_ns) * self.share->compute_scale);
    mine.measured_ns = now;
}

static _Noreturn void end_process(const char *why)
{
    const struct iovec line[] = { { "leat: ", 6 }, { (char *)why, strlen(why) }, { "\n", 1 } };
    (void)!writev(STDERR_FILENO, line, sizeof line / sizeof *line);
    _exit(1);
}

void leat_task_begin(void)
{
    assert(self.share);
    uint32_t state = LEAT_SHARE_ATTACHED;
    mine.measured_ns = computed_ns();
    self.has_begun = true;
    if (!atomic_compare_exchange_strong(&self.slot->state, &state, LEAT_SHARE_RUNS))
        end_process("the run no longer expects this process");
}

/* This task runs, so that it is not the last one that the hub waits for. */
void leat_task_give_up(uint32_t slot)
{
    struct leat_share_slot *other = leat_share_slot(self.share, slot);
    uint32_t expected = LEAT_SHARE_EXPECTED, attached = LEAT_SHARE_ATTACHED;
    assert(self.has_begun && slot < self.share->slots);
    if (atomic_compare_exchange_strong(&other->state, &expected, LEAT_SHARE_EMPTY) ||
        atomic_compare_exchange_strong(&other->state, &attached, LEAT_SHARE_LEFT))
        atomic_fetch_sub(&self.share->running, 1);
}

bool leat_task_has_begun(void)
{
    return self.has_begun;
}

static void stop(enum leat_share_state state)
{
    self.has_begun = false;
    self.slot->clock = self.clock;
    leat_share_stop_running(self.share, self.slot, state);
}

void leat_task_leave(void)
{
    if (!self.has_begun) return;
    charge_computing();
    stop(LEAT_SHARE_LEFT);
}

/* The memory of messages, a GiB for each task, goes before the process ends: valgrind, which then
 * searches all memory for leaks, would fill and read it for minutes. The last destructor: others
 * leave the run. */
__attribute__((destructor(101))) static void drop_messages(void)
{
    struct leat_share *share = self.share;
    if (share && !self.has_begun)
        munmap((uint8_t *)share + share->blocks_at, share->len - share->blocks_at);
}

/* Its forks would stay, since nobody else knows of them. SIGPIPE must not end it before, if nobody
 * reads its output. */
static _Noreturn void end_without_run(void)
{
    static const char why[] = "leat: the run has ended\n";
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    (void)!write(STDERR_FILENO, why, sizeof why - 1);
    if (getpgrp() == getpid()) kill(0, SIGKILL);
    _exit(1);
}

static void *watch_run(void *share)
{
    if (leat_share_await_end(share)) end_without_run();
    return NULL;
}

/* The thread blocks the program's signals. If it cannot be started, the task still checks when it
 * waits. */
void leat_task_end_with_run(void)
{
    enum { STACK_LEN = 256 << 10 };
    pthread_t watcher;
    pthread_attr_t kind;
    sigset_t all, before;
    if (!self.share || pthread_attr_init(&kind)) return;
    pthread_attr_setdetachstate(&kind, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&kind, STACK_LEN);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)!pthread_create(&watcher, &kind, watch_run, self.share);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&kind);
}

bool leat_task_is_copy(void)
{
    return self.is_copy;
}

/* The slot belongs to the task, which may be using it; only this part is for forks. */
_Noreturn void leat_task_refuse_copy(const char *call)
{
    struct leat_share_copy *copy = &self.share->copy;
    uint32_t none = 0;
    if (atomic_compare_exchange_strong(&copy->is_taken, &none, 1)) {
        copy->task = self.number;
        snprintf(copy->call, sizeof copy->call, "%s", call);
        atomic_store(&copy->is_reported, 1);
    }
    end_process("a process that a task has forked may not communicate");
}

static void refuse_copies(void)
{
    if (self.is_copy) leat_task_refuse_copy("the message library");
}

static void stop_because(const char *reason, enum leat_share_state state)
{
    refuse_copies();
    if (!self.share) return;
    snprintf(self.slot->reason, sizeof self.slot->reason, "%s", reason);
    stop(state);
}

_Noreturn void leat_task_fail(const char *reason)
{
    stop_because(reason, LEAT_SHARE_FAILED);
    for (;;) /* the run ends all of us */
        pause();
}

void leat_task_abort(const char *reason)
{
    stop_because(reason, LEAT_SHARE_ABORTED);
}

void leat_task_note_signal(int number)
{
    if (!self.slot || self.is_copy) return;
    if (mine.call.name) copy_text(self.slot->ended_in, mine.call.name, sizeof self.slot->ended_in);
    atomic_store(&self.slot->signal, (uint32_t)number);
}

void leat_task_note(enum leat_task_note note)
{
    if (self.slot) atomic_fetch_or(&self.slot->notes, (uint32_t)note);
}

uint32_t leat_task_number(void)
{
    return self.number;
}

uint32_t leat_task_expected(void)
{
    return self.share->expected;
}

uint32_t leat_task_port_of(uint32_t task)
{
    assert(task < self.share->slots);
    return leat_share_slot(self.share, task)->port;
}

uint32_t leat_task_slots(void)
{
    return self.share->slots;
}

uint32_t leat_task_ports(void)
{
    return self.share->ports;
}

bool leat_task_any_ends(uint32_t below)
{
    for (uint32_t i = 0; i < below; i++) {
        const struct leat_share_slot *slot = leat_share_slot(self.share, i);
        const pid_t pid = (pid_t)atomic_load(&slot->pid);
        if (atomic_load(&slot->state) == LEAT_SHARE_LEFT && pid && !kill(pid, 0)) return true;
    }
    return false;
}

bool leat_task_any_was_added(void)
{
    for (uint32_t i = self.share->expected; i < self.share->slots; i++)
        if (atomic_load(&leat_share_slot(self.share, i)->state) != LEAT_SHARE_EMPTY) return true;
    return false;
}

bool leat_task_find_port(uint32_t task, uint32_t *port)
{
    struct leat_share *share = see_run();
    const bool found = share && task < share->slots &&
                       atomic_load(&leat_share_slot(share, task)->state) != LEAT_SHARE_EMPTY;
    if (found) *port = leat_share_slot(share, task)->port;
    see_no_more(share);
    return found;
}

void leat_task_share_memory(void)
{
    atomic_store(&self.slot->shares_memory, 1);
}

/* ---- time ------------------------------------------------------------------------------------ */

leat_time leat_task_now(void)
{
    charge_computing();
    return self.clock;
}

void leat_task_spend_overhead(void)
{
    if (self.share->overhead) leat_task_charge(self.share->overhead);
}

void leat_task_charge(leat_time span_ps)
{
    self.clock = leat_time_add(self.clock, span_ps);
}

void leat_task_note_sleeper(leat_time wakes_at)
{
    self.slot->wakes_at = wakes_at;
}

void leat_task_note_clock(void)
{
    self.slot->reads_clock = true;
}

/* ---- profile --------------------------------------------------------------------------------- */

/* Its place. Names are static, so that most are found by their address. */
static uint32_t profile_of(const char *name)
{
    struct leat_share_slot *slot = self.slot;
    uint32_t i = 0;
    while (i < slot->profiles && self.profiled[i] != name)
        i++;
    if (i < slot->profiles) return i;
    for (i = 0; i < slot->profiles; i++)
        if (strcmp(slot->profile[i].name, name) == 0) return i;
    if (i == LEAT_SHARE_PROFILES) return i - 1;
    if (i == LEAT_SHARE_PROFILES - 1) name = "other calls";
    slot->profile[i] = (struct leat_task_profile){ 0 };
    snprintf(slot->profile[i].name, sizeof slot->profile[i].name, "%s", name);
    self.profiled[i] = name;
    return slot->profiles++;
}

/* Up to now, the task was in this call, or waited in it. */
static void note_time(uint32_t profile, leat_time from)
{
    leat_timeline_add(&self.slot->timeline, profile, from - self.share->start,
                      self.clock - self.share->start);
}

struct leat_task_span leat_task_enter(const char *name)
{
    if (!self.has_begun || mine.call.name) return (struct leat_task_span){ 0 };
    mine.call = (struct leat_task_span){ name, leat_task_now(), mine.waited };
    return mine.call;
}

void leat_task_exit(struct leat_task_span span, uint64_t octets)
{
    if (!span.name) return;
    mine.call.name = NULL;
    if (!self.has_begun) return;
    const uint32_t place = profile_of(span.name);
    struct leat_task_profile *profile = &self.slot->profile[place];
    profile->calls++;
    profile->octets += octets;
    profile->took_ps += leat_task_now() - span.at;
    profile->waited_ps += mine.waited - span.waited;
    note_time(place, span.at);
}

struct leat_task_pause leat_task_pause_begin(void)
{
    return (struct leat_task_pause){ leat_task_now(), mine.waited };
}

void leat_task_pause_end(struct leat_task_pause pause)
{
    if (self.clock <= pause.at) return;
    mine.waited = pause.waited + (self.clock - pause.at);
    if (mine.call.name) note_time(profile_of(mine.call.name), mine.call.at);
}

/* ---- handing over ---------------------------------------------------------------------------- */

/* The hub continues without this task until its time has come. */
static void hand_over(leat_time deadline)
{
    struct leat_share_slot *slot = self.slot;
    const uint32_t turn = atomic_load(&slot->turn);
    slot->clock = self.clock;
    slot->deadline = deadline;
    leat_share_stop_running(self.share, slot, LEAT_SHARE_WAITS);
    for (;;) {
        leat_share_await_turn(self.share, self.number, turn, CHECK_EVERY_NS);
        if (atomic_load_explicit(&slot->turn, memory_order_acquire) != turn) break;
        if (leat_share_is_over(self.share)) end_without_run(); /* nobody wakes us */
    }
    self.clock = slot->clock;
    if (self.share->compute_scale > 0) mine.measured_ns = computed_ns();
}

/* What this task waits in, and for, from now on. */
static void set_doing(const char *call, const char *about)
{
    copy_text(self.slot->call, call, sizeof self.slot->call);
    copy_text(self.slot->about, about, sizeof self.slot->about);
}

static struct leat_share_request *new_request(void)
{
    if (self.slot->requests == LEAT_SHARE_REQUESTS) {
        set_doing("room for its requests", "");
        hand_over(self.clock); /* which empties the ring */
    }
    return &self.slot->request[self.slot->requests++];
}

uint8_t *leat_task_room(uint64_t len)
{
    refuse_copies();
    const uint64_t block = leat_share_take(&self.blocks, len);
    return block ? leat_share_octets(self.share, block) : NULL;
}

void leat_task_make_private(uint8_t *octets)
{
    leat_share_block_at(self.share, leat_share_block_of(self.share, octets))->is_private = true;
}

void leat_task_make_quiet(uint8_t *octets)
{
    leat_share_block_at(self.share, leat_share_block_of(self.share, octets))->is_quiet = true;
}

void leat_task_send(uint32_t to, uint8_t *octets, uint64_t len, uint64_t cookie, bool notify_sent)
{
    assert(to < self.share->slots);
    refuse_copies();
    charge_computing();
    *new_request() = (struct leat_share_request){
        .kind = LEAT_SHARE_SEND,
        .to = to,
        .at = self.clock,
        .cookie = cookie,
        .block = leat_share_block_of(self.share, octets),
        .len = len,
        .notify_sent = notify_sent,
        .cast = self.cast,
    };
}

void leat_task_set_cast(uint32_t cast)
{
    self.cast = cast;
}

static void ask(enum leat_share_request_kind kind, const void *question, size_t question_len,
                const void *more, size_t more_len, uint64_t cookie)
{
    uint8_t *octets = leat_task_room(question_len + more_len);
    if (!octets) leat_task_fail("the run has no memory for what it hands over");
    charge_computing();
    memcpy(octets, question, question_len);
    if (more_len) memcpy(octets + question_len, more, more_len);
    *new_request() = (struct leat_share_request){
        .kind = kind,
        .at = self.clock,
        .cookie = cookie,
        .block = leat_share_block_of(self.share, octets),
        .len = question_len + more_len,
    };
}

void leat_task_call(const void *question, size_t len, uint64_t cookie)
{
    ask(LEAT_SHARE_CALL, question, len, NULL, 0, cookie);
}

void leat_task_count_collective(const char *name, uint32_t carrier, uint64_t octets,
                                leat_time took_ps)
{
    struct leat_task_collective *c = leat_share_collective(self.slot, name);
    c->calls[carrier]++;
    c->octets += octets;
    *(carrier == LEAT_COLLECT_BY_NETWORK ? &c->network_ps : &c->hosts_ps) += took_ps;
}

void leat_task_collect(const struct leat_collect_question *question, const void *octets, size_t len,
                       uint64_t cookie)
{
    ask(LEAT_SHARE_COLLECT, question, sizeof *question, octets, len, cookie);
}

bool leat_task_wait(leat_time deadline, const char *call, const char *about)
{
    refuse_copies();
    charge_computing();
    const leat_time before = self.clock;
    if (self.slot->events) return true;
    const bool foreseen = deadline < self.slot->horizon && !self.slot->requests;
    if (foreseen) {
        if (deadline > self.clock) self.clock = deadline;
    } else {
        set_doing(call, about);
        hand_over(deadline > self.clock ? deadline : self.clock);
    }
    mine.waited += self.clock - before;
    self.slot->polls += deadline != LEAT_NEVER && !self.slot->events;
    if (self.clock == before) return self.slot->events > 0;
    if (mine.call.name) /* now, since a call that waits for ever has no end */
        note_time(profile_of(mine.call.name), mine.call.at);
    else
        note_time(profile_of(call), before);
    return self.slot->events > 0;
}

bool leat_task_next(struct leat_task_event *out)
{
    refuse_copies();
    struct leat_share_slot *slot = self.slot;
    if (!slot->events) return false;
    const struct leat_share_event *e = &slot->event[slot->event_first];
    *out = (struct leat_task_event){
        .kind = e->kind,
        .at = e->at,
        .task = e->task,
        .cookie = e->cookie,
        .octets = e->block ? leat_share_octets(self.share, e->block) : NULL,
        .len = e->len,
    };
    slot->event_first = (slot->event_first + 1) % LEAT_SHARE_EVENTS;
    slot->events--;
    return true;
}

void leat_task_release(const struct leat_task_event *event)
{
    if (event->octets) leat_share_give(self.share, leat_share_block_of(self.share, event->octets));
}
