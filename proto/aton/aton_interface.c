/* The input machine, and the output as far as it follows the input. */
#include "aton_interface_parts.h"

enum { J = LEAT_ATON_J };
/* TREE: what happens to the current slot; REPEATED: and to all after it. */
enum { SLOT_MET, SLOT_TAKEN, SLOT_PASSED, SLOT_REPEATED };

void leat_aton_station_init(struct leat_aton_station *s, uint16_t address, uint8_t *buffer,
                            uint32_t buffer_cap)
{
    *s = (struct leat_aton_station){ .buffer = buffer, .buffer_cap = buffer_cap };
    s->it.address = address;
    s->it.enabled = 1;
}

void leat_aton_station_reset(struct leat_aton_station *s)
{
    s->role = LEAT_ATON_ROLE_REPEATS;
    s->in = (struct leat_aton_place){ .phase = LEAT_ATON_HUNTS };
    s->delay = s->broken = s->tokens = 0;
    s->is_empty = 0;
    s->silence = 0;
    s->opcode = 0;
}

void leat_aton_station_purge(struct leat_aton_station *s)
{
    s->role = LEAT_ATON_ROLE_PURGES;
    s->purge_left = s->ring_bits;
    s->silence = 0;
}

/* ---- fields --------------------------------------------------------------------------------- */

static uint32_t item_symbols(const struct aton_head *head)
{
    if (!head->active) return 8u * head->count;
    if (head->opcode == LEAT_ATON_SORT) return (uint32_t)head->width_bits * head->count;
    if (head->opcode == LEAT_ATON_BITCOUNT) return (uint32_t)head->width_bits * head->param;
    return (head->width_bits + 1u) * head->param;
}

static struct leat_aton_place place(enum leat_aton_phase phase, uint32_t len)
{
    return (struct leat_aton_place){ .phase = (uint8_t)phase, .len = len };
}

struct leat_aton_place leat_aton_place_after(enum leat_aton_phase phase,
                                             const struct aton_head *head)
{
    const bool folds = head->active && head->opcode < LEAT_ATON_SORT;
    if (phase == LEAT_ATON_IN_AC) return place(LEAT_ATON_IN_CTL, ATON_FIELD_LEN);
    if (phase == LEAT_ATON_IN_CTL) return place(LEAT_ATON_IN_DA, ATON_FIELD_LEN);
    if (phase == LEAT_ATON_IN_DA) return place(LEAT_ATON_IN_SA, ATON_FIELD_LEN);
    if (phase == LEAT_ATON_IN_SA) return place(LEAT_ATON_IN_COUNT, ATON_FIELD_LEN);
    if (phase == LEAT_ATON_IN_COUNT && folds) return place(LEAT_ATON_IN_V1, head->width_bits);
    if (phase == LEAT_ATON_IN_COUNT && head->active)
        return place(LEAT_ATON_IN_PARAM, ATON_FIELD_LEN);
    if (phase == LEAT_ATON_IN_V1) return place(LEAT_ATON_IN_V2, head->width_bits);
    if (phase == LEAT_ATON_IN_TRAILER) return place(LEAT_ATON_HUNTS, 0);
    if ((phase == LEAT_ATON_IN_COUNT || phase == LEAT_ATON_IN_PARAM) && item_symbols(head))
        return place(LEAT_ATON_IN_ITEMS, item_symbols(head));
    return place(LEAT_ATON_IN_TRAILER, ATON_TRAILER_LEN);
}

/* ---- the ends of fields --------------------------------------------------------------------- */

/* CTL is complete. An illegal one ends the packet here: the rest is repeated. */
static bool on_ctl(struct leat_aton_station *s)
{
    struct leat_aton_packet head = { 0 };
    s->ctl = (uint16_t)s->shift;
    if (leat_aton_ctl_decode(s->ctl, &head) != LEAT_ERR_OK) return false;
    s->active = head.active;
    s->opcode = head.opcode;
    s->width_bits = head.width_bits;
    return true;
}

static void on_da(struct leat_aton_station *s)
{
    s->da = (uint16_t)s->shift;
    s->addressed = s->role == LEAT_ATON_ROLE_REPEATS && /* else it strips */
                   leat_aton_is_meant(&s->it, s->ctl >> LEAT_ATON_CTL_GROUP & 1, s->da);
}

