#include "sim_export_perfetto.h"
#include <string.h>

void leat_sim_export_perfetto_init(struct leat_sim_export_perfetto *x,
                                   const struct leat_sim_recording *rec, struct leat_text *out)
{
    *x = (struct leat_sim_export_perfetto){ .rec = rec };
    leat_json_init(&x->json, out);
    leat_json_object(&x->json, NULL);
    leat_json_string(&x->json, "displayTimeUnit", "ns");
    leat_json_array(&x->json, "traceEvents");
}

/* ---- parts of an event -------------------------------------------------------------------- */

/* Process 1 has the tracks without a group; tracks are numbered from 2, because 0 is idle. */
static void open_event(struct leat_sim_export_perfetto *x, const char *phase, uint32_t process)
{
    leat_json_break(&x->json);
    leat_json_object(&x->json, NULL);
    leat_json_string(&x->json, "ph", phase);
    leat_json_uint(&x->json, "pid", process + (uint64_t)1);
}

/* Phase, place, time and name of an event on a track. */
static void open_on_track(struct leat_sim_export_perfetto *x, const char *phase, uint32_t track,
                          leat_time at, const char *name, size_t name_len)
{
    open_event(x, phase, x->rec->tracks[track].parent);
    leat_json_uint(&x->json, "tid", track + (uint64_t)1);
    leat_json_micro(&x->json, "ts", at); /* ps as us */
    leat_json_chars(&x->json, "name", name, name_len);
}

static void open_args(struct leat_sim_export_perfetto *x, uint32_t track, leat_time at)
{
    const uint32_t clock = x->rec->tracks[track].clock;
    uint64_t cycle;
    leat_json_object(&x->json, "args");
    leat_json_uint(&x->json, "track", track);
    if (clock && !leat_sim_clock_cycle(&x->rec->clocks[clock], at, &cycle))
        leat_json_uint(&x->json, "cycle", cycle);
}

static void close_args(struct leat_sim_export_perfetto *x)
{
    leat_json_end(&x->json);
    leat_json_end(&x->json);
}

/* ---- declarations ------------------------------------------------------------------------- */

/* The name of a process or thread, and its position. */
static void put_name(struct leat_sim_export_perfetto *x, const char *event, const char *name,
                     size_t len)
{
    leat_json_string(&x->json, "name", event);
    leat_json_object(&x->json, "args");
    leat_json_chars(&x->json, "name", name, len);
    close_args(x);
}

static void put_order(struct leat_sim_export_perfetto *x, const char *event, uint32_t place)
{
    leat_json_string(&x->json, "name", event);
    leat_json_object(&x->json, "args");
    leat_json_uint(&x->json, "sort_index", place);
    close_args(x);
}

static void name_process(struct leat_sim_export_perfetto *x, uint32_t process, const char *name,
                         size_t len)
{
    open_event(x, "M", process);
    put_name(x, "process_name", name, len);
    open_event(x, "M", process);
    put_order(x, "process_sort_index", process);
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
    leat_json_uint(&x->json, "tid", track + (uint64_t)1);
    put_name(x, "thread_name", x->rec->strings + t->string_at, t->string_len);
    open_event(x, "M", t->parent);
    leat_json_uint(&x->json, "tid", track + (uint64_t)1);
    put_order(x, "thread_sort_index", track);
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

static void on_instant(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    open_named(x, "i", e->track, e->at, e->name);
    leat_json_string(&x->json, "s", "t"); /* of a thread, not of the whole trace */
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
    leat_json_string(&x->json, "s", "t"); /* of a thread, not of the whole trace */
    open_args(x, e->track, e->at);
    close_args(x);
}

static void on_value(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    const struct leat_sim_track *t = &x->rec->tracks[e->track];
    open_on_track(x, "C", e->track, e->at, x->rec->strings + t->string_at, t->string_len);
    leat_json_object(&x->json, "args");
    leat_json_uint(&x->json, "value", e->value); /* each argument would be a separate line */
    close_args(x);
}

static void on_frame(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    static const char *const names[] = { "frame", "frame in", "frame out" };
    const char *name = names[e->direction];
    open_on_track(x, "i", e->track, e->at, name, strlen(name));
    leat_json_string(&x->json, "s", "t"); /* of a thread, not of the whole trace */
    open_args(x, e->track, e->at);
    leat_json_uint(&x->json, "length", e->len);
    leat_json_uint(&x->json, "link_type", x->rec->tracks[e->track].link_type);
    close_args(x);
}

static void put_operation(struct leat_sim_export_perfetto *x, const struct leat_sim_flow *flow)
{
    leat_json_uint(&x->json, "group", flow->message >> LEAT_SIM_GROUP_AT & LEAT_SIM_GROUP_MASK);
    leat_json_uint(&x->json, "number", (uint32_t)(flow->message >> LEAT_SIM_MEMBER_BITS));
}

/* A packet is seen outside of spans, where readers drop arrows. */
static void put_moment(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e,
                       const char *name)
{
    open_on_track(x, "X", e->track, e->at, name, strlen(name));
    leat_json_uint(&x->json, "dur", 0);
    open_args(x, e->track, e->at);
    close_args(x);
}

/* The number of a message is a string: readers keep only 53 bits of a number. */
static void on_flow(struct leat_sim_export_perfetto *x, const struct leat_sim_event *e)
{
    static const char *const phases[] = { "s", "t", "f" };
    const bool is_operation = leat_sim_is_operation(&e->flow);
    const bool is_packet = leat_sim_is_packet(&e->flow);
    const char *name = is_operation ? "operation" : is_packet ? "packet" : "message";
    if (is_packet && !x->rec->tracks[e->track].depth) put_moment(x, e, name);
    open_on_track(x, phases[e->step], e->track, e->at, name, strlen(name));
    leat_json_string(&x->json, "cat", name);
    leat_json_hex(&x->json, "id", "0x", e->flow.message, 1);
    if (e->step == LEAT_SIM_ARRIVES) leat_json_string(&x->json, "bp", "e");
    open_args(x, e->track, e->at);
    leat_json_uint(&x->json, "length", e->flow.len);
    if (is_operation)
        put_operation(x, &e->flow);
    else if (e->flow.has_tag)
        leat_json_int(&x->json, "tag", (int32_t)e->flow.tag);
    close_args(x);
}

static void on_close(struct leat_sim_export_perfetto *x, leat_time at)
{
    for (uint32_t track = 1; track <= x->rec->track_count; track++) {
        const struct leat_sim_track *t = &x->rec->tracks[track];
        for (unsigned depth = t->depth; depth--;)
            put_span(x, "E", track, at, t->open[depth]);
    }
    leat_json_break(&x->json);
    leat_json_end(&x->json);
    leat_json_end(&x->json);
    leat_text_putc(x->json.text, '\n');
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
