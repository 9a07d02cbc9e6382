/* The members that a root knows, compared with a plain list. */
#include "esp_roster.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CAMPAIGN = LEAT_ROUNDS / 50 + 400, ROOM = 16 };

static struct leat_esp_next address_of(unsigned i)
{
    return (struct leat_esp_next){ .address = { [15] = (uint8_t)i }, .port = LEAT_ESP_UDP_PORT };
}

/* A list with linear search. */
struct plain_roster {
    struct leat_esp_roster_entry entry[ROOM];
    unsigned count;
    uint64_t forgotten;
};

static unsigned plain_find(const struct plain_roster *p, const struct leat_esp_next *address)
{
    unsigned i = 0;
    while (i < p->count && (memcmp(p->entry[i].address.address, address->address, 16) ||
                            p->entry[i].address.port != address->port))
        i++;
    return i;
}

static void plain_expire(struct plain_roster *p, leat_time now)
{
    const unsigned before = p->count;
    for (unsigned i = p->count; i--;)
        if (p->entry[i].until <= now)
            memmove(&p->entry[i], &p->entry[i + 1], (--p->count - i) * sizeof *p->entry);
    p->forgotten += p->count < before;
}

static void plain_leave(struct plain_roster *p, const struct leat_esp_roster_entry *who)
{
    const unsigned at = plain_find(p, &who->address);
    if (at < p->count && p->entry[at].id == who->id) {
        p->entry[at].until = 0;
        p->entry[at].serial = who->serial;
    } else {
        p->forgotten++;
    }
}

static bool plain_join(struct plain_roster *p, const struct leat_esp_roster_entry *who)
{
    const unsigned at = plain_find(p, &who->address);
    if (at == ROOM) return false;
    p->forgotten += at < p->count && p->entry[at].id != who->id;
    p->entry[at] = *who;
    p->count += at == p->count;
    return true;
}

static void compare(const struct leat_esp_roster *roster, const struct plain_roster *plain,
                    const struct leat_esp_next *address)
{
    const unsigned at = plain_find(plain, address);
    EQ(roster->count, plain->count);
    EQ(roster->forgotten, plain->forgotten);
    OK(leat_esp_roster_find(roster, address) == (at < plain->count ? &roster->entry[at] : NULL));
    for (unsigned i = 0; i < plain->count; i++) {
        EQ(roster->entry[i].id, plain->entry[i].id);
        EQ(roster->entry[i].serial, plain->entry[i].serial);
        EQ(roster->entry[i].until, plain->entry[i].until);
    }
}

static void the_roster_is_a_list_that_is_found_quickly(void)
{
    static _Alignas(max_align_t) uint8_t memory[4096];
    struct leat_esp_roster roster;
    struct plain_roster plain = { .count = 0 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    OK(leat_esp_roster_footprint(ROOM) <= sizeof memory);
    leat_esp_roster_init(&roster, ROOM, memory);
    for (leat_time now = 0; now < CAMPAIGN && !tap_checks_failed; now++) {
        struct leat_esp_roster_entry who;
        who.address = address_of((unsigned)leat_random_below(&r, 12));
        who.address.port = (uint16_t)leat_random_below(&r, 2);
        who.id = leat_random_below(&r, 3);
        who.serial = leat_random_next(&r);
        who.until = now + leat_random_below(&r, 40);
        switch (leat_random_below(&r, 8)) {
        case 0:
            leat_esp_roster_expire(&roster, now);
            plain_expire(&plain, now);
            break;
        case 1:
            leat_esp_roster_leave(&roster, &who.address, who.id, who.serial);
            plain_leave(&plain, &who);
            break;
        default:
            EQ(leat_esp_roster_join(&roster, &who.address, who.id, who.serial, who.until),
               plain_join(&plain, &who));
        }
        compare(&roster, &plain, &who.address);
    }
}

static void an_index_is_at_most_half_full(void)
{
    for (uint32_t entries = 1; entries < 1000; entries++) {
        const uint32_t places = leat_esp_places(entries);
        OK(places >= 2 * entries && places < 4 * entries && (places & (places - 1)) == 0);
    }
    struct leat_esp_next a = address_of(1), b = address_of(1);
    OK(leat_esp_next_equal(&a, &b));
    b.port++;
    OK(!leat_esp_next_equal(&a, &b));
    b = address_of(2);
    OK(!leat_esp_next_equal(&a, &b));
}

TAP_MAIN(T(the_roster_is_a_list_that_is_found_quickly), T(an_index_is_at_most_half_full))
