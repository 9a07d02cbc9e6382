#include "atm_clos.h"
#include <assert.h>

/* The longest labels of all networks, (e+1) N, are far below the range of VPI and VCI. */
_Static_assert((LEAT_ATM_CLOS_FAN_OUT_MAX + 1) * LEAT_ATM_CLOS_FAN_OUT_MAX *
                       LEAT_ATM_CLOS_FAN_OUT_MAX <=
                   1 << LEAT_ATM_ROUTE_LABEL_BITS,
               "channel labels fit all networks");

/* ---- sizes and limits --------------------------------------------------------------------- */

static leat_err refuse(struct leat_atm_clos_fault *fault, enum leat_atm_clos_reason reason,
                       char parameter, uint32_t value, uint32_t least, uint32_t most)
{
    if (fault)
        *fault = (struct leat_atm_clos_fault){
            .reason = reason, .parameter = parameter, .value = value, .least = least, .most = most
        };
    return LEAT_ERR_RANGE;
}

/* The first of e, m and r that is outside the limits; '\0': none. */
static char outside(const struct leat_atm_clos *c, uint32_t least, uint32_t most, uint32_t *value)
{
    const uint32_t size[] = { c->e, c->m, c->r };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        *value = size[i];
        if (size[i] < least || size[i] > most) return "emr"[i];
    }
    return '\0';
}

static void add_stage(struct leat_atm_clos *c, uint32_t switches, uint32_t inputs, uint32_t outputs,
                      uint32_t entries)
{
    c->stage[c->stages++] = (struct leat_atm_clos_stage){ .switch_count = switches,
                                                          .inputs = inputs,
                                                          .outputs = outputs,
                                                          .switch_first = c->switch_count,
                                                          .ppd_first = c->ppd_count,
                                                          .spd_first = c->spd_count,
                                                          .entries = entries };
    c->switch_count += switches;
    c->ppd_count += switches * inputs;
    c->spd_count += switches * outputs;
}

static void add_stages(struct leat_atm_clos *c, bool lone)
{
    const uint32_t e = c->e, m = c->m, r = c->r, n = c->ports;
    if (!lone) {
        add_stage(c, r, e, m, m * (n + 1));
        add_stage(c, m, r, r, e * (n + 1));
    }
    /* A single switch is an output stage that does not distinguish sources. */
    add_stage(c, r, lone ? e : m, e, lone ? e + 1 : (e + 1) * n);
}

/* Labels that a group has in a table of this stage: one for each path as long as it can choose. */
static uint32_t labels_of_group(const struct leat_atm_clos *c, uint32_t stage)
{
    return c->stages > 1 && stage == 0 ? c->m : 1;
}

/* Entries that the fullest table needs, with so many multicast groups. */
static uint32_t entries_max(const struct leat_atm_clos *c, uint32_t groups)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < c->stages; s++) {
        const uint32_t entries = c->stage[s].entries + groups * labels_of_group(c, s);
        if (entries > most) most = entries;
    }
    return most;
}

static uint32_t within_depths(uint32_t depth)
{
    if (depth > LEAT_ATM_CLOS_DEPTH_MAX) return LEAT_ATM_CLOS_DEPTH_MAX;
    return depth < LEAT_ATM_CLOS_DEPTH_MIN ? LEAT_ATM_CLOS_DEPTH_MIN : depth;
}

/* Note, 4.6: virtual paths with dense tables, or virtual channels with sparse ones. */
static leat_err choose_switching(struct leat_atm_clos *c, const struct leat_atm_clos_config *config,
                                 struct leat_atm_clos_fault *fault)
{
    uint32_t width;
    const uint32_t needed = entries_max(c, 0), depth = config->table_depth;
    const char wide = outside(c, 1, LEAT_ATM_ROUTE_VP_FAN_OUT_MAX, &width);
    const bool overflows = needed > LEAT_ATM_CLOS_DEPTH_MAX;
    if (config->switching == LEAT_ATM_CLOS_VC ||
        (config->switching == LEAT_ATM_CLOS_AUTO && (wide || overflows))) {
        if (depth) return refuse(fault, LEAT_ATM_CLOS_SPARSE, '\0', depth, 0, 0);
        c->header_octets = LEAT_ATM_VC_HEADER;
        return LEAT_ERR_OK;
    }
    if (overflows)
        return refuse(fault, LEAT_ATM_CLOS_VPI_RANGE, '\0', needed, 1, LEAT_ATM_CLOS_DEPTH_MAX);
    if (wide)
        return refuse(fault, LEAT_ATM_CLOS_FAN_OUT, wide, width, 1, LEAT_ATM_ROUTE_VP_FAN_OUT_MAX);
    const uint32_t least = within_depths(needed);
    if (depth && (depth < least || depth > LEAT_ATM_CLOS_DEPTH_MAX))
        return refuse(fault, LEAT_ATM_CLOS_DEPTH, '\0', depth, least, LEAT_ATM_CLOS_DEPTH_MAX);
    c->header_octets = LEAT_ATM_VP_HEADER;
    c->table_depth = depth ? depth : within_depths(entries_max(c, LEAT_ATM_CLOS_GROUPS));
    return LEAT_ERR_OK;
}

