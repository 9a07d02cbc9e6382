/* Full stores, lost packets, dead ports, expiry: for each member an operation is right, or it
 * fails. */
#include "net_esp_parts.h"
#include "net_esp_test.h"

/* ---- stores ---------------------------------------------------------------------------------- */

static uint64_t bindings_of(struct lab *lab, uint32_t router)
{
    const struct leat_esp_store *store = &lab->port.esp.processor[router].store;
    struct leat_esp_survey survey = { 0 };
    for (uint32_t i = 0; i < store->groups; i++)
        leat_esp_group_survey(&store->group[i], store->node.tau, lab->port.base.now, &survey);
    return survey.live;
}

/* Two bindings for each word and identity, however many operations there are. */
static void operations_use_the_same_bindings_again(void)
{
    struct lab lab;
    lab_open(&lab, "mesh:3,3/esp=5");
    const uint32_t group = deed_group(&lab, NULL, 9);
    for (uint32_t i = 0; i < 100; i++) {
        const struct leat_port_part what = deed_fold(group, (enum leat_port_fold)(i % 6), i % 4);
        OK(deed_do(&lab, &what, 50000));
    }
    for (uint32_t r = 0; r < 9; r++)
        EQ(bindings_of(&lab, r), 2 * 2 * 3);
    lab_close(&lab);
}

/* A store of 256 bindings and groups that need 256 each. When they have expired, all is well. */
static void a_full_store_makes_operations_fail_until_bindings_expire(void)
{
    struct lab lab;
    uint32_t failed = 0, group[4];
    lab_build(&lab, "mesh:2,2/esp=5");
    lab.config.esp.slots = 256;
    lab.config.esp.tau = UINT64_C(1000000000);
    lab_start(&lab);
    for (uint32_t i = 0; i < 4; i++)
        group[i] = deed_group(&lab, NULL, 4);
    for (uint32_t i = 0; i < 12; i++) {
        const struct leat_port_part what = deed_fold(
            group[i % 4], i % 8 < 4 ? LEAT_PORT_SUM : LEAT_PORT_AND, LAB_WORDS);
        failed += !deed_do(&lab, &what, 5000);
    }
    OK(failed >= 6 && failed < 12);
    leat_port_run(&lab.port.base, lab.port.base.now + lab.config.esp.tau);
    const struct leat_port_part what = deed_fold(group[3], LEAT_PORT_AND, LAB_WORDS);
    OK(deed_do(&lab, &what, 5000));
    lab_close(&lab);
}

/* Members come too late for the bindings of the others: no wrong result, no end without one. */
static void what_expires_in_between_makes_the_operation_fail(void)
{
    struct lab lab;
    uint32_t failed = 0;
    lab_build(&lab, "torus:4,4/esp=5");
    lab.config.esp.tau = 2000000; /* 2 us */
    lab_start(&lab);
    const uint32_t group = deed_group(&lab, NULL, 16);
    for (uint32_t i = 0; i < 60; i++) {
        const struct leat_port_part what = deed_fold(group, (enum leat_port_fold)(i % 6), i % 5);
        failed += !deed_do(&lab, &what, i % 3 * 1500000);
    }
    OK(failed > 5 && failed < 55);
    lab_close(&lab);
}

/* Without new computation IDs some operation would meet the moment of expiry. */
static void computations_are_renewed_before_they_expire(void)
{
    struct lab lab;
    lab_build(&lab, "mesh:3,3/esp=5");
    lab.config.esp.tau = 5000000;
    lab_start(&lab);
    const uint32_t group = deed_group(&lab, NULL, 9);
    for (uint32_t i = 0; i < 600; i++) {
        const struct leat_port_part what = deed_fold(group, LEAT_PORT_SUM, 1);
        OK(deed_do(&lab, &what, 100000));
    }
    OK(lab.port.base.now > 10 * lab.config.esp.tau);
    lab_close(&lab);
}

/* ---- wires ----------------------------------------------------------------------------------- */

struct outcome {
    uint32_t done, failed;
};

static struct outcome operate(struct lab *lab, uint32_t operations, leat_time late)
{
    struct outcome outcome = { 0, 0 };
    const uint32_t ports = lab->port.base.ports, group = deed_group(lab, NULL, ports);
    for (uint32_t i = 0; i < operations; i++) {
        struct leat_port_part what = deed_fold(group, (enum leat_port_fold)(i % 6), i % 7);
        if (i % 3 == 0) what = deed_cast(group, i / 3 % ports, i * 37 % 2000);
        *(deed_do(lab, &what, late) ? &outcome.done : &outcome.failed) += 1;
    }
    leat_port_disband(&lab->port.base, group);
    return outcome;
}

static struct outcome operate_with(const char *name, const char *line, uint32_t operations,
                                   leat_time late)
{
    struct lab lab;
    struct leat_net_faults faults;
    struct leat_text why = LEAT_TEXT(512);
    leat_net_faults_init(&faults);
    lab_build(&lab, name);
    faults.flit_bits = 128;
    OK(!leat_net_faults_line(&faults, line, strlen(line), &why));
    lab_start_with_faults(&lab, &faults);
    const struct outcome outcome = operate(&lab, operations, late);
    lab_close(&lab);
    return outcome;
}

