#include "leat_bytes.h"
#include "net_esp_test.h"
#include "sim_atm_ports.h"
#include "sim_aton_port.h"
#include "sim_collect_campaign_test.h"
#include "sim_packetway.h"

enum { NETS = 3, MESSAGES = 256, OCTETS_MAX = 900, WORDS_MAX = 40, PORTS_MAX = 64 };

/* ---- networks -------------------------------------------------------------------------------- */

/* "ring", "atm", "esp" have means; "mesh" has none. */
struct description {
    const char *what, *san[NETS];
    uint32_t sans;
    struct leat_sim_packetway_router router[NETS];
    uint32_t routers;
    bool by_address;
};

static const struct description descriptions[] = {
    { .what = "two rings",
      .san = { "ring", "ring" },
      .sans = 2,
      .router = { { "a", 2, { { 0, 4 }, { 1, 0 } } } },
      .routers = 1 },
    { .what = "a ring and an ATM fabric",
      .san = { "ring", "atm" },
      .sans = 2,
      .router = { { "a", 2, { { 0, 4 }, { 1, 0 } } } },
      .routers = 1 },
    { .what = "three in a line",
      .san = { "ring", "esp", "atm" },
      .sans = 3,
      .router = { { "a", 2, { { 0, 2 }, { 1, 3 } } }, { "b", 2, { { 1, 7 }, { 2, 1 } } } },
      .routers = 2,
      .by_address = true },
    { .what = "one without means in the middle",
      .san = { "ring", "mesh", "esp" },
      .sans = 3,
      .router = { { "a", 2, { { 0, 0 }, { 1, 3 } } }, { "b", 2, { { 1, 8 }, { 2, 1 } } } },
      .routers = 2 },
    { .what = "one without means as the first",
      .san = { "mesh", "ring" },
      .sans = 2,
      .router = { { "a", 2, { { 0, 0 }, { 1, 2 } } } },
      .routers = 1 },
    { .what = "one router for three",
      .san = { "ring", "ring", "mesh" },
      .sans = 3,
      .router = { { "a", 3, { { 0, 1 }, { 1, 3 }, { 2, 4 } } } },
      .routers = 1 },
    { .what = "a cycle",
      .san = { "esp", "ring", "mesh" },
      .sans = 3,
      .router = { { "a", 2, { { 0, 0 }, { 1, 0 } } },
                  { "b", 2, { { 1, 4 }, { 2, 0 } } },
                  { "c", 2, { { 2, 8 }, { 0, 8 } } } },
      .routers = 3 },
};
enum { DESCRIPTIONS = sizeof descriptions / sizeof *descriptions };

static struct {
    struct leat_sim_aton_port ring[NETS];
    struct leat_sim_atm_ports atm[NETS];
    struct lab lab[NETS];
    struct leat_sim_packetway_san san[NETS];
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
    struct leat_atm_clos clos[NETS];
    struct leat_net_faults faults;
    void *memory[2 * NETS];
    uint32_t memories;
} scene;

static void *take(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory) abort();
    return scene.memory[scene.memories++] = memory;
}

static void make_ring(uint32_t i)
{
    const struct leat_sim_aton_port_config c = { .stations = 5,
                                                 .propagation = 3,
                                                 .model = LEAT_SIM_ATON_WORD,
                                                 .clock = { 4000, 1 },
                                                 .packet_octets = 800,
                                                 .messages_max = MESSAGES };
    leat_sim_aton_port_init(&scene.ring[i], &c, take(leat_sim_aton_port_footprint(&c)));
    scene.san[i].net = &scene.ring[i].base;
    scene.san[i].native.kind = LEAT_SIM_PACKETWAY_RING;
}

static void make_atm(uint32_t i)
{
    struct leat_sim_atm_ports_config c = { .model = LEAT_SIM_ATM_CELL, .messages_max = MESSAGES };
    struct leat_text why = LEAT_TEXT(200);
    OK(!leat_sim_atm_fabric_parse("clos:2,2,2", &c.fabric, &why));
    leat_atm_aal_config_default(&c.aal, 0, c.fabric.net.ports, c.fabric.net.paths);
    leat_sim_atm_ports_init(&scene.atm[i], &c, take(leat_sim_atm_ports_footprint(&c)));
    scene.clos[i] = c.fabric.net;
    scene.san[i].net = &scene.atm[i].net;
    scene.san[i].native.kind = LEAT_SIM_PACKETWAY_ATM;
    scene.san[i].native.clos = &scene.clos[i];
}

