/*
 * The gate in all data paths, side by side: the library, user space and the kernel's program get
 * the same frames, and must do the same to frame, stores and counters.
 */
#ifndef LEAT_ESP_GATE_RIG_TEST_H
#define LEAT_ESP_GATE_RIG_TEST_H

#include "esp_driver.h"
#include "esp_trace_test.h"
#include "tap.h"
#include <leat/crc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_XDP
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <esp_xdp.skel.h>
#endif

enum {
    TAU = 1000,
    GROUPS = 2, /* of each store: many bindings collide, and buckets fill up */
    STORES = 3, /* centre, input and output of port 0 */
    COMPUTATIONS = 60,
    DEVICE = 1, /* lo: input device of test runs */
    ROOM = 2048,
};
static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 }, next_mac[6] = { 2, 0, 0, 0, 0, 9 };
static const uint8_t sender[6] = { 2, 0, 0, 0, 0, 7 };

static inline struct esp_config make_config(void)
{
    struct esp_config c = { .node_id = 77,
                            .tau_ns = TAU,
                            .clock_ns = 1,
                            .port_count = 1,
                            .next_count = 1,
                            .group_count = STORES * GROUPS,
                            .bare_device = DEVICE };
    c.port[0].device = DEVICE;
    memcpy(c.port[0].mac, own, 6);
    memcpy(c.bare_mac, next_mac, 6);
    c.next[0].device = DEVICE;
    memcpy(c.next[0].mac, next_mac, 6);
    for (uint32_t i = 0; i < STORES; i++)
        c.store[i] = (struct esp_store){ .node = { .id = 77 + i, .seed = 0x5eed + i, .tau = TAU },
                                         .first = i * GROUPS,
                                         .mask = GROUPS - 1 };
    return c;
}

/* ---- frames, made here and nowhere else ---------------------------------------------------- */

struct frame {
    uint8_t octets[ROOM];
    uint32_t len, packet_at;
    enum esp_carriage carriage;
};

/* RFC 1071, octet by octet. */
static inline uint32_t checksum(const uint8_t *octets, size_t len, uint32_t sum)
{
    for (size_t i = 0; i < len; i++)
        sum += i % 2 ? octets[i] : (uint32_t)octets[i] << 8;
    while (sum >> 16)
        sum = (sum >> 16) + (sum & 0xffff);
    return sum;
}

static inline uint32_t pseudo_sum(const uint8_t *ip, uint32_t udp_len)
{
    return checksum(ip + 8, 32, udp_len + 17);
}

static inline void dress(struct frame *f, enum esp_carriage carriage, const uint8_t *packet,
                         uint32_t len, uint8_t hops)
{
    static const uint8_t at[] = { 14, 38, 42, 62, 62 };
    uint8_t *o = f->octets, *ip = o + 14;
    memset(o, 0, sizeof f->octets);
    f->carriage = carriage;
    f->packet_at = at[carriage];
    memcpy(o, own, 6);
    memcpy(o + 6, sender, 6);
    memcpy(o + f->packet_at, packet, len);
    f->len = f->packet_at + len;
    if (carriage == ESP_BARE) {
        leat_put_be16(o + 12, 0x88B5);
    } else if (carriage == ESP_IPV4_RAW || carriage == ESP_IPV4_UDP) {
        const bool udp = carriage == ESP_IPV4_UDP;
        leat_put_be16(o + 12, 0x0800);
        ip[0] = udp ? 0x45 : 0x46;
        leat_put_be16(ip + 2, (uint16_t)(f->len - 14));
        leat_put_be16(ip + 4, 0x1234);
        ip[8] = hops;
        ip[9] = udp ? 17 : 253;
        leat_put_be32(ip + 12, 0x0a000001);
        leat_put_be32(ip + 16, 0x0a000102);
        if (!udp) leat_put_be32(ip + 20, 0x94040000);
        leat_put_be16(ip + 10, (uint16_t)~checksum(ip, udp ? 20 : 24, 0));
    } else {
        leat_put_be16(o + 12, 0x86DD);
        leat_put_be32(ip, 0x60012345);
        leat_put_be16(ip + 4, (uint16_t)(f->len - 54));
        ip[6] = carriage == ESP_IPV6_UDP ? 17 : 0;
        ip[7] = hops;
        for (uint32_t i = 0; i < 32; i++)
            ip[8 + i] = (uint8_t)(0xfd + 7 * i);
        if (carriage == ESP_IPV6_RAW) leat_put_be64(o + 54, UINT64_C(0xfd00050200000100));
    }
    if (carriage == ESP_IPV4_UDP || carriage == ESP_IPV6_UDP) {
        uint8_t *udp = o + f->packet_at - 8;
        leat_put_be32(udp, 40000u << 16 | 4253);
        leat_put_be16(udp + 4, (uint16_t)(len + 8));
        uint32_t sum = carriage == ESP_IPV6_UDP ? pseudo_sum(ip, len + 8)
                                                : checksum(ip + 12, 8, len + 8 + 17);
        sum = ~checksum(udp, len + 8, sum) & 0xffff;
        leat_put_be16(udp + 6, (uint16_t)(sum ? sum : 0xffff));
    }
}

