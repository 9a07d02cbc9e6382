/*
 * What a request must be like, before anything is answered. Any web site that a user opens can
 * send requests to addresses of the user's host: by a name that it lets point there (Host tells),
 * or from a page of its own (Origin and Sec-Fetch-Site tell).
 */
#ifndef VIEW_REQUEST_H
#define VIEW_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_ADDRESS_LEN_MAX = 255, VIEW_TOKEN_LEN_MIN = 16, VIEW_TOKEN_LEN_MAX = 128 };

/* "127.0.0.1:8080", "[::1]:0", "host:80"; without a port: 0. */
struct view_address {
    char host[VIEW_ADDRESS_LEN_MAX + 1]; /* without brackets */
    uint16_t port;
};
bool view_address_read(const char *text, struct view_address *out);

/* Does it stay on this host? Only addresses in numbers, and "localhost". */
bool view_address_is_loopback(const char *host);
/* 0.0.0.0 or ::, all addresses of this host. */
bool view_address_is_any(const char *host);

/* The header Host of requests to the address that is listened on, whose port is the real one.
 * `own_name`: of this host, for an address of all. */
bool view_host_is_ours(const struct view_address *listen, const char *own_name, const char *host);

/* The headers Origin and Sec-Fetch-Site; NULL: absent. `host` is ours. */
bool view_origin_is_ours(const char *host, const char *origin, const char *site);

/* Takes as long for every `given` of one length. `given` may be NULL. */
bool view_token_matches(const char *token, const char *given);

/* Letters, digits, '-' and '_', which need no escape in an address. */
bool view_token_is_sound(const char *token);

/* What is asked for, by the path of a request. */
enum view_what {
    VIEW_NOTHING,
    VIEW_INDEX,
    VIEW_PAGE,
    VIEW_SOURCES,
    VIEW_SOURCE,
    VIEW_DECODE,
    VIEW_LIVE
};
struct view_route {
    enum view_what what;
    const char *name; /* of a file of the page: part of the path */
    unsigned source;
};
struct view_route view_route_of(const char *path);

/* The header Range for this many octets. */
enum view_range { VIEW_RANGE_ALL, VIEW_RANGE_PART, VIEW_RANGE_OUTSIDE };
enum view_range view_range_read(const char *text, uint64_t octets, uint64_t *first, uint64_t *len);

/* A number of a query: decimal digits, nothing else. */
bool view_number_read(const char *text, uint64_t most, uint64_t *out);

#endif
