/*
 * A crew of threads (sim_crew.h). Members that wait watch a word for some microseconds, since they
 * meet every few cycles of a network; then they sleep, so that a busy or suspended machine loses
 * nothing.
 */
#ifndef LEAT_CREW_H
#define LEAT_CREW_H

#include "leat_err.h"
#include "sim_crew.h"

struct leat_crew;

/* Starts members - 1 threads, 1 .. LEAT_SIM_CREW_MAX members. NULL: the system refuses them. */
struct leat_crew *leat_crew_start(uint32_t members);

/* To lend to a simulator. */
struct leat_sim_crew *leat_crew_lend(struct leat_crew *crew);

/* Ends the threads. NULL is no crew. */
void leat_crew_end(struct leat_crew *crew);

/* Processors that this process may use. */
uint32_t leat_crew_processors(void);

#endif