/* `broken`: a line of faults, or NULL. */
static void make_mesh(uint32_t i, bool has_esp, const char *broken)
{
    struct leat_text why = LEAT_TEXT(200);
    struct lab *lab = &scene.lab[i];
    lab_build(lab, "mesh:3,3/vcs=2/clock=300MHz/esp=20");
    lab->config.messages_max = MESSAGES;
    if (!has_esp) {
        lab->config.esp.cycles = 0;
        lab->config.topology = &lab->plain;
        free(lab->memory[2]);
        lab->routing = leat_net_routing_init(
            &lab->plain, &lab->plan.routing,
            lab_take(lab, 2, leat_net_routing_footprint(&lab->plain, &lab->plan.routing)));
        lab->config.routing = lab->routing;
    }
    if (broken) {
        leat_net_faults_init(&scene.faults);
        scene.faults.flit_bits = 128;
        OK(!leat_net_faults_line(&scene.faults, broken, strlen(broken), &why));
        leat_net_fault_player_init(
            &lab->player, &scene.faults, lab->config.topology, 1,
            lab_take(lab, 4, leat_net_fault_player_footprint(&scene.faults, lab->config.topology)));
        lab->config.faults = &lab->player;
    }
    lab_start(lab);
    scene.san[i].net = &lab->port.base;
    scene.san[i].native.kind = LEAT_SIM_PACKETWAY_SWITCHES;
    scene.san[i].native.topology = lab->config.topology;
    scene.san[i].native.routing = lab->routing;
}

static struct leat_port_net *set_up(const struct description *d,
                                    const struct leat_sim_packetway_fault *fault,
                                    const char *broken)
{
    struct leat_text why = LEAT_TEXT(200);
    memset(&scene, 0, sizeof scene);
    for (uint32_t i = 0; i < d->sans; i++) {
        scene.san[i] = (struct leat_sim_packetway_san){
            .name = d->san[i], .bias = 0x100 * (i + 1), .mtu_words = 128, .q = 10
        };
        if (!strcmp(d->san[i], "ring"))
            make_ring(i);
        else if (!strcmp(d->san[i], "atm"))
            make_atm(i);
        else
            make_mesh(i, !strcmp(d->san[i], "esp"), broken);
        scene.san[i].native.ports = scene.san[i].net->ports;
    }
    scene.config = (struct leat_sim_packetway_config){
        .san = scene.san,
        .sans = d->sans,
        .router = d->router,
        .routers = d->routers,
        .fault = fault,
        .faults = fault != NULL,
        .by_address = d->by_address,
        .messages_max = 64,
        .cut_through = true,
        .buffer = 4,
        .host_ps = 500000,
        .planned_ps = 200000,
        .address_ps = 5000000,
        .link_ps = 100000,
    };
    OK(!leat_sim_packetway_check(&scene.config, &why));
    if (why.len) printf("# %s: %.*s\n", d->what, (int)why.len, why.buf);
    leat_sim_packetway_init(&scene.net, &scene.config,
                            take(leat_sim_packetway_footprint(&scene.config)));
    return &scene.net.base;
}

static void tear_down(void)
{
    while (scene.memories)
        free(scene.memory[--scene.memories]);
    for (uint32_t i = 0; i < NETS; i++)
        lab_close(&scene.lab[i]);
}

/* ---- at random ------------------------------------------------------------------------------- */

struct outcome {
    uint64_t collected, certificate;
    leat_time now;
};

static struct outcome campaign_over(const struct description *d, uint64_t seed, bool sends_messages)
{
    struct leat_port_net *net = set_up(d, NULL, NULL);
    const struct collect_campaign all = { net,       seed,       10,       4,
                                          WORDS_MAX, OCTETS_MAX, 30000000, sends_messages };
    const int failed = tap_checks_failed;
    struct outcome outcome = { .collected = collect_campaign_run(&all) };
    outcome.certificate = leat_port_certificate(net);
    outcome.now = net->now;
    if (tap_checks_failed != failed)
        printf("# %s, seed %llu%s\n", d->what, (unsigned long long)seed,
               sends_messages ? ", with messages" : "");
    tear_down();
    return outcome;
}

