#include "live_tun.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h> /* in6_ifreq */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IPV4_LEN = 4 };

static bool bring_up(const char *device, uint32_t mtu, char *why)
{
    struct ifreq request = { .ifr_mtu = (int)mtu };
    bool good = live_device_query(-1, device, SIOCSIFMTU, &request) &&
                live_device_query(-1, device, SIOCGIFFLAGS, &request);
    request.ifr_flags |= IFF_UP;
    good = good && live_device_query(-1, device, SIOCSIFFLAGS, &request);
    return good || live_refused(why, device, LIVE_NET_ADMIN, "");
}

int live_tun_open(const char *device, uint32_t mtu, char name[IF_NAMESIZE], char *why)
{
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    if (strlen(device) >= IF_NAMESIZE) {
        live_because(why, "device '%.40s', expected fewer characters", device);
        return -1;
    }
    memcpy(request.ifr_name, device, strlen(device) + 1);
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        live_because(why, "/dev/net/tun: %s%s", strerror(errno),
                     errno == EACCES ? ", expected sudo: only root may open it" : "");
        return -1;
    }
    if (ioctl(fd, TUNSETIFF, &request)) {
        live_refused(why, device, LIVE_NET_ADMIN, "");
    } else {
        memcpy(name, request.ifr_name, IF_NAMESIZE);
        if (bring_up(name, mtu, why)) return fd;
    }
    close(fd);
    return -1;
}

static bool address_4(const char *device, const uint8_t *address, uint32_t bits)
{
    struct ifreq request = { 0 };
    struct sockaddr_in in = { .sin_family = AF_INET };
    memcpy(&in.sin_addr, address, IPV4_LEN);
    memcpy(&request.ifr_addr, &in, sizeof in);
    if (!live_device_query(-1, device, SIOCSIFADDR, &request)) return false;
    in.sin_addr.s_addr = htonl(bits ? UINT32_MAX << (32 - bits) : 0);
    memcpy(&request.ifr_netmask, &in, sizeof in);
    return live_device_query(-1, device, SIOCSIFNETMASK, &request);
}

static bool address_6(const char *device, const uint8_t *address, uint32_t bits)
{
    struct in6_ifreq request = { .ifr6_prefixlen = bits,
                                 .ifr6_ifindex = (int)if_nametoindex(device) };
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    memcpy(&request.ifr6_addr, address, sizeof request.ifr6_addr);
    const bool good = ioctl(fd, SIOCSIFADDR, &request) == 0;
    const int err = errno;
    close(fd);
    errno = err;
    return good;
}

bool live_tun_address(const char *device, const uint8_t *address, uint32_t len, uint32_t bits,
                      char *why)
{
    const bool good = len == IPV4_LEN ? address_4(device, address, bits)
                                      : address_6(device, address, bits);
    return good || live_refused(why, device, LIVE_NET_ADMIN, "");
}
