#include "sim_aton_port.h"
#include "sim_collect_campaign_test.h"

enum { STATIONS_MAX = 16, BIT_PS = 1000 };

static struct leat_sim_aton_port port;
static void *memory;

static void begin(const struct leat_sim_aton_port_config *config)
{
    struct leat_text why = LEAT_TEXT(200);
    OK(!leat_sim_aton_port_check(config, &why));
    memory = calloc(1, leat_sim_aton_port_footprint(config));
    leat_sim_aton_port_init(&port, config, memory);
}

static struct leat_sim_aton_port_config ring_of(uint32_t stations, uint32_t propagation,
                                                enum leat_sim_aton_model model)
{
    return (struct leat_sim_aton_port_config){ .stations = stations,
                                               .propagation = propagation,
                                               .model = model,
                                               .clock = { BIT_PS, 1 },
                                               .packet_octets = 100,
                                               .messages_max = 10 };
}

/* ---- at random ------------------------------------------------------------------------------- */

struct outcome {
    uint64_t collected, certificate, ring;
    leat_time now;
};

static struct outcome campaign_over(const struct leat_sim_aton_port_config *config, uint64_t seed,
                                    bool sends_messages)
{
    begin(config);
    const struct collect_campaign all = { &port.base,    seed,          12, 8, 30, 100,
                                          3000 * BIT_PS, sends_messages };
    struct outcome outcome = { .collected = collect_campaign_run(&all) };
    outcome.certificate = port.base.certificate;
    outcome.ring = leat_sim_certificate_value(&port.ring.certificate);
    outcome.now = port.base.now;
    EQ(port.frames, port.ring.counts.packets);
    free(memory);
    return outcome;
}

static void both_models_collect_the_same_at_the_same_times(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 16 + LEAT_ROUNDS / 50000; k++) {
        const uint64_t seed = leat_random_next(&r);
        const uint64_t more = leat_random_below(&r, STATIONS_MAX - 1);
        const uint64_t propagation = leat_random_below(&r, 9);
        struct leat_sim_aton_port_config config = ring_of(2 + (uint32_t)more, (uint32_t)propagation,
                                                          LEAT_SIM_ATON_BIT);
        config.packet_octets = leat_random_below(&r, 2) ? 100 : 1;
        config.priorities = k % 4 == 3;
        config.priority[0] = (struct leat_sim_aton_port_priority){ 1, 1, 5 };
        const struct outcome bit = campaign_over(&config, seed, k & 1);
        config.model = LEAT_SIM_ATON_WORD;
        const struct outcome word = campaign_over(&config, seed, k & 1);
        OK(bit.collected && bit.collected == word.collected);
        EQ(bit.certificate, word.certificate);
        EQ(bit.ring, word.ring);
        EQ(bit.now, word.now);
    }
}

/* ---- one operation --------------------------------------------------------------------------- */

static struct {
    uint32_t calls[STATIONS_MAX];
    leat_time at[STATIONS_MAX]; /* in bit times, of the last call */
    uint64_t word[STATIONS_MAX][LEAT_SIM_ATON_COLLECT_WORDS_MAX];
    uint8_t octets[STATIONS_MAX][100];
    uint32_t total;
} seen;

static void on_collected(void *context, const struct leat_port_part *part, bool is_done,
                         leat_time at)
{
    (void)context;
    OK(is_done && at == port.base.now && at % BIT_PS == 0);
    seen.calls[part->port]++;
    seen.at[part->port] = at / BIT_PS;
    seen.total++;
}

static void on_message(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static uint32_t begin_group(const struct leat_sim_aton_port_config *config, const uint32_t *member,
                            uint32_t count)
{
    begin(config);
    memset(&seen, 0, sizeof seen);
    port.base.observer = (struct leat_port_observer){ .collected = on_collected,
                                                      .sent = on_message,
                                                      .arrived = on_message };
    return leat_port_group(&port.base, member, count);
}

static uint64_t own_word(uint32_t member, uint32_t i)
{
    return UINT64_C(0x123456789abcdef1) * (member + 1) + i;
}

static void hand_over_fold(uint32_t group, uint32_t member, enum leat_port_fold fold,
                           uint32_t words, uint64_t bit_time)
{
    for (uint32_t i = 0; i < words; i++)
        seen.word[member][i] = own_word(member, i);
    const struct leat_port_part part = {
        .group = group, .port = member, .fold = fold, .words = words, .word = seen.word[member]
    };
    leat_port_collect(&port.base, &part, bit_time * BIT_PS);
}

static void hand_over_cast(uint32_t group, uint32_t member, uint32_t root, uint64_t len,
                           uint64_t bit_time)
{
    const struct leat_port_part part = { .group = group,
                                         .port = member,
                                         .kind = LEAT_PORT_CAST,
                                         .root = root,
                                         .len = len,
                                         .octets = seen.octets[member] };
    leat_port_collect(&port.base, &part, bit_time * BIT_PS);
}

static void run_out(void)
{
    while (port.base.in_flight)
        leat_port_run(&port.base, LEAT_NEVER);
}

static bool is_sum(const uint32_t *member, uint32_t count, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += own_word(member[k], i);
        for (uint32_t k = 0; k < count; k++)
            if (seen.word[member[k]][i] != sum) return false;
    }
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

static const uint32_t station[STATIONS_MAX] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
};

