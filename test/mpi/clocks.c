/* Clocks advance, agree with each other, and include the time of sleeping. */
#include "check.h"
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const double slack_s = 2; /* longest delay between two readings on a busy machine */

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double wall(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

static void wtime_goes_forward(void)
{
    double before = MPI_Wtime();
    const double first = before;
    int backwards = 0, reads = 0;
    for (int i = 0; i < 1000; i++) {
        const double now = MPI_Wtime();
        backwards += now < before;
        before = now;
    }
    CHECK_EQ(backwards, 0);
    while (MPI_Wtime() < first + 0.0005 && reads < 100000000)
        reads++;
    CHECK(MPI_Wtime() >= first + 0.0005, "half a millisecond passes for one who only reads it");
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() <= 1e-3, "a tick of at most 1 ms, not %g", MPI_Wtick());
}

static void monotonic_goes_forward(void)
{
    double before = seconds(CLOCK_MONOTONIC);
    int backwards = 0;
    for (int i = 0; i < 1000; i++) {
        const double now = seconds(CLOCK_MONOTONIC);
        backwards += now < before;
        before = now;
    }
    CHECK_EQ(backwards, 0);
    CHECK(before > 0, "a clock that does not start at 0");
}

static void clocks_of_the_day_agree(void)
{
    const double a = wall(), b = seconds(CLOCK_REALTIME), c = (double)time(NULL), d = wall();
    CHECK(b >= a - 1e-5 && b <= d + 1e-5, "clock_gettime (%.6f) between gettimeofday's %.6f, %.6f",
          b, a, d);
    CHECK(c >= a - 1.0 - slack_s && c <= d + slack_s, "time() (%.0f) near gettimeofday's %.6f", c,
          a);
}

enum way { SLEEP, USLEEP, NANOSLEEP, CLOCK_NANOSLEEP, CLOCK_NANOSLEEP_UNTIL, WAYS };
static const char *const way_names[WAYS] = { "sleep", "usleep", "nanosleep", "clock_nanosleep",
                                             "clock_nanosleep until" };

static void sleep_for(enum way way, double span_s)
{
    struct timespec span = { 0, (long)(span_s * 1e9) };
    switch (way) {
    case SLEEP: sleep((unsigned)span_s); break;
    case USLEEP: usleep((useconds_t)(span_s * 1e6)); break;
    case NANOSLEEP: nanosleep(&span, NULL); break;
    case CLOCK_NANOSLEEP: clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL); break;
    case CLOCK_NANOSLEEP_UNTIL:
        clock_gettime(CLOCK_MONOTONIC, &span);
        span.tv_nsec += (long)(span_s * 1e9);
        if (span.tv_nsec >= 1000000000) {
            span.tv_nsec -= 1000000000;
            span.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &span, NULL);
        break;
    case WAYS: break;
    }
}

static void sleeps(enum way way, double span_s)
{
    const double wtime = MPI_Wtime(), mono = seconds(CLOCK_MONOTONIC), day = wall();
    sleep_for(way, span_s);
    const double day_s = wall() - day, mono_s = seconds(CLOCK_MONOTONIC) - mono;
    const double wtime_s = MPI_Wtime() - wtime;
    const char *name = way_names[way];
    CHECK(mono_s >= span_s - 1e-6, "%s: %.6f s by clock_gettime, not %.6f", name, span_s, mono_s);
    CHECK(day_s >= span_s - 0.001, "%s: %.6f s by gettimeofday, not %.6f", name, span_s, day_s);
    CHECK(wtime_s >= span_s - 1e-5, "%s: %.6f s by MPI_Wtime, not %.6f", name, span_s, wtime_s);
    CHECK(mono_s <= span_s + slack_s, "%s: about %.3f s, not %.3f", name, span_s, mono_s);
    CHECK(wtime_s >= mono_s - 1e-5 && wtime_s <= mono_s + slack_s,
          "%s: MPI_Wtime (%.6f s) and clock_gettime (%.6f s) agree", name, wtime_s, mono_s);
    CHECK(mono_s >= day_s - 0.001 && mono_s <= day_s + slack_s,
          "%s: clock_gettime (%.6f s) and gettimeofday (%.6f s) agree", name, mono_s, day_s);
}

/* No message arrives before it was sent, by clocks that all ranks share. */
static void causes_come_before_effects(void)
{
    enum { ROUNDS = 100 };
    int early = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double sent = wall(), came = 0;
        MPI_Sendrecv(&sent, 1, MPI_DOUBLE, right, 0, &came, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        early += wall() < came - 1e-6;
    }
    CHECK_EQ(early, 0);
}

/* A rank that waits for a sleeping one also sees the time pass. */
static void waiting_takes_the_others_time(void)
{
    const double span_s = 0.03;
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    if (me == 0) sleep_for(NANOSLEEP, span_s);
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = MPI_Wtime() - before;
    /* A rank may read its clock late, after rank 0 fell asleep: only rank 0 knows for certain. */
    CHECK(took >= (me == 0 ? span_s - 1e-5 : 0), "a barrier of at least %.3f s, not %.6f", span_s,
          took);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    topic("MPI_Wtime goes forward");
    wtime_goes_forward();
    topic("the monotonic clock goes forward");
    monotonic_goes_forward();
    topic("clocks of the day agree");
    clocks_of_the_day_agree();
    topic("sleep takes its time");
    sleeps(USLEEP, 0.02);
    sleeps(NANOSLEEP, 0.01);
    sleeps(CLOCK_NANOSLEEP, 0.01);
    sleeps(CLOCK_NANOSLEEP_UNTIL, 0.01);
    if (ranks == 1) sleeps(SLEEP, 1.0);
    topic("causes come before effects");
    causes_come_before_effects();
    topic("waiting takes the others' time");
    waiting_takes_the_others_time();
    return check_end();
}
