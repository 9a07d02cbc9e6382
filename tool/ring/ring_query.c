/* A simulated ring, and packets that are sent round it one after the other. */
#include "ring_job.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ORDERS = 4, MISSING_NAMED_MAX = 8, WHY_CAP = 256 };

/* Is this station to take part? One that left the ring is not, unless it alone is addressed. */
static bool is_addressed(const struct ring_query *a, uint32_t station)
{
    const struct ring_job *job = a->job;
    if (!ring_is_meant(job, station)) return false;
    const bool alone = !job->member && job->command.da == station + 1;
    return station == job->from || alone || leat_sim_aton_is_present(&a->ring, station);
}

static const uint64_t memory_max = UINT64_C(4) << 30;

/* Interfaces remember until the next packet whether they took part in this one. In the word model
 * no packet is damaged: every station that it meets takes part. */
static bool takes_part(const struct ring_query *a, uint32_t station)
{
    if (station == a->job->from) return ring_is_meant(a->job, station);
    if (!leat_sim_aton_is_present(&a->ring, station)) return false;
    return a->ring.by_bits ? leat_sim_aton_station(&a->ring, station)->takes_part
                           : is_addressed(a, station);
}

static void on_done(void *context, const struct leat_sim_aton_result *result)
{
    struct ring_query *a = context;
    const struct leat_aton_command *c = &result->order->command;
    a->result = *result;
    a->is_done = true;
    for (uint32_t i = 0; i < a->job->stations; i++)
        a->took_part[i] = takes_part(a, i);
    a->ring.stop = true;
    memcpy(a->payload, result->payload ? result->payload : a->payload, result->result.payload_len);
    a->packet = (struct leat_aton_packet){
        .active = !result->order->is_passive,
        .opcode = c->opcode,
        .width_bits = c->width_bits,
        .reg = c->reg,
        .group = c->group,
        .da = c->da,
        .counter = result->result.counter,
        .param = c->param,
        .variable1 = result->result.variable1,
        .variable2 = result->result.variable2,
        .payload = a->payload,
        .payload_len = result->result.payload_len,
    };
    if (a->record) ring_record_done(a);
}

/* The length of the longest answer: SORT's, or TREE's slots. */
static uint32_t payload_of(const struct ring_job *job)
{
    const bool is_long = strcmp(job->word, "sort") == 0 || strcmp(job->word, "majority") == 0 ||
                         strcmp(job->word, "tree") == 0;
    const uint32_t sorted = strcmp(job->word, "sort") == 0 ? 8 * job->stations : 0;
    if (!is_long) return 16;
    return sorted > 256 ? sorted : 256;
}

static bool check(const struct leat_sim_aton_config *config)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (leat_sim_aton_check(config, &why) != LEAT_ERR_OK)
        return complain("%.*s", (int)why.len, why.buf);
    if (leat_sim_aton_footprint(config) <= memory_max) return true;
    return complain(
        "this ring would take %zu octets of memory, expected at most %llu: fewer stations",
        leat_sim_aton_footprint(config), (unsigned long long)memory_max);
}

static void fill_registers(struct ring_query *a)
{
    for (uint32_t i = 0; i < a->job->stations; i++) {
        struct leat_aton_interface *it = leat_sim_aton_registers(&a->ring, i);
        it->operand[a->job->command.reg] = a->job->operand[i];
        it->enabled = a->job->enabled[i];
        memcpy(it->tree, a->job->program ? a->job->program[i] : a->job->tree, sizeof it->tree);
        it->groups = a->job->member && a->job->member[i];
    }
}

