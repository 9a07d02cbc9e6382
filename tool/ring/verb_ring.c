/* leat ring: on a ring of real hosts, or on a simulated one. */
#include "config.h"
#include "foreground.h"
#include "ring_job.h"
#include "ring_live.h"
#include <string.h>

/* Stations of a live ring have their operands, and their trees by leat ring set. */
static int on_live(const struct arguments *args)
{
    static const char *const simulated[] = {
        "--operands", "--from",       "--propagation", "--hold", "--model", "--disabled", "--only",
        "--tree",     "--expression", "--fault",       "--seed", "--vcd",   "--record"
    };
    for (unsigned i = 0; i < sizeof simulated / sizeof *simulated; i++)
        if (argument(args, simulated[i]))
            return misuse(args->verb, "%s is of simulated rings, expected --stations with it",
                          simulated[i]);
    return ring_live(args);
}

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
    return live ? on_live(args) : ring_simulate(args);
}

/* ---- subverbs ----------------------------------------------------------------------------- */

#define SIMULATED                                                                               \
    "--stations --operands --only --from --to --propagation --hold --model --disabled --fault " \
    "--seed "                                                                                   \
    "--vcd --record "                                                                           \
    "--register --width --quorum --sender --json"
#define ALGORITHM SIMULATED " --live --dev --group --timeout"
#define WHERE     "[--stations N | --live | --dev DEVICE] [OPTIONS]"

/* Behind the description of an algorithm. */
#define BOTH                                                                                    \
    "With --stations it runs on a simulated ring, with --live on the ring of this host's only " \
    "station, with --dev on that of the station there. leat help ring sim describes simulated " \
    "rings, leat help ring query live ones."

static const struct subverb subverbs[] = {
    { "sim", "send one command round a simulated ring", "--stations N --command COMMAND [OPTIONS]",
      SIMULATED " --command --value", ring_simulate },
    { "join", "make this host a station of a live ring",
      "--dev DEVICE --address A --previous MAC --next MAC [OPTIONS]",
      "--dev --out --next --previous --ring --address --key-file --rate --driver --allow --json "
      "--foreground --config",
      ring_join },
    { "key", "change the keys of this station while packets pass", "--key-file FILE [--dev DEVICE]",
      "--key-file --dev", ring_key },
    { "stop", "end the station of this host", "[--dev DEVICE]", "--dev", ring_stop, "leave" },
    { "set", "set a register of this station",
      "R VALUE | R load [--every TIME] | enabled on|off | tree OPERATION,... | groups G,... "
      "[--dev DEVICE]",
      "--dev --every", ring_set },
    { "get", "print registers of this station", "[R] [--dev DEVICE] [--json]", "--dev --json",
      ring_get },
    { "status", "show the settings of this station and its packets", "[--dev DEVICE] [--json]",
      "--dev --json --prometheus", ring_status },
    { "query", "send one command round a live ring", "COMMAND [OPTIONS]",
      "--dev --register --width --value --quorum --to --group --sender --timeout --json",
      ring_live },
    { "send", "send a message to a station", "A TEXT | A --file FILE [OPTIONS]",
      "--dev --file --timeout --json", ring_live },
    { "receive", "print the messages for this station", "[OPTIONS]",
      "--dev --count --timeout --json", ring_live },
    { "least-loaded", "find the station with the least load", WHERE, ALGORITHM, run_algorithm },
    { "sort", "sort the registers of all stations", WHERE, ALGORITHM, run_algorithm },
    { "majority", "find the value that more than half of the stations hold", WHERE, ALGORITHM,
      run_algorithm },
    { "tree", "reduce registers over a tree", WHERE, ALGORITHM " --tree --expression",
      run_algorithm },
    { "average", "average the registers of all stations", WHERE, ALGORITHM, run_algorithm },
    { "gvt", "find the global virtual time, a minimum", WHERE, ALGORITHM, run_algorithm },
    { "barrier", "wait until all stations are here", WHERE, ALGORITHM, run_algorithm },
    { "elect", "elect the station with the largest register", WHERE, ALGORITHM, run_algorithm },
    { "work", "request work from the station with the highest priority", WHERE, ALGORITHM,
      run_algorithm },
    { NULL },
};

/* ---- the verb ----------------------------------------------------------------------------- */

