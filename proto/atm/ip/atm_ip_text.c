#include "atm_ip.h"
#include "atm_text.h"
#include "leat_bytes.h"
#include <leat/crc.h>

enum { OUI_BITS = 24, OUI_AT = 3, TYPE_AT = 6 };
enum { IPV4 = 4, IPV6 = 6, FCS_BITS = 32 };

static const struct leat_name oui_names[] = {
    { LEAT_ATM_IP_OUI_ETHER, "Ethernet-types" },
    { LEAT_ATM_IP_OUI_BRIDGED, "bridged" },
    { 0, NULL },
};
static const struct leat_name ether_types[] = {
    { LEAT_ATM_IP_TYPE_IPV4, "IPv4" },
    { LEAT_ATM_IP_TYPE_ARP, "ARP" },
    { LEAT_ATM_IP_TYPE_IPV6, "IPv6" },
    { 0, NULL },
};
static const struct leat_name bridged_types[] = {
    { LEAT_ATM_IP_BRIDGED, "Ethernet" },
    { LEAT_ATM_IP_BRIDGED_FCS, "Ethernet-FCS" },
    { 0, NULL },
};
static const struct leat_name no_types[] = { { 0, NULL } };

static const struct leat_name mux_names[] = {
    { LEAT_ATM_IP_VC_ROUTED, "routed" },
    { LEAT_ATM_IP_VC_BRIDGED, "Ethernet" },
    { LEAT_ATM_IP_VC_BRIDGED_FCS, "Ethernet-FCS" },
    { 0, NULL },
};

/* Without fields: the header of an IPv4 packet that holds nothing, from 10.0.0.1 to 10.0.0.2. */
static const uint8_t default_packet[] = { 0x45, 0,    0,  20, 0, 0, 0,  0, 64, 253,
                                          0x65, 0xeb, 10, 0,  0, 1, 10, 0, 0,  2 };
static const uint8_t default_frame[LEAT_ATM_IP_FCS_FRAME_MIN];

/* The payload under the name of what it is; `at`: where it begins. */
static void walk_payload(struct leat_fields *f, struct leat_atm_ip_pdu *pdu, unsigned bridged,
                         size_t at)
{
    const size_t pad = bridged ? LEAT_ATM_IP_PAD_LEN : 0;
    if (!pdu->payload) {
        pdu->payload = bridged ? default_frame : default_packet;
        pdu->payload_len = bridged ? sizeof default_frame : sizeof default_packet;
    }
    leat_fields_octets(f, bridged ? "frame" : "payload", at + pad, LEAT_ATM_IP_PDU_LEN_MAX,
                       &pdu->payload, &pdu->payload_len);
    if (bridged == 2)
        leat_fields_checksum(f, "fcs", at + pad + pdu->payload_len, FCS_BITS,
                             leat_crc32(0, pdu->payload, pdu->payload_len));
}

/* The encoder's refusals, as a user should read them. */
static leat_err finish(struct leat_fields *f, const struct leat_atm_ip_pdu *pdu,
                       enum leat_atm_ip_mux mux, uint8_t *octets, size_t cap, size_t *len)
{
    const unsigned bridged = leat_atm_ip_bridged(mux, pdu->oui, pdu->type);
    const leat_err err = leat_atm_ip_encode(pdu, mux, octets, cap, len);
    static const char *const lengths[] = {
        "expected 1 to 65535 octets, with the LLC header",
        "expected an Ethernet frame of at least 14 octets and at most 65535 with all headers",
        "expected an Ethernet frame without its FCS of at least 60 octets, padding included",
    };
    if (err == LEAT_ERR_LENGTH)
        leat_fields_refuse(f, err, bridged ? "frame" : "payload", lengths[bridged]);
    return f->err ? f->err : err;
}

/* ---- LLC ----------------------------------------------------------------------------------- */

static void walk_llc(struct leat_fields *f, struct leat_atm_ip_pdu *pdu)
{
    pdu->oui = (uint32_t)leat_fields_enum(f, "oui", OUI_AT, OUI_BITS, oui_names, pdu->oui);
    const bool is_bridged = pdu->oui == LEAT_ATM_IP_OUI_BRIDGED;
    if (leat_fields_reading(f)) pdu->type = is_bridged ? LEAT_ATM_IP_BRIDGED : pdu->type;
    pdu->type = (uint16_t)leat_fields_enum(f, "type", TYPE_AT, 16,
                                           is_bridged                          ? bridged_types
                                           : pdu->oui == LEAT_ATM_IP_OUI_ETHER ? ether_types
                                                                               : no_types,
                                           pdu->type);
    walk_payload(f, pdu, leat_atm_ip_bridged(LEAT_ATM_IP_LLC, pdu->oui, pdu->type),
                 LEAT_ATM_IP_LLC_LEN);
}

