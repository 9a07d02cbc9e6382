#include "sim_recorder.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void put_octet(struct leat_sim_recorder *r, unsigned octet)
{
    leat_text_putc(r->out, (char)octet);
}

static void put_number(struct leat_sim_recorder *r, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_octet(r, (unsigned)(value & 0x7f) | 0x80);
    put_octet(r, (unsigned)value);
}

static void put_string(struct leat_sim_recorder *r, const char *string)
{
    const size_t len = strlen(string);
    assert(len >= 1 && len <= LEAT_SIM_PATH_LEN_MAX);
    assert(len <= LEAT_SIM_STRINGS_LEN_MAX - r->strings_len);
    for (size_t i = 0; i < len; i++)
        assert(leat_sim_is_printable((uint8_t)string[i]));
    r->strings_len += (uint32_t)len;
    put_number(r, len);
    leat_text_put(r->out, string, len);
}

static void begin_record(struct leat_sim_recorder *r, leat_sim_kind kind)
{
    assert(!r->closed);
    r->records++;
    put_octet(r, (unsigned)kind);
}

void leat_sim_recorder_init(struct leat_sim_recorder *r, struct leat_text *out)
{
    *r = (struct leat_sim_recorder){ .out = out };
    leat_text_put(out, LEAT_SIM_RECORDING_HEAD, LEAT_SIM_RECORDING_HEAD_LEN);
}

/* ---- declarations ------------------------------------------------------------------------- */

uint32_t leat_sim_recorder_clock(struct leat_sim_recorder *r, const struct leat_sim_clock *clock)
{
    assert(!r->eventful && r->clocks < LEAT_SIM_CLOCKS_MAX && clock->num && clock->den);
    begin_record(r, LEAT_SIM_CLOCK);
    put_number(r, clock->num);
    put_number(r, clock->den);
    return ++r->clocks;
}

static void begin_track(struct leat_sim_recorder *r, leat_sim_kind kind, uint32_t parent)
{
    assert(!r->eventful && r->tracks < LEAT_SIM_TRACKS_MAX && parent <= r->tracks);
    begin_record(r, kind);
    put_number(r, parent);
}

uint32_t leat_sim_recorder_group(struct leat_sim_recorder *r, uint32_t parent, const char *name)
{
    begin_track(r, LEAT_SIM_GROUP, parent);
    put_string(r, name);
    return ++r->tracks;
}

/* Of a lane its link type, of a signal its width. */
static uint32_t put_track(struct leat_sim_recorder *r, leat_sim_kind kind, uint32_t parent,
                          uint32_t clock, uint32_t what, const char *name)
{
    assert(clock <= r->clocks);
    begin_track(r, kind, parent);
    put_number(r, clock);
    put_number(r, what);
    put_string(r, name);
    return ++r->tracks;
}

uint32_t leat_sim_recorder_lane(struct leat_sim_recorder *r, uint32_t parent, uint32_t clock,
                                uint16_t link_type, const char *name)
{
    return put_track(r, LEAT_SIM_LANE, parent, clock, link_type, name);
}

uint32_t leat_sim_recorder_signal(struct leat_sim_recorder *r, uint32_t parent, uint32_t clock,
                                  unsigned width, const char *name)
{
    assert(width >= 1 && width <= LEAT_SIM_WIDTH_MAX);
    return put_track(r, LEAT_SIM_SIGNAL, parent, clock, width, name);
}

uint32_t leat_sim_recorder_name(struct leat_sim_recorder *r, const char *name)
{
    assert(r->names < LEAT_SIM_NAMES_MAX);
    begin_record(r, LEAT_SIM_NAME);
    put_string(r, name);
    return ++r->names;
}

/* ---- events ------------------------------------------------------------------------------- */

/* Time is written once for all events that share it. */
static void begin_event(struct leat_sim_recorder *r, leat_sim_kind kind, leat_time at)
{
    assert(at >= r->now && at != LEAT_NEVER);
    r->eventful = true;
    if (at > r->now) {
        begin_record(r, LEAT_SIM_TIME);
        put_number(r, at - r->now);
        r->now = at;
    }
    begin_record(r, kind);
}

static void put_frame(struct leat_sim_recorder *r, const struct leat_sim_event *e)
{
    assert(e->len <= LEAT_SIM_FRAME_LEN_MAX);
    put_number(r, (uint64_t)e->direction);
    put_number(r, e->len);
    leat_text_put(r->out, (const char *)e->octets, e->len);
}

static void put_flow(struct leat_sim_recorder *r, const struct leat_sim_event *e)
{
    assert(e->flow.peer <= r->tracks);
    put_number(r, (uint64_t)e->step);
    put_number(r, e->flow.message);
    put_number(r, e->flow.peer);
    put_number(r, e->flow.len);
    put_number(r, e->flow.has_tag ? (uint64_t)e->flow.tag + 1 : 0);
}

void leat_sim_recorder_put(struct leat_sim_recorder *r, const struct leat_sim_event *e)
{
    assert(e->track >= 1 && e->track <= r->tracks);
    begin_event(r, e->kind, e->at);
    put_number(r, e->track);
    switch (e->kind) {
    case LEAT_SIM_BEGIN:
    case LEAT_SIM_INSTANT:
    case LEAT_SIM_PLACE:
        assert(e->name >= 1 && e->name <= r->names);
        put_number(r, e->name);
        return;
    case LEAT_SIM_END: return;
    case LEAT_SIM_VALUE: put_number(r, e->value); return;
    case LEAT_SIM_FRAME: put_frame(r, e); return;
    case LEAT_SIM_FLOW: put_flow(r, e); return;
    case LEAT_SIM_CLOCK:
    case LEAT_SIM_GROUP:
    case LEAT_SIM_LANE:
    case LEAT_SIM_SIGNAL:
    case LEAT_SIM_NAME:
    case LEAT_SIM_TIME:
    case LEAT_SIM_CLOSE: break;
    }
    abort(); /* declarations and CLOSE have their own functions */
}

void leat_sim_recorder_close(struct leat_sim_recorder *r, leat_time at)
{
    begin_event(r, LEAT_SIM_CLOSE, at);
    put_number(r, r->records - 1);
    r->closed = true;
}
