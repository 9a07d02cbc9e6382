#define _GNU_SOURCE /* program_invocation_name */
#include "foreground.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 1000, WORDS_LEN_MAX = 1 << 17, WORDS_MAX = 4096 };

/* ---- the service manager ------------------------------------------------------------------- */

/* -1: there is none. */
static int connect_to_manager(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    const size_t len = path ? strlen(path) : 0;
    if (len < 2 || len >= sizeof to.sun_path || (*path != '/' && *path != '@')) return -1;
    memcpy(to.sun_path, path, len);
    if (*path == '@') to.sun_path[0] = '\0'; /* an abstract name */
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const socklen_t to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (fd < 0 || connect(fd, (const void *)&to, to_len) == 0) return fd;
    close(fd);
    return -1;
}

/* sd_notify(3), whose library would be needed for one datagram. The socket stays open for processes
 * that are confined later. */
static void notify(const char *text)
{
    static int fd = -2;
    if (fd == -2) fd = connect_to_manager();
    if (fd >= 0) send(fd, text, strlen(text), MSG_NOSIGNAL);
}

void foreground_ready(const char *status)
{
    char text[1024];
    snprintf(text, sizeof text, "READY=1\nSTATUS=%.*s", (int)strcspn(status, "\n"), status);
    notify(text);
}

void foreground_alive(void)
{
    static time_t last;
    struct timespec now;
    if (!getenv("WATCHDOG_USEC")) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec != last) notify("WATCHDOG=1");
    last = now.tv_sec;
}

/* ---- again --------------------------------------------------------------------------------- */

/* The words of this command, as the system has them. NULL: they cannot be read. */
static char **own_words(void)
{
    static char text[WORDS_LEN_MAX];
    static char *word[WORDS_MAX + 1];
    size_t len = 0, count = 0;
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && len < sizeof text - 1 &&
                      (got = read(fd, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)got;
    if (fd >= 0) close(fd);
    if (!len || len == sizeof text - 1) return NULL;
    for (size_t at = 0; at < len && count < WORDS_MAX; at += strlen(text + at) + 1)
        word[count++] = text + at;
    word[count] = NULL;
    return word;
}

static int start_again(void)
{
    char **word = own_words();
    sigset_t none;
    if (!word) return fail("SIGHUP: the words of this command cannot be read");
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fflush(NULL);
    alarm(0);
    execvp(word[0], word);
    return fail("SIGHUP: %s: %s", word[0], strerror(errno));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Have the files of this program or of its libraries been replaced? */
static bool is_upgraded(void)
{
    char line[8192];
    bool upgraded = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return true;
    while (!upgraded && fgets(line, sizeof line, maps))
        upgraded = strstr(line, " r-xp ") && strstr(line, " (deleted)\n");
    fclose(maps);
    return upgraded;
}

static void tell_of_reload(void)
{
    struct timespec now;
    char text[128];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    notify(text);
}

/* ---- staying ------------------------------------------------------------------------------- */

/* An absent file is one of zeros. */
static struct stat config_of(const struct foreground *part)
{
    struct stat file = { 0 };
    if (part->config && stat(part->config, &file)) memset(&file, 0, sizeof file);
    return file;
}

/* Has everything been taken over? Otherwise a file has changed that only a new start reads. */
static bool takes_keys(const struct foreground *part, const struct stat *config, const char *status)
{
    interrupted = 0; /* the next signal counts again */
    alarm(0);
    tell_of_reload();
    const struct stat now = config_of(part);
    if (part->renew_keys(part->context) && (!is_same(&now, config) || is_upgraded())) return false;
    foreground_ready(status);
    return true;
}

int foreground_stay(const struct foreground *part, const char *status)
{
    const char *why = "";
    const struct stat config = config_of(part);
    if (!flush_printed()) return FAILED;
    foreground_ready(status);
    while (!interrupted || interrupted == SIGHUP) {
        if (interrupted && !takes_keys(part, &config, status)) {
            const int code = start_again();
            part->end(part->context);
            return code;
        }
        if (!part->runs(part->context, &why)) return fail("%s", why);
        foreground_alive();
        poll(NULL, 0, LOOK_MS); /* a signal ends it */
    }
    notify("STOPPING=1");
    return part->end(part->context);
}
