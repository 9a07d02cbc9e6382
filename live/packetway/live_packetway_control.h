/*
 * How commands find a router or host that runs: by its name, as a socket of the network namespace
 * it is in (an abstract one: it goes with the process, however that ends). Only its owner and root
 * are heard.
 *
 *   command --- request, one packet --> process
 *           <-- text, packets ---------
 *           <-- the exit code, one ----
 *
 * The process forwards packets in the same thread, so nothing here waits for anybody. The system
 * tells who has connected before anything is read: strangers are told, and closed. A client has a
 * second to ask; what it does not take of its answer waits in memory, and who takes none for five
 * seconds is closed.
 */
#ifndef LEAT_LIVE_PACKETWAY_CONTROL_H
#define LEAT_LIVE_PACKETWAY_CONTROL_H

#include "live_packetway_san.h"
#include <poll.h>
#include <stdio.h>

enum {
    PACKETWAY_TEXT_MAX = 8192,
    PACKETWAY_CLIENTS_MAX = 8,
    PACKETWAY_CONTROL_FDS = 1 + PACKETWAY_CLIENTS_MAX,
    PACKETWAY_ANSWER_MAX = 64 << 20, /* octets that wait */
    PACKETWAY_REQUEST_MS = 1000,
    PACKETWAY_SLOW_MS = 5000,
};

struct packetway_request {
    char word[16]; /* status, tables, stop, ping, ... */
    uint32_t address, count, interval_ms, timeout_ms, size;
    uint64_t memory_at; /* read, write; `size` octets */
    bool json, by_address, blind;
    char text[PACKETWAY_TEXT_MAX]; /* what tell asks for; what write writes, as hex */
};

/* Somebody who may ask. */
struct packetway_client {
    int fd; /* -1: nobody */
    bool asked, ended, broken;
    leat_time until;  /* then it is closed */
    uint8_t *waiting; /* of the answer: lengths (32) and packets */
    size_t sent, len, cap;
};

struct packetway_control {
    int listener; /* -1: none */
    struct packetway_client client[PACKETWAY_CLIENTS_MAX];
};

/* A name: 1 to 32 of a-z, 0-9 and -. False after `why`. */
bool packetway_control_name(const char *name, char *why);

/* Listens; false after `why`: e.g. the name is taken, and by whom. */
bool packetway_control_open(struct packetway_control *control, const char *name, char *why);

/* The name is free; then whoever still waits for an answer gets `code`. Only this waits, for a
 * second. A listener of -1: nothing. */
void packetway_control_close(struct packetway_control *control, int code);

/* Those to wait for, for poll. */
void packetway_control_wait(const struct packetway_control *control,
                            struct pollfd wait[PACKETWAY_CONTROL_FDS]);

/* Does what there is to do after poll. The client whose request has come; NULL: none. */
struct packetway_client *packetway_control_serve(struct packetway_control *control,
                                                 const struct pollfd wait[PACKETWAY_CONTROL_FDS],
                                                 leat_time now, struct packetway_request *request);

/* Text for who asked, as standard output or standard error; false: it is no longer there. */
bool packetway_control_say(struct packetway_client *client, bool error, const char *text,
                           size_t len);

/* The same as a stream: every line goes out when it is complete, the rest when it is closed. NULL:
 * there is no memory. */
FILE *packetway_control_stream(struct packetway_client *client, bool error);

/* The end of an answer. */
void packetway_control_end(struct packetway_client *client, int code);

/*
 * Asks, and prints the answer, of which a terminal obeys nothing. *code is the exit code. False
 * after `why`: nobody of that name runs here, it is neither root's nor this user's, or it went
 * away.
 */
bool packetway_control_ask(const char *name, const struct packetway_request *request, FILE *out,
                           FILE *error, int *code, char *why);

#endif
