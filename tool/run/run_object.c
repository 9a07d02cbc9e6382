/* leat run: the result as a JSON object. */
#include "json_out.h"
#include "run.h"
#include <stdio.h>
#include <stdlib.h>

size_t run_not_repeatable(const struct run_job *job, const struct run_outcome *out,
                          const char *reason[RUN_REASONS_MAX])
{
    size_t count = 0;
    if (job->real_clock) reason[count++] = "--real-clock: the program reads the machine's clocks";
    if (job->compute_scale > 0)
        reason[count++] = "--compute measured: computing takes the time that it took here";
    if (out->notes & LEAT_TASK_READS_COUNTER)
        reason[count++] = "the program reads the processor's counter, which this system cannot "
                          "answer in simulated time";
    if (out->notes & LEAT_TASK_HAS_THREADS)
        reason[count++] = "several threads of a rank communicate at the same time, and the system "
                          "decides what they agree on outside of MPI";
    if (out->notes & LEAT_TASK_RUNS_BESIDE)
        reason[count++] = "a rank computed for long, or waited in a loop without MPI calls, while "
                          "others shared its memory: they ran beside it";
    if (out->end == LEAT_HUB_INTERRUPTED)
        reason[count++] = "it was interrupted, each time at another moment";
    return count;
}

uint32_t run_count_reordered(const struct run_outcome *out, const struct run_outcome *alone)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->tasks && i < alone->tasks; i++)
        count += out->task[i].order != alone->task[i].order;
    return count;
}

/*
 * A run can take longer where messages never meet: ports, units and half-routers still serve one
 * message after the other, and with other times they serve them in another order (R. L. Graham,
 * Bounds on Multiprocessing Timing Anomalies, 1969).
 */
const char run_anomaly[] = "messages come to ports, units and half-routers at other times, "
                           "which still serve one after the "
                           "other, and they end later; this run does not show the contention";

static void put_json_contention(struct leat_json *j, const struct run_outcome *out,
                                const struct run_outcome *alone)
{
    const double with = run_seconds(out->simulated_ps), without = run_seconds(alone->simulated_ps);
    json_fixed(j, "contention_free_seconds", without, 12);
    json_fixed(j, "contention_seconds", with - without, 12);
    leat_json_uint(j, "reordered_tasks", run_count_reordered(out, alone));
    if (alone->simulated_ps > out->simulated_ps)
        leat_json_string(j, "contention_note", run_anomaly);
}

static void put_json_repeatable(struct leat_json *j, const struct run_job *job,
                                const struct run_outcome *out)
{
    const char *reason[RUN_REASONS_MAX];
    const size_t reasons = run_not_repeatable(job, out, reason);
    leat_json_bool(j, "repeatable", !reasons);
    leat_json_array(j, "not_repeatable_because");
    for (size_t i = 0; i < reasons; i++)
        leat_json_string(j, NULL, reason[i]);
    leat_json_end(j);
}

static void put_tasks(struct leat_json *j, const struct run_outcome *out)
{
    leat_json_array(j, "per_task");
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        char host[16];
        if (!t->begun) continue;
        snprintf(host, sizeof host, "port%u", out->port[i]); /* as programs see it */
        leat_json_object(j, NULL);
        leat_json_uint(j, "task", i);
        leat_json_uint(j, "port", out->port[i]);
        leat_json_string(j, "host", host);
        json_fixed(j, "seconds", run_seconds(t->clock > RUN_START_PS ? t->clock - RUN_START_PS : 0),
                   12);
        json_fixed(j, "waiting_seconds", run_seconds(t->waited_ps), 12);
        LEAT_JSON_UINTS(j, { "messages_sent", t->messages_sent }, { "bytes_sent", t->octets_sent },
                        { "messages_received", t->messages_received },
                        { "bytes_received", t->octets_received });
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_end(struct leat_json *j, const struct run_outcome *ended, const char *reason)
{
    leat_json_string(j, "reason", *reason ? reason : NULL);
    if (run_has_code(ended))
        leat_json_int(j, "exit_code", ended->code);
    else
        leat_json_null(j, "exit_code"); /* leat ended it */
}

static void put_object(struct json_out *object, FILE *file, const struct run_job *job,
                       const struct run_outcome *out, const struct run_outcome *alone)
{
    const struct run_outcome *ended = alone ? alone : out; /* if that without contention failed */
    struct leat_json *j = json_open(object, file);
    char reason[sizeof ended->reason];
    const char *status = run_status(ended, reason, sizeof reason);
    leat_json_string(j, "fabric", out->fabric);
    leat_json_string(j, "program", job->words[0]);
    leat_json_string(j, "library", run_library_names[job->library]);
    put_end(j, ended, reason);
    leat_json_uint(j, "tasks", out->begun);
    json_fixed(j, "simulated_seconds", run_seconds(out->simulated_ps), 12);
    leat_json_uint(j, "messages", out->messages);
    leat_json_uint(j, "bytes", out->octets);
    if (run_has_certificate(out))
        json_certificate(j, "certificate", out->certificate);
    else
        leat_json_null(j, "certificate");
    json_fixed(j, "wall_seconds", out->wall_seconds, 6);
    leat_json_uint(j, "replayed", out->replayed);
    if (alone) put_json_contention(j, out, alone);
    put_json_repeatable(j, job, out);
    run_profile_json(j, out);
    run_collectives_json(j, out);
    put_tasks(j, out);
    run_pairs_json(j, out);
    run_wires_json(j, out);
    run_timeline_json(j, out);
    json_close(object, status);
}

char *run_object(const struct run_job *job, const struct run_outcome *out,
                 const struct run_outcome *alone)
{
    struct json_out json;
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);
    if (memory) {
        put_object(&json, memory, job, out, alone);
        if (fclose(memory) == 0 && text) return text;
    }
    free(text);
    complain("no memory for the result");
    return NULL;
}
