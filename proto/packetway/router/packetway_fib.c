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
    if (fib->index) {
        memset(fib->index->page, 0, sizeof fib->index->page);
        fib->index->wide = (struct leat_packetway_range_list){ 0 };
        fib->index->used = 0;
    }
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

/* ---- ranges ---- */

static struct leat_packetway_range_list *list_of(struct leat_packetway_range_index *index,
                                                 uint32_t page)
{
    return &index->page[page % LEAT_PACKETWAY_PAGES];
}

static void link_range(struct leat_packetway_range_index *index,
                       struct leat_packetway_range_list *list, uint32_t range)
{
    struct leat_packetway_range_link *link = &index->links[index->used++];
    *link = (struct leat_packetway_range_link){ range, 0 };
    if (list->first)
        index->links[list->last - 1].next = index->used;
    else
        list->first = index->used;
    list->last = index->used;
}

static void index_range(struct leat_packetway_fib *fib, uint32_t range)
{
    const struct leat_packetway_address *a = &fib->ranges[range].address;
    const uint32_t first = a->low >> LEAT_PACKETWAY_PAGE_BITS,
                   last = a->high >> LEAT_PACKETWAY_PAGE_BITS;
    if (a->at != LEAT_PACKETWAY_AT_MIN || last - first > LEAT_PACKETWAY_RANGE_PAGES) {
        link_range(fib->index, &fib->index->wide, range);
        return;
    }
    for (uint32_t page = first; page <= last; page++)
        link_range(fib->index, list_of(fib->index, page), range);
}

bool leat_packetway_fib_add_range(struct leat_packetway_fib *fib,
                                  const struct leat_packetway_address *address,
                                  const struct leat_packetway_entry *entry)
{
    if (fib->range_count == fib->ranges_max) return false;
    fib->ranges[fib->range_count] = (struct leat_packetway_range){ *address, *entry };
    if (fib->index) index_range(fib, fib->range_count);
    fib->range_count++;
    return true;
}

bool leat_packetway_fib_next_range(const struct leat_packetway_fib *fib, uint32_t dt,
                                   struct leat_packetway_range_walk *walk, uint32_t *range)
{
    const struct leat_packetway_range_index *index = fib->index;
    if (!index) {
        *range = walk->at++;
        return *range < fib->range_count;
    }
    if (!walk->begun) {
        walk->begun = true;
        walk->at = index->page[(dt >> LEAT_PACKETWAY_PAGE_BITS) % LEAT_PACKETWAY_PAGES].first;
        walk->wide = index->wide.first;
    }
    uint32_t *next = walk->at ? &walk->at : &walk->wide;
    if (walk->at && walk->wide &&
        index->links[walk->wide - 1].range < index->links[walk->at - 1].range)
        next = &walk->wide;
    if (!*next) return false;
    *range = index->links[*next - 1].range;
    *next = index->links[*next - 1].next;
    return true;
}

const struct leat_packetway_entry *leat_packetway_fib_ranges(const struct leat_packetway_fib *fib,
                                                             uint32_t dt,
                                                             struct leat_packetway_entry *room)
{
    bool found = false;
    *room = (struct leat_packetway_entry){ .dt = dt };
    struct leat_packetway_range_walk walk = { 0 };
    for (uint32_t i; leat_packetway_fib_next_range(fib, dt, &walk, &i);) {
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
