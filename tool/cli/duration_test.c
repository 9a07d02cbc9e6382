/* Times as users write them. */
#include "duration.h"
#include "tap.h"
#include <inttypes.h>

static bool reads(const char *text, uint64_t ps)
{
    uint64_t read = ~ps;
    return duration_read(text, &read) && read == ps;
}

static void every_unit_is_read(void)
{
    OK(reads("10s", UINT64_C(10000000000000)));
    OK(reads("250ms", UINT64_C(250000000000)));
    OK(reads("20us", 20000000));
    OK(reads("5ns", 5000));
    OK(reads("7ps", 7));
    OK(reads("0s", 0));
}

static void fractions_are_read_down_to_whole_picoseconds(void)
{
    OK(reads("1.5s", UINT64_C(1500000000000)));
    OK(reads(".5ms", 500000000));
    OK(reads("2.us", 2000000));
    OK(reads("1.50ns", 1500));
    OK(reads("0.001ns", 1));
    OK(reads("0.000000000001s", 1));
    OK(reads("0.0000000000010s", 1)); /* a zero more changes nothing */
    uint64_t ps;
    OK(!duration_read("0.0001ns", &ps));
    OK(!duration_read("0.5ps", &ps));
    OK(!duration_read("0.0000000000015s", &ps));
}

static void a_million_seconds_is_the_most(void)
{
    uint64_t ps;
    OK(reads("1000000s", UINT64_C(1000000000000000000)));
    OK(reads("1000000000000000000ps", UINT64_C(1000000000000000000)));
    OK(!duration_read("1000001s", &ps));
    OK(!duration_read("1000000.1s", &ps));
    OK(!duration_read("1000000000000000001ps", &ps));
    OK(!duration_read("18446744073709551617s", &ps)); /* 2^64 + 1 */
    OK(!duration_read("18446745s", &ps));             /* 2^64 picoseconds and a bit */
}

static void what_is_no_time_is_refused(void)
{
    static const char *const bad[] = { "",    "s",    "10",    "10 s",  " 10s", "10s ",
                                       "10S", "-1s",  "+1s",   "1e3s",  ".s",   "1..5s",
                                       "1m",  "1sec", "1.5.s", "0x10s", "1,5s", "inf" };
    uint64_t ps;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (duration_read(bad[i], &ps)) printf("# '%s'\n", bad[i]);
        OK(!duration_read(bad[i], &ps));
    }
}

static bool writes(uint64_t ps, const char *text)
{
    return strcmp(duration_text(ps), text) == 0;
}

static void a_time_is_written_in_its_largest_whole_unit(void)
{
    OK(writes(0, "0s") && writes(1, "1ps") && writes(999, "999ps"));
    OK(writes(1000, "1ns") && writes(1500, "1.5ns") && writes(1000001, "1.000001us"));
    OK(writes(250000000000, "250ms") && writes(UINT64_C(1000000000000), "1s"));
    OK(writes(UINT64_C(90000000000000), "90s") && writes(UINT64_C(1250000000000), "1.25s"));
    OK(writes(UINT64_C(1000000000001), "1.000000000001s"));
}

static void what_is_written_reads_the_same(void)
{
    uint64_t state = tap_seed();
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407; /* Knuth */
        const uint64_t ps = (state >> 4) % UINT64_C(1000000000000000001) >> (state & 63);
        uint64_t read = ~ps;
        if (duration_read(duration_text(ps), &read) && read == ps) continue;
        printf("# %" PRIu64 " ps is written %s\n", ps, duration_text(ps));
        OK(false);
        break;
    }
}

TAP_MAIN(T(every_unit_is_read), T(fractions_are_read_down_to_whole_picoseconds),
         T(a_million_seconds_is_the_most), T(what_is_no_time_is_refused),
         T(a_time_is_written_in_its_largest_whole_unit), T(what_is_written_reads_the_same))
