/* What leat pktway receive prints. */
#include "pktway_shared.h"

/* Text as it is; other octets as numbers. */
static void show_octets(const uint8_t *octets, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++)
        if (octets[i] == '\\')
            text_print(out, "\\\\");
        else if (octets[i] >= ' ' && octets[i] <= '~')
            text_print(out, "%c", octets[i]);
        else
            text_print(out, "\\x%02x", octets[i]);
}

static void show_json(const struct pktway_reception *r, FILE *out)
{
    struct json_out json;
    struct leat_json *j = json_open(&json, out);
    leat_json_uint(j, "number", r->number);
    leat_json_hex(j, "sender_address", "0x", r->from, 6);
    leat_json_hex(j, "address", "0x", r->to, 6);
    LEAT_JSON_UINTS(j, { "priority", r->priority }, { "pt", r->pt }, { "te", r->te },
                    { "bytes", r->len });
    leat_json_hex(j, "ei_there", "0x", r->ei, 1);
    if (r->is_simulated) json_fixed(j, "arrival_us", 1e-6 * (double)r->at, 6);
    leat_json_octets(j, "octets", r->octets, r->len);
    json_close(&json, json_status());
}

void pktway_reception_show(const struct pktway_reception *r, bool json, FILE *out)
{
    if (json) {
        show_json(r, out);
        return;
    }
    fprintf(out, "%llu: ", (unsigned long long)r->number);
    if (r->is_simulated) fprintf(out, "at %.3f us ", 1e-6 * (double)r->at);
    fprintf(out, "from 0x%06x to 0x%06x, priority %u, %zu octets", r->from, r->to, r->priority,
            r->len);
    if (r->pt != LEAT_PACKETWAY_NODE_PT_DATA || r->te) fprintf(out, ", PT %u, TE %u", r->pt, r->te);
    if (r->ei) fprintf(out, ", EI 0x%llx", (unsigned long long)r->ei);
    fprintf(out, ": ");
    show_octets(r->octets, r->len, out);
    fputc('\n', out);
}
