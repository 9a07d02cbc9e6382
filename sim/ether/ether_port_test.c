#include "ether_port.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { MESSAGES = 64, STATIONS = 6, SENT = 0, ARRIVED };

struct bench {
    struct leat_sim_ether_port port;
    void *memory;
    leat_time at[2][MESSAGES]; /* sent, arrived */
    uint32_t reported[2][MESSAGES], count;
    leat_time last;
};

static struct bench one, other;
static uint8_t octets[1 << 16];

static void record(struct bench *b, int what, const struct leat_port_message *m, leat_time at)
{
    OK(at >= b->last && at >= b->port.base.now);
    b->last = at;
    b->at[what][m->id] = at;
    b->reported[what][m->id]++;
    b->count++;
}

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    record(context, SENT, m, at);
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct bench *b = context;
    EQ(b->reported[SENT][m->id], 1);
    record(b, ARRIVED, m, at);
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false); /* nothing is lost */
}

/* 10 Mbit/s. */
static const struct leat_sim_ether_port_config usual = { .stations = STATIONS,
                                                         .clock = { 100000, 1 },
                                                         .frame_octets = 1500,
                                                         .buffer = 16,
                                                         .messages_max = MESSAGES };

static void open_bench(struct bench *b, const struct leat_sim_ether_port_config *config)
{
    memset(b, 0, sizeof *b);
    b->memory = calloc(1, leat_sim_ether_port_footprint(config));
    leat_sim_ether_port_init(&b->port, config, b->memory);
    b->port.base.observer = (struct leat_port_observer){
        .context = b, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
}

static void send(struct bench *b, uint32_t from, uint32_t to, uint64_t id, uint64_t len,
                 leat_time at)
{
    const struct leat_port_message m = {
        .from = from, .to = to, .id = id, .octets = octets, .len = len
    };
    OK(leat_port_send(&b->port.base, &m, at));
}

static void run_out(struct bench *b)
{
    while (b->port.base.in_flight)
        leat_port_run(&b->port.base, LEAT_NEVER);
}

static void frames_are_as_the_standard_has_them(void)
{
    EQ(leat_sim_ether_port_single(&usual), 1493);
    EQ(leat_sim_ether_port_frames(&usual, 0), 1);
    EQ(leat_sim_ether_port_frames(&usual, 1493), 1);
    EQ(leat_sim_ether_port_frames(&usual, 1494), 2);
    EQ(leat_sim_ether_port_frames(&usual, 2 * 1485), 2);
    EQ(leat_sim_ether_port_frames(&usual, 2 * 1485 + 1), 3);
    EQ(leat_sim_ether_port_octets(&usual, 0), 8 + 64);
    EQ(leat_sim_ether_port_octets(&usual, 39), 8 + 64); /* 14 + 7 + 39 + 4 */
    EQ(leat_sim_ether_port_octets(&usual, 40), 8 + 65);
    EQ(leat_sim_ether_port_octets(&usual, 1493), 8 + 1518);
    EQ(leat_sim_ether_port_octets(&usual, 1494), 8 + 1518 + 8 + 64);
    uint8_t mac[LEAT_SIM_ETHER_MAC_LEN];
    leat_sim_ether_port_address(0x1ff, mac);
    OK(memcmp(mac, "\x02\x00\x00\x00\x02\x00", sizeof mac) == 0);
}

/* 14,880 frames of 64 octets in a second, 812 of 1518: what 10 Mbit/s can carry. */
static void a_cable_carries_the_published_number_of_frames(void)
{
    static const struct {
        uint64_t len, per_second;
    } row[] = { { 39, 14880 }, { 1493, 812 } };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        open_bench(&one, &usual);
        for (uint64_t id = 0; id < MESSAGES; id++)
            send(&one, 0, 1, id, row[k].len, 0);
        run_out(&one);
        const leat_time each = (one.at[ARRIVED][MESSAGES - 1] - one.at[ARRIVED][0]) /
                               (MESSAGES - 1);
        EQ(UINT64_C(1000000000000) / each, row[k].per_second);
        free(one.memory);
    }
}

static void a_message_alone_takes_the_closed_form(void)
{
    static const uint64_t len[] = { 0, 100, 1493, 1494, 1485 * 3, 1485 * 3 + 7, 20000 };
    struct leat_sim_ether_port_config config = usual;
    for (size_t i = 0; i < 2 * (sizeof len / sizeof *len); i++) {
        config.contention_free = i % 2;
        open_bench(&one, &config);
        const uint64_t frames = leat_sim_ether_port_frames(&config, len[i / 2]);
        const uint64_t all = leat_sim_ether_port_octets(&config, len[i / 2]);
        const uint64_t full = 8 + 1518, last = all - (frames - 1) * full;
        const uint64_t first = frames > 1 ? full : last;
        send(&one, 2, 5, 0, len[i / 2], 50001);
        run_out(&one);
        EQ(one.at[SENT][0], 100000 * (1 + 8 * ((frames - 1) * (full + 12) + last)));
        EQ(one.at[ARRIVED][0], 100000 * (1 + 8 * ((frames - 1) * (full + 12) + first + last)));
        OK(one.at[ARRIVED][0] >= one.port.base.latency);
        free(one.memory);
    }
}

