/*
 * Whatever decodes must encode back to the same octets, and the verdict on its class must agree
 * with the one on its swAddr alone. So must instrumentation records, and the hash must not depend
 * on how the octets are cut.
 */
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "poets_instr.h"
#include "poets_wire.h"
#include <stdlib.h>
#include <string.h>

static void try_packet(const uint8_t *data, size_t len)
{
    struct leat_poets_packet packet;
    enum leat_poets_class c;
    uint8_t back[LEAT_POETS_PACKET_LEN_MAX];
    size_t back_len = 0, at = 0;

    const leat_err err = leat_poets_packet_decode(data, len, &packet, &at);
    if (err == LEAT_ERR_POETS_FLITS) return;
    if (leat_poets_swaddr_check(leat_get_le32(data), &c) != err) abort();
    if (err) {
        if (at >= LEAT_POETS_HEADER_LEN) abort();
        return;
    }
    if (packet.packet_class != c) abort();
    if (packet.nflit != leat_poets_nflit(packet.payload_len)) abort();
    if (leat_poets_packet_encode(&packet, back, sizeof back, &back_len)) abort();
    if (back_len != len || memcmp(back, data, len) != 0) abort();
}

static void try_instr(const uint8_t *data, size_t len)
{
    struct leat_poets_instr instr;
    uint8_t back[LEAT_POETS_INSTR_LEN_MAX];
    size_t back_len = 0;

    if (leat_poets_instr_decode(data, len, &instr, NULL)) return;
    if (leat_poets_instr_encode(&instr, back, sizeof back, &back_len)) abort();
    if (back_len != len || memcmp(back, data, len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_packet(data, len);
    try_instr(data, len);
    const size_t cut = len ? data[0] % len : 0;
    const uint64_t head = leat_fnv(LEAT_FNV_EMPTY, data, cut);
    if (leat_fnv(head, data + cut, len - cut) != leat_fnv(LEAT_FNV_EMPTY, data, len)) abort();
    return 0;
}
