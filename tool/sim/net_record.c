/*
 * leat sim --record of networks of switches: the packets, in the network's own time.
 *
 *   network    group    fabric, ports and wires (record_fabric.h, record_net.h)
 */
#include "net_sim.h"
#include "record_fabric.h"
#include "record_net.h"
#include "result_file.h"
#include "sim.h"

static struct {
    bool is_open;
    struct result_file file;
    struct leat_sim_recorder recorder;
    struct leat_sim_clock clock;
} rec;

static void put(const struct leat_sim_event *e)
{
    leat_sim_recorder_put(&rec.recorder, e);
}

static bool join(const struct net_job *job, struct leat_net *net)
{
    struct leat_sim_event name;
    const uint32_t group = leat_sim_recorder_group(&rec.recorder, 0, "network");
    const bool has_name = record_fabric_declare(&rec.recorder, group, job->fabric->name, &name);
    const struct record_net_config config = { .recorder = &rec.recorder,
                                              .group = group,
                                              .put = put,
                                              .net = net,
                                              .clock = rec.clock,
                                              .flit_octets = LEAT_NET_FLIT_BITS / 8,
                                              .room = LEAT_SIM_TRACKS_MAX - rec.recorder.tracks,
                                              .hops = job->record_hops };
    if (!record_net_join(&config)) return false;
    if (has_name) put(&name);
    return true;
}

bool net_record_open(const struct net_job *job, struct leat_net *net)
{
    rec.clock = job->design->plan.clock;
    if (!result_file_open(&rec.file, job->record)) return false;
    leat_sim_recorder_init(&rec.recorder, &rec.file.out.text);
    rec.is_open = join(job, net);
    if (!rec.is_open) result_file_drop(&rec.file);
    return rec.is_open;
}

bool net_record_close(uint64_t last, bool keep)
{
    if (!rec.is_open) return true;
    rec.is_open = false;
    leat_sim_recorder_close(&rec.recorder, leat_sim_clock_at(&rec.clock, last));
    record_net_leave();
    return result_file_close(&rec.file, keep);
}
