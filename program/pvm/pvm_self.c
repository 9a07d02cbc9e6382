/* Start, end, and queries to the run. */
#include "clock.h"
#include "pvm_library.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct leat_pvm_self leat_pvm_self = { .parent = PvmNoParent };
int pvmmytid = -1, pvmmyptid, pvmmyctx; /* for programs that read them */

/* The pending answer; one at a time. */
static struct {
    uint64_t cookie; /* of the last query */
    bool is_there;
    int result;
    uint32_t len;
    struct leat_pvm_octets part;
} answer_awaited;

static pid_t enrolled_pid;

/* ---- queries --------------------------------------------------------------------------------- */

void leat_pvm_note_answer(uint64_t cookie, const uint8_t *octets, size_t len)
{
    if (cookie != answer_awaited.cookie || len < LEAT_PVM_ANSWER_HEAD) return;
    answer_awaited.is_there = true;
    answer_awaited.result = (int)leat_get_be32(octets);
    answer_awaited.len = leat_get_be32(octets + 4);
    leat_pvm_octets_clear(&answer_awaited.part);
    leat_pvm_put(&answer_awaited.part, octets + LEAT_PVM_ANSWER_HEAD, len - LEAT_PVM_ANSWER_HEAD);
}

static int ask_part(enum leat_pvm_op op, const uint8_t *part, size_t len, bool more,
                    const char *call, const char *about)
{
    uint8_t *question = malloc(LEAT_PVM_QUESTION_HEAD + len);
    if (!question) leat_task_fail("no memory for its questions");
    question[0] = (uint8_t)op;
    question[1] = more;
    if (len) memcpy(question + LEAT_PVM_QUESTION_HEAD, part, len);
    answer_awaited.is_there = false;
    leat_task_call(question, LEAT_PVM_QUESTION_HEAD + len, ++answer_awaited.cookie);
    free(question);
    while (!answer_awaited.is_there)
        leat_pvm_take_events(LEAT_NEVER, call, about);
    return answer_awaited.result;
}

static int fetch_rest(struct leat_pvm_octets *answer)
{
    const uint32_t whole = answer_awaited.len;
    leat_pvm_octets_clear(answer);
    leat_pvm_put(answer, answer_awaited.part.at, answer_awaited.part.len);
    while (answer->len < whole && !answer->failed) {
        uint8_t offset[4];
        leat_put_be32(offset, (uint32_t)answer->len);
        const int result = ask_part(LEAT_PVM_FETCH, offset, sizeof offset, false, "an answer", "");
        if (result < 0) return result;
        leat_pvm_put(answer, answer_awaited.part.at, answer_awaited.part.len);
    }
    return answer->failed ? PvmNoMem : PvmOk;
}

int leat_pvm_ask(enum leat_pvm_op op, const struct leat_pvm_octets *arguments,
                 struct leat_pvm_octets *answer, const char *call, const char *about)
{
    enum { PART = LEAT_PVM_CALL_LEN - LEAT_PVM_QUESTION_HEAD };
    static const struct leat_pvm_octets none;
    const struct leat_pvm_octets *from = arguments ? arguments : &none;
    size_t at = 0;
    if (from->failed) return PvmNoMem;
    for (; from->len - at > PART; at += PART)
        ask_part(LEAT_PVM_MORE, from->at + at, PART, true, call, about);
    const int result = ask_part(op, at ? from->at + at : from->at, from->len - at, false, call,
                                about);
    leat_task_charge(LEAT_TASK_POLL_PS); /* or time would stand still for a poll */
    if (!answer) return result;
    const int fetched = fetch_rest(answer);
    return fetched < 0 ? fetched : result;
}

int leat_pvm_hand_over(enum leat_pvm_op op, const struct leat_pvm_octets *arguments,
                       const char *call)
{
    if (arguments->failed) return PvmNoMem;
    return ask_part(op, arguments->at, arguments->len, false, call, "");
}

int leat_pvm_query(enum leat_pvm_op op, const char *name, const int *numbers, int count,
                   struct leat_pvm_octets *answer, const char *call)
{
    char about[LEAT_TASK_ABOUT_LEN] = "";
    struct leat_pvm_octets arguments = { 0 };
    int result = leat_pvm_enrol();
    if (name) {
        snprintf(about, sizeof about, " of %s", name);
        leat_pvm_put_text(&arguments, name);
    }
    for (int i = 0; i < count; i++)
        leat_pvm_put_i32(&arguments, numbers[i]);
    if (result >= 0) result = leat_pvm_ask(op, &arguments, answer, call, about);
    leat_pvm_octets_free(&arguments);
    return result;
}

/* ---- start and end --------------------------------------------------------------------------- */

static bool attach(void)
{
    const char *slot = getenv(LEAT_TASK_SLOT_VARIABLE), *why = NULL;
    if (!leat_task_is_wanted()) return false;
    if (leat_task_attach(slot ? (uint32_t)strtoul(slot, NULL, 10) : 0, &why)) return true;
    fprintf(stderr, "leat: %s\n", why);
    return false;
}

int leat_pvm_enrol(void)
{
    struct leat_pvm_self *self = &leat_pvm_self;
    struct leat_pvm_octets answer = { 0 };
    if (self->is_enrolled) return PvmOk;
    if (self->has_left || !attach()) return PvmSysErr;
    leat_task_begin();
    leat_clock_begin();
    self->is_enrolled = true;
    enrolled_pid = getpid();
    int result = leat_pvm_ask(LEAT_PVM_ENROL, NULL, &answer, "its place in the virtual machine",
                              "");
    self->tid = leat_pvm_get_i32(&answer);
    self->parent = leat_pvm_get_i32(&answer);
    self->context = leat_pvm_get_i32(&answer);
    self->slots = (uint32_t)leat_pvm_get_i32(&answer);
    self->output = self->children_output = leat_pvm_get_sink(&answer);
    self->collectives = (enum leat_pvm_collectives)leat_pvm_get_i32(&answer);
    self->cast_len = (size_t)leat_pvm_get_i32(&answer);
    self->words_max = (uint32_t)leat_pvm_get_i32(&answer);
    if (answer.failed) result = PvmSysErr;
    leat_pvm_octets_free(&answer);
    pvmmytid = self->tid;
    pvmmyptid = self->parent;
    pvmmyctx = self->context;
    return result;
}

void leat_pvm_leave(void)
{
    leat_pvm_self.is_enrolled = false;
    leat_pvm_self.has_left = true;
    leat_clock_leave();
    leat_task_leave();
}

/* For the thesis' calls (../thesis), which PVM messages carry here. */
void leat_pvm_fail(const char *reason)
{
    leat_task_fail(reason);
}

leat_time leat_pvm_now(void)
{
    return leat_task_now();
}

/* Ending without pvm_exit is common, and not a crash. A fork of the task is not the task. */
__attribute__((destructor)) static void leave_at_exit(void)
{
    if (leat_pvm_self.is_enrolled && enrolled_pid == getpid()) leat_pvm_leave();
}
