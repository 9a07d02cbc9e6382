#include "aton_collect.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { STATIONS = 7, MEMBERS = 5, WORDS_MAX = 15, MAILBOX = 64, GROUP = 3, EPOCH = 9 };

/* A ring of seven stations, of which five are members. Packets are executed at once; hosts learn of
 * outcomes and packets when they come to it. */
static struct {
    struct leat_aton_interface it[STATIONS];
    struct seat {
        struct leat_aton_member member;
        uint32_t station;
        uint64_t word[WORDS_MAX];
        uint32_t entered, over; /* folds */
        struct leat_aton_order order;
        uint8_t octets[LEAT_ATON_COLLECT_PACKET_LEN];
        bool is_sending, has_outcome; /* of its order */
        struct leat_aton_result outcome;
        uint8_t payload[LEAT_ATON_COLLECT_PAYLOAD_LEN];
        struct {
            uint8_t octets[LEAT_ATON_COLLECT_PACKET_LEN];
            uint16_t len;
        } mail[MAILBOX];
        uint32_t mails;
    } seat[MEMBERS];
    uint32_t queries, charges, commands, results;
    struct leat_random random;
    uint32_t damaged_of;  /* one packet of so many; 0: none */
    uint32_t reminded_of; /* a member asks by itself in one of so many steps; 0: never */
} ring;

static bool chance(uint32_t of)
{
    return of && leat_random_below(&ring.random, of) == 0;
}

/* members: of careful ones; 0: as in the simulator. */
static void open_ring_of(uint32_t first_number, uint16_t members)
{
    memset(&ring, 0, sizeof ring);
    leat_random_seed(&ring.random, tap_seed());
    for (uint32_t i = 0; i < STATIONS; i++) {
        ring.it[i].address = (uint16_t)(100 + i);
        ring.it[i].enabled = 1;
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct seat *seat = &ring.seat[i];
        seat->station = i + (i > 1) + (i > 3); /* 0 1 3 4 6 */
        leat_aton_member_join(&seat->member, GROUP, EPOCH, i == 0, members,
                              ring.it[seat->station].operand);
        seat->member.pass = seat->member.charge = first_number;
    }
}

static void open_ring(uint32_t first_number)
{
    open_ring_of(first_number, 0);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void execute_command(struct seat *seat)
{
    const struct leat_aton_interface *sender = &ring.it[seat->station];
    uint8_t image[256];
    struct leat_aton_packet packet;
    size_t len;
    OK(!leat_aton_begin(sender, &seat->order.command, image, sizeof image, &len));
    uint32_t image_len = (uint32_t)len;
    for (uint32_t i = 1; i < STATIONS; i++)
        leat_aton_visit(&ring.it[(seat->station + i) % STATIONS], image, &image_len, sizeof image);
    leat_aton_packet_seal(image, image_len);
    OK(!leat_aton_take(sender, &seat->order.command, image, image_len, &packet, NULL));
    seat->outcome.copied = packet.copied;
    seat->outcome.variable1 = packet.variable1;
    seat->outcome.variable2 = packet.variable2;
    seat->outcome.payload_len = (uint32_t)packet.payload_len;
    OK(packet.payload_len <= sizeof seat->payload);
    if (packet.payload_len) memcpy(seat->payload, packet.payload, packet.payload_len);
    ring.queries += seat->order.command.width_bits == 16;
    ring.commands += seat->order.command.width_bits == 64;
}

/* A damaged packet may have been good where it passed before. */
static void execute_packet(struct seat *seat, uint32_t reaches)
{
    const struct leat_aton_order *order = &seat->order;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct seat *to = &ring.seat[i];
        const bool is_for_it = order->command.da == LEAT_ATON_DA_ALL ||
                               order->command.da == ring.it[to->station].address;
        if (to == seat || !is_for_it || reaches-- == 0) continue;
        OK(to->mails < MAILBOX);
        memcpy(to->mail[to->mails].octets, order->octets, order->octets_len);
        to->mail[to->mails++].len = order->octets_len;
        seat->outcome.copied = 1;
    }
    ring.charges += order->command.da != LEAT_ATON_DA_ALL;
    ring.results += order->command.da == LEAT_ATON_DA_ALL;
}

