/* leat esp: ephemeral state in routers, simulated or live. */
#include "esp_job.h"
#include "esp_live.h"
#include "tool.h"
#include <leat/esp.h>

#define SLOTS_MAX ((uint64_t)LEAT_ESP_GROUPS_MAX * LEAT_ESP_GROUP_SLOTS)
#define HOUR_PS   UINT64_C(3600000000000000)

/* ---- subverbs ----------------------------------------------------------------------------- */

#define ROUTER_OPTIONS "--name --json"
#define ROOT_OPTIONS   "--members --wait --settle --attempts --tau --bind --key-file --json"

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
      "--tree --graph --fabric --members --at --service --values --bits --loss --duplicate "
      "--reorder --delay --seed --multicast --dot --trust --rounds --attempts --tau --json",
      "A root queries its group over simulated routers, each with a store of short-lived values. "
      "leat shows the answer, the true answer, and the cost in packets over links. Beside it "
      "stands what it costs if every member sends its value to the root itself, once and without "
      "loss. Announcements of the root are counted separately.\n"
      "Packets take the route with the shortest delay. Every link loses, duplicates and delays "
      "packets at random.\n"
      "census, sum and average count children with COUNT and collect with COLLECT: if packets are "
      "lost or duplicated, their answer is wrong or never comes. The robust services use RCHLD and "
      "RCOLLECT in rounds. They void and repeat an attempt in which a packet comes back with E, or "
      "in whose answer members are missing. max and min send a value only if it improves the "
      "result. tree discovers the parent of each node and draws the tree.\n"
      "With --multicast, leat first installs duplicates at the branch points; announcements then "
      "travel by them.\n"
      "Exit code 1: no answer; the reason is on standard error. leat help esp json lists the "
      "members of --json.",
      "leat esp sim --tree 4,4 --members 200 --service census\n"
      "leat esp sim --tree 4,4 --members 200 --service robust-sum --loss 0.1 --duplicate 0.1\n"
      "leat esp sim --fabric mesh:4,4 --service tree --dot tree.dot",
      esp_simulate, NULL },
    { "route", "make this host an ESP router", "--dev DEVICE... [OPTIONS]",
      ROUTER_OPTIONS " --dev --driver --capacity --port-capacity --node-id --next-hop --listen "
                     "--rate --port-share --keyed-only --key-file --tau",
      "This host becomes an ESP router on its devices. The router receives packets of Ethernet "
      "type 0x88B5, of IP protocol 253 with Router Alert, and of UDP port 4253. It checks them, "
      "executes them at the stores that they name, and forwards them.\n"
      "The driver xdp does this in the kernel. packet does it in a process with packet sockets, "
      "while routing rules keep the kernel from forwarding the originals. udp does it in an "
      "unprivileged process, which receives at --listen and forwards to --next-hop. leat prints "
      "the driver and the reason for it.\n"
      "The router keeps running after the command ends; leat esp stop ends it. Another route "
      "changes it and keeps its stores if their sizes are the same, even after a crash.\n"
      "Packets take the kernel's routes, or --next-hop: those for PREFIX (ADDRESS or ADDRESS/BITS; "
      "default: all) go to a router's ADDRESS, or directly to a neighbour, DEVICE,MAC. "
      "bare=DEVICE,MAC says where frames of type 0x88B5 go. In an overlay (udp) destinations are "
      "the router's own addresses. This host receives the packets that are for it.\n"
      "With --key-file the router answers queries for trees and makes copies for multicast. With "
      "--keyed-only it refuses computations whose ID is not made with that key. --rate and "
      "--port-share limit what one source and one port may store; see doc/security.md.",
      "leat esp route --dev eth0 --dev eth1 --tau 10s --capacity 1M\n"
      "leat esp route --driver udp --listen 192.0.2.7 --next-hop 192.0.2.1",
      esp_route, NULL },
    { "stop", "end the router of this host", "[--name NAME]", "--name",
      "Ends a router that leat esp route started.", "leat esp stop", esp_stop, NULL },
    { "status", "show what the router did with its packets", "[--name NAME] [--json]",
      ROUTER_OPTIONS,
      "Prints what happened to all packets, by reason and by instruction, how full the stores are "
      "and how old the bindings.",
      "leat esp status\nleat esp status --json", esp_status, NULL },
    { "store", "show the live bindings of a computation", "COMPUTATION [--name NAME] [--json]",
      ROUTER_OPTIONS,
      "Prints the live bindings that the stores of this router have of a computation, by its ID.",
      "leat esp store 0x1234", esp_store, NULL },
    { "trace", "print packets as they pass the router", "[--name NAME] [--count N] [--json]",
      ROUTER_OPTIONS " --count",
      "Prints every ESP packet that passes this router, until interrupted or --count packets were "
      "printed.",
      "leat esp trace --count 10", esp_trace, NULL },
    { "join", "make this host a member of a group", "GROUP --root ADDRESS [OPTIONS]",
      "--root --value --via --every --for --count --bind --key-file",
      "This host becomes a member of GROUP (a number or a name) until interrupted. It announces "
      "itself to the root periodically and sends its value on request. In an overlay its packets "
      "go --via the first router. It prints the multicast texts of the group.",
      "leat esp join sensors --root 192.0.2.1 --value 17", esp_join, NULL },
    { "census", "count the members of a group", "GROUP [OPTIONS]", ROOT_OPTIONS " --robust",
      QUERY "Routers count on the way.\n" EXACT INCOMPLETE,
      "leat esp census sensors --members 16 --robust 8", esp_service, NULL },
    { "max", "find the largest value of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --rounds --signed",
      QUERY "Routers drop values that do not improve the result.\n" INCOMPLETE,
      "leat esp max sensors --members 16", esp_service, NULL },
    { "min", "find the smallest value of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --rounds --signed",
      QUERY "Routers drop values that do not improve the result.\n" INCOMPLETE,
      "leat esp min sensors --members 16", esp_service, NULL },
    { "sum", "sum the values of a group", "GROUP [OPTIONS]", ROOT_OPTIONS " --robust --signed",
      QUERY "Routers sum on the way.\n" EXACT INCOMPLETE,
      "leat esp sum sensors --robust 8 --members 16", esp_service, NULL },
    { "average", "average the values of a group", "GROUP [OPTIONS]",
      ROOT_OPTIONS " --robust --signed",
      QUERY "Routers sum and count on the way.\n" EXACT INCOMPLETE,
      "leat esp average sensors --members 16", esp_service, NULL },
    { "tree", "draw which router is above which", "GROUP --key-file FILE [OPTIONS]",
      ROOT_OPTIONS " --rounds --dot",
      QUERY "Here it is the tree of branch points between the root and its members, as text or for "
            "Graphviz. Routers answer only with their key.\n" INCOMPLETE,
      "leat esp tree sensors --key-file net.key --dot tree.dot", esp_service, NULL },
    { "multicast", "send a text to all members of a group", "GROUP TEXT --key-file FILE [OPTIONS]",
      ROOT_OPTIONS " --rounds --for",
      "This host is the root. It waits --wait for members to join, or until --members have joined. "
      "It then lets the branch points make copies for the time --for, and sends TEXT to all "
      "members. Routers obey only with their key.\n" INCOMPLETE,
      "leat esp multicast sensors 'lunch at noon' --key-file net.key", esp_multicast, NULL },
    { 0 },
};

