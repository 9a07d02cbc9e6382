#include "leat_bytes.h"
#include "poets_external.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { EXTERNALS = 5, PEERS = 4, PINS_MAX = 3 };
static const char *const names[EXTERNALS] = { "meter", "screen", "m", "meter2", "__halt__" };
static const uint32_t payload_len[EXTERNALS][PINS_MAX] = {
    { 8, 9, 56 },
    { 0 },
    { 24, LEAT_POETS_EXTERNAL_ANY_LEN },
    { 40 },
};
static const uint32_t pin_counts[EXTERNALS] = { 3, 1, 2, 1, 0 };
static struct leat_poets_external table[EXTERNALS];
static struct leat_poets_externals x;
static struct leat_poets_external_event event;

static void make(void)
{
    for (uint32_t i = 0; i < EXTERNALS; i++)
        table[i] = (struct leat_poets_external){ .name = names[i],
                                                 .payload_len = payload_len[i],
                                                 .output_count = pin_counts[i],
                                                 .peer = LEAT_POETS_PEER_NONE };
    table[4].peer = LEAT_POETS_PEER_HOST;
    x = (struct leat_poets_externals){ .external = table, .count = EXTERNALS };
}

/* The frame of a packet, octet by octet: nothing of the code under test. */
static void give(uint32_t peer, unsigned class_task, unsigned opcode, unsigned device,
                 uint32_t pin_address, const char *name, unsigned nflit)
{
    uint8_t frame[6 + 64] = { 0, (uint8_t)(16 * nflit) };
    frame[6] = device & 0xff;
    frame[7] = device >> 8 & 0xff;
    frame[8] = (uint8_t)opcode;
    frame[9] = (uint8_t)class_task;
    for (int i = 0; i < 4; i++)
        frame[10 + i] = (uint8_t)(pin_address >> 8 * i);
    if (name) memcpy(frame + 14, name, strlen(name));
    leat_poets_externals_receive(&x, peer, frame, 6 + 16 * nflit, &event);
}

static void attach(uint32_t peer, uint32_t number)
{
    give(peer, 0xc0, 0xfd, 0, number, NULL, 1);
}
static void detach(uint32_t peer, uint32_t number)
{
    give(peer, 0xc0, 0xfe, 0, number, NULL, 1);
}

static void a_process_attaches_by_number_or_by_name(void)
{
    make();
    EQ(leat_poets_externals_missing(&x), 4);
    attach(7, 1);
    EQ(event.kind, LEAT_POETS_EXTERNAL_ATTACHED);
    EQ(event.external, 1);
    give(7, 0xc0, 0xfd, 0, 1, "meter", 1);
    EQ(event.kind, LEAT_POETS_EXTERNAL_ATTACHED);
    EQ(event.external, 0);
    give(7, 0xc0, 0xfd, 0, 1, "meter2", 1);
    EQ(event.external, 3);
    EQ(leat_poets_externals_attached(&x), 3);
    EQ(leat_poets_externals_missing(&x), 1);
    give(7, 0xc0, 0xfd, 0, 0, "met", 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_UNKNOWN);
    attach(7, 5);
    EQ(event.refusal, LEAT_POETS_REFUSED_UNKNOWN);
    attach(8, 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_TAKEN);
    give(8, 0xc0, 0xfd, 0, 0, "__halt__", 2);
    EQ(event.refusal, LEAT_POETS_REFUSED_TAKEN);
    attach(7, 1);
    EQ(event.kind, LEAT_POETS_EXTERNAL_ATTACHED);
    EQ(table[1].attached, 1);
}

static void packets_need_an_attached_process_a_running_application_and_a_pin(void)
{
    make();
    x.running = true;
    attach(7, 0);
    give(7, 0x80, 0, 0, 0, NULL, 1);
    EQ(event.kind, LEAT_POETS_EXTERNAL_SENT);
    EQ(event.packet.pin, 0);
    give(7, 0x80, 0, 0, 1, NULL, 2);
    EQ(event.kind, LEAT_POETS_EXTERNAL_SENT);
    EQ(event.packet.pin, 1);
    EQ(table[0].received, 2);
    const struct {
        uint32_t peer, device, pin_address;
        unsigned nflit;
        enum leat_poets_refusal why;
    } bad[] = {
        { 8, 0, 0, 1, LEAT_POETS_REFUSED_FOREIGN },
        { 7, 1, 0, 1, LEAT_POETS_REFUSED_FOREIGN },
        { 7, 9, 0, 1, LEAT_POETS_REFUSED_UNKNOWN },
        { 7, 0, 3, 4, LEAT_POETS_REFUSED_PIN },
        { 7, 0, 1 << 8, 1, LEAT_POETS_REFUSED_EDGE },
        { 7, 0, 3 << 8 | 1, 2, LEAT_POETS_REFUSED_EDGE },
        { 7, 0, 1, 1, LEAT_POETS_REFUSED_SHORT },
        { 7, 0, 2, 3, LEAT_POETS_REFUSED_SHORT },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        give(bad[i].peer, 0x80, 0, bad[i].device, bad[i].pin_address, NULL, bad[i].nflit);
        EQ(event.kind, LEAT_POETS_EXTERNAL_REFUSED);
        EQ(event.refusal, bad[i].why);
    }
    x.running = false;
    give(7, 0x80, 0, 0, 0, NULL, 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_UNTIMELY);
    EQ(table[0].received, 2);
}

