/* What --where accepts and what it matches. */
#include "complaints_test.h"
#include "report_where.h"
#include "tap.h"
#include <math.h>
#include <string.h>

static const struct verb verb = { .name = "report" };

static const struct where_row run = { .word = { "mesh:4,4", "uniform" }, .number = { 0.3, 7, 2 } };
static const struct where_row program = { .word = { "clos444", NULL, "/opt/bin/rounds 4 'a b'" },
                                          .number = { NAN, NAN, NAN } };

static bool holds(const char *text, const struct where_row *row)
{
    static struct where where;
    const bool read = where_read(&verb, text, &where);
    OK(read);
    return read && where_all_hold(&where, row);
}

static const char *refusal(const char *text)
{
    static struct where where;
    complaints_begin();
    const bool read = where_read(&verb, text, &where);
    const char *said = complaints_end();
    if (read) printf("# accepted: %s\n", text);
    return read ? "" : said;
}

static void no_clause_lets_everything_through(void)
{
    OK(holds(NULL, &run) && holds(NULL, &program));
}

static void patterns_are_those_of_a_shell(void)
{
    OK(holds("fabric=mesh:4,4", &run) && holds("fabric=mesh*", &run) && holds("fabric=*", &run));
    OK(holds("fabric=m?sh:[1-4],4", &run) && holds("fabric=mesh:4\\,4", &run));
    OK(!holds("fabric=mesh", &run) && !holds("fabric=torus*", &run) &&
       !holds("fabric=MESH*", &run));
    OK(holds("traffic=uni*", &run) && !holds("traffic=neighbour", &run));
}

static void a_comma_separates_where_a_name_begins(void)
{
    OK(holds("fabric=torus:4,4,mesh:4,4", &run) && holds("fabric=torus*,mesh*", &run));
    OK(holds("fabric=./own.topology,mesh*", &run));
    OK(holds("fabric=mesh:4,*", &run) && !holds("fabric=mesh:8,*", &run)); /* not "or anything" */
    OK(!holds("fabric=mesh:4", &run) && !holds("fabric=4", &run));
    OK(holds("traffic=neighbour,uniform", &run));
}

static void loads_are_numbers_ranges_and_bounds(void)
{
    OK(holds("load=0.3", &run) && holds("load=.3", &run) && holds("load=3e-1", &run));
    OK(holds("load=0.1:0.3", &run) && holds("load=0.3:0.5", &run) && !holds("load=0.31:0.5", &run));
    OK(holds("load=0.1,0.3", &run) && holds("load=0.1,0.2:0.4", &run) && !holds("load=0.1", &run));
    OK(holds("load<=0.3", &run) && !holds("load<0.3", &run));
    OK(holds("load>=0.3", &run) && !holds("load>0.3", &run) && holds("load>0.299", &run));
}

static void seeds_and_sweeps_are_whole_numbers(void)
{
    struct where_row large = run;
    large.number[1] = 9223372036854775807.0L;
    OK(holds("seed=7", &run) && holds("seed=1:9", &run) && !holds("seed=8", &run));
    OK(holds("sweep=2", &run) && holds("sweep>1", &run) && !holds("sweep=1,3:9", &run));
    OK(holds("seed=9223372036854775807", &large) && !holds("seed=9223372036854775806", &large));
}

static void an_exclamation_mark_excludes_all_values(void)
{
    OK(holds("fabric!=torus*", &run) && !holds("fabric!=mesh*", &run));
    OK(!holds("fabric!=torus*,mesh*", &run) && holds("fabric!=mesh:8,*", &run));
    OK(holds("load!=0.1,0.5:0.9", &run) && !holds("load!=0.1:0.5", &run));
    OK(holds("seed!=8\nsweep!=1", &run) && !holds("seed!=7", &run));
    OK(holds("program!=hello", &program) && !holds("program!=rounds", &program));
    OK(!holds("program!=hello", &run) && !holds("load!=0.1", &program)); /* they have none */
}

static void several_clauses_all_hold(void)
{
    OK(holds("fabric=mesh*\nload<=0.3\nseed=7", &run));
    OK(!holds("fabric=mesh*\nload<=0.3\nseed=8", &run));
    OK(!holds("fabric=mesh*\nfabric=torus*", &run));
    OK(holds("load>=0.2\nload<=0.4", &run));
}

