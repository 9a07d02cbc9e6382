/* Shared by the parts of `leat sim` for networks: the job and its result. */
#ifndef LEAT_NET_SIM_H
#define LEAT_NET_SIM_H

#include "device_choice.h"
#include "fabric.h"
#include "fabric_flits.h"
#include "net_load.h"

enum {
    NET_LINKS_FEW = 8192,    /* wires listed one by one with NET_LINKS_WHERE_FEW */
    NET_LINKS_MAX = 1 << 17, /* with --links */
    NET_TRACE_MAX = 1 << 26, /* packets of a trace */
    NET_DEADLOCK_MAX = 64,   /* buffers of a deadlock cycle that are listed */
};

/* An internal value of --links, for networks with few wires. `leat sweep` uses it, since a report
 * draws the utilisation of wires. */
#define NET_LINKS_WHERE_FEW "few"

/* What the options say. */
struct net_job {
    const struct verb *verb;
    const struct leat_fabric *fabric;
    const struct leat_fabric_design *design;
    const struct leat_fabric_built *built;
    struct leat_net_traffic_config traffic;
    struct leat_net_faults faults;
    struct leat_net_trace_entry *trace; /* with --traffic trace */
    uint64_t cycles, warmup;
    uint32_t precision_ppm; /* the run ends when it is reached; 0: never */
    uint32_t threads;
    struct leat_sim_ranks *ranks; /* of mpirun; NULL: one process */
    bool json, links, unsafe;
    const char *record;   /* a file; NULL: none */
    uint64_t record_hops; /* that it has, at most */
    bool ends;            /* the work is finite: a trace, or a number of rounds */
    struct device_choice device;
};

/* The result. */
struct net_result {
    double wall_seconds;
    uint32_t threads, ranks;              /* that did the work; threads: of each rank */
    bool dead;                            /* deadlocked: nothing moves any more */
    bool done;                            /* all the work of a finite job */
    bool intervals;                       /* of throughput and latency are known */
    enum leat_net_steady_verdict verdict; /* that has ended it */
    struct leat_net_load_result load;
    struct leat_net_counts counts;
    const uint64_t *out_flits; /* by output port, if they are reported; lent until the next run */
    uint32_t deadlock_len;     /* of a deadlock cycle; truncated if too long */
    struct leat_net_waiting deadlock[NET_DEADLOCK_MAX];
};

/* A run of a job: the network, and the load on it. */
struct net_simulation {
    const struct net_job *job;
    struct leat_net net;
    struct leat_net_load load;
    struct leat_net_host host; /* the load's */
    bool dead, done;
    double begun;     /* the run, in seconds */
    bool is_assessed; /* whether ranks are worth it */
    void *net_memory, *load_memory;
    uint64_t *out_flits; /* by output port, if they are reported */
    struct leat_crew *crew;
};

/* Before its first cycle. False: there is no memory. Free it in either case. */
bool net_set_up(struct net_simulation *s, const struct net_job *job);
void net_free(struct net_simulation *s);

/* Records the packets of a network in one part, from its first cycle on (net_record.c). False after
 * a complaint. */
bool net_record_open(const struct net_job *job, struct leat_net *net);
/* The recording ends with this cycle. Also allowed if there is none. False after a complaint. */
bool net_record_close(uint64_t last, bool keep);

/* All packets of a trace have ended, or all rounds of a collective. */
bool net_is_done(const struct net_simulation *s);

/* What came of it. */
void net_take_result(struct net_simulation *s, struct net_result *out);

/* ranks: of mpirun; NULL: one process. False after a complaint. Free job->trace in either case; the
 * fabric is lent until then. */
bool net_read_job(const struct arguments *args, struct leat_fabric *fabric,
                  struct leat_sim_ranks *ranks, struct net_job *job);

/* NULL: there are none. */
static inline const struct leat_net_faults *net_job_faults(const struct net_job *job)
{
    return job->faults.count ? &job->faults : NULL;
}

/* A collective that lost a packet stops. */
static inline bool net_is_abandoned(const struct net_job *job, const struct net_result *result)
{
    uint64_t lost = 0;
    for (uint32_t fate = 0; fate < LEAT_NET_FATES; fate++)
        if (fate != LEAT_NET_DELIVERED) lost += result->load.packets_ended[fate];
    return lost && leat_net_pattern_list(job->traffic.pattern)->is_closed;
}

/* Those of --fault and --fault-file. A flit has so many bits, unless --flit-bits says how many.
 * False after a complaint. */
bool net_read_faults(const struct arguments *args, const struct leat_net_topology *topology,
                     uint32_t flit_bits, struct leat_net_faults *faults);

/* The load, the traffic and the seed of another run of the same job. False after a complaint. */
bool net_read_point(const struct arguments *args, struct net_job *job);

void net_put_text(const struct net_job *job, const struct net_result *result);
void net_put_json(const struct net_job *job, const struct net_result *result);

#endif
