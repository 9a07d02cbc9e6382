#include "sim_aton_port.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { RECEIVED_MAX = 4096, OCTETS = 1 << 14, SENT = 0, ARRIVED };

struct received {
    int what;
    leat_time at;
    struct leat_port_message message;
};

struct bench {
    struct leat_sim_aton_port port;
    void *memory;
    struct received received[RECEIVED_MAX];
    uint32_t count;
};

static struct bench one, other;
static uint8_t octets[OCTETS];

static void record(struct bench *b, int what, const struct leat_port_message *m, leat_time at)
{
    OK(b->count < RECEIVED_MAX && at >= b->port.base.now);
    b->received[b->count++ % RECEIVED_MAX] = (struct received){ what, at, *m };
}

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    record(context, SENT, m, at);
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    record(context, ARRIVED, m, at);
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false); /* nothing is lost here */
}

/* A bit time of 4 ns. */
static const struct leat_sim_aton_port_config usual = { .stations = 8,
                                                        .propagation = 5,
                                                        .model = LEAT_SIM_ATON_WORD,
                                                        .clock = { 4000, 1 },
                                                        .packet_octets = 100,
                                                        .messages_max = 1000 };

static void open_bench(struct bench *b, const struct leat_sim_aton_port_config *config)
{
    struct leat_text why = LEAT_TEXT(200);
    OK(!leat_sim_aton_port_check(config, &why));
    b->memory = calloc(1, leat_sim_aton_port_footprint(config));
    b->count = 0;
    leat_sim_aton_port_init(&b->port, config, b->memory);
    b->port.base.observer = (struct leat_port_observer){
        .context = b, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
}

static bool send(struct bench *b, uint32_t from, uint32_t to, uint64_t id, uint64_t len,
                 leat_time at)
{
    const struct leat_port_message m = {
        .from = from, .to = to, .id = id, .octets = octets, .len = len
    };
    return leat_port_send(&b->port.base, &m, at);
}

static void run_out(struct bench *b)
{
    while (b->port.base.in_flight)
        leat_port_run(&b->port.base, LEAT_NEVER);
}

static const struct received *find(const struct bench *b, int what, uint64_t id)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->received[i].what == what && b->received[i].message.id == id) return &b->received[i];
    OK(false); /* it was not reported */
    return &b->received[0];
}

static void a_message_is_as_many_packets_as_it_needs(void)
{
    EQ(leat_sim_aton_port_packets(&usual, 0), 1);
    EQ(leat_sim_aton_port_packets(&usual, 100), 1);
    EQ(leat_sim_aton_port_packets(&usual, 101), 2);
    EQ(leat_sim_aton_port_symbols(&usual, 0), 128 + 64);
    EQ(leat_sim_aton_port_symbols(&usual, 101), 2 * 192 + 808);
}

/* Port 2 to port 5, three links and interfaces further; the token comes from port 0. */
static void a_message_takes_what_the_ring_takes(void)
{
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        struct leat_sim_aton_port_config config = usual;
        config.model = model;
        open_bench(&one, &config);
        OK(send(&one, 2, 5, 7, 250, 0));
        run_out(&one);
        const uint64_t round = 8 * 6, full = 192 + 800, rest = 192 + 400;
        const uint64_t first = 2 * 6, second = first + full + round + round;
        EQ(one.count, 2);
        EQ(find(&one, ARRIVED, 7)->at, 4000 * (second + full + 2 * round + rest + 3 * 6));
        EQ(find(&one, SENT, 7)->at, 4000 * (second + full + round));
        OK(memcmp(&find(&one, ARRIVED, 7)->message, &find(&one, SENT, 7)->message,
                  sizeof(struct leat_port_message)) == 0);
        free(one.memory);
    }
}