static void random_operations_of_random_groups_have_right_results(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t k = 0; k < 2 + LEAT_ROUNDS / 250000; k++)
        for (uint32_t i = 0; i < DESCRIPTIONS; i++) {
            const uint64_t seed = leat_random_next(&r);
            OK(campaign_over(&descriptions[i], seed, (k + i) & 1).collected);
        }
}

static void another_run_has_the_same_certificate(void)
{
    for (uint32_t i = 0; i < DESCRIPTIONS; i++) {
        const struct outcome a = campaign_over(&descriptions[i], tap_seed() + i, true);
        const struct outcome b = campaign_over(&descriptions[i], tap_seed() + i, true);
        OK(a.collected == b.collected && a.certificate == b.certificate && a.now == b.now);
    }
}

/* ---- one after the other --------------------------------------------------------------------- */

enum {
    TURN = 6,
    FOLDS = 2,
    OPERATIONS = 2 * TURN,
    LEN = 100,
    WORDS = 3,
    DELAY_MAX = 2000000,
    PATIENCE_S = 30
};

/* Members of one group hand over their parts of several operations. */
static struct {
    uint32_t group, members;
    struct {
        uint32_t port, number;
        bool waits;
        uint64_t word[WORDS];
        uint8_t octets[OPERATIONS][LEN];
        bool is_done[OPERATIONS];
        leat_time over_at[OPERATIONS];
    } member[PORTS_MAX];
    leat_time handed_at[OPERATIONS][PORTS_MAX];
    uint32_t over, done, wrong;
} play;

/* A barrier, a fold, and some casts of one root, which does not wait for the others; again. */
static struct leat_port_part play_part(uint32_t number)
{
    struct leat_port_part part = { .group = play.group };
    if (number % TURN == 1) {
        part.fold = number / TURN % 2 ? LEAT_PORT_MIN : LEAT_PORT_AND;
        part.words = WORDS;
    } else if (number % TURN >= FOLDS) {
        part.kind = LEAT_PORT_CAST;
        part.root = play.member[number / TURN * 5 % play.members].port;
        part.len = LEN;
    }
    return part;
}

static uint64_t play_word(uint32_t number, uint32_t place, uint32_t i)
{
    return (number + UINT64_C(1)) * 0x9e3779b97f4a7c15 * (place + 3) + i;
}

static void play_hand_over(struct leat_port_net *net, uint32_t place, struct leat_random *r)
{
    struct leat_port_part part = play_part(play.member[place].number);
    const uint32_t number = play.member[place].number;
    const leat_time at = net->now + leat_random_below(r, DELAY_MAX);
    part.port = play.member[place].port;
    part.id = place;
    part.word = play.member[place].word;
    part.octets = play.member[place].octets[number];
    for (uint32_t i = 0; i < part.words; i++)
        part.word[i] = play_word(number, place, i);
    memset(part.octets, part.root == part.port ? (int)number + 1 : 0, LEN);
    play.handed_at[number][place] = at;
    play.member[place].waits = true;
    leat_port_collect(net, &part, at);
}

/* As it should be: the result, or what was there before. */
static bool play_is_right(const struct leat_port_part *part, uint32_t place, uint32_t number,
                          bool is_done)
{
    for (uint32_t i = 0; i < part->words; i++) {
        uint64_t word = play_word(number, is_done ? 0 : place, i);
        for (uint32_t k = 1; is_done && k < play.members; k++)
            word = leat_port_fold_one(part->fold, word, play_word(number, k, i));
        if (word != part->word[i]) return false;
    }
    for (uint64_t i = 0; i < part->len; i++)
        if (part->octets[i] != (is_done || part->root == part->port ? number + 1 : 0)) return false;
    return true;
}

