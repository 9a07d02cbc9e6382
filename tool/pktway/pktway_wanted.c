#include "leat_tree.h"
#include "pktway_shared.h"
#include <string.h>

enum { PARAMETERS_MAX = 64, OCTET_MAX = 255 };

/* A number that ends at one of `ends` or with the text; advances *text past it. */
static bool read_number(const char **text, const char *ends, uint64_t most, uint64_t *out)
{
    const size_t len = strcspn(*text, ends);
    if (!leat_tree_number(*text, len, out) || *out > most) return false;
    *text += len;
    return true;
}

/* "7", or "7:4,8" with parameters. */
static bool read_capability(const char *text, struct leat_packetway_build *build)
{
    uint8_t parameters[PARAMETERS_MAX];
    uint64_t cc, parameter;
    size_t len = 0;
    if (!read_number(&text, ":", OCTET_MAX, &cc) || !cc) return false;
    while (*text) { /* at a colon, or a comma */
        text++;
        if (len == sizeof parameters || !read_number(&text, ",", OCTET_MAX, &parameter))
            return false;
        parameters[len++] = (uint8_t)parameter;
    }
    return !leat_packetway_build_capability(build, (uint8_t)cc, parameters, len);
}

static bool read_range(const char *text, struct leat_packetway_build *build)
{
    uint64_t low, high;
    if (!read_number(&text, "-", LEAT_PACKETWAY_ADDRESS_MAX, &low)) return false;
    struct leat_packetway_address address = { .at = LEAT_PACKETWAY_AT_SINGLE,
                                              .low = (uint32_t)low };
    if (*text == '-') {
        text++;
        if (!read_number(&text, "", LEAT_PACKETWAY_ADDRESS_MAX, &high)) return false;
        address.at = LEAT_PACKETWAY_AT_MIN;
        address.high = (uint32_t)high;
    }
    return !leat_packetway_build_address(build, &address);
}

bool pktway_wanted_read(const char *word, struct leat_packetway_build *build)
{
    if (strncmp(word, "name=", 5) == 0 && word[5])
        return !leat_packetway_build_name(build, (const uint8_t *)word + 5, strlen(word + 5));
    if (strncmp(word, "capability=", 11) == 0) return read_capability(word + 11, build);
    return strncmp(word, "address=", 8) == 0 && read_range(word + 8, build);
}
