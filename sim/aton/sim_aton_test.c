#include "aton_expression.h"
#include "sim_aton.h"
#include "sim_aton_world_test.h"
#include "tap.h"

static struct world one, other; /* a bit ring and a word ring with the same config */

/* ---- one order ------------------------------------------------------------------------------ */

static const struct reported *last(const struct world *w)
{
    return &w->reported[w->count - 1];
}

static bool is_as_planned(struct world *w, const struct reported *t, uint32_t from,
                          const struct leat_aton_command *c)
{
    static uint8_t payload[4 * WORLD_PAYLOAD_MAX];
    const struct plain p = plain_round(w, from, c);
    const uint32_t len = plain_payload(&p, c, payload);
    return t->result.status == LEAT_ATON_DONE && t->result.counter == p.counter &&
           t->result.variable1 == p.v1 && t->result.variable2 == p.v2 && t->len == len &&
           t->payload_hash == leat_sim_payload_hash(payload, len) &&
           t->at - t->sent_at == p.symbols + plain_bits(w);
}

static void open_plain(struct world *w, enum leat_sim_aton_model model, uint32_t n, uint32_t each)
{
    *w = (struct world){ .config = { .stations = n, .propagation_each = each, .model = model } };
    world_open(w);
}

static void order(struct world *w, uint32_t station, const struct leat_aton_command *c,
                  leat_time at)
{
    const struct leat_aton_order o = { .command = *c };
    OK(leat_sim_aton_hand_over(&w->ring, station, &o, w->count, at, 0));
}

static leat_time time_of(enum leat_sim_aton_model model, unsigned width, uint32_t n, uint32_t each)
{
    const struct leat_aton_command c = { .opcode = LEAT_ATON_ADD,
                                         .width_bits = (uint8_t)width,
                                         .da = 0xffff };
    open_plain(&one, model, n, each);
    order(&one, n / 2, &c, 0);
    leat_sim_aton_run(&one.ring, 10000);
    const leat_time took = one.count == 1 ? last(&one)->at - last(&one)->sent_at : 0;
    OK(is_as_planned(&one, last(&one), n / 2, &c));
    world_close(&one);
    return took;
}

static void the_times_of_the_spec_are_measured(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        EQ(time_of(model, 32, 4, 1), 216);
        EQ(time_of(model, 32, 40, 0), 232);
        EQ(time_of(model, 64, 1, 0), 280);
    }
}

/* ---- both models, and the plain reading ------------------------------------------------------ */

struct plan {
    uint32_t station;
    leat_time at, period;
    struct leat_aton_order order;
};

enum { PLANS = 8 };
static uint8_t octets[64];

static void draw_plans(struct plan *plan, struct leat_random *r, uint32_t n)
{
    leat_time at = 0;
    for (int i = 0; i < PLANS; i++) {
        at += leat_random_below(r, 2) ? 0
                                      : leat_random_below(r, leat_random_below(r, 16) ? 300 : 3000);
        plan[i] = (struct plan){ .station = (uint32_t)leat_random_below(r, n), .at = at };
        plan[i].order.command = world_random_command(r, n);
        plan[i].order.when_idle = leat_random_below(r, 8) == 0;
        if (leat_random_below(r, 4)) continue;
        plan[i].order.is_passive = true;
        plan[i].order.octets = octets;
        plan[i].order.octets_len = (uint16_t)leat_random_below(r, sizeof octets);
    }
}

static void run_plans(struct world *w, const struct plan *plan, uint64_t seed)
{
    world_open(w);
    world_random_registers(w, seed);
    for (int i = 0; i < PLANS; i++)
        OK(leat_sim_aton_hand_over(&w->ring, plan[i].station, &plan[i].order, (uint64_t)i,
                                   plan[i].at, plan[i].period));
    w->stop_after = PLANS;
    leat_sim_aton_run(&w->ring, 1 << 20);
}

static bool all_as_planned(struct world *w, const struct plan *plan)
{
    uint32_t results = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct reported *t = &w->reported[i];
        if (t->arrived) continue;
        const struct plan *p = &plan[t->id];
        const uint64_t symbols = 128 + 8 * (uint64_t)p->order.octets_len;
        results++;
        if (t->station != p->station || t->sent_at + 11 < p->at) return false;
        if (p->order.is_passive ? t->at - t->sent_at != symbols + plain_bits(w)
                                : !is_as_planned(w, t, p->station, &p->order.command))
            return false;
    }
    return results == PLANS;
}

