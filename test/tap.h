/* A test is a function; a failed check is counted and the run continues. */
#ifndef LEAT_TAP_H
#define LEAT_TAP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_checks_failed;

#define OK(cond)      \
    ((cond) ? (void)0 \
            : (void)(tap_checks_failed++, printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond)))

#define EQ(a, b)                                                                                 \
    do {                                                                                         \
        const long long a_ = (long long)(a), b_ = (long long)(b);                                \
        if (a_ != b_) {                                                                          \
            tap_checks_failed++;                                                                 \
            printf("# %s:%d: %s is %lld (0x%llx), want %lld (0x%llx)\n", __FILE__, __LINE__, #a, \
                   a_, (unsigned long long)a_, b_, (unsigned long long)b_);                      \
        }                                                                                        \
    } while (0)

struct tap_test {
    const char *name;
    void (*run)(void);
};

/*
 * Random campaigns: LEAT_ROUNDS is the build's length (250,000 in release, 10,000 under the
 * sanitizers, 100 million in make soak); LEAT_SEED in the environment replays another one. A
 * failure prints how.
 */
static inline uint64_t tap_seed(void)
{
    const char *seed = getenv("LEAT_SEED");
    return seed ? strtoull(seed, NULL, 0) : 1;
}

static int tap_main(const struct tap_test *t, int n, const char *program)
{
    int bad = 0;
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        tap_checks_failed = 0;
        t[i].run();
        bad += tap_checks_failed != 0;
        printf("%sok %d - %s\n", tap_checks_failed ? "not " : "", i + 1, t[i].name);
        fflush(stdout);
    }
    if (bad) printf("# replay: LEAT_SEED=%llu %s\n", (unsigned long long)tap_seed(), program);
    return bad != 0;
}

#define TAP_MAIN(...)                                                   \
    int main(int argc, char **argv)                                     \
    {                                                                   \
        static const struct tap_test all[] = { __VA_ARGS__ };           \
        (void)argc;                                                     \
        return tap_main(all, (int)(sizeof all / sizeof *all), argv[0]); \
    }
#define T(f)  \
    {         \
#f, f \
    }

#endif
