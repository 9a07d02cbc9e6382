/*
 * Frames of a file (test/floods.py) through a part of a live network, by live test runs.
 * bench_flood.sh makes the namespaces and the part.
 *
 *   gen: a0 -- r0 :part: r1 -- b0 :sink      c0 -- d0 :sink, which drops all
 *
 * usage: bench_flood flood GEN FILE DEVICE PACE
 *            so many a second from DEVICE until it is ended (0: as fast as it can); prints how many
 *            there were on standard error
 *        bench_flood drop SINK
 *            a program on d0 drops all until it is ended
 *        bench_flood cost GEN FILE SECONDS
 *            prints frames sent per second of processor time
 *        bench_flood rate GEN FILE SECONDS SINK AT MARK
 *            the same of frames at the sink that have the 32 bits MARK at octet AT
 *        bench_flood share GEN FILE SECONDS SINK AT MARK PACE
 *            sends so many a second; prints which share of them reaches the sink, and how many a
 *            second there were
 *
 * A receiver by XDP works within the sender's call. Rates are per second of that thread's processor
 * time, the best of five parts: what else runs on the machine does not count.
 */
#include "bench_live.h"
#include "leat_bytes.h"
#include <bench_flood.skel.h>
#include <bpf/bpf.h>
#include <limits.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TABLE_LEN = 120, FRAME_MAX = 2048, FRAMES_MAX = 1024, PARTS = 5 };
/* Frames of one call, which ends with a wait of the kernel. */
enum { BURST = 64, RUN = 50000, RUN_FOR_EVER = INT_MAX };

static uint8_t octets[FRAMES_MAX][FRAME_MAX];
static struct bench_flood_bpf *b;
static uint32_t len; /* of all frames */

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t read_frames(const char *path)
{
    static char line[2 * FRAME_MAX + 2];
    FILE *file = fopen(path, "r");
    uint32_t count = 0;
    for (; file && count < FRAMES_MAX && fgets(line, sizeof line, file); count++) {
        len = (uint32_t)strcspn(line, "\n") / 2;
        for (uint32_t i = 0; i < len; i++) {
            const char pair[3] = { line[2 * i], line[2 * i + 1], 0 };
            octets[count][i] = (uint8_t)strtoul(pair, NULL, 16);
        }
    }
    if (!file || fclose(file)) bench_fail(path);
    return count;
}

static void load_frames(const char *namespace, const char *path, const char *device)
{
    const uint32_t count = read_frames(path);
    if (!count || (count & (count - 1)) || len < TABLE_LEN) bench_fail("the table of frames");
    for (uint32_t i = 0; i < count; i++)
        if (bpf_map_update_elem(bpf_map__fd(b->maps.frames), &i, octets[i], 0))
            bench_fail("the table of frames");
    b->bss->mask = count - 1;
    bench_enter(namespace);
    b->bss->device = if_nametoindex(device);
}

static void count_marked(const char *namespace, const char *at, const char *mark)
{
    uint8_t wire[4];
    leat_put_be32(wire, (uint32_t)strtoul(mark, NULL, 0));
    memcpy(&b->bss->mark, wire, sizeof wire);
    b->bss->mark_at = (uint32_t)strtoul(at, NULL, 0);
    bench_enter(namespace);
    bench_put_on(b->progs.flood_sink, "b0");
}

static void send_some(uint32_t frames)
{
    struct bpf_test_run_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.sz = sizeof opts;
    opts.data_in = octets[0];
    opts.data_size_in = len;
    opts.repeat = (int)frames;
    opts.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
    opts.batch_size = BURST;
    if (bpf_prog_test_run_opts(bpf_program__fd(b->progs.flood_gen), &opts))
        bench_fail("a live test run");
}

/* Counted per second of processor time. */
static double rate_of(const volatile uint64_t *counted, double seconds)
{
    double best = 0;
    for (int part = 0; part < PARTS; part++) {
        const uint64_t before = *counted;
        const double start = now_s(CLOCK_THREAD_CPUTIME_ID);
        double took;
        do {
            send_some(RUN);
            took = now_s(CLOCK_THREAD_CPUTIME_ID) - start;
        } while (took < seconds / PARTS);
        const double rate = (double)(*counted - before) / took;
        if (rate > best) best = rate;
    }
    return best;
}

/* By a socket, since each test run ends with a wait. Returns how many were sent. */
static uint64_t send_paced(double pace, double seconds)
{
    const struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = (int)b->bss->device };
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    const double start = now_s(CLOCK_MONOTONIC);
    uint64_t sent = 0;
    if (fd < 0 || bind(fd, (const struct sockaddr *)&to, sizeof to)) bench_fail("a packet socket");
    while (now_s(CLOCK_MONOTONIC) < start + seconds) {
        const double ahead = start + (double)sent / pace - now_s(CLOCK_MONOTONIC);
        if (ahead > 0) usleep((useconds_t)(ahead * 1e6));
        for (int i = 0; i < BURST; i++)
            sent += send(fd, octets[sent & b->bss->mask], len, 0) >= 0;
    }
    close(fd);
    return sent;
}

/* And the rate that was kept. */
static void print_share(double pace, double seconds)
{
    const uint64_t sent = send_paced(pace, seconds);
    usleep(300000); /* what waits in a queue */
    printf("%.4f %.0f\n", (double)b->bss->sunk / (double)sent, (double)sent / seconds);
}

static bool is(int argc, char **argv, const char *word, int words)
{
    return argc == words && strcmp(argv[1], word) == 0;
}

int main(int argc, char **argv)
{
    b = argc > 2 ? bench_flood_bpf__open_and_load() : NULL;
    if (argc > 2 && !b) bench_fail("the programs");
    if (is(argc, argv, "drop", 3)) {
        bench_enter(argv[2]);
        bench_put_on(b->progs.flood_sink, "d0");
        pause();
    } else if (is(argc, argv, "flood", 6)) {
        load_frames(argv[2], argv[3], argv[4]);
        const double pace = strtod(argv[5], NULL);
        while (pace <= 0)
            send_some(RUN_FOR_EVER);
        for (;;)
            fprintf(stderr, "%.0f\n", (double)send_paced(pace, 0.5) / 0.5);
    } else if (is(argc, argv, "cost", 5)) {
        load_frames(argv[2], argv[3], "a0");
        printf("%.0f\n", rate_of(&b->bss->sent, strtod(argv[4], NULL)));
    } else if (is(argc, argv, "rate", 8)) {
        count_marked(argv[5], argv[6], argv[7]);
        load_frames(argv[2], argv[3], "a0");
        printf("%.0f\n", rate_of(&b->bss->sunk, strtod(argv[4], NULL)));
    } else if (is(argc, argv, "share", 9)) {
        count_marked(argv[5], argv[6], argv[7]);
        load_frames(argv[2], argv[3], "a0");
        print_share(strtod(argv[8], NULL), strtod(argv[4], NULL));
    } else {
        return fprintf(stderr, "usage: see the head of bench_flood.c\n"), 2;
    }
    bench_flood_bpf__destroy(b);
    return 0;
}
