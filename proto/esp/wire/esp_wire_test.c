#include "tap.h"
#include <leat/esp.h>
#include <leat/random.h>
#include <string.h>

/* ---- an independent model: the note's table as a switch, the CRC bit by bit ---------------- */

static uint32_t model_crc(const uint8_t *octets, size_t len)
{
    uint32_t crc = 0xffffffff;
    for (size_t bit = 0; bit < 8 * len; bit++) {
        const uint32_t in = octets[bit / 8] >> bit % 8 & 1;
        const uint32_t out = (crc & 1) ^ in;
        crc >>= 1;
        if (out) crc ^= 0xedb88320;
    }
    return ~crc;
}

struct writer {
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len;
};

static void write_number(struct writer *w, unsigned octet_count, uint64_t value)
{
    for (unsigned i = octet_count; i-- > 0;)
        w->octets[w->len++] = (uint8_t)(value >> 8 * i);
}

static void write_header(struct writer *w, const struct leat_esp_packet *p, unsigned words)
{
    w->len = 0;
    write_number(w, 1, (uint64_t)(p->loc * 32 + p->flags));
    write_number(w, 1, p->opcode);
    write_number(w, 2, words);
    write_number(w, 8, p->computationId);
}

static void write_op(struct writer *w, const struct leat_esp_packet *p)
{
    write_number(w, 4, p->op);
    write_number(w, 4, 0);
}

static void write_crc(struct writer *w)
{
    write_number(w, 4, model_crc(w->octets, w->len));
}

/* spec/esp.md, "Opcodes and operands", row by row. */
static void model_encode(struct writer *w, const struct leat_esp_packet *p)
{
    switch (p->opcode) {
    case 0: write_header(w, p, 0); break;
    case 1:
        write_header(w, p, 4);
        write_number(w, 8, p->compValTag);
        write_number(w, 8, p->thresh);
        break;
    case 2:
        write_header(w, p, 6);
        write_number(w, 8, p->compValTag);
        write_number(w, 8, p->pktVal);
        write_op(w, p);
        break;
    case 3:
        write_header(w, p, 8);
        write_number(w, 8, p->compValTag);
        write_number(w, 8, p->val);
        write_number(w, 8, p->chldCntTag);
        write_op(w, p);
        break;
    case 4:
        write_header(w, p, 8);
        write_number(w, 8, p->pktId);
        write_number(w, 8, p->sibCntTag);
        write_number(w, 8, p->fwdCntTag);
        write_number(w, 8, p->fwdThresh);
        break;
    case 5:
        write_header(w, p, 14);
        write_number(w, 8, p->pktId);
        write_number(w, 8, p->sibCntTag);
        write_number(w, 8, p->compIdTag);
        write_number(w, 8, p->val);
        write_number(w, 8, p->collectFwdTag);
        write_number(w, 8, p->fwdThresh);
        write_op(w, p);
        break;
    }
    write_crc(w);
}

static bool same(const struct leat_esp_packet *a, const struct leat_esp_packet *b)
{
    return a->loc == b->loc && a->flags == b->flags && a->opcode == b->opcode && a->op == b->op &&
           a->computationId == b->computationId && a->compValTag == b->compValTag &&
           a->thresh == b->thresh && a->pktVal == b->pktVal && a->val == b->val &&
           a->chldCntTag == b->chldCntTag && a->pktId == b->pktId && a->sibCntTag == b->sibCntTag &&
           a->fwdCntTag == b->fwdCntTag && a->fwdThresh == b->fwdThresh &&
           a->compIdTag == b->compIdTag && a->collectFwdTag == b->collectFwdTag;
}

/* ---- vectors: made with Python's struct and zlib.crc32 from the note ----------------------- */

struct vector {
    const char *hex;
    struct leat_esp_packet packet;
};

