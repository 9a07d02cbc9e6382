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

#include "crew.h"
#include "fabric_error.h"
#include "json_out.h"
#include "sim_clock.h"
#include "sim_packetway_native.h"
#include "sim_replay.h"
#include <leat/port.h>
#include <stdio.h>

enum {
    LEAT_FABRIC_NAME_CAP = 512,
    LEAT_FABRIC_MESSAGES_MAX = 1 << 20, /* in flight, unless the config sets it */
    LEAT_FABRIC_LOAD_ONE = 1000000,     /* loads are fractions of this */
};

struct leat_fabric;

/* Options for opening a fabric. All zeros: the defaults. */
struct leat_fabric_config {
    uint32_t messages_max;
    bool contention_free;
    uint64_t seed;                      /* of routing; 0: 1 */
    uint32_t flit_octets, packet_flits; /* for networks of switches; 0: 16 */
    bool bare;                          /* their packets have no head flit */
    uint32_t threads;                   /* that simulate it, if it is worth it; 0: one */
    bool every_cycle;                   /* disables replay */
};

/* A spelling, for leat fabric list. Parameters begin with a slash. */
struct leat_fabric_spelling {
    const char *name, *text;
};

/* The units of a load in leat sim. */
struct leat_fabric_load {
    const char *cycles, *ports; /* what they are called: "bit times", "stations" */
    const char *capacity;       /* what a throughput of 1 fills */
    uint32_t load;              /* the default, as a fraction of LEAT_FABRIC_LOAD_ONE */
    uint64_t cycles_default;
    /* Cycles from one message of a port to its next at a load of 1. */
    uint64_t (*message_cycles)(const struct leat_fabric *fabric, uint64_t octets);
};

/* A wire of an open fabric, one direction of it, and what has passed over it. */
enum { LEAT_FABRIC_WIRE_CAP = 128 };
struct leat_fabric_wire {
    char name[LEAT_FABRIC_WIRE_CAP];
    const char *carries; /* "flits" */
    uint64_t carried;
    double busy_ns;
};

/* Members whose comment has no "NULL:" must be set. Functions with `error` set it on false. */
struct leat_fabric_kind {
    const char *id;   /* "ether"; ID:NAME is always a fabric of this kind */
    const char *what; /* "an Ethernet", for users */
    size_t size;      /* of its struct, which begins with struct leat_fabric */
    /* Spellings for leat fabric list, [0] an example of a name. False past the last. */
    bool (*list)(size_t index, struct leat_fabric_spelling *out);
    /* Does this name mean such a fabric, valid or not? */
    bool (*matches)(const char *name);
    bool reads_any; /* read() also accepts names that do not match, after ID: */
    /* Parses fabric->word; sets name, clock, and ports if they are known. */
    bool (*read)(struct leat_fabric *fabric, bool (*interrupted)(void),
                 struct leat_fabric_error *error);
    /* Builds what is needed to find out whether it is valid, and writes one line about it. NULL: it
     * is valid once it is read. */
    bool (*check)(struct leat_fabric *fabric, FILE *out, struct leat_fabric_error *error);
    /* leat fabric show, as one JSON object or as text. NULL: the kind's row in
     * tool/fabric/fabric_verbs.c has a `show` with options of its own, such as --path. */
    bool (*describe)(struct leat_fabric *fabric, bool json, FILE *out,
                     struct leat_fabric_error *error);
    /* Takes fabric->memory for the network and sets fabric->net. Defaults of the config are filled
     * in. */
    bool (*open)(struct leat_fabric *fabric, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error);
    /* Frees its resources other than fabric->memory, also after a failed read. NULL: none. */
    void (*close)(struct leat_fabric *fabric);
    /* The properties of an open fabric that PacketWay needs to use it as a SAN. NULL: it cannot be
     * one. */
    void (*native)(const struct leat_fabric *fabric, struct leat_sim_packetway_native *out);
    /* Its routers and wires, for drawing; lent until it is closed. NULL: there are none. */
    const struct leat_net_shape *(*shape)(struct leat_fabric *fabric);
    /* One of the wires of an open fabric, between two runs: false past the last; their number does
     * not change. NULL: they are not counted. */
    bool (*wire)(struct leat_fabric *fabric, uint32_t index, struct leat_fabric_wire *out);
    /* leat sim of a network of ports. NULL: the kind's row in fabric_verbs.c has a `sim`. */
    const struct leat_fabric_load *load;
};

struct leat_fabric {
    const struct leat_fabric_kind *kind;
    const char *word;                /* as the user wrote it, without the kind before it */
    char name[LEAT_FABRIC_NAME_CAP]; /* in full: it gives the same fabric */
    struct leat_sim_clock clock;     /* a cycle, or a bit time */
    uint32_t ports;                  /* 0: unknown until it is open */
    struct leat_port_net *net;       /* NULL: not open */
    struct leat_crew *crew;          /* its threads; NULL: the caller alone */
    struct leat_sim_replay *replay;  /* behind `net`; NULL: it has none */
    void *memory;
};

/* ---- the registry (fabric_kinds.c) ---- */

/* NULL past the last. */
const struct leat_fabric_kind *leat_fabric_kind_at(size_t index);

/* The kind that a word means; NULL: none. */
const struct leat_fabric_kind *leat_fabric_kind_of(const char *word);

/* ---- a fabric (fabric_kinds.c): false, or NULL, with *error ---- */

/* `interrupted` can end long reads; NULL: nothing does. Close it with leat_fabric_close. */
struct leat_fabric *leat_fabric_read(const char *word, bool (*interrupted)(void),
                                     struct leat_fabric_error *error);
bool leat_fabric_check(struct leat_fabric *fabric, FILE *out, struct leat_fabric_error *error);
bool leat_fabric_open(struct leat_fabric *fabric, const struct leat_fabric_config *config,
                      struct leat_fabric_error *error);
/* NULL: nothing. */
void leat_fabric_close(struct leat_fabric *fabric);

/* This many cycles in nanoseconds. */
double leat_fabric_ns(const struct leat_sim_clock *clock, uint64_t cycles);

/* A clock's period in ps: {"num":..,"den":..}. */
void leat_fabric_clock_json(struct leat_json *json, const char *key,
                            const struct leat_sim_clock *clock);

#endif
