/* leat ring: on a ring of real hosts, or on a simulated one. */
#include "ring_job.h"
#include "ring_live.h"

static int run_ring(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected sim, join, query or another word");
    if (!word_is_in(args->operand[0], args->verb->operands))
        return misuse(args->verb, "'%s', expected one of %s", args->operand[0],
                      args->verb->operands);
    const bool live = ring_is_live(args);
    if (live && argument(args, "--stations"))
        return misuse(args->verb, "--stations means a simulated ring, expected %s%s",
                      word_is_in(args->operand[0], RING_LIVE_WORDS)
                          ? "sim or an algorithm, not "
                          : "no --live and no --dev beside ",
                      args->operand[0]);
    return live ? ring_live(args) : ring_simulate(args);
}

const struct verb verb_ring = {
    .name = "ring",
    .summary = "the ATON ring: a packet that goes round computes",
    .synopsis = "sim --stations N --command C [OPTIONS] | join|leave|set|get|status|query|send|"
                "receive [--dev DEVICE] [OPTIONS] | ALGORITHM [--stations N | --live] [OPTIONS]",
    .description =
        "sim sends one command round a simulated ring of stations 1 to N: its result, what "
        "Counter and the two variables hold, the bit times that it took beside the closed form, "
        "and those of N-1 packets that bring the operands to one host. The models bit (every "
        "interface, every bit time) and word (one event per packet and interface) give the same "
        "results, times and certificate. JSON has command, stations, width, register, counter, "
        "variable1, variable2, packets, bit_times, bit_times_expected, host_based_bit_times, "
        "certificate; live: took_ns instead of times and certificate. --fault bit:3@100 damages "
        "the symbol that station 3 takes in at bit time 100; forget, leave and join are of "
        "stations. A damaged or lost packet is no answer: exit code 1. The exit code is also 1 if "
        "Counter shows that some stations did not take part; the missing stations are listed. "
        "With --disabled, --to or --quorum N fewer stations are enough.\n"
        "Algorithms with --stations run on a simulated ring: sort, majority, tree (--tree), "
        "average, gvt, elect, least-loaded (operands are loads in hundredths; random: up to "
        "4.00), work (the station with the highest priority is asked for work), barrier (operands "
        "are the bit times at which stations arrive; random: within 10000).",
    .topics = (const struct topic[]){
        { "live",
          "join makes this host a station of a live ring. Packets of Ethernet type 0x88B6 come in "
          "at --dev from the station --previous and leave at --out for the station --next; each "
          "station folds its register into them, in the kernel (XDP) or, without it, in a small "
          "process. The driver and the reason for it are printed. The station keeps running after "
          "the command ends; leave ends it, and another join takes over its registers, even after a "
          "crash. It needs root.\n"
          "set R VALUE stores to a register, 0 to 63; set R load stores this host's load average in "
          "hundredths, at least 1. set enabled off makes the station repeat commands only. set tree "
          "add,max,... says which operation each height of a tree has, the last for all above. get "
          "[R] prints registers. status prints the settings of join and what happened to every "
          "packet, by reason.\n"
          "query COMMAND sends one packet round: add, and, or, max, min, or eq, lt, le, which count "
          "the stations whose register x has V = x, V < x or V <= x (V: --value, else this "
          "station's own). A register gives its low --width bits. A command that fewer stations "
          "took part in than its packet passed ends with exit code 1, unless --to or --quorum N "
          "asks for fewer.\n"
          "Algorithms: least-loaded (register 1 unless another is named; 0 means a register that "
          "was never set, and is reported as such), sort, majority, tree, average, gvt (the "
          "minimum), barrier (raises this station's flag, bit 0 of the register, and waits until "
          "all are up), elect (the maximum's station), work (the same, and a message to that "
          "station: two octets, the address of the sender).\n"
          "send A TEXT sends a message to station A, or to all (the exit code is 1 if no station "
          "had room for it); receive prints what the mailbox of this station has, or the next that "
          "comes. It holds 64 KiB; each message goes to one receiver.\n"
          "Without --dev, the only station of this host is meant; algorithms then want --live. The "
          "exit code is 1 when no answer comes in time." },
        { NULL, NULL },
    },
    .options = {
        { "--register", "R", "0 to 63; default 0, least-loaded: 1" },
        { "--width", "W", "of operands: 16, 32 (the default) or 64 bits" },
        { "--value", "V", "eq, lt, le: compare with V" },
        { "--quorum", "N", "succeed if at least N stations take part; default: all" },
        { "--json", NULL, "print JSON" },
        RING_SIM_OPTIONS,
        RING_LIVE_OPTIONS,
    },
    .examples = "leat ring sim --stations 16 --command min\n"
                "leat ring sim --stations 4 --command add --model bit --vcd ring.vcd\n"
                "leat ring majority --stations 9 --operands votes.txt\n"
                "leat ring join --dev eth1 --address 3 --previous 02:00:00:00:00:02 --next "
                "02:00:00:00:00:04\n"
                "leat ring set 1 load --every 5\n"
                "leat ring least-loaded\n"
                "leat ring query min --register 3\n"
                "leat ring send 4 'any work?'\n"
                "leat ring receive --timeout 60000",
    .operands = RING_SIM_WORDS " " RING_LIVE_WORDS " " RING_LIVE_ALSO,
    .run = run_ring,
};
