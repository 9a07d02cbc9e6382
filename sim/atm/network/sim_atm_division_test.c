#include "sim_atm.h"
#include "tap.h"

static struct leat_sim_atm_fabric fabric_of(const char *name, uint32_t parts)
{
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    fabric.parts = parts;
    return fabric;
}

static void every_switch_is_in_one_part(void)
{
    static const char *const names[] = { "clos444", "clos:2,3,7", "clos:3,1,5", "bmx:8" };
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (uint32_t parts = 0; parts < 10; parts++) {
            const struct leat_sim_atm_fabric f = fabric_of(names[n], parts);
            const uint32_t count = leat_sim_atm_fabric_parts(&f);
            const uint32_t most = f.net.stages == 1 ? 1 : f.net.stage[0].switch_count;
            EQ(count, parts == 0 ? 1 : parts < most ? parts : most);
            for (uint32_t stage = 0; stage < f.net.stages; stage++) {
                uint32_t unit = 0;
                for (uint32_t part = 0; part < count; part++) {
                    EQ(leat_sim_atm_fabric_part_begin(&f, stage, part), unit);
                    while (unit < leat_sim_atm_fabric_part_begin(&f, stage, part + 1))
                        EQ(leat_sim_atm_fabric_part_of(&f, stage, unit++), part);
                }
                EQ(unit, f.net.stage[stage].switch_count);
            }
        }
}

static void small_networks_stay_in_one_part(void)
{
    const struct leat_sim_atm_fabric small = fabric_of("clos444", 0);
    const struct leat_sim_atm_fabric large = fabric_of("clos:16,31,16", 0);
    const struct leat_sim_atm_fabric lone = fabric_of("bmx:64", 0);
    EQ(leat_sim_atm_fabric_parts_for(&small, 4), 1);
    EQ(leat_sim_atm_fabric_parts_for(&lone, 4), 1);
    EQ(leat_sim_atm_fabric_parts_for(&large, 1), 1);
    EQ(leat_sim_atm_fabric_parts_for(&large, 2), 2);
    EQ(leat_sim_atm_fabric_parts_for(&large, 256), 8); /* of 32 ports */
}

static uint32_t strides, parts_done;

static uint64_t stride(void *context, uint64_t now)
{
    (void)context;
    return now ? now : 1; /* 0 means that it is not possible */
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm *sim = context;
    OK(sim->in_stride);
    if (now < 100) leat_sim_atm_wake(sim, port, now + 10);
}

static void part_done(void *context, uint32_t part)
{
    (void)context;
    EQ(part, parts_done % 4);
    parts_done++;
}

static void stride_done(void *context)
{
    const struct leat_sim_atm *sim = context;
    OK(!sim->in_stride);
    EQ(parts_done, 4 * ++strides);
}

static void after_a_stride_each_part_is_done_and_then_the_network(void)
{
    static struct leat_sim_atm sim;
    const struct leat_sim_atm_fabric fabric = fabric_of("clos444", 4);
    const struct leat_sim_atm_host host = { .context = &sim, .act = act, .stride = stride };
    const struct leat_sim_atm_crew crew = { .part_done = part_done, .stride_done = stride_done };
    void *memory = calloc(1, leat_sim_atm_footprint(&fabric, LEAT_SIM_ATM_CELL));
    if (!memory) abort();
    leat_sim_atm_init(&sim, &fabric, LEAT_SIM_ATM_CELL, &host, memory);
    leat_sim_atm_lend_crew(&sim, &crew);
    leat_sim_atm_wake(&sim, 3, 5);
    leat_sim_atm_run(&sim, 1000);
    EQ(strides, 11); /* cycles 5, 15 .. 105 */
    EQ(sim.counts.strides, strides);
    free(memory);
}

TAP_MAIN(T(every_switch_is_in_one_part), T(small_networks_stay_in_one_part),
         T(after_a_stride_each_part_is_done_and_then_the_network))
