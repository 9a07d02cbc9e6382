#include "pktway_shared.h"

const char *pktway_address_text(const struct leat_packetway_address *a,
                                char text[PKTWAY_ADDRESS_CAP])
{
    const int len = snprintf(text, PKTWAY_ADDRESS_CAP, "0x%06x", a->low);
    if (a->at != LEAT_PACKETWAY_AT_SINGLE)
        snprintf(text + len, PKTWAY_ADDRESS_CAP - (size_t)len, "%s0x%06x",
                 a->at == LEAT_PACKETWAY_AT_MIN ? "-" : "/", a->high);
    return text;
}

void pktway_put_hex(const uint8_t *octets, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++)
        text_print(out, "%02x", octets[i]);
}

void pktway_put_table(const struct leat_packetway_table_view *t, struct leat_json *j, FILE *out)
{
    leat_json_hex(j, "san", "0x", t->san, 6);
    LEAT_JSON_UINTS(j, { "sn", t->sequence }, { "q", t->q }, { "mtu_words", t->mtu_words });
    leat_json_bool(j, "withdrawn", t->lost);
    leat_json_array(j, "rcvf");
    for (uint32_t i = 0; i < t->received_from_count; i++) {
        leat_json_hex(j, NULL, "0x", t->received_from[i], 6);
        text_print(out, " 0x%06x", t->received_from[i]);
    }
    leat_json_end(j);
}

const char *pktway_err_name(uint16_t te)
{
    switch (te) {
    case LEAT_PACKETWAY_TE_UNK: return "UNK";
    case LEAT_PACKETWAY_TE_HRDOWN: return "HRDOWN";
    case LEAT_PACKETWAY_TE_LINKDOWN: return "LINKDOWN";
    default: return "GENERAL";
    }
}
