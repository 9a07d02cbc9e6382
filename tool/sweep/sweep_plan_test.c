/* Which runs a command line requests. */
#include "complaints_test.h"
#include "sim.h"
#include "sweep.h"
#include "tap.h"
#include "words_test.h"
#include <stdlib.h>

static struct sweep_plan plan;
static struct arguments args;

/* "--store s" is part of every line but those that begin with "!". */
static bool reads(const char *line)
{
    char whole[2048];
    const bool bare = *line == '!';
    snprintf(whole, sizeof whole, "%s%s", line + bare, bare ? "" : " --store s");
    sweep_plan_free(&plan);
    plan = (struct sweep_plan){ 0 };
    if (words_read(&verb_sweep, whole, &args) != DONE) return false;
    return sweep_plan_read(&args, &plan);
}

static bool is_refused(const char *line, const char *text)
{
    complaints_begin();
    const bool read = reads(line);
    const char *said = complaints_end();
    if (read || !strstr(said, text)) printf("# %s: %s", line, said);
    return !read && strncmp(said, "leat sweep: ", 12) == 0 && strstr(said, text);
}

static bool loads_are(const char *loads, uint32_t count, const uint32_t *want)
{
    char line[256];
    snprintf(line, sizeof line, "mesh:4,4 --load %s", loads);
    bool same = reads(line) && plan.loads == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = plan.load[i] == want[i];
    return same;
}
#define LOADS(text, ...)                                                        \
    loads_are(text, sizeof(const uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), \
              (const uint32_t[]){ __VA_ARGS__ })

static bool seeds_are(const char *seeds, uint32_t count, const uint64_t *want)
{
    char line[256];
    snprintf(line, sizeof line, "mesh:4,4 --load 0.1 --seeds %s", seeds);
    bool same = reads(line) && plan.seeds == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = plan.seed[i] == want[i];
    return same;
}
#define SEEDS(text, ...)                                                        \
    seeds_are(text, sizeof(const uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t), \
              (const uint64_t[]){ __VA_ARGS__ })

static bool fabrics_are(const char *words, uint32_t count, const char *const *want)
{
    char line[256];
    snprintf(line, sizeof line, "%s --load 0.1", words);
    bool same = reads(line) && plan.fabrics == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = strcmp(plan.fabric[i], want[i]) == 0;
    return same;
}
#define FABRICS(text, ...)                                                               \
    fabrics_are(text, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(const char *), \
                (const char *const[]){ __VA_ARGS__ })

static void a_parameter_with_several_values_is_a_fabric_for_each(void)
{
    OK(FABRICS("mesh:4,4/buffer=2,4,8 torus:4,4", "mesh:4,4/buffer=2", "mesh:4,4/buffer=4",
               "mesh:4,4/buffer=8", "torus:4,4"));
    OK(FABRICS("ring:4/vcs=2,4/routing=dor/wire=1,3", "ring:4/vcs=2/routing=dor/wire=1",
               "ring:4/vcs=2/routing=dor/wire=3", "ring:4/vcs=4/routing=dor/wire=1",
               "ring:4/vcs=4/routing=dor/wire=3"));
    OK(FABRICS("a,b/c.edges/vcs=1,2", "a,b/c.edges/vcs=1", "a,b/c.edges/vcs=2"));
    OK(FABRICS("ring16/priority=0:7,4-7:2", "ring16/priority=0:7,4-7:2")); /* one value */
    OK(is_refused("mesh:4,4/buffer=2,4,2 --load 0.1",
                  "fabric 'mesh:4,4/buffer=2' is given twice, expected each once"));
    OK(is_refused("mesh:4,4/buffer=1,2,3,4,5,6,7,8/vcs=1,2,3,4,5,6,7,8/wire=1,2,3,4,5 --load 0.1",
                  "expected at most 256 fabrics"));
    OK(is_refused("--load 0.1", "expected a fabric, as in leat sweep clos444"));
}

