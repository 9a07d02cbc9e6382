/* leat ring sim: one command, once round a simulated ring. */
#include "result_file.h"
#include "ring_job.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The meaning of Variable-2. */
static const char *meaning(unsigned opcode, uint32_t counter)
{
    static const char *const of_count[] = { "stations whose operand it equals",
                                            "stations whose operand is larger",
                                            "stations whose operand is not smaller" };
    if (opcode == LEAT_ATON_ADD) return "times the sum went over";
    if (opcode == LEAT_ATON_MAX || opcode == LEAT_ATON_MIN)
        return counter ? "the station that holds it" : "nobody takes part";
    return opcode >= LEAT_ATON_EQ ? of_count[opcode - LEAT_ATON_EQ] : "";
}

static void put_result(struct ring_query *a)
{
    const struct ring_job *job = a->job;
    const struct leat_aton_result *r = &a->result.result;
    const uint64_t host_based = ring_host_based(a);
    struct leat_json *j = ring_begin(a, ring_opcode_name(job->command.opcode));
    leat_json_uint(j, "variable1", r->variable1);
    leat_json_uint(j, "variable2", r->variable2);
    ring_json_close(a, host_based);
    text_print(a->text, "  %-14s %20u  stations that took part\n", "Counter", r->counter);
    text_print(a->text, "  %-14s %20" PRIu64 "\n", "Variable-1", r->variable1);
    text_print(a->text, "  %-14s %20" PRIu64 "  %s\n", "Variable-2", r->variable2,
               meaning(job->command.opcode, r->counter));
    text_print(a->text, "  %-14s %20" PRIu64 "  closed form %" PRIu64 "\n", "bit times",
               a->bit_times, a->expected);
    text_print(a->text, "  %-14s %20" PRIu64 "  %u packets", "host-based", host_based,
               ring_host_based_packets(a));
    if (host_based)
        text_print(a->text, ", %.1f times as long", (double)host_based / (double)a->bit_times);
    text_print(a->text, "\n  %-14s     %016" PRIx64 "\n", "certificate", ring_certificate(a));
}

static int run_command(const struct ring_job *job)
{
    struct ring_query a;
    int code = ring_open(&a, job);
    const struct leat_aton_order order = ring_order(job, job->command.opcode);
    if (code == DONE) code = ring_issue(&a, &order, 0);
    if (code == DONE) put_result(&a);
    return ring_close(&a, code);
}

int ring_simulate(const struct arguments *args)
{
    struct ring_job job;
    const char *vcd = argument(args, "--vcd"), *record = argument(args, "--record");
    struct result_name names[2];
    size_t count = 0;
    if (vcd) names[count++] = (struct result_name){ "--vcd", vcd };
    if (record) names[count++] = (struct result_name){ "--record", record };
    int code = WRONG;
    if (ring_read_job(args, &job) &&
        (!count || result_names_apart(args->verb, names, count, argument(args, "--operands"))))
        code = strcmp(job.word, "sim") == 0 ? run_command(&job) : ring_algorithm(&job);
    ring_job_free(&job);
    return code;
}
