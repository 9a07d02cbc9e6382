/* A simulated ring, and packets that are sent round it one after the other. */
#include "ring_job.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 4, PIECE_BITS = 1 << 16, WHY_CAP = 256 };

static const uint64_t memory_max = UINT64_C(4) << 30;

static void on_done(void *context, const struct leat_sim_ring_result *told)
{
    struct ring_asking *a = context;
    const struct leat_aton_command *c = &told->order->command;
    a->result = *told;
    a->is_told = true;
    a->ring.stop = true;
    memcpy(a->payload, told->payload ? told->payload : a->payload, told->result.payload_len);
    a->packet = (struct leat_aton_packet){
        .active = !told->order->is_passive,
        .opcode = c->opcode,
        .width_bits = c->width_bits,
        .reg = c->reg,
        .da = c->da,
        .counter = told->result.counter,
        .param = c->param,
        .variable1 = told->result.variable1,
        .variable2 = told->result.variable2,
        .payload = a->payload,
        .payload_len = told->result.payload_len,
    };
}

/* What the longest answer takes: SORT's, or TREE's slots. */
static uint32_t payload_of(const struct ring_job *job)
{
    const bool is_long = strcmp(job->word, "sort") == 0 || strcmp(job->word, "majority") == 0 ||
                         strcmp(job->word, "tree") == 0;
    const uint32_t sorted = strcmp(job->word, "sort") == 0 ? 8 * job->stations : 0;
    if (!is_long) return 16;
    return sorted > 256 ? sorted : 256;
}

static bool check(const struct leat_sim_ring_config *config)
{
    char text[WHY_CAP];
    struct leat_text why;
    leat_text_init(&why, text, sizeof text, NULL, NULL);
    if (leat_sim_ring_check(config, &why) != LEAT_ERR_OK) {
        complain("%.*s", (int)why.len, text);
        return false;
    }
    if (leat_sim_ring_footprint(config) <= memory_max) return true;
    complain("this ring would take %zu octets of memory, expected at most %llu: fewer stations",
             leat_sim_ring_footprint(config), (unsigned long long)memory_max);
    return false;
}

static void fill_registers(struct ring_asking *a)
{
    for (uint32_t i = 0; i < a->job->stations; i++) {
        struct leat_aton_interface *it = leat_sim_ring_registers(&a->ring, i);
        it->operand[a->job->command.reg] = a->job->operand[i];
        it->enabled = a->job->enabled[i];
        memcpy(it->tree, a->job->tree, sizeof it->tree);
    }
}

int ring_open(struct ring_asking *a, const struct ring_job *job)
{
    *a = (struct ring_asking){ .job = job, .payload_max = payload_of(job) };
    const struct leat_sim_ring_config config = {
        .stations = job->stations,
        .propagation_each = job->propagation,
        .model = job->model,
        .monitor = job->from, /* as in the closed form of the host-based way */
        .payload_max = a->payload_max,
        .orders_max = ORDERS,
        .faults_max = job->faults,
    };
    const struct leat_sim_ring_host host = { .context = a, .done = on_done };
    if (!check(&config)) return WRONG;
    a->memory = sim_memory(leat_sim_ring_footprint(&config));
    a->payload = calloc(1, a->payload_max);
    if (!a->memory || !a->payload) return FAILED;
    leat_sim_ring_init(&a->ring, &config, &host, a->memory);
    fill_registers(a);
    for (uint32_t i = 0; i < job->faults; i++)
        leat_sim_ring_fault(&a->ring, &job->fault[i]);
    if (!job->vcd) return DONE;
    a->wave = ring_wave_open(job->vcd, &a->ring);
    return a->wave ? DONE : FAILED;
}

/* Until an answer is told. What hosts do meanwhile is done at its time. */
static void run(struct ring_asking *a)
{
    while (!a->is_told && !interrupted) {
        const leat_time next = a->meanwhile ? a->meanwhile(a) : LEAT_NEVER;
        const leat_time piece = a->ring.now + (a->wave ? 1 : PIECE_BITS);
        leat_sim_ring_run(&a->ring, next < piece ? next : piece);
        if (a->wave) ring_wave_step(a->wave, &a->ring);
    }
}

static uint64_t symbols_of(const struct ring_job *job, const struct leat_aton_order *order)
{
    if (order->is_passive) return LEAT_ATON_FOLD_SYMBOLS + 8u * order->octets_len;
    return leat_aton_symbols(&order->command, job->taking_part);
}

int ring_ask(struct ring_asking *a, const struct leat_aton_order *order, leat_time at)
{
    static const char *const why[] = { "", "it came back damaged", "it was lost" };
    const struct ring_job *job = a->job;
    a->is_told = false;
    if (!leat_sim_ring_hand_over(&a->ring, job->from, order, 0, at, 0)) {
        complain("station %u cannot send it: it has left the ring", job->from + 1);
        return FAILED;
    }
    run(a);
    if (!a->is_told) return FAILED; /* interrupted */
    a->packets++;
    a->bit_times += a->result.at - a->result.sent_at;
    a->expected += leat_aton_time(symbols_of(job, order), job->stations,
                                  leat_sim_ring_propagation(&a->ring));
    if (a->result.result.status == LEAT_ATON_DONE) return DONE;
    complain("no answer to packet %u: %s", a->packets, why[a->result.result.status]);
    return FAILED;
}

struct leat_aton_order ring_order(const struct ring_job *job, unsigned opcode)
{
    struct leat_aton_order order = { .command = job->command };
    order.command.opcode = (uint8_t)opcode;
    if (opcode == LEAT_ATON_BITCOUNT) order.command.param = leat_aton_counter_bits(job->stations);
    if (opcode == LEAT_ATON_TREE) order.command.param = leat_aton_slots(job->stations);
    return order;
}

uint64_t ring_host_based(const struct ring_asking *a)
{
    const struct ring_job *job = a->job;
    return leat_aton_time_host_based(LEAT_ATON_FOLD_SYMBOLS + 2u * job->command.width_bits,
                                     job->stations, leat_sim_ring_propagation(&a->ring),
                                     job->propagation);
}

uint64_t ring_certificate(const struct ring_asking *a)
{
    return leat_sim_certificate_value(&a->ring.certificate);
}

int ring_close(struct ring_asking *a, int code)
{
    if (a->wave && !ring_wave_close(a->wave, &a->ring, code == DONE)) code = FAILED;
    free(a->memory);
    free(a->payload);
    return finish(code);
}
