/* The one table of verbs: help texts, manual pages and completion are all made from it. */
#include "tool.h"
#include <string.h>

static const struct verb verbs[] = {
    {
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
    },
    {
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
            "complete). The adaptation layers travel in cells: VPI and VCI are carriage.vpi and "
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
        .operands = "formats",
        .run = run_encode,
    },
    {
        .name = "export",
        .summary = "make captures, waveforms and traces of a recording",
        .synopsis = "RECORDING [--pcapng FILE] [--vcd FILE] [--perfetto FILE]",
        .description =
            "Reads the recording of a run (- is standard input) once and writes any of these, "
            "together or alone:\n"
            "--pcapng: the frames, an interface per lane and direction, for Wireshark and `leat "
            "decode`. --vcd: the values of signals, and for lanes the number of the innermost open "
            "span's name, in picoseconds, for GTKWave and Surfer. --perfetto: lanes as threads "
            "with their spans, instants, frames and flows, signals as counters, for "
            "ui.perfetto.dev and chrome://tracing.\n"
            "A file appears only when it is complete. A damaged recording, or one that was cut, is "
            "reported with the octet; the exit code is 2 and no file appears.",
        .options = {
            { "--pcapng", "FILE", "write a capture of the frames" },
            { "--vcd", "FILE", "write waveforms" },
            { "--perfetto", "FILE", "write a trace in JSON" },
        },
        .examples = "leat export run.leatrec --perfetto run.json\n"
                    "leat export run.leatrec --pcapng run.pcapng --vcd run.vcd",
        .run = run_export,
    },
    {
        .name = "fabric",
        .summary = "show what a fabric is made of, or how long messages take in it",
        .synopsis = "show FABRIC [--vpi] [--path SRC,DST] [--json] | list",
        .description =
            "show: the switches of a fabric, their links, and the paths between two ports with the "
            "label on each link, the PPD (input unit) and the SPD (output unit) of each switch.\n"
            "FABRIC is clos444, the 16 x 16 network of the thesis; clos:E,M,R, three stages of R "
            "switches ExM, M switches RxR, R switches MxE; or bmx:K, one switch KxK. Parameters "
            "follow with slashes: clos:8,15,8/buffer=4/clock=20MHz. list tells all of them.\n"
            "With --vpi the routing tables are shown too: label > output:new label, for each PPD. "
            "With --path only the paths of that pair are shown (SRC,all is a broadcast), and with "
            "--vpi as well the table entries that they use.\n"
            "The JSON object has fabric, stages, e, m, r, ports, paths, switches, ppds, spds, class, "
            "switching, table_depth, buffer_cells, period_ps (num, den), idle_cycles, spd_to_ppd, "
            "input_ports, output_ports, entry_format, entries_used_per_ppd, p2p_columns, p2p, "
            "broadcast, tables, and left_out: what is too much for a large fabric and comes with "
            "--path only. Labels are called vpi also where they are VPI and VCI together "
            "(switching vc).",
        .options = {
            { "--vpi", NULL, "show the routing tables" },
            { "--path", "SRC,DST", "show the paths of this pair only; DST may be all" },
            { "--json", NULL, "one JSON object, tables included" },
        },
        .examples = "leat fabric show clos444\n"
                    "leat fabric show clos444 --vpi\n"
                    "leat fabric show clos:64,64,64 --path 5,all --vpi\n"
                    "leat fabric list",
        .run = run_fabric,
    },
    {
        .name = "formats",
        .summary = "list the wire formats, or the fields of one",
        .synopsis = "[FORMAT] [--json]",
        .description = "One line per format: its name, where it travels, what it is. With FORMAT, "
                       "the fields that a packet of it has when none is given, with their values; "
                       "other kinds of packets have other fields, and `leat encode` names them "
                       "when one is misspelt.",
        .options = { { "--json", NULL, "one JSON object per format" } },
        .examples = "leat formats\nleat formats esp",
        .operands = "formats",
        .run = run_formats,
    },
    {
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
        .operands = "verbs",
        .run = run_help,
    },
    {
        .name = "unit",
        .summary = "run a unit bench of the ATM prototype",
        .synopsis = "ppd|spd|spdppd|bmx STIMULI [--cycles N] [--format thesis|jsonl] [--vcd FILE] "
                    "[-o TRACE]",
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
            "A JSON object per cycle has cycle and signals; numbers are whole, and datain is a "
            "string as the thesis prints it. An interrupted run keeps the cycles that it has done.",
        .options = {
            { "--cycles", "N", "how many cycles; else 128 after the last stimulus" },
            { "--format", "F", "jsonl (the default), or thesis: as its appendices print traces" },
            { "--vcd", "FILE", "write waveforms for GTKWave or Surfer; 1 ns is one cycle" },
            { "-o", "TRACE", "write the trace there, complete or not at all" },
        },
        .examples = "leat unit ppd ppd_success.stimuli\n"
                    "leat unit spdppd link.stimuli --format thesis --cycles 200\n"
                    "leat unit bmx switch.stimuli --vcd switch.vcd -o switch.jsonl",
        .run = run_unit,
    },
};

const struct verb *verb_at(size_t index)
{
    return index < sizeof verbs / sizeof *verbs ? &verbs[index] : NULL;
}

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    return NULL;
}
