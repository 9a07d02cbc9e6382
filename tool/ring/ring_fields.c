#include "ring_job.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Words whose answer is an extreme and the station that holds it. */
static const struct {
    const char *word, *key, *label, *holder;
} extremes[] = {
    { "gvt", "gvt", "global virtual time", "held by station" },
    { "elect", "identity", "largest id", "leader is station" },
    { "work", "priority", "highest priority", "at station" },
    { "least-loaded", "least_load", "least load, hundredths", "at station" },
};

static unsigned average(const struct leat_aton_packet *p, struct ring_field field[RING_FIELDS_MAX])
{
    uint64_t quotient = 0, remainder = 0;
    const bool any = leat_aton_average(p, &quotient, &remainder);
    field[0] = (struct ring_field){ "average", "average", any, quotient };
    field[1] = (struct ring_field){ "remainder", "remainder", any, remainder };
    return 2;
}

static unsigned majority(const struct leat_aton_packet *p, struct ring_field field[RING_FIELDS_MAX])
{
    const bool exists = leat_aton_is_majority(p);
    field[0] = (struct ring_field){ "majority", "majority", exists, p->variable1 };
    field[1] = (struct ring_field){ "votes", "stations that hold it", true, p->variable2 };
    return 2;
}

unsigned ring_fields(const char *word, const struct leat_aton_packet *p,
                     struct ring_field field[RING_FIELDS_MAX])
{
    const bool any = p->counter != 0;
    if (strcmp(word, "average") == 0) return average(p, field);
    if (strcmp(word, "majority") == 0) return majority(p, field);
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        if (strcmp(word, extremes[i].word) != 0) continue;
        field[0] = (struct ring_field){ extremes[i].key, extremes[i].label, any, p->variable1 };
        field[1] = (struct ring_field){ "station", extremes[i].holder, any, p->variable2 };
        return 2;
    }
    return 0;
}

struct leat_json *ring_json_open(struct json_out *out, FILE *file, const char *word,
                                 uint32_t stations, const struct leat_aton_packet *p)
{
    struct leat_json *j = json_open(out, file);
    leat_json_string(j, "command", word);
    LEAT_JSON_UINTS(j, { "stations", stations }, { "width", p->width_bits }, { "register", p->reg },
                    { "counter", p->counter });
    return j;
}

void ring_json_field(struct leat_json *json, const struct ring_field *field)
{
    if (field->is_there)
        leat_json_uint(json, field->key, field->value);
    else
        leat_json_null(json, field->key);
}

bool ring_is_set(const struct leat_aton_packet *least)
{
    if (!least->counter || least->variable1) return true;
    return complain("register %u of station %" PRIu64 " is 0, which is no load: nothing has set "
                    "it, expected leat ring set %u load on every station",
                    least->reg, least->variable2, least->reg);
}