static void execute(struct seat *seat)
{
    const bool is_damaged = chance(ring.damaged_of);
    seat->outcome = (struct leat_aton_result){ .status = LEAT_ATON_DONE };
    if (seat->order.is_passive)
        execute_packet(seat,
                       is_damaged ? (uint32_t)leat_random_below(&ring.random, MEMBERS) : MEMBERS);
    else
        execute_command(seat);
    if (is_damaged) seat->outcome = (struct leat_aton_result){ .status = LEAT_ATON_DAMAGED };
    seat->has_outcome = true;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static enum leat_port_fold fold_of(uint32_t number)
{
    return (enum leat_port_fold)(number % LEAT_PORT_FOLDS);
}

static uint32_t words_of(uint32_t number)
{
    return number * 5 % (WORDS_MAX + 1);
}

static uint64_t word_of(uint32_t number, uint32_t member, uint32_t i)
{
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15) * (member + 2) ^ (uint64_t)i << 31;
}

static uint64_t folded(enum leat_port_fold fold, uint64_t a, uint64_t b)
{
    if (fold == LEAT_PORT_AND) return a & b;
    if (fold == LEAT_PORT_OR) return a | b;
    if (fold == LEAT_PORT_XOR) return a ^ b;
    if (fold == LEAT_PORT_MAX) return a > b ? a : b;
    if (fold == LEAT_PORT_MIN) return a < b ? a : b;
    return a + b;
}

static void enter(struct seat *seat)
{
    seat->entered++;
    const uint32_t words = words_of(seat->over);
    for (uint32_t i = 0; i < words; i++)
        seat->word[i] = word_of(seat->over, (uint32_t)(seat - ring.seat), i);
    leat_aton_member_enter(&seat->member, fold_of(seat->over), seat->word, words);
}

static void on_over(struct seat *seat)
{
    for (uint32_t i = 0; i < words_of(seat->over); i++) {
        uint64_t word = word_of(seat->over, 0, i);
        for (uint32_t m = 1; m < MEMBERS; m++)
            word = folded(fold_of(seat->over), word, word_of(seat->over, m, i));
        OK(seat->word[i] == word);
    }
    for (uint32_t m = 0; m < MEMBERS; m++) /* nobody leaves before all are there */
        OK(ring.seat[m].entered > seat->over);
    seat->over++;
}

static void read_mail(struct seat *seat)
{
    const bool is_over = leat_aton_member_receive(&seat->member, seat->mail[0].octets,
                                                  seat->mail[0].len);
    memmove(seat->mail, seat->mail + 1, --seat->mails * sizeof *seat->mail);
    if (is_over) on_over(seat);
}

/* Something that a host or its interface can do now. */
static void act(struct seat *seat, uint32_t folds)
{
    if (chance(ring.reminded_of) && !seat->is_sending) leat_aton_member_remind(&seat->member);
    const bool wants = leat_aton_member_wants(&seat->member);
    switch (leat_random_below(&ring.random, 4)) {
    case 0:
        if (seat->member.state == LEAT_ATON_MEMBER_AWAY && seat->over < folds) enter(seat);
        break;
    case 1:
        if (wants && !seat->is_sending) {
            leat_aton_member_order(&seat->member, &seat->order, seat->octets);
            seat->is_sending = true;
        } else if (seat->is_sending && !seat->has_outcome) {
            execute(seat);
        }
        break;
    case 2:
        if (seat->has_outcome) {
            seat->is_sending = seat->has_outcome = false;
            if (leat_aton_member_done(&seat->member, &seat->outcome, seat->payload)) on_over(seat);
        }
        break;
    default:
        /* a careful member reads between its orders */
        if (seat->mails && (!seat->member.members || !seat->is_sending)) read_mail(seat);
    }
}

static bool all_have(uint32_t folds)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        if (ring.seat[i].over < folds || ring.seat[i].is_sending) return false;
    return true;
}

