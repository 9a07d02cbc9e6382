/* leat unit aal: two adaptation layer units, or as many as a schedule names. */
#ifndef LEAT_UNIT_AAL_H
#define LEAT_UNIT_AAL_H

#include "tool.h"

/* Operands: aal and, optionally, a schedule (aal_schedule.h). */
int run_unit_aal(const struct arguments *args);

#endif
