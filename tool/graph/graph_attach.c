#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "json_out.h"
#include "number.h"
#include <stdlib.h>
#include <string.h>

enum { WAIT_S = 60 };
#define PS_PER_S UINT64_C(1000000000000)

/* Simulated time does not wait for processes, and with ranks the others do not see them. */
static bool is_engine_wrong(const struct arguments *args)
{
    const char *engine = argument(args, "--engine");
    return argument(args, "--fabric") || (engine && strcmp(engine, "threads") != 0);
}

/* TASK=ADDRESS, or ADDRESS where there is one task. NULL after a complaint. */
static const char *read_task(const struct arguments *args, const char *word, uint32_t *task)
{
    const size_t digits = strspn(word, "0123456789");
    const bool several = args->operand_count > 2;
    *task = 0;
    if (!several && word[digits] != '=') return word;
    *task = digits && digits < 3 && word[digits] == '=' ? (uint32_t)strtoul(word, NULL, 10)
                                                        : GRAPH_TASKS_MAX;
    if (*task < GRAPH_TASKS_MAX) return word + digits + 1;
    (void)misused(args->verb,
                  "--attach %s, expected TASK=ADDRESS, as in 1=unix:door: which of the "
                  "tasks, from 0",
                  word);
    return NULL;
}

/* One word of --attach. */
static bool open_door(const struct arguments *args, const char *word, uint64_t wait_ps,
                      struct graph_attach *attach)
{
    char why[160];
    uint32_t task;
    const char *address = read_task(args, word, &task);
    if (!address) return false;
    if (attach[task].address[0])
        return misused(args->verb, "--attach %s, expected one for each task", word);
    snprintf(attach[task].address, sizeof attach[task].address, "%s", address);
    attach[task].wait_ps = wait_ps;
    if (leat_poets_door_open(&attach[task].door, address, why, sizeof why)) return true;
    return misused(args->verb, "--attach %s: %s", word, why);
}

bool graph_attach_open(const struct arguments *args, struct graph_attach *attach)
{
    const char *words = argument(args, "--attach");
    char word[GRAPH_WORD_CAP];
    uint64_t wait_ps = WAIT_S * PS_PER_S;
    if (!words && argument(args, "--attach-wait"))
        return misused(args->verb, "--attach-wait, expected --attach with it");
    if (!words) return true;
    if (is_engine_wrong(args))
        return misused(args->verb, "--attach, expected no --fabric and no --engine mpi with it");
    if (!number_take(args, "--attach-wait", &wait_ps)) return false;
    while (graph_next_word(&words, word, sizeof word))
        if (!open_door(args, word, wait_ps, attach)) return false;
    return true;
}

void graph_attach_close(struct graph_attach *attach)
{
    leat_poets_graph_externals_free(&attach->externals);
    leat_poets_door_close(&attach->door);
}

bool graph_attach_check(const struct arguments *args, const struct graph_attach *attach,
                        uint32_t task_count)
{
    for (uint32_t i = 0; i < GRAPH_TASKS_MAX; i++) {
        if (attach[i].address[0] && i >= task_count)
            return misused(args->verb, "--attach %u=%s, expected a task below %u", i,
                           attach[i].address, task_count);
    }
    return true;
}

bool graph_attach_begin(struct graph_attach *attach, struct graph_task *task)
{
    struct leat_poets_door *door = attach->address[0] ? &attach->door : NULL;
    const double wait_seconds = (double)attach->wait_ps / (double)PS_PER_S;
    if (!leat_poets_graph_externals_make(&attach->externals, &task->machine, door, wait_seconds,
                                         task->run.interrupted))
        return false;
    task->run.host.externals = &attach->externals;
    if (door && !task->machine.external_count)
        caution("%s--attach %s: the application has no externals", task->prefix, attach->address);
    else if (door)
        caution("%s%u externals wait for processes at %s", task->prefix,
                leat_poets_externals_missing(&attach->externals.table), attach->address);
    return true;
}

void graph_attach_show(const struct graph_attach *attach, struct leat_json *json)
{
    const struct leat_poets_externals *x = &attach->externals.table;
    if (!x->count) return;
    leat_json_array(json, "attachments");
    for (uint32_t i = 0; i < x->count; i++) {
        const struct leat_poets_external *e = &x->external[i];
        leat_json_object(json, NULL);
        leat_json_string(json, "external", e->name);
        LEAT_JSON_UINTS(json, { "number", i }, { "attached", e->attached },
                        { "received", e->received }, { "sent", e->sent }, { "lost", e->lost });
        leat_json_end(json);
    }
    leat_json_end(json);
}

#endif
