/* A member of a group on a live ring: drives leat_aton_member (proto/aton/aton_collect.h) by the
 * packets of an open station. */
#include "aton_collect.h"
#include "live_aton_block.h"
#include "live_aton_station.h"
#include <errno.h>
#include <leat/aton_group.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)LEAT_ATON_GROUPS == (int)LEAT_ATON_COLLECT_GROUPS_MAX, "blocks of a ring");
_Static_assert((int)LEAT_ATON_GROUPS == (int)ATON_GROUPS, "blocks of a ring");
_Static_assert((int)LEAT_ATON_GROUP_PASS_WORDS == (int)LEAT_ATON_COLLECT_WORDS, "of a pass");

enum {
    NONE = 255,                /* no block */
    ROUND_NS_MIN = 4000000,    /* a packet that is not back after this is sent again */
    COPIES_MAX = 8,            /* of an order: the time doubles with each one; all may return */
    REMIND_NS_MIN = 10000000,  /* a member that waits asks by itself after this ... */
    REMIND_NS_MAX = 320000000, /* ... and again after twice that, up to this */
    TURNS_MAX = 256,           /* of a step */
    MAIL_MAX = 64,             /* messages of a turn */
};

/* Which order of a member it is. */
struct order_key {
    uint32_t state, pass, folded, charge, turn, number;
};

/* What the host waits for. */
enum turn { FOLDS, SENDS_CAST, TAKES_CAST };

enum { CAST_LEN = LEAT_ATON_COLLECT_HEAD_LEN + 8 * LEAT_ATON_GROUP_CAST_WORDS };

/* Words of a root that this member has not come to yet. */
struct cast {
    bool is_there;
    uint32_t number, words;
    uint64_t word[LEAT_ATON_GROUP_CAST_WORDS];
};

struct leat_aton_group {
    char device[IF_NAMESIZE];
    struct leat_aton_host *station; /* of the group; until it has joined, of none */
    int lock[ATON_GROUPS];          /* -1: not its own */
    uint8_t block;                  /* that it claimed or joined */
    uint32_t stations;
    uint64_t patience_ns;
    struct leat_aton_member member;
    bool is_over;
    enum turn turn;
    uint32_t number, words; /* of a cast */
    uint64_t *word;
    bool probes; /* TAKES_CAST: is the ring still there? */
    struct cast cast[LEAT_ATON_GROUP_CASTS];

    bool is_under_way; /* an order */
    struct leat_aton_order order;
    uint32_t sequence[COPIES_MAX];
    struct order_key key;
    uint32_t copies; /* so far, of this order */
    uint64_t until_ns, round_ns;
    /* Waited in vain since an order came back. Operations end when others carry them out, too: a
     * station whose own packets are all lost would be slow, and nobody would know. */
    uint64_t in_vain_ns;
    uint64_t missing_since_ns; /* a result that others have; 0: none */
    uint64_t remind_at_ns, remind_ns;
    uint8_t octets[CAST_LEN], letter[ATON_OCTETS_MAX];
    struct leat_aton_group_counts counts;
    char why[LEAT_ATON_HOST_WHY_LEN];
};

static volatile uint64_t *registers_of(struct leat_aton_group *g)
{
    return leat_aton_host_registers(g->station);
}

