/* AAL2 SAR-PDUs, older form, for the tools: `leat encode aal2 it=SSM payload=0102`. */
#ifndef LEAT_ATM_AAL2_TEXT_H
#define LEAT_ATM_AAL2_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aal2_format;

#endif
