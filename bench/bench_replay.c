/* bench_replay [--json FILE]: a message of 1 KiB from each of 16 ports to the next, again and
 * again: what the network takes for it, without ranks. Simulated, replayed, and with lengths that
 * never repeat themselves. */
#include "fabric_kind.h"
#include "figures.h"
#include <stdlib.h>
#include <string.h>

enum { PORTS = 16, OCTETS = 1024, ROUNDS = 1500, PIECES = 5, NAME_CAP = 64 };

static uint32_t arrived;

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
    arrived++;
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    (void)context, (void)message, (void)at;
    fprintf(stderr, "bench_replay: a message was lost: %s\n", why);
    exit(1);
}

struct work {
    const char *fabric;
    bool contention_free, every_cycle, is_random;
};

static void pass_round(struct leat_port_net *net, uint64_t len)
{
    static uint8_t octets[2 * OCTETS];
    arrived = 0;
    for (uint32_t i = 0; i < PORTS; i++) {
        const struct leat_port_message message = {
            .from = i, .to = (i + 1) % PORTS, .octets = octets, .len = len
        };
        leat_port_send(net, &message, net->now);
    }
    while (arrived < PORTS)
        leat_port_run(net, LEAT_NEVER);
}

/* Nanoseconds per message, of the second half: a replay has begun then. */
static double time_of(const struct work *work)
{
    const struct leat_fabric_config config = { .contention_free = work->contention_free,
                                               .every_cycle = work->every_cycle };
    struct leat_fabric_error error;
    struct leat_fabric *fabric = leat_fabric_read(work->fabric, NULL, &error);
    if (!fabric || !leat_fabric_open(fabric, &config, &error)) {
        fprintf(stderr, "bench_replay: %s cannot be opened\n", work->fabric);
        exit(1);
    }
    fabric->net->observer =
        (struct leat_port_observer){ .sent = on_sent, .arrived = on_arrived, .lost = on_lost };
    uint32_t state = 1;
    double began = 0;
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        if (i == ROUNDS) began = now_ns();
        pass_round(fabric->net, work->is_random ? OCTETS / 2 + (state >> 8) % OCTETS : OCTETS);
    }
    const double took = now_ns() - began;
    leat_fabric_close(fabric);
    return took / ((double)ROUNDS * PORTS);
}

/* The best of several: those with and without replay take turns. Where there is no replay, the
 * first row is all. */
static void measure(const char *fabric, bool contention_free, bool has_replay)
{
    static const struct {
        const char *what;
        bool is_random, every_cycle;
    } row[] = { { "simulated", false, true },
                { "replayed", false, false },
                { "random lengths, --every-cycle", true, true },
                { "random lengths", true, false } };
    const size_t rows = has_replay ? sizeof row / sizeof *row : 1;
    double best[sizeof row / sizeof *row] = { 0 };
    for (int piece = 0; piece < PIECES; piece++)
        for (size_t i = 0; i < rows; i++) {
            const double took = time_of(&(struct work){ .fabric = fabric,
                                                        .contention_free = contention_free,
                                                        .every_cycle = row[i].every_cycle,
                                                        .is_random = row[i].is_random });
            if (!piece || took < best[i]) best[i] = took;
        }
    for (size_t i = 0; i < rows; i++) {
        char name[NAME_CAP];
        snprintf(name, sizeof name, "%s%s, %s", fabric, contention_free ? ", no contention" : "",
                 row[i].what);
        note(name, best[i], "ns/message", "", true);
    }
}

int main(int argc, char **argv)
{
    measure("clos444", false, true);
    measure("torus:4,4", false, true);
    measure("torus:4,4", true, true);
    measure("ring16", false, false);
    measure("ether16", false, false);
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
