#include "atm_text.h"
#include "atm_oam.h"
#include "atm_rm.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/atm.h>
#include <string.h>

/* Offsets of the fields in a cell, for the tree. */
enum { VCI_AT = 1, PT_AT = 3, HEC_AT = 4, PAYLOAD_AT = 5 };
enum { SPECIFIC_AT = PAYLOAD_AT + 1, CRC_AT = PAYLOAD_AT + LEAT_ATM_SEAL_AT };
enum {
    FLAGS_AT = PAYLOAD_AT + 1,
    ER_AT = PAYLOAD_AT + 2,
    CCR_AT = PAYLOAD_AT + 4,
    MCR_AT = PAYLOAD_AT + 6,
    QL_AT = PAYLOAD_AT + 8,
    SN_AT = PAYLOAD_AT + 12,
};
enum { CODE_BITS = 15, LINK_TYPE = 147, OAM_CONTINUITY = 4, STM1_RATE = 0x64b1 };

const struct leat_name leat_atm_interface_names[] = {
    { LEAT_ATM_UNI, "UNI" },
    { LEAT_ATM_NNI, "NNI" },
    { 0, NULL },
};

const struct leat_name leat_atm_pt_names[] = {
    { 0, "user-0" },
    { LEAT_ATM_PT_SDU, "user-1" },
    { LEAT_ATM_PT_EFCI, "user-efci-0" },
    { LEAT_ATM_PT_EFCI | LEAT_ATM_PT_SDU, "user-efci-1" },
    { LEAT_ATM_PT_OAM_SEGMENT, "oam-segment" },
    { LEAT_ATM_PT_OAM_END, "oam-end" },
    { LEAT_ATM_PT_RM, "rm" },
    { 7, "reserved" },
    { 0, NULL },
};

/* I.610, table 4: the functions of a type; types without a list have only numbers. */
static const struct leat_name oam_types[] = {
    { LEAT_ATM_OAM_FAULT, "fault" },
    { LEAT_ATM_OAM_PERFORMANCE, "performance" },
    { LEAT_ATM_OAM_ACTIVATION, "activation" },
    { LEAT_ATM_OAM_SYSTEM, "system" },
    { 0, NULL },
};
static const struct leat_name fault_functions[] = {
    { 0, "AIS" }, { 1, "RDI" }, { OAM_CONTINUITY, "continuity" }, { 8, "loopback" }, { 0, NULL },
};
static const struct leat_name performance_functions[] = {
    { 0, "forward-monitoring" },
    { 1, "backward-reporting" },
    { 0, NULL },
};
static const struct leat_name no_functions[] = { { 0, NULL } };

static const struct leat_name *oam_functions(unsigned type)
{
    if (type == LEAT_ATM_OAM_FAULT) return fault_functions;
    if (type == LEAT_ATM_OAM_PERFORMANCE) return performance_functions;
    return no_functions;
}

/* Flow F5: by PT, so another CRC is an error. */
static bool is_oam(const struct leat_atm_cell *c)
{
    return c->pt == LEAT_ATM_PT_OAM_SEGMENT || c->pt == LEAT_ATM_PT_OAM_END;
}

/* Flow F4: by VCI, where old networks may have users, too: so only with the right CRC. */
static bool may_be_f4(const struct leat_atm_cell *c)
{
    return (c->vci == LEAT_ATM_OAM_VCI_SEGMENT || c->vci == LEAT_ATM_OAM_VCI_END) &&
           !(c->pt & ~LEAT_ATM_PT_EFCI);
}

static bool shows_oam(struct leat_fields *f, const struct leat_atm_cell *c)
{
    if (is_oam(c)) return true;
    if (!may_be_f4(c)) return false;
    return leat_fields_reading(f) ? leat_fields_has(f, "oam")
                                  : !leat_atm_payload_check(c->payload, sizeof c->payload, NULL);
}

static bool is_sealed(const struct leat_atm_cell *c)
{
    return is_oam(c) || c->pt == LEAT_ATM_PT_RM;
}

