#include "poets_host.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <string.h>

#define MAGIC UINT32_C(0x314d5250) /* "PRM1" */

enum { FLAG_CONTROL = 1 };
enum { TASK_AT = 4, NREC_AT = 6, SRC_RANK_AT = 8, SEQ_AT = 12, EPOCH_AT = 16 };
enum { NFLIT_AT = 4, FLAGS_AT = 5, ZERO_AT = 6 }; /* in a record */
enum { PACKET_AT = 4, OCTET_AT = 4, SW_ADDR_AT = 4, NAME_AT = 8 };

/* Records of fixed length: neither shorter nor longer. */
static leat_err check_len(size_t len, size_t want, size_t *fault_at)
{
    if (len < want) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > want) return leat_fault(LEAT_ERR_LENGTH, want, fault_at);
    return LEAT_ERR_OK;
}

leat_err leat_poets_p_addr_decode(const uint8_t *buf, size_t len, struct leat_poets_p_addr *out,
                                  size_t *fault_at)
{
    const leat_err err = check_len(len, LEAT_POETS_P_ADDR_LEN, fault_at);
    if (err) return err;
    out->hw_addr = leat_get_le32(buf);
    memcpy(out->packet, buf + PACKET_AT, sizeof out->packet);
    return LEAT_ERR_OK;
}

leat_err leat_poets_p_addr_encode(const struct leat_poets_p_addr *addr, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_POETS_P_ADDR_LEN) return LEAT_ERR_SPACE;
    leat_put_le32(buf, addr->hw_addr);
    memcpy(buf + PACKET_AT, addr->packet, sizeof addr->packet);
    return LEAT_ERR_OK;
}

leat_err leat_poets_p_debug_decode(const uint8_t *buf, size_t len, struct leat_poets_p_debug *out,
                                   size_t *fault_at)
{
    const leat_err err = check_len(len, LEAT_POETS_P_DEBUG_LEN, fault_at);
    if (err) return err;
    out->origin = leat_get_le32(buf);
    out->octet = buf[OCTET_AT];
    return LEAT_ERR_OK;
}

leat_err leat_poets_p_debug_encode(const struct leat_poets_p_debug *debug, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_POETS_P_DEBUG_LEN) return LEAT_ERR_SPACE;
    leat_put_le32(buf, debug->origin);
    buf[OCTET_AT] = debug->octet;
    return LEAT_ERR_OK;
}

/* Up to the first NUL, at most max. */
static size_t name_len(const void *name, size_t max)
{
    const uint8_t *p = name;
    size_t n = 0;
    while (n < max && p[n])
        n++;
    return n;
}

bool leat_poets_entry_set_name(struct leat_poets_entry *entry, const char *name, size_t len)
{
    const size_t whole = name_len(name, len);
    const size_t kept = whole < LEAT_POETS_NAME_LEN ? whole : LEAT_POETS_NAME_LEN - 1;
    memcpy(entry->name, name, kept);
    memset(entry->name + kept, 0, LEAT_POETS_NAME_LEN - kept);
    return kept == whole;
}

leat_err leat_poets_entry_decode(const uint8_t *buf, size_t len, struct leat_poets_entry *out,
                                 size_t *fault_at)
{
    const leat_err err = check_len(len, LEAT_POETS_ENTRY_LEN, fault_at);
    if (err) return err;
    const size_t n = name_len(buf + NAME_AT, LEAT_POETS_NAME_LEN);
    if (n == LEAT_POETS_NAME_LEN) return leat_fault(LEAT_ERR_SYNTAX, NAME_AT, fault_at);
    out->hw_addr = leat_get_le32(buf);
    out->sw_addr = leat_get_le32(buf + SW_ADDR_AT);
    memcpy(out->name, buf + NAME_AT, n);
    memset(out->name + n, 0, LEAT_POETS_NAME_LEN - n);
    return LEAT_ERR_OK;
}

