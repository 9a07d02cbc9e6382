/* leat ring sort, majority, ...: algorithms built on the commands, on a simulated ring. */
#include "aton_expression.h"
#include "ring_job.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIER_BITS_MAX = 1000000000, BARRIER_RANDOM_BITS = 10000 };

/* ---- common output --------------------------------------------------------------------------- */

static void put_field(struct ring_query *a, const struct ring_field *field)
{
    ring_json_field(&a->out.json, field);
    if (field->is_there)
        text_print(a->text, "  %-22s %20" PRIu64 "\n", field->label, field->value);
    else
        text_print(a->text, "  %-22s %20s\n", field->label, "none");
}

static void put(struct ring_query *a, const char *key, const char *label, bool is_there,
                uint64_t value)
{
    const struct ring_field field = { key, label, is_there, value };
    put_field(a, &field);
}

/* `more`: bit times of the host-based method besides its n-1 packets. */
static int end(struct ring_query *a, uint64_t more)
{
    const uint64_t host_based = ring_host_based(a) + more;
    ring_json_close(a, host_based);
    text_print(a->text, "  %-22s %20u  stations that took part\n", "Counter", a->packet.counter);
    text_print(a->text, "  %-22s %20u\n", "packets", a->packets);
    text_print(a->text, "  %-22s %20" PRIu64 "  closed form %" PRIu64 "\n", "bit times",
               a->bit_times, a->expected);
    text_print(a->text, "  %-22s %20" PRIu64 "  %u packets\n", "host-based", host_based,
               ring_host_based_packets(a) + (more != 0));
    text_print(a->text, "  %-22s     %016" PRIx64 "\n", "certificate", ring_certificate(a));
    return DONE;
}

/* The beginning, and the answer of the word's packet. */
static void put_answer(struct ring_query *a)
{
    struct ring_field field[RING_FIELDS_MAX];
    const unsigned count = ring_fields(a->job->word, &a->packet, field);
    ring_begin(a, a->job->word);
    for (unsigned i = 0; i < count; i++)
        put_field(a, &field[i]);
}

static int issue(struct ring_query *a, unsigned opcode)
{
    const struct leat_aton_order order = ring_order(a->job, opcode);
    return ring_issue(a, &order, a->ring.now);
}

/* ---- long packets --------------------------------------------------------------------------- */

static int sort(struct ring_query *a, unsigned opcode)
{
    const unsigned octets = a->job->command.width_bits / 8;
    const int code = issue(a, opcode);
    if (code) return code;
    ring_begin(a, a->job->word);
    leat_json_array(&a->out.json, "values");
    text_print(a->text, "  values\n");
    for (size_t i = 0; i < a->packet.payload_len / octets; i++) {
        uint64_t value = 0;
        for (unsigned k = 0; k < octets; k++)
            value = value << 8 | a->payload[i * octets + k];
        leat_json_uint(&a->out.json, NULL, value);
        text_print(a->text, "  %43" PRIu64 "\n", value);
    }
    leat_json_end(&a->out.json);
    return end(a, 0);
}

static int majority(struct ring_query *a, unsigned opcode)
{
    int code = issue(a, opcode);
    if (code) return code;
    struct leat_aton_order verify = ring_order(a->job, LEAT_ATON_EQ);
    verify.command.value_given = true;
    verify.command.value = leat_aton_candidate(&a->packet);
    code = ring_issue(a, &verify, a->ring.now);
    if (code) return code;
    put_answer(a);
    return end(a, 0);
}

static int tree(struct ring_query *a, unsigned opcode)
{
    uint64_t value = 0;
    const int code = issue(a, opcode);
    if (code) return code;
    const struct leat_aton_interface *sender = leat_sim_aton_registers(&a->ring, a->job->from);
    const bool any = a->job->program
                         ? leat_aton_expression_value(&a->packet, a->job->leaves, &value)
                         : leat_aton_tree(sender, &a->packet, &value);
    if (a->job->program && !any)
        return fail("no answer: not all stations of the expression took part");
    ring_begin(a, a->job->word);
    put(a, "value", "the tree comes to", any, value);
    return end(a, 0);
}

/* ---- one command ---------------------------------------------------------------------------- */

static int one(struct ring_query *a, unsigned opcode)
{
    const int code = issue(a, opcode);
    if (code) return code;
    put_answer(a);
    return end(a, 0);
}

static int least_loaded(struct ring_query *a, unsigned opcode)
{
    const int code = issue(a, opcode);
    if (code) return code;
    if (!ring_is_set(&a->packet)) return FAILED;
    put_answer(a);
    return end(a, 0);
}

