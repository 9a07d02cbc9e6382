/* A root sends ticks down a tree; every leaf answers, and the answers merge on their way back. The
 * application of clock_tree.xml, in C. */
#include "example.h"

enum { CHILDREN = 4, DEPTH = 3, TICKS = 50, LEAVES = 64 };
enum { FROM_ABOVE, FROM_BELOW };
enum { BELOW, ABOVE };

struct place {
    uint32_t children;
    bool root;
};

struct branch {
    uint32_t number, answers, leaves;
    bool down, up;
};

static void on_init(struct leat_poets_device *d)
{
    const struct place *p = d->properties;
    ((struct branch *)d->state)->down = p->root;
}

static void on_tick(struct leat_poets_device *d, const void *message)
{
    const struct place *p = d->properties;
    struct branch *s = d->state;
    s->number = *(const uint32_t *)message;
    s->down = p->children > 0;
    s->up = p->children == 0;
    s->leaves = p->children == 0;
}

static void on_answer(struct leat_poets_device *d, const void *message)
{
    const struct place *p = d->properties;
    struct branch *s = d->state;
    ++*(uint32_t *)d->edge_state;
    s->leaves += *(const uint32_t *)message;
    if (++s->answers < p->children) return;
    s->answers = 0;
    if (!p->root) {
        s->up = true;
    } else if (++s->number < TICKS) {
        s->down = true;
    } else {
        leat_poets_log(d, 1, "%u leaves answered", s->leaves);
        leat_poets_exit(d, s->leaves != LEAVES * TICKS);
    }
}

static uint64_t ready(const struct leat_poets_device *d)
{
    const struct branch *s = d->state;
    return (s->down ? 1u << BELOW : 0) | (s->up ? 1u << ABOVE : 0);
}

static bool send_below(struct leat_poets_device *d, void *message)
{
    struct branch *s = d->state;
    *(uint32_t *)message = s->number;
    s->down = false;
    return true;
}

static bool send_above(struct leat_poets_device *d, void *message)
{
    struct branch *s = d->state;
    *(uint32_t *)message = s->leaves;
    s->up = false;
    s->leaves = 0;
    return true;
}

static const struct leat_poets_device_type branch = {
    .name = "branch",
    .state_len = sizeof(struct branch),
    .properties_len = sizeof(struct place),
    .init = on_init,
    .ready = ready,
    .input = { [FROM_ABOVE] = { "from_above", sizeof(uint32_t), .receive = on_tick },
               [FROM_BELOW] = { "from_below", sizeof(uint32_t), .edge_state_len = sizeof(uint32_t),
                                .receive = on_answer } },
    .output = { [BELOW] = { "below", sizeof(uint32_t), .send = send_below },
                [ABOVE] = { "above", sizeof(uint32_t), .send = send_above } },
};

/* A branch and all below it. */
static uint32_t grow(struct leat_poets_graph *g, int depth)
{
    const struct place place = { depth < DEPTH ? CHILDREN : 0, depth == 0 };
    const uint32_t mine = leat_poets_graph_device(g, &branch, NULL, &place);
    for (uint32_t i = 0; i < place.children; i++) {
        const uint32_t child = grow(g, depth + 1);
        leat_poets_graph_edge(g, child, FROM_ABOVE, mine, BELOW, NULL);
        leat_poets_graph_edge(g, mine, FROM_BELOW, child, ABOVE, NULL);
    }
    return mine;
}

int main(int argc, char **argv)
{
    const struct leat_poets_options options = example_options(argc, argv);
    struct leat_poets_graph *g = leat_poets_graph_open("clock_tree", NULL, 0);
    grow(g, 0);
    const int code = example_run(g, &options);
    leat_poets_graph_close(g);
    return code;
}
