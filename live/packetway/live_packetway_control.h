/*
 * How commands find a running router or host: by its name, as a socket of its network namespace (an
 * abstract one: it disappears with the process, however that ends). Only its owner and root are
 * served.
 *
 *   command --- request, one packet --> process
 *           <-- text, packets ---------
 *           <-- the exit code, one ----
 *
 * The process forwards packets in the same thread, so nothing here blocks. The system reports the
 * peer's identity before anything is read: strangers get an error and are closed. A client has a
 * second to send its request; unread parts of the answer wait in memory, and a client that reads
 * nothing for five seconds is closed.
 */
#ifndef LEAT_LIVE_PACKETWAY_CONTROL_H
#define LEAT_LIVE_PACKETWAY_CONTROL_H

#include "live_packetway_san.h"
#include <poll.h>
#include <stdio.h>

enum {
    PACKETWAY_TEXT_MAX = 8192,
    PACKETWAY_DATA_MAX = 65432,
    PACKETWAY_CLIENTS_MAX = 8,
    PACKETWAY_CONTROL_FDS = 1 + PACKETWAY_CLIENTS_MAX,
    PACKETWAY_ANSWER_MAX = 64 << 20, /* octets pending */
    PACKETWAY_REQUEST_MS = 1000,
    PACKETWAY_SLOW_MS = 5000,
};

struct packetway_request {
    char word[16]; /* status, tables, stop, ping, ... */
    uint32_t address, count, interval_ms, timeout_ms, size;
    uint64_t memory_at; /* read, write; `size` octets */
    bool json, by_address, blind;
    char text[PACKETWAY_TEXT_MAX]; /* what tell asks for, to what send sends; octets of write */
    uint8_t priority;              /* of send, as all below */
    bool last;                     /* of several */
    uint32_t number, data_len;
    uint8_t data[PACKETWAY_DATA_MAX]; /* the last member: only its used part is sent */
};

/* An authorized client. */
struct packetway_client {
    int fd; /* -1: nobody */
    bool asked, ended, broken;
    bool receives;    /* its answer is what arrives, until it goes away */
    leat_time until;  /* when it is closed */
    uint8_t *waiting; /* of the answer: lengths (32) and packets */
    size_t sent, len, cap;
};

struct packetway_control {
    int listener; /* -1: none */
    struct packetway_client client[PACKETWAY_CLIENTS_MAX];
};

/* A name: 1 to 32 of a-z, 0-9 and -. False: see `why`. */
bool packetway_control_name(const char *name, char *why);

/* Listens; false: see `why`, e.g. the name is taken, and by whom. */
bool packetway_control_open(struct packetway_control *control, const char *name, char *why);

/* Releases the name; then clients that still wait for an answer get `code`. Only this call blocks,
 * for up to a second. A listener of -1: nothing. */
void packetway_control_close(struct packetway_control *control, int code);

/* Descriptors for poll. */
void packetway_control_wait(const struct packetway_control *control,
                            struct pollfd wait[PACKETWAY_CONTROL_FDS]);

/* Handles the results of poll. Returns the client whose request is complete; NULL: none. */
struct packetway_client *packetway_control_serve(struct packetway_control *control,
                                                 const struct pollfd wait[PACKETWAY_CONTROL_FDS],
                                                 leat_time now, struct packetway_request *request);

/* Sends text to the client, as standard output or standard error; false: it is gone. */
bool packetway_control_say(struct packetway_client *client, bool error, const char *text,
                           size_t len);

/* The same as a stream: sends every complete line at once, the rest on close. NULL: no memory. */
FILE *packetway_control_stream(struct packetway_client *client, bool error);

/* The end of an answer. */
void packetway_control_end(struct packetway_client *client, int code);

/* The same text to all clients that receive. Returns how many there are. */
uint32_t packetway_control_spread(struct packetway_control *control, const char *text, size_t len);

/* Closes clients that receive and have gone away; call it now and then. */
void packetway_control_forget(struct packetway_control *control);

/*
 * Sends a request whose answer may take for ever, and calls back for each part of it, as it comes;
 * what the process says on standard error is printed. Ends when `each` returns false, when nothing
 * comes for timeout_ms (0: no limit), on a signal, or with the process; *code is then its exit
 * code, if it told one.
 */
typedef bool packetway_control_part(void *context, const char *octets, size_t len);
bool packetway_control_hear(const char *name, const struct packetway_request *request,
                            uint32_t timeout_ms, packetway_control_part *each, void *context,
                            int *code, char *why);

/*
 * Sends a request and prints the answer with control characters escaped. *code is the exit code.
 * False, and `why`: no process of that name runs here, it belongs to neither root nor this user, or
 * it ended.
 */
bool packetway_control_ask(const char *name, const struct packetway_request *request, FILE *out,
                           FILE *error, int *code, char *why);

#endif
