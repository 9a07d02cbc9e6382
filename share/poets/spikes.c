/* Leaky integrate-and-fire neurons; a step ends when no packet is in flight. The application of
 * spikes.xml, in C. */
#include "example.h"

enum { NEURONS = 16, STEPS = 200, THRESHOLD = 1000, REST = 2 };

static const int32_t drive[NEURONS] = { 38, 66, 34, 46, 37, 61, 58, 60,
                                        71, 54, 43, 36, 61, 31, 54, 57 };
/* From, to, weight. */
static const int32_t synapses[][3] = {
    { 0, 1, 72 },    { 1, 2, 292 },   { 2, 3, 392 },   { 3, 4, 36 },    { 4, 5, -132 },
    { 5, 6, 64 },    { 6, 7, 256 },   { 7, 8, 392 },   { 8, 9, 232 },   { 9, 10, -244 },
    { 10, 11, 336 }, { 11, 12, 196 }, { 12, 13, 108 }, { 13, 14, 52 },  { 14, 15, -252 },
    { 15, 0, 16 },   { 0, 14, 140 },  { 7, 3, 164 },   { 12, 6, 220 },  { 0, 7, 392 },
    { 7, 11, 120 },  { 7, 14, 152 },  { 0, 13, 288 },  { 3, 5, 324 },   { 9, 3, -384 },
    { 10, 13, 260 }, { 6, 9, 148 },   { 15, 12, 304 }, { 1, 15, 128 },  { 5, 11, 284 },
    { 11, 2, 228 },  { 12, 11, 252 }, { 0, 15, 24 },   { 9, 12, -332 }, { 7, 0, 396 },
    { 14, 8, -340 }, { 0, 12, 380 },  { 4, 6, -220 },  { 6, 13, 252 },  { 11, 13, 180 },
    { 0, 10, 236 },  { 2, 8, 20 },    { 8, 7, 140 },   { 9, 2, -88 },   { 5, 8, 272 },
    { 9, 14, -360 }, { 10, 15, 244 }, { 3, 0, 160 },   { 12, 10, 216 }, { 6, 8, 56 },
    { 8, 6, 312 },   { 13, 0, 116 },  { 1, 5, 232 },   { 13, 7, 324 },  { 14, 7, -272 },
    { 9, 4, -112 },  { 1, 9, 40 },    { 2, 9, 156 },   { 5, 13, 292 },  { 8, 4, 8 },
};

struct neuron {
    int32_t v, received;
    uint32_t step, rest, spikes, last;
    bool fire;
};

static void on_spike(struct leat_poets_device *d, const void *message)
{
    (void)message;
    ((struct neuron *)d->state)->received += *(const int32_t *)d->edge;
}

static uint64_t ready(const struct leat_poets_device *d)
{
    return ((const struct neuron *)d->state)->fire;
}

static bool send_spike(struct leat_poets_device *d, void *message)
{
    (void)message;
    ((struct neuron *)d->state)->fire = false;
    return true;
}

/* One step. */
static void on_idle(struct leat_poets_device *d)
{
    struct neuron *s = d->state;
    if (s->step == STEPS) return;
    if (s->rest) {
        s->rest--;
    } else {
        s->v += *(const int32_t *)d->properties + s->received - (s->v >> 4);
        if (s->v >= THRESHOLD) {
            s->v = 0;
            s->rest = REST;
            s->spikes++;
            s->last = s->step;
            s->fire = true;
        }
    }
    s->received = 0;
    if (++s->step == STEPS) s->fire = false;
}

static const struct leat_poets_device_type neuron = {
    .name = "neuron",
    .state_len = sizeof(struct neuron),
    .properties_len = sizeof(int32_t),
    .ready = ready,
    .hardware_idle = on_idle,
    .input = { { "in", 0, .edge_properties_len = sizeof(int32_t), .receive = on_spike } },
    .output = { { "out", 0, .send = send_spike } },
};

/* The clock sends itself a tick in every step, since a step may have no spike. */
struct clock {
    uint32_t step;
    bool tick;
};

static void on_tick(struct leat_poets_device *d, const void *message)
{
    (void)d;
    (void)message;
}

static uint64_t clock_ready(const struct leat_poets_device *d)
{
    return ((const struct clock *)d->state)->tick;
}

static bool send_tick(struct leat_poets_device *d, void *message)
{
    (void)message;
    ((struct clock *)d->state)->tick = false;
    return true;
}

static void clock_idle(struct leat_poets_device *d)
{
    struct clock *s = d->state;
    s->tick = ++s->step < STEPS;
    if (!s->tick) leat_poets_exit(d, 0);
}

static const struct leat_poets_device_type clock_type = {
    .name = "clock",
    .state_len = sizeof(struct clock),
    .ready = clock_ready,
    .hardware_idle = clock_idle,
    .input = { { "in", 0, .receive = on_tick } },
    .output = { { "out", 0, .send = send_tick } },
};

int main(int argc, char **argv)
{
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("spikes", NULL, 0);
    for (int i = 0; i < NEURONS; i++)
        leat_poets_graph_device(g, &neuron, NULL, &drive[i]);
    const uint32_t ticker = leat_poets_graph_device(g, &clock_type, "clock", NULL);
    leat_poets_graph_edge(g, ticker, 0, ticker, 0, NULL);
    for (size_t i = 0; i < sizeof synapses / sizeof *synapses; i++)
        leat_poets_graph_edge(g, (uint32_t)synapses[i][1], 0, (uint32_t)synapses[i][0], 0,
                              &synapses[i][2]);
    const int code = example_run(g, &options);
    for (uint32_t i = 0; code == 0 && i < NEURONS; i++) {
        const struct neuron *s = leat_poets_graph_state(g, i);
        printf("neuron %u %u %u %d\n", i, s->spikes, s->last, (int)s->v);
    }
    leat_poets_graph_close(g);
    return code;
}
