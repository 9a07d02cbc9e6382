#include "circuit_plan.h"
#include "atm_contract.h"
#include "fields.h"
#include <string.h>

enum {
    SECONDS_MAX = 1000,
    RATE_MIN = 1000,    /* bit/s */
    DS0 = 64000,        /* bit/s of an octet of structure */
    FRAME_PS_NS = 1000, /* frames are whole nanoseconds */
};
#define FRAME_DEFAULT_PS UINT64_C(5000000000)
#define TALK_DEFAULT_PS  UINT64_C(1004000000000) /* ITU-T P.59 */
#define PAUSE_DEFAULT_PS UINT64_C(1587000000000)
#define NS_OF_OCTET      UINT64_C(8000000000) /* at 1 bit/s */

struct reader {
    struct circuit_plan *plan;
    struct fields line;
    struct fields_times times;
};

/* ---- values ---------------------------------------------------------------------------------- */

enum key { FROM, TO, RATE, START, PLAYOUT, COMMON };
enum { CLOCK = COMMON, RECOVERY, FEC, STRUCTURE, CBR_KEYS };
enum { CHANNELS = COMMON, FRAME, SILENCE, TALK, PAUSE, VOICE_KEYS };
static const char *const cbr_keys[CBR_KEYS] = { "from",  "to",       "rate", "start",    "playout",
                                                "clock", "recovery", "fec",  "structure" };
static const char *const voice_keys[VOICE_KEYS] = { "from",    "to",       "rate",  "start",
                                                    "playout", "channels", "frame", "silence",
                                                    "talk",    "pause" };

static bool read_rate(const struct reader *r, const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t rate;
    } named[] = { { "T1", 1544000 },  { "DS1", 1544000 }, { "E1", 2048000 },
                  { "E3", 34368000 }, { "T3", 44736000 }, { "DS3", 44736000 } };
    const struct fields_unit units[] = { { "b/s", 1 }, { "kb/s", 1e3 }, { "Mb/s", 1e6 } };
    double value = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(text, named[i].name) == 0) {
            *out = named[i].rate;
            return true;
        }
    if (!fields_quantity(text, units, 3, &value) || value < RATE_MIN ||
        value > LEAT_SIM_ATM_CIRCUITS_RATE_MAX)
        return wrong(&r->line.place,
                     "rate '%s', expected 1kb/s to 155.52Mb/s, as in 64kb/s, 2048kb/s, 1.544Mb/s, "
                     "or one of T1, E1, E3, T3",
                     text);
    *out = (uint64_t)(value + 0.5);
    return true;
}

static bool read_clock(const struct reader *r, const char *text, int32_t *out)
{
    const struct fields_unit units[] = { { "ppm", 1 } };
    const bool is_signed = *text == '+' || *text == '-';
    double value = 0;
    if (!fields_quantity(text + is_signed, units, 1, &value) ||
        value > LEAT_SIM_ATM_CIRCUITS_PPM_MAX || value != (int32_t)value)
        return wrong(&r->line.place, "clock '%s', expected whole ppm of -%d to +%d, as in +50ppm",
                     text, LEAT_SIM_ATM_CIRCUITS_PPM_MAX, LEAT_SIM_ATM_CIRCUITS_PPM_MAX);
    *out = *text == '-' ? -(int32_t)value : (int32_t)value;
    return true;
}

