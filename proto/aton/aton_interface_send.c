/* The output machine when it does not repeat: its own packet, or a token. */
#include "aton_interface_parts.h"

enum { J = LEAT_ATON_J, K = LEAT_ATON_K, HEAD_LEN = 52 /* M RRR CTL DA SA */ };

static uint16_t ctl_of(const struct leat_aton_order *order)
{
    const struct leat_aton_command *c = &order->command;
    const struct leat_aton_packet packet = { .active = 1,
                                             .opcode = c->opcode,
                                             .width_bits = c->width_bits,
                                             .reg = c->reg,
                                             .group = c->group };
    return order->is_passive ? 0 : leat_aton_ctl_encode(&packet);
}

/* The length of the data. */
static struct aton_head head_of(const struct leat_aton_station *s)
{
    const struct leat_aton_command *c = &s->sent.command;
    if (s->sent.is_passive) return (struct aton_head){ .count = s->sent.octets_len };
    return (struct aton_head){ 1, c->opcode, c->width_bits, s->out_takes_part, c->param };
}

static unsigned covered(struct leat_aton_station *s, unsigned bit)
{
    s->out_crc = leat_aton_crc_bit(s->out_crc, bit);
    return bit;
}

void leat_aton_send_begin(struct leat_aton_station *s, unsigned priority, bool is_empty)
{
    s->role = LEAT_ATON_ROLE_SENDS;
    s->is_empty = is_empty;
    s->sent = (struct leat_aton_order){ .is_passive = true, .command.da = s->it.address };
    if (!is_empty) {
        s->sent = s->order;
        s->wants = 0;
    }
    s->sent_ctl = ctl_of(&s->sent);
    s->out_head = (uint64_t)s->sent_ctl << 32 | (uint64_t)s->sent.command.da << 16 | s->it.address;
    s->out = (struct leat_aton_place){ .phase = LEAT_ATON_IN_AC, .len = HEAD_LEN };
    s->out_crc = LEAT_ATON_CRC_START;
    for (unsigned i = 0; i < ATON_AC_LEN; i++) /* T, M and RRR count as 0 */
        covered(s, i < ATON_AC_T ? priority >> (ATON_AC_T - 1 - i) & 1 : 0);
}

bool leat_aton_send_is_own(const struct leat_aton_station *s)
{
    const struct leat_aton_command *c = &s->sent.command;
    if (s->ctl != s->sent_ctl || s->da != c->da || s->sa != s->it.address) return false;
    if (s->sent.is_passive) return s->count == s->sent.octets_len;
    return c->opcode < LEAT_ATON_SORT || s->param == c->param;
}

/* ---- the initial contents of a packet (spec/aton.md, "Commands") ----------------------------- */

/* The interface fetches the operand in the first bit time of the data, like every other
 * interface. */
static void fetch(struct leat_aton_station *s)
{
    const struct leat_aton_command *c = &s->sent.command;
    s->out_takes_part = leat_aton_sender_takes_part(&s->it, c);
    s->out_x = s->it.operand[c->reg] & leat_aton_mask(c->width_bits);
    leat_aton_begin_fold(&s->it, c, s->out_x, &s->out_v1, &s->out_v2);
}

/* TREE: the operand is in the first slot that this interface does not pass by. */
static unsigned slot_bit(const struct leat_aton_station *s, uint32_t at, unsigned w)
{
    const unsigned slot = at / (w + 1), bit = at % (w + 1);
    for (unsigned h = 0; h < slot; h++)
        if (s->it.tree[h] != LEAT_ATON_PASS) return 0;
    if (s->it.tree[slot] == LEAT_ATON_PASS) return 0;
    return bit ? aton_bit(s->out_x, bit - 1, w, aton_slot_is_lsb_first(&s->it, slot)) : 1;
}

static unsigned item_bit(const struct leat_aton_station *s, uint32_t at)
{
    const struct leat_aton_command *c = &s->sent.command;
    const unsigned w = c->width_bits;
    if (s->sent.is_passive) return s->sent.octets[at / 8] >> (7 - at % 8) & 1;
    if (!s->out_takes_part) return 0;
    if (c->opcode == LEAT_ATON_SORT) return aton_bit(s->out_x, at, w, false);
    if (c->opcode == LEAT_ATON_BITCOUNT)
        return at % c->param == 0 ? (unsigned)(s->out_x >> at / c->param) & 1 : 0;
    return slot_bit(s, at, w);
}

