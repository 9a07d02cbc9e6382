#include "leat_tree.h"
#include "pktway_shared.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LEN = 16 };

static bool read_written(const struct arguments *args, struct pktway_octets *o)
{
    const char *word = args->operand[3];
    if (!pktway_payload_word(word, o->octets, sizeof o->octets, &o->len) &&
        o->len <= sizeof o->octets)
        return misused(args->verb, "write '%.60s', expected octets in hex, or text=TEXT", word);
    if (!o->len || o->len > sizeof o->octets)
        return misused(args->verb, "write of %zu octets, expected 1 to %d", o->len,
                       PKTWAY_WRITE_MAX);
    return true;
}

bool pktway_octets_read(const struct arguments *args, struct pktway_octets *o)
{
    const char *word = args->operand[0], *at = args->operand[2], *count = args->operand[3];
    uint64_t number;
    memset(o, 0, sizeof *o);
    o->json = argument(args, "--json") != NULL;
    o->write = strcmp(word, "write") == 0;
    if (!leat_tree_number(at, strlen(at), &o->at))
        return misused(args->verb, "%s at '%s', expected an address of its memory, as 0x1000", word,
                       at);
    if (o->write) return read_written(args, o);
    if (!leat_tree_number(count, strlen(count), &number) || number > PKTWAY_READ_MAX)
        return misused(args->verb, "read '%s', expected how many octets, 0 to %d", count,
                       PKTWAY_READ_MAX);
    o->len = (size_t)number;
    return true;
}

/* Sixteen octets in a line, behind their address. */
static void show_lines(uint64_t at, const uint8_t *octets, size_t len, FILE *out)
{
    for (size_t line = 0; line < len; line += LINE_LEN) {
        const size_t part = len - line < LINE_LEN ? len - line : LINE_LEN;
        fprintf(out, "0x%08" PRIx64 "  ", at + line);
        for (size_t i = 0; i < LINE_LEN; i++) {
            if (i < part)
                fprintf(out, "%02x", octets[line + i]);
            else
                fputs("  ", out);
            if (i % 4 == 3) fputc(' ', out);
        }
        fputc(' ', out);
        for (size_t i = 0; i < part; i++) {
            const uint8_t c = octets[line + i];
            fputc(c >= ' ' && c < 127 ? c : '.', out);
        }
        fputc('\n', out);
    }
}

void pktway_octets_show(const struct pktway_octets *o, const uint8_t *octets, uint64_t us,
                        FILE *out)
{
    if (o->json) {
        struct json_out json;
        struct leat_json *j = json_open(&json, out);
        leat_json_hex(j, "node", "0x", o->node, 6);
        LEAT_JSON_UINTS(j, { "memory_address", o->at }, { "count", o->len }, { "time_us", us });
        if (!o->write) leat_json_octets(j, "octets", octets, o->len);
        json_close(&json, json_status());
    } else if (o->write) {
        fprintf(out, "0x%06x: %zu octets written at 0x%" PRIx64 "%s, %.3f ms\n", o->node, o->len,
                o->at, o->blind ? "" : " and read back", (double)us / 1000);
    } else {
        show_lines(o->at, octets, o->len, out);
    }
}