static void both_models_do_what_the_plain_reading_does(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, octets, sizeof octets);
    for (int k = 0; k < LEAT_ROUNDS / 100 / PLANS + 10; k++) {
        struct plan plan[PLANS];
        const uint64_t seed = leat_random_next(&r);
        world_random_ring(&one, &r, 64);
        draw_plans(plan, &r, one.config.stations);
        other = one;
        other.config.address = other.address;
        other.config.propagation = other.propagation;
        other.config.model = LEAT_SIM_ATON_WORD;
        run_plans(&one, plan, seed);
        run_plans(&other, plan, seed);
        const bool same = world_same(&one, &other), planned = all_as_planned(&one, plan);
        world_close(&one);
        world_close(&other);
        OK(same);
        OK(planned);
        if (!same || !planned) break;
    }
}

/* ---- long packets, up to 200 stations -------------------------------------------------------- */

static void enable_all(struct world *w)
{
    for (uint32_t i = 0; i < w->config.stations; i++)
        leat_sim_aton_registers(&w->ring, i)->enabled = 1;
}

static void open_random(struct world *w, enum leat_sim_aton_model model, uint32_t n, uint64_t seed)
{
    *w = (struct world){ .config = { .stations = n, .model = model } };
    world_open(w);
    world_random_registers(w, seed);
    enable_all(w);
}

static void run_one(struct world *w, uint32_t from, const struct leat_aton_command *c)
{
    w->stop_after = w->results + 1;
    order(w, from, c, w->ring.now);
    leat_sim_aton_run(&w->ring, LEAT_NEVER);
}

static void sorting_and_trees_are_those_of_sequential_code(void)
{
    for (uint32_t n = 1; n <= 200; n += n < 20 ? 1 : 9)
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            const struct leat_aton_command sort = { .opcode = LEAT_ATON_SORT,
                                                    .width_bits = 64,
                                                    .da = 0xffff };
            struct leat_aton_command tree = sort;
            tree.opcode = LEAT_ATON_TREE;
            tree.param = leat_aton_slots(n);
            open_random(&one, model, n, n);
            run_one(&one, n / 3, &sort);
            OK(is_as_planned(&one, last(&one), n / 3, &sort));
            run_one(&one, n / 2, &tree);
            OK(is_as_planned(&one, last(&one), n / 2, &tree));
            world_close(&one);
        }
}

/* Trees over the stations of a group, in ring order from `from`; left parts are drawn at random. */
enum { EXPRESSION_MAX = 64 };

struct expression {
    struct leat_aton_node node[2 * EXPRESSION_MAX];
    uint32_t nodes, n, leaves;
    bool with_back; /* interfaces hold back a whole slot */
    uint32_t from;
    uint8_t tree[EXPRESSION_MAX][LEAT_ATON_SLOTS_MAX];
    uint16_t slots;
};

static uint32_t draw_tree(struct expression *e, struct leat_random *r, const uint32_t *place,
                          uint32_t count)
{
    if (count == 1) {
        e->node[e->nodes] = (struct leat_aton_node){ .left = place[0] };
        return e->nodes++;
    }
    const uint32_t part = 1 + (uint32_t)leat_random_below(r, count - 1);
    const uint32_t a = draw_tree(e, r, place, part);
    const uint32_t b = draw_tree(e, r, place + part, count - part);
    e->node[e->nodes] = (struct leat_aton_node){ .opcode = (uint8_t)(1 + leat_random_below(r, 8)),
                                                 .left = a,
                                                 .right = b };
    return e->nodes++;
}

static uint64_t value_of(struct world *w, const struct expression *e, uint32_t i, uint64_t mask)
{
    const struct leat_aton_node *node = &e->node[i];
    const uint32_t station = (e->from + node->left) % e->n;
    if (!node->opcode) return leat_sim_aton_registers(&w->ring, station)->operand[0] & mask;
    return plain_op(node->opcode, value_of(w, e, node->left, mask),
                    value_of(w, e, node->right, mask), mask);
}

