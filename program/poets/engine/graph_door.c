#include "graph_door.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_LEN = 1 << 20 /* of a UDP socket: bursts of some thousand packets */ };

/* ---- addresses ------------------------------------------------------------------------------ */

/* ADDRESS[:PORT]. */
static bool read_address(const char *text, struct sockaddr_in *out)
{
    char host[INET_ADDRSTRLEN] = "";
    const size_t len = strcspn(text, ":");
    unsigned long port = LEAT_POETS_DOOR_PORT;
    char *end = NULL;
    if (len >= sizeof host) return false;
    memcpy(host, text, len);
    if (text[len]) port = strtoul(text + len + 1, &end, 10);
    if (end && (*end || text[len + 1] < '0' || text[len + 1] > '9')) return false;
    *out = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    return port && port <= UINT16_MAX && inet_pton(AF_INET, host, &out->sin_addr) == 1;
}

/* A socket of this name that nobody serves any more was left by a process that was killed. */
static bool is_left_over(const struct sockaddr_un *name)
{
    struct stat s;
    if (lstat(name->sun_path, &s) != 0 || !S_ISSOCK(s.st_mode)) return false;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const bool served = fd < 0 || connect(fd, (const void *)name, sizeof *name) == 0 ||
                        errno != ECONNREFUSED;
    if (fd >= 0) close(fd);
    return !served;
}

static bool open_unix(struct leat_poets_door *door, const char *path, char *why, size_t cap)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    if (!*path || strlen(path) >= sizeof name.sun_path) {
        snprintf(why, cap, "expected unix:PATH with 1 to %zu characters", sizeof name.sun_path - 1);
        return false;
    }
    strcpy(name.sun_path, path);
    if (is_left_over(&name)) unlink(path);
    door->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t before = umask(0177); /* for this user alone */
    const bool bound = door->fd >= 0 && bind(door->fd, (const void *)&name, sizeof name) == 0;
    const int error = errno;
    umask(before);
    errno = error;
    if (bound) strcpy(door->path, path);
    return bound && listen(door->fd, LEAT_POETS_DOOR_PEERS_MAX) == 0;
}

static bool open_udp(struct leat_poets_door *door, const char *address, char *why, size_t cap)
{
    struct sockaddr_in name;
    const int len = BUFFER_LEN;
    if (!read_address(address, &name)) {
        snprintf(why, cap, "expected udp:ADDRESS[:PORT], as in udp:127.0.0.1:%d",
                 LEAT_POETS_DOOR_PORT);
        return false;
    }
    door->udp = true;
    door->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->fd < 0) return false;
    setsockopt(door->fd, SOL_SOCKET, SO_RCVBUF, &len, sizeof len); /* less does, too */
    return bind(door->fd, (const void *)&name, sizeof name) == 0;
}

bool leat_poets_door_open(struct leat_poets_door *door, const char *address, char *why, size_t cap)
{
    *door = (struct leat_poets_door){ .fd = -1 };
    bool good = false;
    *why = '\0';
    errno = 0;
    if (strncmp(address, "unix:", 5) == 0)
        good = open_unix(door, address + 5, why, cap);
    else if (strncmp(address, "udp:", 4) == 0)
        good = open_udp(door, address + 4, why, cap);
    else
        snprintf(why, cap, "expected unix:PATH or udp:ADDRESS[:PORT]");
    if (!good && !*why) snprintf(why, cap, "%s", strerror(errno));
    door->open = true;
    if (!good) leat_poets_door_close(door);
    return good;
}

void leat_poets_door_close(struct leat_poets_door *door)
{
    if (!door->open) return;
    for (uint32_t i = 0; i < LEAT_POETS_DOOR_PEERS_MAX; i++)
        leat_poets_door_forget(door, i);
    if (door->fd >= 0) close(door->fd);
    if (door->path[0]) unlink(door->path);
    *door = (struct leat_poets_door){ .fd = -1 };
}

/* ---- peers ---------------------------------------------------------------------------------- */

/* With something unread, the peer would see an error before what it was sent. */
static void close_read(int fd)
{
    uint8_t octet;
    shutdown(fd, SHUT_RD);
    while (recv(fd, &octet, sizeof octet, 0) > 0) {
    }
    close(fd);
}

void leat_poets_door_forget(struct leat_poets_door *door, uint32_t peer)
{
    struct leat_poets_door_peer *p = &door->peer[peer];
    if (p->used && !door->udp) close_read(p->fd);
    p->used = false;
}

/* LEAT_POETS_DOOR_PEERS_MAX: there are too many. */
static uint32_t free_peer(const struct leat_poets_door *door)
{
    uint32_t i = 0;
    while (i < LEAT_POETS_DOOR_PEERS_MAX && door->peer[i].used)
        i++;
    return i;
}

/* False: nobody has come. */
static bool accept_one(struct leat_poets_door *door, uint32_t peer)
{
    const int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) door->peer[peer] = (struct leat_poets_door_peer){ .used = true, .fd = fd };
    return fd >= 0;
}

