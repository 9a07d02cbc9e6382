#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "graph_snapshot.h"
#include "number.h"
#include "poets_text.h"
#include <leat/capture.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FRAME_LEN_MAX = LEAT_POETS_CARRIAGE_LEN + LEAT_POETS_PACKET_LEN_MAX,
    BLOCK_LEN_MAX = 256,
    TASK_NAME_CAP = 160
};

static void put_block(struct graph_files *files, const uint8_t *block, size_t len)
{
    leat_text_put(&files->record.out.text, (const char *)block, len);
}

/* The only one has the name of the format. */
static void name_task(const struct graph_job *job, uint32_t number, char *out, size_t cap)
{
    const struct graph_task *task = job->task[number];
    if (job->task_count == 1)
        snprintf(out, cap, "%s", leat_poets_format.name);
    else
        snprintf(out, cap, "%s%.60s, %.60s", task->prefix, task->file, task->instance->id);
}

static void begin_record(struct graph_files *files, const struct graph_job *job)
{
    uint8_t block[BLOCK_LEN_MAX];
    char name[TASK_NAME_CAP];
    for (uint32_t i = 0; i < job->task_count; i++) {
        name_task(job, i, name, sizeof name);
        put_block(
            files, block,
            leat_capture_put_interface(block, sizeof block, leat_poets_format.link_type, name));
    }
}

static bool open_record(struct graph_files *files)
{
    uint8_t block[BLOCK_LEN_MAX];
    if (!result_file_open(&files->record, files->record_name)) return false;
    put_block(files, block, leat_capture_put_section(block, sizeof block));
    if (files->job) begin_record(files, files->job);
    return true;
}

/* Of several ranks, any may end all of them, and nobody would remove partial files. So these are
 * written only at the end, when the run is over. */
static bool is_open(struct graph_files *files, struct result_file *file)
{
    if (file->name || files->failed) return file->name;
    const bool good = file == &files->record ? open_record(files)
                                             : result_file_open(file, files->snapshot_name);
    files->failed = !good;
    return good;
}

static void record_packet(void *context, uint64_t time_ns, bool to_host, uint32_t address,
                          const uint8_t *packet, unsigned nflit)
{
    struct graph_files *files = context;
    uint8_t frame[FRAME_LEN_MAX], block[BLOCK_LEN_MAX];
    if (!is_open(files, &files->record)) return;
    const size_t len = leat_poets_carriage_put(to_host, address, packet,
                                               (size_t)nflit * LEAT_POETS_FLIT_LEN, frame);
    /* The interface is that of the task. */
    put_block(files, block,
              leat_capture_put_packet(block, sizeof block, packet[3] & LEAT_POETS_TASK_MAX, time_ns,
                                      frame, len));
}

/* In a signal handler: removes partial files. */
static void on_crash(void *context)
{
    const struct graph_files *files = context;
    if (files->record.name && files->record.part[0]) unlink(files->record.part);
    if (files->snapshot.name && files->snapshot.part[0]) unlink(files->snapshot.part);
}

static bool read_bound(const struct arguments *args, struct leat_poets_run_options *run)
{
    run->watch.packets_max = GRAPH_RECORD_DEFAULT;
    if (argument(args, "--record-packets") && !argument(args, "--record"))
        return misused(args->verb, "--record-packets, expected --record with it");
    return number_take(args, "--record-packets", &run->watch.packets_max);
}

/* Standard output has the lines of the application. */
static bool is_named(const struct arguments *args, const char *option)
{
    const char *path = argument(args, option);
    if (!path || (*path && strcmp(path, "-") != 0)) return true;
    return misused(args->verb, "%s '%s', expected the name of a file", option, path);
}

