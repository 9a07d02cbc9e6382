/* How a router's process handles management packets: answers, duplicates, copies. */
#include "esp_driver.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWERS_PER_S = 2000 };
static const uint64_t ns_per_ms = 1000000, ns_per_s = 1000000000;

/* A captured query can be replayed with any sender's address: answers are rate-limited. */
static bool may_answer(uint64_t now_ns)
{
    static uint64_t second;
    static uint32_t answers;
    if (now_ns / ns_per_s != second) {
        second = now_ns / ns_per_s;
        answers = 0;
    }
    return answers++ < ANSWERS_PER_S;
}

bool esp_manage_open(struct esp_process *p, char *why)
{
    const int on = 1;
    p->answer4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    p->answer6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    p->seek4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    p->seek6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->answer4 < 0 || p->seek4 < 0)
        return live_because(why, "a UDP socket: %s", strerror(errno));
    if (!esp_kernel_open(&p->kernel)) return live_because(why, "netlink: %s", strerror(errno));
    /* The CRC protects the packet, so no router has to complete a checksum. */
    setsockopt(p->answer4, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    setsockopt(p->seek4, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    return true;
}

static bool is_ipv4(const uint8_t address[LEAT_ESP_ADDRESS_LEN])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    return memcmp(address, mapped, sizeof mapped) == 0;
}

static bool send_octets(struct esp_process *p, const struct leat_esp_next *to,
                        const uint8_t *octets, size_t len)
{
    const bool ipv4 = is_ipv4(to->address);
    const enum esp_hop hop = esp_kernel_hop(&p->kernel, to->address + (ipv4 ? 12 : 0),
                                            ipv4 ? 4 : LEAT_ESP_ADDRESS_LEN,
                                            esp_user_now_ns(&p->memory.share->config));
    if (hop == ESP_HOP_AWAITED) return false;
    if (ipv4) {
        struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(to->port) };
        memcpy(&peer.sin_addr, to->address + 12, 4);
        return sendto(hop == ESP_HOP_KNOWN ? p->answer4 : p->seek4, octets, len, 0,
                      (const struct sockaddr *)&peer, sizeof peer) >= 0;
    }
    struct sockaddr_in6 peer = { .sin6_family = AF_INET6, .sin6_port = htons(to->port) };
    memcpy(&peer.sin6_addr, to->address, LEAT_ESP_ADDRESS_LEN);
    return sendto(hop == ESP_HOP_KNOWN ? p->answer6 : p->seek6, octets, len, 0,
                  (const struct sockaddr *)&peer, sizeof peer) >= 0;
}

static void send_to(struct esp_process *p, const struct leat_esp_next *to,
                    const struct leat_esp_management *m, const uint8_t *key)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len;
    if (leat_esp_management_encode(m, key, octets, sizeof octets, &len)) return;
    if (!send_octets(p, to, octets, len)) p->memory.share->unsent++;
}

/* ---- one group ---------------------------------------------------------------------------- */

bool esp_memory_group(const struct esp_memory *memory, uint32_t index, struct leat_esp_group *out)
{
    enum { TRIES = 1000 };
    if (!memory->group) {
#ifdef HAVE_XDP
        return esp_xdp_group(&memory->maps, index, out);
#else
        return false;
#endif
    }
    const struct esp_locked_group *g = &memory->group[index];
    for (int i = 0; i < TRIES; i++) {
        const uint32_t before = __atomic_load_n(&g->lock, __ATOMIC_ACQUIRE);
        if (before % 2) continue;
        memcpy(out, &g->group, sizeof *out);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&g->lock, __ATOMIC_RELAXED) == before) return true;
    }
    /* Odd for ever: its process was killed in the middle of an instruction. */
    memcpy(out, &g->group, sizeof *out);
    return true;
}

/* ---- the packets -------------------------------------------------------------------------- */

static uint32_t store_asked(uint32_t loc, uint32_t port)
{
    if (loc == LEAT_ESP_LOC_INPUT) return ESP_STORE_INPUT + 2 * port;
    if (loc == LEAT_ESP_LOC_OUTPUT) return ESP_STORE_OUTPUT + 2 * port;
    return ESP_STORE_CENTRE;
}

static void on_query(struct esp_process *p, const struct leat_esp_management *query, uint32_t port,
                     const uint8_t *key, const struct leat_esp_next *from)
{
    static struct leat_esp_group group;
    static struct leat_esp_management asked, reply;
    const struct esp_config *c = &p->memory.share->config;
    const struct esp_store *store = &c->store[store_asked(query->query.store, port)];
    const uint64_t mark = leat_esp_mark(&store->node, query->computationId);
    const uint32_t index = store->first + ((uint32_t)mark & store->mask);
    const struct leat_esp_store copy = { .node = store->node, .group = &group, .groups = 1 };
    asked = *query;
    if (asked.query.target) asked.query.target = store->node.id; /* the router's: any store of it */
    if (!may_answer(esp_user_now_ns(c))) return;
    if (!esp_memory_group(&p->memory, index, &group)) return;
    if (leat_esp_store_answer(&copy, esp_user_now_ns(c), &asked, &reply))
        send_to(p, from, &reply, key);
}

