/* Shortest paths between all nodes: a node that learns of a shorter path informs its neighbours,
 * until no packet is in flight. The application of shortest_paths.xml, in C. */
#include "example.h"

enum { NODES = 10, FAR = 1000000000 };

struct distance {
    uint32_t from, length;
};

struct node {
    uint32_t length[NODES];
    bool news[NODES];
    bool logged;
};

/* From, to, length. */
static const uint32_t roads[][3] = {
    { 0, 1, 18 }, { 1, 2, 73 }, { 2, 3, 98 }, { 3, 4, 9 },  { 4, 5, 33 }, { 5, 6, 16 },
    { 6, 7, 64 }, { 7, 8, 98 }, { 8, 9, 58 }, { 9, 0, 61 }, { 6, 3, 13 }, { 7, 0, 50 },
    { 6, 9, 98 }, { 0, 7, 35 }, { 3, 9, 14 }, { 5, 0, 3 },  { 0, 8, 2 },  { 8, 3, 45 },
    { 7, 4, 3 },  { 6, 8, 83 }, { 4, 1, 96 }, { 5, 8, 55 }, { 4, 9, 64 }, { 8, 6, 76 },
};

static void on_init(struct leat_poets_device *d)
{
    struct node *s = d->state;
    for (uint32_t i = 0; i < NODES; i++)
        s->length[i] = FAR;
    s->length[d->number] = 0;
    s->news[d->number] = true;
}

static void on_distance(struct leat_poets_device *d, const void *message)
{
    const struct distance *m = message;
    struct node *s = d->state;
    const uint32_t length = m->length + *(const uint32_t *)d->edge;
    if (length >= s->length[m->from]) return;
    s->length[m->from] = length;
    s->news[m->from] = true;
}

static uint64_t ready(const struct leat_poets_device *d)
{
    const struct node *s = d->state;
    return memchr(s->news, true, sizeof s->news) ? 1 : 0;
}

static bool send_news(struct leat_poets_device *d, void *message)
{
    struct node *s = d->state;
    uint32_t i = 0;
    while (!s->news[i])
        i++;
    *(struct distance *)message = (struct distance){ i, s->length[i] };
    s->news[i] = false;
    return true;
}

/* No packet is in flight: all distances are right. */
static void on_idle(struct leat_poets_device *d)
{
    struct node *s = d->state;
    if (s->logged) return;
    s->logged = true;
    for (uint32_t i = 0; i < NODES; i++)
        leat_poets_log(d, 1, "path %u %u %u", i, d->number, s->length[i]);
    if (d->number == 0) leat_poets_exit(d, 0);
}

static const struct leat_poets_device_type node = {
    .name = "node",
    .state_len = sizeof(struct node),
    .init = on_init,
    .ready = ready,
    .hardware_idle = on_idle,
    .input = { { "in", sizeof(struct distance), .edge_properties_len = sizeof(uint32_t),
                 .receive = on_distance } },
    .output = { { "out", sizeof(struct distance), .send = send_news } },
};

int main(int argc, char **argv)
{
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("shortest_paths", NULL, 0);
    for (int i = 0; i < NODES; i++)
        leat_poets_graph_device(g, &node, NULL, NULL);
    for (size_t i = 0; i < sizeof roads / sizeof *roads; i++)
        leat_poets_graph_edge(g, roads[i][1], 0, roads[i][0], 0, &roads[i][2]);
    const int code = example_run(g, &options);
    leat_poets_graph_close(g);
    return code;
}
