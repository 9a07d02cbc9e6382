#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>
#include <leat/esp.h>
#include <string.h>

enum { OP_SHIFT = 32, WORD_LEN = 4 };

/* clang-format off */
#define FIELD(field, kind)          { #field, kind, offsetof(struct leat_esp_packet, field) }
#define TAG(field)                  FIELD(field, LEAT_ESP_KIND_TAG)
#define VALUE(field)                FIELD(field, LEAT_ESP_KIND_VALUE)
#define COMPARE_OP                  FIELD(op, LEAT_ESP_KIND_COMPARE)
#define FOLD_OP                     FIELD(op, LEAT_ESP_KIND_FOLD)
#define NOTHING                     { 0 }
#define ROW(code, name, words, ...) [code] = { #name, words, { __VA_ARGS__ } },
#define KNOWN(name, code)           | UINT32_C(1) << (code)
/* clang-format on */

static const struct leat_esp_instruction instructions[LEAT_ESP_OPCODE_END] = {
    LEAT_ESP_INSTRUCTION_LIST(ROW)
};
static const uint32_t compare_known = 0 LEAT_ESP_COMPARE_LIST(KNOWN);
static const uint32_t fold_known = 0 LEAT_ESP_FOLD_LIST(KNOWN);

const struct leat_esp_instruction *leat_esp_instruction_of(unsigned opcode)
{
    return opcode < LEAT_ESP_OPCODE_END ? &instructions[opcode] : NULL;
}

bool leat_esp_operator_known(enum leat_esp_kind kind, uint32_t op)
{
    switch (kind) {
    case LEAT_ESP_KIND_COMPARE: return op < 32 && compare_known >> op & 1;
    case LEAT_ESP_KIND_FOLD: return op < 32 && fold_known >> op & 1;
    case LEAT_ESP_KIND_TAG:
    case LEAT_ESP_KIND_VALUE: break;
    }
    return false;
}

static size_t crc_at_of(const struct leat_esp_instruction *row)
{
    return LEAT_ESP_OPERANDS_AT + (size_t)row->words * WORD_LEN;
}

size_t leat_esp_packet_len(unsigned opcode)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(opcode);
    return row ? crc_at_of(row) + LEAT_ESP_CRC_LEN : 0;
}

static unsigned operand_count_of(const struct leat_esp_instruction *row)
{
    return row->words / 2u;
}

static bool is_operator(const struct leat_esp_operand *operand)
{
    return operand->kind == LEAT_ESP_KIND_COMPARE || operand->kind == LEAT_ESP_KIND_FOLD;
}

uint64_t leat_esp_operand_get(const struct leat_esp_packet *packet,
                              const struct leat_esp_operand *operand)
{
    uint64_t value;
    memcpy(&value, (const char *)packet + operand->field_at, sizeof value);
    return value;
}

void leat_esp_operand_set(struct leat_esp_packet *packet, const struct leat_esp_operand *operand,
                          uint64_t value)
{
    memcpy((char *)packet + operand->field_at, &value, sizeof value);
}

void leat_esp_packet_gather(const struct leat_esp_packet *p,
                            uint64_t operand[LEAT_ESP_OPERANDS_MAX])
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p->opcode);
    for (unsigned i = 0; i < operand_count_of(row); i++)
        operand[i] = is_operator(&row->operand[i]) ? (uint64_t)p->op << OP_SHIFT
                                                   : leat_esp_operand_get(p, &row->operand[i]);
}

void leat_esp_packet_scatter(const uint64_t operand[LEAT_ESP_OPERANDS_MAX],
                             struct leat_esp_packet *p)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p->opcode);
    for (unsigned i = 0; i < operand_count_of(row); i++) {
        if (is_operator(&row->operand[i]))
            p->op = (uint32_t)(operand[i] >> OP_SHIFT);
        else
            leat_esp_operand_set(p, &row->operand[i], operand[i]);
    }
}

static leat_err check(const uint64_t operand[LEAT_ESP_OPERANDS_MAX],
                      const struct leat_esp_instruction *row, size_t *fault_at)
{
    uint64_t tag[LEAT_ESP_OPERANDS_MAX];
    unsigned tag_count = 0;
    for (unsigned i = 0; i < operand_count_of(row); i++) {
        const size_t at = LEAT_ESP_OPERANDS_AT + i * LEAT_ESP_OPERAND_LEN;
        const enum leat_esp_kind kind = row->operand[i].kind;
        if (kind == LEAT_ESP_KIND_VALUE) continue;
        if (kind != LEAT_ESP_KIND_TAG) {
            if (!leat_esp_operator_known(kind, (uint32_t)(operand[i] >> OP_SHIFT)))
                return leat_fault(LEAT_ERR_TYPE, at, fault_at);
            if ((uint32_t)operand[i] != 0)
                return leat_fault(LEAT_ERR_RESERVED, at + LEAT_ESP_OPERAND_LEN / 2, fault_at);
            continue;
        }
        /* spec/esp.md, "Store": the tags of one instruction are pairwise distinct. */
        for (unsigned t = 0; t < tag_count; t++)
            if (tag[t] == operand[i]) return leat_fault(LEAT_ERR_DUPLICATE, at, fault_at);
        tag[tag_count++] = operand[i];
    }
    return LEAT_ERR_OK;
}

