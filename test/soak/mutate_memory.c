/* Allocations of a process that runs main again and again: from one piece of memory, which is
 * free as a whole after each run. What was freed is overwritten; who frees twice, or writes
 * behind an allocation or to one that is free, aborts.
 *
 *   | size, state | octets ... | canary | filler |  size, state | ...
 */
#define _GNU_SOURCE
#include "mutate.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIVE   UINT64_C(0x6c656174206c6976)
#define FREE   UINT64_C(0x6c65617420667265)
#define BEHIND 0xa5
#define GONE   0xdb
enum { HEAD = 16, CANARY = 8, CLASSES = 40, GONE_MAX = 4096, KEPT = 4 << 20 };
#define ROOM (UINT64_C(2000) << 20)

struct block {
    uint32_t size, class;
    uint64_t state;
    uint8_t octets[];
};
struct free_block {
    struct block head;
    struct free_block *next;
};

static uint8_t *base;
static size_t used; /* octets of `base`; those behind shared->dirty are zero */
static struct free_block *lists[CLASSES];

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* Before there is a batch, the range is kept out of what is watched. */
void memory_range(uintptr_t *from, uintptr_t *to)
{
    if (!base)
        base = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    *from = (uintptr_t)base;
    *to = *from + ROOM;
}

static bool active;

void memory_begin(void)
{
    active = true;
    shared->dirty = 0;
}

static bool is_ours(const void *at)
{
    return base && (const uint8_t *)at >= base && (const uint8_t *)at < base + ROOM;
}

static struct block *block_of(void *at)
{
    struct block *block = (struct block *)((uint8_t *)at - HEAD);
    if (block->state != LIVE) abort(); /* freed twice, or never allocated */
    return block;
}

static size_t room_of(unsigned class)
{
    return (size_t)32 << class;
}

static unsigned class_of(size_t size)
{
    unsigned class = 0;
    while (room_of(class) < HEAD + size + CANARY)
        class ++;
    return class;
}

static void check_behind(const struct block *block)
{
    for (size_t i = 0; i < CANARY; i++)
        if (block->octets[block->size + i] != BEHIND) abort(); /* somebody wrote behind it */
}

/* What was freed is overwritten, but for the list that it is in. */
static size_t gone_len(const struct block *block)
{
    return block->size < GONE_MAX ? block->size : GONE_MAX;
}

static void check_gone(const struct block *block)
{
    for (size_t i = sizeof(void *); i < gone_len(block); i++)
        if (block->octets[i] != GONE) abort(); /* somebody wrote to it later */
}

static void *fill_block(struct block *block, size_t size, unsigned class)
{
    block->size = (uint32_t)size;
    block->class = class;
    block->state = LIVE;
    memset(block->octets + size, BEHIND, CANARY);
    return block->octets;
}

/* `align` beyond HEAD is for blocks that no list gives. */
static void *allocate(size_t size, size_t align, bool zeroed)
{
    if (size > ROOM / 2) return errno = ENOMEM, NULL;
    const unsigned class = class_of(size);
    struct free_block *old = align > HEAD ? NULL : lists[class];
    if (old) {
        check_gone(&old->head);
        lists[class] = old->next;
        if (zeroed) memset(old->head.octets, 0, size);
        return fill_block(&old->head, size, class);
    }
    const size_t pad = align > HEAD ? (align - (used + HEAD) % align) % align : 0;
    if (used + pad + room_of(class) > ROOM) return errno = ENOMEM, NULL;
    if (pad) *(struct block *)(base + used) = (struct block){ .size = (uint32_t)pad };
    used += pad;
    struct block *block = (struct block *)(base + used);
    used += room_of(class);
    const size_t from = (size_t)(block->octets - base);
    const size_t dirty = shared->dirty > from ? shared->dirty - from : 0;
    if (zeroed) memset(block->octets, 0, size < dirty ? size : dirty);
    if (used > shared->dirty) shared->dirty = used;
    return fill_block(block, size, class);
}

static void release(void *at)
{
    struct block *block = block_of(at);
    check_behind(block);
    block->state = FREE;
    memset(block->octets, GONE, gone_len(block));
    struct free_block *free_one = (struct free_block *)block;
    free_one->next = lists[block->class];
    lists[block->class] = free_one;
}

void memory_end_case(void)
{
    for (size_t at = 0; at < used;) {
        const struct block *block = (const struct block *)(base + at);
        if (block->state == LIVE) check_behind(block);
        if (block->state == FREE) check_gone(block);
        at += block->state ? room_of(block->class) : block->size;
    }
    used = 0;
    memset(lists, 0, sizeof lists);
    if (shared->dirty <= KEPT) return;
    madvise(base + KEPT, shared->dirty - KEPT, MADV_DONTNEED);
    shared->dirty = KEPT;
}

/* ---- what programs call ---- */

void *malloc(size_t size)
{
    return active ? allocate(size, 0, false) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!active) return __libc_calloc(count, size);
    if (size && count > ROOM / size) return errno = ENOMEM, NULL;
    return allocate(count * size, 0, true);
}

void free(void *at)
{
    if (!at) return;
    if (is_ours(at))
        release(at);
    else
        __libc_free(at);
}

void *realloc(void *at, size_t size)
{
    if (!at) return malloc(size);
    if (!is_ours(at)) return __libc_realloc(at, size);
    struct block *block = block_of(at);
    check_behind(block);
    if (HEAD + size + CANARY <= room_of(block->class) && size)
        return fill_block(block, size, block->class);
    void *other = size ? allocate(size, 0, false) : NULL;
    if (other) memcpy(other, at, block->size < size ? block->size : size);
    if (other || !size) release(at);
    return other;
}

void *memalign(size_t align, size_t size)
{
    return active ? allocate(size, align, false) : __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **at, size_t align, size_t size)
{
    void *found = memalign(align, size);
    if (!found) return ENOMEM;
    *at = found;
    return 0;
}
