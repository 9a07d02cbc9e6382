#include "leat_tree.h"
#include "pktway_shared.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool pktway_payload_word(const char *word, uint8_t *out, size_t cap, size_t *len)
{
    const bool text = strncmp(word, "text=", 5) == 0;
    const size_t digits = strlen(word);
    *len = text ? digits - 5 : digits / 2;
    if (*len > cap) return false;
    if (text) {
        memcpy(out, word + 5, *len);
        return true;
    }
    if (!digits || digits % 2 || strspn(word, "0123456789abcdefABCDEF") != digits) return false;
    for (size_t i = 0; i < *len; i++) {
        const char pair[3] = { word[2 * i], word[2 * i + 1], 0 };
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

/* A whole file; "-" is standard input. */
static bool read_file(const char *path, uint8_t *out, size_t cap, size_t *len)
{
    const bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    if (!file) return complain("%s: %s", path, strerror(errno));
    *len = fread(out, 1, cap, file);
    const bool is_longer = *len == cap && fgetc(file) != EOF, failed = ferror(file);
    if (!is_input) fclose(file);
    if (failed) return complain("%s: cannot be read", path);
    return !is_longer ||
           complain("%s: longer than %zu octets, expected what one message holds", path, cap);
}

bool pktway_payload_read(const struct arguments *args, uint8_t *out, size_t cap, size_t *len)
{
    const char *path = argument(args, "--file");
    if (args->operand_count != (path ? 2 : 3))
        return misused(args->verb, "expected send TO OCTETS, send TO text=TEXT or send TO --file "
                                   "FILE");
    if (path) return read_file(path, out, cap, len);
    return pktway_payload_word(args->operand[2], out, cap, len) ||
           misused(args->verb, "send '%.60s', expected octets in hex, or text=TEXT, %zu at most",
                   args->operand[2], cap);
}

bool pktway_destination_read(const char *word, uint32_t *address)
{
    uint64_t number;
    if (!leat_tree_number(word, strlen(word), &number) || number > UINT32_MAX) return false;
    *address = (uint32_t)number;
    return leat_packetway_address_is_node(*address) ||
           leat_packetway_class_of(*address) == LEAT_PACKETWAY_CLASS_LOGICAL;
}
