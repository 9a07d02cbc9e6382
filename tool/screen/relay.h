/*
 * A program and progress on one terminal: what the program and leat write passes through a
 * pseudo-terminal, and a thread of leat copies it to the screen. The line of progress goes before
 * output comes, and comes back below it. A prompt stays as it is: there is no progress in a line
 * that has begun.
 *
 *     program --> pseudo-terminal --> relay --> screen
 *        leat --'                     draw --'
 *
 * Where standard error is no terminal nothing changes.
 */
#ifndef LEAT_RELAY_H
#define LEAT_RELAY_H

#include "progress.h"

/* Standard error, and standard output if it is the same terminal, pass through the relay from now
 * on. `draw` shows progress when it is due; another thread calls it. */
void relay_begin(void (*draw)(struct progress *progress));
/* All that was written so far is on the screen, the progress is not. Also without a relay. */
void relay_end(void);

#endif
