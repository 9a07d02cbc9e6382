#include "graph_spool.h"
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "leat_heap.h"
#include "poets_wire.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In the file and on the link: time, kind, address, packet. */
enum {
    ADDRESS_AT = 8,
    TO_HOST_AT = 12,
    NFLIT_AT = 13, /* 0: the end */
    HEAD_LEN = 14,
};

struct head { /* a rank's: begins its stream */
    uint64_t began_ns, machine;
};

bool leat_poets_spool_open(struct leat_poets_spool *spool, uint64_t began_ns)
{
    *spool = (struct leat_poets_spool){ .file = tmpfile(), .began_ns = began_ns };
    return spool->file;
}

void leat_poets_spool_close(struct leat_poets_spool *spool)
{
    if (spool->file) fclose(spool->file);
    spool->file = NULL;
}

void leat_poets_spool_put(struct leat_poets_spool *spool, uint64_t time_ns, bool to_host,
                          uint32_t address, const uint8_t *packet, unsigned nflit)
{
    uint8_t head[HEAD_LEN];
    leat_put_be64(head, time_ns);
    leat_put_be32(head + ADDRESS_AT, address);
    head[TO_HOST_AT] = to_host;
    head[NFLIT_AT] = (uint8_t)nflit;
    fwrite(head, 1, sizeof head, spool->file); /* errors are noticed at the end */
    fwrite(packet, LEAT_POETS_FLIT_LEN, nflit, spool->file);
    spool->count++;
}

/* The same on all processes of a machine since it was booted; 0: not known. */
static uint64_t machine_id(void)
{
    uint8_t id[64];
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "r");
    const size_t len = in ? fread(id, 1, sizeof id, in) : 0;
    if (in) fclose(in);
    return len ? leat_fnv(LEAT_FNV_EMPTY, id, len) : 0;
}

static bool rewind_file(const struct leat_poets_spool *spool)
{
    if (fflush(spool->file) == 0 && !ferror(spool->file) && fseek(spool->file, 0, SEEK_SET) == 0)
        return true;
    fprintf(stderr, "leat: the temporary file of a recording: %s\n", strerror(errno));
    return false;
}

/* ---- other ranks ---------------------------------------------------------------------------- */

static void send_all(const struct leat_poets_spool *spool, struct leat_poets_streams *streams)
{
    static const uint8_t end[HEAD_LEN];
    uint8_t head[16], octets[4096];
    size_t len;
    leat_put_be64(head, spool->began_ns);
    leat_put_be64(head + 8, machine_id());
    leat_poets_streams_put(streams, head, sizeof head);
    while ((len = fread(octets, 1, sizeof octets, spool->file)))
        leat_poets_streams_put(streams, octets, len);
    leat_poets_streams_put(streams, end, sizeof end);
}

/* ---- rank 0 --------------------------------------------------------------------------------- */

struct merging {
    const struct leat_poets_spool *spool; /* its own */
    struct leat_poets_streams *streams;
    uint64_t *later_ns; /* by rank: how much later than rank 0 it has begun */
    struct next *next;  /* heap: the next packet of each rank */
    uint32_t count;
    bool failed;
};

struct next {
    uint64_t time_ns;
    uint32_t rank, address;
    uint8_t to_host, nflit;
    uint8_t packet[LEAT_POETS_PACKET_LEN_MAX];
};

struct into {
    uint8_t *at;
};

static void copy(void *context, const uint8_t *octets, size_t len)
{
    struct into *into = context;
    memcpy(into->at, octets, len);
    into->at += len;
}

static bool get(struct merging *m, uint32_t rank, uint8_t *out, size_t len)
{
    struct into into = { out };
    const bool good = rank ? leat_poets_streams_take(m->streams, rank, len, copy, &into)
                           : fread(out, 1, len, m->spool->file) == len;
    m->failed = m->failed || (!good && rank);
    return good;
}

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct next *x = a, *y = b;
    (void)context;
    return x->time_ns != y->time_ns ? x->time_ns < y->time_ns : x->rank < y->rank;
}

static struct leat_heap heap_of(struct merging *m)
{
    return (struct leat_heap){ .element = m->next, .size = sizeof *m->next, .before = is_before };
}

/* The next packet of a rank, if it has any. */
static void fetch(struct merging *m, uint32_t rank)
{
    const struct leat_heap heap = heap_of(m);
    struct next next = { .rank = rank };
    uint8_t head[HEAD_LEN];
    if (!get(m, rank, head, sizeof head) || !head[NFLIT_AT] ||
        head[NFLIT_AT] > LEAT_POETS_PACKET_LEN_MAX / LEAT_POETS_FLIT_LEN)
        return;
    next.time_ns = leat_get_be64(head) + m->later_ns[rank];
    next.address = leat_get_be32(head + ADDRESS_AT);
    next.to_host = head[TO_HOST_AT];
    next.nflit = head[NFLIT_AT];
    if (get(m, rank, next.packet, (size_t)next.nflit * LEAT_POETS_FLIT_LEN))
        leat_heap_push(&heap, &m->count, &next);
}

/* Times of one machine's ranks count from the start of the first of them. */
static void compare_clocks(struct merging *m, uint32_t ranks)
{
    const uint64_t here = machine_id();
    uint64_t first = m->spool->began_ns;
    for (uint32_t r = 1; r < ranks; r++) {
        uint8_t head[16];
        if (!get(m, r, head, sizeof head)) return;
        m->later_ns[r] = here && leat_get_be64(head + 8) == here ? leat_get_be64(head) : 0;
        if (m->later_ns[r] && m->later_ns[r] < first) first = m->later_ns[r];
    }
    m->later_ns[0] = m->spool->began_ns;
    for (uint32_t r = 0; r < ranks; r++)
        m->later_ns[r] = m->later_ns[r] ? m->later_ns[r] - first : 0;
}

static bool take_all(const struct leat_poets_spool *spool, const struct leat_poets_run_watch *watch,
                     struct leat_poets_streams *streams)
{
    const uint32_t ranks = streams->link->rank_count;
    struct merging m = { .spool = spool, .streams = streams };
    uint64_t shown = 0;
    m.later_ns = calloc(ranks, sizeof *m.later_ns);
    m.next = calloc(ranks, sizeof *m.next);
    m.failed = !m.later_ns || !m.next;
    const struct leat_heap heap = heap_of(&m);
    if (!m.failed) compare_clocks(&m, ranks);
    for (uint32_t r = 0; r < ranks && !m.failed; r++)
        fetch(&m, r);
    while (m.count && !m.failed) {
        struct next next;
        leat_heap_take(&heap, &m.count, &next);
        if (shown++ < watch->packets_max)
            watch->packet(watch->context, next.time_ns, next.to_host, next.address, next.packet,
                          next.nflit);
        fetch(&m, next.rank);
    }
    free(m.later_ns);
    free(m.next);
    return !m.failed;
}

bool leat_poets_spool_merge(struct leat_poets_spool *spool,
                            const struct leat_poets_run_watch *watch,
                            struct leat_poets_streams *streams)
{
    if (!spool->file) return true;
    if (!rewind_file(spool)) return false;
    if (!streams->link->rank) return take_all(spool, watch, streams);
    send_all(spool, streams);
    return true;
}
