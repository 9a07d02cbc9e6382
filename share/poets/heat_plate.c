/* A plate whose rim has a fixed temperature; all other cells approach the mean of their neighbours.
 * The application of heat_plate.xml, in C. */
#include "example.h"

enum { WIDTH = 8, HEIGHT = 6, STEPS = 20 };
enum { OUT, END };

struct place {
    int32_t start; /* 1/65536 of a degree */
    bool held;
    uint8_t neighbours;
};

struct temperature {
    uint32_t t;
    int32_t v;
};

struct cell {
    int32_t v;
    uint32_t t, sent;
    int32_t sum[2];
    uint32_t received[2]; /* in this step and in the next: no neighbour is further ahead */
};

static void on_init(struct leat_poets_device *d)
{
    const struct place *p = d->properties;
    ((struct cell *)d->state)->v = p->start;
}

/* Steps if its own temperature is sent and those of all neighbours are received. */
static void advance(const struct place *p, struct cell *s)
{
    while (s->sent == s->t + 1 && s->received[s->t & 1] == p->neighbours) {
        if (!p->held) s->v += (s->sum[s->t & 1] - p->neighbours * s->v) >> 3;
        s->sum[s->t & 1] = 0;
        s->received[s->t & 1] = 0;
        s->t++;
    }
}

static void on_temperature(struct leat_poets_device *d, const void *message)
{
    const struct temperature *m = message;
    struct cell *s = d->state;
    s->sum[m->t & 1] += m->v;
    s->received[m->t & 1]++;
    advance(d->properties, s);
}

static uint64_t ready(const struct leat_poets_device *d)
{
    const struct cell *s = d->state;
    if (s->sent != s->t) return 0;
    return s->t < STEPS ? 1u << OUT : 1u << END;
}

static bool send_temperature(struct leat_poets_device *d, void *message)
{
    struct cell *s = d->state;
    *(struct temperature *)message = (struct temperature){ s->t, s->v };
    s->sent++;
    advance(d->properties, s);
    return true;
}

static bool send_end(struct leat_poets_device *d, void *message)
{
    (void)message;
    ((struct cell *)d->state)->sent++; /* once */
    return true;
}

static const struct leat_poets_device_type cell = {
    .name = "cell",
    .state_len = sizeof(struct cell),
    .properties_len = sizeof(struct place),
    .init = on_init,
    .ready = ready,
    .input = { { "in", sizeof(struct temperature), .receive = on_temperature } },
    .output = { [OUT] = { "out", sizeof(struct temperature), .send = send_temperature },
                [END] = { "end", 0, .send = send_end } },
};

static void on_end(struct leat_poets_device *d, const void *message)
{
    (void)message;
    if (++*(uint32_t *)d->state == WIDTH * HEIGHT) leat_poets_exit(d, 0);
}

static const struct leat_poets_device_type counter = {
    .name = "counter", .state_len = sizeof(uint32_t), .input = { { "in", 0, .receive = on_end } }
};

static bool is_inside(int x, int y)
{
    return x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT;
}

int main(int argc, char **argv)
{
    static const int step[4][2] = { { 0, -1 }, { -1, 0 }, { 1, 0 }, { 0, 1 } };
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("heat_plate", NULL, 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        struct place place = { (x * 37 + y * 91) % 100 * 65536, false, 0 };
        for (int k = 0; k < 4; k++)
            place.neighbours += is_inside(x + step[k][0], y + step[k][1]);
        place.held = place.neighbours < 4;
        leat_poets_graph_device(g, &cell, NULL, &place);
    }
    const uint32_t last = leat_poets_graph_device(g, &counter, "counter", NULL);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        for (int k = 0; k < 4; k++) {
            const int x = i % WIDTH + step[k][0], y = i / WIDTH + step[k][1];
            if (is_inside(x, y))
                leat_poets_graph_edge(g, (uint32_t)(y * WIDTH + x), 0, (uint32_t)i, OUT, NULL);
        }
        leat_poets_graph_edge(g, last, 0, (uint32_t)i, END, NULL);
    }
    const int code = example_run(g, &options);
    for (int i = 0; code == 0 && i < WIDTH * HEIGHT; i++) {
        const struct cell *s = leat_poets_graph_state(g, (uint32_t)i);
        printf("cell %d %d %d\n", i % WIDTH, i / WIDTH, (int)s->v);
    }
    leat_poets_graph_close(g);
    return code;
}
