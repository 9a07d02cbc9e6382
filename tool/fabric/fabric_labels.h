/* leat fabric show --vpi of networks of switches with cells: sim_atm_labels.h, for people and
 * programs. */
#ifndef LEAT_TOOL_FABRIC_LABELS_H
#define LEAT_TOOL_FABRIC_LABELS_H

#include "json_out.h"
#include "sim_atm_labels.h"
#include "tool.h"

struct fabric_labels {
    struct leat_sim_atm_labels labels;
    void *memory; /* for free() */
};

/* The tables of a network, which `name` names. False after a complaint. */
bool fabric_labels_make(const char *name, const struct leat_sim_atm_graph *graph,
                        struct fabric_labels *out);

/* The labels from src to dst; without a pair all tables, if they are not too long. */
void fabric_labels_text(const struct leat_sim_atm_labels *labels, bool has_pair, uint32_t src,
                        uint32_t dst);
void fabric_labels_json(struct leat_json *j, const struct leat_sim_atm_labels *labels,
                        bool has_pair, uint32_t src, uint32_t dst);

#endif