/* False: this tree is too high. */
static bool draw_expression(struct expression *e, struct leat_random *r)
{
    static uint64_t used[LEAT_ATON_SLOTS_MAX * (EXPRESSION_MAX / 64 + 1)];
    uint32_t place[EXPRESSION_MAX], fault;
    *e = (struct expression){ .n = 1 + (uint32_t)leat_random_below(r, EXPRESSION_MAX) };
    e->with_back = leat_random_below(r, 2);
    e->from = (uint32_t)leat_random_below(r, e->n);
    for (uint32_t i = 0; i < e->n; i++)
        if (i + 1 == e->n || leat_random_below(r, 3)) place[e->leaves++] = i;
    draw_tree(e, r, place, e->leaves);
    return leat_aton_expression_plan(e->node, e->nodes, e->n, e->with_back, used, e->tree,
                                     &e->slots, &fault) == LEAT_ERR_OK;
}

static void set_expression(struct world *w, const struct expression *e, unsigned group)
{
    for (uint32_t place = 0; place < e->n; place++) {
        struct leat_aton_interface *it = leat_sim_aton_registers(&w->ring,
                                                                 (e->from + place) % e->n);
        memcpy(it->tree, e->tree[place], sizeof it->tree);
        it->groups = ~(1u << group);
    }
    for (uint32_t i = 0; i < e->nodes; i++)
        if (!e->node[i].opcode)
            leat_sim_aton_registers(&w->ring, (e->from + e->node[i].left) % e->n)->groups = ~0u;
}

/* A group of any stations, the sender in it or not; slots travel in the order of the operation that
 * will consume them, which differs from node to node. */
static void expressions_are_those_of_recursion_in_both_models(void)
{
    static struct expression e;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 100; i++) {
        if (!draw_expression(&e, &r)) continue;
        const unsigned group = (unsigned)leat_random_below(&r, 32);
        const unsigned width = 16u << leat_random_below(&r, 3);
        const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        const bool sender_in = !e.node[0].opcode && e.node[0].left == 0;
        const struct leat_aton_command c = { .opcode = LEAT_ATON_TREE,
                                             .width_bits = (uint8_t)width,
                                             .param = e.slots,
                                             .group = true,
                                             .da = (uint16_t)group,
                                             .sender_out = !sender_in };
        const uint64_t seed = leat_random_next(&r);
        const uint32_t delay = (e.with_back ? width + 1 : 0) + (uint32_t)leat_random_below(&r, 4);
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            one = (struct world){ .config = { .stations = e.n,
                                              .model = model,
                                              .propagation_each = (uint32_t)(seed % 3),
                                              .delay = delay } };
            world_open(&one);
            world_random_registers(&one, seed);
            enable_all(&one);
            set_expression(&one, &e, group);
            run_one(&one, e.from, &c);
            const struct reported *t = last(&one);
            const struct leat_aton_packet got = { .active = 1,
                                                  .opcode = LEAT_ATON_TREE,
                                                  .width_bits = (uint8_t)width,
                                                  .counter = t->result.counter,
                                                  .param = e.slots,
                                                  .payload = one.payload,
                                                  .payload_len = t->len };
            uint64_t value = 0;
            OK(leat_aton_expression_value(&got, e.leaves, &value));
            OK(value == value_of(&one, &e, e.nodes - 1, mask));
            EQ(t->at - t->sent_at, 144 + e.slots * (1 + width) + plain_bits(&one));
            world_close(&one);
        }
        if (tap_checks_failed) break;
    }
}

/* Two packets; `votes` stations of n hold the same number. */
static bool finds_majority(uint32_t n, uint32_t votes, uint64_t *x)
{
    struct leat_aton_command c = { .opcode = LEAT_ATON_BITCOUNT,
                                   .width_bits = 32,
                                   .da = 0xffff,
                                   .param = leat_aton_counter_bits(n) };
    open_random(&one, LEAT_SIM_ATON_BIT, n, n);
    for (uint32_t i = 0; i < n; i++)
        leat_sim_aton_registers(&one.ring, (i * 7) % n)->operand[0] = i < votes ? 0xCAFE0001 : i;
    run_one(&one, 0, &c);
    const struct leat_aton_packet counted = { .active = 1,
                                              .opcode = LEAT_ATON_BITCOUNT,
                                              .width_bits = 32,
                                              .counter = last(&one)->result.counter,
                                              .param = c.param,
                                              .payload = one.payload,
                                              .payload_len = last(&one)->len };
    *x = leat_aton_candidate(&counted);
    const struct leat_aton_command eq = {
        .opcode = LEAT_ATON_EQ, .width_bits = 32, .da = 0xffff, .value_given = true, .value = *x
    };
    run_one(&one, 0, &eq);
    world_close(&one);
    return 2 * last(&one)->result.variable2 > n;
}