static void who_detaches_or_is_gone_leaves_room_for_another(void)
{
    make();
    attach(7, 0);
    attach(7, 1);
    attach(8, 2);
    detach(8, 0);
    EQ(event.refusal, LEAT_POETS_REFUSED_FOREIGN);
    detach(7, 0);
    EQ(event.kind, LEAT_POETS_EXTERNAL_DETACHED);
    attach(8, 0);
    EQ(event.kind, LEAT_POETS_EXTERNAL_ATTACHED);
    EQ(table[0].attached, 2);
    leat_poets_externals_leave(&x, 8);
    EQ(leat_poets_externals_attached(&x), 1);
    EQ(table[0].peer, LEAT_POETS_PEER_NONE);
    EQ(table[1].peer, 7);
    EQ(table[2].peer, LEAT_POETS_PEER_NONE);
}

static void other_packets_and_tasks_are_refused(void)
{
    static const uint8_t short_frame[5], long_frame[7] = { 0, 2 }, sideways[22] = { 2, 16 };
    make();
    leat_poets_externals_receive(&x, 7, short_frame, sizeof short_frame, &event);
    EQ(event.refusal, LEAT_POETS_REFUSED_FRAME);
    leat_poets_externals_receive(&x, 7, long_frame, sizeof long_frame, &event);
    EQ(event.refusal, LEAT_POETS_REFUSED_FRAME);
    leat_poets_externals_receive(&x, 7, sideways, sizeof sideways, &event);
    EQ(event.refusal, LEAT_POETS_REFUSED_FRAME);
    give(7, 0, 0, 0, 0, NULL, 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_CLASS);
    give(7, 0xc0, 0xff, 0, 0, NULL, 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_CLASS);
    give(7, 0xc1, 0xfd, 0, 0, NULL, 1);
    EQ(event.refusal, LEAT_POETS_REFUSED_UNKNOWN);
    EQ(x.refused[LEAT_POETS_REFUSED_FRAME], 3);
    leat_poets_externals_refuse(&x, LEAT_POETS_REFUSED_CROWDED, &event);
    EQ(event.kind, LEAT_POETS_EXTERNAL_REFUSED);
    EQ(event.refusal, LEAT_POETS_REFUSED_CROWDED);
    EQ(x.refused[LEAT_POETS_REFUSED_CROWDED], 1);
    for (unsigned i = 0; i < LEAT_POETS_REFUSAL_COUNT; i++) {
        OK(leat_poets_refusal_name(i) != NULL);
        OK(strlen(leat_poets_refusal_text(i)) <= LEAT_POETS_EXTERNAL_NAME_MAX);
    }
    OK(leat_poets_refusal_name(LEAT_POETS_REFUSAL_COUNT) == NULL);
    OK(leat_poets_refusal_text(LEAT_POETS_REFUSAL_COUNT) == NULL);
}

static void control_packets_have_their_octets(void)
{
    static const uint8_t stop[22] = { 1, 16, 0, 0, 0, 0, 3, 1, 0xfe, 0x45 };
    static const uint8_t kill[22] = { 1, 16, 0, 0, 0, 0, 0, 0, 0xff, 0x40, 0, 0, 0, 0, 'n', 'o' };
    uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX];
    EQ(leat_poets_external_control(5, LEAT_POETS_OP_STOP, 259, NULL, frame), 22);
    EQ(memcmp(frame, stop, 22), 0);
    EQ(leat_poets_external_control(0, LEAT_POETS_OP_KILL, 0, "no", frame), 22);
    EQ(memcmp(frame, kill, 22), 0);
    char longer[80];
    memset(longer, 'x', sizeof longer - 1);
    longer[79] = '\0';
    EQ(leat_poets_external_control(0, LEAT_POETS_OP_KILL, 0, longer, frame), 70);
    EQ(frame[69], 0);
    EQ(frame[68], 'x');
}

/* The model: who has which external, as a table of its own, and the rules in their order. */
static int owner[EXTERNALS];

