/* One task: start, end, its locks, and its queries to the run. */
#include "clock.h"
#include "task.h"
#include "thesis_library.h"
#include "thesis_pvm.h"
#include <leat/atm_task.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REASON_LEN = 240 };

struct prcsdescstr {
    char name[LEAT_ATM_NAME_CAP]; /* of the caller: the table itself belongs to the run */
    int instance;
};

static struct {
    bool is_joined, has_left, is_busy;
    bool over_pvm; /* PVM's library is the task */
    bool reads;    /* a message: from its grant until the run knows that rlcked is 0 */
    pid_t pid;
    int port;
    uint64_t cookie; /* of the last query */
    struct shmst dev;
    struct prcsdescstr table;
} self;

/* ---- errors ---------------------------------------------------------------------------------- */

_Noreturn static void fail_outside(const char *call)
{
    fprintf(stderr, "leat: %s %s\n", call, self.has_left ? "after atmleave" : "before atmjoin");
    exit(1);
}

_Noreturn static void end_run(const char *reason)
{
    if (self.over_pvm) leat_atm_pvm_fail(reason);
    leat_task_fail(reason);
}

_Noreturn void leat_atm_fail(const char *call, const char *format, ...)
{
    char reason[REASON_LEN];
    if (!self.is_joined) fail_outside(call);
    const int len = snprintf(reason, sizeof reason, "%s %d: %s: ", self.table.name,
                             self.table.instance, call);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason + len, sizeof reason - (size_t)len, format, arguments);
    va_end(arguments);
    end_run(reason);
}

_Noreturn void atmfail(struct shmst *dev, const char *reason)
{
    char text[REASON_LEN];
    (void)dev;
    if (!self.is_joined) fail_outside("atmfail");
    snprintf(text, sizeof text, "%s %d: %s", self.table.name, self.table.instance, reason);
    end_run(text);
}

/* ---- queries --------------------------------------------------------------------------------- */

static uint8_t *grown(uint8_t *memory, size_t *cap, size_t len)
{
    if (len <= *cap) return memory;
    memory = realloc(memory, len);
    if (!memory) end_run("no memory for a message");
    *cap = len;
    return memory;
}

uint8_t *leat_atm_room(size_t len)
{
    static uint8_t *memory;
    static size_t cap;
    return memory = grown(memory, &cap, len);
}

static struct leat_task_event await_answer(const char *call, const char *about)
{
    struct leat_task_event event;
    do {
        while (!leat_task_next(&event))
            leat_task_wait(LEAT_NEVER, call, about);
    } while (event.kind != LEAT_TASK_ANSWERED || event.cookie != self.cookie);
    return event;
}

static struct leat_atm_answer ask_with(const struct leat_atm_question *question,
                                       const struct leat_atm_cargo *cargo, const char *call,
                                       const char *about)
{
    static uint8_t *memory;
    static size_t cap;
    struct leat_atm_answer answer;
    if (self.over_pvm) return leat_atm_pvm_ask(question, cargo);
    self.is_busy = true;
    memory = grown(memory, &cap, sizeof *question + cargo->out_len);
    memcpy(memory, question, sizeof *question);
    if (cargo->out_len) memcpy(memory + sizeof *question, cargo->out, cargo->out_len);
    leat_task_call(memory, sizeof *question + cargo->out_len, ++self.cookie);
    const struct leat_task_event event = await_answer(call, about);
    memcpy(&answer, event.octets, sizeof answer);
    if (cargo->in_len) memcpy(cargo->in, event.octets + sizeof answer, cargo->in_len);
    leat_task_release(&event);
    self.is_busy = false;
    return answer;
}

static struct leat_atm_answer ask(const struct leat_atm_question *question, const char *call,
                                  const char *about)
{
    return ask_with(question, &(struct leat_atm_cargo){ 0 }, call, about);
}

