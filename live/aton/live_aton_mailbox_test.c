/*
 * A mailbox compared with a plain queue, with the records of linux/bpf.h, and with several
 * concurrent readers.
 */
#include "live_aton_mailbox.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 3, MESSAGES = LEAT_ROUNDS / 10 };

struct memory {
    unsigned long read_at, written_at;
    uint32_t words[ATON_MAILBOX_LEN / 4];
    uint8_t taken[READERS][MESSAGES]; /* how often, by whom and by number */
    uint32_t spoilt;
};

static struct aton_mailbox mailbox_in(struct memory *m)
{
    return (struct aton_mailbox){ &m->read_at, &m->written_at, m->words, NULL, NULL };
}

static bool put(const struct aton_mailbox *mailbox, uint16_t from, const uint8_t *octets,
                uint16_t len)
{
    uint8_t record[ATON_RECORD_MAX];
    leat_put_be16(record, from);
    leat_put_be16(record + 2, len);
    memcpy(record + 4, octets, len);
    return aton_mailbox_put(mailbox, record, 4u + len);
}

/* A record is its length, a word, its octets, up to a multiple of 8. */
static void records_stand_as_the_kernel_writes_them(void)
{
    static struct memory m;
    const struct aton_mailbox mailbox = mailbox_in(&m);
    OK(aton_mailbox_is_empty(&mailbox));
    OK(put(&mailbox, 0x1234, (const uint8_t *)"hello", 5));
    EQ(m.written_at, 24);
    EQ(m.words[0], 9);
    EQ(m.words[1], 0);
    OK(memcmp(&m.words[2], "\x12\x34\0\5hello", 9) == 0);
    OK(!aton_mailbox_is_empty(&mailbox));
}

static void what_is_being_written_waits_and_what_was_discarded_is_passed_over(void)
{
    static struct memory m;
    const struct aton_mailbox mailbox = mailbox_in(&m);
    uint8_t octets[8];
    uint16_t from = 0;
    size_t len = 77;
    put(&mailbox, 1, (const uint8_t *)"one", 3);
    put(&mailbox, 2, (const uint8_t *)"two", 3);
    m.words[0] |= UINT32_C(1) << 31;
    EQ(aton_mailbox_take(&mailbox, &from, octets, 8, &len), ATON_MAIL_NONE);
    EQ(len, 77);
    m.words[0] ^= UINT32_C(3) << 30;
    EQ(aton_mailbox_take(&mailbox, &from, octets, 8, &len), ATON_MAIL_TAKEN);
    OK(from == 2 && len == 3 && memcmp(octets, "two", 3) == 0);
    EQ(aton_mailbox_take(&mailbox, &from, octets, 8, &len), ATON_MAIL_NONE);
}

static void a_message_that_is_too_long_stays(void)
{
    static struct memory m;
    const struct aton_mailbox mailbox = mailbox_in(&m);
    uint8_t octets[4];
    uint16_t from = 9;
    size_t len = 0;
    put(&mailbox, 1, (const uint8_t *)"four", 4);
    EQ(aton_mailbox_take(&mailbox, &from, octets, 3, &len), ATON_MAIL_LONG);
    OK(len == 4 && from == 9);
    EQ(aton_mailbox_take(&mailbox, &from, octets, 4, &len), ATON_MAIL_TAKEN);
    OK(len == 4 && from == 1 && memcmp(octets, "four", 4) == 0);
}

