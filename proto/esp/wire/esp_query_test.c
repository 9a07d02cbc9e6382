#include "esp_query.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>
#include <string.h>

enum { LINE_MAX_LEN = 4096 };
static const uint8_t network_key[LEAT_ESP_KEY_LEN] = { 0, 1, 2,  3,  4,  5,  6,  7,
                                                       8, 9, 10, 11, 12, 13, 14, 15 };
static const uint8_t zeros[LEAT_ESP_ADDRESS_LEN];

/* ---- vectors, made with Python from README.md --------------------------------------------- */

struct line {
    uint8_t octets[LINE_MAX_LEN / 2];
    size_t len;
    char code[16]; /* of a malformed one */
};

/* The next packet of a file of hex; what follows # is a comment, its first word the code. */
static bool next_line(FILE *file, struct line *l)
{
    static char text[LINE_MAX_LEN];
    while (fgets(text, sizeof text, file)) {
        unsigned octet;
        int used;
        const char *p = text;
        l->len = 0;
        while (*p != '#' && sscanf(p, " %2x%n", &octet, &used) == 1) {
            l->octets[l->len++] = (uint8_t)octet;
            p += used;
        }
        while (*p == ' ')
            p++;
        l->code[0] = '\0';
        if (*p == '#') sscanf(p, "# %15s", l->code);
        if (l->len) return true;
    }
    return false;
}

static FILE *open_vectors(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proto/esp/vectors/%s", LEAT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    OK(file);
    return file;
}

/* clang-format off */
#define REPLY_HEAD    .node = 0x77, .nonce = 0x1122334455667788, .store = 1, .tau = UINT64_C(10000000000)
#define ANNOUNCE_HEAD .group = 0x6702, .serial = 9, .delay_us = 1000, .interval_us = 2000
#define INSTALL_HEAD  .group = 0x6702, .serial = 3, .lifetime_ms = 60000
#define TEN_NET(last) { { [10] = 255, 255, 10, 0, 0, last }, 4253 }

/* What the packets of vectors/esp_management.hex mean, and which key they have. */
static const struct {
    enum { NETWORK, GROUP, NONE } key;
    struct leat_esp_management m;
} vectors[] = {
    { NETWORK, { LEAT_ESP_QUERY, 7, 0, .query = { 0x77, 0x1122334455667788, LEAT_ESP_LOC_CENTRE, 0 } } },
    { NONE, { LEAT_ESP_QUERY, UINT64_MAX, 0, .query = { 0, 1, LEAT_ESP_LOC_OUTPUT, 32 } } },
    { NETWORK, { LEAT_ESP_REPLY, 7, 0, .reply = { REPLY_HEAD } } },
    { NETWORK, { LEAT_ESP_REPLY, 7, 0, .reply = { REPLY_HEAD, .count = 2, .next = 99,
        .binding = { { 0x101, 0, 1000000000 }, { 0x102, 1, 1000000000 } } } } },
    { GROUP, { LEAT_ESP_JOIN, 0, 0, .join = { 0x6702, 5, 2, 0x0123456789abcdef, 42,
        LEAT_ESP_JOIN_HAS_VALUE, 3000, TEN_NET(1) } } },
    { NONE, { LEAT_ESP_JOIN, 0, 0, .join = { 0x6702, 5, 1, 0, 42, 0, 3000, { { 0 }, 0 } } } },
    { GROUP, { LEAT_ESP_JOIN, 0, 0, .join = { 0x6702, 5, 3, 0x0123456789abcdef, 42,
        LEAT_ESP_JOIN_HAS_VALUE, 0, TEN_NET(1) } } },
    { GROUP, { LEAT_ESP_ANNOUNCE, 0xce05, 0, .announce = { ANNOUNCE_HEAD,
        .service = LEAT_ESP_SERVICE_CENSUS, .phase = 1, .rounds = 1,
        .task = { .opcode = LEAT_ESP_COUNT, .flags = LEAT_ESP_FLAG_X, .compValTag = 0x101, .thresh = 1 } } } },
    { GROUP, { LEAT_ESP_ANNOUNCE, 0xce05, 0, .announce = { ANNOUNCE_HEAD,
        .service = LEAT_ESP_SERVICE_ROBUST_SUM, .phase = 2, .rounds = 8, .value_from = LEAT_ESP_VALUE_OWN,
        .task = { .opcode = LEAT_ESP_RCOLLECT, .loc = LEAT_ESP_LOC_ALL, .flags = LEAT_ESP_FLAG_X,
                  .op = LEAT_ESP_FOLD_ADD, .pktId = 1, .sibCntTag = 2, .compIdTag = 3,
                  .collectFwdTag = 5, .fwdThresh = 8 } } } },
    { NONE, { LEAT_ESP_ANNOUNCE, 0, 0, .announce = { ANNOUNCE_HEAD } } },
    { GROUP, { LEAT_ESP_INSTALL, 0, 0, .install = { INSTALL_HEAD, .target = 0x77, .count = 2,
        .next = { TEN_NET(1), TEN_NET(2) } } } },
    { NONE, { LEAT_ESP_INSTALL, 0, 0, .install = { 0x6702, 0x77, 4, 60000, .children = 300,
        .parent = 0x99 } } },
    { GROUP, { LEAT_ESP_INSTALL, 0, 0, .install = { INSTALL_HEAD, .target = 0x77 } } },
    { GROUP, { LEAT_ESP_INSTALLED, 0, 0, .installed = { INSTALL_HEAD, .node = 0x77 } } },
    { NONE, { LEAT_ESP_INSTALLED, 0, 0, .installed = { INSTALL_HEAD, .node = 0x77,
        .result = LEAT_ESP_RESULT_FULL } } },
    { GROUP, { LEAT_ESP_CAST, 0, 0, .cast = { 0x6702, 4, 8, 5, "hello" } } },
    { GROUP, { LEAT_ESP_CAST, 0, 0, .cast = { 0x6702, 4, 7, 5, "hello" } } },
    { NONE, { LEAT_ESP_CAST, 0, 0, .cast = { 0x6702, 4, 8, 0, "" } } },
    { GROUP, { LEAT_ESP_WELCOME, 0, 0, .welcome = { 0x6702, 5, 2, 0x0123456789abcdef, 9,
        LEAT_ESP_WELCOME_KNOWN } } },
    { NONE, { LEAT_ESP_WELCOME, 0, 0, .welcome = { 0x6702, 5, 1, 0x0123456789abcdef, 9, 0 } } },
};
/* clang-format on */
enum { VECTORS = sizeof vectors / sizeof *vectors };

