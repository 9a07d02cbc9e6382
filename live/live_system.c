#include "live_system.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* ---- rights ------------------------------------------------------------------------------- */

static const struct {
    unsigned right;
    int number;
    const char *name;
} rights_known[] = {
    { LIVE_NET_RAW, CAP_NET_RAW, "CAP_NET_RAW" },
    { LIVE_NET_ADMIN, CAP_NET_ADMIN, "CAP_NET_ADMIN" },
    { LIVE_BPF, 39 /* CAP_BPF, since 5.8 */, "CAP_BPF" },
    { LIVE_PERFMON, 38 /* CAP_PERFMON, since 5.8 */, "CAP_PERFMON" },
    { LIVE_SYS_ADMIN, CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
};
enum { RIGHTS = sizeof rights_known / sizeof *rights_known, RIGHTS_TEXT_LEN = 96 };

/* Those of these rights that this process does not have. */
static unsigned missing_of(unsigned rights)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 } };
    if (syscall(SYS_capget, &head, data)) return 0;
    for (size_t i = 0; i < RIGHTS; i++) {
        const int number = rights_known[i].number;
        if (data[number / 32].effective >> number % 32 & 1) rights &= ~rights_known[i].right;
    }
    return rights;
}

/* Their names with `between`. */
static void name_rights(unsigned rights, const char *between, char text[RIGHTS_TEXT_LEN])
{
    size_t used = 0;
    for (size_t i = 0; i < RIGHTS; i++)
        if (rights & rights_known[i].right)
            used += (size_t)snprintf(text + used, RIGHTS_TEXT_LEN - used, "%s%s",
                                     used ? between : "", rights_known[i].name);
}

/* ", or once: sudo setcap cap_net_raw+ep /usr/bin/leat", with the rights that it has already. */
static void setcap_text(unsigned missing, char text[LIVE_WHY_LEN])
{
    const unsigned all = LIVE_NET_RAW | LIVE_XDP;
    char names[RIGHTS_TEXT_LEN], program[PATH_MAX];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    *text = 0;
    if (len < 0 || missing & LIVE_SYS_ADMIN) return;
    program[len] = 0;
    name_rights(missing | (all & ~missing_of(all)), ",", names);
    for (char *c = names; *c; c++)
        *c = (char)tolower(*c);
    live_because(text, ", or once: sudo setcap %s+ep %s", names, program);
}

bool live_refused(char *why, const char *what, unsigned rights, const char *instead)
{
    char names[RIGHTS_TEXT_LEN], once[LIVE_WHY_LEN];
    const int err = errno;
    const unsigned missing = err == EPERM || err == EACCES ? missing_of(rights) : 0;
    if (!missing) return live_because(why, "%s: %s", what, strerror(err));
    name_rights(missing, ", ", names);
    setcap_text(missing, once);
    return live_because(why, "%s: %s, missing %s: expected sudo%s%s", what, strerror(err), names,
                        once, instead);
}

bool live_may(const char *what, unsigned rights, char *why)
{
    if (!missing_of(rights)) return true;
    errno = EPERM;
    return live_refused(why, what, rights, "");
}

/* ---- the system --------------------------------------------------------------------------- */

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

bool live_device_driver(const char *device, char name[LIVE_DRIVER_LEN])
{
    struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq request = { .ifr_data = (void *)&driver };
    *name = 0;
    if (!live_device_query(-1, device, SIOCETHTOOL, &request)) return false;
    snprintf(name, LIVE_DRIVER_LEN, "%.31s", driver.driver);
    return true;
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
