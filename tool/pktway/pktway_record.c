#include "pktway_record.h"
#include "record_fabric.h"
#include "result_file.h"
#include <stdlib.h>
#include <string.h>

enum { NAME_CAP = 64, NAMES_MAX = 8192 };
#define NO_SAN UINT32_MAX

/* What a half-router knew when it was looked at last. */
struct half {
    uint32_t lane, tables;
    uint32_t *san; /* [slots] the SAN that this table leads to; NO_SAN: none */
    uint32_t known;
};

struct name {
    char text[NAME_CAP];
    uint32_t number;
};

struct pktway_record {
    struct result_file file;
    struct leat_sim_recorder recorder;
    const struct leat_fabric_packetway *net;
    uint32_t *port; /* [ports] lanes of hosts */
    struct half half[LEAT_SIM_PACKETWAY_ROUTERS_MAX][LEAT_SIM_PACKETWAY_ENDS_MAX];
    uint32_t slots; /* of each half-router's tables, at most */
    struct name name[NAMES_MAX];
    uint32_t names, other, drops;
    leat_time now;
};

/* SANs tell what happened in them when they have run, maybe after others. */
static leat_time time_of(struct pktway_record *r, leat_time at)
{
    if (at != LEAT_NEVER && at > r->now) r->now = at;
    return r->now;
}

