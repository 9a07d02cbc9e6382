#include "turns.h"
#include "child.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

void leat_turns_init(struct leat_turns *turns, uint32_t ports, uint32_t tasks, int64_t long_ns)
{
    *turns = (struct leat_turns){ .ports = ports,
                                  .long_ns = long_ns ? long_ns : LEAT_TURNS_COMPUTING_NS };
    turns->port = leat_child_grown(NULL, ports, sizeof *turns->port);
    turns->task = leat_child_grown(NULL, tasks, sizeof *turns->task);
    memset(turns->port, 0, ports * sizeof *turns->port);
    memset(turns->task, 0, tasks * sizeof *turns->task);
}

void leat_turns_free(struct leat_turns *turns)
{
    free(turns->port);
    free(turns->task);
}

void leat_turns_begin(struct leat_turns *turns)
{
    for (uint32_t i = 0; i < turns->ports; i++)
        turns->port[i].next = 0;
}

void leat_turns_offer(struct leat_turns *turns, uint32_t port, uint32_t task)
{
    uint32_t *next = &turns->port[port].next;
    if (!*next || turns->task[task].last < turns->task[*next - 1].last) *next = task + 1;
}

bool leat_turns_has(const struct leat_turns *turns, uint32_t port, uint32_t task)
{
    return turns->port[port].are_all_free || turns->port[port].next == task + 1;
}

void leat_turns_take(struct leat_turns *turns, uint32_t task)
{
    turns->task[task].last = ++turns->count;
}

static int64_t read_ns(clockid_t clock)
{
    struct timespec t = { 0 };
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool leat_turns_is_long(struct leat_turns *turns, uint32_t port, uint32_t task, pid_t process)
{
    struct leat_turns_task *t = &turns->task[task];
    clockid_t computing;
    if (clock_getcpuclockid(process, &computing)) return false;
    const int64_t computed_ns = read_ns(computing), now_ns = read_ns(CLOCK_MONOTONIC);
    if (t->seen != t->last) {
        t->seen = t->last;
        t->computed_ns = computed_ns;
        t->seen_ns = now_ns;
    }
    const int64_t ran_ns = now_ns - t->seen_ns, used_ns = computed_ns - t->computed_ns;
    if (turns->port[port].are_all_free) return ran_ns >= LEAT_TURNS_AGAIN_NS;
    const bool sleeps = used_ns < ran_ns / 1000; /* on a busy machine it still computes more */
    return used_ns >= turns->long_ns || (sleeps && ran_ns >= LEAT_TURNS_SLEEPING_NS);
}

void leat_turns_end(struct leat_turns *turns, uint32_t port)
{
    turns->port[port].are_all_free = true;
}
