#include "aton_collect.h"
#include "leat_bytes.h"
#include <assert.h>
#include <stdatomic.h>

enum { READY = 1, NOT_READY, FLAG_BITS = 16, WORD_BITS = 64 };
enum { CAREFUL_NOT_READY = 3 }; /* ready: 1 or 2 */
enum { CHARGES_OF_A_PASS = 4096 };
enum { IS_COLLECTIVE = 0x80, EPOCH_AT = 2, NUMBER_AT = 4 };

/* ---- passive packets of groups --------------------------------------------------------------- */

bool leat_aton_collect_head_decode(const uint8_t *octets, size_t len,
                                   struct leat_aton_collect_head *out)
{
    if (len < LEAT_ATON_COLLECT_HEAD_LEN ||
        octets[0] < (IS_COLLECTIVE | LEAT_ATON_COLLECT_CHARGE) ||
        octets[0] > (IS_COLLECTIVE | LEAT_ATON_COLLECT_CAST) ||
        octets[1] >= LEAT_ATON_COLLECT_GROUPS_MAX)
        return false;
    *out = (struct leat_aton_collect_head){
        .kind = (enum leat_aton_collect_kind)(octets[0] - IS_COLLECTIVE),
        .group = octets[1],
        .epoch = leat_get_be16(octets + EPOCH_AT),
        .number = leat_get_be32(octets + NUMBER_AT),
    };
    return true;
}

void leat_aton_collect_head_encode(const struct leat_aton_collect_head *head, uint8_t *octets)
{
    octets[0] = (uint8_t)(IS_COLLECTIVE | head->kind);
    octets[1] = head->group;
    leat_put_be16(octets + EPOCH_AT, head->epoch);
    leat_put_be32(octets + NUMBER_AT, head->number);
}

/* ---- registers ------------------------------------------------------------------------------- */

static uint32_t first_register(const struct leat_aton_member *m)
{
    return (uint32_t)m->group * LEAT_ATON_COLLECT_REGISTERS;
}

static uint8_t flag_register(const struct leat_aton_member *m, uint32_t pass)
{
    return (uint8_t)(first_register(m) + pass % LEAT_ATON_COLLECT_FLAGS);
}

static uint8_t word_register(const struct leat_aton_member *m, uint32_t i)
{
    return (uint8_t)(first_register(m) + LEAT_ATON_COLLECT_FLAGS + i);
}

static bool is_complemented(enum leat_port_fold fold)
{
    return fold == LEAT_PORT_AND || fold == LEAT_PORT_MIN;
}

static uint8_t opcode_of(enum leat_port_fold fold)
{
    switch (fold) {
    case LEAT_PORT_SUM: return LEAT_ATON_ADD;
    case LEAT_PORT_AND:
    case LEAT_PORT_OR: return LEAT_ATON_OR;
    case LEAT_PORT_XOR: return LEAT_ATON_BITCOUNT;
    case LEAT_PORT_MAX:
    case LEAT_PORT_MIN: return LEAT_ATON_MAX;
    case LEAT_PORT_FOLDS: break;
    }
    return 0;
}

/* A careful member's value differs from that of the pass before the last, which has the same flag:
 * others see whether it is late or has gone on. */
static uint16_t ready_for(const struct leat_aton_member *m, uint32_t pass)
{
    return m->members ? (uint16_t)(READY + pass / LEAT_ATON_COLLECT_FLAGS % 2) : READY;
}

static uint16_t not_ready(const struct leat_aton_member *m)
{
    return m->members ? CAREFUL_NOT_READY : NOT_READY;
}

/* The words of the next pass. A packet that finds the flag also finds the words; one that still
 * finds that of the pass before finds none of them. */
static void load(struct leat_aton_member *m)
{
    const uint32_t left = m->words - m->at;
    m->count = left < LEAT_ATON_COLLECT_WORDS ? left : LEAT_ATON_COLLECT_WORDS;
    m->folded = 0;
    m->has_result = false;
    m->borrows = false;
    m->doubts = m->misses = 0;
    m->operand[flag_register(m, m->pass + 1)] = not_ready(m);
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < m->count; i++) {
        const uint64_t word = m->word[m->at + i];
        m->operand[word_register(m, i)] = is_complemented(m->fold) ? ~word : word;
    }
    atomic_thread_fence(memory_order_release);
    m->operand[flag_register(m, m->pass)] = ready_for(m, m->pass);
    m->state = m->has_charge ? LEAT_ATON_MEMBER_ASKS : LEAT_ATON_MEMBER_WAITS;
}

/* True: the fold is over. A careful member may make a charge anew, without knowing how many there
 * were: the numbers of a pass begin behind those of all passes before. */
static bool end_pass(struct leat_aton_member *m)
{
    m->pass++;
    const uint32_t first_charge = m->pass * CHARGES_OF_A_PASS;
    if (m->members && (int32_t)(first_charge - m->charge) > 0) m->charge = first_charge;
    m->at += m->count;
    m->state = LEAT_ATON_MEMBER_AWAY;
    if (m->at < m->words) load(m);
    return m->state == LEAT_ATON_MEMBER_AWAY;
}

