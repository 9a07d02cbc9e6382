#include "graph_slice.h"
#include "tap.h"
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 40, EDGES = 120, SLICES_MAX = 7 };

static const char file[] = "graph_slice_test.xml";
static struct leat_random chance;

static uint32_t below(uint32_t n)
{
    return (uint32_t)leat_random_below(&chance, n);
}

/* What may stand between elements, or within a device: some of it looks like an element. */
static void put_trap(FILE *out, uint32_t traps)
{
    static const char *const trap[] = {
        "<!-- <EdgeI path=\"d0:in-d0:out\"/> -->\n",
        "<!-- a comment\n<DevI id=\"no\" type=\"d\"/>\n -->",
        "<Documentation><![CDATA[ <EdgeI path=\"d1:in-d1:out\"/>\n<DevI ]]></Documentation>",
        "<Documentation>\n<DevI id=\"x\"/> </Documentation>\n",
        "<?other <EdgeI ?>",
        "\r\n\n",
    };
    if (traps && !below(4)) fputs(trap[below(sizeof trap / sizeof *trap)], out);
}

static void put_file(uint32_t traps)
{
    FILE *out = fopen(file, "w");
    fputs("<Graphs xmlns=\"https://poets-project.org/schemas/virtual-graph-schema-v4\">\n"
          "<!-- <DeviceInstances> -->\n<GraphType id=\"g\"><MessageTypes><MessageType id=\"m\"/>"
          "</MessageTypes>\n<DeviceTypes><DeviceType id=\"d\"><ReadyToSend/>\n"
          "<InputPin name=\"in\" messageTypeId=\"m\"><OnReceive/></InputPin>\n"
          "<OutputPin name=\"out\" messageTypeId=\"m\"><OnSend/></OutputPin></DeviceType>\n"
          "<ExternalType id=\"x\"/></DeviceTypes></GraphType>\n"
          "<GraphInstance id=\"i\" graphTypeId=\"g\"><DeviceInstances>",
          out);
    for (uint32_t d = 0; d < DEVICES; d++) {
        put_trap(out, traps);
        if (d % 10 == 9) {
            fprintf(out, "<ExtI\nid=\"e%u\" type=\"x\"/>", d);
            continue;
        }
        fprintf(out, "<DevI id=\"d%u\"%stype=\"d\"", d, traps && below(2) ? "\n" : " ");
        fputs(traps && !below(3) ? "><Metadata key=\"a\" value=\"-->\"/></DevI>\n" : "/>\n", out);
    }
    fputs("</DeviceInstances>\n<EdgeInstances>\n", out);
    for (uint32_t e = 0; e < EDGES; e++) {
        put_trap(out, traps);
        fprintf(out, "<EdgeI path=\"d%u:in-d%u:out\"/>%s", e / 9 % 4 * 10 + e % 9,
                e % 9 + 10 * (e / 36), below(2) ? "\n" : "");
    }
    put_trap(out, traps);
    fputs("</EdgeInstances></GraphInstance></Graphs>\n", out);
    fclose(out);
}

static const char *end_of(const struct leat_graph *g, uint32_t number)
{
    return leat_graph_string(&g->names, number);
}

/* Devices and edges of a slice are the next of the whole file, in lines further down. */
static bool continues(const struct leat_graph *whole, const struct leat_graph *part, uint32_t lines,
                      uint32_t *device, uint32_t *edge)
{
    const struct leat_graph_instance *w = whole->instance, *p = part->instance;
    if (*device + p->device_count > w->device_count || *edge + p->edge_count > w->edge_count)
        return false;
    for (uint32_t d = 0; d < p->device_count; d++, ++*device) {
        const struct leat_graph_device *a = &p->device[d], *b = &w->device[*device];
        if (strcmp(end_of(part, a->name), end_of(whole, b->name)) != 0 ||
            a->place.line + lines != b->place.line)
            return false;
    }
    for (uint32_t e = 0; e < p->edge_count; e++, ++*edge) {
        const struct leat_graph_edge *a = &p->edge[e], *b = &w->edge[*edge];
        if (strcmp(end_of(part, a->to), leat_graph_device_name(whole, w, b->to)) != 0 ||
            strcmp(end_of(part, a->from), leat_graph_device_name(whole, w, b->from)) != 0 ||
            a->place.line + lines != b->place.line)
            return false;
    }
    return true;
}

