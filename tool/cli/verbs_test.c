/* What all verbs have in common, and what their examples promise. */
#include "complaints_test.h"
#include "help_page.h"
#include "tap.h"
#include "words_test.h"

static void verbs_are_found_by_their_names_and_stand_in_their_order(void)
{
    size_t count = 0;
    for (; verb_at(count); count++) {
        OK(verb_find(verb_at(count)->name) == verb_at(count));
        if (count) OK(strcmp(verb_at(count - 1)->name, verb_at(count)->name) < 0);
    }
    EQ(count, 21);
    OK(!verb_at(count + 1));
    OK(!verb_find("si") && !verb_find("sims") && !verb_find(""));
    OK(verb_find("sim") == &verb_sim && verb_find("help") == &verb_help);
}

static void every_verb_says_what_it_does_and_can_be_run(void)
{
    for (size_t i = 0; verb_at(i); i++) {
        const struct verb *v = verb_at(i);
        OK(v->summary && v->synopsis && v->help && !v->run == !!v->subverbs);
    }
}

static void no_verb_has_an_option_twice_or_one_without_text(void)
{
    for (size_t i = 0; verb_at(i); i++) {
        const struct option *options = verb_at(i)->options;
        OK(!options[OPTION_MAX - 1].name); /* the end of the table */
        for (int o = 0; options[o].name; o++) {
            OK(options[o].name[0] == '-' && options[o].text && *options[o].text);
            for (int p = 0; p < o; p++)
                OK(strcmp(options[o].name, options[p].name) != 0);
        }
    }
}

/* One command of a pipe, if it is one of leat: "mpirun -n 8 leat graph run ...". */
static void try_command(const char *command, size_t len)
{
    char line[512], name[32];
    struct arguments args;
    int end = 0;
    snprintf(line, sizeof line, "%.*s", (int)len, command);
    const char *own = strstr(line, "leat ");
    if (!own || sscanf(own, "leat %31s%n", name, &end) != 1) return;
    const struct verb *verb = verb_find(name);
    OK(verb);
    if (!verb) return;
    complaints_begin();
    const int code = words_read(verb, own + end, &args);
    const char *said = complaints_end();
    if (code != DONE) printf("# %s\n# %s", line, said);
    EQ(code, DONE);
}

/* Its examples are of this verb (and subverb), and are read without a complaint. */
static void try_page(const struct verb *verb, const char *name)
{
    const char *const *page = help_page(verb, name), *example;
    char own[64];
    size_t lines;
    snprintf(own, sizeof own, "leat %s%s%s", verb->name, name ? " " : "", name ? name : "");
    OK(page);
    if (!page) return;
    const char *const *text = page;
    if (!help_example(page, 0) || !help_paragraph(&text, &lines)) printf("# %s\n", own);
    OK(help_example(page, 0) && help_paragraph((text = page, &text), &lines));
    for (size_t i = 0; (example = help_example(page, i)); i++) {
        OK(strstr(example, own));
        for (const char *at = example; *at;) {
            const size_t command = strcspn(at, "|");
            try_command(at, command);
            at += command + (at[command] == '|');
        }
    }
}

static void the_examples_use_options_that_there_are(void)
{
    for (size_t i = 0; verb_at(i); i++) {
        try_page(verb_at(i), NULL);
        for (const struct subverb *s = verb_at(i)->subverbs; s && s->name; s++)
            try_page(verb_at(i), s->name);
    }
}

static void subverbs_name_options_that_there_are(void)
{
    for (size_t i = 0; verb_at(i); i++)
        for (const struct subverb *s = verb_at(i)->subverbs; s && s->name; s++) {
            OK(s->summary && s->synopsis && s->options && s->run);
            for (const char *at = s->options; *at;) {
                char name[32];
                const size_t len = strcspn(at, " ");
                snprintf(name, sizeof name, "%.*s", (int)len, at);
                if (len && !option_find(verb_at(i), name)) printf("# %s %s\n", s->name, name);
                OK(!len || option_find(verb_at(i), name));
                at += len + (at[len] == ' ');
            }
        }
}

/* One vocabulary: what a name takes is the same in all verbs. */
static void an_option_has_one_type_in_all_verbs(void)
{
    for (size_t i = 0; verb_at(i); i++)
        for (const struct option *o = verb_at(i)->options; o->name; o++)
            for (size_t k = 0; k < i; k++) {
                const struct option *other = option_find(verb_at(k), o->name);
                if (other && other->type != o->type)
                    printf("# %s: leat %s, leat %s\n", o->name, verb_at(k)->name, verb_at(i)->name);
                OK(!other || other->type == o->type || o->type == OPTION_ANY ||
                   other->type == OPTION_ANY);
            }
}

/* A sweep hands them on to its runs. */
static void leat_sim_has_the_options_of_leat_sweep_but_its_own(void)
{
    static const char own[] = "--seeds -j --store";
    for (const struct option *o = verb_sweep.options; o->name; o++) {
        bool found = word_is_in(o->name, own);
        for (const struct option *s = verb_sim.options; s->name; s++)
            found |= strcmp(o->name, s->name) == 0 && !o->argument == !s->argument &&
                     o->repeats == s->repeats;
        OK(found);
    }
}

static void a_word_is_in_a_list_as_a_whole(void)
{
    OK(word_is_in("add", "add") && word_is_in("add", "max add") && word_is_in("add", "add max"));
    OK(word_is_in("add", "adder add") && word_is_in("add", "madd add max"));
    OK(!word_is_in("ad", "add max") && !word_is_in("dd", "add") && !word_is_in("", "add max"));
    OK(!word_is_in("add", "adder madd") && !word_is_in("add", ""));
}

TAP_MAIN(T(verbs_are_found_by_their_names_and_stand_in_their_order),
         T(every_verb_says_what_it_does_and_can_be_run),
         T(no_verb_has_an_option_twice_or_one_without_text),
         T(the_examples_use_options_that_there_are), T(subverbs_name_options_that_there_are),
         T(an_option_has_one_type_in_all_verbs),
         T(leat_sim_has_the_options_of_leat_sweep_but_its_own), T(a_word_is_in_a_list_as_a_whole))