/* clang-format off */
static const struct vector vectors[] = {
    { "0000000000000000000000007bd5c66f", { .opcode = LEAT_ESP_NOP } },
    { "ef000000ffffffffffffffff05b25a83",
      { .loc = 7, .flags = 15, .opcode = LEAT_ESP_NOP, .computationId = UINT64_MAX } },
    { "010100040000000000000001000000000000000100000000000000031d2055f4",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COUNT, .computationId = 1, .compValTag = 1,
        .thresh = 3 } },
    { "0a010004112233445566778800000000000000a100000000000000010c563b02",
      { .flags = LEAT_ESP_FLAG_XR | LEAT_ESP_FLAG_R, .opcode = LEAT_ESP_COUNT,
        .computationId = 0x1122334455667788, .compValTag = 0xa1, .thresh = 1 } },
    { "c50100040000000000000007ffffffffffffffffffffffffffffffff563817fe",
      { .loc = LEAT_ESP_LOC_INPUT | LEAT_ESP_LOC_OUTPUT, .flags = LEAT_ESP_FLAG_E | LEAT_ESP_FLAG_X,
        .opcode = LEAT_ESP_COUNT, .computationId = 7, .compValTag = UINT64_MAX,
        .thresh = UINT64_MAX } },
    { "010200060000000000c0ffee0000000000000010000000000000002a0000000100000000d35467c5",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COMPARE, .op = LEAT_ESP_COMPARE_LT,
        .computationId = 0xc0ffee, .compValTag = 0x10, .pktVal = 42 } },
    { "210200060000000000c0ffee0000000000000010fffffffffffffffb00000013000000000ddab5d5",
      { .loc = LEAT_ESP_LOC_CENTRE, .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COMPARE,
        .op = LEAT_ESP_COMPARE_GT_S, .computationId = 0xc0ffee, .compValTag = 0x10,
        .pktVal = UINT64_MAX - 4 } },
    { "0102000600000000000000090000000000000010000000000000000000000015000000003b75af8d",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COMPARE, .op = LEAT_ESP_COMPARE_EQ_S,
        .computationId = 9, .compValTag = 0x10 } },
    { "01030008000000000000ce05000000000000002000000000000000010000000000000010"
      "00000001000000004227208e",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COLLECT, .op = LEAT_ESP_FOLD_ADD,
        .computationId = 0xce05, .compValTag = 0x20, .val = 1, .chldCntTag = 0x10 } },
    { "e1030008000000000000ce05000000000000002080000000000000000000000000000010"
      "000000170000000066592451",
      { .loc = LEAT_ESP_LOC_ALL, .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COLLECT,
        .op = LEAT_ESP_FOLD_ADDSAT_S, .computationId = 0xce05, .compValTag = 0x20,
        .val = UINT64_C(1) << 63, .chldCntTag = 0x10 } },
    { "010400080000000000abcdef000000000000500100000000000000300000000000000031"
      "00000000000000084e043ecf",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_RCHLD, .computationId = 0xabcdef,
        .pktId = 0x5001, .sibCntTag = 0x30, .fwdCntTag = 0x31, .fwdThresh = 8 } },
    { "0105000e0000000000abcdef000000000000500100000000000000300000000000000032"
      "0000000000000011000000000000003300000000000000080000000100000000e1544f18",
      { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_RCOLLECT, .op = LEAT_ESP_FOLD_ADD,
        .computationId = 0xabcdef, .pktId = 0x5001, .sibCntTag = 0x30, .compIdTag = 0x32,
        .val = 17, .collectFwdTag = 0x33, .fwdThresh = 8 } },
    { "0905000e0001020304050607101112131415161720212223242526273031323334353637"
      "4041424344454647505152535455565760616263646566670000000600000000"
      "3e453727",
      { .flags = LEAT_ESP_FLAG_XR | LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_RCOLLECT,
        .op = LEAT_ESP_FOLD_XOR, .computationId = 0x0001020304050607,
        .pktId = 0x1011121314151617, .sibCntTag = 0x2021222324252627,
        .compIdTag = 0x3031323334353637, .val = 0x4041424344454647,
        .collectFwdTag = 0x5051525354555657, .fwdThresh = 0x6061626364656667 } },
};
/* clang-format on */
enum { VECTOR_COUNT = sizeof vectors / sizeof *vectors };

/* The octets of the hex digits up to a '#' or the end of the line; blanks are allowed between. */
static size_t unhex(const char *hex, uint8_t *octets, size_t cap)
{
    size_t digits = 0;
    for (; *hex && *hex != '#' && *hex != '\n' && digits < 2 * cap; hex++) {
        static const char all[] = "0123456789abcdef";
        const char *at = strchr(all, *hex);
        if (!at) continue;
        const unsigned value = (unsigned)(at - all);
        octets[digits / 2] = (uint8_t)(digits % 2 ? octets[digits / 2] | value : value << 4);
        digits++;
    }
    return digits / 2;
}

static void refuses(const uint8_t *octets, size_t len, leat_err err, size_t at)
{
    struct leat_esp_packet out, pattern;
    memset(&pattern, 0xa5, sizeof pattern);
    memcpy(&out, &pattern, sizeof out);
    size_t fault_at = SIZE_MAX;
    EQ(leat_esp_packet_decode(octets, len, &out, &fault_at), err);
    EQ(fault_at, at);
    EQ(leat_esp_packet_decode(octets, len, &out, NULL), err);
    OK(memcmp(&out, &pattern, sizeof out) == 0);
}

