#include "view_http.h"

#ifdef HAVE_MICROHTTPD
#include "leat_json.h"
#include "view_octets.h"
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, BODY_LEFT_MAX = 1 << 20 };

/* A connection, until its request is complete. */
struct guest {
    bool is_there;
    bool has_asked;
    int fd;
    time_t since;
};

/* A live source: its last status as an event. */
struct live {
    char *event;
    size_t len;
    uint64_t version; /* of the event; 0: none yet */
    bool ended;
};

/* Who listens to a live source. */
struct listener {
    struct view_http *http;
    struct listener *next;
    struct MHD_Connection *connection;
    unsigned source;
    uint64_t version; /* of `event` */
    bool waits, told_end;
    char *event; /* of which `at` octets are sent */
    size_t len, at;
};

struct view_http {
    const struct view_http_config *config;
    struct view_address listen;
    char own_name[VIEW_ADDRESS_LEN_MAX + 1];
    struct MHD_Daemon *daemon;
    struct guest guest[VIEW_CONNECTIONS_MAX];
    struct live live[VIEW_SOURCES_MAX];
    struct listener *listeners;
    bool closing;
    uint64_t refused[VIEW_REFUSALS];
};

/* The body of a POST. */
struct body {
    size_t len, left_out;
    uint8_t octets[VIEW_FRAME_LEN_MAX];
};

/* The headers that count; "" if one is there twice. */
struct heads {
    const char *host, *origin, *site, *token, *range;
};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ---- answers -------------------------------------------------------------------------------- */

static const struct {
    unsigned status;
    const char *text;
} refusals[VIEW_REFUSALS] = {
    [VIEW_REFUSED_HOST] = { 403, "Host: not the address of this page, expected the one that leat "
                                 "view printed, with its port" },
    [VIEW_REFUSED_ORIGIN] = { 403,
                              "Origin, Sec-Fetch-Site: a page of another site or a link in one, "
                              "expected this page" },
    [VIEW_REFUSED_TOKEN] = { 403,
                             "token: missing or wrong, expected the one in the address that leat "
                             "view printed" },
    [VIEW_REFUSED_METHOD] = { 405, "method: expected GET, and POST for /decode only" },
    [VIEW_REFUSED_PATH] = { 404, "path: nothing of this name, expected one of the page's own" },
    [VIEW_REFUSED_LONG] = { 413, "body: too long, expected a frame of at most 65535 octets" },
    [VIEW_REFUSED_RANGE] = { 416, "Range: behind the end of the recording" },
    [VIEW_REFUSED_LINK] = { 400, "link: expected a link type, 0 to 65535" },
    [VIEW_REFUSED_MALFORMED] = { 400, "request: not understood, or longer than its bounds" },
    [VIEW_REFUSED_SLOW] = { 408, "request: not complete after 30 s" },
    [VIEW_REFUSED_CHANGED] = { 410,
                               "recording: its file has changed since leat view has opened it, "
                               "start leat view again" },
};

const char *view_refusal_text(enum view_refusal kind)
{
    return refusals[kind].text;
}

uint64_t view_http_refused(const struct view_http *http, enum view_refusal kind)
{
    return http->refused[kind];
}

static void add_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'none'; script-src 'self'; worker-src 'self'; style-src "
                            "'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
                            "form-action 'none'; frame-ancestors 'none'");
    MHD_add_response_header(response, "Connection", "close");
}

