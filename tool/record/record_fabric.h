/*
 * Which network a recording shows: a lane "fabric" that "is at" the network's name from time 0 on.
 *
 *   network    group
 *     fabric   lane    place "mesh:8,8": leat view draws this network (view_drawing.c)
 */
#ifndef LEAT_TOOL_RECORD_FABRIC_H
#define LEAT_TOOL_RECORD_FABRIC_H

#include "sim_recorder.h"

#define RECORD_FABRIC "fabric"

/* Declares the lane; *out is the event to record first. False: the name is not one that recordings
 * can have (too long, or with other characters), and nothing is declared. */
bool record_fabric_declare(struct leat_sim_recorder *recorder, uint32_t group, const char *name,
                           struct leat_sim_event *out);

#endif