/* ---- the library --------------------------------------------------------------------------- */

struct library {
    struct leat_esp_store store[STORES];
    void *memory[STORES];
    uint16_t children; /* installed for the group of every COLLECT */
};

static inline void library_open(struct library *l, const struct esp_config *c)
{
    l->children = 0;
    for (int i = 0; i < STORES; i++) {
        l->memory[i] = malloc(leat_esp_store_footprint(GROUPS));
        leat_esp_store_init(&l->store[i], &c->store[i].node, GROUPS, l->memory[i]);
    }
}

static inline void library_close(struct library *l)
{
    for (int i = 0; i < STORES; i++)
        free(l->memory[i]);
}

static inline enum esp_reason reason_of_error(leat_err err, size_t fault_at)
{
    if (err == LEAT_ERR_SHORT) return ESP_SHORT;
    if (err == LEAT_ERR_LENGTH) return ESP_LENGTH;
    if (err == LEAT_ERR_CHECKSUM) return ESP_CRC;
    if (err == LEAT_ERR_DUPLICATE) return ESP_TAGS;
    if (err == LEAT_ERR_RESERVED) return ESP_ZERO;
    return fault_at == LEAT_ESP_OPCODE_AT ? ESP_OPCODE : ESP_OPERATOR;
}

enum { ABOVE = 0x600d }; /* chldCntTag of the node above those of installed groups */

static inline uint32_t library_visit(const struct library *l, uint32_t store, uint64_t clock,
                                     struct leat_esp_packet *packet)
{
    struct leat_esp_words w;
    struct leat_esp_store s = l->store[store];
    if (packet->opcode != LEAT_ESP_COLLECT) return leat_esp_store_visit(&s, clock, packet).verdict;
    leat_esp_words_of(packet, &w);
    w.installed = l->children;
    w.parent = ABOVE;
    const struct leat_esp_outcome out = leat_esp_store_execute(&s, clock, &w);
    leat_esp_words_back(&w, packet);
    if (out.verdict >= LEAT_ESP_ABORTED) packet->flags |= LEAT_ESP_FLAG_E;
    return out.verdict;
}

