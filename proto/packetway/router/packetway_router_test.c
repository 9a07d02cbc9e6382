/* One half-router at a time: packets, ERR, WRU?, registrations; the vectors. */
#include "packetway_router_test.h"

static void t25_and_t26_are_what_half_routers_say(void)
{
    struct leat_packetway_table_view view;
    open_network();
    pass_table_of_san2();
    OK(leat_packetway_router_table(a3.r, 0,
                                   &view)); /* spec 6.5: stored as received, Q and MTU not */
    EQ(view.sequence, 3);
    EQ(view.q, 4);
    EQ(view.mtu_words, 1024);
    EQ(view.san, 0x200);
    EQ(view.received_from_count, 3);
    EQ(view.received_from[0], 0x202);
    EQ(view.received_from[2], 0x102);
    OK(is_hex(view.csr, view.csr_len, "0085010102030000"));
    EQ(leat_packetway_records_count(&view.nodes), 1);
    OK(!view.lost);
    OK(!leat_packetway_router_table(a3.r, 1, &view));
    OK(!leat_packetway_router_table(a3.r, 16, &view));
    close_network();
}

static void t17_answers_t16(void)
{
    open_network();
    pass_table_of_san2();
    feed(&a3, LEAT_PACKETWAY_FROM_HOST, vector("T16"));
    OK(says(&a3, vector("T17")));
    EQ(a3.out.verdict, LEAT_PACKETWAY_TO_SAN);
    OK(is_hex(a3.out.route, a3.out.route_len, "050300"));
    close_network();
}

static void t19_answers_t18(void)
{
    open_network();
    pass_table_of_san2();
    feed(&a1, LEAT_PACKETWAY_FROM_HOST, vector("T18"));
    OK(says(&a1, vector("T19")));
    close_network();
}

/* Spec 9: the trace of T23, EI as each router leaves it. */
static void t23_goes_the_way_of_its_trace(void)
{
    for (int accused = 0; accused < 3; accused++) {
        uint8_t p[VECTOR_LEN_MAX];
        struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_HOST };
        const struct leat_packetway_decision *d;
        open_network();
        uint32_t len = (uint32_t)unhex(vector("T23"), p);
        struct subject *const way[] = { &a3, &a1, &b1, &b2 };
        for (unsigned i = 0; i < 4; i++) {
            struct subject *s = way[i];
            const bool out = i % 2;
            arrival.side = out ? LEAT_PACKETWAY_FROM_TWIN
                               : (i ? LEAT_PACKETWAY_FROM_BUDDY : LEAT_PACKETWAY_FROM_HOST);
            arrival.error_seen = i == 2 * (unsigned)(accused - 1) || (out && arrival.error_seen);
            leat_packetway_router_input(s->r, &arrival, p, len, 0, &s->routed);
            d = &s->routed.decision;
            EQ(d->verdict, out ? LEAT_PACKETWAY_TO_SAN : LEAT_PACKETWAY_TO_TWIN);
            EQ(d->consumed, i == 0 ? 0 : 8);
            EQ(d->priority, 9);
            if (i == 1) OK(is_hex(d->route, d->route_len, "0101020300"));
            if (i == 3) OK(is_hex(d->route, d->route_len, "03000300"));
            const uint32_t header_at = d->header_at - d->consumed;
            len -= d->consumed;
            memmove(p, p + d->consumed, len);
            if (out) leat_packetway_seal(p, len, header_at, s->routed.error_seen);
        }
        OK(is_hex(p, len - 8, "0900020100070051 0600000100000301 48454c4c4f000000"));
        EQ(leat_get_be64(p + len - 8), accused == 0 ? 0 : (accused == 1 ? 2 : 1));
        close_network();
    }
}