/* Together with the first bit of the data. */
static void fetch(struct leat_aton_station *s)
{
    const unsigned reg = s->ctl >> LEAT_ATON_CTL_REGISTER & LEAT_ATON_REGISTER_MAX;
    s->takes_part = s->active && s->addressed && s->it.enabled;
    s->x = s->it.operand[reg] & leat_aton_mask(s->width_bits);
    s->crc_out = s->crc_in;
    s->carry = 1; /* for Counter */
    s->relation = LEAT_ATON_UNDECIDED;
    s->copies = 0;
    s->item_at = s->received_len = 0;
    s->inserted = s->slot = 0;
    s->slot_state = SLOT_MET;
}

static void on_count(struct leat_aton_station *s)
{
    s->count = (uint16_t)s->shift;
    s->copies = !s->active && s->addressed && s->count <= s->buffer_cap;
    s->carry = 0; /* for Variable-1 */
}

static bool on_param(struct leat_aton_station *s)
{
    s->param = (uint16_t)s->shift;
    if (s->opcode == LEAT_ATON_SORT) return s->param == 0;
    if (s->opcode == LEAT_ATON_BITCOUNT)
        return s->param >= 1 && s->param <= LEAT_ATON_COUNTER_BITS_MAX;
    return s->param >= 1 && s->param <= LEAT_ATON_SLOTS_MAX;
}

/* The result of Variable-1 presets the unit for Variable-2; ADD's carry is already there. */
static void on_v1(struct leat_aton_station *s)
{
    s->v1 = s->shift;
    if (s->opcode >= LEAT_ATON_EQ) s->carry = leat_aton_is_counted(s->opcode, s->relation);
}

/* False: this is no packet (or it was a token); the rest is only repeated. */
static bool leave(struct leat_aton_station *s)
{
    switch ((enum leat_aton_phase)s->in.phase) {
    case LEAT_ATON_IN_AC:
        s->reservation = s->shift & 7;
        s->silence = 0; /* only now: half an AC that circulates is no sign of life */
        return !(s->shift >> LEAT_ATON_AC_TOKEN & 1);
    case LEAT_ATON_IN_CTL: return on_ctl(s);
    case LEAT_ATON_IN_DA: on_da(s); return true;
    case LEAT_ATON_IN_SA: s->sa = (uint16_t)s->shift; return true;
    case LEAT_ATON_IN_COUNT: on_count(s); return true;
    case LEAT_ATON_IN_PARAM: return on_param(s);
    case LEAT_ATON_IN_V1: on_v1(s); return true;
    case LEAT_ATON_IN_V2: s->v2 = s->shift; return true;
    case LEAT_ATON_IN_TRAILER: s->broken = 0; return true;
    case LEAT_ATON_HUNTS:
    case LEAT_ATON_IN_DELIMITER:
    case LEAT_ATON_IN_ITEMS: break;
    }
    return true;
}

/* To the next field. */
static void advance(struct leat_aton_station *s)
{
    if (!leave(s)) {
        s->broken = s->in.phase != LEAT_ATON_IN_AC; /* its end is still to come */
        s->in = place(LEAT_ATON_HUNTS, 0);
        return;
    }
    const struct aton_head head = { s->active, s->opcode, s->width_bits, s->count, s->param };
    s->in = leat_aton_place_after(s->in.phase, &head);
    s->shift = 0;
    if (s->in.phase != LEAT_ATON_IN_TRAILER) return;
    s->syndrome = s->flags = 0;
    s->delay = s->takes_part && s->opcode == LEAT_ATON_SORT ? s->width_bits : 0;
    s->in.len += s->delay;
}

/* ---- folding -------------------------------------------------------------------------------- */

/* ADD (and a slot's default), AND, OR, MAX, MIN; the other commands only compare. */
static unsigned fold_bit(struct leat_aton_station *s, unsigned op, unsigned bit, unsigned operand)
{
    if (op <= LEAT_ATON_ADD) return leat_aton_add_bit(&s->carry, bit, operand);
    if (op == LEAT_ATON_AND) return bit & operand;
    if (op == LEAT_ATON_OR) return bit | operand;
    leat_aton_compare_bit(&s->relation, bit, operand);
    return op <= LEAT_ATON_MIN ? leat_aton_select_bit(op, s->relation, bit, operand) : bit;
}

