/* The memory that ranks of one host share. */
#include "coll_live.h"
#include "port_fold.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAME_LEN = 64, LINE = 64 };

/* Number and words of one rank's part. It writes the next one when it has the result. */
struct slot {
    _Alignas(LINE) _Atomic uint64_t parts; /* handed over so far */
    uint64_t word[LIVE_WORDS_MAX];
};

struct live_host {
    _Alignas(LINE) _Atomic uint64_t results; /* published so far */
    uint64_t word[LIVE_WORDS_MAX];
    _Alignas(LINE) _Atomic uint32_t bell; /* changes with every part and result */
    _Atomic uint32_t sleepers;
    struct slot slot[];
};

static size_t len_of(const struct leat_live *r)
{
    return sizeof(struct live_host) + r->locals * sizeof(struct slot);
}

static void name_of(uint64_t nonce, char name[NAME_LEN])
{
    snprintf(name, NAME_LEN, "/leat-coll.%016llx", (unsigned long long)nonce);
}

bool live_host_open(struct leat_live *r, uint64_t nonce)
{
    char name[NAME_LEN];
    name_of(nonce, name);
    const bool makes = r->local == 0;
    const int file = shm_open(name, O_RDWR | O_CLOEXEC | (makes ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0) return false;
    void *mapped = makes && ftruncate(file, (off_t)len_of(r))
                       ? MAP_FAILED
                       : mmap(NULL, len_of(r), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return false;
    r->host = mapped;
    return true;
}

void live_host_unlink(const struct leat_live *r, uint64_t nonce)
{
    char name[NAME_LEN];
    name_of(nonce, name);
    if (r->local == 0) shm_unlink(name);
}

void live_host_close(struct leat_live *r)
{
    if (r->host) munmap(r->host, len_of(r));
    r->host = NULL;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

static void ring_bell(struct live_host *host)
{
    atomic_fetch_add(&host->bell, 1);
    if (atomic_load(&host->sleepers))
        syscall(SYS_futex, &host->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Has it what it waits for, or will the bell ring? */
static bool may_sleep(const struct leat_live *r)
{
    const struct live_host *host = r->host;
    if (r->local) return atomic_load(&host->results) <= r->completed;
    for (uint32_t i = 1; i < r->locals; i++)
        if (atomic_load(&host->slot[i].parts) <= r->completed) return true;
    return false;
}

void live_host_sleep(struct leat_live *r, uint32_t timeout_us)
{
    struct live_host *host = r->host;
    const struct timespec span = { .tv_nsec = (long)timeout_us * 1000 };
    atomic_fetch_add(&host->sleepers, 1);
    const uint32_t seen = atomic_load(&host->bell);
    if (may_sleep(r)) syscall(SYS_futex, &host->bell, FUTEX_WAIT, seen, &span, NULL, 0);
    atomic_fetch_sub(&host->sleepers, 1);
}

/* ---- parts and results ----------------------------------------------------------------------- */

void live_host_hand_over(struct leat_live *r, const struct live_part *part)
{
    struct slot *slot = &r->host->slot[r->local];
    memcpy(slot->word, part->word, part->words * sizeof *part->word);
    atomic_store_explicit(&slot->parts, part->number + 1, memory_order_release);
    ring_bell(r->host);
}

bool live_host_collect(struct leat_live *r, const struct live_part *part, uint64_t *word)
{
    for (uint32_t i = 0; i < r->locals; i++)
        if (atomic_load_explicit(&r->host->slot[i].parts, memory_order_acquire) <= part->number)
            return false;
    memcpy(word, part->word, part->words * sizeof *word);
    for (uint32_t i = 1; i < r->locals; i++)
        leat_port_fold_words(part->fold, word, r->host->slot[i].word, part->words);
    return true;
}

void live_host_publish(struct leat_live *r, uint64_t number, const uint64_t *word, uint32_t words)
{
    memcpy(r->host->word, word, words * sizeof *word);
    atomic_store_explicit(&r->host->results, number + 1, memory_order_release);
    ring_bell(r->host);
}

bool live_host_is_published(struct leat_live *r, uint64_t number, uint64_t *word, uint32_t words)
{
    if (atomic_load_explicit(&r->host->results, memory_order_acquire) <= number) return false;
    memcpy(word, r->host->word, words * sizeof *word);
    return true;
}
