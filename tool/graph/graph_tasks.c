/*
 * The tasks of leat graph run: files, or the instances of files that --instance names. Each is read
 * and compiled; then, since their numbers of devices are known, dealt to threads.
 */
#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "graph_deal.h"
#include "graph_restore.h"
#include "leat_fnv.h"
#include "progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of 100 edges; a random order cuts half of them or more. Those of a hub are cut in any order. */
enum { CUT_MANY = 40 };

/* ---- which ----------------------------------------------------------------------------------- */

bool graph_next_word(const char **at, char *word, size_t cap)
{
    const size_t len = *at ? strcspn(*at, "\n") : 0;
    if (!len) return false;
    snprintf(word, cap, "%.*s", (int)len, *at);
    *at += len + ((*at)[len] != '\0');
    return true;
}

static bool has_instance(const struct leat_graph *graph, const char *id)
{
    for (uint32_t i = 0; i < graph->instance_count; i++)
        if (strcmp(graph->instance[i].id, id) == 0) return true;
    return false;
}

static bool is_instance_of_any(const struct graph_job *job, const char *id)
{
    for (uint32_t i = 0; i < job->task_count; i++)
        if (has_instance(&job->task[i]->graph, id)) return true;
    return false;
}

/* ---- reading and compiling ------------------------------------------------------------------- */

/* A new task. NULL after a complaint. */
static struct graph_task *new_task(struct graph_job *job)
{
    struct graph_task *task = NULL;
    if (job->task_count == GRAPH_TASKS_MAX) {
        complain("too many tasks, expected at most %d", GRAPH_TASKS_MAX);
        return NULL;
    }
    task = calloc(1, sizeof *task);
    if (!task) {
        complain("no memory");
        return NULL;
    }
    return job->task[job->task_count++] = task;
}

/* The first rank compiles; the others use its cached objects if they can. */
static bool compile(struct graph_job *job, struct graph_task *task)
{
    struct leat_poets_link *link = job->run.link;
    const bool first = !link || !link->rank;
    bool good = task->instance && (!first || leat_handlers_build(&task->graph, task->instance,
                                                                 &job->handlers, &task->handlers));
    if (link && !graph_agree(link, &task->graph.report, good, 0)) return false;
    if (!first)
        good = leat_handlers_build(&task->graph, task->instance, &job->handlers, &task->handlers);
    /* Of ranks that fail here the others are told when they agree on the machine. */
    if (!good && !link) graph_print_report(&task->graph.report);
    return good || link;
}

/* Snapshots name the edges of all devices, and locality looks at them. */
static bool is_dealt(const struct graph_job *job)
{
    const struct leat_poets_link *link = job->run.link;
    return link && link->rank_count > 1 && job->placement != LEAT_POETS_PLACE_LOCALITY &&
           !job->restore && !job->run.holds;
}

/* Ranks read a file together if that can be done. False: the report says why. */
static bool read_graph(struct graph_job *job, struct graph_task *task, const char *file)
{
    struct leat_poets_link *link = job->run.link;
    struct leat_poets_deal deal = { .placement = job->placement,
                                    .threads = leat_poets_run_threads(&job->run),
                                    .seed = job->run.seed };
    bool dealt = is_dealt(job);
    if (link) dealt = leat_poets_link_agree(link, dealt, 0).good;
    task->dealt = dealt && leat_poets_deal_graph(&task->graph, file, job->dialect, link, &deal);
    if (!task->dealt) {
        if (link) leat_graph_free(&task->graph);
        return leat_graph_read(&task->graph, file, job->dialect);
    }
    if (!link->rank && !job->placement_given && 100 * deal.cut > CUT_MANY * deal.edges)
        caution(
            "%s: of %llu edges %llu are between ranks: --placement locality would put connected "
            "devices together, but then every rank reads the whole file",
            file, (unsigned long long)deal.edges, (unsigned long long)deal.cut);
    return true;
}

/* An instance of a file; NULL: its only one. `graph` is what has been read of it. */
static bool add_task(struct graph_job *job, struct graph_task *task, const char *file,
                     const char *id, double began)
{
    struct leat_graph *graph = &task->graph;
    task->file = file;
    if (!graph->report.error_count) task->instance = leat_graph_select(graph, id);
    task->run = job->run;
    if (!job->rts_given)
        task->run.rts = graph->dialect == LEAT_GRAPH_ORCH ? LEAT_POETS_LATCHED : LEAT_POETS_LEVEL;
    const bool good = job->only_reads ? graph_print_report(&graph->report) : compile(job, task);
    task->load_seconds = seconds_now() - began - task->handlers.seconds;
    return good;
}

/* One file, of several or not. */
static bool add_file(const struct arguments *args, struct graph_job *job, const char *file)
{
    const char *names = argument(args, "--instance");
    const bool several = args->operand_count > 2;
    double began = seconds_now();
    char id[GRAPH_WORD_CAP];
    struct graph_task *task = new_task(job);
    bool any = false;
    if (!task) return false;
    const bool sound = read_graph(job, task, file);
    while (sound && graph_next_word(&names, id, sizeof id)) {
        if (several && !has_instance(&task->graph, id)) continue;
        if (any) { /* each task has a graph of its own */
            began = seconds_now();
            task = new_task(job);
            if (!task) return false;
            read_graph(job, task, file);
        }
        any = true;
        if (!add_task(job, task, file, id, began)) return false;
    }
    return any || add_task(job, task, file, NULL, began);
}

