/* The host's side: plans and their cache, requests, sending, receiving. */
#include "leat_bytes.h"
#include "packetway_host.h"
#include "packetway_record.h"
#include "packetway_vectors_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

#define S LEAT_PACKETWAY_SECOND
#define Z " 0000000000000000"

static struct leat_packetway_host *h;
static void *memory;
static struct leat_packetway_event event;
static struct leat_packetway_message message;
static struct leat_packetway_host_outgoing out;
static uint8_t in[VECTOR_LEN_MAX];

/* Node3 of the spec, 0x301 on SAN 3. */
static struct leat_packetway_host_config config_of(void)
{
    return (struct leat_packetway_host_config){ .address = 0x301,
                                                .block = { 0x300, 16 },
                                                .mtu_words = 4096,
                                                .level_c = true,
                                                .plans_max = 16,
                                                .pending_max = 8 };
}

static void open_with(const struct leat_packetway_host_config *c)
{
    const size_t len = leat_packetway_host_footprint(c);
    memory = malloc(len);
    EQ(leat_packetway_host_init(c, memory, len, &h), LEAT_ERR_OK);
}

static bool is_hex(const uint8_t *octets, size_t len, const char *hex)
{
    uint8_t want[VECTOR_LEN_MAX];
    const size_t want_len = unhex(hex, want);
    if (len == want_len && memcmp(octets, want, len) == 0) return true;
    printf("# want %s\n# have ", hex);
    for (size_t i = 0; i < len; i++)
        printf("%s%02x", i && i % 8 == 0 ? " " : "", octets[i]);
    printf("\n");
    return false;
}

static bool says(uint32_t to, const char *hex)
{
    if (!leat_packetway_host_take(h, &out)) {
        printf("# nothing was said, want %s\n", hex);
        return false;
    }
    EQ(out.to, to);
    return is_hex(out.octets, out.len, hex);
}

static unsigned hush(void)
{
    unsigned n = 0;
    while (leat_packetway_host_take(h, &out))
        n++;
    return n;
}

static enum leat_packetway_event_kind receives(const char *hex, leat_time now)
{
    leat_packetway_host_receive(h, in, unhex(hex, in), now, &event);
    return event.kind;
}

static const char *vector(const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (strncmp(vectors[i].name, name, len) == 0 && vectors[i].name[len] == ':')
            return vectors[i].hex;
    return "";
}

static void open_host(void)
{
    const struct leat_packetway_host_config c = config_of();
    open_with(&c);
    EQ(leat_packetway_host_router(h, 0x302), LEAT_ERR_OK);
    OK(says(0x302, "0000030200190001 0000000100000301 2900000001000301" Z)); /* registers */
}

static void close_host(void)
{
    free(memory);
}

static const struct leat_packetway_host_counts *counts(void)
{
    return leat_packetway_host_counts(h);
}

/* ---- plans ---- */

static leat_err send(uint32_t dt, enum leat_packetway_how how, size_t data_len, uint8_t *buf,
                     size_t cap, size_t *len, uint32_t *to, leat_time now)
{
    static const uint8_t data[VECTOR_LEN_MAX] = "HELLO";
    memset(&message, 0, sizeof message);
    message.header = (struct leat_packetway_header){
        .dt = dt, .pt = LEAT_PACKETWAY_PT_MPI, .te = 7, .priority = 9
    };
    message.data = data;
    message.data_len = data_len;
    return leat_packetway_host_send(h, &message, how, buf, cap, len, to, now);
}

