#include "graph_deal.h"
#include "graph_link_test.h"
#include "tap.h"
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEVICES_MAX = 60, THREADS = 11 };

static const char file[] = "graph_deal_test.xml";
static struct leat_random chance;

static uint32_t below(uint32_t n)
{
    return (uint32_t)leat_random_below(&chance, n);
}

/* ---- random files --------------------------------------------------------------------------- */

static void put_devices(FILE *out, uint32_t count)
{
    for (uint32_t d = 0; d < count; d++) {
        if (d % 7 == 6) {
            fprintf(out, "<ExtI id='n%u' type='x'/>\n", d);
            continue;
        }
        fprintf(out, "<DevI id='n%u' type='d'", d);
        if (below(2)) fprintf(out, " P='{%u}'", below(5));
        if (below(2)) fprintf(out, " S='{%u}'", 10 + d);
        fputs(below(2) ? "/>" : "/>\n", out);
    }
}

/* Each output of a device, `one` and the indexed `all`, to some inputs, in any order. */
static void put_edges(FILE *out, uint32_t count)
{
    uint32_t to[DEVICES_MAX];
    for (uint32_t n = 0; n < 2 * count; n++) {
        const uint32_t from = (n * 37 + 11) % count, most = below(6);
        const bool all = n >= count && from % 7 != 6;
        if (n >= count && !all) continue;
        const uint32_t first = below(count), turn = below(most + 1);
        for (uint32_t k = 0; k < most && k < count; k++) {
            to[k] = (first + k * 7) % count;
            if (count % 7 == 0) to[k] = (first + k) % count;
            fprintf(out, "<EdgeI path='n%u:in-n%u:%s'", to[k], from, all ? "all" : "one");
            if (all) fprintf(out, " sendIndex='%u'", (k + turn) % (most < count ? most : count));
            if (to[k] % 7 != 6 && below(2)) fprintf(out, " P='{%u}'", below(9));
            fprintf(out, "/>\n");
        }
    }
}

static void put_file(uint32_t count)
{
    FILE *out = fopen(file, "w");
    fputs("<Graphs xmlns='https://poets-project.org/schemas/virtual-graph-schema-v4'>"
          "<GraphType id='g'>\n<MessageTypes><MessageType id='m'/></MessageTypes><DeviceTypes>"
          "<DeviceType id='d'><Properties>int32_t p;</Properties><State>int32_t "
          "s;</State><ReadyToSend/>\n"
          "<InputPin name='in' messageTypeId='m'><Properties>int32_t w;</Properties><OnReceive/>"
          "</InputPin>\n<OutputPin name='one' messageTypeId='m'><OnSend/></OutputPin>"
          "<OutputPin name='all' messageTypeId='m' indexed='true'><OnSend/></OutputPin>"
          "</DeviceType>\n<ExternalType id='x'><InputPin name='in' messageTypeId='m'/>"
          "<OutputPin name='one' messageTypeId='m'/></ExternalType></DeviceTypes></GraphType>\n"
          "<GraphInstance id='i' graphTypeId='g'><DeviceInstances>\n",
          out);
    put_devices(out, count);
    fputs("</DeviceInstances><EdgeInstances>", out);
    put_edges(out, count);
    fputs("</EdgeInstances></GraphInstance></Graphs>\n", out);
    fclose(out);
}

/* ---- what a rank has ------------------------------------------------------------------------- */

struct member {
    pthread_t thread;
    uint32_t rank, rank_count;
    struct leat_poets_deal deal;
    struct leat_graph graph;
    bool good;
};

static void *deal(void *context)
{
    struct member *m = context;
    struct leat_poets_link link = link_of(m->rank);
    link.rank_count = m->rank_count;
    m->good = leat_poets_deal_graph(&m->graph, file, LEAT_GRAPH_DIALECT_COUNT, &link, &m->deal);
    return NULL;
}

static struct member members[RANKS];

static void deal_all(uint32_t ranks, enum leat_poets_placement placement)
{
    for (uint32_t r = 0; r < ranks; r++) {
        members[r] = (struct member){ .rank = r,
                                      .rank_count = ranks,
                                      .deal = { placement, THREADS, 5, 0, 0 } };
        OK(pthread_create(&members[r].thread, NULL, deal, &members[r]) == 0);
    }
    for (uint32_t r = 0; r < ranks; r++)
        pthread_join(members[r].thread, NULL);
}

static const char *text_of(const struct leat_graph_strings *strings, uint32_t number)
{
    return number ? leat_graph_string(strings, number) : "";
}

static bool is_same(const struct leat_graph *a, uint32_t x, const struct leat_graph *b, uint32_t y)
{
    return strcmp(text_of(&a->values, x), text_of(&b->values, y)) == 0;
}

/* Edges of a pin, in their order. */
static bool has_edges(const struct leat_graph *part, const struct leat_graph *whole, uint32_t pin,
                      bool out)
{
    const struct leat_graph_instance *p = part->instance, *w = whole->instance;
    const uint32_t *p_base = out ? p->out_base : p->into_base;
    const uint32_t *w_base = out ? w->out_base : w->into_base;
    const uint32_t count = w_base[pin + 1] - w_base[pin];
    if (p_base[pin + 1] - p_base[pin] != count) return false;
    for (uint32_t k = 0; k < count; k++) {
        const struct leat_graph_edge *a = &p->edge[(out ? p->out : p->into)[p_base[pin] + k]];
        const struct leat_graph_edge *b = &w->edge[(out ? w->out : w->into)[w_base[pin] + k]];
        if (a->to != b->to || a->from != b->from || a->to_pin != b->to_pin ||
            a->from_pin != b->from_pin || a->number != b->number || a->place.line != b->place.line)
            return false;
        if (!out && (!is_same(part, a->properties, whole, b->properties) ||
                     !is_same(part, a->state, whole, b->state)))
            return false;
    }
    return true;
}