static void vectors_decode_to_their_meaning_and_encode_back(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX], back[LEAT_ESP_PACKET_LEN_MAX];
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        struct leat_esp_packet p;
        size_t back_len = 0;
        memset(&p, 0xa5, sizeof p); /* what an opcode does not use comes out as 0 all the same */
        EQ(leat_esp_packet_decode(octets, len, &p, NULL), LEAT_ERR_OK);
        OK(same(&p, &vectors[v].packet));
        EQ(leat_esp_packet_len(p.opcode), len);
        EQ(leat_esp_packet_encode(&vectors[v].packet, back, sizeof back, &back_len), LEAT_ERR_OK);
        EQ(back_len, len);
        OK(memcmp(back, octets, len) == 0);
    }
}

static void the_model_agrees_with_the_vectors(void)
{
    EQ(model_crc((const uint8_t *)"123456789", 9), 0xcbf43926); /* the CRC's own check value */
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        struct writer w;
        model_encode(&w, &vectors[v].packet);
        EQ(w.len, len);
        OK(memcmp(w.octets, octets, len) == 0);
    }
}

static FILE *open_vectors(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/proto/esp/vectors/%s", LEAT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file) printf("# cannot read %s\n", path);
    OK(file);
    return file;
}

static void the_good_packets_on_file_are_the_vectors(void)
{
    FILE *file = open_vectors("esp_packets.hex");
    char line[512];
    unsigned count = 0;
    while (file && fgets(line, sizeof line, file)) {
        uint8_t octets[128], want[128];
        const size_t len = unhex(line, octets, sizeof octets);
        if (!len) continue;
        if (count < VECTOR_COUNT) {
            EQ(unhex(vectors[count].hex, want, sizeof want), len);
            OK(memcmp(octets, want, len) == 0);
        }
        count++;
    }
    EQ(count, VECTOR_COUNT);
    if (file) fclose(file);
}

static void the_bad_packets_on_file_get_their_errors(void)
{
    static const char *const names[] = { "bad_esp_header.hex", "bad_esp_crc.hex",
                                         "bad_esp_operands.hex" };
    unsigned count = 0;
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
        FILE *file = open_vectors(names[n]);
        char line[512], code[32];
        while (file && fgets(line, sizeof line, file)) {
            uint8_t octets[128];
            const size_t len = unhex(line, octets, sizeof octets);
            if (!len) continue;
            OK(sscanf(strchr(line, '#'), "# %31s", code) == 1);
            struct leat_esp_packet p;
            const leat_err err = leat_esp_packet_decode(octets, len, &p, NULL);
            if (strcmp(leat_err_name(err), code) != 0) printf("# %s", line);
            OK(strcmp(leat_err_name(err), code) == 0);
            count++;
        }
        if (file) fclose(file);
    }
    EQ(count, 37);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void every_truncation_is_short_where_the_octets_end(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        for (size_t cut = 0; cut < len; cut++) {
            uint8_t *exact = malloc(cut ? cut : 1); /* the sanitizer guards its end */
            memcpy(exact, octets, cut);
            refuses(exact, cut, LEAT_ERR_SHORT, cut);
            free(exact);
        }
    }
    refuses(NULL, 0, LEAT_ERR_SHORT, 0);
}

static void every_single_bit_flip_is_refused(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            struct leat_esp_packet p;
            octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const leat_err err = leat_esp_packet_decode(octets, len, &p, NULL);
            octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
            OK(err != LEAT_ERR_OK);
            if (bit / 8 != LEAT_ESP_OPCODE_AT && bit / 16 != LEAT_ESP_LENGTH_AT / 2)
                EQ(err, LEAT_ERR_CHECKSUM);
        }
    }
}

static void unknown_opcodes_are_refused_before_their_length_is_read(void)
{
    for (unsigned opcode = 6; opcode < 256; opcode++) {
        const struct leat_esp_packet p = { .opcode = (uint8_t)opcode };
        struct writer w;
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX] = { 0 };
        write_header(&w, &p, 0xffff);
        write_crc(&w);
        refuses(w.octets, w.len, LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT);
        EQ(leat_esp_packet_encode(&p, octets, sizeof octets, NULL), LEAT_ERR_TYPE);
        EQ(leat_esp_packet_len(opcode), 0);
        OK(!leat_esp_instruction_of(opcode));
    }
}

