#include "sim_recording.h"
#include "leat_err.h"
#include <assert.h>
#include <string.h>

void leat_sim_recording_init(struct leat_sim_recording *rec)
{
    rec->headed = rec->eventful = rec->closed = rec->timed = false;
    rec->now = 0;
    rec->records = 0;
    rec->clock_count = rec->track_count = rec->name_count = rec->string_len = 0;
}

/* ---- fields ------------------------------------------------------------------------------- */

/*
 * The fields of one record, in order. The first fault and its place are kept; if octets are missing
 * instead, `wanting` is set. After either, every field reads as 0.
 */
struct fields {
    const uint8_t *buf;
    size_t len, at;
    leat_err err;
    size_t fault_at;
    bool wanting;
};

static uint64_t refuse(struct fields *f, leat_err err, size_t at)
{
    if (!f->err && !f->wanting) {
        f->err = err;
        f->fault_at = at;
    }
    return 0;
}

static bool is_sound(const struct fields *f)
{
    return !f->err && !f->wanting;
}

/* least..most, in the shortest form; else RANGE, or SYNTAX for another form. */
static uint64_t take_number(struct fields *f, uint64_t least, uint64_t most)
{
    enum { LEN_MAX = 10, LAST_MAX = 1 }; /* 9 * 7 bits and one more */
    const size_t begin = f->at;
    uint64_t value = 0;
    for (unsigned i = 0; is_sound(f); i++) {
        if (f->at == f->len) {
            f->wanting = true;
            break;
        }
        const uint8_t octet = f->buf[f->at];
        if (i == LEN_MAX - 1 && octet > LAST_MAX) return refuse(f, LEAT_ERR_SYNTAX, f->at);
        if (i && !octet) return refuse(f, LEAT_ERR_SYNTAX, f->at);
        f->at++;
        value |= (uint64_t)(octet & 0x7f) << 7 * i;
        if (octet & 0x80) continue;
        if (value < least || value > most) return refuse(f, LEAT_ERR_RANGE, begin);
        return value;
    }
    return 0;
}

static const uint8_t *take_octets(struct fields *f, size_t len)
{
    if (!is_sound(f)) return NULL;
    if (f->len - f->at < len) {
        f->wanting = true;
        return NULL;
    }
    f->at += len;
    return f->buf + f->at - len;
}

/* A track of this kind. */
static uint32_t take_track(const struct leat_sim_recording *rec, struct fields *f,
                           leat_sim_kind kind)
{
    const size_t begin = f->at;
    const uint32_t track = (uint32_t)take_number(f, 1, rec->track_count);
    if (is_sound(f) && rec->tracks[track].kind != kind) refuse(f, LEAT_ERR_TYPE, begin);
    return is_sound(f) ? track : 0;
}

static void put_string(struct leat_sim_recording *rec, const uint8_t *octets, size_t len,
                       uint32_t *string_at, uint8_t *string_len)
{
    memcpy(rec->strings + rec->string_len, octets, len);
    *string_at = rec->string_len;
    *string_len = (uint8_t)len;
    rec->string_len += (uint32_t)len;
}

static const uint8_t *take_string(const struct leat_sim_recording *rec, struct fields *f,
                                  size_t *len)
{
    const size_t begin = f->at;
    *len = take_number(f, 1, LEAT_SIM_PATH_LEN_MAX);
    if (is_sound(f) && *len > sizeof rec->strings - rec->string_len)
        refuse(f, LEAT_ERR_FULL, begin);
    const uint8_t *octets = take_octets(f, *len);
    for (size_t i = 0; octets && i < *len; i++)
        if (!leat_sim_is_printable(octets[i])) {
            refuse(f, LEAT_ERR_SYNTAX, f->at - *len + i);
            return NULL;
        }
    return octets;
}

/* ---- declarations ------------------------------------------------------------------------- */

/* Each reads all its fields first, so that a truncated record has no effect. */
static void on_clock(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    if (rec->clock_count == LEAT_SIM_CLOCKS_MAX) refuse(f, LEAT_ERR_FULL, 0);
    const uint64_t num = take_number(f, 1, UINT64_MAX), den = take_number(f, 1, UINT64_MAX);
    if (!is_sound(f)) return;
    rec->clocks[++rec->clock_count] = (struct leat_sim_clock){ num, den };
    e->value = rec->clock_count;
}

static size_t path_len(const struct leat_sim_recording *rec, uint32_t track)
{
    size_t len = 0;
    for (; track; track = rec->tracks[track].parent)
        len += rec->tracks[track].string_len + (size_t)1;
    return len ? len - 1 : 0;
}

