/*
 * Cells of the prototype's own AAL for the tools:
 * `leat encode atmtask vpi=0x40 destination=broadcast message.name=rcv message.instance=-1`.
 */
#ifndef LEAT_ATM_TASK_TEXT_H
#define LEAT_ATM_TASK_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_atmtask_format;

#endif
