/*
 * The actions of the hosts of the bench of adaptation layer units, as a user writes them, in the
 * style of the other benches' stimuli:
 *
 *   inputs                     keyword
 *     aal34[1]                 a unit, once; what its host orders follows, one after the other
 *       1 initsend             the earliest cycle, and the order (spec/atm.md, 5.2)
 *       9 putnint 285          one value or more; also putn short, long, float, dfloat, cplx, dcplx
 *       28 setdst broadcast    or a port
 *       31 snd rcv -1 1        task's name (1 to 3 characters), instance (-1: all), message id
 *     aal34[5]
 *       1 rcv rcv 1 1 poll     the same; poll: again and again until there is such a message
 *       1 getnint              one value, or as many as a number says
 *   outputs                    keyword; without it, the units above are shown
 *     aal34[1]                 a unit that is shown
 *     aal34[5] 4               with its blocks 0 to 3 (without a number: 0 and 1)
 *
 * More: putbytes 0a1b2c, putstring "hello", getbytes 3, getstring. Leading blanks and comments from
 * # on do not count.
 */
#ifndef LEAT_AAL_SCHEDULE_H
#define LEAT_AAL_SCHEDULE_H

#include "input.h"
#include "sim_atm_aal_bench.h"

enum {
    AAL_SCHEDULE_PORTS = LEAT_SIM_ATM_AAL_TWO_MESSAGES_PORTS,
    AAL_SCHEDULE_CYCLE_MAX = 100000000,
    AAL_SCHEDULE_ORDERS_MAX = 1 << 20,
    AAL_SCHEDULE_LEN_MAX = 1 << 26, /* of the file, and of all that is put */
    AAL_SCHEDULE_BLOCKS = 2,        /* shown by default */
};

enum aal_data { NO_DATA, INT, SHORT, LONG, FLOAT, DFLOAT, CPLX, DCPLX, BYTES, STRING };

struct aal_schedule {
    struct leat_sim_atm_aal_schedule hosts[AAL_SCHEDULE_PORTS];
    const uint8_t *data[AAL_SCHEDULE_PORTS]; /* of each order, enum aal_data */
    struct aal_shown {
        bool shown;
        uint16_t blocks;
    } shown[AAL_SCHEDULE_PORTS];
    struct leat_sim_atm_aal_order *all_orders;
    uint8_t *all_data, *octets;
};

/* The published test. */
void aal_schedule_two_messages(struct aal_schedule *schedule);

/* Reads an open file. False after a message (FILE:LINE: what, expected what). */
bool aal_schedule_read(struct aal_schedule *schedule, struct input *in);

/* The name of an order; received octets as values. */
const char *aal_order_name(enum leat_atm_aal_verb verb, enum aal_data data);
void aal_data_show(enum aal_data data, const uint8_t *octets, uint32_t len, struct leat_text *text);

void aal_schedule_close(struct aal_schedule *schedule);

#endif