leat_err leat_poets_entry_encode(const struct leat_poets_entry *entry, uint8_t *buf, size_t cap)
{
    const size_t n = name_len(entry->name, LEAT_POETS_NAME_LEN);
    if (n == LEAT_POETS_NAME_LEN) return LEAT_ERR_SYNTAX;
    if (cap < LEAT_POETS_ENTRY_LEN) return LEAT_ERR_SPACE;
    leat_put_le32(buf, entry->hw_addr);
    leat_put_le32(buf + SW_ADDR_AT, entry->sw_addr);
    memcpy(buf + NAME_AT, entry->name, n);
    memset(buf + NAME_AT + n, 0, LEAT_POETS_NAME_LEN - n);
    return LEAT_ERR_OK;
}

/* ---- the frame between ranks ---- */

/* One record of buf[at..len); *next is where it ends. */
static leat_err record_decode(const uint8_t *buf, size_t at, size_t len,
                              struct leat_poets_record *out, size_t *next, size_t *fault_at)
{
    if (len - at < LEAT_POETS_RECORD_HEADER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    const uint8_t *r = buf + at;
    const unsigned nflit = r[NFLIT_AT];
    if (nflit < 1 || nflit > LEAT_POETS_NFLIT_MAX)
        return leat_fault(LEAT_ERR_POETS_FLITS, at + NFLIT_AT, fault_at);
    if (r[FLAGS_AT] > FLAG_CONTROL) return leat_fault(LEAT_ERR_RESERVED, at + FLAGS_AT, fault_at);
    if (leat_get_le16(r + ZERO_AT)) return leat_fault(LEAT_ERR_RESERVED, at + ZERO_AT, fault_at);
    const size_t whole = LEAT_POETS_RECORD_HEADER_LEN + nflit * LEAT_POETS_FLIT_LEN;
    if (len - at < whole) return leat_fault(LEAT_ERR_SHORT, len, fault_at);

    *out = (struct leat_poets_record){
        .hw_addr = leat_get_le32(r),
        .nflit = (uint8_t)nflit,
        .control = r[FLAGS_AT] == FLAG_CONTROL,
        .packet = r + LEAT_POETS_RECORD_HEADER_LEN,
    };
    *next = at + whole;
    return LEAT_ERR_OK;
}

leat_err leat_poets_frame_decode(const uint8_t *buf, size_t len, struct leat_poets_frame *out,
                                 size_t *fault_at)
{
    struct leat_poets_record record;
    size_t at = LEAT_POETS_FRAME_HEADER_LEN;

    if (len < LEAT_POETS_FRAME_HEADER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_get_le32(buf) != MAGIC) return leat_fault(LEAT_ERR_MAGIC, 0, fault_at);
    if (len > LEAT_POETS_FRAME_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_POETS_FRAME_LEN_MAX, fault_at);
    const unsigned count = leat_get_le16(buf + NREC_AT);
    for (unsigned i = 0; i < count; i++) {
        const leat_err err = record_decode(buf, at, len, &record, &at, fault_at);
        if (err) return err;
    }
    if (at < len) return leat_fault(LEAT_ERR_LENGTH, at, fault_at);

    *out = (struct leat_poets_frame){
        .task = leat_get_le16(buf + TASK_AT),
        .record_count = (uint16_t)count,
        .src_rank = leat_get_le32(buf + SRC_RANK_AT),
        .seq = leat_get_le32(buf + SEQ_AT),
        .epoch = leat_get_le64(buf + EPOCH_AT),
    };
    return LEAT_ERR_OK;
}

void leat_poets_frame_cursor_init(struct leat_poets_frame_cursor *c, const uint8_t *buf, size_t len)
{
    const bool header = len >= LEAT_POETS_FRAME_HEADER_LEN;
    *c = (struct leat_poets_frame_cursor){
        .buf = buf,
        .at = header ? LEAT_POETS_FRAME_HEADER_LEN : len,
        .len = len,
        .left = header ? leat_get_le16(buf + NREC_AT) : 0,
    };
}

bool leat_poets_frame_next(struct leat_poets_frame_cursor *c, struct leat_poets_record *out)
{
    if (!c->left || record_decode(c->buf, c->at, c->len, out, &c->at, NULL)) return false;
    c->left--;
    return true;
}

leat_err leat_poets_frame_begin(struct leat_poets_frame_writer *w, uint8_t *buf, size_t cap,
                                const struct leat_poets_frame *frame)
{
    if (cap < LEAT_POETS_FRAME_HEADER_LEN) return LEAT_ERR_SPACE;
    leat_put_le32(buf, MAGIC);
    leat_put_le16(buf + TASK_AT, frame->task);
    leat_put_le16(buf + NREC_AT, 0);
    leat_put_le32(buf + SRC_RANK_AT, frame->src_rank);
    leat_put_le32(buf + SEQ_AT, frame->seq);
    leat_put_le64(buf + EPOCH_AT, frame->epoch);
    *w = (struct leat_poets_frame_writer){
        .buf = buf,
        .cap = cap < LEAT_POETS_FRAME_LEN_MAX ? cap : LEAT_POETS_FRAME_LEN_MAX,
        .len = LEAT_POETS_FRAME_HEADER_LEN,
    };
    return LEAT_ERR_OK;
}

leat_err leat_poets_frame_add(struct leat_poets_frame_writer *w,
                              const struct leat_poets_record *record)
{
    if (record->nflit < 1 || record->nflit > LEAT_POETS_NFLIT_MAX) return LEAT_ERR_POETS_FLITS;
    const size_t packet_len = (size_t)record->nflit * LEAT_POETS_FLIT_LEN;
    if (w->cap - w->len < LEAT_POETS_RECORD_HEADER_LEN + packet_len) return LEAT_ERR_FULL;

    uint8_t *r = w->buf + w->len;
    leat_put_le32(r, record->hw_addr);
    r[NFLIT_AT] = record->nflit;
    r[FLAGS_AT] = record->control ? FLAG_CONTROL : 0;
    leat_put_le16(r + ZERO_AT, 0);
    memcpy(r + LEAT_POETS_RECORD_HEADER_LEN, record->packet, packet_len);
    w->len += LEAT_POETS_RECORD_HEADER_LEN + packet_len;
    leat_put_le16(w->buf + NREC_AT, (uint16_t)++w->record_count); /* 16 KiB hold 682 at most */
    return LEAT_ERR_OK;
}

/* ---- the hardware address ---- */

const struct leat_poets_hw_format leat_poets_hw_tinsel = { { 3, 3, 2, 2, 2, 4 } };

static unsigned width_sum(const struct leat_poets_hw_format *format)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < LEAT_POETS_HW_PART_COUNT; i++)
        sum += format->width[i];
    return sum;
}

