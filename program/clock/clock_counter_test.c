/* Which instructions read the counter. test/mpi/counter.c tests the traps. */
#include "clock_counter.h"
#include "clock_owner.h"
#include "tap.h"

struct bytes {
    uint8_t code[8];
    size_t len, is;
};

#if defined __x86_64__
static const struct bytes cases[] = {
    { { 0x0f, 0x31 }, 2, 2 },             /* rdtsc */
    { { 0x0f, 0x01, 0xf9 }, 3, 3 },       /* rdtscp */
    { { 0x0f, 0x31 }, 1, 0 },             /* cut short */
    { { 0x0f, 0x01, 0xf9 }, 2, 0 },       /* cut short */
    { { 0x0f, 0x30 }, 2, 0 },             /* wrmsr */
    { { 0x0f, 0x01, 0xf8 }, 3, 0 },       /* swapgs */
    { { 0x90, 0x90, 0x90, 0x90 }, 4, 0 }, /* nop */
};
#elif defined __aarch64__
static const struct bytes cases[] = {
    { { 0x40, 0xe0, 0x3b, 0xd5 }, 4, 4 }, /* mrs x0, cntvct_el0 */
    { { 0x5e, 0xe0, 0x3b, 0xd5 }, 4, 4 }, /* mrs x30, cntvct_el0 */
    { { 0xc7, 0xe0, 0x3b, 0xd5 }, 4, 4 }, /* mrs x7, cntvctss_el0 */
    { { 0x01, 0xe0, 0x3b, 0xd5 }, 4, 4 }, /* mrs x1, cntfrq_el0 */
    { { 0x40, 0xe0, 0x3b, 0xd5 }, 3, 0 }, /* cut short */
    { { 0x40, 0xd0, 0x3b, 0xd5 }, 4, 0 }, /* mrs x0, tpidr_el0 */
    { { 0x1f, 0x20, 0x03, 0xd5 }, 4, 0 }, /* nop */
};
#else
static const struct bytes cases[] = { { { 0 }, 8, 0 } };
#endif
enum { CASES = sizeof cases / sizeof *cases };

static void instructions_that_read_the_counter_are_known(void)
{
    for (size_t i = 0; i < CASES; i++)
        EQ(leat_clock_counter_instruction(cases[i].code, cases[i].len), cases[i].is);
}

static void they_are_found_wherever_they_are(void)
{
    for (size_t i = 0; i < CASES; i++)
        for (size_t at = 0; at <= 16; at += 4) {
            uint8_t code[32] = { 0 };
            for (size_t k = 0; k < cases[i].len; k++)
                code[at + k] = cases[i].code[k];
            EQ(leat_clock_counter_is_read_in(code, at + cases[i].len), cases[i].is != 0);
        }
}

/* ---- reading it ------------------------------------------------------------------------------ */

static uint64_t read_counter(void)
{
#if defined __x86_64__
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

static uint64_t time_of_run(void)
{
    static uint64_t ns = UINT64_C(5) << 32;
    return ns++;
}

/* This program contains such an instruction, and is its own library of clocks. */
static void the_program_is_answered_in_simulated_time_where_that_is_possible(void)
{
    const enum leat_clock_counter counter = leat_clock_counter_begin(time_of_run);
    if (counter == LEAT_CLOCK_COUNTER_SIMULATED) {
        EQ(read_counter(), UINT64_C(5) << 32);
        EQ(read_counter(), (UINT64_C(5) << 32) + 1);
    } else {
        printf("# this system cannot trap the counter\n");
    }
    leat_clock_counter_leave();
    const uint64_t real = read_counter();
    OK(counter == LEAT_CLOCK_COUNTER_UNUSED || real <= read_counter());
}

/* ---- owners ---------------------------------------------------------------------------------- */

static void code_has_an_owner(void)
{
    const void *in_libc = (const void *)(uintptr_t)&strtoull;
    EQ(leat_clock_owner_of((const void *)(uintptr_t)&code_has_an_owner), LEAT_CLOCK_PROGRAM);
    EQ(leat_clock_owner_of(NULL), LEAT_CLOCK_PROGRAM);
    leat_clock_owner_starts(in_libc);
    leat_clock_owner_started();
    EQ(leat_clock_owner_of((const void *)(uintptr_t)&code_has_an_owner), LEAT_CLOCK_PROGRAM);
    OK(leat_clock_owner_of(in_libc) != LEAT_CLOCK_PROGRAM);
}

TAP_MAIN(T(instructions_that_read_the_counter_are_known), T(they_are_found_wherever_they_are),
         T(the_program_is_answered_in_simulated_time_where_that_is_possible), T(code_has_an_owner))