static void every_length_but_the_opcodes_own_is_refused(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        const unsigned own = (unsigned)(len - LEAT_ESP_PACKET_LEN_MIN) / 4;
        for (unsigned words = 0; words < 0x10000; words++) {
            if (words == own) continue;
            octets[2] = (uint8_t)(words >> 8);
            octets[3] = (uint8_t)words;
            refuses(octets, len, LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT);
        }
    }
}

static void operators_are_those_of_the_note_and_no_others(void)
{
    static const uint8_t compares[] = { 1, 2, 3, 4, 5, 6, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16 };
    static const uint8_t folds[] = { 1, 2, 3, 4, 5, 6, 7, 0x12, 0x13, 0x17 };
    static const uint32_t high[] = { 0, 0x100, 0x10000, 0x1000000, 0x80000000 };
    for (unsigned i = 0; i < 256 * sizeof high / sizeof *high; i++) {
        const uint32_t op = i % 256 | high[i / 256];
        const bool compare = op < 256 && memchr(compares, (int)op, sizeof compares);
        const bool fold = op < 256 && memchr(folds, (int)op, sizeof folds);
        EQ(leat_esp_operator_known(LEAT_ESP_KIND_COMPARE, op), compare);
        EQ(leat_esp_operator_known(LEAT_ESP_KIND_FOLD, op), fold);
        OK(!leat_esp_operator_known(LEAT_ESP_KIND_TAG, op));
        OK(!leat_esp_operator_known(LEAT_ESP_KIND_VALUE, op));
        for (uint8_t opcode = LEAT_ESP_COMPARE; opcode <= LEAT_ESP_RCOLLECT; opcode++) {
            if (opcode == LEAT_ESP_RCHLD) continue;
            const struct leat_esp_packet p = { .opcode = opcode,
                                               .op = op,
                                               .compValTag = 1,
                                               .chldCntTag = 2,
                                               .pktId = 3,
                                               .sibCntTag = 4,
                                               .compIdTag = 5,
                                               .collectFwdTag = 6 };
            const bool known = opcode == LEAT_ESP_COMPARE ? compare : fold;
            uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
            struct leat_esp_packet out;
            struct writer w;
            model_encode(&w, &p);
            EQ(leat_esp_packet_encode(&p, octets, sizeof octets, NULL),
               known ? LEAT_ERR_OK : LEAT_ERR_TYPE);
            if (known)
                EQ(leat_esp_packet_decode(w.octets, w.len, &out, NULL), LEAT_ERR_OK);
            else
                refuses(w.octets, w.len, LEAT_ERR_TYPE, w.len - 12);
        }
    }
}

static void the_word_after_an_operator_must_be_zero(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        if (!vectors[v].packet.op) continue;
        for (unsigned bit = 0; bit < 32; bit++) {
            struct writer w;
            model_encode(&w, &vectors[v].packet);
            const size_t word_at = w.len - 8;
            w.octets[word_at + bit / 8] = (uint8_t)(1u << bit % 8);
            w.len -= 4;
            write_crc(&w);
            refuses(w.octets, w.len, LEAT_ERR_RESERVED, word_at);
        }
    }
}

/* spec/esp.md, "Store"; pktId is a key of the store like the others. */
static void equal_tags_are_refused_at_the_later_one(void)
{
    static const struct {
        uint8_t opcode, tag_count, index[4]; /* of the operands that are tags */
    } rows[] = {
        { LEAT_ESP_COLLECT, 2, { 0, 2 } },
        { LEAT_ESP_RCHLD, 3, { 0, 1, 2 } },
        { LEAT_ESP_RCOLLECT, 4, { 0, 1, 2, 4 } },
    };
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (unsigned b = 1; b < rows[r].tag_count; b++) {
            for (unsigned a = 0; a < b; a++) {
                struct leat_esp_packet p = {
                    .opcode = rows[r].opcode,
                    .op = 1,
                    .compValTag = 11,
                    .chldCntTag = 12,
                    .pktId = 13,
                    .sibCntTag = 14,
                    .fwdCntTag = 15,
                    .compIdTag = 16,
                    .collectFwdTag = 17,
                };
                const size_t at_a = 12 + 8u * rows[r].index[a], at_b = 12 + 8u * rows[r].index[b];
                uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
                struct writer w;
                size_t fault_at = 0;
                model_encode(&w, &p);
                memcpy(w.octets + at_b, w.octets + at_a, 8);
                w.len -= 4;
                write_crc(&w);
                refuses(w.octets, w.len, LEAT_ERR_DUPLICATE, at_b);

                const struct leat_esp_instruction *row = leat_esp_instruction_of(p.opcode);
                leat_esp_operand_set(&p, &row->operand[rows[r].index[b]],
                                     leat_esp_operand_get(&p, &row->operand[rows[r].index[a]]));
                EQ(leat_esp_packet_check(&p, &fault_at), LEAT_ERR_DUPLICATE);
                EQ(fault_at, at_b);
                EQ(leat_esp_packet_encode(&p, octets, sizeof octets, NULL), LEAT_ERR_DUPLICATE);
            }
        }
    }
}

