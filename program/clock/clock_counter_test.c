/* Which instructions read the counter. Traps are tried by test/mpi/counter.c. */
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

static uint64_t no_time(void)
{
    return 0;
}

static void a_program_without_them_is_not_trapped(void)
{
    EQ(leat_clock_counter_begin(no_time), LEAT_CLOCK_COUNTER_UNUSED);
    leat_clock_counter_leave();
}

/* The code of the clocks is in this program itself: the object that is the library's. */
static void code_has_an_owner(void)
{
    leat_clock_owner_starts((const void *)(uintptr_t)&code_has_an_owner);
    leat_clock_owner_started();
    EQ(leat_clock_owner_of((const void *)(uintptr_t)&code_has_an_owner), LEAT_CLOCK_LIBRARY);
    EQ(leat_clock_owner_of(NULL), LEAT_CLOCK_PROGRAM);
    OK(!leat_clock_owner_program_has(leat_clock_counter_is_read_in));
}

TAP_MAIN(T(instructions_that_read_the_counter_are_known), T(they_are_found_wherever_they_are),
         T(a_program_without_them_is_not_trapped), T(code_has_an_owner))