static void cables_count_the_frames_of_both_directions(void)
{
    static const uint64_t len[] = { 100, 1493, 20000 };
    uint64_t frames = 0, bits = 0;
    open_bench(&one, &usual);
    for (unsigned i = 0; i < sizeof len / sizeof *len; i++) {
        send(&one, 2, 5, i, len[i], 0);
        frames += leat_sim_ether_port_frames(&usual, len[i]);
        bits += 8 * leat_sim_ether_port_octets(&usual, len[i]);
    }
    run_out(&one);
    for (uint32_t station = 0; station < STATIONS; station++)
        for (int is_to_switch = 0; is_to_switch < 2; is_to_switch++) {
            const struct leat_sim_ether_port_cable cable = leat_sim_ether_port_cable(
                &one.port, station, is_to_switch);
            const bool is_used = station == (is_to_switch ? 2 : 5);
            EQ(cable.frames, is_used ? frames : 0);
            EQ(cable.bits, is_used ? bits : 0);
        }
    free(one.memory);
}

static void a_message_to_itself_goes_to_no_switch(void)
{
    open_bench(&one, &usual);
    send(&one, 3, 3, 0, 1493, 0);
    run_out(&one);
    EQ(one.at[SENT][0], 100000 * 8 * (8 + 1518));
    EQ(one.at[ARRIVED][0], 100000 * 8 * (8 + 1518 + 12));
    free(one.memory);
}

static void time_stands_where_it_was_run_to(void)
{
    open_bench(&one, &usual);
    EQ(leat_port_run(&one.port.base, LEAT_NEVER), 0); /* nothing in flight */
    EQ(leat_port_run(&one.port.base, 123456), 123456);
    send(&one, 0, 1, 0, 0, 123456);
    EQ(leat_port_run(&one.port.base, 123457), 123457); /* accepted at the next edge */
    EQ(one.count, 0);
    run_out(&one);
    EQ(one.at[ARRIVED][0], 100000 * (2 + 2 * 576));
    free(one.memory);
}

/* ---- a plain model: every station and output, bit by bit ----------------------------------- */

struct plain_frame {
    uint32_t message, to, bits;
    bool last;
    uint64_t started;
};

struct plain_station {
    struct plain_frame list[256], out[256]; /* to be sent; in the switch for it */
    uint64_t from_at[256];                  /* of its message: when it was sent */
    uint32_t count, next, outs, out_next;
    uint32_t sends, gap, out_sends, out_gap; /* bits left */
    uint32_t queued, waiting[STATIONS], waits;
    bool is_waiting;
};

struct plain {
    struct plain_station s[STATIONS];
    uint32_t buffer;
    uint64_t now, sent[MESSAGES], arrived[MESSAGES];
    uint32_t missing;
};

static void plain_give(struct plain *p, uint32_t from, uint32_t to, uint64_t len, uint32_t message,
                       uint64_t at)
{
    struct plain_station *s = &p->s[from];
    const bool whole = len <= 1493;
    do {
        const uint64_t part = whole || len < 1485 ? len : 1485;
        const uint64_t payload = (whole ? 7U : 15U) + part;
        const uint64_t size = 14 + payload + 4 < 64 ? 64 : 14 + payload + 4;
        s->from_at[s->count] = at;
        len -= part;
        s->list[s->count++] = (struct plain_frame){ message, to, (uint32_t)(8 * (8 + size)), !len,
                                                    0 };
    } while (len);
    p->missing++;
}

static void plain_start(struct plain *p, uint32_t i)
{
    struct plain_station *s = &p->s[i];
    if (s->sends || s->gap || s->is_waiting || s->next == s->count) return;
    struct plain_frame *f = &s->list[s->next];
    if (s->from_at[s->next] > p->now) return;
    struct plain_station *to = &p->s[f->to];
    if (f->to != i && to->queued == p->buffer) {
        to->waiting[to->waits++] = i;
        s->is_waiting = true;
        return;
    }
    to->queued += f->to != i;
    f->started = p->now;
    s->sends = f->bits;
}

static void plain_arrive(struct plain *p, const struct plain_frame *f)
{
    if (!f->last) return;
    p->arrived[f->message] = p->now;
    p->missing--;
}

/* Into the switch, in the order in which they began. */
static void plain_store(struct plain *p, uint32_t i)
{
    struct plain_station *s = &p->s[i];
    const struct plain_frame f = s->list[s->next++];
    s->gap = 96;
    if (f.last) p->sent[f.message] = p->now;
    if (f.to != i) p->s[f.to].out[p->s[f.to].outs++] = f;
}

