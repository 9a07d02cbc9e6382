/* openpty, cfmakeraw */
#define _DEFAULT_SOURCE
#include "relay.h"
#include "style.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 100, PIECE_LEN = 4096 };

static struct {
    bool is_on, takes_stdout;
    int master;
    int screen;     /* the terminal */
    int over[2];    /* a pipe; its end is the end of the relay */
    bool in_a_line; /* which the program has begun */
    struct progress progress;
    void (*draw)(struct progress *progress);
    pthread_t thread;
} relay;

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: there is no more. The master does not block. */
static bool copy_piece(void)
{
    char piece[PIECE_LEN];
    const ssize_t len = read(relay.master, piece, sizeof piece);
    if (len <= 0) return false;
    progress_hide(&relay.progress);
    for (ssize_t at = 0, done; at<len; at += done> 0 ? done : 0) {
        done = write(relay.screen, piece + at, (size_t)(len - at));
        if (done < 0 && errno != EINTR && errno != EAGAIN) break; /* the terminal is gone */
    }
    relay.in_a_line = piece[len - 1] != '\n';
    return true;
}

static void *run(void *context)
{
    struct pollfd from[] = { { .fd = relay.master, .events = POLLIN }, { .fd = relay.over[0] } };
    (void)context;
    while (!from[1].revents) {
        poll(from, 2, LOOK_MS);
        if (from[0].revents & POLLIN) copy_piece();
        if (!relay.in_a_line && progress_is_due(&relay.progress)) relay.draw(&relay.progress);
    }
    while (copy_piece()) {
    }
    progress_hide(&relay.progress);
    return NULL;
}

/* Signals are for the others: they end waits there. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(&relay.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool is_same_terminal(int a, int b)
{
    struct stat one, other;
    return isatty(a) && !fstat(a, &one) && !fstat(b, &other) && one.st_rdev == other.st_rdev;
}

static int kept_open(int file)
{
    return fcntl(file, F_SETFD, FD_CLOEXEC), file;
}

/* Raw: each octet comes to the screen as it was written, and only there is a newline a return,
 * too. */
static bool open_terminal(int *slave)
{
    struct termios mode;
    struct winsize size;
    if (tcgetattr(STDERR_FILENO, &mode) || ioctl(STDERR_FILENO, TIOCGWINSZ, &size)) return false;
    cfmakeraw(&mode);
    if (openpty(&relay.master, slave, NULL, &mode, &size)) return false;
    fcntl(relay.master, F_SETFL, O_NONBLOCK);
    kept_open(relay.master);
    return true;
}

/* False: all is as it was. */
static bool divert(void)
{
    int slave;
    if (!is_screen(STDERR_FILENO) || !open_terminal(&slave)) return false;
    if (pipe(relay.over)) {
        close(relay.master);
        close(slave);
        return false;
    }
    kept_open(relay.over[0]);
    kept_open(relay.over[1]);
    fflush(stdout);
    fflush(stderr);
    relay.takes_stdout = is_same_terminal(STDOUT_FILENO, STDERR_FILENO);
    relay.screen = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(slave, STDERR_FILENO);
    if (relay.takes_stdout) dup2(slave, STDOUT_FILENO);
    close(slave);
    return true;
}

static void restore(void)
{
    fflush(stdout);
    fflush(stderr);
    dup2(relay.screen, STDERR_FILENO);
    if (relay.takes_stdout) dup2(relay.screen, STDOUT_FILENO);
}

static void close_all(void)
{
    close(relay.over[0]);
    close(relay.master);
    close(relay.screen);
}

void relay_begin(void (*draw)(struct progress *progress))
{
    if (!divert()) return;
    progress_begin(&relay.progress, relay.screen);
    relay.draw = draw;
    relay.in_a_line = false;
    relay.is_on = start_thread();
    if (relay.is_on) return;
    restore();
    close(relay.over[1]);
    close_all();
}

void relay_end(void)
{
    if (!relay.is_on) return;
    restore();
    close(relay.over[1]);
    pthread_join(relay.thread, NULL);
    close_all();
    relay.is_on = false;
}
