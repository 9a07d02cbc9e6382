/* How the ranks of a communicator become members of a group: three calls of the component below, in
 * which all of them learn the same and decide alike. */
#include "coll_live.h"
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

/* Of a rank. */
struct place {
    uint64_t host;
    uint64_t nonce; /* of the memory that ranks of a host share; the speaker's */
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

bool live_gather(struct leat_live *r, const void *own, void *all, int len)
{
    leat_coll_module *m = r->m;
    return m->below.coll_allgather(own, len, MPI_BYTE, all, len, MPI_BYTE, m->comm,
                                   m->below.coll_allgather_module) == OMPI_SUCCESS;
}

bool live_publish(struct leat_live *r, struct live_plan *plan)
{
    leat_coll_module *m = r->m;
    return m->below.coll_bcast(plan, sizeof *plan, MPI_BYTE, 0, m->comm,
                               m->below.coll_bcast_module) == OMPI_SUCCESS;
}

/* Which rank speaks for each: the lowest on its host. */
static void find_speakers(struct leat_live *r, const struct place *place, int *speaker)
{
    r->locals = r->local = r->hosts = 0;
    for (int i = 0; i < r->ranks; i++) {
        int k = 0;
        while (place[k].host != place[i].host)
            k++;
        speaker[i] = k;
        r->hosts += k == i;
        if (place[i].host != place[r->rank].host) continue;
        if (i == r->rank) r->local = r->locals;
        r->locals++;
    }
}

static bool enter(struct leat_live *r, const struct live_plan *plan, uint64_t nonce, char *why)
{
    if (r->locals > 1 && !live_host_open(r, nonce)) {
        snprintf(why, LIVE_WHY_LEN, "no shared memory");
        return false;
    }
    return r->local || live_by->enter(r, plan, why);
}

/* Of the ranks: has each entered, and why not. */
struct entry {
    bool is_in;
    char why[LIVE_WHY_LEN];
};

static bool all_are_in(struct leat_live *r, const struct entry *own)
{
    struct entry *entry = calloc((size_t)r->ranks, sizeof *entry);
    if (!entry) abort();
    bool all_in = live_gather(r, own, entry, sizeof *entry);
    for (int i = 0; i < r->ranks && all_in; i++) {
        all_in = entry[i].is_in;
        if (!all_in)
            live_say(r, "the host of rank %d: %.280s. Collective calls go by host messages", i,
                     entry[i].why);
    }
    free(entry);
    return all_in;
}

/* Speakers make the memory before the others look for it. */
static bool enter_all(struct leat_live *r, const struct live_plan *plan, uint64_t nonce)
{
    leat_coll_module *m = r->m;
    struct entry own = { .is_in = true };
    if (!r->local) own.is_in = enter(r, plan, nonce, own.why);
    m->below.coll_barrier(m->comm, m->below.coll_barrier_module);
    if (r->local) own.is_in = enter(r, plan, nonce, own.why);
    const bool all_in = all_are_in(r, &own);
    if (r->locals > 1) live_host_unlink(r, nonce);
    return all_in;
}

bool live_join(struct leat_live *r)
{
    struct place own = { .host = host_id() };
    struct place *place = calloc((size_t)r->ranks, sizeof *place);
    int *speaker = calloc((size_t)r->ranks, sizeof *speaker);
    struct live_plan plan = { .is_made = false };
    if (!place || !speaker) abort();
    if (getrandom(&own.nonce, sizeof own.nonce, 0) < 0) own.nonce = (uint64_t)getpid();
    bool is_in = live_gather(r, &own, place, sizeof own);
    if (is_in) find_speakers(r, place, speaker);
    is_in = is_in && r->hosts > 1; /* one host needs no network */
    r->has_casts = r->hosts == (uint32_t)r->ranks;
    if (is_in && !live_by->agree(r, speaker, &plan)) {
        plan.why[sizeof plan.why - 1] = 0;
        live_say(r, "%s. Collective calls go by host messages", plan.why);
        is_in = false;
    }
    is_in = is_in && enter_all(r, &plan, place[speaker[r->rank]].nonce);
    if (!is_in) {
        if (r->group) live_by->close(r->group);
        r->group = NULL;
        live_host_close(r);
    }
    free(place);
    free(speaker);
    return is_in;
}
