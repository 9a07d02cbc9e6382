/* leat sweep: the requested runs, and what they have in common. */
#include "fabric.h"
#include "json_out.h"
#include "net_sim.h"
#include "number.h"
#include "option_text.h"
#include "shell.h"
#include "sim.h"
#include "sweep.h"
#include "watch.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEDS_DEFAULT = 5, WORD_CAP = 64 };

/* Options of `leat sim` that differ per run; and --device, which results do not depend on. */
static const char *const of_a_run[] = { "--traffic", "--load", "--seed", "--json", "--device" };

static bool no_memory(void)
{
    return complain("no memory");
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The next word of a list: up to one of `ends`. Advances *text past it, to NULL after the last one.
 * False: it is too long to be a number. */
static bool next_word(const char **text, const char *ends, char word[WORD_CAP])
{
    const size_t len = strcspn(*text, ends);
    const bool fits = len < WORD_CAP;
    memcpy(word, *text, fits ? len : 0);
    word[fits ? len : 0] = '\0';
    *text = (*text)[len] ? *text + len + 1 : NULL;
    return fits;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the numbers. Is each there once? */
static bool sort(uint64_t *numbers, uint32_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    for (uint32_t i = 1; i < count; i++)
        if (numbers[i] == numbers[i - 1]) return false;
    return true;
}

/* A load that would be rounded is refused: the step to the next would differ. */
static bool read_load(const char *word, uint32_t *out)
{
    bool exact;
    return number_read_fraction(word, SIM_LOAD_DECIMALS, out, &exact) && exact;
}

/* "0.25" or "0.05:0.95:0.05": first, last, step; all in whole millionths, so that nothing drifts.
 */
static bool read_load_range(const char *item, uint32_t *first, uint32_t *last, uint32_t *step)
{
    char word[WORD_CAP];
    const char *rest = item;
    *step = 1;
    if (!next_word(&rest, ":", word) || !read_load(word, first)) return false;
    *last = *first;
    if (!rest) return true;
    if (!next_word(&rest, ":", word) || !read_load(word, last) || !rest) return false;
    return next_word(&rest, ":", word) && !rest && read_load(word, step) && *step > 0 &&
           *first <= *last;
}

static bool read_loads(struct sweep_plan *plan)
{
    const char *text = argument(plan->args, "--load"), *rest = text;
    char item[WORD_CAP];
    uint32_t first, last, step;
    if (!text) return misused(plan->args->verb, "--load is missing, as in --load 0.05:0.95:0.05");
    while (rest) {
        const bool fits = next_word(&rest, ",", item);
        if (!fits || !read_load_range(item, &first, &last, &step))
            return misused(
                plan->args->verb,
                "--load '%s', expected loads of 0 to 1 in steps of 1e-6, as 0.1,0.25, or "
                "FIRST:LAST:STEP that rises, as 0.05:0.95:0.05",
                fits && *item ? item : text);
        for (; first <= last; first += step) {
            if (plan->loads == SWEEP_LOADS_MAX)
                return misused(plan->args->verb, "--load '%s', expected at most %d loads", text,
                               SWEEP_LOADS_MAX);
            plan->load[plan->loads++] = first;
        }
    }
    if (sort(plan->load, plan->loads)) return true;
    return misused(plan->args->verb, "--load '%s' has a load twice, expected each once", text);
}

static bool read_seed(const char *word, uint64_t *out)
{
    return number_read(word, false, out) && *out <= INT64_MAX;
}

/* "5": the seeds 1 to 5; "3,8,9"; "10:19". */
static bool read_seed_range(const char *item, bool alone, uint64_t *first, uint64_t *last)
{
    char word[WORD_CAP];
    const char *rest = item;
    if (!next_word(&rest, ":", word) || !read_seed(word, first)) return false;
    *last = *first;
    if (rest)
        return next_word(&rest, ":", word) && !rest && read_seed(word, last) && *first <= *last;
    if (alone) *first = 1;
    return *first <= *last;
}

static bool read_seeds(struct sweep_plan *plan)
{
    const char *text = argument(plan->args, "--seeds"), *rest = text;
    char item[WORD_CAP];
    uint64_t first, last;
    for (; !text && plan->seeds < SEEDS_DEFAULT; plan->seeds++)
        plan->seed[plan->seeds] = plan->seeds + 1;
    while (rest) {
        const bool alone = !strchr(text, ',');
        if (!next_word(&rest, ",", item) || !read_seed_range(item, alone, &first, &last))
            return misused(
                plan->args->verb,
                "--seeds '%s', expected how many, 1 to %d, or seeds of 0 to %lld, as 3,8,9 "
                "or 10:19",
                text, SWEEP_SEEDS_MAX, (long long)INT64_MAX);
        if (last - first >= SWEEP_SEEDS_MAX - plan->seeds)
            return misused(plan->args->verb, "--seeds '%s', expected at most %d seeds", text,
                           SWEEP_SEEDS_MAX);
        for (uint64_t i = 0; i <= last - first; i++)
            plan->seed[plan->seeds++] = first + i;
    }
    if (sort(plan->seed, plan->seeds)) return true;
    return misused(plan->args->verb, "--seeds '%s' has a seed twice, expected each once", text);
}

static bool is_twice(char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++)
        if (strcmp(names[i], names[count - 1]) == 0) return true;
    return false;
}

static bool read_traffics(struct sweep_plan *plan)
{
    const char *text = argument(plan->args, "--traffic");
    char *rest = strdup(text ? text : "uniform");
    if (!rest) return no_memory();
    plan->traffic[0] = rest;
    while (rest) {
        if (plan->traffics == SWEEP_TRAFFICS_MAX)
            return misused(plan->args->verb, "--traffic '%s', expected at most %d names", text,
                           SWEEP_TRAFFICS_MAX);
        char *comma = strchr(rest, ',');
        plan->traffic[plan->traffics++] = rest;
        if (comma) *comma = '\0';
        if (!*rest || is_twice(plan->traffic, plan->traffics))
            return misused(plan->args->verb,
                           "--traffic '%s', expected names with commas between, each once", text);
        rest = comma ? comma + 1 : NULL;
    }
    return true;
}

/* An option of one kind of traffic needs that traffic. */
static bool check_effect(const struct sweep_plan *plan)
{
    static const struct {
        const char *option;
        enum leat_net_pattern pattern;
    } effects[] = { { "--hot", LEAT_NET_HOTSPOT }, { "--burst", LEAT_NET_BURSTY } };
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        bool has = !argument(plan->args, effects[i].option);
        enum leat_net_pattern pattern;
        for (uint32_t t = 0; t < plan->traffics && !has; t++)
            has = leat_net_pattern_find(plan->traffic[t], &pattern) &&
                  pattern == effects[i].pattern;
        if (!has)
            return misused(plan->args->verb, "%s has no effect, expected --traffic %s with it",
                           effects[i].option, leat_net_pattern_list(effects[i].pattern)->name);
    }
    return true;
}