static void broken_wires_make_operations_fail_while_they_are_broken(void)
{
    static const char *const name[] = { "mesh:3,3/esp=5", "mesh:3,3/routing=adaptive/esp=5",
                                        "mesh:3,3/switch=output/esp=5", "fattree:3,2/esp=5" };
    static const char *const line[] = { "link:3-4@5000..20000", "link:3-4@5000..20000",
                                        "link:3-4@5000..20000", "link:0-3@3000..12000" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct outcome o = operate_with(name[i], line[i], 100, 200000);
        OK(o.done > 10 && o.failed > 10);
    }
}

static void bit_errors_make_some_operations_fail(void)
{
    const struct outcome o = operate_with("torus:4,4/esp=5", "ber:6e-6", 100, 200000);
    OK(o.done > 10 && o.failed > 10);
}

static void wires_that_flap_hurt_nobody_for_good(void)
{
    const struct outcome o = operate_with("torus:4,4/esp=5", "flap:0-1@0..100000/3000,700", 200,
                                          200000);
    OK(o.done > 20 && o.failed > 5);
}

static void a_dead_port_makes_operations_fail_until_it_is_repaired(void)
{
    const struct outcome o = operate_with("mesh:3,3/esp=5", "port:4@30000..200000", 300, 2000000);
    OK(o.done > 10 && o.failed > 10);
}

/* It dies after the first of the pieces that a packet is sent as. */
static void a_port_that_dies_for_good_leaves_nobody_waiting(void)
{
    struct lab lab;
    struct leat_net_faults faults;
    struct leat_text why = LEAT_TEXT(512);
    leat_net_faults_init(&faults);
    OK(!leat_net_faults_line(&faults, "port:0@4..", 10, &why));
    lab_build(&lab, "line:2/esp=5");
    lab.config.flit_octets = lab.config.packet_flits = 4;
    lab_start_with_faults(&lab, &faults);
    const uint32_t group = deed_group(&lab, NULL, 2);
    const struct leat_port_part what = deed_fold(group, LEAT_PORT_SUM, 1);
    OK(!deed_do(&lab, &what, 0));
    OK(!deed_do(&lab, &what, 0));
    const struct leat_port_part cast = deed_cast(group, 0, 4); /* lost at once */
    OK(!deed_do(&lab, &cast, 0));
    lab_close(&lab);
}

static void a_dead_router_makes_operations_fail_until_it_is_repaired(void)
{
    const struct outcome o = operate_with("mesh:3,3/esp=50", "router:4@3000..20000", 100, 200000);
    OK(o.done > 10 && o.failed > 10);
}

static void packets_dropped_at_full_buffers_make_operations_fail(void)
{
    struct lab lab;
    lab_open(&lab, "mesh:3,3/full=drop/vcs=1/buffer=16/esp=1");
    const struct outcome o = operate(&lab, 100, 200000);
    OK(o.done > 10);
    lab_close(&lab);
}

/* ---- deadlock -------------------------------------------------------------------------------- */

/* Nothing moves any more: neither operations that have begun nor later ones hang. */
static void in_a_deadlocked_network_operations_fail(void)
{
    static uint8_t octets[4000];
    struct lab lab;
    lab_open(&lab, "ring:8/vcs=1/buffer=1/esp=5");
    const uint32_t group = deed_group(&lab, NULL, 8);
    for (uint32_t i = 0; i < 8; i++) {
        const struct leat_port_message message = {
            .from = i, .to = (i + 3) % 8, .octets = octets, .len = sizeof octets
        };
        OK(leat_port_send(&lab.port.base, &message, 0));
    }
    const struct leat_port_part fold = deed_fold(group, LEAT_PORT_SUM, 40);
    OK(!deed_do(&lab, &fold, 0));
    OK(lab.port.dead);
    const struct leat_port_part cast = deed_cast(group, 3, 5000);
    OK(!deed_do(&lab, &cast, 100000));
    OK(!deed_do(&lab, &fold, 100000));
    lab_close(&lab);
}

TAP_MAIN(T(operations_use_the_same_bindings_again),
         T(a_full_store_makes_operations_fail_until_bindings_expire),
         T(what_expires_in_between_makes_the_operation_fail),
         T(computations_are_renewed_before_they_expire),
         T(broken_wires_make_operations_fail_while_they_are_broken),
         T(bit_errors_make_some_operations_fail), T(wires_that_flap_hurt_nobody_for_good),
         T(a_dead_port_makes_operations_fail_until_it_is_repaired),
         T(a_port_that_dies_for_good_leaves_nobody_waiting),
         T(a_dead_router_makes_operations_fail_until_it_is_repaired),
         T(packets_dropped_at_full_buffers_make_operations_fail),
         T(in_a_deadlocked_network_operations_fail))