leat_err leat_atm_clos_init(struct leat_atm_clos *c, const struct leat_atm_clos_config *config,
                            struct leat_atm_clos_fault *fault)
{
    assert(config->stages == 1 || config->stages == LEAT_ATM_CLOS_STAGES_MAX);
    const bool lone = config->stages == 1;
    const uint32_t least = lone ? LEAT_ATM_CLOS_LONE_MIN : 1;
    struct leat_atm_clos made = { .e = config->e,
                                  .m = lone ? 1 : config->m,
                                  .r = lone ? 1 : config->r };
    uint32_t value;
    const char bad = outside(&made, 1, LEAT_ATM_CLOS_FAN_OUT_MAX, &value);
    if (bad || made.e < least)
        return refuse(fault, LEAT_ATM_CLOS_SIZE, bad ? bad : 'e', bad ? value : made.e, least,
                      LEAT_ATM_CLOS_FAN_OUT_MAX);
    made.ports = made.e * made.r;
    made.paths = made.m;
    add_stages(&made, lone);
    const leat_err err = choose_switching(&made, config, fault);
    if (!err) *c = made;
    return err;
}

void leat_atm_clos_init_other(struct leat_atm_clos *c, uint32_t ports)
{
    const uint32_t entries = ports + 1;
    const bool fits = entries + LEAT_ATM_CLOS_GROUPS <= LEAT_ATM_CLOS_DEPTH_MAX;
    *c = (struct leat_atm_clos){ .e = ports, .m = 1, .r = 1, .ports = ports, .paths = 1 };
    add_stage(c, 1, ports, ports, entries);
    c->ppd_count = c->spd_count = 0;
    c->header_octets = fits ? LEAT_ATM_VP_HEADER : LEAT_ATM_VC_HEADER;
    c->table_depth = fits ? within_depths(entries + LEAT_ATM_CLOS_GROUPS) : 0;
}

static void put_limit(struct leat_text *text, const char *before, uint32_t number)
{
    leat_text_puts(text, before);
    leat_text_decimal(text, number);
}

void leat_atm_clos_fault_text(const struct leat_atm_clos_fault *fault, struct leat_text *text)
{
    switch (fault->reason) {
    case LEAT_ATM_CLOS_SIZE:
    case LEAT_ATM_CLOS_FAN_OUT:
        leat_text_putc(text, fault->parameter);
        put_limit(text, " is ", fault->value);
        put_limit(text, ", expected ", fault->least);
        put_limit(text, " to ", fault->most);
        if (fault->reason == LEAT_ATM_CLOS_FAN_OUT)
            leat_text_puts(text, ", the fan-out of VP switching");
        break;
    case LEAT_ATM_CLOS_VPI_RANGE:
        put_limit(text, "a routing table needs ", fault->value);
        put_limit(text, " VPIs, their range has ", fault->most);
        break;
    case LEAT_ATM_CLOS_DEPTH:
        put_limit(text, "table depth is ", fault->value);
        put_limit(text, ", expected ", fault->least);
        put_limit(text, " to ", fault->most);
        break;
    case LEAT_ATM_CLOS_SPARSE:
        put_limit(text, "table depth is ", fault->value);
        leat_text_puts(text, ", expected none: the tables of VC switching are sparse");
        break;
    }
}

enum leat_atm_clos_class leat_atm_clos_classify(const struct leat_atm_clos *c)
{
    if (c->stages == 1 || c->m >= 2 * c->e - 1) return LEAT_ATM_CLOS_NONBLOCKING;
    return c->m >= c->e ? LEAT_ATM_CLOS_REARRANGEABLE : LEAT_ATM_CLOS_BLOCKING;
}

