#include "graph_job.h"

#ifdef HAVE_EXPAT

#include "json_out.h"
#include "number.h"
#include <stdlib.h>
#include <string.h>

enum { WAIT_S = 60 };
#define PS_PER_S UINT64_C(1000000000000)

/* Simulated time does not wait for processes, and with ranks the others do not see them. */
static bool is_engine_wrong(const struct arguments *args)
{
    const char *engine = argument(args, "--engine");
    return argument(args, "--fabric") || (engine && strcmp(engine, "threads") != 0);
}

bool graph_attach_open(const struct arguments *args, struct graph_attach *attach)
{
    char why[160];
    attach->address = argument(args, "--attach");
    attach->wait_ps = WAIT_S * PS_PER_S;
    if (!attach->address && argument(args, "--attach-wait"))
        return misused(args->verb, "--attach-wait, expected --attach with it");
    if (!attach->address) return true;
    if (is_engine_wrong(args))
        return misused(args->verb, "--attach, expected no --fabric and no --engine mpi with it");
    if (!number_take(args, "--attach-wait", &attach->wait_ps)) return false;
    if (leat_poets_door_open(&attach->door, attach->address, why, sizeof why)) return true;
    return misused(args->verb, "--attach %s: %s", attach->address, why);
}

void graph_attach_close(struct graph_attach *attach)
{
    leat_poets_graph_externals_free(&attach->externals);
    leat_poets_door_close(&attach->door);
}

bool graph_attach_begin(struct graph_attach *attach, struct leat_poets_machine *machine,
                        struct leat_poets_run_options *run)
{
    struct leat_poets_door *door = attach->address ? &attach->door : NULL;
    const double wait_seconds = (double)attach->wait_ps / (double)PS_PER_S;
    if (!leat_poets_graph_externals_make(&attach->externals, machine, door, wait_seconds,
                                         run->interrupted))
        return false;
    run->host.externals = &attach->externals;
    if (door && !machine->external_count)
        caution("--attach %s: the application has no externals", attach->address);
    else if (door)
        caution("%u externals wait for processes at %s",
                leat_poets_externals_missing(&attach->externals.table), attach->address);
    return true;
}

void graph_attach_show(const struct graph_attach *attach, struct leat_json *json)
{
    const struct leat_poets_externals *x = &attach->externals.table;
    if (!x->count) return;
    leat_json_array(json, "attachments");
    for (uint32_t i = 0; i < x->count; i++) {
        const struct leat_poets_external *e = &x->external[i];
        leat_json_object(json, NULL);
        leat_json_string(json, "external", e->name);
        LEAT_JSON_UINTS(json, { "number", i }, { "attached", e->attached },
                        { "received", e->received }, { "sent", e->sent }, { "lost", e->lost });
        leat_json_end(json);
    }
    leat_json_end(json);
}

#endif
