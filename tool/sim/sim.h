/* Shared by the parts of `leat sim`: the job, the simulation, and its result. */
#ifndef LEAT_TOOL_SIM_H
#define LEAT_TOOL_SIM_H

#include "net_faults.h"
#include "net_steady.h"
#include "net_traffic.h"
#include "record_wires.h"
#include "sim_atm_check_load.h"
#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include "tool.h"

#define SIM_CYCLES_MAX UINT64_C(1000000000000000)
enum {
    SIM_BYTES_MAX = 1 << 20,
    SIM_RATE_DECIMALS = 9, /* of a chance */
    SIM_LOAD_DECIMALS = 6,
    SIM_PRECISION_DECIMALS = 6,
    SIM_LOAD_ONE = 1000000, /* a load is counted in parts of this */
    SIM_PERCENT = SIM_LOAD_ONE / 100,
    SIM_LOCKED_MAX = 64, /* ports that are listed */
};

/* clang-format off */

/* Options of ATM fabrics that leat sim and leat run have. */
#define OPTIONS_OF_ATM \
    { "--descriptors", "N", "messages of one source that a unit holds", COUNT(1, UINT16_MAX), \
      .preset = "32", .kinds = "atm" }, \
    { "--retransmit", "CYCLES", "cycles until a cell is sent again", COUNT(1, UINT32_MAX), \
      .preset = "400000", .kinds = "atm" }, \
    { "--obsolete", "CYCLES", "cycles until a unit discards a message", COUNT(1, UINT32_MAX), \
      .preset = "40000", .kinds = "atm" }, \
    { "--transmissions", "N", "transmissions of a cell until it is given up", COUNT(1, UINT8_MAX), \
      .preset = "8", .kinds = "atm" }, \
    { "--no-resync", NULL, "do not resynchronise after that, as in the prototype", \
      .kinds = "atm" }, \
    { "--bit-errors", "H,P", "chances per bit of header and of payload", .kinds = "atm" }, \
    { "--loss", "CHANCE", "chance that a cell is lost", SHARE(SIM_RATE_DECIMALS), .kinds = "atm", \
      .former = "--lose" }, \
    { "--insert", "CHANCE", "chance that a stray cell follows a cell", SHARE(SIM_RATE_DECIMALS), \
      .kinds = "atm" }, \
    { "--duplicate", "CHANCE", "chance that a cell is duplicated", SHARE(SIM_RATE_DECIMALS), \
      .kinds = "atm" }, \
    { "--hec", NULL, "headers are protected on the lines", .kinds = "atm" }, \
    { "--dead", "PORTS", "PORT or PORT@FROM..TO, separated by commas", .kinds = "atm" }

/* Of other kinds, which both have, too. */
#define OPTIONS_OF_FAULTS \
    { "--fault", "F", "as link:3-7@1000..5000 (leat help sim faults)", true, \
      .kinds = "atm flits packetway" }, \
    { "--fault-file", "FILE", "a fault per line", .kinds = "atm flits" }, \
    { "--flit-bits", "N", "bits of a flit, for bit errors", COUNT(1, LEAT_NET_FLIT_BITS_MAX), \
      .preset = "64", .kinds = "flits" }

#define OPTIONS_OF_PACKETWAY \
    { "--forwarding", "HOW", "how routers forward packets", WORD("planned address"), \
      .preset = "planned", .kinds = "packetway" }, \
    { "--cut-through", "YES", "routers do not store packets first", WORD("yes no"), \
      .preset = "yes", .kinds = "packetway" }

