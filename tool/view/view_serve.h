/*
 * A page at an address of this host, as an option says it: who may see it, and the talk about
 * refused requests. For `leat view` (--listen) and for --view of other verbs.
 */
#ifndef LEAT_VIEW_SERVE_H
#define LEAT_VIEW_SERVE_H

#include "tool.h"
#include "view_http.h"
#include <poll.h>

struct view_serve {
    struct view_http_config config;
    char token[VIEW_TOKEN_LEN_MAX + 1];
    bool told[VIEW_REFUSALS];
    struct view_http *http;
};

/* The value of `option` (none: loopback and a free port) and --token-file. False after a complaint.
 */
bool view_serve_read(struct view_serve *serve, const struct arguments *args, const char *option);

/* False after a complaint. `address`: where the page is, terminated. */
bool view_serve_open(struct view_serve *serve, const struct view_site *site,
                     struct leat_text *address);

/* Serves for at most so many milliseconds, or until one of the descriptors is readable. */
enum { VIEW_SERVE_MORE_MAX = 3 };
void view_serve_wait(struct view_serve *serve, int most_ms, const int *more, size_t count);

void view_serve_close(struct view_serve *serve);

#endif
