/* Numbers, times, loads and chances of a command line. */
#include "complaints_test.h"
#include "number.h"
#include "tap.h"
#include "words_test.h"

enum { LOAD_DECIMALS = 6 };

#define SECOND UINT64_C(1000000000000)

static const struct verb push = {
    .name = "push",
    .options = { { "--cycles", "N", "", COUNT(3, 10) },
                 { "--room", "SIZE", "", OCTETS(1, 1 << 20) },
                 { "--frame", "SIZE", "", OCTETS(1, 9000) },
                 { "--packets", "N", "", COUNT(1, 1000000) },
                 { "--wait", "TIME", "", TIME(0, 10 * SECOND), .unit = "ms" },
                 { "--loss", "CHANCE", "", SHARE(9) },
                 { "--model", "M", "", WORD("rtl cell") } },
};

static bool number_is(const char *text, bool is_octets, uint64_t want)
{
    uint64_t number = ~want;
    const bool read = number_read(text, is_octets, &number);
    if (!read || number != want) printf("# %s: %llu\n", text, (unsigned long long)number);
    return read && number == want;
}

static void whole_numbers_have_powers_and_units(void)
{
    OK(number_is("0", false, 0) && number_is("10000", false, 10000) &&
       number_is("0x10", false, 16));
    OK(number_is("1e4", false, 10000) && number_is("1E4", false, 10000));
    OK(number_is("1.5e6", false, 1500000) && number_is("15e-1k", false, 1500));
    OK(number_is("10k", false, 10000) && number_is("1.5M", false, 1500000));
    OK(number_is("2G", false, UINT64_C(2000000000)) && number_is("1T", false, SECOND));
    OK(number_is("64Ki", false, 65536) && number_is("1.5Ki", false, 1536));
    OK(number_is("3.0", false, 3) && number_is("0e20", false, 0) && number_is("0.0", false, 0));
    OK(number_is("18446744073709551615", false, UINT64_MAX));
}

static void octets_count_in_powers_of_two_unless_their_unit_says_otherwise(void)
{
    OK(number_is("64k", true, 65536) && number_is("1M", true, 1 << 20));
    OK(number_is("64KiB", true, 65536) && number_is("1GiB", true, 1 << 30));
    OK(number_is("64kB", true, 64000) && number_is("1MB", true, 1000000));
    OK(number_is("64B", true, 64) && number_is("64K", true, 65536) && number_is("1e3", true, 1000));
}

static void what_is_no_whole_number_is_refused(void)
{
    static const char *const bad[] = { "",
                                       "k",
                                       "-3",
                                       "+3",
                                       "3x",
                                       "four",
                                       "18446744073709551616",
                                       "0x",
                                       "1.5",
                                       "1e",
                                       "1e-",
                                       "1e21",
                                       "1kk",
                                       "1 k",
                                       "1kB",
                                       "1B",
                                       "1K",
                                       "1e20",
                                       ".",
                                       "20T0",
                                       "1m",
                                       "1e+",
                                       "1Kib",
                                       "1.0.0",
                                       "20Ei",
                                       "0b2",
                                       "18446744073709551615k" };
    uint64_t number;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (number_read(bad[i], false, &number)) printf("# '%s'\n", bad[i]);
        OK(!number_read(bad[i], false, &number));
    }
    OK(!number_read("1.5B", true, &number) && !number_read("1kib", true, &number));
}

/* Reads a command line that is refused with this text. */
static bool is_refused(const char *line, const char *text)
{
    struct arguments args;
    char want[256];
    snprintf(want, sizeof want, "leat push: %s\n(see leat help push)\n", text);
    complaints_begin();
    const int code = words_read(&push, line, &args);
    const char *said = complaints_end();
    if (code != WRONG || strcmp(said, want) != 0) printf("# %d: %s", code, said);
    return code == WRONG && strcmp(said, want) == 0;
}

static void values_are_held_to_what_the_row_of_their_option_says(void)
{
    OK(is_refused("--cycles 2", "--cycles '2', expected a whole number, 3 to 10"));
    OK(is_refused("--cycles 11", "--cycles '11', expected a whole number, 3 to 10"));
    OK(is_refused("--cycles=", "--cycles '', expected a whole number, 3 to 10"));
    OK(is_refused("--room 2M", "--room '2M', expected 1 to 1048576 octets, as 4096, 64k or 1MiB"));
    OK(is_refused("--frame 1MiB", "--frame '1MiB', expected 1 to 9000 octets, as 4096"));
    OK(is_refused("--packets 10K", "--packets '10K', expected a whole number, 1 to 1000000, as "
                                   "10000, 10k or 1e4"));
    OK(is_refused("--wait 11s", "--wait '11s', expected a time of 0s to 10s, as 10s or 250ms"));
    OK(is_refused("--loss 2", "--loss '2', expected 0 to 1 in steps of 1e-9, as 0.25 or 25e-2"));
    OK(is_refused("--model cel", "--model 'cel', did you mean cell? expected one of rtl cell"));
    OK(is_refused("--model x", "--model 'x', expected one of rtl cell"));
}