static void programs_are_known_by_command_word_or_name(void)
{
    OK(holds("program=rounds", &program) && holds("program=/opt/bin/rounds", &program));
    OK(holds("program=/opt/bin/rounds 4*", &program) && holds("program=rou*", &program));
    OK(!holds("program=bin", &program) && !holds("program=round", &program));
    OK(holds("fabric=clos*\nprogram=./hello,rounds", &program));
}

static void what_a_row_does_not_have_matches_nothing(void)
{
    OK(!holds("traffic=*", &program) && !holds("program=*", &run));
    OK(!holds("load>=0", &program) && !holds("load<=1", &program) && !holds("seed=0:99", &program));
}

static void mistakes_are_explained(void)
{
    OK(strstr(refusal("fabirc=mesh*"), "'fabirc', did you mean fabric? expected one of fabric"));
    OK(strstr(refusal("fabric"), "expected KEY=VALUE"));
    OK(strstr(refusal("fabric!"), "expected KEY=VALUE"));
    OK(strstr(refusal("fabric!mesh"), "expected KEY=VALUE"));
    OK(strstr(refusal("fabric!="), "expected a pattern"));
    OK(strstr(refusal("load!<0.1"), "expected KEY=VALUE"));
    OK(strstr(refusal("seed!=x"), "expected whole numbers"));
    OK(strstr(refusal(""), "expected KEY=VALUE"));
    OK(strstr(refusal("fabric="), "expected a pattern"));
    OK(strstr(refusal("fabric<mesh"), "fabric is no number"));
    static const char *const numbers[] = { "load=",     "load=a",       "load=0.1:", "load=0.5:0.1",
                                           "load=0.1x", "load=0.1,",    "load<=",    "load=nan",
                                           "seed=1.5",  "seed=-1",      "load< 0.1", "seed<=inf",
                                           "seed==1",   "load<=0.1,0.2" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        OK(strstr(refusal(numbers[i]), numbers[i][0] == 'l' ? "expected loads" : "whole numbers"));
}

static void limits_are_told(void)
{
    char text[4096] = "load=0";
    for (int i = 0; i < WHERE_CHOICES_MAX; i++)
        strcat(text, ",1");
    OK(strstr(refusal(text), "more than 32 values"));
    strcpy(text, "seed=1");
    for (int i = 0; i < WHERE_CLAUSES_MAX; i++)
        strcat(text, "\nseed=1");
    OK(strstr(refusal(text), "at most 16"));
    memset(text, 'x', WHERE_TEXT_CAP);
    text[WHERE_TEXT_CAP] = '\0';
    OK(strstr(refusal(text), "longer than 511"));
}

/* What is said where nothing matches both rows' values. */
static const char *explanation(const char *text)
{
    static struct where where;
    static struct where_census census;
    memset(&census, 0, sizeof census);
    OK(where_read(&verb, text, &where));
    where_count(&where, &run, &census);
    where_count(&where, &run, &census);
    where_count(&where, &program, &census);
    complaints_begin();
    OK(where_explain(&where, &census, "runs.sqlite") == WRONG);
    return complaints_end();
}

static void what_there_is_is_listed_once(void)
{
    OK(strstr(
        explanation("load<=1\nfabric=torus*"),
        "nothing matches --where fabric=torus*, expected some of fabric: mesh:4,4 clos444\n"));
    OK(strstr(explanation("load=0.7"), "--where load=0.7, expected some of load: 0.3\n"));
    OK(strstr(
        explanation("fabric=clos*\nseed=7"),
        "nothing matches all of --where, expected some of fabric: mesh:4,4 clos444; seed: 7\n"));
}

TAP_MAIN(T(no_clause_lets_everything_through), T(patterns_are_those_of_a_shell),
         T(a_comma_separates_where_a_name_begins), T(loads_are_numbers_ranges_and_bounds),
         T(seeds_and_sweeps_are_whole_numbers), T(an_exclamation_mark_excludes_all_values),
         T(several_clauses_all_hold), T(programs_are_known_by_command_word_or_name),
         T(what_a_row_does_not_have_matches_nothing), T(mistakes_are_explained), T(limits_are_told),
         T(what_there_is_is_listed_once))
