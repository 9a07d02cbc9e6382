#!/usr/bin/env python3
"""Thousands of damaged packets through the dissectors in one run: cut, flipped, overwritten,
extended, spliced. None may give a Lua error. With the leat tool, every packet must get the same
error code from `leat decode` and from the dissector: two readings of one note, written apart.

usage: fuzz.py [LEAT] [SEED] [COUNT]
"""

import random
import re
import sys

from containers import SECOND, pcapng
from packets import (FORMATS, LINK_OF_FORMAT, cell, frames, is_carried, other_carriages, sealed,
                     vectors)
from support import (AAL_PREFERENCE, CHANNELS, Checks, decode_capture, frames_of, leat_of,
                     need_tshark, tshark)

ERROR = re.compile(r"\[error: (\w+)")
COUNT = 6000


def damaged(random_, octets, others):
    """One mutation of a packet."""
    octets = bytearray(octets)
    kind = random_.randrange(7)
    if kind == 0:
        return bytes(octets[:random_.randrange(len(octets) + 1)])
    if kind == 1:
        return bytes(octets) + random_.randbytes(random_.randrange(1, 70))
    if kind == 2:
        return random_.randbytes(random_.randrange(100))
    if kind == 3 and octets:
        at = random_.randrange(len(octets))
        return bytes(octets[:at]) + random_.choice(others)[at:]
    for _ in range(random_.choice((1, 1, 2, 5))):
        if octets:
            at = random_.randrange(len(octets))
            octets[at] = random_.choice((octets[at] ^ 1 << random_.randrange(8), 0, 0xFF,
                                         random_.randrange(256)))
    return bytes(octets)


def gather(random_, count):
    """(what the frame is, link type, octets): the formats in turn, their vectors at random."""
    seeds = {fmt: [octets for f, _, octets, _ in vectors() if f == fmt] for fmt in FORMATS}
    everything = [octets for pool in seeds.values() for octets in pool]
    formats = [fmt for fmt in FORMATS if seeds[fmt]]
    for number in range(count):
        fmt = formats[number % len(formats)]
        octets = damaged(random_, random_.choice(seeds[fmt]), everything)
        if fmt in CHANNELS:
            octets = octets[:48].ljust(48, b"\0")
        if random_.randrange(2):
            octets = sealed(fmt, octets)  # so that what lies behind the checksum is reached
        if fmt in CHANNELS:
            # As the payload of one cell; a PDU of AAL5 ends with it.
            yield fmt, 147, cell(CHANNELS[fmt], 1 if fmt == "aal5" else 0, octets)
        elif not is_carried(fmt, octets):
            yield "frame", LINK_OF_FORMAT[fmt], octets
        elif octets and random_.randrange(4) == 0 and other_carriages(fmt, octets):
            yield "elsewhere", *random_.choice(other_carriages(fmt, octets))
        else:
            yield fmt, *frames(fmt, octets)[0]


def codes_by_leat(leat, capture, *arguments):
    """frame index -> error code or None; the time stamp tells the frame."""
    return {packet["time_ns"] // 1_000_000_000 - SECOND: packet["error"] and packet["error"]["code"]
            for packet in decode_capture(leat, capture, *arguments)}


def compare(checks, leat, captured, texts):
    capture = pcapng([(link, octets) for _, link, octets in captured])
    codes = {None: codes_by_leat(leat, capture)}
    for aal in CHANNELS:
        codes[aal] = codes_by_leat(leat, capture, "--format", aal)
    for index, (fmt, _, octets) in enumerate(captured):
        by_leat = codes[fmt if fmt in CHANNELS else None]
        # Not decoded by leat: frames too short to hold one; embedded messages, which it leaves be.
        if index not in by_leat or "pt: EMBEDDED" in texts[index]:
            continue
        found = ERROR.search(texts[index])
        checks.check((found and found[1]) == by_leat[index],
                     f"{fmt} {octets.hex()}: leat says {by_leat[index]}, the dissector "
                     f"{found and found[1]}")


def main():
    need_tshark()
    leat = leat_of(sys.argv[1:]) if sys.argv[1:] else None
    seed = int(sys.argv[2]) if sys.argv[2:] else 1
    count = int(sys.argv[3]) if sys.argv[3:] else COUNT
    checks = Checks()
    captured = list(gather(random.Random(seed), count))
    capture = pcapng([(link, octets) for _, link, octets in captured])
    texts = frames_of(tshark(capture, "-o", AAL_PREFERENCE, "-V"))
    checks.check(len(texts) == len(captured), f"{len(captured)} frames, tshark read {len(texts)}")
    for (fmt, _, octets), text in zip(captured, texts):
        checks.check("Lua Error" not in text, f"{fmt} {octets.hex()}: Lua Error")
    if leat:
        compare(checks, leat, captured, texts)
    if checks.failed:
        print(f"again by: {sys.argv[0]} {leat or 'LEAT'} {seed} {count}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
