/* Between the files of the table of verbs. */
#ifndef LEAT_VERBS_H
#define LEAT_VERBS_H

#include "tool.h"

/* For completion. */
#define FABRIC_WORDS                                                                               \
    "clos444 clos: bmx: mesh: torus: line: ring: crossbar: grid: hypercube: fly: benes: fattree: " \
    "dragonfly: hyperx: ring16 ether16 twosan threesan"

extern const struct verb verb_sim, verb_sweep; /* verbs_sim.c */

#endif
