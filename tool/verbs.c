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