struct ring {
    uint64_t hop, round; /* bits */
};

/* spec/aton.md, "Time". */
static struct ring ring_with(uint32_t stations, uint32_t propagation)
{
    const uint64_t bits = (uint64_t)stations * (1 + propagation);
    return (struct ring){ 1 + propagation, bits < 24 ? 24 : bits };
}

/* When T of a token that station 0 begins at `begun_at` passes, from `from` on. */
static uint64_t token_at(struct ring r, uint32_t at_station, uint64_t begun_at, uint64_t from)
{
    uint64_t at = begun_at + 11 + (at_station ? at_station * r.hop : r.round);
    while (at < from)
        at += r.round;
    return at;
}

/* If the member with the charge takes the token at `taken_at`, and asks once. */
static uint64_t end_of_fold(struct ring r, uint64_t taken_at, uint32_t words, uint64_t command)
{
    const uint64_t passes = words ? (words + 5) / 6 : 1, packets = 2 * passes + words;
    return taken_at - 11 + passes * (160 + 192) + words * (command + 64) +
           (2 * packets - 1) * r.round;
}

static void folds_take(uint32_t stations, uint32_t propagation, enum leat_sim_aton_model model,
                       enum leat_port_fold fold, uint32_t words, uint64_t from)
{
    const struct leat_sim_aton_port_config config = ring_of(stations, propagation, model);
    const struct ring r = ring_with(stations, propagation);
    const uint32_t first = stations > 2, count = stations - first;
    const uint32_t group = begin_group(&config, station + first, count);
    for (uint32_t i = first; i < stations; i++)
        hand_over_fold(group, i, fold, words, from);
    run_out();
    const uint64_t end = end_of_fold(r, token_at(r, first, 0, from), words,
                                     fold == LEAT_PORT_XOR ? 208 : 256);
    EQ(seen.at[first], end);
    for (uint32_t i = first + 1; i < stations; i++)
        EQ(seen.at[i], end - r.round + (i - first) * r.hop);
    EQ(seen.total, count);
    OK(fold != LEAT_PORT_SUM || is_sum(station + first, count, words));
    free(memory);
}

static void a_fold_takes_the_closed_form(void)
{
    static const uint32_t words[] = { 0, 1, 6, 7, 64 };
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++)
        for (uint32_t stations = 2; stations <= STATIONS_MAX; stations += 7)
            for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
                folds_take(stations, 0, model, LEAT_PORT_SUM, words[i], 100 + i);
                folds_take(stations, 3, model, LEAT_PORT_SUM, words[i], 0);
                folds_take(stations, 5, model, LEAT_PORT_XOR, words[i], 211);
            }
}

static void a_barrier_of_16_takes_424_bit_times_and_a_word_792(void)
{
    const struct ring r = ring_with(16, 0);
    EQ(end_of_fold(r, 11, 0, 256), 424);
    EQ(end_of_fold(r, 11, 1, 256), 792);
    EQ(end_of_fold(r, 11, 64, 256), 28456);
    folds_take(16, 0, LEAT_SIM_ATON_WORD, LEAT_PORT_SUM, LEAT_SIM_ATON_COLLECT_WORDS_MAX, 35);
}

/* ---- late members ---------------------------------------------------------------------------- */