static int model(unsigned peer, unsigned kind, uint32_t number, unsigned pin, unsigned edge,
                 unsigned nflit, bool running)
{
    static const unsigned room[5] = { 0, 8, 24, 40, 56 };
    if (number >= EXTERNALS) return LEAT_POETS_REFUSED_UNKNOWN;
    if (kind == 0) {
        if (owner[number] >= 0 && owner[number] != (int)peer) return LEAT_POETS_REFUSED_TAKEN;
        owner[number] = (int)peer;
        return -1;
    }
    if (owner[number] != (int)peer) return LEAT_POETS_REFUSED_FOREIGN;
    if (kind == 1) return owner[number] = -1;
    if (!running) return LEAT_POETS_REFUSED_UNTIMELY;
    if (pin >= pin_counts[number]) return LEAT_POETS_REFUSED_PIN;
    if (edge) return LEAT_POETS_REFUSED_EDGE;
    if (number == 2 && pin == 1) return -1; /* of unknown length */
    return room[nflit] < payload_len[number][pin] ? LEAT_POETS_REFUSED_SHORT : -1;
}

static void random_datagrams_do_what_the_model_does(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        if (round % 1000 == 0) {
            make();
            for (int i = 0; i < EXTERNALS; i++)
                owner[i] = i == 4 ? PEERS : -1;
        }
        const unsigned peer = (unsigned)leat_random_below(&r, PEERS);
        const unsigned kind = (unsigned)leat_random_below(&r, 8), nflit = 1 + kind % 4;
        const uint32_t number = (uint32_t)leat_random_below(&r, EXTERNALS + 1);
        const unsigned pin = (unsigned)leat_random_below(&r, 4);
        const unsigned edge = (unsigned)leat_random_below(&r, 3) / 2;
        x.running = round & 2;
        const int want = model(peer, kind < 2 ? kind : 2, number, pin, edge, nflit, x.running);
        if (kind < 2)
            give(peer, 0xc0, kind ? 0xfe : 0xfd, 0, number, NULL, nflit);
        else
            give(peer, 0x80, 0, number, edge << 8 | pin, NULL, nflit);
        const bool good = (event.kind == LEAT_POETS_EXTERNAL_REFUSED) == (want >= 0) &&
                          (want < 0 || (int)event.refusal == want);
        if (!good) {
            printf("# LEAT_SEED=%llu round %ld\n", (unsigned long long)tap_seed(), round);
            OK(good);
            return;
        }
        for (int i = 0; i < EXTERNALS - 1; i++)
            EQ(table[i].peer, owner[i] < 0 ? LEAT_POETS_PEER_NONE : (uint32_t)owner[i]);
    }
}

/* What octets come to by the picture of the frame alone: -1: no frame; else its class. */
static int class_of(const uint8_t *octets, size_t len)
{
    if (len < 6 + 16 || octets[0] > 1 || octets[1] % 16 || !octets[1] || octets[1] > 64) return -1;
    return len < 6U + octets[1] ? -1 : octets[9] >> 6;
}

static uint64_t counted(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LEAT_POETS_REFUSAL_COUNT; i++)
        sum += x.refused[i];
    for (int i = 0; i < EXTERNALS; i++)
        sum += table[i].received;
    return sum;
}

static void random_octets_are_decided(void)
{
    struct leat_random r;
    uint8_t octets[80];
    make();
    x.running = true;
    table[0].peer = 1;
    leat_random_seed(&r, tap_seed() + 1);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        const size_t len = (size_t)leat_random_below(&r, sizeof octets + 1);
        for (size_t i = 0; i < len; i++)
            octets[i] = (uint8_t)leat_random_next(&r);
        if (round & 1 && len > 1) octets[0] = 0, octets[1] = 16;
        if (round % 4 == 3 && len > 13) { /* nearly a packet of external 0 */
            memset(octets + 6, 0, 3);
            octets[9] &= 0xc0;
            octets[10] &= 3;
            memset(octets + 11, 0, 3);
        }
        const uint64_t before = counted();
        const int class = class_of(octets, len);
        leat_poets_externals_receive(&x, 1, octets, len, &event);
        const bool counts = event.kind == LEAT_POETS_EXTERNAL_REFUSED ||
                            event.kind == LEAT_POETS_EXTERNAL_SENT;
        const bool good = counted() == before + counts &&
                          (event.kind != LEAT_POETS_EXTERNAL_SENT || class == 2) &&
                          (counts || class == 3) &&
                          (class >= 0 || (event.kind == LEAT_POETS_EXTERNAL_REFUSED &&
                                          event.refusal == LEAT_POETS_REFUSED_FRAME));
        if (!good) {
            printf("# LEAT_SEED=%llu round %ld\n", (unsigned long long)tap_seed(), round);
            OK(good);
            return;
        }
    }
    OK(table[0].received > 0 || LEAT_ROUNDS < 10000);
}

TAP_MAIN(T(a_process_attaches_by_number_or_by_name),
         T(packets_need_an_attached_process_a_running_application_and_a_pin),
         T(who_detaches_or_is_gone_leaves_room_for_another), T(other_packets_and_tasks_are_refused),
         T(control_packets_have_their_octets), T(random_datagrams_do_what_the_model_does),
         T(random_octets_are_decided))
