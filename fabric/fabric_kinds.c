/* The registry: a word, a kind, a fabric. */
#include "fabric_kind.h"
#include "leat_near.h"
#include <stdlib.h>
#include <string.h>

/* In the order of leat fabric list. If several kinds match a name, the last of them takes it: later
 * kinds are more specific. */
#define KINDS(X) \
    X(atm)       \
    X(flits)     \
    X(aton)      \
    X(ether)     \
    X(packetway)

#define X(kind) extern const struct leat_fabric_kind leat_fabric_kind_##kind;
KINDS(X)
#undef X

static const struct leat_fabric_kind *const kinds[] = {
#define X(kind) &leat_fabric_kind_##kind,
    KINDS(X)
#undef X
};
enum { COUNT = sizeof kinds / sizeof *kinds, FLIT_OCTETS = 16, PACKET_FLITS = 16 };

const struct leat_fabric_kind *leat_fabric_kind_at(size_t index)
{
    return index < COUNT ? kinds[index] : NULL;
}

/* The kind before a name, as in atm:clos:4,4,4; *name is then the part after it. */
static const struct leat_fabric_kind *named_kind(const char **name)
{
    for (size_t i = 0; i < COUNT; i++) {
        const size_t len = strlen(kinds[i]->id);
        if (strncmp(*name, kinds[i]->id, len) != 0 || (*name)[len] != ':') continue;
        *name += len + 1;
        return kinds[i];
    }
    return NULL;
}

static const struct leat_fabric_kind *find(const char **name)
{
    const struct leat_fabric_kind *kind = named_kind(name);
    for (size_t i = 1; !kind && i <= COUNT; i++)
        if (kinds[COUNT - i]->matches(*name)) kind = kinds[COUNT - i];
    return kind;
}

const struct leat_fabric_kind *leat_fabric_kind_of(const char *word)
{
    return find(&word);
}

/* ---- a fabric -------------------------------------------------------------------------------- */

/* Names without parameters, except those of files. */
static void put_known(char *out, size_t cap)
{
    struct leat_fabric_spelling each;
    size_t len = 0;
    for (size_t k = 0; k < COUNT; k++)
        for (size_t i = 0; len < cap && kinds[k]->list(i, &each) && each.name[0] != '/'; i++)
            if (strncmp(each.name, "FILE", 4) != 0)
                len += (size_t)snprintf(out + len, cap - len, "%s, ", each.name);
}

static void refuse_unknown(const char *word, struct leat_fabric_error *error)
{
    char known[1024];
    const size_t len = strcspn(word, "/"), shown = len ? len : strlen(word);
    put_known(known, sizeof known);
    leat_fabric_refuse(error, LEAT_FABRIC_UNKNOWN, "",
                       "unknown fabric '%.*s', expected one of %sFILE.yaml or FILE.edges (see leat "
                       "fabric list)",
                       (int)(shown < 256 ? shown : 256), word, known);
    error->len = len;
}

/* After ID:, a name that this kind does not have. */
static void refuse_name(const struct leat_fabric *fabric, struct leat_fabric_error *error)
{
    struct leat_fabric_spelling as = { "", "" };
    fabric->kind->list(0, &as);
    leat_fabric_wrong_name(error, 0, strlen(fabric->word), "it is not %s, expected a name as %s",
                           fabric->kind->what, as.name);
}

/* A parameter with a key that is nearly one of its kind: "...; did you mean /buffer=?" */
static void propose_key(const struct leat_fabric *fabric, struct leat_fabric_error *error)
{
    const char *piece = fabric->word + error->offset;
    const size_t len = strcspn(piece, "=/"), used = strlen(error->text);
    struct leat_fabric_spelling each;
    struct leat_near near = leat_near_to(piece, len);
    if (!error->offset || piece[-1] != '/') return;
    for (size_t i = 0; fabric->kind->list(i, &each); i++) {
        const size_t key_len = strcspn(each.name, "=");
        if (each.name[0] != '/') continue;
        if (key_len == len + 1 && strncmp(each.name + 1, piece, len) == 0) return; /* the value */
        leat_near_try(&near, each.name + 1, key_len - 1);
    }
    if (near.text[0])
        snprintf(error->text + used, sizeof error->text - used, "; %.*s",
                 (int)strlen(near.text) - 1, near.text); /* a blank ends it */
}

struct leat_fabric *leat_fabric_read(const char *word, bool (*interrupted)(void),
                                     struct leat_fabric_error *error)
{
    const char *name = word;
    const struct leat_fabric_kind *kind = find(&name);
    if (!kind) {
        refuse_unknown(word, error);
        return NULL;
    }
    if (strlen(name) >= LEAT_FABRIC_NAME_CAP) {
        leat_fabric_refuse(error, LEAT_FABRIC_UNKNOWN, "",
                           "a fabric of %zu characters, expected at most %d", strlen(name),
                           LEAT_FABRIC_NAME_CAP - 1);
        return NULL;
    }
    struct leat_fabric *fabric = leat_fabric_take(1, kind->size + strlen(name) + 1, error);
    if (!fabric) return NULL;
    fabric->kind = kind;
    fabric->word = strcpy((char *)fabric + kind->size, name);
    if (!kind->reads_any && !kind->matches(name))
        refuse_name(fabric, error);
    else if (kind->read(fabric, interrupted, error))
        return fabric;
    else if (error->code == LEAT_FABRIC_NAME)
        propose_key(fabric, error);
    error->offset += (size_t)(name - word);
    leat_fabric_close(fabric);
    return NULL;
}

bool leat_fabric_check(struct leat_fabric *fabric, FILE *out, struct leat_fabric_error *error)
{
    if (fabric->kind->check) return fabric->kind->check(fabric, out, error);
    fprintf(out, "%s: sound: %u ports\n", fabric->word, fabric->ports);
    return true;
}

bool leat_fabric_open(struct leat_fabric *fabric, const struct leat_fabric_config *config,
                      struct leat_fabric_error *error)
{
    struct leat_fabric_config filled = *config;
    if (!filled.messages_max) filled.messages_max = LEAT_FABRIC_MESSAGES_MAX;
    if (!filled.seed) filled.seed = 1;
    if (!filled.flit_octets) filled.flit_octets = FLIT_OCTETS;
    if (!filled.packet_flits) filled.packet_flits = PACKET_FLITS;
    if (!fabric->kind->open(fabric, &filled, error)) return false;
    fabric->ports = fabric->net->ports;
    return true;
}

void leat_fabric_close(struct leat_fabric *fabric)
{
    if (!fabric) return;
    leat_crew_end(fabric->crew);
    if (fabric->kind->close) fabric->kind->close(fabric);
    free(fabric->memory);
    free(fabric);
}

double leat_fabric_ns(const struct leat_sim_clock *clock, uint64_t cycles)
{
    return (double)cycles * (double)clock->num / (double)clock->den / 1000;
}

void leat_fabric_clock_json(struct leat_json *json, const char *key,
                            const struct leat_sim_clock *clock)
{
    leat_json_object(json, key);
    leat_json_uint(json, "num", clock->num);
    leat_json_uint(json, "den", clock->den);
    leat_json_end(json);
}