int ring_open(struct ring_query *a, const struct ring_job *job)
{
    *a = (struct ring_query){ .job = job,
                              .payload_max = payload_of(job),
                              .text = job->json ? NULL : stdout };
    const struct leat_sim_aton_config config = {
        .stations = job->stations,
        .propagation_each = job->propagation,
        .delay = job->delay,
        .model = job->model,
        .monitor = job->from, /* as in the closed form of the host-based method */
        .payload_max = a->payload_max,
        .orders_max = ORDERS,
        .faults_max = job->faults,
    };
    const struct leat_sim_aton_host host = {
        .context = a,
        .done = on_done,
        .begins = job->record ? ring_record_begins : NULL,
        .visited = job->record ? ring_record_visited : NULL,
    };
    if (!check(&config)) return WRONG;
    a->memory = sim_memory(leat_sim_aton_footprint(&config));
    a->payload = calloc(1, a->payload_max);
    a->took_part = calloc(job->stations, sizeof *a->took_part);
    if (!a->memory) return FAILED; /* after a complaint */
    if (!a->payload || !a->took_part) return fail("no memory for %u stations", job->stations);
    leat_sim_aton_init(&a->ring, &config, &host, a->memory);
    fill_registers(a);
    for (uint32_t i = 0; i < job->faults; i++)
        leat_sim_aton_fault(&a->ring, &job->fault[i]);
    if (job->vcd) a->wave = ring_wave_open(job->vcd, &a->ring);
    if (job->record) a->record = ring_record_open(job->record, &a->ring);
    return (!job->vcd || a->wave) && (!job->record || a->record) ? DONE : FAILED;
}

static void show_progress(struct progress *progress, leat_time bits)
{
    char rate[PROGRESS_FIGURE_CAP];
    const double seconds = progress_seconds(progress);
    progress_show(progress, "bit time %llu, %s/s", (unsigned long long)bits,
                  progress_figure((double)bits / seconds, rate));
}

/* Runs until there is an answer. Hosts act at their times meanwhile. */
static void run(struct ring_query *a)
{
    struct progress progress;
    progress_begin(&progress, STDERR_FILENO);
    pace_begin(&a->pace);
    while (!a->is_done && !interrupted) {
        const leat_time next = a->meanwhile ? a->meanwhile(a) : LEAT_NEVER;
        const bool by_bits = a->wave || (a->record && a->job->model == LEAT_SIM_ATON_BIT);
        const leat_time piece = a->ring.now + (by_bits ? 1 : a->pace.piece);
        leat_sim_aton_run(&a->ring, next < piece ? next : piece);
        if (a->wave) ring_wave_step(a->wave, &a->ring);
        if (a->record) ring_record_step(a->record);
        if (!by_bits) pace_next(&a->pace);
        if (progress_is_due(&progress)) show_progress(&progress, a->ring.now);
    }
    progress_end(&progress);
}

static uint64_t symbols_of(const struct ring_job *job, const struct leat_aton_order *order)
{
    if (order->is_passive) return LEAT_ATON_FOLD_SYMBOLS + 8u * order->octets_len;
    return leat_aton_symbols(&order->command, job->taking_part);
}

/* "2, 5 and 3 more": those that differ from the request. */
static void name_stations(const struct ring_query *a, bool addressed, char *text, size_t cap)
{
    uint32_t named = 0, more = 0;
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < a->job->stations; i++) {
        if (is_addressed(a, i) != addressed || a->took_part[i] == addressed) continue;
        if (named++ < MISSING_NAMED_MAX)
            used += (size_t)snprintf(text + used, cap - used, "%s%u", used ? ", " : "", i + 1);
        else
            more++;
    }
    if (more) snprintf(text + used, cap - used, " and %u more", more);
}

/* Counter shows what no checksum can: did all addressed stations take part? */
static int judge(const struct ring_query *a)
{
    const uint32_t quorum = a->job->quorum;
    const uint32_t counter = a->result.result.counter;
    uint32_t expected = 0;
    char missing[WHY_CAP], unaddressed[WHY_CAP];
    for (uint32_t i = 0; i < a->job->stations; i++)
        expected += is_addressed(a, i);
    const uint32_t least = quorum ? quorum : expected;
    if (counter >= least && counter <= expected) return DONE;
    name_stations(a, true, missing, sizeof missing);
    name_stations(a, false, unaddressed, sizeof unaddressed);
    return fail("no answer to packet %u: %u stations took part, expected %s%u%s%s%s%s", a->packets,
                counter, quorum ? "at least " : "", least, *missing ? "; missing: " : "", missing,
                *unaddressed ? "; not asked: " : "", unaddressed);
}

