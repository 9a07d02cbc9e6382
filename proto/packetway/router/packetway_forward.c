#include "packetway_forward.h"

const char *leat_packetway_reason_text(enum leat_packetway_reason reason)
{
    static const char *const texts[] = {
#define X(id, text) text,
        LEAT_PACKETWAY_REASON_LIST(X)
#undef X
    };
    return (unsigned)reason < LEAT_PACKETWAY_REASON_COUNT ? texts[reason] : "no such reason";
}
