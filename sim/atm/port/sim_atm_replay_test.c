/*
 * Programs that mostly repeat themselves run over the ports of a cell network with and without
 * replay. All results must be equal.
 */
#include "leat_text.h"
#include "sim_atm_replay.h"
#include "sim_replay_scene_test.h"

enum { CYCLE_PS = 50000 };

static struct leat_sim_atm_ports_config config_of(const char *name)
{
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL,
                                                .messages_max = SCENE_MESSAGES_MAX };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse(name, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

static struct leat_sim_atm_replay replay;
static struct leat_sim_atm_ports port;
static void *memory;

static struct leat_port_net *open(const void *config, bool with_replay,
                                  struct leat_sim_replay **out)
{
    memory = calloc(1, with_replay ? leat_sim_atm_replay_footprint(config)
                                   : leat_sim_atm_ports_footprint(config));
    if (!memory) return NULL;
    if (with_replay)
        leat_sim_atm_replay_init(&replay, config, memory);
    else
        leat_sim_atm_ports_init(&port, config, memory);
    *out = with_replay ? &replay.base : NULL;
    return with_replay ? &replay.base.net : &port.net;
}

static void close(bool with_replay)
{
    (void)with_replay;
    free(memory);
}

/* The cells of links. */
static bool count(uint32_t i, bool with_replay, uint64_t *out)
{
    const struct leat_sim_atm *sim = with_replay ? &replay.port.load.sim : &port.load.sim;
    if (i >= leat_sim_atm_link_count(&sim->fabric.net)) return false;
    *out = leat_sim_atm_link_cells(sim, i);
    return true;
}

static struct outcome compare_atm(const struct program *program,
                                  const struct leat_sim_atm_ports_config *config, uint64_t cuts,
                                  uint64_t peeks)
{
    static const struct scene_kind kind = { open, close, count };
    return compare(&kind, config, program, CYCLE_PS, (struct scene_chance){ cuts, peeks });
}

static void a_ring_that_goes_on_for_long_is_replayed(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = {
        .tasks = 16, .phases = 1, .rounds = 600, .phase = { { RING, 1, 300, 0 } }, .seed = 1
    };
    config.aal.obsolete_cycles = 2000;
    OK(compare_atm(&program, &config, 0, 0).replayed > 600 * 16 / 3);
}

/* The `until` of runs does not affect the period. */
static void a_ring_is_replayed_however_its_run_is_cut(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = {
        .tasks = 16, .phases = 1, .rounds = 200, .phase = { { RING, 1, 40, 0 } }, .seed = 1
    };
    config.aal.obsolete_cycles = 2000;
    OK(compare_atm(&program, &config, tap_seed() | 1, 0).replayed > 200 * 16 / 2);
}

static void links_count_the_cells_of_a_replay_at_any_time(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 5000,
                                     .phase = { { TO_FIRST, 0, 28, 0 }, { FROM_FIRST, 0, 40, 0 } },
                                     .seed = 2 };
    config.aal.obsolete_cycles = 2000;
    OK(compare_atm(&program, &config, 0, tap_seed() | 1).peeked > 1);
}

static void a_message_there_and_back_is_replayed_at_once(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 1000,
                                     .phase = { { TO_FIRST, 0, 28, 0 }, { FROM_FIRST, 0, 28, 0 } },
                                     .seed = 2 };
    config.aal.obsolete_cycles = 2000;
    OK(compare_atm(&program, &config, 0, 0).replayed > 2 * 900);
}

/* In a network of 256 ports a fingerprint costs as much as thousands of cells. Replay still
 * pays. */
static void a_large_network_is_replayed_too(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos:16,16,16");
    const struct program program = { .tasks = 2,
                                     .phases = 2,
                                     .rounds = 2000,
                                     .phase = { { TO_FIRST, 0, 1000, 0 },
                                                { FROM_FIRST, 0, 1000, 0 } },
                                     .seed = 3 };
    OK(compare_atm(&program, &config, 0, 0).replayed > 2 * 900);
}

/* Small buffers, messages that expire soon, and spurious retransmissions. The latter only where no
 * message is so long that it would be retransmitted for ever. */
static void vary(struct leat_sim_atm_ports_config *config, bool has_long, uint64_t *state)
{
    if (below(state, 2)) config->aal.obsolete_cycles = 500 + below(state, 5000);
    if (below(state, 4) == 0) config->aal.send_blocks = config->aal.receive_blocks = 200;
    if (below(state, 4) == 0) config->aal.descriptors = 2;
    if (below(state, 4) == 0 && !has_long)
        config->aal.retransmit_cycles = 100000 + below(state, 100000);
    config->aal.transmissions_max = UINT8_MAX;
}

static void no_observer_sees_a_difference(void)
{
    static const char *const fabrics[] = { "clos444", "clos:2,2,2", "clos:3,2,4", "bmx:8" };
    const uint32_t scenes = LEAT_ROUNDS / 50000 > 4 ? LEAT_ROUNDS / 50000 : 4;
    uint64_t state = tap_seed(), replayed = 0, programs = 0;
    for (uint32_t i = 0; i < scenes; i++) {
        struct leat_sim_atm_ports_config config = config_of(fabrics[i % 4]);
        const uint32_t ports = config.fabric.net.ports;
        const struct program p = random_program(&state,
                                                ports < SCENE_TASKS_MAX ? ports : SCENE_TASKS_MAX);
        vary(&config, p.odd_every > 0, &state);
        config.aal.resync = i / 2 % 2; /* which changes nothing */
        const uint64_t seed = leat_random_splitmix(&state) | 1;
        const uint64_t of_this =
            compare_atm(&p, &config, i % 2 ? seed : 0, i % 2 ? 0 : seed).replayed;
        replayed += of_this;
        programs += of_this > 0;
    }
    printf("# %llu messages replayed, in %llu of %u programs\n", (unsigned long long)replayed,
           (unsigned long long)programs, scenes);
}

TAP_MAIN(T(a_ring_that_goes_on_for_long_is_replayed), T(a_ring_is_replayed_however_its_run_is_cut),
         T(links_count_the_cells_of_a_replay_at_any_time),
         T(a_message_there_and_back_is_replayed_at_once), T(a_large_network_is_replayed_too),
         T(no_observer_sees_a_difference))