static void has_asked(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = info ? info->socket_context : NULL;
    if (guest) guest->has_asked = true;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    add_headers(response, type);
    const enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    has_asked(connection);
    return queued;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *type, const char *text, size_t len)
{
    return answer(
        connection, status, type,
        MHD_create_response_from_buffer(len, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result refuse(struct view_http *http, struct MHD_Connection *connection,
                              enum view_refusal kind)
{
    char line[256];
    http->refused[kind]++;
    const int len = snprintf(line, sizeof line, "%s\n", refusals[kind].text);
    struct MHD_Response *response = MHD_create_response_from_buffer((size_t)len, line,
                                                                    MHD_RESPMEM_MUST_COPY);
    if (response && kind == VIEW_REFUSED_METHOD) MHD_add_response_header(response, "Allow", "GET");
    return answer(connection, refusals[kind].status, "text/plain; charset=utf-8", response);
}

/* ---- recordings ----------------------------------------------------------------------------- */

struct part {
    struct view_http *http;
    const struct view_source *source;
    uint64_t first;
};

/* A file that is not what it was any more ends the answer before its length: browsers see it. */
static ssize_t read_part(void *context, uint64_t at, char *octets, size_t len)
{
    const struct part *part = context;
    const ssize_t got = view_source_read(part->source, part->first + at, octets, len);
    if (got > 0 && view_source_is_same(part->source)) return got;
    part->http->refused[VIEW_REFUSED_CHANGED]++;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static enum MHD_Result serve_part(struct view_http *http, struct MHD_Connection *connection,
                                  const struct view_source *source, uint64_t first, uint64_t len,
                                  bool is_all)
{
    char range[96];
    struct part *part = malloc(sizeof *part);
    if (!part) return MHD_NO;
    *part = (struct part){ http, source, first };
    struct MHD_Response *response = MHD_create_response_from_callback(len, PIECE, read_part, part,
                                                                      free);
    if (!response) {
        free(part);
        return MHD_NO;
    }
    snprintf(range, sizeof range, "bytes %llu-%llu/%llu", (unsigned long long)first,
             (unsigned long long)(first + len - 1), (unsigned long long)view_source_octets(source));
    MHD_add_response_header(response, "Accept-Ranges", "bytes");
    if (!is_all) MHD_add_response_header(response, "Content-Range", range);
    return answer(connection, is_all ? 200 : 206, "application/octet-stream", response);
}

static enum MHD_Result serve_source(struct view_http *http, struct MHD_Connection *connection,
                                    const struct view_source *source, const char *range)
{
    uint64_t first, len;
    if (!view_source_is_same(source)) return refuse(http, connection, VIEW_REFUSED_CHANGED);
    const enum view_range kind = view_range_read(range, view_source_octets(source), &first, &len);
    if (kind == VIEW_RANGE_OUTSIDE) return refuse(http, connection, VIEW_REFUSED_RANGE);
    return serve_part(http, connection, source, first, len, kind == VIEW_RANGE_ALL);
}

/* ---- live sources --------------------------------------------------------------------------- */

static void take_event(struct listener *l)
{
    const struct live *live = &l->http->live[l->source];
    free(l->event);
    l->event = malloc(live->len);
    l->at = 0;
    l->len = l->event ? live->len : 0;
    l->version = live->version;
    l->told_end = live->ended;
    if (l->event) memcpy(l->event, live->event, live->len);
}

static ssize_t read_event(void *context, uint64_t at, char *octets, size_t len)
{
    struct listener *l = context;
    const struct live *live = &l->http->live[l->source];
    (void)at;
    if (l->at == l->len && l->version != live->version) take_event(l);
    if (l->at < l->len) {
        const size_t n = l->len - l->at < len ? l->len - l->at : len;
        memcpy(octets, l->event + l->at, n);
        l->at += n;
        return (ssize_t)n;
    }
    if (l->http->closing || l->told_end) return MHD_CONTENT_READER_END_OF_STREAM;
    l->waits = true;
    MHD_suspend_connection(l->connection);
    return 0;
}

static void end_listener(void *context)
{
    struct listener *l = context, **at = &l->http->listeners;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    free(l->event);
    free(l);
}

static enum MHD_Result serve_live(struct view_http *http, struct MHD_Connection *connection,
                                  unsigned source)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l) return MHD_NO;
    *l = (struct listener){
        .http = http, .next = http->listeners, .connection = connection, .source = source
    };
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE,
                                                                      read_event, l, end_listener);
    if (!response) {
        free(l);
        return MHD_NO;
    }
    http->listeners = l;
    return answer(connection, 200, "text/event-stream", response);
}

static void wake_listeners(struct view_http *http, unsigned source)
{
    for (struct listener *l = http->listeners; l; l = l->next)
        if (l->waits && l->source == source) {
            l->waits = false;
            MHD_resume_connection(l->connection);
        }
}

/* A line of an event has no line end; status is JSON, in which they are blanks. */
static void put_data(struct leat_text *out, const char *json, size_t len)
{
    while (len && json[len - 1] == '\n')
        len--;
    for (size_t i = 0; i < len; i++)
        leat_text_putc(out, json[i] == '\n' ? ' ' : json[i]);
}

void view_http_tell(struct view_http *http, unsigned source, const char *json, size_t len)
{
    static struct view_buffer event;
    struct live *live = &http->live[source];
    if (live->ended) return;
    view_buffer_init(&event);
    if (!json && live->event) leat_text_put(&event.text, live->event, live->len);
    leat_text_puts(&event.text, json ? "event: status\ndata: " : "event: end\ndata: {}");
    if (json) put_data(&event.text, json, len);
    leat_text_puts(&event.text, "\n\n");
    if (!view_buffer_end(&event)) {
        view_buffer_free(&event);
        return;
    }
    free(live->event);
    live->event = event.octets;
    live->len = event.len;
    live->ended = !json;
    live->version++;
    wake_listeners(http, source);
}

bool view_http_is_heard(const struct view_http *http, unsigned source)
{
    const struct listener *l = http->listeners;
    while (l && l->source != source)
        l = l->next;
    return l != NULL;
}

/* ---- packets -------------------------------------------------------------------------------- */

static void put_unknown(struct leat_text *out, const char *text)
{
    struct leat_json json;
    leat_json_init(&json, out);
    leat_json_object(&json, NULL);
    leat_json_string(&json, "error", text);
    leat_json_end(&json);
}

static enum MHD_Result serve_packet(struct view_http *http, struct MHD_Connection *connection,
                                    const struct body *body)
{
    static struct view_buffer json;
    uint64_t link;
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "link");
    if (!text || !view_number_read(text, UINT16_MAX, &link))
        return refuse(http, connection, VIEW_REFUSED_LINK);
    if (body->left_out) return refuse(http, connection, VIEW_REFUSED_LONG);
    view_buffer_init(&json);
    if (!http->config->site->decode((uint16_t)link, body->octets, body->len, &json.text))
        put_unknown(&json.text, "no format of this link type that leat knows");
    enum MHD_Result result = MHD_NO;
    if (view_buffer_end(&json))
        result = answer_text(connection, 200, "application/json", json.octets, json.len);
    view_buffer_free(&json);
    return result;
}

