/* leat pktway: PacketWay on live or simulated networks. */
#include "pktway_live.h"
#include "pktway_simulate.h"

static int run_either(const struct arguments *args)
{
    return argument(args, "--fabric") ? pktway_simulate(args) : pktway_live(args);
}

/* ---- subverbs ----------------------------------------------------------------------------- */

#define SIMULATED " --fabric --from --at --cut-through --error-at --fault"
#define ASKING    "--name --san --dev --key-file --poll --capability --timeout --json"
#define SERVING   "--name --san --dev --key-file --poll --foreground"

/* Who asks, behind the description of a query. */
#define ASKS                                                                                     \
    "\nOn a live network leat asks through leat pktway host, or, with a --san of its own, as a " \
    "node for a moment. With --fabric it asks in a simulated network: --from is the host that "  \
    "asks, --at the simulated time, and a NODE is also SAN.PORT, as clos.15.\n"                  \
    "Exit code 1: no answer, or an ERR."
#define STAYS                                                                              \
    "\nIt keeps running after the command ends, until leat pktway stop. leat help pktway " \
    "networks describes --san, --dev and --key-file."

static const struct subverb subverbs[] = {
    { "ping", "send messages to a node and back", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --count --bytes --interval --by-address",
      "Sends echoes along a plan that the host asks for (GVL2), or with --by-address through the "
      "tables of half-routers. Half-routers answer, too. leat shows ERR messages. If EI reports an "
      "error, leat names the router that saw it (live, for the return path: the number of hops "
      "from this host). In a simulated network leat also shows how many routers the message "
      "passed; --error-at west causes an error.\n"
      "--fault router:west@1ms..2ms takes a router from the simulated network, link:west the link "
      "between its half-routers; errors:west makes it see errors. Without @ the fault begins at "
      "once, without the second time it lasts." ASKS,
      "leat pktway ping clos.15 --fabric twosan\n"
      "leat pktway ping mesh.8 --fabric threesan --error-at south\n"
      "leat pktway ping 0x201 --name crunch",
      run_either, NULL },
    { "trace", "list the routers on the way to a node", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --bytes --by-address",
      "Names the half-router that sends into each network on the planned way. In a simulated "
      "network leat lists the routers that a message passed, and when; --by-address sends it "
      "through the tables of half-routers there." ASKS,
      "leat pktway trace 0x201\n"
      "leat pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms",
      run_either, NULL },
    { "plan", "show the planned routes to a node", "NODE [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED,
      "Shows the plan that a host asks for: its routes by rising Q (quality), each with its MTU in "
      "words and the octets of its L2RHs. These are the native routes of the SANs: the label of "
      "ATM fabrics, the station of token rings, the turns through switches, the MAC address of "
      "Ethernets." ASKS,
      "leat pktway plan mesh.8 --fabric threesan --from ring.0\nleat pktway plan 0x201", run_either,
      NULL },
    { "tell", "find nodes by name, capability or address",
      "name=NAME|capability=CC[:P,P...]|address=A[-B]... [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED, "Lists every node that matches one of the words." ASKS,
      "leat pktway tell capability=2 --fabric threesan --json\n"
      "leat pktway tell name=crunch --san udp:127.0.0.1:5000,bias=0x300,address=0x301,"
      "peer=127.0.0.1:4254",
      run_either, NULL },
    { "tables", "list what half-routers know", "[ROUTER --fabric FABRIC] [OPTIONS]",
      "--name --json" SIMULATED,
      "Lists the nodes of each SAN with their routes, and the tables that the half-routers have "
      "from others. On a live network it asks the router --name of this host.",
      "leat pktway tables west --fabric twosan\nleat pktway tables", run_either, NULL },
    { "read", "read the memory of a node", "NODE ADDRESS COUNT [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address",
      "Shows COUNT octets from ADDRESS on of the memory of a node. Octets travel in as many "
      "messages as the MTU of the way makes necessary, each tried three times within --timeout. In "
      "a simulated network every host lends 64 KiB from address 0 to everybody; the reported time "
      "is simulated." ASKS,
      "leat pktway read 0x301 0x1000 64 --name crunch", run_either, NULL },
    { "write", "write to the memory of a node",
      "NODE ADDRESS OCTETS|text=TEXT [--fabric FABRIC] [OPTIONS]",
      ASKING SIMULATED " --by-address --blind",
      "Writes OCTETS, as hex (cafe01) or text=TEXT, and reads them back, since a MEM-WRITE has no "
      "answer. With --blind only a MEM-READ of no octets follows, for memory that you may write "
      "but not read. leat help pktway read says how octets travel." ASKS,
      "leat pktway write 0x301 0x1000 text=hello --name crunch", run_either, NULL },
    { "route", "make this host a router", "--san SAN [--dev DEVICE] --san SAN... [OPTIONS]",
      SERVING " --driver",
      "This host becomes a router of PacketWay: a half-router on each --san, twins of each other. "
      "It finds the nodes and other half-routers of its SANs by WRU? and INFO, exchanges tables "
      "with them, forwards by planned routes (L2) and by address (L3), and answers as RRP levels "
      "B, C and D say. With XDP the kernel forwards packets that need no further processing. leat "
      "prints the driver and the reason for it." STAYS,
      "leat pktway route --san A --dev eth0 --san B --dev eth1\n"
      "leat pktway route --san eth0,bias=0x100,address=0x102 --san eth1,bias=0x200,address=0x202\n"
      "leat pktway route --san A --dev eth0 --san B --dev eth1 --key-file a.key --key-file none",
      pktway_serve_router, NULL },
    { "host", "make this host a node", "--san SAN [--dev DEVICE] [OPTIONS]",
      SERVING " --capability",
      "This host becomes a node that others find, reach and plan routes to; it answers echoes. "
      "ping, trace, plan, tell, read and write ask through it." STAYS,
      "leat pktway host --san eth0,bias=0x100,address=0x101 --name crunch", pktway_serve_host,
      NULL },
    { "tun", "carry IP packets over PacketWay", "--san SAN --way IP=NODE... [OPTIONS]",
      SERVING " --capability --way --device",
      "A host with a TUN device whose IP packets travel in messages (PT 21) to the node that --way "
      "has for their destination. It accepts them only from the node that --way has for their "
      "source. Give the device its addresses: ip addr add 10.9.0.1/24 dev pw0. It needs "
      "CAP_NET_ADMIN." STAYS,
      "leat pktway tun --san A --dev eth0 --way 10.9.0.3=0x301", pktway_serve_tun, NULL },
    { "memory", "lend memory to other nodes", "--san SAN --allow WHO... [OPTIONS]",
      SERVING " --capability --memory --base --allow",
      "A host whose memory others read and write by MEM-READ and MEM-WRITE: --memory octets, zero "
      "at first, the first of them at --base. --allow says who may: r, w or rw, of a range "
      "(range=0x1000-0x1fff; else of all), for nodes (nodes=0x101-0x1ff; else for all). A request "
      "must lie within one of them; otherwise nothing is done and ERR GENERAL is sent. Nodes are "
      "known by their source address, which is not authenticated: do not lend sensitive memory on "
      "an open network." STAYS,
      "leat pktway memory --san eth0,bias=0x300,address=0x301 --memory 1M --allow "
      "rw,nodes=0x101-0x1ff",
      pktway_serve_memory, NULL },
    { "status", "show what happened to packets", "[--name NAME] [--json]", "--name --json",
      "Prints what happened to the packets of a router or host of this host, by reason. It is "
      "found by --name in this network namespace. It answers only its user and root, and leat asks "
      "only processes of root and of your own user.",
      "leat pktway status\nleat pktway status --name crunch --json", pktway_live, NULL },
    { "stop", "end a router or host", "[--name NAME]", "--name",
      "Ends a router or host that runs under this --name in this network namespace.",
      "leat pktway stop\nleat pktway stop --name crunch", pktway_live, "leave" },
    { 0 },
};

