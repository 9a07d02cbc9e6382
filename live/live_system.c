#include "live_system.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t ns_per_s = 1000000000;

bool live_because(char *why, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    vsnprintf(why, LIVE_WHY_LEN, text, list);
    va_end(list);
    return false;
}

uint64_t live_now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_nsec;
}

bool live_wait(int fd, uint64_t timeout_ns)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    const struct timespec t = { .tv_sec = (time_t)(timeout_ns / ns_per_s),
                                .tv_nsec = (long)(timeout_ns % ns_per_s) };
    return ppoll(&wait, 1, &t, NULL) >= 0;
}

bool live_device_query(int fd, const char *device, unsigned long what, struct ifreq *request)
{
    const int by = fd < 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : fd;
    snprintf(request->ifr_name, sizeof request->ifr_name, "%s", device);
    const bool answered = by >= 0 && ioctl(by, what, request) == 0;
    if (fd < 0 && by >= 0) close(by);
    return answered;
}

bool live_device_mac(const char *device, uint8_t *mac, char *why)
{
    struct ifreq request = { 0 };
    if (!live_device_query(-1, device, SIOCGIFHWADDR, &request))
        return live_because(why, "%s: no Ethernet address: %s", device, strerror(errno));
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
        return live_because(why, "%s is not an Ethernet, expected a device that is", device);
    memcpy(mac, request.ifr_hwaddr.sa_data, LIVE_MAC_LEN);
    return true;
}

bool live_packet_bind(int fd, uint32_t device, uint16_t type)
{
    const struct sockaddr_ll at = { .sll_family = AF_PACKET,
                                    .sll_protocol = htons(type),
                                    .sll_ifindex = (int)device };
    return bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
}
