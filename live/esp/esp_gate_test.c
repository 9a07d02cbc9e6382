/*
 * One trace of packets through three data paths: the library (codec and stores of proto/esp, used
 * in the simplest form), the gate in user space, and the XDP program in the kernel by
 * BPF_PROG_TEST_RUN. Verdict, packet and store must be the same, packet by packet. Without root the
 * kernel's part is skipped, and the test says so.
 */
#include "esp_gate_rig_test.h"

/* More bindings of one computation than its group has room for, which a trace seldom produces. */
static void overfill_a_group(struct rig *r, uint64_t clock)
{
    static struct esp_trace_step step;
    for (uint64_t i = 0; i < 2 * LEAT_ESP_GROUP_SLOTS; i++) {
        step = (struct esp_trace_step){ .clock = clock,
                                        .packet = { .flags = LEAT_ESP_FLAG_X,
                                                    .opcode = LEAT_ESP_COUNT,
                                                    .computationId = 1,
                                                    .compValTag = 0x10000 + i,
                                                    .thresh = 1 } };
        EQ(leat_esp_packet_encode(&step.packet, step.octets, sizeof step.octets, &step.len),
           LEAT_ERR_OK);
        rig_step(r, &step, i);
    }
}

static void three_data_paths_are_one(void)
{
    static struct rig r;
    static struct esp_trace_step step;
    struct esp_trace trace;
    const struct esp_config c = make_config();
    rig_open(&r, &c);
    esp_trace_begin(&trace, tap_seed(), &c.store[0].node, COMPUTATIONS);
    for (uint64_t i = 0; i < LEAT_ROUNDS && tap_checks_failed < 10; i++) {
        esp_trace_next(&trace, &step);
        rig_step(&r, &step, i);
    }
    overfill_a_group(&r, trace.clock);
    rig_compare_stores(&r, &step.packet, true);
    rig_compare_counts(&r);
    /* A trace that does not reach everything proves little. */
    const struct esp_counts *counts = &r.user.share->counts;
    for (uint32_t i = 0; i < ESP_REASON_COUNT; i++) {
        const bool elsewhere = i == ESP_LIMITED || i == ESP_MANAGED || i == ESP_ASKED ||
                               i == ESP_TAKEN || i == ESP_DUPLICATED || i == ESP_UNKEYED ||
                               i == ESP_UNSOUND || i == ESP_NO_WAY || i == ESP_UNRESOLVED ||
                               i == ESP_FAILED;
        if (!elsewhere && !counts->reason[i]) printf("# never met: reason %u\n", i);
        if (!elsewhere) OK(counts->reason[i] > 0);
    }
    for (uint32_t opcode = 1; opcode < ESP_OPCODES; opcode++)
        OK(counts->verdict[opcode][LEAT_ESP_PASS] > 0);
    rig_close(&r);
}

