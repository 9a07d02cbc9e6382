#include "ether_port_parts.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include <assert.h>

enum { BITS = 8 }; /* of an octet */

/* The order of events in one bit time, each by station. */
enum step {
    ARRIVED,   /* frame: at its destination */
    LEFT,      /* frame: its station has sent it */
    FREE,      /* station: the gap is over */
    HAND_OVER, /* entry */
};

struct leat_sim_ether_port_entry {
    struct leat_sim_letter letter;
    uint64_t begun, arrived; /* octets */
};

struct leat_sim_ether_port_station {
    uint32_t first, last; /* entries + 1: not wholly begun */
    uint64_t messages;    /* so far */
    bool busy;            /* it sends, or is in a gap */
    bool waits;           /* for room in the switch */
    uint32_t next_waiting;
    /* the switch's output to it */
    uint64_t out_free;              /* bit time; contention-free: for frames from it */
    uint32_t queued;                /* frames that are there, or in flight to it */
    uint32_t wait_first, wait_last; /* stations + 1 that wait for room */
    struct leat_sim_ether_port_cable to_switch, from_switch;
};

struct leat_sim_ether_port_frame {
    uint32_t entry;
    uint32_t len;  /* octets of the message */
    uint32_t bits; /* on the cable */
    uint32_t next; /* free: + 1 */
    bool last;
    bool is_esp; /* then `entry` is its sender */
};

static struct leat_sim_ether_port *of(struct leat_port_net *base)
{
    return (struct leat_sim_ether_port *)base; /* its first member */
}

/* ---- messages and frames -------------------------------------------------------------------- */

uint32_t leat_sim_ether_port_single(const struct leat_sim_ether_port_config *config)
{
    return config->frame_octets - LEAT_SIM_ETHER_OUI_LEN;
}

/* Octets of a message in each of its frames, if there are several. */
static uint32_t piece_of(const struct leat_sim_ether_port_config *config)
{
    return leat_sim_ether_port_single(config) - LEAT_SIM_ETHER_PIECE_LEN;
}

uint64_t leat_sim_ether_port_frames(const struct leat_sim_ether_port_config *config, uint64_t len)
{
    if (len <= leat_sim_ether_port_single(config)) return 1;
    return (len - 1) / piece_of(config) + 1;
}

/* The length on the cable of a frame with so much payload. */
static uint32_t frame_len(uint32_t payload)
{
    const uint32_t len = LEAT_SIM_ETHER_HEADER_LEN + payload + LEAT_SIM_ETHER_FCS_LEN;
    return LEAT_SIM_ETHER_PREAMBLE_LEN + (uint32_t)leat_larger(len, LEAT_SIM_ETHER_FRAME_MIN);
}

uint64_t leat_sim_ether_port_octets(const struct leat_sim_ether_port_config *config, uint64_t len)
{
    const uint64_t others = leat_sim_ether_port_frames(config, len) - 1;
    const uint32_t head = LEAT_SIM_ETHER_OUI_LEN + (others ? LEAT_SIM_ETHER_PIECE_LEN : 0);
    const uint64_t last = len - others * piece_of(config);
    return others * frame_len(config->frame_octets) + frame_len(head + (uint32_t)last);
}

