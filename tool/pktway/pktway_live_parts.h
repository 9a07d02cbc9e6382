/* Shared by the files of leat pktway on live networks. */
#ifndef LEAT_LIVE_PACKETWAY_LIVE_PARTS_H
#define LEAT_LIVE_PACKETWAY_LIVE_PARTS_H

#include "live_packetway_control.h"
#include "live_packetway_router.h"
#include "live_packetway_tun.h"
#include "packetway_host.h"
#include "pktway_live.h"
#include "pktway_shared.h"
#include <leat/packetway.h>

enum { PKTWAY_PAIRS_MAX = 64 };

/* A node of this process, and a destination. */
struct pktway_live_pair {
    uint32_t home, dt, rank; /* the lower the better */
};

/* The ways of the last `send`, which the next one takes, too, while they are new. */
struct pktway_live_way {
    char to[PACKETWAY_TEXT_MAX]; /* the word of the user */
    bool by_address;
    struct pktway_live_pair pair[PKTWAY_PAIRS_MAX];
    uint32_t pairs, first; /* the one that worked last */
    uint32_t left_out;     /* nodes beyond these pairs */
    leat_time found_at;
    leat_time checked_at; /* that pair, by an echo; 0: it was not */
    uint32_t checked_len;
};

/* What this process is: a node on each of its SANs. */
struct pktway_homes {
    struct leat_packetway_node *node[PACKETWAY_SANS_MAX];
    uint32_t count;
    void (*data)(void *context, const struct leat_packetway_event *event); /* for programs */
    void *context;
    struct pktway_live_way way;
};

void pktway_homes_close(struct pktway_homes *homes);

/* The index-th value of an option that may be repeated, and its length; NULL: no such. */
const char *pktway_value_at(const struct arguments *args, const char *option, uint32_t index,
                            size_t *len);

/* ---- keys (pktway_live_keys.c) ---- */

/* Those of the index-th of `sans` SANs: of the file for all, or of its own; "none" is none. False
 * after `why` or a complaint. */
bool pktway_keys_at(const struct arguments *args, uint32_t index, uint32_t sans,
                    struct leat_keys *keys, char *why);

/* Adds the keys of all --key-file to a request. False after `why` or a complaint. */
bool pktway_keys_ask(const struct arguments *args, struct packetway_request *q, char *why);

/* Gives them to a router, or without one to the nodes of a host. DONE, or WRONG: `error` says why,
 * and all SANs have the keys that they had. */
int pktway_keys_change(const struct packetway_request *q, struct packetway_router *router,
                       const struct pktway_homes *homes, FILE *error);

/*
 * ping, trace, plan, tell, send, read or write from a node; an exit code (pktway_live_query.c). It
 * ends early when the other end of `client` closes; -1: there is none.
 */
int pktway_live_query(struct pktway_homes *homes, const struct packetway_request *request,
                      int client, FILE *out, FILE *error);

/* ---- shared by queries ---- */

struct pktway_question {
    struct pktway_homes *homes;
    struct leat_packetway_node *node; /* the one that asks */
    const struct packetway_request *q;
    uint32_t address; /* of the node in question */
    uint8_t priority; /* of echoes */
    int client;
    FILE *out, *error;
    FILE *text; /* `out`; NULL: JSON was requested */
    struct json_out object;
    struct leat_json *json; /* the object's */
    bool quiet;             /* an echo that is only counted */
    uint32_t echo;          /* the number of the last one on the wire */
    struct leat_packetway_message message;
    struct leat_packetway_event event;
    char why[LEAT_PACKETWAY_NODE_WHY_LEN];
};

/* The next event of the node that asks before a time; false: there is none, or nobody waits any
 * more. What arrives for programs is handed on. */
bool pktway_live_receive(struct pktway_question *k, leat_time until);

/* Sends an echo of `size` octets at `data`, at *begun, by a plan or by address. */
enum leat_packetway_node_end pktway_live_echo(struct pktway_question *k, uint8_t *data,
                                              uint32_t size, leat_time *begun);
/* Is the event the answer to the last echo? */
bool pktway_live_is_reply(const struct pktway_question *k);

/* An ERR as a value of a JSON array, or with json NULL as a line. */
void pktway_live_show_err(const struct leat_packetway_event *e, struct leat_json *json, FILE *out);

/* Nobody waits for the answer any more. */
bool pktway_live_is_over(const struct pktway_question *k);

/* ---- send and receive (pktway_live_mail.c) ---- */

/* Is this the destination of a message? */
bool pktway_live_mail_word(const char *word);
int pktway_live_send(struct pktway_question *k);
/* A line for those who receive: what has arrived; for free(). NULL: no memory. */
char *pktway_live_line(const struct leat_packetway_event *event);
/* leat pktway receive, which reads such lines, or has homes of its own; an exit code. */
int pktway_live_hear(const struct arguments *args, const char *name, struct pktway_homes *homes);

/*
 * Memory nodes (pktway_live_memory.c). Reads --memory, --base and --allow; false after a complaint
 * or with `why`. The caller frees the octets.
 */
bool pktway_live_store(const struct arguments *args, struct leat_packetway_store *store, char *why);
/* A member of a JSON object, and text unless `out` is NULL. The same for all that follow. */
void pktway_live_store_status(const struct leat_packetway_store *store, struct leat_json *json,
                              FILE *out);
/* After read and write: NODE ADDRESS COUNT, or NODE ADDRESS OCTETS. False after a complaint. */
bool pktway_live_memory_words(const struct arguments *args, struct packetway_request *request);
/* read or write from a node; an exit code. */
int pktway_live_memory_query(struct leat_packetway_node *node,
                             const struct packetway_request *request, FILE *out, FILE *error);

/* status and tables of a router (pktway_live_show.c). */
void pktway_live_status(struct packetway_router *router, bool json, FILE *out);
void pktway_live_tables(struct packetway_router *router, bool json, FILE *out);
/* What came to a host for programs. */
struct pktway_live_mail_counts {
    uint64_t received, unclaimed; /* messages of data; of these, nobody received */
};
/* ... and status of a host; tun and store may be NULL. */
void pktway_live_host_status(const struct pktway_homes *homes,
                             const struct pktway_live_mail_counts *mail,
                             const struct packetway_tun *tun,
                             const struct leat_packetway_store *store, bool json, FILE *out);

/* One counter: `number` of `name`. Text shows only those that are not 0. */
void pktway_live_count(uint64_t number, const char *name, const char *text, struct leat_json *json,
                       FILE *out);
/* A node from an INFO or a table: its name and so on. */
void pktway_live_about(struct leat_packetway_records about, struct leat_json *json, FILE *out);
/* The same with its address; an object, or a line with this indent. */
void pktway_live_node(const struct leat_packetway_address *address,
                      struct leat_packetway_records about, const char *indent,
                      struct leat_json *json, FILE *out);
/* A name as text; unprintable characters are shown as numbers. */
void pktway_live_name(const uint8_t *name, size_t len, FILE *out);

#endif
