/*
 * Property: whatever decodes as a CPCS-PDU encodes to octets of the same meaning (the target
 * corrects its CRC first). Then the input is a script for the engines: what is delivered was sent,
 * bounds hold, and bursts give the same result as single cells.
 */
#include "leat_bytes.h"
#include <leat/atm.h>
#include <leat/crc.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { PDU_MAX = 100, GAP = 50, CELL = LEAT_ATM_CELL_LEN };

static void try_pdu(const uint8_t *data, size_t len)
{
    static uint8_t octets[1024], back[1024];
    struct leat_atm_aal5_pdu a, b;
    size_t back_len = 0;
    if (len < 48 || len > sizeof octets) {
        if (len < 48 && leat_atm_aal5_pdu_decode(data, len, &a, NULL) != LEAT_ERR_SHORT) abort();
        return;
    }
    memcpy(octets, data, len);
    leat_put_be32(octets + len - 4, leat_crc32_msb(0, octets, len - 4));
    if (leat_atm_aal5_pdu_decode(octets, len, &a, NULL) != LEAT_ERR_OK) return;
    if (leat_atm_aal5_pdu_encode(&a, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != len) abort();
    if (leat_atm_aal5_pdu_decode(back, back_len, &b, NULL) != LEAT_ERR_OK) abort();
    if (a.uu != b.uu || a.cpi != b.cpi || a.payload_len != b.payload_len) abort();
    if (memcmp(a.payload, b.payload, a.payload_len) != 0) abort();
}

static void check(leat_time now, const struct leat_atm_aal5_out *one,
                  const struct leat_atm_aal5_out *burst)
{
    if (one->what != burst->what || one->wake_at != burst->wake_at) abort();
    if (one->wake_at < now) abort();
    if (one->what == LEAT_ATM_AAL5_DROP && one->reason != burst->reason) abort();
    if (one->what != LEAT_ATM_AAL5_DELIVER) return;
    const struct leat_atm_aal5_pdu *p = &one->pdu, *q = &burst->pdu;
    if (p->payload_len > PDU_MAX || p->payload_len != q->payload_len) abort();
    if (memcmp(p->payload, q->payload, p->payload_len) != 0) abort();
    for (size_t i = 0; i < p->payload_len; i++)
        if (p->payload[i] != (uint8_t)p->payload_len) abort();
}

static void try_engines(const uint8_t *data, size_t len)
{
    static alignas(max_align_t) unsigned char memory[2][512];
    const struct leat_atm_aal5_config config = { PDU_MAX, GAP };
    const struct leat_atm_cell like = { .vpi = 1, .vci = 2 };
    struct leat_atm_aal5 *one = NULL, *burst = NULL;
    struct leat_atm_aal5_sender s;
    uint8_t payload[128], arrived[CELL], cell[CELL] = { 0, 0, 0, 0, 0x55 };
    leat_time now = 0;

    if (leat_atm_aal5_init(memory[0], sizeof memory[0], &config, &one) != LEAT_ERR_OK) abort();
    if (leat_atm_aal5_init(memory[1], sizeof memory[1], &config, &burst) != LEAT_ERR_OK) abort();
    if (leat_atm_aal5_sender_init(&s, &like) != LEAT_ERR_OK) abort();
    for (size_t i = 0; i < len; i++) {
        struct leat_atm_aal5_out a, b;
        struct leat_atm_aal5_in in = { LEAT_ATM_AAL5_TIMER, 0, NULL };
        now += data[i] >> 3;
        if ((data[i] & 7) == 0) {
            leat_atm_aal5_step(one, now, &in, &a);
            leat_atm_aal5_step(burst, now, &in, &b);
            check(now, &a, &b);
            continue;
        }
        if ((data[i] & 7) != 1 && !leat_atm_aal5_sender_cells(&s, cell, 1)) {
            const size_t n = 1u + data[i] / 2u;
            memset(payload, (int)n, n);
            leat_atm_aal5_sender_begin(&s, &(struct leat_atm_aal5_pdu){ 0, 0, payload, n });
            leat_atm_aal5_sender_cells(&s, cell, 1);
        }
        if ((data[i] & 7) == 2) continue; /* lost */
        memcpy(arrived, cell, CELL);
        if ((data[i] & 7) == 3) arrived[5 + i % 48] ^= 1;
        in = (struct leat_atm_aal5_in){ LEAT_ATM_AAL5_CELL, arrived[3] >> 1 & 7, arrived + 5 };
        leat_atm_aal5_step(one, now, &in, &a);
        if (leat_atm_aal5_step_cells(burst, now, arrived, 1, &b) != 1) abort();
        check(now, &a, &b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_pdu(data, len);
    try_engines(data, len);
    return 0;
}