void leat_aton_member_join(struct leat_aton_member *m, uint8_t group, uint16_t epoch, bool is_first,
                           uint16_t members, volatile uint64_t *operand)
{
    assert(group < LEAT_ATON_COLLECT_GROUPS_MAX);
    *m = (struct leat_aton_member){ .operand = operand,
                                    .group = group,
                                    .epoch = epoch,
                                    .has_charge = is_first,
                                    .members = members };
    for (uint32_t i = 0; i < LEAT_ATON_COLLECT_WORDS; i++)
        operand[word_register(m, i)] = 0;
    for (uint32_t i = 0; i < LEAT_ATON_COLLECT_FLAGS; i++)
        operand[flag_register(m, i)] = not_ready(m);
}

void leat_aton_member_leave(struct leat_aton_member *m)
{
    assert(m->state == LEAT_ATON_MEMBER_AWAY || m->members);
    for (uint32_t i = 0; i < LEAT_ATON_COLLECT_REGISTERS; i++)
        m->operand[first_register(m) + i] = 0;
}

void leat_aton_member_enter(struct leat_aton_member *m, enum leat_port_fold fold, uint64_t *word,
                            uint32_t words)
{
    assert(m->state == LEAT_ATON_MEMBER_AWAY);
    m->fold = fold;
    m->word = word;
    m->words = words;
    m->at = 0;
    load(m);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void put_packet(const struct leat_aton_member *m, uint8_t *octets,
                       struct leat_aton_order *order)
{
    const bool tells = m->state == LEAT_ATON_MEMBER_TELLS;
    const struct leat_aton_collect_head head = {
        .kind = tells ? LEAT_ATON_COLLECT_RESULT : LEAT_ATON_COLLECT_CHARGE,
        .group = m->group,
        .epoch = m->epoch,
        .number = tells ? m->pass : m->charge,
    };
    const uint32_t words = tells ? m->count : 0;
    leat_aton_collect_head_encode(&head, octets);
    for (uint32_t i = 0; i < words; i++)
        leat_put_be64(octets + LEAT_ATON_COLLECT_HEAD_LEN + 8 * i, m->word[m->at + i]);
    order->is_passive = true;
    order->command.da = tells ? LEAT_ATON_DA_ALL : m->missing;
    order->octets = octets;
    order->octets_len = (uint16_t)(LEAT_ATON_COLLECT_HEAD_LEN + 8 * words);
}

static bool asks(const struct leat_aton_member *m)
{
    return m->state == LEAT_ATON_MEMBER_ASKS || m->state >= LEAT_ATON_MEMBER_LOOKS;
}

void leat_aton_member_remind(struct leat_aton_member *m)
{
    if (!m->members || m->state != LEAT_ATON_MEMBER_WAITS) return;
    m->borrows = true;
    m->state = LEAT_ATON_MEMBER_ASKS;
}

void leat_aton_member_order(const struct leat_aton_member *m, struct leat_aton_order *order,
                            uint8_t *octets)
{
    assert(leat_aton_member_wants(m));
    *order = (struct leat_aton_order){ .command.da = LEAT_ATON_DA_ALL };
    if (asks(m)) {
        const bool counts = m->members && m->state != LEAT_ATON_MEMBER_LOOKS;
        const uint32_t pass = m->state == LEAT_ATON_MEMBER_PROBES ? m->pass + 1 : m->pass;
        order->command.opcode = counts ? LEAT_ATON_EQ : LEAT_ATON_MAX;
        order->command.value_given = counts;
        order->command.value = counts ? ready_for(m, pass) : 0;
        order->command.width_bits = FLAG_BITS;
        order->command.reg = flag_register(m, pass);
    } else if (m->state == LEAT_ATON_MEMBER_FOLDS) {
        order->command.opcode = opcode_of(m->fold);
        order->command.width_bits = WORD_BITS;
        order->command.reg = word_register(m, m->folded);
        order->command.param = m->fold == LEAT_PORT_XOR; /* bits of a counter */
    } else {
        put_packet(m, octets, order);
    }
}

static void pass_on(struct leat_aton_member *m, const struct leat_aton_result *result)
{
    m->missing = (uint16_t)result->variable2;
    m->charge++;
    m->has_charge = false;
    m->state = LEAT_ATON_MEMBER_PASSES_ON;
}

static void fail(struct leat_aton_member *m, enum leat_aton_member_fault fault)
{
    m->fault = fault;
    m->state = LEAT_ATON_MEMBER_WAITS;
}

/* Members become ready between two queries, each of them once: more contradictions than members are
 * not of this kind. */
static void doubt(struct leat_aton_member *m)
{
    m->state = LEAT_ATON_MEMBER_ASKS;
    if (m->doubts++ > m->members) fail(m, LEAT_ATON_MEMBER_GONE);
}

static void on_count(struct leat_aton_member *m, uint64_t ready)
{
    if (ready > m->members)
        fail(m, LEAT_ATON_MEMBER_GONE);
    else if (m->state == LEAT_ATON_MEMBER_PROBES) {
        m->borrows = false;
        m->state = LEAT_ATON_MEMBER_WAITS;
        m->misses = ready ? m->misses + 1 : 0;
    } else if (m->state == LEAT_ATON_MEMBER_CHECKS) {
        if (ready == m->members)
            m->state = LEAT_ATON_MEMBER_TELLS;
        else
            doubt(m);
    } else if (ready < m->members) {
        m->state = LEAT_ATON_MEMBER_LOOKS;
    } else {
        m->folded = 0;
        m->state = m->count ? LEAT_ATON_MEMBER_FOLDS : LEAT_ATON_MEMBER_TELLS;
    }
}

static void on_look(struct leat_aton_member *m, const struct leat_aton_result *result)
{
    if (result->variable1 > CAREFUL_NOT_READY)
        fail(m, LEAT_ATON_MEMBER_GONE);
    else if (result->variable1 != CAREFUL_NOT_READY)
        doubt(m);
    else if (!m->has_charge)
        m->state = LEAT_ATON_MEMBER_PROBES;
    else
        pass_on(m, result);
}

static void on_answer(struct leat_aton_member *m, const struct leat_aton_result *result)
{
    if (result->variable1 != READY)
        pass_on(m, result);
    else
        m->state = m->count ? LEAT_ATON_MEMBER_FOLDS : LEAT_ATON_MEMBER_TELLS;
}

static void on_folded(struct leat_aton_member *m, const struct leat_aton_result *result,
                      const uint8_t *payload)
{
    uint64_t word = result->variable1;
    for (unsigned i = 0; m->fold == LEAT_PORT_XOR && i < WORD_BITS; i++)
        word |= (uint64_t)(payload[i] & 1) << i; /* Variable-1 is 0 */
    m->word[m->at + m->folded++] = is_complemented(m->fold) ? ~word : word;
    if (m->folded == m->count)
        m->state = m->members ? LEAT_ATON_MEMBER_CHECKS : LEAT_ATON_MEMBER_TELLS;
}

bool leat_aton_member_done(struct leat_aton_member *m, const struct leat_aton_result *result,
                           const uint8_t *payload)
{
    const bool has_failed = result->status != LEAT_ATON_DONE || !result->copied;
    if (has_failed && !m->has_result) return false; /* the same once more */
    switch (m->state) {
    case LEAT_ATON_MEMBER_ASKS:
        if (m->members)
            on_count(m, result->variable2);
        else
            on_answer(m, result);
        break;
    case LEAT_ATON_MEMBER_CHECKS:
    case LEAT_ATON_MEMBER_PROBES: on_count(m, result->variable2); break;
    case LEAT_ATON_MEMBER_LOOKS: on_look(m, result); break;
    case LEAT_ATON_MEMBER_FOLDS: on_folded(m, result, payload); break;
    case LEAT_ATON_MEMBER_PASSES_ON:
        m->state = LEAT_ATON_MEMBER_WAITS;
        return m->has_result && end_pass(m);
    case LEAT_ATON_MEMBER_TELLS:
        m->has_charge = true; /* even if it has asked without: the charge may have been lost */
        return end_pass(m);
    case LEAT_ATON_MEMBER_AWAY:
    case LEAT_ATON_MEMBER_WAITS: break; /* they send nothing */
    }
    return false;
}

/* ---- packets that arrive --------------------------------------------------------------------- */

/* Each one is taken once, even if it comes twice. */
static void on_charge(struct leat_aton_member *m, uint32_t number)
{
    if ((int32_t)(number - m->charge) <= 0) return;
    m->charge = number;
    m->has_charge = true;
    if (m->state == LEAT_ATON_MEMBER_WAITS) m->state = LEAT_ATON_MEMBER_ASKS;
}

/* If the packet with the charge has arrived but returned damaged, the result may come first. To a
 * careful member, also if others have asked without the charge; no order of it is under way. */
static bool on_result(struct leat_aton_member *m, const uint8_t *octets, size_t len)
{
    const bool passes_on = m->state == LEAT_ATON_MEMBER_PASSES_ON;
    const bool is_busy = m->state != LEAT_ATON_MEMBER_WAITS && !passes_on;
    if (m->state == LEAT_ATON_MEMBER_AWAY || (is_busy && !m->members) ||
        len != 8 * (size_t)m->count)
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        m->word[m->at + i] = leat_get_be64(octets + 8 * i);
    m->has_result = true;
    m->has_charge = false; /* whoever has told it keeps the charge */
    return !passes_on && end_pass(m);
}

bool leat_aton_member_receive(struct leat_aton_member *m, const uint8_t *octets, size_t len)
{
    struct leat_aton_collect_head head;
    if (!leat_aton_collect_head_decode(octets, len, &head) || head.group != m->group ||
        head.epoch != m->epoch)
        return false;
    if (head.kind == LEAT_ATON_COLLECT_CHARGE) on_charge(m, head.number);
    return head.kind == LEAT_ATON_COLLECT_RESULT && head.number == m->pass &&
           on_result(m, octets + LEAT_ATON_COLLECT_HEAD_LEN, len - LEAT_ATON_COLLECT_HEAD_LEN);
}
