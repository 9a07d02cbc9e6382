#include "atm_tun.h"
#include "leat_bytes.h"
#include "number.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum {
    BITS_MIN = 8,
    BITS_MAX = 30,
    IPV4_MIN = 20,
    IPV4_TO_AT = 16,
    IPV6_MIN = 40,
    IPV6_TO_AT = 24
};
enum { IPV6_PREFIX_LEN = 12 };

/* A prefix of our own (RFC 4193), "atm". */
static const uint8_t ipv6_prefix[IPV6_PREFIX_LEN] = { 0xfd, 0x61, 0x74, 0x6d };

/* ---- addresses ----------------------------------------------------------------------------- */

void tun_addresses(const struct tun_job *job, uint32_t port, uint8_t ipv4[TUN_IPV4_LEN],
                   uint8_t ipv6[TUN_IPV6_LEN])
{
    leat_put_be32(ipv4, job->network + port + 1);
    memcpy(ipv6, ipv6_prefix, sizeof ipv6_prefix);
    leat_put_be32(ipv6 + IPV6_PREFIX_LEN, port + 1);
}

bool tun_port_of(const struct tun_job *job, const uint8_t *ip, size_t len, uint32_t *port)
{
    uint32_t number = 0;
    if (len >= IPV4_MIN && ip[0] >> 4 == 4)
        number = leat_get_be32(ip + IPV4_TO_AT) - job->network;
    else if (len >= IPV6_MIN && ip[0] >> 4 == 6 &&
             memcmp(ip + IPV6_TO_AT, ipv6_prefix, sizeof ipv6_prefix) == 0)
        number = leat_get_be32(ip + IPV6_TO_AT + IPV6_PREFIX_LEN);
    *port = number - 1;
    return number != 0;
}

/* ---- the command line ---------------------------------------------------------------------- */

static bool is_listed(const struct tun_job *job, uint32_t port)
{
    for (uint32_t i = 0; i < job->hosts; i++)
        if (job->port[i] == port) return true;
    return false;
}

/* The end of a number, or NULL. */
static const char *read_number(const char *text, uint32_t *out)
{
    char *end;
    if (*text < '0' || *text > '9') return NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    *out = (uint32_t)number;
    return number < UINT32_MAX ? end : NULL;
}

/* "0,5,8-11" */
static bool read_ports(struct tun_job *job, const char *list)
{
    const char *text = list;
    do {
        uint32_t first = 0, last;
        text = read_number(text, &first);
        last = first;
        if (text && *text == '-') text = read_number(text + 1, &last);
        if (!text || (*text && *text != ',') || last < first || last - first >= TUN_HOSTS_MAX)
            return misused(job->args->verb, "--ports %s: expected ports, as 0,5,8-11", list);
        for (uint32_t port = first; port <= last; port++) {
            if (is_listed(job, port))
                return misused(job->args->verb, "--ports %s: port %u is there twice", list, port);
            if (job->hosts == TUN_HOSTS_MAX)
                return misused(job->args->verb, "--ports %s: more than %d ports", list,
                               TUN_HOSTS_MAX);
            job->port[job->hosts++] = port;
        }
    } while (*text++ == ',');
    return true;
}

static bool read_network(struct tun_job *job, const char *text)
{
    char address[INET_ADDRSTRLEN];
    uint8_t octets[TUN_IPV4_LEN];
    const size_t len = strcspn(text, "/");
    const char *end = NULL;
    if (len < sizeof address && text[len]) {
        memcpy(address, text, len);
        address[len] = 0;
        if (inet_pton(AF_INET, address, octets) == 1) end = read_number(text + len + 1, &job->bits);
    }
    if (!end || *end || job->bits < BITS_MIN || job->bits > BITS_MAX)
        return misused(job->args->verb,
                       "--network %s: expected ADDRESS/BITS with %d to %d bits, as 10.77.0.0/16",
                       text, BITS_MIN, BITS_MAX);
    const uint32_t rest = UINT32_MAX >> job->bits;
    job->network = leat_get_be32(octets) & ~rest;
    for (uint32_t i = 0; i < job->hosts; i++) /* the last address of a network is no host's */
        if (job->port[i] >= rest - 1)
            return misused(job->args->verb, "--network %s: port %u has no address there", text,
                           job->port[i]);
    return true;
}

static bool read_name(struct tun_job *job)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t len = strlen(job->name);
    if (len >= 1 && len <= TUN_NAME_LEN_MAX && strspn(job->name, allowed) == len) return true;
    return misused(job->args->verb, "--name %s: expected 1 to %d letters, digits, _ or -",
                   job->name, TUN_NAME_LEN_MAX);
}

static const char *given(const struct arguments *args, const char *option, const char *preset)
{
    const char *value = argument(args, option);
    return value ? value : preset;
}

bool tun_options_read(const struct arguments *args, struct tun_job *job)
{
    *job = (struct tun_job){ .args = args,
                             .fabric = given(args, "--fabric", "clos444"),
                             .name = given(args, "--name", "atm"),
                             .mtu = 9180,
                             .slower = 1 };
    return read_name(job) && read_ports(job, given(args, "--ports", "0,1")) &&
           read_network(job, given(args, "--network", "10.77.0.0/16")) &&
           number_take_small(args, "--mtu", &job->mtu) &&
           number_take_small(args, "--slower", &job->slower);
}