int ring_issue(struct ring_query *a, const struct leat_aton_order *order, leat_time at)
{
    static const char *const why[] = { "", "it came back damaged", "it was lost" };
    const struct ring_job *job = a->job;
    a->is_done = false;
    a->order = *order;
    if (!leat_sim_aton_hand_over(&a->ring, job->from, order, 0, at, 0))
        return fail("station %u cannot send it: it has left the ring", job->from + 1);
    run(a);
    if (!a->is_done) return FAILED; /* interrupted */
    a->packets++;
    a->bit_times += a->result.at - a->result.sent_at;
    a->expected += leat_aton_time(symbols_of(job, order), job->stations,
                                  leat_sim_aton_propagation(&a->ring));
    if (a->result.result.status == LEAT_ATON_DONE) return order->is_passive ? DONE : judge(a);
    return fail("no answer to packet %u: %s", a->packets, why[a->result.result.status]);
}

struct leat_aton_order ring_order(const struct ring_job *job, unsigned opcode)
{
    struct leat_aton_order order = { .command = job->command };
    order.command.opcode = (uint8_t)opcode;
    if (opcode == LEAT_ATON_BITCOUNT) order.command.param = leat_aton_counter_bits(job->stations);
    if (opcode == LEAT_ATON_TREE)
        order.command.param = job->program ? job->slots : leat_aton_slots(job->stations);
    return order;
}

/* Packets of those beside the querying station; the token walks to the last of them. */
static uint32_t packets_of(const struct ring_job *job, uint32_t *walk)
{
    uint32_t packets = 0;
    for (uint32_t place = 1; place < job->stations; place++) {
        if (!ring_is_addressed(job, (job->from + place) % job->stations)) continue;
        packets++;
        *walk = place;
    }
    return packets;
}

static uint64_t host_based_of_some(const struct ring_job *job, uint64_t propagation)
{
    uint32_t walk = 0;
    const uint64_t packets = packets_of(job, &walk);
    const uint64_t symbols = LEAT_ATON_FOLD_SYMBOLS + 2u * job->command.width_bits;
    return packets * leat_aton_time(symbols, job->stations, propagation) +
           walk * ((uint64_t)job->delay + job->propagation);
}

uint32_t ring_host_based_packets(const struct ring_query *a)
{
    uint32_t walk = 0;
    return packets_of(a->job, &walk);
}

uint64_t ring_host_based(const struct ring_query *a)
{
    const struct ring_job *job = a->job;
    if (job->member || job->command.da != LEAT_ATON_DA_ALL)
        return host_based_of_some(job, leat_sim_aton_propagation(&a->ring));
    return leat_aton_time_host_based(LEAT_ATON_FOLD_SYMBOLS + 2u * job->command.width_bits,
                                     job->stations, leat_sim_aton_propagation(&a->ring),
                                     job->propagation + job->delay - 1);
}

uint64_t ring_certificate(const struct ring_query *a)
{
    return leat_sim_certificate_value(&a->ring.certificate);
}

struct leat_json *ring_begin(struct ring_query *a, const char *name)
{
    const struct ring_job *job = a->job;
    text_print(a->text, "%s over %u stations, register %u, %u bits, from station %u (%s model)\n",
               name, job->stations, job->command.reg, job->command.width_bits, job->from + 1,
               job->model == LEAT_SIM_ATON_BIT ? "bit" : "word");
    return ring_json_open(&a->out, a->text ? NULL : stdout, name, job->stations, &a->packet);
}

void ring_json_close(struct ring_query *a, uint64_t host_based)
{
    struct leat_json *j = &a->out.json;
    LEAT_JSON_UINTS(j, { "packets", a->packets }, { "bit_times", a->bit_times },
                    { "bit_times_expected", a->expected }, { "host_based_bit_times", host_based });
    json_certificate(j, "certificate", ring_certificate(a));
    json_close(&a->out, json_status());
}

int ring_close(struct ring_query *a, int code)
{
    if (a->wave && !ring_wave_close(a->wave, &a->ring, code == DONE)) code = FAILED;
    if (a->record && !ring_record_close(a->record, code == DONE)) code = FAILED;
    free(a->memory);
    free(a->payload);
    free(a->took_part);
    return finish(code);
}
