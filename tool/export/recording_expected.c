#include "recording_expected.h"

const char *recording_expected(const struct leat_sim_recording *rec, uint8_t kind)
{
    if (!rec->headed) return "LEATREC and version 2";
    if (rec->closed) return "the end of the file";
    switch ((leat_sim_kind)kind) {
    case LEAT_SIM_CLOCK: return "a CLOCK before all events: num and den, not 0";
    case LEAT_SIM_GROUP: return "a GROUP before all events: parent group, name";
    case LEAT_SIM_LANE: return "a LANE before all events: parent group, clock, link type, name";
    case LEAT_SIM_SIGNAL: return "a SIGNAL before all events: parent group, clock, width, name";
    case LEAT_SIM_NAME: return "a NAME: 1 to 127 printable characters";
    case LEAT_SIM_TIME: return "a TIME before an event: picoseconds, not 0";
    case LEAT_SIM_BEGIN: return "a BEGIN: lane with less than 8 open spans, name";
    case LEAT_SIM_END: return "an END: lane with an open span";
    case LEAT_SIM_INSTANT: return "an INSTANT: lane, name";
    case LEAT_SIM_VALUE: return "a VALUE: signal, value of its width";
    case LEAT_SIM_FRAME: return "a FRAME: lane with a link type, direction, at most 65535 octets";
    case LEAT_SIM_FLOW: return "a FLOW: lane, step, message, peer, length, tag";
    case LEAT_SIM_PLACE: return "a PLACE: lane, name";
    case LEAT_SIM_CLOSE: return "a CLOSE: the number of records before it";
    }
    return "a kind of record, 0x01 to 0x06, 0x10 to 0x16 or 0x1f";
}
