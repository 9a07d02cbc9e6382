/*
 * Networks on a device: a group of threads runs one network, each thread some of its ports and
 * terminals. All of net_lockstep_watch_parts.h stands before this text. Who compiles it says:
 *
 *   LEAT_DEVICE_GROUP         threads of a group
 *   LEAT_DEVICE_NEAR          the state of a network is copied into the memory of its group
 *   LEAT_DEVICE_NVIDIA        its own compiler is used
 *   LEAT_NET_LOCKSTEP_KNOWN   the plan is known
 *   LEAT_NET_LOCKSTEP_FAULTY  1: it has faults
 */

/* What a group does in this launch: where its words begin, and which cycles it runs. */
struct order {
    ulong state, store;
    uint job;
    struct leat_net_lockstep_leg leg;
};

#ifdef LEAT_DEVICE_NEAR
static void copy_in(__local uint *to, __global const uint *from, uint words)
{
    for (uint i = get_local_id(0); i < words; i += LEAT_DEVICE_GROUP)
        to[i] = from[i];
    barrier(CLK_LOCAL_MEM_FENCE);
}

static void copy_out(__global uint *to, __local const uint *from, uint words)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < words; i += LEAT_DEVICE_GROUP)
        to[i] = from[i];
}
#endif

#ifndef LEAT_DEVICE_NVIDIA /* whose compiler would then ignore the limit on registers */
__attribute__((reqd_work_group_size(LEAT_DEVICE_GROUP, 1, 1)))
#endif
__kernel void
run(__global const uint *plan, __global const uint *jobs, __global uint *states,
                  __global uint *stores, __global const struct order *orders,
                  __global struct leat_net_lockstep_sums *sums
#ifdef LEAT_DEVICE_NEAR
                  , __local uint *close
#endif
)
{
    const struct order order = orders[get_group_id(0)];
    const uint item = get_local_id(0), items = LEAT_DEVICE_GROUP;
    __global const struct leat_net_lockstep_plan *p =
        (__global const struct leat_net_lockstep_plan *)plan;
    __global uint *store = stores + order.store;
    __global struct leat_net_lockstep_sums *mine = sums + get_group_id(0) * items;
#ifdef LEAT_DEVICE_NEAR
    __local uint *state = close;
    copy_in(state, states + order.state, LEAT_NET_PLAN(p, state_words));
#else
    __global uint *state = states + order.state;
#endif
    if (order.leg.halves) leat_net_lockstep_halve(p, store, item, items);
    barrier(CLK_GLOBAL_MEM_FENCE);
    struct leat_net_lockstep_view v =
        leat_net_lockstep_view(plan, jobs + order.job, state, store, order.leg);
    if (LEAT_NET_IS_FAULTY(p) && order.leg.outage != order.leg.before) {
        leat_net_lockstep_change_all(&v, order.leg.before, item, items);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (; v.now < order.leg.until; v.now++) {
        for (uint stage = 0; stage < leat_net_lockstep_stages(&v); stage++) {
            leat_net_lockstep_step_all(&v, stage, item, items);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
    }
    if (LEAT_NET_PLAN(p, watched) && order.leg.now < order.leg.until)
        leat_net_lockstep_watch_all(&v, item, items);
#ifdef LEAT_DEVICE_NEAR
    copy_out(states + order.state, state, LEAT_NET_PLAN(p, state_words));
#endif
    mine[item] = v.sums;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (item == 0 && order.leg.now < order.leg.until) {
        __global struct leat_net_lockstep_sums *row =
            v.batch + leat_net_lockstep_batch_of(order.leg.table, order.leg.now);
        for (uint i = 0; i < items; i++) {
            const struct leat_net_lockstep_sums one = mine[i];
            leat_net_lockstep_add(row, &one);
        }
    }
}