static void a_majority_is_found_and_none_is_invented(void)
{
    uint64_t x;
    for (uint32_t n = 1; n <= 64; n += n < 18 ? 1 : 23) {
        if (n % 7 == 0) continue; /* i * 7 would not reach all */
        OK(finds_majority(n, n / 2 + 1, &x));
        EQ(x, 0xCAFE0001);
        if (n > 1) OK(!finds_majority(n, n / 2, &x));
        OK(finds_majority(n, n, &x));
    }
}

/* The token is at station 0 in the beginning, as the closed form has it. */
static void the_host_based_way_takes_its_closed_form(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++)
        for (uint32_t n = 2; n < 40; n += 7)
            for (uint32_t each = 0; each < 4; each += 3) {
                const struct leat_aton_order o = {
                    .is_passive = true, .command = { .da = 1 }, .octets = octets, .octets_len = 8
                };
                open_plain(&one, model, n, each);
                for (uint32_t i = 1; i < n; i++)
                    OK(leat_sim_aton_hand_over(&one.ring, i, &o, 0, 0, 0));
                leat_sim_aton_run(&one.ring, 100000);
                EQ(one.results, n - 1);
                EQ(last(&one)->at, leat_aton_time_host_based(128 + 2 * 32, n, n * each, each));
                world_close(&one);
            }
}

/* ---- hosts ---------------------------------------------------------------------------------- */

static void periodic_orders_run_in_idle_time_and_give_way(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        const struct leat_aton_order idle = {
            .command = { .opcode = LEAT_ATON_ADD, .width_bits = 16, .da = 0xffff },
            .when_idle = true,
        };
        struct leat_aton_command busy = idle.command;
        busy.opcode = LEAT_ATON_MAX;
        open_plain(&one, model, 4, 5);
        OK(leat_sim_aton_hand_over(&one.ring, 2, &idle, 1000, 0, 1000));
        for (int i = 0; i < 5; i++)
            order(&one, 1, &busy, 0);
        leat_sim_aton_run(&one.ring, 4000);
        EQ(one.reported[4].id, 0); /* all others first */
        EQ(one.reported[5].id, 1000);
        EQ(one.reported[6].id, 1000);
        const leat_time gap = one.reported[6].sent_at - one.reported[5].at;
        OK(gap >= 1000 - 11 && gap < 1000 + 2 * plain_bits(&one));
        world_close(&one);
    }
}

/* The operand that counts is there in the first bit time of the data, and not before. */
static void an_operand_is_fetched_with_the_first_bit_of_the_data(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++)
        for (leat_time late = 0; late < 2; late++) {
            const struct leat_aton_command c = { .opcode = LEAT_ATON_ADD,
                                                 .width_bits = 16,
                                                 .da = 0xffff };
            open_plain(&one, model, 30, 0);
            order(&one, 0, &c, 0);
            const leat_time sent_at = 30,
                            at = sent_at + 64 + leat_sim_aton_distance(&one.ring, 0, 7);
            leat_sim_aton_run(&one.ring, at + late);
            leat_sim_aton_registers(&one.ring, 7)->operand[0] = 5;
            leat_sim_aton_run(&one.ring, 1000);
            EQ(last(&one)->sent_at, sent_at);
            EQ(last(&one)->result.variable1, late ? 0 : 5);
            world_close(&one);
        }
}

