/* Names of the answers of leat ring, shared by the JSON of live and simulated rings. */
#ifndef LEAT_RING_FIELDS_H
#define LEAT_RING_FIELDS_H

#include "aton_sender.h"
#include "json_out.h"

enum { RING_FIELDS_MAX = 2, RING_LOAD_REGISTER = 1 /* of least-loaded, by default */ };

/* A number, or none: no station took part, or there is no majority. */
struct ring_field {
    const char *key;   /* in JSON */
    const char *label; /* for people */
    bool is_there;
    uint64_t value;
};

/* The answer to this subcommand in the returned packet. sort, tree and barrier have other kinds of
 * answers: 0 fields. */
unsigned ring_fields(const char *word, const struct leat_aton_packet *packet,
                     struct ring_field field[RING_FIELDS_MAX]);

/* The common beginning of every object, with the counter as it came back. */
struct leat_json *ring_json_open(struct json_out *out, FILE *file, const char *word,
                                 uint32_t stations, const struct leat_aton_packet *packet);
void ring_json_field(struct leat_json *json, const struct ring_field *field);

/* least-loaded: loads are at least 1. False after a complaint: the minimum is 0, the value of a
 * register that was never set. */
bool ring_is_set(const struct leat_aton_packet *least);

#endif