static unsigned fold_v1(struct leat_aton_station *s, unsigned bit)
{
    const bool lsb_first = s->opcode <= LEAT_ATON_OR;
    return fold_bit(s, s->opcode, bit, aton_bit(s->x, s->in.at, s->width_bits, lsb_first));
}

static unsigned fold_v2(struct leat_aton_station *s, unsigned bit)
{
    const unsigned op = s->opcode;
    if (op == LEAT_ATON_ADD || op >= LEAT_ATON_EQ) return leat_aton_increment_bit(&s->carry, bit);
    if (op >= LEAT_ATON_MAX && leat_aton_is_selected(op, s->relation))
        return leat_aton_address_bit(s->it.address, s->in.at);
    return bit;
}

/* SORT: the shift register outputs the symbol of W bit times ago and takes the current one. */
static unsigned line_shift(struct leat_aton_station *s, unsigned symbol)
{
    const unsigned top = s->width_bits - 1u;
    const unsigned old = (unsigned)((s->line_low >> top & 1) | (s->line_high >> top & 1) << 1);
    s->line_low = s->line_low << 1 | (symbol & 1);
    s->line_high = s->line_high << 1 | symbol >> 1;
    return old;
}

static unsigned sort_bit(struct leat_aton_station *s, unsigned bit)
{
    const unsigned old = line_shift(s, bit);
    if (s->inserted) return old;
    const unsigned operand = aton_bit(s->x, s->item_at, s->width_bits, false);
    leat_aton_compare_bit(&s->relation, bit, operand);
    const unsigned out = s->relation == LEAT_ATON_LESS ? operand : bit;
    if (++s->item_at == s->width_bits) {
        s->inserted = s->relation == LEAT_ATON_LESS;
        s->relation = LEAT_ATON_UNDECIDED;
        s->item_at = 0;
    }
    return out;
}

static unsigned bitcount_bit(struct leat_aton_station *s, unsigned bit)
{
    if (s->item_at == 0) s->carry = s->x >> s->slot++ & 1;
    if (++s->item_at == s->param) s->item_at = 0;
    return leat_aton_increment_bit(&s->carry, bit);
}

/* A bit of a valid slot and one of the carry word, which becomes op_h(slot, carry). */
static void tree_fold(struct leat_aton_station *s, unsigned bit, unsigned at)
{
    const bool lsb_first = aton_slot_is_lsb_first(&s->it, s->slot);
    const unsigned operand = aton_bit(s->x, at, s->width_bits, lsb_first);
    const unsigned op = s->it.tree[s->slot] & LEAT_ATON_TREE_OP;
    const unsigned folded = fold_bit(s, op, bit, operand);
    s->slot_value = lsb_first ? s->slot_value | (uint64_t)folded << at
                              : s->slot_value << 1 | folded;
    if (op >= LEAT_ATON_EQ) s->slot_value = leat_aton_is_counted(op, s->relation);
}

/* The result goes back into the slot, whose symbols are out already: a valid bit and W bits. The
 * CRC takes them instead of those that went out. */
static unsigned put_back(struct leat_aton_station *s)
{
    const bool lsb_first = s->it.tree[s->slot] & LEAT_ATON_BACK_LSB_FIRST;
    s->patch_len = s->width_bits + 1u;
    s->patch[0] = 1;
    s->patch[1] = 0;
    s->crc_out = leat_aton_crc_bit(s->slot_crc, 1);
    for (unsigned i = 0; i < s->width_bits; i++) {
        const unsigned bit = aton_bit(s->slot_value, i, s->width_bits, lsb_first);
        s->patch[(i + 1) / 64] |= (uint64_t)bit << (i + 1) % 64;
        s->crc_out = leat_aton_crc_bit(s->crc_out, bit);
    }
    s->slot_state = SLOT_TAKEN; /* it has taken x */
    return LEAT_ATON_EVENT_PATCH;
}