static const uint8_t *key_of(int number)
{
    static uint8_t group_key[LEAT_ESP_KEY_LEN];
    leat_esp_key_of_group(network_key, 0x6702, group_key);
    if (vectors[number].key == NONE) return NULL;
    return vectors[number].key == GROUP ? group_key : network_key;
}

/* Encoding reads every field: two packets are equal iff their octets are. */
static bool encodes_to(const struct leat_esp_management *m, const uint8_t *key,
                       const uint8_t *octets, size_t len)
{
    uint8_t back[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t back_len = 0;
    const leat_err err = leat_esp_management_encode(m, key, back, sizeof back, &back_len);
    return !err && back_len == len && memcmp(back, octets, len) == 0;
}

static void vectors_decode_to_their_meaning_and_encode_back(void)
{
    FILE *file = open_vectors("esp_management.hex");
    struct line l;
    int count = 0;
    for (; file && next_line(file, &l) && count < VECTORS; count++) {
        struct leat_esp_management m;
        OK(encodes_to(&vectors[count].m, key_of(count), l.octets, l.len));
        EQ(leat_esp_management_decode(l.octets, l.len, key_of(count), &m, NULL), LEAT_ERR_OK);
        OK(encodes_to(&m, NULL, l.octets, l.len));
        EQ(leat_esp_management_len(l.octets, l.len), l.len);
    }
    EQ(count, VECTORS);
    if (file) fclose(file);
}

static void the_bad_packets_on_file_get_their_errors(void)
{
    FILE *file = open_vectors("bad_esp_management.hex");
    struct line l;
    int count = 0;
    for (; file && next_line(file, &l); count++) {
        struct leat_esp_management m, before;
        size_t at = SIZE_MAX;
        memset(&m, 0xa5, sizeof m);
        before = m;
        const leat_err err = leat_esp_management_decode(l.octets, l.len, NULL, &m, &at);
        if (strcmp(leat_err_name(err), l.code) != 0) printf("# line %d: %s\n", count, l.code);
        OK(strcmp(leat_err_name(err), l.code) == 0);
        OK(at <= l.len && memcmp(&m, &before, sizeof m) == 0);
    }
    EQ(count, 50);
    if (file) fclose(file);
}

/* The key which the vectors' own program derived for group 0x6702. */
static void a_groups_key_is_derived_from_the_networks(void)
{
    static const uint8_t want[] = { 0x78, 0x3b, 0x69, 0x4e, 0xce, 0xf8, 0x73, 0xa8,
                                    0x7b, 0x98, 0xf4, 0x7a, 0x0e, 0x48, 0x28, 0xf1 };
    uint8_t key[LEAT_ESP_KEY_LEN], other[LEAT_ESP_KEY_LEN];
    leat_esp_key_of_group(network_key, 0x6702, key);
    OK(memcmp(key, want, sizeof want) == 0);
    leat_esp_key_of_group(network_key, 0x6703, other);
    OK(memcmp(key, other, sizeof key) != 0);
}

/* ---- every packet ------------------------------------------------------------------------- */

static void random_binding(struct leat_random *r, struct leat_esp_management *m)
{
    m->reply = (struct leat_esp_reply){ 0 };
    m->reply.node = leat_random_next(r);
    m->reply.nonce = leat_random_next(r);
    m->reply.tau = leat_random_next(r);
    m->reply.store = (uint8_t)(1u << leat_random_below(r, 3));
    m->reply.count = (uint16_t)leat_random_below(r, LEAT_ESP_BINDINGS_MAX + 1);
    m->reply.next = (uint32_t)leat_random_next(r);
    for (unsigned i = 0; i < m->reply.count; i++) {
        m->reply.binding[i].tag = leat_random_next(r);
        m->reply.binding[i].value = leat_random_next(r);
        m->reply.binding[i].remaining = leat_random_next(r);
    }
}

static void random_announce(struct leat_random *r, struct leat_esp_management *m)
{
    struct leat_esp_announce *a = &m->announce;
    *a = (struct leat_esp_announce){ .task = { .computationId = m->computationId } };
    a->group = leat_random_next(r);
    a->member = leat_random_next(r);
    a->serial = leat_random_next(r);
    a->service = (uint8_t)leat_random_below(r, LEAT_ESP_SERVICES);
    a->phase = (uint8_t)leat_random_next(r);
    a->value_from = (uint8_t)leat_random_below(r, LEAT_ESP_VALUES);
    a->value_shift = (uint8_t)leat_random_below(r, 64);
    a->rounds = (uint16_t)leat_random_next(r);
    a->delay_us = (uint32_t)leat_random_next(r);
    a->interval_us = (uint32_t)leat_random_next(r);
    a->task.opcode = (uint8_t)leat_random_below(r, LEAT_ESP_OPCODE_END);
    a->task.loc = (uint8_t)leat_random_below(r, 8);
    a->task.flags = (uint8_t)leat_random_below(r, 16);
    const struct leat_esp_instruction *row = leat_esp_instruction_of(a->task.opcode);
    for (unsigned i = 0; i < row->words / 2u; i++) {
        if (row->operand[i].kind <= LEAT_ESP_KIND_VALUE)
            leat_esp_operand_set(&a->task, &row->operand[i], leat_random_next(r));
        else
            a->task.op = 1 + (uint32_t)leat_random_below(r, 6);
    }
}

static void random_join(struct leat_random *r, struct leat_esp_join *j)
{
    j->group = leat_random_next(r);
    j->member = leat_random_next(r);
    j->serial = leat_random_next(r);
    j->challenge = leat_random_next(r);
    leat_random_fill(r, j->from.address, LEAT_ESP_ADDRESS_LEN);
    j->from.port = (uint16_t)leat_random_next(r);
    j->value = leat_random_next(r);
    j->flags = (uint8_t)leat_random_below(r, 2);
    j->lifetime_ms = (uint32_t)leat_random_next(r);
}

static void random_welcome(struct leat_random *r, struct leat_esp_welcome *w)
{
    w->group = leat_random_next(r);
    w->member = leat_random_next(r);
    w->serial = leat_random_next(r);
    w->challenge = leat_random_next(r);
    w->announced = leat_random_next(r);
    w->flags = (uint8_t)leat_random_below(r, 2);
}

static struct leat_esp_management random_packet(struct leat_random *r)
{
    struct leat_esp_management m = { 0 };
    m.opcode = (uint8_t)(64 + leat_random_below(r, 8));
    m.computationId = leat_random_next(r);
    m.mac = leat_random_next(r);
    switch ((enum leat_esp_management_opcode)m.opcode) {
    case LEAT_ESP_QUERY:
        m.query.target = leat_random_next(r);
        m.query.nonce = leat_random_next(r);
        m.query.store = 1u << leat_random_below(r, 3);
        m.query.cursor = (uint32_t)leat_random_next(r);
        break;
    case LEAT_ESP_REPLY: random_binding(r, &m); break;
    case LEAT_ESP_JOIN: random_join(r, &m.join); break;
    case LEAT_ESP_ANNOUNCE: random_announce(r, &m); break;
    case LEAT_ESP_INSTALL:
        m.install.group = leat_random_next(r);
        m.install.target = leat_random_next(r);
        m.install.serial = leat_random_next(r);
        m.install.lifetime_ms = (uint32_t)leat_random_next(r);
        m.install.count = (uint8_t)leat_random_below(r, 9);
        m.install.children = (uint16_t)leat_random_below(r, 3);
        if (m.install.children) m.install.parent = leat_random_next(r);
        for (unsigned i = 0; i < m.install.count; i++) {
            leat_random_fill(r, m.install.next[i].address, LEAT_ESP_ADDRESS_LEN);
            m.install.next[i].port = (uint16_t)leat_random_next(r);
        }
        break;
    case LEAT_ESP_INSTALLED:
        m.installed.group = leat_random_next(r);
        m.installed.node = leat_random_next(r);
        m.installed.serial = leat_random_next(r);
        m.installed.lifetime_ms = (uint32_t)leat_random_next(r);
        m.installed.result = (uint32_t)leat_random_below(r, LEAT_ESP_RESULTS);
        break;
    case LEAT_ESP_CAST:
        m.cast.group = leat_random_next(r);
        m.cast.serial = leat_random_next(r);
        m.cast.hops = (uint8_t)leat_random_next(r);
        m.cast.payload_len = (uint16_t)leat_random_below(r, LEAT_ESP_PAYLOAD_LEN_MAX + 1);
        leat_random_fill(r, m.cast.payload, m.cast.payload_len);
        break;
    case LEAT_ESP_WELCOME: random_welcome(r, &m.welcome); break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    return m;
}

static void random_packets_come_back_and_every_cut_is_short(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 20; round++) {
        const struct leat_esp_management m = random_packet(&r);
        struct leat_esp_management back;
        uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
        size_t len = 0, at;
        EQ(leat_esp_management_encode(&m, network_key, octets, sizeof octets, &len), LEAT_ERR_OK);
        EQ(leat_esp_management_decode(octets, len, network_key, &back, &at), LEAT_ERR_OK);
        OK(back.mac == leat_esp_management_mac(network_key, octets, len));
        OK(encodes_to(&back, NULL, octets, len));
        const size_t cut = leat_random_below(&r, len);
        EQ(leat_esp_management_decode(octets, cut, NULL, &back, &at), LEAT_ERR_SHORT);
        EQ(at, cut);
        const size_t cap = leat_random_below(&r, len);
        uint8_t small[LEAT_ESP_MANAGEMENT_LEN_MAX] = { 0xa5 };
        EQ(leat_esp_management_encode(&m, NULL, small, cap, NULL), LEAT_ERR_SPACE);
        EQ(small[0], 0xa5);
    }
}

/* A bit flipped and the CRC corrected: only the MAC can detect it, and does, except for a CAST's
 * hops. */
static void only_the_key_makes_a_mac(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 50; round++) {
        const struct leat_esp_management m = random_packet(&r);
        struct leat_esp_management back;
        uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
        size_t len, at;
        leat_esp_management_encode(&m, network_key, octets, sizeof octets, &len);
        const size_t crc_at = len - LEAT_ESP_CRC_LEN;
        const size_t bit = 8 * LEAT_ESP_COMPUTATION_AT +
                           leat_random_below(&r, 8 * (crc_at - LEAT_ESP_COMPUTATION_AT));
        octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        leat_put_be32(octets + crc_at, leat_crc32(0, octets, crc_at));
        const leat_err err = leat_esp_management_decode(octets, len, network_key, &back, &at);
        if (m.opcode == LEAT_ESP_CAST && bit / 8 == LEAT_ESP_OPERANDS_AT + 16) {
            EQ(err, LEAT_ERR_OK);
        } else {
            EQ(err, LEAT_ERR_CHECKSUM);
            EQ(at, crc_at - LEAT_ESP_MAC_LEN);
        }
    }
}

