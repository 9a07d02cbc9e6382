/* How the contents of elements are laid out: shared by the codec and the text. */
#ifndef LEAT_ATM_SIGNAL_PARTS_H
#define LEAT_ATM_SIGNAL_PARTS_H

#include "atm_signal.h"
#include "leat_fields.h"

/* A field lies in the fixed part, or is an item of its own: an identifier and whole octets. */
struct leat_atm_signal_row {
    const char *name;
    const struct leat_name *names;
    uint8_t item; /* identifier; 0: in the fixed part */
    uint8_t at;   /* first bit in the fixed part */
    uint8_t bits; /* 0: an item without a value */
    bool mask;    /* names are of bits */
};

enum { LEAT_ATM_SIGNAL_FIXED_LEN_MAX = 5 };

/* `optional`: this octet is there if bit 8 of the octet before is 0. Octet 0 never is: 0 = none. */
struct leat_atm_signal_layout {
    uint8_t id;
    uint8_t fixed_len;
    uint8_t optional;
    uint8_t tail_len_min, tail_len_max;
    bool number; /* the tail is the digits or the address of its numbering plan */
    uint8_t fixed[LEAT_ATM_SIGNAL_FIXED_LEN_MAX]; /* the bits that are always the same */
    struct leat_atm_signal_row row[LEAT_ATM_SIGNAL_FIELDS_MAX + 1]; /* ends with a NULL name */
};

/* NULL: the element is not known. */
const struct leat_atm_signal_layout *leat_atm_signal_layout(uint8_t id);

static inline bool leat_atm_signal_row_is_optional(const struct leat_atm_signal_layout *layout,
                                                   const struct leat_atm_signal_row *row)
{
    return row->item || (layout->optional && row->at / 8 == layout->optional);
}

#endif
