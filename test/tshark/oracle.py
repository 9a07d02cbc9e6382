#!/usr/bin/env python3
"""tshark's own dissectors, which are independent of ours, must accept our checksums and reject each when
one bit is flipped: HEC, CRC-10 (AAL3/4, OAM, RM), the CRC-32 of AAL5 and the FCS of bridged Ethernet.
They must find our fields in LLC encapsulation (RFC 2684) and in ATMARP packets (RFC 2225).

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


NSAPA = "47000580ffde0000000000000102030405060700", "39246f00000e7c9c031200010001000012345600"
# op, and for source and target: number, subaddress, IP address
ARP_PACKETS = [
    ("request", (NSAPA[0], "", "10.0.0.1"), ("", "", "10.0.0.2")),
    ("reply", (NSAPA[1], "", "10.0.0.2"), (NSAPA[0], "", "10.0.0.1")),
    ("NAK", (NSAPA[0], "", "192.168.255.1"), ("", "", "10.0.0.2")),
    ("request", ("4930123456789", "", "10.0.0.1"), ("1", "", "10.0.0.2")),
    ("reply", ("491", NSAPA[0], "10.0.0.1"), ("123456789012345", NSAPA[1], "10.0.0.2")),
    ("InATMARP-request", (NSAPA[0], "", "10.0.0.1"), (NSAPA[1], "", "")),
    ("InATMARP-reply", (NSAPA[1], "", "10.0.0.2"), (NSAPA[0], "", "10.0.0.1"))]
ARP_OPS = {"request": 1, "reply": 2, "InATMARP-request": 8, "InATMARP-reply": 9, "NAK": 10}


def in_aal5(leat, llc):
    return (encode(leat, "atm", "vci=32")[:4], encode(leat, "aal5", f"payload={llc.hex()}"))


def rows_of(leat, llcs, *fields, options=()):
    """Per LLC packet, in AAL5: what tshark finds in these fields."""
    arguments = [argument for field in fields for argument in ("-e", field)]
    text = tshark(erf_aal5([in_aal5(leat, llc) for llc in llcs]), "-T", "fields", "-E",
                  "occurrence=f", *options, *arguments, script=False)
    return [row.split("\t") for row in text.split("\n")[:-1]]


def check_encapsulation(checks, leat):
    ipv4, ipv6 = bytes.fromhex("450000140000000040fd65eb0a0000010a000002"), \
        bytes.fromhex("6000000000003b40" + "00" * 15 + "01" + "00" * 15 + "02")
    frame = bytes.fromhex("020000000002" "020000000001" "0800") + ipv4
    bridged, with_fcs = "oui=bridged", ("oui=bridged", "type=Ethernet-FCS")
    llcs = [encode(leat, "atmllc", *fields) for fields in (
        (f"payload={ipv4.hex()}",), ("type=IPv6", f"payload={ipv6.hex()}"),
        (bridged, f"frame={frame.hex()}"), (*with_fcs, f"frame={frame.ljust(60, b'X').hex()}"))]
    found = rows_of(leat, llcs, "llc.oui", "ip.src", "ipv6.dst", "eth.dst", "eth.fcs.status",
                    options=("-o", "eth.check_fcs:TRUE"))
    expected = [["0", "10.0.0.1", "", "", ""], ["0", "", "::2", "", ""],
                ["32962", "10.0.0.1", "", "02:00:00:00:00:02", ""],
                ["32962", "10.0.0.1", "", "02:00:00:00:00:02", "1"]]
    checks.check(found == expected, f"RFC 2684: tshark finds {found}")
    flipped = [with_bit_flipped(llcs[3], bit) for bit in range(80 + 112, 8 * len(llcs[3]))]
    rows = rows_of(leat, flipped, "eth.fcs.status", options=("-o", "eth.check_fcs:TRUE"))
    for bit, row in enumerate(rows):
        checks.check(row == ["0"], f"FCS of a bridged frame, bit {bit}: tshark says {row}")


def check_atmarp(checks, leat):
    fields = ["arp.opcode"]
    for side in ("src", "dst"):
        fields += [f"arp.{side}.{name}" for name in ("atm_num_nsap", "atm_num_e164", "slen", "proto_ipv4")]
    llcs, expected = [], []
    for op, *stations in ARP_PACKETS:
        words, row = [f"op={op}"], [str(ARP_OPS[op])]
        for name, (number, subaddress, ip) in zip(("source", "target"), stations):
            nsapa = len(number) in (0, 40)
            words += [f"{name}.type={'NSAPA' if nsapa else 'E.164'}", f"{name}.number={number}",
                      f"{name}.subaddress={subaddress}", f"{name}.ip={ip}"]
            row += [number if nsapa else "", "" if nsapa else number, str(len(subaddress) // 2), ip]
        llcs.append(encode(leat, "atmllc", "type=ARP", f"payload={encode(leat, 'atmarp', *words).hex()}"))
        expected.append(row)
    found = [[column.replace(":", "") for column in row] for row in rows_of(leat, llcs, *fields)]
    for got, wanted in zip(found, expected, strict=True):
        checks.check(got == wanted, f"RFC 2225: expected {wanted}, tshark finds {got}")


def main():
    need_tshark()
    leat = leat_of(sys.argv[1:])
    checks = Checks()
    for check in (check_hec, check_sealed_cells, check_aal34, check_aal5, check_encapsulation,
                  check_atmarp):
        check(checks, leat)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
