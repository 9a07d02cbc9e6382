"""Writers for the capture files in which tshark's own dissectors check ATM checksums.

pcap   any link type; USER0 (147) can be mapped to the dissector atm_oam_cell
erf    Endace's record format: type 4 holds a whole AAL5 CPCS-PDU behind a 4-octet ATM header
sniffer  Network General's DOS format: record 8 holds a whole cell and says which AAL it is
"""

import struct

LINK_ETHERNET = 1
LINK_USER0 = 147
SECOND = 1_000_000_000  # the first packet's time stamp; the others follow at 1 s


def pcap(packets, link_type):
    """packets: octet strings. Little-endian, microseconds."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type)
    for number, packet in enumerate(packets):
        out += struct.pack("<IIII", SECOND + number, 0, len(packet), len(packet)) + packet
    return out


def pcapng(packets):
    """packets: (link type, octets) pairs; one interface per link type, in order of appearance."""
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interfaces = []
    for number, (link_type, octets) in enumerate(packets):
        if link_type not in interfaces:
            interfaces.append(link_type)
            out += block(1, struct.pack("<HHI", link_type, 0, 0))
        time_us = (SECOND + number) * 1_000_000
        out += block(6, struct.pack("<IIIII", interfaces.index(link_type), time_us >> 32,
                                    time_us & 0xFFFFFFFF, len(octets), len(octets)) + octets)
    return out


def erf_aal5(pdus):
    """pdus: (4-octet ATM header, CPCS-PDU) pairs."""
    out = b""
    for number, (header, pdu) in enumerate(pdus):
        body = header + pdu
        # time (fraction, seconds), type 4 = AAL5, flags 4 = varying length, rlen, lost, wlen
        out += struct.pack("<II", 0, SECOND + number)
        out += struct.pack(">BBHHH", 4, 4, 16 + len(body), 0, len(body)) + body
    return out


def sniffer_aal34(cells):
    """cells: 53 octets each, whose payload is an AAL3/4 SAR-PDU."""
    def record(kind, body):
        return struct.pack("<HHH", kind, len(body), 0) + body

    version_major, atm, uncompressed, microseconds = 5, 10, 1, 1
    out = b"TRSNIFF data    \x1a"
    out += record(1, struct.pack("<hhhhbBbBbbhh", version_major, 0, 0, 0x21, 4, atm, uncompressed,
                                 microseconds, 0, 0, 0, 0))
    raw_cell, aal34 = 0x100, 2
    for number, cell in enumerate(cells):
        vpi = (cell[0] & 0x0F) << 4 | cell[1] >> 4
        vci = (cell[1] & 0x0F) << 12 | cell[2] << 4 | cell[3] >> 4
        frame = struct.pack("<HHBBhbbhhh", number, 0, 0, 0, len(cell), 0, 0, len(cell), 0, 0)
        atm_info = struct.pack("<IHHIBBHHHHHII", raw_cell, 0, 0, 0, aal34, 0, 0, vpi, vci, 0, 1,
                               0, 0)
        out += record(8, frame + atm_info + cell)
    return out + record(3, b"")


def read_pcapng(octets):
    """(link type, octets) of every packet of a little-endian capture, as pcapng writes it."""
    packets, links, at = [], [], 0
    while at < len(octets):
        kind, length = struct.unpack_from("<II", octets, at)
        if kind == 1:
            links.append(struct.unpack_from("<H", octets, at + 8)[0])
        elif kind == 6:
            interface, _, _, captured = struct.unpack_from("<IIII", octets, at + 8)
            packets.append((links[interface], octets[at + 28:at + 28 + captured]))
        at += length
    return packets