static unsigned tree_bit(struct leat_aton_station *s, unsigned bit)
{
    unsigned events = 0;
    const unsigned at = s->item_at++;
    unsigned out = bit;
    if (at == 0) {
        s->carry = 0;
        s->relation = LEAT_ATON_UNDECIDED;
        s->slot_value = 0;
        s->slot_crc = s->crc_out;
        if (s->slot_state == SLOT_REPEATED) return bit;
        s->slot_state = bit ? SLOT_MET : SLOT_TAKEN;
        if (s->it.tree[s->slot] == LEAT_ATON_PASS) s->slot_state = SLOT_PASSED;
        return s->slot_state == SLOT_PASSED ? bit : !bit;
    }
    if (s->slot_state == SLOT_MET) {
        tree_fold(s, bit, at - 1);
        out = 0;
    } else if (s->slot_state == SLOT_TAKEN) {
        out = aton_bit(s->x, at - 1, s->width_bits, aton_slot_is_lsb_first(&s->it, s->slot));
    }
    if (at == s->width_bits) {
        if (s->slot_state == SLOT_MET) s->x = s->slot_value;
        if (s->slot_state == SLOT_MET && s->it.tree[s->slot] & LEAT_ATON_BACK) events = put_back(s);
        if (s->slot_state == SLOT_TAKEN) s->slot_state = SLOT_REPEATED;
        s->item_at = 0;
        s->slot++;
    }
    return out | events;
}

static unsigned fold_items(struct leat_aton_station *s, unsigned bit)
{
    if (s->opcode == LEAT_ATON_SORT) return sort_bit(s, bit);
    return s->opcode == LEAT_ATON_BITCOUNT ? bitcount_bit(s, bit) : tree_bit(s, bit);
}

/* ---- storing a payload, as the octet image has it -------------------------------------------- */

static void keep_octets(struct leat_aton_station *s, uint64_t value, unsigned len)
{
    if (s->received_len + len > s->buffer_cap) {
        s->broken = 1;
        return;
    }
    while (len-- > 0)
        s->buffer[s->received_len++] = (uint8_t)(value >> 8 * len);
}

static void keep_bit(struct leat_aton_station *s, unsigned bit)
{
    const bool tree = s->active && s->opcode == LEAT_ATON_TREE;
    const bool bitcount = s->active && s->opcode == LEAT_ATON_BITCOUNT;
    const unsigned bits = !s->active ? 8 : bitcount ? s->param : s->width_bits;
    if (tree && s->item_at == 0) {
        keep_octets(s, bit, 1);
        s->item_at = 1;
        return;
    }
    const unsigned at = s->item_at++ - tree;
    const bool lsb_first = bitcount || (tree && aton_slot_is_lsb_first(&s->it, s->slot));
    s->shift = lsb_first ? s->shift | (uint64_t)bit << at : s->shift << 1 | bit;
    if (at + 1 < bits) return;
    keep_octets(s, s->shift, (bits + 7) / 8);
    s->shift = s->item_at = 0;
    s->slot++;
}

/* ---- the end of a packet -------------------------------------------------------------------- */

static unsigned end_sending(struct leat_aton_station *s, const struct leat_aton_result *result)
{
    const bool is_empty = s->is_empty;
    s->is_empty = 0;
    leat_aton_station_release(s);
    s->collects = result->status == LEAT_ATON_DONE;
    if (is_empty) return 0;
    s->result = *result;
    return LEAT_ATON_EVENT_RESULT;
}

static unsigned give_up(struct leat_aton_station *s, enum leat_aton_status status)
{
    const struct leat_aton_result nothing = { .status = (uint8_t)status };
    return end_sending(s, &nothing);
}

static bool is_sound(const struct leat_aton_station *s)
{
    return !s->syndrome && !s->broken && !s->error && s->flags >> 4 == (s->flags & 15) &&
           !(s->flags & LEAT_ATON_FLG_ZERO);
}

/* E is complete. */
static unsigned on_end(struct leat_aton_station *s)
{
    if (s->role == LEAT_ATON_ROLE_REPEATS)
        return s->copies && is_sound(s) ? LEAT_ATON_EVENT_RECEIVED : 0;
    if (s->role != LEAT_ATON_ROLE_SENDS) return 0;
    if (!is_sound(s) || !leat_aton_send_is_own(s)) return give_up(s, LEAT_ATON_DAMAGED);
    const bool folds = s->active && s->opcode < LEAT_ATON_SORT;
    const struct leat_aton_result result = {
        .status = LEAT_ATON_DONE,
        .recognised = (s->flags & LEAT_ATON_FLG_A) != 0,
        .copied = (s->flags & LEAT_ATON_FLG_C) != 0,
        .counter = s->active ? s->count : 0,
        .variable1 = folds ? s->v1 : 0,
        .variable2 = folds ? s->v2 : 0,
        .payload_len = s->active ? s->received_len : 0,
    };
    return end_sending(s, &result);
}

