#include "packetway_fib.h"
#include <string.h>

uint32_t leat_packetway_fib_slot_bits(uint32_t known_max)
{
    uint32_t bits = 4;
    while (UINT32_C(1) << bits < 2 * known_max)
        bits++;
    return bits;
}

void leat_packetway_fib_clear(struct leat_packetway_fib *fib)
{
    memset(fib->entries, 0, ((size_t)1 << fib->slot_bits) * sizeof *fib->entries);
    fib->count = fib->range_count = 0;
    fib->version++;
}

struct leat_packetway_entry *leat_packetway_fib_take(struct leat_packetway_fib *fib, uint32_t dt)
{
    const uint32_t mask = (UINT32_C(1) << fib->slot_bits) - 1;
    uint32_t slot = leat_packetway_fib_slot(fib, dt);
    while (fib->entries[slot].dt && fib->entries[slot].dt != dt)
        slot = (slot + 1) & mask;
    struct leat_packetway_entry *e = &fib->entries[slot];
    if (e->dt) return e;
    if (fib->count == fib->known_max) return NULL;
    fib->count++;
    *e = (struct leat_packetway_entry){ .dt = dt };
    return e;
}

void leat_packetway_entry_offer(struct leat_packetway_entry *e, bool twin, uint32_t index,
                                uint16_t q)
{
    uint8_t *way = twin ? &e->twin : &e->buddy;
    uint16_t *way_q = twin ? &e->twin_q : &e->buddy_q;
    const bool other = (twin ? e->buddy : e->twin) != 0;
    const uint16_t other_q = twin ? e->buddy_q : e->twin_q;
    if (*way && q >= *way_q) return;
    *way = (uint8_t)(index + 1);
    *way_q = q;
    if (other && q >= other_q) return; /* the other came first or is better: already preferred */
    if (twin)
        e->flags &= (uint8_t)~LEAT_PACKETWAY_ENTRY_BUDDY_LEADS;
    else
        e->flags |= LEAT_PACKETWAY_ENTRY_BUDDY_LEADS;
}

const struct leat_packetway_entry *leat_packetway_fib_ranges(const struct leat_packetway_fib *fib,
                                                             uint32_t dt,
                                                             struct leat_packetway_entry *room)
{
    bool found = false;
    *room = (struct leat_packetway_entry){ .dt = dt };
    for (uint32_t i = 0; i < fib->range_count; i++) {
        const struct leat_packetway_range *r = &fib->ranges[i];
        const struct leat_packetway_entry *e = &r->entry;
        if (!leat_packetway_address_matches(&r->address, dt)) continue;
        found = true;
        if (e->native) {
            room->native = e->native;
            return room;
        }
        if (!room->definer) room->definer = e->definer;
        if (!room->failure) room->failure = e->failure;
        if (e->twin) leat_packetway_entry_offer(room, true, e->twin - 1u, e->twin_q);
        if (e->buddy) leat_packetway_entry_offer(room, false, e->buddy - 1u, e->buddy_q);
    }
    return found ? room : NULL;
}