/* Fabrics that count no wires are run without --links, if others are run with it. */
static bool check_links(const struct sweep_plan *plan)
{
    uint32_t counting = 0;
    if (!argument(plan->args, "--links")) return true;
    for (uint32_t i = 0; i < plan->fabrics; i++)
        counting += fabric_counts_wires(plan->fabric[i]);
    if (!counting)
        return misused(plan->args->verb,
                       "--links: %s counts no wires, expected a network of "
                       "switches, as mesh:4,4",
                       plan->fabric[0]);
    for (uint32_t i = 0; i < plan->fabrics; i++)
        if (!fabric_counts_wires(plan->fabric[i]))
            caution("--links: %s counts no wires, its results have no links", plan->fabric[i]);
    return true;
}

static bool count_runs(struct sweep_plan *plan)
{
    const uint64_t points = (uint64_t)plan->fabrics * plan->traffics * plan->loads;
    const uint64_t runs = points * plan->seeds;
    plan->runs = (uint32_t)runs;
    if (runs <= SWEEP_RUNS_MAX) return true;
    return misused(plan->args->verb,
                   "%llu runs (%u fabrics, %u traffics, %u loads, %u seeds), expected at most %d",
                   (unsigned long long)runs, plan->fabrics, plan->traffics, plan->loads,
                   plan->seeds, SWEEP_RUNS_MAX);
}

