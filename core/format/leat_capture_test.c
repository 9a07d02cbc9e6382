#include "leat_bytes.h"
#include "tap.h"
#include <leat/capture.h>
#include <leat/random.h>
#include <string.h>

static uint8_t file[4096];
static struct leat_capture capture;

/* Reads a whole file; returns the number of packets, or minus the error. */
static int read_all(const uint8_t *p, size_t len, struct leat_capture_packet *last)
{
    int count = 0;
    leat_capture_init(&capture);
    for (size_t at = 0; at <= len;) {
        struct leat_capture_packet packet;
        bool found;
        size_t used, wanted = 0;
        const leat_err err = leat_capture_next(&capture, p + at, len - at, &packet, &found, &used,
                                               &wanted);
        if (err) return -(int)err;
        OK(used <= len - at);
        if (found) {
            OK(packet.octets >= p && packet.octets + packet.len <= p + len);
            *last = packet;
            count++;
        }
        if (!used && at < len) {
            OK(wanted > len - at);
            return -(int)LEAT_ERR_SHORT;
        }
        if (!used) break;
        at += used;
    }
    return count;
}

static size_t write_example(void)
{
    size_t len = leat_capture_put_section(file, sizeof file);
    len += leat_capture_put_interface(file + len, sizeof file - len, 149, "esp");
    len += leat_capture_put_interface(file + len, sizeof file - len, 151, "poets");
    len += leat_capture_put_packet(file + len, sizeof file - len, 1, UINT64_C(1234567890123456789),
                                   (const uint8_t *)"hello", 5);
    return len;
}

static void what_is_written_is_read_back(void)
{
    struct leat_capture_packet p;
    const size_t len = write_example();
    OK(leat_capture_recognise(file, len));
    EQ(read_all(file, len, &p), 1);
    EQ(p.link_type, 151);
    EQ(p.interface, 1);
    EQ(p.time_ns, 1234567890123456789);
    OK(p.len == 5 && p.original_len == 5 && memcmp(p.octets, "hello", 5) == 0);
}

static void sections_can_follow_each_other(void)
{
    struct leat_capture_packet p;
    const size_t len = write_example();
    memcpy(file + len, file, len);
    EQ(read_all(file, 2 * len, &p), 2);
}

static void old_pcap_is_read_in_both_orders_and_resolutions(void)
{
    for (int variant = 0; variant < 4; variant++) {
        const bool big = variant & 1, nano = variant & 2;
        const uint32_t numbers[] = {
            nano ? 0xa1b23c4d : 0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1, 7, 8, 3, 9
        };
        for (size_t i = 0; i < 10; i++)
            (big ? leat_put_be32 : leat_put_le32)(file + 4 * i, numbers[i]);
        memcpy(file + 40, "abc", 3);
        struct leat_capture_packet p;
        EQ(read_all(file, 43, &p), 1);
        EQ(p.link_type, 1);
        EQ(p.time_ns, 7000000000 + (nano ? 8 : 8000));
        EQ(p.len, 3);
        EQ(p.original_len, 9);
        for (size_t cut = 1; cut < 43; cut++)
            if (cut != 24) EQ(read_all(file, cut, &p), -(int)LEAT_ERR_SHORT);
    }
}

/* A big-endian section with a simple and an obsolete packet block, and time in 2^-10 s. */
static void the_other_packet_blocks_are_read(void)
{
    static const uint8_t ng[] = {
        0x0a, 0x0d, 0x0d, 0x0a, 0,    0,    0,    28,   0x1a, 0x2b, 0x3c, 0x4d, 0,   1,   0, 0,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    28,   0,   0,   0, 1,
        0,    0,    0,    32,   0,    147,  0,    0,    0,    0,    0,    2, /* snap length 2 */
        0,    9,    0,    1,    0x8a, 0,    0,    0,    0,    0,    0,    0,    0,   0,   0, 32,
        0,    0,    0,    3,    0,    0,    0,    20,   0,    0,    0,    9,    'x', 'y', 0, 0,
        0,    0,    0,    20,   0,    0,    0,    2,    0,    0,    0,    36,   0,   0,   0, 0,
        0,    0,    0,    0,    0,    0,    6,    0, /* 1536 / 1024 s */
        0,    0,    0,    1,    0,    0,    0,    1,    'z',  0,    0,    0,    0,   0,   0, 36,
    };
    struct leat_capture_packet p;
    EQ(read_all(ng, 80, &p), 1);
    OK(p.len == 2 && p.original_len == 9 && p.octets[1] == 'y');
    EQ(read_all(ng, sizeof ng, &p), 2);
    OK(p.len == 1 && p.octets[0] == 'z' && p.link_type == 147);
    EQ(p.time_ns, 1500000000);
}

