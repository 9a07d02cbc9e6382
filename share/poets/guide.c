/* Nodes of a graph find out who has the largest number. The application of guide.xml, in C:
 * doc/poets_guide.md explains both. */
#include "example.h"

enum { NODES = 6 };
enum { IN };  /* inputs */
enum { OUT }; /* outputs */

struct claim {
    uint32_t number;
};

struct report {
    uint32_t number, claims;
};

struct node {
    uint32_t best;   /* the largest number that it knows */
    uint32_t claims; /* that it has received */
    bool changed;    /* since it sent the last one */
    bool tell, report;
};

static uint32_t number_of(const struct leat_poets_device *d)
{
    return *(const uint32_t *)d->properties;
}

static void on_init(struct leat_poets_device *d)
{
    *(struct node *)d->state = (struct node){ .best = number_of(d), .changed = true };
}

static uint64_t ready(const struct leat_poets_device *d)
{
    const struct node *s = d->state;
    return (s->tell ? 1u << OUT : 0) | (s->report ? LEAT_POETS_READY_SUPERVISOR : 0) |
           (s->changed ? LEAT_POETS_READY_IDLE : 0);
}

static void on_claim(struct leat_poets_device *d, const void *message)
{
    const struct claim *m = message;
    const uint32_t *closed = d->edge;
    uint32_t *claims = d->edge_state;
    struct node *s = d->state;
    s->claims++;
    ++*claims;
    if (*closed || m->number <= s->best) return;
    leat_poets_log(d, 3, "%u instead of %u", m->number, s->best);
    s->best = m->number;
    s->changed = true;
}

static bool send_claim(struct leat_poets_device *d, void *message)
{
    struct node *s = d->state;
    *(struct claim *)message = (struct claim){ s->best };
    s->tell = false;
    return true;
}

static bool send_report(struct leat_poets_device *d, void *message)
{
    struct node *s = d->state;
    *(struct report *)message = (struct report){ s->best, s->claims };
    s->report = false;
    return true;
}

static void on_device_idle(struct leat_poets_device *d)
{
    struct node *s = d->state;
    s->tell = s->changed;
    s->changed = false;
}

static void on_hardware_idle(struct leat_poets_device *d)
{
    struct node *s = d->state;
    s->report = s->best == number_of(d);
}

static const struct leat_poets_device_type node = {
    .name = "node",
    .state_len = sizeof(struct node),
    .properties_len = sizeof(uint32_t),
    .init = on_init,
    .ready = ready,
    .device_idle = on_device_idle,
    .hardware_idle = on_hardware_idle,
    .to_supervisor = send_report,
    .input = { [IN] = { "in", sizeof(struct claim), .edge_properties_len = sizeof(uint32_t),
                        .edge_state_len = sizeof(uint32_t), .receive = on_claim } },
    .output = { [OUT] = { "out", sizeof(struct claim), .send = send_claim } },
};

static void on_report(struct leat_poets_supervising *self, const void *message)
{
    const struct report *m = message;
    uint32_t *reports = self->state;
    ++*reports;
    leat_poets_post(self, "node %u leads", m->number);
    leat_poets_stop(self);
}

static void on_stop(struct leat_poets_supervising *self)
{
    const uint32_t *reports = self->state, *nodes = self->graph;
    leat_poets_post(self, "%u of %u nodes lead", *reports, *nodes);
}

static const struct leat_poets_supervisor_type supervisor = {
    .state_len = sizeof(uint32_t),
    .message_len = sizeof(struct report),
    .receive = on_report,
    .stop = on_stop,
};

int main(int argc, char **argv)
{
    static const uint32_t number[NODES] = { 17, 4, 99, 23, 5, 42 };
    const uint32_t nodes = NODES, open = 0, closed = 1;
    uint32_t device[NODES];
    struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("leader", &nodes, sizeof nodes);
    options.latched = true; /* as the Orchestrator's files */
    leat_poets_graph_supervisor(g, &supervisor);
    for (int i = 0; i < NODES; i++)
        device[i] = leat_poets_graph_device(g, &node, NULL, &number[i]);
    for (int i = 0; i < NODES; i++) /* the destination first */
        leat_poets_graph_edge(g, device[(i + 1) % NODES], IN, device[i], OUT,
                              i == 2 ? &closed : &open);
    for (int i = 0; i < NODES; i++)
        leat_poets_graph_edge(g, device[i], IN, device[(i + 1) % NODES], OUT, &open);
    const int code = example_run(g, &options);
    leat_poets_graph_close(g);
    return code;
}