static void a_tag_may_equal_a_value(void)
{
    const struct leat_esp_packet p = { .opcode = LEAT_ESP_RCOLLECT,
                                       .op = 1,
                                       .pktId = 1,
                                       .sibCntTag = 2,
                                       .compIdTag = 3,
                                       .val = 1,
                                       .collectFwdTag = 4,
                                       .fwdThresh = 2 };
    struct leat_esp_packet out;
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    EQ(leat_esp_packet_encode(&p, octets, sizeof octets, NULL), LEAT_ERR_OK);
    EQ(leat_esp_packet_decode(octets, sizeof octets, &out, NULL), LEAT_ERR_OK);
    OK(same(&p, &out));
}

/* One packet with every fault, repaired step by step: the documented order of the checks. */
static void faults_are_found_in_the_documented_order(void)
{
    const struct leat_esp_packet p = { .opcode = LEAT_ESP_COLLECT, .op = 0x99 };
    struct writer w;
    model_encode(&w, &p);
    const size_t len = w.len, word_at = len - 8, op_at = len - 12, crc_at = len - 4;
    uint8_t b[LEAT_ESP_PACKET_LEN_MAX];
    memcpy(b, w.octets, len);
    b[LEAT_ESP_OPCODE_AT] = 77;
    b[LEAT_ESP_LENGTH_AT] = 1;
    b[word_at] = 1;
    refuses(b, LEAT_ESP_PACKET_LEN_MIN - 1, LEAT_ERR_SHORT, LEAT_ESP_PACKET_LEN_MIN - 1);
    refuses(b, len - 1, LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT);
    b[LEAT_ESP_OPCODE_AT] = LEAT_ESP_COLLECT;
    refuses(b, len - 1, LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT);
    b[LEAT_ESP_LENGTH_AT] = 0;
    refuses(b, len - 1, LEAT_ERR_SHORT, len - 1);
    refuses(b, len, LEAT_ERR_CHECKSUM, crc_at);

    memcpy(w.octets, b, len);
    w.len = crc_at;
    write_crc(&w);
    refuses(w.octets, len, LEAT_ERR_DUPLICATE, 28);
    w.octets[35] = 1; /* chldCntTag */
    w.len = crc_at;
    write_crc(&w);
    refuses(w.octets, len, LEAT_ERR_TYPE, op_at);
    w.octets[op_at + 3] = LEAT_ESP_FOLD_MAX;
    w.len = crc_at;
    write_crc(&w);
    refuses(w.octets, len, LEAT_ERR_RESERVED, word_at);
    w.octets[word_at] = 0;
    w.len = crc_at;
    write_crc(&w);
    struct leat_esp_packet out;
    EQ(leat_esp_packet_decode(w.octets, len, &out, NULL), LEAT_ERR_OK);
}

static void encode_refuses_what_does_not_fit_and_writes_nothing(void)
{
    static const struct {
        struct leat_esp_packet packet;
        leat_err err;
        size_t at;
    } rows[] = {
        { { .opcode = LEAT_ESP_NOP, .loc = 8 }, LEAT_ERR_RANGE, LEAT_ESP_CONTROL_AT },
        { { .opcode = LEAT_ESP_NOP, .loc = 255 }, LEAT_ERR_RANGE, LEAT_ESP_CONTROL_AT },
        { { .opcode = LEAT_ESP_NOP, .flags = 16 }, LEAT_ERR_RANGE, LEAT_ESP_CONTROL_AT },
        { { .opcode = LEAT_ESP_NOP, .flags = 255 }, LEAT_ERR_RANGE, LEAT_ESP_CONTROL_AT },
        { { .opcode = LEAT_ESP_OPCODE_END }, LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT },
        { { .opcode = 64 }, LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT },
        { { .opcode = LEAT_ESP_COMPARE }, LEAT_ERR_TYPE, 28 },
        { { .opcode = LEAT_ESP_COLLECT, .op = 1 }, LEAT_ERR_DUPLICATE, 28 },
    };
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX], pattern[LEAT_ESP_PACKET_LEN_MAX];
    memset(pattern, 0xa5, sizeof pattern);
    memcpy(octets, pattern, sizeof octets);
    size_t len = 99;
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t fault_at = SIZE_MAX;
        EQ(leat_esp_packet_encode(&rows[r].packet, octets, sizeof octets, &len), rows[r].err);
        EQ(leat_esp_packet_check(&rows[r].packet, &fault_at), rows[r].err);
        EQ(fault_at, rows[r].at);
    }
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        const struct leat_esp_packet *p = &vectors[v].packet;
        EQ(leat_esp_packet_check(p, NULL), LEAT_ERR_OK);
        for (size_t cap = 0; cap < leat_esp_packet_len(p->opcode); cap++)
            EQ(leat_esp_packet_encode(p, octets, cap, &len), LEAT_ERR_SPACE);
    }
    EQ(len, 99);
    OK(memcmp(octets, pattern, sizeof octets) == 0);
}

