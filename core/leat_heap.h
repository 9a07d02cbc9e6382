/*
 * Heaps in the caller's arrays: the element that comes before all others is on top, at place 0.
 *
 *             0                  up      from the end, or where an element became earlier
 *           1   2                down    from the top, or where one became later
 *          3 4 5 6               push, take: the same, for heaps that only lose their top
 *
 * Elements are copied. `placed`, unless NULL, is called for each element that gets a place, so that
 * the caller can find it again.
 */
#ifndef LEAT_HEAP_H
#define LEAT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Inline, so that a constant size and order cost no calls. */
#ifdef __GNUC__
#define LEAT_HEAP_INLINE __attribute__((always_inline)) static inline
#else
#define LEAT_HEAP_INLINE static inline
#endif

/* What all elements of a heap have in common. */
struct leat_heap {
    void *element;
    size_t size; /* octets of each */
    bool (*before)(const void *context, const void *a, const void *b);
    void (*placed)(void *context, const void *element, uint32_t place);
    void *context;
};

LEAT_HEAP_INLINE unsigned char *leat_heap_at(const struct leat_heap *h, uint32_t place)
{
    return (unsigned char *)h->element + place * h->size;
}

LEAT_HEAP_INLINE void leat_heap_put(const struct leat_heap *h, uint32_t place, const void *element)
{
    memcpy(leat_heap_at(h, place), element, h->size);
    if (h->placed) h->placed(h->context, element, place);
}

/* Puts an element, which is not in the array, where it belongs from `place` upwards. */
LEAT_HEAP_INLINE void leat_heap_up(const struct leat_heap *h, uint32_t place, const void *element)
{
    while (place && h->before(h->context, element, leat_heap_at(h, (place - 1) / 2))) {
        leat_heap_put(h, place, leat_heap_at(h, (place - 1) / 2));
        place = (place - 1) / 2;
    }
    leat_heap_put(h, place, element);
}

/* The same downwards, in a heap of `count` elements. */
LEAT_HEAP_INLINE void leat_heap_down(const struct leat_heap *h, uint32_t count, uint32_t place,
                                     const void *element)
{
    for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count &&
            h->before(h->context, leat_heap_at(h, child + 1), leat_heap_at(h, child)))
            child++;
        if (!h->before(h->context, leat_heap_at(h, child), element)) break;
        leat_heap_put(h, place, leat_heap_at(h, child));
    }
    leat_heap_put(h, place, element);
}

/* There is room for one more. */
LEAT_HEAP_INLINE void leat_heap_push(const struct leat_heap *h, uint32_t *count,
                                     const void *element)
{
    leat_heap_up(h, (*count)++, element);
}

/* Copies the top, which there is, and removes it. */
LEAT_HEAP_INLINE void leat_heap_take(const struct leat_heap *h, uint32_t *count, void *top)
{
    memcpy(top, h->element, h->size);
    --*count;
    if (*count) leat_heap_down(h, *count, 0, leat_heap_at(h, *count));
}

#endif
