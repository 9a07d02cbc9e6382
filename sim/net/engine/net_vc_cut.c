/*
 * A part of a network of routers with virtual channels: what crosses the wires to other parts.
 *
 *   a flit    at, lane << 32 | its HEAD and TAIL; a head is followed by its packet; a tail by the
 *             packet's fate and when it was lost, as far as this part knows
 *   a credit  at, CREDIT | channel
 *
 * All numbers are those of the part that receives. Each part has its own record of a packet. The
 * head takes along what changes under way; what happens to later flits is told by the tail, so that
 * the last part knows all of it when the packet ends.
 */
#include "net_vc_parts.h"
#include <string.h>

#define CREDIT (UINT64_C(1) << 63)

enum {
    COURSE_WORDS = sizeof(struct leat_net_course) / 8,
    FLIGHT_WORDS = sizeof(struct leat_net_flight) / 8,
};
_Static_assert(FLIGHT_WORDS >= 2, "a tail has two words where a head has its packet");

/* ---- sending --------------------------------------------------------------------------------- */

static void put_packet(struct leat_sim_parcel *mail, const struct leat_net_flight *flight,
                       const struct leat_net_course *course)
{
    assert(mail->cap - mail->count >= COURSE_WORDS + FLIGHT_WORDS);
    memcpy(mail->word + mail->count, course, sizeof *course);
    memcpy(mail->word + mail->count + COURSE_WORDS, flight, sizeof *flight);
    mail->count += COURSE_WORDS + FLIGHT_WORDS;
}

void leat_net_vc_post_flit(struct leat_net *net, uint32_t cut, uint32_t channel, uint32_t flit,
                           uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    const struct leat_net_cut *to = &net->topology->out_cut[cut];
    struct leat_sim_parcel *mail = &net->mail[to->part];
    const struct leat_net_flight *flight = leat_net_vc_flight(vc, flit);
    const uint32_t lane = to->port << vc->shift | channel;
    leat_net_mail_put(mail, at);
    leat_net_mail_put(mail, (uint64_t)lane << 32 | (flit & ~LEAT_NET_VC_FLIGHT));
    vc->inside--;
    if (flit & LEAT_NET_VC_HEAD) {
        put_packet(mail, flight, leat_net_vc_course(vc, flit));
    } else if (flit & LEAT_NET_VC_TAIL) {
        leat_net_mail_put(mail, flight->fate);
        leat_net_mail_put(mail, flight->fate_at);
    }
    if (flit & LEAT_NET_VC_TAIL) leat_net_flights_give(&vc->flights, flit & LEAT_NET_VC_FLIGHT);
}

