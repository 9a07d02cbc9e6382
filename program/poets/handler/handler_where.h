/*
 * Where a handler was when it crashed: from the addresses of a stack to the handler's name and the
 * line of its file. May be called in a signal handler.
 */
#ifndef LEAT_HANDLER_WHERE_H
#define LEAT_HANDLER_WHERE_H

#include "handler.h"

struct leat_handler_where {
    const char *handler; /* "OnReceive", ...; "": not known */
    const char *pin;     /* of it; "": it has none */
    const char *file;    /* NULL: not known */
    uint32_t line;
};

/* `frame` has addresses behind calls, the innermost first; `exact` (may be NULL) is the address
 * of an instruction itself. False: none of them is in a compiled handler. */
bool leat_handlers_where(const struct leat_graph *graph, const struct leat_handlers *handlers,
                         void *const *frame, int count, const void *exact,
                         struct leat_handler_where *out);

#endif
