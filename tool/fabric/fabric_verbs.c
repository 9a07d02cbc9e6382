/* Fabrics on the command line: finds the fabric of a word, and what verbs do for its kind. */
#include "fabric.h"
#include "fabric_atm.h"
#include "fabric_flits.h"
#include "leat_tree.h"
#include "net_sim.h"
#include "pktway_options.h"
#include "sim.h"
#include <stdlib.h>
#include <string.h>

const char *fabric_names(void)
{
    static char names[1024];
    const struct leat_fabric_kind *kind;
    struct leat_fabric_spelling each;
    size_t used = 0;
    for (size_t k = 0; (kind = leat_fabric_kind_at(k)); k++)
        for (size_t i = 0; kind->list(i, &each) && used < sizeof names; i++) {
            const size_t len = strcspn(each.name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[");
            if (!len || *each.name == '/') continue;
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? " " : "",
                                     (int)len, each.name);
        }
    return names;
}

/* Of msh:8,8 only "msh:" is compared, of rng16 the whole, and then "rng". "": nothing is near. */
static const char *nearest_fabric(const char *word)
{
    char part[32];
    const size_t colon = strcspn(word, ":/"), len = colon + (word[colon] == ':');
    snprintf(part, sizeof part, "%.*s", (int)(len < sizeof part ? len : 0), word);
    const char *found = did_you_mean(part, fabric_names());
    part[strcspn(part, "0123456789")] = '\0';
    return *found ? found : did_you_mean(part, fabric_names());
}

bool fabric_refused(const struct verb *verb, const char *word,
                    const struct leat_fabric_error *error)
{
    char text[LEAT_FABRIC_TEXT_CAP + LEAT_FABRIC_FILE_CAP];
    if (error->code == LEAT_FABRIC_INTERRUPTED) return false;
    leat_fabric_error_text(error, word, text, sizeof text);
    const char *near = error->code == LEAT_FABRIC_UNKNOWN ? nearest_fabric(word) : "";
    if (*near)
        misuse(verb, "%s; %.*s", text, (int)strlen(near) - 1, near); /* a blank ends it */
    else if (error->code == LEAT_FABRIC_UNKNOWN || error->code == LEAT_FABRIC_NAME)
        misuse(verb, "%s", text);
    else
        complain("%s", text);
    if (*error->expected) complain("%s", error->expected);
    return false;
}

struct leat_fabric *fabric_read(const struct verb *verb, const char *word)
{
    struct leat_fabric_error error;
    struct leat_fabric *fabric = leat_fabric_read(word, is_interrupted, &error);
    if (!fabric) fabric_refused(verb, word, &error);
    return fabric;
}

struct leat_fabric *fabric_read_atm(const struct verb *verb, const char *word)
{
    struct leat_fabric *fabric = fabric_read(verb, word);
    if (!fabric || leat_fabric_as_atm(fabric)) return fabric;
    misuse(verb,
           "%s: %s, expected an ATM fabric here: clos444, clos:E,M,R, bmx:K, or any with "
           "cells, as in torus:4,4/cells",
           word, fabric->kind->what);
    leat_fabric_close(fabric);
    return NULL;
}

bool fabric_refuse_option(const struct arguments *args, const struct leat_fabric *fabric,
                          const char *before, const char *option)
{
    return !option || misused(args->verb, "%s%s has no meaning for %s, which is %s", before, option,
                              fabric->word, fabric->kind->what);
}

bool fabric_refuse_foreign(const struct arguments *args, const struct leat_fabric *fabric,
                           const char *before, const char *known)
{
    return fabric_refuse_option(args, fabric, before, argument_not_in(args, known));
}

bool fabric_has_options(const struct arguments *args, const struct leat_fabric *fabric)
{
    for (const struct option *o = args->verb->options; o->name; o++)
        if (args->value[o - args->verb->options] && o->kinds &&
            !word_is_in(fabric->kind->id, o->kinds))
            return fabric_refuse_option(args, fabric, "", o->name);
    return true;
}

/* A port or terminal of --path. False after a complaint. */
static bool read_end(const struct verb *verb, const char *text, size_t len, const char *noun,
                     uint32_t count, uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(text, len, &number) || number >= count)
        return misused(verb, "--path: %s '%.*s', expected 0 to %u", noun, (int)len, text,
                       count - 1);
    *out = (uint32_t)number;
    return true;
}

bool fabric_read_pair(const struct verb *verb, const char *pair, const char *noun, uint32_t count,
                      bool may_be_all, uint32_t *src, uint32_t *dst)
{
    const size_t len = strcspn(pair, ",");
    const char *behind = pair + len + 1;
    if (!pair[len])
        return misused(verb, "--path '%s', expected SRC,DST%s", pair,
                       may_be_all ? " or SRC,all" : "");
    if (!read_end(verb, pair, len, noun, count, src)) return false;
    *dst = count;
    return (may_be_all && strcmp(behind, "all") == 0) ||
           read_end(verb, behind, strlen(behind), noun, count, dst);
}

/* ---- options of leat run --------------------------------------------------------------------- */

static bool read_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_atm *a = leat_fabric_as_atm(fabric);
    return sim_read_units(args, &a->aal) && sim_read_model(args, &a->fabric, &a->model) &&
           sim_read_lines(args, a, &a->line, a->outage) && sim_read_faults(args, fabric);
}

static bool read_flits(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    struct leat_fabric_error error;
    if (!leat_fabric_build(&n->design, &n->built, &error))
        return fabric_refused(args->verb, fabric->word, &error);
    return net_read_faults(args, &n->built.topology, LEAT_NET_FLIT_BITS, &n->faults);
}

static bool read_packetway(const struct arguments *args, struct leat_fabric *fabric)
{
    return pktway_read_options(args, &leat_fabric_as_packetway(fabric)->design);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static const struct fabric_verbs verbs[] = {
    { "atm", fabric_show_atm, fabric_time_atm, sim_atm, read_atm, false },
    { "flits", fabric_show_flits, NULL, sim_flits, read_flits, true },
    { "aton", NULL, NULL, sim_aton, NULL, false },
    { "packetway", fabric_show_packetway, NULL, sim_packetway, read_packetway, false },
};

const struct fabric_verbs *fabric_verbs_of(const struct leat_fabric_kind *kind)
{
    static const struct fabric_verbs none;
    for (size_t i = 0; kind && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].kind, kind->id) == 0) return &verbs[i];
    return &none;
}

bool fabric_counts_wires(const char *word)
{
    return fabric_verbs_of(leat_fabric_kind_of(word))->counts_wires;
}

void *fabric_topology(struct leat_fabric *fabric, struct leat_net_topology *out,
                      struct leat_text *why)
{
    if (!fabric->kind->shape) {
        leat_text_puts(why, fabric->kind->what);
        leat_text_puts(why, ", expected an ATM fabric or a network of switches here");
        return NULL;
    }
    const struct leat_net_shape *shape = fabric->kind->shape(fabric);
    if (leat_net_shape_check(shape, why)) return NULL;
    void *memory = calloc(1, leat_net_topology_footprint(shape));
    if (!memory) leat_text_puts(why, "no memory");
    if (memory && !leat_net_topology_build(out, shape, memory, why)) return memory;
    free(memory);
    return NULL;
}
