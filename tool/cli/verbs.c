/* The list of verbs. Each has its options, its help text and its code in a folder of its own. */
#include "tool.h"
#include <string.h>

static const struct verb *const verbs[] = {
    &verb_atm,        &verb_decode, &verb_devices, &verb_doctor,  &verb_encode, &verb_esp,
    &verb_experiment, &verb_export, &verb_fabric,  &verb_formats, &verb_graph,  &verb_help,
    &verb_mpi,        &verb_pktway, &verb_report,  &verb_ring,    &verb_run,    &verb_sim,
    &verb_sweep,      &verb_unit,   &verb_view,
};

const struct verb *verb_at(size_t index)
{
    return index < sizeof verbs / sizeof *verbs ? verbs[index] : NULL;
}

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

const char *verb_names(void)
{
    static char names[256];
    size_t used = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, i ? " %s" : "%s",
                                 verbs[i]->name);
    return names;
}
