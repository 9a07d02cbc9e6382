/* Which requests are ours, and what they ask for. */
#include "tap.h"
#include "view_request.h"
#include <string.h>

static bool reads(const char *text, const char *host, unsigned port)
{
    struct view_address a;
    return view_address_read(text, &a) && strcmp(a.host, host) == 0 && a.port == port;
}

static void addresses_have_a_host_and_perhaps_a_port(void)
{
    struct view_address a;
    OK(reads("127.0.0.1:8080", "127.0.0.1", 8080));
    OK(reads("127.0.0.1", "127.0.0.1", 0));
    OK(reads("[::1]:65535", "::1", 65535));
    OK(reads("[fe80::1]", "fe80::1", 0));
    OK(reads("localhost:0", "localhost", 0));
    static const char *const wrong[] = {
        "",           ":80",   "[]:80",   "[::1",
        "[::1]80",    "::1",   "a:",      "a:65536",
        "a:99999999", "a:8o",  "a:80:80", "a:-1",
        "a: 80",      "a:+80", "[::1]:",  "a:99999999999999999999999"
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (view_address_read(wrong[i], &a)) printf("# %s\n", wrong[i]), OK(false);
    char longest[VIEW_ADDRESS_LEN_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[VIEW_ADDRESS_LEN_MAX + 1] = '\0';
    OK(!view_address_read(longest, &a));
    longest[VIEW_ADDRESS_LEN_MAX] = '\0';
    OK(view_address_read(longest, &a));
}

static void loopback_is_what_stays_on_this_host(void)
{
    OK(view_address_is_loopback("127.0.0.1") && view_address_is_loopback("127.9.8.7"));
    OK(view_address_is_loopback("::1") && view_address_is_loopback("localhost"));
    OK(!view_address_is_loopback("128.0.0.1") && !view_address_is_loopback("0.0.0.0"));
    OK(!view_address_is_loopback("::") && !view_address_is_loopback("127.0.0.1.example.org"));
    OK(!view_address_is_loopback("localhost.example.org") && !view_address_is_loopback("127.1"));
    OK(view_address_is_any("0.0.0.0") && view_address_is_any("::") && view_address_is_any("::0"));
    OK(!view_address_is_any("127.0.0.1") && !view_address_is_any("any"));
}

static bool is_ours(const char *listen, const char *host)
{
    struct view_address a;
    OK(view_address_read(listen, &a));
    return view_host_is_ours(&a, "mill", host);
}

static void hosts_are_the_address_and_names_of_loopback(void)
{
    static const char at[] = "127.0.0.1:8080";
    OK(is_ours(at, "127.0.0.1:8080") && is_ours(at, "localhost:8080") && is_ours(at, "[::1]:8080"));
    OK(is_ours(at, "LocalHost:8080"));
    OK(!is_ours(at, NULL) && !is_ours(at, "") && !is_ours(at, "127.0.0.1"));
    OK(!is_ours(at, "127.0.0.1:8081") && !is_ours(at, "127.0.0.1:80800"));
    OK(!is_ours(at, "example.org:8080") && !is_ours(at, "127.0.0.1.example.org:8080"));
    OK(!is_ours(at, "localhost.:8080") && !is_ours(at, "10.0.0.1:8080") &&
       !is_ours(at, "mill:8080"));
    OK(!is_ours(at, "127.0.0.1:8080,127.0.0.1:8080") && !is_ours(at, "user@127.0.0.1:8080"));
}

static void the_port_of_http_may_be_left_out(void)
{
    OK(is_ours("127.0.0.1:80", "127.0.0.1") && is_ours("127.0.0.1:80", "[::1]"));
    OK(is_ours("127.0.0.1:80", "localhost:80") && !is_ours("127.0.0.1:80", "localhost:0"));
}

static void other_addresses_are_called_by_their_own_name_only(void)
{
    OK(is_ours("10.0.0.1:8080", "10.0.0.1:8080"));
    OK(!is_ours("10.0.0.1:8080", "localhost:8080") && !is_ours("10.0.0.1:8080", "10.0.0.2:8080"));
    OK(is_ours("0.0.0.0:8080", "10.0.0.2:8080") && is_ours("[::]:8080", "[fe80::1]:8080"));
    OK(is_ours("0.0.0.0:8080", "mill:8080") && is_ours("0.0.0.0:8080", "localhost:8080"));
    OK(!is_ours("0.0.0.0:8080", "example.org:8080"));
}

static void origins_are_our_own_or_none(void)
{
    static const char host[] = "127.0.0.1:8080";
    OK(view_origin_is_ours(host, NULL, NULL) && view_origin_is_ours(host, NULL, "none"));
    OK(view_origin_is_ours(host, "http://127.0.0.1:8080", "same-origin"));
    OK(!view_origin_is_ours(host, "http://127.0.0.1:8081", NULL));
    OK(!view_origin_is_ours(host, "https://127.0.0.1:8080", NULL));
    OK(!view_origin_is_ours(host, "http://127.0.0.1:8080.example.org", NULL));
    OK(!view_origin_is_ours(host, "http://example.org", NULL));
    OK(!view_origin_is_ours(host, "null", NULL) && !view_origin_is_ours(host, "", NULL));
    OK(!view_origin_is_ours(host, NULL, "cross-site") &&
       !view_origin_is_ours(host, NULL, "same-site"));
    OK(!view_origin_is_ours(host, NULL, ""));
}

static void tokens_match_in_all_their_characters(void)
{
    static const char token[] = "0123456789abcdef";
    char given[64];
    OK(view_token_matches(token, token));
    OK(!view_token_matches(token, NULL));
    for (size_t len = 0; len < sizeof given; len++) { /* its beginnings, and it again and again */
        for (size_t i = 0; i < len; i++)
            given[i] = token[i % 16];
        given[len] = '\0';
        EQ(view_token_matches(token, given), len == 16);
    }
    for (size_t i = 0; i < 16; i++) {
        memcpy(given, token, sizeof token);
        given[i] ^= 1;
        OK(!view_token_matches(token, given));
    }
}

static void tokens_need_no_escape(void)
{
    char token[VIEW_TOKEN_LEN_MAX + 2];
    memset(token, 'a', sizeof token);
    token[VIEW_TOKEN_LEN_MAX + 1] = '\0';
    OK(!view_token_is_sound(token));
    token[VIEW_TOKEN_LEN_MAX] = '\0';
    OK(view_token_is_sound(token));
    OK(!view_token_is_sound("") && !view_token_is_sound("0123456789abcde"));
    OK(view_token_is_sound("0123456789-_AZaz"));
    OK(!view_token_is_sound("0123456789abcde ") && !view_token_is_sound("0123456789abcde&"));
}

static enum view_what what(const char *path)
{
    return view_route_of(path).what;
}

static void paths_are_of_a_fixed_list(void)
{
    EQ(what("/"), VIEW_INDEX);
    EQ(what("/sources.json"), VIEW_SOURCES);
    EQ(what("/decode"), VIEW_DECODE);
    EQ(what("/source/0"), VIEW_SOURCE);
    EQ(view_route_of("/source/1").source, 1);
    EQ(what("/live/0"), VIEW_LIVE);
    EQ(what("/page/main.js"), VIEW_PAGE);
    OK(strcmp(view_route_of("/page/../main.js").name, "../main.js") == 0); /* of no file */
    static const char *const wrong[] = { "",          "//",         "/index.html", "/source/",
                                         "/source/x", "/source/00", "/source/0/",  "/source/-1",
                                         "/live/",    "/live/10",   "/sources",    "/decode/",
                                         "/pages/x",  "/page",      "page/main.js" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EQ(what(wrong[i]), VIEW_NOTHING);
}

static bool range(const char *text, uint64_t octets, uint64_t first, uint64_t len)
{
    uint64_t f, l;
    return view_range_read(text, octets, &f, &l) == VIEW_RANGE_PART && f == first && l == len;
}

static enum view_range kind(const char *text, uint64_t octets)
{
    uint64_t f, l;
    return view_range_read(text, octets, &f, &l);
}

/* The examples of RFC 9110, 14.1.2, for 10,000 octets, and limits. */
static void ranges_are_those_of_rfc_9110(void)
{
    OK(range("bytes=0-499", 10000, 0, 500));
    OK(range("bytes=500-999", 10000, 500, 500));
    OK(range("bytes=-500", 10000, 9500, 500));
    OK(range("bytes=9500-", 10000, 9500, 500));
    OK(range("bytes=0-0", 10000, 0, 1) && range("bytes=-1", 10000, 9999, 1));
    OK(range("bytes=9999-99999", 10000, 9999, 1) && range("bytes=-99999", 10000, 0, 10000));
    EQ(kind("bytes=10000-", 10000), VIEW_RANGE_OUTSIDE);
    EQ(kind("bytes=-0", 10000), VIEW_RANGE_OUTSIDE);
    EQ(kind("bytes=0-", 0), VIEW_RANGE_OUTSIDE);
    EQ(kind("bytes=-1", 0), VIEW_RANGE_OUTSIDE);
}

static void what_is_no_range_is_ignored(void)
{
    static const char *const ignored[] = { "",
                                           "bytes",
                                           "bytes=",
                                           "bytes=-",
                                           "bytes=5-2",
                                           "lines=0-1",
                                           "bytes=0-1,3-4",
                                           "bytes=a-b",
                                           "bytes=0x1-2",
                                           "bytes= 0-1",
                                           "bytes=99999999999999999999-",
                                           "bytes=1-2-3",
                                           "bytes=--1" };
    EQ(kind(NULL, 10), VIEW_RANGE_ALL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        EQ(kind(ignored[i], 10), VIEW_RANGE_ALL);
}

static void numbers_have_digits_only_and_a_limit(void)
{
    uint64_t n = 7;
    OK(view_number_read("0", 0, &n) && n == 0);
    OK(view_number_read("65535", 65535, &n) && n == 65535);
    OK(view_number_read("18446744073709551615", UINT64_MAX, &n) && n == UINT64_MAX);
    OK(!view_number_read("18446744073709551616", UINT64_MAX, &n));
    OK(!view_number_read("65536", 65535, &n) && !view_number_read("9", 8, &n));
    OK(!view_number_read("", 9, &n) && !view_number_read("1 ", 9, &n) &&
       !view_number_read("-1", 9, &n));
}

TAP_MAIN(T(addresses_have_a_host_and_perhaps_a_port), T(loopback_is_what_stays_on_this_host),
         T(hosts_are_the_address_and_names_of_loopback), T(the_port_of_http_may_be_left_out),
         T(other_addresses_are_called_by_their_own_name_only), T(origins_are_our_own_or_none),
         T(tokens_match_in_all_their_characters), T(tokens_need_no_escape),
         T(paths_are_of_a_fixed_list), T(ranges_are_those_of_rfc_9110),
         T(what_is_no_range_is_ignored), T(numbers_have_digits_only_and_a_limit))
