/* The members that a root knows, beside a plain list. */
#include "esp_roster.h"
#include "leat_random.h"
#include "tap.h"
#include <string.h>

enum { CAMPAIGN = LEAT_ROUNDS / 50 + 400 };

static struct leat_esp_next address_of(unsigned i)
{
    return (struct leat_esp_next){ .address = { [15] = (uint8_t)i }, .port = LEAT_ESP_UDP_PORT };
}

/* A list that is searched from one end to the other. */
struct plain_roster {
    struct leat_esp_roster_entry entry[16];
    unsigned count;
};

static unsigned plain_find(const struct plain_roster *p, const struct leat_esp_next *address)
{
    unsigned i = 0;
    while (i < p->count && (memcmp(p->entry[i].address.address, address->address, 16) ||
                            p->entry[i].address.port != address->port))
        i++;
    return i;
}

static void the_roster_is_a_list_that_is_found_quickly(void)
{
    static _Alignas(max_align_t) uint8_t memory[4096];
    struct leat_esp_roster roster;
    struct plain_roster plain = { .count = 0 };
    uint64_t forgotten = 0;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    OK(leat_esp_roster_footprint(16) <= sizeof memory);
    leat_esp_roster_init(&roster, 16, memory);
    for (leat_time now = 0; now < CAMPAIGN && !tap_checks_failed; now++) {
        struct leat_esp_next address = address_of((unsigned)leat_random_below(&r, 12));
        address.port = (uint16_t)leat_random_below(&r, 2);
        const unsigned at = plain_find(&plain, &address);
        struct leat_esp_roster_entry entry = { .address = address };
        bool expired = false;
        entry.id = leat_random_below(&r, 3);
        entry.serial = leat_random_next(&r);
        entry.until = now + leat_random_below(&r, 40);
        switch (leat_random_below(&r, 8)) {
        case 0:
            leat_esp_roster_expire(&roster, now);
            for (unsigned i = plain.count; i--;)
                if (plain.entry[i].until <= now) {
                    expired = true;
                    memmove(&plain.entry[i], &plain.entry[i + 1],
                            (--plain.count - i) * sizeof *plain.entry);
                }
            break;
        case 1:
            leat_esp_roster_leave(&roster, &address, entry.id, entry.serial);
            if (at < plain.count && plain.entry[at].id == entry.id) {
                plain.entry[at].until = 0;
                plain.entry[at].serial = entry.serial;
            } else {
                forgotten++;
            }
            break;
        default:
            EQ(leat_esp_roster_join(&roster, &address, entry.id, entry.serial, entry.until),
               at < 16);
            forgotten += at < plain.count && plain.entry[at].id != entry.id;
            if (at < 16) plain.entry[at] = entry;
            if (at < 16 && at == plain.count) plain.count++;
        }
        forgotten += expired;
        EQ(roster.count, plain.count);
        EQ(roster.forgotten, forgotten);
        const unsigned then_at = plain_find(&plain, &address);
        OK(leat_esp_roster_find(&roster, &address) ==
           (then_at < plain.count ? &roster.entry[then_at] : NULL));
        for (unsigned i = 0; i < plain.count; i++) {
            EQ(roster.entry[i].id, plain.entry[i].id);
            EQ(roster.entry[i].serial, plain.entry[i].serial);
            EQ(roster.entry[i].until, plain.entry[i].until);
        }
    }
}

TAP_MAIN(T(the_roster_is_a_list_that_is_found_quickly))
