/*
 * Plain sources and sinks of cells at all ports of a network, behind lines with errors:
 *
 *     write --> line to the network --> switches --> line to the host --> take
 *        one cell in a cell time                certificate
 *
 * What a port writes and takes is its owner's business: monitored connections, circuits. A port
 * that the network refuses sends the same cell again; what the line added follows one by one.
 */
#ifndef LEAT_SIM_ATM_PLAIN_H
#define LEAT_SIM_ATM_PLAIN_H

#include "leat_arena.h"
#include "sim_atm.h"
#include "sim_atm_line.h"
#include "sim_certificate.h"

enum {
    LEAT_SIM_ATM_PLAIN_LOAD_ONE = 1000000,
    LEAT_SIM_ATM_PLAIN_PORTS_MAX = 4096,
};

struct leat_sim_atm_plain_port {
    struct leat_random random; /* the owner's, too */
    uint64_t free_at;          /* its last cell is on the line before */
    struct leat_sim_atm_line to_network, to_host;
    uint32_t waiting, next; /* cells that the line has for the network: a cell, a copy, a stray */
    uint8_t cell[1 + LEAT_SIM_ATM_LINE_EXTRAS_MAX][LEAT_ATM_CELL_LEN];
};

struct leat_sim_atm_plain_owner {
    void *context;
    /* The cell that this port sends now; false: none. */
    bool (*write)(void *context, uint32_t port, uint64_t now, uint8_t *cell);
    /* When it may have one; LEAT_NEVER: not before it takes one. */
    uint64_t (*due)(void *context, uint32_t port);
    /* A cell has come through the line to the host; lent for the call. */
    void (*take)(void *context, uint32_t port, const uint8_t *cell, uint64_t now);
};

struct leat_sim_atm_plain_config {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    uint32_t load_ppm; /* share of each line that draws fill */
    uint64_t seed;
    struct leat_sim_atm_line_config line; /* all zeros: no errors; init sets the labels */
    struct leat_sim_atm_plain_owner owner;
};

struct leat_sim_atm_plain {
    struct leat_sim_atm_plain_config config;
    struct leat_sim_atm sim;
    struct leat_sim_atm_line_medium medium;
    bool has_lines;
    struct leat_sim_atm_plain_port *port;
    struct leat_sim_certificate certificate; /* of all cells that leave the network */
};

/* Lays out its memory in an arena, which may only measure; returns that of the network. */
void *leat_sim_atm_plain_lay(struct leat_sim_atm_plain *plain,
                             const struct leat_sim_atm_fabric *fabric,
                             enum leat_sim_atm_model model, struct leat_arena *arena);

/* `network`: what _lay returned of this plain. Then start each port. */
void leat_sim_atm_plain_init(struct leat_sim_atm_plain *plain,
                             const struct leat_sim_atm_plain_config *config, void *network);

/* The owner can say what is due. */
void leat_sim_atm_plain_start(struct leat_sim_atm_plain *plain, uint32_t port);

/* When the next cell at random is due, from `at` on: a coin for each cell time. */
uint64_t leat_sim_atm_plain_draw(struct leat_sim_atm_plain *plain, uint32_t port, uint64_t at);

/* Another port at random. */
uint32_t leat_sim_atm_plain_other(struct leat_sim_atm_plain *plain, uint32_t port);

/* What both lines of all ports did. */
void leat_sim_atm_plain_lines(const struct leat_sim_atm_plain *plain,
                              struct leat_sim_atm_line_counts *out);

#endif