static bool check_names(const struct arguments *args, const struct graph_job *job)
{
    const char *names = argument(args, "--instance");
    char id[GRAPH_WORD_CAP];
    while (graph_next_word(&names, id, sizeof id))
        if (!is_instance_of_any(job, id))
            return misused(args->verb,
                           "--instance %s, expected a graph instance of one of the files", id);
    return true;
}

/* ---- dealing to threads ---------------------------------------------------------------------- */

static uint32_t count_devices(const struct graph_task *task)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < task->instance->device_count; d++)
        count += task->graph.type[task->instance->device[d].type].kind != LEAT_GRAPH_EXTERNAL;
    return count;
}

static bool share_threads(const struct graph_job *job, uint32_t *threads)
{
    uint32_t devices[GRAPH_TASKS_MAX], least = 0;
    for (uint32_t i = 0; i < job->task_count; i++)
        devices[i] = count_devices(job->task[i]);
    if (leat_poets_run_shares(&job->run, devices, job->task_count, threads, &least)) return true;
    if (job->engine)
        return complain("%s: the tasks need %u threads, expected at most %u (--mailbox threads=N)",
                        job->fabric.network->name, least, leat_poets_run_threads(&job->run));
    return complain("the tasks have %u threads, expected at most %d (fewer workers: -j)", least,
                    LEAT_POETS_MACHINE_THREADS_MAX);
}

/* The file may come from anybody. */
static void warn_of_code(const struct graph_job *job, const struct graph_task *task)
{
    if (task->handlers.unseen)
        caution("%s: this runs C++ code of the file for the first time, %s",
                task->graph.report.file[0],
                job->sandbox == GRAPH_SANDBOX ? "in a sandbox" : "with all your rights");
}

/* What ranks must have in common. */
static uint64_t fingerprint_of(const struct graph_job *job, const struct graph_task *task)
{
    const struct leat_poets_machine *m = &task->machine;
    const uint64_t words[] = { m->graph->file_len, m->device_count,  m->instance->joined_count,
                               m->thread_count,    job->run.workers, task->run.rts,
                               job->placement };
    return leat_fnv(LEAT_FNV_EMPTY, (const uint8_t *)words, sizeof words);
}

static bool build_machine(struct graph_job *job, struct graph_task *task, uint32_t threads)
{
    const struct leat_poets_link *link = job->run.link;
    struct leat_graph *graph = &task->graph;
    uint32_t *order = leat_graph_order(graph, task->instance, job->placement, threads,
                                       job->run.seed);
    const bool good = order && leat_poets_machine_build(
                                   &task->machine, graph, task->instance, &task->handlers, threads,
                                   order, link ? link->rank : 0, link ? link->rank_count : 1);
    free(order);
    return good && (!job->restore || leat_poets_machine_restore(&task->machine, job->restore,
                                                                &task->run.idle_steps_done));
}

static bool make_task(struct graph_job *job, struct graph_task *task)
{
    struct leat_poets_link *link = job->run.link;
    struct leat_graph *graph = &task->graph;
    const bool first = !link || !link->rank;
    const double began = seconds_now();
    bool good = task->instance && !graph->report.error_count;
    if (good && first) warn_of_code(job, task);
    good = good && leat_handlers_load(graph, &task->run, &task->handlers) &&
           build_machine(job, task, task->threads);
    good = graph_agree(link, &graph->report, good, good ? fingerprint_of(job, task) : 0);
    if (good && first) graph_print_report(&graph->report); /* warnings */
    task->load_seconds += seconds_now() - began;
    return good;
}

/* ---- the tasks ------------------------------------------------------------------------------- */

bool graph_has_files(const struct arguments *args)
{
    const char *names = argument(args, "--instance"), *verb = args->operand[0];
    int streams = 0;
    if (args->operand_count < 2)
        return misused(args->verb,
                       "%s: expected one file, or several: as in leat graph %s plate.xml", verb,
                       verb);
    for (int i = 1; i < args->operand_count; i++)
        streams += strcmp(args->operand[i], "-") == 0;
    return streams <= !(names && strchr(names, '\n')) ||
           misused(args->verb, "%s: standard input for several tasks, expected a file", verb);
}

bool graph_tasks_read(const struct arguments *args, struct graph_job *job)
{
    for (int i = 1; i < args->operand_count; i++)
        if (!add_file(args, job, args->operand[i])) return false;
    for (uint32_t i = 0; i < job->task_count; i++)
        if (job->task_count > 1)
            snprintf(job->task[i]->prefix, sizeof job->task[i]->prefix, "task %u: ", i);
    return check_names(args, job);
}

bool graph_tasks_compile(const struct arguments *args, struct graph_job *job)
{
    uint32_t threads[GRAPH_TASKS_MAX];
    if (!graph_tasks_read(args, job)) return false;
    if (job->task_count > 1 && (job->restore || job->run.holds))
        return misused(args->verb, "%s with several tasks, expected one: a snapshot is of one task",
                       job->restore ? "--restore" : "--snapshot");
    if (!share_threads(job, threads)) return false;
    for (uint32_t i = 0; i < job->task_count; i++)
        job->task[i]->threads = threads[i];
    return true;
}

bool graph_tasks_load(struct graph_job *job)
{
    for (uint32_t i = 0; i < job->task_count; i++) {
        struct graph_task *task = job->task[i];
        task->run.host.prefix = task->prefix;
        if (!make_task(job, task)) return false;
    }
    return true;
}

void graph_tasks_free(struct graph_job *job)
{
    while (job->task_count) {
        struct graph_task *task = job->task[--job->task_count];
        leat_poets_machine_free(&task->machine);
        leat_handlers_close(&task->handlers);
        leat_graph_free(&task->graph);
        free(task);
    }
}

#endif
