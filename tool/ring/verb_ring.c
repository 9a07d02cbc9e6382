/* leat ring: on a ring of real hosts, or on a simulated one. */
#include "ring_job.h"
#include "ring_live.h"
#include <string.h>

/* Algorithms run on a simulated ring with --stations, on this host's with --live or --dev.
 * least-loaded is of hosts, unless told otherwise. */
static int run_algorithm(const struct arguments *args)
{
    const char *word = args->operand[0];
    const bool simulated = argument(args, "--stations");
    const bool live = argument(args, "--dev") || argument(args, "--live") ||
                      (!simulated && strcmp(word, "least-loaded") == 0);
    if (live && simulated)
        return misuse(
            args->verb,
            "--stations means a simulated ring, expected no --live and no --dev beside %s", word);
    return live ? ring_live(args) : ring_simulate(args);
}

/* ---- subverbs ----------------------------------------------------------------------------- */

#define SIMULATED                                                                              \
    "--stations --operands --from --to --propagation --model --disabled --fault --seed --vcd " \
    "--register --width --quorum --json"
#define ALGORITHM SIMULATED " --live --dev --timeout"
#define WHERE     "[--stations N | --live | --dev DEVICE] [OPTIONS]"

/* Behind the description of an algorithm. */
#define BOTH                                                                                    \
    "With --stations it runs on a simulated ring, with --live on the ring of this host's only " \
    "station, with --dev on that of the station there. leat help ring sim describes simulated " \
    "rings, leat help ring query live ones."