static void a_late_member_costs_one_query_and_one_packet_more(void)
{
    enum { LATE = 5, STATIONS = 8, WORDS = 2, PACKETS = 2 + WORDS };
    const struct leat_sim_aton_port_config config = ring_of(STATIONS, 2, LEAT_SIM_ATON_WORD);
    const struct ring r = ring_with(STATIONS, 2);
    const uint32_t group = begin_group(&config, station, STATIONS);
    for (uint32_t i = 0; i < STATIONS; i++)
        if (i != LATE) hand_over_fold(group, i, LEAT_PORT_SUM, WORDS, 0);
    EQ(port.base.in_flight, 0);
    EQ(leat_port_run(&port.base, LEAT_NEVER), 0);
    EQ(leat_port_run(&port.base, 5000 * BIT_PS), 5000 * BIT_PS);
    EQ(port.frames, 2); /* nobody polls */
    EQ(port.frame_symbols, 160 + 192);
    hand_over_fold(group, LATE, LEAT_PORT_SUM, WORDS, 5000);
    EQ(port.base.in_flight, STATIONS);
    run_out();
    EQ(port.frames, 2 + PACKETS);
    const uint64_t passed_on = token_at(r, 0, 0, 0) - 11 + 160 + 192 + 3 * r.round;
    EQ(seen.at[LATE], end_of_fold(r, token_at(r, LATE, passed_on, 5000), WORDS, 256));
    OK(is_sum(station, STATIONS, WORDS));
    for (uint32_t i = 0; i < STATIONS; i++) /* it has the charge, and is the last again */
        hand_over_fold(group, i, LEAT_PORT_SUM, WORDS, i == LATE ? 20000 : 12000);
    run_out();
    EQ(port.frames, 2 + 2 * PACKETS);
    free(memory);
}

/* Stations 3 and 6 are late: the charge goes to 6, the last in the ring. */
static void two_late_members_cost_as_many_queries_as_needed(void)
{
    for (uint32_t swapped = 0; swapped < 2; swapped++) {
        const struct leat_sim_aton_port_config config = ring_of(8, 0, LEAT_SIM_ATON_WORD);
        const uint32_t group = begin_group(&config, station, 8);
        for (uint32_t i = 0; i < 8; i++) {
            const uint64_t from = i == 3 ? 5000 : 9000;
            hand_over_fold(group, i, LEAT_PORT_SUM, 0,
                           i != 3 && i != 6 ? 0
                           : swapped        ? 14000 - from
                                            : from);
        }
        run_out();
        EQ(port.frames, 2 + 2 * (1 + swapped));
        free(memory);
    }
}

/* At whatever moment of a query, of the charge's packet or of the time after them it comes. */
static void no_moment_is_wrong_for_a_late_member(void)
{
    const uint32_t member[] = { 1, 2, 4, 5 };
    for (uint64_t late = 0; late < 700; late++) {
        leat_time at[2];
        for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
            const struct leat_sim_aton_port_config config = ring_of(6, 4, model);
            const uint32_t group = begin_group(&config, member, 4);
            for (uint32_t i = 0; i < 4; i++)
                hand_over_fold(group, member[i], LEAT_PORT_SUM, 1, member[i] == 4 ? late : 0);
            run_out();
            OK(is_sum(member, 4, 1));
            for (uint32_t i = 0; i < 4; i++)
                OK(seen.at[member[i]] * BIT_PS >= late * BIT_PS + port.base.latency);
            at[model] = port.base.now;
            free(memory);
        }
        EQ(at[LEAT_SIM_ATON_BIT], at[LEAT_SIM_ATON_WORD]);
    }
}

static void a_barrier_ends_no_sooner_than_the_latency_promises(void)
{
    leat_time soonest = LEAT_NEVER;
    for (uint64_t late = 0; late < 400; late++) {
        const struct leat_sim_aton_port_config config = ring_of(2, 0, LEAT_SIM_ATON_WORD);
        const uint32_t group = begin_group(&config, station, 2);
        hand_over_fold(group, 0, LEAT_PORT_SUM, 0, 0);
        hand_over_fold(group, 1, LEAT_PORT_SUM, 0, late);
        run_out();
        soonest = leat_smaller(soonest, seen.at[0] * BIT_PS - late * BIT_PS);
        free(memory);
    }
    OK(soonest >= port.base.latency && soonest < 3 * port.base.latency);
}

/* ---- casts ----------------------------------------------------------------------------------- */