static leat_err show_llc(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_ip_pdu pdu;
    const leat_err err = leat_atm_ip_decode(octets, len, LEAT_ATM_IP_LLC, &pdu, fault_at);
    if (!err) walk_llc(f, &pdu);
    return err;
}

static leat_err build_llc(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_ip_pdu pdu = { .type = LEAT_ATM_IP_TYPE_IPV4 };
    walk_llc(f, &pdu);
    return f->err ? f->err : finish(f, &pdu, LEAT_ATM_IP_LLC, octets, cap, len);
}

/* ---- VC multiplexing ------------------------------------------------------------------------ */

static bool is_ip(const uint8_t *packet, size_t len)
{
    return len > 0 && (packet[0] >> 4 == IPV4 || packet[0] >> 4 == IPV6);
}

/*
 * Only the ends of a channel know what it carries, so this is a guess: IP by its version; a frame
 * by its padding, and with an FCS if its last octets are one. Any guess gives back the same octets.
 */
static leat_err guess(const uint8_t *octets, size_t len, enum leat_atm_ip_mux *mux,
                      struct leat_atm_ip_pdu *pdu, size_t *fault_at)
{
    if (!len) return leat_fault(LEAT_ERR_SHORT, 0, fault_at);
    *mux = LEAT_ATM_IP_VC_ROUTED;
    if (octets[0] && !is_ip(octets, len)) return leat_fault(LEAT_ERR_TYPE, 0, fault_at);
    if (octets[0]) return leat_atm_ip_decode(octets, len, *mux, pdu, fault_at);
    *mux = LEAT_ATM_IP_VC_BRIDGED_FCS;
    if (!leat_atm_ip_decode(octets, len, *mux, pdu, NULL)) return LEAT_ERR_OK;
    *mux = LEAT_ATM_IP_VC_BRIDGED;
    return leat_atm_ip_decode(octets, len, *mux, pdu, fault_at);
}

static void walk_vc(struct leat_fields *f, enum leat_atm_ip_mux *mux, struct leat_atm_ip_pdu *pdu)
{
    const uint64_t value = leat_fields_enum(f, "carries", 0, 2, mux_names, *mux);
    if (!leat_name_of(mux_names, value))
        leat_fields_refuse(f, LEAT_ERR_TYPE, "carries",
                           "expected routed (1), Ethernet (2) or Ethernet-FCS (3)");
    else
        *mux = (enum leat_atm_ip_mux)value;
    walk_payload(f, pdu, leat_atm_ip_bridged(*mux, 0, 0), 0);
}

static leat_err show_vc(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_ip_pdu pdu;
    enum leat_atm_ip_mux mux;
    const leat_err err = guess(octets, len, &mux, &pdu, fault_at);
    if (!err) walk_vc(f, &mux, &pdu);
    return err;
}

static leat_err build_vc(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_ip_pdu pdu = { 0 };
    enum leat_atm_ip_mux mux = LEAT_ATM_IP_VC_ROUTED;
    walk_vc(f, &mux, &pdu);
    if (mux == LEAT_ATM_IP_VC_ROUTED && !is_ip(pdu.payload, pdu.payload_len))
        leat_fields_refuse(f, LEAT_ERR_TYPE, "payload",
                           "expected an IP packet, which begins with version 4 or 6");
    return f->err ? f->err : finish(f, &pdu, mux, octets, cap, len);
}

const struct leat_format leat_atmllc_format = {
    .name = "atmllc",
    .in_cells = true,
    .summary =
        "LLC/SNAP encapsulation in AAL5 (RFC 2684): IP, other Ethernet types, bridged Ethernet",
    .show = show_llc,
    .build = build_llc,
};

const struct leat_format leat_atmvcmux_format = {
    .name = "atmvcmux",
    .in_cells = true,
    .summary = "VC multiplexing in AAL5 (RFC 2684): IP or bridged Ethernet without an LLC header",
    .show = show_vc,
    .build = build_vc,
};
