/*
 * How many packets a second pass a router, between two namespaces on veths, on one core: a table of
 * frames is sent by live test runs, a sink behind the router counts. bench_esp_live.sh makes the
 * namespaces and starts the routers.
 *
 *   gen: a0 -- r0 :router: r1 -- b0 :sink
 *
 * usage: bench_esp_live GEN ROUTER SINK WHAT INSTRUCTIONS COMPUTATIONS SECONDS
 *   WHAT          plain or fib: a program of ours forwards; router: one by XDP is there already;
 *                 user: one in user space is
 *   INSTRUCTIONS  names, commas between: sent one after the other for each computation
 * Prints packets a second at the sink: the best of five parts.
 */
#include "bench_live.h"
#include "leat_bytes.h"
#include <bench_esp_live.skel.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <leat/esp.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FRAME_LEN = 128, SENT_LEN = 120, NAMES_MAX = 4 };

/* ---- frames ------------------------------------------------------------------------------- */

/* Packets that pass, however often they are sent (COLLECT: after a COUNT of the same
 * computation). */
static struct leat_esp_packet packet_of(const char *name, uint64_t computation)
{
    struct leat_esp_packet p = { .flags = LEAT_ESP_FLAG_X,
                                 .computationId = computation,
                                 .compValTag = 0x101,
                                 .thresh = UINT64_MAX,
                                 .pktVal = 5,
                                 .val = 1,
                                 .chldCntTag = 0x101,
                                 .pktId = 0x103,
                                 .sibCntTag = 0x104,
                                 .fwdCntTag = 0x105,
                                 .fwdThresh = UINT64_MAX,
                                 .compIdTag = 0x106,
                                 .collectFwdTag = 0x107,
                                 .op = 1 };
    for (p.opcode = 0; leat_esp_instruction_of(p.opcode); p.opcode++)
        if (strcmp(leat_esp_instruction_of(p.opcode)->name, name) == 0) break;
    if (p.opcode == LEAT_ESP_COMPARE) p.op = LEAT_ESP_COMPARE_LE;
    if (p.opcode == LEAT_ESP_COLLECT) p.compValTag = 0x102;
    return p;
}

static void fill(uint8_t *o, const uint8_t to[6], const uint8_t from[6],
                 const struct leat_esp_packet *packet)
{
    size_t len;
    uint8_t *ip = o + 14, *udp = ip + 20;
    memset(o, 0, FRAME_LEN);
    memcpy(o, to, 6);
    memcpy(o + 6, from, 6);
    leat_put_be16(o + 12, 0x0800);
    if (leat_esp_packet_encode(packet, udp + 8, FRAME_LEN - 42, &len)) bench_fail("a packet");
    ip[0] = 0x45;
    leat_put_be16(ip + 2, (uint16_t)(28 + len));
    ip[8] = 64;
    ip[9] = 17;
    leat_put_be32(ip + 12, 0x0a010002); /* 10.1.0.2 */
    leat_put_be32(ip + 16, 0x0a020002); /* 10.2.0.2 */
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2)
        sum += leat_get_be16(ip + i);
    leat_put_be16(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
    leat_put_be32(udp, 4253u << 16 | 4253);
    leat_put_be16(udp + 4, (uint16_t)(8 + len));
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* names: "COUNT" or "COUNT,COLLECT". Returns the number of frames, a power of two. */
static uint32_t fill_all(uint8_t *frames, const char *list, uint32_t computations,
                         const uint8_t to[6], const uint8_t from[6])
{
    char names[64], *name[NAMES_MAX];
    uint32_t kinds = 0;
    snprintf(names, sizeof names, "%s", list);
    for (char *at = strtok(names, ","); at && kinds < NAMES_MAX; at = strtok(NULL, ","))
        name[kinds++] = at;
    for (uint32_t i = 0; i < computations * kinds; i++) {
        const struct leat_esp_packet p = packet_of(name[i % kinds], mix(1 + i / kinds));
        fill(frames + (size_t)i * FRAME_LEN, to, from, &p);
    }
    return computations * kinds;
}

/* ---- running ------------------------------------------------------------------------------ */

static int quiet(enum libbpf_print_level level, const char *text, va_list list)
{
    return level == LIBBPF_WARN ? vfprintf(stderr, text, list) : 0;
}

static struct bench_esp_live_bpf *load(uint32_t frames)
{
    libbpf_set_print(quiet);
    struct bench_esp_live_bpf *b = bench_esp_live_bpf__open();
    if (!b || bpf_map__set_max_entries(b->maps.frames, frames) || bench_esp_live_bpf__load(b))
        bench_fail("the programs");
    return b;
}

int main(int argc, char **argv)
{
    if (argc != 8) return fprintf(stderr, "usage: see the head of bench_esp_live.c\n"), 2;
    const uint32_t computations = (uint32_t)strtoul(argv[6], NULL, 10);
    const uint32_t capacity = computations * (strchr(argv[5], ',') ? 2 : 1);
    struct bench_esp_live_bpf *b = load(capacity);
    uint8_t *frames = mmap(NULL, (size_t)capacity * FRAME_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
                           bpf_map__fd(b->maps.frames), 0);
    uint8_t from[6], to[6];
    if (frames == MAP_FAILED) bench_fail("the table of frames");

    bench_enter(argv[3]);
    bench_mac_of("b0", b->bss->out_to);
    bench_put_on(b->progs.bench_sink, "b0");
    bench_enter(argv[2]);
    bench_mac_of("r0", to);
    bench_mac_of("r1", b->bss->out_from);
    b->bss->out_device = if_nametoindex("r1");
    bpf_map_update_elem(bpf_map__fd(b->maps.devices), &b->bss->out_device, &b->bss->out_device, 0);
    if (strcmp(argv[4], "plain") == 0) bench_put_on(b->progs.bench_plain, "r0");
    if (strcmp(argv[4], "fib") == 0) bench_put_on(b->progs.bench_fib, "r0");
    if (strcmp(argv[4], "user") == 0) bench_put_on(b->progs.bench_pass, "r0");
    bench_enter(argv[1]);
    bench_mac_of("a0", from);
    b->bss->gen_device = if_nametoindex("a0");

    /* A value to collect must have been announced: all RCHLD precede RCOLLECT. */
    if (strcmp(argv[5], "RCOLLECT") == 0) {
        b->bss->mask = fill_all(frames, "RCHLD", computations, to, from) - 1;
        for (uint32_t sent = 0; sent < 2 * computations; sent += BENCH_BURST)
            bench_send_burst(b->progs.bench_gen, frames, SENT_LEN);
    }
    b->bss->mask = fill_all(frames, argv[5], computations, to, from) - 1;
    for (uint32_t sent = 0; sent < 2 * computations;
         sent += BENCH_BURST) /* warm-up: creates the bindings */
        bench_send_burst(b->progs.bench_gen, frames, SENT_LEN);
    printf("%.0f\n",
           bench_rate(b->progs.bench_gen, frames, SENT_LEN, &b->bss->sunk, strtod(argv[7], NULL)));
    bench_esp_live_bpf__destroy(b);
    return 0;
}