/* Options of leat sim that shape a run; leat sweep hands them on. */
#define OPTIONS_OF_A_RUN \
    { "--cycles", "N", "cycles to simulate", COUNT(1, SIM_CYCLES_MAX), \
      .preset = "1e6 (networks of switches 1e5, PacketWay and Ethernets 1e7)" }, \
    { "--bytes", "N", "length of a message", OCTETS(0, SIM_BYTES_MAX), \
      .preset = "16, which fills a cell (PacketWay and Ethernets 64)", \
      .kinds = "atm aton packetway ether" }, \
    { "--model", "M", "what is simulated", WORD("cell rtl flit"), \
      .preset = "cell (networks of switches flit)", .kinds = "atm flits" }, \
    { "--blocks", "N", "cells in each buffer of a unit", COUNT(1, LEAT_ATM_AAL_BLOCKS_MAX), \
      .preset = "1887", .kinds = "atm" }, \
    OPTIONS_OF_ATM, \
    { "--flits", "N", "length of a packet in flits", COUNT(1, LEAT_NET_FLITS_MAX), .preset = "1", \
      .kinds = "flits" }, \
    { "--warmup", "CYCLES", "excluded from results", .words = "auto", \
      .preset = "auto, which detects it", .kinds = "flits" }, \
    { "--precision", "SHARE", "end once mean latency and throughput are known within this share", \
      SHARE(SIM_PRECISION_DECIMALS), .kinds = "flits" }, \
    { "--hot", "PERCENT", "of hotspot traffic to terminal 0", COUNT(0, 100), .preset = "25", \
      .kinds = "flits" }, \
    { "--burst", "N", "packets of a burst, on average", COUNT(1, LEAT_NET_BURST_MAX), \
      .preset = "10", .kinds = "flits" }, \
    OPTIONS_OF_FAULTS, \
    { "--links", NULL, "report the flits over each wire (JSON), up to 131072 wires", \
      .kinds = "flits" }, \
    { "--unsafe", NULL, "run even if routing can deadlock", .kinds = "flits" }

/* clang-format on */

/* Traffic: of networks of ports, and all words, for completion. */
#define SIM_TRAFFIC_OF_PORTS "uniform permutation hotspot broadcast bursty"
#define SIM_TRAFFIC                                                                       \
    SIM_TRAFFIC_OF_PORTS                                                                  \
    " W transpose bit-reverse bit-complement shuffle tornado neighbour trace all-to-all " \
    "allreduce broadcast-tree"

/* What is recorded. */
struct sim_recorded {
    const char *path;   /* NULL: nothing */
    const char *fabric; /* its name */
    const struct leat_net_topology *wires;
    uint64_t hops; /* over these wires, at most */
};

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
    struct sim_recorded record;
    uint32_t threads;
    bool json;
};