/* ---- what is ignored ------------------------------------------------------------------------- */

static void the_reserved_bit_is_ignored_and_sent_as_zero(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        struct leat_esp_packet out;
        uint8_t back[LEAT_ESP_PACKET_LEN_MAX];
        struct writer plain, w;
        model_encode(&plain, &vectors[v].packet);
        w = plain;
        w.octets[LEAT_ESP_CONTROL_AT] |= 0x10;
        w.len -= 4;
        write_crc(&w);
        EQ(leat_esp_packet_decode(w.octets, w.len, &out, NULL), LEAT_ERR_OK);
        OK(same(&out, &vectors[v].packet));
        EQ(leat_esp_packet_encode(&out, back, sizeof back, NULL), LEAT_ERR_OK);
        OK(memcmp(back, plain.octets, plain.len) == 0);
    }
}

static void octets_after_the_crc_are_ignored_and_can_be_found(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        uint8_t octets[2 * LEAT_ESP_PACKET_LEN_MAX];
        struct leat_esp_packet out = { 0 };
        memset(octets, 0xff, sizeof octets);
        const size_t len = unhex(vectors[v].hex, octets, sizeof octets);
        for (size_t more = 0; len + more <= sizeof octets; more++) {
            EQ(leat_esp_packet_decode(octets, len + more, &out, NULL), LEAT_ERR_OK);
            EQ(leat_esp_packet_len(out.opcode), len);
        }
        OK(same(&out, &vectors[v].packet));
    }
}

static void operands_of_other_opcodes_are_not_sent(void)
{
    for (unsigned v = 0; v < VECTOR_COUNT; v++) {
        struct leat_esp_packet full, own = vectors[v].packet;
        uint8_t a[LEAT_ESP_PACKET_LEN_MAX] = { 0 }, b[LEAT_ESP_PACKET_LEN_MAX] = { 0 };
        memset(&full, 0x5a, sizeof full);
        full.loc = own.loc;
        full.flags = own.flags;
        full.opcode = own.opcode;
        full.computationId = own.computationId;
        if (own.op) full.op = own.op;
        const struct leat_esp_instruction *row = leat_esp_instruction_of(own.opcode);
        for (unsigned i = 0; i < row->words / 2u; i++)
            if (strcmp(row->operand[i].name, "op") != 0)
                leat_esp_operand_set(&full, &row->operand[i],
                                     leat_esp_operand_get(&own, &row->operand[i]));
        EQ(leat_esp_packet_encode(&full, a, sizeof a, NULL), LEAT_ERR_OK);
        EQ(leat_esp_packet_encode(&own, b, sizeof b, NULL), LEAT_ERR_OK);
        OK(memcmp(a, b, sizeof a) == 0);
    }
}

/* ---- layout, table, reflection ------------------------------------------------------------- */

/* Control: LLL0 FFFF, FFFF = XR E R X. */
static void control_is_three_bits_of_loc_and_four_flags(void)
{
    EQ(LEAT_ESP_FLAG_XR << 3 | LEAT_ESP_FLAG_E << 2 | LEAT_ESP_FLAG_R << 1 | LEAT_ESP_FLAG_X,
       0x8 << 3 | 0x4 << 2 | 0x2 << 1 | 0x1);
    EQ(LEAT_ESP_LOC_INPUT, 4);
    EQ(LEAT_ESP_LOC_CENTRE, 1);
    EQ(LEAT_ESP_LOC_OUTPUT, 2);
    for (unsigned loc = 0; loc < 8; loc++) {
        for (unsigned flags = 0; flags < 16; flags++) {
            const struct leat_esp_packet p = { .loc = (uint8_t)loc, .flags = (uint8_t)flags };
            struct leat_esp_packet out;
            uint8_t octets[LEAT_ESP_PACKET_LEN_MIN];
            EQ(leat_esp_packet_encode(&p, octets, sizeof octets, NULL), LEAT_ERR_OK);
            EQ(octets[0], loc * 0x20 + flags);
            EQ(leat_esp_packet_decode(octets, sizeof octets, &out, NULL), LEAT_ERR_OK);
            OK(same(&p, &out));
        }
    }
}

