#include "view_request.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- addresses ------------------------------------------------------------------------------ */

bool view_number_read(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        const uint64_t digit = (uint64_t)(*c - '0');
        if (value > (most - digit) / 10 || digit > most) return false;
        value = value * 10 + digit;
    }
    if (c == text || *c) return false;
    *out = value;
    return true;
}

bool view_address_read(const char *text, struct view_address *out)
{
    const bool bracket = *text == '[';
    const char *host = text + bracket;
    const size_t len = strcspn(host, bracket ? "]" : ":");
    const char *rest = host + len;
    uint64_t port = 0;
    if (!len || len > VIEW_ADDRESS_LEN_MAX || (bracket && *rest++ != ']')) return false;
    if (*rest && (*rest != ':' || !view_number_read(rest + 1, UINT16_MAX, &port))) return false;
    memcpy(out->host, host, len);
    out->host[len] = '\0';
    out->port = (uint16_t)port;
    return true;
}

static bool is_number(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

bool view_address_is_loopback(const char *host)
{
    struct in6_addr six;
    struct in_addr four;
    if (inet_pton(AF_INET, host, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
    return strcmp(host, "localhost") == 0;
}

bool view_address_is_any(const char *host)
{
    struct in6_addr six;
    struct in_addr four;
    if (inet_pton(AF_INET, host, &four) == 1) return four.s_addr == htonl(INADDR_ANY);
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

/* A site can let its name point to any address, but it cannot be called by the address's number. */
bool view_host_is_ours(const struct view_address *listen, const char *own_name, const char *host)
{
    enum { HTTP_PORT = 80 };
    struct view_address asked;
    if (!host || !view_address_read(host, &asked)) return false;
    const bool has_port = host[strlen(host) - 1] != ']' && strchr(host, ':');
    if ((has_port ? asked.port : HTTP_PORT) != listen->port) return false;
    if (strcasecmp(asked.host, listen->host) == 0) return true;
    if (view_address_is_any(listen->host))
        return is_number(asked.host) || strcasecmp(asked.host, "localhost") == 0 ||
               strcasecmp(asked.host, own_name) == 0;
    return view_address_is_loopback(listen->host) &&
           (strcasecmp(asked.host, "localhost") == 0 || strcmp(asked.host, "127.0.0.1") == 0 ||
            strcmp(asked.host, "::1") == 0);
}

bool view_origin_is_ours(const char *host, const char *origin, const char *site)
{
    static const char scheme[] = "http://";
    const size_t len = sizeof scheme - 1;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) return false;
    return !origin || (strncmp(origin, scheme, len) == 0 && strcasecmp(origin + len, host) == 0);
}

/* ---- the token ------------------------------------------------------------------------------ */

bool view_token_matches(const char *token, const char *given)
{
    const size_t len = strlen(token), given_len = given ? strlen(given) : 0;
    volatile unsigned differs = len != given_len;
    if (!given_len) return false;
    for (size_t i = 0; i < given_len; i++)
        differs |= (unsigned)(token[i % len] ^ given[i]);
    return !differs;
}

bool view_token_is_sound(const char *token)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const size_t len = strlen(token);
    return len >= VIEW_TOKEN_LEN_MIN && len <= VIEW_TOKEN_LEN_MAX && strspn(token, letters) == len;
}

/* ---- paths and ranges ----------------------------------------------------------------------- */

/* The source of "/source/0": the digit of one that can be. */
static bool read_source(const char *path, const char *folder, unsigned *source)
{
    const size_t len = strlen(folder);
    uint64_t number;
    if (strncmp(path, folder, len) != 0 || path[len] == '\0' || path[len + 1] != '\0') return false;
    if (!view_number_read(path + len, 9, &number)) return false;
    *source = (unsigned)number;
    return true;
}

struct view_route view_route_of(const char *path)
{
    static const char page[] = "/page/";
    struct view_route route = { .what = VIEW_NOTHING };
    if (strcmp(path, "/") == 0)
        route.what = VIEW_INDEX;
    else if (strcmp(path, "/sources.json") == 0)
        route.what = VIEW_SOURCES;
    else if (strcmp(path, "/decode") == 0)
        route.what = VIEW_DECODE;
    else if (read_source(path, "/source/", &route.source))
        route.what = VIEW_SOURCE;
    else if (read_source(path, "/live/", &route.source))
        route.what = VIEW_LIVE;
    else if (strncmp(path, page, sizeof page - 1) == 0) {
        route.what = VIEW_PAGE;
        route.name = path + sizeof page - 1;
    }
    return route;
}

/* Digits at the front; false: there are none, or too many. */
static bool take_digits(const char **at, uint64_t *out)
{
    char digits[20];
    const size_t len = strspn(*at, "0123456789");
    if (!len || len >= sizeof digits) return false;
    memcpy(digits, *at, len);
    digits[len] = '\0';
    *at += len;
    return view_number_read(digits, INT64_MAX, out);
}

/* RFC 9110, 14.1.2: what is no range of octets, or several, is ignored. */
enum view_range view_range_read(const char *text, uint64_t octets, uint64_t *first, uint64_t *len)
{
    static const char unit[] = "bytes=";
    uint64_t last = octets ? octets - 1 : 0, suffix;
    *first = 0;
    *len = octets;
    if (!text || strncmp(text, unit, sizeof unit - 1) != 0) return VIEW_RANGE_ALL;
    const char *at = text + sizeof unit - 1;
    if (*at == '-') {
        at++;
        if (!take_digits(&at, &suffix) || *at) return VIEW_RANGE_ALL;
        if (!suffix || !octets) return VIEW_RANGE_OUTSIDE;
        *len = suffix < octets ? suffix : octets;
        *first = octets - *len;
        return VIEW_RANGE_PART;
    }
    uint64_t begin, end;
    if (!take_digits(&at, &begin) || *at++ != '-') return VIEW_RANGE_ALL;
    if (*at) {
        if (!take_digits(&at, &end) || *at || end < begin) return VIEW_RANGE_ALL;
        if (end < last) last = end;
    }
    if (begin >= octets) return VIEW_RANGE_OUTSIDE;
    *first = begin;
    *len = last - begin + 1;
    return VIEW_RANGE_PART;
}
