"""The packets of the rooms' vectors, and how captures carry each format."""

import binascii
import re
import struct
import zlib

from containers import LINK_ETHERNET, LINK_USER0
from support import CHANNELS, ROOT

LINK_OF_FORMAT = {"atm": 147, "atmtask": 147, "aton": 148, "esp": 149, "packetway": 150,
                  "poets": 151, "atonserial": 152}
FORMATS = [*LINK_OF_FORMAT, *CHANNELS]


def vectors(room_pattern="*"):
    """(format, expected error code or None, octets, where) of every vector in the tree."""
    for path in sorted(ROOT.glob(f"proto/{room_pattern}/vectors/*.hex")):
        bad = path.name.startswith("bad_")
        fmt = path.name.removeprefix("bad_").split("_")[0].removesuffix(".hex")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            digits, _, comment = line.partition("#")
            if not digits.strip():
                continue
            code = comment.split()[0] if bad else None
            yield fmt, code, bytes.fromhex(re.sub(r"\s", "", digits)), f"{path.name}:{number}"


def hec(header):
    crc = 0
    for octet in header:
        crc ^= octet
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc ^ 0x55


def crc_msb(octets, bits, width, polynomial, initial=0):
    """The CRC of the first `bits` bits, most significant first."""
    crc, top = initial, 1 << width - 1
    for i in range(bits):
        out = bool(crc & top) ^ (octets[i // 8] >> 7 - i % 8 & 1)
        crc = (crc << 1 & 2 * top - 1) ^ (polynomial if out else 0)
    return crc


def sealed_symbols(octets):
    """A serial image of ATON with the CRC before its last ED put right."""
    symbols = [octet >> shift & 3 for octet in octets for shift in (6, 4, 2, 0)]
    ends = [i for i in range(64 + 40, len(symbols) - 5) if symbols[i:i + 6] == [2, 3, 1, 2, 3, 1]]
    if not ends or max(symbols[8:ends[-1]]) > 1:
        return octets
    flg_at = ends[-1] - 40
    bits = symbols[8:11] + [0] * 5 + symbols[16:flg_at] + [0] * 8
    padded = bytes(sum(bit << 7 - k for k, bit in enumerate(bits[i:i + 8]))
                   for i in range(0, len(bits), 8))
    crc = crc_msb(padded, len(bits), 32, 0x04C11DB7, 0xFFFFFFFF) ^ 0xFFFFFFFF
    symbols[flg_at + 8:flg_at + 40] = [crc >> 31 - i & 1 for i in range(32)]
    return bytes(64 * a + 16 * b + 4 * c + d for a, b, c, d in zip(*[iter(symbols)] * 4))


def sealed(fmt, octets):
    """The same octets with the checksum of their format put right, where it has one at its end."""
    if fmt == "esp" and len(octets) >= 16:
        return octets[:-4] + zlib.crc32(octets[:-4]).to_bytes(4, "big")
    if fmt == "aton" and len(octets) >= 14:
        covered = bytes([octets[0] & 0xE0]) + octets[1:-5] + b"\0"
        return octets[:-4] + zlib.crc32(covered).to_bytes(4, "big")
    if fmt == "atonserial":
        return sealed_symbols(octets)
    if fmt == "atmtask" and len(octets) == 53:
        return octets[:51] + binascii.crc_hqx(octets[5:51], 0).to_bytes(2, "big")
    if fmt in ("aal2", "aal34") and len(octets) == 48:
        crc = crc_msb(octets, 374, 10, 0x233)
        return octets[:46] + (octets[46] >> 2 << 10 | crc).to_bytes(2, "big")
    if fmt == "aal5" and octets and len(octets) % 48 == 0:
        crc = ~crc_msb(octets, 8 * len(octets) - 32, 32, 0x04C11DB7, 0xFFFFFFFF) & 0xFFFFFFFF
        return octets[:-4] + crc.to_bytes(4, "big")
    if fmt == "atm" and len(octets) == 53:
        payload = sealed("aal34", octets[5:]) if octets[3] & 8 else octets[5:]  # OAM and RM
        return octets[:4] + bytes([hec(octets[:4])]) + payload
    return octets


def cell(vci, pt, payload):
    header = struct.pack(">I", vci << 4 | pt << 1)
    return header + bytes([hec(header)]) + payload


def cells(fmt, pdu):
    """A SAR-PDU in one cell, or the cells of an AAL5 CPCS-PDU."""
    pieces = [pdu[at:at + 48] for at in range(0, len(pdu), 48)] if fmt == "aal5" else [pdu]
    last = len(pieces) - 1
    return [cell(CHANNELS[fmt], 1 if fmt == "aal5" and i == last else 0, piece)
            for i, piece in enumerate(pieces)]


def frames(fmt, octets):
    """(link type, octets) of the frames that carry one packet in a capture."""
    if fmt in CHANNELS:
        return [(LINK_USER0, frame) for frame in cells(fmt, octets)]
    if fmt == "packetway":
        octets = struct.pack(">H", len(octets) // 8 & 0xFFFF) + octets
    elif fmt == "poets":
        octets = bytes([octets[3] >> 7 if len(octets) > 3 else 0, len(octets) & 0xFF]) \
            + struct.pack("<I", 0x411) + octets
    return [(LINK_OF_FORMAT[fmt], octets)]


def is_prototype(octets):
    """Would a capture take this cell for one of the thesis' prototype?"""
    return len(octets) == 53 and octets[1] & 15 == 0 and octets[2:5] == b"\0\0\0" \
        and (hec(octets[:4]) != 0 or binascii.crc_hqx(octets[5:], 0) == 0)


def is_carried(fmt, octets):
    """Can a capture hold these octets as a packet of this format at all?"""
    if fmt in ("atm", "atmtask"):
        return is_prototype(octets) == (fmt == "atmtask")
    if fmt in CHANNELS:
        return len(octets) > 0 and len(octets) % 48 == 0 and (fmt == "aal5" or len(octets) == 48)
    if fmt == "packetway":
        return len(octets) % 8 == 0
    return fmt != "poets" or len(octets) < 256


def ethernet(ether_type, payload):
    return LINK_ETHERNET, bytes(12) + struct.pack(">H", ether_type) + payload.ljust(46, b"\0")


def ipv4(protocol, payload):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0,
                         b"\x7f\0\0\1", b"\x7f\0\0\1")
    return ethernet(0x0800, header + payload)


def udp(port, payload):
    return ipv4(17, struct.pack(">HHHH", port, port, 8 + len(payload), 0) + payload)


def other_carriages(fmt, octets):
    """The same packet on Ethernet, in IP and in UDP, where the format travels so."""
    if fmt not in ("aton", "esp", "packetway", "poets"):
        return []
    (_, frame), = frames(fmt, octets)
    if fmt == "aton":
        return [ethernet(0x88B6, struct.pack(">IIBBH", 7, 1, 9, 0, 0) + frame)]
    if fmt == "esp":
        return [ethernet(0x88B5, frame), ipv4(253, frame), udp(4253, frame)]
    if fmt == "packetway":
        return [ethernet(0x88B7, b"\x02\0\0\x03\0" + frame), udp(4254, frame)]
    return [udp(4255, frame)]
