#!/usr/bin/env python3
"""Fields and enumerations have one name: what `leat decode --json` prints for a packet, tshark with
the dissectors shows too. Tried with every value that an enumeration of ours can have.

usage: names.py LEAT
"""

import json
import re
import sys

from support import (AAL_PREFERENCE, CHANNELS, PACKETS, Checks, decode_capture, encode_capture,
                     frames_of, leat_of, need_tshark, tshark)

# Lists and objects whose items stand for themselves; leat's crc is crc32 or crc64 in PacketWay.
SHOWN_BY_CONTENT = {"leading", "kind", "records", "routes", "addresses", "log", "instr", "cpcs",
                    "abort", "crc"}


def every_value():
    """Packets, as fields, with each value of each enumeration."""
    for pt in (0, 1, 2, 3, 7):
        yield "atm", {"vci": 40, "pt": pt}
    for code in range(256):
        oam = {"type": code >> 4, "function": code & 15}
        yield "atm", {"vci": 40, "pt": 4 + code % 2, "oam": oam}
        yield "poets", {"class": "CTL", "opcode": code}
    for it in range(4):
        yield "aal2", {"it": it}
        yield "aal34", {"st": it}
    for kind, flag in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 4)):
        yield "atmtask", {"vpi": 4, "type": kind, "flag": flag}
    for opcode in range(1, 12):
        yield "aton", {"opcode": opcode}
        yield "atonserial", {"opcode": opcode}
    yield "atonserial", {"token": True}
    yield "atonserial", {"active": False, "octets": "68656c6c6f"}
    for op in (*range(1, 7), *range(0x11, 0x17)):
        yield "esp", {"opcode": "COMPARE", "op": op}
    for op in (*range(1, 8), 0x12, 0x13, 0x17):
        yield "esp", {"opcode": "RCOLLECT", "op": op}
    for bits in range(16):
        yield "esp", {"opcode": "NOP", "flags": bits, "loc": bits % 8}
    for code in range(10):
        yield "esp", {"opcode": "ANNOUNCE", "service": code, "valueFrom": code % 3, "valueShift": 7 * code}
        yield "esp", {"opcode": "INSTALLED", "result": code % 4}
        yield "esp", {"opcode": "QUERY", "store": 1 << code % 3}
        yield "esp", {"opcode": "JOIN", "has": code % 2}
        yield "esp", {"opcode": "WELCOME", "is": code % 2}
    for pt in (*range(2, 130), 1024, 2047):
        yield "packetway", {"pt": pt, "data": "00" * 24}
    for cc in range(1, 256):
        capability = {"type": "CAPA", "cc": cc, "parameters": "01"}
        yield "packetway", {"te": "TELL", "records": [capability]}
    for kind in range(2, 7):
        fields = {"pt": "PVM", "data": "01", "oh": [{"type": kind, "mandatory": True}]}
        if kind == 6:
            fields["ot"] = [{"type": 7, "octets": "01"}]
        yield "packetway", fields
    for kind in (1, *range(7, 64)):
        yield "packetway", {"pt": "PVM", "data": "01", "oh": [{"type": kind, "octets": "01"}]}
    for kind in range(1, 5):
        yield "packetway", {"leading": [{"kind": "SYMBOL", "type": kind, "octets": "01"}]}


def names_in(value):
    """Keys and enumeration names of what `leat decode --json` printed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)
    elif isinstance(value, str) and not re.fullmatch("[0-9a-f]*", value):
        yield from value.split("|")


def check_capture(checks, leat, capture):
    texts = frames_of(tshark(capture, "-o", AAL_PREFERENCE, "-V"))

    def check(packet, index):
        for name in names_in([packet["fields"], packet.get("carriage", {})]):
            shown = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", texts[index])
            checks.check(shown or name in SHOWN_BY_CONTENT,
                         f"frame {index + 1}: {packet['format']}: '{name}' is not shown")

    packets = decode_capture(leat, capture)
    checks.check(len(packets) == len(texts), f"leat decode: {len(packets)} of {len(texts)} packets")
    for index, packet in enumerate(packets):
        check(packet, index)
    times = tshark(capture, "-T", "fields", "-e", "frame.time_epoch").splitlines()
    frame_at = {round(float(time) * 1e9): index for index, time in enumerate(times)}  # last cell
    for aal, vci in CHANNELS.items():
        for packet in decode_capture(leat, capture, "--format", aal):
            if not packet["error"] and packet["carriage"]["vci"] == vci:
                check(packet, frame_at[packet["time_ns"]])


def main():
    need_tshark()
    leat = leat_of(sys.argv[1:])
    checks = Checks()
    check_capture(checks, leat, encode_capture(leat, PACKETS.read_text()))
    lines = ""
    for fmt, fields in every_value():
        packet = {"format": fmt, "fields": fields}
        if fmt in CHANNELS:
            packet["carriage"] = {"vci": CHANNELS[fmt]}
        lines += json.dumps(packet) + "\n"
    check_capture(checks, leat, encode_capture(leat, lines))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
