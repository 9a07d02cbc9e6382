#include "esp_roster.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include <assert.h>
#include <leat/random.h>
#include <string.h>

static void lay_out(struct leat_esp_roster *r, struct leat_arena *arena)
{
    r->entry = leat_arena_lay(arena, r->cap, sizeof *r->entry);
    r->index = leat_arena_lay(arena, leat_esp_places(r->cap), sizeof *r->index);
}

size_t leat_esp_roster_footprint(uint32_t cap)
{
    struct leat_esp_roster measured = { .cap = cap };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

void leat_esp_roster_init(struct leat_esp_roster *r, uint32_t cap, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    assert(cap >= 1 && cap <= LEAT_ESP_ROSTER_MAX);
    *r = (struct leat_esp_roster){ .cap = cap, .mask = leat_esp_places(cap) - 1 };
    lay_out(r, &arena);
    memset(r->index, 0, ((size_t)r->mask + 1) * sizeof *r->index);
}

/* The position of the address in the index, or where it would be inserted. */
static uint32_t place_of(const struct leat_esp_roster *r, const struct leat_esp_next *address)
{
    uint64_t state = leat_get_le64(address->address) ^ address->port;
    state = leat_random_splitmix(&state) ^ leat_get_le64(address->address + 8);
    uint32_t at = (uint32_t)leat_random_splitmix(&state) & r->mask;
    while (r->index[at] && !leat_esp_next_equal(&r->entry[r->index[at] - 1].address, address))
        at = (at + 1) & r->mask;
    return at;
}

void leat_esp_roster_expire(struct leat_esp_roster *r, leat_time now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (now < r->entry[i].until) r->entry[kept++] = r->entry[i];
    if (kept == r->count) return;
    r->count = kept;
    r->moves++;
    r->forgotten++;
    memset(r->index, 0, ((size_t)r->mask + 1) * sizeof *r->index);
    for (uint32_t i = 0; i < kept; i++)
        r->index[place_of(r, &r->entry[i].address)] = i + 1;
}

const struct leat_esp_roster_entry *leat_esp_roster_find(const struct leat_esp_roster *r,
                                                         const struct leat_esp_next *address)
{
    const uint32_t at = place_of(r, address);
    return r->index[at] ? &r->entry[r->index[at] - 1] : NULL;
}

bool leat_esp_roster_join(struct leat_esp_roster *r, const struct leat_esp_next *address,
                          uint64_t id, uint64_t serial, leat_time until)
{
    const uint32_t at = place_of(r, address);
    if (!r->index[at] && r->count == r->cap) return false;
    if (!r->index[at])
        r->index[at] = ++r->count;
    else if (r->entry[r->index[at] - 1].id != id)
        r->forgotten++;
    r->entry[r->index[at] - 1] = (struct leat_esp_roster_entry){
        .address = *address, .id = id, .serial = serial, .until = until
    };
    return true;
}

void leat_esp_roster_leave(struct leat_esp_roster *r, const struct leat_esp_next *address,
                           uint64_t id, uint64_t serial)
{
    const uint32_t at = place_of(r, address);
    struct leat_esp_roster_entry *entry = r->index[at] ? &r->entry[r->index[at] - 1] : NULL;
    if (!entry || entry->id != id) {
        r->forgotten++;
        return;
    }
    entry->serial = serial;
    entry->until = 0;
}
