/* The user's next hops, and which of them a destination gets. */
#include "esp_plan.h"
#include "tap.h"
#include <string.h>

static char why[LEAT_ESP_ROUTER_WHY_LEN];

static struct leat_esp_router_config overlay(void)
{
    return (struct leat_esp_router_config){
        .driver = LEAT_ESP_ROUTER_UDP, .tau_ns = 10, .capacity = 300, .port_capacity = 1
    };
}

static void addresses_are_read_with_and_without_a_port(void)
{
    static const struct {
        const char *text;
        uint64_t high, low;
        uint16_t port; /* 0: it is none */
    } row[] = {
        { "10.1.2.3", 0, UINT64_C(0xffff0a010203), 4253 },
        { "10.1.2.3:99", 0, UINT64_C(0xffff0a010203), 99 },
        { "fd00::1", UINT64_C(0xfd00) << 48, 1, 4253 },
        { "[fd00::1]:65535", UINT64_C(0xfd00) << 48, 1, 65535 },
        { "::", 0, 0, 4253 },
        { "10.1.2", 0, 0, 0 },
        { "10.1.2.3:", 0, 0, 0 },
        { "10.1.2.3:0", 0, 0, 0 },
        { "10.1.2.3:65536", 0, 0, 0 },
        { "10.1.2.3:1x", 0, 0, 0 },
        { "[fd00::1]", 0, 0, 0 },
        { "[fd00::1", 0, 0, 0 },
        { "", 0, 0, 0 },
        { "nowhere", 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t address[2] = { 0, 0 };
        uint16_t port = 0;
        char text[ESP_ENDPOINT_TEXT_LEN];
        const bool read = esp_plan_endpoint(row[i].text, address, &port);
        EQ(read, row[i].port != 0);
        if (!read) continue;
        OK(address[0] == row[i].high && address[1] == row[i].low);
        EQ(port, row[i].port);
        esp_plan_endpoint_text(address, port == 4253 ? 0 : port, text);
        OK(strcmp(text, row[i].text) == 0);
    }
}

static void prefixes_are_read_with_and_without_bits(void)
{
    static const uint64_t v4 = UINT64_C(0xffff) << 32, all = UINT64_MAX;
    static const struct {
        const char *text;
        uint64_t high, low, mask_high, mask_low;
    } row[] = {
        { "10.1.2.3", 0, v4 | 0x0a010203, all, all },
        { "10.1.2.3/32", 0, v4 | 0x0a010203, all, all },
        { "10.1.2.3/31", 0, v4 | 0x0a010202, all, all - 1 },
        { "10.1.2.3/8", 0, v4 | 0x0a000000, all, all << 24 },
        { "10.1.2.3/0", 0, v4, all, all << 32 }, /* all of IPv4, and nothing else */
        { "fd00:1:2:3::4", UINT64_C(0xfd00000100020003), 4, all, all },
        { "fd00:1:2:3::4/127", UINT64_C(0xfd00000100020003), 4, all, all - 1 },
        { "fd00:1:2:3::4/65", UINT64_C(0xfd00000100020003), 0, all, UINT64_C(1) << 63 },
        { "fd00:1:2:3::4/64", UINT64_C(0xfd00000100020003), 0, all, 0 },
        { "fd00:1:2:3::4/32", UINT64_C(0xfd00000100000000), 0, all << 32, 0 },
        { "fd00:1:2:3::4/0", 0, 0, 0, 0 },
    };
    static const char *const bad[] = {
        "",           "/",          "/8",          "10.1.2",      "10.1.2/8",
        "10.1.2.3/",  "10.1.2.3/x", "10.1.2.3/8x", "10.1.2.3/33", "10.1.2.3/-1",
        "10.1.2.3:9", "fd00::/129", "[fd00::]/8",  "nowhere/8",   "10.1.2.3/8/8",
    };
    char longest[200];
    uint64_t prefix[2], mask[2];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        OK(esp_plan_prefix(row[i].text, prefix, mask));
        OK(prefix[0] == row[i].high && prefix[1] == row[i].low);
        OK(mask[0] == row[i].mask_high && mask[1] == row[i].mask_low);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!esp_plan_prefix(bad[i], prefix, mask));
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = 0;
    OK(!esp_plan_prefix(longest, prefix, mask));
}

/* Where does a destination go? The last octet of the next hop that it gets; 0: none. */
static unsigned hop_of(const struct esp_config *c, const char *destination)
{
    uint64_t to[2];
    OK(esp_plan_address(destination, to));
    const uint32_t next = esp_next_of(c, to);
    return next < ESP_NEXT_MAX ? (unsigned)(c->next[next].address[1] & 0xff) : 0;
}