void leat_net_vc_post_credit(struct leat_net *net, uint32_t cut_channel, uint64_t at)
{
    const struct leat_net_vc *vc = net->state;
    const uint32_t number = cut_channel ^ LEAT_NET_CROSSING;
    const struct leat_net_cut *to = &net->topology->in_cut[number >> vc->shift];
    struct leat_sim_parcel *mail = &net->mail[to->part];
    leat_net_mail_put(mail, at);
    leat_net_mail_put(mail, CREDIT | to->port << vc->shift | (number & vc->mask));
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* In the cycle of a wire's fault, it comes before what switches do to a packet: a cut before the
 * cycle, damage within it, and packets are discarded when all routers have acted. */
static uint32_t rank_of(enum leat_net_fate fate)
{
    return fate == LEAT_NET_CUT ? 0 : fate == LEAT_NET_CORRUPTED ? 1 : 2;
}

/* The packet was also lost elsewhere: what came first is its fate. */
static void merge_fate(struct leat_net_flight *flight, enum leat_net_fate fate, uint64_t at)
{
    const enum leat_net_fate own = (enum leat_net_fate)flight->fate;
    if (fate == LEAT_NET_DELIVERED) return;
    if (own != LEAT_NET_DELIVERED &&
        (flight->fate_at < at || (flight->fate_at == at && rank_of(own) <= rank_of(fate))))
        return;
    flight->fate = (uint8_t)fate;
    flight->fate_at = at;
}

/* Returns the words after it. */
static const uint64_t *receive_flit(struct leat_net *net, const uint64_t *word)
{
    struct leat_net_vc *vc = net->state;
    const uint64_t at = word[0];
    const uint32_t lane = (uint32_t)(word[1] >> 32), flit = (uint32_t)word[1];
    const uint32_t cut = net->topology->in_from[lane >> vc->shift] ^ LEAT_NET_CROSSING;
    uint32_t *index = &vc->arriving[cut << vc->shift | (lane & vc->mask)];
    word += 2;
    if (flit & LEAT_NET_VC_HEAD) {
        *index = leat_net_flights_take(&vc->flights);
        assert(*index != LEAT_NET_NONE);
        memcpy(&vc->flights.course[*index], word, sizeof(struct leat_net_course));
        memcpy(&vc->flights.flight[*index], word + COURSE_WORDS, sizeof(struct leat_net_flight));
        word += COURSE_WORDS + FLIGHT_WORDS;
    } else if (flit & LEAT_NET_VC_TAIL) {
        merge_fate(&vc->flights.flight[*index], (enum leat_net_fate)word[0], word[1]);
        word += 2;
    }
    vc->inside++;
    const uint32_t row = leat_net_vc_region_of(vc,
                                               leat_net_vc_in_at(vc, lane >> vc->shift)->router);
    leat_net_vc_enter(&vc->flits, leat_net_vc_slot(vc, row, at),
                      (uint64_t)lane << 32 | flit | *index);
    return word;
}

static void receive(struct leat_net *net, const struct leat_sim_parcel *mail)
{
    struct leat_net_vc *vc = net->state;
    const uint64_t *word = mail->word, *end = mail->word + mail->count;
    while (word < end) {
        assert(word[0] >= net->now);
        if (!(word[1] & CREDIT)) {
            word = receive_flit(net, word);
            continue;
        }
        const uint32_t channel = (uint32_t)word[1];
        const uint32_t router = leat_net_vc_out_at(vc, channel >> vc->shift)->router;
        leat_net_vc_enter(&vc->credits,
                          leat_net_vc_slot(vc, leat_net_vc_region_of(vc, router), word[0]),
                          channel);
        word += 2;
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static uint32_t window(const struct leat_net *net)
{
    const struct leat_net_topology *t = net->topology;
    const struct leat_net_vc *vc = net->state;
    uint32_t least = UINT32_MAX;
    for (uint32_t port = 0; port < t->outs; port++) {
        const struct leat_net_vc_out *out = leat_net_vc_out_at(vc, port);
        if ((out->to & LEAT_NET_VC_AWAY) == LEAT_NET_CROSSING)
            least = (uint32_t)leat_smaller(least, out->delay >> vc->row_bits);
    }
    for (uint32_t in = 0; in < t->ins; in++)
        if (leat_net_vc_in_at(vc, in)->back & LEAT_NET_CROSSING)
            least = (uint32_t)leat_smaller(least,
                                           leat_net_vc_in_at(vc, in)->back_delay >> vc->row_bits);
    return least;
}

static void advance(struct leat_net *net, uint64_t until)
{
    while (net->now < until)
        leat_net_vc_advance(net, until);
}

static uint64_t next(struct leat_net *net)
{
    struct leat_net_vc *vc = net->state;
    if (!leat_net_vc_is_quiet(vc)) return net->now;
    const uint64_t at = vc->waiting ? leat_sim_agenda_next(&vc->agenda) : LEAT_NEVER;
    return at < net->now ? net->now : at;
}

static void rest(const struct leat_net *net, uint64_t *since, uint64_t *moved_at)
{
    const struct leat_net_vc *vc = net->state;
    *since = vc->rests_at < net->now ? vc->rests_at : net->now;
    *moved_at = vc->moved_at;
}

static void settle(struct leat_net *net, uint64_t at)
{
    const struct leat_net_vc *vc = net->state;
    assert(at <= net->now);
    net->counts.waits -= (net->now - at) * (vc->blocked + vc->sleepers);
    net->now = at;
}

static void cut(struct leat_net *net, uint32_t in)
{
    const struct leat_net_vc *vc = net->state;
    leat_net_vc_doom_wire(net, in << vc->shift);
}

static uint32_t busy_routers(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    uint32_t requests = 0;
    for (uint32_t r = 0; r < vc->regions; r++)
        requests += vc->region[r].asking_count + vc->region[r].ports_count;
    return (requests + 1) / 2; /* about so many */
}

/* ---- a cycle in steps ------------------------------------------------------------------------ */

static void begin(struct leat_net *net, uint64_t at)
{
    struct leat_net_vc *vc = net->state;
    uint64_t due_at = at;
    vc->due = leat_sim_agenda_advance(&vc->agenda, at + 1, &due_at);
    assert(due_at == at);
    net->counts.waits += (at - net->now) * (vc->blocked + vc->sleepers);
    net->now = at;
    leat_net_vc_begin(net);
}

static const struct leat_net_packet *first_end(const struct leat_net *net)
{
    const struct leat_net_vc *vc = net->state;
    if (!vc->ended_count) return NULL;
    return &vc->flights.flight[(uint32_t)vc->ended[vc->ended_next]].packet;
}

const struct leat_net_part_engine leat_net_vc_part_engine = {
    .window = window,
    .receive = receive,
    .advance = advance,
    .next = next,
    .rest = rest,
    .settle = settle,
    .cut = cut,
    .stuck = leat_net_vc_stuck_parts,
    .busy_routers = busy_routers,
    .begin = begin,
    .first_end = first_end,
    .report_end = leat_net_vc_report_end,
    .send = leat_net_vc_send,
    .end = leat_net_vc_finish,
};
