/*
 * Labels of a link that are free: those of some VPIs and a range of VCIs each. Given back labels
 * wait behind all others, so that a late cell of an ended connection meets nobody for long.
 */
#ifndef LEAT_ATM_LABEL_H
#define LEAT_ATM_LABEL_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_LABEL_VPI_MAX = 4095,
    LEAT_ATM_LABEL_VCI_MIN = 32, /* I.361: those below are reserved */
    LEAT_ATM_LABEL_COUNT_MAX = 1 << 20,
};

struct leat_atm_label {
    uint16_t vpi, vci;
};

/* Inclusive; vpi_max <= VPI_MAX, vci_min >= VCI_MIN, at most LEAT_ATM_LABEL_COUNT_MAX in all. */
struct leat_atm_label_range {
    uint16_t vpi_min, vpi_max, vci_min, vci_max;
};

struct leat_atm_labels; /* opaque */

/* RANGE: not as above, or empty. */
leat_err leat_atm_label_range_check(const struct leat_atm_label_range *range);

/* The caller's memory, aligned as by malloc; the range is valid. */
size_t leat_atm_labels_footprint(const struct leat_atm_label_range *range);
leat_err leat_atm_labels_init(void *memory, size_t memory_len,
                              const struct leat_atm_label_range *range,
                              struct leat_atm_labels **out);

/* The label that has been free for longest; at first, ascending. False: none is free. */
bool leat_atm_labels_take(struct leat_atm_labels *labels, struct leat_atm_label *out);

/* Gives back a label that was taken. */
void leat_atm_labels_give(struct leat_atm_labels *labels, struct leat_atm_label label);

uint32_t leat_atm_labels_free(const struct leat_atm_labels *labels);

#endif
