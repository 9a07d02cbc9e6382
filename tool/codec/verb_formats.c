#include "format_find.h"
#include "json_out.h"
#include "output.h"
#include <stdio.h>
#include <unistd.h>

static void put_places(const struct leat_format *f)
{
    char places[64] = "";
    size_t used = 0;
    if (f->link_type) used += (size_t)snprintf(places, sizeof places, "link %u", f->link_type);
    if (f->ether_type)
        used += (size_t)snprintf(places + used, sizeof places - used, ", ether 0x%04x",
                                 f->ether_type);
    if (f->udp_port) snprintf(places + used, sizeof places - used, ", udp %u", f->udp_port);
    printf("%-10s %-32s %s\n", f->name, places, f->summary);
}

static void put_json(const struct leat_format *f)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "format", f->name);
    leat_json_string(j, "summary", f->summary);
    LEAT_JSON_UINTS(j, { "link_type", f->link_type }, { "ether_type", f->ether_type },
                    { "udp_port", f->udp_port }, { "ip_protocol", f->ip_protocol });
    json_close(&out, json_status());
}

/* The packet that `leat encode FORMAT` makes without fields: all fields that it then has. */
static bool put_fields(const struct leat_format *format, bool json)
{
    enum { PACKET_CAP = 1 << 12 };
    static uint8_t memory[1 << 16], packet[PACKET_CAP];
    static struct leat_fields f;
    static struct output out;
    struct leat_tree nothing = { .kind = LEAT_TREE_OBJECT };
    struct leat_arena arena;
    struct leat_json object;
    size_t len = 0, fault_at;
    leat_arena_init(&arena, memory, sizeof memory);
    leat_fields_init_read(&f, &nothing, &arena);
    if (format->build(&f, packet, sizeof packet, &len)) return false;
    output_init(&out, STDOUT_FILENO);
    if (json) {
        json_begin(&object, &out.text);
        leat_json_string(&object, "format", format->name);
        leat_json_key(&object, "fields");
        leat_fields_init_json(&f, &out.text);
    } else {
        leat_fields_init_tree(&f, &out.text);
    }
    if (format->show(packet, len, &f, &fault_at)) return false;
    leat_fields_finish(&f);
    if (json) json_finish(&object, "done");
    return output_finish(&out, "standard output");
}

static int one_format(const struct arguments *args)
{
    const struct leat_format *format = format_find(args->verb, args->operand[0]);
    const bool json = argument(args, "--json");
    if (!format) return WRONG;
    if (!json) {
        put_places(format);
        puts("\nIts fields, with the values they have when none is given:\n");
        fflush(stdout);
    }
    return put_fields(format, json) ? DONE : FAILED;
}

static int run_formats(const struct arguments *args)
{
    if (args->operand_count == 1) return one_format(args);
    if (args->operand_count) return misuse(args->verb, "expected one format, or none for all");
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)); i++) {
        if (argument(args, "--json"))
            put_json(format);
        else
            put_places(format);
    }
    return flush_printed() ? DONE : FAILED;
}

const struct verb verb_formats = {
    .name = "formats",
    .summary = "list the wire formats, or the fields of one",
    .synopsis = "[FORMAT] [--json]",
    .help = help_formats,
    .options = { OPTION_JSON("one JSON object per format") },
    .operands = "$formats",
    .run = run_formats,
};