static void the_longest_prefix_that_fits_says_the_next_hop(void)
{
    struct leat_esp_router_config config = overlay();
    static struct esp_config c;
    static const char *const hops[] = { "10.0.0.0/8=192.0.2.1", "10.1.0.0/16=192.0.2.2",
                                        "10.1.2.3=192.0.2.3", "fd00::/16=192.0.2.4",
                                        "0.0.0.0/0=192.0.2.5" };
    for (uint32_t i = 0; i < 5; i++)
        config.next_hop[i] = hops[i];
    config.next_hop_count = 5;
    OK(esp_plan(&config, &c, why));
    EQ(hop_of(&c, "10.9.9.9"), 1);
    EQ(hop_of(&c, "10.1.9.9"), 2);
    EQ(hop_of(&c, "10.1.2.3"), 3);
    EQ(hop_of(&c, "fd00::7"), 4);
    EQ(hop_of(&c, "172.16.0.1"), 5);
    EQ(hop_of(&c, "fe80::7"), 0);
    config.next_hop[0] = "192.0.2.9"; /* without a prefix: everything that no other matches */
    config.next_hop_count = 1;
    OK(esp_plan(&config, &c, why));
    EQ(hop_of(&c, "10.9.9.9"), 9);
    EQ(hop_of(&c, "fe80::7"), 9);
}

static void wrong_next_hops_are_named(void)
{
    static const char *const bad[] = { "10.0.0.0/33=192.0.2.1", "10.0.0/8=192.0.2.1",
                                       "10.0.0.0/=192.0.2.1",   "fd00::/129=192.0.2.1",
                                       "10.0.0.0/8=",           "bare=192.0.2.1",
                                       "lo,02:00:00:00:00:01",  "=" };
    static struct esp_config c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_esp_router_config config = overlay();
        config.next_hop[0] = bad[i];
        config.next_hop_count = 1;
        OK(!esp_plan(&config, &c, why) && strstr(why, "expected"));
    }
}

static void stores_have_ids_of_their_own_and_lie_side_by_side(void)
{
    const struct leat_esp_router_config config = overlay();
    static struct esp_config c, again;
    OK(esp_plan(&config, &c, why));
    EQ(c.store[ESP_STORE_CENTRE].mask, 1); /* 300 bindings: two groups */
    EQ(c.store[ESP_STORE_INPUT].mask, 0);
    EQ(c.group_count, 4);
    uint32_t first = 0;
    for (int i = 0; i < 3; i++) {
        EQ(c.store[i].first, first);
        first += c.store[i].mask + 1;
        for (int j = 0; j < i; j++)
            OK(c.store[i].node.id != c.store[j].node.id &&
               c.store[i].node.seed != c.store[j].node.seed);
    }
    OK(c.store[ESP_STORE_CENTRE].node.id == c.node_id);
    /* A second start has other secrets, unless it takes over the stores of the first. */
    OK(esp_plan(&config, &again, why));
    OK(again.store[0].node.seed != c.store[0].node.seed);
    OK(esp_plan_keeps(&c, &again, false));
    for (int i = 0; i < 3; i++)
        OK(again.store[i].node.id == c.store[i].node.id &&
           again.store[i].node.seed == c.store[i].node.seed);
    struct leat_esp_router_config larger = config;
    larger.capacity = 3000;
    OK(esp_plan(&larger, &again, why));
    OK(!esp_plan_keeps(&c, &again, false));
}

static void what_cannot_be_right_is_refused(void)
{
    static struct esp_config c;
    struct leat_esp_router_config config = overlay();
    config.capacity = (uint64_t)LEAT_ESP_GROUPS_MAX * LEAT_ESP_GROUP_SLOTS;
    OK(!esp_plan(&config, &c, why)); /* with the stores of its port it is too much */
    config = overlay();
    config.keyed_only = true;
    OK(!esp_plan(&config, &c, why) && strstr(why, "--key-file"));
    config = overlay();
    config.driver = LEAT_ESP_ROUTER_PACKET;
    OK(!esp_plan(&config, &c, why) && strstr(why, "--dev"));
    char name[ESP_FILE_NAME_LEN];
    OK(esp_file_name("a-1", name, why) && strstr(name, ".a-1"));
    OK(!esp_file_name("", name, why) && !esp_file_name("a/b", name, why));
    OK(!esp_file_name("a123456789012345678901234567890123", name, why));
}

TAP_MAIN(T(addresses_are_read_with_and_without_a_port), T(prefixes_are_read_with_and_without_bits),
         T(the_longest_prefix_that_fits_says_the_next_hop), T(wrong_next_hops_are_named),
         T(stores_have_ids_of_their_own_and_lie_side_by_side), T(what_cannot_be_right_is_refused))