static void a_range_of_loads_is_exact_to_its_end(void)
{
    OK(reads("mesh:4,4 --load 0.05:0.95:0.05"));
    EQ(plan.loads, 19);
    for (uint32_t i = 0; i < 19; i++)
        EQ(plan.load[i], 50000 * (i + 1));
    OK(LOADS("0.1:0.35:0.1", 100000, 200000, 300000));
    OK(LOADS("0.3:0.3:0.1", 300000));
    OK(LOADS("0:1:0.5", 0, 500000, 1000000));
}

static void loads_are_sorted_and_ranges_may_stand_among_them(void)
{
    OK(LOADS("0.42,0.05:0.15:0.05,0.000001", 1, 50000, 100000, 150000, 420000));
    OK(LOADS("1", 1000000));
}

static void what_is_no_load_is_refused_by_its_name(void)
{
    OK(is_refused("mesh:4,4", "--load is missing"));
    OK(is_refused("mesh:4,4 --load 0.1,1.1", "--load '1.1', expected loads of 0 to 1"));
    OK(is_refused("mesh:4,4 --load 0.0000001", "--load '0.0000001'"));
    OK(is_refused("mesh:4,4 --load 0.1234567", "--load '0.1234567'")); /* rounded: not exact */
    OK(is_refused("mesh:4,4 --load 0.5:0.1:0.1", "--load '0.5:0.1:0.1'"));
    OK(is_refused("mesh:4,4 --load 0.1:0.5:0", "--load '0.1:0.5:0'"));
    OK(is_refused("mesh:4,4 --load 0.1:0.5", "--load '0.1:0.5'"));
    OK(is_refused("mesh:4,4 --load 0.1:0.2:0.1:0.1", "--load '0.1:0.2:0.1:0.1'"));
    OK(is_refused("mesh:4,4 --load 0.1,,0.2", "--load '0.1,,0.2'"));
    OK(is_refused("mesh:4,4 --load 0.1,", "--load '0.1,'"));
    OK(is_refused("mesh:4,4 --load 0.1,0.1", "has a load twice"));
    OK(is_refused("mesh:4,4 --load 0.1:0.3:0.1,0.2", "has a load twice"));
}

static void seeds_are_counted_listed_or_a_range(void)
{
    OK(reads("mesh:4,4 --load 0.1"));
    EQ(plan.seeds, 5);
    for (uint32_t i = 0; i < 5; i++)
        EQ(plan.seed[i], i + 1);
    OK(SEEDS("3", 1, 2, 3));
    OK(SEEDS("1", 1));
    OK(SEEDS("9,3,8", 3, 8, 9));
    OK(SEEDS("10:12", 10, 11, 12));
    OK(SEEDS("7:7", 7));
    OK(SEEDS("20:21,0", 0, 20, 21));
    OK(SEEDS("9223372036854775807:9223372036854775807", INT64_MAX));
}

static void what_is_no_seed_is_refused(void)
{
    static const char *const bad[] = { "0",   "-1",    "x",
                                       "5:3", "1:2:3", "3,",
                                       "1.5", "",      "9223372036854775808:9223372036854775808" };
    char line[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "mesh:4,4 --load 0.1 --seeds=%s", bad[i]);
        OK(is_refused(line, "expected how many, 1 to 10000, or seeds of 0 to 9223372036854775807"));
    }
    OK(is_refused("mesh:4,4 --load 0.1 --seeds 5,5", "has a seed twice"));
    OK(is_refused("mesh:4,4 --load 0.1 --seeds 1:5,3", "has a seed twice"));
}

