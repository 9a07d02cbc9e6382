/*
 * How many packets a second pass a router, between two namespaces on veths, on one core: a frame is
 * sent by live test runs, a sink behind the router counts. bench_pktway_live.sh makes the
 * namespaces and starts the router and the host behind it.
 *
 *   gen: a0 -- r0 :router: r1 -- b0 :sink
 *
 * usage: bench_pktway_live GEN ROUTER SINK plain|router address|planned SECONDS
 *   plain    a program of ours forwards by a fixed way; router: one by XDP is there already
 *   address  L3, a PH of PT 1024 to 0x201; planned: L2, an L2RH with the MAC of b0 before it
 * Prints packets a second at the sink: the best of five parts.
 */
#include "leat_bytes.h"
#include <bench_pktway_live.skel.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_LEN = 120, HEAD_LEN = 21, PARTS = 5, BURST = 20000, BATCH = 64 };

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "bench_pktway_live: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void enter(const char *namespace)
{
    char path[128];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET)) fail(namespace);
    close(fd);
}

static void mac_of(const char *device, uint8_t mac[6])
{
    struct ifreq request = { 0 };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request)) fail(device);
    close(fd);
    memcpy(mac, request.ifr_hwaddr.sa_data, 6);
}

/* A message of 12 words, with or without an L2RH. */
static void fill(uint8_t *o, const uint8_t to[6], const uint8_t from[6], const uint8_t *route)
{
    const uint32_t words = (FRAME_LEN - HEAD_LEN) / 8;
    memset(o, 0, FRAME_LEN);
    memcpy(o, to, 6);
    memcpy(o + 6, from, 6);
    leat_put_be16(o + 12, 0x88B7);
    leat_put_be24(o + 14, 0x020000);
    leat_put_be16(o + 17, 0x0300);
    leat_put_be16(o + 19, (uint16_t)words);
    uint8_t *at = o + HEAD_LEN;
    if (route) {
        at[1] = 0x86;
        memcpy(at + 2, route, 6);
        at += 8;
    }
    leat_put_be64(at, UINT64_C(0x0000020100010400));
    leat_put_be64(at + 8, (uint64_t)(words - 3 - (route != NULL)) << 32 | 0x101);
}

static void send_burst(int program, const uint8_t *frame)
{
    struct bpf_test_run_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.sz = sizeof opts;
    opts.data_in = frame;
    opts.data_size_in = FRAME_LEN;
    opts.repeat = BURST;
    opts.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
    opts.batch_size = BATCH;
    if (bpf_prog_test_run_opts(program, &opts)) fail("a live test run");
}

static double measure(struct bench_pktway_live_bpf *b, const uint8_t *frame, double seconds)
{
    const int program = bpf_program__fd(b->progs.bench_gen);
    const volatile uint64_t *sunk = &b->bss->sunk;
    double best = 0;
    for (int part = 0; part < PARTS; part++) {
        const uint64_t before = *sunk;
        const double start = now_s();
        do
            send_burst(program, frame);
        while (now_s() < start + seconds / PARTS);
        const double rate = (double)(*sunk - before) / (now_s() - start);
        if (rate > best) best = rate;
    }
    return best;
}

static void put_on(struct bpf_program *program, const char *device)
{
    if (!bpf_program__attach_xdp(program, (int)if_nametoindex(device))) fail(device);
}

int main(int argc, char **argv)
{
    if (argc != 7) return fprintf(stderr, "usage: see the head of bench_pktway_live.c\n"), 2;
    const bool plain = strcmp(argv[4], "plain") == 0, planned = strcmp(argv[5], "planned") == 0;
    const uint32_t zero = 0;
    uint8_t from[6], to[6], frame[FRAME_LEN];
    struct bench_pktway_live_bpf *b = bench_pktway_live_bpf__open_and_load();
    if (!b) fail("the programs");
    enter(argv[3]);
    mac_of("b0", b->bss->out_to);
    put_on(b->progs.bench_sink, "b0");
    enter(argv[2]);
    mac_of("r0", to);
    mac_of("r1", b->bss->out_from);
    const uint32_t out = if_nametoindex("r1");
    bpf_map_update_elem(bpf_map__fd(b->maps.devices), &zero, &out, 0);
    if (plain) put_on(b->progs.bench_plain, "r0");
    enter(argv[1]);
    mac_of("a0", from);
    b->bss->gen_device = if_nametoindex("a0");
    fill(frame, to, from, planned ? b->bss->out_to : NULL);
    memcpy(b->bss->frame, frame, sizeof frame);
    send_burst(bpf_program__fd(b->progs.bench_gen), frame); /* warm */
    printf("%.0f\n", measure(b, frame, strtod(argv[6], NULL)));
    bench_pktway_live_bpf__destroy(b);
    return 0;
}
