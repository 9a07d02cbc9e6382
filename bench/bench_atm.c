/*
 * Speed of the cell network at both granularities, AAL units and hosts included. Both models run
 * in turns within one process, in steady state, and the best of several pieces counts, since
 * machines are noisy.
 *
 *   bench_atm [--json FILE] [--large]
 *   bench_atm --network FABRIC CYCLES
 *
 * --large: a network of 4,096 ports, with the memory that it takes. --network: nothing but this
 * one, in one piece, for cachegrind (a longer run less a shorter one) and to compare two builds.
 */
#include "figures.h"
#include "sim_atm_check_load.h"
#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    REPEATS = 5,
    WARM_UP_CYCLES = 100000, /* unit timers and host queues reach their steady state */
    RTL_CYCLES = 100000,
    CELL_CYCLES = 1000000,
    LARGE_CYCLES = 4000,
    LARGE_PIECES = 5,
    CELL_TIME = LEAT_ATM_CELL_LEN,
    FULL_LOAD = 1000000, /* parts per million */
};

static struct leat_sim_atm_fabric fabric_of(const char *name)
{
    struct leat_sim_atm_fabric fabric;
    char line[256];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_sim_atm_fabric_parse(name, &fabric, &why)) {
        fprintf(stderr, "bench_atm: '%s': %s\n", name, line);
        exit(2);
    }
    return fabric;
}

static void *memory_of(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory) {
        fprintf(stderr, "bench_atm: no memory: %zu octets\n", len);
        exit(1);
    }
    return memory;
}

/* ---- a network with AAL units --------------------------------------------------------------- */

struct network {
    struct leat_sim_atm_load load;
    struct leat_sim_atm_traffic traffic;
    struct leat_sim_atm_traffic_source *source;
    uint32_t *partner;
    void *memory;
    size_t memory_len;
    uint64_t cycle;
};

static bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct network *n = context;
    out->len = LEAT_SIM_ATM_LOAD_BYTES_DEFAULT;
    return leat_sim_atm_traffic_next(&n->traffic, &n->source[port], port, &out->at, &out->to);
}

static void set_up(struct network *n, const char *name, enum leat_sim_atm_model model,
                   uint32_t load_ppm)
{
    const struct leat_sim_atm_fabric fabric = fabric_of(name);
    const uint32_t ports = fabric.net.ports;
    struct leat_sim_atm_load_config config = { .fabric = fabric,
                                               .model = model,
                                               .len_max = LEAT_SIM_ATM_LOAD_BYTES_DEFAULT,
                                               .next = next_message,
                                               .next_context = n };
    leat_atm_aal_config_default(&config.aal, 0, ports, fabric.net.paths);
    n->source = memory_of(ports * sizeof *n->source);
    n->partner = memory_of(ports * sizeof *n->partner);
    leat_sim_atm_traffic_init(&n->traffic, LEAT_SIM_ATM_TRAFFIC_UNIFORM, ports, load_ppm,
                              (uint64_t)CELL_TIME << LEAT_SIM_ATM_TRAFFIC_TIME_BITS, 1, n->partner);
    for (uint32_t port = 0; port < ports; port++)
        leat_sim_atm_traffic_source_init(&n->source[port], 1, port);
    n->memory_len = leat_sim_atm_load_footprint(&config);
    n->memory = memory_of(n->memory_len);
    leat_sim_atm_load_init(&n->load, &config, n->memory);
    n->cycle = 0;
}

static void tear_down(struct network *n)
{
    free(n->memory);
    free(n->source);
    free(n->partner);
}

/* Millions of cycles per second over a piece. */
static double piece_speed(struct network *n, uint64_t cycles)
{
    const double start = now_ns();
    n->cycle += cycles;
    leat_sim_atm_load_run(&n->load, n->cycle);
    return 1e3 * (double)cycles / (now_ns() - start);
}

struct speeds {
    double rtl, cell;
};

static void take_best(struct speeds *best, double rtl, double cell)
{
    if (rtl > best->rtl) best->rtl = rtl;
    if (cell > best->cell) best->cell = cell;
}

