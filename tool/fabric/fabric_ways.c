/* Fabrics on the command line: finds the fabric of a word, and what verbs do for its kind. */
#include "fabric.h"
#include "fabric_atm.h"
#include "fabric_flits.h"
#include "net_sim.h"
#include "pktway_options.h"
#include "sim.h"
#include <stdlib.h>
#include <string.h>

static bool is_interrupted(void)
{
    return interrupted;
}

bool fabric_refused(const struct verb *verb, const char *word,
                    const struct leat_fabric_error *error)
{
    char text[LEAT_FABRIC_TEXT_CAP + LEAT_FABRIC_FILE_CAP];
    if (error->code == LEAT_FABRIC_INTERRUPTED) return false;
    leat_fabric_error_text(error, word, text, sizeof text);
    if (error->code == LEAT_FABRIC_UNKNOWN || error->code == LEAT_FABRIC_NAME)
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

bool fabric_read_atm(const struct verb *verb, const char *word, struct leat_sim_atm_fabric *out)
{
    struct leat_fabric *fabric = fabric_read(verb, word);
    if (!fabric) return false;
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    if (atm)
        *out = atm->fabric;
    else
        misuse(verb, "%s: %s, expected an ATM fabric here: clos444, clos:E,M,R or bmx:K", word,
               fabric->kind->what);
    leat_fabric_close(fabric);
    return atm;
}

const char *fabric_foreign_option(const struct arguments *args, const char *const *known)
{
    for (int i = 0; args->verb->options[i].name; i++) {
        const char *const *each = known;
        while (*each && strcmp(*each, args->verb->options[i].name) != 0)
            each++;
        if (args->value[i] && !*each) return args->verb->options[i].name;
    }
    return NULL;
}

static bool refuse(const struct arguments *args, const struct leat_fabric *fabric,
                   const char *before, const char *option)
{
    return misused(args->verb, "%s%s has no meaning for %s, which is %s", before, option,
                   fabric->word, fabric->kind->what);
}

bool fabric_refuse_options(const struct arguments *args, const struct leat_fabric *fabric,
                           const char *const *options)
{
    for (const char *const *each = options; *each; each++)
        if (argument(args, *each)) return refuse(args, fabric, "", *each);
    return true;
}

bool fabric_refuse_foreign(const struct arguments *args, const struct leat_fabric *fabric,
                           const char *before, const char *const *known)
{
    const char *foreign = fabric_foreign_option(args, known);
    return !foreign || refuse(args, fabric, before, foreign);
}

/* ---- options of leat run ----------------------------------------------------------------------
 */

/* Errors on lines; how often, and how soon, a unit retransmits unacknowledged data; how long, and
 * how much, it keeps unread data. */
static bool read_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_atm *a = leat_fabric_as_atm(fabric);
    struct leat_atm_aal_config *aal = &a->aal;
    uint64_t cycles = aal->retransmit_cycles, times = aal->transmissions_max;
    uint64_t obsolete = aal->obsolete_cycles, descriptors = aal->descriptors;
    if (!sim_read_number(args, "--retransmit", 1, UINT32_MAX, &cycles) ||
        !sim_read_number(args, "--obsolete", 1, UINT32_MAX, &obsolete) ||
        !sim_read_number(args, "--descriptors", 1, UINT16_MAX, &descriptors) ||
        !sim_read_number(args, "--transmissions", 1, UINT8_MAX, &times))
        return false;
    aal->retransmit_cycles = (uint32_t)cycles;
    aal->obsolete_cycles = (uint32_t)obsolete;
    aal->descriptors = (uint32_t)descriptors;
    aal->transmissions_max = (uint32_t)times;
    aal->resync = sim_read_resync(args);
    a->every_cycle = argument(args, "--every-cycle");
    return sim_read_model(args->verb, argument(args, "--model"), &a->model) &&
           sim_read_lines(args, a->fabric.net.ports, &a->line, a->outage);
}

static bool read_flits(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    struct leat_fabric_error error;
    if (!leat_fabric_build(&n->design, &n->built, &error))
        return fabric_refused(args->verb, fabric->word, &error);
    return net_read_faults(args, &n->built.topology, &n->faults);
}

static bool read_packetway(const struct arguments *args, struct leat_fabric *fabric)
{
    return pktway_read_options(args, &leat_fabric_as_packetway(fabric)->design);
}

/* ---- kinds -------------------------------------------------------------------------------------
 */

static const struct fabric_ways ways[] = {
    { "atm", fabric_show_atm, fabric_time_atm, sim_atm, read_atm, false },
    { "flits", fabric_show_flits, NULL, sim_flits, read_flits, true },
    { "aton", NULL, NULL, sim_aton, NULL, false },
    { "packetway", fabric_show_packetway, NULL, sim_packetway, read_packetway, false },
};

const struct fabric_ways *fabric_ways_of(const struct leat_fabric_kind *kind)
{
    static const struct fabric_ways none;
    for (size_t i = 0; kind && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].kind, kind->id) == 0) return &ways[i];
    return &none;
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
