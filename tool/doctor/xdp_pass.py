# An XDP program that passes all frames, attached to a device as long as this process lives, for tests.
# usage: xdp_pass.py NAMESPACE DEVICE generic|native      prints the program's id
import ctypes
import os
import platform
import socket
import struct
import sys
import time

PROG_LOAD, OBJ_GET_INFO, LINK_CREATE = 5, 15, 28
TYPE_XDP, ATTACH_XDP = 6, 37
MODE = {"generic": 1 << 1, "native": 1 << 2}
NUMBER = {"x86_64": 321, "aarch64": 280, "s390x": 351}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    room = ctypes.create_string_buffer(attributes, 128)
    got = libc.syscall(NUMBER, command, room, 128)
    if got < 0:
        sys.exit(f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return got


namespace, device, mode = sys.argv[1:]
if libc.setns(os.open(namespace, os.O_RDONLY), 0):
    sys.exit(f"{namespace}: {os.strerror(ctypes.get_errno())}")
# r0 = XDP_PASS; exit
code = ctypes.create_string_buffer(struct.pack("=BBhi", 0xB7, 0, 0, 2) + struct.pack("=BBhi", 0x95, 0, 0, 0))
licence = ctypes.create_string_buffer(b"GPL")
program = bpf(PROG_LOAD, struct.pack("=IIQQ", TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(licence)))
bpf(LINK_CREATE, struct.pack("=IIII", program, socket.if_nametoindex(device), ATTACH_XDP, MODE[mode]))
about = ctypes.create_string_buffer(256)
bpf(OBJ_GET_INFO, struct.pack("=IIQ", program, len(about), ctypes.addressof(about)))
print(struct.unpack_from("=II", about)[1], flush=True)
time.sleep(1000)
