/* The one table of verbs: help texts, manual pages and completion are all made from it. */
#include "verbs.h"
#include "esp_job.h"
#include "esp_live.h"
#include "pktway_ask.h"
#include "pktway_live.h"
#include "ring_job.h"
#include "ring_live.h"
#include <string.h>

static const struct verb verb_decode = {
    .name = "decode",
    .summary = "show the packets of a file, a capture or a pipe",
    .synopsis = "[--format F] [--json] [--nni] [--input hex|raw|capture] [FILE]",
    .description =
        "Reads hex text, raw octets, pcap or pcapng, told apart by content, and prints every "
        "packet as a tree with offsets. Without FILE, or with -, it reads standard input.\n"
        "In a capture, link type, Ethernet type, IP protocol or UDP port tell the format; "
        "what belongs to no format is passed over. With --format, only that format is shown. The "
        "adaptation layers lie in the user cells of a capture of ATM cells: aal1, aal2 and "
        "aal34 are shown cell by cell, aal5 is put together, on up to 256 channels at a time.\n"
        "In hex text each line is a packet; blanks, colons, commas, 0x and comments after # do "
        "not count. Raw octets are one packet, or as many as there are where the format tells "
        "its length (atm, aal1, aal2, aal34, atmtask, aton, esp).\n"
        "A JSON object has format, packet (its number; in a capture the frame's), fields and "
        "error: null, or code, offset and text. Captures add time_ns, via (ethernet, where "
        "the packet lay behind an Ethernet type) and, where it has a frame of its own, carriage. A damaged packet has its octets instead of fields (or "
        "its frame, where that is damaged). Numbers are whole and up to 64 bits; a character "
        "of a string is an octet.\n"
        "A damaged packet is reported with its offset and the reading goes on. The exit code "
        "is 2 for damaged hex text or raw octets and for a damaged file, 1 for a capture that "
        "holds damaged packets.",
    .options = {
        { "--format", "F", "the format of the packets; `leat formats` lists them" },
        { "--json", NULL, "one JSON object per packet: format, fields, error" },
        { "--nni", NULL, "cells are a network-network interface's: VPI of 12 bits" },
        { "--input", "KIND", "hex, raw or capture, where the content misleads" },
    },
    .examples = "leat decode --format esp packets.hex\n"
                "leat decode --json capture.pcapng\n"
                "leat encode esp opcode=COUNT compValTag=1 thresh=3 flags=X | leat decode "
                "--format esp",
    .run = run_decode,
};

static const struct verb verb_encode = {
    .name = "encode",
    .summary = "make packets from fields",
    .synopsis = "[FORMAT] [FIELD=VALUE...] [--json FILE] [--hex|--raw|--pcapng FILE]",
    .description =
        "Makes one packet from FIELD=VALUE words, or one from every JSON object in FILE (- is "
        "standard input): what `leat decode --json` prints goes in and the same octets come "
        "out. FORMAT may be left out where the objects name it.\n"
        "Fields not given have a default; lengths and checksums are computed, and passed over "
        "where they are given. Numbers are decimal, 0x hexadecimal or 0b binary; octets are "
        "hex digits. Nested fields are written with dots: log.text=hello, "
        "records.0.address=0x201.\n"
        "--hex, the default, prints a line per packet; --raw the octets; --pcapng writes a "
        "capture in which every format has its link type (a file appears only when it is "
        "complete; it may not be the input). The adaptation layers travel in cells: VPI and VCI are carriage.vpi and "
        "carriage.vci (default 0 and 32).",
    .options = {
        { "--json", "FILE", "read the fields from JSON objects" },
        { "--hex", NULL, "print hex text" },
        { "--raw", NULL, "print the octets" },
        { "--pcapng", "FILE", "write a capture" },
    },
    .examples = "leat encode esp opcode=COUNT compValTag=1 thresh=3 flags=X\n"
                "leat encode packetway dt=0x201 sa=0x101 pt=PVM data=010203 --pcapng out.pcapng\n"
                "leat decode --json capture.pcapng | leat encode --json - --pcapng copy.pcapng",
    .operands = "$formats",
    .run = run_encode,
};