static void passive_packets_arrive_and_are_acknowledged(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        struct leat_aton_order o = {
            .is_passive = true, .command = { .da = 3 }, .octets = octets, .octets_len = 20
        };
        open_plain(&one, model, 5, 1);
        OK(leat_sim_aton_hand_over(&one.ring, 4, &o, 77, 0, 0));
        o.command.da = 99; /* nobody */
        OK(leat_sim_aton_hand_over(&one.ring, 4, &o, 78, 0, 0));
        leat_sim_aton_run(&one.ring, 5000);
        EQ(one.count, 3);
        OK(one.reported[0].arrived && one.reported[0].station == 2 && one.reported[0].from == 4);
        EQ(one.reported[0].payload_hash, leat_sim_payload_hash(octets, 20));
        OK(one.reported[1].result.recognised && one.reported[1].result.copied);
        OK(!one.reported[2].result.recognised && !one.reported[2].result.copied);
        world_close(&one);
    }
}

static void the_symbols_before_a_station_can_be_looked_at(void)
{
    static const uint8_t start[8] = {
        LEAT_ATON_J, LEAT_ATON_K, 0, LEAT_ATON_J, LEAT_ATON_K, 0, 0, 0
    };
    open_plain(&one, LEAT_SIM_ATON_BIT, 3, 4);
    leat_sim_aton_run(&one.ring, 5); /* the token's first symbol has gone over the first link */
    for (unsigned i = 0; i < 8; i++) {
        EQ(leat_sim_aton_symbol(&one.ring, 1), start[i]);
        leat_sim_aton_run(&one.ring, one.ring.now + 1);
    }
    EQ(leat_sim_aton_station(&one.ring, 1)->in.phase, LEAT_ATON_IN_AC);
    world_close(&one);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refuses(struct leat_sim_aton_config config, const char *reason)
{
    char buf[200] = { 0 };
    struct leat_text why;
    config.orders_max = 1;
    leat_text_init(&why, buf, sizeof buf - 1, NULL, NULL);
    OK(leat_sim_aton_check(&config, &why) != LEAT_ERR_OK);
    OK(strncmp(buf, reason, strlen(reason)) == 0);
}

static void rings_that_cannot_be_are_named(void)
{
    static const uint16_t twice[3] = { 4, 5, 4 }, all[1] = { 0xffff };
    refuses((struct leat_sim_aton_config){ .stations = 0 }, "stations 0, expected 1 to 65534");
    refuses((struct leat_sim_aton_config){ .stations = 65535 }, "stations 65535, expected");
    refuses((struct leat_sim_aton_config){ .stations = 3, .monitor = 3 },
            "monitor 3, expected 0 to 2");
    refuses((struct leat_sim_aton_config){ .stations = 3, .address = twice },
            "address 4 is there twice");
    refuses((struct leat_sim_aton_config){ .stations = 1, .address = all },
            "address 65535, expected");
    refuses((struct leat_sim_aton_config){ .stations = 2, .propagation_each = 1 << 21 },
            "propagation of a link 2097152, expected 0 to 1048576");
    refuses((struct leat_sim_aton_config){ .stations = 9, .model = 2 }, "model 2");
}

static void orders_that_no_packet_can_say_are_refused(void)
{
    const struct leat_aton_order wide = { .command = { .opcode = 1, .width_bits = 8 } },
                                 good = { .command = { .opcode = 1, .width_bits = 16 } };
    open_plain(&one, LEAT_SIM_ATON_WORD, 3, 0);
    OK(!leat_sim_aton_hand_over(&one.ring, 0, &wide, 0, 0, 0));
    for (int i = 0; i < 64; i++)
        OK(leat_sim_aton_hand_over(&one.ring, 0, &good, 0, 0, 0));
    OK(!leat_sim_aton_hand_over(&one.ring, 0, &good, 0, 0, 0)); /* too many */
    world_close(&one);
}

TAP_MAIN(T(the_times_of_the_spec_are_measured), T(both_models_do_what_the_plain_reading_does),
         T(sorting_and_trees_are_those_of_sequential_code),
         T(expressions_are_those_of_recursion_in_both_models),
         T(a_majority_is_found_and_none_is_invented), T(the_host_based_way_takes_its_closed_form),
         T(periodic_orders_run_in_idle_time_and_give_way),
         T(an_operand_is_fetched_with_the_first_bit_of_the_data),
         T(passive_packets_arrive_and_are_acknowledged),
         T(the_symbols_before_a_station_can_be_looked_at), T(rings_that_cannot_be_are_named),
         T(orders_that_no_packet_can_say_are_refused))
