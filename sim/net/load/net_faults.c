#include "net_faults.h"
#include "leat_arena.h"
#include "leat_tree.h"
#include "net_topology_parts.h"
#include "sim_draw.h"
#include "sim_piece_parts.h"
#include "sim_refuse.h"

enum { NEIGHBOURS_LISTED_MAX = 16 };
enum { DIGITS_MAX = 18 }; /* of a probability: more do not fit in 64 bits */
enum { EXPONENT_MAX = 99 };

/* ---- pieces of text -------------------------------------------------------------------------- */

/* The result so far, and where errors are written. */
struct reading {
    struct leat_net_fault fault;
    struct leat_sim_piece text;
    struct leat_text *why;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* "TEXT: 'PIECE' WHAT" */
static leat_err wrong(const struct reading *r, struct leat_sim_piece p, const char *what)
{
    return leat_sim_refuse(r->why, LEAT_ERR_SYNTAX, "%.*s: '%.*s' %s", (int)r->text.len, r->text.at,
                           (int)p.len, p.at, what);
}

static bool read_number(struct leat_sim_piece p, uint64_t max, uint64_t *out)
{
    uint64_t number;
    if (!p.at || !leat_tree_number(p.at, p.len, &number) || number > max) return false;
    *out = number;
    return true;
}

static bool read_place(struct leat_sim_piece p, uint32_t *out)
{
    uint64_t number;
    if (!read_number(p, LEAT_NET_ROUTERS_MAX - 1, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

/* ---- the parts of a fault -------------------------------------------------------------------- */

static leat_err read_link(struct reading *r, struct leat_sim_piece link)
{
    struct leat_sim_piece both = link, one = link;
    const struct leat_sim_piece a_both = leat_sim_piece_cut(&both, '-'),
                                a_one = leat_sim_piece_cut(&one, '>');
    r->fault.one_way = one.at != NULL;
    if (!read_place(one.at ? a_one : a_both, &r->fault.a) ||
        !read_place(one.at ? one : both, &r->fault.b))
        return wrong(r, link, "is no link, expected two routers, as in 3-7 or 3>7");
    return LEAT_ERR_OK;
}

static leat_err read_single(struct reading *r, struct leat_sim_piece place)
{
    if (read_place(place, &r->fault.a)) return LEAT_ERR_OK;
    return wrong(r, place,
                 r->fault.kind == LEAT_NET_FAULT_PORT ? "is no terminal, expected its number"
                                                      : "is no router, expected its number");
}

/* Digits with or without a point: as an integer, and how many follow the point. */
static bool read_digits(struct leat_sim_piece p, uint64_t *number, uint64_t *decimals)
{
    bool point = false;
    size_t digits = 0, taken = 0;
    *number = *decimals = 0;
    for (size_t i = 0; i < p.len; i++) {
        if (p.at[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (p.at[i] < '0' || p.at[i] > '9') return false;
        digits++;
        if (taken == DIGITS_MAX) { /* too fine to matter, unless they precede the point */
            if (!point) return false;
            continue;
        }
        *number = *number * 10 + (uint64_t)(p.at[i] - '0');
        *decimals += point;
        taken += *number != 0;
    }
    return digits > 0;
}

/* number / 10^decimals as a fraction of 2^64; false: it is not below 1. */
static bool make_fraction(uint64_t number, uint64_t decimals, uint64_t *out)
{
    uint64_t scale = 1, done = 0;
    while (done < decimals && done < DIGITS_MAX) {
        scale *= 10;
        done++;
    }
    if (number >= scale) return false;
    *out = leat_sim_fixed_divide(number, scale, 64);
    for (; done < decimals && *out; done++)
        *out /= 10;
    return true;
}

static leat_err read_chance(struct reading *r, struct leat_sim_piece chance)
{
    static const char expected[] = "is no bit error rate, expected 0 or more and less than 1, "
                                   "as in 1e-6";
    struct leat_sim_piece exponent = chance;
    struct leat_sim_piece digits = leat_sim_piece_cut(&exponent, 'e');
    uint64_t number, decimals, shift = 0;
    if (!exponent.at) {
        exponent = chance;
        digits = leat_sim_piece_cut(&exponent, 'E');
    }
    if (!chance.at || !read_digits(digits, &number, &decimals)) return wrong(r, chance, expected);
    if (exponent.at) { /* only negative: a probability is at most 1 */
        if (leat_sim_piece_cut(&exponent, '-').len > 0 ||
            !read_number(exponent, EXPONENT_MAX, &shift))
            return wrong(r, chance, expected);
    }
    if (!make_fraction(number, decimals + shift, &r->fault.bit_errors))
        return wrong(r, chance, expected);
    return LEAT_ERR_OK;
}

static leat_err read_ber(struct reading *r, struct leat_sim_piece where)
{
    struct leat_sim_piece chance = where;
    const struct leat_sim_piece link = leat_sim_piece_cut(&chance, ':');
    r->fault.a = r->fault.b = LEAT_NET_NONE;
    if (!chance.at) return read_chance(r, where);
    const leat_err err = read_link(r, link);
    return err ? err : read_chance(r, chance);
}

static leat_err read_time(struct reading *r, struct leat_sim_piece time)
{
    static const char expected[] = "is no time, expected cycles, as in 1000..5000 or 1000..";
    struct leat_sim_piece end = time;
    const struct leat_sim_piece from = leat_sim_piece_cut(&end, '.');
    r->fault.from = 0;
    r->fault.to = LEAT_NEVER;
    if (!time.at) return LEAT_ERR_OK;
    if (!end.at || end.len == 0 || end.at[0] != '.') return wrong(r, time, expected);
    end = (struct leat_sim_piece){ end.at + 1, end.len - 1 };
    if (from.len && !read_number(from, LEAT_NEVER - 1, &r->fault.from))
        return wrong(r, time, expected);
    if (end.len && !read_number(end, LEAT_NEVER - 1, &r->fault.to)) return wrong(r, time, expected);
    if (r->fault.from >= r->fault.to)
        return wrong(r, time, "has no cycle, expected an end after the beginning");
    return LEAT_ERR_OK;
}

static leat_err read_flap(struct reading *r, struct leat_sim_piece flap)
{
    struct leat_sim_piece down = flap;
    if (r->fault.kind != LEAT_NET_FAULT_FLAP)
        return flap.at ? wrong(r, flap, "is out of place, expected it with flap only")
                       : LEAT_ERR_OK;
    const struct leat_sim_piece up = flap.at ? leat_sim_piece_cut(&down, ',') : flap;
    if (!read_number(up, UINT32_MAX, &r->fault.up) ||
        !read_number(down, UINT32_MAX, &r->fault.down) || !r->fault.up || !r->fault.down)
        return wrong(r, flap, "is no flap, expected cycles up and down, as in /200,100");
    return LEAT_ERR_OK;
}

leat_err leat_net_fault_parse(const char *text, size_t len, struct leat_net_fault *out,
                              struct leat_text *why)
{
    static const struct {
        const char *name;
        leat_err (*read)(struct reading *, struct leat_sim_piece);
    } kinds[LEAT_NET_FAULT_KINDS] = {
        [LEAT_NET_FAULT_LINK] = { "link", read_link },
        [LEAT_NET_FAULT_FLAP] = { "flap", read_link },
        [LEAT_NET_FAULT_ROUTER] = { "router", read_single },
        [LEAT_NET_FAULT_PORT] = { "port", read_single },
        [LEAT_NET_FAULT_BER] = { "ber", read_ber },
    };
    struct reading r = { .text = { text, len }, .why = why };
    struct leat_sim_piece where = r.text;
    const struct leat_sim_piece name = leat_sim_piece_cut(&where, ':');
    uint32_t kind = 0;
    while (kind < LEAT_NET_FAULT_KINDS && !leat_sim_piece_is(name, kinds[kind].name))
        kind++;
    if (leat_sim_piece_is(name, "switch")) kind = LEAT_NET_FAULT_ROUTER;
    if (kind == LEAT_NET_FAULT_KINDS || !where.at)
        return wrong(&r, name, "is no fault, expected " LEAT_NET_FAULT_WORDS);
    r.fault.kind = (enum leat_net_fault_kind)kind;
    struct leat_sim_piece flap = where;
    struct leat_sim_piece time = leat_sim_piece_cut(&flap, '/');
    where = leat_sim_piece_cut(&time, '@');
    leat_err err = kinds[kind].read(&r, where);
    if (!err) err = read_time(&r, time);
    if (!err) err = read_flap(&r, flap);
    if (!err) *out = r.fault;
    return err;
}

/* ---- the table ------------------------------------------------------------------------------- */

void leat_net_faults_init(struct leat_net_faults *faults)
{
    faults->count = 0;
    faults->flit_bits = LEAT_NET_FLIT_BITS;
}

leat_err leat_net_faults_line(struct leat_net_faults *faults, const char *line, size_t len,
                              struct leat_text *why)
{
    struct leat_sim_piece rest = { line, len };
    struct leat_sim_piece text = leat_sim_piece_cut(&rest, '#');
    while (text.len && is_blank(text.at[text.len - 1]))
        text.len--;
    while (text.len && is_blank(*text.at))
        text = (struct leat_sim_piece){ text.at + 1, text.len - 1 };
    if (!text.len) return LEAT_ERR_OK;
    if (faults->count == LEAT_NET_FAULTS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_FULL, "too many faults, expected at most %u",
                               LEAT_NET_FAULTS_MAX);
    const leat_err err = leat_net_fault_parse(text.at, text.len, &faults->fault[faults->count],
                                              why);
    if (!err) faults->count++;
    return err;
}

/* ---- places ---------------------------------------------------------------------------------- */

static leat_err check_number(uint32_t number, uint32_t limit, const char *what,
                             struct leat_text *why)
{
    if (number < limit) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "no %s %u, expected 0 to %" PRIu64, what, number,
                           limit - UINT64_C(1));
}

static void put_neighbours(const struct leat_net_topology *t, uint32_t router,
                           struct leat_text *why)
{
    uint32_t listed = 0;
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++) {
        if (leat_net_behind(t, out) == LEAT_NET_NONE) continue;
        leat_text_puts(why, listed ? ", " : ": ");
        if (listed++ == NEIGHBOURS_LISTED_MAX) {
            leat_text_puts(why, "...");
            return;
        }
        leat_text_decimal(why, leat_net_behind(t, out));
    }
    if (!listed) leat_text_puts(why, ", but it has none");
}

/* If both directions are named, a wire in one is enough: some fabrics have no others. */
static leat_err check_link(const struct leat_net_fault *f, const struct leat_net_topology *t,
                           struct leat_text *why)
{
    leat_err err = check_number(f->a, t->routers, "router", why);
    if (!err) err = check_number(f->b, t->routers, "router", why);
    if (err) return err;
    if (leat_net_leads(t, f->a, f->b) || (!f->one_way && leat_net_leads(t, f->b, f->a)))
        return LEAT_ERR_OK;
    err = leat_sim_refuse(why, LEAT_ERR_RANGE,
                          f->one_way ? "no wire from router %u to router %u, expected a neighbour "
                                       "of router %u"
                                     : "no wire between routers %u and %u, expected a neighbour of "
                                       "router %u",
                          f->a, f->b, f->a);
    put_neighbours(t, f->a, why);
    return err;
}

leat_err leat_net_fault_check(const struct leat_net_fault *fault,
                              const struct leat_net_topology *topology, uint32_t flit_bits,
                              struct leat_text *why)
{
    switch (fault->kind) {
    case LEAT_NET_FAULT_LINK:
    case LEAT_NET_FAULT_FLAP: return check_link(fault, topology, why);
    case LEAT_NET_FAULT_ROUTER: return check_number(fault->a, topology->routers, "router", why);
    case LEAT_NET_FAULT_PORT: return check_number(fault->a, topology->terminals, "terminal", why);
    case LEAT_NET_FAULT_BER:
        if (fault->bit_errors && !leat_net_fault_flit_errors(fault->bit_errors, flit_bits))
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "the bit error rate damages less than one flit in 2^32, "
                                   "expected 0 or a higher one");
        if (fault->a != LEAT_NET_NONE) return check_link(fault, topology, why);
        break;
    }
    return LEAT_ERR_OK;
}

/* ---- time and chance ------------------------------------------------------------------------ */

bool leat_net_fault_is_active(const struct leat_net_fault *fault, uint64_t cycle)
{
    if (cycle < fault->from || cycle >= fault->to) return false;
    return fault->kind != LEAT_NET_FAULT_FLAP ||
           (cycle - fault->from) % (fault->up + fault->down) < fault->down;
}

uint64_t leat_net_fault_next(const struct leat_net_fault *fault, uint64_t cycle)
{
    if (cycle < fault->from) return fault->from;
    if (cycle >= fault->to) return LEAT_NEVER;
    if (fault->kind != LEAT_NET_FAULT_FLAP) return fault->to;
    const uint64_t both = fault->up + fault->down, phase = (cycle - fault->from) % both;
    const uint64_t left = phase < fault->down ? fault->down - phase : both - phase;
    return left < fault->to - cycle ? cycle + left : fault->to;
}

uint32_t leat_net_fault_flit_errors(uint64_t bit_errors, uint32_t flit_bits)
{
    uint64_t whole = UINT64_MAX, power = UINT64_MAX - bit_errors; /* probabilities of no error */
    for (uint32_t bits = flit_bits; bits; bits /= 2) {
        if (bits % 2) whole = leat_sim_fixed_multiply(whole, power);
        power = leat_sim_fixed_multiply(power, power);
    }
    const uint64_t chance = (UINT64_MAX - whole) >> 31;
    return (uint32_t)(chance / 2 + (chance % 2 && chance / 2 < UINT32_MAX));
}

/* ---- the player ------------------------------------------------------------------------------ */

static void lay_out(struct leat_net_fault_player *p, struct leat_arena *arena)
{
    bool errors = false;
    for (uint32_t i = 0; i < p->faults->count; i++)
        errors |= p->faults->fault[i].kind == LEAT_NET_FAULT_BER;
    p->is_active = leat_arena_lay(arena, p->faults->count, sizeof *p->is_active);
    p->wire_faults = leat_arena_lay(arena, p->topology->outs, sizeof *p->wire_faults);
    p->terminal_faults = leat_arena_lay(arena, p->topology->terminals, sizeof *p->terminal_faults);
    if (errors) p->errors = leat_arena_lay(arena, p->topology->outs, sizeof *p->errors);
}

size_t leat_net_fault_player_footprint(const struct leat_net_faults *faults,
                                       const struct leat_net_topology *topology)
{
    struct leat_net_fault_player player = { .faults = faults, .topology = topology };
    struct leat_arena arena = { 0 };
    lay_out(&player, &arena);
    return arena.used;
}

void leat_net_fault_player_init(struct leat_net_fault_player *player,
                                const struct leat_net_faults *faults,
                                const struct leat_net_topology *topology, uint64_t seed,
                                void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *player = (struct leat_net_fault_player){
        .faults = faults,
        .topology = topology,
        .seed = seed,
        .next_at = faults->count ? 0 : LEAT_NEVER,
    };
    lay_out(player, &arena);
}

/* Adds or removes one fault of this wire or terminal. */
static void count_wire(struct leat_net_fault_player *p, struct leat_net *net, uint32_t out,
                       bool more)
{
    uint16_t *faults = &p->wire_faults[out];
    *faults = (uint16_t)(more ? *faults + 1 : *faults - 1);
    if (*faults != more) return; /* it was broken before, or still is */
    if (net) leat_net_break(net, out, more);
    p->rerouted = true;
}

static void count_terminal(struct leat_net_fault_player *p, struct leat_net *net, uint32_t terminal,
                           bool more)
{
    uint16_t *faults = &p->terminal_faults[terminal];
    *faults = (uint16_t)(more ? *faults + 1 : *faults - 1);
    if (*faults == more && net) leat_net_kill(net, terminal, more);
}

static void count_wires(struct leat_net_fault_player *p, struct leat_net *net, uint32_t from,
                        uint32_t to, bool more)
{
    const struct leat_net_topology *t = p->topology;
    for (uint32_t out = t->out_first[from]; out < t->out_first[from + 1]; out++)
        if (leat_net_behind(t, out) == to) count_wire(p, net, out, more);
}

static void count_router(struct leat_net_fault_player *p, struct leat_net *net, uint32_t router,
                         bool more)
{
    const struct leat_net_topology *t = p->topology;
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++) {
        if (t->out_to[out] == LEAT_NET_NONE) continue;
        if (t->out_to[out] & LEAT_NET_TERMINAL)
            count_terminal(p, net, t->out_to[out] & ~LEAT_NET_TERMINAL, more);
        else
            count_wire(p, net, out, more);
    }
    for (uint32_t in = t->in_first[router]; in < t->in_first[router + 1]; in++) {
        if (t->in_from[in] == LEAT_NET_NONE) continue;
        if (t->in_from[in] & LEAT_NET_TERMINAL)
            count_terminal(p, net, t->in_from[in] & ~LEAT_NET_TERMINAL, more);
        else
            count_wire(p, net, t->in_from[in], more);
    }
}

static void count_fault(struct leat_net_fault_player *p, struct leat_net *net,
                        const struct leat_net_fault *f, bool more)
{
    switch (f->kind) {
    case LEAT_NET_FAULT_LINK:
    case LEAT_NET_FAULT_FLAP:
        count_wires(p, net, f->a, f->b, more);
        if (!f->one_way && f->a != f->b) count_wires(p, net, f->b, f->a, more);
        break;
    case LEAT_NET_FAULT_ROUTER: count_router(p, net, f->a, more); break;
    case LEAT_NET_FAULT_PORT: count_terminal(p, net, f->a, more); break;
    case LEAT_NET_FAULT_BER: break; /* recomputed from all active ones: make_errors */
    }
}

static bool damages(const struct leat_net_fault *f, const struct leat_net_topology *t, uint32_t out)
{
    const uint32_t from = t->out_router[out], to = leat_net_behind(t, out);
    if (t->out_to[out] == LEAT_NET_NONE) return false;
    return f->a == LEAT_NET_NONE || (from == f->a && to == f->b) ||
           (!f->one_way && from == f->b && to == f->a);
}

/* A flit is damaged by either of two errors with probability a + b - a b. */
static uint32_t either(uint64_t a, uint64_t b)
{
    const uint64_t chance = a + b - (a * b >> 32);
    return chance < UINT32_MAX ? (uint32_t)chance : UINT32_MAX;
}

static void make_errors(struct leat_net_fault_player *p, struct leat_net *net)
{
    const struct leat_net_topology *t = p->topology;
    memset(p->errors, 0, t->outs * sizeof *p->errors);
    for (uint32_t i = 0; i < p->faults->count; i++) {
        const struct leat_net_fault *f = &p->faults->fault[i];
        if (f->kind != LEAT_NET_FAULT_BER || !p->is_active[i]) continue;
        const uint64_t more = leat_net_fault_flit_errors(f->bit_errors, p->faults->flit_bits);
        for (uint32_t out = 0; out < t->outs; out++)
            if (damages(f, t, out)) p->errors[out] = either(p->errors[out], more);
    }
    if (net) leat_net_errors(net, p->errors, p->seed);
}

uint64_t leat_net_fault_either(uint64_t a, uint64_t b)
{
    return a + leat_sim_fixed_multiply(UINT64_MAX - a, b);
}

uint64_t leat_net_fault_player_bit_errors(const struct leat_net_fault_player *player, uint32_t out)
{
    uint64_t errors = 0;
    for (uint32_t i = 0; i < player->faults->count; i++) {
        const struct leat_net_fault *f = &player->faults->fault[i];
        if (f->kind == LEAT_NET_FAULT_BER && player->is_active[i] &&
            damages(f, player->topology, out))
            errors = leat_net_fault_either(errors, f->bit_errors);
    }
    return errors;
}

void leat_net_fault_player_apply(struct leat_net_fault_player *player, struct leat_net *net)
{
    leat_net_fault_player_apply_at(player, net, net->now);
}

/* Faults begin before others end, so that a wire is not repaired in between. */
void leat_net_fault_player_apply_at(struct leat_net_fault_player *player, struct leat_net *net,
                                    uint64_t cycle)
{
    const struct leat_net_faults *faults = player->faults;
    bool errors = false;
    player->rerouted = false;
    player->next_at = LEAT_NEVER;
    for (int more = 1; more >= 0; more--)
        for (uint32_t i = 0; i < faults->count; i++) {
            const bool active = leat_net_fault_is_active(&faults->fault[i], cycle);
            const uint64_t next_at = leat_net_fault_next(&faults->fault[i], cycle);
            if (next_at < player->next_at) player->next_at = next_at;
            if (active == player->is_active[i] || active != more) continue;
            player->is_active[i] = active;
            errors |= faults->fault[i].kind == LEAT_NET_FAULT_BER;
            count_fault(player, net, &faults->fault[i], active);
        }
    if (errors) make_errors(player, net);
    if (player->rerouted && net) leat_net_rerouted(net);
}
