#include "esp_socket.h"
#include "esp_plan.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUE_BYTES = 4 << 20 };
static const leat_time ps_per_ns = 1000;

bool esp_socket_address(const char *what, const char *text, struct leat_esp_next *out, char *why)
{
    uint64_t address[2];
    if (!text || !esp_plan_endpoint(text, address, &out->port))
        return live_because(why, "%s '%.60s', expected ADDRESS or ADDRESS:PORT", what,
                            text ? text : "");
    esp_address_write(address, out->address);
    return true;
}

uint64_t esp_socket_draw(void)
{
    uint64_t number = 0;
    while (!number)
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = 0;
    return number;
}

leat_time esp_socket_now(void)
{
    return live_now_ns(CLOCK_MONOTONIC) * ps_per_ns;
}

static struct sockaddr_in6 peer_of(const struct leat_esp_next *next)
{
    struct sockaddr_in6 peer = { .sin6_family = AF_INET6, .sin6_port = htons(next->port) };
    memcpy(&peer.sin6_addr, next->address, LEAT_ESP_ADDRESS_LEN);
    return peer;
}

enum leat_esp_host_end esp_socket_open(struct esp_socket *s,
                                       const struct leat_esp_host_config *config, char *why)
{
    const int on = 1, off = 0, queue_bytes = QUEUE_BYTES;
    struct leat_esp_next here = { .port = LEAT_ESP_UDP_PORT };
    *s = (struct esp_socket){ .fd = -1 };
    if (config->bind && !esp_socket_address("--bind", config->bind, &here, why))
        return LEAT_ESP_HOST_WRONG;
    if (config->any_port) here.port = 0;
    s->keys = s->group_keys = leat_keys_of(config->key, config->other_key);
    for (uint32_t i = 0; i < s->keys.count; i++)
        leat_esp_key_of_group(s->keys.key[i], config->group, s->group_keys.key[i]);
    /* One socket for both: IPv4 addresses as ::ffff:a.b.c.d. */
    const struct sockaddr_in6 at = peer_of(&here);
    s->fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return live_because(why, "a UDP socket: %s", strerror(errno)), LEAT_ESP_HOST_FAILED;
    setsockopt(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
    /* IPv4: the CRC protects the packet, so no router has to complete a checksum. */
    setsockopt(s->fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    if (bind(s->fd, (const struct sockaddr *)&at, sizeof at) == 0) return LEAT_ESP_HOST_OK;
    live_because(why, "UDP port %u: %s", here.port, strerror(errno));
    close(s->fd);
    s->fd = -1;
    return LEAT_ESP_HOST_FAILED;
}

void esp_socket_close(struct esp_socket *s)
{
    if (s->fd >= 0) close(s->fd);
    explicit_bzero(s, sizeof *s);
    s->fd = -1;
}

bool esp_socket_send(struct esp_socket *s, const struct leat_esp_next *to, const uint8_t *octets,
                     size_t len)
{
    const struct sockaddr_in6 peer = peer_of(to);
    s->sent++;
    return sendto(s->fd, octets, len, 0, (const struct sockaddr *)&peer, sizeof peer) >= 0;
}

/* What the system does not take is lost, as on any link. */
void esp_batch_flush(struct esp_batch *b)
{
    struct sockaddr_in6 peer[ESP_BATCH];
    struct iovec octets[ESP_BATCH];
    struct mmsghdr message[ESP_BATCH];
    for (unsigned i = 0; i < b->count; i++) {
        peer[i] = peer_of(&b->to[i]);
        octets[i] = (struct iovec){ .iov_base = b->octets[i], .iov_len = b->len[i] };
        message[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &peer[i],
                                                    .msg_namelen = sizeof peer[i],
                                                    .msg_iov = &octets[i],
                                                    .msg_iovlen = 1 } };
    }
    if (b->count) sendmmsg(b->socket->fd, message, b->count, 0);
    b->socket->sent += b->count;
    b->count = 0;
}

void esp_batch_add(struct esp_batch *b, const struct leat_esp_next *to, const uint8_t *octets,
                   size_t len)
{
    if (b->count == ESP_BATCH) esp_batch_flush(b);
    memcpy(b->octets[b->count], octets, len);
    b->len[b->count] = len;
    b->to[b->count++] = *to;
}

static const struct leat_keys *keys_of(const struct esp_socket *s, uint8_t opcode)
{
    return opcode == LEAT_ESP_QUERY || opcode == LEAT_ESP_REPLY ? &s->keys : &s->group_keys;
}

const uint8_t *esp_socket_key(const struct esp_socket *s, uint8_t opcode)
{
    const struct leat_keys *keys = keys_of(s, opcode);
    return keys->count ? keys->key[0] : NULL;
}

static bool is_any(const struct in6_addr *address)
{
    static const uint8_t any4[LEAT_ESP_ADDRESS_LEN] = { [10] = 0xff, [11] = 0xff };
    return IN6_IS_ADDR_UNSPECIFIED(address) || memcmp(address->s6_addr, any4, sizeof any4) == 0;
}

static bool own_name(int fd, struct sockaddr_in6 *at)
{
    socklen_t len = sizeof *at;
    return getsockname(fd, (struct sockaddr *)at, &len) == 0;
}

/* The address that the kernel would send from: that of a socket connected to the peer. */
static bool ask_route(const struct leat_esp_next *to, struct sockaddr_in6 *at)
{
    const struct sockaddr_in6 peer = peer_of(to);
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), off = 0;
    if (fd < 0) return false;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const bool found = connect(fd, (const struct sockaddr *)&peer, sizeof peer) == 0 &&
                       own_name(fd, at);
    close(fd);
    return found;
}

