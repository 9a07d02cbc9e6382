/*
 * The states of a machine as XML, in the form that graph_schema's snapshots have:
 *
 *   <Graph>
 *   <GraphSnapshot graphTypeId="heat" graphInstId="plate" sequenceNumber="0" orchestratorTime="12"
 *       reason="limit" resumable="true">
 *   <DevS id="c_0_0" rts="0x1"><S>"v":5,"received":[0,1]</S></DevS>
 *   <EdgeS id="c_1_0:in-c_0_0:out"><S>"count":2</S></EdgeS>
 *   </GraphSnapshot>
 *   </Graph>
 *
 * Devices in their order, then the edges of each device's input pins in theirs; only those that
 * have a state. rts is what a device of a held run wants (leat_poets_machine_wants), if anything. A
 * struct that only a compiler knows is <S octets="0a00..."/>; one whose text would lose bits, as
 * of a NaN or between members, has both.
 */
#ifndef LEAT_GRAPH_SNAPSHOT_H
#define LEAT_GRAPH_SNAPSHOT_H

#include "graph_machine.h"
#include "leat_text.h"

struct leat_poets_snapshot_head {
    const char *when;   /* epochs, or seconds */
    const char *reason; /* for the end of the run */
    bool resumable;     /* nothing was in flight */
    uint32_t idle_steps;
};

/* begin, all devices, the edges of all devices, end. `octets` as the observer of a run gets them.
 */
void leat_poets_snapshot_begin(struct leat_text *out, const struct leat_poets_machine *machine,
                               const struct leat_poets_snapshot_head *head);
void leat_poets_snapshot_device(struct leat_text *out, const struct leat_poets_machine *machine,
                                uint32_t index, uint64_t wants, const uint8_t *octets);
void leat_poets_snapshot_edges(struct leat_text *out, const struct leat_poets_machine *machine,
                               uint32_t index, const uint8_t *octets);
void leat_poets_snapshot_end(struct leat_text *out);

/* ---- for its reader (graph_restore.h) -------------------------------------------------------- */

enum { LEAT_POETS_SNAPSHOT_PATH = 7 };

/* The path of an edge, in parts. */
void leat_poets_snapshot_path(const struct leat_poets_machine *machine,
                              const struct leat_graph_edge *edge,
                              const char *part[LEAT_POETS_SNAPSHOT_PATH]);
/* Copies the members of a struct, but not what lies between them. */
void leat_poets_members_copy(const struct leat_poets_layout *layout, const uint8_t *octets,
                             uint8_t *out);

#endif
