/* Sorts a few elements in place (Shell 1959), by an order in which no two are equal. */
#ifndef LEAT_SORT_H
#define LEAT_SORT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LEAT_SORT_SIZE_MAX = 16 };

/* Inline, so that a constant size and order cost no calls. */
#ifdef __GNUC__
#define LEAT_SORT_INLINE __attribute__((always_inline)) static inline
#else
#define LEAT_SORT_INLINE static inline
#endif

typedef bool leat_sort_before(const void *context, const void *a, const void *b);

/* `count` elements of `size` octets, at most LEAT_SORT_SIZE_MAX. */
LEAT_SORT_INLINE void leat_sort(void *elements, uint32_t count, size_t size,
                                leat_sort_before *before, const void *context)
{
    unsigned char *const first = elements;
    uint64_t moving[LEAT_SORT_SIZE_MAX / sizeof(uint64_t)]; /* aligned as the elements are */
    uint32_t gap = 1;
    assert(size <= sizeof moving);
    while (gap < count / 3)
        gap = gap * 3 + 1;
    for (; gap; gap /= 3)
        for (uint32_t i = gap; i < count; i++) {
            uint32_t at = i;
            memcpy(moving, first + i * size, size);
            for (; at >= gap && before(context, moving, first + (at - gap) * size); at -= gap)
                memcpy(first + at * size, first + (at - gap) * size, size);
            memcpy(first + at * size, moving, size);
        }
}

#endif