static void on_track(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    struct leat_sim_track track = { .kind = e->kind };
    size_t len;
    if (rec->track_count == LEAT_SIM_TRACKS_MAX) refuse(f, LEAT_ERR_FULL, 0);
    const size_t parent_at = f->at;
    track.parent = (uint32_t)take_number(f, 0, rec->track_count);
    if (track.parent && rec->tracks[track.parent].kind != LEAT_SIM_GROUP)
        refuse(f, LEAT_ERR_TYPE, parent_at);
    if (e->kind != LEAT_SIM_GROUP) track.clock = (uint32_t)take_number(f, 0, rec->clock_count);
    if (e->kind == LEAT_SIM_LANE) track.link_type = (uint16_t)take_number(f, 0, UINT16_MAX);
    if (e->kind == LEAT_SIM_SIGNAL) track.width = (uint8_t)take_number(f, 1, LEAT_SIM_WIDTH_MAX);
    const size_t string_at = f->at;
    const uint8_t *octets = take_string(rec, f, &len);
    if (octets && track.parent && path_len(rec, track.parent) + 1 + len > LEAT_SIM_PATH_LEN_MAX)
        refuse(f, LEAT_ERR_LENGTH, string_at);
    if (!octets || !is_sound(f)) return;
    put_string(rec, octets, len, &track.string_at, &track.string_len);
    rec->tracks[++rec->track_count] = track;
    e->track = rec->track_count;
}

static void on_name(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    size_t len;
    if (rec->name_count == LEAT_SIM_NAMES_MAX) refuse(f, LEAT_ERR_FULL, 0);
    const uint8_t *octets = take_string(rec, f, &len);
    if (!octets) return;
    struct leat_sim_name *name = &rec->names[++rec->name_count];
    put_string(rec, octets, len, &name->string_at, &name->string_len);
    e->name = rec->name_count;
}

/* ---- events ------------------------------------------------------------------------------- */

static void on_time(struct leat_sim_recording *rec, struct fields *f)
{
    const uint64_t span = take_number(f, 1, LEAT_NEVER - 1 - rec->now);
    if (!is_sound(f)) return;
    rec->now += span;
    rec->timed = true;
}

static void on_begin(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    const size_t lane_at = f->at;
    e->track = take_track(rec, f, LEAT_SIM_LANE);
    if (is_sound(f) && rec->tracks[e->track].depth == LEAT_SIM_SPANS_MAX)
        refuse(f, LEAT_ERR_FULL, lane_at);
    e->name = (uint32_t)take_number(f, 1, rec->name_count);
    if (!is_sound(f)) return;
    struct leat_sim_track *lane = &rec->tracks[e->track];
    lane->open[lane->depth++] = (uint16_t)e->name;
}

static void on_end(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    const size_t lane_at = f->at;
    e->track = take_track(rec, f, LEAT_SIM_LANE);
    if (is_sound(f) && !rec->tracks[e->track].depth) refuse(f, LEAT_ERR_FIELD, lane_at);
    if (!is_sound(f)) return;
    struct leat_sim_track *lane = &rec->tracks[e->track];
    e->name = lane->open[--lane->depth];
}

static void on_value(const struct leat_sim_recording *rec, struct fields *f,
                     struct leat_sim_event *e)
{
    e->track = take_track(rec, f, LEAT_SIM_SIGNAL);
    if (!is_sound(f)) return;
    const unsigned spare = LEAT_SIM_WIDTH_MAX - rec->tracks[e->track].width;
    e->value = take_number(f, 0, UINT64_MAX >> spare);
}

static void on_frame(const struct leat_sim_recording *rec, struct fields *f,
                     struct leat_sim_event *e)
{
    const size_t lane_at = f->at;
    e->track = take_track(rec, f, LEAT_SIM_LANE);
    if (is_sound(f) && !rec->tracks[e->track].link_type) refuse(f, LEAT_ERR_FIELD, lane_at);
    e->direction = (leat_sim_direction)take_number(f, 0, LEAT_SIM_OUT);
    e->len = take_number(f, 0, LEAT_SIM_FRAME_LEN_MAX);
    e->octets = take_octets(f, e->len);
}

static void on_flow(const struct leat_sim_recording *rec, struct fields *f,
                    struct leat_sim_event *e)
{
    e->track = take_track(rec, f, LEAT_SIM_LANE);
    e->step = (leat_sim_step)take_number(f, 0, LEAT_SIM_ARRIVES);
    e->flow.message = take_number(f, 0, UINT64_MAX);
    const size_t peer_at = f->at;
    e->flow.peer = (uint32_t)take_number(f, 0, rec->track_count);
    if (e->flow.peer && rec->tracks[e->flow.peer].kind != LEAT_SIM_LANE)
        refuse(f, LEAT_ERR_TYPE, peer_at);
    e->flow.len = take_number(f, 0, UINT64_MAX);
    const uint64_t tag = take_number(f, 0, (uint64_t)UINT32_MAX + 1);
    e->flow.has_tag = tag > 0;
    e->flow.tag = tag ? (uint32_t)(tag - 1) : 0;
}

static void on_close(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    e->value = take_number(f, rec->records, rec->records);
    if (is_sound(f)) rec->closed = true;
}