const char *leat_atm_clos_class_name(enum leat_atm_clos_class value)
{
    switch (value) {
    case LEAT_ATM_CLOS_NONBLOCKING: return "non-blocking";
    case LEAT_ATM_CLOS_REARRANGEABLE: return "rearrangeable";
    case LEAT_ATM_CLOS_BLOCKING: return "blocking";
    }
    return "?";
}

uint32_t leat_atm_clos_idle_cycles(const struct leat_atm_clos *c)
{
    enum { PIPE = 4 }; /* note, 4.4: 6 cycles with 2 octets of header to wait for */
    return c->stages * (c->header_octets + PIPE);
}

/* ---- places and links --------------------------------------------------------------------- */

struct leat_atm_clos_place leat_atm_clos_ppd_place(const struct leat_atm_clos *c, uint32_t ppd)
{
    assert(ppd < c->ppd_count);
    uint32_t s = c->stages - 1;
    while (ppd < c->stage[s].ppd_first)
        s--;
    const uint32_t at = ppd - c->stage[s].ppd_first;
    return (struct leat_atm_clos_place){ s, at / c->stage[s].inputs, at % c->stage[s].inputs };
}

struct leat_atm_clos_place leat_atm_clos_spd_place(const struct leat_atm_clos *c, uint32_t spd)
{
    assert(spd < c->spd_count);
    uint32_t s = c->stages - 1;
    while (spd < c->stage[s].spd_first)
        s--;
    const uint32_t at = spd - c->stage[s].spd_first;
    return (struct leat_atm_clos_place){ s, at / c->stage[s].outputs, at % c->stage[s].outputs };
}

/* Output u of switch w goes to input w of switch u: swap switch and port. */
uint32_t leat_atm_clos_link(const struct leat_atm_clos *c, uint32_t spd)
{
    const struct leat_atm_clos_place from = leat_atm_clos_spd_place(c, spd);
    if (from.stage + 1 == c->stages) return LEAT_ATM_CLOS_NONE;
    const struct leat_atm_clos_stage *next = &c->stage[from.stage + 1];
    return next->ppd_first + next->inputs * from.port + from.unit;
}

uint32_t leat_atm_clos_feeder(const struct leat_atm_clos *c, uint32_t ppd)
{
    const struct leat_atm_clos_place to = leat_atm_clos_ppd_place(c, ppd);
    if (to.stage == 0) return LEAT_ATM_CLOS_NONE;
    const struct leat_atm_clos_stage *before = &c->stage[to.stage - 1];
    return before->spd_first + before->outputs * to.port + to.unit;
}

uint32_t leat_atm_clos_input_ppd(const struct leat_atm_clos *c, uint32_t port)
{
    assert(port < c->ports);
    return port;
}

uint32_t leat_atm_clos_output_spd(const struct leat_atm_clos *c, uint32_t port)
{
    assert(port < c->ports);
    return c->stage[c->stages - 1].spd_first + port;
}

/* ---- labels ------------------------------------------------------------------------------- */

uint32_t leat_atm_clos_access(const struct leat_atm_clos *c, uint32_t dst, uint32_t path)
{
    assert(path < c->paths);
    return c->paths * dst + path;
}

static uint64_t one_or_all(uint32_t output, uint32_t outputs)
{
    return output < outputs ? UINT64_C(1) << output : UINT64_MAX >> (64 - outputs);
}

bool leat_atm_clos_route(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label,
                         struct leat_atm_route *out)
{
    assert(ppd < c->ppd_count);
    const uint32_t e = c->e, n = c->ports;
    const struct leat_atm_clos_stage *last = &c->stage[c->stages - 1], *middle = &c->stage[1];
    if (ppd >= last->ppd_first) {
        if (label >= last->entries) return false;
        out->select = one_or_all(label % (e + 1), e);
        out->label = 0;
    } else if (ppd >= middle->ppd_first) {
        if (label >= middle->entries) return false;
        const uint32_t dst = label % (n + 1);
        const uint32_t src = e * ((ppd - middle->ppd_first) % c->r) + label / (n + 1);
        out->select = one_or_all(dst / e, c->r); /* dst = N: N / e = r is one past the last */
        out->label = (e + 1) * src + (dst < n ? dst % e : e);
    } else {
        if (label >= c->stage[0].entries) return false;
        out->select = UINT64_C(1) << label % c->m;
        out->label = (n + 1) * (ppd % e) + label / c->m;
    }
    return true;
}