static bool read_number(const struct reader *r, const char *key, const char *text, uint64_t least,
                        uint64_t most, uint32_t *out)
{
    uint64_t number = 0;
    if (!fields_whole(&r->line, key, text, least, most, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

static bool read_ends(const struct reader *r, const char *const *value,
                      struct leat_sim_atm_circuit *c)
{
    const uint32_t last = r->plan->fabric->net.ports - 1;
    if (!value[FROM]) return wrong(&r->line.place, "no from, expected a port, as in from=0");
    if (!value[TO]) return wrong(&r->line.place, "no to, expected a port, as in to=1");
    if (!read_number(r, "from", value[FROM], 0, last, &c->from) ||
        !read_number(r, "to", value[TO], 0, last, &c->to))
        return false;
    return c->from != c->to ||
           wrong(&r->line.place, "from and to are %u, expected two ports", c->from);
}

static bool read_playout(const struct reader *r, const char *text, struct leat_sim_atm_circuit *c)
{
    const leat_time most = leat_sim_atm_circuit_playout_max(c);
    if (!text) return true;
    if (c->kind == LEAT_SIM_ATM_CIRCUIT_CBR && strcmp(text, "auto") == 0) return true;
    if (!fields_time(&r->line, "playout", text, &(struct fields_times){ r->times.cell_ps, 1 },
                     &c->playout))
        return false;
    return c->playout <= most ||
           wrong(&r->line.place, "playout '%s', expected at most %llu us at this rate", text,
                 (unsigned long long)(most / 1000000));
}

static bool read_time(const struct reader *r, const char *key, const char *text, leat_time least,
                      leat_time *out)
{
    if (!text) return true;
    if (!fields_time(&r->line, key, text, &r->times, out)) return false;
    return *out >= least || wrong(&r->line.place, "%s '%s', expected at least a frame, %llu us",
                                  key, text, (unsigned long long)(least / 1000000));
}

static bool read_switch(const struct reader *r, const char *key, const char *text,
                        const char *const words[2], bool *out)
{
    size_t which = *out;
    if (text && !fields_choice(&r->line, key, text, words, 2, &which)) return false;
    *out = which;
    return true;
}

/* ---- circuits -------------------------------------------------------------------------------- */

static bool read_recovery(const struct reader *r, const char *text, struct leat_sim_atm_circuit *c)
{
    static const char *const words[] = { [LEAT_SIM_ATM_CIRCUIT_NETWORK] = "network",
                                         [LEAT_SIM_ATM_CIRCUIT_SRTS] = "srts",
                                         [LEAT_SIM_ATM_CIRCUIT_ADAPTIVE] = "adaptive" };
    size_t which = 0;
    if (text && !fields_choice(&r->line, "recovery", text, words, 3, &which)) return false;
    c->recovery = (enum leat_sim_atm_circuit_recovery)which;
    if (c->recovery != LEAT_SIM_ATM_CIRCUIT_SRTS) return true;
    if (c->fec || c->block_len)
        return wrong(&r->line.place, "srts with %s, expected none: its stamps need the CSI bits",
                     c->fec ? "fec=interleaved" : "structure");
    return (c->clock_ppm <= LEAT_ATM_AAL1_SRTS_PPM_MAX &&
            c->clock_ppm >= -LEAT_ATM_AAL1_SRTS_PPM_MAX) ||
           wrong(&r->line.place, "srts with a clock of %d ppm, expected -%d to +%d (I.363.1)",
                 c->clock_ppm, LEAT_ATM_AAL1_SRTS_PPM_MAX, LEAT_ATM_AAL1_SRTS_PPM_MAX);
}

static bool read_structure(const struct reader *r, const char *const *value,
                           struct leat_sim_atm_circuit *c)
{
    static const char *const fec[] = { "none", "interleaved" };
    if (!read_switch(r, "fec", value[FEC], fec, &c->fec)) return false;
    if (value[STRUCTURE] && !read_number(r, "structure", value[STRUCTURE], 1,
                                         LEAT_ATM_AAL1_BLOCK_LEN_MAX, &c->block_len))
        return false;
    if (c->fec && c->block_len)
        return wrong(&r->line.place,
                     "structure with fec=interleaved, expected one: both need the CSI bits");
    if (value[RATE]) return read_rate(r, value[RATE], &c->rate);
    c->rate = DS0 * (uint64_t)c->block_len;
    return (c->rate && c->rate <= LEAT_SIM_ATM_CIRCUITS_RATE_MAX) ||
           wrong(&r->line.place, "no rate, expected one, as in rate=2048kb/s");
}

static bool read_cbr(struct reader *r, const char *const *value, struct leat_sim_atm_circuit *c)
{
    return read_structure(r, value, c) &&
           (!value[CLOCK] || read_clock(r, value[CLOCK], &c->clock_ppm)) &&
           read_recovery(r, value[RECOVERY], c);
}

/* ---- voice ----------------------------------------------------------------------------------- */

static bool read_frame(const struct reader *r, const char *text, struct leat_sim_atm_circuit *c)
{
    if (!read_time(r, "frame", text, 0, &c->frame)) return false;
    const uint64_t bits_ns = c->rate * (c->frame / FRAME_PS_NS), octets = bits_ns / NS_OF_OCTET;
    if (c->frame <= LEAT_ATM_SECOND_PS && c->frame % FRAME_PS_NS == 0 &&
        bits_ns % NS_OF_OCTET == 0 && octets >= 1 && octets <= LEAT_SIM_ATM_CIRCUITS_FRAME_LEN_MAX)
        return true;
    return wrong(
        &r->line.place, "frame '%s' at %llu bit/s, expected up to 1 s with 1 to %d whole octets",
        text ? text : "5ms", (unsigned long long)c->rate, LEAT_SIM_ATM_CIRCUITS_FRAME_LEN_MAX);
}

static bool read_silence(const struct reader *r, const char *const *value,
                         struct leat_sim_atm_circuit *c)
{
    static const char *const on[] = { "off", "on" };
    bool silence = false;
    if (!read_switch(r, "silence", value[SILENCE], on, &silence)) return false;
    if (!silence && (value[TALK] || value[PAUSE]))
        return wrong(&r->line.place, "%s without silence=on, expected none",
                     value[TALK] ? "talk" : "pause");
    if (!silence) return true;
    c->talk = TALK_DEFAULT_PS;
    c->pause = PAUSE_DEFAULT_PS;
    return read_time(r, "talk", value[TALK], c->frame, &c->talk) &&
           read_time(r, "pause", value[PAUSE], c->frame, &c->pause);
}

static bool read_voice(struct reader *r, const char *const *value, struct leat_sim_atm_circuit *c)
{
    c->rate = DS0;
    c->channels = 1;
    c->frame = FRAME_DEFAULT_PS;
    if (value[RATE] && !read_rate(r, value[RATE], &c->rate)) return false;
    if (value[CHANNELS] && !read_number(r, "channels", value[CHANNELS], 1,
                                        LEAT_SIM_ATM_CIRCUITS_CHANNELS_MAX, &c->channels))
        return false;
    if (!read_frame(r, value[FRAME], c)) return false;
    c->playout = c->frame;
    return read_silence(r, value, c);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* "srts" alone means recovery=srts. */
static void spell_out(struct fields *line)
{
    static const char *const words[] = { "srts", "adaptive" };
    for (int i = 1; i < line->count; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strcmp(line->word[i].text, words[k]) == 0)
                snprintf(line->word[i].text, sizeof line->word[i].text, "recovery=%s", words[k]);
}

static bool read_circuit(struct reader *r, bool is_voice)
{
    const char *value[VOICE_KEYS];
    struct leat_sim_atm_circuit c = { .kind = is_voice ? LEAT_SIM_ATM_CIRCUIT_VOICE
                                                       : LEAT_SIM_ATM_CIRCUIT_CBR,
                                      .start = LEAT_NEVER,
                                      .playout = LEAT_NEVER };
    struct circuit_plan *plan = r->plan;
    if (plan->lines == LEAT_SIM_ATM_CIRCUITS_LINES_MAX)
        return wrong(&r->line.place, "one line too many, expected at most %d",
                     LEAT_SIM_ATM_CIRCUITS_LINES_MAX);
    if (!is_voice) spell_out(&r->line);
    if (!fields_split(&r->line, 1, is_voice ? voice_keys : cbr_keys,
                      is_voice ? VOICE_KEYS : CBR_KEYS, value) ||
        !read_ends(r, value, &c) || !(is_voice ? read_voice : read_cbr)(r, value, &c) ||
        !read_time(r, "start", value[START], 0, &c.start) || !read_playout(r, value[PLAYOUT], &c))
        return false;
    plan->place[plan->lines] = r->line.place.line;
    plan->line[plan->lines++] = c;
    return true;
}

static bool read_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct reader *r = context;
    r->line.place = *place;
    r->line.place.line--; /* which fields_cut counts */
    if (!fields_cut(&r->line, line.text, line.len)) return false;
    const char *what = r->line.word[0].text;
    if (strcmp(what, "cbr") == 0) return read_circuit(r, false);
    if (strcmp(what, "voice") == 0) return read_circuit(r, true);
    return wrong(&r->line.place, "'%s', %sexpected cbr or voice", what,
                 did_you_mean(what, "cbr voice"));
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool read_inline(struct reader *r, const char *text)
{
    const struct leat_fabric_place place = { .file = "--circuits", .line = 1 };
    char line[FIELDS_INLINE_CAP];
    r->line.place = place;
    return fields_inline(&r->line, text, line) &&
           read_line(r, &place, (struct word){ line, strlen(line) });
}

static bool is_inline(const char *text)
{
    return strncmp(text, "cbr:", 4) == 0 || strncmp(text, "voice:", 6) == 0;
}

bool circuits_read(struct circuit_plan *plan, const char *file,
                   const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_sim_clock cell = leat_sim_atm_fabric_cell_ps(fabric);
    struct reader r = { .plan = plan,
                        .times = { .cell_ps = (double)cell.num / (double)cell.den,
                                   .seconds_max = SECONDS_MAX } };
    uint32_t last = 0;
    *plan = (struct circuit_plan){ .fabric = fabric };
    if (is_inline(file)) return read_inline(&r, file);
    if (!lines_read(file, read_line, &r, &last)) return false;
    if (plan->lines || interrupted) return true;
    const struct leat_fabric_place place = { .file = file, .line = last + !last };
    return wrong(&place, "no circuit up to the end of the file, expected at least one");
}
