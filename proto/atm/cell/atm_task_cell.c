#include "atm_task_cell.h"
#include "atm_task_parts.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>
#include <string.h>

enum { VPI = 4, ZERO_BITS = 15 }; /* of octets 0 and 1 */
enum { TYPE_BITS = 3, SEQUENCE_BITS = 16 };

bool leat_atm_task_type_known(unsigned type)
{
    return type <= LEAT_ATM_TASK_ACK || type == LEAT_ATM_TASK_RESYNC ||
           type == LEAT_ATM_TASK_RESYNCED;
}

/* Note 2.5: the flags have another meaning in an ACK. */
static bool flag_known(unsigned type, unsigned flag)
{
    if (type == LEAT_ATM_TASK_MESSAGE) return flag <= (LEAT_ATM_TASK_FIRST | LEAT_ATM_TASK_LAST);
    return flag == LEAT_ATM_TASK_ACK_POINT ||
           (flag % LEAT_ATM_TASK_ACK_GROUP == 0 &&
            flag / LEAT_ATM_TASK_ACK_GROUP <= LEAT_ATM_TASK_GROUPS_MAX);
}

static uint16_t crc_of(const uint8_t *cell)
{
    return leat_crc16(0, cell + TYPE_AT, CRC_AT - TYPE_AT);
}

bool leat_atm_task_cell_recognise(const uint8_t *buf, size_t len)
{
    if (len != LEAT_ATM_TASK_CELL_LEN || buf[1] & ZERO_BITS || leat_get_be24(buf + 2)) return false;
    return leat_crc_hec(buf) != 0 ||
           leat_crc16(0, buf + TYPE_AT, CRC_AT - TYPE_AT) == leat_get_be16(buf + CRC_AT);
}

leat_err leat_atm_task_cell_decode(const uint8_t *buf, size_t len, struct leat_atm_task_cell *out,
                                   size_t *fault_at)
{
    if (len < LEAT_ATM_TASK_CELL_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > LEAT_ATM_TASK_CELL_LEN)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_TASK_CELL_LEN, fault_at);
    if (buf[1] & ZERO_BITS) return leat_fault(LEAT_ERR_RESERVED, 1, fault_at);
    for (size_t at = ZERO_AT; at < TYPE_AT; at++)
        if (buf[at] != 0) return leat_fault(LEAT_ERR_RESERVED, at, fault_at);
    if (crc_of(buf) != leat_get_be16(buf + CRC_AT))
        return leat_fault(LEAT_ERR_CHECKSUM, CRC_AT, fault_at);
    const uint16_t types = leat_get_be16(buf + TYPE_AT), flag = leat_get_be16(buf + FLAG_AT);
    const uint16_t type = types & ((1 << TYPE_BITS) - 1);
    if (!leat_atm_task_type_known(type)) return leat_fault(LEAT_ERR_TYPE, TYPE_AT, fault_at);
    if (!flag_known(type, flag)) return leat_fault(LEAT_ERR_RESERVED, FLAG_AT, fault_at);

    out->vpi = leat_get_be16(buf + VPI_AT) >> VPI;
    out->type = (enum leat_atm_task_type)type;
    out->flag = flag;
    out->sequence = (uint32_t)(types >> TYPE_BITS) << SEQUENCE_BITS |
                    leat_get_be16(buf + SEQUENCE_AT);
    out->source = leat_get_be16(buf + SOURCE_AT);
    out->destination = leat_get_be16(buf + DESTINATION_AT);
    memcpy(out->payload, buf + PAYLOAD_AT, sizeof out->payload);
    return LEAT_ERR_OK;
}

leat_err leat_atm_task_cell_encode(const struct leat_atm_task_cell *cell, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATM_TASK_CELL_LEN) return LEAT_ERR_SPACE;
    if (!leat_fits(cell->vpi, VPI_BITS) || cell->sequence > LEAT_ATM_TASK_SEQUENCE_MAX)
        return LEAT_ERR_RANGE;
    if (!leat_atm_task_type_known((unsigned)cell->type)) return LEAT_ERR_TYPE;
    if (!flag_known(cell->type, cell->flag)) return LEAT_ERR_RESERVED;

    leat_put_be16(buf + VPI_AT, (uint16_t)(cell->vpi << VPI));
    memset(buf + ZERO_AT, 0, TYPE_AT - ZERO_AT);
    leat_put_be16(buf + TYPE_AT,
                  (uint16_t)(cell->sequence >> SEQUENCE_BITS << TYPE_BITS | (uint32_t)cell->type));
    leat_put_be16(buf + FLAG_AT, cell->flag);
    leat_put_be16(buf + SEQUENCE_AT, (uint16_t)cell->sequence);
    leat_put_be16(buf + SOURCE_AT, cell->source);
    leat_put_be16(buf + DESTINATION_AT, cell->destination);
    memcpy(buf + PAYLOAD_AT, cell->payload, sizeof cell->payload);
    leat_put_be16(buf + CRC_AT, crc_of(buf));
    return LEAT_ERR_OK;
}

leat_err leat_atm_task_message_decode(const uint8_t *buf, size_t len,
                                      struct leat_atm_task_message *out, size_t *fault_at)
{
    if (len < LEAT_ATM_TASK_MESSAGE_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    for (size_t i = 0; i < LEAT_ATM_TASK_NAME_COUNT; i++)
        out->name[i] = leat_get_be32(buf + NAME_AT + i * WORD_LEN);
    out->instance = leat_get_be32(buf + INSTANCE_AT);
    out->id = leat_get_be32(buf + ID_AT);
    return LEAT_ERR_OK;
}

leat_err leat_atm_task_message_encode(const struct leat_atm_task_message *message, uint8_t *buf,
                                      size_t cap)
{
    if (cap < LEAT_ATM_TASK_MESSAGE_LEN) return LEAT_ERR_SPACE;
    for (size_t i = 0; i < LEAT_ATM_TASK_NAME_COUNT; i++)
        leat_put_be32(buf + NAME_AT + i * WORD_LEN, message->name[i]);
    leat_put_be32(buf + INSTANCE_AT, message->instance);
    leat_put_be32(buf + ID_AT, message->id);
    return LEAT_ERR_OK;
}
