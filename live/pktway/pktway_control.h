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
#ifndef LEAT_PKTWAY_CONTROL_H
#define LEAT_PKTWAY_CONTROL_H

#include "pktway_san.h"
#include <poll.h>
#include <stdio.h>

enum {
    PKTWAY_TEXT_MAX = 8192,
    PKTWAY_CLIENTS_MAX = 8,
    PKTWAY_CONTROL_FDS = 1 + PKTWAY_CLIENTS_MAX,
    PKTWAY_ANSWER_MAX = 64 << 20, /* octets that wait */
    PKTWAY_REQUEST_MS = 1000,
    PKTWAY_SLOW_MS = 5000,
};

struct pktway_request {
    char word[16]; /* status, tables, stop, ping, ... */
    uint32_t address, count, interval_ms, timeout_ms, size;
    uint64_t memory_at; /* read, write; `size` octets */
    bool json, by_address, blind;
    char text[PKTWAY_TEXT_MAX]; /* what tell asks for; what write writes, as hex */
};

/* Somebody who may ask. */
struct pktway_client {
    int fd; /* -1: nobody */
    bool asked, ended, broken;
    leat_time until;  /* then it is closed */
    uint8_t *waiting; /* of the answer: lengths (32) and packets */
    size_t sent, len, cap;
};

struct pktway_control {
    int listener; /* -1: none */
    struct pktway_client client[PKTWAY_CLIENTS_MAX];
};

/* A name: 1 to 32 of a-z, 0-9 and -. False after `why`. */
bool pktway_control_name(const char *name, char *why);

/* Listens; false after `why`: e.g. the name is taken, and by whom. */
bool pktway_control_open(struct pktway_control *control, const char *name, char *why);

/* The name is free; then whoever still waits for an answer gets `code`. Only this waits, for a
 * second. A listener of -1: nothing. */
void pktway_control_close(struct pktway_control *control, int code);

/* Those to wait for, for poll. */
void pktway_control_wait(const struct pktway_control *control,
                         struct pollfd wait[PKTWAY_CONTROL_FDS]);

/* Does what there is to do after poll. The client whose request has come; NULL: none. */
struct pktway_client *pktway_control_serve(struct pktway_control *control,
                                           const struct pollfd wait[PKTWAY_CONTROL_FDS],
                                           leat_time now, struct pktway_request *request);

/* Text for who asked, as standard output or standard error; false: it is no longer there. */
bool pktway_control_say(struct pktway_client *client, bool error, const char *text, size_t len);

/* The same as a stream: every line goes out when it is complete, the rest when it is closed. NULL:
 * there is no memory. */
FILE *pktway_control_stream(struct pktway_client *client, bool error);

/* The end of an answer. */
void pktway_control_end(struct pktway_client *client, int code);

/*
 * Asks, and prints the answer, of which a terminal obeys nothing. *code is the exit code. False
 * after `why`: nobody of that name runs here, it is neither root's nor this user's, or it went
 * away.
 */
bool pktway_control_ask(const char *name, const struct pktway_request *request, FILE *out,
                        FILE *error, int *code, char *why);

#endif
