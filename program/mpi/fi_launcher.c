#include "fi_rank.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int connection = -1; /* a descriptor; -1: not known */

/* "name;tcp4://127.0.0.1:40001" of any version of PMIx that the launcher speaks; 0: not set. */
static uint16_t launcher_port(void)
{
    static const char *const variables[] = { "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                             "PMIX_SERVER_URI3", "PMIX_SERVER_URI2" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *uri = getenv(variables[i]);
        const char *address = uri ? strstr(uri, "tcp4://") : NULL;
        const char *colon = address ? strrchr(address, ':') : NULL;
        if (colon) return (uint16_t)strtoul(colon + 1, NULL, 10);
    }
    return 0;
}

static bool leads_to_launcher(int file)
{
    struct sockaddr_in peer = { 0 };
    socklen_t len = sizeof peer;
    return !getpeername(file, (struct sockaddr *)&peer, &len) && peer.sin_family == AF_INET &&
           peer.sin_port != 0 && ntohs(peer.sin_port) == launcher_port();
}

void leat_fi_launcher_note(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (folder && connection < 0 && (entry = readdir(folder)) != NULL) {
        const int file = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && leads_to_launcher(file)) connection = file;
    }
    if (folder) closedir(folder);
}

bool leat_fi_launcher_is_lost(void)
{
    return connection >= 0 && !leads_to_launcher(connection);
}

/* Does a thread of this process run, or could it? (Its state stands behind its name.) */
static bool runs(const char *thread)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[len > 0 ? len : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state && strncmp(state, ") R", 3) == 0;
}

static bool any_other_runs(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    bool found = false;
    while (folder && !found && (entry = readdir(folder)) != NULL)
        found = entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != syscall(SYS_gettid) &&
                runs(entry->d_name);
    if (folder) closedir(folder);
    return found;
}

/* By system call: the program's own clocks may be simulated. */
void leat_fi_threads_settle(void)
{
    enum { TRIES = 200, PAUSE_NS = 1000000 };
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    static int tries;
    while (tries++ < TRIES && any_other_runs())
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}
