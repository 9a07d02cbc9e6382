#include "atm_label.h"
#include "leat_bytes.h"
#include <assert.h>
#include <stdalign.h>

#define TAKEN UINT32_MAX

/* A list of free labels through `next`, which is TAKEN for those that are not in it. */
struct leat_atm_labels {
    struct leat_atm_label_range range;
    uint32_t count, free, first, last;
    uint32_t next[];
};

static uint32_t per_vpi(const struct leat_atm_label_range *range)
{
    return (uint32_t)range->vci_max - range->vci_min + 1;
}

static uint32_t count_of(const struct leat_atm_label_range *range)
{
    return ((uint32_t)range->vpi_max - range->vpi_min + 1) * per_vpi(range);
}

leat_err leat_atm_label_range_check(const struct leat_atm_label_range *range)
{
    if (range->vpi_max > LEAT_ATM_LABEL_VPI_MAX || range->vpi_min > range->vpi_max)
        return LEAT_ERR_RANGE;
    if (range->vci_min < LEAT_ATM_LABEL_VCI_MIN || range->vci_min > range->vci_max)
        return LEAT_ERR_RANGE;
    return count_of(range) > LEAT_ATM_LABEL_COUNT_MAX ? LEAT_ERR_RANGE : LEAT_ERR_OK;
}

size_t leat_atm_labels_footprint(const struct leat_atm_label_range *range)
{
    return sizeof(struct leat_atm_labels) + count_of(range) * sizeof(uint32_t);
}

leat_err leat_atm_labels_init(void *memory, size_t memory_len,
                              const struct leat_atm_label_range *range,
                              struct leat_atm_labels **out)
{
    const leat_err err = leat_atm_label_range_check(range);
    if (err) return err;
    if (memory_len < leat_atm_labels_footprint(range) ||
        (uintptr_t)memory % alignof(struct leat_atm_labels))
        return LEAT_ERR_MEMORY;
    struct leat_atm_labels *l = memory;
    const uint32_t count = count_of(range);
    *l = (struct leat_atm_labels){ *range, count, count, 0, count - 1 };
    for (uint32_t i = 0; i < count; i++)
        l->next[i] = i + 1; /* the last one's is not looked at */
    *out = l;
    return LEAT_ERR_OK;
}

bool leat_atm_labels_take(struct leat_atm_labels *l, struct leat_atm_label *out)
{
    if (!l->free) return false;
    const uint32_t index = l->first;
    l->first = l->next[index];
    l->next[index] = TAKEN;
    l->free--;
    out->vpi = (uint16_t)(l->range.vpi_min + index / per_vpi(&l->range));
    out->vci = (uint16_t)(l->range.vci_min + index % per_vpi(&l->range));
    return true;
}

void leat_atm_labels_give(struct leat_atm_labels *l, struct leat_atm_label label)
{
    assert(label.vpi >= l->range.vpi_min && label.vpi <= l->range.vpi_max);
    assert(label.vci >= l->range.vci_min && label.vci <= l->range.vci_max);
    const uint32_t index = (uint32_t)(label.vpi - l->range.vpi_min) * per_vpi(&l->range) +
                           (label.vci - l->range.vci_min);
    assert(l->next[index] == TAKEN);
    if (l->free)
        l->next[l->last] = index;
    else
        l->first = index;
    l->last = index;
    l->next[index] = 0;
    l->free++;
}

uint32_t leat_atm_labels_free(const struct leat_atm_labels *l)
{
    return l->free;
}