static const struct subverb subverbs[] = {
    { "sim", "send one command round a simulated ring", "--stations N --command COMMAND [OPTIONS]",
      SIMULATED " --command --value",
      "One command goes round a simulated ring of stations 1 to N. leat shows its result, Counter "
      "and the two variables, the bit times that it took beside the closed form, and those of N-1 "
      "packets that bring the operands to one host.\n"
      "The models bit (every interface, every bit time) and word (one event per packet and "
      "interface) give the same results, times and certificate.\n"
      "--fault bit:3@100 damages the symbol that station 3 receives at bit time 100; forget, leave "
      "and join are faults of stations. Exit code 1: the packet was damaged or lost, or Counter "
      "shows that some stations did not take part; leat lists the missing stations. With "
      "--disabled, --to or --quorum N fewer stations are enough.",
      "leat ring sim --stations 16 --command min\n"
      "leat ring sim --stations 4 --command add --model bit --vcd ring.vcd",
      ring_simulate, NULL },
    { "join", "make this host a station of a live ring",
      "--dev DEVICE --address A --previous MAC --next MAC [OPTIONS]",
      "--dev --out --next --previous --ring --address --key-file --rate --driver --json",
      "This host becomes a station. Packets of Ethernet type 0x88B6 come in at --dev from the "
      "station --previous and leave at --out for the station --next. Each station folds one of "
      "its registers into them, in the kernel (XDP) or, without it, in a small process. leat "
      "prints the driver and the reason for it.\n"
      "The station keeps running after the command ends; leat ring stop ends it. Another join "
      "takes over its registers, even after a crash. It needs root, or CAP_NET_RAW with --driver "
      "packet.",
      "leat ring join --dev eth1 --address 3 --previous 02:00:00:00:00:02 --next "
      "02:00:00:00:00:04",
      ring_join, NULL },
    { "stop", "end the station of this host", "[--dev DEVICE]", "--dev",
      "Ends a station that leat ring join started. Without --dev, leat ends the only station of "
      "this host.",
      "leat ring stop\nleat ring stop --dev eth1", ring_stop, "leave" },
    { "set", "set a register of this station",
      "R VALUE | R load [--every TIME] | enabled on|off | tree OPERATION,... [--dev DEVICE]",
      "--dev --every",
      "R VALUE stores to a register, 0 to 63. R load stores this host's load average in "
      "hundredths, at least 1. enabled off makes the station only repeat commands. tree "
      "add,max,... says which operation each height of a tree has, the last for all above.",
      "leat ring set 3 42\nleat ring set 1 load --every 5s\nleat ring set enabled off", ring_set,
      NULL },
    { "get", "print registers of this station", "[R] [--dev DEVICE] [--json]", "--dev --json",
      "Prints one register, or all that are not 0.", "leat ring get 3", ring_get, NULL },
    { "status", "show the settings of this station and its packets", "[--dev DEVICE] [--json]",
      "--dev --json", "Prints the settings of join, and what happened to every packet, by reason.",
      "leat ring status", ring_status, NULL },
    { "query", "send one command round a live ring", "COMMAND [OPTIONS]",
      "--dev --register --width --value --quorum --to --timeout --json",
      "One packet goes round the ring and folds a register of all stations: add, and, or, max, "
      "min, or eq, lt, le, which count the stations whose register x has V = x, V < x or V <= x "
      "(V: --value, else this station's own). A register gives its low --width bits.\n"
      "Without --dev, the only station of this host sends the packet. Exit code 1: no answer came "
      "in time, or fewer stations took part than the packet passed. With --to or --quorum N fewer "
      "stations are enough.",
      "leat ring query min --register 3\nleat ring query eq --value 7", ring_live, NULL },
    { "send", "send a message to a station", "A TEXT | A --file FILE [OPTIONS]",
      "--dev --file --timeout --json",
      "Sends a message to station A, or to all. Exit code 1: no station had room for it.",
      "leat ring send 4 'any work?'\nleat ring send all --file news.txt", ring_live, NULL },
    { "receive", "print the messages for this station", "[OPTIONS]",
      "--dev --count --timeout --json",
      "Prints the oldest message in the mailbox of this station, or the next that comes. The "
      "mailbox holds 64 KiB; each message goes to one receiver.",
      "leat ring receive --timeout 60s", ring_live, NULL },
    { "least-loaded", "find the station with the least load", WHERE, ALGORITHM,
      "Finds the minimum of the loads in register 1, or in --register. 0 means a register that was "
      "never set, and is an error. A simulated ring has loads in hundredths; random ones are up to "
      "4.00. Without --stations this host's ring is meant.\n" BOTH,
      "leat ring least-loaded\nleat ring least-loaded --stations 16", run_algorithm, NULL },
    { "sort", "sort the registers of all stations", WHERE, ALGORITHM,
      "One packet collects the registers of all stations and sorts them on the way.\n" BOTH,
      "leat ring sort --live --register 3\nleat ring sort --stations 8", run_algorithm, NULL },
    { "majority", "find the value that more than half of the stations hold", WHERE, ALGORITHM,
      "Finds the value that more than half of the stations hold in their registers, if there is "
      "one.\n" BOTH,
      "leat ring majority --stations 9 --operands votes.txt", run_algorithm, NULL },
    { "tree", "reduce registers over a tree", WHERE, ALGORITHM " --tree",
      "Reduces the registers over a tree that has an operation for each height: --tree on a "
      "simulated ring, leat ring set tree on live stations.\n" BOTH,
      "leat ring tree --stations 8 --tree add,max", run_algorithm, NULL },
    { "average", "average the registers of all stations", WHERE, ALGORITHM,
      "Prints the average and the remainder.\n" BOTH, "leat ring average --live", run_algorithm,
      NULL },
    { "gvt", "find the global virtual time, a minimum", WHERE, ALGORITHM,
      "Finds the minimum of the registers, and the station that holds it.\n" BOTH,
      "leat ring gvt --stations 16", run_algorithm, NULL },
    { "barrier", "wait until all stations are here", WHERE, ALGORITHM,
      "On a live ring it raises this station's flag, bit 0 of the register, and waits until all "
      "flags are up. On a simulated one operands are the bit times at which stations arrive; "
      "random ones are within 10000.\n" BOTH,
      "leat ring barrier --live --register 7 --timeout 60s", run_algorithm, NULL },
    { "elect", "elect the station with the largest register", WHERE, ALGORITHM,
      "Finds the maximum of the registers; the station that holds it is the leader.\n" BOTH,
      "leat ring elect --live", run_algorithm, NULL },
    { "work", "request work from the station with the highest priority", WHERE, ALGORITHM,
      "Finds the maximum of the registers and sends a message to the station that holds it: two "
      "octets, the address of the sender.\n" BOTH,
      "leat ring work --live --register 2", run_algorithm, NULL },
    { 0 },
};

/* ---- the verb ----------------------------------------------------------------------------- */

