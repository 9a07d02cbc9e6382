#include "call_plan.h"
#include "atm_node.h"
#include "fields.h"
#include "input.h"
#include "sim_atm_contracts_admit.h"
#include <stdlib.h>
#include <string.h>

static const char INLINE[] = "random:";

struct reader {
    struct calls *calls;
    struct fields line;
    struct fields_times times;
    uint32_t ports;
    unsigned lines_line; /* where `lines` was; 0: nowhere */
};

/* Keys of all lines that ask for calls, and those of each kind. */
enum key {
    FROM,
    TO,
    HOLD,
    CLASS,
    PCR,
    SCR,
    MBS,
    WAYS,
    DATA,
    AT,
    ERLANGS = AT,
    SOURCES,
    IDLE,
    HOLDING,
    KEYS
};
enum { CALL_KEYS = AT + 1 };
static const char *const call_keys[CALL_KEYS] = { "from", "to",  "hold", "class", "pcr",
                                                  "scr",  "mbs", "ways", "data",  "at" };
static const char *const random_keys[KEYS] = { "from",    "to",   "hold",   "class", "pcr",
                                               "scr",     "mbs",  "ways",   "data",  "erlangs",
                                               "sources", "idle", "holding" };

/* ---- values ---------------------------------------------------------------------------------- */

/* In slots, at least one. */
static bool read_slots(const struct reader *r, const char *key, const char *text, uint64_t *out)
{
    leat_time ps = 0;
    if (!fields_time(&r->line, key, text, &r->times, &ps)) return false;
    *out = leat_larger(1, leat_sim_clock_cycle_from(&r->calls->config.slot, ps));
    return true;
}

/* A mean of 0 would be a call in every slot. */
static bool read_mean(const struct reader *r, const char *key, const char *text, uint64_t *out)
{
    leat_time ps = 0;
    if (!fields_time(&r->line, key, text, &r->times, &ps)) return false;
    if (!ps) return wrong(&r->line.place, "%s '%s', expected more than 0", key, text);
    return read_slots(r, key, text, out);
}

/* Rounded up to whole cells per second: SETUP has no others. */
static bool read_rate(const struct reader *r, const char *key, const char *text, uint64_t *out)
{
    if (!fields_rate(&r->line, key, text, LEAT_ATM_CONTRACT_RATE_MIN, out)) return false;
    *out = (*out + LEAT_ATM_RATE_UNIT - 1) / LEAT_ATM_RATE_UNIT * LEAT_ATM_RATE_UNIT;
    return *out < UINT64_C(1) << 33 ||
           wrong(&r->line.place, "%s '%s', expected at most 16777215 cells/s", key, text);
}

static bool read_vbr(const struct reader *r, const char *const *value, struct leat_atm_contract *c)
{
    const bool is_vbr = c->class == LEAT_ATM_VBR_RT || c->class == LEAT_ATM_VBR_NRT;
    if (!is_vbr && (value[SCR] || value[MBS]))
        return wrong(&r->line.place, "%s, which only vbr-rt and vbr-nrt have, expected none",
                     value[SCR] ? "scr" : "mbs");
    if (!is_vbr) return true;
    if (!value[SCR] || !value[MBS])
        return wrong(&r->line.place, "no %s, expected one: vbr needs it",
                     value[SCR] ? "mbs" : "scr");
    if (!read_rate(r, "scr", value[SCR], &c->scr) ||
        !fields_whole(&r->line, "mbs", value[MBS], 1, LEAT_ATM_CONTRACT_MBS_MAX, &c->mbs))
        return false;
    return c->scr <= c->pcr || wrong(&r->line.place, "scr above pcr, expected at most pcr");
}

static bool read_switch(const struct reader *r, const char *key, const char *text,
                        const char *const *words, bool *out)
{
    size_t which = *out;
    if (text && !fields_choice(&r->line, key, text, words, 2, &which)) return false;
    *out = which;
    return true;
}