static const struct verb verb_esp = {
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
        "lost). Announcements of the root are counted apart. Packets take the way of the "
        "shortest delay; every link loses, duplicates and holds back packets by chance.\n"
        "census, sum and average count children with COUNT and collect with COLLECT: with "
        "packets lost or duplicated their answer is wrong or never comes. The robust ones use "
        "RCHLD and RCOLLECT in rounds; an attempt in which a packet comes back with E, or in "
        "whose answer members are missing, is void and made again. max and min send values "
        "that improve. tree maps who is whose child and draws it. With --multicast duplicates "
        "are installed at the branch points first, and announcements go by them.\n"
        "JSON has service, members, routers, true_answer, esp_answer (null: none), right, end "
        "(answered, void, late), counted (members in the answer), rounds, attempts, voids, "
        "errors (packets with E), branches_missing, unplaced, seconds (simulated), packets and "
        "packets_per_link_max, the same for announcements (announce_) and by unicast "
        "(unicast_), with --multicast duplicates and install_packets, executed, aborted, "
        "store_full, lost, duplicated, reordered, certificate. "
        "Exit code 1: no answer; the reason is on standard error.",
    .more = {
        "route makes this host an ESP router on its devices: packets of Ethernet type 0x88B5, IP "
        "protocol 253 with Router Alert and UDP port 4253 that come in there are checked, "
        "executed at the stores that they name, and go on. By the driver xdp that happens in the "
        "kernel; by packet in a process with packet sockets, while routing rules keep the kernel "
        "from forwarding the originals; by udp in a process without any rights, which hears at "
        "--listen and sends on to --next-hop. The driver and the reason for it are printed. "
        "The router stays when the command ends; stop ends it. route again changes it, and keeps "
        "its stores where their sizes are the same, also after a crash.\n"
        "Packets take the kernel's routes, or --next-hop: of destinations in PREFIX (ADDRESS or "
        "ADDRESS/BITS; default: all) to a router's ADDRESS, or at once to a neighbour, "
        "DEVICE,MAC. bare=DEVICE,MAC says where frames of type 0x88B5 go on. In an overlay (udp) "
        "destinations are the router's own addresses. What is for this host is handed to it.\n"
        "status prints what became of all packets, by reason and by instruction, how full the "
        "stores are and how old the bindings. store prints the live bindings of a computation, "
        "trace packets as they pass. With --key-file the router answers queries for trees and "
        "makes copies for multicast; with --keyed-only it takes no computation whose ID is not "
        "made with that key. Limits: --rate, --port-share; see doc/security.md.",
        "join makes this host a member of GROUP (a number, or a name), until interrupted: it "
        "tells the root of itself again and again and sends its value when it is asked. In an "
        "overlay its packets go --via the first router. What is cast to the group is printed.\n"
        "census, max, min, sum, average ask all members that join within --wait, or --members as "
        "soon as there are so many; the answer comes in one packet or a few. sum and census "
        "count packets that come twice; --robust K repeats them in rounds and voids attempts in "
        "which something is missing, so that the answer is exact where packets are lost, doubled "
        "or late. tree draws which router is above which (needs --key-file; --dot for "
        "Graphviz). multicast lets the branch points copy, for the time --for, and sends TEXT to "
        "all. JSON has service, members, answer (null: none), end (answered, void, late), "
        "counted, rounds, attempts, voids, errors, branches_missing, unplaced, packets_sent, "
        "packets_received, seconds. Exit code 1: no answer, or not from all; what is missing is "
        "on standard error.",
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

static const struct verb verb_experiment = {
    .name = "experiment",
    .summary = "the measurements of the thesis, made anew",
    .synopsis = "echo|linear|matrix|contention [FILE] [--fabric F] [--sizes LIST] [--poll] "
                "[--model rtl|cell] [--json]",
    .description =
        "Runs the programs of the thesis (leat/atm_task.h) over the network, a process for each "
        "task, and measures them as it did.\n"
        "echo: the one-way delay of a message by its size, beside the closed form (T(N) of the "
        "thesis' network; T(N)-12 where cells cross a fabric in 12 cycles less) and what was "
        "published of clos444; its regression; r_max, the greatest throughput, in octets per cycle "
        "and "
        "in Mbit/s at lines of 155.52 and 622.08 Mbit/s; n_1/2, the octets that reach half of "
        "it; t_0, the delay of 4 octets.\n"
        "linear: a system of linear equations, one task for each coefficient (FILE, n lines of "
        "n+1 integers; default: the thesis' example 4, with its contention study). matrix: a "
        "product (FILE: the rows of A, a line `*`, the rows of B). Both tell what the program "
        "wrote, the cycle of the last message among its workers, the same where cells never "
        "meet, and the same by the thesis' rule: each message takes 193 cycles from the lock, "
        "receptions at a port are 40 cycles apart, tasks compute as long as they did.\n"
        "contention: that rule, applied to the records of a file, as `leat run --records` "
        "writes them and the thesis printed them.",
    .options = { { "--fabric", "F", "an ATM fabric; default clos444" },
                 { "--sizes", "LIST", "echo: octets, multiples of 4, commas between" },
                 { "--poll", NULL, "tasks poll for messages, every 81 cycles" },
                 { "--model", "M", "rtl or cell (default)" },
                 { "--obsolete", "CYCLES", "until a unit discards a message; default 40000" },
                 { "--descriptors", "N", "messages of a source at a time; default 32" },
                 { "--json", NULL, "as JSON" } },
    .examples = "leat experiment echo\n"
                "leat experiment echo --sizes 4,400,4000 --fabric bmx:8 --json\n"
                "leat experiment linear",
    .operands = "echo linear matrix contention",
    .run = run_experiment,
};

static const struct verb verb_export = {
    .name = "export",
    .summary = "make captures, waveforms, traces and tables of a recording",
    .synopsis = "RECORDING [--pcapng FILE] [--vcd FILE] [--perfetto FILE] [--csv FILE] "
                "[--otf2 DIR]",
    .description =
        "Reads the recording of a run (- is standard input) once and writes any of these, "
        "together or alone:\n"
        "--pcapng: the frames, an interface per lane and direction, for Wireshark and `leat "
        "decode`. --vcd: the values of signals, and for lanes the number of the innermost open "
        "span's name, in picoseconds, for GTKWave and Surfer. --perfetto: lanes as threads "
        "with their spans, instants, frames and flows, signals as counters, for "
        "ui.perfetto.dev and chrome://tracing. --csv: a line per event, for spreadsheets and "
        "scripts, with the columns time_ps, event (begin, end, instant, value, frame, leaves, "
        "passes, arrives, place, close), track, name (of a span, instant or place; the "
        "direction of a frame), value (of a signal), and of messages message (its number), peer "
        "(the track at the other end), length (also of frames) and tag. --otf2: an archive with "
        "a location per lane, spans as regions, messages as MPI_SEND and MPI_RECV in one "
        "communicator, signals as metrics, and no frames, for otf2-print and Vampir.\n"
        "Cells of W have no checksum, and those of fabrics that switch virtual channels no VPI that "
        "`leat decode` knows: it reports them as damaged.\n"
        "A file, or the folder of an archive, appears only when it is complete; files are "
        "different ones, none is the recording, and the folder is new, empty, or an archive that leat "
        "wrote before, which is replaced. A damaged recording, or one that was cut, is "
        "reported with the octet; the exit code is 2 and no file appears.",
    .options = {
        { "--pcapng", "FILE", "write a capture of the frames" },
        { "--vcd", "FILE", "write waveforms" },
        { "--perfetto", "FILE", "write a trace in JSON" },
        { "--csv", "FILE", "write a table of all events" },
        { "--otf2", "DIR", "write an OTF2 archive: DIR/traces.otf2" },
    },
    .examples = "leat export run.leatrec --perfetto run.json\n"
                "leat export run.leatrec --pcapng run.pcapng --vcd run.vcd\n"
                "leat export run.leatrec --csv run.csv --otf2 run.otf2",
    .run = run_export,
};

static const struct verb verb_fabric = {
    .name = "fabric",
    .summary = "show what a fabric is made of, or how long messages take in it",
    .synopsis = "list [--json] | show FABRIC [--vpi] [--path SRC,DST] [--json] | check FABRIC | "
                "draw FABRIC [-o F.svg] | time FABRIC [--bytes SIZES] [--json]",
    .description =
        "show: the switches of a fabric, their links, and the paths between two ports with the "
        "label on each link, the PPD (input unit) and the SPD (output unit) of each switch.\n"
        "FABRIC is clos444, the 16 x 16 network of the thesis; clos:E,M,R, three stages of R "
        "switches ExM, M switches RxR, R switches MxE; or bmx:K, one switch KxK. Parameters "
        "follow with slashes: clos:8,15,8/buffer=4/clock=20MHz. list tells all of them.\n"
        "With --vpi the routing tables are shown too: label > output:new label, for each PPD. "
        "With --path only the paths of that pair are shown (SRC,all is a broadcast), and with "
        "--vpi as well the table entries that they use.\n"
        "time: how long one message takes from host to host in the otherwise idle network, "
        "measured in the simulated network itself: from the cycle in which the sender asks for "
        "its AAL unit to the cycle in which the receiver has read the last octet. The table has "
        "the closed form beside it, for two different ports: T(N) of the prototype, whose cells "
        "cross three stages in 18 cycles, less or more what this fabric takes (T(N)-12 for one "
        "stage); with --json there is one "
        "object per size: bytes, cells, cycles, microseconds. Of fabrics that are not ATM, time "
        "measures from when a port is handed the message until all of it has arrived: bytes and "
        "microseconds.\n"
        "NAMES: clos:4,4,4 has the bus-matrix switches of the thesis, clos:4,4,4/switch=vc routers "
        "of flits; ring16 is a token ring, ring:16 routers in a circle. The first line of show and "
        "of leat sim names the kind. KIND:NAME leaves no doubt, KIND being atm, flits, aton, ether "
        "or packetway: atm:clos:4,4,4, flits:clos:4,4,4, aton:ring16, flits:ring16.\n"
        "The JSON object has fabric, stages, e, m, r, ports, paths, switches, ppds, spds, class, "
        "switching, table_depth, buffer_cells, period_ps (num, den), idle_cycles, spd_to_ppd, "
        "input_ports, output_ports, entry_format, entries_used_per_ppd, p2p_columns, p2p, "
        "broadcast, tables, and left_out: what is too much for a large fabric and comes with "
        "--path only. Labels are called vpi also where they are VPI and VCI together "
        "(switching vc).",
    .more = {
        "PACKETWAY networks join any of these: a FILE.yaml with sans (each with name, fabric, bias, "
        "mtu in words, quality), routers (each with name and at, a list of SAN.PORT) and, for the "
        "whole, forwarding (planned or address), cut_through (yes or no: a router sends on what "
        "has come in of a packet, where its SANs allow it; yes), buffer (packets of a half-router in each "
        "direction; 16) and times in ns: host_ns (a host makes a packet; 500), planned_ns and "
        "address_ns (a half-router decides, by a route or by its table; 200 and 5000), link_ns "
        "(between half-routers; 100). Port P of a SAN has the address bias + 1 + P. twosan and "
        "threesan are two of them.\n"
        "NETWORKS that are not ATM fabrics: list tells the topologies and their parameters, as in "
        "mesh:8,8/vcs=2/buffer=4 (mesh8x8 for short). FILE.edges is any graph: a line A B [CYCLES] "
        "for each wire, A > B for one way, parameters behind it (my.edges/routing=updown). "
        "FILE.yaml is a description with the keys topology, size, switch, vcs, buffer, flow, full, "
        "routing, wire, board, board-wire, pipeline, credit, iterations, terminals, clock, and for topology: graph "
        "routers, edges (a, b, cycles, one_way), hosts (the router of each terminal) and, with "
        "routing: table, table (at, to, by: routers).\n"
        "show tells routers, wires (each one way: a line of a mesh is two), class (non-blocking, rearrangeable or blocking), distances, "
        "and whether packets can deadlock: the circle of channels if there is one; --path the "
        "routers between two terminals, for several packets. check reads and builds a fabric and "
        "says what is wrong with it, by file and line, exit 2. draw makes a picture, up to 4096 "
        "routers.\n"
        "The JSON object of a network has fabric, topology, terminals, routers, wires, radix, "
        "board and board_wire (of those that have boards), class, distance_mean and distance_max (routers passed between terminals), switch, vcs, "
        "buffer, flow, full, pipeline, routing, deadlock (possible, smaller: found in a smaller "
        "one of its kind, channels, dependencies, cycle).",
    },
    .options = {
        { "--vpi", NULL, "show the routing tables" },
        { "--path", "SRC,DST", "show the paths of this pair only; DST may be all" },
        { "--bytes", "SIZES", "time: 4,1000,...; default: those of the thesis' table" },
        { "--model", "M", "time, ATM fabrics: rtl or cell (default)" },
        { "--from", "PORT", "time: of the sender; default 0" },
        { "--to", "PORT", "time: of the receiver; default the last" },
        { "-o", "FILE", "draw: the picture, complete or not at all" },
        { "--json", NULL, "one JSON object, tables included; time: one per size; list: one per line" },
    },
    .examples = "leat fabric time clos444 --bytes 4,1000,65000\n"
                "leat fabric time torus:4,4 --bytes 4,1000\n"
                "leat fabric show clos444\n"
                "leat fabric show clos444 --vpi\n"
                "leat fabric show clos:64,64,64 --path 5,all --vpi\n"
                "leat fabric list\n"
                "leat fabric show torus:8,8 --path 0,27\n"
                "leat fabric check share/fabrics/campus.yaml\n"
                "leat fabric draw fattree:4,2 -o tree.svg",
    .operands = "list show check draw time clos444 clos: bmx: mesh: torus:",
    .run = run_fabric,
};

static const struct verb verb_formats = {
    .name = "formats",
    .summary = "list the wire formats, or the fields of one",
    .synopsis = "[FORMAT] [--json]",
    .description = "One line per format: its name, where it travels, what it is. With FORMAT, "
                   "the fields that a packet of it has when none is given, with their values; "
                   "other kinds of packets have other fields, and `leat encode` names them "
                   "when one is misspelt.",
    .options = { { "--json", NULL, "one JSON object per format" } },
    .examples = "leat formats\nleat formats esp",
    .operands = "$formats",
    .run = run_formats,
};

static const struct verb verb_graph = {
    .name = "graph",
    .summary = "check, describe and run POETS applications",
    .synopsis = "check FILE [--no-handlers] [--dialect D] | info FILE [--instance ID] [--json] | "
                "run FILE [-j N] [--engine fabric:NAME] [--placement P] [--schedule S --seed N] [--rts latched|level] [--log LEVEL] "
                "[--instrument] [--until idle|stop|TIME] [--record FILE] [--snapshot FILE] [--json]",
    .description =
        "FILE is a POETS application in XML (- is standard input): of the Orchestrator (without a "
        "namespace) or of graph_schema (v4 and v3), told apart by the namespace. Handlers are C++14, "
        "compiled by c++ and kept by content in ~/.cache/leat/poets (XDG_CACHE_HOME/leat/poets), which "
        "nobody else may write to. They run with all your rights.\n"
        "check: all mistakes, up to 64, as FILE:LINE:COLUMN: CODE: what there is and what was "
        "expected. Handlers of types that have devices are compiled, but not run, and what the "
        "compiler says has the lines of FILE. The exit code is 2 where there is any mistake but a warning.\n"
        "info: types with their pins, structs and messages, devices by type, edges, how many edges "
        "devices have, and the memory that a run needs. The JSON object has file, dialect, graph_type, "
        "instance, messages (id, octets), device_types (id, kind, devices, properties, state: octets; "
        "inputs and outputs: name, message, octets, indexed, edges), devices, externals, edges, "
        "in_degree and out_degree (of devices: least, mean, most, and histogram: from, to, devices) "
        "and memory_octets. Octets are null where only a compiler knows them.\n"
        "run: compiles the handlers, says so if their code has not run here before, deals the devices "
        "to threads, and runs until the application exits, stops itself, fails, or is idle. Log lines and what the "
        "supervisor posts are on standard output (with --json on standard error). The exit code is 0 "
        "after success, a stop, or the time of --until; after idleness 0 for the Orchestrator's "
        "applications and with --until idle, else 1; 1 when the application failed.",
    .more = {
        "Without --schedule, N workers run as fast as they can and no order is promised. With one, "
        "the run is made of epochs: in an epoch each of 64 threads takes up to --quantum turns, and "
        "what it sends can be received in the next. fifo takes the oldest packet first, lifo the "
        "newest, random any of them (and sends before it receives half of the time), delay:P puts a "
        "packet off to the next epoch with chance P. The same file, schedule and seed are the same run "
        "every time, whatever -j is.\n"
        "--placement: which devices share a thread, and which threads a worker. block: equal shares in "
        "the order of the file; locality: devices that have edges together, where the file's order does "
        "not have them together already; random: anywhere, by --seed.\n"
        "--engine fabric:NAME: every packet between mailboxes crosses a simulated fabric, any that leat "
        "fabric list has: tinsel, tinsel:3,2, mesh:8,8, clos444, ring16, twosan, FILE.yaml. Each port has "
        "a mailbox with threads=64 threads, dealt in equal shares, and slots=448 slots to receive in; a "
        "packet waits at its source until a slot is kept for it. The host, with the supervisor, has a "
        "mailbox at port host=0. Threads take turns by a clock of mhz=240, and side by side: turn=32 "
        "cycles each, and receive=320 for a handler of a packet (and each OnInit and OnHardwareIdle), "
        "send=320 for OnSend, edge=64 for each packet that is sent (copy=1 for each flit within a "
        "mailbox), idle=320 for OnDeviceIdle. The host needs host=240 cycles for a packet, and idleness "
        "is known after detect=240. The time of --until is simulated. The run is the same every time, "
        "whatever -j is; a fabric that loses a packet ends it, exit 1.\n"
        "--engine mpi: mpirun -n 8 leat graph run FILE --engine mpi deals the threads to 8 processes, "
        "which may be on several machines; all must be able to read FILE. Supervisor, lines and results are "
        "those of rank 0; the answer is the same. It needs libleat-mpi.so, which is built where "
        "libopenmpi-dev is installed.\n"
        "--rts latched: a pin that ReadyToSend has named will send, whatever happens meanwhile (the "
        "Orchestrator's way); level: only if ReadyToSend still says so (graph_schema's).\n"
        "--record has the frames of `leat formats poets`: direction, hardware address and packet; with "
        "a schedule their times count turns of 240 MHz, with a fabric they are simulated, and the file is "
        "the same every time. --snapshot "
        "writes a GraphSnapshot with DevS and EdgeS, their states as JSON members; its orchestratorTime "
        "is epochs, or seconds (with a fabric simulated ones). Neither is there with --engine mpi.\n"
        "The JSON object has file, instance, dialect, rts, schedule, placement, cut_threads, "
        "cut_workers and cut_ranks (edges from one thread, worker or rank to another), engine, ranks, seed, workers, threads, devices, edges, reason (success, stopped, failed, idle, assertion, limit, interrupted), receives, sends, "
        "supervisor_packets, lines, epochs, states (a hash of the states of all devices and edges), "
        "dropped (by cause), load_seconds, compile_seconds, seconds, receives_per_second. With a fabric "
        "also fabric: name, mailboxes, threads_per_mailbox, slots, host_port, cycles (until all threads "
        "had stopped), ran_cycles (of the application, from barrier to end), simulated_us, threads and "
        "host (packets between threads, and from and to the host: packets, flits, waits for a slot, "
        "latency_cycles: mean, max), copied (packets within mailboxes), busiest_port (port, packets), "
        "and of networks hops_mean (routers passed by a flit) and busiest_wire (from, to, flits, use: "
        "the share of its cycles); certificate.",
    },
    .options = {
        { "--dialect", "D", "orch, v4 or v3, whatever the namespace says" },
        { "--instance", "ID", "of several graph instances this one" },
        { "--no-handlers", NULL, "check: compile nothing" },
        { "--json", NULL, "info, run: as JSON" },
        { "--engine", "E", "run: threads (default), of this machine; mpi, of all ranks that mpirun has started; or fabric:NAME, over a simulated fabric" },
        { "-j", "N", "run: workers, 1 to 256; default as many as there are processors, with mpi one in each rank" },
        { "--placement", "P", "run: block, locality or random; default locality, with a schedule block" },
        { "--schedule", "S", "run: free (default), fifo, lifo, random or delay:P" },
        { "--seed", "N", "run: of the schedule's chance, of a random placement, of a fabric's routing; 64 bits; default 1" },
        { "--quantum", "N", "run: turns in an epoch; default 16" },
        { "--rts", "R", "run: latched or level; default by the dialect" },
        { "--log", "LEVEL", "run: log lines up to this level; default 2" },
        { "--instrument", NULL, "run: write a table of counters for each thread, a row a second" },
        { "--output", "DIR", "run: for files of the supervisor and tables; default poets_output" },
        { "--until", "U", "run: idle, stop (idleness does not end it), or a time: 20s, 500ms, 200us" },
        { "--idle-steps", "N", "run: idle so often, with OnHardwareIdle each time, is the end; default 10" },
        { "--record", "FILE", "run: every packet as it is sent, pcapng, for leat decode and Wireshark" },
        { "--record-packets", "N", "run: at most so many of them; default 1000000" },
        { "--snapshot", "FILE", "run: the last states of devices and edges, as graph_schema's XML" },
        { "--compat", "KEYS", "run: as the original: hdr_pin_as_edge, reply_cnc0, reply_1flit, stop_ack=off, log_raw, fp32const", true },
        { "--cxxflags", "FLAGS", "run: more flags for the compiler" },
        { "--mailbox", "KEYS", "run, fabrics: threads=64, slots=448 to receive in, of each mailbox; host=0, the host's port", true },
        { "--cost", "KEYS", "run, fabrics: cycles: turn=32, receive=320, send=320, edge=64, copy=1, idle=320, host=240, detect=240; mhz=240", true },
    },
    .examples = "leat graph check plate.xml\n"
                "leat graph info plate.xml --json\n"
                "leat graph run plate.xml -j 2\n"
                "leat graph run plate.xml --schedule random --seed 7 --json\n"
                "leat graph run plate.xml --engine fabric:tinsel:2,2 --placement random\n"
                "mpirun -n 8 leat graph run plate.xml --engine mpi",
    .operands = "check info run",
    .run = run_graph,
};

static const struct verb verb_help = {
    .name = "help",
    .summary = "tell what leat does, or what one verb does",
    .synopsis = "[VERB] [--man] [--verbs] [--completion]",
    .description = "Prints help as text, as a manual page, or a completion script for bash.",
    .options = {
        { "--man", NULL, "a manual page instead of text" },
        { "--verbs", NULL, "the names of the verbs, one per line" },
        { "--completion", NULL, "a completion script for bash" },
    },
    .examples = "leat help decode\nleat help --man decode | man -l -",
    .operands = "$verbs",
    .run = run_help,
};

static const struct verb verb_pktway = {
    .name = "pktway",
    .summary = "PacketWay: half-routers between networks, planned routes, discovery",
    .synopsis = "ping|trace|plan NODE | tell WORD... | tables [ROUTER] | read NODE ADDRESS COUNT | "
                "write NODE ADDRESS OCTETS [--fabric F] [OPTIONS] | "
                "route --san SAN [--dev DEVICE] --san SAN... | host --san SAN | tun --san SAN --way IP=NODE... | "
                "memory --san SAN --allow WHO... | status | leave",
    .description =
        "With --fabric, a simulated PacketWay network is asked (leat fabric show twosan). A NODE is SAN.PORT, as in "
        "clos.15, or an address, as in 0x210. --from asks, the first host unless another is "
        "named, at the time --at.\n"
        "ping sends a message there and back: how many routers were on the way, how long it took, "
        "and, where EI tells of an error, which router saw it (--error-at west makes one). trace "
        "lists the routers that it passed, and when. Both go along a plan that the host asks for "
        "(GVL2), or with --by-address through the tables of half-routers.\n"
        "plan shows that plan: its routes by rising Q, each with its MTU and the octets of its "
        "L2RHs, which are the native routes of the SANs: the label of ATM fabrics, the station of "
        "token rings, the turns through switches, the MAC address of Ethernets. tell finds nodes "
        "by name=NAME, capability=CC[:P,P...] and address=A[-B]; a node that fits one of them is "
        "told. tables lists what "
        "half-routers know: the nodes of their SAN with their routes, and the tables that they "
        "have from others.\n"
        "--fault router:west@1ms..2ms takes a router from the network, link:west the link between "
        "its half-routers, errors:west makes it see errors; without @ from the beginning, without "
        "the second time for good.\n"
        "The exit code is 1 when nobody answers, or an ERR does.",
    .more = {
        "route makes this host a router of PacketWay: a half-router on each --san, twins of each "
        "other. It finds the nodes and other half-routers of its SANs by WRU? and INFO, exchanges "
        "tables with them, forwards by planned routes (L2) and by address (L3), and answers as "
        "RRP levels B, C and D say. With XDP the kernel forwards what simply goes on. The driver "
        "and the reason for it are printed; the router stays when the command ends, until leave.\n"
        "A SAN is a network device, or udp:ADDRESS[:PORT] for those without privileges, then "
        "words behind commas: bias=B and address=A (of this node, of the block B+1 to B+nodes), "
        "nodes=N (255), mtu=WORDS, peer=ADDRESS[:PORT] (UDP: who is asked first; again for more), "
        "buddy=A (only these are believed to be half-routers; again for more). Blocks of SANs "
        "must not overlap. With --dev, the device stands there, and --san begins with a letter or a "
        "number: --san A --dev eth0 is bias 0x100, B 0x200, and so on, and an address that is free. "
        "address=auto says the same elsewhere. An address that another node of the SAN has is "
        "refused; where two came at once, the first is believed, and status tells of the other.\n"
        "--key-file gives a SAN a key, of 32 hex digits in a file of mode 600: its nodes then believe "
        "control messages (RRP and ERR) only with a MAC by that key, made within a minute and seen "
        "once; others are refused and counted. All nodes of a SAN have the same key or none; one of route is for all SANs, "
        "several are for each in the order of --san, and none stands for no key. Data is not keyed.",
        "host makes this host a node that others find, reach and plan routes to; it answers "
        "echoes. ping, trace, plan and tell ask through it, or, with a --san of their own, as a "
        "node for a moment.\n"
        "ping sends echoes along a plan, or with --by-address through the routers' tables; where EI "
        "tells that a router saw an error, that router is named (of the way back, its number from "
        "here). Half-routers answer, too. ERR messages are shown. "
        "trace names the half-router that sends into each network on the planned way. plan "
        "shows the routes: quality, MTU in words and the native route of each hop. tell finds "
        "nodes by name=NAME, capability=CC[:P,P...] and address=A[-B]; several words are ORed.\n"
        "tun is a host with a TUN device (pw0) whose IP packets travel in messages (PT 21) to the "
        "node that --way has for their destination, and are taken only from the one it has for "
        "their source. Give the device its addresses: ip addr add 10.9.0.1/24 dev pw0.\n"
        "tables prints what a router knows: the nodes of each SAN and the tables of others. "
        "status prints what became of packets, by reason. leave ends a router or host. They are "
        "found by --name in this network namespace; only their user and root are answered, and only "
        "processes of root and of your own user are asked.",
        "memory is a host whose memory others read and write by MEM-READ and MEM-WRITE: --memory "
        "octets, zero at first, the first of them at --base. --allow says who may: r, w or rw, of "
        "a range (range=0x1000-0x1fff; else of all), for nodes (nodes=0x101-0x1ff; else for all). A "
        "request must lie within one of them, or nothing is done and ERR GENERAL is sent. Nodes "
        "are known by their source address, which nothing proves: do not lend what matters on a "
        "network where anybody may send.\n"
        "read shows COUNT octets from ADDRESS on of the memory of a node, write puts OCTETS there, "
        "as hex (cafe01) or text=TEXT, and reads them back, since a MEM-WRITE has no answer; with "
        "--blind only a MEM-READ of no octets follows, as where one may not read. Octets travel in "
        "as many messages as the MTU of the way makes necessary, each tried three times within "
        "--timeout. In a simulated network the host that is asked has 64 kilooctets for all, from "
        "address 0 on, and how long it took is simulated time.",
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

static const struct verb verb_report = {
    .name = "report",
    .summary = "make a page, a picture or a table of the runs of a sweep",
    .synopsis = "STORE [-o PAGE.html] [--png FILE] [--csv FILE] [--title TEXT]",
    .description =
        "Reads a store of `leat sweep`, also while a sweep writes to it, and writes any of these, "
        "together or alone:\n"
        "-o: a page that needs nothing but itself. For each traffic it has the mean latency, the "
        "throughput and the 99th percentile of latency against the offered load, a line per "
        "fabric: means over all seeds with bands of 95 % confidence (Student's t; with one seed, "
        "what the run says of itself), saturated points open and dashed. Beside them stand a "
        "table of where fabrics saturate and all points as numbers; then the fabrics themselves, "
        "drawn with the use of their wires as colour; where runs do not tell it (ATM fabrics, and "
        "networks of more than 8192 wires swept without --links) without colour, and it is said why; "
        "what was lost, rerouted or deadlocked; and the commands that make the runs again. "
        "A fabric that several sweeps of the store have is a line for each of them.\n"
        "--png: the same curves as a picture, by rsvg-convert (package librsvg2-bin). --csv: all "
        "runs, a line each, with every number and word of their results but lists (RFC 4180).\n"
        "A point counts as saturated if one of its runs is. Runs of ATM fabrics do not judge "
        "that themselves: one counts if less than 95 % of the cells had arrived that were "
        "offered a mean latency before its end.\n"
        "The same store gives the same octets. Files appear only when all are complete, and none "
        "may be the store. A page has at most 40 fabrics (of sweeps), 32 traffics, 256 sweeps "
        "and 65536 points, and draws 16 fabrics; --csv alone has no limit but 256 columns. A "
        "store that is none, empty, damaged or of a newer leat is refused with exit code 2.",
    .options = {
        { "-o", "FILE", "write a page in HTML" },
        { "--png", "FILE", "draw the curves as a picture" },
        { "--csv", "FILE", "write a table of all runs" },
        { "--title", "TEXT", "of page and picture; default: Fabrics under load" },
    },
    .examples = "leat report runs.sqlite -o report.html\n"
                "leat report runs.sqlite -o report.html --png curves.png --csv runs.csv\n"
                "leat report runs.sqlite --csv -",
    .run = run_report,
};

static const struct verb verb_ring = {
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
        "certificate; live: took_ns instead of times and certificate. "
        "--fault bit:3@100 damages the symbol that station 3 takes in at bit time 100; forget, "
        "leave and join are of stations. A damaged or lost packet is no answer: exit code 1. So is "
        "one that not all stations of the ring took part in, as Counter tells: those that are "
        "missing are named. --disabled, --to and --quorum N ask for fewer.\n"
        "Algorithms with --stations run on a simulated ring: sort, majority, tree (--tree), "
        "average, gvt, elect, least-loaded (operands are loads in hundredths; random: up to 4.00), "
        "work (the station with the highest priority is asked for work), "
        "barrier (operands are the bit times at which stations arrive; random: within 10000).",
    .more = {
        "join makes this host a station of a live ring. Packets of Ethernet type 0x88B6 come in "
        "at --dev from the station --previous and leave at --out for the station --next; each "
        "station folds its register into them, in the kernel (XDP) or, without it, in a small "
        "process. The driver and the reason for it are printed. The station stays when the "
        "command ends; leave ends it, and join again takes over its registers, also after a "
        "crash. It needs root.\n"
        "set R VALUE stores to a register, 0 to 63; set R load stores this host's load average "
        "in hundredths, at least 1. set enabled off makes the station repeat commands only. set tree add,max,... "
        "says which operation each height of a tree has, the last for all above. get [R] "
        "prints registers. status prints what was joined and what became of every packet, by "
        "reason.\n"
        "query COMMAND sends one packet round: add, and, or, max, min, or eq, lt, le with "
        "--value V (else this station's own): how many x have V = x, V < x, V <= x. A register "
        "gives its low --width bits. A command that fewer stations took part in than its packet "
        "passed ends with exit code 1, unless --to or --quorum N asks for fewer.\n"
        "Algorithms: least-loaded (register 1 unless another is named; 0 is a register that "
        "nobody has set, and told as such), sort, majority, tree, "
        "average, gvt (the minimum), barrier (raises this station's flag, bit 0 of the "
        "register, and waits until all are up), elect (the maximum's station), work (the same, "
        "and a message to that station: two octets, the address of who asks).\n"
        "send A TEXT sends a message to station A, or to all (the exit code is 1 if nobody had "
        "room for it); receive prints what the mailbox of this station has, or the next that "
        "comes. It holds 64 KiB; each message goes to one receiver.\n"
        "Without --dev, the only station of this host is meant; algorithms then want --live. The "
        "exit code is 1 when no answer comes in time.",
    },
    .options = {
        { "--register", "R", "0 to 63; default 0, least-loaded: 1" },
        { "--width", "W", "of operands: 16, 32 (the default) or 64 bits" },
        { "--value", "V", "eq, lt, le: compare with V" },
        { "--quorum", "N", "content with N stations that take part; default: all" },
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

static const struct verb verb_run = {
    .name = "run",
    .summary = "run a real program, of MPI, PVM or the thesis, over a simulated network",
    .synopsis = "--fabric F [-n N] [--compute none|measured[:SCALE]] [--placement P] "
                "[--contention] [--json [FILE]] [options] -- PROGRAM [ARGUMENT...]",
    .description =
        "Runs a dynamically linked Open MPI or PVM program as it is installed, without "
        "compiling it anew: its processes are plugged into the ports of a simulated network "
        "(leat fabric list; ring16 is a token ring, ether16 an Ethernet, twosan a PacketWay "
        "network "
        "of several), and "
        "what they send each other goes over it. mpirun starts those "
        "of MPI, its settings are seen to; those of PVM need no daemon, each port is a host, "
        "and up to 64 tasks may be spawned.\n"
        "Simulated time moves only while all processes wait, so every run is the same run: "
        "same output, same certificate. What the program measures itself (MPI_Wtime, "
        "gettimeofday, clock_gettime, sleep ...) is simulated time, which begins at one second; "
        "--real-clock leaves its clocks alone. Computing takes no time, or with "
        "--compute measured the time that the processor took, times SCALE; a look at the clock "
        "takes 20 ns, a poll in vain 100 ns.\n"
        "ATM fabrics carry messages as the thesis' adaptation layer does (T(N) of leat fabric "
        "time, for a message with its head of a few octets); networks carry them as packets of "
        "--packet-flits flits of --flit-bytes, one of them for the head.\n"
        "What a program does over and over is simulated once: where an ATM network, its units and "
        "all that is under way are as they were before, and the same messages are handed over in "
        "the "
        "same cycles, the same follows and is told again (replayed: messages). Times and "
        "certificate "
        "are those of --every-cycle, which simulates all.\n"
        "Programs that are linked with libleat-atm (leat/atm_task.h: the calls of the thesis) "
        "drive the adaptation layer units of an ATM fabric themselves. The first task starts the "
        "others, up to 1024 in all and 10 of a name at a port; what those print goes to standard "
        "error, behind their names.\n"
        "Behind the program's own output, standard error gets the simulated time, messages, "
        "octets, and for each task how long it waited. The JSON object (in FILE, named as "
        "--json=FILE or before the --; else on a line of its own on standard output, behind an "
        "empty line where it is a pipe or a terminal) has "
        "fabric, program, library, status (done, exit, deadlock, livelock, died, failed, lost, "
        "unrecorded or interrupted), reason (a text, or null), exit_code (of a program that ended "
        "by itself, "
        "or null), tasks, "
        "simulated_seconds, messages, bytes, certificate, "
        "wall_seconds, replayed, with --contention also contention_free_seconds, "
        "contention_seconds, reordered_tasks (those that receive from others in another order "
        "then) and, where the run takes longer without contention, contention_note, repeatable, "
        "not_repeatable_because (a list of reasons), "
        "and task: a list with task, port, seconds, waiting_seconds, messages_sent, "
        "bytes_sent, messages_received, bytes_received.\n"
        "Faults and errors on the lines are those of leat sim. Units of ATM fabrics repair what "
        "is lost; a message that is given up, or lost in a network, ends the run with the "
        "reason. Units resynchronise as in leat sim, unless --no-resync is given.\n"
        "--record writes what leat export makes timelines, captures and tables of: of each task "
        "what it waits in and computes, its messages with length and tag, those that have "
        "arrived and that it has not taken (inbox0 ...), those at each port (queue0 ...) and in "
        "the network (under_way); flits in the network, each time that it has told something; "
        "of ATM fabrics all cells. A message takes 40 to 80 octets of the file, a cell 120. "
        "What happened until a run failed or was interrupted is in it, too.\n"
        "A program that is killed, aborts, forks a process that communicates, closes descriptors "
        "of the MPI library, or whose tasks all wait for each other ends the run "
        "with exit code 1 and a reason; so does an ATM network that is locked, or has delivered "
        "nothing for longer than all its time-outs take; who waits for what is told. Tasks that "
        "poll wait as well: "
        "if they go on 1000 times and longer than --patience (simulated seconds, default 86400; 0: "
        "for ever), and no message is sent or received and no task starts or ends meanwhile, "
        "that is a deadlock.",
    .options = { { "--fabric", "F", "the network" },
                 { "-n", "N", "tasks, 1 to 1024; default: MPI one for each port, others one" },
                 { "--compute", "C", "none (default), measured, or measured:SCALE" },
                 { "--placement", "P", "cyclic (default), block, or ports as in 0,4,8" },
                 { "--contention", NULL, "run once more, in silence, without contention; compare" },
                 { "--json", "[FILE]",
                   "what came of it as JSON, to FILE or behind the program's output" },
                 { "--patience", "S", "seconds without a message until polling is a deadlock" },
                 { "--record", "FILE", "what tasks and network do, for leat export" },
                 { "--real-clock", NULL, "the program's clocks stay real" },
                 { "--library", "L", "mpi, pvm or atm, where it cannot be seen from the program" },
                 { "--model", "M", "of ATM fabrics: rtl or cell (default)" },
                 { "--every-cycle", NULL, "ATM: simulate all of it, also what repeats itself" },
                 { "--flit-bytes", "N", "networks: of a flit; default 16" },
                 { "--packet-flits", "N", "networks: of a packet at most; default 16" },
                 { "--fault", "F", "networks: as in leat sim; may be given again", true },
                 { "--fault-file", "FILE", "networks: a fault per line" },
                 { "--forwarding", "F", "PacketWay: planned (routes, default) or address" },
                 { "--cut-through", "C", "PacketWay: yes (default), or no: packets are stored" },
                 { "--flit-bits", "N", "networks: of a flit, for bit errors; default 64" },
                 { "--bit-errors", "H,P", "ATM: chances per bit of header and of payload" },
                 { "--lose", "CHANCE", "ATM: that a cell is lost" },
                 { "--insert", "CHANCE", "ATM: that a stray cell follows a cell" },
                 { "--duplicate", "CHANCE", "ATM: that a cell is duplicated" },
                 { "--hec", NULL, "ATM: headers are protected on the lines" },
                 { "--dead", "PORTS", "ATM: PORT or PORT@FROM..TO, with commas between" },
                 { "--retransmit", "CYCLES", "ATM: until a cell is sent again; default 400000" },
                 { "--transmissions", "N", "ATM: of a cell, until it is given up; default 8" },
                 { "--no-resync", NULL, "ATM: after that no way back, as in the prototype" },
                 { "--obsolete", "CYCLES", "ATM: until a unit discards a message; default 40000" },
                 { "--descriptors", "N", "ATM: messages of a source at a time; default 32" },
                 { "--poll", NULL, "leat/atm_task.h: tasks poll, as in the thesis" },
                 { "--records", "FILE", "leat/atm_task.h: what tasks sent and received, CSV" } },
    .examples = "leat run --fabric clos444 -n 2 -- NPopenmpi\n"
                "leat run --fabric mesh:4,4 -- hello.pvm\n"
                "leat run --fabric torus:4,4 -n 16 --contention -- ./my_mpi_program",
    .run = run_run,
};

static const struct verb verb_unit = {
    .name = "unit",
    .summary = "run a unit bench of the ATM prototype",
    .synopsis = "ppd|spd|spdppd|bmx STIMULI | aal [SCHEDULE] [--cycles N] "
                "[--format thesis|jsonl] [--vcd FILE] [-o TRACE]",
    .description =
        "Steps units of a bus-matrix switch at register level, one network cycle at a time, and "
        "shows every signal after each: ppd is an input unit with four crosspoint memories "
        "behind it, spd an output unit with four before it, spdppd an output unit that feeds an "
        "input unit, bmx a switch of four inputs and four outputs.\n"
        "STIMULI (- is standard input) begins with the keyword inputs; then follow signals, each "
        "with its name in a line and lines of a cycle, counted from 1, and a value. A value "
        "holds until the next. Those of byte, fifo, wadr and datain are hexadecimal, all others "
        "decimal; byte and fifo take a longer value as a stream, one byte per cycle, and fifo "
        "pushes each byte into a memory. The keyword outputs and what follows it may be there "
        "and does not matter, nor does what follows #.\n"
        "ppd: byte byteind tstppd.trsltab.wadr tstppd.trsltab.datain "
        "tstppd.xpm_dst[0..3].head|tail|size. spd: fifo0..3 suspend. spdppd: fifo0..3 and ppd's "
        "tstppd signals. bmx: byte0..3 byteind0..3 suspend0..3 tstppd.trsltab.wadr0..3 "
        "tstppd.trsltab.datain0..3 tstppd.trsltab.wcmd0..3. In ppd and spdppd, an entry for wadr "
        "or datain writes the table in that cycle.\n"
        "aal runs the whole 16 x 16 network with its adaptation layer units and shows those "
        "that a schedule names; without one, the thesis' test of two messages from port 1 to "
        "port 5. SCHEDULE has the keyword inputs, then units (aal34[1]), each with the orders "
        "of its host in lines: the earliest cycle, and initsend, putnint 285, putnfloat 1.5 "
        "(also short, long, dfloat, cplx, dcplx), putbytes 0a1b, putstring \"text\", setdst 5 "
        "or broadcast, snd NAME INSTANCE ID (instance -1: all), rcv NAME INSTANCE ID [poll], "
        "getnint [COUNT] and so on, getbytes COUNT, getstring. Orders follow one after the "
        "other. The keyword outputs is followed by the units that are shown, each with a "
        "number of blocks (default 2); without it those under inputs are shown. What hosts get "
        "is told on standard error. Cycle 0 is reset; by default a run ends 128 cycles after "
        "the last thing happened, at most after 100,000.\n"
        "A JSON object per cycle has cycle and signals; numbers are whole, and datain is a "
        "string as the thesis prints it. An interrupted run keeps the cycles that it has done. "
        "Trace and waveform appear together or not at all, and neither may be the input.",
    .options = {
        { "--cycles", "N", "how many cycles, to 100000128; else 128 after the last stimulus or event" },
        { "--format", "F", "jsonl (the default), or thesis: as its appendices print traces" },
        { "--vcd", "FILE", "write waveforms for GTKWave or Surfer; 1 ns is one cycle" },
        { "-o", "TRACE", "write the trace there, complete or not at all" },
    },
    .examples = "leat unit aal --format thesis\n"
                "leat unit ppd ppd_success.stimuli\n"
                "leat unit spdppd link.stimuli --format thesis --cycles 200\n"
                "leat unit bmx switch.stimuli --vcd switch.vcd -o switch.jsonl",
    .operands = "ppd spd spdppd bmx aal",
    .run = run_unit,
};

static const struct verb *const verbs[] = {
    &verb_decode,  &verb_encode, &verb_esp,   &verb_experiment, &verb_export, &verb_fabric,
    &verb_formats, &verb_graph,  &verb_help,  &verb_pktway,     &verb_report, &verb_ring,
    &verb_run,     &verb_sim,    &verb_sweep, &verb_unit,
};

const struct verb *verb_at(size_t index)
{
    return index < sizeof verbs / sizeof *verbs ? verbs[index] : NULL;
}

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}
