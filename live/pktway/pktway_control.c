#include "pktway_control.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { PIECE_MAX = 16384, WAITING_MAX = 8, REQUEST_S = 1 };
enum { KIND_TEXT = 'o', KIND_ERROR = 'e', KIND_END = 'x' };

bool pktway_control_name(const char *name, char *why)
{
    const size_t len = strlen(name);
    if (len >= 1 && len <= PKTWAY_NAME_MAX &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len)
        return true;
    return pktway_because(why, "name '%.40s', expected 1 to %d of a-z, 0-9 and -", name,
                          PKTWAY_NAME_MAX);
}

static socklen_t place_of(const char *name, struct sockaddr_un *at)
{
    static const char prefix[] = "leat-pktway/";
    const size_t prefix_len = sizeof prefix - 1, name_len = strlen(name);
    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(at->sun_path + 1, prefix, prefix_len);
    memcpy(at->sun_path + 1 + prefix_len, name, name_len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + prefix_len + name_len);
}

int pktway_control_listen(const char *name, char *why)
{
    struct sockaddr_un at;
    if (!pktway_control_name(name, why)) return -1;
    const socklen_t len = place_of(name, &at);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, len) == 0 && listen(fd, WAITING_MAX) == 0)
        return fd;
    if (errno == EADDRINUSE)
        pktway_because(why, "'%s' runs here already, expected another --name, or leat pktway leave",
                       name);
    else
        pktway_because(why, "a control socket: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

/* The owner of this process, or root. */
static bool may_ask(int fd)
{
    struct ucred who;
    socklen_t len = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len)) return false;
    return who.uid == 0 || who.uid == geteuid();
}

int pktway_control_accept(int listener, struct pktway_request *request)
{
    const struct timeval limit = { .tv_sec = REQUEST_S };
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    static const char no_right[] =
        "leat: this process is another user's, expected its owner or root\n";
    const bool whole = recv(fd, request, sizeof *request, 0) == (ssize_t)sizeof *request;
    if (!may_ask(fd)) { /* told after its question was read: an answer is lost with what is not */
        pktway_control_say(fd, true, no_right, sizeof no_right - 1);
        pktway_control_end(fd, 1);
        return -1;
    }
    if (whole) {
        request->word[sizeof request->word - 1] = 0;
        request->text[sizeof request->text - 1] = 0;
        return fd;
    }
    close(fd);
    return -1;
}

bool pktway_control_say(int asker, bool error, const char *text, size_t len)
{
    char piece[1 + PIECE_MAX];
    piece[0] = error ? KIND_ERROR : KIND_TEXT;
    for (size_t at = 0; at < len;) {
        const size_t part = len - at < PIECE_MAX ? len - at : PIECE_MAX;
        memcpy(piece + 1, text + at, part);
        if (send(asker, piece, part + 1, MSG_NOSIGNAL) < 0) return false;
        at += part;
    }
    return true;
}

static ssize_t say_text(void *cookie, const char *text, size_t len)
{
    pktway_control_say((int)(intptr_t)cookie, false, text, len);
    return (ssize_t)len; /* if nobody listens any more, there is nothing more to do about it */
}

static ssize_t say_error(void *cookie, const char *text, size_t len)
{
    pktway_control_say((int)(intptr_t)cookie, true, text, len);
    return (ssize_t)len;
}

FILE *pktway_control_stream(int asker, bool error)
{
    const cookie_io_functions_t calls = { .write = error ? say_error : say_text };
    FILE *out = fopencookie((void *)(intptr_t)asker, "w", calls);
    if (out) setvbuf(out, NULL, _IOLBF, PIECE_MAX);
    return out;
}

void pktway_control_end(int asker, int code)
{
    const char piece[2] = { KIND_END, (char)code };
    send(asker, piece, sizeof piece, MSG_NOSIGNAL);
    close(asker);
}

bool pktway_control_ask(const char *name, const struct pktway_request *request, FILE *out,
                        FILE *error, int *code, char *why)
{
    struct sockaddr_un at;
    char piece[1 + PIECE_MAX];
    if (!pktway_control_name(name, why)) return false;
    const socklen_t len = place_of(name, &at);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, len)) {
        if (fd >= 0) close(fd);
        return pktway_because(why,
                              "no '%s' runs in this network namespace, expected one from leat "
                              "pktway route or leat pktway host",
                              name);
    }
    bool ended = false;
    if (send(fd, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request) {
        ssize_t got;
        while (!ended && (got = recv(fd, piece, sizeof piece, 0)) > 0) {
            ended = piece[0] == KIND_END && got == 2;
            FILE *stream = piece[0] == KIND_ERROR ? error : out;
            if (ended)
                *code = piece[1];
            else
                fwrite(piece + 1, 1, (size_t)got - 1, stream);
            fflush(stream); /* it may be long until there is more */
        }
    }
    close(fd);
    return ended || pktway_because(why, "'%s' went away while it was asked", name);
}