/* ---- the verb ----------------------------------------------------------------------------- */

#define MS_PS     UINT64_C(1000000000)
#define MINUTE_PS (60000 * MS_PS)

const struct verb verb_pktway = {
    .name = "pktway",
    .summary = "PacketWay: half-routers between networks, planned routes, discovery",
    .synopsis = "SUBVERB [OPERANDS] [--fabric FABRIC] [OPTIONS]",
    .description =
        "PacketWay joins networks (SANs) by routers of two halves. route, host, tun and memory "
        "make this host a part of a live network; ping, trace, plan, tell, read and write ask it. "
        "With --fabric they ask a simulated network (leat fabric show twosan).",
    .topics = (const struct topic[]){
        { "networks",
          "A SAN is a network device, or udp:ADDRESS[:PORT] for those without privileges, then "
          "words behind commas: bias=B and address=A (of this node, of the block B+1 to B+nodes), "
          "nodes=N (255), mtu=WORDS, peer=ADDRESS[:PORT] (UDP: who is asked first; again for "
          "more), buddy=A (only these are believed to be half-routers; again for more). Blocks of "
          "SANs must not overlap.\n"
          "With --dev DEVICE, --san begins with a letter or a number instead of the device: --san "
          "A --dev eth0 means bias 0x100, B 0x200, and so on, and leat chooses a free address. "
          "address=auto says the same elsewhere. An address that another node of the SAN has is "
          "refused. If two nodes claim it at the same time, the first keeps it, and status reports "
          "the other.\n"
          "--key-file gives a SAN a key, of 32 hex digits in a file of mode 600. Its nodes then "
          "believe control messages (RRP and ERR) only with a MAC by that key, made within a "
          "minute and seen once; they refuse and count others. All nodes of a SAN have the same "
          "key or none. route takes one --key-file for all SANs, or one per --san in the same "
          "order; the word none means no key. Data is not keyed." },
        { NULL, NULL },
    },
    .subverbs = subverbs,
    .options = {
        { "--fabric", "FABRIC", "ask a simulated network: twosan, threesan or FILE.yaml" },
        { "--from", "HOST", "simulated: the sender, SAN.PORT or an address (unless given: the "
                            "first)" },
        { "--at", "TIME", "simulated: when", TIME(0, UINT64_C(1000000000000000000)),
          .preset = "0s" },
        { "--cut-through", "C", "simulated: routers forward before all has come (unless given: as FABRIC says)",
          WORD("yes no") },
        { "--error-at", "ROUTER", "simulated: it sees an error in every packet" },
        { "--fault", "FAULT", "simulated: router, link or errors:ROUTER@FROM..TO", true },
        { "--count", "N", "so many messages", COUNT(1, 1000000), .preset = "1" },
        { "--bytes", "OCTETS", "ping, simulated: data of a message", OCTETS(0, PKTWAY_OCTETS_MAX),
          .preset = "56", .former = "--size" },
        { "--by-address", NULL, "ping, simulated: by address (L3), not a plan" },
        { "--json", NULL, "print JSON" },
        { "--san", "SAN", "DEVICE or udp:ADDRESS[:PORT], then ,bias=B,address=A and more", true },
        { "--dev", "DEVICE", "of the --san, which then begins with a letter", true },
        { "--name", "NAME", "of the router or host (unless given: router, host or memory)" },
        { "--key-file", "FILE", "32 hex digits, mode 600: the SAN's key, or none", true },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)",
          WORD("xdp packet udp") },
        { "--poll", "TIME", "interval of WRU?", TIME(10 * MS_PS, MINUTE_PS), .unit = "ms",
          .preset = "1s" },
        { "--capability", "CC", "a capability code of this node, 1 to 255, not 2 (router)", true },
        { "--way", "IP=NODE", "ADDRESS[/BITS]=NODE, as 10.9.0.3=0x301", true },
        { "--device", "DEVICE", "name of the TUN device", .preset = "pw0" },
        { "--memory", "OCTETS", "how many", OCTETS(1, UINT64_C(1) << 30), .preset = "64k" },
        { "--base", "ADDRESS", "of the first octet", COUNT(0, UINT64_MAX), .preset = "0" },
        { "--allow", "WHO", "r, w or rw, then ,range=A-B and ,nodes=A-B", true },
        { "--blind", NULL, "live: do not read back what was written" },
        { "--foreground", NULL, "stay until interrupted" },
        { "--interval", "TIME", "live: between two messages", TIME(0, MINUTE_PS), .unit = "ms",
          .preset = "1s" },
        { "--timeout", "TIME", "live: until an answer must be here", TIME(MS_PS, MINUTE_PS),
          .unit = "ms", .preset = "1s" },
    },
    .examples = "leat pktway ping clos.15 --fabric twosan\n"
                "leat pktway route --san A --dev eth0 --san B --dev eth1\n"
                "leat pktway ping 0x201 --name crunch\n"
                "leat pktway host --san eth0,bias=0x100,address=0x101 --name crunch\n"
                "leat pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms\n"
                "leat pktway read 0x301 0x1000 64 --name crunch",
    .operands = "",
};
