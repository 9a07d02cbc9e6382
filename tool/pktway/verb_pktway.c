/* leat pktway: PacketWay on live or simulated networks. */
#include "config.h"
#include "foreground.h"
#include "pktway_live.h"
#include "pktway_simulate.h"

static int run_either(const struct arguments *args)
{
    return argument(args, "--fabric") ? pktway_simulate(args) : pktway_live(args);
}

/* ---- subverbs ----------------------------------------------------------------------------- */

#define SIMULATED " --fabric --from --at --cut-through --error-at --fault --record"
#define ASKING    "--name --san --dev --key-file --poll --capability --logical --timeout --json"
#define SERVING   "--name --san --dev --key-file --poll --foreground --config"

static const struct subverb subverbs[] = {
    { "ping", "send messages to a node and back", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --count --bytes --interval --by-address", run_either },
    { "trace", "list the routers on the route to a node", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --bytes --by-address", run_either },
    { "plan", "show the planned routes to a node", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED, run_either },
    { "tell", "find nodes by name, capability or address",
      "name=NAME|capability=CC[:P,P...]|address=A[-B]... [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED, run_either },
    { "tables", "list what half-routers know", "[ROUTER --fabric FABRIC] [OPTIONS]",
      "--name --json" SIMULATED, run_either },
    { "read", "read the memory of a node", "NODE ADDRESS COUNT [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address", run_either },
    { "write", "write to the memory of a node",
      "NODE ADDRESS OCTETS|text=TEXT [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address --blind", run_either },
    { "send", "send data to a node, a group, a name or a capability",
      "TO OCTETS|text=TEXT|--file FILE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address --priority --count --every --file --messages --blind",
      run_either },
    { "receive", "show the data that arrives", "[HOST --messages FILE --fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address --count --messages --output", run_either },
    { "route", "make this host a router", "--san SAN [--dev DEVICE] --san SAN... [OPTIONS]",
      SERVING " --driver", pktway_serve_router },
    { "host", "make this host a node", "--san SAN [--dev DEVICE]... [OPTIONS]",
      SERVING " --capability --logical", pktway_serve_host },
    { "tun", "carry IP packets over PacketWay", "--san SAN --way IP=NODE... [OPTIONS]",
      SERVING " --capability --logical --way --device", pktway_serve_tun },
    { "memory", "lend memory to other nodes", "--san SAN --allow WHO... [OPTIONS]",
      SERVING " --capability --logical --memory --base --allow", pktway_serve_memory },
    { "status", "show what happened to packets", "[--name NAME] [--json]",
      "--name --json --prometheus", pktway_live },
    { "key", "change the keys of a router or host while packets pass",
      "[--key-file FILE]... [--name NAME]", SERVING " --driver --capability --logical",
      pktway_live },
    { "stop", "end a router or host", "[--name NAME]", "--name", pktway_live, "leave" },
    { NULL },
};

/* ---- the verb ----------------------------------------------------------------------------- */

#define MS_PS     UINT64_C(1000000000)
#define MINUTE_PS (60000 * MS_PS)

const struct verb verb_pktway = {
    .name = "pktway",
    .summary = "PacketWay: half-routers between networks, planned routes, discovery",
    .synopsis = "SUBVERB [OPERANDS] [--fabric FABRIC] [OPTIONS]",
    .help = help_pktway,
    .subverbs = subverbs,
    .options = {
        { "--fabric", "FABRIC", "query a simulated network: twosan, threesan or FILE.yaml" },
        { "--from", "HOST", "simulated: the sender, SAN.PORT or an address (unless given: the "
                            "first)" },
        { "--at", "TIME", "simulated: when the query begins", TIME(0, UINT64_C(1000000000000000000)),
          .preset = "0s" },
        { "--cut-through", "C", "simulated: routers forward a packet while it arrives (unless given: as FABRIC says)",
          WORD("yes no") },
        { "--error-at", "ROUTER", "simulated: this router sees an error in every packet" },
        { "--fault", "FAULT", "simulated: router, link or errors:ROUTER@FROM..TO", true },
        { "--record", "FILE", "simulated: write a recording, for leat view and leat export" },
        { "--count", "N", "number of messages", COUNT(1, 1000000), .preset = "1" },
        { "--bytes", "OCTETS", "ping, simulated: data of a message", OCTETS(0, PKTWAY_OCTETS_MAX),
          .preset = "56", .former = "--size" },
        { "--by-address", NULL, "ping, send, simulated: by address (L3), not a plan" },
        { "--priority", "P", "send: 63 is the most urgent", COUNT(0, LEAT_PACKETWAY_PRIORITY_MAX),
          .preset = "0" },
        { "--every", "TIME", "send: time between two messages", TIME(0, MINUTE_PS), .preset = "1s" },
        { "--file", "FILE", "send: the octets of a file, - for standard input" },
        { "--messages", "FILE", "simulated: lines of TIME FROM TO PRIORITY OCTETS|text=TEXT" },
        { "--output", "FILE", "receive: the octets that arrive, without the rest" },
        OPTION_JSON("JSON"),
        { "--san", "SAN", "DEVICE or udp:ADDRESS[:PORT], then ,bias=B,address=A and more", true },
        { "--dev", "DEVICE", "of the --san, which then begins with a letter", true },
        { "--name", "NAME", "name of the router or host (unless given: router, host or memory)" },
        { "--key-file", "FILE", "32 hex digits, mode 600: the SAN's key, or none; a second key is accepted, too", true },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)",
          WORD("xdp packet udp") },
        { "--poll", "TIME", "interval of WRU?", TIME(10 * MS_PS, MINUTE_PS), .unit = "ms",
          .preset = "1s" },
        { "--capability", "CC", "a capability code of this node, 1 to 255, not 2 (router)", true },
        { "--logical", "A", "a logical address of this node, 0xe00000 to 0xefffff", true },
        { "--way", "IP=NODE", "ADDRESS[/BITS]=NODE, as 10.9.0.3=0x301", true },
        { "--device", "DEVICE", "name of the TUN device", .preset = "pw0" },
        { "--memory", "OCTETS", "size of the memory", OCTETS(1, UINT64_C(1) << 30), .preset = "64k" },
        { "--base", "ADDRESS", "address of the first octet", COUNT(0, UINT64_MAX), .preset = "0" },
        { "--allow", "WHO", "r, w or rw, then ,range=A-B and ,nodes=A-B", true },
        { "--blind", NULL, "live: do not read back what was written, or check the way of data" },
        OPTION_PROMETHEUS,
        OPTION_FOREGROUND,
        OPTION_CONFIG,
        { "--interval", "TIME", "live: time between two messages", TIME(0, MINUTE_PS), .unit = "ms",
          .preset = "1s" },
        { "--timeout", "TIME",
          "live: how long to wait for an answer (1s); receive: for a message (no limit)",
          TIME(MS_PS, MINUTE_PS), .unit = "ms" },
    },
    .operands = "",
};