static bool has_device(const struct leat_graph *part, const struct leat_graph *whole, uint32_t d)
{
    const struct leat_graph_instance *p = part->instance, *w = whole->instance;
    bool good = is_same(part, p->device[d].properties, whole, w->device[d].properties) &&
                is_same(part, p->device[d].state, whole, w->device[d].state);
    for (uint32_t pin = w->input_base[d]; good && pin < w->input_base[d + 1]; pin++)
        good = has_edges(part, whole, pin, false);
    for (uint32_t pin = w->output_base[d]; good && pin < w->output_base[d + 1]; pin++)
        good = has_edges(part, whole, pin, true);
    return good;
}

/* The rank of each device: equal shares of the order for threads, equal shares of threads. */
static void find_ranks(struct leat_graph *whole, enum leat_poets_placement placement,
                       uint32_t ranks, uint32_t *rank)
{
    const struct leat_graph_instance *w = whole->instance;
    uint32_t *order = leat_graph_order(whole, w, placement, THREADS, 5);
    uint32_t device[DEVICES_MAX], count = 0;
    for (uint32_t d = 0; d < w->device_count; d++) {
        rank[d] = 0;
        if (d % 7 != 6) device[count++] = d;
    }
    const uint32_t threads = THREADS < count ? THREADS : count;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t t = threads * r / ranks; t < threads * (r + 1) / ranks; t++)
            for (uint32_t k = count * t / threads; k < count * (t + 1) / threads; k++)
                rank[device[order[k]]] = r;
    free(order);
}

static bool is_dealt(struct leat_graph *whole, uint32_t ranks, enum leat_poets_placement placement)
{
    const struct leat_graph_instance *w = whole->instance;
    uint32_t rank[DEVICES_MAX], cut = 0;
    bool good = true;
    find_ranks(whole, placement, ranks, rank);
    for (uint32_t e = 0; e < w->edge_count; e++)
        cut += rank[w->edge[e].to] != rank[w->edge[e].from];
    for (uint32_t r = 0; r < ranks && good; r++) {
        const struct member *m = &members[r];
        const struct leat_graph_instance *p = m->graph.instance;
        good = m->good && p->device_count == w->device_count && m->deal.edges == w->edge_count &&
               p->joined_count == w->joined_count && m->deal.cut == cut;
        for (uint32_t d = 0; good && d < w->device_count; d++)
            good = p->device[d].type == w->device[d].type &&
                   p->device[d].place.line == w->device[d].place.line &&
                   strcmp(leat_graph_device_name(&m->graph, p, d),
                          leat_graph_device_name(whole, w, d)) == 0 &&
                   (rank[d] != r || has_device(&m->graph, whole, d));
        for (uint32_t e = 0; good && e < p->edge_count; e++) /* and no others */
            good = rank[p->edge[e].to] == r || rank[p->edge[e].from] == r;
    }
    return good;
}

static void free_all(uint32_t ranks)
{
    for (uint32_t r = 0; r < ranks; r++)
        leat_graph_free(&members[r].graph);
}

static void every_rank_has_all_of_its_own_devices(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct leat_graph whole;
        leat_random_seed(&chance, seed);
        put_file(1 + below(DEVICES_MAX));
        const bool sound = leat_graph_read(&whole, file, LEAT_GRAPH_DIALECT_COUNT);
        for (uint32_t ranks = 1; ranks <= RANKS; ranks++)
            for (int random = 0; random < 2; random++) {
                const enum leat_poets_placement placement = random ? LEAT_POETS_PLACE_RANDOM
                                                                   : LEAT_POETS_PLACE_BLOCK;
                deal_all(ranks, placement);
                OK(sound ? is_dealt(&whole, ranks, placement) : !members[0].good);
                free_all(ranks);
            }
        OK(sound);
        leat_graph_free(&whole);
    }
}

/* A second device of a name, an edge to nobody, a value that does not fit: whoever reads it. */
static void what_one_cannot_read_none_reads(void)
{
    static const char *const wrong[] = {
        "sed -i \"s/'n10'/'n20'/\" ",
        "sed -i \"s/-n3:/-n300:/\" ",
        "sed -i \"0,/P='{/s/P='{/P='{{/\" ",
        "sed -i \"s/:in-n40:one'/& S='{1}'/\" ",
        "sed -i \"s/<EdgeInstances>/<!-- <EdgeI & --><EdgeInstances>/\" ",
    };
    char command[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct leat_graph whole;
        leat_random_seed(&chance, 3);
        put_file(DEVICES_MAX);
        snprintf(command, sizeof command, "%s%s", wrong[i], file);
        OK(system(command) == 0);
        const bool sound = leat_graph_read(&whole, file, LEAT_GRAPH_DIALECT_COUNT);
        leat_graph_free(&whole);
        EQ(sound, strstr(wrong[i], "<!--") != NULL);
        for (uint32_t ranks = 2; ranks <= RANKS; ranks++) {
            deal_all(ranks, LEAT_POETS_PLACE_BLOCK);
            for (uint32_t r = 0; r < ranks; r++)
                OK(members[r].good == members[0].good && (sound || !members[r].good));
            free_all(ranks);
        }
    }
    unlink(file);
}

TAP_MAIN(T(every_rank_has_all_of_its_own_devices), T(what_one_cannot_read_none_reads))
