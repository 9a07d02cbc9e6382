#include "fi_others.h"
#include "fi_rank.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* ---- its end --------------------------------------------------------------------------------- */

static int kept = -1; /* a second descriptor of the connection, which MPI_Finalize closes */

void leat_fi_launcher_keep(void)
{
    if (leat_task_any_was_added()) kept = fcntl(connection, F_DUPFD_CLOEXEC, 0);
}

static bool has_other_end(void)
{
    struct tcp_info info = { 0 };
    socklen_t len = sizeof info;
    if (kept < 0 || getsockopt(kept, IPPROTO_TCP, TCP_INFO, &info, &len)) return false;
    return info.tcpi_state == TCP_FIN_WAIT1 || info.tcpi_state == TCP_FIN_WAIT2;
}

enum { TRIES = 3000, PAUSE_NS = 1000000 };

void leat_fi_launcher_await_end(void)
{
    for (int i = 0; i < TRIES && has_other_end(); i++)
        leat_fi_real_pause(PAUSE_NS);
    if (kept >= 0) close(kept);
    kept = -1;
}

void leat_fi_ranks_settle(uint32_t below)
{
    for (int i = 0; i < TRIES && leat_task_any_ends(below); i++)
        leat_fi_real_pause(PAUSE_NS);
}
