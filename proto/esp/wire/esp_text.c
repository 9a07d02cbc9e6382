#include "esp_text.h"
#include "esp_text_parts.h"
#include "leat_bytes.h"

enum { LENGTH_BITS = 16, OP_BITS = 32, WIDE_BITS = 64, CRC_BITS = 32 };

/* clang-format off */
#define NAME(name, value)                    { value, #name },
#define NAME_LOC(name, text, value)          { value, text },
#define NAME_OPCODE(value, name, words, ...) { value, #name },
#define SAY(name, value)                     " " #name
#define SAY_OPCODE(value, name, words, ...)  " " #name

const struct leat_name leat_esp_loc_names[] = { LEAT_ESP_LOC_LIST(NAME_LOC) { 0, NULL } };
const struct leat_name leat_esp_flag_names[] = { LEAT_ESP_FLAG_LIST(NAME) { 0, NULL } };
#define NAME_MANAGEMENT(value, name, member) { value, #name },
#define SAY_MANAGEMENT(value, name, member)  " " #name
const struct leat_name leat_esp_opcode_names[] = {
    LEAT_ESP_INSTRUCTION_LIST(NAME_OPCODE) LEAT_ESP_MANAGEMENT_LIST(NAME_MANAGEMENT) { 0, NULL }
};
const struct leat_name leat_esp_compare_names[] = { LEAT_ESP_COMPARE_LIST(NAME) { 0, NULL } };
const struct leat_name leat_esp_fold_names[] = { LEAT_ESP_FOLD_LIST(NAME) { 0, NULL } };
#define NAME_TEXT(value, name, text) { value, text },
const struct leat_name leat_esp_service_names[] = { LEAT_ESP_SERVICE_LIST(NAME_TEXT) { 0, NULL } };
const struct leat_name leat_esp_value_names[] = { LEAT_ESP_VALUE_LIST(NAME_TEXT) { 0, NULL } };
const struct leat_name leat_esp_result_names[] = { LEAT_ESP_RESULT_LIST(NAME_TEXT) { 0, NULL } };
/* clang-format on */

static const struct leat_esp_packet instruction_preset = {
    .flags = LEAT_ESP_FLAG_X,
    .opcode = LEAT_ESP_COUNT,
    .op = 1, /* LT finds a maximum, ADD a sum */
    .computationId = 1,
    .thresh = 1,
    .val = 1,
    .fwdThresh = 8, /* spec/esp.md, "Services": K is 8 by default */
    .compValTag = 0x101,
    .chldCntTag = 0x102,
    .pktId = 0x103,
    .sibCntTag = 0x104,
    .fwdCntTag = 0x105,
    .compIdTag = 0x106,
    .collectFwdTag = 0x107,
};

static void walk_op(struct leat_fields *f, size_t at, enum leat_esp_kind kind, uint32_t *op)
{
    const bool compare = kind == LEAT_ESP_KIND_COMPARE;
    *op = (uint32_t)leat_fields_enum(f, "op", at, OP_BITS,
                                     compare ? leat_esp_compare_names : leat_esp_fold_names, *op);
    if (leat_esp_operator_known(kind, *op)) return;
    leat_fields_refuse(f, LEAT_ERR_TYPE, "op",
                       compare ? "no such operator, expected one of" LEAT_ESP_COMPARE_LIST(SAY)
                               : "no such operator, expected one of" LEAT_ESP_FOLD_LIST(SAY));
}

static void walk_operand(struct leat_fields *f, size_t at, const struct leat_esp_operand *operand,
                         struct leat_esp_packet *p)
{
    uint64_t value;
    switch (operand->kind) {
    case LEAT_ESP_KIND_TAG:
        value = leat_esp_operand_get(p, operand);
        value = leat_fields_hex(f, operand->name, at, WIDE_BITS, value);
        leat_esp_operand_set(p, operand, value);
        break;
    case LEAT_ESP_KIND_VALUE:
        value = leat_esp_operand_get(p, operand);
        value = leat_fields_uint(f, operand->name, at, WIDE_BITS, value);
        leat_esp_operand_set(p, operand, value);
        break;
    case LEAT_ESP_KIND_COMPARE:
    case LEAT_ESP_KIND_FOLD: walk_op(f, at, operand->kind, &p->op); break;
    }
}