static void walk_crc(struct leat_fields *f, const struct leat_atm_cell *c)
{
    leat_fields_checksum(f, "crc", CRC_AT, 10, leat_atm_payload_crc(c->payload));
}

/* Octets that the user left out are unused and hold 6a. */
static void walk_specific(struct leat_fields *f, struct leat_atm_oam *oam)
{
    const uint8_t *octets = oam->specific;
    size_t len = sizeof oam->specific;
    leat_fields_octets(f, "specific", SPECIFIC_AT, sizeof oam->specific, &octets, &len);
    if (octets == oam->specific) return;
    memcpy(oam->specific, octets, len);
    memset(oam->specific + len, LEAT_ATM_FILL, sizeof oam->specific - len);
}

/*
 * A nested object is a view of the payload. If the user writes both, they must agree; if only the
 * view, the payload is built from it.
 */
static void settle(struct leat_fields *f, const char *name, struct leat_atm_cell *c,
                   bool payload_given, const uint8_t before[LEAT_ATM_PAYLOAD_LEN],
                   const uint8_t after[LEAT_ATM_PAYLOAD_LEN])
{
    if (!payload_given)
        memcpy(c->payload, after, LEAT_ATM_PAYLOAD_LEN);
    else if (memcmp(before, after, LEAT_ATM_PAYLOAD_LEN) != 0)
        leat_fields_refuse(f, LEAT_ERR_FIELD, name, "contradicts payload, expected one of them");
}

static void walk_oam(struct leat_fields *f, struct leat_atm_cell *c, bool payload_given)
{
    struct leat_atm_oam oam = { .type = LEAT_ATM_OAM_FAULT, .function = OAM_CONTINUITY };
    uint8_t before[LEAT_ATM_PAYLOAD_LEN], after[LEAT_ATM_PAYLOAD_LEN];
    memset(oam.specific, LEAT_ATM_FILL, sizeof oam.specific);
    if (payload_given) leat_atm_oam_decode(c->payload, sizeof c->payload, &oam, NULL);
    leat_atm_oam_encode(&oam, before, sizeof before);

    if (leat_fields_open(f, "oam", PAYLOAD_AT)) {
        oam.type = (uint8_t)leat_fields_enum(f, "type", PAYLOAD_AT, 4, oam_types, oam.type);
        oam.function = (uint8_t)leat_fields_enum(f, "function", PAYLOAD_AT, 4,
                                                 oam_functions(oam.type), oam.function);
        walk_specific(f, &oam);
        walk_crc(f, c);
        leat_fields_close(f);
    }
    leat_atm_oam_encode(&oam, after, sizeof after);
    settle(f, "oam", c, payload_given, before, after);
}

static void walk_rm_flags(struct leat_fields *f, struct leat_atm_rm *rm)
{
    static const struct leat_name flags[] = {
        { LEAT_ATM_RM_DIR, "DIR" }, { LEAT_ATM_RM_BN, "BN" }, { LEAT_ATM_RM_CI, "CI" },
        { LEAT_ATM_RM_NI, "NI" },   { LEAT_ATM_RM_RA, "RA" }, { 0, NULL },
    };
    for (const struct leat_name *n = flags; n->name; n++) {
        const bool set = leat_fields_flag(f, n->name, FLAGS_AT, rm->flags & n->value);
        rm->flags = (uint8_t)(set ? rm->flags | n->value : rm->flags & ~n->value);
    }
}

/* `rate_name` is for people, in whole cells per second; `name` has every bit. */
static uint16_t walk_rate(struct leat_fields *f, const char *rate_name, const char *name, size_t at,
                          uint16_t code)
{
    const bool rate_given = leat_fields_reading(f) && leat_fields_has(f, rate_name);
    const bool code_given = leat_fields_has(f, name);
    const uint64_t rate = leat_fields_uint(f, rate_name, at, 32,
                                           leat_atm_rate_decode(code) / LEAT_ATM_RATE_UNIT);
    if (rate_given && !code_given) code = leat_atm_rate_encode(rate * LEAT_ATM_RATE_UNIT);
    code = (uint16_t)leat_fields_hex(f, name, at, CODE_BITS, code);
    if (rate_given && code_given && rate != leat_atm_rate_decode(code) / LEAT_ATM_RATE_UNIT)
        leat_fields_refuse(f, LEAT_ERR_FIELD, rate_name, "contradicts the code of the same rate");
    return code;
}