/* The expected outcome of a packet; *packet is then as it leaves. */
static inline enum esp_reason library_run(struct library *l, uint64_t clock, const uint8_t *octets,
                                          size_t len, struct leat_esp_packet *packet)
{
    static const struct {
        uint8_t loc, store;
    } order[] = { { 4, 1 }, { 1, 0 }, { 2, 2 } };
    size_t fault_at = 0;
    if (len >= 16 && octets[1] >= 64) return ESP_MANAGED;
    const leat_err err = leat_esp_packet_decode(octets, len, packet, &fault_at);
    if (err) return reason_of_error(err, fault_at);
    const bool runs = (packet->flags & 5) == 1 && packet->opcode;
    if (!runs) return ESP_CARRIED;
    const unsigned loc = packet->loc ? packet->loc : 1;
    for (int i = 0; i < 3; i++) {
        if (!(loc & order[i].loc)) continue;
        const uint32_t verdict = library_visit(l, order[i].store, clock, packet);
        if (verdict == LEAT_ESP_STOP) return ESP_STOPPED;
        if (verdict == LEAT_ESP_ABORTED) return ESP_ABORTED;
        if (verdict == LEAT_ESP_FULL) return ESP_FULL;
    }
    return ESP_EXECUTED;
}

/* ---- user space ---------------------------------------------------------------------------- */

struct user {
    struct esp_share *share;
    struct esp_ground ground;
};

static inline struct esp_out out_there(void *driver, const struct esp_place *at,
                                       const uint64_t to[2])
{
    (void)driver, (void)at, (void)to;
    return (struct esp_out){ .kind = ESP_WAY_OUT, .port = 0, .next = 0 };
}

static inline void user_open(struct user *u, const struct esp_config *c)
{
    u->share = calloc(1, sizeof *u->share);
    u->share->config = *c;
    u->ground = (struct esp_ground){ .share = u->share,
                                     .group = calloc(c->group_count, sizeof *u->ground.group),
                                     .way = out_there };
}

static inline void user_close(struct user *u)
{
    free(u->ground.group);
    free(u->share);
}

/* The Ethernet addresses are the sender's part. */
static inline bool user_run(struct user *u, struct frame *f, struct esp_outcome *o)
{
    if (!esp_user_gate(&u->ground, f->octets, f->len, 0, o)) return false;
    if (o->reason > ESP_ASKED) return true;
    memcpy(f->octets, next_mac, 6);
    memcpy(f->octets + 6, own, 6);
    return true;
}

/* ---- the kernel ---------------------------------------------------------------------------- */

struct kernel {
    bool is_there;
#ifdef HAVE_XDP
    struct esp_xdp_bpf *program;
    struct esp_config *config;
    struct esp_maps maps;
#endif
};

#ifdef HAVE_XDP
static inline int quiet(enum libbpf_print_level level, const char *text, va_list list)
{
    (void)level, (void)text, (void)list;
    return 0;
}

static inline void kernel_open(struct kernel *k, const struct esp_config *c)
{
    const uint32_t device = DEVICE;
    *k = (struct kernel){ 0 };
    libbpf_set_print(quiet);
    k->program = esp_xdp_bpf__open();
    if (!k->program) return;
    bpf_map__set_max_entries(k->program->maps.esp_groups, c->group_count);
    k->is_there = esp_xdp_bpf__load(k->program) == 0;
    if (!k->is_there) {
        printf("# SKIPPED, AND LOUDLY: the kernel's data path is not compared: %s\n",
               geteuid() ? "it needs root" : "the kernel does not take the program");
        OK(geteuid() != 0); /* to root it is a failure */
        esp_xdp_bpf__destroy(k->program);
        return;
    }
    k->maps = (struct esp_maps){ .groups = bpf_map__fd(k->program->maps.esp_groups),
                                 .config = bpf_map__fd(k->program->maps.esp_config),
                                 .counts = bpf_map__fd(k->program->maps.esp_counts),
                                 .duplicates = bpf_map__fd(k->program->maps.esp_duplicates),
                                 .keys = bpf_map__fd(k->program->maps.esp_keys) };
    k->config = mmap(NULL, sizeof *k->config, PROT_READ | PROT_WRITE, MAP_SHARED, k->maps.config,
                     0);
    OK(k->config != MAP_FAILED);
    *k->config = *c;
    OK(bpf_map_update_elem(bpf_map__fd(k->program->maps.esp_devices), &device, &device, 0) == 0);
}

static inline void kernel_close(struct kernel *k)
{
    if (!k->is_there) return;
    munmap(k->config, sizeof *k->config);
    esp_xdp_bpf__destroy(k->program);
}