static void without_contention_the_closed_form_holds(void)
{
    struct leat_sim_aton_port_config config = usual;
    config.contention_free = true;
    open_bench(&one, &config);
    const uint64_t round = 8 * 6, full = 192 + 800, rest = 192 + 400;
    OK(send(&one, 2, 5, 7, 250, 1));
    OK(send(&one, 4, 5, 8, 0, 0));
    run_out(&one);
    EQ(find(&one, ARRIVED, 7)->at, 4000 * (1 + 2 * (full + 2 * round) + rest + 3 * 6));
    EQ(find(&one, ARRIVED, 8)->at, 4000 * (192 + 6));
    free(one.memory);
}

static void a_message_to_itself_does_not_go_round(void)
{
    open_bench(&one, &usual);
    OK(send(&one, 3, 3, 1, 10, 8000));
    run_out(&one);
    EQ(find(&one, SENT, 1)->at, 8000);
    EQ(find(&one, ARRIVED, 1)->at, 8000 + 4000 * (192 + 80));
    EQ(one.port.ring.counts.packets, 0);
    free(one.memory);
}

static void time_stands_where_it_was_run_to(void)
{
    open_bench(&one, &usual);
    EQ(leat_port_run(&one.port.base, LEAT_NEVER), 0); /* nothing in flight */
    EQ(leat_port_run(&one.port.base, 12345), 12345);
    OK(send(&one, 0, 1, 1, 1, 12345));
    EQ(leat_port_run(&one.port.base, 12346), 12346); /* accepted at the next edge */
    EQ(one.count, 0);
    EQ(leat_port_run(&one.port.base, 1000000), 16000);
    EQ(one.received[0].what, SENT);
    run_out(&one);
    free(one.memory);
}

static void send_random(struct bench *b, uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    leat_time at = 0;
    for (uint64_t id = 0; id < 60; id++) {
        const uint32_t n = b->port.base.ports;
        at += leat_random_below(&r, 2) ? 0 : leat_random_below(&r, 3000000);
        const uint32_t from = (uint32_t)leat_random_below(&r, n),
                       to = (uint32_t)leat_random_below(&r, n);
        OK(send(b, from, to, id, leat_random_below(&r, leat_random_below(&r, 2) ? 20 : 700), at));
    }
    while (b->port.base.in_flight)
        leat_port_run(&b->port.base, leat_random_below(&r, 2)
                                         ? LEAT_NEVER
                                         : b->port.base.now + 1 + leat_random_below(&r, 100000));
}

/* Between two ports, messages arrive in the order in which they were sent; none sooner than
 * promised. */
static void check_received(const struct bench *b)
{
    EQ(b->count, 120);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct received *h = &b->received[i];
        if (i) OK(h->at >= b->received[i - 1].at);
        if (h->what == SENT) continue;
        const struct received *sent = find(b, SENT, h->message.id);
        OK(h->at >= sent->at && sent <= h);
        for (uint32_t k = 0; k < i; k++)
            if (b->received[k].what == ARRIVED && b->received[k].message.from == h->message.from &&
                b->received[k].message.to == h->message.to)
                OK(find(b, SENT, b->received[k].message.id) < sent);
    }
}

static bool same_received(const struct bench *a, const struct bench *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct received *x = &a->received[i], *y = &b->received[i];
        if (x->what != y->what || x->at != y->at || x->message.id != y->message.id) return false;
    }
    return a->count == b->count && a->port.base.certificate == b->port.base.certificate;
}

/* Of all messages that crossed the ring. */
static uint64_t symbols_arrived(const struct bench *b)
{
    uint64_t symbols = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct leat_port_message *m = &b->received[i].message;
        if (b->received[i].what == ARRIVED && m->from != m->to)
            symbols += leat_sim_aton_port_symbols(&b->port.config, m->len);
    }
    return symbols;
}