/* What comes behind the longest frame is passed over, so that the answer can be read; an endless
 * body is not. */
static enum MHD_Result take_body(struct body *body, const char *octets, size_t *len)
{
    const size_t room = sizeof body->octets - body->len, n = *len < room ? *len : room;
    memcpy(body->octets + body->len, octets, n);
    body->len += n;
    body->left_out += *len - n;
    *len = 0;
    return body->left_out > BODY_LEFT_MAX ? MHD_NO : MHD_YES;
}

/* ---- requests ------------------------------------------------------------------------------- */

static enum MHD_Result note_head(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct heads *heads = context;
    const struct {
        const char *name, **value;
    } row[] = { { "Host", &heads->host },
                { "Origin", &heads->origin },
                { "Sec-Fetch-Site", &heads->site },
                { "X-Leat-Token", &heads->token },
                { "Range", &heads->range } };
    (void)kind;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (strcasecmp(name, row[i].name) == 0)
            *row[i].value = *row[i].value || !value ? "" : value;
    return MHD_YES;
}

static bool has_token(const struct view_http *http, struct MHD_Connection *connection,
                      const char *head)
{
    const char *token = http->config->token;
    const char *query = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    return !token || view_token_matches(token, head ? head : query);
}

/* Is there anything of this name? */
static bool is_known(const struct view_http *http, const struct view_route *route)
{
    const struct view_site *site = http->config->site;
    switch (route->what) {
    case VIEW_NOTHING: return false;
    case VIEW_INDEX: return view_file_find(http->config->files, "index.html", 10);
    case VIEW_PAGE: return view_file_find(http->config->files, route->name, strlen(route->name));
    case VIEW_SOURCE: return route->source < site->count && site->source[route->source].path;
    case VIEW_LIVE: return route->source < site->count && !site->source[route->source].path;
    case VIEW_SOURCES:
    case VIEW_DECODE: return true;
    }
    return false;
}

