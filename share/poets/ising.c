/* The Ising model: spins on a torus that flip by the Metropolis rule, every other one in a step.
 * The application of ising.xml, in C; its comments say more. */
#include "example.h"

enum { SIDE = 8, STEPS = 30, SEED = 1 };
enum { OUT, END };

/* exp(-4 / T) and exp(-8 / T) in units of 2^-32, for T = 2. */
static const uint32_t chance[2] = { 581260615, 78665070 };
static const char beginning[SIDE * SIDE + 1] =
    "--+-++++--+-++-++--+----+-+--++-+--++-+--+-++-++++-+-++-++-+--++";

struct spin {
    uint32_t t;
    int32_t spin;
};

struct cell {
    int32_t spin;
    uint32_t t, sent;
    int32_t sum[2];
    uint32_t received[2];
};

/* splitmix64: the same for every order of packets. */
static uint32_t draw(uint32_t cell, uint32_t t)
{
    uint64_t z = ((uint64_t)SEED << 48) + ((uint64_t)t << 24) + cell + 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

static void on_init(struct leat_poets_device *d)
{
    ((struct cell *)d->state)->spin = beginning[d->number] == '+' ? 1 : -1;
}

/* Steps if its own spin is sent and those of all neighbours are received. */
static void advance(struct leat_poets_device *d)
{
    struct cell *s = d->state;
    const uint32_t colour = (d->number % SIDE + d->number / SIDE) % 2;
    while (s->sent == s->t + 1 && s->received[s->t & 1] == 4) {
        const int32_t along = s->spin * s->sum[s->t & 1]; /* half the energy of a flip */
        if ((s->t & 1) == colour && (along <= 0 || draw(d->number, s->t) < chance[along / 2 - 1]))
            s->spin = -s->spin;
        s->sum[s->t & 1] = 0;
        s->received[s->t & 1] = 0;
        s->t++;
    }
}

static void on_spin(struct leat_poets_device *d, const void *message)
{
    const struct spin *m = message;
    struct cell *s = d->state;
    s->sum[m->t & 1] += m->spin;
    s->received[m->t & 1]++;
    advance(d);
}

static uint64_t ready(const struct leat_poets_device *d)
{
    const struct cell *s = d->state;
    if (s->sent != s->t) return 0;
    return s->t < STEPS ? 1u << OUT : 1u << END;
}

static bool send_spin(struct leat_poets_device *d, void *message)
{
    struct cell *s = d->state;
    *(struct spin *)message = (struct spin){ s->t, s->spin };
    s->sent++;
    advance(d);
    return true;
}

static bool send_last(struct leat_poets_device *d, void *message)
{
    struct cell *s = d->state;
    s->sent++; /* once */
    *(int32_t *)message = s->spin;
    return true;
}

static const struct leat_poets_device_type cell = {
    .name = "cell",
    .state_len = sizeof(struct cell),
    .init = on_init,
    .ready = ready,
    .input = { { "in", sizeof(struct spin), .receive = on_spin } },
    .output = { [OUT] = { "out", sizeof(struct spin), .send = send_spin },
                [END] = { "end", sizeof(int32_t), .send = send_last } },
};

struct counter {
    uint32_t received;
    int32_t sum;
};

static void on_last(struct leat_poets_device *d, const void *message)
{
    struct counter *s = d->state;
    s->sum += *(const int32_t *)message;
    if (++s->received < SIDE * SIDE) return;
    leat_poets_log(d, 1, "magnetisation %d of %u", s->sum, s->received);
    leat_poets_exit(d, 0);
}

static const struct leat_poets_device_type counter = {
    .name = "counter",
    .state_len = sizeof(struct counter),
    .input = { { "in", sizeof(int32_t), .receive = on_last } },
};

int main(int argc, char **argv)
{
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("ising", NULL, 0);
    for (int i = 0; i < SIDE * SIDE; i++)
        leat_poets_graph_device(g, &cell, NULL, NULL);
    const uint32_t last = leat_poets_graph_device(g, &counter, "counter", NULL);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const uint32_t x = i % SIDE, y = i / SIDE;
        const uint32_t near[4] = { x + (y + SIDE - 1) % SIDE * SIDE,
                                   (x + SIDE - 1) % SIDE + y * SIDE, (x + 1) % SIDE + y * SIDE,
                                   x + (y + 1) % SIDE * SIDE };
        for (int k = 0; k < 4; k++)
            leat_poets_graph_edge(g, near[k], 0, i, OUT, NULL);
        leat_poets_graph_edge(g, last, 0, i, END, NULL);
    }
    const int code = example_run(g, &options);
    for (uint32_t i = 0; code == 0 && i < SIDE * SIDE; i++)
        printf("spin %u %d\n", i, (int)((const struct cell *)leat_poets_graph_state(g, i))->spin);
    leat_poets_graph_close(g);
    return code;
}