static bool read_jobs(struct sweep_plan *plan)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    plan->jobs = processors < 1                ? 1
                 : processors > SWEEP_JOBS_MAX ? SWEEP_JOBS_MAX
                                               : (uint32_t)processors;
    return number_take_small(plan->args, "-j", &plan->jobs);
}

/* Only a child looks for devices: a process that has opened OpenCL cannot be forked. */
static bool read_device(struct sweep_plan *plan)
{
    const char *word = argument(plan->args, "--device");
    plan->uses_device = word && strcmp(word, "cpu") != 0;
    return true;
}

static bool read_store(struct sweep_plan *plan)
{
    plan->store = argument(plan->args, "--store");
    if (plan->store && *plan->store) return true;
    return misused(plan->args->verb, "--store FILE is missing: it keeps the runs, so that a sweep "
                                     "can be continued");
}

/* ---- what the runs have in common ------------------------------------------------------------ */

/* The value of this option of `leat sim` for all runs; NULL: none. */
static const char *common_value(const struct sweep_plan *plan, const struct option *option)
{
    for (size_t i = 0; i < sizeof of_a_run / sizeof *of_a_run; i++)
        if (strcmp(option->name, of_a_run[i]) == 0) return NULL;
    if (word_is_in(option->name, WATCH_OPTIONS)) return NULL; /* of the sweep as a whole */
    return argument(plan->args, option->name);
}

static bool is_links(const struct option *option)
{
    return strcmp(option->name, "--links") == 0;
}

/* Those of a fabric's runs, each behind a blank: --links only if it counts wires. NULL: those of
 * all, with blanks between. */
static void put_options_of(FILE *out, const struct sweep_plan *plan, const char *fabric)
{
    const char *blank = fabric ? " " : "";
    for (const struct option *o = plan->sim->options; o->name; o++) {
        const char *value = common_value(plan, o);
        if (!value || (fabric && is_links(o) && !fabric_counts_wires(fabric))) continue;
        fputs(blank, out);
        option_put(out, o, value);
        blank = " ";
    }
}

static void put_options(FILE *out, const struct sweep_plan *plan)
{
    put_options_of(out, plan, NULL);
}

static bool put_hash(FILE *out, const char *path)
{
    char octets[1 << 14];
    struct stat what;
    uint64_t crc = 0;
    size_t len;
    FILE *in = stat(path, &what) == 0 && S_ISREG(what.st_mode) ? fopen(path, "rb") : NULL;
    if (!in) return false;
    while ((len = fread(octets, 1, sizeof octets, in)) > 0)
        crc = leat_crc64(crc, octets, len);
    fclose(in);
    fprintf(out, "%s %016llx\n", path, (unsigned long long)crc);
    return true;
}

/* A word may name a file: as "trace:FILE", "FILE" or "FILE/parameter=value". */
static void put_file(FILE *out, const char *word)
{
    bool there = false;
    for (const char *at = word; at && !there; at = strpbrk(at, ":=@"), at = at ? at + 1 : NULL) {
        char *path = strdup(at), *cut = path;
        while (cut && !(there = put_hash(out, path))) {
            cut = strrchr(path, '/');
            if (cut) *cut = '\0';
        }
        free(path);
    }
}

static void put_files(FILE *out, const struct sweep_plan *plan)
{
    for (uint32_t i = 0; i < plan->fabrics; i++)
        put_file(out, plan->fabric[i]);
    for (uint32_t i = 0; i < plan->traffics; i++)
        put_file(out, plan->traffic[i]);
    for (const struct option *o = plan->sim->options; o->name; o++) {
        const char *value = common_value(plan, o);
        if (value) put_file(out, value);
    }
}

static bool write_text(const struct sweep_plan *plan, char **text,
                       void (*put)(FILE *, const struct sweep_plan *))
{
    size_t len;
    FILE *out = open_memstream(text, &len);
    if (!out) return no_memory();
    put(out, plan);
    return (fclose(out) == 0 && *text) || no_memory();
}

