/* leat esp: ephemeral state in routers, simulated or live. */
#include "config.h"
#include "esp_exec.h"
#include "esp_job.h"
#include "esp_live.h"
#include "foreground.h"
#include "tool.h"
#include <leat/esp.h>

#define SLOTS_MAX ((uint64_t)LEAT_ESP_GROUPS_MAX * LEAT_ESP_GROUP_SLOTS)
#define HOUR_PS   UINT64_C(3600000000000000)

/* ---- subverbs ----------------------------------------------------------------------------- */

#define ROUTER_OPTIONS "--name --json"
#define PACKETS                                                                                  \
    "--tree --graph --fabric --members --at-router --loss --duplicate --reorder --delay --seed " \
    "--tau --to --bind --wait --json"
#define ROOT_OPTIONS "--members --wait --settle --attempts --tau --bind --key-file --json"

/* Common to all services of a root. */
#define QUERY                                                                                      \
    "This host is the root. It waits --wait for members to join, or until --members have joined, " \
    "and then queries all of them. The answer comes in one packet or a few. "
#define EXACT                                                                                   \
    "A packet that comes twice counts twice. --robust K repeats packets in K rounds and voids " \
    "attempts in which something is missing: the answer is then exact even where packets are "  \
    "lost, duplicated or late.\n"
#define INCOMPLETE                                                                                \
    "Exit code 1: no answer, or not from all members; standard error says what is missing. leat " \
    "help esp json lists the members of --json."

static const struct subverb subverbs[] = {
    { "sim", "query a group over simulated routers",
      "--tree D,F|--graph FILE|--fabric FABRIC --service SERVICE [OPTIONS]",
      "--tree --graph --fabric --members --at-router --service --values --bits --loss --duplicate "
      "--reorder --delay --seed --multicast --dot --trust --rounds --attempts --tau --record "
      "--json",
      esp_simulate },
    { "send", "send packets of one's own", "FIELD=VALUE... --to ADDRESS|--tree D,F [OPTIONS]",
      PACKETS " --count --every", esp_send },
    { "exec", "perform a script of packets, waits and expectations", "FILE [OPTIONS]",
      PACKETS " --host --play", esp_exec },
    { "route", "make this host an ESP router", "--dev DEVICE... [OPTIONS]",
      ROUTER_OPTIONS " --dev --driver --capacity --port-capacity --node-id --next-hop --listen "
                     "--rate --port-share --keyed-only --key-file --tau --foreground --config",
      esp_route },
    { "key", "change the keys of this router while packets pass", "--key-file FILE [--name NAME]",
      "--name --key-file", esp_key },
    { "stop", "end the router of this host", "[--name NAME]", "--name", esp_stop },
    { "status", "show what the router did with its packets", "[--name NAME] [--json]",
      ROUTER_OPTIONS " --prometheus", esp_status },
    { "store", "show the live bindings of a computation", "COMPUTATION [--name NAME] [--json]",
      ROUTER_OPTIONS, esp_store },
    { "trace", "print packets as they pass the router", "[--name NAME] [--count N] [--json]",
      ROUTER_OPTIONS " --count", esp_trace },
    { "join", "make this host a member of a group", "GROUP --root ADDRESS [OPTIONS]",
      "--root --value --via --every --for --count --bind --key-file", esp_join },
    { "census", "count the members of a group", "GROUP [OPTIONS]", ROOT_OPTIONS " --robust",
      esp_service },
    { "max", "find the largest value of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --rounds --signed", esp_service },
    { "min", "find the smallest value of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --rounds --signed", esp_service },
    { "sum", "sum the values of a group", "GROUP [OPTIONS]", ROOT_OPTIONS " --robust --signed",
      esp_service },
    { "average", "average the values of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --robust --signed", esp_service },
    { "tree", "draw which router is above which", "GROUP --key-file FILE [OPTIONS]",
      ROOT_OPTIONS " --rounds --dot", esp_service },
    { "multicast", "send a text to all members of a group", "GROUP TEXT --key-file FILE [OPTIONS]",
      ROOT_OPTIONS " --rounds --for", esp_multicast },
    { NULL },
};

/* ---- the verb ----------------------------------------------------------------------------- */