/* The seed's DIB: requests work from the station with the highest priority. */
static int work(struct ring_query *a, unsigned opcode)
{
    const uint16_t own = (uint16_t)(a->job->from + 1);
    const uint8_t request[2] = { (uint8_t)(own >> 8), (uint8_t)own };
    int code = issue(a, opcode);
    const struct leat_aton_packet found = a->packet;
    const bool requests = code == DONE && found.counter && found.variable2 != own;
    const struct leat_aton_order order = { .is_passive = true,
                                           .command = { .da = (uint16_t)found.variable2 },
                                           .octets = request,
                                           .octets_len = sizeof request };
    if (requests) code = ring_issue(a, &order, a->ring.now);
    if (code) return code;
    a->packet = found;
    put_answer(a);
    put(a, "requested", "request was copied", requests, a->result.result.copied);
    return end(a, requests ? a->result.at - a->result.sent_at : 0);
}

/* ---- barrier -------------------------------------------------------------------------------- */

static const struct ring_job *sorted_by; /* for qsort, which has no context */

static int by_arrival(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const uint64_t x = sorted_by->operand[i], y = sorted_by->operand[k];
    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* Stations raise their flags as they arrive. */
static leat_time arrive(struct ring_query *a)
{
    const struct ring_job *job = a->job;
    for (; a->arrived < job->stations; a->arrived++) {
        const uint32_t station = a->arrivals[a->arrived];
        if (job->operand[station] > a->ring.now) return job->operand[station];
        leat_sim_aton_registers(&a->ring, station)->operand[job->command.reg] = 1;
    }
    return LEAT_NEVER;
}

static bool read_arrivals(struct ring_query *a)
{
    const struct ring_job *job = a->job;
    const char *file = argument(job->args, "--operands");
    const bool is_random = !file || strcmp(file, "random") == 0;
    a->arrivals = calloc(job->stations, sizeof *a->arrivals);
    if (!a->arrivals) return complain("no memory");
    for (uint32_t i = 0; i < job->stations; i++) {
        a->arrivals[i] = i;
        if (is_random) job->operand[i] %= BARRIER_RANDOM_BITS;
        if (job->operand[i] > BARRIER_BITS_MAX)
            return complain("%s: station %u arrives at %" PRIu64 ", expected at most %d", file,
                            i + 1, job->operand[i], BARRIER_BITS_MAX);
        leat_sim_aton_registers(&a->ring, i)->operand[job->command.reg] = 0;
    }
    sorted_by = job;
    qsort(a->arrivals, job->stations, sizeof *a->arrivals, by_arrival);
    return true;
}

static leat_time last_arrival(const struct ring_job *job)
{
    leat_time last = 0;
    for (uint32_t i = 0; i < job->stations; i++)
        if (job->enabled[i] && job->operand[i] > last) last = job->operand[i];
    return last;
}

/* Operands are the bit times at which stations arrive; queries the AND of their flags until it is
 * 1. */
static int barrier(struct ring_query *a, unsigned opcode)
{
    int code = read_arrivals(a) ? DONE : WRONG;
    a->meanwhile = arrive;
    do {
        if (code == DONE) code = issue(a, opcode);
    } while (code == DONE && !(a->packet.variable1 & 1));
    free(a->arrivals);
    if (code) return code;
    ring_begin(a, a->job->word);
    put(a, "arrived_at", "last station arrives", true, last_arrival(a->job));
    put(a, "passed_at", "barrier is passed", true, a->result.at);
    return end(a, 0);
}

/* ---- by name -------------------------------------------------------------------------------- */

int ring_algorithm(const struct ring_job *job)
{
    static const struct {
        const char *word;
        int (*run)(struct ring_query *a, unsigned opcode);
        unsigned opcode;
    } all[] = {
        { "sort", sort, LEAT_ATON_SORT },
        { "majority", majority, LEAT_ATON_BITCOUNT },
        { "tree", tree, LEAT_ATON_TREE },
        { "average", one, LEAT_ATON_ADD },
        { "gvt", one, LEAT_ATON_MIN },
        { "barrier", barrier, LEAT_ATON_AND },
        { "elect", one, LEAT_ATON_MAX },
        { "work", work, LEAT_ATON_MAX },
        { "least-loaded", least_loaded, LEAT_ATON_MIN },
    };
    size_t i = 0;
    while (strcmp(all[i].word, job->word) != 0) /* the verb has a row for each */
        i++;
    struct ring_query a;
    int code = ring_open(&a, job);
    if (code == DONE) code = all[i].run(&a, all[i].opcode);
    return ring_close(&a, code);
}
