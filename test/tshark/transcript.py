#!/usr/bin/env python3
"""A capture of all formats, written by leat from transcript.jsonl, opened by tshark with the
dissectors: its text must be transcript.txt. Then every checksum in it must turn bad when one bit of
it, or one bit that it covers, is flipped.

usage: transcript.py LEAT [--update]     --update writes transcript.txt anew
"""

import difflib
import sys
from pathlib import Path
from xml.etree import ElementTree

from containers import pcapng, read_pcapng
from support import (AAL_PREFERENCE, PACKETS, Checks, encode_capture, leat_of, need_tshark, tshark,
                     with_bit_flipped)

HERE = Path(__file__).resolve().parent
PROTOCOLS = ["leat_atm", "leat_aal1", "leat_aal2", "leat_aal34", "leat_aal5", "leat_atmtask",
             "leat_aton", "leat_atonserial", "leat_esp", "leat_packetway", "leat_poets"]

# checksum field -> the bit of a frame, counted from its start, that the checksum covers
COVERED_BIT = {
    "leat_atm.hec": 3 * 8 + 7,
    "leat_atm.crc": 20 * 8,
    "leat_aal1.crc": 5 * 8 + 3,
    "leat_aal2.crc": 20 * 8,
    "leat_aal34.crc": 20 * 8,
    "leat_aal5.crc": 46 * 8,
    "leat_atmtask.crc": 20 * 8,
    "leat_aton.crc": 6 * 8,
    "leat_esp.crc": 11 * 8,
    "leat_packetway.crc32": 16 * 8 + 7,
    "leat_packetway.crc64": 16 * 8 + 7,
}


def compare(checks, text, update):
    stored = HERE / "transcript.txt"
    if update:
        stored.write_text(text)
        print(f"wrote {stored}")
    expected = stored.read_text() if stored.exists() else ""
    lines = list(difflib.unified_diff(expected.splitlines(), text.splitlines(), str(stored),
                                      "tshark", lineterm=""))
    checks.check(not lines, "the text differs; if it is right, run with --update\n"
                 + "\n".join(lines[:60]))
    checks.check("[error:" not in text and "Lua Error" not in text, "a sound packet has an error")
    checks.check("POETS" in text, "no POETS packet")


def checksums_of(pdml):
    """(frame index, field, position of its last octet) of every checksum that tshark shows."""
    for index, packet in enumerate(ElementTree.fromstring(pdml).iter("packet")):
        for field in packet.iter("field"):
            if field.get("name") in COVERED_BIT:
                yield index, field.get("name"), int(field.get("pos")) + int(field.get("size")) - 1


def damage(packets, checksums):
    """Captured packets with one bit wrong in each, and what must be bad: (index, field, where)."""
    damaged, expected = [], []
    for index, name, last_octet in checksums:
        link, octets = packets[index]
        if name == "leat_aal5.crc":  # its position is in the PDU, which ends where the cell does
            last_octet = len(octets) - 1
        for bit in (8 * last_octet + 7, COVERED_BIT[name]):
            if name == "leat_aal5.crc":
                damaged.append(packets[index - 1])  # the PDU's first cell
            damaged.append((link, with_bit_flipped(octets, bit)))
            expected.append((len(damaged) - 1, name, f"frame {index + 1}, bit {bit}"))
    return damaged, expected


def check_flips(checks, capture):
    names = list(COVERED_BIT)
    pdml = tshark(capture, "-o", AAL_PREFERENCE, "-T", "pdml")
    damaged, expected = damage(read_pcapng(capture), checksums_of(pdml))
    fields = [argument for name in names for argument in ("-e", name + ".status")]
    rows = tshark(pcapng(damaged), "-o", AAL_PREFERENCE, "-T", "fields", *fields).splitlines()
    for index, name, where in expected:
        statuses = rows[index].split("\t")[names.index(name)]
        checks.check("0" in statuses.split(","), f"{where} flipped: {name} is not bad")
    for name in names:
        checks.check(any(name == found for _, found, _ in expected), f"no packet has {name}")


def main():
    need_tshark()
    update = "--update" in sys.argv
    leat = leat_of([argument for argument in sys.argv[1:] if argument != "--update"])
    checks = Checks()
    capture = encode_capture(leat, PACKETS.read_text())
    text = tshark(capture, "-o", AAL_PREFERENCE, "-V", "-O", ",".join(PROTOCOLS))
    compare(checks, text, update)
    check_flips(checks, capture)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
