/* leat sim: a network under load, at one of two granularities. */
#include "contracts.h"
#include "fabric.h"
#include "fabric_atm.h"
#include "sim.h"

/* Warnings about a completed run. */
static int judge(const struct sim_job *job, const struct sim_result *result)
{
    if (!job->check_load && !job->aal.resync && result->gaps)
        complain("%s: %llu streams (a port to another) wait for cells that were given up: nothing "
                 "comes through them any more (without --no-resync they come back)",
                 job->name, (unsigned long long)result->gaps);
    if (!result->locked) return DONE;
    if (result->dead)
        complain("%s: deadlock: nothing moves any more (last delivery in cycle %llu): full buffers "
                 "wait for each other",
                 job->name, (unsigned long long)result->last_delivery_at);
    else
        complain("%s: deadlock: %u ports wait for each other, while others go on", job->name,
                 result->locked);
    return FAILED;
}

int sim_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct sim_job job;
    struct sim_result result;
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    const char *contracts = argument(args, "--contracts");
    if (contracts) return run_sim_contracts(args, atm, contracts);
    if (!sim_read_job(args, atm, &job)) return WRONG;
    if (args->only_check) return DONE;
    const int outcome = sim_run(&job, &result);
    if (outcome != DONE && result.cycles == 0) return outcome;
    (job.json ? sim_put_json : sim_put_text)(&job, &result);
    const int code = finish(outcome);
    return code == DONE ? judge(&job, &result) : code;
}

static int run_sim(const struct arguments *args)
{
    if (args->operand_count != 1)
        return misuse(args->verb, "expected one fabric, as in leat sim clos444");
    struct leat_fabric *fabric = fabric_read(args->verb, args->operand[0]);
    if (!fabric) return WRONG;
    const struct fabric_verbs *verbs = fabric_verbs_of(fabric->kind);
    const int code = !fabric_has_options(args, fabric)
                         ? WRONG
                         : (verbs->sim ? verbs->sim : sim_ports)(args, fabric);
    leat_fabric_close(fabric);
    return code;
}

/* ---- help ------------------------------------------------------------------------------------ */

static const char about_traffic[] =
    "All fabrics: uniform (to any other port; in networks of switches a terminal may also send to "
    "itself), permutation (each port to one fixed port), hotspot (a quarter to port 0; in networks "
    "of switches --hot percent to terminal 0), broadcast (to all others), bursty (ten messages to "
    "one port, on average; in networks of switches --burst packets back to back, then silence).\n"
    "Networks of switches also: transpose, bit-reverse, bit-complement, shuffle, tornado, "
    "neighbour; trace (--trace FILE, with CYCLE SOURCE DESTINATION [FLITS] per line); and the "
    "collectives all-to-all, allreduce and broadcast-tree, which wait for what they receive. "
    "--rounds says how many collectives; leat reports the time of a round. Traces and --rounds "
    "are finite: the run ends with the last packet, or after --cycles, and then reports what did "
    "not fit.\n"
    "ATM fabrics also: W, the check workload. Plain sources and sinks of cells replace AAL units "
    "and hosts. Its --load is the probability per cycle that an idle source starts a cell, in "
    "hundredths; 0.1 already fills most of a line.\n"
    "Messages arise at random at every port. A --load of 1 means: ATM fabrics, their cells would "
    "fill the line of the port; networks of switches, one flit per terminal and cycle; token "
    "rings, the capacity of the ring without a token, which cannot be reached; Ethernets, the "
    "cable of every station is full; PacketWay, 10 Mbit/s from every host.";

