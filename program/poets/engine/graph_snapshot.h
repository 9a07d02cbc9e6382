/*
 * The states of a machine as XML, in the form that graph_schema's snapshots have:
 *
 *   <Graph>
 *   <GraphSnapshot graphTypeId="heat" graphInstId="plate" sequenceNumber="0" orchestratorTime="12">
 *   <DevS id="c_0_0"><S>"v":5,"received":[0,1]</S></DevS>
 *   <EdgeS id="c_1_0:in-c_0_0:out"><S>"count":2</S></EdgeS>
 *   </GraphSnapshot>
 *   </Graph>
 *
 * Devices in their order, then the edges of each device's input pins in theirs; only those that
 * have a state. A struct that only a compiler knows is <S octets="0a00..."/>.
 */
#ifndef LEAT_GRAPH_SNAPSHOT_H
#define LEAT_GRAPH_SNAPSHOT_H

#include "graph_machine.h"
#include "leat_text.h"

/* `when` is written as it is: epochs, or seconds. */
void leat_poets_machine_snapshot(const struct leat_poets_machine *machine, const char *when,
                                 struct leat_text *out);

#endif
