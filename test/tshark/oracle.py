#!/usr/bin/env python3
"""tshark's own dissectors, which are independent of ours, must accept our checksums and reject each when
one bit is flipped: HEC, CRC-10 (AAL3/4, OAM, RM) and the CRC-32 of AAL5.

usage: oracle.py LEAT
"""

import sys

from containers import LINK_USER0, erf_aal5, pcap, sniffer_aal34
from support import Checks, encode, frames_of, leat_of, need_tshark, tshark, with_bit_flipped

AS_OAM_CELLS = '"User 0 (DLT=147)","atm_oam_cell","0","","0",""'
HEADER_BITS, CELL_BITS, PAYLOAD_BITS = 40, 424, 384


def verdicts(text, label):
    """Per frame: does tshark say that the checksum of this label is correct?"""
    def says_correct(frame):
        lines = [line for line in frame.splitlines() if label in line]
        return len(lines) == 1 and "(correct)" in lines[0]
    return [says_correct(frame) for frame in frames_of(text)]


def compare(checks, what, found, expected):
    checks.check(len(found) == len(expected),
                 f"{what}: {len(expected)} frames, tshark read {len(found)}")
    for number, (got, wanted) in enumerate(zip(found, expected)):
        checks.check(got == wanted, f"{what}: frame {number + 1}: tshark says "
                     f"{'correct' if got else 'incorrect'}")


def check_hec(checks, leat):
    cells = [encode(leat, "atm", *fields.split()) for fields in (
        "vpi=0 vci=5", "vpi=1 vci=5 pt=user-1", "gfc=15 vpi=255 vci=65535 pt=reserved clp=1",
        "vpi=18 vci=13398 pt=user-1", "interface=NNI vpi=2748 vci=13398 pt=user-efci-1 clp=1",
        "vpi=0 vci=0", "vpi=0 vci=0 clp=1")]
    flipped = [with_bit_flipped(cell, bit) for cell in cells for bit in range(HEADER_BITS)]
    text = tshark(pcap(cells + flipped, LINK_USER0), "-o", f"uat:user_dlts:{AS_OAM_CELLS}", "-V",
                  script=False)
    compare(checks, "HEC", verdicts(text, "Header Error Check:"),
            [True] * len(cells) + [False] * len(flipped))


def check_sealed_cells(checks, leat):
    cells = [encode(leat, "atm", *fields.split()) for fields in (
        "vpi=1 vci=5 pt=oam-end", "vpi=1 vci=5 pt=oam-segment oam.type=1 oam.function=8",
        "vpi=64 vci=6 pt=rm rm.ERrate=353207 rm.CCRrate=1000 rm.MCRrate=100",
        "vpi=64 vci=6 pt=rm rm.DIR=true rm.CI=true rm.QL=4000000000 rm.SN=7")]
    flipped = [with_bit_flipped(cell, bit) for cell in cells for bit in range(40, CELL_BITS)]
    text = tshark(pcap(cells + flipped, LINK_USER0), "-o", f"uat:user_dlts:{AS_OAM_CELLS}", "-V",
                  script=False)
    compare(checks, "CRC-10 of OAM and RM cells", verdicts(text, "CRC-10:"),
            [True] * len(cells) + [False] * len(flipped))


def check_aal34(checks, leat):
    pdus = [encode(leat, "aal34", *fields.split()) for fields in (
        "st=SSM payload=" + "00" * 44, "st=BOM sn=5 mid=298 payload=" + bytes(range(1, 45)).hex(),
        "st=SSM mid=1 payload=00010008414243444546474800010008",
        "st=EOM sn=15 p=1 mid=511 payload=00000000", "st=COM sn=9 mid=1 payload=" + "ff" * 44)]
    cells = [encode(leat, "atm", "vpi=3", "vci=77", f"payload={pdu.hex()}") for pdu in pdus]
    flipped = [with_bit_flipped(cell, bit) for cell in cells for bit in range(40, CELL_BITS)]
    text = tshark(sniffer_aal34(cells + flipped), "-V", script=False)
    compare(checks, "CRC-10 of AAL3/4", verdicts(text, "= CRC:"),
            [True] * len(cells) + [False] * len(flipped))
    checks.check(all(verdicts(text, "Header Error Check:")), "HEC of AAL3/4 cells")


def check_aal5(checks, leat):
    header = encode(leat, "atm", "vpi=1", "vci=5")[:4]
    pdus = [encode(leat, "aal5", f"payload={payload.hex()}", "uu=165", "cpi=90") for payload in (
        bytes(40), b"\xff" * 40, bytes(range(1, 41)), bytes(range(1, 42)), b"\x5a",
        bytes(i % 251 for i in range(3000)))]
    flipped = [with_bit_flipped(pdu, bit) for pdu in pdus[:4] for bit in range(8 * len(pdu))]
    flipped += [with_bit_flipped(pdus[5], bit) for bit in range(0, 8 * len(pdus[5]), 97)]
    text = tshark(erf_aal5([(header, pdu) for pdu in pdus + flipped]), "-V", script=False)
    compare(checks, "CRC-32 of AAL5", verdicts(text, "AAL5 CRC:"),
            [True] * len(pdus) + [False] * len(flipped))


def main():
    need_tshark()
    leat = leat_of(sys.argv[1:])
    checks = Checks()
    for check in (check_hec, check_sealed_cells, check_aal34, check_aal5):
        check(checks, leat)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
