/* A number circulates among five devices, each adds its own, and the supervisor receives a report
 * of every step. The application of ring.xml, in C. */
#include "example.h"

enum { LAPS = 3, STATIONS = 5 };
enum { OUT };

struct token {
    uint32_t lap, sum;
};

struct report {
    uint32_t lap, sum;
};

struct station {
    uint32_t lap, sum;
    bool has;
};

static void on_init(struct leat_poets_device *d)
{
    const uint32_t *adds = d->properties;
    struct station *s = d->state;
    if (d->number == 0) *s = (struct station){ .sum = *adds, .has = true };
}

static void on_token(struct leat_poets_device *d, const void *message)
{
    const struct token *m = message;
    const uint32_t *adds = d->properties;
    struct station *s = d->state;
    *s = (struct station){ m->lap + (d->number == 0), m->sum + *adds, true };
}

/* Both are wanted at once, and sent whichever comes first: the run is latched. */
static uint64_t ready(const struct leat_poets_device *d)
{
    const struct station *s = d->state;
    return s->has ? 1u << OUT | LEAT_POETS_READY_SUPERVISOR : 0;
}

static bool send_token(struct leat_poets_device *d, void *message)
{
    struct station *s = d->state;
    *(struct token *)message = (struct token){ s->lap, s->sum };
    s->has = false;
    return s->lap < LAPS;
}

static bool send_report(struct leat_poets_device *d, void *message)
{
    struct station *s = d->state;
    *(struct report *)message = (struct report){ s->lap, s->sum };
    s->has = false;
    return true;
}

static const struct leat_poets_device_type station = {
    .name = "station",
    .state_len = sizeof(struct station),
    .properties_len = sizeof(uint32_t),
    .init = on_init,
    .ready = ready,
    .to_supervisor = send_report,
    .input = { { "in", sizeof(struct token), .receive = on_token } },
    .output = { { "out", sizeof(struct token), .send = send_token } },
};

struct tally {
    uint32_t reports, sum;
};

/* Reports of different devices may overtake each other: the run ends when all have arrived. */
static void on_report(struct leat_poets_supervising *self, const void *message)
{
    const struct report *m = message;
    struct tally *s = self->state;
    if (m->lap == LAPS) s->sum = m->sum;
    if (++s->reports < LAPS * STATIONS + 1) return;
    leat_poets_post(self, "the sum is %u", s->sum);
    leat_poets_stop(self);
}

static void on_stop(struct leat_poets_supervising *self)
{
    leat_poets_post(self, "%u reports", ((struct tally *)self->state)->reports);
}

static const struct leat_poets_supervisor_type supervisor = { .state_len = sizeof(struct tally),
                                                              .message_len = sizeof(struct report),
                                                              .receive = on_report,
                                                              .stop = on_stop };

int main(int argc, char **argv)
{
    static const uint32_t adds[STATIONS] = { 1, 10, 100, 1000, 10 };
    struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("ring", NULL, 0);
    for (uint32_t i = 0; i < STATIONS; i++)
        leat_poets_graph_device(g, &station, NULL, &adds[i]);
    for (uint32_t i = 0; i < STATIONS; i++)
        leat_poets_graph_edge(g, (i + 1) % STATIONS, 0, i, OUT, NULL);
    leat_poets_graph_supervisor(g, &supervisor);
    options.latched = true;
    const int code = example_run(g, &options);
    leat_poets_graph_close(g);
    return code;
}