/* The seed is the lowest digit, then load, traffic, fabric. */
static void runs_are_the_product_in_a_fixed_order(void)
{
    static const char *const fabric[] = { "torus:4,4", "mesh:4,4" };
    static const char *const traffic[] = { "uniform", "bursty" };
    uint32_t run = 0;
    OK(reads("torus:4,4 mesh:4,4 --traffic uniform,bursty --load 0.3:0.5:0.1 --seeds 8,2"));
    EQ(plan.runs, 2 * 2 * 3 * 2);
    for (int f = 0; f < 2; f++)
        for (int t = 0; t < 2; t++)
            for (uint32_t load = 300000; load <= 500000; load += 100000)
                for (uint64_t seed = 2; seed <= 8; seed += 6) {
                    const struct store_key key = sweep_run_at(&plan, run++);
                    OK(strcmp(key.fabric, fabric[f]) == 0 && strcmp(key.traffic, traffic[t]) == 0);
                    EQ(key.load, load);
                    EQ(key.seed, seed);
                }
    EQ(run, plan.runs);
}

static void there_are_bounds(void)
{
    OK(reads("mesh:4,4 --load 0.0001:1:0.0001 --seeds 100"));
    EQ(plan.loads, 10000);
    EQ(plan.runs, 1000000);
    OK(is_refused("mesh:4,4 --load 0.0001:1:0.0001 --seeds 101",
                  "1010000 runs (1 fabrics, 1 traffics, 10000 loads, 101 seeds), expected at most "
                  "1000000"));
    OK(is_refused("mesh:4,4 --load 0:1:0.0001", "expected at most 10000 loads"));
    OK(reads("mesh:4,4 --load 0.1 --seeds 10000"));
    OK(is_refused("mesh:4,4 --load 0.1 --seeds 10001", "expected at most 10000 seeds"));
    OK(is_refused("mesh:4,4 --load 0.1 --seeds 1:9999,20000:20001",
                  "expected at most 10000 seeds"));
    OK(reads("mesh:4,4 --load 0.1 -j 256"));
    EQ(plan.jobs, 256);
    OK(is_refused("mesh:4,4 --load 0.1 -j 257", "1 to 256"));
    OK(is_refused("mesh:4,4 --load 0.1 -j 0", "1 to 256"));
    OK(reads("mesh:4,4 --load 0.1 --seeds 1e3"));
    EQ(plan.seeds, 1000);
}

static void names_stand_once_and_nothing_is_missing(void)
{
    OK(is_refused("--load 0.1", "expected a fabric"));
    OK(is_refused("mesh:4,4 mesh:4,4 --load 0.1", "fabric 'mesh:4,4' is given twice"));
    OK(is_refused("mesh:4,4 --load 0.1 --traffic uniform,uniform", "each once"));
    OK(is_refused("mesh:4,4 --load 0.1 --traffic uniform,,bursty", "each once"));
    OK(is_refused("!mesh:4,4 --load 0.1", "--store FILE is missing"));
    OK(is_refused("!mesh:4,4 --load 0.1 --store=", "--store FILE is missing"));
    OK(reads("!mesh:4,4 --load 0.1 --store runs"));
    OK(strcmp(plan.store, "runs") == 0);
}

static void options_of_a_traffic_need_that_traffic(void)
{
    OK(is_refused("mesh:4,4 --load 0.1 --hot 30",
                  "--hot has no effect, expected --traffic hotspot"));
    OK(is_refused("mesh:4,4 --load 0.1 --traffic hotspot --burst 3", "--burst has no effect"));
    OK(reads("mesh:4,4 --load 0.1 --traffic uniform,hotspot --hot 30"));
}

static void a_load_is_written_without_zeros_behind(void)
{
    static const struct {
        uint32_t load;
        const char *text;
    } loads[] = { { 0, "0" },         { 1, "0.000001" },      { 100000, "0.1" },
                  { 250000, "0.25" }, { 999999, "0.999999" }, { 1000000, "1" } };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        char text[SWEEP_LOAD_CAP];
        sweep_load_text(loads[i].load, text);
        OK(strcmp(text, loads[i].text) == 0);
    }
}

