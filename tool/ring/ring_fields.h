/*
 * What the answers of leat ring are called. The JSON of live and simulated rings has one
 * vocabulary: the names are here, and both take them from here.
 */
#ifndef LEAT_RING_FIELDS_H
#define LEAT_RING_FIELDS_H

#include "aton_sender.h"
#include "json_out.h"

enum { RING_FIELDS_MAX = 2, RING_LOAD_REGISTER = 1 /* of least-loaded, unless named */ };

/* A number, or none: nobody took part, or there is no majority. */
struct ring_field {
    const char *key;   /* in JSON */
    const char *label; /* for people */
    bool is_there;
    uint64_t value;
};

/* What the packet that came back says for this word of the command line. sort, tree and barrier
 * have answers of other kinds: 0 fields. */
unsigned ring_fields(const char *word, const struct leat_aton_packet *packet,
                     struct ring_field field[RING_FIELDS_MAX]);

/* Every object begins like this, the counter as it came back. */
struct leat_json *ring_json_open(struct json_out *out, const char *word, uint32_t stations,
                                 const struct leat_aton_packet *packet);
void ring_json_field(struct leat_json *json, const struct ring_field *field);

/* least-loaded: the minimum is 0, which is what a register holds that nobody has set. Complains
 * about the station that holds it. */
void ring_complain_unset(const struct leat_aton_packet *least);

/* The answer is 0 although loads are at least 1. */
bool ring_is_unset(const struct leat_aton_packet *least);

#endif
