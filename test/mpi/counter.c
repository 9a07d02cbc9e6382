/* The processor's counter, read directly, advances as MPI_Wtime does, also in a program that
 * handles SIGSEGV; programs that are started read it too. */
#include "check.h"
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

static void on_fault(int number)
{
    (void)number;
    _exit(3);
}

/* Ticks per second. */
static double rate(useconds_t span)
{
    const double begin = MPI_Wtime();
    const uint64_t first = ticks();
    usleep(span);
    const uint64_t last = ticks();
    return (double)(last - first) / (MPI_Wtime() - begin);
}

/* On a busy machine two readings may be far apart. */
static void ticks_have_one_rate(void)
{
    const double one = rate(100000), other = rate(300000);
    CHECK(one > 0.5 * other && one < 2 * other, "a rate of %g or %g ticks per second, not both",
          one, other);
}

/* ---- programs that are started --------------------------------------------------------------- */

extern char **environ;

static int status_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void started_programs_live(char *self)
{
    char command[4096], *words[] = { self, "child", NULL };
    snprintf(command, sizeof command, "'%s' child", self);
    CHECK_EQ(system(command), 0);
    FILE *pipe = popen(command, "r");
    CHECK_EQ(pipe ? pclose(pipe) : -1, 0);
    pid_t child = -1;
    CHECK_EQ(posix_spawn(&child, self, NULL, NULL, words, environ), 0);
    CHECK_EQ(status_of(child), 0);
    CHECK_EQ(posix_spawnp(&child, self, NULL, NULL, words, environ), 0);
    CHECK_EQ(status_of(child), 0);
    child = fork();
    if (!child) _exit(execv(self, words));
    CHECK_EQ(status_of(child), 0);
    child = vfork();
    if (!child) _exit(execv(self, words));
    CHECK_EQ(status_of(child), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) return ticks() ? 0 : 4; /* the started program */
    check_begin(&argc, &argv);
    topic("the counter goes as MPI_Wtime does");
    ticks_have_one_rate();
    topic("also in a program that handles SIGSEGV");
    signal(SIGSEGV, on_fault);
    ticks_have_one_rate();
    topic("programs that it starts read a counter too");
    started_programs_live(argv[0]);
    ticks_have_one_rate();
    return check_end();
}
