/*
 * The input is a script: which sender sends, and what happens to its cell in flight. The oracle is
 * the engine's contract: bounds hold, and whatever is delivered was sent.
 */
#include "atm_aal34_engine.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { SENDERS = 4, MIDS_MAX = 2, PDU_MAX = 150, GAP = 50 };

struct script {
    struct leat_atm_aal34_sender senders[SENDERS];
    uint8_t payloads[SENDERS][256];
    uint8_t fills, sar[LEAT_ATM_AAL34_SAR_LEN];
};

/* The next SAR-PDU of a sender; payloads are of one repeated octet, 1 and up. */
static void speak(struct script *s, unsigned who)
{
    struct leat_atm_aal34_sender *sender = &s->senders[who];
    if (leat_atm_aal34_sender_next(sender, s->sar)) return;
    const uint8_t fill = (uint8_t)(++s->fills | 1);
    memset(s->payloads[who], fill, sizeof s->payloads[who]);
    leat_atm_aal34_sender_begin(sender, 0, s->payloads[who], fill);
    if (!leat_atm_aal34_sender_next(sender, s->sar)) abort();
}

static void check(const struct leat_atm_aal34 *a, leat_time now,
                  const struct leat_atm_aal34_out *out)
{
    const size_t open = leat_atm_aal34_open_count(a);
    if (open > MIDS_MAX || out->drop_count > LEAT_ATM_AAL34_DROPS_MAX) abort();
    if (out->wake_at < now || (open == 0) != (out->wake_at == LEAT_NEVER)) abort();
    for (unsigned i = 0; i < out->drop_count; i++)
        if ((unsigned)out->drops[i] >= LEAT_ATM_AAL34_DROP_COUNT) abort();
    if (!out->delivered) return;
    if (out->pdu.payload_len > PDU_MAX) abort();
    for (size_t i = 0; i < out->pdu.payload_len; i++)
        if (out->pdu.payload[i] != (uint8_t)out->pdu.payload_len) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static alignas(max_align_t) unsigned char memory[8192];
    static struct script s;
    const struct leat_atm_aal34_config config = { PDU_MAX, MIDS_MAX, GAP };
    struct leat_atm_aal34 *a = NULL;
    leat_time now = 0;

    if (leat_atm_aal34_init(memory, sizeof memory, &config, &a) != LEAT_ERR_OK) abort();
    memset(&s, 0, sizeof s);
    for (uint16_t i = 0; i < SENDERS; i++)
        leat_atm_aal34_sender_init(&s.senders[i], (uint16_t)(i * 341));
    for (size_t i = 0; i < len; i++) {
        uint8_t damaged[LEAT_ATM_AAL34_SAR_LEN];
        struct leat_atm_aal34_in in = { LEAT_ATM_AAL34_CELL, data[i] & 0x80 ? 4 : 0, s.sar };
        struct leat_atm_aal34_out out;
        const unsigned who = data[i] & 3;
        now += data[i] >> 5 & 3;
        switch (data[i] >> 2 & 7) {
        case 0:
            in.event = LEAT_ATM_AAL34_TIMER;
            now += data[i];
            break;
        case 1: break;                    /* the latest again */
        case 2: speak(&s, who); continue; /* lost */
        case 3:
            memcpy(damaged, s.sar, sizeof damaged);
            damaged[i % sizeof damaged] ^= (uint8_t)(1u << who);
            in.sar = damaged;
            break;
        case 4: leat_atm_aal34_sender_abort(&s.senders[who], s.sar); break;
        default: speak(&s, who); break;
        }
        leat_atm_aal34_step(a, now, &in, &out);
        check(a, now, &out);
    }
    return 0;
}