static bool read_want(const struct reader *r, const char *const *value,
                      struct leat_sim_atm_calls_want *want)
{
    static const char *const classes[] = { "cbr", "vbr-rt", "vbr-nrt", "ubr" };
    static const enum leat_atm_class class_of[] = { LEAT_ATM_CBR, LEAT_ATM_VBR_RT, LEAT_ATM_VBR_NRT,
                                                    LEAT_ATM_UBR };
    static const char *const ways[] = { "forward", "both" }, *const on[] = { "off", "on" };
    size_t class = 0;
    *want = (struct leat_sim_atm_calls_want){
        .data = true,
        .contract = { .clr_e12 = LEAT_ATM_CLR_ONE, .ctd_ps = LEAT_NEVER, .cdv_ps = LEAT_NEVER }
    };
    if (!value[CLASS]) return wrong(&r->line.place, "no class, expected one, as in class=cbr");
    if (!fields_choice(&r->line, "class", value[CLASS], classes, 4, &class)) return false;
    want->contract.class = class_of[class];
    if (!value[PCR]) return wrong(&r->line.place, "no pcr, expected one, as in pcr=2Mb/s");
    return read_rate(r, "pcr", value[PCR], &want->contract.pcr) &&
           read_vbr(r, value, &want->contract) &&
           read_switch(r, "ways", value[WAYS], ways, &want->both_ways) &&
           read_switch(r, "data", value[DATA], on, &want->data);
}

static bool read_port(const struct reader *r, const char *key, const char *text, uint32_t *out)
{
    uint64_t port = 0;
    if (!fields_whole(&r->line, key, text, 0, r->ports - 1, &port)) return false;
    *out = (uint32_t)port;
    return true;
}

/* ---- parties --------------------------------------------------------------------------------- */

static bool add_party(struct reader *r, const struct leat_sim_atm_calls_plan *plan,
                      const struct leat_sim_atm_calls_party *party)
{
    struct leat_sim_atm_calls_config *c = &r->calls->config;
    if (party->port == plan->from)
        return wrong(&r->line.place, "to=%u, which is the caller, expected another port",
                     party->port);
    for (uint32_t i = plan->first_party; i < c->parties; i++)
        if (r->calls->party[i].port == party->port)
            return wrong(&r->line.place, "to=%u for the second time, expected it once",
                         party->port);
    if (c->parties == LEAT_SIM_ATM_PARTIES_MAX)
        return wrong(&r->line.place, "one party too many, expected at most %d in all calls",
                     LEAT_SIM_ATM_PARTIES_MAX);
    r->calls->party[c->parties++] = *party;
    return true;
}

/* "@ADDED..DROPPED"; either may be empty. */
static bool read_stay(const struct reader *r, char *text, struct leat_sim_atm_calls_party *party)
{
    char *dots = strstr(text, "..");
    if (!dots)
        return wrong(&r->line.place, "'@%s', expected @ADDED..DROPPED, as in @2ms..8ms", text);
    *dots = '\0';
    return (!*text || read_slots(r, "to", text, &party->add_at)) &&
           (!dots[2] || read_slots(r, "to", dots + 2, &party->drop_at)) &&
           (party->drop_at > party->add_at ||
            wrong(&r->line.place, "'@%s..%s', expected an end after the beginning", text,
                  dots + 2));
}

/* "5", "9-11", "9-11@4ms..8ms" */
static bool read_parties(struct reader *r, char *text, const struct leat_sim_atm_calls_plan *plan)
{
    struct leat_sim_atm_calls_party party = { .drop_at = LEAT_NEVER };
    uint32_t first, last;
    char *at = strchr(text, '@');
    if (at) *at = '\0';
    char *dash = strchr(text, '-');
    if (dash) *dash = '\0';
    if (!read_port(r, "to", text, &first)) return false;
    last = first;
    if (dash && !read_port(r, "to", dash + 1, &last)) return false;
    if (last < first)
        return wrong(&r->line.place, "to=%u-%u, expected the lower port first", first, last);
    if (at && !read_stay(r, at + 1, &party)) return false;
    for (party.port = first; party.port <= last; party.port++)
        if (!add_party(r, plan, &party)) return false;
    return true;
}

