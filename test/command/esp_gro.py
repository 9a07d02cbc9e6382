# Turns GRO on for devices of network namespaces, and the offloading of checksums off: XDP redirects
# to a veth only where its other end polls, which it does with an XDP program of its own or with GRO;
# and a checksum that a device was to make is lost on the way.
# usage: esp_gro.py NAMESPACE:DEVICE...
import ctypes
import fcntl
import os
import socket
import struct
import sys

SIOCETHTOOL, ETHTOOL_STXCSUM, ETHTOOL_SGRO = 0x8946, 0x17, 0x2C
libc = ctypes.CDLL(None, use_errno=True)
for where in sys.argv[1:]:
    namespace, device = where.split(":")
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(fd, 0):
        sys.exit(f"{namespace}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command, on in ((ETHTOOL_SGRO, 1), (ETHTOOL_STXCSUM, 0)):
            value = ctypes.create_string_buffer(struct.pack("II", command, on))
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", device.encode(), ctypes.addressof(value)))
