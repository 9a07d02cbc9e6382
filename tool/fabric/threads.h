/* The option --threads: one simulation on several processors. */
#ifndef LEAT_THREADS_H
#define LEAT_THREADS_H

#include "crew.h"
#include "tool.h"

#define OPTION_THREADS_OF(networks)                                                     \
    {                                                                                   \
        "--threads", "N", "processors that simulate one network; results are the same", \
            .words = "auto", .preset = "1", .kinds = (networks)                         \
    }

/* How many threads, 1 ..; auto: as many as there are processors. False after a complaint. */
bool threads_take(const struct arguments *args, uint32_t *out);

/* Says so if this network can have only one thread. */
struct leat_fabric;
void threads_tell(struct leat_fabric *fabric, uint32_t threads);

/* A crew of so many; NULL: one thread, or (after a warning) the system has no more. */
struct leat_crew *threads_start(uint32_t threads);

/* " on 2 threads", " on 4 ranks of 2 threads"; "": on one. Valid until the next call. */
const char *threads_text(uint32_t threads, uint32_t ranks);

#endif