static void note_speeds(const char *what, const struct speeds *s, bool saturated)
{
    char name[64];
    snprintf(name, sizeof name, "rtl, %s", what);
    note(name, s->rtl, "Mcycles/s", saturated ? "at least 0.7" : "", s->rtl >= 0.7);
    snprintf(name, sizeof name, "cell, %s", what);
    note(name, s->cell, "Mcycles/s", saturated ? "at least 10" : "", s->cell >= 10);
    snprintf(name, sizeof name, "cell / rtl, %s", what);
    note(name, s->cell / s->rtl, "x", saturated ? "at least 10" : "", s->cell >= 10 * s->rtl);
}

static void measure_units(uint32_t load_ppm)
{
    static struct network rtl, cell;
    struct speeds best = { 0 };
    char what[32];
    set_up(&rtl, "clos444", LEAT_SIM_ATM_RTL, load_ppm);
    set_up(&cell, "clos444", LEAT_SIM_ATM_CELL, load_ppm);
    piece_speed(&rtl, WARM_UP_CYCLES);
    piece_speed(&cell, WARM_UP_CYCLES);
    for (int i = 0; i < REPEATS; i++) {
        const double r = piece_speed(&rtl, RTL_CYCLES);
        take_best(&best, r, piece_speed(&cell, CELL_CYCLES));
    }
    if (!cell.load.counts.messages_delivered) abort(); /* the timed work must have been done */
    snprintf(what, sizeof what, "AAL units, load %.1f", (double)load_ppm / FULL_LOAD);
    note_speeds(what, &best, load_ppm == FULL_LOAD);
    tear_down(&rtl);
    tear_down(&cell);
}

/* ---- the check workload, saturated ----------------------------------------------------------- */

static double check_speed(enum leat_sim_atm_model model, uint64_t cycles)
{
    static struct leat_sim_atm_check_load w;
    const struct leat_sim_atm_fabric fabric = fabric_of("clos444");
    void *memory = memory_of(leat_sim_atm_check_load_footprint(&fabric, model));
    leat_sim_atm_check_load_init(&w, &fabric, model, 1, 100, cycles, memory);
    const double start = now_ns();
    leat_sim_atm_check_load_run(&w, cycles);
    const double speed = 1e3 * (double)cycles / (now_ns() - start);
    if (!w.delivered) abort();
    free(memory);
    return speed;
}

static void measure_check(void)
{
    struct speeds best = { 0 };
    for (int i = 0; i < REPEATS; i++) {
        const double r = check_speed(LEAT_SIM_ATM_RTL, RTL_CYCLES);
        take_best(&best, r, check_speed(LEAT_SIM_ATM_CELL, CELL_CYCLES));
    }
    note_speeds("W, load 1.0", &best, true);
}

/* ---- an idle network ------------------------------------------------------------------------- */

static const uint64_t idle_cycles = UINT64_C(1000000000000);

/* One message before the silence, one after it. */
static bool next_of_two(void *context, uint32_t port, struct leat_sim_message *out)
{
    int *sent = context;
    if (port != 1 || *sent == 2) return false;
    *out = (struct leat_sim_message){ .at = *sent ? idle_cycles - 1000 : 0, .to = 5, .len = 4 };
    ++*sent;
    return true;
}

