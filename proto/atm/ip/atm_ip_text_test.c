#include "atm_text.h"
#include "format_harness.h"
#include <string.h>

static uint8_t octets[1024];
static size_t octets_len;

static leat_err from_words(const struct leat_format *format, const char *words)
{
    return format_build_words(format, words, octets, sizeof octets, &octets_len);
}

static void fields_are_shown_by_name(void)
{
    EQ(from_words(&leat_atmllc_format, "payload=01"), LEAT_ERR_OK);
    EQ(format_show_json(&leat_atmllc_format, octets, octets_len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown, "{\"oui\":\"Ethernet-types\",\"type\":\"IPv4\",\"payload\":\"01\"}") ==
       0);
    EQ(from_words(&leat_atmllc_format, "oui=bridged frame=0102030405060708090a0b0c0800ff"),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_atmllc_format, octets, octets_len, NULL), LEAT_ERR_OK);
    OK(strcmp(format_shown, "{\"oui\":\"bridged\",\"type\":\"Ethernet\",\"frame\":"
                            "\"0102030405060708090a0b0c0800ff\"}") == 0);
    EQ(from_words(&leat_atmvcmux_format, "carries=Ethernet-FCS"), LEAT_ERR_OK);
    EQ(octets_len, 66);
    EQ(format_show_json(&leat_atmvcmux_format, octets, octets_len, NULL), LEAT_ERR_OK);
    OK(strstr(format_shown, "{\"carries\":\"Ethernet-FCS\",\"frame\":\"0000") == format_shown);
    OK(strstr(format_shown, ",\"fcs\":") != NULL);
    EQ(from_words(&leat_atmarp_format, "op=NAK source.type=E.164 source.number=491 "
                                       "target.ip=10.255.0.17"),
       LEAT_ERR_OK);
    EQ(format_show_json(&leat_atmarp_format, octets, octets_len, NULL), LEAT_ERR_OK);
    OK(strcmp(
           format_shown,
           "{\"op\":\"NAK\",\"source\":{\"type\":\"E.164\",\"number\":\"491\",\"subaddress\":\"\","
           "\"ip\":\"10.0.0.1\"},\"target\":{\"type\":\"NSAPA\",\"number\":\"\","
           "\"subaddress\":\"\",\"ip\":\"10.255.0.17\"}}") == 0);
}

static void mistakes_are_explained(void)
{
    static const struct {
        const struct leat_format *format;
        const char *words;
        leat_err err;
        const char *says;
    } cases[] = {
        { &leat_atmllc_format, "type=IPv5", LEAT_ERR_FIELD, "IPv4 ARP IPv6" },
        { &leat_atmllc_format, "oui=bridged type=IPv4", LEAT_ERR_FIELD, "Ethernet-FCS" },
        { &leat_atmllc_format, "oui=0x1000000", LEAT_ERR_RANGE, "16777215" },
        { &leat_atmllc_format, "payload=", LEAT_ERR_LENGTH, "payload: expected 1 to 65535" },
        { &leat_atmllc_format, "oui=bridged frame=01", LEAT_ERR_LENGTH, "at least 14 octets" },
        { &leat_atmllc_format, "oui=bridged type=1 frame=0102030405060708090a0b0c0800",
          LEAT_ERR_LENGTH, "at least 60 octets" },
        { &leat_atmllc_format, "frame=01", LEAT_ERR_FIELD, "frame: no such field" },
        { &leat_atmvcmux_format, "carries=0", LEAT_ERR_TYPE, "expected routed" },
        { &leat_atmvcmux_format, "payload=50", LEAT_ERR_TYPE, "version 4 or 6" },
        { &leat_atmarp_format, "op=3", LEAT_ERR_TYPE, "expected request" },
        { &leat_atmarp_format, "source.ip=10.0.0", LEAT_ERR_SYNTAX, "source.ip: expected an IPv4" },
        { &leat_atmarp_format, "source.ip=10.0.0.256", LEAT_ERR_SYNTAX, "IPv4" },
        { &leat_atmarp_format, "source.ip=10.0.0.1.", LEAT_ERR_SYNTAX, "IPv4" },
        { &leat_atmarp_format, "source.ip=.0.0.1", LEAT_ERR_SYNTAX, "IPv4" },
        { &leat_atmarp_format, "source.number=47", LEAT_ERR_LENGTH, "20 octets" },
        { &leat_atmarp_format, "target.type=E.164 target.number=12a", LEAT_ERR_RANGE, "digits" },
        { &leat_atmarp_format, "target.type=E.164 target.number=1234567890123456", LEAT_ERR_LENGTH,
          "15" },
        { &leat_atmarp_format, "source.subaddress=4700000000000000000000000000000000000001",
          LEAT_ERR_FIELD, "E.164" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int before = tap_checks_failed;
        EQ(from_words(cases[i].format, cases[i].words), cases[i].err);
        OK(strstr(format_fields.message, cases[i].says) != NULL);
        if (tap_checks_failed != before)
            printf("# %s: %s\n", cases[i].words, format_fields.message);
    }
}

TAP_MAIN(T(fields_are_shown_by_name), T(mistakes_are_explained))