/* What encode writes, or the error: the row and the operands in wire order. */
static leat_err prepare(const struct leat_esp_packet *p, const struct leat_esp_instruction **row,
                        uint64_t operand[LEAT_ESP_OPERANDS_MAX], size_t *fault_at)
{
    *row = leat_esp_instruction_of(p->opcode);
    if (!*row) return leat_fault(LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT, fault_at);
    if (p->loc > LEAT_ESP_LOC_ALL || p->flags > LEAT_ESP_FLAGS_ALL)
        return leat_fault(LEAT_ERR_RANGE, LEAT_ESP_CONTROL_AT, fault_at);
    leat_esp_packet_gather(p, operand);
    return check(operand, *row, fault_at);
}

leat_err leat_esp_packet_check(const struct leat_esp_packet *p, size_t *fault_at)
{
    const struct leat_esp_instruction *row;
    uint64_t operand[LEAT_ESP_OPERANDS_MAX];
    return prepare(p, &row, operand, fault_at);
}

leat_err leat_esp_packet_decode(const uint8_t *buf, size_t len, struct leat_esp_packet *out,
                                size_t *fault_at)
{
    if (len < LEAT_ESP_PACKET_LEN_MIN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    const struct leat_esp_instruction *row = leat_esp_instruction_of(buf[LEAT_ESP_OPCODE_AT]);
    if (!row) return leat_fault(LEAT_ERR_TYPE, LEAT_ESP_OPCODE_AT, fault_at);
    if (leat_get_be16(buf + LEAT_ESP_LENGTH_AT) != row->words)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ESP_LENGTH_AT, fault_at);
    const size_t crc_at = crc_at_of(row);
    if (len < crc_at + LEAT_ESP_CRC_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_crc32(0, buf, crc_at) != leat_get_be32(buf + crc_at))
        return leat_fault(LEAT_ERR_CHECKSUM, crc_at, fault_at);

    uint64_t operand[LEAT_ESP_OPERANDS_MAX];
    for (unsigned i = 0; i < operand_count_of(row); i++)
        operand[i] = leat_get_be64(buf + LEAT_ESP_OPERANDS_AT + i * LEAT_ESP_OPERAND_LEN);
    const leat_err err = check(operand, row, fault_at);
    if (err) return err;
    *out = (struct leat_esp_packet){
        .loc = (uint8_t)(buf[LEAT_ESP_CONTROL_AT] >> LEAT_ESP_LOC_SHIFT),
        .flags = buf[LEAT_ESP_CONTROL_AT] & LEAT_ESP_FLAGS_ALL,
        .opcode = buf[LEAT_ESP_OPCODE_AT],
        .computationId = leat_get_be64(buf + LEAT_ESP_COMPUTATION_AT),
    };
    leat_esp_packet_scatter(operand, out);
    return LEAT_ERR_OK;
}

leat_err leat_esp_packet_encode(const struct leat_esp_packet *p, uint8_t *buf, size_t cap,
                                size_t *len)
{
    const struct leat_esp_instruction *row;
    uint64_t operand[LEAT_ESP_OPERANDS_MAX];
    const leat_err err = prepare(p, &row, operand, NULL);
    if (err) return err;
    const size_t crc_at = crc_at_of(row);
    if (cap < crc_at + LEAT_ESP_CRC_LEN) return LEAT_ERR_SPACE;

    const uint32_t control = (uint32_t)p->loc << LEAT_ESP_LOC_SHIFT | p->flags;
    leat_put_be32(buf + LEAT_ESP_CONTROL_AT,
                  control << 24 | (uint32_t)p->opcode << 16 | row->words);
    leat_put_be64(buf + LEAT_ESP_COMPUTATION_AT, p->computationId);
    for (unsigned i = 0; i < operand_count_of(row); i++)
        leat_put_be64(buf + LEAT_ESP_OPERANDS_AT + i * LEAT_ESP_OPERAND_LEN, operand[i]);
    leat_put_be32(buf + crc_at, leat_crc32(0, buf, crc_at));
    if (len) *len = crc_at + LEAT_ESP_CRC_LEN;
    return LEAT_ERR_OK;
}

bool leat_esp_packet_reflect(struct leat_esp_packet *p)
{
    if (!(p->flags & LEAT_ESP_FLAG_R)) return false;
    p->flags &= (uint8_t) ~(LEAT_ESP_FLAG_R | LEAT_ESP_FLAG_X);
    if (p->flags & LEAT_ESP_FLAG_XR) p->flags |= LEAT_ESP_FLAG_X;
    return true;
}
