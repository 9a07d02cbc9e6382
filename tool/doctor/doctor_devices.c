/* Network devices, as leat ring, leat esp and leat pktway would use them. */
#define _GNU_SOURCE /* struct ifaddrs' flags */
#include "doctor.h"
#include "live_system.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_XDP
#include "live_xdp.h"
#endif

static struct doctor_device devices[DOCTOR_DEVICES_MAX];

static uint32_t bits_of(const uint8_t *mask, size_t len)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < len; i++)
        bits += (uint32_t)__builtin_popcount(mask[i]);
    return bits;
}

static void put_address(struct doctor_device *d, const struct ifaddrs *a)
{
    const int family = a->ifa_addr->sa_family;
    const size_t at = family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
                                        : offsetof(struct sockaddr_in6, sin6_addr);
    char text[INET6_ADDRSTRLEN] = "?";
    inet_ntop(family, (const char *)a->ifa_addr + at, text, sizeof text);
    const uint32_t bits = a->ifa_netmask ? bits_of((const uint8_t *)a->ifa_netmask + at,
                                                   family == AF_INET ? 4 : 16)
                                         : 0;
    snprintf(d->address[d->address_count++], DOCTOR_ADDRESS_LEN, "%s/%u", text, bits);
}

static void read_addresses(uint32_t count)
{
    struct ifaddrs *all;
    if (getifaddrs(&all)) return;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        if (!a->ifa_addr ||
            (a->ifa_addr->sa_family != AF_INET && a->ifa_addr->sa_family != AF_INET6))
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(devices[i].name, a->ifa_name) == 0 &&
                devices[i].address_count < DOCTOR_ADDRESSES_MAX)
                put_address(&devices[i], a);
    }
    freeifaddrs(all);
}

static void describe(struct doctor_finding *f, const struct doctor_device *d)
{
    const char *kind = *d->kind ? d->kind : d->is_loopback ? "loopback" : d->driver;
    doctor_found(f, "%s%s%s", kind, *kind ? ", " : "",
                 !d->up       ? "down"
                 : d->carries ? "up"
                              : "up without a carrier");
    doctor_found(f, ", MTU %u", d->mtu_bytes);
    if (d->peer)
        doctor_found(f, ", its other end is device %u%s", d->peer,
                     d->is_peer_far ? " of another network namespace" : "");
    if (d->gro) doctor_found(f, ", GRO");
    if (d->leaves_checksums) doctor_found(f, ", senders leave checksums to it");
    for (uint32_t i = 0; i < d->address_count; i++)
        doctor_found(f, ", %s", d->address[i]);
}

#ifdef HAVE_XDP
/* Which part of leat a program belongs to; NULL: none, or there is no right to see it. */
static const char *owner_of(uint32_t program)
{
    static const char *const known[][2] = { { "aton_xdp", "of leat ring" },
                                            { "esp_xdp", "of leat esp" },
                                            { "packetway_xdp", "of leat pktway" } };
    live_xdp_quiet();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int fd = live_xdp_program(program, known[i][0]);
        if (fd < 0) continue;
        close(fd);
        return known[i][1];
    }
    return NULL;
}
#endif

static void judge_program(struct doctor_finding *f, const struct doctor_device *d)
{
    const char *owner = NULL;
    char why[LIVE_WHY_LEN];
    if (!d->xdp_program) return;
#ifdef HAVE_XDP
    owner = owner_of(d->xdp_program);
#endif
    doctor_found(f, ", XDP program %u%s%s, %s", d->xdp_program, owner ? " " : "",
                 owner ? owner : "", d->is_xdp_in_driver ? "native" : "generic");
    if (owner) return;
    if (!live_may("", LIVE_SYS_ADMIN, why)) {
        doctor_hint(f, "only root sees whether program %u is of leat: use sudo", d->xdp_program);
        return;
    }
    doctor_hint(f,
                "leat does not replace program %u of others: as root, ip link set dev %s xdp off, "
                "or use --driver packet",
                d->xdp_program, d->name);
}

/* What live_xdp_can_send says: the live parts choose the mode by it. A veth sends whatever program
 * it has itself. */
static void judge_sending(struct doctor_finding *f, const struct doctor_device *d)
{
#ifdef HAVE_XDP
    char why[LIVE_WHY_LEN];
    if (live_xdp_can_send(d->number, LIVE_XDP_OUT, why)) {
        doctor_found(f, ", sends what native XDP redirects to it");
        return;
    }
    if (!d->peer) /* attached, a program of leat may make it able to */
        doctor_hint(f,
                    "%s; leat ring join --out %s then runs XDP behind the driver (generic mode), "
                    "slower",
                    why, d->name);
    else
        doctor_hint(f, "%s: XDP runs behind the driver (generic mode), slower; for native mode, %s",
                    why,
                    live_xdp_is_reported(d->number) ? "at the other end: ethtool -K DEVICE gro on"
                                                    : "Linux 6.3 or later");
#else
    (void)f, (void)d;
#endif
}

static void judge(struct doctor_finding *f, const struct doctor_device *d)
{
    if (d->is_loopback) return;
    if (!d->is_ethernet) {
        doctor_hint(f, "not an Ethernet: leat ring cannot use it; leat esp and leat pktway by UDP");
        return;
    }
    if (!d->up)
        doctor_hint(f, "as root, ip link set dev %s up", d->name);
    else if (!d->carries)
        doctor_hint(f, "its cable, or its other end, is not up");
    judge_program(f, d);
    judge_sending(f, d);
}

/* Returns how many there are, at most DOCTOR_DEVICES_MAX; *more: those beyond. */
static uint32_t read_devices(uint32_t *more)
{
    struct if_nameindex *all = if_nameindex();
    uint32_t count = 0;
    *more = 0;
    for (const struct if_nameindex *i = all; i && i->if_index; i++) {
        if (count == DOCTOR_DEVICES_MAX) {
            ++*more;
            continue;
        }
        struct doctor_device *d = &devices[count];
        *d = (struct doctor_device){ .number = i->if_index };
        snprintf(d->name, sizeof d->name, "%.15s", i->if_name);
        if (doctor_link(d)) count++;
    }
    if (all) if_freenameindex(all);
    return count;
}

void doctor_devices(struct doctor_report *report)
{
    uint32_t more, usable = 0, ethernets = 0;
    const uint32_t count = read_devices(&more);
    read_addresses(count);
    for (uint32_t i = 0; i < count; i++) {
        const struct doctor_device *d = &devices[i];
        char name[DOCTOR_WORD_LEN];
        snprintf(name, sizeof name, "device %s", d->name);
        struct doctor_finding *f = doctor_add(report, name, 0);
        f->device = d;
        describe(f, d);
        judge(f, d);
        ethernets += d->is_ethernet;
        usable += d->is_ethernet && d->up;
    }
    struct doctor_finding *f = doctor_add(report, "Ethernet devices", DOCTOR_RING);
    doctor_found(f, "%u, of which %u are up", ethernets, usable);
    if (more) doctor_found(f, "; %u further devices are not shown", more);
    if (!ethernets && !more)
        doctor_lack(f, "leat ring needs one; leat esp and leat pktway can use UDP instead. For a "
                       "trial, as root: ip link add left type veth peer name right");
    else if (!usable && !more)
        doctor_lack(f, "switch one on: as root, ip link set dev DEVICE up");
}
