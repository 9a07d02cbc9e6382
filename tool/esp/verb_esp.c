/*
 * leat esp: ephemeral state in routers, simulated or live. The first word is the subcommand; each
 * has a row here.
 */
#include "esp_job.h"
#include "esp_live.h"
#include "tool.h"
#include <string.h>

#define ROOT_OPTIONS   "--members --wait --settle --attempts --tau --bind --key-file --json"
#define ROUTER_OPTIONS "--name --json"

static const struct {
    const char *word;
    int (*run)(const struct arguments *args);
    const char *options; /* its options */
} words[] = {
    { "sim", esp_simulate,
      "--tree --graph --fabric --members --at --service --values --bits --loss --dup --reorder "
      "--delay --seed --multicast --dot --trust --rounds --attempts --tau --json" },
    { "route", esp_route,
      ROUTER_OPTIONS " --dev --driver --capacity --port-capacity --node-id --next-hop --listen "
                     "--rate --port-share --keyed-only --key-file --tau" },
    { "stop", esp_stop, "--name" },
    { "status", esp_status, ROUTER_OPTIONS },
    { "store", esp_store, ROUTER_OPTIONS },
    { "trace", esp_trace, ROUTER_OPTIONS " --count" },
    { "join", esp_join, "--root --value --via --every --for --count --bind --key-file" },
    { "census", esp_census, ROOT_OPTIONS " --robust" },
    { "max", esp_max, ROOT_OPTIONS " --rounds --signed" },
    { "min", esp_min, ROOT_OPTIONS " --rounds --signed" },
    { "sum", esp_sum, ROOT_OPTIONS " --robust --signed" },
    { "average", esp_average, ROOT_OPTIONS " --robust --signed" },
    { "tree", esp_tree, ROOT_OPTIONS " --rounds --dot" },
    { "multicast", esp_multicast, ROOT_OPTIONS " --rounds --for" },
};

/* An option of another subcommand would otherwise be ignored silently. */
static bool options_fit(const struct arguments *args, const char *word, const char *list)
{
    for (int i = 0; args->verb->options[i].name; i++) {
        if (!args->value[i] || word_is_in(args->verb->options[i].name, list)) continue;
        misuse(args->verb, "%s does not go with %s, expected one of %s",
               args->verb->options[i].name, word, list);
        return false;
    }
    return true;
}

int run_esp(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS);
    const char *word = args->operand[0];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return options_fit(args, word, words[i].options) ? words[i].run(args) : WRONG;
    return misuse(args->verb, "'%s', expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS, word);
}
