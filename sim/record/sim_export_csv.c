#include "sim_export_csv.h"

static const char names[] = "time_ps,event,track,name,value,message,peer,length,tag\r\n";

void leat_sim_export_csv_init(struct leat_sim_export_csv *x, const struct leat_sim_recording *rec,
                              struct leat_text *out)
{
    *x = (struct leat_sim_export_csv){ .rec = rec, .out = out };
    leat_text_puts(out, names);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static bool has_to_be_quoted(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == ',' || text[i] == '"') return true;
    return false;
}

static void put_text(struct leat_sim_export_csv *x, const char *text, size_t len)
{
    const bool quoted = has_to_be_quoted(text, len);
    if (quoted) leat_text_putc(x->out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"') leat_text_putc(x->out, '"');
        leat_text_putc(x->out, text[i]);
    }
    if (quoted) leat_text_putc(x->out, '"');
}

static void put_path(struct leat_sim_export_csv *x, uint32_t track)
{
    char path[LEAT_SIM_PATH_LEN_MAX + 1];
    const size_t len = leat_sim_recording_path(x->rec, track, path);
    put_text(x, path, len);
}

static void next(struct leat_sim_export_csv *x)
{
    leat_text_putc(x->out, ',');
}

static void next_number(struct leat_sim_export_csv *x, uint64_t value)
{
    next(x);
    leat_text_decimal(x->out, value);
}

/* ---- lines: each kind writes the cells behind its track -------------------------------------- */

static void put_name(struct leat_sim_export_csv *x, uint32_t name)
{
    size_t len;
    const char *text = leat_sim_recording_name(x->rec, name, &len);
    next(x);
    put_text(x, text, len);
    leat_text_puts(x->out, ",,,,,");
}

static void put_value(struct leat_sim_export_csv *x, uint64_t value)
{
    next(x);
    next_number(x, value);
    leat_text_puts(x->out, ",,,,");
}

static void put_frame(struct leat_sim_export_csv *x, const struct leat_sim_event *e)
{
    static const char *const directions[] = { "", "in", "out" };
    next(x);
    leat_text_puts(x->out, directions[e->direction]);
    leat_text_puts(x->out, ",,,");
    next_number(x, e->len);
    next(x);
}

/* With its sign: those of collective operations are negative. */
static void put_tag(struct leat_sim_export_csv *x, uint32_t tag)
{
    const bool is_negative = tag > INT32_MAX;
    if (is_negative) leat_text_putc(x->out, '-');
    leat_text_decimal(x->out, is_negative ? UINT32_MAX - tag + 1 : tag);
}

static void put_flow(struct leat_sim_export_csv *x, const struct leat_sim_flow *flow)
{
    leat_text_puts(x->out, ",,");
    next_number(x, flow->message);
    next(x);
    if (flow->peer) put_path(x, flow->peer);
    next_number(x, flow->len);
    next(x);
    if (flow->has_tag) put_tag(x, flow->tag);
}

/* NULL: declarations have no line. */
static const char *event_name(const struct leat_sim_event *e)
{
    static const char *const steps[] = { "leaves", "passes", "arrives" };
    static const char *const kinds[] = {
        [LEAT_SIM_BEGIN] = "begin", [LEAT_SIM_END] = "end",     [LEAT_SIM_INSTANT] = "instant",
        [LEAT_SIM_VALUE] = "value", [LEAT_SIM_FRAME] = "frame", [LEAT_SIM_PLACE] = "place",
        [LEAT_SIM_CLOSE] = "close",
    };
    return e->kind == LEAT_SIM_FLOW ? steps[e->step] : kinds[e->kind];
}

void leat_sim_export_csv_event(struct leat_sim_export_csv *x, const struct leat_sim_event *e)
{
    const char *event = event_name(e);
    if (!event) return;
    leat_text_decimal(x->out, e->at);
    next(x);
    leat_text_puts(x->out, event);
    next(x);
    if (e->track) put_path(x, e->track);
    if (e->name)
        put_name(x, e->name);
    else if (e->kind == LEAT_SIM_VALUE)
        put_value(x, e->value);
    else if (e->kind == LEAT_SIM_FRAME)
        put_frame(x, e);
    else if (e->kind == LEAT_SIM_FLOW)
        put_flow(x, &e->flow);
    else
        leat_text_puts(x->out, ",,,,,,");
    leat_text_puts(x->out, "\r\n");
}