static void a_cast_is_one_packet_that_all_members_take(void)
{
    const uint32_t member[] = { 1, 3, 6 };
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        const struct leat_sim_aton_port_config config = ring_of(8, 4, model);
        const struct ring r = ring_with(8, 4);
        const uint32_t group = begin_group(&config, member, 3);
        memset(seen.octets[3], 0x5a, 100);
        for (uint32_t i = 0; i < 3; i++)
            hand_over_cast(group, member[i], 3, 100, 50);
        run_out();
        const uint64_t end = token_at(r, 3, 0, 50) - 11 + 192 + 800;
        EQ(seen.at[3], 50);
        EQ(seen.at[6], end + 3 * r.hop);
        EQ(seen.at[1], end + r.round - 2 * r.hop);
        EQ(seen.total, 3);
        EQ(port.frames, 1);
        EQ(port.frame_symbols, 192 + 800);
        OK(memcmp(seen.octets[1], seen.octets[3], 100) == 0);
        OK(seen.at[6] - 50 >= port.base.latency / BIT_PS);
        free(memory);
    }
}

/* Its last member has the cast; the packet has not returned, and passes members of a new group. */
static void a_packet_of_an_old_group_is_not_the_new_groups(void)
{
    const uint32_t old[] = { 0, 1 }, young[] = { 8, 9 };
    for (unsigned model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        const struct leat_sim_aton_port_config config = ring_of(16, 9, model);
        uint32_t group = begin_group(&config, old, 2);
        hand_over_cast(group, 0, 0, 10, 0);
        hand_over_cast(group, 1, 0, 10, 0);
        run_out();
        EQ(seen.total, 2);
        leat_port_disband(&port.base, group);
        EQ(leat_port_group(&port.base, young, 2), group);
        hand_over_cast(group, 9, 8, 10, port.base.now / BIT_PS);
        leat_port_run(&port.base, port.base.now + 1000 * BIT_PS);
        EQ(seen.total, 2);
        hand_over_cast(group, 8, 8, 10, port.base.now / BIT_PS);
        run_out();
        EQ(seen.total, 4);
        free(memory);
    }
}

/* ---- ports, groups, bounds ------------------------------------------------------------------- */

/* Station 0 sends a message of 50 packets, and all are at the barrier soon after. */
static void groups_and_messages_take_turns(void)
{
    static uint8_t octets[5000];
    const struct leat_sim_aton_port_config config = ring_of(4, 0, LEAT_SIM_ATON_WORD);
    const uint32_t group = begin_group(&config, station, 4);
    const struct leat_port_message message = { .to = 2, .octets = octets, .len = sizeof octets };
    OK(leat_port_send(&port.base, &message, 0));
    for (uint32_t i = 0; i < 4; i++)
        hand_over_fold(group, i, LEAT_PORT_SUM, 1, 100);
    run_out();
    const uint64_t packet = 192 + 800 + 2 * 24;
    OK(seen.at[0] > 3 * packet && seen.at[0] < 5 * packet);
    OK(port.base.now > 50 * packet * BIT_PS && port.base.now < 55 * packet * BIT_PS);
    EQ(port.frames, 50 + 3);
    free(memory);
}

static void registers_are_zero_without_groups(void)
{
    const struct leat_sim_aton_port_config config = ring_of(3, 0, LEAT_SIM_ATON_WORD);
    uint32_t group = begin_group(&config, station, 2);
    for (uint32_t i = 1; i < LEAT_ATON_COLLECT_GROUPS_MAX; i++)
        EQ(leat_port_group(&port.base, station, 3), i + 1);
    EQ(leat_port_group(&port.base, station, 3), 0);
    hand_over_fold(group, 0, LEAT_PORT_AND, 6, 0);
    hand_over_fold(group, 1, LEAT_PORT_AND, 6, 0);
    run_out();
    OK(leat_sim_aton_registers(&port.ring, 0)->operand[7] != 0);
    EQ(leat_sim_aton_registers(&port.ring, 2)->operand[7], 0);
    for (group = 1; group <= LEAT_ATON_COLLECT_GROUPS_MAX; group++)
        leat_port_disband(&port.base, group);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < LEAT_ATON_REGISTERS; i++)
            EQ(leat_sim_aton_registers(&port.ring, k)->operand[i], 0);
    free(memory);
}

static void means_are_those_of_a_ring(void)
{
    struct leat_sim_aton_port_config config = ring_of(4, 0, LEAT_SIM_ATON_WORD);
    begin(&config);
    EQ(port.base.means->folds, (1u << LEAT_PORT_FOLDS) - 1);
    EQ(port.base.means->words_max, 1024);
    EQ(port.base.means->octets_max, config.packet_octets);
    EQ(port.base.means->groups_max, 8);
    free(memory);
    config.contention_free = true;
    begin(&config);
    OK(!port.base.means && !port.base.ops->group && !port.base.ops->collect);
    free(memory);
}