/* T16, T17, and then T23 but for its symbol. */
static void a_plan_is_requested_kept_and_used(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = 0;
    uint32_t to = 0;
    open_host();
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ASKING);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_FIELD);
    OK(says(0x302, vector("T16")));
    OK(!leat_packetway_host_take(h, &out));
    EQ(receives(vector("T17"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
    EQ(event.dt, 0x201);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, 0x201, 0);
    EQ(p->state, LEAT_PACKETWAY_PLAN_ROUTES);
    EQ(p->route_count, 1);
    EQ(p->routes[0].q, 6);
    EQ(p->routes[0].mtu_words, 1024);
    EQ(counts()->plan_hits, 1);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x302);
    OK(is_hex(buf, len,
              "0085010102030000 0084030003000000 0900020100070051 0600000100000301 "
              "48454c4c4f000000" Z));
    EQ(send(0x201, LEAT_PACKETWAY_SEND_BY_ADDRESS, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x302);
    OK(is_hex(buf, len, "0900020100070051 0600000100000301 48454c4c4f000000" Z));
    EQ(send(0x305, LEAT_PACKETWAY_SEND_PLANNED, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x305); /* on this SAN: natively */
    EQ(leat_packetway_host_plan(h, 0x305, 0)->state, LEAT_PACKETWAY_PLAN_NATIVE);
    OK(!leat_packetway_host_take(h, &out));
    leat_packetway_host_forget(h, 0x201);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ASKING);
    close_host();
}

/* Several routes: the first whose MTU is large enough; a message is never cut. */
static void the_first_route_that_holds_the_message_is_taken(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = 0;
    uint32_t to = 0;
    open_host();
    leat_packetway_host_plan(h, 0x201, 0);
    EQ(receives("0000030100160001 0000000700000302 2900000601000201 2d02000100000009 "
                "0081990000000000 2e00000000000020 2d02000100000004 0081440000000000 "
                "2e00000000000006" Z,
                0),
       LEAT_PACKETWAY_EVENT_PLANNED);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, 0x201, 0);
    EQ(p->route_count, 2);
    EQ(p->routes[0].q, 4);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 16, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(buf[2], 0x44);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 17, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(buf[2], 0x99);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 8 * 28, buf, sizeof buf, &len, &to, 0),
       LEAT_ERR_OK);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 8 * 28 + 1, buf, sizeof buf, &len, &to, 0),
       LEAT_ERR_LENGTH);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 8, buf, 16, &len, &to, 0),
       LEAT_ERR_PACKETWAY_NOSPC);
    close_host();
}

/* 1 s, 3 tries, then the next half-router; then it has failed, and is requested again a second
 * later. */
static void a_question_without_an_answer_is_repeated(void)
{
    unsigned to_first = 0, to_second = 0, silent = 0;
    open_host();
    EQ(leat_packetway_host_router(h, 0x303), LEAT_ERR_OK);
    hush();
    leat_packetway_host_plan(h, 0x201, 0);
    for (unsigned second = 0; second < 10; second++) {
        if (second) EQ(leat_packetway_host_next_at(h) <= second * S, second < 7);
        do {
            leat_packetway_host_tick(h, second * S, &event);
            silent += event.kind == LEAT_PACKETWAY_EVENT_SILENT;
        } while (event.kind != LEAT_PACKETWAY_EVENT_NONE);
        while (leat_packetway_host_take(h, &out)) {
            to_first += out.to == 0x302;
            to_second += out.to == 0x303;
        }
    }
    EQ(to_first, 3);
    EQ(to_second, 3);
    EQ(silent, 1);
    EQ(leat_packetway_host_next_at(h), LEAT_NEVER);
    EQ(leat_packetway_host_plan(h, 0x201, 5 * S)->state, LEAT_PACKETWAY_PLAN_FAILED);
    EQ(leat_packetway_host_plan(h, 0x201, 10 * S)->state, LEAT_PACKETWAY_PLAN_ASKING);
    EQ(counts()->asked, 7);
    close_host();
}

#define RDRC(sa, about, to) "0000030100170001 0000000200" sa " 2900000001" about " 2900000001" to Z

