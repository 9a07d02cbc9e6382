#include "view_live.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { EVERY_MS = 1000, PATIENCE_MS = 10000 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- a child -------------------------------------------------------------------------------- */

/* `may_complain`: the first one says itself that there is no such part. */
static _Noreturn void be_child(const struct view_live *live, int out, bool may_complain)
{
    char *const words[] = { (char *)"leat",
                            (char *)(uintptr_t)live->kind,
                            (char *)"status",
                            (char *)(strcmp(live->kind, "ring") == 0 ? "--dev" : "--name"),
                            (char *)(uintptr_t)live->name,
                            (char *)"--json",
                            NULL };
    const int nothing = open("/dev/null", O_RDWR);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    let_signals_end();
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!may_complain) dup2(nothing, STDERR_FILENO);
    execv("/proc/self/exe", words);
    _exit(FAILED);
}

static bool ask(struct view_live *live, bool may_complain)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fflush(NULL);
    live->len = 0;
    live->due_ms = now_ms() + PATIENCE_MS;
    live->child = fork();
    if (live->child == 0) be_child(live, ends[1], may_complain);
    close(ends[1]);
    live->fd = ends[0];
    if (live->child > 0) return true;
    live->child = 0;
    view_live_close(live);
    return false;
}

/* Takes what the child has printed. True: it has ended, or prints too much. */
static bool take(struct view_live *live)
{
    for (;;) {
        const ssize_t n = read(live->fd, live->status + live->len, sizeof live->status - live->len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0 || errno != EAGAIN;
        live->len += (size_t)n;
    }
}

/* The child's end. Has it answered? */
static bool end_child(struct view_live *live)
{
    int status = 0;
    while (waitpid(live->child, &status, 0) < 0 && errno == EINTR)
        ;
    live->child = 0;
    close(live->fd);
    live->fd = -1;
    live->due_ms = now_ms() + EVERY_MS;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && live->len &&
           live->len < sizeof live->status;
}

/* ---- once a second -------------------------------------------------------------------------- */

bool view_live_open(struct view_live *live, const char *kind, const char *name)
{
    live->kind = kind;
    live->name = name;
    live->child = 0;
    live->fd = -1;
    live->ended = false;
    if (!ask(live, true)) return complain("%s %s: %s", kind, name, strerror(errno));
    while (!take(live) && now_ms() < live->due_ms && !interrupted)
        poll(&(struct pollfd){ .fd = live->fd, .events = POLLIN }, 1, EVERY_MS);
    const bool is_late = now_ms() >= live->due_ms;
    if (is_late || interrupted) kill(live->child, SIGKILL);
    if (end_child(live)) return true;
    if (is_late) complain("%s %s: no status after %d s", kind, name, PATIENCE_MS / 1000);
    return false; /* otherwise the child has told why */
}

int view_live_wait_ms(const struct view_live *live)
{
    const int64_t wait = live->due_ms - now_ms();
    return wait < 0 || live->ended || wait > EVERY_MS ? EVERY_MS : (int)wait;
}

static void end(struct view_live *live, struct view_http *http, unsigned source)
{
    live->ended = true;
    caution("%s %s: has ended", live->kind, live->name);
    view_http_tell(http, source, NULL, 0);
}

void view_live_step(struct view_live *live, struct view_http *http, unsigned source)
{
    const bool is_due = now_ms() >= live->due_ms;
    if (live->ended) return;
    if (live->child && (take(live) || is_due)) {
        if (is_due) kill(live->child, SIGKILL);
        if (end_child(live))
            view_http_tell(http, source, live->status, live->len);
        else
            end(live, http, source);
    } else if (!live->child && is_due && view_http_is_heard(http, source) && !ask(live, false)) {
        end(live, http, source);
    }
}

void view_live_close(struct view_live *live)
{
    if (live->child) {
        kill(live->child, SIGKILL);
        end_child(live);
    }
    if (live->fd >= 0) close(live->fd);
    live->fd = -1;
}
