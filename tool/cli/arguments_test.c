/* Options and operands of a command line. */
#include "complaints_test.h"
#include "tap.h"
#include "words_test.h"

static const struct verb mend = {
    .name = "mend",
    .options = { { "--size", "N", "" },
                 { "--json", NULL, "" },
                 { "--fault", "F", "", true },
                 { "--out", "[FILE]", "" },
                 { "--via", "[NET/BITS=]HOST", "" },
                 { "-j", "N", "" },
                 { "--loss", "CHANCE", "", .former = "--lose" } },
};

static struct arguments args;

static bool is(const char *option, const char *value)
{
    const char *has = argument(&args, option);
    return has && value ? strcmp(has, value) == 0 : has == value;
}

static bool operands_are(const char *joined)
{
    char all[256] = "";
    for (int i = 0; i < args.operand_count; i++) {
        strcat(all, i ? " " : "");
        strcat(all, args.operand[i]);
    }
    return strcmp(all, joined) == 0;
}

/* Refused, with this text in front of the pointer to the help. */
static bool is_refused(const struct verb *verb, const char *line, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "leat %s: %s\n(see leat help %s)\n", verb->name, text,
             verb->name);
    complaints_begin();
    const int code = words_read(verb, line, &args);
    const char *said = complaints_end();
    if (code != WRONG || strcmp(said, whole) != 0) printf("# %d: %s", code, said);
    return code == WRONG && strcmp(said, whole) == 0;
}

static void a_value_is_the_next_word_or_follows_an_equals_sign(void)
{
    EQ(words_read(&mend, "--size 4 -j 2", &args), DONE);
    OK(is("--size", "4") && is("-j", "2") && args.operand_count == 0);
    EQ(words_read(&mend, "--size=4 -j=2", &args), DONE);
    OK(is("--size", "4") && is("-j", "2"));
    EQ(words_read(&mend, "--size=a=b", &args), DONE);
    OK(is("--size", "a=b"));
    EQ(words_read(&mend, "--size=", &args), DONE);
    OK(is("--size", ""));
    EQ(words_read(&mend, "--size --json", &args), DONE); /* also where it looks like an option */
    OK(is("--size", "--json") && is("--json", NULL));
}

static void what_was_not_given_has_no_value_and_a_switch_has_an_empty_one(void)
{
    EQ(words_read(&mend, "--json", &args), DONE);
    OK(is("--json", ""));
    OK(is("--size", NULL) && is("--fault", NULL) && is("--out", NULL));
    OK(argument(&args, "--unheard-of") == NULL);
}

static void given_options_are_found_by_a_list(void)
{
    EQ(words_read(&mend, "--json --size 4 operand", &args), DONE);
    OK(strcmp(argument_in(&args, "--json --size"), "--size") == 0); /* in the order of the verb */
    OK(strcmp(argument_in(&args, "--json --out"), "--json") == 0);
    OK(!argument_in(&args, "--out --fault") && !argument_in(&args, ""));
    OK(strcmp(argument_not_in(&args, "--size"), "--json") == 0);
    OK(strcmp(argument_not_in(&args, ""), "--size") == 0);
    OK(!argument_not_in(&args, "--size --json --out"));
}

static void an_unknown_option_is_refused_with_all_known_ones(void)
{
    static const struct verb plain = { .name = "plain" };
    const char *known = "expected one of --size --json --fault --out --via -j --loss";
    char text[160];
    snprintf(text, sizeof text, "unknown option --far-away, %s", known);
    OK(is_refused(&mend, "a --far-away 4", text));
    snprintf(text, sizeof text, "unknown option --siz, did you mean --size? %s", known);
    OK(is_refused(&mend, "--siz 4", text));
    snprintf(text, sizeof text, "unknown option --sizes=4, did you mean --size? %s", known);
    OK(is_refused(&mend, "--sizes=4", text));
    snprintf(text, sizeof text, "unknown option -j2, did you mean -j? %s", known);
    OK(is_refused(&mend, "-j2", text));
    OK(is_refused(&plain, "-x", "unknown option -x, expected none"));
}

static void a_former_name_is_accepted_with_a_hint(void)
{
    complaints_begin();
    EQ(words_read(&mend, "--lose 0.1", &args), DONE);
    OK(strcmp(complaints_end(), "leat: --lose is called --loss now\n") == 0);
    OK(is("--loss", "0.1") && is("--lose", NULL));
}

