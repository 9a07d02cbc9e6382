#include "clock_counter.h"
#include "clock_owner.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    uint64_t (*now_ns)(void);
    bool is_set;
    struct sigaction others; /* the program's own action for SIGSEGV */
} counter;

/* ---- instructions ---------------------------------------------------------------------------- */

/* For the program the counter counts nanoseconds, since the rate of another machine's is unknown.
 */

#if defined __x86_64__

enum { SHORTEST = 2, STEP = 1 };

size_t leat_clock_counter_instruction(const uint8_t *code, size_t len)
{
    if (len >= 2 && code[0] == 0x0f && code[1] == 0x31) return 2;                    /* rdtsc */
    if (len >= 3 && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9) return 3; /* rdtscp */
    return 0;
}

static uint64_t real_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static const uint8_t *place_of(const ucontext_t *context)
{
    return (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
}

static void answer(ucontext_t *context, uint64_t value, size_t len)
{
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RAX] = (greg_t)(value & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(value >> 32);
    if (len == 3) registers[REG_RCX] = 0; /* the number of the processor */
    registers[REG_RIP] += (greg_t)len;
}

#elif defined __aarch64__

enum { SHORTEST = 4, STEP = 4 };

/* mrs xt, ... without its t */
static uint32_t instruction_at(const uint8_t *code)
{
    uint32_t word;
    memcpy(&word, code, sizeof word);
    return word & ~UINT32_C(31);
}

static bool asks_for_rate(const uint8_t *code)
{
    return instruction_at(code) == 0xd53be000; /* cntfrq_el0 */
}

size_t leat_clock_counter_instruction(const uint8_t *code, size_t len)
{
    if (len < 4) return 0;
    const uint32_t word = instruction_at(code);
    const bool is_counter = word == 0xd53be040 || word == 0xd53be0c0; /* cntvct_el0, cntvctss_el0 */
    return is_counter || asks_for_rate(code) ? 4 : 0;
}

static uint64_t real_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static uint64_t real_rate(void)
{
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz;
}

static const uint8_t *place_of(const ucontext_t *context)
{
    return (const uint8_t *)context->uc_mcontext.pc;
}

static void answer(ucontext_t *context, uint64_t value, size_t len)
{
    const unsigned target = place_of(context)[0] & 31;
    if (target < 31) context->uc_mcontext.regs[target] = value; /* 31: discarded */
    context->uc_mcontext.pc += len;
}

#else /* unknown instruction set: programs read the real counter */

enum { SHORTEST = 1, STEP = 1 };

size_t leat_clock_counter_instruction(const uint8_t *code, size_t len)
{
    (void)code, (void)len;
    return 0;
}

static uint64_t real_ticks(void)
{
    return 0;
}

static const uint8_t *place_of(const ucontext_t *context)
{
    (void)context;
    return NULL;
}

static void answer(ucontext_t *context, uint64_t value, size_t len)
{
    (void)context, (void)value, (void)len;
}

#endif

#ifndef __aarch64__ /* elsewhere no instruction reads the rate */

static bool asks_for_rate(const uint8_t *code)
{
    (void)code;
    return false;
}

static uint64_t real_rate(void)
{
    return 0;
}

#endif

bool leat_clock_counter_is_read_in(const uint8_t *code, size_t len)
{
    for (size_t i = 0; i + SHORTEST <= len; i += STEP)
        if (leat_clock_counter_instruction(code + i, len - i)) return true;
    return false;
}

/* ---- traps ----------------------------------------------------------------------------------- */

static bool set_trap(bool on)
{
    return !prctl(PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

static uint64_t simulated(const uint8_t *code)
{
    return asks_for_rate(code) ? 1000000000 : counter.now_ns();
}

static uint64_t real(const uint8_t *code)
{
    set_trap(false);
    const uint64_t value = asks_for_rate(code) ? real_rate() : real_ticks();
    set_trap(true);
    return value;
}

typedef int spawning(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const[], char *const[]);

/* The libc functions that ours replace. */
static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*system)(const char *);
    FILE *(*popen)(const char *, const char *);
    spawning *posix_spawn, *posix_spawnp;
} behind;

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort(); /* a libc without signals or processes */
    memcpy(function, &found, sizeof found);
}