static const char about_atm[] =
    "An ATM fabric has an AAL unit and a host at every port. --model rtl simulates every register "
    "of every switch; cell simulates an event per cell and hop. Both have the same deliveries in "
    "the same cycles and the same certificate.\n"
    "A host writes or reads 4 bytes in 19 cycles, one thing at a time. A message keeps its "
    "descriptor until --obsolete cycles after it is complete. So one pair of ports carries at most "
    "--descriptors messages in --obsolete cycles: permutations and small fabrics reach this limit "
    "first. --bytes is at most 67912, less with smaller --blocks.\n"
    "A cell that is not acknowledged after --transmissions is given up, and its message with it. "
    "The sender notifies the receiver by RESYNC cells until it answers (a new one every "
    "--retransmit cycles, with growing intervals if nothing else is sent). The receiver then "
    "continues after the gap: every message is read once, or counted as given up. With "
    "--no-resync, as in the prototype, the receiver waits for that cell forever, and so does "
    "everything behind it.\n"
    "ATM fabrics can deadlock: a full port blocks the cells for it, its acknowledgements wait "
    "behind such cells, and without "
    "them it never has room. The run then ends with exit code 1 and the reason, even if other "
    "ports still make progress. leat reports a deadlock after --obsolete and some 65000 cycles "
    "without progress, multiplied by the number of ports if others make progress.\n"
    "--record writes cells and messages for leat export.";

static const char about_networks[] =
    "Networks of switches (leat fabric list: meshes, tori, trees, switches of other architectures, "
    "graphs of your own) carry packets of --flits flits, a flit per wire and cycle.\n"
    "leat detects the warm-up, or --warmup gives it; traces and --rounds have none. Throughput and "
    "latency (from a packet's creation to its last flit) are measured after it, with 95 % "
    "confidence intervals. A network is saturated if the queues at its sources grow.\n"
    "leat refuses a network whose routing could deadlock, and shows the cycle of channels. With "
    "--unsafe it runs; if it deadlocks, in whole or in part, leat lists the buffers that wait for "
    "each other and exits with 1. A collective that lost a packet ends with exit code 1.";

static const char about_others[] =
    "Token rings: ringN, as in ring16/propagation=5/packet=1024/clock=4MHz/model=bit, has N "
    "stations. Messages of --bytes go in passive packets, one at each capture of the token; cycles "
    "are bit times. priority=0:7,4-7:2 gives packets of port 0 priority 7 at the token, those of "
    "ports 4 to 7 priority 2 (reservations with a stack, as in IEEE 802.5); leat reports the "
    "latency of each priority. --idle min@10000 lets station 1 run the command min in idle time, "
    "10000 bit times after the previous one; add, and, or, max, eq, lt and le work, too.\n"
    "Ethernets: etherN, as in ether16/rate=1000/frame=1500/buffer=64, is a switch with N stations, "
    "full duplex at rate Mbit/s (100). Messages of --bytes go in IEEE 802.3 frames with at most "
    "frame octets of payload; cycles are bit times. Nothing is lost: stations wait for room in the "
    "switch.\n"
    "PacketWay networks (twosan, threesan and FILE.yaml with sans: and routers:) are SANs of any "
    "kind joined by half-routers; cycles are nanoseconds. leat reports the latency of pairs within "
    "a SAN and across SANs. --forwarding address uses no planned routes. With --cut-through no, "
    "routers store packets before they forward them.";

static const char about_faults[] =
    "ATM fabrics have errors on the lines between hosts and network. Chances are written as 0.001 "
    "or 1e-6, in steps of 1e-9. One rate for --bit-errors is that of header and payload. --dead "
    "3,5@1000..2000 takes port 3 from the network for good and port 5 from cycle 1000 up to 1999; "
    "5@1000 takes it from there on for good. There are at most 64 of them.\n"
    "Networks of switches take any number of --fault, or --fault-file with one per line: "
    "link:3-7@1000..5000 (routers 3 and 7, both ways; 3>7 one way; without @ always), "
    "flap:3-7@1000..5000/200,100 (up 200 cycles, down 100), router:5@.., port:5@1000.. (a terminal "
    "is dead), ber:1e-6 or ber:3-7:1e-6 (per bit; a flit has --flit-bits). Packets that span a "
    "wire when it breaks are lost. updown, adaptive and table routing reroute around broken wires; "
    "other routing loses the packets that would cross them.\n"
    "PacketWay networks: --fault is router:NAME, link:NAME (between its half-routers) or "
    "errors:NAME (it sees errors: EI), with @FROM..TO, as in router:west@1ms..2.5ms.";