/* ---- trailer -------------------------------------------------------------------------------- */

/* FLG, CRC and ED at the input. */
static unsigned trailer_in(struct leat_aton_station *s, unsigned symbol)
{
    const uint32_t at = s->in.at;
    if (at < ATON_FLG_LEN) {
        s->flags = (uint8_t)((unsigned)s->flags << 1 | symbol);
        s->crc_in = leat_aton_crc_bit(s->crc_in, 0);
    } else if (at < ATON_ED_AT) {
        s->syndrome |= (symbol ^ leat_aton_crc_out(&s->crc_in)) << (at - ATON_FLG_LEN);
    } else if (at < ATON_ED_AT + ATON_ED_FIXED_LEN) {
        if (symbol != aton_ending[at - ATON_ED_AT]) s->broken = 1;
    } else if (at < ATON_TRAILER_LEN) {
        if (symbol > 1) s->broken = 1;
        s->error = symbol != 0; /* the last one is E */
        if (at == ATON_TRAILER_LEN - 1) return on_end(s);
    }
    return 0;
}

/* The same at the output, `at` symbols after the first of FLG. */
static unsigned trailer_out(struct leat_aton_station *s, unsigned symbol, uint32_t at)
{
    if (at < ATON_FLG_LEN) {
        const bool is_a = at % 4 == 0, is_c = at % 4 == 1;
        s->crc_out = leat_aton_crc_bit(s->crc_out, 0);
        return symbol | (is_a && (s->takes_part || (!s->active && s->addressed))) |
               (is_c && (s->takes_part || s->copies));
    }
    if (at < ATON_ED_AT && s->takes_part) /* the syndrome is passed on */
        return leat_aton_crc_out(&s->crc_out) ^ (s->syndrome >> (at - ATON_FLG_LEN) & 1);
    if (at == ATON_TRAILER_LEN - 1) return symbol | (s->syndrome || s->broken);
    return symbol;
}

static unsigned trailer_symbol(struct leat_aton_station *s, unsigned symbol)
{
    const uint32_t at = s->in.at;
    const unsigned events = trailer_in(s, symbol);
    if (!s->delay) return trailer_out(s, symbol, at) | events;
    const unsigned old = line_shift(s, symbol);
    if (at >= s->delay) return trailer_out(s, old, at - s->delay) | events;
    const unsigned bit = s->inserted ? old : aton_bit(s->x, at, s->width_bits, false);
    s->crc_out = leat_aton_crc_bit(s->crc_out, bit);
    return bit | events;
}

/* ---- delimiters, token, monitor -------------------------------------------------------------- */

/*
 * The monitor's time-out for an AC: a packet, and then the token, may take a round each. A SORT
 * packet grows by W bits at every interface after the monitor.
 */
static uint32_t silence_max(const struct leat_aton_station *s)
{
    const uint32_t grows = s->opcode == LEAT_ATON_SORT ? s->width_bits * s->ring_bits : 0;
    return 4 * s->ring_bits + 64 + grows;
}

static unsigned on_silence(struct leat_aton_station *s)
{
    unsigned events = LEAT_ATON_EVENT_SILENCE;
    if (s->role == LEAT_ATON_ROLE_SENDS) events |= give_up(s, LEAT_ATON_LOST);
    leat_aton_station_purge(s);
    return events;
}

static unsigned hunt(struct leat_aton_station *s, unsigned symbol)
{
    if (symbol == J) s->in = (struct leat_aton_place){ .phase = LEAT_ATON_IN_DELIMITER, .at = 1 };
    const bool waits = s->role == LEAT_ATON_ROLE_REPEATS || s->role == LEAT_ATON_ROLE_SENDS;
    if (s->is_monitor && waits && ++s->silence > silence_max(s)) return symbol | on_silence(s);
    return symbol;
}

