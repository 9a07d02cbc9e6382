/*
 * Faults of networks, as users write them, and their schedule.
 *
 *   link:3-7@1000..5000            the wires between routers 3 and 7, in both directions
 *   link:3>7                       the wires from 3 to 7 only, always
 *   flap:3-7@1000..5000/200,100    up 200 cycles, down 100, in turn, beginning with down
 *   router:5@1000..2000            all wires of a router, and the terminals that send into it or
 *                                  receive from it; also written switch:5
 *   port:5@1000..                  terminal 5 is dead, to the end
 *   ber:1e-6                       each bit on any wire is damaged with this probability; a flit is
 *                                  when one of its bits is
 *   ber:3-7:1e-6@..5000            the same, on the wires between two routers
 *
 *   fault = kind ":" where [ ":" chance ] [ "@" [ first ] ".." [ end ] ] [ "/" up "," down ]
 *
 * A fault is active in the cycles from `first` up to but not including `end`. Faults may overlap: a
 * wire is repaired when the last fault that broke it has ended.
 */
#ifndef LEAT_NET_FAULTS_H
#define LEAT_NET_FAULTS_H

#include "net.h"

enum leat_net_fault_kind {
    LEAT_NET_FAULT_LINK,
    LEAT_NET_FAULT_FLAP,
    LEAT_NET_FAULT_ROUTER,
    LEAT_NET_FAULT_PORT,
    LEAT_NET_FAULT_BER,
};

/* What a fault begins with, for complaints. */
#define LEAT_NET_FAULT_WORDS "link:, flap:, router: (or switch:), port: or ber:"

enum {
    LEAT_NET_FAULT_KINDS = LEAT_NET_FAULT_BER + 1,
    LEAT_NET_FAULTS_MAX = 1024,
    LEAT_NET_FLIT_BITS = 64, /* default */
    LEAT_NET_FLIT_BITS_MAX = 65536,
};

struct leat_net_fault {
    enum leat_net_fault_kind kind;
    uint32_t a, b; /* routers; port: terminal a; ber on all wires: NONE */
    bool one_way;
    uint64_t from, to;   /* cycles; to: LEAT_NEVER if it has no end */
    uint64_t up, down;   /* flap: cycles, 1 .. */
    uint64_t bit_errors; /* ber: probability per bit, in 2^-64 */
};

struct leat_net_faults {
    uint32_t flit_bits, count;
    struct leat_net_fault fault[LEAT_NET_FAULTS_MAX];
};

/* Parses a fault. On error *out is untouched and `why` says what is wrong and what was expected. */
leat_err leat_net_fault_parse(const char *text, size_t len, struct leat_net_fault *out,
                              struct leat_text *why);

/* Does this topology have such a place? */
leat_err leat_net_fault_check(const struct leat_net_fault *fault,
                              const struct leat_net_topology *topology, uint32_t flit_bits,
                              struct leat_text *why);

/* Is it active in this cycle? When, after this cycle, may that change? LEAT_NEVER: never. */
bool leat_net_fault_is_active(const struct leat_net_fault *fault, uint64_t cycle);
uint64_t leat_net_fault_next(const struct leat_net_fault *fault, uint64_t cycle);

/* The probability that a flit of so many bits is damaged, in 2^-32, from that of a bit in 2^-64. */
uint32_t leat_net_fault_flit_errors(uint64_t bit_errors, uint32_t flit_bits);

/* Starts without faults. */
void leat_net_faults_init(struct leat_net_faults *faults);

/* Adds the fault in a line of a fault file, or in an option. Surrounding blanks and text after #
 * are ignored; a line may be empty. */
leat_err leat_net_faults_line(struct leat_net_faults *faults, const char *line, size_t len,
                              struct leat_text *why);

/* Applies checked faults to a network. */
struct leat_net_fault_player {
    const struct leat_net_faults *faults;
    const struct leat_net_topology *topology;
    uint64_t seed;
    uint64_t next_at;          /* the next change; LEAT_NEVER: none */
    uint8_t *is_active;        /* [faults] */
    uint16_t *wire_faults;     /* [outs] how many faults break this wire */
    uint16_t *terminal_faults; /* [terminals] how many faults kill it */
    uint32_t *errors;          /* [outs] as in leat_net_errors; NULL: there is no ber */
    bool rerouted;             /* some wire broke or was repaired in this change */
};

/* `faults` and `topology` are lent for the lifetime; so is `memory`, ZEROED, aligned for any
 * object. */
size_t leat_net_fault_player_footprint(const struct leat_net_faults *faults,
                                       const struct leat_net_topology *topology);
void leat_net_fault_player_init(struct leat_net_fault_player *player,
                                const struct leat_net_faults *faults,
                                const struct leat_net_topology *topology, uint64_t seed,
                                void *memory);

/* Brings the network to the state of cycle net->now, which has not yet run. Afterwards
 * player->next_at is later. */
void leat_net_fault_player_apply(struct leat_net_fault_player *player, struct leat_net *net);

/* The probability of an error in a bit on this wire now, in 2^-64. */
uint64_t leat_net_fault_player_bit_errors(const struct leat_net_fault_player *player, uint32_t out);

/* That of an error by either of two causes, in 2^-64. */
uint64_t leat_net_fault_either(uint64_t a, uint64_t b);

/* The same for networks whose faults are counted in other cycles than their own: the state of this
 * cycle. net: NULL: there is none, and only the player's own tables change. */
void leat_net_fault_player_apply_at(struct leat_net_fault_player *player, struct leat_net *net,
                                    uint64_t cycle);

#endif