static void find_sigaction(void)
{
    if (!behind.sigaction) find(&behind.sigaction, "sigaction");
}

/* Passes a fault that is not ours to the original handler. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction others = counter.others;
    if (others.sa_flags & SA_SIGINFO)
        others.sa_sigaction(number, info, context);
    else if (others.sa_handler != SIG_DFL && others.sa_handler != SIG_IGN)
        others.sa_handler(number);
    else
        behind.sigaction(number, &others, NULL); /* it faults again, which ends the process */
}

/* A trap is the kernel's own signal; after other faults the code may not even be readable. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const uint8_t *code = place_of(context);
    const size_t len = info->si_code == SI_KERNEL ? leat_clock_counter_instruction(code, 4) : 0;
    const int error = errno;
    if (!len)
        pass_on(number, info, context);
    else if (leat_clock_owner_of(code) == LEAT_CLOCK_PROGRAM)
        answer(context, simulated(code), len);
    else
        answer(context, real(code), len);
    errno = error;
}

enum leat_clock_counter leat_clock_counter_begin(uint64_t (*now_ns)(void))
{
    if (!leat_clock_owner_program_has(leat_clock_counter_is_read_in))
        return LEAT_CLOCK_COUNTER_UNUSED;
    struct sigaction ours = { .sa_sigaction = on_fault,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    find_sigaction();
    counter.now_ns = now_ns;
    if (!counter.is_set) counter.is_set = !behind.sigaction(SIGSEGV, &ours, &counter.others);
    const bool is_trapped = counter.is_set && set_trap(true);
    return is_trapped ? LEAT_CLOCK_COUNTER_SIMULATED : LEAT_CLOCK_COUNTER_REAL;
}

void leat_clock_counter_leave(void)
{
    if (counter.is_set) set_trap(false);
}

/* ---- programs that handle faults themselves -------------------------------------------------- */

/* The program's action for SIGSEGV applies to everything but traps. */
int sigaction(int number, const struct sigaction *restrict wanted, struct sigaction *restrict old)
{
    find_sigaction();
    if (number != SIGSEGV || !counter.is_set) return behind.sigaction(number, wanted, old);
    const struct sigaction before = counter.others;
    if (wanted) counter.others = *wanted;
    if (old) *old = before;
    return 0;
}

__sighandler_t signal(int number, __sighandler_t wanted)
{
    const struct sigaction action = { .sa_handler = wanted, .sa_flags = SA_RESTART };
    struct sigaction old;
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* ---- programs that start others -------------------------------------------------------------- */

/* On x86-64 a trap survives exec but its handler does not, and the loader reads the counter at
 * once: the new program would die of it. A fork turns the traps off; these functions start programs
 * without fork. */
static bool pause_traps(void)
{
    int mode;
    if (!counter.is_set || prctl(PR_GET_TSC, &mode, 0, 0, 0) || mode != PR_TSC_SIGSEGV)
        return false;
    return set_trap(false);
}

static void resume_traps(bool were_set)
{
    const int error = errno;
    if (were_set) set_trap(true);
    errno = error;
}

int system(const char *command)
{
    find(&behind.system, "system");
    const bool were_set = pause_traps();
    const int result = behind.system(command);
    resume_traps(were_set);
    return result;
}

FILE *popen(const char *command, const char *mode)
{
    find(&behind.popen, "popen");
    const bool were_set = pause_traps();
    FILE *result = behind.popen(command, mode);
    resume_traps(were_set);
    return result;
}

#define SPAWN(name)                                                                         \
    int name(pid_t *restrict out, const char *restrict file,                                \
             const posix_spawn_file_actions_t *restrict actions,                            \
             const posix_spawnattr_t *restrict attributes, char *const words[restrict],     \
             char *const environment[restrict])                                             \
    {                                                                                       \
        find(&behind.name, #name);                                                          \
        const bool were_set = pause_traps();                                                \
        const int result = behind.name(out, file, actions, attributes, words, environment); \
        resume_traps(were_set);                                                             \
        return result;                                                                      \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* A full fork may do everything that a vfork may. */
pid_t vfork(void)
{
    return fork();
}