/* ---- packets, as observers see them ---------------------------------------------------------- */

static struct {
    uint32_t in, out, wrong, sums, results, casts; /* sums, results, casts: of those that leave */
    leat_time last_at;
} shown;

static void on_active(const struct leat_aton_packet *packet, bool is_out)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += own_word(station[i], 0);
    if (!is_out || packet->opcode != LEAT_ATON_ADD) return;
    shown.sums++;
    shown.wrong += packet->variable1 != sum || packet->counter != 4;
}

static void on_packet(void *context, const struct leat_port_packet *p, leat_time at)
{
    struct leat_aton_packet packet;
    struct leat_aton_collect_head head;
    (void)context;
    *(p->is_out ? &shown.out : &shown.in) += 1;
    shown.wrong += p->place >= 4 || at < shown.last_at || at < port.base.now;
    shown.last_at = at;
    if (leat_aton_packet_decode(p->octets, p->len, &packet, NULL)) {
        shown.wrong++;
        return;
    }
    shown.wrong += !p->is_out && packet.sa != p->place + 1;
    if (packet.active) on_active(&packet, p->is_out);
    if (packet.active || !p->is_out ||
        !leat_aton_collect_head_decode(packet.payload, packet.payload_len, &head))
        return;
    shown.results += head.kind == LEAT_ATON_COLLECT_RESULT;
    shown.casts += head.kind == LEAT_ATON_COLLECT_CAST;
}

/* A sum, an exclusive or, a broadcast and a message; then the outcome. */
static struct outcome show_all(enum leat_sim_aton_model model, bool is_watched)
{
    static uint8_t octets[150];
    const struct leat_sim_aton_port_config config = ring_of(4, 2, model);
    const uint32_t group = begin_group(&config, station, 4);
    const struct leat_port_message message = { .from = 1, .to = 3, .octets = octets, .len = 150 };
    memset(&shown, 0, sizeof shown);
    if (is_watched) port.base.observer.packet = on_packet;
    for (uint32_t i = 0; i < 4; i++)
        hand_over_fold(group, i, LEAT_PORT_SUM, 1, 100);
    run_out();
    for (uint32_t i = 0; i < 4; i++)
        hand_over_fold(group, i, LEAT_PORT_XOR, 1, 100000);
    run_out();
    for (uint32_t i = 0; i < 4; i++)
        hand_over_cast(group, i, 2, 100, 200000);
    OK(leat_port_send(&port.base, &message, 200000 * (leat_time)BIT_PS));
    run_out();
    leat_port_run(&port.base, port.base.now + 10000 * (leat_time)BIT_PS); /* the last returns */
    const struct outcome outcome = { port.base.collected, port.base.certificate,
                                     leat_sim_certificate_value(&port.ring.certificate),
                                     port.base.now };
    if (is_watched) EQ(shown.in, port.frames);
    free(memory);
    return outcome;
}

static void observers_see_all_packets_and_change_nothing(void)
{
    for (int model = LEAT_SIM_ATON_BIT; model <= LEAT_SIM_ATON_WORD; model++) {
        const struct outcome alone = show_all((enum leat_sim_aton_model)model, false);
        EQ(shown.in + shown.out, 0);
        const struct outcome watched = show_all((enum leat_sim_aton_model)model, true);
        EQ(memcmp(&alone, &watched, sizeof alone), 0);
        EQ(shown.wrong, 0);
        EQ(shown.sums, 1);
        EQ(shown.results, 2 * 3); /* at all others */
        EQ(shown.casts, 3);
        EQ(shown.in, 3 + 3 + 1 + 2);            /* query, command, result twice; cast; message */
        EQ(shown.out, (1 + 1 + 3) * 2 + 3 + 2); /* active ones are back, the others arrive */
    }
}

TAP_MAIN(T(both_models_collect_the_same_at_the_same_times), T(a_fold_takes_the_closed_form),
         T(a_barrier_of_16_takes_424_bit_times_and_a_word_792),
         T(a_late_member_costs_one_query_and_one_packet_more),
         T(two_late_members_cost_as_many_queries_as_needed),
         T(no_moment_is_wrong_for_a_late_member),
         T(a_barrier_ends_no_sooner_than_the_latency_promises),
         T(a_cast_is_one_packet_that_all_members_take),
         T(a_packet_of_an_old_group_is_not_the_new_groups), T(groups_and_messages_take_turns),
         T(registers_are_zero_without_groups), T(means_are_those_of_a_ring),
         T(observers_see_all_packets_and_change_nothing))