/* T28: a buddy finds B1 gone and reports it; A1 withdraws and notifies those it had told. */
static void t28_takes_tables_away_and_goes_on(void)
{
    struct leat_packetway_table_view view;
    open_network();
    pass_table_of_san2();
    node(&a1, 0x104, "040300", true);
    hush(&a1);
    feed(&a1, LEAT_PACKETWAY_FROM_BUDDY, vector("T28"));
    OK(says(&a1, "000003020048ffff 0000000200000102 2900000001000103 2900000001000202" Z));
    EQ(a1.out.verdict, LEAT_PACKETWAY_TO_TWIN);
    OK(take(&a1)); /* the buddy it came from, but not the reporter */
    EQ(leat_get_be24(a1.out.octets + 1), 0x103);
    OK(!take(&a1));
    OK(leat_packetway_router_table(a1.r, 0, &view));
    OK(view.lost);
    feed(&a1, LEAT_PACKETWAY_FROM_BUDDY, vector("T28")); /* nothing left to delete: it ends */
    OK(!take(&a1));
    EQ(counts(&a1)->failures, 1);
    /* from strangers it is not accepted */
    feed(&a3, LEAT_PACKETWAY_FROM_HOST,
         "000003020048ffff 0000000200000301 2900000001000103 2900000001000202" Z);
    OK(leat_packetway_router_table(a3.r, 0, &view));
    OK(!view.lost);
    EQ(counts(&a3)->rtbl_strange, 1);
    close_network();
}

static void a_buddy_that_goes_is_reported_with_its_twin(void)
{
    const struct leat_packetway_address b = PW_SINGLE(0x103), none = PW_SINGLE(0x1FF);
    open_network();
    pass_table_of_san2();
    EQ(leat_packetway_router_node_gone(a1.r, &none, 0), LEAT_ERR_FIELD);
    EQ(leat_packetway_router_node_gone(a1.r, &b, 0), LEAT_ERR_OK);
    OK(says(&a1, "000003020048ffff 0000000200000102 2900000001000103 2900000001000202" Z));
    OK(take(&a1)); /* and this SAN has changed: a new table */
    EQ(leat_get_be16(a1.out.octets + 4), LEAT_PACKETWAY_TE_RTBL);
    OK(!take(&a1));
    close_network();
}

/* ---- ERR (spec 5.7) ---- */

static void t27_and_t29_are_what_a_half_router_says(void)
{
    struct subject s;
    struct leat_packetway_router_config c = config_of(0x102, 0x100, 0);
    c.levels = LEAT_PACKETWAY_LEVEL_B;
    open_with(&s, &c);
    node(&s, 0x101, "01", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "000002ff00000052 0000000000000101" Z);
    OK(says(&s, vector("T27")));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, vector("T20"));
    OK(says(&s, vector("T29")));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200150001 0000000100000101 29000000010002ff" Z);
    OK(says(&s, vector("T27")));
    close(&s);
}

static void what_is_never_answered_with_an_err(void)
{
    static const char *const row[] = {
        "000002ff00000052 0000000000000000" Z,                  /* SA 0 */
        "000002ff0000ffff 0000000000000101" Z,                  /* about an ERR (its TE is bad) */
        "000002ff0047ffff 0000000100000101 2900000001000201" Z, /* about an ERR */
        "000002ff00000052 0000000000800101" Z,                  /* SA not physical */
        "000002ff00000052 00000000007ffffe" Z,                  /* reserved */
        "000002ff00000052 0000000000000102" Z,                  /* mine */
        "000002ff00000052 00000000000003ff" Z,                  /* unroutable */
        "00e0000500000052 0000000000000101" Z,                  /* DT logical */
        "007ffffe00000052 0000000000000101" Z,                  /* Hey-You, unknown PT */
        "007fffff00000052 0000000000000101" Z,                  /* broadcast */
        "000002ff00000052 0000000000000101 0000000000000001",   /* EI */
        "400002ff00000052 0000000000000101" Z,                  /* V */
        "000002ff00000052 0000000000000101 00000000",           /* length */
        "000002ff00000052 0000000000000101",                    /* short */
        "00000102001d0001 0000000100000101 2900000001000201" Z, /* bad RTBL of a stranger */
        "0000010200000052 0000000500000101" Z,                  /* to me, DB overruns: E_SHORT */
    };
    struct subject s;
    open(&s, 0x102, 0x100, 0);
    node(&s, 0x101, "01", false);
    hush(&s);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        feed(&s, LEAT_PACKETWAY_FROM_HOST, row[i]);
        if (take(&s)) {
            OK(false);
            printf("# answered: %s\n", row[i]);
        }
        s.now += S;
    }
    EQ(counts(&s)->err_sent, 0);
    close(&s);
}

