/* PageRank: in each step every page divides its rank among its links; a step ends when no packet is
 * in flight. The application of pagerank.xml, in C. */
#include "example.h"

enum { PAGES = 12, STEPS = 30 };
#define WHOLE (UINT64_C(1) << 40) /* the sum of all ranks */

/* From, to. */
static const uint32_t links[][2] = {
    { 0, 1 },  { 1, 2 },  { 2, 3 },   { 3, 4 },  { 4, 5 }, { 5, 6 }, { 6, 7 },  { 7, 8 },
    { 8, 9 },  { 9, 10 }, { 10, 11 }, { 11, 0 }, { 3, 1 }, { 0, 6 }, { 9, 0 },  { 7, 4 },
    { 3, 9 },  { 5, 0 },  { 0, 10 },  { 3, 6 },  { 0, 8 }, { 8, 3 }, { 3, 10 }, { 6, 8 },
    { 11, 4 }, { 11, 5 }, { 11, 8 },  { 8, 10 }, { 9, 7 }, { 6, 9 }, { 7, 3 },  { 10, 2 },
    { 8, 11 }, { 7, 10 }, { 6, 5 },   { 0, 4 },  { 9, 6 }, { 3, 8 }, { 5, 9 },  { 8, 2 },
};
enum { LINKS = sizeof links / sizeof *links };

struct page {
    uint64_t rank, received;
    uint32_t step;
    bool send;
};

static void on_init(struct leat_poets_device *d)
{
    *(struct page *)d->state = (struct page){ .rank = WHOLE / PAGES, .send = true };
}

static void on_share(struct leat_poets_device *d, const void *message)
{
    ((struct page *)d->state)->received += *(const uint64_t *)message;
}

static uint64_t ready(const struct leat_poets_device *d)
{
    return ((const struct page *)d->state)->send;
}

static bool send_share(struct leat_poets_device *d, void *message)
{
    const uint32_t *my_links = d->properties;
    struct page *s = d->state;
    *(uint64_t *)message = s->rank / *my_links;
    s->send = false;
    return true;
}

static void on_idle(struct leat_poets_device *d)
{
    struct page *s = d->state;
    if (s->step == STEPS) return;
    s->rank = (WHOLE * 15 / PAGES + s->received * 85) / 100;
    s->received = 0;
    s->send = ++s->step < STEPS;
    if (s->step == STEPS && d->number == 0) leat_poets_exit(d, 0);
}

static const struct leat_poets_device_type page = {
    .name = "page",
    .state_len = sizeof(struct page),
    .properties_len = sizeof(uint32_t),
    .init = on_init,
    .ready = ready,
    .hardware_idle = on_idle,
    .input = { { "in", sizeof(uint64_t), .receive = on_share } },
    .output = { { "out", sizeof(uint64_t), .send = send_share } },
};

int main(int argc, char **argv)
{
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("pagerank", NULL, 0);
    uint32_t out[PAGES] = { 0 };
    for (int i = 0; i < LINKS; i++)
        out[links[i][0]]++;
    for (int i = 0; i < PAGES; i++)
        leat_poets_graph_device(g, &page, NULL, &out[i]);
    for (int i = 0; i < LINKS; i++)
        leat_poets_graph_edge(g, links[i][1], 0, links[i][0], 0, NULL);
    const int code = example_run(g, &options);
    for (uint32_t i = 0; code == 0 && i < PAGES; i++) {
        const struct page *s = leat_poets_graph_state(g, i);
        printf("rank %u %llu\n", i, (unsigned long long)s->rank);
    }
    leat_poets_graph_close(g);
    return code;
}