/* No event that another port caused comes sooner than the latency. */
static bool play_is_early(const struct leat_port_part *part, uint32_t number, leat_time at)
{
    for (uint32_t i = 0; i < play.members; i++) {
        const bool is_cause = part->kind == LEAT_PORT_FOLD || play.member[i].port == part->root;
        if (is_cause && play.member[i].port != part->port &&
            at < play.handed_at[number][i] + scene.net.base.latency)
            return true;
    }
    return false;
}

static void play_collected(void *context, const struct leat_port_part *part, bool is_done,
                           leat_time at)
{
    const uint32_t place = (uint32_t)part->id, number = play.member[place].number;
    (void)context;
    play.over++;
    play.done += is_done;
    play.wrong += !play.member[place].waits || !play_is_right(part, place, number, is_done) ||
                  play_is_early(part, number, at);
    play.member[place].is_done[number] = is_done;
    play.member[place].over_at[number] = at;
    play.member[place].waits = false;
    play.member[place].number++;
}

static void play_message(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
    play.wrong++;
}

static void play_lost(void *context, const struct leat_port_message *message, const char *why,
                      leat_time at)
{
    (void)why;
    play_message(context, message, at);
}

static void play_begin(struct leat_port_net *net, uint32_t step)
{
    uint32_t port[PORTS_MAX];
    memset(&play, 0, sizeof play);
    net->observer = (struct leat_port_observer){ .sent = play_message,
                                                 .arrived = play_message,
                                                 .lost = play_lost,
                                                 .collected = play_collected };
    for (uint32_t i = 0; i < net->ports; i += step) {
        play.member[play.members].port = i;
        port[play.members++] = i;
    }
    play.group = leat_port_group(net, port, play.members);
    OK(play.group);
}

/* All operations, in runs of at most `slice`. Everybody is called back, whatever happens. */
static uint64_t play_all(struct leat_port_net *net, leat_time slice)
{
    const leat_time end = net->now + PATIENCE_S * LEAT_PACKETWAY_SECOND;
    struct leat_random r;
    leat_random_seed(&r, 7);
    while (play.over < OPERATIONS * play.members && net->now < end) {
        for (uint32_t i = 0; i < play.members; i++)
            if (!play.member[i].waits && play.member[i].number < OPERATIONS)
                play_hand_over(net, i, &r);
        leat_port_run(net, slice ? net->now + slice : end);
    }
    EQ(play.over, OPERATIONS * play.members);
    EQ(play.wrong, 0);
    EQ(net->in_flight, 0);
    leat_port_disband(net, play.group);
    return net->collected;
}

static void the_length_of_runs_changes_nothing(void)
{
    static const leat_time slice[] = { 0, 1700, 250000, 9000001 };
    for (uint32_t i = 0; i < DESCRIPTIONS; i++) {
        uint64_t collected[4];
        for (uint32_t k = 0; k < 4; k++) {
            struct leat_port_net *net = set_up(&descriptions[i], NULL, NULL);
            play_begin(net, 1);
            collected[k] = play_all(net, slice[k]);
            EQ(play.done, play.over);
            tear_down();
        }
        for (uint32_t k = 1; k < 4; k++)
            OK(collected[k] == collected[0]);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static bool are_in_one_san(uint32_t a, uint32_t b)
{
    return leat_sim_packetway_san_of(&scene.net, a) == leat_sim_packetway_san_of(&scene.net, b);
}

/* A router between two SANs: a cast reaches those on the root's side, a fold nobody. */
static void operations_over_a_router_that_is_down_fail(void)
{
    static const enum leat_sim_packetway_fault_kind kinds[] = { LEAT_SIM_PACKETWAY_ROUTER_DOWN,
                                                                LEAT_SIM_PACKETWAY_LINK_DOWN,
                                                                LEAT_SIM_PACKETWAY_ERRORS };
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 5; k += 4) {
            const struct description *d = &descriptions[k];
            const struct leat_sim_packetway_fault fault = { kinds[i], 0, 0, LEAT_NEVER };
            struct leat_port_net *net = set_up(d, &fault, NULL);
            play_begin(net, 1);
            play_all(net, 0);
            for (uint32_t number = 0; number < OPERATIONS; number++)
                for (uint32_t m = 0; m < play.members; m++) {
                    const struct leat_port_part part = play_part(number);
                    EQ(play.member[m].is_done[number],
                       part.kind == LEAT_PORT_CAST &&
                           are_in_one_san(part.root, play.member[m].port));
                }
            tear_down();
        }
}

/* Was it handed over when all was well, before or after? */
static bool play_is_certain(uint32_t number, const struct leat_sim_packetway_fault *fault)
{
    bool is_before = true, is_after = true;
    for (uint32_t m = 0; m < play.members; m++) {
        is_before &= play.member[m].over_at[number] < fault->from;
        is_after &= play.handed_at[number][m] >= fault->to;
    }
    return is_before || is_after;
}

static void operations_fail_while_a_router_is_down_and_no_longer(void)
{
    uint32_t failed = 0, certain = 0;
    for (uint32_t i = 0; i < DESCRIPTIONS; i++)
        for (leat_time from = 0; from < 200000000; from += 23456789) {
            const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, 0, from,
                                                            from + 30000000 };
            struct leat_port_net *net = set_up(&descriptions[i], &fault, NULL);
            play_begin(net, 1);
            play_all(net, 0);
            failed += play.over - play.done;
            for (uint32_t number = 0; number < OPERATIONS; number++) {
                if (!play_is_certain(number, &fault)) continue;
                certain++;
                for (uint32_t m = 0; m < play.members; m++)
                    OK(play.member[m].is_done[number]);
            }
            tear_down();
        }
    OK(failed && certain);
}