static void what_is_answered_with_a_quote(void)
{
    static const char *const row[] = {
        "0000000000000052 0000000000000101" Z, /* DT 0 */
        "00c0000100000052 0000000000000101" Z, /* reserved class */
        "0000010200000052 0000000000000101" Z, /* to me: unknown PT */
        "00000102004b0001 0000000000000101" Z, /* unknown TE */
        "0000010200290001 0000000000000101" Z, /* security: a TE that no level has */
        "0000010200150001 0000000200000101 2900000001000201 2900000001000301" Z, /* E_MSG */
        "0000010200000051 0000000080000101 e100000000000000" Z, /* unknown mandatory OH */
        "0000010200000051 0000000080000101 c300000000000000 0000000000000000" Z, /* CRC */
    };
    struct subject s;
    open(&s, 0x102, 0x100, 0);
    node(&s, 0x101, "01", false);
    hush(&s);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t quote[VECTOR_LEN_MAX];
        const size_t len = unhex(row[i], quote);
        feed(&s, LEAT_PACKETWAY_FROM_HOST, row[i]);
        OK(take(&s));
        EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_GENERAL);
        EQ(s.out.len, 24 + len);
        OK(s.out.len == 24 + len && memcmp(s.out.octets + 16, quote, len) == 0);
        s.now += S;
    }
    close(&s);
}

/* Without leading records; cut to the MTU in whole words, not below PH. */
static void quotes_are_cut_to_the_mtu(void)
{
    struct subject s;
    open(&s, 0x102, 0x100, 7);
    node(&s, 0x101, "01", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "0081770000000000 0900020100000052 0000000800000101 0102030405060708 1102030405060708 "
         "2102030405060708 3102030405060708 4102030405060708 5102030405060708 6102030405060708 "
         "7102030405060708" Z);
    OK(says(&s, "09000101004affff 0000000400000102 0900020100000052 0000000800000101 "
                "0102030405060708 1102030405060708" Z));
    EQ(counts(&s)->reason[LEAT_PACKETWAY_REASON_MTU], 1);
    close(&s);
}

static void a_route_that_the_san_refuses_is_quoted(void)
{
    struct subject s;
    const struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_TWIN };
    open(&s, 0x102, 0x100, 0);
    node(&s, 0x101, "01", false);
    hush(&s);
    const size_t len = unhex("0081770000000000 0900020100000052 0000000000000101" Z, s.in);
    EQ(feed_octets(&s, LEAT_PACKETWAY_FROM_TWIN, 0x302, len)->verdict, LEAT_PACKETWAY_TO_SAN);
    leat_packetway_router_refused(s.r, &arrival, s.in, (uint32_t)len, s.now);
    OK(says(&s, "09000101004affff 0000000300000102 0900020100000052 0000000000000101" Z Z));
    close(&s);
}

/* ---- registration (spec 6.1) ---- */

static bool node_view(struct subject *s, uint32_t address, struct leat_packetway_san_node_view *out)
{
    for (uint32_t i = 0; i < 32; i++)
        if (leat_packetway_router_node_at(s->r, i, out) && out->node.address.low == address)
            return true;
    return false;
}

#define INFO_101(te_name) "0000010200190001 0000000200000101 2900000101000101 " te_name Z