/* What the wait is about, for deadlock reports. */
static const char *about(const char *format, int number)
{
    static char text[LEAT_TASK_ABOUT_LEN];
    const int len = snprintf(text, sizeof text, format, number);
    snprintf(text + len, sizeof text - (size_t)len, " (%s %d)", self.table.name,
             self.table.instance);
    return text;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void end_read(void)
{
    if (!self.reads) return;
    ask(&(struct leat_atm_question){ .op = LEAT_ATM_READ_END }, "the end of a read", "");
    self.reads = false;
    self.dev.rlcked = 0;
}

/* If the program has set rlcked to 0: reports that to the run. */
static void settle(void)
{
    if (!self.dev.rlcked) end_read();
}

/* The beginning of every call. */
static void enter(struct shmst *dev, const char *call)
{
    if (!self.is_joined) fail_outside(call);
    if (dev != &self.dev) leat_atm_fail(call, "its first argument is not what atmjoin returned");
    settle();
}

static struct leat_atm_question question_about(enum leat_atm_op op, const char *call,
                                               const char *name, int inst)
{
    struct leat_atm_question question = { .op = op, .instance = inst };
    if (strnlen(name, LEAT_ATM_NAME_CAP) != LEAT_ATM_NAME_CAP - 1)
        leat_atm_fail(call, "the name \"%.20s\", expected three letters", name);
    memcpy(question.name, name, sizeof question.name);
    return question;
}

/* ---- start and end --------------------------------------------------------------------------- */

static bool attach(void)
{
    const char *slot = getenv(LEAT_TASK_SLOT_VARIABLE), *why = NULL;
    if (leat_task_attach(slot ? (uint32_t)strtoul(slot, NULL, 10) : 0, &why)) return true;
    fprintf(stderr, "leat: %s\n", why);
    return false;
}

int atmjoin(struct shmst **dev, struct prcsdescstr **prcstab)
{
    *dev = &self.dev;
    *prcstab = &self.table;
    if (self.is_joined) return 0;
    if (self.has_left) fail_outside("atmjoin");
    self.over_pvm = leat_atm_is_over_pvm();
    if (!self.over_pvm && !attach()) return -1;
    if (!self.over_pvm) leat_task_begin();
    if (!self.over_pvm) leat_clock_begin();
    self.is_joined = true;
    self.pid = getpid();
    const struct leat_atm_answer answer = ask(&(struct leat_atm_question){ .op = LEAT_ATM_JOIN },
                                              "atmjoin", "");
    memcpy(self.table.name, answer.name, sizeof self.table.name);
    self.table.instance = answer.instance;
    self.port = answer.port;
    return 0;
}

int atmstart(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst)
{
    (void)prcstab;
    enter(dev, "atmstart");
    const struct leat_atm_question question = question_about(LEAT_ATM_START, "atmstart", name,
                                                             inst);
    if (inst < 0) leat_atm_fail("atmstart", "instance %d of %s, expected 0 or more", inst, name);
    ask(&question, "atmstart", "");
    return 0;
}

int atmport(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst)
{
    (void)prcstab;
    enter(dev, "atmport");
    const struct leat_atm_question question = question_about(LEAT_ATM_PORT, "atmport", name, inst);
    return ask(&question, "atmport", "").port;
}

int atminst(struct shmst *dev)
{
    enter(dev, "atminst");
    return self.table.instance;
}

unsigned long long atmcycle(struct shmst *dev)
{
    enter(dev, "atmcycle");
    return ask(&(struct leat_atm_question){ .op = LEAT_ATM_CYCLE }, "atmcycle", "").cycle;
}

int atmleave(struct shmst *dev)
{
    enter(dev, "atmleave");
    if (dev->wlcked) leat_atm_fail("atmleave", "a message was begun by atminitsend and not sent");
    end_read();
    self.is_joined = false;
    self.has_left = true;
    if (self.over_pvm) {
        leat_atm_pvm_leave();
        return 0;
    }
    leat_clock_leave();
    leat_task_leave();
    return 0;
}

/* A fork of the task is not the task. PVM's library leaves by itself, for both. */
__attribute__((destructor)) static void leave_at_exit(void)
{
    if (self.is_joined && !self.over_pvm && !self.is_busy && self.pid == getpid())
        atmleave(&self.dev);
}

/* ---- messages -------------------------------------------------------------------------------- */

int atminitsend(struct shmst *dev)
{
    enter(dev, "atminitsend");
    ask(&(struct leat_atm_question){ .op = LEAT_ATM_INITSEND }, "atminitsend",
        about(": the lock of port %d", self.port));
    dev->wlcked = 1;
    return 0;
}

int atmsnd(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst, int type)
{
    (void)prcstab;
    enter(dev, "atmsnd");
    struct leat_atm_question question = question_about(LEAT_ATM_SEND, "atmsnd", name, inst);
    if (type < 0) leat_atm_fail("atmsnd", "type %d, expected 0 or more", type);
    if (inst < LEAT_ATM_ALL)
        leat_atm_fail("atmsnd", "instance %d of %s, expected 0 or more, or -1 for all", inst, name);
    question.type = type;
    ask(&question, "atmsnd", about(" of type %d", type));
    dev->wlcked = 0;
    return 0;
}

int atmrcv(struct shmst *dev, int type)
{
    enter(dev, "atmrcv");
    if (type < 0) leat_atm_fail("atmrcv", "type %d, expected 0 or more", type);
    end_read(); /* the program may not have released it */
    ask(&(struct leat_atm_question){ .op = LEAT_ATM_RECEIVE, .type = type }, "atmrcv",
        about(" of type %d", type));
    self.reads = true;
    dev->rlcked = 1;
    return 0;
}

void leat_atm_put(struct shmst *dev, const char *call, const uint8_t *octets, size_t len)
{
    enter(dev, call);
    ask_with(&(struct leat_atm_question){ .op = LEAT_ATM_PUT },
             &(struct leat_atm_cargo){ .out = octets, .out_len = len }, "atmput",
             about(": room in the send buffer of port %d", self.port));
}

void leat_atm_get(struct shmst *dev, const char *call, uint8_t *octets, size_t len)
{
    enter(dev, call);
    if (len > UINT32_MAX) leat_atm_fail(call, "%zu octets, more than any message has", len);
    ask_with(&(struct leat_atm_question){ .op = LEAT_ATM_GET, .len = (uint32_t)len },
             &(struct leat_atm_cargo){ .in = octets, .in_len = len }, "atmget",
             about(" at port %d", self.port));
}

/* ---- what the clocks (program/clock) need to know -------------------------------------------- */

bool leat_clock_is_simulated(void)
{
    return self.is_joined && !self.over_pvm && !leat_task_is_copy();
}

bool leat_clock_is_in_call(void)
{
    return self.is_busy;
}

bool leat_clock_try_lock(void)
{
    return !self.is_busy;
}

void leat_clock_unlock(void)
{
}

/* Before time passes, frees a lock that the program has released. */
void leat_clock_settle(void)
{
    settle();
}

void leat_clock_wait(leat_time deadline, const char *call)
{
    leat_task_wait(deadline, call, "");
}