static void operations_of_one_san_do_not_need_routers(void)
{
    const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, 0, 0,
                                                    LEAT_NEVER };
    struct leat_port_net *net = set_up(&descriptions[0], &fault, NULL);
    play_begin(net, 1);
    leat_port_disband(net, play.group);
    play.members = 4;
    play.group = leat_port_group(net, (const uint32_t[]){ 0, 1, 2, 3 }, play.members);
    play_all(net, 0);
    EQ(play.done, play.over);
    tear_down();
}

/* The wires of a router of the mesh, with or without ESP, break for some time. */
static void operations_fail_while_a_san_loses_packets(void)
{
    uint32_t failed = 0, done = 0;
    for (uint32_t i = 2; i < DESCRIPTIONS; i++)
        for (uint32_t k = 0; k < 6; k++) {
            char line[100];
            snprintf(line, sizeof line, "router:4@%u..%u", 1000 + 4000 * k, 9000 + 4000 * k);
            struct leat_port_net *net = set_up(&descriptions[i], NULL, line);
            play_begin(net, 1);
            play_all(net, 0);
            failed += play.over - play.done;
            done += play.done;
            tear_down();
        }
    OK(failed && done);
}

/* ---- means ----------------------------------------------------------------------------------- */

static void means_are_those_that_all_sans_have(void)
{
    const struct leat_port_means *means = set_up(&descriptions[2], NULL, NULL)->means;
    EQ(means->folds, (1u << LEAT_PORT_FOLDS) - 1);
    EQ(means->words_max, LEAT_NET_ESP_WORDS_MAX);
    EQ(means->octets_max, 800); /* a packet of the ring; one of PacketWay has 984 */
    EQ(means->groups_max, LEAT_ATON_COLLECT_GROUPS_MAX);
    tear_down();
    means = set_up(&descriptions[0], NULL, NULL)->means;
    EQ(means->words_max, 100); /* the result is cast in a packet of the ring */
    tear_down();
}

static void there_are_no_means_without_a_san_that_has_some_or_a_way_between_them(void)
{
    static const struct description meshes = { .what = "two meshes",
                                               .san = { "mesh", "mesh" },
                                               .sans = 2,
                                               .router = { { "a", 2, { { 0, 4 }, { 1, 0 } } } },
                                               .routers = 1 };
    static const struct description apart = { .what = "apart",
                                              .san = { "ring", "ring" },
                                              .sans = 2 };
    OK(!set_up(&meshes, NULL, NULL)->means);
    tear_down();
    OK(!set_up(&apart, NULL, NULL)->means);
    tear_down();
}

