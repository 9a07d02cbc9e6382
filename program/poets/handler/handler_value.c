/* Values of instances as octets: plain ones, and those that a compiler evaluated. */
#include "handler.h"
#include <string.h>

bool leat_handlers_value(struct leat_graph *graph, const struct leat_handlers *handlers,
                         const struct leat_graph_struct *data, uint32_t value, uint8_t *octets)
{
    bool compiled;
    const struct leat_graph_place nowhere = { 0 };
    leat_graph_value(graph, data, value, nowhere, octets, &compiled);
    for (uint32_t i = 0; compiled && i < handlers->table_count; i++) {
        if (handlers->table[i].data != data) continue;
        const struct leat_poets_value_table *made = &handlers->values->table[i];
        const uint8_t *all = made->value;
        if (!value) return memcpy(octets, made->initial, made->len), true;
        for (uint32_t k = 0; k < handlers->table[i].count; k++)
            if (handlers->table[i].value[k] == value)
                return memcpy(octets, all + (size_t)k * made->len, made->len), true;
    }
    return !compiled;
}

uint32_t leat_handlers_len(const struct leat_handlers *handlers,
                           const struct leat_graph_struct *data)
{
    if (data->plain) return data->layout.size;
    for (uint32_t i = 0; i < handlers->table_count; i++)
        if (handlers->table[i].data == data) return handlers->values->table[i].len;
    return 1;
}
