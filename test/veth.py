# Settings of veths, and traffic over them, for tests.
# usage: veth.py gro on|off NAMESPACE:DEVICE...        an end with GRO polls: only then does its peer
#                                                      send what native XDP redirects to it
#        veth.py checksums on|off NAMESPACE:DEVICE...  left to the device, or made by the sender
#        veth.py datagrams FROM TO ADDRESS             ESP packets by ordinary UDP sockets, from one
#                                                      namespace to an address of another: which came
import ctypes
import fcntl
import os
import socket
import struct
import sys
import time
import zlib

SIOCETHTOOL, ETHTOOL_STXCSUM, ETHTOOL_SGRO = 0x8946, 0x17, 0x2C
PORT = 4253
libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(fd, 0):
        sys.exit(f"{namespace}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def switch(command, on, places):
    for where in places:
        namespace, device = where.split(":")
        enter(namespace)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            value = ctypes.create_string_buffer(struct.pack("II", command, on == "on"))
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", device.encode(), ctypes.addressof(value)))


def esp(number, control, opcode, *operands):
    head = struct.pack(">BBHQ", control, opcode, 2 * len(operands), number)
    octets = head + b"".join(struct.pack(">Q", o) for o in operands)
    return octets + struct.pack(">I", zlib.crc32(octets))


def is_whole(octets):
    return zlib.crc32(octets[:-4]) == struct.unpack(">I", octets[-4:])[0]


# The answer that has the number of a packet; False: none came.
def comes(there, octets, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        there.settimeout(max(0.01, until - time.monotonic()))
        try:
            back = there.recv(2000)
        except socket.timeout:
            return None
        if back[4:12] == octets[4:12]:
            return back
    return None


def datagrams(sender, receiver, address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    enter(receiver)
    there = socket.socket(family, socket.SOCK_DGRAM)
    there.bind((address, PORT))
    enter(sender)
    here = socket.socket(family, socket.SOCK_DGRAM)
    number = (time.time_ns() << 8) & (1 << 63) - 1
    packets = {
        "idle": esp(number + 1, 0, 1, 0x55, 1),  # X is not set
        "nop": esp(number + 2, 1, 0),
        "count": esp(number + 3, 1, 1, 0x55, 1),  # executed, unchanged
        "collect": esp(number + 4, 1, 3, 1, 5, 2, 1 << 32),  # goes on with E
        "query": esp(number + 5, 0, 64, 1, 1, 1 << 32, 0x1234),  # management
    }
    # The router's kernel has to find its neighbours first.
    first = esp(number, 0, 0)
    for _ in range(20):
        here.sendto(first, (address, PORT))
        if comes(there, first, 0.5):
            break
    came = []
    for name, octets in packets.items():
        here.sendto(octets, (address, PORT))
        back = comes(there, octets, 3)
        came.append(name + (":lost" if not back else ":whole" if is_whole(back) else ":damaged"))
    print(" ".join(came))


what, args = sys.argv[1], sys.argv[2:]
if what == "gro":
    switch(ETHTOOL_SGRO, args[0], args[1:])
elif what == "checksums":
    switch(ETHTOOL_STXCSUM, args[0], args[1:])
else:
    datagrams(*args)
