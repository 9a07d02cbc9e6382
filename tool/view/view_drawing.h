/* The drawings of recorded networks: of the fabric that a recording names (record_fabric.h), or of
 * --fabric. */
#ifndef LEAT_TOOL_VIEW_DRAWING_H
#define LEAT_TOOL_VIEW_DRAWING_H

#include "tool.h"
#include "view_octets.h"
#include "view_reader.h"

struct view_drawings {
    struct view_buffer of[VIEW_SOURCES_MAX], given; /* octets NULL: none */
};

/* Sets `drawing` of the sources. `scratch` is used meanwhile. False after a complaint: --fabric is
 * wrong. What a recording names may be wrong: then leat says so. */
bool view_drawings_make(struct view_drawings *d, const struct arguments *args,
                        struct view_site *site, struct view_reader *scratch);
void view_drawings_free(struct view_drawings *d);

#endif
