/* Shared by the parts of `leat sim`: the job, the simulation, and its result. */
#ifndef LEAT_TOOL_SIM_H
#define LEAT_TOOL_SIM_H

#include "net_steady.h"
#include "sim_atm_check_load.h"
#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include "sim_recorder.h"
#include "tool.h"

#define SIM_CYCLES_MAX UINT64_C(1000000000000000)
enum {
    SIM_LOAD_DECIMALS = 6,
    SIM_LOAD_ONE = 1000000, /* a load is counted in parts of this */
    SIM_PERCENT = SIM_LOAD_ONE / 100,
    SIM_LOCKED_MAX = 64, /* ports that are listed */
};

/* Options of ATM fabrics that leat sim and leat run have. */
#define OPTIONS_OF_ATM                                                                        \
    { "--descriptors", "N", "ATM: messages of a source at a time; default 32" },              \
        { "--retransmit", "CYCLES", "ATM: until a cell is sent again; default 400000" },      \
        { "--obsolete", "CYCLES", "ATM: until a unit discards a message; default 40000" },    \
        { "--transmissions", "N", "ATM: of a cell, until it is given up; default 8" },        \
        { "--no-resync", NULL, "ATM: do not resynchronise after that, as in the prototype" }, \
        { "--bit-errors", "H,P", "ATM: chances per bit of header and of payload" },           \
        { "--lose", "CHANCE", "ATM: that a cell is lost" },                                   \
        { "--insert", "CHANCE", "ATM: that a stray cell follows a cell" },                    \
        { "--duplicate", "CHANCE", "ATM: that a cell is duplicated" },                        \
        { "--hec", NULL, "ATM: headers are protected on the lines" },                         \
    {                                                                                         \
        "--dead", "PORTS", "ATM: PORT or PORT@FROM..TO, with commas between"                  \
    }

/* Options of leat sim that shape a run; leat sweep hands them on. */
#define OPTIONS_OF_A_RUN                                                                       \
    { "--cycles", "N", "how long, 1 to 10^15; default 1000000, networks 100000" },             \
        { "--model", "M", "of ATM fabrics: rtl or cell (default)" },                           \
        { "--bytes", "B", "of a message, 0 to 67912; default 16, which fills a cell" },        \
        { "--blocks", "N", "ATM: cells in each buffer of a unit, 1 to 65534; default 1887" },  \
        OPTIONS_OF_ATM, { "--flits", "N", "networks: of a packet, 1 to 65535; default 1" },    \
        { "--warmup", "CYCLES", "networks: excluded from results; default auto: detected" },   \
        { "--hot", "PERCENT", "networks: of hotspot traffic to terminal 0; default 25" },      \
        { "--burst", "N", "networks: packets of a burst, on average; default 10" },            \
        { "--fault", "F", "networks: a link, flap, router, port or ber; may be given again",   \
          true },                                                                              \
        { "--fault-file", "FILE", "networks: a fault per line" },                              \
        { "--flit-bits", "N", "networks: of a flit, for bit errors; default 64" },             \
        { "--links", NULL, "networks: report the flits over each wire (JSON), up to 131072" }, \
    {                                                                                          \
        "--unsafe", NULL, "networks: run even if routing can deadlock"                         \
    }

/* The job, as the options describe it. */
struct sim_job {
    struct leat_sim_atm_fabric fabric;
    const char *name;
    enum leat_sim_atm_model model;
    bool check_load; /* W: plain sources and sinks; otherwise AAL units and the pattern */
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t load; /* 0 .. SIM_LOAD_ONE */
    uint32_t bytes;
    uint64_t cycles, seed;
    struct leat_atm_aal_config aal;
    struct leat_sim_atm_line_config line;
    struct leat_sim_atm_line_outage outage[LEAT_SIM_ATM_LINE_OUTAGES_MAX];
    const char *record; /* file, or NULL */
    bool json;
};

