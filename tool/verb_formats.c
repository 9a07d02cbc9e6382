#include "leat_formats.h"
#include "leat_text.h"
#include "tool.h"
#include <stdio.h>

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
    printf("{\"format\":\"%s\",\"summary\":\"%s\",\"link_type\":%u,\"ether_type\":%u,"
           "\"udp_port\":%u,\"ip_protocol\":%u}\n",
           f->name, f->summary, f->link_type, f->ether_type, f->udp_port, f->ip_protocol);
}

int run_formats(const struct arguments *args)
{
    if (args->operand_count) return misuse(args->verb, "takes no operands");
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)); i++) {
        if (argument(args, "--json"))
            put_json(format);
        else
            put_places(format);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("standard output: cannot write");
        return FAILED;
    }
    return DONE;
}