/* ---- the verb ----------------------------------------------------------------------------- */

const struct verb verb_esp = {
    .name = "esp",
    .summary = "ephemeral state in routers: packets count, compare and sum on their way",
    .synopsis = "SUBVERB [GROUP] [OPTIONS]",
    .description =
        "Routers with small stores of short-lived values let packets count, compare and sum on "
        "their way to a root. sim tries this over simulated routers. route makes this host a "
        "router, join a member of a group; census, sum and the others query the group.",
    .topics = (const struct topic[]){
        { "json",
          "sim: service, members, routers, true_answer, esp_answer (null: none), right, end "
          "(answered, void, late), counted (members in the answer), rounds, attempts, voids, "
          "errors (packets with E), branches_missing, unplaced, seconds (simulated), packets and "
          "packets_per_link_max, the same for announcements (announce_) and by unicast "
          "(unicast_), with --multicast duplicates and install_packets, executed, aborted, "
          "store_full, lost, duplicated, reordered, certificate.\n"
          "census, max, min, sum, average, tree: service, members, answer (null: none), end "
          "(answered, void, late), counted, rounds, attempts, voids, errors, branches_missing, "
          "unplaced, packets_sent, packets_received, refused, forged, replayed, unproven, "
          "unanswered, seconds.\n"
          "multicast: service, members, installed (branch points that make copies), packets." },
        { NULL, NULL },
    },
    .subverbs = subverbs,
    .options = {
        { "--tree", "D,F", "a tree of routers, D levels, F below each; members at the last" },
        { "--graph", "FILE", "routers and wires of a file of edges" },
        { "--fabric", "FABRIC", "routers and wires of a fabric, as mesh:4,4 or torus:8,8" },
        { "--members", "N", "sim: spread evenly (unless given: one per place); services: begin when "
                            "so many have joined", COUNT(1, LEAT_ESP_ROSTER_MAX) },
        { "--at", "ROUTER", "where the root is", COUNT(0, LEAT_SIM_ESP_ROUTERS_MAX - 1),
          .preset = "0" },
        { "--service", "SERVICE", "what the root asks for", WORD(ESP_SERVICES) },
        { "--values", "FILE", "a number for each member, or random", .preset = "random" },
        { "--bits", "B", "of a value (unless given: 24, in a file 64)", COUNT(1, LEAT_ESP_VALUE_BITS) },
        { "--loss", "P", "chance that a link loses a packet", SHARE(ESP_CHANCE_DECIMALS),
          .preset = "0" },
        { "--duplicate", "P", "... duplicates it", SHARE(ESP_CHANCE_DECIMALS), .preset = "0",
          .former = "--dup" },
        { "--reorder", "P", "... holds it back by up to four delays", SHARE(ESP_CHANCE_DECIMALS),
          .preset = "0" },
        { "--delay", "TIME", "of a link", TIME(1000000, LEAT_SIM_ESP_DELAY_MAX / ESP_REORDER_DELAYS),
          .preset = "1ms" },
        { "--seed", "N", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--multicast", NULL, "announce by duplicates at branch points, installed before" },
        { "--dot", "FILE", "of a tree: write it for Graphviz" },
        { "--trust", NULL, "robust: accept the first answer unchecked, for comparison" },
        { "--rounds", "K", "robust, max, min, tree: times that a packet is sent",
          COUNT(1, LEAT_ESP_ROUNDS_MAX) },
        { "--attempts", "N", "until the service gives up", COUNT(1, LEAT_ESP_ATTEMPTS_MAX) },
        { "--tau", "TIME", "lifetime of a binding", TIME(1000000, HOUR_PS), .preset = "10s" },
        { "--json", NULL, "print JSON" },
        { "--dev", "DEVICE", "serve this device", true },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)", WORD("xdp packet udp") },
        { "--capacity", "N", "bindings of the centre's store", COUNT(1, SLOTS_MAX),
          .preset = "256Ki" },
        { "--port-capacity", "N", "... of each port's stores", COUNT(1, SLOTS_MAX),
          .preset = "4Ki" },
        { "--node-id", "ID", "of this router alone (unless given: random)",
          COUNT(1, UINT64_MAX) },
        { "--next-hop", "[PREFIX=]HOP", "ADDRESS[:PORT] or DEVICE,MAC", true },
        { "--listen", "ADDRESS[:PORT]", "udp: where packets come in (unless given: any, 4253)" },
        { "--rate", "N", "bindings a second that one source may create", COUNT(0, 1000000000),
          .preset = "100k" },
        { "--port-share", "N", "live bindings that one port may have (unless given: half of --capacity)",
          COUNT(0, SLOTS_MAX) },
        { "--keyed-only", NULL, "take only computations whose ID is made with the key" },
        { "--name", "NAME", "which router, if the host has several" },
        { "--count", "N", "trace: end after so many packets; join: texts", COUNT(1, UINT64_MAX) },
        { "--key-file", "FILE", "32 hex digits, mode 600: the network's key" },
        { "--root", "ADDRESS[:PORT]", "of the root" },
        { "--value", "V", "this member's value", .preset = "1" },
        { "--via", "ADDRESS[:PORT]", "the first router of an overlay" },
        { "--every", "TIME", "interval of announcements to the root", TIME(1000000000, HOUR_PS),
          .preset = "1s" },
        { "--for", "TIME", "join: end after it; multicast: copies are made for so long (unless "
                           "given: 60s; at most 3600s)", TIME(1000000000, UINT64_C(1000000000000000000)) },
        { "--bind", "ADDRESS[:PORT]", "of this host (unless given: any, port 4253)" },
        { "--wait", "TIME", "for members to join", TIME(0, HOUR_PS), .preset = "3s" },
        { "--robust", "K", "exact under loss, by K rounds of RCOLLECT",
          COUNT(1, LEAT_ESP_ROUNDS_MAX) },
        { "--settle", "TIME", "maximum one-way delay of a packet",
          TIME(1000000000, UINT64_C(60000000000000)), .preset = "100ms" },
        { "--signed", NULL, "values are signed" },
    },
    .examples = "leat esp sim --tree 4,4 --members 200 --service census\n"
                "leat esp route --dev eth0 --dev eth1 --tau 10s --capacity 1M\n"
                "leat esp sum sensors --robust 8 --members 16\n"
                "leat esp join sensors --root 192.0.2.1 --value 17\n"
                "leat esp sim --tree 4,4 --members 200 --service robust-sum --loss 0.1 "
                "--duplicate 0.1 --reorder 0.1",
    .operands = "",
};