static void accept_all(struct leat_poets_door *door)
{
    uint32_t i;
    while ((i = free_peer(door)) < LEAT_POETS_DOOR_PEERS_MAX && accept_one(door, i)) {
    }
}

static uint32_t peer_at(struct leat_poets_door *door, const struct sockaddr_in *address)
{
    for (uint32_t i = 0; i < LEAT_POETS_DOOR_PEERS_MAX; i++)
        if (door->peer[i].used && door->peer[i].port == address->sin_port &&
            door->peer[i].address == address->sin_addr.s_addr)
            return i;
    const uint32_t i = free_peer(door);
    door->peer[i] = (struct leat_poets_door_peer){ .used = true,
                                                   .address = address->sin_addr.s_addr,
                                                   .port = address->sin_port };
    return i;
}

void leat_poets_door_deafen(struct leat_poets_door *door)
{
    for (uint32_t i = 0; i < LEAT_POETS_DOOR_PEERS_MAX && !door->udp; i++)
        if (door->peer[i].used) shutdown(door->peer[i].fd, SHUT_RD);
}

/* ---- datagrams ------------------------------------------------------------------------------ */

static enum leat_poets_door_arrival receive_udp(struct leat_poets_door *door, uint32_t *peer,
                                                uint8_t *octets, size_t cap, size_t *len)
{
    struct sockaddr_in from = { 0 };
    socklen_t from_len = sizeof from;
    const ssize_t got = recvfrom(door->fd, octets, cap, 0, (void *)&from, &from_len);
    if (got < 0) return LEAT_POETS_DOOR_NOTHING;
    *peer = peer_at(door, &from);
    *len = (size_t)got;
    return *peer < LEAT_POETS_DOOR_PEERS_MAX ? LEAT_POETS_DOOR_DATAGRAM : LEAT_POETS_DOOR_CROWDED;
}

/* A process that ends before it has read everything resets the connection. This error comes once,
 * and before what the process has sent. */
static ssize_t receive_from(int fd, uint8_t *octets, size_t cap)
{
    const ssize_t got = recv(fd, octets, cap, 0);
    return got < 0 && errno == ECONNRESET ? recv(fd, octets, cap, 0) : got;
}

static enum leat_poets_door_arrival receive_unix(struct leat_poets_door *door, uint32_t *peer,
                                                 uint8_t *octets, size_t cap, size_t *len)
{
    accept_all(door);
    for (uint32_t k = 0; k < LEAT_POETS_DOOR_PEERS_MAX; k++) {
        const uint32_t i = (door->next + k) % LEAT_POETS_DOOR_PEERS_MAX;
        if (!door->peer[i].used) continue;
        const ssize_t got = receive_from(door->peer[i].fd, octets, cap);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        *peer = i;
        *len = got > 0 ? (size_t)got : 0;
        door->next = i + 1; /* each in turn */
        if (got > 0) return LEAT_POETS_DOOR_DATAGRAM;
        leat_poets_door_forget(door, i);
        return LEAT_POETS_DOOR_GONE;
    }
    /* Nobody has left, so there is still no room for those who have come. */
    if (free_peer(door) < LEAT_POETS_DOOR_PEERS_MAX || !accept_one(door, LEAT_POETS_DOOR_PEERS_MAX))
        return LEAT_POETS_DOOR_NOTHING;
    *peer = LEAT_POETS_DOOR_PEERS_MAX;
    *len = 0;
    return LEAT_POETS_DOOR_CROWDED;
}

enum leat_poets_door_arrival leat_poets_door_receive(struct leat_poets_door *door, uint32_t *peer,
                                                     uint8_t *octets, size_t cap, size_t *len)
{
    return (door->udp ? receive_udp : receive_unix)(door, peer, octets, cap, len);
}

enum leat_poets_door_sent leat_poets_door_send(struct leat_poets_door *door, uint32_t peer,
                                               const uint8_t *octets, size_t len)
{
    const struct leat_poets_door_peer *p = &door->peer[peer];
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = p->port,
                                    .sin_addr.s_addr = p->address };
    const ssize_t sent = door->udp ? sendto(door->fd, octets, len, 0, (const void *)&to, sizeof to)
                                   : send(p->fd, octets, len, MSG_NOSIGNAL);
    if (sent >= 0) return LEAT_POETS_DOOR_SENT;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? LEAT_POETS_DOOR_FULL
                                                                 : LEAT_POETS_DOOR_LOST;
}

void leat_poets_door_wait(struct leat_poets_door *door, uint32_t peer, int milliseconds)
{
    struct pollfd fds[LEAT_POETS_DOOR_PEERS_MAX + 1] = { { .fd = door->fd, .events = POLLIN } };
    nfds_t count = 1;
    if (door->udp && peer < LEAT_POETS_DOOR_PEERS_MAX) fds[0].events |= POLLOUT;
    for (uint32_t i = 0; i < LEAT_POETS_DOOR_PEERS_MAX && !door->udp; i++)
        if (door->peer[i].used)
            fds[count++] = (struct pollfd){ .fd = door->peer[i].fd,
                                            .events = i == peer ? POLLIN | POLLOUT : POLLIN };
    poll(fds, count, milliseconds);
}
