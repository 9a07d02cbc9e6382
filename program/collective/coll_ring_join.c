/* How the ranks of a communicator become members of a group: three calls of the component below, in
 * which all of them learn the same and decide alike. */
#include "coll_ring.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since 5.14 */
#endif

enum {
    TRIES = 6, /* if no block is free on all hosts: another communicator may be joining */
    PAUSE_US_MAX = 60000,
    CLAIM_US = 100000,
    HOSTS_MAX = 255, /* stations that a packet passes */
};

/* Of each speaker, with all zeros of other ranks. */
struct offer {
    enum leat_aton_host_end end;
    uint32_t ring_id;
    uint16_t address;
    uint32_t blocks;
    uint64_t nonce; /* of the shared memory */
    char why[RING_WHY_LEN];
};

/* Of rank 0. */
struct plan {
    bool is_made;
    uint8_t block;
    uint16_t epoch, members;
    uint32_t stations;
    uint32_t pause_us; /* before the next try */
    char why[RING_WHY_LEN];
};

/* ---- who is where ---------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *octets, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const uint8_t *)octets)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The system since it started, and the network namespace: that is what a station belongs to. */
static uint64_t host_id(void)
{
    char boot[64] = "";
    uint64_t cookie = 0, hash = UINT64_C(0xcbf29ce484222325);
    socklen_t len = sizeof cookie;
    struct stat here;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && !fgets(boot, sizeof boot, file)) *boot = 0;
    if (file) fclose(file);
    hash = mix(hash, boot, sizeof boot);
    if (stat("/proc/self/ns/net", &here) == 0) hash = mix(hash, &here.st_ino, sizeof here.st_ino);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) == 0)
        hash = mix(hash, &cookie, sizeof cookie);
    if (fd >= 0) close(fd);
    return hash;
}

static int gather(struct leat_ring *r, const void *own, void *all, int len)
{
    leat_coll_module *m = r->m;
    return m->below.coll_allgather(own, len, MPI_BYTE, all, len, MPI_BYTE, m->comm,
                                   m->below.coll_allgather_module);
}

/* Which rank speaks for each: the lowest on its host. Returns the number of hosts. */
static uint32_t find_speakers(struct leat_ring *r, const uint64_t *host, int *speaker)
{
    uint32_t hosts = 0;
    r->locals = r->local = 0;
    for (int i = 0; i < r->ranks; i++) {
        int k = 0;
        while (host[k] != host[i])
            k++;
        speaker[i] = k;
        hosts += k == i;
        if (host[i] != host[r->rank]) continue;
        if (i == r->rank) r->local = r->locals;
        r->locals++;
    }
    return hosts;
}

/* ---- offers and the plan --------------------------------------------------------------------- */

static void make_offer(struct leat_ring *r, struct offer *offer)
{
    struct leat_aton_group_seat seat = { .blocks = 0 };
    *offer = (struct offer){ .end = LEAT_ATON_HOST_OK };
    if (r->local) return;
    if (getrandom(&offer->nonce, sizeof offer->nonce, 0) < 0) offer->nonce = (uint64_t)getpid();
    offer->end = ring_library.open((uint32_t)leat_coll_ring_id, &r->group, &seat, offer->why);
    offer->ring_id = seat.ring_id;
    offer->address = seat.address;
    offer->blocks = seat.blocks;
}

static void say_full(struct plan *plan)
{
    snprintf(plan->why, sizeof plan->why,
             "the ring has room for 8 communicators, and they are taken: by this job, by others, "
             "or by registers that are not 0 (leat ring get)");
}

/* What all offers have in common: blocks; 0: see plan->why. */
static uint32_t compare(const struct leat_ring *r, const struct offer *offer, const int *speaker,
                        struct plan *plan)
{
    uint32_t blocks = ~0u;
    for (int i = 0; i < r->ranks; i++) {
        if (speaker[i] != i) continue;
        char text[RING_WHY_LEN];
        memcpy(text, offer[i].why, sizeof text);
        text[sizeof text - 1] = 0;
        if (offer[i].end != LEAT_ATON_HOST_OK) {
            snprintf(plan->why, sizeof plan->why, "the host of rank %d: %.280s", i, text);
            return 0;
        }
        if (offer[i].ring_id != offer[0].ring_id) {
            snprintf(plan->why, sizeof plan->why,
                     "the host of rank 0 is a station of ring %u, that of rank %d of ring %u, "
                     "expected one ring: leat ring status",
                     offer[0].ring_id, i, offer[i].ring_id);
            return 0;
        }
        blocks &= offer[i].blocks;
    }
    if (!blocks) say_full(plan);
    return blocks;
}

