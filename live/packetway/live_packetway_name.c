#include "live_packetway_name.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BACKLOG = 8 };

struct packetway_name packetway_name_of(const char *text, ...)
{
    struct packetway_name name = { .at = { .sun_family = AF_UNIX } };
    const size_t cap = sizeof name.at.sun_path - 1; /* the first octet is 0 */
    va_list rest;
    va_start(rest, text);
    const int len = vsnprintf(name.at.sun_path + 1, cap, text, rest);
    va_end(rest);
    if (len < 0 || (size_t)len >= cap) abort(); /* names are ours */
    name.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    return name;
}

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int packetway_name_hold(const struct packetway_name *name)
{
    const int fd = open_socket();
    if (fd < 0) return -1;
    if (bind(fd, (const struct sockaddr *)&name->at, name->len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

void packetway_name_dismiss(int held)
{
    for (int i = 0; i <= BACKLOG; i++) {
        const int fd = accept4(held, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) return;
        close(fd);
    }
}

bool packetway_name_peer(int fd, struct ucred *peer)
{
    socklen_t len = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len) == 0;
}

/* Nonblocking: the holder of a name may be any process. */
bool packetway_name_holder(const struct packetway_name *name, struct ucred *peer)
{
    const int fd = open_socket();
    const bool known = fd >= 0 && connect(fd, (const struct sockaddr *)&name->at, name->len) == 0 &&
                       packetway_name_peer(fd, peer);
    if (fd >= 0) close(fd);
    return known;
}

void packetway_name_holder_text(const struct packetway_name *name, char text[PACKETWAY_HOLDER_MAX])
{
    struct ucred peer;
    if (packetway_name_holder(name, &peer))
        snprintf(text, PACKETWAY_HOLDER_MAX, "process %d of user %u", (int)peer.pid,
                 (unsigned)peer.uid);
    else
        snprintf(text, PACKETWAY_HOLDER_MAX, "a process that does not answer");
}
