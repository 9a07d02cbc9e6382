#!/usr/bin/env python3
"""Frames of attackers, made here from the specifications alone, and the good ones between them.

usage: floods.py frames PART KIND TO FROM COUNT   frames of one kind in hex, a line each
       floods.py send DEVICE FILE COUNT           sends COUNT frames of such a file, one after the other
       floods.py kinds PART                       the kinds of a part: ring, esp, pktway
       floods.py mark PART                        where good frames have a mark that others lack, and the mark

All parts have the key of octets 0 to 15. TO and FROM are Ethernet addresses.
  good      what the part forwards
  random    random octets behind the header
  crc       a wrong CRC
  bare      nothing that shows the key: no MAC, or a computation that is not made with it
  mac       a wrong MAC
  replay    the same keyed packet again and again
  oversize  lengths beyond the frame, in frames beyond the Ethernet's
  spoofed   from neighbours or sources that are none
"""
import random
import socket
import struct
import sys
import time
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from siphash import siphash  # noqa: E402

KEY, MARK, LONG = bytes(range(16)), 0x600D600D, 1600
KINDS = {
    "ring": ["random", "crc", "mac", "replay", "oversize", "spoofed"],
    "esp": ["random", "crc", "bare", "mac", "replay", "oversize", "spoofed"],
    "pktway": ["random", "bare", "mac", "replay", "oversize", "spoofed"],
}
chance = random.Random(1)


def mac_of(octets):
    return struct.pack(">Q", siphash(KEY, octets))


# ---- the ring: an ADD of station 77, or a message of it to station 1 (spec/aton.md)


def ring(kind, i):
    head = struct.pack(">IIBBH", 1, MARK if kind == "good" else i, 255, 0, 0)
    if kind == "random":
        return head + chance.randbytes(94)
    if kind == "replay":
        image = struct.pack(">BHHHH", 0, 0, 1, 77, 13) + struct.pack(">Q", 1 << 60) + b"again" + b"\0"
        head = struct.pack(">IIBBH", 1, 7, 255, 0, 0)
    else:
        image = struct.pack(">BHHHHIIB", 0, 0x8000 | 1 << 11 | 1 << 9, 0xFFFF, 77, 1, i, 0, 0)
    crc = zlib.crc32(bytes([image[0] & 0xE0]) + image[1:])
    image += struct.pack(">I", crc ^ (kind == "crc"))
    mac = mac_of(head[:8] + b"\0" + head[9:] + image)
    return head + image + (chance.randbytes(8) if kind == "mac" else mac)


# ---- ESP: COUNT over UDP from 10.1.0.2 to 10.2.0.2, or a QUERY to all routers (spec/esp.md)


def keyed(chosen):
    return chosen << 32 | siphash(KEY, struct.pack("<I", chosen)) & 0xFFFFFFFF


def esp_packet(kind, i):
    if kind == "random":
        return chance.randbytes(74)
    if kind in ("mac", "replay"):
        octets = struct.pack(">BBHQQQQ", 1, 64, 8, keyed(1), 0, 1, 1 << 32)
        octets += chance.randbytes(8) if kind == "mac" else mac_of(octets)
    else:
        computation = chance.getrandbits(64) if kind in ("bare", "spoofed") else keyed(i)
        words = 0xFFFF if kind == "oversize" else 4
        octets = struct.pack(">BBHQQQ", 1, 1, words, computation, 0x55, 2**64 - 1)
    return octets + struct.pack(">I", zlib.crc32(octets) ^ (kind == "crc"))


def checksum(octets):
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return total ^ 0xFFFF


def esp(kind, i):
    payload = esp_packet(kind, i)
    if kind == "oversize":
        payload = payload.ljust(LONG, b"\0")
    source = chance.randbytes(4) if kind == "spoofed" else bytes([10, 1, 0, 2])
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 1, 0, 64, 17, 0, source, bytes([10, 2, 0, 2])))
    struct.pack_into(">H", ip, 10, checksum(bytes(ip)))
    port = MARK >> 16 if kind == "good" else 40000
    return bytes(ip) + struct.pack(">HHHH", port, 4253, 8 + len(payload), 0) + payload


# ---- PacketWay: data from 0x101 to 0x201, or an INFO of a node (spec/packetway.md, proto/packetway/README.md)


def pktway(kind, i, native):
    carriage = bytes.fromhex("0200000300")
    if kind == "random":
        return carriage + struct.pack(">H", 11) + chance.randbytes(88)
    if kind == "good":
        body = struct.pack(">QQ", 0x201 << 32 | 1025, 1 << 32 | 0x101) + struct.pack(">II", MARK, i)
    else:
        address = 0x101 if kind in ("replay", "oversize") else 0x110 + i % 128
        body = struct.pack(">QQ", 0x7FFFFF << 32 | 25 << 16 | 1, 1 << 32 | address)
        if kind in ("mac", "replay"):
            field = struct.pack(">BB", 0x7E, 22) + address.to_bytes(3, "big") + b"\x7f\xff\xff"
            field += struct.pack(">Q", time.time_ns() + (i if kind == "mac" else 0))
            record = struct.pack(">QQ", 0x2900000001000000 | address, 0)
            body = body[:12] + bytes([body[12] | 0x80]) + body[13:] + field
            mac = mac_of(b"leatpkwy" + b"\0\0" + native + body + bytes(8) + record)
            return carriage + struct.pack(">H", 7) + body + (chance.randbytes(8) if kind == "mac" else mac) + record
        body += struct.pack(">Q", 0x2900000001000000 | address)
    body += bytes(8)
    count = 0xFFFF if kind == "oversize" else len(body) // 8
    return carriage + struct.pack(">H", count) + body.ljust(LONG if kind == "oversize" else 0, b"\0")


# ---- frames


def frame(part, kind, to, source, i):
    types = {"ring": 0x88B6, "esp": 0x0800, "pktway": 0x88B7}
    if kind == "spoofed":
        source = bytes([2]) + chance.randbytes(5)
    body = pktway(kind, i, source) if part == "pktway" else (ring if part == "ring" else esp)(kind, i)
    octets = (to + source + struct.pack(">H", types[part]) + body).ljust(120, b"\0")
    return octets.ljust(LONG, b"\0") if kind == "oversize" else octets


def frames(part, kind, to, source, count):
    to, source = (bytes.fromhex(a.replace(":", "")) for a in (to, source))
    replayed = frame(part, kind, to, source, 0)
    for i in range(int(count)):
        print((replayed if kind == "replay" else frame(part, kind, to, source, i)).hex())


def send(device, path, count):
    octets = [bytes.fromhex(line) for line in Path(path).read_text().split()]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((device, 0))
        for i in range(int(count)):
            try:
                s.send(octets[i % len(octets)])
            except OSError:  # the device takes no more at the moment
                time.sleep(0.001)


def main(what, *args):
    if what == "frames":
        frames(*args)
    elif what == "send":
        send(*args)
    elif what == "kinds":
        print(" ".join(KINDS[args[0]]))
    elif what == "mark":
        where = {"ring": (18, MARK), "esp": (34, (MARK >> 16) << 16 | 4253), "pktway": (37, MARK)}
        print(*where[args[0]])


main(*sys.argv[1:])
