/* The server of a leat built without libmicrohttpd: explains how to get one. */
#include "view_http.h"

#ifndef HAVE_MICROHTTPD
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct view_http *view_http_open(const struct view_http_config *config, struct leat_text *why)
{
    leat_text_puts(why,
                   "this leat was built without libmicrohttpd, which serves pages: install the "
                   "package libmicrohttpd-dev, then configure and build again; -o FILE writes "
                   "a page without it");
    return NULL;
}

/* No server is ever open. */

void view_http_close(struct view_http *http)
{
}

void view_http_address(const struct view_http *http, struct leat_text *out)
{
}

int view_http_fd(const struct view_http *http)
{
    return -1;
}

int view_http_wait_ms(const struct view_http *http, int most)
{
    return most;
}

void view_http_serve(struct view_http *http)
{
}

void view_http_tell(struct view_http *http, unsigned source, const char *json, size_t len)
{
}

bool view_http_is_heard(const struct view_http *http, unsigned source)
{
    return false;
}

uint64_t view_http_refused(const struct view_http *http, enum view_refusal kind)
{
    return 0;
}

const char *view_refusal_text(enum view_refusal kind)
{
    return "";
}
#endif
