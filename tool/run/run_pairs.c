/* leat run: messages and octets from each task to each other. */
#include "json_out.h"
#include "run.h"
#include <stdlib.h>

static size_t count_pairs(const struct leat_hub *hub, uint32_t tasks)
{
    size_t count = 0;
    for (uint32_t from = 0; from < tasks; from++) {
        const struct leat_hub_pair *row = leat_hub_sent_to(hub, from);
        for (uint32_t to = 0; row && to < tasks; to++)
            count += row[to].messages > 0;
    }
    return count;
}

bool run_pairs_keep(const struct leat_hub *hub, struct run_outcome *out)
{
    const size_t count = count_pairs(hub, out->tasks);
    out->pair = calloc(count + 1, sizeof *out->pair);
    if (!out->pair) return complain("no memory for what each task sent to others");
    for (uint32_t from = 0; from < out->tasks; from++) {
        const struct leat_hub_pair *row = leat_hub_sent_to(hub, from);
        for (uint32_t to = 0; row && to < out->tasks; to++)
            if (row[to].messages)
                out->pair[out->pairs++] = (struct run_pair){ from, to, row[to].messages,
                                                             row[to].octets };
    }
    return true;
}

void run_pairs_json(struct leat_json *j, const struct run_outcome *out)
{
    leat_json_array(j, "pairs");
    for (size_t i = 0; i < out->pairs; i++) {
        const struct run_pair *p = &out->pair[i];
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "sender", p->sender }, { "receiver", p->receiver },
                        { "messages", p->messages }, { "bytes", p->octets });
        leat_json_end(j);
    }
    leat_json_end(j);
}
