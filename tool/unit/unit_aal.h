/* leat unit aal: two adaptation layer units at work, or as many as a schedule names. */
#ifndef LEAT_UNIT_AAL_H
#define LEAT_UNIT_AAL_H

#include "tool.h"

/* Operands: aal and, if the user has one, a schedule (aal_schedule.h). */
int run_unit_aal(const struct arguments *args);

#endif