static void a_registration_names_a_node_of_my_san(void)
{
    struct subject s;
    struct leat_packetway_san_node_view v;
    open(&s, 0x102, 0x100, 0);
    twin(&s, 0x302);
    node(&s, 0x101, "01", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061620000"));
    OK(node_view(&s, 0x101, &v));
    OK(v.registered && v.mapped);
    EQ(leat_packetway_records_count(&v.about), 1);
    OK(take(&s)); /* the LRT changed: RTBL */
    EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_RTBL);
    /* the same again changes nothing */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061620000"));
    OK(!take(&s));
    /* another name: refused, with the quote */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061630000"));
    OK(take(&s));
    EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_GENERAL);
    EQ(counts(&s)->registrations_refused, 1);
    /* not about itself, not of the own block, over the link, or about two: ignored */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200190001 0000000100000101 2900000001000104" Z);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200190001 0000000100000201 2900000001000201" Z);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "0000010200190001 0000000100000105 2900000001000105" Z);
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0000010200190001 0000000200000106 2900000001000106 2900000001000107" Z);
    OK(!node_view(&s, 0x104, &v));
    OK(!node_view(&s, 0x105, &v));
    OK(!node_view(&s, 0x106, &v));
    OK(!node_view(&s, 0x201, &v));
    /* of the own block but not mapped: kept, not routable */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200190001 0000000100000108 2900000001000108" Z);
    OK(node_view(&s, 0x108, &v));
    OK(v.registered && !v.mapped);
    OK(!take(&s));
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010800000052 0000000000000101" Z)->reason,
       LEAT_PACKETWAY_REASON_UNKNOWN);
    close(&s);
}

/* WRU? every 30 s; after three without an answer the registration is removed. */
static void a_silent_node_loses_its_registration(void)
{
    struct subject s;
    struct leat_packetway_san_node_view v;
    unsigned asked = 0;
    open(&s, 0x102, 0x100, 0);
    node(&s, 0x101, "01", false);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061620000"));
    leat_packetway_router_tick(s.r, 0);
    hush(&s);
    for (unsigned second = 1; second <= 130; second++) {
        s.now = second * S;
        OK(leat_packetway_router_next_at(s.r) >= s.now); /* nothing was due in between */
        leat_packetway_router_tick(s.r, s.now);
        while (take(&s))
            if (leat_get_be16(s.out.octets + 4) == LEAT_PACKETWAY_TE_WRU) {
                asked++;
                OK(is_hex(s.out.octets, s.out.len, "00000101001b0001 0000000000000102" Z));
                if (second <= 31) feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061620000"));
            }
        OK(node_view(&s, 0x101, &v) && v.registered);
    }
    EQ(asked, 4); /* at 30 (answered), 60, 90, 120 s */
    EQ(counts(&s)->silent, 0);
    s.now = 150 * S;
    leat_packetway_router_tick(s.r, s.now);
    EQ(counts(&s)->silent, 1);
    OK(node_view(&s, 0x101, &v));
    OK(!v.registered && v.mapped);
    close(&s);
    open(&s, 0x102, 0x100, 0); /* one that this SAN does not know is forgotten altogether */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, INFO_101("2a02000061620000"));
    OK(node_view(&s, 0x101, &v) && !v.mapped);
    for (unsigned second = 30; second <= 120; second += 30)
        leat_packetway_router_tick(s.r, second * S);
    OK(!node_view(&s, 0x101, &v));
    close(&s);
}

/* ---- WRU? ---- */

