# Plain octets for the live test of PacketWay: what leat did not write itself.
# usage: pktway_live.py send DEVICE TO HEX[,HEX...] [N]   frames behind the Ethernet header, each N times
#        pktway_live.py raw DEVICE TO TYPE HEX [N]        the same with another beginning: no carriage
#        pktway_live.py hear DEVICE SECONDS PATTERN N     messages that come in and begin like this regular
#                                                         expression, as hex, one per line, each once,
#                                                         N at most
#        pktway_live.py echo ADDRESS                      answers UDP port 5000, until it is killed
#        pktway_live.py call FROM TO                      asks it with 900 octets, for a second
#        pktway_live.py liar DEVICE ADDRESS EI            a host that answers echoes as if they had come with
#                                                         that EI, until it is killed
#        pktway_live.py strange NAME                      asks for the process of that name over and over, and
#                                                         sends nothing else; first prints the reply
#        pktway_live.py squat NAME                        has the name of a process, or of an address as in
#                                                         -node/e1/000130, and answers all with an escape
#        pktway_live.py replay DEVICE FROM N              hears a keyed message of FROM to everybody, and sends
#                                                         it again N times, as FROM and then as itself
#        pktway_live.py rogue DEVICE TO ADDRESS HALF N    says that it is a half-router, then N RTBLs for HALF
import re
import socket
import struct
import sys
import threading
import time

TYPE = 0x88B7


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def carriage(message):
    return bytes.fromhex("0200000300") + struct.pack(">H", len(message) // 8) + message


def link(device):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(TYPE))
    s.bind((device, TYPE))
    return s


def frame(s, to, body, ethertype=TYPE):
    me = s.getsockname()[4]
    return (to + me + struct.pack(">H", ethertype) + body).ljust(60, b"\0")


def words(*values):
    return b"".join(struct.pack(">Q", v) for v in values)


def header(dt, te, pt, dl, sa):
    return words(dt << 32 | te << 16 | pt, dl << 32 | sa)


def rogue(device, to, address, half, count):
    """A half-router that nobody has asked for, and tables of networks that are not there."""
    s = link(device)
    info = words(0x2900000101000000 | address, 0x2B03000002000000)
    s.send(frame(s, to, carriage(header(0x7FFFFF, 25, 1, 2, address) + info + words(0))))
    for i in range(count):
        san = 0x400000 + 16 * (i % 0x20000)
        table = words(0x3002000700000001, 0x3100000001000000 | san, 0x2F04000101000000 | san + 1,
                      1 << 56 | address << 32, 0x2D02000000000000, 0x2E00000000000000,
                      0x2900000101000000 | san + 2, 0x2D02000000000000)
        s.send(frame(s, to, carriage(header(half, 29, 1, len(table) // 8, address) + table + words(0))))


def liar(device, address, ei):
    s = link(device)
    info = header(0x7FFFFF, 25, 1, 1, address) + words(0x2900000001000000 | address, 0)
    s.send(frame(s, b"\xff" * 6, carriage(info)))
    while True:
        octets = s.recv(2048)
        message = octets[21 : 21 + 8 * struct.unpack(">H", octets[19:21])[0]]
        te, pt = struct.unpack(">HH", message[4:8])
        if (te, pt) == (27, 1):  # WRU?
            s.send(frame(s, b"\xff" * 6, carriage(info)))
        elif (te, pt) == (1, 1024) and message[1:4] == address.to_bytes(3, "big"):
            data = words(ei) + message[16:-8]
            reply = header(int.from_bytes(message[13:16], "big"), 2, 1024, len(data) // 8, address)
            s.send(frame(s, octets[6:12], carriage(reply + data + words(0))))


def control(name):
    return "\0leat-pktway" + (name if name.startswith("-") else "/" + name)


def strange(name):
    """Several at a time, so that there is always one who waits."""

    def ask(first):
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                s.connect(control(name))
                answer = s.recv(256)
                if first:
                    print(answer[1:].decode(), end="", flush=True)
                first = False

    for i in range(8):
        threading.Thread(target=ask, args=(i == 0,)).start()


def squat(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(control(name))
    s.listen()
    print("here", flush=True)
    while True:
        with s.accept()[0] as client:
            try:
                client.send(b"o\x1b[2Jbelieve me\n")
                client.send(b"x\0")
                client.recv(65536)
            except OSError:
                pass


def replay(device, source, count):
    s = link(device)
    while True:
        octets = s.recv(2048)
        if octets[:12] == b"\xff" * 6 + source and octets[37] & 0x3F == 0x3E:
            break
    for _ in range(count):
        s.send(octets)
    for _ in range(count):
        s.send(octets[:6] + s.getsockname()[4] + octets[12:])


def main(what, *args):
    if what in ("send", "raw"):
        s = link(args[0])
        count = int(args[-1]) if len(args) > (3 if what == "send" else 4) else 1
        for text in (args[2] if what == "send" else args[3]).split(","):
            body = bytes.fromhex(text)
            body = carriage(body) if what == "send" else body
            for _ in range(count):
                s.send(frame(s, mac(args[1]), body, TYPE if what == "send" else int(args[2], 16)))
    elif what == "hear":
        s = link(args[0])
        until = time.monotonic() + float(args[1])
        heard = set()
        print("ready", flush=True)
        while len(heard) < int(args[3]) and (left := until - time.monotonic()) > 0:
            s.settimeout(left)
            try:
                octets, where = s.recvfrom(2048)
            except TimeoutError:
                break
            message = octets[21 : 21 + 8 * struct.unpack(">H", octets[19:21])[0]].hex()
            if where[2] != 4 and message not in heard and re.match(args[2], message):  # not what goes out
                print(message, flush=True)
                heard.add(message)
    elif what == "echo":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind((args[0], 5000))
            while True:
                s.sendto(*s.recvfrom(2048))
    elif what == "call":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind((args[0], 0))
            s.settimeout(0.1)
            for _ in range(10):
                s.sendto(b"x" * 900, (args[1], 5000))
                try:
                    print(len(s.recv(2048)), "octets")
                    return
                except TimeoutError:
                    pass
            print("no answer")
    elif what == "strange":
        strange(args[0])
    elif what == "squat":
        squat(args[0])
    elif what == "replay":
        replay(args[0], mac(args[1]), int(args[2]))
    elif what == "liar":
        liar(args[0], int(args[1], 16), int(args[2], 16))
    elif what == "rogue":
        rogue(args[0], mac(args[1]), int(args[2], 16), int(args[3], 16), int(args[4]))


main(*sys.argv[1:])
