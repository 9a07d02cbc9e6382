/*
 * Property: a message that decodes encodes to itself, octet for octet, whatever its elements; and
 * so do the contents of each element that decode.
 */
#include "atm_signal.h"
#include <stdlib.h>
#include <string.h>

static void check_contents(const struct leat_atm_signal_element *e)
{
    struct leat_atm_signal_content c;
    uint8_t back[LEAT_ATM_SIGNAL_CONTENT_LEN_MAX];
    uint16_t back_len = 0;
    if (leat_atm_signal_content_decode(e, &c) != LEAT_ERR_OK) return;
    if (leat_atm_signal_content_encode(&c, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != e->len || memcmp(back, e->octets, e->len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_signal_message m;
    uint8_t back[LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX];
    size_t back_len = 0, fault_at = 0;
    if (leat_atm_signal_message_decode(data, len, &m, &fault_at) != LEAT_ERR_OK) {
        if (fault_at > len) abort();
        return 0;
    }
    if (leat_atm_signal_message_encode(&m, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != len || memcmp(back, data, len) != 0) abort();
    for (unsigned i = 0; i < m.element_count; i++)
        check_contents(&m.element[i]);
    return 0;
}