/* J or K among bits: no packet contains that. */
static unsigned on_violation(struct leat_aton_station *s, unsigned symbol)
{
    s->broken = 1;
    s->delay = 0;
    s->in = symbol == J ? (struct leat_aton_place){ .phase = LEAT_ATON_IN_DELIMITER, .at = 1 }
                        : place(LEAT_ATON_HUNTS, 0);
    return symbol;
}

static void on_start(struct leat_aton_station *s)
{
    s->in = place(LEAT_ATON_IN_AC, ATON_AC_LEN);
    s->shift = 0;
    s->crc_in = LEAT_ATON_CRC_START;
    s->broken = s->error = s->takes_part = s->delay = 0;
}

/* An unexpected ED ends a truncated packet. */
static unsigned on_early_end(struct leat_aton_station *s, unsigned symbol)
{
    const bool was_in_packet = s->broken;
    s->in = place(LEAT_ATON_HUNTS, 0);
    s->broken = 0;
    if (!was_in_packet) return symbol;
    return 1 | (s->role == LEAT_ATON_ROLE_SENDS ? give_up(s, LEAT_ATON_DAMAGED) : 0);
}

static unsigned delimiter(struct leat_aton_station *s, unsigned symbol)
{
    const uint32_t at = s->in.at++;
    if (at <= 2) s->is_end = at == 2 && symbol == 1;
    const unsigned wanted = s->is_end && at % 3 == 2 ? 1 : aton_starting[at];
    const bool free = s->is_end && at >= ATON_ED_FIXED_LEN && symbol <= 1; /* I and E */
    if (!free && symbol != wanted) {
        s->in = place(LEAT_ATON_HUNTS, 0);
        return hunt(s, symbol);
    }
    if (at < ATON_DELIMITER_LEN - 1) return symbol;
    if (s->is_end) return on_early_end(s, symbol);
    on_start(s);
    return symbol;
}

/* An interface that cannot send yet reserves its priority in the passing packet. */
static void on_packet(struct leat_aton_station *s)
{
    leat_aton_raises_see(&s->raises, s->shift & 7);
    s->tokens = 0;
    s->reserves = s->role == LEAT_ATON_ROLE_REPEATS ? aton_wanted_priority(s) : 0;
    s->relation = LEAT_ATON_UNDECIDED;
}

static unsigned on_token(struct leat_aton_station *s)
{
    const unsigned priority = s->shift & 7;
    const bool before = s->tokens;
    s->tokens = 1;
    s->opcode = 0; /* no packet is in flight */
    if (s->role == LEAT_ATON_ROLE_SENDS) return 1 | give_up(s, LEAT_ATON_LOST);
    if (s->role != LEAT_ATON_ROLE_REPEATS) return 1;
    leat_aton_raises_see(&s->raises, priority);
    const bool may_send = s->wants && (before || !s->order.when_idle) &&
                          aton_wanted_priority(s) >= priority;
    const bool lowers = leat_aton_raises_has(&s->raises, priority);
    const bool is_stale = s->is_monitor && priority && before; /* no interface lowers it */
    if (!may_send && !lowers && !is_stale) return 1;
    s->tokens = 0;
    leat_aton_send_begin(s, priority, !may_send);
    s->held = (uint8_t)(may_send || lowers ? priority : 0);
    return may_send ? LEAT_ATON_EVENT_CAPTURED : 0; /* T = 0 */
}

/* The monitor marks a packet, or has seen it before. */
static unsigned on_mark(struct leat_aton_station *s, unsigned symbol)
{
    if (!symbol) return 1;
    leat_aton_station_purge(s);
    return LEAT_ATON_EVENT_ORPHAN;
}

static unsigned reserve_bit(struct leat_aton_station *s, unsigned bit)
{
    const unsigned own = s->reserves >> (ATON_AC_LEN - 1 - s->in.at) & 1;
    leat_aton_compare_bit(&s->relation, bit, own);
    return leat_aton_select_bit(LEAT_ATON_MAX, s->relation, bit, own);
}

