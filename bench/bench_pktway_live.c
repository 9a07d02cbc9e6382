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
#include "bench_live.h"
#include "leat_bytes.h"
#include <bench_pktway_live.skel.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_LEN = 120, HEAD_LEN = 21 };

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

static struct bench_pktway_live_bpf *load(void)
{
    struct bench_pktway_live_bpf *b = bench_pktway_live_bpf__open_and_load();
    if (!b) bench_fail("the programs");
    return b;
}

int main(int argc, char **argv)
{
    if (argc != 7) return fprintf(stderr, "usage: see the head of bench_pktway_live.c\n"), 2;
    const bool plain = strcmp(argv[4], "plain") == 0, planned = strcmp(argv[5], "planned") == 0;
    const uint32_t zero = 0;
    uint8_t from[6], to[6], frame[FRAME_LEN];
    struct bench_pktway_live_bpf *b = load();
    bench_enter(argv[3]);
    bench_mac_of("b0", b->bss->out_to);
    bench_put_on(b->progs.bench_sink, "b0");
    bench_enter(argv[2]);
    bench_mac_of("r0", to);
    bench_mac_of("r1", b->bss->out_from);
    const uint32_t out = if_nametoindex("r1");
    bpf_map_update_elem(bpf_map__fd(b->maps.devices), &zero, &out, 0);
    if (plain) bench_put_on(b->progs.bench_plain, "r0");
    bench_enter(argv[1]);
    bench_mac_of("a0", from);
    b->bss->gen_device = if_nametoindex("a0");
    fill(frame, to, from, planned ? b->bss->out_to : NULL);
    memcpy(b->bss->frame, frame, sizeof frame);
    bench_send_burst(b->progs.bench_gen, frame, FRAME_LEN); /* warm */
    printf("%.0f\n",
           bench_rate(b->progs.bench_gen, frame, FRAME_LEN, &b->bss->sunk, strtod(argv[6], NULL)));
    bench_pktway_live_bpf__destroy(b);
    return 0;
}