static void walk_rm(struct leat_fields *f, struct leat_atm_cell *c, bool payload_given)
{
    struct leat_atm_rm rm = { .er = STM1_RATE };
    uint8_t before[LEAT_ATM_PAYLOAD_LEN], after[LEAT_ATM_PAYLOAD_LEN];
    if (payload_given &&
        leat_atm_rm_decode(c->payload, sizeof c->payload, &rm, NULL) == LEAT_ERR_TYPE)
        return; /* another protocol: only the octets */
    leat_atm_rm_encode(&rm, before, sizeof before);

    if (leat_fields_open(f, "rm", PAYLOAD_AT)) {
        leat_fields_fixed(f, "ID", PAYLOAD_AT, 8, LEAT_ATM_RM_ABR);
        walk_rm_flags(f, &rm);
        rm.er = walk_rate(f, "ERrate", "ER", ER_AT, rm.er);
        rm.ccr = walk_rate(f, "CCRrate", "CCR", CCR_AT, rm.ccr);
        rm.mcr = walk_rate(f, "MCRrate", "MCR", MCR_AT, rm.mcr);
        rm.ql = (uint32_t)leat_fields_uint(f, "QL", QL_AT, 32, rm.ql);
        rm.sn = (uint32_t)leat_fields_uint(f, "SN", SN_AT, 32, rm.sn);
        walk_crc(f, c);
        leat_fields_close(f);
    }
    leat_atm_rm_encode(&rm, after, sizeof after);
    settle(f, "rm", c, payload_given, before, after);
}

enum kind { ASSIGNED, UNASSIGNED, IDLE };

static const struct leat_name kind_names[] = {
    { ASSIGNED, "assigned" }, { UNASSIGNED, "unassigned" }, { IDLE, "idle" }, { 0, NULL }
};

static enum kind kind_of(const uint8_t header[LEAT_ATM_HEADER_LEN])
{
    if (leat_atm_cell_is_idle(header)) return IDLE;
    return leat_atm_cell_is_unassigned(header) ? UNASSIGNED : ASSIGNED;
}

/* `hec` is the cell's own when showing; *kind returns the user's value. */
static void walk(struct leat_fields *f, struct leat_atm_cell *c, uint8_t hec, enum kind *kind)
{
    c->interface = (enum leat_atm_interface)leat_fields_enum(
        f, "interface", 0, 1, leat_atm_interface_names, c->interface);
    const bool uni = c->interface == LEAT_ATM_UNI;
    c->gfc = (uint8_t)leat_fields_uint(f, "gfc", 0, 4, c->gfc);
    if (!uni && c->gfc) leat_fields_refuse(f, LEAT_ERR_RANGE, "gfc", "expected 0 at the NNI");
    c->vpi = (uint16_t)leat_fields_uint(f, "vpi", 0, uni ? 8 : 12, c->vpi);
    c->vci = (uint16_t)leat_fields_uint(f, "vci", VCI_AT, 16, c->vci);
    c->pt = (uint8_t)leat_fields_enum(f, "pt", PT_AT, 3, leat_atm_pt_names, c->pt);
    c->clp = (uint8_t)leat_fields_uint(f, "clp", PT_AT, 1, c->clp);
    leat_fields_checksum(f, "hec", HEC_AT, 8, hec);
    *kind = (enum kind)leat_fields_enum(f, "kind", 0, 2, kind_names, *kind);

    const bool given = leat_fields_has(f, "payload"); /* showing: always */
    leat_fields_octets_fixed(f, "payload", PAYLOAD_AT, c->payload, sizeof c->payload, true);
    if (shows_oam(f, c)) walk_oam(f, c, given);
    if (c->pt == LEAT_ATM_PT_RM) walk_rm(f, c, given);
}