static void both_models_bring_the_same_messages_at_the_same_times(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, octets, sizeof octets);
    for (int k = 0; k < 20 + LEAT_ROUNDS / 20000; k++) {
        const uint64_t seed = leat_random_next(&r);
        struct leat_sim_aton_port_config config = usual;
        config.stations = 1 + (uint32_t)leat_random_below(&r, 10);
        config.propagation = (uint32_t)leat_random_below(&r, 9);
        config.clock.num = 1 + leat_random_below(&r, 5000);
        config.priorities = (uint32_t)leat_random_below(&r, 3);
        for (uint32_t i = 0; i < config.priorities; i++) {
            const uint32_t first = (uint32_t)leat_random_below(&r, config.stations);
            config.priority[i] = (struct leat_sim_aton_port_priority){
                first, config.stations - 1, (uint8_t)leat_random_below(&r, 8)
            };
        }
        config.model = LEAT_SIM_ATON_BIT;
        open_bench(&one, &config);
        config.model = LEAT_SIM_ATON_WORD;
        open_bench(&other, &config);
        send_random(&one, seed);
        send_random(&other, seed);
        check_received(&one);
        OK(same_received(&one, &other));
        EQ(one.port.frames, one.port.ring.counts.packets);
        EQ(one.port.frames, other.port.frames);
        EQ(one.port.frame_symbols, symbols_arrived(&one));
        EQ(one.port.frame_symbols, other.port.frame_symbols);
        free(one.memory);
        free(other.memory);
    }
}

/* ---- what the ring has carried -------------------------------------------------------------- */

/* Finds frames at a station's input, by their delimiters alone (spec/aton.md, "Packet"): SD begins
 * with J K 0, ED with J K 1. */
struct finder {
    uint64_t at, begun_at; /* symbols */
    uint8_t last[8];       /* symbols, the newest last */
    uint64_t frames, frame_symbols, tokens;
};

static bool has_delimiter(const struct finder *f, unsigned bit)
{
    const uint8_t *s = f->last;
    return s[0] == LEAT_ATON_J && s[1] == LEAT_ATON_K && s[2] == bit && s[3] == LEAT_ATON_J &&
           s[4] == LEAT_ATON_K && s[5] == bit;
}

static void find_frames(struct finder *f, unsigned symbol)
{
    memmove(f->last, f->last + 1, sizeof f->last - 1);
    f->last[sizeof f->last - 1] = (uint8_t)symbol;
    f->at++;
    if (has_delimiter(f, 0)) f->begun_at = f->at - sizeof f->last;
    if (!has_delimiter(f, 1)) return;
    const uint64_t symbols = f->at - f->begun_at;
    if (symbols == LEAT_ATON_TOKEN_SYMBOLS) {
        f->tokens++;
        return;
    }
    f->frames++;
    f->frame_symbols += symbols;
}

/* Runs bit by bit until all frames are back; `station` looks at what passes. */
static struct finder watch(struct bench *b, uint32_t station)
{
    struct finder f = { 0 };
    for (uint64_t t = 1; b->port.base.in_flight; t++) {
        while (b->port.base.now < leat_sim_clock_at(&b->port.config.clock, t))
            leat_port_run(&b->port.base, leat_sim_clock_at(&b->port.config.clock, t));
        find_frames(&f, leat_sim_aton_symbol(&b->port.ring, station));
    }
    for (uint64_t end = b->port.ring.now + 4 * (uint64_t)b->port.ring.bits;
         b->port.ring.now < end;) {
        leat_sim_aton_run(&b->port.ring, b->port.ring.now + 1);
        find_frames(&f, leat_sim_aton_symbol(&b->port.ring, station));
    }
    return f;
}

/* Three messages of 250 octets in packets of 100, two without octets, and one that stays within its
 * port: frames of 128 symbols, a head of 8 octets, and the octets. */
static void send_six(struct bench *b)
{
    for (uint64_t id = 0; id < 3; id++)
        OK(send(b, (uint32_t)id, 5, id, 250, id * 1000000));
    OK(send(b, 7, 0, 3, 0, 0));
    OK(send(b, 5, 2, 4, 0, 70000));
    OK(send(b, 6, 6, 5, 100, 0));
}