/* Frames with any possible error: user space and kernel agree, and stay in bounds. */
static void damaged_frames_fare_alike(void)
{
    static struct rig r;
    static struct esp_trace_step step;
    static struct frame f;
    struct esp_trace trace;
    const struct esp_config c = make_config();
    uint64_t met[ESP_REASON_COUNT + 1] = { 0 };
    rig_open(&r, &c);
    library_close(&r.library);
    memset(&r.library, 0, sizeof r.library);
    esp_trace_begin(&trace, tap_seed() + 1, &c.store[0].node, COMPUTATIONS);
    for (uint64_t i = 0; i < LEAT_ROUNDS / 10 && tap_checks_failed < 10; i++) {
        esp_trace_next(&trace, &step);
        dress(&f, (enum esp_carriage)(i % 5), step.octets, (uint32_t)step.len, 64);
        const uint64_t dice = leat_random_below(&r.random, 3);
        if (dice == 0) f.len = (uint32_t)leat_random_below(&r.random, f.len);
        const uint32_t head = f.packet_at < f.len ? f.packet_at : f.len;
        if (dice == 1 && head) {
            const uint64_t bit = leat_random_below(&r.random, 8 * head);
            f.octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        if (f.len < 14) continue;
        rig_clock(&r, step.clock);
        met[rig_pass(&r, &f)]++;
    }
    rig_compare_stores(&r, &step.packet, true);
    rig_compare_counts(&r);
    OK(met[ESP_UNSOUND] > 0 && met[ESP_REASON_COUNT] > 0 && met[ESP_EXECUTED] > 0);
    rig_close(&r);
}

/* With limits on sources and ports. */
static void limits_are_the_same_everywhere(void)
{
    static struct rig r;
    static struct esp_trace_step step;
    static struct frame f;
    struct esp_trace trace;
    struct esp_config c = make_config();
    c.limits = leat_esp_limits_of(1000, 100, 20, 60, TAU);
    rig_open(&r, &c);
    library_close(&r.library);
    memset(&r.library, 0, sizeof r.library);
    esp_trace_begin(&trace, tap_seed() + 2, &c.store[0].node, COMPUTATIONS);
    for (uint64_t i = 0; i < LEAT_ROUNDS / 10 && tap_checks_failed < 10; i++) {
        esp_trace_next(&trace, &step);
        dress(&f, (enum esp_carriage)(i % 5), step.octets, (uint32_t)step.len, 64);
        rig_clock(&r, step.clock);
        rig_pass(&r, &f);
        rig_compare_stores(&r, &step.packet, false);
    }
    rig_compare_counts(&r);
    OK(r.user.share->counts.reason[ESP_LIMITED] > 0);
    OK(r.user.share->counts.reason[ESP_EXECUTED] > 0);
    rig_close(&r);
}

/* ---- one thing at a time ------------------------------------------------------------------- */

static void instruction(struct frame *f, enum esp_carriage carriage, struct leat_esp_packet packet)
{
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len = 0;
    packet.flags |= LEAT_ESP_FLAG_X;
    EQ(leat_esp_packet_encode(&packet, octets, sizeof octets, &len), LEAT_ERR_OK);
    dress(f, carriage, octets, (uint32_t)len, 64);
}

static void a_binding_lives_for_tau_and_not_a_tick_longer(void)
{
    static struct rig r;
    static struct frame f;
    const struct leat_esp_packet count = {
        .opcode = LEAT_ESP_COUNT, .computationId = 5, .compValTag = 9, .thresh = 1
    };
    const struct esp_config c = make_config();
    rig_open(&r, &c);
    static const struct {
        uint64_t clock;
        enum esp_reason want;
    } step[] = { { 100, ESP_EXECUTED },
                 { 100 + TAU - 1, ESP_STOPPED }, /* lives, though it was written meanwhile */
                 { 100 + TAU, ESP_EXECUTED },    /* gone, and started anew */
                 { 100 + TAU - 1, ESP_STOPPED }, /* the clock of the group does not decrease */
                 { 100 + 2 * TAU, ESP_EXECUTED } };
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        instruction(&f, ESP_IPV4_UDP, count);
        rig_clock(&r, step[i].clock);
        EQ(rig_pass(&r, &f), step[i].want);
    }
    rig_close(&r);
}

static void loc_names_the_stores_and_their_order(void)
{
    static struct rig r;
    static struct frame f;
    struct leat_esp_packet packet;
    const struct esp_config c = make_config();
    rig_open(&r, &c);
    rig_clock(&r, 50);
    instruction(&f, ESP_IPV6_UDP,
                (struct leat_esp_packet){ .loc = 7,
                                          .opcode = LEAT_ESP_RCHLD,
                                          .computationId = 3,
                                          .pktId = 1000,
                                          .sibCntTag = 1,
                                          .fwdCntTag = 2,
                                          .fwdThresh = 8 });
    EQ(rig_pass(&r, &f), ESP_EXECUTED);
    EQ(leat_esp_packet_decode(f.octets + f.packet_at, f.len - f.packet_at, &packet, NULL),
       LEAT_ERR_OK);
    /* Each store is the child of the next: it leaves as the child that the output store is. */
    OK(packet.pktId == leat_esp_child_id(&c.store[ESP_STORE_OUTPUT].node, 3));
    static const uint32_t store[] = { ESP_STORE_INPUT, ESP_STORE_CENTRE, ESP_STORE_OUTPUT };
    uint64_t child = 1000;
    for (int i = 0; i < 3; i++) {
        const struct esp_store *s = &c.store[store[i]];
        const uint64_t mark = leat_esp_mark(&s->node, 3);
        const uint32_t group = s->first + ((uint32_t)mark & s->mask);
        struct leat_esp_binding binding[8];
        uint32_t cursor = 0, found = 0;
        const uint32_t n = leat_esp_group_list(&r.user.ground.group[group].group, mark, 3, 50,
                                               &cursor, binding, 8);
        EQ(n, 3);
        for (uint32_t b = 0; b < n; b++)
            found += binding[b].tag == child && binding[b].value == 1;
        EQ(found, 1);
        child = leat_esp_child_id(&s->node, 3);
    }
    rig_close(&r);
}