/* XDP's action; the frame is as it leaves. */
static inline uint32_t kernel_run(struct kernel *k, struct frame *f)
{
    static uint8_t out[ROOM];
    struct bpf_test_run_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.sz = sizeof opts;
    opts.data_in = f->octets;
    opts.data_size_in = f->len;
    opts.data_out = out;
    opts.data_size_out = sizeof out;
    opts.repeat = 1;
    const int err = bpf_prog_test_run_opts(bpf_program__fd(k->program->progs.esp_xdp), &opts);
    EQ(err, 0);
    f->len = opts.data_size_out;
    memcpy(f->octets, out, f->len);
    return opts.retval;
}
#endif

/* ---- the three, side by side --------------------------------------------------------------- */

struct rig {
    struct esp_config config;
    struct library library;
    struct user user;
    struct kernel kernel;
    struct leat_random random;
};

static inline void rig_open(struct rig *r, const struct esp_config *c)
{
    r->config = *c;
    library_open(&r->library, c);
    user_open(&r->user, c);
    leat_random_seed(&r->random, tap_seed());
#ifdef HAVE_XDP
    kernel_open(&r->kernel, c);
#else
    r->kernel.is_there = false;
    printf("# SKIPPED, AND LOUDLY: the kernel's data path is not compared: built without XDP\n");
#endif
}

static inline void rig_keys(struct rig *r, const struct leat_keys *keys)
{
    char why[LIVE_WHY_LEN] = "";
    leat_key_ring_set(&r->user.share->keys, keys);
#ifdef HAVE_XDP
    if (r->kernel.is_there) OK(esp_xdp_change_keys(&r->kernel.maps, keys, why));
#endif
    EQ(strlen(why), 0);
}

static inline void rig_close(struct rig *r)
{
    library_close(&r->library);
    user_close(&r->user);
#ifdef HAVE_XDP
    kernel_close(&r->kernel);
#endif
}

static inline void rig_clock(struct rig *r, uint64_t clock)
{
    r->user.share->config.clock_ns = clock;
#ifdef HAVE_XDP
    if (r->kernel.is_there) r->kernel.config->clock_ns = clock;
#endif
}

/* The groups that a packet's computation has in the stores of its LOC, or all. */
static inline void rig_compare_stores(struct rig *r, const struct leat_esp_packet *packet, bool all)
{
    static const uint8_t loc_of[STORES] = { LEAT_ESP_LOC_CENTRE, LEAT_ESP_LOC_INPUT,
                                            LEAT_ESP_LOC_OUTPUT };
    const uint64_t computation = packet->computationId;
    const uint8_t loc = packet->loc ? packet->loc : LEAT_ESP_LOC_CENTRE;
    for (uint32_t s = 0; s < STORES; s++) {
        if (!all && !(loc & loc_of[s])) continue;
        const struct esp_store *store = &r->config.store[s];
        const uint32_t mine = (uint32_t)leat_esp_mark(&store->node, computation) & store->mask;
        for (uint32_t g = 0; g < GROUPS; g++) {
            if (!all && g != mine) continue;
            const struct leat_esp_group *want = &r->user.ground.group[store->first + g].group;
            if (r->library.memory[0])
                OK(memcmp(&r->library.store[s].group[g], want, sizeof *want) == 0);
#ifdef HAVE_XDP
            static struct leat_esp_group got;
            if (!r->kernel.is_there) continue;
            OK(esp_xdp_group(&r->kernel.maps, store->first + g, &got));
            OK(memcmp(&got, want, sizeof got) == 0);
#endif
        }
    }
}

static inline void rig_compare_counts(struct rig *r)
{
#ifdef HAVE_XDP
    struct esp_counts kernel;
    if (!r->kernel.is_there) return;
    OK(esp_xdp_counts(&r->kernel.maps, &kernel));
    OK(memcmp(&kernel, &r->user.share->counts, sizeof kernel) == 0);
#else
    (void)r;
#endif
}

