# Sends ESP frames that we make here octet by octet, good or with one thing wrong.
# usage: esp_live.py DEVICE TO_MAC FROM_IP TO_IP CARRIAGE CHANGE,... COUNT [COMPUTATION]
# CARRIAGE: bare, ipv4, udp, ipv6, udp6 (the last two with IPv6 addresses)
# CHANGE: good, or what is wrong; new: each with a computation of its own
import socket
import struct
import sys
import zlib

device, to_mac, from_ip, to_ip, carriage, changes, count = sys.argv[1:8]
computation = int(sys.argv[8], 0) if len(sys.argv) > 8 else 99
LOC_CENTRE, X, E = 0x20, 0x01, 0x04


def seal(octets):
    return octets + struct.pack(">I", zlib.crc32(octets))


def instruction(opcode, operands, control=X, words=None, number=None):
    length = 2 * len(operands) if words is None else words
    head = struct.pack(">BBHQ", control, opcode, length, computation if number is None else number)
    return seal(head + b"".join(struct.pack(">Q", o) for o in operands))


def count_packet(**keys):
    return instruction(1, (0x55, 1), **keys)


def packet(change, i):
    if change == "hops":  # a NOP: nothing else happens to it
        return instruction(0, ())
    if change == "opcode":
        return instruction(9, (1, 2))
    if change == "length":
        return count_packet(words=5)
    if change == "longest":
        return count_packet(words=0xFFFF)
    if change == "crc":
        good = count_packet()
        return good[:-1] + bytes([good[-1] ^ 1])
    if change == "tags":
        return instruction(4, (7, 7, 8, 1))
    if change == "operator":
        return instruction(2, (1, 2, 9 << 32))
    if change == "zero":
        return instruction(2, (1, 2, 1 << 32 | 1))
    if change == "error":
        return count_packet(control=X | E)
    if change == "idle":
        return count_packet(control=0)
    if change == "short":
        return count_packet()[:31]
    if change == "collect":  # nothing is announced: it aborts
        return instruction(3, (1, 5, 2, 1 << 32))
    if change == "new":
        return instruction(1, (0x55, 1), number=(i + 1) << 20)
    if change == "children":  # many bindings of one computation
        return instruction(1, (0x10000 + i, 1))
    if change == "query":  # no key's MAC
        return instruction(64, (0, 1, 1 << 32, 0x1234))
    if change == "install":
        return instruction(68, (7, 100, 1 << 60, 1000 << 32 | 1 << 24, 0xFFFF0A01, 0, 4253 << 48, 0x1234), control=0)
    return count_packet()


def checksum(octets):
    if len(octets) % 2:
        octets += b"\0"
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return total ^ 0xFFFF


def in_ipv4(payload, protocol, options, change):
    hops = 1 if change == "hops" else 64
    words = 5 + len(options) // 4
    total = 4 * words + len(payload) + (8 if change == "announced" else 0)
    head = bytearray(struct.pack(">BBHHHBBH4s4s", 0x40 | words, 0, total, 1, 0, hops, protocol, 0,
                                 socket.inet_aton(from_ip), socket.inet_aton(to_ip)) + options)
    struct.pack_into(">H", head, 10, checksum(bytes(head)) ^ (1 if change == "header" else 0))
    return b"\x08\x00" + bytes(head) + payload


def in_ipv6(payload, protocol, between, change):
    hops = 1 if change == "hops" else 64
    source, destination = (socket.inet_pton(socket.AF_INET6, a) for a in (from_ip, to_ip))
    if protocol == 17:
        pseudo = source + destination + struct.pack(">II", len(payload), 17)
        payload = payload[:6] + struct.pack(">H", checksum(pseudo + payload) or 0xFFFF) + payload[8:]
    head = struct.pack(">IHBB", 6 << 28, len(between) + len(payload), 0 if between else protocol, hops)
    return b"\x86\xdd" + head + source + destination + between + payload


def frame(change, i):
    octets = packet(change, i)
    udp = struct.pack(">HHHH", 40000, 4253, 8 + len(octets), 0) + octets
    if carriage == "bare":
        return b"\x88\xb5" + octets
    if carriage == "ipv4":
        return in_ipv4(octets, 253, b"\x94\x04\x00\x00", change)
    if carriage == "udp":
        return in_ipv4(udp, 17, b"", change)
    if carriage == "ipv6":
        return in_ipv6(octets, 253, bytes([253, 0, 5, 2, 0, 0, 1, 0]), change)
    return in_ipv6(udp, 17, b"", change)


link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((device, 0))
addresses = bytes.fromhex(to_mac.replace(":", "")) + link.getsockname()[4]
for change in changes.split(","):
    for i in range(int(count)):
        link.send((addresses + frame(change, i)).ljust(60, b"\0"))