/* Where 1000 ticks are a millisecond. */
static void rig_install(struct rig *r, uint64_t now, const struct leat_esp_install *in)
{
    uint32_t lifetime_ms;
    EQ(leat_esp_duplicate_install(&r->user.share->duplicates, in, now, 1000, &lifetime_ms),
       LEAT_ESP_RESULT_INSTALLED);
#ifdef HAVE_XDP
    if (r->kernel.is_there)
        OK(esp_xdp_publish(&r->kernel.maps, &r->user.share->duplicates, in->group));
#endif
}

/* A datagram at a router with a key: for it, past it, to be copied. */
static void management_finds_its_router(void)
{
    static struct rig r;
    static struct frame f;
    static struct leat_esp_management m;
    static const uint8_t key[LEAT_ESP_KEY_LEN] = "leat esp router";
    static const struct {
        uint8_t opcode;
        uint64_t first, second;
        enum esp_reason want;
        uint8_t hops;
    } row[] = {
        { LEAT_ESP_QUERY, 0, 1, ESP_ASKED, 0 },     { LEAT_ESP_QUERY, 77, 1, ESP_TAKEN, 0 },
        { LEAT_ESP_QUERY, 78, 1, ESP_MANAGED, 0 },  { LEAT_ESP_INSTALL, 5, 77, ESP_TAKEN, 0 },
        { LEAT_ESP_INSTALL, 5, 0, ESP_MANAGED, 0 }, { LEAT_ESP_CAST, 5, 1, ESP_DUPLICATED, 3 },
        { LEAT_ESP_CAST, 5, 1, ESP_MANAGED, 0 },    { LEAT_ESP_CAST, 6, 1, ESP_MANAGED, 3 },
        { LEAT_ESP_CAST, 7, 1, ESP_MANAGED, 3 },    { LEAT_ESP_CAST, 8, 1, ESP_DUPLICATED, 3 },
        { LEAT_ESP_JOIN, 5, 77, ESP_MANAGED, 0 },   { LEAT_ESP_ANNOUNCE, 5, 7, ESP_MANAGED, 0 },
    };
    struct esp_config c = make_config();
    for (c.has_key = 0; c.has_key < 2; c.has_key++) {
        rig_open(&r, &c);
        rig_clock(&r, 50);
        static const struct leat_esp_install install[] = {
            { .group = 5, .target = 77, .serial = 9, .lifetime_ms = 1, .count = 1 },
            { .group = 7, .target = 77, .serial = 9, .lifetime_ms = 1, .children = 2 },
            { .group = 8, .target = 77, .serial = 9, .lifetime_ms = 1, .count = 1, .children = 2 },
        };
        for (size_t i = 0; i < sizeof install / sizeof *install; i++)
            rig_install(&r, 50, &install[i]);
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
            size_t len = 0;
            m = (struct leat_esp_management){ .opcode = row[i].opcode };
            if (row[i].opcode == LEAT_ESP_QUERY) m.query.store = LEAT_ESP_LOC_CENTRE;
            if (row[i].opcode == LEAT_ESP_ANNOUNCE) m.announce.member = 7;
            if (row[i].opcode == LEAT_ESP_CAST) m.cast.hops = row[i].hops;
            EQ(leat_esp_management_encode(&m, key, octets, sizeof octets, &len), LEAT_ERR_OK);
            leat_put_be64(octets + 12, row[i].first);
            leat_put_be64(octets + 20, row[i].second);
            dress(&f, ESP_IPV4_UDP, octets, (uint32_t)len, 64);
            EQ(rig_pass(&r, &f), c.has_key ? row[i].want : ESP_MANAGED);
        }
        /* The lifetime of the duplicate is over. */
        rig_clock(&r, 50 + 1000);
        uint8_t cast[64] = { 0, LEAT_ESP_CAST, 0, 8, [19] = 5, [28] = 3 };
        dress(&f, ESP_IPV4_UDP, cast, sizeof cast, 64);
        EQ(rig_pass(&r, &f), ESP_MANAGED);
        rig_close(&r);
    }
}

/* A child's value, at all data paths: what becomes of it, and the total that it leaves with. */
static void child_sends(struct rig *r, enum esp_carriage carriage,
                        const struct leat_esp_packet *packet, enum esp_reason want, uint64_t total)
{
    static struct frame f, was;
    struct leat_esp_packet leaving = { 0 };
    instruction(&f, carriage, *packet);
    was = f;
    EQ(library_run(&r->library, r->user.share->config.clock_ns, f.octets + f.packet_at,
                   f.len - f.packet_at, &leaving),
       want);
    EQ(rig_pass(r, &f), want);
    if (want != ESP_STOPPED) {
        EQ(leaving.val, total);
        check_leaving(&was, &f, &leaving, true);
    }
    rig_compare_stores(r, packet, false);
}