/* What leaves: the packet, with one hop less and checksums that a plain sum confirms. */
static inline void check_leaving(const struct frame *was, const struct frame *f,
                                 const struct leat_esp_packet *want, bool changed)
{
    static uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len = 0;
    const uint8_t *ip = f->octets + 14, *packet = f->octets + f->packet_at;
    EQ(leat_esp_packet_encode(want, octets, sizeof octets, &len), LEAT_ERR_OK);
    const uint8_t reserved = was->octets[was->packet_at] & 0x10; /* stays, and the CRC with it */
    octets[0] |= reserved;
    leat_put_be32(octets + len - 4, leat_crc32(0, octets, len - 4));
    OK(memcmp(packet, octets, len) == 0);
    EQ(f->len, was->len);
    OK(memcmp(packet + len, was->octets + was->packet_at + len, f->len - f->packet_at - len) == 0);
    if (f->carriage == ESP_IPV4_RAW || f->carriage == ESP_IPV4_UDP) {
        EQ(ip[8], was->octets[14 + 8] - 1);
        EQ(checksum(ip, f->carriage == ESP_IPV4_RAW ? 24 : 20, 0), 0xffff);
    }
    if (f->carriage == ESP_IPV6_RAW || f->carriage == ESP_IPV6_UDP)
        EQ(ip[7], was->octets[14 + 7] - 1);
    if (f->carriage == ESP_IPV4_UDP && changed) EQ(leat_get_be16(packet - 2), 0);
    if (f->carriage == ESP_IPV6_UDP)
        EQ(checksum(packet - 8, f->len - 54, pseudo_sum(ip, f->len - 54)), 0xffff);
}

/* One frame through user space and kernel. Returns the outcome; REASON_COUNT: not ours. */
static inline enum esp_reason rig_pass(struct rig *r, struct frame *f)
{
    struct esp_outcome o = { 0 };
#ifdef HAVE_XDP
    static struct frame there;
    there = *f;
#endif
    const bool ours = user_run(&r->user, f, &o);
    const enum esp_reason reason = ours ? o.reason : ESP_REASON_COUNT;
#ifdef HAVE_XDP
    if (!r->kernel.is_there || there.len < 14) return reason;
    const uint32_t action = kernel_run(&r->kernel, &there);
    EQ(action, !ours ? XDP_PASS : reason <= ESP_ASKED ? XDP_REDIRECT : XDP_DROP);
    EQ(there.len, f->len);
    if (action != XDP_DROP) OK(memcmp(there.octets, f->octets, f->len) == 0);
#endif
    return reason;
}

static inline void rig_step(struct rig *r, const struct esp_trace_step *step, uint64_t number)
{
    static struct frame f, was;
    struct leat_esp_packet packet = { 0 };
    const enum esp_carriage carriage = (enum esp_carriage)(number % 5);
    const uint8_t hops = leat_random_below(&r->random, 50) ? 64 : 1;
    dress(&f, carriage, step->octets, (uint32_t)step->len, hops);
    was = f;
    rig_clock(r, step->clock);
    const enum esp_reason reason = rig_pass(r, &f);
    enum esp_reason want = library_run(&r->library, step->clock, step->octets, step->len, &packet);
    if (want == ESP_MANAGED) {
        OK(reason == ESP_MANAGED || reason == ESP_OPCODE || reason == ESP_LENGTH ||
           reason == ESP_SHORT || reason == ESP_HOPS);
    } else {
        if (want <= ESP_ASKED && hops == 1 && carriage != ESP_BARE) want = ESP_HOPS;
        EQ(reason, want);
    }
    if (reason <= ESP_LIMITED && want == reason)
        check_leaving(
            &was, &f, &packet,
            memcmp(was.octets + was.packet_at, f.octets + f.packet_at, f.len - f.packet_at) != 0);
    rig_compare_stores(r, &step->packet, number % 1000 == 0);
}

#endif