static void on_install(struct esp_process *p, const struct leat_esp_management *m,
                       const uint8_t *key, const struct leat_esp_next *from)
{
    struct esp_share *s = p->memory.share;
    static struct leat_esp_management answer;
    struct leat_esp_install in = m->install;
    uint32_t lifetime_ms = 0;
    if (in.children) in.group = leat_esp_children_tag(in.group, s->config.node_id);
    enum leat_esp_result result = leat_esp_duplicate_install(
        &s->duplicates, &in, esp_user_now_ns(&s->config), ns_per_ms, &lifetime_ms);
#ifdef HAVE_XDP
    if (!p->memory.group && !esp_xdp_publish(&p->memory.maps, &s->duplicates, in.group))
        result = LEAT_ESP_RESULT_FULL;
#endif
    answer = (struct leat_esp_management){ .opcode = LEAT_ESP_INSTALLED,
                                           .computationId = m->computationId };
    answer.installed = (struct leat_esp_installed){ .group = m->install.group,
                                                    .node = s->config.node_id,
                                                    .serial = m->install.serial,
                                                    .lifetime_ms = lifetime_ms,
                                                    .result = result };
    send_to(p, from, &answer, key);
}

static void on_cast(struct esp_process *p, struct leat_esp_management *m, const uint8_t *key)
{
    const struct esp_share *s = p->memory.share;
    const struct leat_esp_duplicate *d = leat_esp_duplicate_find(&s->duplicates, m->cast.group,
                                                                 esp_user_now_ns(&s->config));
    if (!d || m->cast.hops == 0) return;
    m->cast.hops--;
    for (uint32_t i = 0; i < d->count && i < LEAT_ESP_COPIES_MAX; i++)
        send_to(p, &d->next[i], m, key);
}

/* The sender, as an address for answers. */
static struct leat_esp_next sender_of(const uint8_t *frame, uint32_t len,
                                      const struct esp_place *at)
{
    struct leat_esp_next from = { .port = LEAT_ESP_UDP_PORT };
    uint64_t address[2];
    esp_source(frame, frame + len, at, address);
    esp_address_write(address, from.address);
    if (at->udp_at) from.port = leat_get_be16(frame + at->udp_at);
    return from;
}

/* With the key that it was made with, which is then that of the answer: who asks may not have our
 * next one yet. False: with none of ours, or malformed. */
static bool decode(struct esp_process *p, const uint8_t *packet, uint32_t len,
                   uint8_t key[LEAT_ESP_KEY_LEN], struct leat_esp_management *m)
{
    const struct leat_key_ring *ring = &p->memory.share->keys;
    const struct leat_keys *keys = &ring->of_turn[leat_key_ring_turn(ring)];
    for (uint32_t i = 0; i < keys->count; i++) {
        if (packet[LEAT_ESP_OPCODE_AT] == LEAT_ESP_QUERY)
            memcpy(key, keys->key[i], LEAT_ESP_KEY_LEN);
        else /* the group comes first in all the others */
            leat_esp_key_of_group(keys->key[i], leat_get_be64(packet + LEAT_ESP_OPERANDS_AT), key);
        if (leat_esp_management_decode(packet, len, key, m, NULL) == LEAT_ERR_OK) return true;
    }
    return false;
}

void esp_manage_frame(struct esp_process *p, const uint8_t *octets, uint32_t len, uint32_t port)
{
    static uint8_t frame[ESP_FRAME_MAX + ESP_FRAME_SLACK];
    static struct leat_esp_management m;
    const struct esp_config *c = &p->memory.share->config;
    struct esp_place at = { 0 };
    if (len > ESP_FRAME_MAX || port >= ESP_PORTS_MAX || !c->has_key) return;
    memcpy(frame, octets, len);
    if (esp_find(frame, frame + len, &at) != ESP_FOUND || at.carriage == ESP_BARE) return;
    const uint8_t *packet = frame + at.packet_at;
    if (at.packet_len < LEAT_ESP_OPERANDS_AT + 8) return;
    const uint8_t opcode = packet[LEAT_ESP_OPCODE_AT];
    const struct leat_esp_next from = sender_of(frame, len, &at);
    uint8_t key[LEAT_ESP_KEY_LEN];
    if (!decode(p, packet, at.packet_len, key, &m)) {
        p->memory.share->refused++;
        return;
    }
    if (opcode == LEAT_ESP_QUERY) on_query(p, &m, port, key, &from);
    if (opcode == LEAT_ESP_INSTALL) on_install(p, &m, key, &from);
    if (opcode == LEAT_ESP_CAST) on_cast(p, &m, key);
    explicit_bzero(key, sizeof key);
}