void leat_esp_operands_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p->opcode);
    for (unsigned i = 0; i < row->words / 2u; i++)
        walk_operand(f, at + i * LEAT_ESP_OPERAND_LEN, &row->operand[i], p);
}

void leat_esp_control_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p)
{
    p->loc = (uint8_t)leat_fields_mask(f, "loc", at, LEAT_ESP_LOC_BITS, leat_esp_loc_names, p->loc);
    p->flags = (uint8_t)leat_fields_mask(f, "flags", at, LEAT_ESP_FLAGS_BITS, leat_esp_flag_names,
                                         p->flags);
}

unsigned leat_esp_opcode_walk(struct leat_fields *f, size_t at, unsigned opcode, bool management)
{
    opcode = (unsigned)leat_fields_enum(f, "opcode", at, LEAT_ESP_OPCODE_BITS,
                                        leat_esp_opcode_names, opcode);
    if (leat_esp_instruction_of(opcode)) return opcode;
    if (management && leat_name_of(leat_esp_opcode_names, opcode)) return opcode;
    leat_fields_refuse(
        f, LEAT_ERR_TYPE, "opcode",
        management ? "no such opcode, expected one of" LEAT_ESP_INSTRUCTION_LIST(SAY_OPCODE)
                         LEAT_ESP_MANAGEMENT_LIST(SAY_MANAGEMENT)
                   : "no such instruction, expected one of" LEAT_ESP_INSTRUCTION_LIST(SAY_OPCODE));
    return opcode;
}

static void walk(struct leat_fields *f, struct leat_esp_packet *p, uint32_t crc)
{
    const size_t crc_at = leat_esp_packet_len(p->opcode) - LEAT_ESP_CRC_LEN;
    leat_esp_control_walk(f, LEAT_ESP_CONTROL_AT, p);
    if (!leat_fields_reading(f)) leat_esp_opcode_walk(f, LEAT_ESP_OPCODE_AT, p->opcode, false);
    leat_fields_derived(f, "length", LEAT_ESP_LENGTH_AT, LENGTH_BITS,
                        leat_esp_instruction_of(p->opcode)->words);
    p->computationId = leat_fields_hex(f, "computationId", LEAT_ESP_COMPUTATION_AT, WIDE_BITS,
                                       p->computationId);
    leat_esp_operands_walk(f, LEAT_ESP_OPERANDS_AT, p);
    leat_fields_checksum(f, "crc", crc_at, CRC_BITS, crc);
}

/* ---- management packets ------------------------------------------------------------------- */

static void walk_management(struct leat_fields *f, struct leat_esp_management *m, unsigned words,
                            uint32_t crc)
{
    struct leat_esp_walk w = { .text = f, .at = LEAT_ESP_OPERANDS_AT };
    if (!leat_fields_reading(f)) leat_esp_opcode_walk(f, LEAT_ESP_OPCODE_AT, m->opcode, true);
    leat_fields_derived(f, "length", LEAT_ESP_LENGTH_AT, 16, words);
    m->computationId = leat_fields_hex(f, "computationId", LEAT_ESP_COMPUTATION_AT, 64,
                                       m->computationId);
    leat_esp_management_walk(&w, m);
    m->mac = leat_fields_hex(f, "mac", w.at, 64, m->mac);
    leat_fields_checksum(f, "crc", w.at + LEAT_ESP_MAC_LEN, 32, crc);
}

static leat_err show_management(const uint8_t *octets, size_t len, struct leat_fields *f,
                                size_t *fault_at)
{
    struct leat_esp_management m;
    const leat_err err = leat_esp_management_decode(octets, len, NULL, &m, fault_at);
    if (err) return err;
    const size_t crc_at = leat_esp_management_len(octets, len) - LEAT_ESP_CRC_LEN;
    walk_management(f, &m, leat_get_be16(octets + LEAT_ESP_LENGTH_AT),
                    leat_get_be32(octets + crc_at));
    return LEAT_ERR_OK;
}