static void the_table_is_the_notes(void)
{
    static const struct {
        const char *name, *operands;
        unsigned words;
    } note[] = {
        { "NOP", "", 0 },
        { "COUNT", " compValTag thresh", 4 },
        { "COMPARE", " compValTag pktVal op", 6 },
        { "COLLECT", " compValTag val chldCntTag op", 8 },
        { "RCHLD", " pktId sibCntTag fwdCntTag fwdThresh", 8 },
        { "RCOLLECT", " pktId sibCntTag compIdTag val collectFwdTag fwdThresh op", 14 },
    };
    EQ(LEAT_ESP_OPCODE_END, 6);
    for (unsigned opcode = 0; opcode < 6; opcode++) {
        const struct leat_esp_instruction *row = leat_esp_instruction_of(opcode);
        char operands[256] = "";
        OK(row && strcmp(row->name, note[opcode].name) == 0);
        EQ(row->words, note[opcode].words);
        EQ(leat_esp_packet_len(opcode), 16 + 4 * note[opcode].words);
        for (unsigned i = 0; i < row->words / 2u; i++) {
            const char *name = row->operand[i].name;
            const bool tag = strstr(name, "Tag") || strcmp(name, "pktId") == 0;
            EQ(row->operand[i].kind == LEAT_ESP_KIND_TAG, tag);
            strcat(strcat(operands, " "), name);
        }
        OK(strcmp(operands, note[opcode].operands) == 0);
    }
    OK(!leat_esp_instruction_of(6));
    OK(!leat_esp_instruction_of(UINT32_MAX));
}

static void reflection_moves_xr_to_x_and_clears_r_once(void)
{
    for (unsigned flags = 0; flags < 16; flags++) {
        struct leat_esp_packet p = { .opcode = LEAT_ESP_COUNT, .flags = (uint8_t)flags };
        const bool xr = flags & 8, r = flags & 2;
        EQ(leat_esp_packet_reflect(&p), r);
        EQ(p.flags, r ? (flags & 0xc) | (xr ? 1 : 0) : flags);
        const uint8_t once = p.flags;
        OK(!leat_esp_packet_reflect(&p)); /* no ping-pong */
        EQ(p.flags, once);
    }
    struct leat_esp_packet back = { .flags = 0xa }; /* seed 000: execute only on the way back */
    OK(leat_esp_packet_reflect(&back));
    EQ(back.flags, LEAT_ESP_FLAG_XR | LEAT_ESP_FLAG_X);
}

static void carriage_is_not_that_of_ipsec(void)
{
    EQ(LEAT_ESP_UDP_PORT, 4253);
    EQ(LEAT_ESP_IP_PROTOCOL, 253); /* 50 would be IPsec's */
    EQ(LEAT_ESP_ETHER_TYPE, 0x88b5);
    EQ(LEAT_ESP_LINK_TYPE, 149);
}

/* ---- campaigns ------------------------------------------------------------------------------- */

/* Small numbers now and then, so that tags collide and values hit their ends. */
static uint64_t random_number(struct leat_random *r)
{
    const uint64_t n = leat_random_next(r);
    return n & 3 ? n : n >> 2 & 7;
}

static struct leat_esp_packet random_packet(struct leat_random *r)
{
    static const uint8_t ops[] = { 1, 2, 3, 4, 5, 6, 0x12, 0x13 }; /* known to both kinds */
    struct leat_esp_packet p = { 0 };
    const uint64_t bits = leat_random_next(r);
    p.loc = bits & 7;
    p.flags = bits >> 3 & 15;
    p.opcode = (uint8_t)leat_random_below(r, LEAT_ESP_OPCODE_END);
    p.computationId = random_number(r);
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p.opcode);
    for (unsigned i = 0; i < row->words / 2u; i++) {
        if (strcmp(row->operand[i].name, "op") == 0)
            p.op = ops[bits >> 8 & 7];
        else
            leat_esp_operand_set(&p, &row->operand[i], random_number(r));
    }
    return p;
}

