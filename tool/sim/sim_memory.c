#define _DEFAULT_SOURCE /* madvise */
#include "sim.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 1 << 21 };

void *sim_memory(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory)
        complain("no memory: the network needs %.1f MB (a smaller fabric, --model cell and fewer "
                 "--blocks need less)",
                 (double)len / 1e6);
    return memory;
}

/* Most time in a large network passes looking for its pages. If the system refuses large ones, they
 * stay small. */
void *sim_memory_often(size_t len, size_t often_len)
{
    uint8_t *memory = sim_memory(len);
#ifdef MADV_HUGEPAGE
    const size_t before = memory ? (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE : 0;
    if (memory && often_len >= before + LARGE_PAGE)
        (void)madvise(memory + before, (often_len - before) / LARGE_PAGE * LARGE_PAGE,
                      MADV_HUGEPAGE);
#else
    (void)often_len;
#endif
    return memory;
}
