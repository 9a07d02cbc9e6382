#include "live_packetway_control.h"
#include "leat_text.h"
#include "live_packetway_name.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PIECE_MAX = 16384,
    ACCEPTS = 4,    /* in one turn */
    CONNECT_S = 5,  /* for a command whose process does not accept */
    CLOSE_MS = 1000 /* for the last answers */
};
enum { KIND_TEXT = 'o', KIND_ERROR = 'e', KIND_END = 'x' };
static const leat_time ps_per_ms = 1000000000;

/* ---- names --------------------------------------------------------------------------------- */

bool packetway_control_name(const char *name, char *why)
{
    const size_t len = strlen(name);
    if (len >= 1 && len <= PACKETWAY_NAME_MAX &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len)
        return true;
    return live_because(why, "name '%.40s', expected 1 to %d of a-z, 0-9 and -", name,
                        PACKETWAY_NAME_MAX);
}

static struct packetway_name socket_of(const char *name)
{
    return packetway_name_of("leat-pktway/%s", name);
}

static bool because_taken(const char *name, const struct packetway_name *at, char *why)
{
    struct ucred peer;
    char holder[PACKETWAY_HOLDER_MAX];
    if (packetway_name_holder(at, &peer) && peer.uid == geteuid())
        return live_because(why,
                            "'%s' runs here already, expected another --name, or leat pktway "
                            "stop",
                            name);
    packetway_name_holder_text(at, holder);
    return live_because(why, "the name '%s' is taken by %s, expected another --name", name, holder);
}

bool packetway_control_open(struct packetway_control *c, const char *name, char *why)
{
    *c = (struct packetway_control){ .listener = -1 };
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++)
        c->client[i].fd = -1;
    if (!packetway_control_name(name, why)) return false;
    const struct packetway_name at = socket_of(name);
    c->listener = packetway_name_hold(&at);
    if (c->listener >= 0) return true;
    return errno == EADDRINUSE ? because_taken(name, &at, why)
                               : live_because(why, "a control socket: %s", strerror(errno));
}

/* ---- clients ------------------------------------------------------------------------------- */

static void drop(struct packetway_client *client)
{
    if (client->fd >= 0) close(client->fd);
    free(client->waiting);
    *client = (struct packetway_client){ .fd = -1 };
}

/* Sends pending octets, as far as they are accepted. False: the other end is gone. */
static bool push(struct packetway_client *client)
{
    while (client->sent < client->len) {
        uint32_t part;
        memcpy(&part, client->waiting + client->sent, sizeof part);
        if (send(client->fd, client->waiting + client->sent + sizeof part, part,
                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
        client->sent += sizeof part + part;
        client->until = packetway_now() + PACKETWAY_SLOW_MS * ps_per_ms;
    }
    client->sent = client->len = 0;
    return true;
}

/* Half of the memory holds what was sent: moves pending octets to its front. */
static void make_room(struct packetway_client *client)
{
    if (client->sent <= client->len / 2) return;
    client->len -= client->sent;
    memmove(client->waiting, client->waiting + client->sent, client->len);
    client->sent = 0;
}

/* Appends to the pending octets. False: too much. */
static bool keep(struct packetway_client *client, const uint8_t *piece, uint32_t len)
{
    make_room(client);
    const size_t need = client->len + sizeof len + len;
    if (need > PACKETWAY_ANSWER_MAX) return false;
    if (need > client->cap) {
        const size_t cap = need < 2 * client->cap ? 2 * client->cap : need + PIECE_MAX;
        uint8_t *more = realloc(client->waiting, cap);
        if (!more) return false;
        client->waiting = more;
        client->cap = cap;
    }
    if (!client->len) client->until = packetway_now() + PACKETWAY_SLOW_MS * ps_per_ms;
    memcpy(client->waiting + client->len, &len, sizeof len);
    memcpy(client->waiting + client->len + sizeof len, piece, len);
    client->len = need;
    return true;
}

static bool give(struct packetway_client *client, const uint8_t *piece, uint32_t len)
{
    if (client->fd < 0 || client->broken) return false;
    if (keep(client, piece, len) && push(client)) return true;
    client->broken = true;
    client->sent = client->len = 0;
    shutdown(client->fd, SHUT_RDWR); /* so that poll reports the end */
    return false;
}

bool packetway_control_say(struct packetway_client *client, bool error, const char *text,
                           size_t len)
{
    uint8_t piece[1 + PIECE_MAX];
    piece[0] = error ? KIND_ERROR : KIND_TEXT;
    for (size_t at = 0; at < len;) {
        const size_t part = len - at < PIECE_MAX ? len - at : PIECE_MAX;
        memcpy(piece + 1, text + at, part);
        if (!give(client, piece, (uint32_t)part + 1)) return false;
        at += part;
    }
    return true;
}

static ssize_t say_text(void *cookie, const char *text, size_t len)
{
    packetway_control_say(cookie, false, text, len);
    return (ssize_t)len; /* if no client listens any more, there is nothing left to do */
}

static ssize_t say_error(void *cookie, const char *text, size_t len)
{
    packetway_control_say(cookie, true, text, len);
    return (ssize_t)len;
}

FILE *packetway_control_stream(struct packetway_client *client, bool error)
{
    const cookie_io_functions_t calls = { .write = error ? say_error : say_text };
    FILE *out = fopencookie(client, "w", calls);
    if (out) setvbuf(out, NULL, _IOLBF, PIECE_MAX);
    return out;
}

void packetway_control_end(struct packetway_client *client, int code)
{
    const uint8_t piece[2] = { KIND_END, (uint8_t)code };
    client->ended = true;
    if (!give(client, piece, sizeof piece) || !client->len) drop(client);
}

uint32_t packetway_control_spread(struct packetway_control *c, const char *text, size_t len)
{
    uint32_t count = 0;
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        struct packetway_client *client = &c->client[i];
        if (client->fd < 0 || !client->receives) continue;
        if (packetway_control_say(client, false, text, len))
            count++;
        else
            packetway_control_end(client, 1);
    }
    return count;
}

void packetway_control_forget(struct packetway_control *c)
{
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        struct packetway_client *client = &c->client[i];
        struct pollfd wait = { .fd = client->fd };
        if (client->fd >= 0 && client->receives && poll(&wait, 1, 0) > 0) drop(client);
    }
}