static unsigned ac_symbol(struct leat_aton_station *s, unsigned symbol)
{
    const uint32_t at = s->in.at;
    const bool is_packet = at > ATON_AC_T && !(s->shift >> (at - 1 - ATON_AC_T) & 1);
    const bool repeats = s->role == LEAT_ATON_ROLE_REPEATS;
    unsigned out = symbol;
    if (at == ATON_AC_T) {
        if (symbol)
            out = on_token(s);
        else
            on_packet(s);
    } else if (at == ATON_AC_M && is_packet && repeats && s->is_monitor) {
        out = on_mark(s, symbol);
    } else if (at > ATON_AC_M && is_packet && repeats) {
        out = reserve_bit(s, symbol);
    }
    s->crc_in = leat_aton_crc_bit(s->crc_in, at < ATON_AC_T ? symbol : 0);
    s->shift = s->shift << 1 | symbol;
    return out;
}

/* ---- one bit time --------------------------------------------------------------------------- */

static bool is_lsb_first(const struct leat_aton_station *s)
{
    if (s->in.phase == LEAT_ATON_IN_COUNT) return s->active;
    if (s->in.phase == LEAT_ATON_IN_V1) return s->opcode <= LEAT_ATON_OR;
    return s->in.phase == LEAT_ATON_IN_V2;
}

/* A bit of a number that this interface may change. */
static unsigned folded(struct leat_aton_station *s, unsigned bit)
{
    if (s->in.phase == LEAT_ATON_IN_COUNT) return leat_aton_increment_bit(&s->carry, bit);
    if (s->in.phase == LEAT_ATON_IN_V1) return fold_v1(s, bit);
    if (s->in.phase == LEAT_ATON_IN_V2) return fold_v2(s, bit);
    return s->in.phase == LEAT_ATON_IN_ITEMS ? fold_items(s, bit) : bit;
}

/* CTL to the end of the data: bits that the CRC covers. */
static unsigned covered_symbol(struct leat_aton_station *s, unsigned bit)
{
    if (s->in.phase == LEAT_ATON_IN_COUNT && s->in.at == 0) fetch(s);
    s->crc_in = leat_aton_crc_bit(s->crc_in, bit);
    if (s->in.phase != LEAT_ATON_IN_ITEMS)
        s->shift = is_lsb_first(s) ? s->shift | (uint64_t)bit << s->in.at : s->shift << 1 | bit;
    else if (s->copies || (s->role == LEAT_ATON_ROLE_SENDS && s->active))
        keep_bit(s, bit);
    if (!s->takes_part) return bit;
    const unsigned out = folded(s, bit);
    if (!(out & LEAT_ATON_EVENT_PATCH)) s->crc_out = leat_aton_crc_bit(s->crc_out, out);
    return out;
}

static unsigned take_in(struct leat_aton_station *s, unsigned symbol)
{
    const unsigned phase = s->in.phase;
    if (phase == LEAT_ATON_HUNTS) return hunt(s, symbol);
    if (phase == LEAT_ATON_IN_DELIMITER) return delimiter(s, symbol);
    const bool in_ed = phase == LEAT_ATON_IN_TRAILER && s->in.at >= ATON_ED_AT;
    if (symbol > 1 && !in_ed) return on_violation(s, symbol);
    unsigned out;
    if (phase == LEAT_ATON_IN_AC)
        out = ac_symbol(s, symbol);
    else if (phase == LEAT_ATON_IN_TRAILER)
        out = trailer_symbol(s, symbol);
    else
        out = covered_symbol(s, symbol);
    if (++s->in.at == s->in.len) advance(s);
    return out;
}

static unsigned purge_step(struct leat_aton_station *s)
{
    if (s->in.phase == LEAT_ATON_HUNTS && --s->purge_left == 0) leat_aton_station_release(s);
    return 0;
}

unsigned leat_aton_station_step(struct leat_aton_station *s, unsigned symbol)
{
    const enum leat_aton_role role = s->role; /* a new role begins with the next step */
    const unsigned out = take_in(s, symbol), events = out & ~3u;
    switch (role) {
    case LEAT_ATON_ROLE_REPEATS: return out;
    case LEAT_ATON_ROLE_SENDS:
        return events | (s->role == LEAT_ATON_ROLE_SENDS ? leat_aton_send_step(s) : 0);
    case LEAT_ATON_ROLE_TOKEN: return events | leat_aton_token_step(s);
    case LEAT_ATON_ROLE_PURGES: return events | purge_step(s);
    }
    return out;
}
