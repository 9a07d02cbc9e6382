/*
 * Property: whatever decodes, in any encapsulation and as ATMARP, encodes to the same octets; and
 * what is shown of it builds the same octets.
 */
#include "atm_arp.h"
#include "atm_ip.h"
#include "atm_text.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { LEN_MAX = 4096 };

static uint8_t back[LEN_MAX];

static void rebuild(const struct leat_format *format, const uint8_t *data, size_t len)
{
    static alignas(max_align_t) uint8_t memory[1 << 16];
    static char json[1 << 14];
    static struct leat_fields f;
    struct leat_text text;
    struct leat_arena arena;
    struct leat_tree *tree;
    size_t back_len = 0, at = len + 1;
    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (format->show(data, len, &f, &at)) {
        if (at > len) abort();
        return;
    }
    if (leat_fields_finish(&f) || text.overflowed) abort();
    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, json, text.len, &tree, NULL)) abort();
    leat_fields_init_read(&f, tree, &arena);
    if (format->build(&f, back, sizeof back, &back_len)) abort();
    if (leat_fields_finish(&f)) abort();
    if (back_len != len || memcmp(back, data, len) != 0) abort();
}

static void check(const uint8_t *data, size_t len)
{
    for (unsigned mux = 0; mux < 4; mux++) {
        struct leat_atm_ip_pdu pdu;
        size_t back_len = 0;
        if (leat_atm_ip_decode(data, len, (enum leat_atm_ip_mux)mux, &pdu, NULL)) continue;
        if (leat_atm_ip_encode(&pdu, (enum leat_atm_ip_mux)mux, back, sizeof back, &back_len))
            abort();
        if (back_len != len || memcmp(back, data, len) != 0) abort();
    }
    struct leat_atm_arp_packet packet;
    size_t back_len = 0;
    if (!leat_atm_arp_decode(data, len, &packet, NULL)) {
        if (leat_atm_arp_encode(&packet, back, sizeof back, &back_len)) abort();
        if (back_len != len || memcmp(back, data, len) != 0) abort();
    }
    rebuild(&leat_atmllc_format, data, len);
    rebuild(&leat_atmvcmux_format, data, len);
    rebuild(&leat_atmarp_format, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t head[] = { 0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 1, 0, 0 };
    static uint8_t sealed[LEN_MAX];
    if (len > LEN_MAX - sizeof head - LEAT_ATM_IP_FCS_LEN) return 0;
    check(data, len);
    /* No fuzzer guesses an FCS. */
    memcpy(sealed, head, sizeof head);
    if (len) memcpy(sealed + sizeof head, data, len);
    leat_put_le32(sealed + sizeof head + len, leat_crc32(0, data, len));
    check(sealed, sizeof head + len + LEAT_ATM_IP_FCS_LEN);
    check(sealed + LEAT_ATM_IP_LLC_LEN, LEAT_ATM_IP_PAD_LEN + len + LEAT_ATM_IP_FCS_LEN);
    return 0;
}