const struct verb verb_esp = {
    .name = "esp",
    .summary = "ephemeral state in routers: packets count, compare and sum on their way",
    .synopsis = "SUBVERB [GROUP] [OPTIONS]",
    .help = help_esp,
    .subverbs = subverbs,
    .options = {
        { "--tree", "D,F", "a tree of routers with D levels, F below each; members at the last level" },
        { "--graph", "FILE", "routers and wires of a file of edges" },
        { "--fabric", "FABRIC", "routers and wires of a fabric, as mesh:4,4 or torus:8,8" },
        { "--members", "N", "sim: how many, spread evenly (unless given: one per place); services: "
                            "begin when this many have joined", COUNT(1, LEAT_ESP_ROSTER_MAX) },
        { "--at-router", "ROUTER", "where the root is", .former = "--at", COUNT(0, LEAT_SIM_ESP_ROUTERS_MAX - 1),
          .preset = "0" },
        { "--service", "SERVICE", "what the root asks for", WORD(ESP_SERVICES) },
        { "--values", "FILE", "a number for each member, or random", .preset = "random" },
        { "--bits", "B", "bits of a value (unless given: 24, in a file 64)", COUNT(1, LEAT_ESP_VALUE_BITS) },
        { "--loss", "P", "chance that a link loses a packet", SHARE(ESP_CHANCE_DECIMALS),
          .preset = "0" },
        { "--duplicate", "P", "chance that a link duplicates a packet", SHARE(ESP_CHANCE_DECIMALS), .preset = "0",
          .former = "--dup" },
        { "--reorder", "P", "chance that a link holds a packet back, by up to four delays", SHARE(ESP_CHANCE_DECIMALS),
          .preset = "0" },
        { "--delay", "TIME", "delay of a link", TIME(1000000, LEAT_SIM_ESP_DELAY_MAX / ESP_REORDER_DELAYS),
          .preset = "1ms" },
        { "--seed", "N", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--multicast", NULL, "send announcements by duplicates at branch points, installed first" },
        { "--dot", "FILE", "write the tree for Graphviz" },
        { "--record", "FILE", "write a recording, for leat view and leat export" },
        { "--trust", NULL, "robust: accept the first answer unchecked, for comparison" },
        { "--rounds", "K", "robust, max, min, tree: times that a packet is sent",
          COUNT(1, LEAT_ESP_ROUNDS_MAX) },
        { "--attempts", "N", "attempts until the service gives up", COUNT(1, LEAT_ESP_ATTEMPTS_MAX) },
        { "--tau", "TIME", "lifetime of a binding", TIME(1000000, HOUR_PS), .preset = "10s" },
        OPTION_JSON("JSON"),
        { "--dev", "DEVICE", "serve this device", true },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)", WORD("xdp packet udp") },
        { "--capacity", "N", "bindings of the centre's store", COUNT(1, SLOTS_MAX),
          .preset = "256Ki" },
        { "--port-capacity", "N", "bindings of each store of a port", COUNT(1, SLOTS_MAX),
          .preset = "4Ki" },
        { "--node-id", "ID", "ID of this router, unique in the network (unless given: random)",
          COUNT(1, UINT64_MAX) },
        { "--next-hop", "[PREFIX=]HOP", "ADDRESS[:PORT] or DEVICE,MAC", true },
        { "--listen", "ADDRESS[:PORT]", "udp: the address that receives packets (unless given: any, 4253)" },
        { "--rate", "N", "bindings a second that one source may create", COUNT(0, 1000000000),
          .preset = "100k" },
        { "--port-share", "N", "live bindings that one port may have (unless given: half of --capacity)",
          COUNT(0, SLOTS_MAX) },
        { "--keyed-only", NULL, "accept only computations whose ID is made with the key" },
        { "--name", "NAME", "which router, if the host has several" },
        { "--count", "N", "trace: end after this many packets; join: after this many texts; "
                            "send: how many", COUNT(1, UINT64_MAX) },
        { "--key-file", "FILE", "32 hex digits, mode 600: the network's key" },
        { "--root", "ADDRESS[:PORT]", "address of the root" },
        { "--value", "V", "this member's value", .preset = "1" },
        { "--via", "ADDRESS[:PORT]", "the first router of an overlay" },
        { "--every", "TIME", "interval of announcements to the root; send: between packets", TIME(1000000000, HOUR_PS),
          .preset = "1s" },
        { "--for", "TIME", "join: leave after this time; multicast: how long branch points make "
                           "copies (unless given: 60s; at most 3600s)", TIME(1000000000, UINT64_C(1000000000000000000)) },
        { "--bind", "ADDRESS[:PORT]", "address of this host (unless given: any, port 4253)" },
        { "--wait", "TIME", "how long to wait for members to join; send, exec: for a packet", TIME(0, HOUR_PS), .preset = "3s" },
        { "--robust", "K", "exact under loss, by K rounds of RCOLLECT",
          COUNT(1, LEAT_ESP_ROUNDS_MAX) },
        { "--to", "ADDRESS[:PORT]", "where packets go; exec: the address of root" },
        OPTION_PROMETHEUS,
        OPTION_FOREGROUND,
        OPTION_CONFIG,
        { "--host", "NAME=ADDRESS[:PORT]", "the address of another host of the script", true },
        { "--play", "NAME", "which host of the script this host is" },
        { "--settle", "TIME", "maximum one-way delay of a packet",
          TIME(1000000000, UINT64_C(60000000000000)), .preset = "100ms" },
        { "--signed", NULL, "values are signed" },
    },
    .operands = "",
};
