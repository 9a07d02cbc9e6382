/*
 * OAM and RM payloads: what decodes encodes, and decodes again to the same meaning, hence to the
 * same octets. The target corrects the CRC-10 first, so that the fuzzer passes the check.
 */
#include "atm_oam.h"
#include "atm_rm.h"
#include "atm_seal.h"
#include <stdlib.h>
#include <string.h>

enum { LEN = LEAT_ATM_PAYLOAD_LEN };

static void try_oam(const uint8_t *payload)
{
    struct leat_atm_oam oam;
    uint8_t back[LEN];
    if (leat_atm_oam_decode(payload, LEN, &oam, NULL) != LEAT_ERR_OK) abort();
    if (leat_atm_oam_encode(&oam, back, LEN) != LEAT_ERR_OK) abort();
    if (memcmp(payload, back, LEN) != 0) abort();
}

static void try_rate(uint16_t code)
{
    const uint64_t rate = leat_atm_rate_decode(code);
    const uint16_t canonical = leat_atm_rate_encode(rate);
    if (leat_atm_rate_decode(canonical) != rate) abort();
    if (rate && canonical != code) abort();
}

static void try_rm(const uint8_t *payload)
{
    struct leat_atm_rm rm;
    uint8_t once[LEN], twice[LEN];
    const leat_err err = leat_atm_rm_decode(payload, LEN, &rm, NULL);
    if ((err == LEAT_ERR_TYPE) != (payload[0] != LEAT_ATM_RM_ABR)) abort();
    if (err) return;
    try_rate(rm.er);
    if (leat_atm_rm_encode(&rm, once, LEN) != LEAT_ERR_OK) abort();
    if (leat_atm_rm_decode(once, LEN, &rm, NULL) != LEAT_ERR_OK) abort();
    if (leat_atm_rm_encode(&rm, twice, LEN) != LEAT_ERR_OK) abort();
    if (memcmp(once, twice, LEN) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t payload[LEN];
    size_t at = len + 1;
    if (leat_atm_payload_check(data, len, &at) != LEAT_ERR_OK && at > len) abort();
    if (len != LEN) return 0;
    memcpy(payload, data, LEN);
    leat_atm_payload_seal(payload, 0);
    try_oam(payload);
    try_rm(payload);
    return 0;
}
