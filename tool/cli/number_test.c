/* Numbers, loads and chances of a command line. */
#include "complaints_test.h"
#include "number.h"
#include "tap.h"
#include "words_test.h"

enum { LOAD_DECIMALS = 6 };

static const struct verb push = { .name = "push",
                                  .options = { { "--cycles", "N", "" }, { "--load", "L", "" } } };

static void numbers_are_held_to_their_range(void)
{
    struct arguments args;
    uint64_t number = 42;
    words_read(&push, "", &args);
    OK(number_take(&args, "--cycles", 3, 10, &number) && number == 42);
    words_read(&push, "--cycles 3", &args);
    OK(number_take(&args, "--cycles", 3, 10, &number) && number == 3);
    words_read(&push, "--cycles=10", &args);
    OK(number_take(&args, "--cycles", 3, 10, &number) && number == 10);
    static const char *const bad[] = {
        "2", "11", "", "-3", "+3", "3.0", "3x", "four", "18446744073709551619", "0x"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64], want[128];
        snprintf(line, sizeof line, "--cycles=%s", bad[i]);
        snprintf(want, sizeof want, "leat push: --cycles '%s', expected a whole number, 3 to 10\n",
                 bad[i]);
        words_read(&push, line, &args);
        complaints_begin();
        const bool read = number_take(&args, "--cycles", 3, 10, &number);
        OK(strncmp(complaints_end(), want, strlen(want)) == 0);
        OK(!read && number == 10);
    }
}

static bool amount_is(const char *text, uint64_t most, uint64_t want)
{
    char line[64];
    struct arguments args;
    uint64_t amount = ~want;
    snprintf(line, sizeof line, "--cycles=%s", text);
    words_read(&push, line, &args);
    return number_take_amount(&args, "--cycles", 2, most, &amount) && amount == want;
}

static void amounts_may_end_with_a_unit(void)
{
    OK(amount_is("4096", 4096, 4096) && amount_is("4k", 4096, 4096));
    OK(amount_is("3M", UINT64_MAX, 3 << 20) && amount_is("5G", UINT64_MAX, UINT64_C(5) << 30));
    OK(amount_is("18014398509481983k", UINT64_MAX, UINT64_MAX - 1023));
    static const char *const bad[] = { "1", "0k", "4097", "5k", "1M", "k", "4K", "4kk", "4 k", "" };
    complaints_begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!amount_is(bad[i], 4096, 4096));
    OK(!amount_is("18014398509481984k", UINT64_MAX, 0)); /* 2^64 */
    const char *first = "leat push: --cycles '1', expected 2 to 4096, as 4096, 64k or 1M\n";
    OK(strncmp(complaints_end(), first, strlen(first)) == 0);
}

static void small_numbers_are_kept_if_their_option_is_absent(void)
{
    struct arguments args;
    uint32_t number = 42;
    words_read(&push, "--load 7", &args);
    OK(number_take_small(&args, "--cycles", 3, 10, &number) && number == 42);
    OK(number_take_small(&args, "--load", 0, UINT32_MAX, &number) && number == 7);
    words_read(&push, "--load 4294967295", &args);
    OK(number_take_small(&args, "--load", 0, UINT32_MAX, &number) && number == UINT32_MAX);
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

TAP_MAIN(T(numbers_are_held_to_their_range), T(amounts_may_end_with_a_unit),
         T(small_numbers_are_kept_if_their_option_is_absent), T(loads_are_counted_in_millionths),
         T(loads_between_two_steps_are_rounded_and_said_to_be), T(what_is_no_load_is_refused),
         T(chances_have_as_many_decimals_as_requested))
