#include "esp_member.h"
#include "esp_node.h"

static const leat_time ps_per_us = 1000000, ps_per_ms = 1000000000;

void leat_esp_member_init(struct leat_esp_member *m, const struct leat_esp_member_config *config,
                          leat_time now)
{
    *m = (struct leat_esp_member){ .config = *config,
                                   .join_at = config->join_every_ps ? now : LEAT_NEVER,
                                   .welcomed_at = LEAT_NEVER };
}

/* ---- what is announced ----------------------------------------------------------------------- */

/* The packet that this member will send. */
static struct leat_esp_packet fill_in(const struct leat_esp_member *m, uint64_t computation,
                                      const struct leat_esp_announce *a)
{
    struct leat_esp_packet p = a->task;
    p.computationId = computation;
    p.pktId = leat_esp_mix64(m->config.id, computation);
    if (a->value_from == LEAT_ESP_VALUE_OWN) p.val = p.pktVal = m->config.value;
    if (a->value_from == LEAT_ESP_VALUE_PART)
        p.val = leat_esp_part_val(a->task.val, a->value_shift, m->config.value);
    return p;
}

/* A member without a WELCOME cannot know what is new: in a keyed group it may be a copy. */
static bool is_meant(const struct leat_esp_member *m, const struct leat_esp_announce *a)
{
    return a->group == m->config.group && (!a->member || a->member == m->config.id) &&
           (m->welcomed || !m->config.is_keyed);
}

static bool is_known(const struct leat_esp_member *m, uint64_t computation, uint8_t phase)
{
    for (uint32_t i = 0; i < m->plans; i++)
        if (m->plan[i].words.computation == computation && m->plan[i].phase == phase) return true;
    return false;
}

/* A slot for one more: a free one, or that of the lowest serial. */
static struct leat_esp_plan *make_room(struct leat_esp_member *m)
{
    if (m->plans < LEAT_ESP_PLANS_MAX) return &m->plan[m->plans++];
    struct leat_esp_plan *oldest = &m->plan[0];
    for (uint32_t i = 1; i < m->plans; i++)
        if (m->plan[i].serial < oldest->serial) oldest = &m->plan[i];
    m->forgotten = oldest->serial;
    return oldest;
}

bool leat_esp_member_announced(struct leat_esp_member *m, leat_time now, uint64_t computation,
                               const struct leat_esp_announce *a)
{
    const struct leat_esp_packet packet = fill_in(m, computation, a);
    const bool is_sound = a->rounds >= 1 && a->rounds <= LEAT_ESP_ROUNDS_MAX &&
                          a->value_shift < LEAT_ESP_VALUE_BITS && packet.opcode != LEAT_ESP_NOP &&
                          leat_esp_packet_check(&packet, NULL) == LEAT_ERR_OK;
    if (!is_meant(m, a) || !is_sound) {
        m->refused++;
        return false;
    }
    if (a->serial <= m->forgotten || is_known(m, computation, a->phase)) return false;
    struct leat_esp_plan *plan = make_room(m);
    *plan = (struct leat_esp_plan){ .serial = a->serial,
                                    .at = leat_time_add(now, a->delay_us * ps_per_us),
                                    .interval_ps = a->interval_us * ps_per_us,
                                    .rounds = a->rounds,
                                    .phase = a->phase };
    leat_esp_words_of(&packet, &plan->words);
    return true;
}

/* ---- joining --------------------------------------------------------------------------------- */

bool leat_esp_member_welcome(struct leat_esp_member *m, leat_time now,
                             const struct leat_esp_welcome *w)
{
    const bool is_new = w->serial > m->welcomed && w->serial <= m->serial;
    if (w->group != m->config.group || w->member != m->config.id || !is_new) {
        m->refused++;
        return false;
    }
    const bool is_known = w->flags & LEAT_ESP_WELCOME_KNOWN;
    /* Only the first one: later ones may overtake earlier announcements. */
    if (!m->welcomed && w->announced > m->forgotten) m->forgotten = w->announced;
    m->welcomed = w->serial;
    if (is_known) m->welcomed_at = now;
    /* A challenge that the JOIN did not have is answered at once; one that it had is not answered
     * again. */
    if (!is_known && w->challenge != m->challenge && m->config.join_every_ps) m->join_at = now;
    m->challenge = w->challenge;
    return true;
}

static void fill_join(struct leat_esp_member *m, leat_time lifetime_ps, struct leat_esp_post *post)
{
    const leat_time ms = lifetime_ps / ps_per_ms + (lifetime_ps % ps_per_ms != 0);
    *post = (struct leat_esp_post){ .opcode = LEAT_ESP_JOIN };
    post->join = (struct leat_esp_join){ .group = m->config.group,
                                         .member = m->config.id,
                                         .serial = ++m->serial,
                                         .challenge = m->challenge,
                                         .value = m->config.value,
                                         .flags = LEAT_ESP_JOIN_HAS_VALUE,
                                         .lifetime_ms = ms > UINT32_MAX ? UINT32_MAX
                                                                        : (uint32_t)ms };
}

void leat_esp_member_leave(struct leat_esp_member *m, struct leat_esp_post *post)
{
    fill_join(m, 0, post);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The plan with the earliest round; ties go to the lower serial. NULL: none is pending. */
static const struct leat_esp_plan *next_plan(const struct leat_esp_member *m)
{
    const struct leat_esp_plan *next = NULL;
    for (uint32_t i = 0; i < m->plans; i++) {
        const struct leat_esp_plan *p = &m->plan[i];
        if (!p->rounds) continue;
        if (!next || p->at < next->at || (p->at == next->at && p->serial < next->serial)) next = p;
    }
    return next;
}

bool leat_esp_member_next(struct leat_esp_member *m, leat_time now, struct leat_esp_post *post)
{
    const struct leat_esp_plan *next = next_plan(m);
    if (m->join_at <= now && (!next || m->join_at <= next->at)) {
        fill_join(m, m->config.join_every_ps * LEAT_ESP_JOIN_LIFETIMES, post);
        m->join_at = leat_time_add(now, m->config.join_every_ps);
        return true;
    }
    if (!next || next->at > now) return false;
    struct leat_esp_plan *plan = &m->plan[next - m->plan];
    *post = (struct leat_esp_post){ .opcode = plan->words.opcode,
                                    .computation = plan->words.computation };
    post->words = plan->words;
    plan->rounds--;
    plan->at = leat_time_add(plan->at, plan->interval_ps);
    return true;
}

leat_time leat_esp_member_wake_at(const struct leat_esp_member *m)
{
    const struct leat_esp_plan *next = next_plan(m);
    return next && next->at < m->join_at ? next->at : m->join_at;
}