/* Without COUNTs, one operation after the other. */
static void an_installed_group_collects(void)
{
    static const struct leat_esp_install install = {
        .group = 5, .target = 77, .serial = 9, .lifetime_ms = 3, .children = 3, .parent = ABOVE
    };
    static struct rig r;
    const struct esp_config c = make_config();
    struct leat_esp_packet p = { .opcode = LEAT_ESP_COLLECT,
                                 .op = LEAT_ESP_FOLD_ADD,
                                 .computationId = 40,
                                 .compValTag = 4,
                                 .chldCntTag = 5 };
    rig_open(&r, &c);
    rig_clock(&r, 50);
    child_sends(&r, ESP_IPV4_UDP, &p, ESP_ABORTED, 0); /* not yet installed */
    rig_install(&r, 50, &install);
    r.library.children = 3;
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t total = 0;
        p.loc = i % 2 ? LEAT_ESP_LOC_CENTRE : 0;
        for (uint64_t child = 0; child < 3; child++) {
            p.val = 1000 * i + child;
            total += p.val;
            child_sends(&r, (enum esp_carriage)(i % 5), &p, child == 2 ? ESP_EXECUTED : ESP_STOPPED,
                        total);
        }
    }
    EQ(r.user.share->counts.created, 2);
    p.chldCntTag = 6; /* another group */
    r.library.children = 0;
    child_sends(&r, ESP_IPV6_UDP, &p, ESP_ABORTED, p.val);
    p.chldCntTag = 5;
    r.library.children = 3;
    rig_clock(&r, 50 + 2999);
    p.computationId = 41;
    p.val = 7;
    child_sends(&r, ESP_IPV4_UDP, &p, ESP_STOPPED, 0);
    /* The lifetime of the entry is over. */
    rig_clock(&r, 50 + 3000);
    r.library.children = 0;
    child_sends(&r, ESP_IPV4_UDP, &p, ESP_STOPPED, 0); /* its count is bound */
    p.computationId = 42;
    child_sends(&r, ESP_IPV4_UDP, &p, ESP_ABORTED, 7);
    rig_compare_stores(&r, &p, true);
    rig_compare_counts(&r);
    rig_close(&r);
}

/* A router that accepts keyed computations only. */
static void an_id_that_is_not_made_with_the_key_is_dropped(void)
{
    static struct rig r;
    static struct frame f;
    struct esp_config c = make_config();
    static const struct leat_keys keys = { 2, 0, { "leat esp router", "its other key.." } };
    c.has_key = c.keyed_only = 1;
    rig_open(&r, &c);
    rig_keys(&r, &keys);
    rig_clock(&r, 50);
    for (uint32_t i = 1; i < 100; i++) {
        struct leat_esp_packet count = { .opcode = LEAT_ESP_COUNT, .compValTag = 9, .thresh = 1 };
        count.computationId = leat_esp_computation_keyed(keys.key[i % 2], i);
        instruction(&f, ESP_IPV4_UDP, count);
        EQ(rig_pass(&r, &f), ESP_EXECUTED);
        count.computationId ^= UINT64_C(1) << i % 64;
        instruction(&f, ESP_IPV4_UDP, count);
        EQ(rig_pass(&r, &f), ESP_UNKEYED);
    }
    rig_close(&r);
}

/* As a sender's kernel with checksum offload leaves it: the sum of the pseudo-header. */
static void unfinish(struct frame *f)
{
    const uint8_t *ip = f->octets + 14;
    uint8_t *udp = f->octets + f->packet_at - 8;
    const uint32_t udp_len = f->len - f->packet_at + 8;
    leat_put_be16(udp + 6,
                  (uint16_t)(f->carriage == ESP_IPV6_UDP ? pseudo_sum(ip, udp_len)
                                                         : checksum(ip + 12, 8, udp_len + 17)));
}

/* In generic mode the kernel's own packet is marked unfinished: the sum stays as it is. */
static void check_behind_a_driver(struct rig *r, const struct frame *was)
{
#ifdef HAVE_XDP
    static struct frame there;
    if (!r->kernel.is_there) return;
    there = *was;
    r->kernel.config->generic = 1;
    EQ(kernel_run(&r->kernel, &there), XDP_REDIRECT);
    r->kernel.config->generic = 0;
    EQ(leat_get_be16(there.octets + there.packet_at - 2),
       leat_get_be16(was->octets + was->packet_at - 2));
#else
    (void)r, (void)was;
#endif
}