static void plain_bit(struct plain *p)
{
    for (uint32_t i = 0; i < STATIONS; i++)
        plain_start(p, i);
    for (uint32_t i = 0; i < STATIONS; i++) {
        struct plain_station *s = &p->s[i];
        if (!s->out_sends && !s->out_gap && s->out_next < s->outs)
            s->out_sends = s->out[s->out_next].bits;
    }
    p->now++;
    for (uint32_t i = 0; i < STATIONS; i++) {
        struct plain_station *s = &p->s[i];
        if (s->out_gap) s->out_gap--;
        if (s->out_sends && !--s->out_sends) {
            plain_arrive(p, &s->out[s->out_next++]);
            s->out_gap = 96;
            s->queued--;
            if (s->waits) {
                const uint32_t first = s->waiting[0];
                memmove(s->waiting, s->waiting + 1, --s->waits * sizeof *s->waiting);
                p->s[first].is_waiting = false;
                plain_start(p, first);
                if (p->s[first].sends) p->s[first].sends++; /* its bits begin now */
            }
        }
    }
    for (uint32_t i = 0; i < STATIONS; i++) {
        struct plain_station *s = &p->s[i];
        if (s->gap && !--s->gap && s->list[s->next - 1].to == i)
            plain_arrive(p, &s->list[s->next - 1]);
        if (s->sends && !--s->sends) plain_store(p, i);
    }
}

static void it_does_what_a_plain_model_does(void)
{
    static struct plain plain;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 10 + LEAT_ROUNDS / 50000; round++) {
        struct leat_sim_ether_port_config config = usual;
        uint64_t at = 0;
        config.clock.num = 1 + leat_random_below(&r, 200000);
        config.buffer = 1 + (uint32_t)leat_random_below(&r, 4);
        memset(&plain, 0, sizeof plain);
        plain.buffer = config.buffer;
        open_bench(&one, &config);
        open_bench(&other, &config);
        for (uint32_t id = 0; id < 40; id++) {
            const uint32_t from = (uint32_t)leat_random_below(&r, STATIONS);
            const uint32_t to = (uint32_t)leat_random_below(&r, leat_random_below(&r, 2) ? 2 : 6);
            const uint64_t len = leat_random_below(&r, leat_random_below(&r, 4) ? 900 : 5000);
            at += 1 + leat_random_below(&r, 3000);
            send(&one, from, to, id, len, at * config.clock.num);
            send(&other, from, to, id, len, at * config.clock.num);
            plain_give(&plain, from, to, len, id, at);
        }
        run_out(&one);
        while (other.port.base.in_flight) /* in pieces */
            leat_port_run(&other.port.base,
                          other.port.base.now + 1 + leat_random_below(&r, 1000 * config.clock.num));
        while (plain.missing && plain.now < 10000000)
            plain_bit(&plain);
        for (uint32_t id = 0; id < 40; id++) {
            EQ(one.at[ARRIVED][id], plain.arrived[id] * config.clock.num);
            EQ(one.at[SENT][id], plain.sent[id] * config.clock.num);
            EQ(one.reported[ARRIVED][id], 1);
        }
        OK(memcmp(one.at, other.at, sizeof one.at) == 0);
        OK(one.port.base.certificate == other.port.base.certificate);
        free(one.memory);
        free(other.memory);
        if (tap_checks_failed) return;
    }
}

/* Short frames behind a long one, alone in the network: none overtakes it. */
static void without_contention_messages_keep_their_order(void)
{
    struct leat_sim_ether_port_config config = usual;
    config.contention_free = true;
    open_bench(&one, &config);
    send(&one, 0, 1, 0, 1493, 0);
    for (uint64_t id = 1; id < MESSAGES; id++)
        send(&one, id % 2 ? 0 : 2, 1, id, 0, 0);
    run_out(&one);
    for (uint64_t id = 1; id < MESSAGES; id += 2)
        OK(one.at[ARRIVED][id] > one.at[ARRIVED][0]);
    EQ(one.at[ARRIVED][2], 100000 * 2 * 576); /* another station's is not affected */
    free(one.memory);
}

static void one_message_too_many_is_refused(void)
{
    struct leat_sim_ether_port_config c = usual;
    c.messages_max = 1;
    open_bench(&one, &c);
    const struct leat_port_message m = { .from = 0, .to = 1, .id = 0, .octets = octets, .len = 0 };
    send(&one, 0, 1, 0, 0, 0);
    OK(!leat_port_send(&one.port.base, &m, 0));
    free(one.memory);
}

TAP_MAIN(T(frames_are_as_the_standard_has_them), T(a_cable_carries_the_published_number_of_frames),
         T(a_message_alone_takes_the_closed_form), T(cables_count_the_frames_of_both_directions),
         T(a_message_to_itself_goes_to_no_switch), T(time_stands_where_it_was_run_to),
         T(it_does_what_a_plain_model_does), T(without_contention_messages_keep_their_order),
         T(one_message_too_many_is_refused))
