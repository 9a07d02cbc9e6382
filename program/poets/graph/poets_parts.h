/* What the parts of leat/poets.h share. */
#ifndef LEAT_POETS_PARTS_H
#define LEAT_POETS_PARTS_H

#include "graph_run_parts.h"
#include <leat/poets.h>

/* A device type in C, as engines take it: their functions find it by the block's type, and then
 * call the program's. */
struct leat_poets_c_type {
    struct leat_poets_type type;
    struct leat_poets_pin input[LEAT_POETS_PINS_MAX], output[LEAT_POETS_PINS_MAX + 1];
    const struct leat_poets_device_type *own;
};

struct leat_poets_c_supervisor {
    struct leat_poets_supervisor supervisor;
    const struct leat_poets_supervisor_type *own;
};

/* Sizes, offsets and functions. `to_supervisor_len` is the length of messages to the supervisor. */
void leat_poets_c_type_make(struct leat_poets_c_type *out, const struct leat_poets_device_type *own,
                            uint32_t to_supervisor_len, uint32_t from_supervisor_len);
void leat_poets_c_supervisor_make(struct leat_poets_c_supervisor *out,
                                  const struct leat_poets_supervisor_type *own);

/* Number of entries, up to the first without a name. */
uint32_t leat_poets_input_count(const struct leat_poets_device_type *type);
uint32_t leat_poets_output_count(const struct leat_poets_device_type *type);

#endif
