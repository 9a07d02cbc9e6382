#include "live_aton_mailbox.h"
#include <string.h>

/* The header of a record, as in linux/bpf.h: its length, with these bits; then an unused word. */
enum { HEAD_LEN = 8 };
#define BUSY      (UINT32_C(1) << 31) /* still being written */
#define DISCARDED (UINT32_C(1) << 30)

static size_t index_of(unsigned long position)
{
    return position & (ATON_MAILBOX_LEN - 1);
}

/* The size of a record: its header, and whole words of 8 octets. */
static unsigned long room_of(uint32_t len)
{
    return (HEAD_LEN + (unsigned long)len + 7) & ~7ul;
}

bool aton_mailbox_put(const struct aton_mailbox *m, const uint8_t *record, uint32_t len)
{
    const unsigned long at = *m->written_at, room = room_of(len);
    const unsigned long read_at = __atomic_load_n(m->read_at, __ATOMIC_ACQUIRE);
    if (at + room - read_at >= ATON_MAILBOX_LEN) return false; /* as the kernel has it */
    const size_t from = index_of(at + HEAD_LEN), to_end = ATON_MAILBOX_LEN - from;
    const size_t first = len < to_end ? len : to_end;
    uint8_t *octets = (uint8_t *)m->words;
    memcpy(octets + from, record, first);
    memcpy(octets, record + first, len - first);
    m->words[index_of(at) / 4] = len;
    __atomic_store_n(m->written_at, at + room, __ATOMIC_RELEASE);
    return true;
}

bool aton_mailbox_is_empty(const struct aton_mailbox *m)
{
    return __atomic_load_n(m->read_at, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(m->written_at, __ATOMIC_ACQUIRE);
}

/* Moves the reading position over a record. False: another reader was first. */
static bool pass_over(const struct aton_mailbox *m, unsigned long at, uint32_t len)
{
    return __atomic_compare_exchange_n(m->read_at, &at, at + room_of(len), false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void copy_out(const struct aton_mailbox *m, unsigned long at, uint8_t *record, uint32_t len)
{
    const uint8_t *octets = (const uint8_t *)m->words;
    const size_t from = index_of(at + HEAD_LEN), to_end = ATON_MAILBOX_LEN - from;
    const size_t first = len < to_end ? len : to_end;
    memcpy(record, octets + from, first);
    memcpy(record + first, octets, len - first);
}

/*
 * A record is copied first and consumed afterwards. If another reader was first, it may have been
 * overwritten meanwhile: then read_at has moved, and the copy is discarded.
 */
enum aton_mail aton_mailbox_take(const struct aton_mailbox *m, uint16_t *from, uint8_t *octets,
                                 size_t cap, size_t *len)
{
    uint8_t record[ATON_RECORD_MAX];
    for (;;) {
        const unsigned long at = __atomic_load_n(m->read_at, __ATOMIC_ACQUIRE);
        if (at == __atomic_load_n(m->written_at, __ATOMIC_ACQUIRE)) return ATON_MAIL_NONE;
        const uint32_t head = __atomic_load_n(&m->words[index_of(at) / 4], __ATOMIC_ACQUIRE);
        const uint32_t record_len = head & ~(BUSY | DISCARDED);
        const size_t octets_len = record_len - ATON_RECORD_HEAD_LEN;
        if (head & BUSY) return ATON_MAIL_NONE;
        if (head & DISCARDED || record_len < ATON_RECORD_HEAD_LEN || record_len > ATON_RECORD_MAX) {
            pass_over(m, at, record_len); /* not ours, or already overwritten */
            continue;
        }
        copy_out(m, at, record, record_len);
        if (octets_len > cap && __atomic_load_n(m->read_at, __ATOMIC_ACQUIRE) == at) {
            *len = octets_len;
            return ATON_MAIL_LONG;
        }
        if (octets_len > cap || !pass_over(m, at, record_len)) continue;
        *from = leat_get_be16(record);
        *len = octets_len;
        memcpy(octets, record + ATON_RECORD_HEAD_LEN, octets_len);
        return ATON_MAIL_TAKEN;
    }
}
