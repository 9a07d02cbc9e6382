/*
 * leat esp: ephemeral state in routers, simulated or live. The first word is the subcommand; each
 * has a row here.
 */
#include "esp_job.h"
#include "esp_live.h"
#include "tool.h"
#include <string.h>

#define ROOT_OPTIONS   "--members --wait --settle --attempts --tau --bind --key-file --json"
#define ROUTER_OPTIONS "--name --json"

static const struct {
    const char *word;
    int (*run)(const struct arguments *args);
    const char *options; /* its options */
} words[] = {
    { "sim", esp_simulate,
      "--tree --graph --fabric --members --at --service --values --bits --loss --dup --reorder "
      "--delay --seed --multicast --dot --trust --rounds --attempts --tau --json" },
    { "route", esp_route,
      ROUTER_OPTIONS " --dev --driver --capacity --port-capacity --node-id --next-hop --listen "
                     "--rate --port-share --keyed-only --key-file --tau" },
    { "stop", esp_stop, "--name" },
    { "status", esp_status, ROUTER_OPTIONS },
    { "store", esp_store, ROUTER_OPTIONS },
    { "trace", esp_trace, ROUTER_OPTIONS " --count" },
    { "join", esp_join, "--root --value --via --every --for --count --bind --key-file" },
    { "census", esp_service, ROOT_OPTIONS " --robust" },
    { "max", esp_service, ROOT_OPTIONS " --rounds --signed" },
    { "min", esp_service, ROOT_OPTIONS " --rounds --signed" },
    { "sum", esp_service, ROOT_OPTIONS " --robust --signed" },
    { "average", esp_service, ROOT_OPTIONS " --robust --signed" },
    { "tree", esp_service, ROOT_OPTIONS " --rounds --dot" },
    { "multicast", esp_multicast, ROOT_OPTIONS " --rounds --for" },
};

static int run_esp(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS);
    const char *word = args->operand[0];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) != 0) continue;
        const char *foreign = argument_not_in(args, words[i].options);
        if (!foreign) return words[i].run(args);
        return misuse(args->verb, "%s does not go with %s, expected one of %s", foreign, word,
                      words[i].options);
    }
    return misuse(args->verb, "'%s', expected one of: " ESP_SIM_WORDS " " ESP_LIVE_WORDS, word);
}

const struct verb verb_esp = {
    .name = "esp",
    .summary = "ephemeral state in routers: packets count, compare and sum on their way",
    .synopsis = "sim --tree D,F|--graph FILE|--fabric NAME --service S [OPTIONS] | route --dev "
                "DEVICE... [OPTIONS] | stop|status|store COMPUTATION|trace [--name NAME] | join "
                "GROUP --root ADDRESS [OPTIONS] | census|max|min|sum|average|tree GROUP "
                "[OPTIONS] | multicast GROUP TEXT --key-file FILE [OPTIONS]",
    .description =
        "sim lets a root ask its group over simulated routers, each with a store of short-lived "
        "values, and shows the answer, the truth, and what it cost in packets over links beside "
        "what it costs if every member sends its value to the root itself (once, with nothing "
        "lost). Announcements of the root are counted separately. Packets take the route with "
        "the shortest delay; every link loses, duplicates and delays packets at random.\n"
        "census, sum and average count children with COUNT and collect with COLLECT: with "
        "packets lost or duplicated their answer is wrong or never comes. The robust ones use "
        "RCHLD and RCOLLECT in rounds; an attempt in which a packet comes back with E, or in "
        "whose answer members are missing, is void and repeated. max and min send a value only "
        "if it improves the result. tree discovers the parent of each node and draws the tree. "
        "With --multicast duplicates are installed at the branch points first, and announcements "
        "go by them.\n"
        "JSON has service, members, routers, true_answer, esp_answer (null: none), right, end "
        "(answered, void, late), counted (members in the answer), rounds, attempts, voids, "
        "errors (packets with E), branches_missing, unplaced, seconds (simulated), packets and "
        "packets_per_link_max, the same for announcements (announce_) and by unicast (unicast_), "
        "with --multicast duplicates and install_packets, executed, aborted, store_full, lost, "
        "duplicated, reordered, certificate. Exit code 1: no answer; the reason is on standard "
        "error.",
    .topics = (const struct topic[]){
        { "route",
          "route makes this host an ESP router on its devices: packets of Ethernet type 0x88B5, IP "
          "protocol 253 with Router Alert and UDP port 4253 that come in there are checked, "
          "executed at the stores that they name, and go on. The driver xdp does this in the "
          "kernel; packet in a process with packet sockets, while routing rules keep the kernel "
          "from forwarding the originals; udp in an unprivileged process, which receives at "
          "--listen and forwards to --next-hop. The driver and the reason for it are printed. The "
          "router keeps running after the command ends; stop ends it. Another route changes it and "
          "keeps its stores if their sizes are the same, even after a crash.\n"
          "Packets take the kernel's routes, or --next-hop: of destinations in PREFIX (ADDRESS or "
          "ADDRESS/BITS; default: all) to a router's ADDRESS, or at once to a neighbour, "
          "DEVICE,MAC. bare=DEVICE,MAC says where frames of type 0x88B5 go on. In an overlay (udp) "
          "destinations are the router's own addresses. What is for this host is handed to it.\n"
          "status prints what happened to all packets, by reason and by instruction, how full the "
          "stores are and how old the bindings. store prints the live bindings of a computation, "
          "trace packets as they pass. With --key-file the router answers queries for trees and "
          "makes copies for multicast; with --keyed-only it takes no computation whose ID is not "
          "made with that key. Limits: --rate, --port-share; see doc/security.md." },
        { "join",
          "join makes this host a member of GROUP (a number, or a name), until interrupted: it "
          "announces itself to the root periodically and sends its value on request. In an overlay "
          "its packets go --via the first router. Multicast texts for the group are printed.\n"
          "census, max, min, sum, average query all members that join within --wait, or start as "
          "soon as --members have joined; the answer comes in one packet or a few. sum and census "
          "count packets that come twice; --robust K repeats them in rounds and voids attempts in "
          "which something is missing, so that the answer is exact where packets are lost, doubled "
          "or late. tree draws which router is above which (needs --key-file; --dot for Graphviz). "
          "multicast lets the branch points copy, for the time --for, and sends TEXT to all. JSON "
          "has service, members, answer (null: none), end (answered, void, late), counted, rounds, "
          "attempts, voids, errors, branches_missing, unplaced, packets_sent, packets_received, "
          "seconds. Exit code 1: no answer, or not from all; what is missing is on standard error." },
        { NULL, NULL },
    },
    .options = {
        ESP_SIM_OPTIONS,
        ESP_SERVICE_OPTIONS
        ESP_ROUTER_OPTIONS,
        ESP_HOST_OPTIONS,
    },
    .examples = "leat esp sim --tree 4,4 --members 200 --service census\n"
                "leat esp sim --tree 4,4 --members 200 --service robust-sum --loss 0.1 --dup 0.1 "
                "--reorder 0.1\n"
                "leat esp sim --fabric mesh:4,4 --service tree --dot tree.dot\n"
                "leat esp route --dev eth0 --dev eth1 --tau 10s --capacity 1M\n"
                "leat esp join sensors --root 192.0.2.1 --value 17\n"
                "leat esp sum sensors --robust 8 --members 16",
    .operands = ESP_SIM_WORDS " " ESP_LIVE_WORDS,
    .run = run_esp,
};