void leat_sim_ether_port_address(uint32_t station, uint8_t out[LEAT_SIM_ETHER_MAC_LEN])
{
    leat_put_be24(out, 0x020000); /* administered locally */
    leat_put_be24(out + 3, station + 1);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void plan(struct leat_sim_ether_port *p, uint64_t at, uint32_t station, uint32_t what,
                 enum step step)
{
    const uint64_t rank = step == HAND_OVER ? FREE : step; /* both let a frame begin */
    const uint64_t call = rank << 62 | (uint64_t)station << 48 | p->post.calls++;
    leat_sim_post_plan(&p->post, (struct leat_sim_plan){ at, call, what, (uint32_t)step });
}

/* ---- reporting ----------------------------------------------------------------------------- */

/* The last frame of a message is in the switch, and at its destination at bit time `at`: its octets
 * arrive a little before. */
static void report_head(struct leat_sim_ether_port *p, const struct leat_sim_ether_port_frame *f,
                        uint64_t at)
{
    if (!f->last) return;
    leat_sim_post_report_head(&p->post, &p->entry[f->entry].letter.message,
                              leat_sim_clock_at(&p->config.clock, at - (uint64_t)BITS * f->len),
                              leat_sim_clock_at(&p->config.clock, at),
                              leat_sim_clock_at(&p->config.clock, p->now));
}

/* ---- a station ------------------------------------------------------------------------------ */

/* Is there room in the switch for the next frame to this station? If not, the sender waits. */
static bool has_room(struct leat_sim_ether_port *p, uint32_t from, uint32_t to)
{
    struct leat_sim_ether_port_station *s = &p->station[to];
    if (from == to || p->config.contention_free) return true;
    if (s->queued < p->config.buffer) {
        s->queued++;
        return true;
    }
    p->station[from].waits = true;
    p->station[from].next_waiting = 0;
    if (s->wait_first)
        p->station[s->wait_last - 1].next_waiting = from + 1;
    else
        s->wait_first = from + 1;
    s->wait_last = from + 1;
    return false;
}

static uint32_t take_frame(struct leat_sim_ether_port *p)
{
    const uint32_t index = p->free_frame - 1;
    assert(p->free_frame);
    p->free_frame = p->frame[index].next;
    return index;
}

static void free_frame(struct leat_sim_ether_port *p, uint32_t index)
{
    p->frame[index].next = p->free_frame;
    p->free_frame = index + 1;
}

/* The next frame of a message. */
static uint32_t make_frame(struct leat_sim_ether_port *p, uint32_t entry)
{
    struct leat_sim_ether_port_entry *e = &p->entry[entry];
    const bool whole = e->letter.message.len <= leat_sim_ether_port_single(&p->config);
    const uint32_t index = take_frame(p);
    struct leat_sim_ether_port_frame *f = &p->frame[index];
    const uint32_t most = whole ? (uint32_t)e->letter.message.len : piece_of(&p->config);
    const uint32_t head = LEAT_SIM_ETHER_OUI_LEN + (whole ? 0 : LEAT_SIM_ETHER_PIECE_LEN);
    f->entry = entry;
    f->is_esp = false;
    f->len = (uint32_t)leat_smaller(most, e->letter.message.len - e->begun);
    f->bits = BITS * frame_len(head + f->len);
    e->begun += f->len;
    f->last = e->begun == e->letter.message.len;
    return index;
}

/* The next frame of ESP, or of a message. False: there is none, or it has no room. */
static bool next_frame(struct leat_sim_ether_port *p, uint32_t from, uint32_t *frame)
{
    struct leat_sim_ether_port_station *s = &p->station[from];
    uint32_t sender, payload;
    if (p->config.esp_cycles && leat_sim_ether_esp_next(p, from, &sender, &payload)) {
        *frame = take_frame(p);
        p->frame[*frame] = (struct leat_sim_ether_port_frame){ .entry = sender,
                                                               .bits = BITS * frame_len(payload),
                                                               .is_esp = true };
        return true;
    }
    if (s->waits || !s->first) return false;
    const uint32_t entry = s->first - 1;
    if (!has_room(p, from, p->entry[entry].letter.message.to)) return false;
    *frame = make_frame(p, entry);
    if (p->frame[*frame].last) s->first = p->entry[entry].letter.next;
    return true;
}

/* The next frame of a station is sent, if the cable is free. */
void leat_sim_ether_port_begin(struct leat_sim_ether_port *p, uint32_t from)
{
    uint32_t frame;
    if (p->station[from].busy || !next_frame(p, from, &frame)) return;
    const uint64_t left_at = p->now + p->frame[frame].bits;
    p->station[from].busy = true;
    plan(p, left_at, from, frame, LEFT);
    plan(p, left_at + BITS * LEAT_SIM_ETHER_GAP_LEN, from, from, FREE);
}

static void append(struct leat_sim_ether_port *p, uint32_t entry)
{
    struct leat_sim_ether_port_entry *e = &p->entry[entry];
    struct leat_sim_ether_port_station *s = &p->station[e->letter.message.from];
    e->letter.number = s->messages++;
    leat_sim_post_append(&p->post, entry, &s->first, &s->last);
    leat_sim_ether_port_begin(p, e->letter.message.from);
}

static bool send(struct leat_port_net *base, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_ether_port *p = of(base);
    uint32_t entry;
    if (!leat_sim_post_accept(&p->post, message, at, &entry)) return false;
    plan(p, leat_larger(p->now, leat_sim_clock_cycle_from(&p->config.clock, at)), message->from,
         entry, HAND_OVER);
    return true;
}

/* ---- the switch ----------------------------------------------------------------------------- */

static void count(struct leat_sim_ether_port_cable *cable, uint32_t bits)
{
    cable->frames++;
    cable->bits += bits;
}

struct leat_sim_ether_port_cable leat_sim_ether_port_cable(const struct leat_sim_ether_port *port,
                                                           uint32_t station, bool is_to_switch)
{
    const struct leat_sim_ether_port_station *s = &port->station[station];
    return is_to_switch ? s->to_switch : s->from_switch;
}

/* A frame in the switch is sent to a station, after those before it. Returns when it is there. */
static uint64_t pass_on(struct leat_sim_ether_port *p, uint32_t to, uint32_t bits,
                        uint64_t *out_free)
{
    const uint64_t arrived_at = leat_larger(p->now, *out_free) + bits;
    count(&p->station[to].from_switch, bits);
    *out_free = arrived_at + BITS * LEAT_SIM_ETHER_GAP_LEN;
    return arrived_at;
}

uint64_t leat_sim_ether_port_make(struct leat_sim_ether_port *p, uint32_t to, uint32_t payload,
                                  uint64_t *left)
{
    const uint32_t bits = BITS * frame_len(payload);
    uint64_t none = 0;
    const uint64_t arrived = pass_on(p, to, bits,
                                     p->config.contention_free ? &none : &p->station[to].out_free);
    *left = arrived - bits;
    return arrived;
}

/* A frame of ESP is in the switch. */
static void leave_to_esp(struct leat_sim_ether_port *p, uint32_t station, uint32_t frame)
{
    const struct leat_sim_ether_port_frame f = p->frame[frame];
    count(&p->station[station].to_switch, f.bits);
    free_frame(p, frame);
    leat_sim_ether_esp_take(p, f.entry, p->now - f.bits);
}

/* All of the frame has left its station, and is in the switch, or in the station itself. */
static void leave(struct leat_sim_ether_port *p, uint32_t frame)
{
    const struct leat_sim_ether_port_frame *f = &p->frame[frame];
    if (f->is_esp) {
        leave_to_esp(p, f->entry % p->config.stations, frame);
        return;
    }
    const struct leat_port_message *m = &p->entry[f->entry].letter.message;
    uint64_t *out_free = &p->station[p->config.contention_free ? m->from : m->to].out_free;
    uint64_t arrived_at = p->now + BITS * LEAT_SIM_ETHER_GAP_LEN;
    if (f->last) leat_sim_post_note(&p->post, f->entry, true);
    if (m->from != m->to) {
        count(&p->station[m->from].to_switch, f->bits);
        arrived_at = pass_on(p, m->to, f->bits, out_free);
        report_head(p, f, arrived_at);
    }
    plan(p, arrived_at, m->to, frame, ARRIVED);
}

/* Room for a frame to this station: the longest waiting sender gets it. */
static void give_room(struct leat_sim_ether_port *p, uint32_t to)
{
    struct leat_sim_ether_port_station *s = &p->station[to];
    if (p->config.contention_free) return;
    s->queued--;
    if (!s->wait_first) return;
    const uint32_t waiting = s->wait_first - 1;
    s->wait_first = p->station[waiting].next_waiting;
    p->station[waiting].waits = false;
    leat_sim_ether_port_begin(p, waiting);
}

static void arrive(struct leat_sim_ether_port *p, uint32_t frame)
{
    struct leat_sim_ether_port_frame *f = &p->frame[frame];
    struct leat_sim_ether_port_entry *e = &p->entry[f->entry];
    const struct leat_port_message m = e->letter.message;
    e->arrived += f->len;
    if (f->last) leat_sim_post_note(&p->post, f->entry, false);
    free_frame(p, frame);
    if (m.from != m.to) give_room(p, m.to);
}

/* ---- running -------------------------------------------------------------------------------- */

static void carry_out(struct leat_sim_ether_port *p, const struct leat_sim_plan *due)
{
    switch ((enum step)due->step) {
    case HAND_OVER: append(p, due->entry); break;
    case LEFT: leave(p, due->entry); break;
    case FREE:
        p->station[due->entry].busy = false;
        leat_sim_ether_port_begin(p, due->entry);
        break;
    case ARRIVED: arrive(p, due->entry); break;
    }
}

static uint64_t due_at(const struct leat_sim_ether_port *p)
{
    const uint64_t at = p->post.plans ? p->post.plan[0].at : LEAT_NEVER;
    return leat_smaller(at, leat_sim_ether_esp_due(p));
}

static bool has_news(const struct leat_sim_ether_port *p)
{
    return leat_sim_post_has_news(&p->post) || leat_sim_collect_has_news(&p->esp.collect);
}

static leat_time run(struct leat_port_net *base, leat_time until)
{
    struct leat_sim_ether_port *p = of(base);
    const uint64_t last = leat_sim_clock_last(&p->config.clock, until);
    if (!leat_sim_post_begin(&p->post, until)) return base->now;
    while (!has_news(p) && due_at(p) != LEAT_NEVER && due_at(p) <= last) {
        p->now = due_at(p);
        while (p->post.plans && p->post.plan[0].at == p->now) {
            const struct leat_sim_plan due = leat_sim_post_take(&p->post);
            carry_out(p, &due);
        }
        leat_sim_ether_esp_act(p);
    }
    const leat_time at = leat_sim_clock_at(&p->config.clock, p->now);
    if (leat_sim_collect_has_news(&p->esp.collect)) {
        leat_sim_post_report(&p->post, at);
        leat_sim_collect_report(&p->esp.collect);
        return base->now;
    }
    if (!leat_sim_post_has_news(&p->post) && until != LEAT_NEVER)
        p->now = leat_larger(p->now, last);
    return leat_sim_post_end(&p->post, p->post.events ? at : 0, until);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The maximum number of frames on the cables and in the switch. Contention-free, it includes as
 * many short ones of a station as fit on its cable while a long one leaves the switch. */
static uint32_t frames_of(const struct leat_sim_ether_port_config *config)
{
    const uint32_t short_ones = frame_len(config->frame_octets) / frame_len(0) + 1;
    return config->stations * (2 + (config->contention_free ? short_ones : config->buffer));
}

static void lay_out(struct leat_sim_ether_port *p, struct leat_arena *arena)
{
    const struct leat_sim_ether_port_config *config = &p->config;
    p->frames = frames_of(config);
    p->entry = leat_sim_post_lay(&p->post, arena, config->messages_max, sizeof *p->entry,
                                 (size_t)config->messages_max + p->frames + config->stations);
    p->station = leat_arena_lay(arena, config->stations, sizeof *p->station);
    p->frame = leat_arena_lay(arena, p->frames, sizeof *p->frame);
    if (config->esp_cycles) leat_sim_ether_esp_lay(p, arena);
}

size_t leat_sim_ether_port_footprint(const struct leat_sim_ether_port_config *config)
{
    struct leat_sim_ether_port measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

void leat_sim_ether_port_init(struct leat_sim_ether_port *p,
                              const struct leat_sim_ether_port_config *config, void *memory)
{
    static const struct leat_port_ops ops = { .send = send, .run = run };
    static const struct leat_port_ops esp_ops = { .send = send,
                                                  .run = run,
                                                  .group = leat_sim_ether_esp_group,
                                                  .disband = leat_sim_ether_esp_disband,
                                                  .collect = leat_sim_ether_esp_collect,
                                                  .place = leat_sim_ether_esp_place };
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *p = (struct leat_sim_ether_port){ .config = *config };
    lay_out(p, &arena);
    for (uint32_t i = p->frames; i--;)
        free_frame(p, i);
    p->base = (struct leat_port_net){
        .ops = config->esp_cycles ? &esp_ops : &ops,
        .ports = config->stations,
        .latency = leat_sim_clock_at(&p->config.clock, BITS * frame_len(LEAT_SIM_ETHER_OUI_LEN)),
        .taken_octets = 1,
        .taken_ps = leat_sim_clock_at(&p->config.clock, BITS),
    };
    leat_sim_post_init(&p->post, &p->base);
    if (config->esp_cycles) leat_sim_ether_esp_init(p);
}
