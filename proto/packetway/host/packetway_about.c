#include "packetway_about.h"
#include <string.h>

enum { SAN_ENTRY_LEN = 4, DSP_ENTRY_LEN = 1, ADDRESS_BITS = 0xFFFFFF };

struct leat_packetway_records leat_packetway_about_of(const uint8_t *about, size_t len)
{
    struct leat_packetway_records r = leat_packetway_records_of(about, len, LEAT_PACKETWAY_STRICT);
    r.depth = LEAT_PACKETWAY_IN_ADDR;
    return r;
}

leat_err leat_packetway_about_check(const uint8_t *about, size_t len)
{
    enum { NOTHING, NAME, CAPA, LADR } last = NOTHING;
    struct leat_packetway_record rec;
    if (len % 8 || len > LEAT_PACKETWAY_ABOUT_LEN_MAX) return LEAT_ERR_RANGE;
    if (leat_packetway_records_check(about, len, LEAT_PACKETWAY_STRICT, NULL))
        return LEAT_ERR_FIELD;
    struct leat_packetway_records records = leat_packetway_about_of(about, len);
    while (leat_packetway_records_next(&records, &rec)) {
        if (rec.type == LEAT_PACKETWAY_RTYP_NAME && last == NOTHING)
            last = NAME;
        else if (rec.type == LEAT_PACKETWAY_RTYP_CAPA && last <= CAPA)
            last = CAPA;
        else if (rec.type == LEAT_PACKETWAY_RTYP_LADR && last <= CAPA)
            last = LADR;
        else
            return LEAT_ERR_FIELD;
    }
    return LEAT_ERR_OK;
}

void leat_packetway_about_write(struct leat_packetway_build *b, uint32_t address,
                                const uint8_t *about, size_t len, bool all)
{
    struct leat_packetway_records records = leat_packetway_about_of(about, len);
    struct leat_packetway_record rec;
    leat_packetway_build_node(b, address);
    leat_packetway_build_nest(b);
    while (leat_packetway_records_next(&records, &rec))
        if (all || rec.type != LEAT_PACKETWAY_RTYP_CAPA)
            leat_packetway_build_copy(b, rec.octets, rec.len);
    leat_packetway_build_leave(b);
}

/* The last address that it can cover. */
static uint32_t end_of(const struct leat_packetway_address *a)
{
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) return a->low;
    return a->at == LEAT_PACKETWAY_AT_MIN ? a->high : a->low | (~a->high & ADDRESS_BITS);
}

bool leat_packetway_address_meets(const struct leat_packetway_address *a,
                                  const struct leat_packetway_address *b)
{
    if (leat_packetway_class_of(a->low) != leat_packetway_class_of(b->low)) return false;
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) return leat_packetway_address_matches(b, a->low);
    if (b->at == LEAT_PACKETWAY_AT_SINGLE) return leat_packetway_address_matches(a, b->low);
    if (a->at == LEAT_PACKETWAY_AT_VALUE && b->at == LEAT_PACKETWAY_AT_VALUE)
        return ((a->low ^ b->low) & a->high & b->high) == 0;
    return a->low <= end_of(b) && b->low <= end_of(a);
}

/* Is every entry of `wanted` among those of `has`? */
static bool holds_all(const uint8_t *wanted, size_t wanted_len, const uint8_t *has, size_t len,
                      size_t entry_len)
{
    if (wanted_len % entry_len) return false;
    for (size_t i = 0; i < wanted_len; i += entry_len) {
        bool found = false;
        for (size_t k = 0; !found && k + entry_len <= len; k += entry_len)
            found = memcmp(wanted + i, has + k, entry_len) == 0;
        if (!found) return false;
    }
    return true;
}

bool leat_packetway_capability_matches(uint8_t cc, const uint8_t *wanted, size_t wanted_len,
                                       const uint8_t *parameters, size_t len)
{
    if (wanted_len == 0) return true;
    if (cc == LEAT_PACKETWAY_CC_FLOAT_DSP || cc == LEAT_PACKETWAY_CC_FIXED_DSP)
        return holds_all(wanted, wanted_len, parameters, len, DSP_ENTRY_LEN);
    if (cc == LEAT_PACKETWAY_CC_ROUTER)
        return holds_all(wanted, wanted_len, parameters, len, SAN_ENTRY_LEN);
    return wanted_len == len && memcmp(wanted, parameters, len) == 0;
}

static bool names_match(const struct leat_packetway_record *a,
                        const struct leat_packetway_record *b)
{
    size_t a_len, b_len;
    const uint8_t *x = leat_packetway_record_name(a, &a_len);
    const uint8_t *y = leat_packetway_record_name(b, &b_len);
    return a_len == b_len && memcmp(x, y, a_len) == 0;
}

static bool capabilities_match(const struct leat_packetway_record *wanted,
                               const struct leat_packetway_record *has)
{
    const uint8_t *x, *y;
    size_t x_len, y_len;
    const uint8_t cc = leat_packetway_record_capability(wanted, &x, &x_len);
    return cc == leat_packetway_record_capability(has, &y, &y_len) &&
           leat_packetway_capability_matches(cc, x, x_len, y, y_len);
}

static bool one_matches(const struct leat_packetway_record *wanted,
                        const struct leat_packetway_address *address,
                        struct leat_packetway_records about)
{
    struct leat_packetway_record has;
    if (wanted->type == LEAT_PACKETWAY_RTYP_ADDR) {
        const struct leat_packetway_address a = leat_packetway_record_address(wanted);
        return leat_packetway_address_meets(&a, address);
    }
    while (leat_packetway_records_next(&about, &has)) {
        if (has.type != wanted->type) continue;
        if (wanted->type == LEAT_PACKETWAY_RTYP_NAME && names_match(wanted, &has)) return true;
        if (wanted->type == LEAT_PACKETWAY_RTYP_CAPA && capabilities_match(wanted, &has))
            return true;
    }
    return false;
}

bool leat_packetway_about_matches(struct leat_packetway_records wanted,
                                  const struct leat_packetway_address *address,
                                  struct leat_packetway_records about)
{
    struct leat_packetway_record r;
    while (leat_packetway_records_next(&wanted, &r))
        if (one_matches(&r, address, about)) return true;
    return false;
}

bool leat_packetway_logical_matches(struct leat_packetway_records about, uint32_t logical)
{
    struct leat_packetway_record r;
    while (leat_packetway_records_next(&about, &r)) {
        if (r.type != LEAT_PACKETWAY_RTYP_LADR) continue;
        struct leat_packetway_addresses list = leat_packetway_record_addresses(&r);
        struct leat_packetway_address a;
        while (leat_packetway_addresses_next(&list, &a))
            if (leat_packetway_address_matches(&a, logical)) return true;
    }
    return false;
}
