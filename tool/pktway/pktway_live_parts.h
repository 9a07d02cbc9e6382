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

/*
 * ping, trace, plan or tell from a node; an exit code (pktway_live_query.c). It ends early when the
 * other end of `client` closes; -1: there is none.
 */
int pktway_live_query(struct leat_packetway_node *node, const struct packetway_request *request,
                      int client, FILE *out, FILE *error);

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
/* ... and status of a host; tun and store may be NULL. */
void pktway_live_host_status(const struct leat_packetway_node *host,
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