/* Any lengths, in any order of putting and taking, wrapping around many times. */
static void a_mailbox_is_a_queue_with_so_much_room(void)
{
    static struct memory m;
    static struct {
        uint16_t from, len;
        uint8_t octets[ATON_OCTETS_MAX];
    } model[ATON_MAILBOX_LEN / 16];
    const struct aton_mailbox mailbox = mailbox_in(&m);
    const uint32_t places = sizeof model / sizeof *model;
    uint32_t first = 0, count = 0, room = ATON_MAILBOX_LEN, refused = 0;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < MESSAGES && !tap_checks_failed; i++) {
        const bool puts = leat_random_below(&r, 100) < (i / 1000 % 2 ? 30u : 70u);
        if (puts) {
            const uint32_t place = (first + count) % places;
            const uint32_t most = leat_random_below(&r, 2) ? ATON_OCTETS_MAX : 20;
            const uint16_t len = (uint16_t)leat_random_below(&r, most + 1);
            const uint32_t takes = (8 + 4 + len + 7u) / 8 * 8;
            model[place].from = (uint16_t)leat_random_next(&r);
            model[place].len = len;
            leat_random_fill(&r, model[place].octets, len);
            EQ(put(&mailbox, model[place].from, model[place].octets, len), takes < room);
            refused += takes >= room;
            count += takes < room;
            room -= takes < room ? takes : 0;
        } else {
            uint8_t octets[ATON_OCTETS_MAX];
            uint16_t from = 0;
            size_t len = 0;
            EQ(aton_mailbox_take(&mailbox, &from, octets, sizeof octets, &len),
               count ? ATON_MAIL_TAKEN : ATON_MAIL_NONE);
            if (!count) continue;
            OK(from == model[first].from && len == model[first].len);
            OK(memcmp(octets, model[first].octets, len) == 0);
            room += (8 + 4 + model[first].len + 7u) / 8 * 8;
            first = (first + 1) % places;
            count--;
        }
    }
    OK(refused > 0);
}

/* Message i: its number, then octets derived from it. */
static uint16_t make(uint32_t number, uint8_t *octets)
{
    const uint16_t len = (uint16_t)(4 + number * 37 % 300);
    leat_put_be32(octets, number);
    for (uint16_t i = 4; i < len; i++)
        octets[i] = (uint8_t)(number + i);
    return len;
}

_Noreturn static void read_on(struct memory *m, int reader)
{
    const struct aton_mailbox mailbox = mailbox_in(m);
    uint8_t octets[ATON_OCTETS_MAX], want[ATON_OCTETS_MAX];
    for (;;) {
        uint16_t from;
        size_t len;
        if (aton_mailbox_take(&mailbox, &from, octets, sizeof octets, &len) != ATON_MAIL_TAKEN)
            continue;
        const uint32_t number = leat_get_be32(octets);
        if (number == UINT32_MAX) _exit(0);
        if (number >= MESSAGES || len != make(number, want) || memcmp(octets, want, len) != 0)
            __atomic_add_fetch(&m->spoilt, 1, __ATOMIC_RELAXED);
        else
            m->taken[reader][number]++;
    }
}

static void each_message_goes_to_one_of_several_readers(void)
{
    struct memory *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                            0);
    OK(m != MAP_FAILED);
    if (m == MAP_FAILED) return;
    const struct aton_mailbox mailbox = mailbox_in(m);
    pid_t reader[READERS];
    for (int i = 0; i < READERS; i++) {
        reader[i] = fork();
        if (reader[i] == 0) read_on(m, i);
    }
    uint8_t octets[ATON_OCTETS_MAX];
    for (uint32_t number = 0; number < MESSAGES; number++) {
        const uint16_t len = make(number, octets);
        while (!put(&mailbox, 1, octets, len)) {
        }
    }
    memset(octets, 0xff, 4);
    for (int i = 0; i < READERS; i++)
        while (!put(&mailbox, 1, octets, 4)) {
        }
    for (int i = 0; i < READERS; i++) {
        int status = -1;
        EQ(waitpid(reader[i], &status, 0), reader[i]);
        EQ(status, 0);
    }
    EQ(m->spoilt, 0);
    for (uint32_t number = 0; number < MESSAGES && !tap_checks_failed; number++) {
        int taken = 0;
        for (int i = 0; i < READERS; i++)
            taken += m->taken[i][number];
        EQ(taken, 1);
    }
    munmap(m, sizeof *m);
}

TAP_MAIN(T(records_stand_as_the_kernel_writes_them),
         T(what_is_being_written_waits_and_what_was_discarded_is_passed_over),
         T(a_message_that_is_too_long_stays), T(a_mailbox_is_a_queue_with_so_much_room),
         T(each_message_goes_to_one_of_several_readers))