static void values_are_read_as_the_row_of_their_option_says(void)
{
    struct arguments args;
    uint64_t cycles = 42, room = 42, wait = 42;
    uint32_t small = 42, loss = 42;
    EQ(words_read(&push, "", &args), DONE);
    OK(number_take(&args, "--cycles", &cycles) && number_take_small(&args, "--cycles", &small));
    OK(number_take_share(&args, "--loss", &loss) && cycles == 42 && small == 42 && loss == 42);
    EQ(words_read(&push, "--cycles 1e1 --room 64k --wait 1.5s --loss 1e-3 --model rtl", &args),
       DONE);
    OK(number_take(&args, "--cycles", &cycles) && number_take_small(&args, "--cycles", &small));
    OK(number_take(&args, "--room", &room) && number_take(&args, "--wait", &wait));
    OK(number_take_share(&args, "--loss", &loss));
    OK(cycles == 10 && small == 10 && room == 65536 && wait == SECOND / 2 * 3 && loss == 1000000);
}

static void limits_may_be_narrower_than_those_of_the_row(void)
{
    struct arguments args;
    uint64_t cycles = 42;
    EQ(words_read(&push, "--cycles 9", &args), DONE);
    complaints_begin();
    OK(!number_take_within(&args, "--cycles", 3, 8, &cycles) && cycles == 42);
    const char *want = "leat push: --cycles '9', expected a whole number, 3 to 8\n";
    OK(strncmp(complaints_end(), want, strlen(want)) == 0);
    OK(number_take_within(&args, "--cycles", 3, 9, &cycles) && cycles == 9);
}

static void a_time_without_its_unit_is_read_with_a_hint(void)
{
    struct arguments args;
    uint64_t wait = 0;
    complaints_begin();
    EQ(words_read(&push, "--wait 1500", &args), DONE);
    OK(strcmp(complaints_end(), "leat: --wait 1500 is taken for 1500ms: write the unit, which leat "
                                "will expect\n") == 0);
    OK(number_take(&args, "--wait", &wait) && wait == SECOND / 2 * 3);
    OK(is_refused("--wait 10001", "--wait '10001', expected a time of 0s to 10s, as 10s or 250ms"));
    OK(is_refused("--wait x", "--wait 'x', expected a time of 0s to 10s, as 10s or 250ms"));
}

static bool load_is(const char *text, uint32_t want, bool want_exact)
{
    uint32_t load = ~want;
    bool exact = !want_exact;
    const bool read = number_read_fraction(text, LOAD_DECIMALS, &load, &exact);
    if (!read || load != want || exact != want_exact) printf("# %s: %u\n", text, load);
    return read && load == want && exact == want_exact;
}

static void loads_are_counted_in_millionths(void)
{
    OK(load_is("0", 0, true) && load_is("1", 1000000, true) && load_is("0.25", 250000, true));
    OK(load_is(".5", 500000, true) && load_is("1.", 1000000, true));
    OK(load_is("0.000001", 1, true) && load_is("1e-6", 1, true) && load_is("25e-2", 250000, true));
    OK(load_is("0.50000000000000000000000", 500000, true));
}

static void loads_between_two_steps_are_rounded_and_said_to_be(void)
{
    OK(load_is("0.2500001", 250000, false));
    OK(load_is("0.2500005", 250001, false));
    OK(load_is("0.9999999", 1000000, false));
}

static void what_is_no_load_is_refused(void)
{
    static const char *const bad[] = { "",     ".",    "1.000001", "2",   "-0.1",  "+0.1",
                                       "0,5",  "nan",  "1e-7",     "1e5", "0x1",   "50%",
                                       " 0.5", "0.5 ", "1e-",      "e-1", "1.0.0", "1e-21" };
    uint32_t load;
    bool exact;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (number_read_fraction(bad[i], LOAD_DECIMALS, &load, &exact)) printf("# '%s'\n", bad[i]);
        OK(!number_read_fraction(bad[i], LOAD_DECIMALS, &load, &exact));
    }
}

static void chances_have_as_many_decimals_as_requested(void)
{
    uint32_t parts;
    OK(number_read_fraction("0.001", 9, &parts, NULL) && parts == 1000000);
    OK(number_read_fraction("1e-9", 9, &parts, NULL) && parts == 1);
    OK(number_read_fraction("1", 9, &parts, NULL) && parts == 1000000000);
    OK(number_read_fraction("0.125", 3, &parts, NULL) && parts == 125);
    OK(!number_read_fraction("1e-10", 9, &parts, NULL)); /* it would be none */
    OK(!number_read_fraction("1.000000001", 9, &parts, NULL));
}

TAP_MAIN(T(whole_numbers_have_powers_and_units),
         T(octets_count_in_powers_of_two_unless_their_unit_says_otherwise),
         T(what_is_no_whole_number_is_refused),
         T(values_are_held_to_what_the_row_of_their_option_says),
         T(values_are_read_as_the_row_of_their_option_says),
         T(limits_may_be_narrower_than_those_of_the_row),
         T(a_time_without_its_unit_is_read_with_a_hint), T(loads_are_counted_in_millionths),
         T(loads_between_two_steps_are_rounded_and_said_to_be), T(what_is_no_load_is_refused),
         T(chances_have_as_many_decimals_as_requested))