/* The result. */
struct sim_result {
    uint64_t cycles; /* fewer than requested after an interrupt */
    double wall_seconds;
    uint32_t threads; /* that did the work */
    uint64_t cells_offered, cells_delivered;
    uint64_t certificate, delivery_hash;
    uint64_t last_delivery_at; /* 0: nothing was delivered */
    const struct leat_sim_atm_counts *network;
    struct leat_sim_atm_losses losses;
    struct leat_sim_atm_phy_counts phy; /* of a fabric on physical lines */
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
struct leat_fabric;
bool sim_read_job(const struct arguments *args, struct leat_fabric_atm *atm, struct sim_job *job);

/* Errors on the lines of the hosts of an ATM fabric; `outage` has room for
 * LEAT_SIM_ATM_LINE_OUTAGES_MAX and is lent to the line. Where lines are physical ones, their bit
 * errors are the fabric's. False after a complaint. */
bool sim_read_lines(const struct arguments *args, struct leat_fabric_atm *atm,
                    struct leat_sim_atm_line_config *line, struct leat_sim_atm_line_outage *outage);

/* The wires of an ATM fabric as a network of switches. NULL after a complaint. */
const struct leat_net_topology *sim_wires(const struct arguments *args, struct leat_fabric *fabric);

/* Faults inside an ATM fabric: --fault and --fault-file. False after a complaint. */
bool sim_read_faults(const struct arguments *args, struct leat_fabric *fabric);

/* Its units: how soon, and how often, they retransmit unacknowledged data; how long, and how much,
 * they keep unread data; whether a stream resynchronises after cells were discarded, or behaves as
 * in the prototype (--no-resync). False after a complaint. */
bool sim_read_units(const struct arguments *args, struct leat_atm_aal_config *aal);

/* Is --record a file, apart from all other files of the command? False after a complaint. */
bool sim_check_record(const struct arguments *args);

/* The same, and --record-hops, of an ATM fabric. False after a complaint. */
bool sim_read_record(const struct arguments *args, struct leat_fabric *fabric,
                     struct sim_recorded *record);

/* --model: rtl, or cell by default. False after a complaint. */
bool sim_read_model(const struct arguments *args, const struct leat_sim_atm_fabric *fabric,
                    enum leat_sim_atm_model *out);
const char *sim_model_name(enum leat_sim_atm_model model);

/* --traffic, if given, of a network of ports; `more`: further words that it may be. False after a
 * complaint. */
bool sim_take_traffic(const struct arguments *args, const char *more,
                      enum leat_sim_atm_traffic_pattern *out);

/* Such traffic is not among those known, which are separated by blanks; always false. */
bool sim_refuse_traffic(const struct arguments *args, const char *name, const char *known);

/* The value of --load, if given; warns if it is rounded. False after a complaint. */
bool sim_take_load(const struct arguments *args, uint32_t *out);

/* Times are counted in picoseconds of 64 bits: does the last cycle fit? `with` precedes "this
 * clock". False after a complaint. */
struct leat_sim_clock;
bool sim_check_cycles(const struct arguments *args, uint64_t cycles,
                      const struct leat_sim_clock *clock, const char *with);

/* ---- operation and maintenance (sim_oam.c) ---- */

/* leat sim FABRIC --oam WHAT. Returns the exit code. */
int run_sim_oam(const struct arguments *args, struct leat_fabric *fabric);

/* ---- running (sim_run.c) ---- */

/* Cells of a message with this many octets. */
uint32_t sim_cells_of(uint32_t octets);

/* DONE, or FAILED after a complaint. *result is lent until the next run. */
int sim_run(const struct sim_job *job, struct sim_result *result);

/* Memory for a simulation, zeroed; NULL after a complaint. */
void *sim_memory(size_t len);
/* ... of which so many of the first octets are used all the time. */
void *sim_memory_often(size_t len, size_t often_len);

/* ---- showing (sim_show.c) ---- */

void sim_put_text(const struct sim_job *job, const struct sim_result *result);
void sim_put_json(const struct sim_job *job, const struct sim_result *result);

/* ---- recording (sim_record.c) ---- */

/* From now on records what the hosts of a network do and receive, and, if its model shows them, the
 * hops of its cells. `load`: the hosts have AAL units, whose messages are recorded too; or NULL.
 * False after a complaint. */
bool sim_record_open(const struct sim_recorded *what, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load);

/* Every cell is recorded with a HEC, not only loopback cells. */
void sim_record_seal(void);

/* Ends it; nothing happens after cycle `last`. False after a complaint. */
bool sim_record_close(uint64_t last);

/* The same as part of another recording: declares its tracks in `group`, after all other tracks,
 * and passes its events to `put`: in order of time, but hops (what->hops) up to SIM_RECORD_LATE
 * cycles late. False after a complaint. */
enum { SIM_RECORD_LATE = LEAT_SIM_ATM_STRIDE };
bool sim_record_join(struct leat_sim_recorder *recorder, uint32_t group, record_put *put,
                     const struct sim_recorded *what, struct leat_sim_atm *network,
                     struct leat_sim_atm_load *load);
/* Passes on the cells that have begun up to cycle `now`. */
void sim_record_catch_up(uint64_t now);
/* Also allowed if it has not joined. */
void sim_record_leave(void);

#endif
