#include "atm_aal1_segment.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static struct leat_atm_aal1_segment fresh(uint32_t block_len)
{
    struct leat_atm_aal1_segment s;
    EQ(leat_atm_aal1_segment_init(&s, block_len), LEAT_ERR_OK);
    return s;
}

/* Octets 0, 1, 2, ... until one SAR-PDU is full; *next is the position in the stream. */
static struct leat_atm_aal1_pdu one_pdu(struct leat_atm_aal1_segment *s, uint32_t *next)
{
    uint8_t cell[48];
    bool ready = false;
    while (!ready) {
        const uint8_t octet = (uint8_t)*next;
        EQ(leat_atm_aal1_segment_push(s, &octet, 1, cell, &ready), 1);
        ++*next;
    }
    struct leat_atm_aal1_pdu pdu;
    EQ(leat_atm_aal1_pdu_decode(cell, sizeof cell, &pdu, NULL), LEAT_ERR_OK);
    return pdu;
}

static void sequence_counts_modulo_8_and_payload_is_the_stream(void)
{
    struct leat_atm_aal1_segment s = fresh(0);
    uint32_t next = 0;
    for (unsigned cell = 0; cell < 40; cell++) {
        const uint8_t first = (uint8_t)next;
        const struct leat_atm_aal1_pdu pdu = one_pdu(&s, &next);
        EQ(pdu.sc, cell % 8);
        EQ(pdu.csi, 0);
        EQ(next, (cell + 1) * 47);
        for (unsigned i = 0; i < 47; i++)
            EQ(pdu.payload[i], (uint8_t)(first + i));
    }
}

static void a_push_takes_no_more_than_one_pdu(void)
{
    struct leat_atm_aal1_segment s = fresh(0);
    uint8_t stream[100] = { 0 }, cell[48], before[48];
    bool ready = true;
    memset(cell, 0xcc, sizeof cell);
    memcpy(before, cell, sizeof cell);
    EQ(leat_atm_aal1_segment_push(&s, stream, 0, cell, &ready), 0);
    OK(!ready);
    EQ(leat_atm_aal1_segment_push(&s, stream, 46, cell, &ready), 46);
    OK(!ready && memcmp(cell, before, sizeof cell) == 0);
    EQ(leat_atm_aal1_segment_push(&s, stream + 46, 54, cell, &ready), 1);
    OK(ready);
    EQ(leat_atm_aal1_segment_push(&s, stream, 100, cell, &ready), 47);
    OK(ready);
}

/* I.363.1: SC 1, 3, 5, 7 carry the bits of the stamp, the most significant first. */
static void the_time_stamp_travels_in_odd_counts(void)
{
    struct leat_atm_aal1_segment s = fresh(0);
    uint32_t next = 0;
    unsigned seen[3] = { 0, 0, 0 };
    for (unsigned cell = 0; cell < 24; cell++) {
        if (cell == 0) EQ(leat_atm_aal1_segment_rts(&s, 0xb), LEAT_ERR_OK);
        if (cell == 3) EQ(leat_atm_aal1_segment_rts(&s, 0x6), LEAT_ERR_OK); /* from cell 8 on */
        const struct leat_atm_aal1_pdu pdu = one_pdu(&s, &next);
        if (cell % 2)
            seen[cell / 8] = seen[cell / 8] << 1 | pdu.csi;
        else
            EQ(pdu.csi, 0);
    }
    EQ(seen[0], 0xb);
    EQ(seen[1], 0x6);
    EQ(seen[2], 0x6);
    EQ(leat_atm_aal1_segment_rts(&s, 16), LEAT_ERR_RANGE);
}

/* Every pointer, followed in the stream, finds a block's first octet. */
static void pointers_find_the_blocks(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 200; i++) {
        const uint32_t block_len = 2 + (uint32_t)leat_random_below(&r, 600);
        struct leat_atm_aal1_segment s = fresh(block_len);
        uint32_t next = 0, pointers = 0;
        for (unsigned cell = 0; cell < 80; cell++) {
            const uint32_t first = next;
            const struct leat_atm_aal1_pdu pdu = one_pdu(&s, &next);
            if (!leat_atm_aal1_is_p_format(pdu.csi, pdu.sc)) continue;
            pointers++;
            EQ(next - first, 46);
            if (pdu.pointer == LEAT_ATM_AAL1_POINTER_NONE)
                OK(block_len > 93);
            else
                EQ((first + pdu.pointer) % block_len, 0);
        }
        EQ(pointers, 10); /* one per cycle */
    }
}

static void blocks_beyond_the_limit_are_refused(void)
{
    struct leat_atm_aal1_segment s;
    EQ(leat_atm_aal1_segment_init(&s, LEAT_ATM_AAL1_BLOCK_LEN_MAX + 1), LEAT_ERR_RANGE);
    EQ(leat_atm_aal1_segment_init(&s, LEAT_ATM_AAL1_BLOCK_LEN_MAX), LEAT_ERR_OK);
}

TAP_MAIN(T(sequence_counts_modulo_8_and_payload_is_the_stream),
         T(a_push_takes_no_more_than_one_pdu), T(the_time_stamp_travels_in_odd_counts),
         T(pointers_find_the_blocks), T(blocks_beyond_the_limit_are_refused))