bool sweep_plan_read(const struct arguments *args, struct sweep_plan *plan)
{
    *plan = (struct sweep_plan){ .args = args, .sim = verb_find("sim") };
    return sweep_fabrics_read(plan) && read_traffics(plan) && read_loads(plan) &&
           read_seeds(plan) && check_effect(plan) && check_links(plan) && count_runs(plan) &&
           read_jobs(plan) && read_device(plan) && read_store(plan) &&
           write_text(plan, &plan->options, put_options) &&
           write_text(plan, &plan->files, put_files);
}

void sweep_plan_free(struct sweep_plan *plan)
{
    for (uint32_t i = 0; i < plan->fabrics; i++)
        free(plan->fabric[i]);
    free(plan->traffic[0]);
    free(plan->options);
    free(plan->files);
}

/* ---- one run --------------------------------------------------------------------------------- */

struct store_key sweep_run_at(const struct sweep_plan *plan, uint32_t run)
{
    const uint32_t point = run / plan->seeds, pair = point / plan->loads;
    return (struct store_key){ .fabric = plan->fabric[pair / plan->traffics],
                               .traffic = plan->traffic[pair % plan->traffics],
                               .load = (uint32_t)plan->load[point % plan->loads],
                               .seed = plan->seed[run % plan->seeds] };
}

void sweep_load_text(uint32_t load, char out[SWEEP_LOAD_CAP])
{
    snprintf(out, SWEEP_LOAD_CAP, "%u.%06u", load / STORE_LOAD_ONE, load % STORE_LOAD_ONE);
    size_t len = strlen(out);
    while (out[len - 1] == '0')
        out[--len] = '\0';
    if (out[len - 1] == '.') out[len - 1] = '\0';
}

void sweep_put_command(FILE *out, const struct sweep_plan *plan, uint32_t run)
{
    const struct store_key key = sweep_run_at(plan, run);
    char load[SWEEP_LOAD_CAP];
    sweep_load_text(key.load, load);
    fputs("leat sim ", out);
    shell_put_word(out, key.fabric, strlen(key.fabric));
    fputs(" --traffic ", out);
    shell_put_word(out, key.traffic, strlen(key.traffic));
    fprintf(out, " --load %s --seed %llu", load, (unsigned long long)key.seed);
    put_options_of(out, plan, key.fabric);
    fputs(" --json", out);
}

/* Few wires are counted by default: a report shows their utilisation. */
static const char *links_of(const struct sweep_plan *plan, const char *fabric)
{
    const char *requested = argument(plan->args, "--links");
    if (!fabric_counts_wires(fabric)) return NULL;
    return requested ? requested : NET_LINKS_WHERE_FEW;
}

void sweep_arguments(const struct sweep_plan *plan, uint32_t run, struct sweep_words *words,
                     struct arguments *args)
{
    const struct store_key key = sweep_run_at(plan, run);
    *words = (struct sweep_words){ .operand = { (char *)key.fabric, NULL } };
    *args = (struct arguments){ .verb = plan->sim, .operand = words->operand, .operand_count = 1 };
    sweep_load_text(key.load, words->load);
    snprintf(words->seed, sizeof words->seed, "%llu", (unsigned long long)key.seed);
    /* in the order of of_a_run */
    const char *const own[] = { key.traffic, words->load, words->seed, "", NULL };
    for (int i = 0; plan->sim->options[i].name; i++) {
        args->value[i] = common_value(plan, &plan->sim->options[i]);
        if (is_links(&plan->sim->options[i])) args->value[i] = links_of(plan, key.fabric);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (strcmp(plan->sim->options[i].name, of_a_run[k]) == 0) args->value[i] = own[k];
    }
}

int sweep_run_here(const struct sweep_plan *plan, uint32_t run, bool only_checks)
{
    struct sweep_words words;
    struct arguments args;
    sweep_arguments(plan, run, &words, &args);
    args.only_check = only_checks;
    json_schema("leat.sim/1"); /* what is stored is what leat sim prints */
    return plan->sim->run(&args);
}