/* Why it is refused; VIEW_REFUSALS: it is not. */
static enum view_refusal judge(const struct view_http *http, struct MHD_Connection *connection,
                               const struct heads *heads, const char *method,
                               const struct view_route *route)
{
    if (!view_host_is_ours(&http->listen, http->own_name, heads->host)) return VIEW_REFUSED_HOST;
    if (!view_origin_is_ours(heads->host, heads->origin, heads->site)) return VIEW_REFUSED_ORIGIN;
    if (route->what != VIEW_PAGE && !has_token(http, connection, heads->token))
        return VIEW_REFUSED_TOKEN;
    if (strcmp(method, route->what == VIEW_DECODE ? "POST" : "GET") != 0)
        return VIEW_REFUSED_METHOD;
    return is_known(http, route) ? VIEW_REFUSALS : VIEW_REFUSED_PATH;
}

static enum MHD_Result serve_sources(struct view_http *http, struct MHD_Connection *connection)
{
    static struct view_buffer json;
    enum MHD_Result result = MHD_NO;
    view_buffer_init(&json);
    view_site_describe(http->config->site, true, &json.text);
    if (view_buffer_end(&json))
        result = answer_text(connection, 200, "application/json", json.octets, json.len);
    view_buffer_free(&json);
    return result;
}

static enum MHD_Result serve_file(struct view_http *http, struct MHD_Connection *connection,
                                  const char *name)
{
    const struct view_file *file = view_file_find(http->config->files, name, strlen(name));
    return answer(connection, 200, view_file_type(name),
                  MHD_create_response_from_buffer(file->len, (void *)(uintptr_t)file->octets,
                                                  MHD_RESPMEM_PERSISTENT));
}

/* A body is read only behind a head that is in order. */
static enum MHD_Result begin_body(struct view_http *http, struct MHD_Connection *connection,
                                  struct body **body)
{
    uint64_t len;
    const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    if (text && (!view_number_read(text, UINT64_MAX, &len) || len > VIEW_FRAME_LEN_MAX))
        return refuse(http, connection, VIEW_REFUSED_LONG);
    *body = calloc(1, sizeof **body);
    return *body ? MHD_YES : MHD_NO;
}

static enum MHD_Result serve_request(struct view_http *http, struct MHD_Connection *connection,
                                     const char *path, const char *method, struct body **body)
{
    struct heads heads = { NULL };
    const struct view_route route = view_route_of(path);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_head, &heads);
    const enum view_refusal why = judge(http, connection, &heads, method, &route);
    if (why != VIEW_REFUSALS) return refuse(http, connection, why);
    switch (route.what) {
    case VIEW_NOTHING: break;
    case VIEW_INDEX: return serve_file(http, connection, "index.html");
    case VIEW_PAGE: return serve_file(http, connection, route.name);
    case VIEW_SOURCES: return serve_sources(http, connection);
    case VIEW_SOURCE:
        return serve_source(http, connection, &http->config->site->source[route.source],
                            heads.range);
    case VIEW_DECODE: return begin_body(http, connection, body);
    case VIEW_LIVE: return serve_live(http, connection, route.source);
    }
    return MHD_NO;
}

/* Called for the head of a request, then for each piece of its body, then for its end. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *octets, size_t *len, void **own)
{
    struct body *body = *own;
    (void)version;
    if (!body) {
        const enum MHD_Result result = serve_request(context, connection, path, method, &body);
        *own = body;
        return result;
    }
    return *len ? take_body(body, octets, len) : serve_packet(context, connection, body);
}

static void on_end(void *context, struct MHD_Connection *connection, void **own,
                   enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    free(*own);
    *own = NULL;
}

/* ---- connections ---------------------------------------------------------------------------- */

static void on_connection(void *context, struct MHD_Connection *connection, void **own,
                          enum MHD_ConnectionNotificationCode code)
{
    struct view_http *http = context;
    struct guest *guest = *own;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (guest) guest->is_there = false;
        return;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (guest = http->guest; guest < http->guest + VIEW_CONNECTIONS_MAX; guest++)
        if (!guest->is_there) {
            *guest = (struct guest){ .is_there = true, .fd = info->connect_fd, .since = now() };
            *own = guest;
            return;
        }
}

/* Whoever sends an octet now and then is never idle. */
static void end_slow_requests(struct view_http *http)
{
    const time_t t = now();
    for (struct guest *guest = http->guest; guest < http->guest + VIEW_CONNECTIONS_MAX; guest++)
        if (guest->is_there && !guest->has_asked && t - guest->since > VIEW_REQUEST_S) {
            guest->has_asked = true;
            http->refused[VIEW_REFUSED_SLOW]++;
            shutdown(guest->fd, SHUT_RDWR);
        }
}

