#include "graph_strings.h"
#include "graph_parts.h"
#include "leat_fnv.h"
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64, TEXT_MIN = 4096 };

void leat_graph_strings_free(struct leat_graph_strings *strings)
{
    free(strings->text);
    free(strings->at);
    free(strings->slot);
    *strings = (struct leat_graph_strings){ 0 };
}

/* FNV-1a over 32 bits, its high half folded in, since names differ in their last characters. */
static uint32_t hash_of(const char *text, size_t len)
{
    const uint64_t hash = leat_fnv(LEAT_FNV_EMPTY, text, len);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool is_string(const struct leat_graph_strings *s, uint32_t number, const char *text,
                      size_t len)
{
    const char *have = leat_graph_string(s, number);
    return memcmp(have, text, len) == 0 && have[len] == '\0';
}

/* The slot of a string, present or not. There is always a free one. */
static uint32_t slot_of(const struct leat_graph_strings *s, const char *text, size_t len)
{
    uint32_t i = hash_of(text, len) & (s->slot_count - 1);
    while (s->slot[i]) {
        const size_t room = s->text_len - s->at[s->slot[i]]; /* a longer text cannot match */
        if (len < room && is_string(s, s->slot[i], text, len)) break;
        i = (i + 1) & (s->slot_count - 1);
    }
    return i;
}

static bool grow_slots(struct leat_graph_strings *s)
{
    const uint32_t count = s->slot_count ? 2 * s->slot_count : SLOTS_MIN;
    uint32_t *slot = calloc(count, sizeof *slot);
    if (!slot) return false;
    free(s->slot);
    s->slot = slot;
    s->slot_count = count;
    for (uint32_t i = 1; i <= s->count; i++) {
        const char *text = leat_graph_string(s, i);
        s->slot[slot_of(s, text, strlen(text))] = i;
    }
    return true;
}

static bool make_room(struct leat_graph_strings *s, size_t len)
{
    if (s->text_len + len + 1 > LEAT_GRAPH_STRINGS_LEN_MAX) return false;
    if (s->count >= LEAT_GRAPH_STRINGS_COUNT_MAX) return false;
    if (s->text_len + len + 1 > s->text_cap) {
        size_t cap = s->text_cap ? s->text_cap + s->text_cap / 2 : TEXT_MIN;
        if (cap < s->text_len + len + 1) cap = s->text_len + len + 1;
        char *text = realloc(s->text, cap);
        if (!text) return false;
        s->text = text;
        s->text_cap = cap;
    }
    if (!leat_graph_grow((void **)&s->at, s->count + 1, &s->at_cap, sizeof *s->at, UINT32_MAX))
        return false;
    return s->count < s->slot_count / 2 || grow_slots(s);
}

uint32_t leat_graph_strings_add(struct leat_graph_strings *s, const char *text, size_t len)
{
    if (!make_room(s, len)) return LEAT_GRAPH_NO_STRING;
    const uint32_t slot = slot_of(s, text, len);
    if (s->slot[slot]) return s->slot[slot];
    const uint32_t number = ++s->count;
    s->at[number] = (uint32_t)s->text_len;
    memcpy(s->text + s->text_len, text, len);
    s->text[s->text_len + len] = '\0';
    s->text_len += len + 1;
    s->slot[slot] = number;
    return number;
}

uint32_t leat_graph_strings_find(const struct leat_graph_strings *s, const char *text, size_t len)
{
    return s->slot_count ? s->slot[slot_of(s, text, len)] : LEAT_GRAPH_NO_STRING;
}
