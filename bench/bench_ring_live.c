/*
 * One round of a live ring, many times: how long a command takes, and how many a second. Runs in
 * the namespace of one station (bench_ring_live.sh makes the ring).
 *
 * usage: bench_ring_live DEVICE COMMANDS              MIN of register 1, one after the other
 *        bench_ring_live gather COMMANDS PEERS        the same values over TCP connections, each
 *                                                     asked for in parallel (peers: 10.x.y.z:7)
 *        bench_ring_live serve                        a peer: answers each octet with a value
 * Prints median, 99th percentile and commands a second.
 */
#include "aton_sender.h"
#include "figures.h"
#include <arpa/inet.h>
#include <leat/aton.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEERS_MAX = 64, WARM = 1000, PORT = 4256 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(double *took, size_t count, double all_ns)
{
    qsort(took, count, sizeof *took, ascending);
    printf("%.2f %.2f %.0f\n", took[count / 2] / 1000, took[count * 99 / 100] / 1000,
           1e9 * (double)count / all_ns);
}

static bool ask_ring(struct leat_aton_host *station)
{
    const struct leat_aton_command min = {
        .opcode = LEAT_ATON_MIN, .width_bits = 32, .reg = 1, .da = LEAT_ATON_DA_ALL
    };
    static struct leat_aton_host_answer answer;
    char why[LEAT_ATON_HOST_WHY_LEN];
    if (leat_aton_host_command(station, &min, 1000000, &answer, why) == LEAT_ATON_HOST_OK)
        return true;
    fprintf(stderr, "%s\n", why);
    return false;
}

/* ---- the gather --------------------------------------------------------------------------- */

static void no_delay(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int serve(void)
{
    const int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (const struct sockaddr *)&here, sizeof here) || listen(listener, 4))
        return 1;
    const int fd = accept(listener, NULL, NULL);
    uint64_t value = (uint64_t)getpid();
    char octet;
    no_delay(fd);
    while (recv(fd, &octet, 1, 0) == 1)
        if (send(fd, &value, sizeof value, MSG_NOSIGNAL) != (ssize_t)sizeof value) break;
    return 0;
}

static bool ask_peers(const int *fds, int peers)
{
    const char octet = 1;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < peers; i++)
        if (send(fds[i], &octet, 1, MSG_NOSIGNAL) != 1) return false;
    for (int i = 0; i < peers; i++) {
        uint64_t value;
        if (recv(fds[i], &value, sizeof value, MSG_WAITALL) != (ssize_t)sizeof value) return false;
        if (value < least) least = value;
    }
    return least != UINT64_MAX;
}

static bool connect_peers(int *fds, char **names, int peers)
{
    for (int i = 0; i < peers; i++) {
        struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(PORT) };
        if (inet_pton(AF_INET, names[i], &there.sin_addr) != 1) return false;
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        int tries = 0;
        while (connect(fds[i], (const struct sockaddr *)&there, sizeof there)) {
            if (++tries == 50) {
                perror(names[i]);
                return false;
            }
            const struct timespec pause = { .tv_nsec = 20000000 };
            nanosleep(&pause, NULL);
        }
        no_delay(fds[i]);
    }
    return true;
}

/* ---- both --------------------------------------------------------------------------------- */

/* Into took[]: the time of each command. False: one had no answer. */
static bool measure(struct leat_aton_host *station, const int *fds, int peers, double *took,
                    size_t commands)
{
    bool good = true;
    for (int i = 0; good && i < WARM; i++)
        good = station ? ask_ring(station) : ask_peers(fds, peers);
    const double start = now_ns();
    double before = start;
    for (size_t i = 0; good && i < commands; i++) {
        good = station ? ask_ring(station) : ask_peers(fds, peers);
        const double now = now_ns();
        took[i] = now - before;
        before = now;
    }
    if (good) report(took, commands, before - start);
    return good;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "serve") == 0) return serve();
    const size_t commands = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    const int peers = argc - 3;
    int fds[PEERS_MAX];
    char why[LEAT_ATON_HOST_WHY_LEN] = "";
    struct leat_aton_host *station = NULL;
    if (commands < 100 || peers > PEERS_MAX) return 2;
    if (strcmp(argv[1], "gather") == 0) {
        if (!connect_peers(fds, argv + 3, peers)) return 1;
    } else if (leat_aton_host_open(argv[1], &station, why) != LEAT_ATON_HOST_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    double *took = calloc(commands, sizeof *took);
    const bool good = took && measure(station, fds, peers, took, commands);
    leat_aton_host_close(station);
    free(took);
    return !good;
}