leat_err leat_poets_hw_pack(const struct leat_poets_hw_format *format,
                            const struct leat_poets_hw *hw, uint32_t *hw_addr)
{
    uint32_t addr = 0;
    if (width_sum(format) > LEAT_POETS_HW_WIDTH_MAX) return LEAT_ERR_RANGE;
    for (unsigned i = 0; i < LEAT_POETS_HW_PART_COUNT; i++) {
        if (!leat_fits(hw->part[i], format->width[i])) return LEAT_ERR_RANGE;
        addr = addr << format->width[i] | hw->part[i];
    }
    *hw_addr = addr;
    return LEAT_ERR_OK;
}

leat_err leat_poets_hw_unpack(const struct leat_poets_hw_format *format, uint32_t hw_addr,
                              struct leat_poets_hw *hw)
{
    const unsigned sum = width_sum(format);
    if (sum > LEAT_POETS_HW_WIDTH_MAX || !leat_fits(hw_addr, sum)) return LEAT_ERR_RANGE;
    for (unsigned i = LEAT_POETS_HW_PART_COUNT; i-- > 0;) {
        hw->part[i] = (uint32_t)leat_bits(hw_addr, 0, format->width[i]);
        hw_addr >>= format->width[i];
    }
    return LEAT_ERR_OK;
}

leat_err leat_poets_hw_host(const struct leat_poets_hw_format *format, uint32_t *hw_addr)
{
    const unsigned sum = width_sum(format);
    if (sum > LEAT_POETS_HW_WIDTH_MAX) return LEAT_ERR_RANGE;
    *hw_addr = UINT32_C(1) << (sum + 1);
    return LEAT_ERR_OK;
}
