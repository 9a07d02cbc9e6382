#!/usr/bin/env python3
"""A process of two externals of a POETS graph: numbers of standard input, one per line, go into smooth.xml as the
external meter, and the sums that arrive for the external screen are printed.

    leat graph run smooth.xml --attach unix:door --until idle & seq 1 9 | python3 external.py unix:door; wait

With a second argument it belongs to that task, of several in one engine (leat graph run --attach 1=unix:door).

A datagram is a packet with 6 octets before it: direction, length of the packet, and a hardware address, which is 0
here. All integers are little-endian. The host numbers externals in the order of the file: meter is 0, screen 1.
"""
import socket
import struct
import sys
import time

DEV, CTL, EXT, SUP = range(4)
BARRIER, STOP, KILL = 0xFD, 0xFE, 0xFF


class Externals:
    """A connection to leat graph run --attach, for any number of externals."""

    def __init__(self, address, task=0):
        self.task = task  # of several in one engine
        kind, place = address.split(":", 1)
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            while self.socket.connect_ex(place):  # leat is still compiling
                time.sleep(0.05)
        else:
            host, _, port = place.partition(":")
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.connect((host, int(port or 4255)))

    def send(self, packet_class, opcode, device, pin_address, payload=b""):
        packet = struct.pack("<HBBI", device, opcode, packet_class << 6 | self.task, pin_address) + payload
        packet = packet.ljust((len(packet) + 15) // 16 * 16, b"\0")
        self.socket.send(struct.pack("<BBI", packet_class >> 1, len(packet), 0) + packet)

    def receive(self):
        """The next packet: class, opcode, device, pin address, payload."""
        frame = self.socket.recv(256)
        if not frame:
            raise EOFError("leat has ended")
        device, opcode, top, pin_address = struct.unpack_from("<HBBI", frame, 6)
        if opcode == KILL:
            raise RuntimeError(frame[14:].split(b"\0")[0].decode())
        return top >> 6, opcode, device, pin_address, frame[14:]

    def attach(self, *names):
        """Waits until the application runs."""
        self.socket.settimeout(1)
        released = set()
        while len(released) < len(names):
            for name in names:  # UDP may lose a datagram, so it is sent again
                self.send(SUP, BARRIER, 0, 0, name.encode())
            try:
                while len(released) < len(names):
                    packet = self.receive()
                    if packet[:2] == (CTL, BARRIER):
                        released.add(packet[2])
            except (socket.timeout, ConnectionRefusedError):
                time.sleep(0.05)
        self.socket.settimeout(None)

    def detach(self, *names):
        for name in names:
            self.send(SUP, STOP, 0, 0, name.encode())


def main():
    graph = Externals(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    graph.attach("meter", "screen")
    for t, line in enumerate(sys.stdin):
        try:
            graph.send(EXT, 0, 0, 0, struct.pack("<Ii", t, int(line)))
        except BrokenPipeError:
            pass  # CTL/STOP waits to be read
        while True:
            packet_class, opcode, device, _, payload = graph.receive()
            if (packet_class, device) == (EXT, 1):
                break
            if (packet_class, opcode) == (CTL, STOP):
                sys.exit("external.py: the application has stopped")
        print(struct.unpack_from("<Iq", payload)[1])
    graph.detach("meter", "screen")


if __name__ == "__main__":
    main()