static struct aton_page *page_of(struct leat_aton_group *g)
{
    return g->station->seat.page;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The station of a ring on this host; several, or only of other rings: WRONG. */
static enum leat_aton_host_end find(uint32_t ring_id, struct leat_aton_group *g, char *why)
{
    enum leat_aton_host_end found = LEAT_ATON_HOST_ABSENT;
    char reason[LEAT_ATON_HOST_WHY_LEN];
    struct if_nameindex *all = if_nameindex();
    live_because(why, "no station of a ring on this host, expected one from leat ring join");
    for (struct if_nameindex *i = all; i && i->if_index; i++) {
        struct leat_aton_host *station;
        const enum leat_aton_host_end end = leat_aton_host_open(i->if_name, &station, reason);
        if (end == LEAT_ATON_HOST_FAILED && found == LEAT_ATON_HOST_ABSENT) {
            memcpy(why, reason, sizeof reason);
            found = end;
        }
        if (end != LEAT_ATON_HOST_OK) continue;
        const uint32_t its_ring = station->seat.config.ring_id;
        if (ring_id && its_ring != ring_id) {
            leat_aton_host_close(station);
            if (found != LEAT_ATON_HOST_ABSENT) continue;
            live_because(why, "this host has a station of ring %u, expected one of ring %u",
                         its_ring, ring_id);
            found = LEAT_ATON_HOST_WRONG;
            continue;
        }
        if (g->station) {
            leat_aton_host_close(station);
            live_because(why, "this host has several stations, expected one, or the id of a ring");
            found = LEAT_ATON_HOST_WRONG;
            break;
        }
        found = LEAT_ATON_HOST_OK;
        g->station = station;
        snprintf(g->device, sizeof g->device, "%s", i->if_name);
    }
    if (all) if_freenameindex(all);
    return found;
}

enum leat_aton_host_end leat_aton_group_open(uint32_t ring_id, struct leat_aton_group **out,
                                             struct leat_aton_group_seat *seat, char *why)
{
    struct leat_aton_group *g = calloc(1, sizeof *g);
    *why = 0;
    *out = NULL;
    if (!g) return live_because(why, "no memory"), LEAT_ATON_HOST_FAILED;
    g->block = NONE;
    for (int i = 0; i < ATON_GROUPS; i++)
        g->lock[i] = -1;
    enum leat_aton_host_end end = find(ring_id, g, why);
    if (end == LEAT_ATON_HOST_OK && !leat_aton_host_interface(g->station)->enabled) {
        live_because(why, "%s: this station only repeats, expected leat ring set enabled on",
                     g->device);
        end = LEAT_ATON_HOST_FAILED;
    }
    if (end != LEAT_ATON_HOST_OK) {
        leat_aton_group_close(g);
        return end;
    }
    *seat = (struct leat_aton_group_seat){ .ring_id = g->station->seat.config.ring_id,
                                           .address = page_of(g)->interface.address };
    for (uint8_t i = 0; i < ATON_GROUPS; i++) {
        g->lock[i] = aton_block_lock(&g->station->seat.config, i, page_of(g));
        if (g->lock[i] >= 0) seat->blocks |= 1u << i;
    }
    memcpy(seat->device, g->device, sizeof seat->device);
    *out = g;
    return LEAT_ATON_HOST_OK;
}

/* ---- claiming -------------------------------------------------------------------------------- */

/* Two members that claim one block on different hosts: each says so first and looks then, so that
 * one of them at least sees the other. */
enum leat_aton_host_end leat_aton_group_claim(struct leat_aton_group *g, uint8_t block,
                                              uint64_t timeout_us, uint32_t *stations, char *why)
{
    volatile uint64_t *operand = registers_of(g);
    const uint8_t first = (uint8_t)(block * ATON_GROUP_REGISTERS);
    struct leat_aton_command command = { .opcode = LEAT_ATON_EQ,
                                         .width_bits = 64,
                                         .reg = first,
                                         .da = LEAT_ATON_DA_ALL,
                                         .value_given = true };
    struct leat_aton_host_answer answer;
    g->block = block;
    aton_block_use(page_of(g), block);
    operand[first] = 1;
    for (uint8_t i = 0; i < ATON_GROUP_REGISTERS; i++) {
        command.reg = (uint8_t)(first + i);
        enum leat_aton_host_end end = leat_aton_host_command(g->station, &command, timeout_us,
                                                             &answer, why);
        const uint32_t zeros = answer.stations - (i == 0);
        if (end == LEAT_ATON_HOST_OK && answer.result.counter != answer.stations) {
            live_because(why,
                         "%u of the %u stations of the ring take part in commands, expected "
                         "all: leat ring set enabled on",
                         answer.result.counter, answer.stations);
            end = LEAT_ATON_HOST_FAILED;
        } else if (end == LEAT_ATON_HOST_OK && answer.result.variable2 != zeros) {
            live_because(why, "R%u of another station is not 0: it is used", first + i);
            end = LEAT_ATON_HOST_FAILED;
        }
        if (end == LEAT_ATON_HOST_OK) continue;
        leat_aton_group_unclaim(g, block);
        return end;
    }
    *stations = answer.stations;
    return LEAT_ATON_HOST_OK;
}

void leat_aton_group_unclaim(struct leat_aton_group *g, uint8_t block)
{
    aton_block_clear(page_of(g), block);
    g->block = NONE;
}

/* ---- joining --------------------------------------------------------------------------------- */

static void unlock(struct leat_aton_group *g, uint8_t block)
{
    if (g->lock[block] >= 0) close(g->lock[block]);
    g->lock[block] = -1;
}

enum leat_aton_host_end leat_aton_group_join(struct leat_aton_group *g, uint8_t block,
                                             uint16_t epoch, uint16_t members, uint32_t stations,
                                             bool is_first, uint64_t patience_us, char *why)
{
    uint16_t from;
    size_t len;
    /* The kernel takes tens of milliseconds to close a packet socket: it is kept. */
    if (!aton_station_turn_to_group(g->station, block, why)) return LEAT_ATON_HOST_FAILED;
    for (uint8_t i = 0; i < ATON_GROUPS; i++)
        if (i != block) unlock(g, i);
    g->block = block;
    g->stations = stations;
    g->patience_ns = patience_us * 1000;
    aton_block_use(page_of(g), block);
    while (aton_mailbox_take(&g->station->seat.mailbox, &from, g->letter, sizeof g->letter, &len) ==
           ATON_MAIL_TAKEN) /* of an earlier group */
        continue;
    leat_aton_member_join(&g->member, block, epoch, is_first, members, registers_of(g));
    return LEAT_ATON_HOST_OK;
}

void leat_aton_group_close(struct leat_aton_group *g)
{
    if (!g) return;
    if (g->station && g->block != NONE) aton_block_clear(page_of(g), g->block);
    for (uint8_t i = 0; i < ATON_GROUPS; i++)
        unlock(g, i);
    leat_aton_host_close(g->station);
    free(g);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    return live_now_ns(CLOCK_MONOTONIC);
}

static size_t write_image(struct leat_aton_group *g)
{
    struct leat_aton_host *s = g->station;
    const struct leat_aton_order *order = &g->order;
    uint8_t *image = aton_image(&s->frame);
    const uint32_t cap = aton_station_image_max(&s->seat.config);
    size_t len = 0;
    if (!order->is_passive) {
        if (leat_aton_begin(&s->seat.page->interface, &order->command, image, cap, &len)) abort();
        return len;
    }
    const size_t octets = aton_station_letter(s, order->octets, order->octets_len, g->letter);
    const struct leat_aton_packet packet = { .da = order->command.da,
                                             .sa = s->seat.page->interface.address,
                                             .payload = g->letter,
                                             .payload_len = octets };
    if (leat_aton_packet_encode(&packet, image, cap, &len)) abort(); /* all fields are ours */
    return len;
}

/* Answers to earlier copies of the same order are as good. */
static void note_order(struct leat_aton_group *g)
{
    const struct leat_aton_member *m = &g->member;
    const struct order_key key = { m->state, m->pass, m->folded, m->charge, g->turn, g->number };
    if (memcmp(&key, &g->key, sizeof key) != 0) g->copies = 0;
    g->key = key;
}

static void put_cast(struct leat_aton_group *g)
{
    const struct leat_aton_collect_head head = { .kind = LEAT_ATON_COLLECT_CAST,
                                                 .group = g->block,
                                                 .epoch = g->member.epoch,
                                                 .number = g->number };
    leat_aton_collect_head_encode(&head, g->octets);
    for (uint32_t i = 0; i < g->words; i++)
        leat_put_be64(g->octets + LEAT_ATON_COLLECT_HEAD_LEN + 8 * i, g->word[i]);
    g->order = (struct leat_aton_order){ .is_passive = true,
                                         .command.da = LEAT_ATON_DA_ALL,
                                         .octets = g->octets,
                                         .octets_len = (uint16_t)(LEAT_ATON_COLLECT_HEAD_LEN +
                                                                  8 * g->words) };
}

static void make_order(struct leat_aton_group *g)
{
    switch (g->turn) {
    case FOLDS: leat_aton_member_order(&g->member, &g->order, g->octets); break;
    case SENDS_CAST: put_cast(g); break;
    case TAKES_CAST: /* any command that goes round */
        g->order = (struct leat_aton_order){
            .command = { .opcode = LEAT_ATON_OR, .width_bits = 16, .da = LEAT_ATON_DA_ALL }
        };
        break;
    }
}

static void send_order(struct leat_aton_group *g)
{
    const uint64_t now = now_ns();
    note_order(g);
    make_order(g);
    g->is_under_way = true;
    if (!g->round_ns) g->round_ns = ROUND_NS_MIN;
    g->until_ns = now + g->round_ns;
    g->counts.sent++;
    /* What cannot be sent is lost; if that lasts, the reason is told. */
    uint32_t *sequence = &g->sequence[g->copies++ % COPIES_MAX];
    if (!aton_station_send(g->station, write_image(g), sequence, g->why)) g->copies--;
}

/* Is the packet that has come back the one that was sent, through all stations? */
static bool is_whole(struct leat_aton_group *g, const struct leat_aton_packet *back)
{
    const uint32_t stations = 1u + ATON_HOPS_MAX - g->station->frame.octets[ATON_HOPS_AT];
    if (stations != g->stations)
        return live_because(g->why, "the ring has %u stations now, expected %u", stations,
                            g->stations);
    if (!g->order.is_passive && back->counter != stations)
        return live_because(g->why, "%u of %u stations took part, expected all", back->counter,
                            stations);
    if (g->order.is_passive && !back->copied)
        return live_because(g->why, "station %u has not taken a packet of its group",
                            g->order.command.da);
    return true;
}

/* The frame that has come back, as the member sees it. `payload` is in the frame. */
static bool read_back(struct leat_aton_group *g, struct leat_aton_result *result,
                      const uint8_t **payload)
{
    struct leat_aton_host *s = g->station;
    const uint8_t *image = aton_image(&s->frame);
    struct leat_aton_packet back;
    const leat_err err = g->order.is_passive
                             ? leat_aton_packet_decode(image, s->frame.image_len, &back, NULL)
                             : leat_aton_take(&s->seat.page->interface, &g->order.command, image,
                                              s->frame.image_len, &back, NULL);
    if (err) return live_because(g->why, "what came back is no answer: %s", leat_err_text(err));
    if (!is_whole(g, &back)) return false;
    *payload = back.payload;
    *result = (struct leat_aton_result){ .status = LEAT_ATON_DONE,
                                         .copied = 1,
                                         .counter = back.counter,
                                         .variable1 = back.variable1,
                                         .variable2 = back.variable2 };
    return true;
}

static void note_failure(struct leat_aton_group *g)
{
    g->counts.lost++;
    g->in_vain_ns += g->round_ns;
    if (g->round_ns < g->patience_ns / 2) g->round_ns *= 2;
}

static void note_success(struct leat_aton_group *g)
{
    g->in_vain_ns = 0;
    g->round_ns = ROUND_NS_MIN;
    g->copies = 0;
    *g->why = 0;
}

/* Has a copy of the order come back? One that came back through other stations than it should is
 * repeated in its time. */
static bool has_returned(struct leat_aton_group *g, struct leat_aton_result *result,
                         const uint8_t **payload)
{
    const uint32_t copies = g->copies < COPIES_MAX ? g->copies : COPIES_MAX;
    return copies && aton_station_await(g->station, g->sequence, copies, 0) &&
           read_back(g, result, payload);
}

/* False: the order is still under way. */
static bool finish_order(struct leat_aton_group *g)
{
    const uint64_t now = now_ns();
    struct leat_aton_result result = { .status = LEAT_ATON_LOST };
    const uint8_t *payload = NULL;
    const bool is_done = has_returned(g, &result, &payload);
    if (!is_done && now < g->until_ns) return false;
    if (is_done) {
        note_success(g);
    } else {
        if (!*g->why)
            live_because(g->why, "a packet has not come back: a station has left the ring, or "
                                 "packets are lost");
        note_failure(g);
    }
    g->is_under_way = false;
    g->probes = false;
    if (g->turn == FOLDS)
        g->is_over |= leat_aton_member_done(&g->member, &result, payload);
    else
        g->is_over |= is_done && g->turn == SENDS_CAST;
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Words of a root are kept until this member comes to them. Copies of a packet change nothing. */
static bool keep_cast(struct leat_aton_group *g, const uint8_t *octets, size_t len)
{
    struct leat_aton_collect_head head;
    const size_t words = (len - LEAT_ATON_COLLECT_HEAD_LEN) / 8;
    if (!leat_aton_collect_head_decode(octets, len, &head) || head.kind != LEAT_ATON_COLLECT_CAST)
        return false;
    if (head.group != g->block || head.epoch != g->member.epoch || len > CAST_LEN) return true;
    struct cast *cast = &g->cast[head.number % LEAT_ATON_GROUP_CASTS];
    if (cast->is_there && (int32_t)(head.number - cast->number) <= 0) return true;
    *cast = (struct cast){ .is_there = true, .number = head.number, .words = (uint32_t)words };
    for (size_t i = 0; i < words; i++)
        cast->word[i] = leat_get_be64(octets + LEAT_ATON_COLLECT_HEAD_LEN + 8 * i);
    return true;
}

static bool take_cast(struct leat_aton_group *g)
{
    const struct cast *cast = &g->cast[g->number % LEAT_ATON_GROUP_CASTS];
    if (g->turn != TAKES_CAST || !cast->is_there || cast->number != g->number ||
        cast->words != g->words)
        return false;
    memcpy(g->word, cast->word, g->words * sizeof *g->word);
    return true;
}

static void read_mail(struct leat_aton_group *g)
{
    g->is_over |= take_cast(g);
    uint8_t octets[ATON_OCTETS_MAX];
    uint16_t from;
    size_t len;
    for (int i = 0; i < MAIL_MAX && !g->is_over; i++) {
        if (aton_mailbox_take(&g->station->seat.mailbox, &from, octets, sizeof octets, &len) !=
            ATON_MAIL_TAKEN)
            return;
        g->counts.received++;
        g->is_over = keep_cast(g, octets, len) ? take_cast(g)
                                               : leat_aton_member_receive(&g->member, octets, len);
    }
}

static void remind_member(struct leat_aton_group *g)
{
    const uint64_t now = now_ns();
    if (now < g->remind_at_ns) return;
    g->remind_at_ns = now + g->remind_ns;
    if (g->remind_ns < REMIND_NS_MAX) g->remind_ns *= 2;
    g->counts.reminders++;
    g->probes = g->turn == TAKES_CAST;
    if (g->turn == FOLDS) leat_aton_member_remind(&g->member);
}

static bool wants(const struct leat_aton_group *g)
{
    if (g->turn == FOLDS) return leat_aton_member_wants(&g->member);
    return g->turn == SENDS_CAST || g->probes;
}

static bool has_lasted(const struct leat_aton_group *g, uint64_t since_ns)
{
    return since_ns && now_ns() - since_ns > g->patience_ns;
}

static bool is_broken(struct leat_aton_group *g)
{
    switch (g->member.fault) {
    case LEAT_ATON_MEMBER_SOUND: break;
    case LEAT_ATON_MEMBER_GONE:
        live_because(g->why,
                     "registers of a station have changed: it has left the ring and "
                     "joined again, or another program uses R%u to R%u",
                     g->block * ATON_GROUP_REGISTERS,
                     g->block * ATON_GROUP_REGISTERS + ATON_GROUP_REGISTERS - 1);
        return true;
    }
    if (g->in_vain_ns > g->patience_ns) return true;
    const bool misses = g->turn == FOLDS && g->member.misses;
    if (!misses) g->missing_since_ns = 0;
    if (misses && !g->missing_since_ns) g->missing_since_ns = now_ns();
    if (!has_lasted(g, g->missing_since_ns)) return false;
    live_because(g->why, "a packet with a result was lost");
    return true;
}

static void begin(struct leat_aton_group *g, enum turn turn)
{
    g->turn = turn;
    g->is_over = g->probes = false;
    g->missing_since_ns = 0;
    g->copies = 0;
    *g->why = 0;
    g->remind_ns = REMIND_NS_MIN;
    g->remind_at_ns = now_ns() + g->remind_ns;
}

void leat_aton_group_enter(struct leat_aton_group *g, enum leat_port_fold fold, uint64_t *word,
                           uint32_t words)
{
    begin(g, FOLDS);
    leat_aton_member_enter(&g->member, fold, word, words);
}

void leat_aton_group_cast(struct leat_aton_group *g, bool is_root, uint32_t number, uint64_t *word,
                          uint32_t words)
{
    begin(g, is_root ? SENDS_CAST : TAKES_CAST);
    if (words > LEAT_ATON_GROUP_CAST_WORDS) abort(); /* ours */
    g->number = number;
    g->word = word;
    g->words = words;
}

enum leat_aton_group_state leat_aton_group_step(struct leat_aton_group *g)
{
    for (int turn = 0; turn < TURNS_MAX && !g->is_over; turn++) {
        if (is_broken(g)) return LEAT_ATON_GROUP_BROKEN;
        if (g->is_under_way) {
            if (!finish_order(g)) break;
            continue;
        }
        read_mail(g);
        if (g->is_over) break;
        if (!wants(g)) {
            remind_member(g);
            if (!wants(g)) break;
        }
        send_order(g);
    }
    return g->is_over ? LEAT_ATON_GROUP_OVER : LEAT_ATON_GROUP_WORKS;
}

void leat_aton_group_wait(struct leat_aton_group *g, uint64_t timeout_us)
{
    struct leat_aton_host *s = g->station;
    const struct timespec pause = { .tv_nsec = (long)(timeout_us * 1000) };
    struct pollfd wait = { .fd = s->receive_fd, .events = POLLIN };
    if (g->is_under_way)
        ppoll(&wait, 1, &pause, NULL);
    else
        s->driver->wait_for_mail(&s->seat, (int)((timeout_us + 999) / 1000));
}

const char *leat_aton_group_why(const struct leat_aton_group *g)
{
    return g->why;
}

void leat_aton_group_count(const struct leat_aton_group *g, struct leat_aton_group_counts *out)
{
    *out = g->counts;
}
