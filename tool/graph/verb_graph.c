/* leat graph: POETS applications: the subcommands, and how errors are reported. */
#include "graph_job.h"
#include <stdio.h>
#include <string.h>

#ifdef HAVE_EXPAT

bool graph_tell(const struct leat_graph_report *report)
{
    for (uint32_t i = 0; i < report->kept; i++) {
        const struct leat_graph_mistake *m = &report->mistake[i];
        fprintf(stderr, "%s:", report->file[m->place.file]);
        if (m->place.line) fprintf(stderr, "%u:", m->place.line);
        if (m->place.column) fprintf(stderr, "%u:", m->place.column);
        fprintf(stderr, " %s%s: %s\n", m->warning ? "warning: " : "", m->code, m->text);
    }
    const uint32_t all = report->error_count + report->warning_count;
    if (all > report->kept) complain("and %u more", all - report->kept);
    return !report->error_count;
}

bool graph_read_dialect(const struct arguments *args, enum leat_graph_dialect *out)
{
    const char *word = argument(args, "--dialect");
    *out = LEAT_GRAPH_DIALECT_COUNT;
    if (!word) return true;
    for (*out = 0; *out < LEAT_GRAPH_DIALECT_COUNT; ++*out)
        if (strcmp(leat_graph_dialect_name(*out), word) == 0) return true;
    misuse(args->verb, "--dialect '%s', expected orch, v4 or v3", word);
    return false;
}

bool graph_has_foreign(const struct arguments *args, const char *what, const char *known)
{
    for (int i = 0; args->verb->options[i].name; i++) {
        const char *name = args->verb->options[i].name;
        if (!args->value[i] || word_is_in(name, known)) continue;
        misuse(args->verb, "%s: %s, expected only %s", what, name, known);
        return true;
    }
    return false;
}

/* The handlers of every type that an instance has devices of; of all types if there is no instance.
 * Nothing is loaded: a file is checked before anybody trusts it. */
static void compile_all(struct leat_graph *graph)
{
    const struct leat_handler_options options = { .interrupted = &interrupted };
    struct leat_handlers handlers;
    for (uint32_t i = 0; !interrupted && (i < graph->instance_count || i == 0); i++)
        if (leat_handlers_build(graph, i < graph->instance_count ? &graph->instance[i] : NULL,
                                &options, &handlers))
            leat_handlers_close(&handlers);
}

static int run_check(const struct arguments *args)
{
    static struct leat_graph graph;
    enum leat_graph_dialect dialect;
    if (args->operand_count != 2)
        return misuse(args->verb, "check: expected one file, as in leat graph check plate.xml");
    if (graph_has_foreign(args, "check", "--dialect --no-handlers")) return WRONG;
    if (!graph_read_dialect(args, &dialect)) return WRONG;
    if (leat_graph_read(&graph, args->operand[1], dialect) && !argument(args, "--no-handlers"))
        compile_all(&graph);
    const bool good = graph_tell(&graph.report) && !interrupted;
    if (good)
        printf("%s: sound: %u device types, %u instances\n", args->operand[1], graph.type_count,
               graph.instance_count);
    leat_graph_free(&graph);
    return good || interrupted ? finish(DONE) : WRONG;
}

static int run_info(const struct arguments *args)
{
    static struct leat_graph graph;
    enum leat_graph_dialect dialect;
    if (args->operand_count != 2)
        return misuse(args->verb, "info: expected one file, as in leat graph info plate.xml");
    if (graph_has_foreign(args, "info", "--dialect --instance --json")) return WRONG;
    if (!graph_read_dialect(args, &dialect)) return WRONG;
    leat_graph_read(&graph, args->operand[1], dialect);
    const struct leat_graph_instance *instance =
        graph.report.error_count ? NULL : leat_graph_select(&graph, argument(args, "--instance"));
    const bool good = graph_tell(&graph.report);
    if (good) graph_show(&graph, instance, argument(args, "--json"));
    leat_graph_free(&graph);
    return good ? finish(DONE) : WRONG;
}

int run_graph(const struct arguments *args)
{
    const char *what = args->operand_count ? args->operand[0] : "";
    if (strcmp(what, "check") == 0) return run_check(args);
    if (strcmp(what, "info") == 0) return run_info(args);
    if (strcmp(what, "run") == 0) return graph_run(args);
    return misuse(args->verb, "'%s', expected check, info or run", what);
}

#else

int run_graph(const struct arguments *args)
{
    (void)args;
    complain("graph: this leat was built without libexpat (libexpat1-dev)");
    return FAILED;
}

#endif
