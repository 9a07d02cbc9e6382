#include "record_fabric.h"
#include <string.h>

static bool is_name(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (!leat_sim_is_printable((uint8_t)text[i])) return false;
    return len > 0 && len <= LEAT_SIM_PATH_LEN_MAX;
}

bool record_fabric_declare(struct leat_sim_recorder *recorder, uint32_t group, const char *name,
                           struct leat_sim_event *out)
{
    if (!is_name(name)) return false;
    *out = (struct leat_sim_event){ .kind = LEAT_SIM_PLACE };
    out->track = leat_sim_recorder_lane(recorder, group, 0, 0, RECORD_FABRIC);
    out->name = leat_sim_recorder_name(recorder, name);
    return true;
}
