/*
 * A fabric: a name or a file becomes a network of ports.
 *
 *     word  ->  kind  ->  read  ->  open  ->  struct leat_port_net
 *            (registry)   (name)   (network)
 *
 * Each kind of fabric is one struct of functions, and one line of the registry (fabric_kinds.c).
 * Programs outside of leat use <leat/fabric.h>.
 */
#ifndef LEAT_FABRIC_KIND_H
#define LEAT_FABRIC_KIND_H

#include "fabric_error.h"
#include "json_out.h"
#include "sim_clock.h"
#include "sim_packetway_native.h"
#include <leat/port.h>
#include <stdio.h>

enum {
    LEAT_FABRIC_NAME_CAP = 512,
    LEAT_FABRIC_MESSAGES_MAX = 1 << 20, /* under way, unless the config says otherwise */
    LEAT_FABRIC_LOAD_ONE = 1000000,     /* a load is counted in parts of this */
};

struct leat_fabric;

/* How a fabric is opened. All zeros: the defaults. */
struct leat_fabric_config {
    uint32_t messages_max;
    bool contention_free;
    uint64_t seed;                      /* of routing; 0: 1 */
    uint32_t flit_octets, packet_flits; /* of networks of switches; 0: 16 */
    bool bare;                          /* their packets have no flit for a head */
};

/* A spelling, for leat fabric list. Parameters begin with a slash. */
struct leat_fabric_spelling {
    const char *name, *text;
};

/* What a load in leat sim is measured by. */
struct leat_fabric_load {
    const char *cycles, *ports; /* what they are called: "bit times", "stations" */
    const char *capacity;       /* what a throughput of 1 fills */
    uint32_t load;              /* the default, in parts of LEAT_FABRIC_LOAD_ONE */
    uint64_t cycles_default;
    /* Cycles from one message of a port to its next at a load of 1. */
    uint64_t (*message_cycles)(const struct leat_fabric *fabric, uint64_t octets);
};

struct leat_fabric_kind {
    const char *id;   /* "ether"; ID:NAME is always a fabric of this kind */
    const char *what; /* "an Ethernet" */
    size_t size;      /* of its struct, which begins with struct leat_fabric */
    /* The options of leat run that it knows beside those of all kinds; ends with a NULL. */
    const char *const *options;
    /* False past the last. */
    bool (*list)(size_t index, struct leat_fabric_spelling *out);
    /* Does a user mean such a fabric by this name, right or wrong? */
    bool (*matches)(const char *name);
    bool reads_any; /* read() takes names that do not match, behind ID: */
    /* Reads fabric->word; sets name, clock, and ports where they are known. */
    bool (*read)(struct leat_fabric *fabric, bool (*interrupted)(void),
                 struct leat_fabric_error *error);
    /* Builds what shows only then whether it is sound, and writes one line about it. NULL: it is
     * sound once it is read. */
    bool (*check)(struct leat_fabric *fabric, FILE *out, struct leat_fabric_error *error);
    bool (*describe)(struct leat_fabric *fabric, bool json, FILE *out,
                     struct leat_fabric_error *error);
    /* Sets fabric->net, which lies in fabric->memory, and ports. */
    bool (*open)(struct leat_fabric *fabric, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error);
    /* Frees what it has beside fabric->memory; NULL: nothing. */
    void (*close)(struct leat_fabric *fabric);
    /* What PacketWay has to know of an open one that is a SAN; NULL: it cannot be one. */
    void (*native)(const struct leat_fabric *fabric, struct leat_sim_packetway_native *out);
    /* Its routers and wires, to be drawn; lent until it is closed. NULL: there are none. */
    const struct leat_net_shape *(*shape)(struct leat_fabric *fabric);
    const struct leat_fabric_load *load; /* NULL: leat sim has a load of its own for it */
};

struct leat_fabric {
    const struct leat_fabric_kind *kind;
    const char *word;                /* as the user wrote it, without the kind before it */
    char name[LEAT_FABRIC_NAME_CAP]; /* in full: it gives the same again */
    struct leat_sim_clock clock;     /* a cycle, or a bit time */
    uint32_t ports;                  /* 0: not known before it is open */
    struct leat_port_net *net;       /* NULL: not open */
    void *memory;
};

/* ---- the registry (fabric_kinds.c) ---- */

/* NULL past the last. */
const struct leat_fabric_kind *leat_fabric_kind_at(size_t index);

/* The kind that a word means; NULL: none. */
const struct leat_fabric_kind *leat_fabric_kind_of(const char *word);

/* Does any kind, or this one, know this option? */
bool leat_fabric_is_option(const char *option);
bool leat_fabric_knows(const struct leat_fabric_kind *kind, const char *option);

/* ---- a fabric (fabric_kinds.c): false, or NULL, with *error ---- */

/* `interrupted` ends long readings; NULL: nothing does. To be closed by leat_fabric_close. */
struct leat_fabric *leat_fabric_read(const char *word, bool (*interrupted)(void),
                                     struct leat_fabric_error *error);
bool leat_fabric_check(struct leat_fabric *fabric, FILE *out, struct leat_fabric_error *error);
bool leat_fabric_open(struct leat_fabric *fabric, const struct leat_fabric_config *config,
                      struct leat_fabric_error *error);
/* NULL: nothing. */
void leat_fabric_close(struct leat_fabric *fabric);

/* So many cycles, in nanoseconds. */
double leat_fabric_ns(const struct leat_sim_clock *clock, uint64_t cycles);

/* A clock's period in ps: {"num":..,"den":..}. */
void leat_fabric_clock_json(struct leat_json *json, const char *key,
                            const struct leat_sim_clock *clock);

#endif