static const char about_json[] =
    "--json prints one object. ATM fabrics: fabric, model, traffic, load, seed, cycles (those that "
    "were run), cycle_ns (how long one takes), cells_offered (cells of all messages that have "
    "arisen; W: cells that were sent in full), cells_delivered (cells of all messages that have "
    "been read, at each port that a broadcast reaches; W: cells that have arrived), "
    "messages_delivered (W: 0), throughput (cells delivered per port and cell time of 53 cycles), "
    "latency_cycles with mean, p50, p99 and max (from the cycle in which a message arises to that "
    "in which it has been read; W: from the first try to send a cell to its last octet; p50 and "
    "p99 are exact below 4096 and at most a 256th too high above), last_delivery_cycle (if long "
    "before the end: the network is deadlocked, or everything waits for a timer), suspensions "
    "(cells refused by switches), retransmissions (cells sent again by AAL units), port_refusals "
    "(cells refused by full hosts), unrouted (cells whose label lies outside the routing table), "
    "certificate, delivery_hash (W only), wall_seconds and cycles_per_second.\n"
    "saturated is true if the queues at the hosts grow (null with W); saturation says why. "
    "deadlock is null, or lists the ports that are full and cannot send, each with since_cycle.\n"
    "AAL units add bytes, messages_offered, and of cells: acks (acknowledgements sent), parked "
    "(ahead of a lost one), beyond (too far ahead, not acknowledged), duplicates (received again), "
    "bad_cells (wrong checksum), misdelivered (for another port), undeliverable (given up after "
    "--transmissions); of messages: messages_given_up (a cell of them was), given_up_delivered (of "
    "these, read nevertheless: acknowledgements were lost), cut_short (dropped by their receiver, "
    "which had a part of them); of streams (a port to another, point to point or broadcasts): "
    "resynchronised, unsynchronised (they wait for a cell that was given up); of messages again: "
    "discarded (obsolete), discarded_unread (of these, never read), altered (not what was sent), "
    "messages_duplicated, messages_unreadable (their header is damaged).\n"
    "lines counts what happened to cells between hosts and network, in both directions: cells "
    "(all; null if the lines have no errors, since nothing is counted then), header_bits and "
    "payload_bits (flipped), damaged, lost, inserted, duplicated, outage (lost at dead ports), "
    "hec_corrected, hec_discarded, header_wrong (passed with a wrong header), undetected (damaged, "
    "but the checksum is right; each line counts for itself, so a cell that one line damages and "
    "the next restores is counted), no_room (extra cells for which the host had none).\n"
    "Networks of switches have these keys as far as they apply (cells are flits, messages packets, "
    "suspensions the cycles in which a flit waited for room ahead, retransmissions 0; what was not "
    "measured is null) and flits, messages_offered, messages_waiting, throughput_ci95, "
    "latency_cycles.ci95, hops_mean (routers passed), warmup_cycles, settled, done (finite "
    "traffic: all of it was delivered), saturated, saturation (why), lost (packets: no_room, "
    "no_way, cut, corrupted), rerouted, deadlock (null, or the buffers), rounds (count, asked, "
    "mean, min, max: collectives), trace (packets, not_begun), fairness (packets delivered of the "
    "source with fewest and most), links (with --links: flits over each wire, by output port), "
    "flit_hops and flit_hops_per_second.\n"
    "PacketWay networks have fabric, forwarding, cut_through, traffic, load, bytes, seed, cycles, "
    "ports, messages_offered, messages_delivered, messages_waiting, messages_lost, throughput "
    "(Mbit/s of each host), latency_cycles, within_cycles and across_cycles (mean, p50, p99, max, "
    "count), counts (packets, passed, cut, lost, control, tables, failures, waits, stuck) and "
    "certificate.\n"
    "leat help sim contracts describes the object of --contracts.";

