#!/usr/bin/env python3
"""Sends frames into a live ring, made here from the specification alone (spec/aton.md).

usage: ring_live.py DEVICE TO FROM CHANGE,... COUNT [keyed]      inside the network namespace of DEVICE
A frame is an ADD of station SENDER, as its neighbour would hand it on, with one thing changed. Or,
where the change begins with "message", a passive packet to station 2: "message" itself is sound, and
so is "message-SERIAL" on a ring with a key.
"""
import socket
import struct
import sys
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
from siphash import siphash  # noqa: E402

RING, SENDER, KEY = 1, 77, bytes(range(16))


def image(change):
    ctl = 0x8000 | 1 << 11 | 1 << 9  # active, ADD, 32 bits, R0
    ac, counter, flg = 0, 1, 0
    if change == "opcode":
        ctl = 0x8000 | 12 << 11 | 1 << 9
    if change == "width":
        ctl |= 3 << 9
    if change == "zeros":
        ctl |= 1
    if change == "token":
        ac = 0x10
    if change == "counter":
        counter = 65535
    if change.endswith("flg"):
        flg = 0x80
    if change == "message-opcode":
        ctl = 1 << 11
    elif change.startswith("message"):
        ctl = 0
    if change.startswith("message"):
        serial = change.partition("-")[2]
        text = b"x" * 1400 if change == "message" or serial.isdigit() else b"work?"
        if serial.isdigit():
            text = struct.pack(">Q", int(serial)) + text
        length = {"message-long": 65535, "message-short": 0}.get(change, len(text))
        octets = struct.pack(">BHHHH", ac, ctl, 2, SENDER, length) + text + b"\0"
    else:
        octets = struct.pack(">BHHHHIIB", ac, ctl, 0xFFFF, SENDER, counter, 5, 0, 0)
    crc = zlib.crc32(bytes([ac & 0xE0]) + octets[1:])
    return octets[:-1] + bytes([flg]) + struct.pack(">I", crc ^ (1 if change.endswith("crc") else 0))


def frame(to, source, change, keyed):
    ring = RING + (1 if change == "foreign" else 0)
    hops = {"hops": 0, "message-hops": 0, "message": 1}.get(change.rstrip("-0123456789"), 255)
    zero = 1 if change == "reserved" else 0
    body = struct.pack(">IIBBH", ring, 1, hops, 0, zero) + image(change)
    if change == "own":  # from the address of the station that gets it
        body = body[:17] + struct.pack(">H", 1) + body[19:]
        body = body[:-4] + struct.pack(">I", zlib.crc32(bytes([body[12] & 0xE0]) + body[13:-4]))
    if keyed:
        mac = siphash(KEY, body[:8] + b"\0" + body[9:])
        body += struct.pack(">Q", mac ^ (1 if change.endswith("mac") else 0))
    if change == "stranger":
        source = source[:-2] + "99"
    if change == "elsewhere":
        to = to[:-2] + "99"
    head = bytes.fromhex(to.replace(":", "") + source.replace(":", "")) + b"\x88\xb6"
    if change == "short":
        return (head + body)[:-1]
    if change == "stub":
        return head + body[:9]
    return (head + body).ljust(60, b"\0")


def main():
    device, to, source, changes, count = sys.argv[1:6]
    keyed = len(sys.argv) > 6
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((device, 0))
        for change in changes.split(","):
            octets = frame(to, source, change, keyed)
            for _ in range(int(count)):
                s.send(octets)


if __name__ == "__main__":
    main()