static void wru_is_answered_by_info_about_me(void)
{
    uint8_t about[VECTOR_LEN_MAX];
    for (int level_c = 0; level_c < 2; level_c++)
        for (int point_to_point = 0; point_to_point < 2; point_to_point++) {
            struct subject s;
            struct leat_packetway_router_config c = config_of(0x102, 0x100, 0);
            c.about = about;
            c.about_len = unhex("2a02000061620000 2b03000001000000", about);
            c.levels = level_c ? LEAT_PACKETWAY_LEVEL_ALL : LEAT_PACKETWAY_LEVEL_B;
            c.point_to_point = point_to_point;
            open_with(&s, &c);
            twin(&s, 0x302);
            node(&s, 0x101, "01", false);
            hush(&s);
            const char *const tail = level_c ? " 2b03000001000000" Z : Z;
            char want[256];
            snprintf(want, sizeof want,
                     "0700010100190001 0000000%d00000102 290000%s01000102 "
                     "2a02000061620000%s",
                     2 + level_c, level_c ? "02" : "01", tail);
            feed(&s, LEAT_PACKETWAY_FROM_HOST, "07000102001b0001 0000000000000101" Z);
            OK(says(&s, want));
            feed(&s, LEAT_PACKETWAY_FROM_HOST, "077ffffe001b0001 0000000000000101" Z);
            OK(says(&s, want));
            /* from nobody (T24): to whoever is at the other end of a link, or nowhere */
            feed(&s, LEAT_PACKETWAY_FROM_HOST, vector("T24"));
            EQ(take(&s), point_to_point);
            if (point_to_point) EQ(leat_get_be24(s.out.octets + 1), 0x7FFFFE);
            feed(&s, LEAT_PACKETWAY_FROM_TWIN, vector("T24"));
            OK(take(&s));
            EQ(s.out.verdict, LEAT_PACKETWAY_TO_TWIN);
            EQ(leat_get_be24(s.out.octets + 1), 0x7FFFFE);
            close(&s);
        }
}

/* ---- logical addresses (spec 5.3, rule 3) ---- */

static void logical_addresses_reach_my_san_and_the_next(void)
{
    struct subject s;
    struct leat_packetway_copies copies = { 0 };
    struct leat_packetway_decision d;
    const struct leat_packetway_arrival host = { .side = LEAT_PACKETWAY_FROM_HOST },
                                        link = { .side = LEAT_PACKETWAY_FROM_TWIN };
    static const char packet[] = "00e0000500000052 0000000000000101" Z;
    open_pair(&s);
    for (uint32_t i = 0; i < 3; i++) { /* 0x101, the source; 0x110, 0x111 are members too */
        char hex[200];
        const uint32_t x = i ? 0x10F + i : 0x101;
        if (i) node(&s, x, i == 1 ? "aa" : "bb", false);
        snprintf(hex, sizeof hex,
                 "0000010200190001 0000000200000%03x 2900000101000%03x 2c00000001e00005" Z, x, x);
        feed(&s, LEAT_PACKETWAY_FROM_HOST, hex);
    }
    node(&s, 0x112, "cc", false); /* no member */
    hush(&s);
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, packet)->verdict, LEAT_PACKETWAY_COPIES);
    OK(leat_packetway_router_copy(s.r, &host, &s.routed, &copies, &d));
    EQ(d.verdict, LEAT_PACKETWAY_TO_SAN);
    EQ(d.route[0], 0xAA);
    OK(leat_packetway_router_copy(s.r, &host, &s.routed, &copies, &d));
    EQ(d.route[0], 0xBB);
    OK(!leat_packetway_router_copy(s.r, &host, &s.routed, &copies,
                                   &d)); /* nobody behind the twin */
    feed(&s, LEAT_PACKETWAY_FROM_TWIN,
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 2900000201000301 2c00000001e00005 2d02000000000002" Z);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, packet);
    copies = (struct leat_packetway_copies){ 0 };
    unsigned to_twin = 0, to_san = 0;
    while (leat_packetway_router_copy(s.r, &host, &s.routed, &copies, &d)) {
        to_twin += d.verdict == LEAT_PACKETWAY_TO_TWIN;
        to_san += d.verdict == LEAT_PACKETWAY_TO_SAN;
    }
    EQ(to_twin, 1);
    EQ(to_san, 2);
    /* a copy from a twin goes to the SAN only: no loop is possible */
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, "00e0000500000052 0000000000000301" Z);
    copies = (struct leat_packetway_copies){ 0 };
    to_twin = to_san = 0;
    while (leat_packetway_router_copy(s.r, &link, &s.routed, &copies, &d)) {
        to_twin += d.verdict == LEAT_PACKETWAY_TO_TWIN;
        to_san += d.verdict == LEAT_PACKETWAY_TO_SAN;
    }
    EQ(to_twin, 0);
    EQ(to_san, 3);
    OK(!take(&s));
    close(&s);
}