/* ---- records ------------------------------------------------------------------------------ */

static bool is_event(uint8_t kind)
{
    return kind >= LEAT_SIM_BEGIN;
}

/* The permitted places of each kind, so that a recording has one form only. */
static void check_order(const struct leat_sim_recording *rec, struct fields *f, uint8_t kind)
{
    if (rec->timed && !is_event(kind)) refuse(f, LEAT_ERR_SYNTAX, 0);
    if (rec->eventful && kind < LEAT_SIM_NAME) refuse(f, LEAT_ERR_SYNTAX, 0);
}

static void on_record(struct leat_sim_recording *rec, struct fields *f, struct leat_sim_event *e)
{
    const uint8_t kind = f->buf[f->at++];
    e->kind = (leat_sim_kind)kind;
    e->at = rec->now;
    check_order(rec, f, kind);
    switch (e->kind) {
    case LEAT_SIM_CLOCK: on_clock(rec, f, e); return;
    case LEAT_SIM_GROUP:
    case LEAT_SIM_LANE:
    case LEAT_SIM_SIGNAL: on_track(rec, f, e); return;
    case LEAT_SIM_NAME: on_name(rec, f, e); return;
    case LEAT_SIM_TIME: on_time(rec, f); return;
    case LEAT_SIM_BEGIN: on_begin(rec, f, e); return;
    case LEAT_SIM_END: on_end(rec, f, e); return;
    case LEAT_SIM_INSTANT:
    case LEAT_SIM_PLACE:
        e->track = take_track(rec, f, LEAT_SIM_LANE);
        e->name = (uint32_t)take_number(f, 1, rec->name_count);
        return;
    case LEAT_SIM_VALUE: on_value(rec, f, e); return;
    case LEAT_SIM_FRAME: on_frame(rec, f, e); return;
    case LEAT_SIM_FLOW: on_flow(rec, f, e); return;
    case LEAT_SIM_CLOSE: on_close(rec, f, e); return;
    }
    refuse(f, LEAT_ERR_TYPE, 0);
}

static leat_err take_head(struct leat_sim_recording *rec, const uint8_t *buf, size_t len,
                          size_t *used, size_t *fault_at)
{
    const size_t part = len < LEAT_SIM_RECORDING_HEAD_LEN ? len : LEAT_SIM_RECORDING_HEAD_LEN;
    for (size_t i = 0; i < part; i++)
        if (buf[i] != (uint8_t)LEAT_SIM_RECORDING_HEAD[i])
            return leat_fault(LEAT_ERR_MAGIC, i, fault_at);
    if (part < LEAT_SIM_RECORDING_HEAD_LEN) return LEAT_ERR_OK;
    rec->headed = true;
    *used = part;
    return LEAT_ERR_OK;
}

leat_err leat_sim_recording_next(struct leat_sim_recording *rec, const uint8_t *buf, size_t len,
                                 struct leat_sim_event *out, bool *found, size_t *used,
                                 size_t *fault_at)
{
    *found = false;
    *used = 0;
    if (!rec->headed) return take_head(rec, buf, len, used, fault_at);
    if (!len) return LEAT_ERR_OK;
    if (rec->closed) return leat_fault(LEAT_ERR_LENGTH, 0, fault_at);

    struct fields f = { .buf = buf, .len = len };
    struct leat_sim_event e = { .kind = LEAT_SIM_TIME };
    on_record(rec, &f, &e);
    if (f.err) return leat_fault(f.err, f.fault_at, fault_at);
    if (f.wanting) return LEAT_ERR_OK;
    *used = f.at;
    rec->records++;
    if (e.kind >= LEAT_SIM_TIME) rec->eventful = true;
    if (e.kind == LEAT_SIM_TIME) return LEAT_ERR_OK;
    rec->timed = false;
    *found = true;
    *out = e;
    return LEAT_ERR_OK;
}

/* ---- texts -------------------------------------------------------------------------------- */

size_t leat_sim_recording_path(const struct leat_sim_recording *rec, uint32_t track,
                               char path[LEAT_SIM_PATH_LEN_MAX + 1])
{
    const size_t len = path_len(rec, track);
    size_t at = len;
    assert(track <= rec->track_count && len <= LEAT_SIM_PATH_LEN_MAX);
    path[len] = '\0';
    for (; track; track = rec->tracks[track].parent) {
        const struct leat_sim_track *t = &rec->tracks[track];
        at -= t->string_len;
        memcpy(path + at, rec->strings + t->string_at, t->string_len);
        if (at) path[--at] = '.';
    }
    return len;
}

const char *leat_sim_recording_name(const struct leat_sim_recording *rec, uint32_t name,
                                    size_t *len)
{
    assert(name >= 1 && name <= rec->name_count);
    *len = rec->names[name].string_len;
    return rec->strings + rec->names[name].string_at;
}
