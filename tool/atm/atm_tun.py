# A TCP transfer, for the test of leat atm tun: octets that both ends hash.
# usage: atm_tun.py receive ADDRESS         waits for one connection, prints the SHA-256 of what comes
#        atm_tun.py send ADDRESS OCTETS     sends so many pseudorandom octets, prints their SHA-256
import hashlib
import random
import socket
import sys
import time

PORT = 5001


def receive(address):
    with socket.socket() as s:
        s.bind((address, PORT))
        s.listen()
        found = hashlib.sha256()
        with s.accept()[0] as peer:
            while octets := peer.recv(65536):
                found.update(octets)
    return found


def connected(address):
    while True:
        try:
            return socket.create_connection((address, PORT))
        except ConnectionRefusedError:  # it does not listen yet
            time.sleep(0.05)


def send(address, count):
    octets = random.Random(1).randbytes(int(count))
    with connected(address) as s:
        s.sendall(octets)
    return hashlib.sha256(octets)


print((receive if sys.argv[1] == "receive" else send)(*sys.argv[2:]).hexdigest())
