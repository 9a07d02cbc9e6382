#include "view_ask.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { CAP_FIRST = 1 << 16, LOOK_MS = 1000 };

int64_t view_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void view_ask_init(struct view_ask *ask, size_t len_max)
{
    *ask = (struct view_ask){ .len_max = len_max, .fd = -1 };
}

static _Noreturn void be_child(view_ask_print *print, void *context, int out, bool may_complain)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    let_signals_end();
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!may_complain) dup2(nothing, STDERR_FILENO);
    const int code = print(context);
    _exit(fflush(stdout) == 0 ? code : FAILED);
}

bool view_ask_begin(struct view_ask *ask, view_ask_print *print, void *context, bool may_complain,
                    int patience_ms)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fflush(NULL);
    ask->len = 0;
    ask->is_late = false;
    ask->due_ms = view_now_ms() + patience_ms;
    ask->child = fork();
    if (ask->child == 0) be_child(print, context, ends[1], may_complain);
    close(ends[1]);
    if (ask->child > 0) {
        ask->fd = ends[0];
        return true;
    }
    close(ends[0]);
    ask->child = 0;
    return false;
}

static bool has_room(struct view_ask *ask)
{
    size_t cap = ask->cap ? 2 * ask->cap : CAP_FIRST;
    if (ask->len < ask->cap) return true;
    if (cap > ask->len_max) cap = ask->len_max;
    char *text = cap > ask->cap ? realloc(ask->text, cap) : NULL;
    if (!text) return false;
    ask->text = text;
    ask->cap = cap;
    return true;
}

/* Takes what the child has printed. True: it has ended, or prints too much. */
static bool take(struct view_ask *ask)
{
    for (;;) {
        if (!has_room(ask)) return true;
        const ssize_t n = read(ask->fd, ask->text + ask->len, ask->cap - ask->len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0 || errno != EAGAIN;
        ask->len += (size_t)n;
    }
}

/* One that still prints is not waited for. */
static bool end_child(struct view_ask *ask, bool kills)
{
    int status = 0;
    if (kills) kill(ask->child, SIGKILL);
    close(ask->fd);
    ask->fd = -1;
    while (waitpid(ask->child, &status, 0) < 0 && errno == EINTR)
        ;
    ask->child = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && ask->len && ask->len < ask->len_max;
}

enum view_ask_state view_ask_step(struct view_ask *ask)
{
    if (!ask->child) return VIEW_ASK_FAILED;
    const bool has_ended = take(ask);
    ask->is_late = !has_ended && view_now_ms() >= ask->due_ms;
    if (!has_ended && !ask->is_late) return VIEW_ASK_WAITS;
    return end_child(ask, ask->is_late) ? VIEW_ASK_ANSWERED : VIEW_ASK_FAILED;
}

enum view_ask_state view_ask_finish(struct view_ask *ask)
{
    enum view_ask_state state;
    while ((state = view_ask_step(ask)) == VIEW_ASK_WAITS && !interrupted)
        poll(&(struct pollfd){ .fd = ask->fd, .events = POLLIN }, 1, LOOK_MS);
    return state;
}

void view_ask_close(struct view_ask *ask)
{
    if (ask->child) end_child(ask, true);
    free(ask->text);
    view_ask_init(ask, ask->len_max);
}
