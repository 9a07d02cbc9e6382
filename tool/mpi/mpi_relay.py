"""A link that loses frames: copies those that arrive at IN to OUT, but for PERCENT of them, at random.

usage: mpi_relay.py IN OUT PERCENT SEED
"""
import random
import socket
import sys

ALL = 3  # ETH_P_ALL
OUTGOING = 4  # PACKET_OUTGOING


def main():
    source, target, percent, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    dice = random.Random(seed)
    arriving = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    arriving.bind((source, ALL))
    leaving = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    leaving.bind((target, 0))
    print("relays", flush=True)
    while True:
        frame, about = arriving.recvfrom(2048)
        if about[2] != OUTGOING and dice.random() * 100 >= percent:
            leaving.send(frame)


main()
