/*
 * The server of a page: who asks, what is answered. One thread, which the caller's loop runs:
 *
 *     http = view_http_open(&config, why);
 *     while (...) {
 *         poll(view_http_fd(http), view_http_wait_ms(http, ...));
 *         view_http_serve(http);
 *         view_http_tell(http, 0, status, len);       what a live source has to say
 *     }
 *     view_http_close(http);
 *
 *   GET /              index.html                    GET /source/I    a recording, Range allowed
 *   GET /page/NAME     a file of the page            GET /live/I      server-sent events
 *   GET /sources.json  view_site.h                   POST /decode?link=N   a frame, as JSON
 *
 * Anything else is refused, counted, and answered. Each request has its connection; there are
 * VIEW_CONNECTIONS_MAX, and further ones wait. If there is a token, all but the files of the page
 * need it: these are the same in every leat, and modules cannot bring a token along.
 */
#ifndef VIEW_HTTP_H
#define VIEW_HTTP_H

#include "view_file.h"
#include "view_request.h"
#include "view_site.h"

enum {
    VIEW_CONNECTIONS_MAX = 64,
    VIEW_IDLE_S = 15,             /* nothing is sent or received on a connection */
    VIEW_REQUEST_S = 30,          /* until a request is complete */
    VIEW_HEAD_LEN_MAX = 32 << 10, /* of a request, and of what MHD needs for it */
    VIEW_STATUS_LEN_MAX = 1 << 20 /* of a live source */
};

struct view_http_config {
    const struct view_site *site;
    const struct view_files *files;
    struct view_address listen; /* port 0: a free one */
    const char *token;          /* NULL: none is needed */
};

/* One server; opaque. */
struct view_http;

/* NULL: `why` says what was expected. The configuration is lent until close. */
struct view_http *view_http_open(const struct view_http_config *config, struct leat_text *why);
void view_http_close(struct view_http *http);

/* The address to open: "http://127.0.0.1:40123/", with the token if there is one. */
void view_http_address(const struct view_http *http, struct leat_text *out);

/* Readable when there is something to serve, or after so many milliseconds, at most `most`. */
int view_http_fd(const struct view_http *http);
int view_http_wait_ms(const struct view_http *http, int most);

/* Does what can be done without waiting. */
void view_http_serve(struct view_http *http);

/* The status of a live source, for all who listen; the last one for who comes later. NULL: it has
 * ended; the last status is told with that. */
void view_http_tell(struct view_http *http, unsigned source, const char *json, size_t len);

/* Does anybody listen to it? */
bool view_http_is_heard(const struct view_http *http, unsigned source);

/* Why requests were not answered as they wished. */
enum view_refusal {
    VIEW_REFUSED_HOST,
    VIEW_REFUSED_ORIGIN,
    VIEW_REFUSED_TOKEN,
    VIEW_REFUSED_METHOD,
    VIEW_REFUSED_PATH,
    VIEW_REFUSED_LONG,
    VIEW_REFUSED_RANGE,
    VIEW_REFUSED_LINK,
    VIEW_REFUSED_MALFORMED,
    VIEW_REFUSED_SLOW,
    VIEW_REFUSED_CHANGED,
    VIEW_REFUSALS
};
uint64_t view_http_refused(const struct view_http *http, enum view_refusal kind);
/* The answer to such a request, in words. */
const char *view_refusal_text(enum view_refusal kind);

#endif