static void redirections_are_followed(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = 0;
    uint32_t to = 0;
    open_host();
    leat_packetway_host_plan(h, 0x201, 0);
    hush();
    EQ(receives(RDRC("000302", "000201", "000305"), 0), LEAT_PACKETWAY_EVENT_NONE);
    OK(says(0x305, "0000030500150001 0000000100000301 2900000001000201" Z)); /* asked there */
    EQ(receives(RDRC("000305", "000201", "000305"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, 0x201, 0);
    EQ(p->state, LEAT_PACKETWAY_PLAN_ADDRESS);
    EQ(send(0x201, LEAT_PACKETWAY_SEND_PLANNED, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x305);
    OK(is_hex(buf, len, "0900020100070051 0600000100000301 48454c4c4f000000" Z));
    /* natively: RDRC{D, D} */
    leat_packetway_host_plan(h, 0x777, 0);
    EQ(receives(RDRC("000302", "000777", "000777"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
    EQ(leat_packetway_host_plan(h, 0x777, 0)->state, LEAT_PACKETWAY_PLAN_NATIVE);
    EQ(send(0x777, LEAT_PACKETWAY_SEND_PLANNED, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x777);
    /* not from a stranger */
    receives(RDRC("000399", "000888", "000305"), 0);
    EQ(counts()->disbelieved, 1);
    /* unsolicited: what is sent by address goes there from now on */
    receives(RDRC("000302", "000888", "000305"), 0);
    EQ(send(0x888, LEAT_PACKETWAY_SEND_BY_ADDRESS, 5, buf, sizeof buf, &len, &to, 0), LEAT_ERR_OK);
    EQ(to, 0x305);
    hush();
    EQ(leat_packetway_host_plan(h, 0x888, 0)->state, LEAT_PACKETWAY_PLAN_ASKING);
    OK(says(0x305, "0000030500150001 0000000100000301 2900000001000888" Z));
    close_host();
}

/* A SAN may have more half-routers than a host keeps: the one that was asked is trusted. */
static void one_more_half_router_than_is_kept_is_queried(void)
{
    open_host();
    for (uint32_t i = 1; i < LEAT_PACKETWAY_HOST_ROUTERS_MAX; i++)
        EQ(leat_packetway_host_router(h, 0x302 + i), LEAT_ERR_OK);
    hush();
    leat_packetway_host_plan(h, 0x201, 0);
    hush();
    EQ(receives(RDRC("000302", "000201", "00030f"), 0), LEAT_PACKETWAY_EVENT_NONE);
    OK(says(0x30F, "0000030f00150001 0000000100000301 2900000001000201" Z));
#define L2SR(sa)                     \
    "0000030100160001 0000000400" sa \
    " 2900000301000201 2d02000100000004 0081440000000000 2e00000000000020" Z
    EQ(receives(L2SR("00030e"), 0), LEAT_PACKETWAY_EVENT_NONE); /* a stranger */
    EQ(counts()->disbelieved, 1);
    EQ(receives(L2SR("00030f"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, 0x201, 0);
    EQ(p->state, LEAT_PACKETWAY_PLAN_ROUTES);
    EQ(p->router, 0x30F);
    leat_packetway_host_plan(h, 0x202, 0);
    hush();
    EQ(receives(RDRC("000302", "000202", "00030f"), 0), LEAT_PACKETWAY_EVENT_NONE);
    EQ(receives(RDRC("00030f", "000202", "00030f"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
    EQ(leat_packetway_host_plan(h, 0x202, 0)->state, LEAT_PACKETWAY_PLAN_ADDRESS);
    close_host();
}

/* Half-routers that redirect to each other are not followed for ever. */
static void a_cycle_of_redirections_ends(void)
{
    unsigned asked = 0;
    open_host();
    EQ(leat_packetway_host_router(h, 0x303), LEAT_ERR_OK);
    hush();
    leat_packetway_host_plan(h, 0x201, 0);
    while (leat_packetway_host_take(h, &out) && asked < 100) {
        asked++;
        receives(out.to == 0x302 ? RDRC("000302", "000201", "000303")
                                 : RDRC("000303", "000201", "000302"),
                 0);
    }
    OK(asked <= 6);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ADDRESS);
    close_host();
}

static void plan_0x201(void)
{
    leat_packetway_host_plan(h, 0x201, 0);
    hush();
    EQ(receives(vector("T17"), 0), LEAT_PACKETWAY_EVENT_PLANNED);
}

static void failures_drop_plans(void)
{
    static const char *const row[] = {
        "000003010047ffff 0000000100000302 2900000001000201" Z,                    /* UNK */
        "000003010048ffff 0000000200000302 2900000001000103 2900000001000202" Z,   /* HRDOWN */
        "000003010049ffff 0000000200000302 2900000001000102 2900000001000302" Z,   /* LINKDOWN */
        "00000301004affff 0000000300000302 0900020100070051 0000000000000301" Z Z, /* GENERAL */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        open_host();
        plan_0x201();
        EQ(receives(row[i], 0), LEAT_PACKETWAY_EVENT_ERR);
        EQ(counts()->forgotten, 1);
        EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ASKING);
        close_host();
    }
    open_host();
    /* a quote of somebody else's packet, or about another node: kept */
    plan_0x201();
    receives("00000301004affff 0000000300000302 0900020100070051 0000000000000777" Z Z, 0);
    receives("000003010047ffff 0000000100000302 2900000001000202" Z, 0);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ROUTES);
    /* an ERR that is itself accused is not believed */
    receives("000003010047ffff 0000000100000302 2900000001000201 0000000000000001", 0);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ROUTES);
    leat_packetway_host_router_gone(h, 0x302);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_FAILED);
    close_host();
}

/* A half-router of a lower level, or one that does not know this host: the request ends. */
static void a_question_that_is_refused_is_over(void)
{
    uint8_t records[VECTOR_LEN_MAX];
    const size_t len = unhex("2b02000007080000", records);
    open_host();
    EQ(leat_packetway_host_query(h, 0x302, records, len, 0), LEAT_ERR_OK);
    leat_packetway_host_plan(h, 0x201, 0);
    EQ(receives("00000301004affff 0000000400000302 0000030200180001 0000000100000301 "
                "2b02000007080000 0000000000000000" Z,
                0),
       LEAT_PACKETWAY_EVENT_ERR);
    EQ(leat_packetway_host_query(h, 0x302, records, len, 0), LEAT_ERR_OK);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_ASKING);
    receives("00000301004affff 0000000400000302 0000030200150001 0000000100000301 "
             "2900000001000201 0000000000000000" Z,
             0);
    EQ(leat_packetway_host_plan(h, 0x201, 0)->state, LEAT_PACKETWAY_PLAN_FAILED);
    close_host();
}

/* Of more than four routes the best four are kept; of a message with too many fields, nothing. */
static void what_is_above_the_bounds_of_a_host(void)
{
    char hex[1024] = "0000030100160001 0000000d00000302 2900000c01000201";
    uint8_t buf[VECTOR_LEN_MAX];
    size_t len = 0;
    uint32_t to = 0;
    open_host();
    for (unsigned i = 0; i < 6; i++) {
        char route[64];
        snprintf(route, sizeof route, " 2d020001000000%02x 0081%02x0000000000", 9 - i, 9 - i);
        strcat(hex, route);
    }
    strcat(hex, Z);
    EQ(receives(hex, 0), LEAT_PACKETWAY_EVENT_PLANNED); /* unsolicited, but from its half-router */
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, 0x201, 0);
    EQ(p->route_count, 4);
    for (unsigned i = 0; i < 4; i++)
        EQ(p->routes[i].q, 4 + i);
    memset(&message, 0, sizeof message);
    message.header = (struct leat_packetway_header){ .dt = 0x305, .pt = LEAT_PACKETWAY_PT_MPI };
    message.oh_count = LEAT_PACKETWAY_OH_MAX + 1;
    EQ(leat_packetway_host_send(h, &message, LEAT_PACKETWAY_SEND_BY_ADDRESS, buf, sizeof buf, &len,
                                &to, 0),
       LEAT_ERR_PACKETWAY_LIMIT);
    close_host();
}

/* Natively on this SAN, otherwise to the half-router; no more than there is room for. */
static void data_is_posted_among_my_own_messages(void)
{
    uint8_t data[LEAT_PACKETWAY_HOST_MESSAGE_LEN + 1] = { 0xCA, 0xFE };
    struct leat_packetway_header header = { .dt = 0x201,
                                            .pt = LEAT_PACKETWAY_PT_MEM_WRITE,
                                            .priority = 9 };
    open_host();
    hush();
    EQ(leat_packetway_host_post(h, &header, data, 2), LEAT_ERR_OK);
    OK(says(0x302, "0900020100000004 0c00000100000301 cafe000000000000" Z));
    header.dt = 0x303;
    EQ(leat_packetway_host_post(h, &header, NULL, 0), LEAT_ERR_OK);
    OK(says(0x303, "0900030300000004 0000000000000301" Z));
    EQ(leat_packetway_host_post(h, &header, data, sizeof data), LEAT_ERR_LENGTH);
    for (uint32_t i = 0; i < config_of().pending_max; i++)
        EQ(leat_packetway_host_post(h, &header, data, sizeof data - 1), LEAT_ERR_OK);
    EQ(leat_packetway_host_post(h, &header, data, 2), LEAT_ERR_FULL);
    close_host();
}

/* The least recently used plan is evicted; never more than the bound. */
static void the_cache_is_bounded(void)
{
    open_host();
    for (uint32_t i = 0; i < 1000; i++) {
        leat_packetway_host_plan(h, 0x1000 + i, i);
        leat_packetway_host_plan(h, 0x1000, i); /* always in use */
        hush();
    }
    OK(counts()->asked >= 900);
    OK(counts()->asked <= 1100);
    EQ(leat_packetway_host_plan(h, 0x1000, 1000)->state, LEAT_PACKETWAY_PLAN_ASKING);
    EQ(hush(), 0);
    close_host();
}

/* ---- ask ---- */

static void a_tell_is_sent_repeated_and_answered(void)
{
    uint8_t records[VECTOR_LEN_MAX];
    const size_t len = unhex("2a07000153757065 7200000000000000", records);
    open_host();
    EQ(leat_packetway_host_query(h, 0x302, records, len, 0), LEAT_ERR_OK);
    EQ(leat_packetway_host_query(h, 0x302, records, len, 0), LEAT_ERR_DUPLICATE);
    OK(says(0x302, "0000030200180001 0000000200000301 2a07000153757065 7200000000000000" Z));
    leat_packetway_host_tick(h, S, &event);
    EQ(hush(), 1);
    EQ(receives("0000030100190001 0000000100000302 2900000001000201" Z, S + 1),
       LEAT_PACKETWAY_EVENT_INFO);
    EQ(event.peer, 0x302);
    EQ(receives("0000030100190001 0000000100000302 2900000001000202" Z, S + 2),
       LEAT_PACKETWAY_EVENT_INFO); /* a further part */
    EQ(receives("0000030100190001 0000000100000305 2900000001000202" Z, S + 2),
       LEAT_PACKETWAY_EVENT_NONE); /* nobody asked him */
    leat_packetway_host_tick(h, 3 * S, &event);
    EQ(event.kind, LEAT_PACKETWAY_EVENT_NONE);
    EQ(hush(), 0);
    EQ(leat_packetway_host_query(h, 0x302, NULL, 0, 3 * S), LEAT_ERR_OK); /* WRU? */
    OK(says(0x302, "00000302001b0001 0000000000000301" Z));
    unsigned silent = 0;
    for (unsigned second = 4; second < 9; second++) {
        leat_packetway_host_tick(h, second * S, &event);
        silent += event.kind == LEAT_PACKETWAY_EVENT_SILENT && event.peer == 0x302;
    }
    EQ(silent, 1);
    EQ(hush(), 2);
    EQ(leat_packetway_host_query(h, 0x302, records, 8, 0), LEAT_ERR_PACKETWAY_REC_LEN);
    EQ(leat_packetway_host_query(h, 0x302, records, 7, 0), LEAT_ERR_LENGTH);
    EQ(leat_packetway_host_query(h, 0, records, len, 0), LEAT_ERR_RANGE);
    /* UNK ends it */
    EQ(leat_packetway_host_query(h, 0x302, records, len, 10 * S), LEAT_ERR_OK);
    EQ(receives("000003010047ffff 0000000200000302 2a07000153757065 7200000000000000" Z, 10 * S),
       LEAT_PACKETWAY_EVENT_ERR);
    EQ(leat_packetway_host_query(h, 0x302, records, len, 10 * S), LEAT_ERR_OK);
    close_host();
}

static void a_question_that_is_taken_back_makes_room_for_another(void)
{
    uint8_t records[VECTOR_LEN_MAX];
    const size_t len = unhex("2a07000153757065 7200000000000000", records);
    open_host();
    EQ(leat_packetway_host_query(h, 0x302, records, len, 0), LEAT_ERR_OK);
    EQ(leat_packetway_host_query(h, 0x303, NULL, 0, 0), LEAT_ERR_OK);
    hush();
    leat_packetway_host_cancel(h, 0x302);
    leat_packetway_host_cancel(h, 0x304); /* was never asked */
    EQ(receives("0000030100190001 0000000100000302 2900000001000201" Z, 0),
       LEAT_PACKETWAY_EVENT_NONE);
    EQ(leat_packetway_host_query(h, 0x302, NULL, 0, 0), LEAT_ERR_OK);
    EQ(leat_packetway_host_query(h, 0x303, NULL, 0, 0), LEAT_ERR_DUPLICATE); /* still awaited */
    EQ(receives("0000030100190001 0000000100000302 2900000001000302" Z, 0),
       LEAT_PACKETWAY_EVENT_INFO);
    close_host();
}

static void a_host_describes_itself(void)
{
    uint8_t about[VECTOR_LEN_MAX];
    struct leat_packetway_host_config c = config_of();
    c.about = about;
    c.about_len = unhex("2a02000061620000 2b02000007080000 2c00000001e00005", about);
    open_with(&c);
    receives("07000301001b0001 0000000000000302" Z, 0);
    OK(says(0x302, "0700030200190001 0000000400000301 2900000301000301 2a02000061620000 "
                   "2b02000007080000 2c00000001e00005" Z));
    receives("00000301001b0001 0000000000000000" Z, 0); /* from nobody, and no link to answer on */
    EQ(hush(), 0);
    receives("0000030100180001 0000000100000302 2b02000007080000" Z, 0);
    EQ(hush(), 1);
    receives("0000030100180001 0000000100000302 2b02000007040000" Z, 0);
    EQ(hush(), 0); /* it does not match */
    EQ(receives("00e0000500000051 0000000000000302" Z, 0), LEAT_PACKETWAY_EVENT_DATA);
    EQ(receives("00e0000600000051 0000000000000302" Z, 0), LEAT_PACKETWAY_EVENT_NONE);
    close_host();
    c.level_c = false;
    c.point_to_point = true;
    open_with(&c);
    receives("007ffffe001b0001 0000000000000000" Z, 0);
    OK(says(0x7FFFFE, "007ffffe00190001 0000000300000301 2900000201000301 2a02000061620000 "
                      "2c00000001e00005" Z));
    receives("0000030100180001 0000000100000302 2b02000007080000" Z, 0);
    EQ(hush(), 0);
    close_host();
}

/* ---- receive ---- */

static void only_whole_messages_for_me_are_taken(void)
{
    static const struct {
        const char *hex;
        enum leat_packetway_event_kind kind;
        leat_err err;
    } row[] = {
        { "0000030100000051 0000000000000201" Z, LEAT_PACKETWAY_EVENT_DATA, LEAT_ERR_OK },
        { "00f00001012a0000 0000030100000051 0000000000000201" Z, LEAT_PACKETWAY_EVENT_DATA,
          LEAT_ERR_OK }, /* symbols are consumed */
        { "0081550000000000 0000030100000051 0000000000000201" Z, LEAT_PACKETWAY_EVENT_NONE,
          LEAT_ERR_OK }, /* an L2RH is left */
        { "0000030500000051 0000000000000201" Z, LEAT_PACKETWAY_EVENT_NONE, LEAT_ERR_OK },
        { "007fffff00000051 0000000000000201" Z, LEAT_PACKETWAY_EVENT_DATA, LEAT_ERR_OK },
        { "0000030100000051 0000000080000201 e100000000000000" Z, LEAT_PACKETWAY_EVENT_NONE,
          LEAT_ERR_PACKETWAY_OH_MANDATORY },
        { "0000030100000051 0000000080000201 c300000000000000 0000000000000000" Z,
          LEAT_PACKETWAY_EVENT_NONE, LEAT_ERR_PACKETWAY_CRC },
        { "0000030100000051 0000000000000201", LEAT_PACKETWAY_EVENT_NONE,
          LEAT_ERR_PACKETWAY_SHORT },
        { "0000030100000002 0000000300000201 0000030100000051 0000000000000101" Z Z,
          LEAT_PACKETWAY_EVENT_DATA, LEAT_ERR_OK }, /* embedded */
    };
    open_host();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        EQ(receives(row[i].hex, 0), row[i].kind);
        EQ(event.err, row[i].err);
    }
    EQ(event.peer, 0x101); /* of the embedded message */
    EQ(counts()->received, 4);
    EQ(counts()->not_mine, 2);
    EQ(counts()->bad, 3);
    EQ(receives("0000030100000051 0000000000000201 0000000000000002", 0),
       LEAT_PACKETWAY_EVENT_DATA);
    OK(event.accused);
    close_host();
}

/* Spec 2.5, as the host applies it in place. */
static void elements_come_in_my_byte_order(void)
{
    for (int little = 0; little < 2; little++) {
        struct leat_packetway_host_config c = config_of();
        c.little_endian = little;
        open_with(&c);
        EQ(receives("0000030100000051 a400000100000201 04030201aabb0000" Z, 0),
           LEAT_PACKETWAY_EVENT_DATA);
        EQ(event.message.data_len, 6);
        OK(is_hex(event.message.data, 6, little ? "04030201aabb" : "01020304aabb"));
        EQ(event.partial, !little);
        EQ(receives("0000030100000051 2000000100000201 0102030405060708" Z, 0),
           LEAT_PACKETWAY_EVENT_DATA);
        OK(is_hex(event.message.data, 8, little ? "0403020108070605" : "0102030405060708"));
        /* MEM-WRITE: the leading address is big-endian, whatever E says */
        EQ(receives("0000030100000004 a400000200000201 0000000000001000 0403020100000000" Z, 0),
           LEAT_PACKETWAY_EVENT_DATA);
        OK(is_hex(event.message.data, 14, "0000000000001000040302010000"));
        close_host();
    }
}

static void anything_may_come_in(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    open_host();
    for (unsigned i = 0; i < LEAT_ROUNDS / 20; i++) {
        const struct vector *v = &vectors[leat_random_below(&r, sizeof vectors / sizeof *vectors)];
        size_t len = unhex(v->hex, in);
        for (uint64_t k = leat_random_below(&r, 5); k > 0; k--) {
            const size_t at = leat_random_below(&r, len);
            in[at] = (uint8_t)leat_random_next(&r);
        }
        if (leat_random_below(&r, 2)) {
            leat_put_be24(in + 1, 0x301);
            leat_put_be24(in + 13, 0x302);
        }
        leat_packetway_host_receive(h, in, len, i * S / 10, &event);
        leat_packetway_host_plan(h, 0x200 + (uint32_t)leat_random_below(&r, 40), i * S / 10);
        leat_packetway_host_tick(h, i * S / 10, &event);
        while (leat_packetway_host_take(h, &out))
            EQ(leat_packetway_message_decode(out.octets, out.len, LEAT_PACKETWAY_STRICT,
                                             LEAT_PACKETWAY_DESTINATION, &message, NULL),
               LEAT_ERR_OK);
    }
    OK(counts()->received > 0);
    close_host();
}

static void hosts_out_of_bounds_are_refused(void)
{
    _Alignas(16) uint8_t small[64];
    const struct leat_packetway_host_config good = config_of();
    for (int i = 0; i < 6; i++) {
        struct leat_packetway_host_config c = good;
        if (i == 0) c.address = 0;
        if (i == 1) c.block.count = 0;
        if (i == 2) c.plans_max = 5;
        if (i == 3) c.plans_max = 2 * LEAT_PACKETWAY_HOST_PLANS_MAX;
        if (i == 4) c.pending_max = 0;
        if (i == 5) c.about_len = 264;
        EQ(leat_packetway_host_footprint(&c), 0);
        EQ(leat_packetway_host_init(&c, small, sizeof small, &h), LEAT_ERR_RANGE);
    }
    EQ(leat_packetway_host_init(&good, small, sizeof small, &h), LEAT_ERR_MEMORY);
    open_host();
    EQ(leat_packetway_host_router(h, 0x301), LEAT_ERR_RANGE);
    for (uint32_t i = 1; i < LEAT_PACKETWAY_HOST_ROUTERS_MAX; i++)
        EQ(leat_packetway_host_router(h, 0x302 + i), LEAT_ERR_OK);
    EQ(leat_packetway_host_router(h, 0x30F), LEAT_ERR_FULL);
    close_host();
}

TAP_MAIN(T(a_plan_is_requested_kept_and_used), T(the_first_route_that_holds_the_message_is_taken),
         T(a_question_without_an_answer_is_repeated), T(redirections_are_followed),
         T(one_more_half_router_than_is_kept_is_queried), T(a_cycle_of_redirections_ends),
         T(failures_drop_plans), T(a_question_that_is_refused_is_over),
         T(what_is_above_the_bounds_of_a_host), T(data_is_posted_among_my_own_messages),
         T(the_cache_is_bounded), T(a_tell_is_sent_repeated_and_answered),
         T(a_question_that_is_taken_back_makes_room_for_another), T(a_host_describes_itself),
         T(only_whole_messages_for_me_are_taken), T(elements_come_in_my_byte_order),
         T(anything_may_come_in), T(hosts_out_of_bounds_are_refused))