/* ---- serving ------------------------------------------------------------------------------- */

static void refuse(int fd)
{
    static const char no_right[] =
        "leat: this process is another user's, expected its owner or root\n";
    struct packetway_client stranger = { .fd = fd };
    packetway_control_say(&stranger, true, no_right, sizeof no_right - 1);
    packetway_control_end(&stranger, 1);
    drop(&stranger); /* whether or not it has taken that */
}

static struct packetway_client *vacancy(struct packetway_control *c)
{
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++)
        if (c->client[i].fd < 0) return &c->client[i];
    return NULL;
}

/* The owner of this process and root become clients, before anything they sent is read. */
static void let_in(struct packetway_control *c, leat_time now)
{
    struct packetway_client *client;
    for (int i = 0; i < ACCEPTS && (client = vacancy(c)); i++) {
        struct ucred peer;
        const int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        if (packetway_name_peer(fd, &peer) && (peer.uid == 0 || peer.uid == geteuid()))
            *client = (struct packetway_client){ .fd = fd,
                                                 .until = now + PACKETWAY_REQUEST_MS * ps_per_ms };
        else
            refuse(fd);
    }
}

/* True: the request is complete. */
static bool receive(struct packetway_client *client, struct packetway_request *request)
{
    const ssize_t got = recv(client->fd, request, sizeof *request, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    const ssize_t head = offsetof(struct packetway_request, data);
    if (got < head || request->data_len > sizeof request->data ||
        got != head + (ssize_t)request->data_len) {
        drop(client);
        return false;
    }
    request->word[sizeof request->word - 1] = 0;
    request->text[sizeof request->text - 1] = 0;
    return client->asked = true;
}

void packetway_control_wait(const struct packetway_control *c,
                            struct pollfd wait[PACKETWAY_CONTROL_FDS])
{
    bool full = true;
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        const struct packetway_client *client = &c->client[i];
        wait[1 + i] = (struct pollfd){ .fd = client->fd,
                                       .events = client->asked ? POLLOUT : POLLIN };
        if (client->asked && !client->len) wait[1 + i].fd = -1; /* nothing is due */
        full = full && client->fd >= 0;
    }
    wait[0] = (struct pollfd){ .fd = full ? -1 : c->listener, .events = POLLIN };
}

struct packetway_client *packetway_control_serve(struct packetway_control *c,
                                                 const struct pollfd wait[PACKETWAY_CONTROL_FDS],
                                                 leat_time now, struct packetway_request *request)
{
    struct packetway_client *asking = NULL;
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        struct packetway_client *client = &c->client[i];
        if (client->fd < 0) continue;
        const bool ready = wait[1 + i].fd == client->fd && wait[1 + i].revents;
        if (ready && !client->asked && !asking && receive(client, request)) asking = client;
        if (ready && client->asked && client->len && !push(client)) client->until = now;
        if (client->ended && !client->len) client->until = now;
        if ((!client->asked || client->len || client->ended) && client->until <= now) drop(client);
    }
    if (wait[0].fd >= 0 && wait[0].revents) let_in(c, now);
    return asking;
}

