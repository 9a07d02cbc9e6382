/*
 * What a line of a report was run with, as numbers: parameters of its fabric's name, and options of
 * its sweep. Lines that differ in nothing else can be rows of a surface.
 *
 *   mesh:8,8/buffer=4/routing=dor   --flits 2 --unsafe
 *       stem   "mesh:8,8/routing=dor --unsafe"
 *       axes   "buffer" 4, "--flits" 2
 */
#ifndef LEAT_REPORT_AXES_H
#define LEAT_REPORT_AXES_H

#include "leat_text.h"
#include "net_plan.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    AXES_MAX = 16, /* of a line; further numbers belong to its stem */
    AXES_NAME_CAP = 32,
    AXES_STEM_CAP = 4096,
    AXES_WORDS_MAX = 256, /* of the options */
};

struct axes_axis {
    char name[AXES_NAME_CAP]; /* an option has its dashes */
    double value;
};

struct axes {
    char stem[AXES_STEM_CAP];
    bool is_cut; /* the stem is not complete: nothing can be said about the line */
    struct axes_axis axis[AXES_MAX];
    size_t count;
    bool has_plan; /* the fabric is a network that its name describes in full */
    struct leat_net_plan plan;
};

void axes_read(const char *fabric, const char *options, struct axes *out);

/* The value of this axis, given or by default; NAN: unknown. */
double axes_value(const struct axes *axes, const char *name);

/* May both be rows of one surface? */
bool axes_match(const struct axes *one, const struct axes *other);

/* "buffer", and as the name of an axis "buffer, flits". */
const char *axes_short_name(const char *name);
void axes_put_name(const char *name, struct leat_text *text);

#endif
