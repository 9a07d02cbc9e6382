#!/usr/bin/env python3
"""The dissectors against the rooms' vectors: sound packets have no error, malformed ones have the
error code that the vector states. Each also in its other carriages: Ethernet, IP, UDP.

usage: vectors.py
"""

import re
import sys

from containers import pcapng
from packets import FORMATS, ethernet, frames, is_carried, other_carriages, vectors
from support import AAL_PREFERENCE, ROOT, Checks, frames_of, need_tshark, tshark

FIRST_ERROR = re.compile(r"\[error: (\w+)")


def gather():
    """Frames to capture, and for some of them what is expected: index -> (code, where)."""
    captured, expected = [], {}
    for fmt, code, octets, where in vectors():
        if fmt not in FORMATS or not is_carried(fmt, octets):
            continue
        captured += frames(fmt, octets)
        expected[len(captured) - 1] = (code, where)
        if fmt != "packetway" and code:
            continue  # padding behind a packet may mend or change what is wrong with it
        for frame in other_carriages(fmt, octets):
            captured.append(frame)
            expected[len(captured) - 1] = (code, where + " elsewhere")
    return captured, expected


def check_error_texts(checks):
    """The dissectors repeat codes and texts of include/leat/err.h."""
    ours = dict(re.findall(r'^        (\w+) = "(.*)",$',
                           (ROOT / "share/wireshark/leat/common.lua").read_text(), re.M))
    theirs = dict(re.findall(r'X\(\w+, "(\w+)", "(.*?)"\)', (ROOT / "include/leat/err.h").read_text()))
    for code, text in ours.items():
        checks.check(theirs.get(code) == text, f"{code}: '{text}', leat says '{theirs.get(code)}'")


def check_neighbours(checks):
    """Other protocols behind the Ethernet type that PacketWay shares keep their dissector."""
    capture = pcapng([ethernet(0x88B7, b"\0\x0c\x29\x03\0" + bytes(8)), ethernet(0x88B7, b"")])
    details = ("-V", "-O", "eth,ieee802a,data")
    checks.check(tshark(capture, *details) == tshark(capture, *details, script=False),
                 "another protocol of Ethernet type 0x88B7 is shown otherwise")


def main():
    need_tshark()
    checks = Checks()
    check_error_texts(checks)
    check_neighbours(checks)
    captured, expected = gather()
    found = frames_of(tshark(pcapng(captured), "-o", AAL_PREFERENCE, "-V"))
    checks.check(len(found) == len(captured), f"{len(captured)} frames, tshark read {len(found)}")
    for index, (code, where) in expected.items():
        first = FIRST_ERROR.search(found[index])
        got = first and first[1]
        checks.check(got == code, f"{where}: expected {code}, the dissector says {got}")
        checks.check("Lua Error" not in found[index], f"{where}: Lua Error")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