static void a_copy_with_any_hops_left_has_the_same_mac(void)
{
    struct leat_esp_management m = { .opcode = LEAT_ESP_CAST }, back;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len;
    m.cast = (struct leat_esp_cast){ .group = 1, .serial = 2, .payload_len = 3 };
    leat_esp_management_encode(&m, network_key, octets, sizeof octets, &len);
    const uint64_t mac = leat_esp_management_mac(network_key, octets, len);
    for (unsigned hops = 0; hops < 256; hops++) {
        m.cast.hops = (uint8_t)hops;
        m.mac = mac;
        leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len);
        EQ(leat_esp_management_decode(octets, len, network_key, &back, NULL), LEAT_ERR_OK);
        EQ(back.cast.hops, hops);
    }
}

static void what_cannot_be_sent_is_refused_and_nothing_written(void)
{
    struct leat_esp_management m = { .opcode = LEAT_ESP_MANAGEMENT_END };
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX] = { 0 };
    size_t len = 1;
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_TYPE);
    m.opcode = LEAT_ESP_QUERY;
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    m.opcode = LEAT_ESP_REPLY;
    m.reply = (struct leat_esp_reply){ .store = 1, .count = LEAT_ESP_BINDINGS_MAX + 1 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    m.opcode = LEAT_ESP_JOIN;
    m.join = (struct leat_esp_join){ .flags = 4 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RESERVED);
    m.opcode = LEAT_ESP_WELCOME;
    m.welcome = (struct leat_esp_welcome){ .flags = 2 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RESERVED);
    m.opcode = LEAT_ESP_ANNOUNCE;
    m.announce = (struct leat_esp_announce){ .task = { .opcode = 9 } };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_TYPE);
    m.announce.task = (struct leat_esp_packet){ .opcode = LEAT_ESP_RCHLD };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_DUPLICATE);
    m.announce.task = (struct leat_esp_packet){ .opcode = LEAT_ESP_NOP, .flags = 16 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    m.opcode = LEAT_ESP_INSTALL;
    m.install = (struct leat_esp_install){ .count = LEAT_ESP_COPIES_MAX + 1 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    m.opcode = LEAT_ESP_CAST;
    m.cast = (struct leat_esp_cast){ .payload_len = LEAT_ESP_PAYLOAD_LEN_MAX + 1 };
    EQ(leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    EQ(len, 1);
    OK(memcmp(octets, zeros, sizeof zeros) == 0);
}

static void random_octets_are_refused(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 10; round++) {
        uint8_t octets[256];
        struct leat_esp_management m;
        size_t at = SIZE_MAX;
        const size_t len = leat_random_below(&r, sizeof octets + 1);
        leat_random_fill(&r, octets, len);
        OK(leat_esp_management_decode(octets, len, NULL, &m, &at) != LEAT_ERR_OK);
        OK(at <= len);
    }
    EQ(leat_esp_management_len(zeros, 12), 0);
}

static void octets_after_the_crc_are_ignored(void)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX + 9];
    struct leat_esp_management m = vectors[0].m, back;
    size_t len;
    memset(octets, 0x55, sizeof octets);
    leat_esp_management_encode(&m, network_key, octets, sizeof octets, &len);
    EQ(leat_esp_management_decode(octets, len + 9, network_key, &back, NULL), LEAT_ERR_OK);
    EQ(leat_esp_management_len(octets, len + 9), len);
}

TAP_MAIN(T(vectors_decode_to_their_meaning_and_encode_back),
         T(the_bad_packets_on_file_get_their_errors), T(a_groups_key_is_derived_from_the_networks),
         T(random_packets_come_back_and_every_cut_is_short), T(only_the_key_makes_a_mac),
         T(a_copy_with_any_hops_left_has_the_same_mac),
         T(what_cannot_be_sent_is_refused_and_nothing_written), T(random_octets_are_refused),
         T(octets_after_the_crc_are_ignored))