/* Rank 0: claims a block, the highest first; low registers are those that people use. */
static void make_plan(struct leat_ring *r, uint32_t blocks, uint32_t hosts, struct plan *plan)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) random = (uint32_t)getpid();
    plan->pause_us = random % PAUSE_US_MAX;
    plan->epoch = (uint16_t)(random >> 16);
    plan->members = (uint16_t)hosts;
    for (int block = LEAT_ATON_GROUPS - 1; block >= 0 && !plan->is_made; block--) {
        if (!(blocks >> block & 1)) continue;
        const enum leat_aton_host_end end = ring_library.claim(r->group, (uint8_t)block, CLAIM_US,
                                                               &plan->stations, plan->why);
        plan->is_made = end == LEAT_ATON_HOST_OK && plan->stations >= hosts;
        plan->block = (uint8_t)block;
        if (end == LEAT_ATON_HOST_FAILED) say_full(plan);
        if (end == LEAT_ATON_HOST_OK && !plan->is_made) {
            snprintf(plan->why, sizeof plan->why,
                     "the ring has %u stations, but the ranks are on %u hosts", plan->stations,
                     hosts);
            ring_library.unclaim(r->group, (uint8_t)block);
        }
        if (end == LEAT_ATON_HOST_SILENT) break;
    }
}

static bool bcast(struct leat_ring *r, struct plan *plan)
{
    leat_coll_module *m = r->m;
    return m->below.coll_bcast(plan, sizeof *plan, MPI_BYTE, 0, m->comm,
                               m->below.coll_bcast_module) == OMPI_SUCCESS;
}

static void withdraw(struct leat_ring *r)
{
    ring_library.close(r->group);
    r->group = NULL;
}

/* Offers, until rank 0 has claimed a block that is free everywhere. */
static bool agree(struct leat_ring *r, const int *speaker, uint32_t hosts, struct offer *offer,
                  struct plan *plan)
{
    for (int i = 0; i < TRIES; i++) {
        struct offer own;
        *plan = (struct plan){ .is_made = false };
        make_offer(r, &own);
        if (gather(r, &own, offer, sizeof own) != OMPI_SUCCESS) return false;
        const uint32_t blocks = compare(r, offer, speaker, plan);
        if (r->rank == 0 && blocks) make_plan(r, blocks, hosts, plan);
        if (!bcast(r, plan)) return false;
        if (plan->is_made) return true;
        withdraw(r);
        for (int k = 0; k < r->ranks; k++)
            if (offer[k].end != LEAT_ATON_HOST_OK) return false; /* another try is in vain */
        const struct timespec pause = { .tv_nsec = (long)plan->pause_us * 1000 };
        nanosleep(&pause, NULL);
    }
    return false;
}

/* ---- joining --------------------------------------------------------------------------------- */

static bool enter(struct leat_ring *r, const struct plan *plan, uint64_t nonce)
{
    char why[RING_WHY_LEN] = "";
    if (r->locals > 1 && !ring_host_open(r, nonce)) return false;
    return r->local ||
           ring_library.join(r->group, plan->block, plan->epoch, plan->members, plan->stations,
                             r->rank == 0, (uint64_t)leat_coll_patience_ms * 1000,
                             why) == LEAT_ATON_HOST_OK;
}

/* Speakers make the memory before the others look for it. */
static bool enter_all(struct leat_ring *r, const struct offer *offer, const int *speaker,
                      const struct plan *plan)
{
    leat_coll_module *m = r->m;
    const uint64_t nonce = offer[speaker[r->rank]].nonce;
    int is_in = 1, all_in = 0;
    if (!r->local) is_in = enter(r, plan, nonce);
    m->below.coll_barrier(m->comm, m->below.coll_barrier_module);
    if (r->local) is_in = enter(r, plan, nonce);
    m->below.coll_allreduce(&is_in, &all_in, 1, MPI_INT, MPI_MIN, m->comm,
                            m->below.coll_allreduce_module);
    if (r->locals > 1) ring_host_unlink(r, nonce);
    if (!all_in)
        ring_say(r, "a host has no room for shared memory, or a station has left: host "
                    "messages instead");
    return all_in;
}

bool ring_join(struct leat_ring *r)
{
    const uint64_t own = host_id();
    uint64_t *host = calloc((size_t)r->ranks, sizeof *host);
    int *speaker = calloc((size_t)r->ranks, sizeof *speaker);
    struct offer *offer = calloc((size_t)r->ranks, sizeof *offer);
    struct plan plan = { .is_made = false };
    bool is_in = host && speaker && offer && gather(r, &own, host, sizeof own) == OMPI_SUCCESS;
    if (!host || !speaker || !offer) abort();
    const uint32_t hosts = is_in ? find_speakers(r, host, speaker) : 0;
    is_in = hosts > 1; /* one host needs no network */
    r->has_casts = hosts == (uint32_t)r->ranks;
    if (is_in && (hosts > HOSTS_MAX || !agree(r, speaker, hosts, offer, &plan))) {
        plan.why[sizeof plan.why - 1] = 0;
        ring_say(r, "%s. Collective calls go by host messages", plan.why);
        is_in = false;
    }
    is_in = is_in && enter_all(r, offer, speaker, &plan);
    if (!is_in) {
        withdraw(r);
        ring_host_close(r);
    }
    free(host);
    free(speaker);
    free(offer);
    return is_in;
}
