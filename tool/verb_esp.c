/*
 * leat esp: ephemeral state in routers, simulated or live. The first word says what is wanted; each
 * has a row here.
 */
#include "esp_job.h"
#include "esp_live.h"
#include "tool.h"
#include <string.h>

static const struct {
    const char *word;
    int (*run)(const struct arguments *args);
} words[] = {
    { "sim", esp_simulate }, { "route", esp_route },
    { "stop", esp_stop },    { "status", esp_status },
    { "store", esp_store },  { "trace", esp_trace },
    { "join", esp_join },    { "census", esp_census },
    { "max", esp_max },      { "min", esp_min },
    { "sum", esp_sum },      { "average", esp_average },
    { "tree", esp_tree },    { "multicast", esp_multicast },
};

int run_esp(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS);
    const char *word = args->operand[0];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) return words[i].run(args);
    return misuse(args->verb, "'%s', expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS, word);
}
