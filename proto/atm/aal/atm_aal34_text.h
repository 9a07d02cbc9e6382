/* AAL3/4 SAR-PDUs for the tools: `leat encode aal34 st=SSM mid=1 cpcs.payload=41424344`. */
#ifndef LEAT_ATM_AAL34_TEXT_H
#define LEAT_ATM_AAL34_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aal34_format;

#endif