/* Paths and queries are taken as they are: nothing that we serve needs an escape. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

/* What MHD refuses by itself is only told by its log. */
static void on_log(void *context, const char *format, va_list list)
{
    static const char refusal[] = "Error processing request";
    struct view_http *http = context;
    (void)list;
    if (strncmp(format, refusal, sizeof refusal - 1) == 0) http->refused[VIEW_REFUSED_MALFORMED]++;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static struct view_http *because(struct leat_text *why, const struct view_address *address,
                                 const char *text)
{
    leat_text_puts(why, address->host);
    leat_text_putc(why, ':');
    leat_text_decimal(why, address->port);
    leat_text_puts(why, ": ");
    leat_text_puts(why, text);
    return NULL;
}

static bool listen_on(int fd, const struct addrinfo *to)
{
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (to->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    return bind(fd, to->ai_addr, to->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0;
}

/* A socket that listens; sets the port that it has. -1: `why` says what was expected. */
static int open_socket(struct view_address *address, struct leat_text *why)
{
    char port[8];
    const bool is_local = strcmp(address->host, "localhost") == 0;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
    struct addrinfo *to;
    struct sockaddr_storage own = { 0 };
    socklen_t own_len = sizeof own;
    snprintf(port, sizeof port, "%u", address->port);
    if (getaddrinfo(is_local ? "127.0.0.1" : address->host, port, &hints, &to) != 0) {
        because(why, address, "expected an address of this host in numbers, or localhost");
        return -1;
    }
    const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool listens = fd >= 0 && listen_on(fd, to);
    if (!listens) because(why, address, strerror(errno));
    freeaddrinfo(to);
    if (!listens && fd >= 0) close(fd);
    if (!listens) return -1;
    getsockname(fd, (void *)&own, &own_len);
    address->port = ntohs(own.ss_family == AF_INET6
                              ? ((const struct sockaddr_in6 *)(const void *)&own)->sin6_port
                              : ((const struct sockaddr_in *)(const void *)&own)->sin_port);
    return fd;
}

static struct MHD_Daemon *start(struct view_http *http, int fd)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)VIEW_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)VIEW_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)VIEW_HEAD_LEN_MAX,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
}

struct view_http *view_http_open(const struct view_http_config *config, struct leat_text *why)
{
    struct view_http *http = calloc(1, sizeof *http);
    if (!http) return because(why, &config->listen, "no memory");
    http->config = config;
    http->listen = config->listen;
    if (gethostname(http->own_name, sizeof http->own_name - 1) != 0) *http->own_name = '\0';
    const int fd = open_socket(&http->listen, why);
    if (fd >= 0) http->daemon = start(http, fd);
    if (fd >= 0 && !http->daemon) {
        because(why, &http->listen, "libmicrohttpd does not start");
        close(fd);
    }
    if (http->daemon) return http;
    free(http);
    return NULL;
}

/* A connection that is suspended cannot be closed. */
void view_http_close(struct view_http *http)
{
    if (!http) return;
    http->closing = true;
    for (unsigned i = 0; i < VIEW_SOURCES_MAX; i++)
        wake_listeners(http, i);
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
    for (unsigned i = 0; i < VIEW_SOURCES_MAX; i++)
        free(http->live[i].event);
    free(http);
}

void view_http_address(const struct view_http *http, struct leat_text *out)
{
    const char *host = view_address_is_any(http->listen.host) ? http->own_name : http->listen.host;
    const bool is_six = strchr(host, ':');
    leat_text_puts(out, is_six ? "http://[" : "http://");
    leat_text_puts(out, host);
    leat_text_puts(out, is_six ? "]:" : ":");
    leat_text_decimal(out, http->listen.port);
    leat_text_putc(out, '/');
    if (!http->config->token) return;
    leat_text_puts(out, "?token=");
    leat_text_puts(out, http->config->token);
}

int view_http_fd(const struct view_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info->epoll_fd;
}

int view_http_wait_ms(const struct view_http *http, int most)
{
    MHD_UNSIGNED_LONG_LONG wait;
    return MHD_get_timeout(http->daemon, &wait) == MHD_YES && wait < (unsigned)most ? (int)wait
                                                                                    : most;
}

void view_http_serve(struct view_http *http)
{
    end_slow_requests(http);
    MHD_run(http->daemon);
}
#endif
