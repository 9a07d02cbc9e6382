#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "graph_snapshot.h"
#include "number.h"
#include "poets_text.h"
#include <leat/capture.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FRAME_LEN_MAX = LEAT_POETS_CARRIAGE_LEN + LEAT_POETS_PACKET_LEN_MAX, BLOCK_LEN_MAX = 256 };

static void put_block(struct graph_files *files, const uint8_t *block, size_t len)
{
    leat_text_put(&files->record.out.text, (const char *)block, len);
}

static void record_packet(void *context, uint64_t time_ns, bool to_host, uint32_t address,
                          const uint8_t *packet, unsigned nflit)
{
    struct graph_files *files = context;
    uint8_t frame[FRAME_LEN_MAX], block[BLOCK_LEN_MAX];
    if (files->packets++ >= files->packets_max) return;
    const size_t len = leat_poets_carriage_put(to_host, address, packet,
                                               (size_t)nflit * LEAT_POETS_FLIT_LEN, frame);
    put_block(files, block, leat_capture_put_packet(block, sizeof block, 0, time_ns, frame, len));
}

/* In a signal handler: removes partial files. */
static void on_crash(void *context)
{
    const struct graph_files *files = context;
    if (files->record.name && files->record.part[0]) unlink(files->record.part);
    if (files->snapshot.name && files->snapshot.part[0]) unlink(files->snapshot.part);
}

static bool read_bound(const struct arguments *args, struct graph_files *files)
{
    files->packets_max = GRAPH_RECORD_DEFAULT;
    if (argument(args, "--record-packets") && !argument(args, "--record"))
        return misused(args->verb, "--record-packets, expected --record with it");
    return number_take(args, "--record-packets", &files->packets_max);
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
    uint8_t block[BLOCK_LEN_MAX];
    if (!is_named(args, "--record") || !is_named(args, "--snapshot") || !read_bound(args, files))
        return false;
    if (record) names[count++] = (struct result_name){ "--record", record };
    if (snapshot) names[count++] = (struct result_name){ "--snapshot", snapshot };
    if (count && !result_names_apart(args->verb, names, count, args->operand[1])) return false;
    if (record && !result_file_open(&files->record, record)) return false;
    if (snapshot && !result_file_open(&files->snapshot, snapshot)) {
        graph_files_drop(files);
        return false;
    }
    run->watch.context = files;
    if (count) run->watch.crashed = on_crash;
    if (!record) return true;
    run->watch.packet = record_packet;
    put_block(files, block, leat_capture_put_section(block, sizeof block));
    put_block(files, block,
              leat_capture_put_interface(block, sizeof block, leat_poets_format.link_type,
                                         leat_poets_format.name));
    return true;
}

void graph_files_drop(struct graph_files *files)
{
    result_file_drop(&files->record);
    result_file_drop(&files->snapshot);
}

/* When a run ended: epochs, or seconds, which are simulated with a fabric. */
static void put_when(char *out, size_t cap, const struct leat_poets_run_options *run,
                     const struct leat_poets_run_result *result)
{
    const struct leat_poets_fabric_options *f = &run->fabric;
    if (result->epochs)
        snprintf(out, cap, "%llu", (unsigned long long)result->epochs);
    else if (f->net)
        snprintf(out, cap, "%.9f",
                 (double)result->fabric.cycles * (double)f->clock_num / (double)f->clock_den *
                     1e-12);
    else
        snprintf(out, cap, "%.6f", result->seconds);
}

bool graph_files_close(struct graph_files *files, const struct leat_poets_run_options *run,
                       const struct leat_poets_machine *machine,
                       const struct leat_poets_run_result *result)
{
    bool done = true;
    char when[40];
    if (files->record.name) done = result_file_close(&files->record, true);
    if (files->packets > files->packets_max)
        caution("the first %llu of %llu packets are recorded (--record-packets)",
                (unsigned long long)files->packets_max, (unsigned long long)files->packets);
    if (!files->snapshot.name) return done;
    put_when(when, sizeof when, run, result);
    leat_poets_machine_snapshot(machine, when, &files->snapshot.out.text);
    return result_file_close(&files->snapshot, true) && done;
}

#endif
