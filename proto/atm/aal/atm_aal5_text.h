/* AAL5 CPCS-PDUs for the tools: `leat encode aal5 uu=1 payload=0102`. */
#ifndef LEAT_ATM_AAL5_TEXT_H
#define LEAT_ATM_AAL5_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aal5_format;

#endif