/* ---- embedded messages (spec 5.9) ---- */

static void a_message_inside_a_message_enters_anew(void)
{
    struct subject s;
    const struct leat_packetway_decision *d;
    open_pair(&s);
    d = feed(&s, LEAT_PACKETWAY_FROM_HOST,
             "0000010200000002 0000000400000777 0081550000000000 0000060100000051 "
             "0000000000000101" Z " 0000000000000001");
    EQ(d->verdict, LEAT_PACKETWAY_TO_TWIN); /* by address to this half-router, then by route */
    EQ(s.routed.len, 32);
    OK(s.routed.octets == s.in + 16);
    OK(s.routed.error_seen); /* the outer EI counts as an error of the input */
    d = feed(&s, LEAT_PACKETWAY_FROM_HOST,
             "0000010200000002 0000000300000777 0000010100000051 0000000000000101" Z Z);
    EQ(d->verdict, LEAT_PACKETWAY_TO_SAN);
    OK(!s.routed.error_seen);
    /* one level per visit */
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0000010200000002 0000000600000101 0000010200000002 0000000300000101 "
         "0000010100000051 0000000000000101" Z Z Z);
    OK(take(&s));
    EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_GENERAL);
    close(&s);
}

static void more_than_four_messages_inside_one_another_are_refused(void)
{
    for (unsigned depth = 1; depth <= 6; depth++) {
        struct subject s;
        uint8_t inner[VECTOR_LEN_MAX], outer[VECTOR_LEN_MAX];
        size_t len = unhex("0000010100000051 0000000000000101" Z, inner);
        open_pair(&s);
        for (unsigned i = 0; i < depth; i++) {
            static struct leat_packetway_message m;
            memset(&m, 0, sizeof m);
            m.header = (struct leat_packetway_header){ .dt = i + 1 == depth ? 0x102 : 0x301,
                                                       .sa = 0x101,
                                                       .pt = LEAT_PACKETWAY_PT_EMBEDDED };
            m.data = inner;
            m.data_len = len;
            EQ(leat_packetway_message_encode(&m, outer, sizeof outer, &len), LEAT_ERR_OK);
            memcpy(inner, outer, len);
        }
        memcpy(s.in, inner, len);
        feed_octets(&s, LEAT_PACKETWAY_FROM_HOST, 0, len);
        OK(depth > 4 ? take(&s) && leat_get_be16(s.out.octets + 4) == LEAT_PACKETWAY_TE_GENERAL
                     : s.routed.octets == s.in + 16);
        close(&s);
    }
}

/* ---- the rest ---- */

static void what_is_accused_is_not_acted_upon(void)
{
    struct subject s;
    open_pair(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "00000102001b0001 0000000000000101 0000000000000004");
    OK(!take(&s));
    EQ(counts(&s)->accused, 1);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "000002ff00000052 0000000000000102" Z);
    EQ(counts(&s)->duplicates, 1); /* another node with our address */
    close(&s);
}