static void unfinished_checksums_are_finished_where_nobody_else_does(void)
{
    static const enum esp_carriage carriages[] = { ESP_IPV4_UDP, ESP_IPV6_UDP };
    static struct rig r;
    static struct frame f, was;
    const struct esp_config c = make_config();
    rig_open(&r, &c);
    rig_clock(&r, 50);
    for (uint64_t i = 0; i < 400; i++) {
        /* Of NOP, COUNT and COLLECT the last is changed: it is forwarded with E. */
        struct leat_esp_packet p = { .computationId = i, .compValTag = i + 1, .chldCntTag = i + 2 };
        p.opcode = i / 2 % 3 == 0 ? 0 : i / 2 % 3 == 1 ? LEAT_ESP_COUNT : LEAT_ESP_COLLECT;
        p.thresh = 5;
        p.op = LEAT_ESP_FOLD_ADD;
        instruction(&f, carriages[i % 2], p);
        unfinish(&f);
        was = f;
        OK(rig_pass(&r, &f) <= ESP_ASKED);
        const uint32_t len = f.len - f.packet_at + 8;
        const uint8_t *udp = f.octets + f.packet_at - 8;
        if (i % 2)
            EQ(checksum(udp, len, pseudo_sum(f.octets + 14, len)), 0xffff);
        else
            EQ(leat_get_be16(udp + 6), 0);
        check_behind_a_driver(&r, &was);
    }
    rig_close(&r);
}

/* The receiver detects it, not the router in between. */
static void a_wrong_checksum_stays_wrong(void)
{
    static struct rig r;
    static struct frame f, was;
    const struct esp_config c = make_config();
    rig_open(&r, &c);
    rig_clock(&r, 50);
    for (uint16_t flip = 1; flip; flip = (uint16_t)(flip << 1)) {
        instruction(&f, ESP_IPV4_UDP, (struct leat_esp_packet){ .computationId = flip });
        uint8_t *sum = f.octets + f.packet_at - 2;
        leat_put_be16(sum, leat_get_be16(sum) ^ flip);
        was = f;
        EQ(rig_pass(&r, &f), ESP_CARRIED);
        EQ(leat_get_be16(sum), leat_get_be16(was.octets + was.packet_at - 2));
    }
    rig_close(&r);
}

/* ---- many processors ----------------------------------------------------------------------- */

enum { THREADS = 4, RUNS = 2000 };
#ifdef HAVE_XDP
static struct rig shared;

static void *counts_up(void *unused)
{
    struct frame f;
    static uint8_t out[THREADS][ROOM];
    const int64_t number = (int64_t)(intptr_t)unused;
    instruction(
        &f, ESP_IPV4_UDP,
        (struct leat_esp_packet){
            .opcode = LEAT_ESP_COUNT, .computationId = 5, .compValTag = 9, .thresh = UINT64_MAX });
    struct bpf_test_run_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.sz = sizeof opts;
    opts.data_in = f.octets;
    opts.data_size_in = f.len;
    opts.data_out = out[number];
    opts.data_size_out = ROOM;
    for (int i = 0; i < RUNS; i++)
        if (bpf_prog_test_run_opts(bpf_program__fd(shared.kernel.program->progs.esp_xdp), &opts))
            return (void *)1;
    return NULL;
}

static void no_count_is_lost_between_processors(void)
{
    pthread_t thread[THREADS];
    struct esp_config c = make_config();
    rig_open(&shared, &c);
    if (shared.kernel.is_there) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, counts_up, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++) {
            void *failed;
            pthread_join(thread[i], &failed);
            OK(!failed);
        }
        const struct esp_store *s = &c.store[ESP_STORE_CENTRE];
        const uint64_t mark = leat_esp_mark(&s->node, 5);
        static struct leat_esp_group group;
        struct leat_esp_binding binding = { 0 };
        uint32_t cursor = 0;
        OK(esp_xdp_group(&shared.kernel.maps, s->first + ((uint32_t)mark & s->mask), &group));
        EQ(leat_esp_group_list(&group, mark, 5, 1, &cursor, &binding, 1), 1);
        EQ(binding.value, THREADS * RUNS);
    }
    rig_close(&shared);
}
#else
static void no_count_is_lost_between_processors(void)
{
}
#endif

TAP_MAIN(T(three_data_paths_are_one), T(damaged_frames_fare_alike),
         T(limits_are_the_same_everywhere), T(a_binding_lives_for_tau_and_not_a_tick_longer),
         T(loc_names_the_stores_and_their_order), T(management_finds_its_router),
         T(an_installed_group_collects), T(an_id_that_is_not_made_with_the_key_is_dropped),
         T(unfinished_checksums_are_finished_where_nobody_else_does),
         T(a_wrong_checksum_stays_wrong), T(no_count_is_lost_between_processors))