static uint64_t inverse_of(uint32_t divisor)
{
    return ((UINT64_C(1) << LEAT_ATM_CLOS_INVERSE_BITS) + divisor - 1) / divisor;
}

void leat_atm_clos_table_init(struct leat_atm_clos_table *table, const struct leat_atm_clos *c,
                              uint32_t stage)
{
    const bool is_last = stage + 1 == c->stages, is_middle = !is_last && stage > 0;
    const uint32_t divisor = is_last ? c->e + 1 : is_middle ? c->ports + 1 : c->m;
    const uint32_t per_output = is_middle ? c->e : 1;
    *table = (struct leat_atm_clos_table){
        .inverse = inverse_of(divisor),
        .inverse_per_output = inverse_of(per_output),
        .divisor = divisor,
        .per_output = per_output,
        .factor = is_last     ? 0
                  : is_middle ? c->e + 1
                              : 1,
        .all_label = is_middle ? c->e : 0,
        .outputs = c->stage[stage].outputs,
        .entries = c->stage[stage].entries,
    };
}

/* ---- multicast groups --------------------------------------------------------------------- */

uint32_t leat_atm_clos_groups(const struct leat_atm_clos *c)
{
    const uint32_t depth = c->table_depth ? c->table_depth : 1u << LEAT_ATM_ROUTE_LABEL_BITS;
    uint32_t least = UINT32_MAX;
    for (uint32_t s = 0; s < c->stages; s++) {
        const uint32_t room = (depth - c->stage[s].entries) / labels_of_group(c, s);
        if (room < least) least = room;
    }
    return least;
}

uint32_t leat_atm_clos_group(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label)
{
    const uint32_t s = leat_atm_clos_ppd_place(c, ppd).stage;
    if (label < c->stage[s].entries) return LEAT_ATM_CLOS_NONE;
    const uint32_t group = (label - c->stage[s].entries) / labels_of_group(c, s);
    return group < leat_atm_clos_groups(c) ? group : LEAT_ATM_CLOS_NONE;
}

/* The members at the ports of one switch. */
static uint64_t members_at(const struct leat_atm_clos *c, const uint64_t *members, uint32_t unit)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < c->e; i++) {
        const uint32_t port = c->e * unit + i;
        at |= (members[port / 64] >> port % 64 & 1) << i;
    }
    return at;
}

void leat_atm_clos_group_route(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label,
                               const uint64_t *members, struct leat_atm_route *out)
{
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(c, ppd);
    const uint32_t group = leat_atm_clos_group(c, ppd, label);
    assert(group != LEAT_ATM_CLOS_NONE);
    *out = (struct leat_atm_route){ 0 };
    if (place.stage + 1 == c->stages) {
        out->select = members_at(c, members, place.unit);
        return;
    }
    out->label = c->stage[place.stage + 1].entries + group;
    if (place.stage == 0)
        out->select = UINT64_C(1) << label % c->m; /* as at the access of all others */
    else
        for (uint32_t unit = 0; unit < c->r; unit++)
            out->select |= (uint64_t)(members_at(c, members, unit) != 0) << unit;
}

void leat_atm_clos_path(const struct leat_atm_clos *c, uint32_t src, uint32_t dst, uint32_t path,
                        bool broadcast, struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX])
{
    assert(src < c->ports && dst < c->ports && path < c->paths);
    const uint32_t e = c->e, m = c->m, r = c->r, n = c->ports, to = broadcast ? n : dst;
    const struct leat_atm_clos_stage *middle = &c->stage[1], *last = &c->stage[c->stages - 1];
    hop[0].ppd = leat_atm_clos_input_ppd(c, src);
    hop[0].label = leat_atm_clos_access(c, to, path);
    if (c->stages > 1) {
        hop[0].spd = m * (src / e) + path;
        hop[1].ppd = middle->ppd_first + r * path + src / e;
        hop[1].label = (n + 1) * (src % e) + to;
        hop[1].spd = middle->spd_first + r * path + dst / e;
        hop[2].ppd = last->ppd_first + m * (dst / e) + path;
        hop[2].label = (e + 1) * src + (broadcast ? e : dst % e);
    }
    hop[c->stages - 1].spd = leat_atm_clos_output_spd(c, dst);
}