void packetway_control_close(struct packetway_control *c, int code)
{
    if (c->listener < 0) return;
    close(c->listener);
    c->listener = -1;
    const leat_time until = packetway_now() + CLOSE_MS * ps_per_ms;
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        struct packetway_client *client = &c->client[i];
        if (client->fd >= 0 && client->asked && !client->ended) packetway_control_end(client, code);
        while (client->fd >= 0 && client->len && packetway_now() < until) {
            struct pollfd wait = { .fd = client->fd, .events = POLLOUT };
            if (poll(&wait, 1, CLOSE_MS / 10) > 0 && !push(client)) break;
        }
        drop(client);
    }
}

/* ---- asking -------------------------------------------------------------------------------- */

static void print_piece(struct leat_text *text)
{
    fwrite(text->buf, 1, text->len, text->user);
    text->len = 0;
}

/* The process prints what others have sent: names of nodes, reasons. A terminal
 * obeys none of it: control characters are escaped. */
static void print(const char *octets, size_t len, FILE *stream)
{
    char buf[4096];
    struct leat_text text;
    leat_text_init(&text, buf, sizeof buf, print_piece, stream);
    leat_text_harmless(&text, octets, len);
    print_piece(&text);
    fflush(stream); /* it may take long until there is more */
}

/* An unread request causes one error, and then the answer arrives. */
static ssize_t receive_piece(int fd, char *piece, size_t cap)
{
    const ssize_t got = recv(fd, piece, cap, 0);
    return got < 0 && errno == ECONNRESET ? recv(fd, piece, cap, 0) : got;
}

/* -1: see `why`. */
static int connect_to(const char *name, char *why)
{
    struct ucred peer;
    const struct timeval limit = { .tv_sec = CONNECT_S };
    const struct packetway_name at = socket_of(name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at.at, at.len) ||
        !packetway_name_peer(fd, &peer)) {
        const bool busy = fd >= 0 && errno == EAGAIN;
        if (fd >= 0) close(fd);
        if (busy)
            live_because(why, "'%s' does not answer within %d s", name, CONNECT_S);
        else
            live_because(why,
                         "no '%s' runs in this network namespace, expected one from leat pktway "
                         "route or leat pktway host",
                         name);
        return -1;
    }
    if (peer.uid == 0 || peer.uid == geteuid()) return fd;
    close(fd);
    live_because(why,
                 "'%s' is process %d of user %u, which is not asked, expected one of root's or "
                 "this user's",
                 name, (int)peer.pid, (unsigned)peer.uid);
    return -1;
}

/* Whether it was accepted does not matter: a refused client is answered before it asks. */
static void send_request(int fd, const struct packetway_request *request)
{
    send(fd, request, offsetof(struct packetway_request, data) + request->data_len, MSG_NOSIGNAL);
}

/* A piece before the time is over. 0: none, or a signal came. */
static ssize_t await_piece(int fd, uint32_t timeout_ms, char *piece, size_t cap)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    return poll(&wait, 1, timeout_ms ? (int)timeout_ms : -1) > 0 ? receive_piece(fd, piece, cap)
                                                                 : 0;
}

bool packetway_control_hear(const char *name, const struct packetway_request *request,
                            uint32_t timeout_ms, packetway_control_part *each, void *context,
                            int *code, char *why)
{
    char piece[1 + PIECE_MAX];
    if (!packetway_control_name(name, why)) return false;
    const int fd = connect_to(name, why);
    if (fd < 0) return false;
    bool goes_on = true;
    ssize_t got;
    send_request(fd, request);
    while (goes_on && (got = await_piece(fd, timeout_ms, piece, sizeof piece)) > 0) {
        if (piece[0] == KIND_TEXT) goes_on = each(context, piece + 1, (size_t)got - 1);
        if (piece[0] == KIND_ERROR) print(piece + 1, (size_t)got - 1, stderr);
        if (piece[0] == KIND_END && got == 2) {
            *code = (unsigned char)piece[1];
            goes_on = false;
        }
    }
    close(fd);
    return true;
}

bool packetway_control_ask(const char *name, const struct packetway_request *request, FILE *out,
                           FILE *error, int *code, char *why)
{
    char piece[1 + PIECE_MAX];
    if (!packetway_control_name(name, why)) return false;
    const int fd = connect_to(name, why);
    if (fd < 0) return false;
    bool ended = false;
    ssize_t got;
    send_request(fd, request);
    while (!ended && (got = receive_piece(fd, piece, sizeof piece)) > 0) {
        ended = piece[0] == KIND_END && got == 2;
        if (ended)
            *code = (unsigned char)piece[1];
        else
            print(piece + 1, (size_t)got - 1, piece[0] == KIND_ERROR ? error : out);
    }
    close(fd);
    return ended || live_because(why, "'%s' went away while it was asked", name);
}
