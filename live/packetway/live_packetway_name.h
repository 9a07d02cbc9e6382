/*
 * Names that one process of a network namespace can hold: abstract sockets, which disappear with
 * their process, however that ends. They listen: the system tells a client which process it is.
 */
#ifndef LEAT_LIVE_PACKETWAY_NAME_H
#define LEAT_LIVE_PACKETWAY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { PACKETWAY_HOLDER_MAX = 64 };

struct packetway_name {
    struct sockaddr_un at;
    socklen_t len;
};

struct packetway_name packetway_name_of(const char *text, ...)
    __attribute__((format(printf, 1, 2)));

/* A nonblocking socket that holds the name; -1: see errno. EADDRINUSE: another process has it. */
int packetway_name_hold(const struct packetway_name *name);

/* Closes the connections of clients that asked who holds it: the backlog is limited. */
void packetway_name_dismiss(int held);

/* The process at the other end of a connection, or of a name; false: unknown. */
bool packetway_name_peer(int fd, struct ucred *peer);
bool packetway_name_holder(const struct packetway_name *name, struct ucred *peer);

/* "process 12 of user 1001" */
void packetway_name_holder_text(const struct packetway_name *name, char text[PACKETWAY_HOLDER_MAX]);

#endif