static bool read_to(struct reader *r, const char *list, struct leat_sim_atm_calls_plan *plan)
{
    char text[FIELDS_WORD_LEN_MAX + 1], *rest = text;
    plan->first_party = r->calls->config.parties;
    for (memcpy(text, list, strlen(list) + 1); rest;) {
        char *one = rest;
        rest = strchr(rest, ',');
        if (rest) *rest++ = '\0';
        if (!read_parties(r, one, plan)) return false;
    }
    plan->parties = r->calls->config.parties - plan->first_party;
    return plan->parties == 1 || !plan->want.both_ways ||
           wrong(&r->line.place, "ways=both with several parties, expected forward: cells of trees "
                                 "go away from the root");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool read_call(struct reader *r)
{
    const char *value[CALL_KEYS];
    struct leat_sim_atm_calls_config *c = &r->calls->config;
    struct leat_sim_atm_calls_plan plan = { .at = 1, .hold = LEAT_NEVER };
    if (c->plans == LEAT_SIM_ATM_CALLS_MAX)
        return wrong(&r->line.place, "one call too many, expected at most %d",
                     LEAT_SIM_ATM_CALLS_MAX);
    if (!fields_split(&r->line, 1, call_keys, CALL_KEYS, value)) return false;
    if (!value[FROM] || !value[TO])
        return wrong(&r->line.place, "no %s, expected a port", value[FROM] ? "to" : "from");
    if (!read_want(r, value, &plan.want) || !read_port(r, "from", value[FROM], &plan.from) ||
        (value[HOLD] && !read_slots(r, "hold", value[HOLD], &plan.hold)) ||
        (value[AT] && !read_slots(r, "at", value[AT], &plan.at)) || !read_to(r, value[TO], &plan))
        return false;
    r->calls->plan_line[c->plans] = r->line.place.line;
    r->calls->plan[c->plans++] = plan;
    return true;
}

static bool read_ends(const struct reader *r, const char *const *value,
                      struct leat_sim_atm_calls_random *random)
{
    const bool from = value[FROM] && strcmp(value[FROM], "all") != 0,
               to = value[TO] && strcmp(value[TO], "all") != 0;
    random->from = random->to = LEAT_SIM_ATM_CALLS_ANY;
    if (from && !read_port(r, "from", value[FROM], &random->from)) return false;
    if (to && !read_port(r, "to", value[TO], &random->to)) return false;
    return !from || !to || random->from != random->to ||
           wrong(&r->line.place, "to=%u, which is the caller, expected another port", random->to);
}

/* A Poisson process, or some sources. */
static bool read_arrivals(const struct reader *r, const char *const *value,
                          struct leat_sim_atm_calls_random *random)
{
    enum { Q16 = 16 };
    const struct fields_unit plain[] = { { "", 1 } };
    uint64_t sources = 0;
    double erlangs = 0;
    if (!value[ERLANGS] == !value[SOURCES] || !value[SOURCES] != !value[IDLE])
        return wrong(&r->line.place, "expected erlangs=A, or sources=N and idle=TIME");
    if (value[SOURCES]) {
        if (!fields_whole(&r->line, "sources", value[SOURCES], 1, LEAT_SIM_ATM_CALLS_LIVE,
                          &sources))
            return false;
        random->sources = (uint32_t)sources;
        return read_slots(r, "idle", value[IDLE], &random->idle);
    }
    if (!fields_quantity(value[ERLANGS], plain, 1, &erlangs) || erlangs < 1e-6 ||
        erlangs > CALLS_ERLANGS_MAX)
        return wrong(&r->line.place, "erlangs '%s', expected 0.000001 to %d", value[ERLANGS],
                     CALLS_ERLANGS_MAX);
    random->gap_q16 = (uint64_t)((double)(random->hold << Q16) / erlangs + 0.5);
    return random->gap_q16 >> Q16 || wrong(&r->line.place,
                                           "erlangs '%s' at this hold: more than a call "
                                           "in a slot, expected fewer",
                                           value[ERLANGS]);
}

static bool read_random(struct reader *r)
{
    static const char *const holdings[] = { "exponential", "fixed" };
    const char *value[KEYS];
    struct leat_sim_atm_calls_config *c = &r->calls->config;
    struct leat_sim_atm_calls_random random = { 0 };
    if (c->randoms == LEAT_SIM_ATM_CALLS_RANDOM_MAX)
        return wrong(&r->line.place, "one random too many, expected at most %d",
                     LEAT_SIM_ATM_CALLS_RANDOM_MAX);
    if (!fields_split(&r->line, 1, random_keys, KEYS, value)) return false;
    if (!value[HOLD]) return wrong(&r->line.place, "no hold, expected a mean, as in hold=5ms");
    if (!read_want(r, value, &random.want) || !read_ends(r, value, &random) ||
        !read_mean(r, "hold", value[HOLD], &random.hold) || !read_arrivals(r, value, &random) ||
        !read_switch(r, "holding", value[HOLDING], holdings, &random.is_fixed))
        return false;
    r->calls->random[c->randoms++] = random;
    return true;
}

static bool read_lines_of(struct reader *r)
{
    static const char *const names[] = { "buffer", "nrt-buffer", "signal-buffer", "best-buffer",
                                         "w",      "labels",     "calls",         "jitter" };
    enum { LINE_KEYS = sizeof names / sizeof *names, NUMBERS = LINE_KEYS - 1 };
    struct leat_sim_atm_calls_lines *l = &r->calls->config.lines;
    const struct {
        uint32_t *to, most;
    } fields[NUMBERS] = { { &l->cells[0], LEAT_SIM_ATM_CALLS_CELLS_MAX },
                          { &l->cells[1], LEAT_SIM_ATM_CALLS_CELLS_MAX },
                          { &l->cells[2], LEAT_SIM_ATM_CALLS_CELLS_MAX },
                          { &l->cells[3], LEAT_SIM_ATM_CALLS_CELLS_MAX },
                          { &l->w, LEAT_ATM_QUEUE_W_MAX },
                          { &l->labels, LEAT_SIM_ATM_CALLS_LABELS_MAX },
                          { &l->node_calls, LEAT_ATM_NODE_CALLS_MAX } };
    const char *value[LINE_KEYS];
    if (r->lines_line)
        return wrong(&r->line.place, "lines for the second time, expected it once (line %u)",
                     r->lines_line);
    r->lines_line = r->line.place.line;
    if (!fields_split(&r->line, 1, names, LINE_KEYS, value)) return false;
    for (int k = 0; k < NUMBERS; k++) {
        uint64_t number = 0;
        if (!value[k]) continue;
        if (!fields_whole(&r->line, names[k], value[k], 1, fields[k].most, &number)) return false;
        *fields[k].to = (uint32_t)number;
    }
    return !value[NUMBERS] || strcmp(value[NUMBERS], "promise") == 0 ||
           fields_time(&r->line, "jitter", value[NUMBERS],
                       &(struct fields_times){ r->times.cell_ps, 1 }, &l->jitter_ps);
}

static bool read_line(struct reader *r, const char *text, size_t len)
{
    if (!fields_cut(&r->line, text, len)) return false;
    if (!r->line.count) return true;
    const char *what = r->line.word[0].text;
    if (strcmp(what, "call") == 0) return read_call(r);
    if (strcmp(what, "random") == 0) return read_random(r);
    if (strcmp(what, "lines") == 0) return read_lines_of(r);
    return wrong(&r->line.place, "'%s', %sexpected call, random or lines", what,
                 did_you_mean(what, "call random lines"));
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool read_text(struct reader *r, const char *text, size_t len)
{
    while (len && !interrupted) {
        const char *end = memchr(text, '\n', len);
        const size_t line_len = end ? (size_t)(end - text) : len;
        if (!read_line(r, text, line_len)) return false;
        text += line_len + (end != NULL);
        len -= line_len + (end != NULL);
    }
    if (interrupted || r->calls->config.plans || r->calls->config.randoms) return !interrupted;
    r->line.place.line += !r->line.place.line;
    return wrong(&r->line.place, "no call up to the end of the file, expected at least one");
}

/* random:KEY=VALUE,... as the one line of a file. */
static bool read_inline(struct reader *r, const char *text)
{
    char line[FIELDS_INLINE_CAP];
    return fields_inline(&r->line, text, line) && read_text(r, line, strlen(line));
}

static bool read_file(struct reader *r, const char *file)
{
    struct input in;
    if (!input_open(&in, file)) return false;
    r->line.place.file = in.name;
    bool good = input_fill(&in, CALLS_FILE_LEN_MAX + 1) && !interrupted;
    if (good && input_len(&in) > CALLS_FILE_LEN_MAX) {
        complain("%s: longer than %d octets, expected fewer", in.name, CALLS_FILE_LEN_MAX);
        good = false;
    }
    good = good && read_text(r, (const char *)input_octets(&in), input_len(&in));
    input_close(&in);
    return good;
}

struct dated {
    struct leat_sim_atm_calls_plan plan;
    unsigned line;
};

static int compare_dated(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    if (x->plan.at != y->plan.at) return x->plan.at < y->plan.at ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* By time, those of the same time by line. */
static bool sort(struct calls *calls)
{
    const uint32_t count = calls->config.plans;
    struct dated *dated = calloc(count + 1, sizeof *dated);
    if (!dated) return complain("no memory for %u calls", count), false;
    for (uint32_t i = 0; i < count; i++)
        dated[i] = (struct dated){ calls->plan[i], calls->plan_line[i] };
    qsort(dated, count, sizeof *dated, compare_dated);
    for (uint32_t i = 0; i < count; i++) {
        calls->plan[i] = dated[i].plan;
        calls->plan_line[i] = dated[i].line;
    }
    free(dated);
    return true;
}

bool calls_read(struct calls *calls, const char *file, const struct leat_sim_atm_fabric *fabric)
{
    struct reader r = { .calls = calls,
                        .line.place.file = "--calls",
                        .ports = fabric->net.ports,
                        .times = { .seconds_max = CALLS_SECONDS_MAX } };
    struct leat_sim_atm_calls_config *c = &calls->config;
    *calls = (struct calls){ 0 };
    c->slot = leat_sim_atm_fabric_cell_ps(fabric);
    r.times.cell_ps = (double)c->slot.num / (double)c->slot.den;
    c->line_rate = leat_sim_atm_contracts_link_rate(fabric);
    c->lines = leat_sim_atm_calls_lines_default();
    calls->plan = calloc(LEAT_SIM_ATM_CALLS_MAX, sizeof *calls->plan);
    calls->plan_line = calloc(LEAT_SIM_ATM_CALLS_MAX, sizeof *calls->plan_line);
    calls->party = calloc(LEAT_SIM_ATM_PARTIES_MAX, sizeof *calls->party);
    if (!calls->plan || !calls->plan_line || !calls->party)
        return complain("no memory for %d calls", LEAT_SIM_ATM_CALLS_MAX), false;
    if (!(strncmp(file, INLINE, sizeof INLINE - 1) == 0 ? read_inline : read_file)(&r, file) ||
        !sort(calls))
        return false;
    c->plan = calls->plan;
    c->party = calls->party;
    c->random = calls->random;
    return true;
}

void calls_close(struct calls *calls)
{
    free(calls->plan);
    free(calls->plan_line);
    free(calls->party);
    calls->plan = NULL;
    calls->plan_line = NULL;
    calls->party = NULL;
}