static void measure_idle(enum leat_sim_atm_model model, const char *name)
{
    static struct leat_sim_atm_load load;
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        int sent = 0;
        struct leat_sim_atm_load_config config = { .fabric = fabric_of("clos444"),
                                                   .model = model,
                                                   .len_max = 4,
                                                   .next = next_of_two,
                                                   .next_context = &sent };
        leat_atm_aal_config_default(&config.aal, 0, 16, 4);
        void *memory = memory_of(leat_sim_atm_load_footprint(&config));
        leat_sim_atm_load_init(&load, &config, memory);
        const double start = now_ns();
        leat_sim_atm_load_run(&load, idle_cycles);
        const double speed = (double)idle_cycles / (now_ns() - start);
        if (load.counts.messages_delivered != 2) abort();
        if (speed > best) best = speed;
        free(memory);
    }
    note(name, best, "Gcycles/s", "at least 1", best >= 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum {
    CROSSPOINTS = 16,
    BUFFER_CELLS = LEAT_SIM_ATM_FABRIC_BUFFER_DEFAULT
}; /* of a 4 x 4 switch */

/* The registers and routing tables of a switch: its memory without queues. */
static double rtl_switch_kb(void)
{
    const struct leat_atm_bmx_config config = { .inputs = 4,
                                                .outputs = 4,
                                                .cells = BUFFER_CELLS,
                                                .header_len = LEAT_ATM_VP_HEADER,
                                                .depth = LEAT_ATM_CLOS_DEPTH_MIN };
    const size_t queues = (size_t)CROSSPOINTS * BUFFER_CELLS * LEAT_ATM_CELL_LEN;
    return (double)(leat_atm_bmx_footprint(&config) - queues) / 1024;
}

/* A network takes a fixed amount of memory for each cell of its queues; the rest is what it would
 * take without any, for its ports and switches. */
static double cell_switch_kb(void)
{
    const struct leat_sim_atm_fabric one = fabric_of("clos444/buffer=1");
    const struct leat_sim_atm_fabric two = fabric_of("clos444/buffer=2");
    const double with_one = (double)leat_sim_atm_footprint(&one, LEAT_SIM_ATM_CELL);
    const double with_two = (double)leat_sim_atm_footprint(&two, LEAT_SIM_ATM_CELL);
    const double ports = (double)one.net.ports * sizeof(struct leat_sim_atm_port);
    return (2 * with_one - with_two - ports) / one.net.switch_count / 1024;
}

static void measure_memory(void)
{
    const double rtl = rtl_switch_kb(), cell = cell_switch_kb();
    note("rtl, memory per 4x4 switch without queues", rtl, "KB", "at most 8", rtl <= 8);
    note("cell, memory per 4x4 switch without queues", cell, "KB", "at most 8", cell <= 8);
}

static double resident_gb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e9;
}

static void measure_large(void)
{
    static struct network n;
    double best = 0;
    set_up(&n, "clos:64,64,64", LEAT_SIM_ATM_CELL, FULL_LOAD / 2);
    for (int i = 0; i < LARGE_PIECES; i++) {
        const double speed = piece_speed(&n, LARGE_CYCLES);
        if (speed > best) best = speed;
    }
    if (!n.load.counts.messages_delivered) abort();
    note("4,096 ports, cell, AAL units, load 0.5", 1e3 * best, "kcycles/s", "", true);
    note("4,096 ports, cells delivered", (double)n.load.counts.cells_delivered, "cells", "", true);
    note("4,096 ports, memory if all of it is touched", (double)n.memory_len / 1e9, "GB", "", true);
    const double resident = resident_gb();
    note("4,096 ports, peak of resident memory", resident, "GB", "under 4", resident < 4);
    tear_down(&n);
}

/* At load 0.5, as the large one. */
static int measure_alone(const char *name, const char *cycles_text)
{
    static struct network n;
    char *end;
    const uint64_t cycles = strtoull(cycles_text, &end, 10);
    if (*end || cycles == 0) {
        fprintf(stderr, "bench_atm: '%s', expected a number of cycles\n", cycles_text);
        return 2;
    }
    set_up(&n, name, LEAT_SIM_ATM_CELL, FULL_LOAD / 2);
    const double speed = 1e3 * piece_speed(&n, cycles);
    const double messages = (double)n.load.counts.messages_delivered;
    note("cell, AAL units, load 0.5", speed, "kcycles/s", "", true);
    note("messages delivered", messages, "messages", "", true);
    note("time of a message", 1e6 * (double)cycles / speed / messages, "ns", "", true);
    printf("certificate %016llx\n",
           (unsigned long long)leat_sim_certificate_value(&n.load.certificate));
    tear_down(&n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--network") == 0) return measure_alone(argv[2], argv[3]);
    const char *json = NULL;
    bool large = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--large") == 0) {
            large = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else {
            fprintf(stderr,
                    "bench_atm: '%s', expected --json FILE, --large or --network FABRIC CYCLES\n",
                    argv[i]);
            return 2;
        }
    }
    const uint32_t loads[] = { 100000, 500000, 900000, FULL_LOAD };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        measure_units(loads[i]);
    measure_check();
    measure_idle(LEAT_SIM_ATM_RTL, "rtl, idle");
    measure_idle(LEAT_SIM_ATM_CELL, "cell, idle");
    measure_memory();
    if (large) measure_large();
    return json ? write_json(json) : 0;
}
