/* AAL1 SAR-PDUs for the tools: `leat decode --format aal1`, `leat encode aal1 sc=1`. */
#ifndef LEAT_ATM_AAL1_TEXT_H
#define LEAT_ATM_AAL1_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aal1_format;

#endif
