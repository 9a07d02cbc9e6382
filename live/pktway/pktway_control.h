/*
 * How commands find a router or host that runs: by its name, as a socket of the network namespace
 * it is in (an abstract one: it goes with the process, however that ends). Only its owner and root
 * are heard.
 *
 *   command --- request, one packet --> process
 *           <-- text, packets ---------
 *           <-- the exit code, one ----
 */
#ifndef LEAT_PKTWAY_CONTROL_H
#define LEAT_PKTWAY_CONTROL_H

#include "pktway_san.h"
#include <stdio.h>

enum { PKTWAY_TEXT_MAX = 8192 };

struct pktway_request {
    char word[16]; /* status, tables, stop, ping, ... */
    uint32_t address, count, interval_ms, timeout_ms, size;
    uint64_t memory_at; /* read, write; `size` octets */
    bool json, by_address, blind;
    char text[PKTWAY_TEXT_MAX]; /* what tell asks for; what write writes, as hex */
};

/* A name: 1 to 32 of a-z, 0-9 and -. False after `why`. */
bool pktway_control_name(const char *name, char *why);

/* Listens; -1 after `why`: e.g. there is one of this name already. */
int pktway_control_listen(const char *name, char *why);

/* The next request, and the descriptor its answer goes to; -1: there is none, or it was refused. */
int pktway_control_accept(int listener, struct pktway_request *request);

/* Sends text to who asked, as standard output or standard error; false: nobody listens any more. */
bool pktway_control_say(int asker, bool error, const char *text, size_t len);

/* The same as a stream: every line goes out when it is complete, the rest when it is closed. NULL:
 * there is no memory. */
FILE *pktway_control_stream(int asker, bool error);

/* The end of an answer. */
void pktway_control_end(int asker, int code);

/*
 * Asks, and prints the answer. *code is the exit code. False after `why`: nobody of that name runs
 * here, or it went away.
 */
bool pktway_control_ask(const char *name, const struct pktway_request *request, FILE *out,
                        FILE *error, int *code, char *why);

#endif
