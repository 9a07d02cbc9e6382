"""SipHash-2-4, for tests that forge or check packets with keys."""
import struct


def rotate(x, n):
    return (x << n | x >> (64 - n)) & (2**64 - 1)


def siphash(key, data):
    """SipHash-2-4 of Aumasson and Bernstein, from their paper."""
    mask = 2**64 - 1
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    tail = data[len(data) // 8 * 8:]
    words = list(struct.unpack(f"<{len(data) // 8}Q", data[: len(data) // 8 * 8]))
    words.append(int.from_bytes(tail, "little") | (len(data) & 255) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