static const char about_contracts[] =
    "--contracts FILE lists connections of an ATM fabric with their traffic contracts, one per "
    "line: name from=PORT to=PORT class=cbr|vbr-rt|vbr-nrt|abr|ubr pcr=RATE scr=RATE mbs=CELLS "
    "mcr=RATE cdvt=TIME clr=RATIO ctd=TIME cdv=TIME source=greedy|random|excess:FACTOR "
    "police=drop|tag|off shape=on|off path=K. It may list ports: port N|all buffer=CELLS clp=CELLS "
    "nrt-buffer= nrt-clp= best-buffer= efci= w=. Rates are cells/s, kb/s or Mb/s of whole cells, "
    "times ns, us, ms or cells. There are at most 1024 connections.\n"
    "Admission control decides on each connection. Those refused are listed with the reason and "
    "do not send, unless --admit all. leat shows the service of each against its contract: cells "
    "sent, dropped by the policer, tagged, lost in queues, delivered, in flight at the end (in a "
    "shaper, a queue or the network); loss ratio, transfer delay, delay variation, throughput, "
    "kept or broken.\n"
    "Only --cycles, --seed, --model and --json go with it.\n"
    "The JSON object has fabric, model, seed, cycles, certificate, suspensions, admitted and "
    "refused "
    "(how many), kept (all contracts) and connections. Each of these has its contract as it was "
    "read, admitted, promised (ctd_us, cdv_us; share, in cells/s, where best effort or tagged "
    "cells have one), reason (null, or link, number, criterion, unit, needed, available, "
    "connection: who would suffer, text), and what was counted: sent, shaper_lost, dropped (by the "
    "policer), tagged, lost (in queues) and delivered, with tagged_lost and tagged_delivered "
    "counted separately, and in_flight (sent minus all others); clr, ctd_us (max, mean) and cdv_us "
    "as measured, throughput (cells/s); with ABR acr (cells/s), marked (cells with EFCI) and "
    "rm_sent, rm_returned, rm_lost; kept, null where it did not send.";

const struct verb verb_sim = {
    .name = "sim",
    .summary = "simulate a network under load",
    .synopsis = "FABRIC [--traffic T] [--load L] [--cycles N] [--seed S] [--json] [options]",
    .description =
        "Simulates a network under load, cycle by cycle, and reports throughput and latency. `leat "
        "fabric list` shows the networks. The certificate, a hash over all deliveries with their "
        "times, is the same for every run with the same seed.\n"
        "Messages of --bytes, or packets of --flits, arise at random at every port and fill the "
        "share --load of its line. Cycles are those of the fabric: of its clock, bit times of "
        "token rings and Ethernets, nanoseconds of PacketWay networks. An interrupt ends the run "
        "with the figures so far.",
    .topics =
        (const struct topic[]){
            { "traffic", about_traffic },
            { "atm", about_atm },
            { "networks", about_networks },
            { "others", about_others },
            { "faults", about_faults },
            { "contracts", about_contracts },
            { "json", about_json },
            { NULL, NULL },
        },
    .options = {
        { "--traffic", "T", "uniform, permutation, hotspot, broadcast, bursty; more: leat help sim "
                            "traffic",
          .words = SIM_TRAFFIC, .preset = "uniform" },
        { "--load", "L", "share of a port's line", SHARE(SIM_LOAD_DECIMALS),
          .preset = "0.5 (networks of switches and Ethernets 0.1, PacketWay 0.05)" },
        { "--seed", "S", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--json", NULL, "one JSON object" },
        OPTIONS_OF_A_RUN,
        { "--trace", "FILE", "packets as a file lists them", .kinds = "flits" },
        { "--rounds", "N", "of a collective",
          COUNT(1, UINT32_MAX), .preset = "as many as fit in --cycles", .kinds = "flits" },
        { "--idle", "C@BITS", "station 1 runs command C in idle time, BITS bit times after the "
                              "previous one, as min@10000",
          .kinds = "aton" },
        OPTIONS_OF_PACKETWAY,
        { "--contracts", "FILE", "connections with contracts in place of --traffic", .kinds = "atm" },
        { "--admit", "WHO", "which connections of --contracts send", WORD("checked all"),
          .preset = "checked", .kinds = "atm" },
        { "--record", "FILE", "write a recording for leat export", .kinds = "atm" },
    },
    .examples = "leat sim clos444 --load 0.8 --cycles 1e6 --seed 7\n"
                "leat sim mesh:8,8 --load 0.3 --flits 4\n"
                "leat sim torus:8,8/routing=adaptive --fault link:3-4@5000.. --json\n"
                "leat sim clos444 --traffic W --load 0.6 --cycles 20000 --model rtl --json\n"
                "leat sim clos:8,15,8/buffer=4 --traffic bursty --bytes 1000 --loss 1e-5\n"
                "leat sim clos444 --contracts office.contracts\n"
                "leat sim crossbar:16/switch=voq/iterations=4 --load 0.9",
    .operands = "$fabrics",
    .run = run_sim,
};
