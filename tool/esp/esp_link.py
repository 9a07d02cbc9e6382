# Cables that lose, double and reorder ESP packets: joins pairs of devices of this namespace, frame
# by frame. What is not ESP (ARP and the like) passes as it is.
# usage: esp_link.py LOSS DUPLICATION REORDERING SEED DEVICE=DEVICE...
# The three are chances per packet. Runs until it is killed; prints on SIGTERM what it did.
import random
import selectors
import signal
import socket
import sys
import time

ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING = 3, 263, 23
loss, duplication, reordering = (float(a) for a in sys.argv[1:4])
chance = random.Random(int(sys.argv[4]))
counts = {"passed": 0, "lost": 0, "doubled": 0, "late": 0}
late = []  # (when, socket, frame): what others overtake


def port(device):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.bind((device, 0))
    s.setblocking(False)
    return s


def is_esp(frame):
    kind = frame[12:14]
    if kind == b"\x88\xb5":
        return True
    return kind == b"\x08\x00" and (frame[23] == 253 or (frame[23] == 17 and frame[36:38] == b"\x10\x9d"))


def carry(to, frame):
    if not is_esp(frame):
        to.send(frame)
        return
    if chance.random() < loss:
        counts["lost"] += 1
        return
    copies = 1
    if chance.random() < duplication:
        counts["doubled"] += 1
        copies = 2
    for _ in range(copies):
        counts["passed"] += 1
        if chance.random() < reordering:
            counts["late"] += 1
            late.append((time.monotonic() + 0.02 * chance.random(), to, frame))
        else:
            to.send(frame)


def end(*_):
    print(" ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
selector = selectors.DefaultSelector()
for pair in sys.argv[5:]:
    a, b = (port(device) for device in pair.split("="))
    selector.register(a, selectors.EVENT_READ, b)
    selector.register(b, selectors.EVENT_READ, a)
print("ready", flush=True)
while True:
    for key, _ in selector.select(0.005 if late else None):
        try:
            while True:
                carry(key.data, key.fileobj.recv(2048))
        except OSError:
            pass
    now = time.monotonic()
    for item in [i for i in late if i[0] <= now]:
        late.remove(item)
        item[1].send(item[2])
