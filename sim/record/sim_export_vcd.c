#include "sim_export_vcd.h"
#include "sim_refuse.h"
#include <assert.h>

enum {
    NAME_WIDTH = 16,                          /* LEAT_SIM_NAMES_MAX fits */
    PATH_CAP = 2 * LEAT_SIM_PATH_LEN_MAX + 2, /* every part may grow by one character */
};
_Static_assert(PATH_CAP - 1 <= LEAT_VCD_PATH_LEN_MAX, "every path can be declared");

/* ---- names -------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The length of a part without the indices at its end: "mem[3][0]" has 3. */
static size_t stem_len(const char *part, size_t len)
{
    while (len && part[len - 1] == ']') {
        size_t at = len - 1;
        while (at && is_digit(part[at - 1]))
            at--;
        if (at == len - 1 || !at || part[at - 1] != '[') break;
        len = at - 1;
    }
    return len;
}

/* One part of a path as VCD allows it; returns the octets written. */
static size_t put_part(const char *part, size_t len, char *out)
{
    const size_t stem = stem_len(part, len);
    size_t n = 0;
    if (!stem || is_digit(part[0])) out[n++] = '_'; /* a part begins with a letter */
    for (size_t i = 0; i < len; i++) {
        const bool plain = is_letter(part[i]) || is_digit(part[i]) || (part[i] == '$' && i);
        out[n++] = plain || i >= stem ? part[i] : '_';
    }
    return n;
}

static void waveform_path(const char *path, size_t len, char out[PATH_CAP])
{
    size_t n = 0;
    for (size_t begin = 0, at = 0; at <= len; at++)
        if (at == len || path[at] == '.') {
            n += put_part(path + begin, at - begin, out + n);
            out[n++] = at == len ? '\0' : '.';
            begin = at + 1;
        }
    assert(n <= PATH_CAP);
}

/* ---- events ------------------------------------------------------------------------------- */

void leat_sim_export_vcd_init(struct leat_sim_export_vcd *x, const struct leat_sim_recording *rec,
                              struct leat_text *out)
{
    x->rec = rec;
    x->started = false;
    leat_sim_must(!leat_vcd_init(&x->vcd, out, "1 ps", x->signals, LEAT_SIM_TRACKS_MAX));
}

static void declare(struct leat_sim_export_vcd *x, uint32_t track)
{
    const struct leat_sim_track *t = &x->rec->tracks[track];
    char path[LEAT_SIM_PATH_LEN_MAX + 1], allowed[PATH_CAP];
    const size_t len = leat_sim_recording_path(x->rec, track, path);
    waveform_path(path, len, allowed);
    /* The path is allowed, the width is the recording's, there is room. */
    leat_sim_must(!leat_vcd_declare(
        &x->vcd, allowed, t->kind == LEAT_SIM_LANE ? NAME_WIDTH : t->width, &x->signal[track]));
}

/* No span is open at the beginning. */
static void start(struct leat_sim_export_vcd *x)
{
    if (x->started) return;
    x->started = true;
    leat_vcd_start(&x->vcd);
    leat_vcd_time(&x->vcd, 0);
    for (uint32_t track = 1; track <= x->rec->track_count; track++)
        if (x->rec->tracks[track].kind == LEAT_SIM_LANE) leat_vcd_set(&x->vcd, x->signal[track], 0);
}

static void set(struct leat_sim_export_vcd *x, const struct leat_sim_event *e, uint64_t value)
{
    start(x);
    leat_vcd_time(&x->vcd, e->at);
    leat_vcd_set(&x->vcd, x->signal[e->track], value);
}

static uint64_t innermost(const struct leat_sim_track *lane)
{
    return lane->depth ? lane->open[lane->depth - 1] : 0;
}

void leat_sim_export_vcd_event(struct leat_sim_export_vcd *x, const struct leat_sim_event *e)
{
    switch (e->kind) {
    case LEAT_SIM_LANE:
    case LEAT_SIM_SIGNAL: declare(x, e->track); break;
    case LEAT_SIM_BEGIN:
    case LEAT_SIM_END: set(x, e, innermost(&x->rec->tracks[e->track])); break;
    case LEAT_SIM_VALUE: set(x, e, e->value); break;
    case LEAT_SIM_CLOSE:
        start(x);
        leat_vcd_end(&x->vcd, e->at);
        break;
    case LEAT_SIM_CLOCK:
    case LEAT_SIM_GROUP:
    case LEAT_SIM_NAME:
    case LEAT_SIM_TIME:
    case LEAT_SIM_INSTANT:
    case LEAT_SIM_FRAME:
    case LEAT_SIM_FLOW:
    case LEAT_SIM_PLACE: break;
    }
}
