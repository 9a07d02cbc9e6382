#include "sim_export_perfetto.h"
#include <string.h>

enum { PS_PER_US = 1000000, FRACTION_DIGITS = 6 };

void leat_sim_export_perfetto_init(struct leat_sim_export_perfetto *x,
                                   const struct leat_sim_recording *rec, struct leat_text *out)
{
    *x = (struct leat_sim_export_perfetto){ .rec = rec, .out = out };
    leat_text_puts(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

/* ---- parts of an event -------------------------------------------------------------------- */

static void put_key(struct leat_sim_export_perfetto *x, const char *key)
{
    leat_text_puts(x->out, ",\"");
    leat_text_puts(x->out, key);
    leat_text_puts(x->out, "\":");
}

static void put_number(struct leat_sim_export_perfetto *x, const char *key, uint64_t value)
{
    put_key(x, key);
    leat_text_decimal(x->out, value);
}

static void put_string(struct leat_sim_export_perfetto *x, const char *key, const char *string,
                       size_t len)
{
    put_key(x, key);
    leat_text_quoted(x->out, string, len);
}

static void put_time(struct leat_sim_export_perfetto *x, leat_time at)
{
    char digits[FRACTION_DIGITS];
    uint64_t fraction = at % PS_PER_US;
    for (int i = FRACTION_DIGITS; i--; fraction /= 10)
        digits[i] = (char)('0' + fraction % 10);
    put_number(x, "ts", at / PS_PER_US);
    leat_text_putc(x->out, '.');
    leat_text_put(x->out, digits, sizeof digits);
}

/* Process 1 is that of tracks without a group; numbers of tracks begin with 2, since 0 is idle. */
static void open_event(struct leat_sim_export_perfetto *x, const char *phase, uint32_t process)
{
    leat_text_puts(x->out, x->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    leat_text_puts(x->out, phase);
    leat_text_putc(x->out, '"');
    put_number(x, "pid", process + (uint64_t)1);
    x->any = true;
}

/* Phase, place, time and name of an event on a track. */
static void open_on_track(struct leat_sim_export_perfetto *x, const char *phase, uint32_t track,
                          leat_time at, const char *name, size_t name_len)
{
    open_event(x, phase, x->rec->tracks[track].parent);
    put_number(x, "tid", track + (uint64_t)1);
    put_time(x, at);
    put_string(x, "name", name, name_len);
}

static void open_args(struct leat_sim_export_perfetto *x, uint32_t track, leat_time at)
{
    const uint32_t clock = x->rec->tracks[track].clock;
    uint64_t cycle;
    leat_text_puts(x->out, ",\"args\":{\"track\":");
    leat_text_decimal(x->out, track);
    if (clock && !leat_sim_clock_cycle(&x->rec->clocks[clock], at, &cycle))
        put_number(x, "cycle", cycle);
}

static void close_args(struct leat_sim_export_perfetto *x)
{
    leat_text_puts(x->out, "}}");
}

/* ---- declarations ------------------------------------------------------------------------- */

static void name_process(struct leat_sim_export_perfetto *x, uint32_t process, const char *name,
                         size_t len)
{
    open_event(x, "M", process);
    leat_text_puts(x->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    leat_text_quoted(x->out, name, len);
    close_args(x);
    open_event(x, "M", process);
    leat_text_puts(x->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    leat_text_decimal(x->out, process);
    close_args(x);
}

static void on_group(struct leat_sim_export_perfetto *x, uint32_t track)
{
    char path[LEAT_SIM_PATH_LEN_MAX + 1];
    const size_t len = leat_sim_recording_path(x->rec, track, path);
    name_process(x, track, path, len);
}

static void name_orphans(struct leat_sim_export_perfetto *x, uint32_t track)
{
    if (x->orphans || x->rec->tracks[track].parent) return;
    x->orphans = true;
    name_process(x, 0, "recording", strlen("recording"));
}

static void on_lane(struct leat_sim_export_perfetto *x, uint32_t track)
{
    const struct leat_sim_track *t = &x->rec->tracks[track];
    name_orphans(x, track);
    open_event(x, "M", t->parent);
    put_number(x, "tid", track + (uint64_t)1);
    leat_text_puts(x->out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    leat_text_quoted(x->out, x->rec->strings + t->string_at, t->string_len);
    close_args(x);
    open_event(x, "M", t->parent);
    put_number(x, "tid", track + (uint64_t)1);
    leat_text_puts(x->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    leat_text_decimal(x->out, track);
    close_args(x);
}

/* ---- events ------------------------------------------------------------------------------- */

static void open_named(struct leat_sim_export_perfetto *x, const char *phase, uint32_t track,
                       leat_time at, uint32_t name)
{
    size_t len;
    const char *text = leat_sim_recording_name(x->rec, name, &len);
    open_on_track(x, phase, track, at, text, len);
}

static void put_span(struct leat_sim_export_perfetto *x, const char *phase, uint32_t track,
                     leat_time at, uint32_t name)
{
    open_named(x, phase, track, at, name);
    open_args(x, track, at);
    close_args(x);
}

/* Instants are those of a thread, not of the whole trace. */
static void put_scope(struct leat_sim_export_perfetto *x)
{
    leat_text_puts(x->out, ",\"s\":\"t\"");
}

static void on_instant(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    open_named(x, "i", e->track, e->at, e->name);
    put_scope(x);
    open_args(x, e->track, e->at);
    close_args(x);
}

static void on_place(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    char text[3 + LEAT_SIM_PATH_LEN_MAX] = "at ";
    size_t len;
    const char *place = leat_sim_recording_name(x->rec, e->name, &len);
    memcpy(text + 3, place, len);
    open_on_track(x, "i", e->track, e->at, text, 3 + len);
    put_scope(x);
    open_args(x, e->track, e->at);
    close_args(x);
}

static void on_value(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    const struct leat_sim_track *t = &x->rec->tracks[e->track];
    open_on_track(x, "C", e->track, e->at, x->rec->strings + t->string_at, t->string_len);
    leat_text_puts(x->out, ",\"args\":{\"value\":"); /* each argument would be a line of its own */
    leat_text_decimal(x->out, e->value);
    close_args(x);
}

static void on_frame(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    static const char *const names[] = { "frame", "frame in", "frame out" };
    const char *name = names[e->direction];
    open_on_track(x, "i", e->track, e->at, name, strlen(name));
    put_scope(x);
    open_args(x, e->track, e->at);
    put_number(x, "length", e->len);
    put_number(x, "link_type", x->rec->tracks[e->track].link_type);
    close_args(x);
}

/* The number of a message is a string: readers keep but 53 bits of a number. */
static void on_flow(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    static const char *const phases[] = { "s", "t", "f" };
    open_on_track(x, phases[e->step], e->track, e->at, "message", strlen("message"));
    leat_text_puts(x->out, ",\"cat\":\"message\",\"id\":\"0x");
    leat_text_hex_number(x->out, e->flow.message, 1);
    leat_text_putc(x->out, '"');
    if (e->step == LEAT_SIM_ARRIVES) leat_text_puts(x->out, ",\"bp\":\"e\"");
    open_args(x, e->track, e->at);
    put_number(x, "length", e->flow.len);
    if (e->flow.has_tag) put_number(x, "tag", e->flow.tag);
    close_args(x);
}

static void on_close(struct leat_sim_export_perfetto *x, leat_time at)
{
    for (uint32_t track = 1; track <= x->rec->track_count; track++) {
        const struct leat_sim_track *t = &x->rec->tracks[track];
        for (unsigned depth = t->depth; depth--;)
            put_span(x, "E", track, at, t->open[depth]);
    }
    leat_text_puts(x->out, "\n]}\n");
}

void leat_sim_export_perfetto_event(struct leat_sim_export_perfetto *x,
                                    const struct leat_sim_event *e)
{
    switch (e->kind) {
    case LEAT_SIM_GROUP: on_group(x, e->track); break;
    case LEAT_SIM_LANE: on_lane(x, e->track); break;
    case LEAT_SIM_SIGNAL: name_orphans(x, e->track); break;
    case LEAT_SIM_BEGIN: put_span(x, "B", e->track, e->at, e->name); break;
    case LEAT_SIM_END: put_span(x, "E", e->track, e->at, e->name); break;
    case LEAT_SIM_INSTANT: on_instant(x, e); break;
    case LEAT_SIM_VALUE: on_value(x, e); break;
    case LEAT_SIM_FRAME: on_frame(x, e); break;
    case LEAT_SIM_FLOW: on_flow(x, e); break;
    case LEAT_SIM_PLACE: on_place(x, e); break;
    case LEAT_SIM_CLOSE: on_close(x, e->at); break;
    case LEAT_SIM_CLOCK:
    case LEAT_SIM_NAME:
    case LEAT_SIM_TIME: break;
    }
}
