/* How the ranks of a communicator become members of a group: a few calls of the component below, in
 * which all of them learn the same and decide alike. */
#include "coll_live.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ompi/mca/coll/base/coll_tags.h>
#include <ompi/mca/pml/pml.h>
#include <opal/runtime/opal_progress.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since 5.14 */
#endif

enum {
    TAG = MCA_COLL_BASE_TAG_HCOLL_BASE - 1582, /* the one after that of coll_live_break.c */
    VAIN_MAX = 16,                             /* sets of hosts */
};

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

/* ---- a word of one speaker to the others ----------------------------------------------------- */

void live_tell_speakers(const struct leat_live *r, const int *speaker, bool is_done)
{
    const uint8_t octet = is_done;
    for (int i = 0; i < r->ranks; i++)
        if (speaker[i] == i && i != r->rank &&
            MCA_PML_CALL(send(&octet, 1, MPI_BYTE, i, TAG, MCA_PML_BASE_SEND_STANDARD,
                              r->m->comm)) != OMPI_SUCCESS)
            abort(); /* as the library's own collective calls would fail */
}

void live_listen(const struct leat_live *r, int from, struct live_word *word)
{
    if (MCA_PML_CALL(irecv(&word->is_done, 1, MPI_BYTE, from, TAG, r->m->comm, &word->request)) !=
        OMPI_SUCCESS)
        abort();
}

bool live_is_heard(const struct live_word *word)
{
    opal_progress();
    return REQUEST_COMPLETE(word->request);
}

bool live_hear(struct live_word *word)
{
    return ompi_request_wait(&word->request, MPI_STATUS_IGNORE) == OMPI_SUCCESS && word->is_done;
}

/* ---- what was tried in vain ------------------------------------------------------------------ */

/* Hosts among which the network did not answer: it takes long to find out, and communicators of
 * some of these hosts would find the same. */
static struct {
    uint64_t *host;
    uint32_t hosts;
} vain[VAIN_MAX];
static uint32_t vains;
static pthread_mutex_t vain_lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(const struct leat_live *r, const struct place *place, const int *speaker)
{
    pthread_mutex_lock(&vain_lock);
    if (vains < VAIN_MAX) {
        uint64_t *host = calloc(r->hosts, sizeof *host);
        if (!host) abort();
        vain[vains].host = host;
        vain[vains++].hosts = r->hosts;
        for (int i = 0; i < r->ranks; i++)
            if (speaker[i] == i) *host++ = place[i].host;
    }
    pthread_mutex_unlock(&vain_lock);
}

static bool has(uint32_t set, uint64_t host)
{
    uint32_t i = 0;
    while (i < vain[set].hosts && vain[set].host[i] != host)
        i++;
    return i < vain[set].hosts;
}

static bool remembers(const struct leat_live *r, const struct place *place)
{
    bool is_known = false;
    pthread_mutex_lock(&vain_lock);
    for (uint32_t set = 0; set < vains && !is_known; set++) {
        is_known = true;
        for (int i = 0; i < r->ranks && is_known; i++)
            is_known = has(set, place[i].host);
    }
    pthread_mutex_unlock(&vain_lock);
    return is_known;
}

/* Does a rank know that it is in vain? Not all of them were members then. */
static bool is_vain(struct leat_live *r, const struct place *place)
{
    leat_coll_module *m = r->m;
    const int own = remembers(r, place);
    int any = 0;
    return m->below.coll_allreduce(&own, &any, 1, MPI_INT, MPI_MAX, m->comm,
                                   m->below.coll_allreduce_module) != OMPI_SUCCESS ||
           any;
}

/* ---- joining --------------------------------------------------------------------------------- */

static bool enter(struct leat_live *r, const int *speaker, const struct live_plan *plan,
                  uint64_t nonce, char *why)
{
    const bool has_memory = r->locals == 1 || live_host_open(r, nonce);
    const bool is_in = r->local || live_by->enter(r, speaker, plan, why); /* others wait for it */
    if (!has_memory) snprintf(why, LIVE_WHY_LEN, "no shared memory");
    return has_memory && is_in;
}

/* Of the ranks: has each entered, and why not; empty: because another one has not. */
struct entry {
    bool is_in;
    char why[LIVE_WHY_LEN];
};

static bool all_are_in(struct leat_live *r, const struct entry *own)
{
    struct entry *entry = calloc((size_t)r->ranks, sizeof *entry);
    if (!entry) abort();
    bool all_in = live_gather(r, own, entry, sizeof *entry);
    bool is_said = !all_in;
    for (int i = 0; i < r->ranks && !is_said; i++) {
        all_in = all_in && entry[i].is_in;
        is_said = !entry[i].is_in && *entry[i].why;
        if (is_said)
            live_say(r, "the host of rank %d: %.280s. Collective calls go by host messages", i,
                     entry[i].why);
    }
    free(entry);
    return all_in;
}

/* Speakers make the memory before the others look for it. */
static bool enter_all(struct leat_live *r, const int *speaker, const struct live_plan *plan,
                      uint64_t nonce)
{
    leat_coll_module *m = r->m;
    struct entry own = { .is_in = true };
    if (!r->local) own.is_in = enter(r, speaker, plan, nonce, own.why);
    m->below.coll_barrier(m->comm, m->below.coll_barrier_module);
    if (r->local) own.is_in = enter(r, speaker, plan, nonce, own.why);
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
    is_in = is_in && r->hosts > 1 && !is_vain(r, place); /* one host needs no network */
    r->has_casts = r->hosts == (uint32_t)r->ranks;
    if (is_in && !live_by->agree(r, speaker, &plan)) {
        plan.why[sizeof plan.why - 1] = 0;
        live_say(r, "%s. Collective calls go by host messages", plan.why);
        is_in = false;
    }
    if (is_in && !enter_all(r, speaker, &plan, place[speaker[r->rank]].nonce))
        is_in = false, plan.is_vain = true;
    if (plan.is_vain) remember(r, place, speaker);
    if (!is_in) {
        if (r->group) live_by->close(r->group);
        r->group = NULL;
        live_host_close(r);
    }
    free(place);
    free(speaker);
    return is_in;
}
