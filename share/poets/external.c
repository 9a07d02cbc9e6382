/*
 * external.py in C: a process of two externals of smooth.xml. It needs nothing of leat.
 *
 *   cc -o external external.c
 *   (leat graph run smooth.xml --attach unix:door --until idle &) ; seq 1 9 | ./external unix:door
 *
 * A datagram is a packet with 6 octets before it: direction, length of the packet, and a hardware
 * address, which is 0 here. All integers are little-endian.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEV, CTL, EXT, SUP };
enum { BARRIER = 0xfd, STOP = 0xfe, KILL = 0xff };
enum { BEFORE = 6, HEADER = 8, PAYLOAD_MAX = 56, FRAME_MAX = BEFORE + HEADER + PAYLOAD_MAX };
enum { METER, SCREEN, EXTERNALS }; /* as the file numbers them */

struct packet {
    int class, opcode, device;
    uint8_t payload[PAYLOAD_MAX];
};

static int task; /* of several in one engine */

static void put(uint8_t *at, uint64_t value, int octets)
{
    for (int i = 0; i < octets; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, int octets)
{
    uint64_t value = 0;
    for (int i = 0; i < octets; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static void end(const char *what)
{
    perror(what);
    exit(1);
}

/* unix:PATH or udp:ADDRESS:PORT. leat may still be compiling. */
static int reach(const char *address)
{
    struct sockaddr_un path = { .sun_family = AF_UNIX };
    struct sockaddr_in place = { .sin_family = AF_INET };
    char host[64] = "";
    unsigned port = 4255;
    const int is_unix = strncmp(address, "unix:", 5) == 0;
    if (!is_unix && (sscanf(address, "udp:%63[0-9.]:%u", host, &port) < 1 ||
                     inet_pton(AF_INET, host, &place.sin_addr) != 1)) {
        fprintf(stderr, "external: %s: expected unix:PATH or udp:ADDRESS[:PORT]\n", address);
        exit(2);
    }
    place.sin_port = htons((uint16_t)port);
    if (is_unix) strncpy(path.sun_path, address + 5, sizeof path.sun_path - 1);
    const int fd = socket(is_unix ? AF_UNIX : AF_INET, is_unix ? SOCK_SEQPACKET : SOCK_DGRAM, 0);
    while (connect(fd, is_unix ? (void *)&path : (void *)&place,
                   is_unix ? sizeof path : sizeof place) != 0)
        usleep(50000);
    return fd;
}

static void send_packet(int fd, int class, int opcode, int device, const void *payload, int len)
{
    uint8_t frame[FRAME_MAX] = { 0 };
    const int packet_len = (HEADER + len + 15) / 16 * 16;
    frame[0] = (uint8_t)(class >> 1);
    frame[1] = (uint8_t)packet_len;
    put(frame + BEFORE, (uint64_t)device, 2);
    frame[BEFORE + 2] = (uint8_t)opcode;
    frame[BEFORE + 3] = (uint8_t)(class << 6 | task);
    memcpy(frame + BEFORE + HEADER, payload, (size_t)len);
    if (send(fd, frame, (size_t)(BEFORE + packet_len), MSG_NOSIGNAL) < 0)
        usleep(50000); /* not there yet, or CTL/STOP waits to be read */
}

/* 0: nothing came within a second. */
static int receive_packet(int fd, struct packet *out)
{
    uint8_t frame[FRAME_MAX] = { 0 };
    const ssize_t len = recv(fd, frame, sizeof frame, 0);
    if (len == 0) end("external: leat has ended");
    if (len < 0) usleep(50000);
    if (len < BEFORE + HEADER) return 0;
    out->device = (int)get(frame + BEFORE, 2);
    out->opcode = frame[BEFORE + 2];
    out->class = frame[BEFORE + 3] >> 6;
    memcpy(out->payload, frame + BEFORE + HEADER, PAYLOAD_MAX);
    if (out->class == CTL && out->opcode == KILL) {
        fprintf(stderr, "external: refused: %.56s\n", (const char *)out->payload);
        exit(1);
    }
    return 1;
}

/* Waits until the application runs; UDP may lose a datagram, so it is sent again. */
static void attach(int fd)
{
    const struct timeval second = { .tv_sec = 1 };
    int released[EXTERNALS] = { 0 };
    struct packet packet;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    while (!released[METER] || !released[SCREEN]) {
        send_packet(fd, SUP, BARRIER, 0, "meter", 5);
        send_packet(fd, SUP, BARRIER, 0, "screen", 6);
        while ((!released[METER] || !released[SCREEN]) && receive_packet(fd, &packet))
            if (packet.class == CTL && packet.opcode == BARRIER && packet.device < EXTERNALS)
                released[packet.device] = 1;
    }
}

int main(int argc, char **argv)
{
    int32_t value;
    uint8_t sample[8];
    struct packet packet;
    if (argc != 2 && argc != 3)
        return fprintf(stderr, "usage: external unix:PATH|udp:ADDRESS[:PORT] [TASK]\n"), 2;
    if (argc == 3) task = atoi(argv[2]);
    const int fd = reach(argv[1]);
    attach(fd);
    for (uint32_t t = 0; scanf("%d", &value) == 1; t++) {
        put(sample, t, 4);
        put(sample + 4, (uint32_t)value, 4);
        send_packet(fd, EXT, 0, METER, sample, sizeof sample); /* along output pin 0 */
        do {
            while (!receive_packet(fd, &packet)) {
            }
            if (packet.class == CTL && packet.opcode == STOP)
                return fprintf(stderr, "external: the application has stopped\n"), 1;
        } while (packet.class != EXT || packet.device != SCREEN);
        printf("%lld\n", (long long)get(packet.payload + 4, 8));
    }
    send_packet(fd, SUP, STOP, 0, "meter", 5);
    send_packet(fd, SUP, STOP, 0, "screen", 6);
    return 0;
}
