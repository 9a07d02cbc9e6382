/* The processor's counter, read directly, goes as MPI_Wtime does, also for who handles SIGSEGV. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

#if defined __x86_64__
static uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}
#elif defined __aarch64__
static uint64_t ticks(void)
{
    uint64_t value;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#else /* a counter that always agrees */
static uint64_t ticks(void)
{
    return (uint64_t)(1e9 * MPI_Wtime());
}
#endif

static void hear(int number)
{
    (void)number;
    _exit(3);
}

/* Ticks of a second. */
static double rate(useconds_t span)
{
    const double begin = MPI_Wtime();
    const uint64_t first = ticks();
    usleep(span);
    const uint64_t last = ticks();
    return (double)(last - first) / (MPI_Wtime() - begin);
}

/* On a busy machine much may lie between two readings. */
static void ticks_have_one_rate(void)
{
    const double one = rate(100000), other = rate(300000);
    CHECK(one > 0.5 * other && one < 2 * other, "a rate of %g or %g ticks per second, not both",
          one, other);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    topic("the counter goes as MPI_Wtime does");
    ticks_have_one_rate();
    topic("and also for who handles SIGSEGV");
    signal(SIGSEGV, hear);
    ticks_have_one_rate();
    return check_end();
}