static leat_time present(const struct pktway_record *r)
{
    return r->net->net.now;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t name_of(struct pktway_record *r, const char *what, uint32_t san)
{
    char text[NAME_CAP] = "";
    const struct leat_fabric_sans *d = &r->net->design;
    for (uint32_t i = 0; i < d->sans && !*text; i++)
        if (d->san[i].bias == san)
            snprintf(text, sizeof text, "%s %.*s", what, NAME_CAP - 16, d->san[i].name);
    if (!*text) snprintf(text, sizeof text, "%s SAN 0x%06x", what, san);
    for (uint32_t i = 0; i < r->names; i++)
        if (strcmp(r->name[i].text, text) == 0) return r->name[i].number;
    if (r->names == NAMES_MAX) return r->other;
    struct name *fresh = &r->name[r->names++];
    memcpy(fresh->text, text, sizeof text);
    return fresh->number = leat_sim_recorder_name(&r->recorder, text);
}

static uint32_t san_at(const struct leat_packetway_router *engine, uint32_t slot)
{
    struct leat_packetway_table_view view;
    return leat_packetway_router_table(engine, slot, &view) && !view.lost ? view.san : NO_SAN;
}

/* Does another slot lead there, too? */
static bool is_known(const struct pktway_record *r, const struct half *h, uint32_t san)
{
    for (uint32_t i = 0; i < r->slots; i++)
        if (h->san[i] == san) return true;
    return false;
}

static void change(struct pktway_record *r, struct half *h, uint32_t slot, uint32_t san,
                   bool is_told)
{
    const uint32_t before = h->san[slot];
    const bool was = san != NO_SAN && is_known(r, h, san);
    h->san[slot] = san;
    if (before != NO_SAN && !is_known(r, h, before)) {
        h->known--;
        if (is_told)
            leat_sim_record_instant(&r->recorder, time_of(r, present(r)), h->lane,
                                    name_of(r, "loses", before));
    }
    if (san == NO_SAN || was) return;
    h->known++;
    if (is_told)
        leat_sim_record_instant(&r->recorder, time_of(r, present(r)), h->lane,
                                name_of(r, "learns", san));
}

static void look(struct pktway_record *r, uint32_t router, uint32_t end, bool is_told)
{
    struct half *h = &r->half[router][end];
    const uint32_t known = h->known;
    const struct leat_packetway_router *engine = leat_sim_packetway_engine(&r->net->net, router,
                                                                           end, &(uint32_t){ 0 });
    for (uint32_t i = 0; i < r->slots; i++) {
        const uint32_t san = san_at(engine, i);
        if (san != h->san[i]) change(r, h, i, san, is_told);
    }
    if (h->known != known || !is_told)
        leat_sim_record_value(&r->recorder, time_of(r, present(r)), h->tables, h->known);
}

void pktway_record_learns(struct pktway_record *r, uint32_t router, uint32_t end)
{
    if (r) look(r, router, end, true);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_flow(struct pktway_record *r, uint32_t lane, leat_sim_step step, uint64_t id,
                     uint64_t len, leat_time at)
{
    const struct leat_sim_flow flow = { .message = LEAT_SIM_FIRST_PACKET + id, .len = len };
    leat_sim_record_flow(&r->recorder, time_of(r, at), lane, step, &flow);
}

void pktway_record_leaves(struct pktway_record *r, uint32_t port, uint64_t id, uint64_t len)
{
    if (r) put_flow(r, r->port[port], LEAT_SIM_LEAVES, id, len, r->net->net.base.now);
}

void pktway_record_arrives(struct pktway_record *r, uint32_t port, uint64_t id, uint64_t len,
                           leat_time at)
{
    if (r) put_flow(r, r->port[port], LEAT_SIM_ARRIVES, id, len, at);
}

void pktway_record_passes(struct pktway_record *r, const struct leat_sim_packetway_pass *pass,
                          uint64_t id)
{
    if (!r) return;
    const uint32_t lane = r->half[pass->router][pass->end].lane;
    put_flow(r, lane, LEAT_SIM_PASSES, id, pass->len, pass->at);
    if (pass->decision.verdict == LEAT_PACKETWAY_DROP)
        leat_sim_record_instant(&r->recorder, r->now, lane, r->drops);
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t declare_lane(struct pktway_record *r, uint32_t group, const char *what,
                             uint32_t number)
{
    char name[NAME_CAP];
    snprintf(name, sizeof name, "%s%u", what, number);
    return leat_sim_recorder_lane(&r->recorder, group, 0, 0, name);
}

static void declare_hosts(struct pktway_record *r, uint32_t group)
{
    const struct leat_fabric_sans *d = &r->net->design;
    for (uint32_t i = 0; i < d->sans; i++) {
        const uint32_t san = leat_sim_recorder_group(&r->recorder, group, d->san[i].name);
        for (uint32_t p = 0; p < r->net->san[i].net->ports; p++) {
            uint32_t port;
            const struct leat_sim_packetway_end end = { .san = i, .port = p };
            if (leat_sim_packetway_port_at(&r->net->net, &end, &port))
                r->port[port] = declare_lane(r, san, "port", p);
        }
    }
}

static void declare_routers(struct pktway_record *r, uint32_t group)
{
    const struct leat_fabric_sans *d = &r->net->design;
    for (uint32_t i = 0; i < d->routers; i++) {
        const uint32_t router = leat_sim_recorder_group(&r->recorder, group, d->router[i].name);
        for (uint32_t k = 0; k < d->router[i].ends; k++) {
            char name[NAME_CAP];
            snprintf(name, sizeof name, "tables%u", k);
            r->half[i][k].lane = declare_lane(r, router, "half", k);
            r->half[i][k].tables = leat_sim_recorder_signal(&r->recorder, router, 0, 32, name);
        }
    }
}

static void declare(struct pktway_record *r)
{
    struct leat_sim_event fabric;
    const uint32_t group = leat_sim_recorder_group(&r->recorder, 0, "network");
    const bool has_name = record_fabric_declare(&r->recorder, group, r->net->base.name, &fabric);
    declare_hosts(r, group);
    declare_routers(r, group);
    r->other = leat_sim_recorder_name(&r->recorder, "tables change");
    r->drops = leat_sim_recorder_name(&r->recorder, "drops");
    if (has_name) leat_sim_recorder_put(&r->recorder, &fabric);
}

static bool make_room(struct pktway_record *r)
{
    const struct leat_fabric_sans *d = &r->net->design;
    const uint32_t ports = r->net->net.base.ports;
    uint64_t tracks = ports + d->sans + d->routers + 8, halves = 0;
    r->slots = leat_sim_packetway_tables(&r->net->net);
    for (uint32_t i = 0; i < d->routers; i++)
        halves += d->router[i].ends;
    tracks += 2 * halves;
    if (tracks > LEAT_SIM_TRACKS_MAX)
        return complain("--record: %u hosts and %llu half-routers, expected fewer", ports,
                        (unsigned long long)halves);
    r->port = calloc(ports, sizeof *r->port);
    bool done = r->port;
    for (uint32_t i = 0; i < d->routers; i++)
        for (uint32_t k = 0; k < d->router[i].ends && done; k++) {
            r->half[i][k].san = malloc(r->slots * sizeof *r->half[i][k].san);
            done = r->half[i][k].san;
            for (uint32_t s = 0; done && s < r->slots; s++)
                r->half[i][k].san[s] = NO_SAN;
        }
    return done || complain("no memory for the recording of %u hosts", ports);
}

static void forget(struct pktway_record *r)
{
    result_file_drop(&r->file);
    free(r->port);
    for (uint32_t i = 0; i < LEAT_SIM_PACKETWAY_ROUTERS_MAX; i++)
        for (uint32_t k = 0; k < LEAT_SIM_PACKETWAY_ENDS_MAX; k++)
            free(r->half[i][k].san);
    free(r);
}

struct pktway_record *pktway_record_open(const char *path, const struct leat_fabric_packetway *net)
{
    struct pktway_record *r = calloc(1, sizeof *r);
    if (!r) {
        complain("no memory for a recording");
        return NULL;
    }
    r->net = net;
    if (!make_room(r) || !result_file_open(&r->file, path)) {
        forget(r);
        return NULL;
    }
    leat_sim_recorder_init(&r->recorder, &r->file.out.text);
    declare(r);
    for (uint32_t i = 0; i < net->design.routers; i++)
        for (uint32_t k = 0; k < net->design.router[i].ends; k++)
            look(r, i, k, false);
    return r;
}

bool pktway_record_close(struct pktway_record *r, bool keep)
{
    if (!r) return true;
    leat_sim_recorder_close(&r->recorder, time_of(r, r->net->net.base.now));
    const bool done = result_file_close(&r->file, keep);
    forget(r);
    return done;
}
