#include "check.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORTED_MAX = 5 }; /* errors that a rank reports per topic; the others are only counted */

int me, ranks, right, left;

static MPI_Comm reports;
static char topic_name[80]; /* empty: none */
static long long topic_checks, topic_wrong;
static long long wrong_of_all; /* known to rank 0 */

static void begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (me + 1) % ranks;
    left = (me + ranks - 1) % ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &reports);
    if (me == 0) printf("%d ranks\n", ranks);
}

void check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    begin();
}

bool check_begin_threads(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    begin();
    topic("level");
    return CHECK_EQ(level, MPI_THREAD_MULTIPLE);
}

static void topic_report(void)
{
    long long sums[2] = { topic_checks, topic_wrong };
    if (topic_wrong > REPORTED_MAX)
        fprintf(stderr, "rank %d: %s: and %lld more\n", me, topic_name, topic_wrong - REPORTED_MAX);
    topic_checks = topic_wrong = 0;
    if (me != 0) {
        MPI_Send(sums, 2, MPI_LONG_LONG, 0, 0, reports);
        return;
    }
    for (int from = 1; from < ranks; from++) {
        long long theirs[2];
        MPI_Recv(theirs, 2, MPI_LONG_LONG, from, 0, reports, MPI_STATUS_IGNORE);
        sums[0] += theirs[0];
        sums[1] += theirs[1];
    }
    wrong_of_all += sums[1];
    printf("%s: %lld checks", topic_name, sums[0]);
    if (sums[1] != 0) printf(", %lld wrong", sums[1]);
    printf("\n");
    fflush(stdout);
}

void topic(const char *name)
{
    if (topic_name[0] != '\0') topic_report();
    snprintf(topic_name, sizeof topic_name, "%s", name);
}

int check_end(void)
{
    topic("");
    int failed = wrong_of_all != 0;
    if (me != 0) {
        MPI_Recv(&failed, 1, MPI_INT, 0, 1, reports, MPI_STATUS_IGNORE);
    } else {
        for (int to = 1; to < ranks; to++)
            MPI_Send(&failed, 1, MPI_INT, to, 1, reports);
        printf("%s\n", failed ? "something is wrong" : "all is well");
        fflush(stdout);
    }
    MPI_Comm_free(&reports);
    MPI_Finalize();
    return failed;
}

static bool count(bool truth)
{
    topic_checks++;
    topic_wrong += !truth;
    return !truth && topic_wrong <= REPORTED_MAX;
}

bool check_reported(bool truth, const char *file, int line, const char *format, ...)
{
    if (count(truth)) {
        char text[512];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        fprintf(stderr, "rank %d: %s: %s:%d: expected: %s\n", me, topic_name, file, line, text);
    }
    return truth;
}

bool check_equal(long long got, long long wanted, const char *what, const char *file, int line)
{
    if (count(got == wanted))
        fprintf(stderr, "rank %d: %s: %s:%d: %s is %lld, expected %lld\n", me, topic_name, file,
                line, what, got, wanted);
    return got == wanted;
}

static uint64_t pattern_word(uint64_t seed, uint64_t place)
{
    return ((seed << 32) + place + 1) * 0x9e3779b97f4a7c15u;
}

void pattern_fill(void *octets, size_t len, uint64_t seed)
{
    unsigned char *at = octets;
    for (uint64_t place = 0; len > 0; place++) {
        const uint64_t word = pattern_word(seed, place);
        const size_t part = len < sizeof word ? len : sizeof word;
        memcpy(at, &word, part);
        at += part;
        len -= part;
    }
}

bool pattern_is(const void *octets, size_t len, uint64_t seed)
{
    const unsigned char *at = octets;
    for (uint64_t place = 0; len > 0; place++) {
        const uint64_t word = pattern_word(seed, place);
        const size_t part = len < sizeof word ? len : sizeof word;
        if (memcmp(at, &word, part) != 0) return false;
        at += part;
        len -= part;
    }
    return true;
}

uint64_t pattern_seed(int from, int to, int which)
{
    return (uint64_t)which * 1000003 + (uint64_t)from * 1009 + (uint64_t)to + 1;
}

void *memory(size_t len)
{
    void *octets = calloc(len ? len : 1, 1);
    if (octets == NULL) {
        fprintf(stderr, "rank %d: no memory for %zu octets\n", me, len);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return octets;
}
