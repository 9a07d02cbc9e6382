/* leat pktway: PacketWay on live or simulated networks. */
#include "pktway_live.h"
#include "pktway_simulate.h"

static int run_pktway(const struct arguments *args)
{
    if (args->operand_count && pktway_is_live(args)) return pktway_live(args);
    if (args->operand_count && argument(args, "--fabric")) return pktway_simulate(args);
    return misuse(args->verb, "'%s', expected one of %s %s",
                  args->operand_count ? args->operand[0] : "", PKTWAY_LIVE_WORDS, PKTWAY_LIVE_ALSO);
}

const struct verb verb_pktway = {
    .name = "pktway",
    .summary = "PacketWay: half-routers between networks, planned routes, discovery",
    .synopsis = "ping|trace|plan NODE | tell WORD... | tables [ROUTER] | read NODE ADDRESS COUNT | "
                "write NODE ADDRESS OCTETS [--fabric F] [OPTIONS] | "
                "route --san SAN [--dev DEVICE] --san SAN... | host --san SAN | tun --san SAN --way IP=NODE... | "
                "memory --san SAN --allow WHO... | status | leave",
    .description =
        "With --fabric, a simulated PacketWay network is asked (leat fabric show twosan). A NODE "
        "is SAN.PORT, as in clos.15, or an address, as in 0x210. --from is the host that asks "
        "(default: the first), --at the simulated time.\n"
        "ping sends a message there and back: how many routers it passed, how long it took, and, "
        "if EI reports an error, which router saw it (--error-at west causes one). trace lists "
        "the routers that it passed, and when. Both go along a plan that the host asks for "
        "(GVL2), or with --by-address through the tables of half-routers.\n"
        "plan shows that plan: its routes by rising Q, each with its MTU and the octets of its "
        "L2RHs, which are the native routes of the SANs: the label of ATM fabrics, the station of "
        "token rings, the turns through switches, the MAC address of Ethernets. tell finds nodes "
        "by name=NAME, capability=CC[:P,P...] and address=A[-B]; every node that matches one of "
        "them is listed. tables lists what half-routers know: the nodes of their SAN with their "
        "routes, and the tables that they have from others.\n"
        "--fault router:west@1ms..2ms takes a router from the network, link:west the link between "
        "its half-routers, errors:west makes it see errors; without @ from the beginning, without "
        "the second time for good.\n"
        "The exit code is 1 if there is no answer, or an ERR.",
    .topics = (const struct topic[]){
        { "route",
          "route makes this host a router of PacketWay: a half-router on each --san, twins of each "
          "other. It finds the nodes and other half-routers of its SANs by WRU? and INFO, exchanges "
          "tables with them, forwards by planned routes (L2) and by address (L3), and answers as "
          "RRP levels B, C and D say. With XDP the kernel forwards packets that need no further "
          "processing. The driver and the reason for it are printed; the router keeps running after "
          "the command ends, until leave.\n"
          "A SAN is a network device, or udp:ADDRESS[:PORT] for those without privileges, then "
          "words behind commas: bias=B and address=A (of this node, of the block B+1 to B+nodes), "
          "nodes=N (255), mtu=WORDS, peer=ADDRESS[:PORT] (UDP: who is asked first; again for more), "
          "buddy=A (only these are believed to be half-routers; again for more). Blocks of SANs "
          "must not overlap. With --dev DEVICE, --san begins with a letter or a number instead of "
          "the device: --san A --dev eth0 means bias 0x100, B 0x200, and so on, and leat chooses a "
          "free address. address=auto says the same elsewhere. An address that another node of the "
          "SAN has is refused; if two nodes claim it at the same time, the first keeps it, and "
          "status reports the other.\n"
          "--key-file gives a SAN a key, of 32 hex digits in a file of mode 600: its nodes then "
          "believe control messages (RRP and ERR) only with a MAC by that key, made within a minute "
          "and seen once; others are refused and counted. All nodes of a SAN have the same key or "
          "none; route takes one --key-file for all SANs, or one per --san in the same order; the "
          "word none means no key. Data is not keyed." },
        { "host",
          "host makes this host a node that others find, reach and plan routes to; it answers "
          "echoes. ping, trace, plan and tell ask through it, or, with a --san of their own, as a "
          "node for a moment.\n"
          "ping sends echoes along a plan, or with --by-address through the routers' tables; where "
          "EI tells that a router saw an error, leat names that router (for the return path: the "
          "number of hops from this host). Half-routers answer, too. ERR messages are shown. trace "
          "names the half-router that sends into each network on the planned way. plan shows the "
          "routes: quality, MTU in words and the native route of each hop. tell finds nodes by "
          "name=NAME, capability=CC[:P,P...] and address=A[-B]; several words are ORed.\n"
          "tun is a host with a TUN device (pw0) whose IP packets travel in messages (PT 21) to the "
          "node that --way has for their destination, and are taken only from the one it has for "
          "their source. Give the device its addresses: ip addr add 10.9.0.1/24 dev pw0.\n"
          "tables prints what a router knows: the nodes of each SAN and the tables of others. "
          "status prints what happened to packets, by reason. leave ends a router or host. They are "
          "found by --name in this network namespace; only their user and root are answered, and "
          "only processes of root and of your own user are asked." },
        { "memory",
          "memory is a host whose memory others read and write by MEM-READ and MEM-WRITE: --memory "
          "octets, zero at first, the first of them at --base. --allow says who may: r, w or rw, of "
          "a range (range=0x1000-0x1fff; else of all), for nodes (nodes=0x101-0x1ff; else for all). "
          "A request must lie within one of them, or nothing is done and ERR GENERAL is sent. Nodes "
          "are known by their source address, which is not authenticated: do not lend sensitive "
          "memory on an open network.\n"
          "read shows COUNT octets from ADDRESS on of the memory of a node, write puts OCTETS "
          "there, as hex (cafe01) or text=TEXT, and reads them back, since a MEM-WRITE has no "
          "answer; with --blind only a MEM-READ of no octets follows, for memory that you may write "
          "but not read. Octets travel in as many messages as the MTU of the way makes necessary, "
          "each tried three times within --timeout. In a simulated network every host lends 64 KiB "
          "from address 0 to everybody; the reported time is simulated." },
        { NULL, NULL },
    },
    .options = { PKTWAY_SIM_OPTIONS, PKTWAY_BOTH_OPTIONS, PKTWAY_LIVE_OPTIONS },
    .examples = "leat pktway ping clos.15 --fabric twosan\n"
                "leat pktway ping mesh.8 --fabric threesan --error-at south\n"
                "leat pktway plan mesh.8 --fabric threesan --from ring.0\n"
                "leat pktway trace mesh.8 --fabric threesan --fault router:south --at 1ms\n"
                "leat pktway tell capability=2 --fabric threesan --json\n"
                "leat pktway route --san eth0,bias=0x100,address=0x102 --san eth1,bias=0x200,"
                "address=0x202\n"
                "leat pktway route --san A --dev eth0 --san B --dev eth1\n"
                "leat pktway route --san A --dev eth0 --san B --dev eth1 --key-file a.key --key-file none\n"
                "leat pktway host --san eth0,bias=0x100,address=0x101 --name crunch\n"
                "leat pktway ping 0x201 --name crunch\n"
                "leat pktway memory --san eth0,bias=0x300,address=0x301 --memory 1M --allow "
                "rw,nodes=0x101-0x1ff\n"
                "leat pktway write 0x301 0x1000 text=hello --name crunch\n"
                "leat pktway read 0x301 0x1000 64 --name crunch\n"
                "leat pktway tell name=crunch --san udp:127.0.0.1:5000,bias=0x300,address=0x301,"
                "peer=127.0.0.1:4254",
    .operands = PKTWAY_LIVE_ALSO " " PKTWAY_LIVE_WORDS,
    .run = run_pktway,
};