static leat_err show_at(enum leat_atm_interface interface, const uint8_t *octets, size_t len,
                        struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_cell cell;
    leat_err err = leat_atm_cell_decode(octets, len, interface, &cell, fault_at);
    if (!err && is_sealed(&cell)) {
        err = leat_atm_payload_check(cell.payload, sizeof cell.payload, NULL);
        if (err) return leat_fault(err, CRC_AT, fault_at);
    }
    if (err) return err;
    enum kind kind = kind_of(octets);
    walk(f, &cell, octets[HEC_AT], &kind);
    return LEAT_ERR_OK;
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    return show_at(LEAT_ATM_UNI, octets, len, f, fault_at);
}

static leat_err show_nni(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    return show_at(LEAT_ATM_NNI, octets, len, f, fault_at);
}

/* Refuses to build what show would refuse, or would not show. */
static void check(struct leat_fields *f, const struct leat_atm_cell *cell)
{
    if (leat_fields_has(f, "oam") && !is_oam(cell) && !may_be_f4(cell))
        leat_fields_refuse(f, LEAT_ERR_FIELD, "oam",
                           "expected with pt=oam-segment or oam-end, or on VCI 3 or 4 with "
                           "pt=user-0, only");
    if (leat_fields_has(f, "rm") && cell->pt != LEAT_ATM_PT_RM)
        leat_fields_refuse(f, LEAT_ERR_FIELD, "rm", "expected with pt=rm only");
    if (is_sealed(cell) && leat_atm_payload_check(cell->payload, sizeof cell->payload, NULL))
        leat_fields_refuse(f, LEAT_ERR_CHECKSUM, "payload",
                           "its CRC-10 does not match, expected 48 octets with the CRC of an OAM "
                           "or RM cell, or no payload but its fields under oam or rm");
}

static void check_kind(struct leat_fields *f, const struct leat_atm_cell *cell, enum kind kind)
{
    uint8_t octets[LEAT_ATM_CELL_LEN];
    if (!leat_fields_has(f, "kind") || leat_atm_cell_encode(cell, octets, sizeof octets)) return;
    if (kind_of(octets) != kind)
        leat_fields_refuse(f, LEAT_ERR_FIELD, "kind", "contradicts the other fields of the header");
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_cell cell = { .interface = LEAT_ATM_UNI };
    enum kind kind = (enum kind)leat_fields_enum(f, "kind", 0, 2, kind_names, ASSIGNED);
    if (kind == IDLE) {
        cell.clp = 1;
        memset(cell.payload, LEAT_ATM_FILL, sizeof cell.payload);
    }
    if (leat_fields_has(f, "oam")) cell.pt = LEAT_ATM_PT_OAM_END;
    if (leat_fields_has(f, "rm")) cell.pt = LEAT_ATM_PT_RM;
    walk(f, &cell, 0, &kind);
    check(f, &cell);
    check_kind(f, &cell, kind);
    const leat_err err = f->err ? f->err : leat_atm_cell_encode(&cell, octets, cap);
    if (!err) *len = LEAT_ATM_CELL_LEN;
    return err;
}

const struct leat_format leat_atm_format = {
    .name = "atm",
    .summary = "ATM cell: header with HEC and 48 octets, OAM and RM payloads decoded",
    .link_type = LINK_TYPE,
    .unit_len = LEAT_ATM_CELL_LEN,
    .show = show,
    .build = build,
};

const struct leat_format leat_atm_nni_format = {
    .name = "atm",
    .summary = "ATM cell of a network-network interface: a VPI of 12 bits",
    .link_type = LINK_TYPE,
    .unit_len = LEAT_ATM_CELL_LEN,
    .show = show_nni,
    .build = build,
};