static void a_command_repeats_one_run(void)
{
    char text[512];
    FILE *out = tmpfile();
    OK(reads("mesh:4,4 --load 0.1,0.25 --seeds 4:5 --fault link:1>2 --cycles 1000 --links --fault "
             "port:3"));
    OK(strcmp(plan.options, "--cycles 1000 --fault 'link:1>2' --fault port:3 --links") == 0);
    sweep_put_command(out, &plan, 3);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    OK(strcmp(text,
              "leat sim mesh:4,4 --traffic uniform --load 0.25 --seed 5 --cycles 1000 --fault "
              "'link:1>2' --fault port:3 --links --json") == 0);
}

static void fabrics_that_count_no_wires_are_run_without_links(void)
{
    char text[512];
    FILE *out = tmpfile();
    complaints_begin();
    OK(reads("mesh:4,4 clos444 --load 0.1 --seeds 1 --links"));
    OK(strcmp(complaints_end(),
              "leat: --links: clos444 counts no wires, its results have no links\n") == 0);
    for (uint32_t run = 0; run < 2; run++)
        sweep_put_command(out, &plan, run);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    OK(strcmp(text, "leat sim mesh:4,4 --traffic uniform --load 0.1 --seed 1 --links --json"
                    "leat sim clos444 --traffic uniform --load 0.1 --seed 1 --json") == 0);
    complaints_begin();
    OK(!reads("clos444 bmx:4 --load 0.1 --links"));
    OK(strstr(complaints_end(),
              "--links: clos444 counts no wires, expected a network of switches"));
}

/* CRC-64/XZ of "123456789" is published as 995dc9bbdf1939fa. */
static void files_are_known_by_what_is_in_them(void)
{
    char name[] = "/tmp/leat_sweep_plan_test.XXXXXX", line[128], want[128];
    const int fd = mkstemp(name);
    OK(fd >= 0 && write(fd, "123456789", 9) == 9);
    close(fd);
    snprintf(line, sizeof line, "mesh:4,4 --load 0.1 --fault-file %s", name);
    snprintf(want, sizeof want, "%s 995dc9bbdf1939fa\n", name);
    OK(reads(line));
    OK(strcmp(plan.files, want) == 0);
    snprintf(line, sizeof line, "graph:%s/vcs=2 --load 0.1", name); /* a part of a word */
    OK(reads(line));
    OK(strcmp(plan.files, want) == 0);
    OK(unlink(name) == 0);
    OK(reads(line));
    OK(strcmp(plan.files, "") == 0);
    sweep_plan_free(&plan);
    plan = (struct sweep_plan){ 0 };
}

static void the_words_of_traffic_are_those_that_fabrics_have(void)
{
    const char *words = option_find(&verb_sim, "--traffic")->words;
    for (size_t i = 0; leat_net_pattern_list(i); i++)
        OK(word_is_in(leat_net_pattern_list(i)->name, words));
    for (unsigned i = 0; leat_sim_atm_traffic_name(i); i++)
        OK(word_is_in(leat_sim_atm_traffic_name(i), SIM_TRAFFIC_OF_PORTS));
    OK(word_is_in("W", words));
    OK(strcmp(words, option_find(&verb_sweep, "--traffic")->words) == 0);
}

TAP_MAIN(T(a_parameter_with_several_values_is_a_fabric_for_each),
         T(a_range_of_loads_is_exact_to_its_end),
         T(loads_are_sorted_and_ranges_may_stand_among_them),
         T(what_is_no_load_is_refused_by_its_name), T(seeds_are_counted_listed_or_a_range),
         T(what_is_no_seed_is_refused), T(runs_are_the_product_in_a_fixed_order),
         T(there_are_bounds), T(names_stand_once_and_nothing_is_missing),
         T(options_of_a_traffic_need_that_traffic), T(a_load_is_written_without_zeros_behind),
         T(a_command_repeats_one_run), T(fabrics_that_count_no_wires_are_run_without_links),
         T(files_are_known_by_what_is_in_them), T(the_words_of_traffic_are_those_that_fabrics_have))