static void levels_that_are_not_there_are_refused(void)
{
    static const struct {
        uint8_t levels;
        const char *hex;
        bool refused;
    } row[] = {
        { 0, "00000102001b0001 0000000000000101" Z, true },
        { 1, "00000102001b0001 0000000000000101" Z, false },
        { 1, "0000010200180001 0000000100000101 2900000001000101" Z, true },
        { 3, "0000010200180001 0000000100000101 2900000001000101" Z, false },
        { 5, "0000010200180001 0000000100000101 2900000001000101" Z, true },
        { 3, "00000102001c0001 0000000000000302" Z, true },
        { 5, "00000102001c0001 0000000000000302" Z, false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct subject s;
        struct leat_packetway_router_config c = config_of(0x102, 0x100, 0);
        c.levels = row[i].levels;
        open_with(&s, &c);
        twin(&s, 0x302);
        node(&s, 0x101, "01", false);
        hush(&s);
        const bool link = strstr(row[i].hex, "302") != NULL;
        feed(&s, link ? LEAT_PACKETWAY_FROM_TWIN : LEAT_PACKETWAY_FROM_HOST, row[i].hex);
        const bool answered = take(&s);
        OK(answered);
        EQ(leat_get_be16(s.out.octets + 4) == LEAT_PACKETWAY_TE_GENERAL, row[i].refused);
        close(&s);
    }
}

static void configurations_out_of_bounds_are_refused(void)
{
    const struct leat_packetway_router_config good = config_of(0x102, 0x100, 0);
    struct leat_packetway_router *r = NULL;
    uint8_t about[VECTOR_LEN_MAX];
    _Alignas(16) uint8_t memory[64];
    for (int i = 0; i < 12; i++) {
        struct leat_packetway_router_config c = good;
        if (i == 0) c.address = 0;
        if (i == 1) c.address = 0x7FFFFE;
        if (i == 2) c.block.count = 0;
        if (i == 3) c.levels = LEAT_PACKETWAY_LEVEL_C;
        if (i == 4) c.nodes_max = 0;
        if (i == 5) c.tables_max = LEAT_PACKETWAY_XRT_MAX + 1;
        if (i == 6) c.table_len_max = 12;
        if (i == 7) c.known_max = 3;
        if (i == 8) c.pending_max = 0;
        if (i == 9) c.about_len = 264;
        if (i == 10) c.ranges_max = LEAT_PACKETWAY_RANGES_MAX + 1;
        if (i == 11) c.levels = 8;
        EQ(leat_packetway_router_footprint(&c), 0);
        EQ(leat_packetway_router_init(&c, memory, sizeof memory, 0, &r), LEAT_ERR_RANGE);
    }
    EQ(leat_packetway_router_init(&good, memory, sizeof memory, 0, &r), LEAT_ERR_MEMORY);
    const size_t len = leat_packetway_router_footprint(&good);
    void *all = malloc(len);
    static const char *const bad[] = { "2b03000001000000 2a02000061620000", "2d02000000000000",
                                       "2a02000061620000 2a02000061620000", "0000000000000000" };
    for (int i = 0; i < 4; i++) {
        struct leat_packetway_router_config c = good;
        c.about = about;
        c.about_len = unhex(bad[i], about);
        EQ(leat_packetway_router_init(&c, all, len, 0, &r), LEAT_ERR_FIELD);
    }
    EQ(leat_packetway_router_init(&good, all, len, 0, &r), LEAT_ERR_OK);
    EQ(leat_packetway_router_twin(r, 0x102, 1, 0, 0), LEAT_ERR_RANGE);
    EQ(leat_packetway_router_twin(r, 0, 1, 0, 0), LEAT_ERR_RANGE);
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TWINS_MAX; i++)
        EQ(leat_packetway_router_twin(r, 0x1000 + i, 1, 0, 0), LEAT_ERR_OK);
    EQ(leat_packetway_router_twin(r, 0x2000, 1, 0, 0), LEAT_ERR_FULL);
    EQ(leat_packetway_router_twin(r, 0x1000, 7, 0, 0), LEAT_ERR_OK); /* again: new figures */
    EQ(leat_packetway_router_link(r, 0x2000, false, 0), LEAT_ERR_FIELD);
    struct leat_packetway_san_node n = { .address = PW_SINGLE(0x102) };
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_RANGE); /* me */
    n.address.low = 0x1000;
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_RANGE); /* a twin */
    n.address.low = 0xE00001;
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_RANGE); /* logical */
    n.address.low = 0x101;
    n.route_len = 64;
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_RANGE);
    n.route_len = 0;
    for (uint32_t i = 0; i < 32; i++) {
        n.address.low = 0x110 + i;
        EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_OK);
    }
    n.address.low = 0x140;
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_FULL);
    EQ(leat_packetway_router_node_gone(r, &(struct leat_packetway_address)PW_SINGLE(0x115), 0),
       LEAT_ERR_OK);
    EQ(leat_packetway_router_node(r, &n, 0), LEAT_ERR_OK);
    free(all);
}

