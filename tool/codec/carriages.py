"""Writes pcap files with our packets in every carriage, built by hand, and some foreign ones."""
import struct
import subprocess
import sys

leat, folder = sys.argv[1:]


def packet(*words):
    return bytes.fromhex(subprocess.check_output([leat, "encode", *words], text=True))


def write(name, link_type, *frames):
    with open(f"{folder}/{name}.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type))
        for frame in frames:
            f.write(struct.pack("<IIII", 1, 2, len(frame), len(frame)) + frame)


def ether(kind, payload, tag=b""):
    return (bytes(12) + tag + struct.pack(">H", kind) + payload).ljust(60, b"\0")


def ipv4(protocol, payload, options=b"\x94\x04\0\0"):
    length = 20 + len(options) + len(payload)
    head = struct.pack(">BBHHHBBH4s4s", 0x40 | (20 + len(options)) // 4, 0, length, 1, 0, 64,
                       protocol, 0, bytes([127, 0, 0, 1]), bytes([127, 0, 0, 2]))
    return head + options + payload


def ipv6(next_header, payload, extension=b"", kind=0):
    return (struct.pack(">IHBB", 6 << 28, len(extension) + len(payload),
                        kind if extension else next_header, 64)
            + bytes(32) + extension + payload)


def udp(port, payload):
    return struct.pack(">HHHH", 40000, port, 8 + len(payload), 0) + payload


esp = packet("esp", "opcode=COUNT")
aton = packet("aton", "opcode=MIN")
pktway = packet("packetway", "dt=0x201", "pt=PVM", "data=0102")
poets = packet("poets", "payload=0102")
ring = struct.pack(">IIBBH", 7, 8, 9, 0, 0)
counted = struct.pack(">H", len(pktway) // 8) + pktway
framed = struct.pack("<BBI", 0, len(poets), 0x411) + poets
vlan = struct.pack(">HH", 0x8100, 5)
router_alert = bytes([253, 0, 5, 2, 0, 0, 1, 0])

write("carriage_esp_ether", 1, ether(0x88B5, esp))
write("carriage_esp_vlan", 1, ether(0x88B5, esp, vlan))
write("carriage_esp_udp", 1, ether(0x0800, ipv4(17, udp(4253, esp))))
write("carriage_esp_udp6", 1, ether(0x86DD, ipv6(17, udp(4253, esp))))
write("carriage_esp_ip4", 1, ether(0x0800, ipv4(253, esp)))
write("carriage_esp_ip6", 1, ether(0x86DD, ipv6(253, esp, router_alert)))
write("carriage_esp_raw", 101, ipv4(253, esp))
write("carriage_esp_null", 0, struct.pack("<I", 2) + ipv4(17, udp(4253, esp)))
write("carriage_esp_sll", 113, bytes(14) + struct.pack(">H", 0x0800) + ipv4(17, udp(4253, esp)))
write("carriage_esp_sll2", 276, struct.pack(">H", 0x0800) + bytes(18) + ipv4(17, udp(4253, esp)))
write("carriage_esp_sll2_ether", 276, struct.pack(">H", 0x88B5) + bytes(18) + esp)
write("carriage_aton_sll2_vlan", 276,
      struct.pack(">H", 0x8100) + bytes(18) + struct.pack(">HH", 5, 0x88B6) + ring + aton)
write("carriage_esp_atomic", 101, ipv6(253, esp, bytes([253, 0, 0, 0, 0, 0, 0, 9]), 44))
write("carriage_esp_user", 149, esp)
write("carriage_aton_ether", 1, ether(0x88B6, ring + aton))
write("carriage_aton_user", 148, aton)
write("carriage_packetway_ether", 1, ether(0x88B7, bytes([2, 0, 0, 3, 0]) + counted))
write("carriage_packetway_udp", 1, ether(0x0800, ipv4(17, udp(4254, counted))))
write("carriage_packetway_user", 150, counted)
write("carriage_poets_udp", 1, ether(0x0800, ipv4(17, udp(4255, framed), b"")))
write("carriage_poets_user", 151, framed)
write("carriage_atm_user", 147, packet("atm", "vpi=1", "vci=40"))
write("carriage_atmtask_user", 147, packet("atmtask", "vpi=9"))
write("foreign", 1, ether(0x0806, bytes(28)), ether(0x0800, ipv4(6, bytes(20))),
      ether(0x0800, ipv4(17, udp(53, bytes(12)))))
write("fragment", 101, ipv6(253, esp, bytes([253, 0, 0, 1, 0, 0, 0, 9]), 44))