/* 1: the slices are the file; 0: one cannot be read; -1: they are something else. */
static int compare(const struct leat_graph *whole, uint32_t count)
{
    uint32_t device = 0, edge = 0, lines = 0;
    int result = 1;
    for (uint32_t i = 0; i < count && result > 0; i++) {
        struct leat_graph part;
        struct leat_graph_slice slice;
        if (!leat_graph_read_slice(&part, file, LEAT_GRAPH_DIALECT_COUNT, &slice, i, count))
            result = 0;
        else if (!continues(whole, &part, lines, &device, &edge))
            result = -1;
        lines += slice.breaks;
        leat_graph_free(&part);
    }
    if (result == 1 && (device != DEVICES || edge != EDGES)) return -1;
    return result;
}

static void slices_of_a_plain_file_are_the_file(void)
{
    struct leat_graph whole;
    leat_random_seed(&chance, 1);
    put_file(0);
    OK(leat_graph_read(&whole, file, LEAT_GRAPH_DIALECT_COUNT));
    EQ(whole.instance->edge_count, EDGES);
    for (uint32_t count = 1; count <= SLICES_MAX; count++)
        EQ(compare(&whole, count), 1);
    leat_graph_free(&whole);
}

static void slices_are_the_file_or_it_cannot_be_read_in_slices(void)
{
    uint32_t good = 0, bad = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct leat_graph whole;
        leat_random_seed(&chance, seed);
        put_file(1);
        OK(leat_graph_read(&whole, file, LEAT_GRAPH_DIALECT_COUNT));
        for (uint32_t count = 1; count <= SLICES_MAX; count++) {
            const int result = compare(&whole, count);
            OK(result >= 0);
            good += result > 0;
            bad += result == 0;
        }
        leat_graph_free(&whole);
    }
    OK(good > 100 && bad > 100);
}

static bool is_read(const char *text, uint32_t number, uint32_t count)
{
    struct leat_graph g;
    struct leat_graph_slice slice;
    FILE *out = fopen(file, "w");
    fputs(text, out);
    fclose(out);
    const bool good = leat_graph_read_slice(&g, file, LEAT_GRAPH_ORCH, &slice, number, count);
    leat_graph_free(&g);
    return good;
}

static void what_is_no_sound_file_is_not_read_in_slices(void)
{
    static const char types[] = "<Graphs><GraphType id='g'><DeviceTypes/></GraphType>";
    char text[400];
    OK(!is_read("", 0, 2));
    OK(!is_read("<Graphs>", 0, 2));
    OK(!is_read(types, 0, 2));
    static const struct {
        const char *rest;
        bool good;
    } rests[] = {
        { "<GraphInstance id='i' graphTypeId='g'><DeviceInstances/><EdgeInstances/>"
          "</GraphInstance></Graphs>",
          true },
        { "<GraphInstance id='i' graphTypeId='g'><DeviceInstances></DeviceInstances>"
          "</GraphInstance></Graphs>",
          true },
        { "<GraphInstance id='i' graphTypeId='g'><DeviceInstances/></GraphInstance>", false },
        { "<GraphInstance id='i' graphTypeId='g'><DeviceInstances/></GraphInstance>"
          "<GraphInstance id='k' graphTypeId='g'><DeviceInstances/></GraphInstance></Graphs>",
          false },
        { "<GraphInstance id='i' graphTypeId='g'><DeviceInstances><Foo/></DeviceInstances>"
          "</GraphInstance></Graphs>",
          false },
    };
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        snprintf(text, sizeof text, "%s%s", types, rests[i].rest);
        OK(is_read(text, 0, 1) == rests[i].good);
        OK((is_read(text, 0, 2) && is_read(text, 1, 2)) == rests[i].good);
    }
    unlink(file);
    struct leat_graph g;
    struct leat_graph_slice slice;
    OK(!leat_graph_read_slice(&g, file, LEAT_GRAPH_ORCH, &slice, 0, 1));
    leat_graph_free(&g);
}

TAP_MAIN(T(slices_of_a_plain_file_are_the_file),
         T(slices_are_the_file_or_it_cannot_be_read_in_slices),
         T(what_is_no_sound_file_is_not_read_in_slices))