const struct verb verb_ring = {
    .name = "ring",
    .summary = "the ATON ring: a packet that goes round computes",
    .synopsis = "SUBVERB [OPERANDS] [OPTIONS]",
    .description =
        "A packet goes round a ring and folds the registers of all stations: one packet answers a "
        "question about all of them. sim and the algorithms with --stations use a simulated ring. "
        "join makes this host a station of a live one; without --dev, the other subverbs use the "
        "only station of this host.",
    .topics = (const struct topic[]){
        { "json",
          "sim: command, stations, width, register, counter, variable1, variable2, packets, "
          "bit_times, bit_times_expected, host_based_bit_times, certificate.\n"
          "query: the same with took_ns instead of times and certificate. Algorithms have their "
          "answer instead of the variables, by the same names on live and simulated rings." },
        { NULL, NULL },
    },
    .subverbs = subverbs,
    .options = {
        { "--stations", "N", "of a simulated ring", COUNT(1, LEAT_SIM_ATON_STATIONS_MAX) },
        { "--command", "COMMAND", "what the packet computes", WORD(RING_COMMANDS) },
        { "--live", NULL, "on the ring of this host's only station" },
        { "--dev", "DEVICE", "of the station, where packets of the previous one come in" },
        { "--register", "R", "which register (unless given: 0, of least-loaded 1)",
          COUNT(0, LEAT_ATON_REGISTER_MAX) },
        { "--width", "BITS", "of operands", WORD("16 32 64"), .preset = "32" },
        { "--value", "V", "eq, lt, le: compare with V", COUNT(0, UINT64_MAX) },
        { "--quorum", "N", "succeed if at least N stations take part (unless given: all)",
          COUNT(1, LEAT_ATON_DA_ALL) },
        { "--to", "A", "only station A takes part beside the querying one",
          COUNT(0, LEAT_ATON_DA_ALL - 1) },
        { "--json", NULL, "print JSON" },
        { "--operands", "FILE", "simulated: a number for each station, or random",
          .preset = "random" },
        { "--from", "K", "simulated: the querying station", COUNT(1, LEAT_SIM_ATON_STATIONS_MAX),
          .preset = "1" },
        { "--propagation", "BITS", "simulated: delay of each link",
          COUNT(0, LEAT_SIM_ATON_PROPAGATION_MAX), .preset = "0" },
        { "--model", "MODEL", "simulated (unless given: word, with --vcd bit)", WORD("bit word") },
        { "--disabled", "LIST", "simulated: stations that only repeat, with commas between" },
        { "--tree", "LIST",
          "simulated: one operation per tree level; the last applies to all higher levels" },
        { "--fault", "FAULT", "simulated: bit, forget, leave or join:STATION@TIME", true },
        { "--seed", "N", "simulated: of random operands", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--vcd", "FILE", "simulated, bit model: write waveforms; 1 ns is one bit time" },
        { "--out", "DEVICE", "where packets leave for the next station (unless given: --dev)" },
        { "--next", "MAC", "Ethernet address of the next station" },
        { "--previous", "MAC", "Ethernet address of the previous station" },
        { "--ring", "ID", "number of the ring", COUNT(0, UINT32_MAX), .preset = "1" },
        { "--address", "A", "of this station on the ring", COUNT(0, LEAT_ATON_DA_ALL - 1) },
        { "--key-file", "FILE", "32 hex digits, mode 600, one for all: packets get a MAC",
          .former = "--key" },
        { "--rate", "N", "packets a second of one sender (0: any)", COUNT(0, 1000000000),
          .preset = "100k" },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)",
          WORD("xdp packet") },
        { "--timeout", "TIME", "live: how long to wait",
          TIME(1000000000, UINT64_C(3600000000000000)), .unit = "ms", .preset = "1s" },
        { "--file", "FILE", "the octets of a file, - for standard input, instead of TEXT" },
        { "--count", "N", "so many messages, one after the other", COUNT(1, UINT32_MAX),
          .preset = "1" },
        { "--every", "TIME", "R load: set it again so often, until interrupted",
          TIME(UINT64_C(1000000000000), UINT64_C(86400000000000000)), .unit = "s" },
    },
    .examples = "leat ring sim --stations 16 --command min\n"
                "leat ring join --dev eth1 --address 3 --previous 02:00:00:00:00:02 --next "
                "02:00:00:00:00:04\n"
                "leat ring query min --register 3\n"
                "leat ring majority --stations 9 --operands votes.txt\n"
                "leat ring set 1 load --every 5s\n"
                "leat ring least-loaded\n"
                "leat ring stop",
    .operands = "",
};
