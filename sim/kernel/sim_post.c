#include "sim_post.h"

static bool is_before(const struct leat_sim_plan *a, const struct leat_sim_plan *b)
{
    return a->at != b->at ? a->at < b->at : a->call < b->call;
}

void leat_sim_post_plan(struct leat_sim_plan *plan, uint32_t *count, struct leat_sim_plan more)
{
    uint32_t place = (*count)++;
    for (; place && is_before(&more, &plan[(place - 1) / 2]); place = (place - 1) / 2)
        plan[place] = plan[(place - 1) / 2];
    plan[place] = more;
}

struct leat_sim_plan leat_sim_post_take(struct leat_sim_plan *plan, uint32_t *count)
{
    const struct leat_sim_plan top = plan[0], moving = plan[--*count];
    uint32_t place = 0, child;
    while ((child = 2 * place + 1) < *count) {
        if (child + 1 < *count && is_before(&plan[child + 1], &plan[child])) child++;
        if (!is_before(&plan[child], &moving)) break;
        plan[place] = plan[child];
        place = child;
    }
    plan[place] = moving;
    return top;
}

void leat_sim_post_note(struct leat_sim_news *news, uint32_t *count,
                        const struct leat_port_message *message, uint32_t entry, bool sent)
{
    const uint64_t port = sent ? message->from : message->to;
    news[*count] = (struct leat_sim_news){ .order = port << 32 | (uint64_t)sent << 31 | *count,
                                           .entry = entry };
    ++*count;
}

/* Shell 1959: few at a time, in place. */
void leat_sim_post_sort(struct leat_sim_news *news, uint32_t count)
{
    uint32_t gap = 1;
    while (gap < count / 3)
        gap = gap * 3 + 1;
    for (; gap; gap /= 3)
        for (uint32_t i = gap; i < count; i++) {
            const struct leat_sim_news moving = news[i];
            uint32_t at = i;
            for (; at >= gap && moving.order < news[at - gap].order; at -= gap)
                news[at] = news[at - gap];
            news[at] = moving;
        }
}

uint64_t leat_sim_post_hash(const struct leat_port_message *message, const uint8_t *octets,
                            uint64_t len)
{
    return message->is_private ? len : leat_sim_payload_hash(octets, (size_t)len);
}

uint64_t leat_sim_post_certify(struct leat_sim_certificate *certificate,
                               const struct leat_port_message *message, uint64_t number,
                               leat_time at)
{
    const struct leat_sim_delivery delivery = {
        .at = at,
        .source = message->from,
        .destination = message->to,
        .number = number,
        .payload_hash = leat_sim_post_hash(message, message->octets, message->len),
    };
    leat_sim_certificate_add(certificate, &delivery);
    return leat_sim_certificate_value(certificate);
}
