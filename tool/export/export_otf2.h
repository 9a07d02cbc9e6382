/*
 * A recording as an OTF2 archive: a folder with traces.otf2 in it, for otf2-print, Vampir,
 * Scalasca.
 *
 *   lane     a location in a location group of its own, once it has a place, a span or a message
 *   place    a node of the system tree, to which the lane's group belongs; without one: its group
 *   span     ENTER and LEAVE of the region with its name; those open at the end are left
 *   instant  a span that takes no time
 *   message  MPI_SEND and MPI_RECV with length and tag, 0 where it has none, in a communicator of
 *            all lanes, numbered as they come: so those of MPI have their ranks
 *   signal   a metric, at a location for each group of signals
 *
 * Frames are left out. Time is in picoseconds. The folder appears under its name only when it is
 * complete, as files do in result_file.h. An archive that leat wrote before is replaced atomically;
 * a folder with any other content is not touched.
 */
#ifndef LEAT_TOOL_EXPORT_OTF2_H
#define LEAT_TOOL_EXPORT_OTF2_H

#include "sim_recording.h"
#include "tool.h"
#include <stdbool.h>

enum { EXPORT_OTF2_PATH_CAP = 4096 };

/* The library requires consecutive numbers from 0 on. */
struct export_otf2_track {
    void *writer;    /* of a lane; of a group: for its signals' values. NULL: none */
    uint32_t number; /* of a lane, in the communicator; of a signal's metric; of a group's node */
    uint32_t place;  /* of a lane: a name; 0: none */
};

struct export_otf2_name {
    uint32_t region, node; /* + 1; 0: none */
};

/* Some megabytes: not for the stack. */
struct export_otf2 {
    const char *name; /* as the user wrote it; NULL: not open */
    const struct leat_sim_recording *rec;
    void *archive;
    bool failed;                                              /* which was reported */
    uint32_t ranks, regions, metrics, strings, nodes, groups; /* so far */
    uint64_t rank_track[LEAT_SIM_TRACKS_MAX];                 /* lanes by rank */
    uint32_t region_name[LEAT_SIM_NAMES_MAX];                 /* names by region */
    struct export_otf2_track track[LEAT_SIM_TRACKS_MAX + 1];  /* 0: of what has no group */
    struct export_otf2_name named[LEAT_SIM_NAMES_MAX + 1];
    char target[EXPORT_OTF2_PATH_CAP], part[EXPORT_OTF2_PATH_CAP];
};

/* May an archive of this name be written? False after a complaint: the command line is wrong. */
bool export_otf2_check(const struct verb *verb, const char *path);

/* As in result_file.h: each is false after a complaint. `rec` is lent until the end. */
bool export_otf2_open(struct export_otf2 *x, const char *path,
                      const struct leat_sim_recording *rec);
void export_otf2_event(struct export_otf2 *x, const struct leat_sim_event *e);
bool export_otf2_finish(struct export_otf2 *x);
bool export_otf2_keep(struct export_otf2 *x);
void export_otf2_drop(struct export_otf2 *x);

#endif