static void run(uint32_t folds)
{
    const uint32_t steps_max = 100000 * folds;
    uint32_t steps = 0;
    for (; !all_have(folds) && steps < steps_max; steps++)
        act(&ring.seat[leat_random_below(&ring.random, MEMBERS)], folds);
    OK(steps < steps_max); /* else it hangs */
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void members_agree_however_late_hosts_are(void)
{
    open_ring(0);
    run(20 + LEAT_ROUNDS / 2000);
    uint32_t commands = 0, passes = 0;
    for (uint32_t i = 0; i < ring.seat[0].over; i++) {
        commands += words_of(i);
        passes += words_of(i) <= 6 ? 1 : (words_of(i) + 5) / 6;
    }
    EQ(ring.commands, commands);
    EQ(ring.results, passes);
    EQ(ring.queries, passes + ring.charges);
    OK(ring.charges > 0);
}

/* Numbers of passes and charges wrap. */
static void nothing_is_wrong_and_nothing_hangs_on_a_damaged_ring(void)
{
    open_ring(UINT32_MAX - 20);
    ring.damaged_of = 5;
    run(60 + LEAT_ROUNDS / 2000);
    OK(ring.queries > ring.results); /* some were damaged */
}

static uint32_t outcome_of(struct seat *seat)
{
    leat_aton_member_order(&seat->member, &seat->order, seat->octets);
    execute(seat);
    return leat_aton_member_done(&seat->member, &seat->outcome, seat->payload);
}

static void the_charge_goes_to_the_last_that_is_missing(void)
{
    open_ring(0);
    struct seat *first = &ring.seat[0], *last = &ring.seat[4], *middle = &ring.seat[2];
    enter(first);
    enter(&ring.seat[1]);
    enter(&ring.seat[3]);
    OK(!outcome_of(first));
    EQ(first->member.state, LEAT_ATON_MEMBER_PASSES_ON);
    EQ(first->member.missing, 106);
    OK(!outcome_of(first));
    EQ(first->member.state, LEAT_ATON_MEMBER_WAITS);
    enter(middle);
    EQ(middle->member.state, LEAT_ATON_MEMBER_WAITS); /* it has no charge */
    read_mail(last);
    OK(!leat_aton_member_wants(&last->member)); /* it has no part */
    enter(last);
    OK(!outcome_of(last));
    EQ(last->member.state, LEAT_ATON_MEMBER_TELLS);
    OK(outcome_of(last));
    EQ(ring.queries, 2);
    EQ(ring.charges, 1);
    last->over++;
    enter(last); /* it asks for the next one, too */
    EQ(last->member.state, LEAT_ATON_MEMBER_ASKS);
}

static void a_charge_is_taken_once(void)
{
    open_ring(0);
    struct seat *first = &ring.seat[0], *last = &ring.seat[4];
    enter(first);
    outcome_of(first);
    leat_aton_member_order(&first->member, &first->order, first->octets);
    execute(first);
    execute(first);
    EQ(last->mails, 2);
    enter(last);
    read_mail(last);
    EQ(last->member.state, LEAT_ATON_MEMBER_ASKS);
    outcome_of(last); /* finds that seat 3 is missing */
    outcome_of(last);
    EQ(last->member.state, LEAT_ATON_MEMBER_WAITS);
    read_mail(last);
    EQ(last->member.state, LEAT_ATON_MEMBER_WAITS);
    OK(!last->member.has_charge);
}

/* The packet with the charge has arrived; whether its sender then finds it damaged or not. */
static void a_result_may_overtake_the_end_of_the_charge(void)
{
    for (unsigned status = LEAT_ATON_DONE; status <= LEAT_ATON_LOST; status++) {
        open_ring(0);
        struct seat *first = &ring.seat[0], *last = &ring.seat[4];
        for (uint32_t i = 0; i < MEMBERS - 1; i++)
            enter(&ring.seat[i]);
        outcome_of(first);
        leat_aton_member_order(&first->member, &first->order, first->octets);
        execute(first);
        enter(last);
        read_mail(last);
        outcome_of(last);
        OK(outcome_of(last));
        EQ(first->mails, 1);
        read_mail(first);
        EQ(first->over, 0);
        first->outcome.status = (uint8_t)status;
        OK(leat_aton_member_done(&first->member, &first->outcome, first->payload));
        EQ(first->member.state, LEAT_ATON_MEMBER_AWAY);
    }
}

/* Members ask without the charge at any time, so that several of them fold and tell. */
static void careful_members_agree_whoever_asks(void)
{
    open_ring_of(UINT32_MAX - 20, MEMBERS);
    ring.damaged_of = 9;
    ring.reminded_of = 11;
    const uint32_t folds = 60 + LEAT_ROUNDS / 2000, steps_max = 100000 * folds;
    uint32_t steps = 0;
    for (; !all_have(folds) && steps < steps_max; steps++) {
        struct seat *seat = &ring.seat[leat_random_below(&ring.random, MEMBERS)];
        act(seat, folds);
        OK(seat->member.fault != LEAT_ATON_MEMBER_GONE);
    }
    OK(steps < steps_max);
}

/* Its packet is lost; somebody asks without it and tells the result. Then nobody has to ask without
 * it again. */
static void a_lost_charge_is_made_again(void)
{
    open_ring_of(0, MEMBERS);
    struct seat *first = &ring.seat[0], *asks = &ring.seat[1];
    for (uint32_t i = 0; i < MEMBERS - 1; i++)
        enter(&ring.seat[i]);
    while (first->member.state != LEAT_ATON_MEMBER_PASSES_ON)
        OK(!outcome_of(first));
    const struct leat_aton_result lost = { .status = LEAT_ATON_LOST };
    OK(!leat_aton_member_done(&first->member, &lost, NULL));
    enter(&ring.seat[4]);
    leat_aton_member_remind(&asks->member);
    while (!outcome_of(asks))
        continue;
    on_over(asks);
    read_mail(first);
    OK(leat_aton_member_done(&first->member, &lost, NULL));
    on_over(first);
    OK(asks->member.has_charge && !first->member.has_charge);
    run(20);
    uint32_t charges = 0;
    for (uint32_t i = 0; i < MEMBERS; i++)
        charges += ring.seat[i].member.has_charge;
    EQ(charges, 1);
}

/* Seat 4 is late: it is ready for the pass before, which has the same flag as the next one. */
static void a_late_member_is_not_taken_for_one_that_went_on(void)
{
    open_ring_of(0, MEMBERS);
    for (uint32_t fold = 0; fold < 6; fold++) {
        for (uint32_t i = 0; i < MEMBERS - 1; i++)
            enter(&ring.seat[i]);
        for (uint32_t times = 0; times < 20; times++) {
            leat_aton_member_remind(&ring.seat[1].member);
            while (leat_aton_member_wants(&ring.seat[1].member))
                OK(!outcome_of(&ring.seat[1]));
            EQ(ring.seat[1].member.misses, 0);
        }
        enter(&ring.seat[4]);
        run(fold + 1);
    }
}

static void a_member_notices_that_it_has_missed_a_result(void)
{
    open_ring_of(0, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++)
        enter(&ring.seat[i]);
    while (!outcome_of(&ring.seat[0])) {
    }
    ring.seat[3].mails = 0; /* lost */
    for (uint32_t i = 1; i < MEMBERS; i++)
        if (ring.seat[i].mails) read_mail(&ring.seat[i]);
    enter(&ring.seat[1]);
    for (uint32_t times = 1; times < 20; times++) {
        leat_aton_member_remind(&ring.seat[3].member);
        while (leat_aton_member_wants(&ring.seat[3].member))
            OK(!outcome_of(&ring.seat[3]));
        EQ(ring.seat[3].member.misses, times);
    }
}

/* A station has left the ring and joined again, with registers of 0: before the query, or between
 * it and the fold. */
static void a_member_notices_that_registers_are_gone(void)
{
    for (uint32_t orders = 0; orders < 3; orders++) {
        open_ring_of(0, MEMBERS);
        for (uint32_t i = 0; i < MEMBERS; i++) {
            ring.seat[i].over = 1; /* a fold of five words */
            enter(&ring.seat[i]);
        }
        for (uint32_t i = 0; i < orders; i++)
            OK(!outcome_of(&ring.seat[0]));
        memset(ring.it[ring.seat[2].station].operand, 0, sizeof ring.it->operand);
        while (leat_aton_member_wants(&ring.seat[0].member))
            OK(!outcome_of(&ring.seat[0]));
        EQ(ring.seat[0].member.fault, LEAT_ATON_MEMBER_GONE);
    }
}

static void a_members_registers_are_the_groups_and_then_zero(void)
{
    uint64_t operand[LEAT_ATON_REGISTERS], word[2] = { 5, 6 };
    struct leat_aton_member m;
    memset(operand, 0xee, sizeof operand);
    leat_aton_member_join(&m, 7, 0, false, 0, operand);
    EQ(operand[56], 2);
    EQ(operand[57], 2);
    EQ(operand[63], 0);
    leat_aton_member_enter(&m, LEAT_PORT_MIN, word, 2);
    EQ(operand[56], 1);
    EQ(operand[57], 2);
    OK(operand[58] == ~UINT64_C(5) && operand[59] == ~UINT64_C(6) && operand[60] == 0);
    static const uint8_t result[LEAT_ATON_COLLECT_HEAD_LEN + 16] = { 0x82, 7, [15] = 1 };
    OK(!leat_aton_member_receive(&m, result, sizeof result - 1)); /* too short */
    OK(leat_aton_member_receive(&m, result, sizeof result));
    OK(word[0] == 1 && word[1] == 0);
    leat_aton_member_leave(&m);
    for (unsigned i = 56; i < 64; i++)
        EQ(operand[i], 0);
    OK(operand[55] == UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void heads_come_back_and_others_are_refused(void)
{
    static const struct leat_aton_collect_head head = { LEAT_ATON_COLLECT_CAST, 6, 0x1234,
                                                        0x89abcdef };
    static const uint8_t golden[] = { 0x83, 6, 0x12, 0x34, 0x89, 0xab, 0xcd, 0xef };
    uint8_t octets[LEAT_ATON_COLLECT_HEAD_LEN];
    leat_aton_collect_head_encode(&head, octets);
    OK(memcmp(octets, golden, sizeof golden) == 0);
    for (unsigned first = 0; first < 256; first++)
        for (unsigned group = 0; group < 256; group++) {
            struct leat_aton_collect_head got = { 0 };
            uint8_t again[LEAT_ATON_COLLECT_HEAD_LEN];
            octets[0] = (uint8_t)first;
            octets[1] = (uint8_t)group;
            const bool is_one = leat_aton_collect_head_decode(octets, sizeof octets, &got);
            EQ(is_one, first >= 0x81 && first <= 0x83 && group < 8);
            if (!is_one) continue;
            leat_aton_collect_head_encode(&got, again);
            OK(memcmp(again, octets, sizeof again) == 0);
        }
    struct leat_aton_collect_head got;
    OK(!leat_aton_collect_head_decode(golden, sizeof golden - 1, &got));
}

static void packets_of_other_groups_change_nothing(void)
{
    open_ring(0);
    struct seat *seat = &ring.seat[1];
    enter(seat);
    static const uint8_t charge[] = { 0x81, GROUP, 0, EPOCH, 0, 0, 0, 1 };
    for (unsigned i = 1; i < 4; i++) {
        uint8_t other[sizeof charge];
        memcpy(other, charge, sizeof charge);
        other[i] ^= 1;
        leat_aton_member_receive(&seat->member, other, sizeof other);
        EQ(seat->member.state, LEAT_ATON_MEMBER_WAITS);
    }
    leat_aton_member_receive(&seat->member, charge, sizeof charge);
    EQ(seat->member.state, LEAT_ATON_MEMBER_ASKS);
}

TAP_MAIN(T(members_agree_however_late_hosts_are),
         T(nothing_is_wrong_and_nothing_hangs_on_a_damaged_ring),
         T(the_charge_goes_to_the_last_that_is_missing), T(a_charge_is_taken_once),
         T(a_result_may_overtake_the_end_of_the_charge), T(careful_members_agree_whoever_asks),
         T(a_lost_charge_is_made_again), T(a_late_member_is_not_taken_for_one_that_went_on),
         T(a_member_notices_that_it_has_missed_a_result),
         T(a_member_notices_that_registers_are_gone),
         T(a_members_registers_are_the_groups_and_then_zero),
         T(heads_come_back_and_others_are_refused), T(packets_of_other_groups_change_nothing))