/* The result. */
struct sim_result {
    uint64_t cycles; /* fewer than requested after an interrupt */
    double wall_seconds;
    uint64_t cells_offered, cells_delivered;
    uint64_t certificate, delivery_hash;
    uint64_t last_delivery_at; /* 0: nothing was delivered */
    const struct leat_sim_atm_counts *network;
    const struct leat_sim_histogram *latency;
    /* All zeros with W. */
    struct leat_sim_atm_load_counts messages;
    uint64_t gaps;      /* streams that wait for a discarded cell */
    bool dead;          /* deadlocked: nothing moves any more, and the run has ended there */
    uint32_t locked;    /* ports; then the first of them: */
    struct sim_locked { /* since when it has neither sent nor received */
        uint32_t port;
        uint64_t since;
    } lock[SIM_LOCKED_MAX];
    struct leat_net_steady_result steady;
    struct leat_atm_aal_counts units;
    struct leat_sim_atm_line_counts lines;
};

/* ---- the command line (sim_options.c) ---- */

/* False after a complaint. */
struct leat_fabric_atm;
bool sim_read_job(const struct arguments *args, const struct leat_fabric_atm *atm,
                  struct sim_job *job);

/* Errors on the lines of an ATM fabric with this many ports; `outage` has room for
 * LEAT_SIM_ATM_LINE_OUTAGES_MAX and is lent to the line. False after a complaint. */
bool sim_read_lines(const struct arguments *args, uint32_t ports,
                    struct leat_sim_atm_line_config *line, struct leat_sim_atm_line_outage *outage);

/* Its units: how soon, and how often, they retransmit unacknowledged data; how long, and how much,
 * they keep unread data; whether a stream resynchronises after cells were discarded, or behaves as
 * in the prototype (--no-resync). False after a complaint. */
bool sim_read_units(const struct arguments *args, struct leat_atm_aal_config *aal);

/* --model: rtl, or cell by default. False after a complaint. */
bool sim_read_model(const struct arguments *args, enum leat_sim_atm_model *out);
const char *sim_model_name(enum leat_sim_atm_model model);

/* The value of --load, if given; warns if it is rounded. False after a complaint. */
bool sim_take_load(const struct arguments *args, uint32_t *out);

/* Times are counted in picoseconds of 64 bits: does the last cycle fit? `with` precedes "this
 * clock". False after a complaint. */
struct leat_sim_clock;
bool sim_check_cycles(const struct arguments *args, uint64_t cycles,
                      const struct leat_sim_clock *clock, const char *with);

/* ---- running (sim_run.c) ---- */

/* Cells of a message with this many octets. */
uint32_t sim_cells_of(uint32_t octets);

/* DONE, or FAILED after a complaint. *result is lent until the next run. */
int sim_run(const struct sim_job *job, struct sim_result *result);

/* Memory for a simulation, zeroed; NULL after a complaint. */
void *sim_memory(size_t len);

/* ---- showing (sim_show.c) ---- */

void sim_put_text(const struct sim_job *job, const struct sim_result *result);
void sim_put_json(const struct sim_job *job, const struct sim_result *result);

/* ---- recording (sim_record.c) ---- */

/* From now on records what the hosts of a network do and receive. `load`: the hosts have AAL units,
 * whose messages are recorded too; or NULL. False after a complaint. */
bool sim_record_open(const char *path, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load);

/* Ends it; nothing happens after cycle `last`. False after a complaint. */
bool sim_record_close(uint64_t last);

/* The same as part of another recording: declares its tracks in `group`, after all other tracks,
 * and passes its events to `put`, in order of time. False after a complaint. */
typedef void sim_record_put(const struct leat_sim_event *e);
bool sim_record_join(struct leat_sim_recorder *recorder, uint32_t group, sim_record_put *put,
                     struct leat_sim_atm *network, struct leat_sim_atm_load *load);
/* Passes on the cells that have begun up to cycle `now`. */
void sim_record_catch_up(uint64_t now);
/* Also allowed if it has not joined. */
void sim_record_leave(void);

#endif