static void every_frame_counts_with_its_symbols(void)
{
    const uint64_t frames = 3 * 3 + 2, frame_symbols = frames * (128 + 8 * 8) + 3 * 8 * 250;
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        struct leat_sim_aton_port_config config = usual;
        config.model = model;
        open_bench(&one, &config);
        send_six(&one);
        run_out(&one);
        EQ(one.port.frames, frames);
        EQ(one.port.frame_symbols, frame_symbols);
        free(one.memory);
    }
    struct leat_sim_aton_port_config alone = usual;
    alone.contention_free = true;
    open_bench(&one, &alone);
    send_six(&one);
    run_out(&one);
    EQ(one.port.frames, 0);
    EQ(one.port.frame_symbols, 0);
    free(one.memory);
}

static void every_station_sees_the_frames_that_count(void)
{
    for (uint32_t station = 0; station < usual.stations; station++) {
        struct leat_sim_aton_port_config config = usual;
        config.model = LEAT_SIM_ATON_BIT;
        open_bench(&one, &config);
        send_six(&one);
        const struct finder f = watch(&one, station);
        EQ(f.frames, one.port.frames);
        EQ(f.frame_symbols, one.port.frame_symbols);
        OK(f.tokens > 0); /* which do not count */
        free(one.memory);
    }
}

static void of_several_priorities_the_last_counts(void)
{
    struct leat_sim_aton_port_config c = usual;
    EQ(leat_sim_aton_port_priority(&c, 3), 0);
    c.priorities = 2;
    c.priority[0] = (struct leat_sim_aton_port_priority){ 2, 5, 3 };
    c.priority[1] = (struct leat_sim_aton_port_priority){ 4, 4, 7 };
    EQ(leat_sim_aton_port_priority(&c, 1), 0);
    EQ(leat_sim_aton_port_priority(&c, 2), 3);
    EQ(leat_sim_aton_port_priority(&c, 4), 7);
    EQ(leat_sim_aton_port_priority(&c, 5), 3);
}

static void refuses(struct leat_sim_aton_port_config config, const char *reason)
{
    char line[200] = { 0 };
    struct leat_text why;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    OK(leat_sim_aton_port_check(&config, &why));
    OK(strcmp(line, reason) == 0);
}

static void what_cannot_be_is_refused_with_what_was_expected(void)
{
    struct leat_sim_aton_port_config c = usual;
    c.packet_octets = 65528;
    refuses(c, "octets of a packet 65528, expected 1 to 65527");
    c = usual;
    c.messages_max = 0;
    refuses(c, "messages in flight 0, expected 1 to 16777216");
    c = usual;
    c.clock = (struct leat_sim_clock){ 1, 2 };
    refuses(c, "period of the clock, expected 1 ps or more");
    c = usual;
    c.stations = 0;
    refuses(c, "stations 0, expected 1 to 65534");
    c = usual;
    c.priorities = 1;
    c.priority[0] = (struct leat_sim_aton_port_priority){ 6, 8, 1 };
    refuses(c, "priority 1 of ports 6 to 8, expected priorities 0 to 7 of ports 0 to 7");
    c = usual;
    c.messages_max = 1;
    open_bench(&one, &c);
    OK(send(&one, 0, 1, 0, 0, 0));
    OK(!send(&one, 0, 1, 0, 0, 0));
    free(one.memory);
}

TAP_MAIN(T(a_message_is_as_many_packets_as_it_needs), T(a_message_takes_what_the_ring_takes),
         T(without_contention_the_closed_form_holds), T(a_message_to_itself_does_not_go_round),
         T(time_stands_where_it_was_run_to),
         T(both_models_bring_the_same_messages_at_the_same_times),
         T(every_frame_counts_with_its_symbols), T(every_station_sees_the_frames_that_count),
         T(of_several_priorities_the_last_counts),
         T(what_cannot_be_is_refused_with_what_was_expected))