static void random_packets_match_the_model_and_come_back(void)
{
    struct leat_random r;
    unsigned long refused = 0;
    leat_random_seed_entity(&r, tap_seed(), 1);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        const struct leat_esp_packet p = random_packet(&r);
        struct leat_esp_packet out;
        struct writer w;
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        size_t len = 0;
        model_encode(&w, &p);
        const leat_err err = leat_esp_packet_encode(&p, octets, sizeof octets, &len);
        EQ(leat_esp_packet_decode(w.octets, w.len, &out, NULL), err);
        if (err) {
            EQ(err, LEAT_ERR_DUPLICATE);
            refused++;
            continue;
        }
        OK(len == w.len && memcmp(octets, w.octets, len) == 0);
        OK(same(&p, &out));
    }
    OK(refused > 0 && refused < LEAT_ROUNDS / 10);
}

/* Random octets with a valid length and CRC: what decodes must encode to the same octets. */
static void random_octets_that_decode_encode_back(void)
{
    struct leat_random r;
    unsigned long sound = 0;
    leat_random_seed_entity(&r, tap_seed(), 2);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t b[LEAT_ESP_PACKET_LEN_MAX], back[LEAT_ESP_PACKET_LEN_MAX];
        struct leat_esp_packet p, again;
        struct writer w;
        leat_random_fill(&r, b, sizeof b);
        b[1] %= 8; /* two of these opcodes are unknown */
        const unsigned opcode = b[1];
        const struct leat_esp_instruction *row = leat_esp_instruction_of(opcode);
        const size_t len = row ? 16 + 4u * row->words : 16;
        b[2] = 0;
        b[3] = (uint8_t)((len - 16) / 4);
        if (opcode >= LEAT_ESP_COMPARE && opcode != LEAT_ESP_RCHLD) {
            b[len - 9] &= 0x1f; /* an operator that may be known, and sometimes its word of zeros */
            memset(b + len - 12, 0, 3);
            if (b[0] & 0x20) memset(b + len - 8, 0, 4);
        }
        memcpy(w.octets, b, len - 4);
        w.len = len - 4;
        write_crc(&w);
        const leat_err err = leat_esp_packet_decode(w.octets, w.len, &p, NULL);
        if (err) {
            OK(err == LEAT_ERR_TYPE || err == LEAT_ERR_RESERVED);
            continue;
        }
        sound++;
        size_t back_len = 0;
        EQ(leat_esp_packet_encode(&p, back, sizeof back, &back_len), LEAT_ERR_OK);
        EQ(back_len, len);
        if (b[0] & 0x10) {
            EQ(leat_esp_packet_decode(back, back_len, &again, NULL), LEAT_ERR_OK);
            OK(same(&p, &again));
        } else {
            OK(memcmp(back, w.octets, len) == 0);
        }
    }
    OK(sound > LEAT_ROUNDS / 8);
}

static void random_octets_of_any_length_get_an_answer(void)
{
    struct leat_random r;
    leat_random_seed_entity(&r, tap_seed(), 3);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t b[96];
        struct leat_esp_packet out;
        const size_t len = leat_random_below(&r, sizeof b + 1);
        size_t fault_at = SIZE_MAX;
        leat_random_fill(&r, b, len);
        if (leat_esp_packet_decode(b, len, &out, &fault_at) != LEAT_ERR_OK) OK(fault_at <= len);
    }
}

TAP_MAIN(T(vectors_decode_to_their_meaning_and_encode_back), T(the_model_agrees_with_the_vectors),
         T(the_good_packets_on_file_are_the_vectors), T(the_bad_packets_on_file_get_their_errors),
         T(every_truncation_is_short_where_the_octets_end), T(every_single_bit_flip_is_refused),
         T(unknown_opcodes_are_refused_before_their_length_is_read),
         T(every_length_but_the_opcodes_own_is_refused),
         T(operators_are_those_of_the_note_and_no_others),
         T(the_word_after_an_operator_must_be_zero), T(equal_tags_are_refused_at_the_later_one),
         T(a_tag_may_equal_a_value), T(faults_are_found_in_the_documented_order),
         T(encode_refuses_what_does_not_fit_and_writes_nothing),
         T(the_reserved_bit_is_ignored_and_sent_as_zero),
         T(octets_after_the_crc_are_ignored_and_can_be_found),
         T(operands_of_other_opcodes_are_not_sent), T(control_is_three_bits_of_loc_and_four_flags),
         T(the_table_is_the_notes), T(reflection_moves_xr_to_x_and_clears_r_once),
         T(carriage_is_not_that_of_ipsec), T(random_packets_match_the_model_and_come_back),
         T(random_octets_that_decode_encode_back), T(random_octets_of_any_length_get_an_answer))