/* This socket's address as seen by `to`. */
static bool find_self(const struct esp_socket *s, const struct leat_esp_next *to,
                      struct leat_esp_next *self)
{
    struct sockaddr_in6 at;
    if (!own_name(s->fd, &at)) return false;
    self->port = ntohs(at.sin6_port);
    if (is_any(&at.sin6_addr) && !ask_route(to, &at)) return false;
    memcpy(self->address, &at.sin6_addr, LEAT_ESP_ADDRESS_LEN);
    return true;
}

bool esp_socket_post(struct esp_socket *s, const struct leat_esp_next *to,
                     const struct leat_esp_post *post)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    struct leat_esp_post own = *post;
    size_t len;
    if (post->opcode == LEAT_ESP_JOIN && !find_self(s, to, &own.join.from)) return false;
    if (leat_esp_post_encode(&own, esp_socket_key(s, post->opcode), octets, sizeof octets, &len))
        return false;
    return esp_socket_send(s, to, octets, len);
}

bool esp_socket_receive(struct esp_socket *s, struct esp_letter *letter)
{
    struct sockaddr_in6 peer;
    socklen_t peer_len = sizeof peer;
    const ssize_t got = recvfrom(s->fd, letter->octets, sizeof letter->octets, 0,
                                 (struct sockaddr *)&peer, &peer_len);
    if (got < 0) return false;
    s->received++;
    letter->len = (size_t)got;
    letter->from.port = ntohs(peer.sin6_port);
    memcpy(letter->from.address, &peer.sin6_addr, LEAT_ESP_ADDRESS_LEN);
    return true;
}

bool esp_socket_wait(const struct esp_socket *s, leat_time until)
{
    const leat_time now = esp_socket_now();
    return live_wait(s->fd, until > now ? (until - now) / ps_per_ns : 0);
}

bool esp_socket_decode(const struct esp_socket *s, const struct esp_letter *letter,
                       struct leat_esp_management *out)
{
    if (letter->len <= LEAT_ESP_OPCODE_AT) return false;
    const struct leat_keys *keys = keys_of(s, letter->octets[LEAT_ESP_OPCODE_AT]);
    const uint32_t tries = keys->count ? keys->count : 1;
    for (uint32_t i = 0; i < tries; i++)
        if (leat_esp_management_decode(letter->octets, letter->len,
                                       keys->count ? keys->key[i] : NULL, out, NULL) == LEAT_ERR_OK)
            return true;
    return false;
}
