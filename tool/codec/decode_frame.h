/* One frame as `leat decode --json` shows it. */
#ifndef LEAT_DECODE_FRAME_H
#define LEAT_DECODE_FRAME_H

#include "leat_text.h"

/* False: it is of no format that leat knows, or the text would be too long. Nothing is said of
 * damaged packets but what is in the object. */
bool decode_frame(uint16_t link_type, const uint8_t *octets, size_t len, struct leat_text *out);

#endif