const struct verb verb_ring = {
    .name = "ring",
    .summary = "the ATON ring: a packet that goes round computes",
    .synopsis = "SUBVERB [OPERANDS] [OPTIONS]",
    .help = help_ring,
    .subverbs = subverbs,
    .options = {
        { "--stations", "N", "number of stations of a simulated ring", COUNT(1, LEAT_SIM_ATON_STATIONS_MAX) },
        { "--command", "COMMAND", "what the packet computes", WORD(RING_COMMANDS) },
        { "--live", NULL, "use the ring of this host's only station" },
        { "--dev", "DEVICE", "device of the station, which receives the packets of the previous one" },
        { "--register", "R", "which register (unless given: 0, of least-loaded 1)",
          COUNT(0, LEAT_ATON_REGISTER_MAX) },
        { "--width", "BITS", "width of operands", WORD("16 32 64"), .preset = "32" },
        { "--value", "V", "eq, lt, le: compare with V", COUNT(0, UINT64_MAX) },
        { "--quorum", "N", "succeed if at least N stations take part (unless given: all)",
          COUNT(1, LEAT_ATON_DA_ALL) },
        { "--to", "A", "only station A takes part beside the querying one",
          COUNT(0, LEAT_ATON_DA_ALL - 1) },
        OPTION_JSON("JSON"),
        { "--operands", "FILE", "simulated: a number for each station, or random",
          .preset = "random" },
        { "--from", "K", "simulated: the querying station", COUNT(1, LEAT_SIM_ATON_STATIONS_MAX),
          .preset = "1" },
        { "--propagation", "BITS", "simulated: delay of each link",
          COUNT(0, LEAT_SIM_ATON_PROPAGATION_MAX), .preset = "0" },
        { "--hold", "BITS", "simulated: bits that each interface holds back; above --width, expressions get more levels",
          COUNT(1, LEAT_SIM_ATON_DELAY_MAX), .preset = "1" },
        { "--model", "MODEL", "simulated (unless given: word, with --vcd bit)", WORD("bit word") },
        { "--disabled", "LIST", "simulated: stations that only repeat, separated by commas" },
        { "--tree", "LIST",
          "simulated: one operation per tree level; the last applies to all higher levels" },
        { "--expression", "EXPR",
          "simulated: commands over stations, such as max(add(1,2),lt(3,4)) or add(1..64)" },
        { "--only", "LIST", "simulated: only these stations take part, separated by commas" },
        { "--group", "G", "live: only members of this group take part",
          COUNT(0, LEAT_ATON_GROUPS_MAX - 1) },
        { "--sender", "HOW",
          "does the querying station take part? (unless given: in; with --only: if listed)",
          WORD("in out") },
        { "--fault", "FAULT", "simulated: bit, forget, leave or join:STATION@TIME", true },
        { "--seed", "N", "simulated: random seed of the operands", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--vcd", "FILE", "simulated, bit model: write waveforms; 1 ns is one bit time" },
        { "--record", "FILE", "simulated: write a recording, for leat view and leat export" },
        { "--out", "DEVICE", "where packets leave for the next station (unless given: --dev)" },
        { "--next", "MAC", "Ethernet address of the next station" },
        { "--previous", "MAC", "Ethernet address of the previous station" },
        { "--ring", "ID", "number of the ring", COUNT(0, UINT32_MAX), .preset = "1" },
        { "--address", "A", "address of this station on the ring", COUNT(0, LEAT_ATON_DA_ALL - 1) },
        { "--key-file", "FILE", "32 hex digits, mode 600, the same for all stations: packets have a MAC; a second key is accepted, too",
          .former = "--key" },
        { "--rate", "N", "packets a second of one sender (0: any)", COUNT(0, 1000000000),
          .preset = "100k" },
        { "--driver", "D", "how packets are handled (unless given: xdp if available)",
          WORD("xdp packet") },
        { "--allow", "GROUP", "users who may use this station without rights: a group's name or number" },
        OPTION_PROMETHEUS,
        OPTION_FOREGROUND,
        OPTION_CONFIG,
        { "--timeout", "TIME", "live: how long to wait",
          TIME(1000000000, UINT64_C(3600000000000000)), .unit = "ms", .preset = "1s" },
        { "--file", "FILE", "the octets of a file, - for standard input, instead of TEXT" },
        { "--count", "N", "number of messages", COUNT(1, UINT32_MAX),
          .preset = "1" },
        { "--every", "TIME", "R load: set it again at this interval, until interrupted",
          TIME(UINT64_C(1000000000000), UINT64_C(86400000000000000)), .unit = "s" },
    },
    .operands = "",
};