static void there_are_as_many_groups_as_means_say(void)
{
    struct leat_port_net *net = set_up(&descriptions[0], NULL, NULL);
    const uint32_t port[] = { 0, 5 };
    for (uint32_t i = 1; i <= net->means->groups_max; i++)
        EQ(leat_port_group(net, port, 2), i);
    EQ(leat_port_group(net, port, 2), 0);
    leat_port_disband(net, 3);
    EQ(leat_port_group(net, port, 2), 3);
    tear_down();
}

/* A cast crosses the router after two decisions and the link. */
static void links_between_half_routers_carry_parts(void)
{
    struct leat_port_net *net = set_up(&descriptions[0], NULL, NULL);
    play_begin(net, 1);
    play_all(net, 0);
    EQ(play.done, play.over);
    uint32_t casts_from[2] = { 0 };
    for (uint32_t i = 0; i < OPERATIONS; i++)
        if (play_part(i).kind == LEAT_PORT_CAST)
            casts_from[leat_sim_packetway_san_of(&scene.net, play_part(i).root)]++;
    /* the first ring is the root: parts go there, results come back */
    EQ(leat_sim_packetway_link(&scene.net, 0, 1, 0)->packets, 2 * FOLDS + casts_from[1]);
    EQ(leat_sim_packetway_link(&scene.net, 0, 0, 1)->packets, 2 * FOLDS + casts_from[0]);
    OK(casts_from[0] && casts_from[1]);
    tear_down();
}

/* ---- packets, as observers see them ---------------------------------------------------------- */

static struct {
    struct leat_port_net *net;
    uint32_t at_half_routers[2], at_ports[2], wrong; /* in, out */
} shown;

static void on_packet(void *context, const struct leat_port_packet *p, leat_time at)
{
    static struct leat_packetway_message m;
    struct leat_port_place place = { .what = "" };
    (void)context;
    shown.wrong += at < shown.net->now || !leat_port_place(shown.net, p->place, &place);
    if (!strcmp(place.what, "port") || !strcmp(place.what, "router")) {
        shown.at_ports[p->is_out]++;
        return;
    }
    shown.at_half_routers[p->is_out]++;
    shown.wrong += p->len < 2 || leat_get_be16(p->octets) != (p->len - 2) / 8 ||
                   leat_packetway_message_decode(p->octets + 2, p->len - 2, LEAT_PACKETWAY_STRICT,
                                                 LEAT_PACKETWAY_DESTINATION, &m, NULL);
}

static uint64_t crossings(const struct description *d)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < d->routers; i++)
        for (uint32_t from = 0; from < d->router[i].ends; from++)
            for (uint32_t to = 0; to < d->router[i].ends; to++)
                packets += leat_sim_packetway_link(&scene.net, i, from, to)->packets;
    return packets;
}

static void observers_see_all_packets_and_change_nothing(void)
{
    for (uint32_t i = 0; i < DESCRIPTIONS; i++) {
        uint64_t collected[2];
        for (uint32_t k = 0; k < 2; k++) {
            struct leat_port_net *net = set_up(&descriptions[i], NULL, NULL);
            play_begin(net, 1);
            memset(&shown, 0, sizeof shown);
            shown.net = net;
            if (k) net->observer.packet = on_packet;
            collected[k] = play_all(net, k * 250000);
            if (k) EQ(shown.at_half_routers[0], crossings(&descriptions[i]));
            tear_down();
        }
        EQ(collected[0], collected[1]);
        EQ(shown.wrong, 0);
        EQ(shown.at_half_routers[0], shown.at_half_routers[1]);
        OK(shown.at_ports[0] && shown.at_ports[1]);
    }
}

TAP_MAIN(T(random_operations_of_random_groups_have_right_results),
         T(another_run_has_the_same_certificate), T(the_length_of_runs_changes_nothing),
         T(operations_over_a_router_that_is_down_fail),
         T(operations_fail_while_a_router_is_down_and_no_longer),
         T(operations_of_one_san_do_not_need_routers), T(operations_fail_while_a_san_loses_packets),
         T(means_are_those_that_all_sans_have),
         T(there_are_no_means_without_a_san_that_has_some_or_a_way_between_them),
         T(there_are_as_many_groups_as_means_say), T(links_between_half_routers_carry_parts),
         T(observers_see_all_packets_and_change_nothing))