/* Anything at any time: bounds hold, and every message sent is strict. */
static void random_input_is_harmless(void)
{
    struct leat_random rnd;
    struct subject s;
    leat_random_seed(&rnd, tap_seed());
    open_network();
    pass_table_of_san2();
    open_pair(&s);
    for (unsigned i = 0; i < LEAT_ROUNDS / 20; i++) {
        static struct leat_packetway_message m;
        const struct vector *v =
            &vectors[leat_random_below(&rnd, sizeof vectors / sizeof *vectors)];
        size_t len = unhex(v->hex, s.in);
        for (uint64_t k = leat_random_below(&rnd, 6); k > 0; k--) {
            const size_t at = leat_random_below(&rnd, len);
            s.in[at] = (uint8_t)leat_random_next(&rnd);
        }
        if (leat_random_below(&rnd, 2)) { /* from whom it matters */
            static const uint32_t peers[] = { 0x101, 0x103, 0x302, 0x555 };
            const uint32_t sa = peers[leat_random_below(&rnd, 4)];
            leat_put_be24(s.in + 1, 0x102);
            leat_put_be24(s.in + 13, sa);
        }
        if (leat_random_below(&rnd, 10) == 0) len = leat_random_below(&rnd, len + 1);
        feed_octets(&s, (enum leat_packetway_side)leat_random_below(&rnd, 3), 0x302, len);
        s.now += leat_random_below(&rnd, S);
        if (leat_random_below(&rnd, 8) == 0) leat_packetway_router_tick(s.r, s.now);
        while (take(&s))
            EQ(leat_packetway_message_decode(s.out.octets, s.out.len, LEAT_PACKETWAY_STRICT,
                                             LEAT_PACKETWAY_DESTINATION, &m, NULL),
               LEAT_ERR_OK);
        OK(live_tables(&s) <= 16);
    }
    OK(counts(&s)->delivered > 0);
    close(&s);
    close_network();
}

TAP_MAIN(T(t25_and_t26_are_what_half_routers_say), T(t17_answers_t16), T(t19_answers_t18),
         T(t23_goes_the_way_of_its_trace), T(t28_takes_tables_away_and_goes_on),
         T(a_buddy_that_goes_is_reported_with_its_twin), T(t27_and_t29_are_what_a_half_router_says),
         T(what_is_never_answered_with_an_err), T(what_is_answered_with_a_quote),
         T(quotes_are_cut_to_the_mtu), T(a_route_that_the_san_refuses_is_quoted),
         T(a_registration_names_a_node_of_my_san), T(a_silent_node_loses_its_registration),
         T(wru_is_answered_by_info_about_me), T(logical_addresses_reach_my_san_and_the_next),
         T(a_message_inside_a_message_enters_anew),
         T(more_than_four_messages_inside_one_another_are_refused),
         T(what_is_accused_is_not_acted_upon), T(levels_that_are_not_there_are_refused),
         T(configurations_out_of_bounds_are_refused), T(random_input_is_harmless))