/* Defaults: 1 for numbers that distinguish things, the centre, ten seconds. */
static struct leat_esp_management preset(unsigned opcode)
{
    struct leat_esp_management m = { .opcode = (uint8_t)opcode, .computationId = 1 };
    switch ((enum leat_esp_management_opcode)opcode) {
    case LEAT_ESP_QUERY:
        m.query = (struct leat_esp_query){ .nonce = 1, .store = LEAT_ESP_LOC_CENTRE };
        break;
    case LEAT_ESP_REPLY:
        m.reply = (struct leat_esp_reply){
            .node = 1, .nonce = 1, .store = LEAT_ESP_LOC_CENTRE, .tau = UINT64_C(10000000000)
        };
        break;
    case LEAT_ESP_JOIN:
        m.join =
            (struct leat_esp_join){ .group = 1, .member = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_ANNOUNCE:
        m.announce = (struct leat_esp_announce){
            .group = 1, .serial = 1, .rounds = 1, .task = { .opcode = LEAT_ESP_NOP }
        };
        break;
    case LEAT_ESP_INSTALL:
        m.install = (struct leat_esp_install){ .group = 1, .serial = 1, .lifetime_ms = 10000 };
        break;
    case LEAT_ESP_INSTALLED:
        m.installed = (struct leat_esp_installed){ .group = 1, .node = 1, .serial = 1 };
        break;
    case LEAT_ESP_CAST:
        m.cast = (struct leat_esp_cast){ .group = 1, .serial = 1, .hops = 8 };
        break;
    case LEAT_ESP_WELCOME:
        m.welcome = (struct leat_esp_welcome){ .group = 1, .member = 1, .serial = 1 };
        break;
    case LEAT_ESP_MANAGEMENT_END: break;
    }
    return m;
}

static leat_err build_management(struct leat_fields *f, unsigned opcode, uint8_t *octets,
                                 size_t cap, size_t *len)
{
    struct leat_esp_management m = preset(opcode);
    if (opcode == LEAT_ESP_ANNOUNCE && leat_fields_has(f, "task"))
        m.announce.task = instruction_preset;
    walk_management(f, &m, 0, 0);
    if (f->err) return f->err;
    return leat_esp_management_encode(&m, NULL, octets, cap, len);
}

/* ---- the format ---------------------------------------------------------------------------- */

static bool is_management(unsigned opcode)
{
    return opcode >= LEAT_ESP_QUERY;
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_esp_packet p;
    if (len > LEAT_ESP_OPCODE_AT && is_management(octets[LEAT_ESP_OPCODE_AT]))
        return show_management(octets, len, f, fault_at);
    const leat_err err = leat_esp_packet_decode(octets, len, &p, fault_at);
    if (err) return err;
    const size_t crc_at = leat_esp_packet_len(p.opcode) - LEAT_ESP_CRC_LEN;
    walk(f, &p, leat_get_be32(octets + crc_at));
    return LEAT_ERR_OK;
}

/* Encode refuses equal tags too; only here can the message name them. */
void leat_esp_tags_check(struct leat_fields *f, const struct leat_esp_packet *p)
{
    size_t at;
    if (f->err || leat_esp_packet_check(p, &at) != LEAT_ERR_DUPLICATE) return;
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p->opcode);
    leat_fields_refuse(f, LEAT_ERR_DUPLICATE,
                       row->operand[(at - LEAT_ESP_OPERANDS_AT) / LEAT_ESP_OPERAND_LEN].name,
                       "equals an earlier tag, expected tags that differ (defaults: 0x101..0x107)");
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_esp_packet p = instruction_preset;
    /* The other fields depend on it. */
    p.opcode = (uint8_t)leat_esp_opcode_walk(f, LEAT_ESP_OPCODE_AT, p.opcode, true);
    if (f->err) return f->err;
    if (is_management(p.opcode)) return build_management(f, p.opcode, octets, cap, len);
    walk(f, &p, 0);
    leat_esp_tags_check(f, &p);
    if (f->err) return f->err;
    return leat_esp_packet_encode(&p, octets, cap, len);
}

static size_t measure(const uint8_t *octets, size_t len)
{
    if (len <= LEAT_ESP_OPCODE_AT) return 0;
    if (is_management(octets[LEAT_ESP_OPCODE_AT])) return leat_esp_management_len(octets, len);
    return leat_esp_packet_len(octets[LEAT_ESP_OPCODE_AT]);
}

const struct leat_format leat_esp_format = {
    .name = "esp",
    .summary = "ESP packet: one instruction for the ephemeral stores of the routers on its way",
    .link_type = LEAT_ESP_LINK_TYPE,
    .ether_type = LEAT_ESP_ETHER_TYPE,
    .udp_port = LEAT_ESP_UDP_PORT,
    .ip_protocol = LEAT_ESP_IP_PROTOCOL,
    .show = show,
    .build = build,
    .measure = measure,
};
