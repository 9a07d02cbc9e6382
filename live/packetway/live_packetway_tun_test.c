/* IP through PacketWay: which node a packet is for, and the reply to one that is too long. */
#include "live_packetway_san.h"
#include "live_packetway_tun.h"
#include "tap.h"
#include <string.h>

static char why[PACKETWAY_WHY_LEN];

static void the_longest_prefix_says_which_node(void)
{
    static struct packetway_tun tun;
    static const uint8_t a[] = { 10, 9, 0, 3 }, b[] = { 10, 9, 0, 130 }, c[] = { 10, 9, 1, 3 };
    static const uint8_t six[16] = { 0xfd, [15] = 3 };
    tun.fd = -1;
    OK(packetway_tun_way(&tun, "10.9.0.0/24=0x301", why));
    OK(packetway_tun_way(&tun, "10.9.0.128/25=0x302", why));
    OK(packetway_tun_way(&tun, "10.9.0.3=0x303", why));
    OK(packetway_tun_way(&tun, "fd00::/8=4", why));
    EQ(packetway_tun_node(&tun, a, 4), 0x303);
    EQ(packetway_tun_node(&tun, b, 4), 0x302);
    EQ(packetway_tun_node(&tun, c, 4), 0);
    EQ(packetway_tun_node(&tun, six, 16), 4);
    static const char *const bad[] = { "",           "10.9.0.3",    "10.9.0=1",     "10.9.0.0/33=1",
                                       "10.9.0.3=0", "10.9.0.3=1x", "fd00::/129=1", "10.9.0.3/=1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!packetway_tun_way(&tun, bad[i], why) && strstr(why, "expected ADDRESS") != NULL);
    for (int i = 4; i < PACKETWAY_WAYS_MAX; i++)
        OK(packetway_tun_way(&tun, "::1=1", why));
    OK(!packetway_tun_way(&tun, "::1=1", why) && strstr(why, "more than") != NULL);
    OK(!packetway_tun_open(&tun, "a-name-that-is-too-long", 100, why));
    packetway_tun_close(&tun);
}

/* Octets by hand; the sums are those that Python's checksum of the same octets gives. */
static void a_packet_that_is_too_long_is_reported(void)
{
    static const uint8_t four[] = { 0x45, 0,  5, 0xDC, 0, 1, 0x40, 0,    64,   6, 0, 0, 10, 9, 0,
                                    1,    10, 9, 0,    3, 4, 0,    0x13, 0x89, 1, 2, 3, 4,  5, 6 };
    static const uint8_t head[] = { 0x45, 0, 0,  56, 0, 0, 0, 0, 64,   1,    0x66, 0xB0, 10, 9,
                                    0,    3, 10, 9,  0, 1, 3, 4, 0xFF, 0xA2, 0,    0,    2,  0xD0 };
    uint8_t out[PACKETWAY_TOO_LONG_MAX], six[48] = { 0x60, 0, 0, 0, 5, 0, 6, 64, 0xFD, 9 };
    EQ(packetway_tun_too_long(four, sizeof four, 720, out), 56);
    OK(memcmp(out, head, sizeof head) == 0 && memcmp(out + sizeof head, four, 28) == 0);
    six[23] = 1;
    six[39] = 3;
    EQ(packetway_tun_too_long(six, sizeof six, 1280, out), 96);
    OK(out[6] == 58 && out[40] == 2 && out[46] == 5 && out[47] == 0); /* type, 1280 */
    OK(memcmp(out + 8, six + 24, 16) == 0 && memcmp(out + 24, six + 8, 16) == 0);
    uint32_t sum = 56 + 58; /* RFC 4443, 2.3: with the pseudo-header it comes to all ones */
    for (size_t i = 8; i < 96; i += 2)
        sum += (uint32_t)out[i] << 8 | out[i + 1];
    EQ((sum & 0xFFFF) + (sum >> 16), 0xFFFF);
    const uint8_t about_error[28] = { 0x45, [9] = 1, [20] = 3 };
    EQ(packetway_tun_too_long(about_error, sizeof about_error, 720, out), 0);
    EQ(packetway_tun_too_long(four, 19, 720, out), 0);
    EQ(packetway_tun_too_long(head + 4, 24, 720, out), 0); /* neither of both */
}

TAP_MAIN(T(the_longest_prefix_says_which_node), T(a_packet_that_is_too_long_is_reported))
