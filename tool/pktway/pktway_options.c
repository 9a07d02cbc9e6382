/* The options that PacketWay networks have beside their descriptions. */
#include "pktway_options.h"
#include "duration.h"
#include "leat_tree.h"
#include <string.h>

bool pktway_read_time(const char *text, size_t len, leat_time *out)
{
    char copy[32];
    if (len >= sizeof copy) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return duration_read(copy, out);
}

static bool find_router(const struct leat_fabric_sans *d, const char *name, size_t len,
                        uint32_t *out)
{
    for (uint32_t i = 0; i < d->routers; i++)
        if (strlen(d->router[i].name) == len && strncmp(d->router[i].name, name, len) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* SAN.PORT; whether it is a host's is known once the SAN is built. */
static bool find_port(const struct leat_fabric_sans *d, const char *name, size_t len,
                      struct leat_sim_packetway_end *out)
{
    const char *point = memchr(name, '.', len);
    uint64_t port;
    for (uint32_t i = 0; point && i < d->sans; i++) {
        const size_t at = strlen(d->san[i].name);
        if (at != (size_t)(point - name) || strncmp(d->san[i].name, name, at) != 0) continue;
        if (!leat_tree_number(point + 1, len - at - 1, &port) || port > UINT16_MAX) return false;
        *out = (struct leat_sim_packetway_end){ i, (uint32_t)port };
        return true;
    }
    return false;
}

static bool find_place(const struct leat_fabric_sans *d, const char *name, size_t len,
                       struct leat_sim_packetway_fault *out)
{
    return out->kind == LEAT_SIM_PACKETWAY_PORT_DOWN ? find_port(d, name, len, &out->port)
                                                     : find_router(d, name, len, &out->router);
}

/* KIND:ROUTER[@FROM..[TO]], or port:SAN.PORT with the same behind it */
static bool read_fault(const struct leat_fabric_sans *d, const char *text, size_t len,
                       struct leat_sim_packetway_fault *out)
{
    static const char *const kinds[] = { "router:", "link:", "errors:", "port:" };
    const char *end = text + len, *at = memchr(text, '@', len);
    *out = (struct leat_sim_packetway_fault){ .to = LEAT_NEVER };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t kind = strlen(kinds[i]);
        if (len <= kind || strncmp(text, kinds[i], kind) != 0) continue;
        const char *name = text + kind;
        out->kind = (enum leat_sim_packetway_fault_kind)i;
        if (!find_place(d, name, (size_t)((at ? at : end) - name), out)) return false;
        if (!at) return true;
        const char *dots = strstr(at, "..");
        if (!dots || dots >= end || !pktway_read_time(at + 1, (size_t)(dots - at - 1), &out->from))
            return false;
        if (dots + 2 == end) return true;
        return pktway_read_time(dots + 2, (size_t)(end - dots - 2), &out->to) &&
               out->to > out->from;
    }
    return false;
}

static bool read_faults(const struct arguments *args, struct leat_fabric_sans *d)
{
    const char *text = argument(args, "--fault");
    for (size_t len; text && *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (d->faults == LEAT_SIM_PACKETWAY_FAULTS_MAX)
            return misused(args->verb, "--fault: one too many, expected at most %d",
                           LEAT_SIM_PACKETWAY_FAULTS_MAX);
        if (read_fault(d, text, len, &d->fault[d->faults++])) continue;
        return misused(
            args->verb,
            "--fault '%.*s', expected router:, link: or errors: and the name of a router, or port: "
            "and SAN.PORT of a host, and @FROM.. or @FROM..TO, as in router:%s@1ms..2.5ms",
            (int)len, text, d->routers ? d->router[0].name : "west");
    }
    return true;
}

bool pktway_read_options(const struct arguments *args, struct leat_fabric_sans *d)
{
    const char *forwarding = argument(args, "--forwarding");
    const char *cut_through = argument(args, "--cut-through");
    if (forwarding) {
        d->by_address = strcmp(forwarding, "address") == 0;
        if (!d->by_address && strcmp(forwarding, "planned") != 0)
            return misused(args->verb, "--forwarding '%s', expected planned or address",
                           forwarding);
    }
    if (cut_through) {
        d->cut_through = strcmp(cut_through, "yes") == 0;
        if (!d->cut_through && strcmp(cut_through, "no") != 0)
            return misused(args->verb, "--cut-through '%s', expected yes or no", cut_through);
    }
    return read_faults(args, d);
}