static void the_nearest_word_is_proposed(void)
{
    OK(strcmp(did_you_mean("mash", "mesh torus"), "did you mean mesh? ") == 0);
    OK(strcmp(did_you_mean("tours", "mesh torus"), "did you mean torus? ") == 0);
    OK(strcmp(did_you_mean("--cylces=4", "--cycle --cycles"), "did you mean --cycles? ") == 0);
    OK(!*did_you_mean("m", "mesh torus") && !*did_you_mean("", "a b") && !*did_you_mean("x", ""));
    OK(!*did_you_mean("hypercube", "mesh torus"));
}

static void a_missing_value_is_refused(void)
{
    OK(is_refused(&mend, "a --size", "--size needs a value: N"));
    OK(is_refused(&mend, "--fault x --fault", "--fault needs a value: F"));
    OK(is_refused(&mend, "--via", "--via needs a value: [NET/BITS=]HOST"));
}

static void a_switch_takes_no_value(void)
{
    OK(is_refused(&mend, "--json=yes", "--json takes no value"));
    OK(is_refused(&mend, "--json=", "--json takes no value"));
}

static void the_last_value_counts_unless_the_option_repeats(void)
{
    EQ(words_read(&mend, "--size 1 --fault a --size=2 --fault=b --fault c", &args), DONE);
    OK(is("--size", "2"));
    OK(is("--fault", "a\nb\nc"));
    EQ(words_read(&mend, "--fault d --fault e", &args), DONE); /* nothing is left of before */
    OK(is("--fault", "d\ne"));
}

static void an_optional_value_is_the_next_word_only_before_two_dashes(void)
{
    EQ(words_read(&mend, "--out x", &args), DONE);
    OK(is("--out", "") && operands_are("x"));
    EQ(words_read(&mend, "--out x -- program", &args), DONE);
    OK(is("--out", "x") && operands_are("program"));
    EQ(words_read(&mend, "--out -- program", &args), DONE);
    OK(is("--out", "") && operands_are("program"));
    EQ(words_read(&mend, "--out --json -- program", &args), DONE);
    OK(is("--out", "") && is("--json", "") && operands_are("program"));
    EQ(words_read(&mend, "--out - -- program", &args), DONE);
    OK(is("--out", "-"));
    EQ(words_read(&mend, "--out=x program", &args), DONE);
    OK(is("--out", "x") && operands_are("program"));
    OK(is_refused(&mend, "--out= program", "--out= needs a value: [FILE]"));
    EQ(words_read(&mend, "--via host", &args), DONE); /* only a part of it is optional */
    OK(is("--via", "host"));
}

static void operands_keep_their_order_and_two_dashes_end_the_options(void)
{
    EQ(words_read(&mend, "a --size 4 - b -- --json -- c", &args), DONE);
    OK(operands_are("a - b --json -- c"));
    EQ(args.operand_count, 6);
    OK(is("--size", "4") && is("--json", NULL));
    EQ(words_read(&mend, "", &args), DONE);
    EQ(args.operand_count, 0);
}

static void help_is_found_anywhere_among_the_options(void)
{
    EQ(words_read(&mend, "a --help --unheard-of", &args), DONE);
    OK(args.wants_help);
    EQ(words_read(&mend, "--size 4 -h", &args), DONE);
    OK(args.wants_help);
    EQ(words_read(&mend, "-- --help", &args), DONE);
    OK(!args.wants_help && operands_are("--help"));
    EQ(words_read(&mend, "--size -h", &args), DONE); /* it is a value there */
    OK(!args.wants_help && is("--size", "-h"));
}

TAP_MAIN(T(a_value_is_the_next_word_or_follows_an_equals_sign),
         T(what_was_not_given_has_no_value_and_a_switch_has_an_empty_one),
         T(given_options_are_found_by_a_list), T(an_unknown_option_is_refused_with_all_known_ones),
         T(a_former_name_is_accepted_with_a_hint), T(the_nearest_word_is_proposed),
         T(a_missing_value_is_refused), T(a_switch_takes_no_value),
         T(the_last_value_counts_unless_the_option_repeats),
         T(an_optional_value_is_the_next_word_only_before_two_dashes),
         T(operands_keep_their_order_and_two_dashes_end_the_options),
         T(help_is_found_anywhere_among_the_options))
