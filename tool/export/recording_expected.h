/* What was expected at a fault of a recording, for messages. */
#ifndef LEAT_RECORDING_EXPECTED_H
#define LEAT_RECORDING_EXPECTED_H

#include "sim_recording.h"

/* `kind`: the octet that the damaged record begins with. */
const char *recording_expected(const struct leat_sim_recording *rec, uint8_t kind);

#endif