bool graph_files_open(struct graph_files *files, const struct arguments *args,
                      struct leat_poets_run_options *run)
{
    const char *record = argument(args, "--record"), *snapshot = argument(args, "--snapshot");
    struct result_name names[2];
    size_t count = 0;
    if (!is_named(args, "--record") || !is_named(args, "--snapshot") || !read_bound(args, run))
        return false;
    if (record) names[count++] = (struct result_name){ "--record", record };
    if (snapshot) names[count++] = (struct result_name){ "--snapshot", snapshot };
    for (int i = 1; count && i < args->operand_count; i++)
        if (!result_names_apart(args->verb, names, count, args->operand[i])) return false;
    run->watch.context = files;
    run->watch.packet = record ? record_packet : NULL;
    run->holds = snapshot;
    if (run->link && run->link->rank) return true; /* the first rank writes */
    files->record_name = record;
    files->snapshot_name = snapshot;
    const bool good = (!record || open_record(files)) &&
                      (!snapshot || result_file_open(&files->snapshot, snapshot));
    if (!good || run->link) graph_files_drop(files); /* they can be opened: later */
    if (count) run->watch.crashed = on_crash;
    return good;
}

void graph_files_drop(struct graph_files *files)
{
    result_file_drop(&files->record);
    result_file_drop(&files->snapshot);
}

/* When a run ended: epochs, or seconds, which are simulated with a fabric. */
static void put_when(char *out, size_t cap, const struct leat_poets_fabric_options *f,
                     const struct leat_poets_run_result *result)
{
    if (result->epochs)
        snprintf(out, cap, "%llu", (unsigned long long)result->epochs);
    else if (f->net)
        snprintf(out, cap, "%.9f",
                 (double)result->fabric.cycles * (double)f->clock_num / (double)f->clock_den *
                     1e-12);
    else
        snprintf(out, cap, "%.6f", result->seconds);
}

static void begin_states(void *context, const struct leat_poets_run_result *result)
{
    struct graph_files *files = context;
    char when[40];
    const struct leat_poets_snapshot_head head = {
        .when = when,
        .reason = leat_poets_run_reason_name(result->reason),
        .resumable = result->resumable,
        .idle_steps = result->resumable ? result->idle_steps_done : 0
    };
    put_when(when, sizeof when, files->fabric, result);
    if (!is_open(files, &files->snapshot)) return;
    leat_poets_snapshot_begin(&files->snapshot.out.text, files->machine, &head);
}

static void put_state(void *context, uint32_t index, bool of_edges, uint64_t wants,
                      const uint8_t *octets)
{
    struct graph_files *files = context;
    struct leat_text *out = &files->snapshot.out.text;
    if (!files->snapshot.name) return;
    if (of_edges)
        leat_poets_snapshot_edges(out, files->machine, index, octets);
    else
        leat_poets_snapshot_device(out, files->machine, index, wants, octets);
}

void graph_files_begin(struct graph_files *files, struct graph_job *job)
{
    files->machine = &job->task[0]->machine;
    files->fabric = &job->run.fabric;
    files->job = job;
    if (files->record.name) begin_record(files, job);
    if (!files->snapshot_name) return;
    job->task[0]->run.watch.states = begin_states;
    job->task[0]->run.watch.state = put_state;
}

/* In a sandbox: another process keeps it. */
static bool close_file(struct graph_files *files, struct result_file *file, bool is_record)
{
    if (!files->kept) return result_file_close(file, true);
    return *(is_record ? &files->kept->record : &files->kept->snapshot) = result_file_finish(file);
}

bool graph_files_close(struct graph_files *files, const struct leat_poets_run_options *run,
                       const struct leat_poets_run_result *result)
{
    bool done = !files->record_name || is_open(files, &files->record);
    if (files->record.name) done = close_file(files, &files->record, true);
    if (files->record_name && result->packets > run->watch.packets_max)
        caution("the first %llu of %llu packets are recorded (--record-packets)",
                (unsigned long long)run->watch.packets_max, (unsigned long long)result->packets);
    if (!files->snapshot.name) return done && !files->failed;
    leat_poets_snapshot_end(&files->snapshot.out.text);
    return close_file(files, &files->snapshot, false) && done;
}

static bool keep_file(struct result_file *file, bool is_written)
{
    if (!file->name || !is_written) return true; /* graph_files_drop */
    close(file->out.fd);
    file->finished = true;
    return result_file_keep(file);
}

bool graph_files_keep(struct graph_files *files, const struct graph_kept *kept)
{
    const bool done = keep_file(&files->record, kept->record);
    return keep_file(&files->snapshot, kept->snapshot) && done;
}

#endif
