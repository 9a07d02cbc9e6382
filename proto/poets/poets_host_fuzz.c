/*
 * A frame that decodes is written again, record by record, to the same octets; one that does not
 * still bounds its cursor. Entries keep their meaning; addresses unpack and pack to themselves.
 */
#include "leat_bytes.h"
#include "poets_host.h"
#include <stdlib.h>
#include <string.h>

static void try_frame(const uint8_t *data, size_t len)
{
    static uint8_t back[LEAT_POETS_FRAME_LEN_MAX];
    struct leat_poets_frame frame = { 0 };
    struct leat_poets_frame_cursor cursor;
    struct leat_poets_frame_writer writer;
    struct leat_poets_record record;
    unsigned records = 0;
    size_t at = 0;

    const leat_err err = leat_poets_frame_decode(data, len, &frame, &at);
    if (err && at > len) abort();
    if (leat_poets_frame_begin(&writer, back, sizeof back, &frame)) abort();
    leat_poets_frame_cursor_init(&cursor, data, len);
    for (; leat_poets_frame_next(&cursor, &record); records++) {
        if ((size_t)(data + len - record.packet) < 16u * record.nflit) abort();
        if (leat_poets_frame_add(&writer, &record)) abort();
    }
    if (err) return;
    if (records != frame.record_count || cursor.left) abort();
    if (writer.len != len || memcmp(back, data, len) != 0) abort();
}

static void try_entry(const uint8_t *data, size_t len)
{
    struct leat_poets_entry entry, again;
    uint8_t back[LEAT_POETS_ENTRY_LEN];
    if (leat_poets_entry_decode(data, len, &entry, NULL)) return;
    if (leat_poets_entry_encode(&entry, back, sizeof back)) abort();
    if (leat_poets_entry_decode(back, sizeof back, &again, NULL)) abort();
    if (memcmp(&entry, &again, sizeof entry) != 0) abort();
}

static void try_address(const uint8_t *data, size_t len)
{
    struct leat_poets_hw_format format;
    struct leat_poets_hw hw;
    uint32_t back = 0, host = 0;
    if (len < sizeof format.width + 4) return;
    memcpy(format.width, data, sizeof format.width);
    const uint32_t addr = leat_get_le32(data + sizeof format.width);
    if (leat_poets_hw_unpack(&format, addr, &hw)) return;
    if (leat_poets_hw_pack(&format, &hw, &back) || back != addr) abort();
    if (leat_poets_hw_host(&format, &host) || host <= addr) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_frame(data, len);
    try_entry(data, len);
    try_address(data, len);
    return 0;
}