static void damage_is_an_error(void)
{
    struct leat_capture_packet p;
    const size_t len = write_example();
    EQ(read_all((const uint8_t *)"GIF89a..", 8, &p), -(int)LEAT_ERR_MAGIC);
    OK(!leat_capture_recognise((const uint8_t *)"GIF", 3));
    file[8] ^= 1; /* byte-order magic */
    EQ(read_all(file, len, &p), -(int)LEAT_ERR_MAGIC);
    file[8] ^= 1;
    file[28 + 4] = 13; /* an interface block of 13 octets */
    EQ(read_all(file, len, &p), -(int)LEAT_ERR_LENGTH);
    write_example();
    leat_put_le32(file + 28 + 4, 0x7ffffffc);
    EQ(read_all(file, len, &p), -(int)LEAT_ERR_LENGTH);
    const size_t packet_at = write_example() - 40;
    file[packet_at + 8] = 9; /* interface 9 */
    EQ(read_all(file, len, &p), -(int)LEAT_ERR_FIELD);
    write_example();
    file[packet_at + 20] = 99; /* captured length beyond the block */
    EQ(read_all(file, len, &p), -(int)LEAT_ERR_LENGTH);
}

static void behind_a_damaged_block_the_next_can_be_read(void)
{
    size_t len = write_example(), used = 0, wanted = 0;
    const size_t packet_at = len - 40;
    struct leat_capture_packet p;
    bool found = false;
    memcpy(file + len, file + packet_at, 40);
    file[packet_at + 8] = 9; /* interface 9 */
    leat_capture_init(&capture);
    size_t at = 0;
    while (at < packet_at) {
        EQ(leat_capture_next(&capture, file + at, len + 40 - at, &p, &found, &used, &wanted),
           LEAT_ERR_OK);
        at += used;
    }
    EQ(leat_capture_next(&capture, file + at, len + 40 - at, &p, &found, &used, &wanted),
       LEAT_ERR_FIELD);
    EQ(used, 40);
    OK(!found);
    EQ(leat_capture_next(&capture, file + at + 40, 40, &p, &found, &used, &wanted), LEAT_ERR_OK);
    OK(found && p.len == 5);
}

static void any_cut_and_any_flip_is_survived(void)
{
    struct leat_capture_packet p;
    const size_t len = write_example();
    for (size_t cut = 1; cut < len; cut++)
        OK(read_all(file, cut, &p) <= 1);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        file[bit / 8] = (uint8_t)(file[bit / 8] ^ 1u << bit % 8);
        OK(read_all(file, len, &p) <= 1);
        file[bit / 8] = (uint8_t)(file[bit / 8] ^ 1u << bit % 8);
    }
}

static void writers_without_room_write_nothing(void)
{
    memset(file, 0xee, sizeof file);
    EQ(leat_capture_put_section(file, 27), 0);
    EQ(leat_capture_put_interface(file, 35, 1, "x"), 0);
    EQ(leat_capture_put_packet(file, 35, 0, 0, file + 100, 4), 0);
    EQ(leat_capture_put_packet(file, sizeof file, 0, 0, file, SIZE_MAX), 0);
    for (size_t i = 0; i < 64; i++)
        EQ(file[i], 0xee);
    EQ(leat_capture_put_packet(file, 36, 0, 0, file + 100, 4), 36);
}

TAP_MAIN(T(what_is_written_is_read_back), T(sections_can_follow_each_other),
         T(old_pcap_is_read_in_both_orders_and_resolutions), T(the_other_packet_blocks_are_read),
         T(damage_is_an_error), T(behind_a_damaged_block_the_next_can_be_read),
         T(any_cut_and_any_flip_is_survived), T(writers_without_room_write_nothing))