static unsigned trailer_symbol(struct leat_aton_station *s, uint32_t at)
{
    if (at < ATON_FLG_LEN) return covered(s, 0);
    return at < ATON_ED_AT ? leat_aton_crc_out(&s->out_crc) : aton_ending[at - ATON_ED_AT];
}

static unsigned symbol_of(struct leat_aton_station *s)
{
    const struct leat_aton_command *c = &s->sent.command;
    const uint32_t at = s->out.at;
    switch ((enum leat_aton_phase)s->out.phase) {
    case LEAT_ATON_IN_AC: {
        const unsigned bit = s->out_head >> (HEAD_LEN - 1 - at) & 1;
        return at < ATON_AC_LEN - ATON_AC_M ? bit : covered(s, bit); /* M RRR */
    }
    case LEAT_ATON_IN_COUNT:
        if (s->sent.is_passive)
            return covered(s, aton_bit(s->sent.octets_len, at, ATON_FIELD_LEN, false));
        if (at == 0) fetch(s);
        return covered(s, at == 0 && s->out_takes_part);
    case LEAT_ATON_IN_PARAM: return covered(s, aton_bit(c->param, at, ATON_FIELD_LEN, false));
    case LEAT_ATON_IN_V1:
        return covered(s, aton_bit(s->out_v1, at, c->width_bits, c->opcode <= LEAT_ATON_OR));
    case LEAT_ATON_IN_V2: return covered(s, s->out_v2 >> at & 1);
    case LEAT_ATON_IN_ITEMS: return covered(s, item_bit(s, at));
    case LEAT_ATON_IN_TRAILER: return trailer_symbol(s, at);
    case LEAT_ATON_HUNTS:
    case LEAT_ATON_IN_DELIMITER:
    case LEAT_ATON_IN_CTL:
    case LEAT_ATON_IN_DA:
    case LEAT_ATON_IN_SA: break; /* not phases of a sender: its head is sent as one */
    }
    return 0;
}

unsigned leat_aton_send_step(struct leat_aton_station *s)
{
    if (s->out.phase == LEAT_ATON_HUNTS) return 0; /* everything is sent */
    const unsigned symbol = symbol_of(s);
    if (++s->out.at < s->out.len) return symbol;
    const struct aton_head head = head_of(s);
    const unsigned phase = s->out.phase == LEAT_ATON_IN_AC ? LEAT_ATON_IN_SA : s->out.phase;
    s->out = leat_aton_place_after(phase, &head);
    return symbol;
}

/* ---- the token ------------------------------------------------------------------------------ */

void leat_aton_station_release(struct leat_aton_station *s)
{
    s->role = LEAT_ATON_ROLE_TOKEN;
    s->priority = s->collects = 0;
    s->out = (struct leat_aton_place){ .len = LEAT_ATON_TOKEN_SYMBOLS };
}

/* After its packet has returned, the token gets the priority that others have reserved, or this
 * interface itself for its next order. */
static void begin_token(struct leat_aton_station *s)
{
    const uint8_t own = aton_wanted_priority(s);
    const uint8_t asked = s->reservation > own ? s->reservation : own;
    if (s->collects) s->priority = leat_aton_raises_release(&s->raises, s->held, asked);
    leat_aton_raises_see(&s->raises, s->priority);
}

unsigned leat_aton_token_step(struct leat_aton_station *s)
{
    static const uint8_t token[LEAT_ATON_TOKEN_SYMBOLS] = { J, K, 0, J, K, 0, 0, 0, /* SD */
                                                            0, 0, 0, 1, 0, 0, 0, 0, /* AC */
                                                            J, K, 1, J, K, 1, 0, 0 };
    const uint32_t at = s->out.at++, ppp = at - ATON_DELIMITER_LEN;
    const unsigned events = at == 0 ? LEAT_ATON_EVENT_RELEASED : 0;
    if (at == 0) begin_token(s);
    if (s->out.at == s->out.len) s->role = LEAT_ATON_ROLE_REPEATS;
    if (ppp < ATON_AC_T) return s->priority >> (ATON_AC_T - 1 - ppp) & 1;
    return token[at] | events;
}
