/* What the kernel has and permits. */
#define _GNU_SOURCE /* faccessat, sched_getaffinity */
#include "doctor.h"
#include "live_system.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MIB = 1 << 20, SHARED_MIB_LOW = 16 };

/* ---- kernel and BPF ------------------------------------------------------------------------ */

static bool is_before(const char *release, int major, int minor)
{
    int has_major = 0, has_minor = 0;
    sscanf(release, "%d.%d", &has_major, &has_minor);
    return has_major < major || (has_major == major && has_minor < minor);
}

static void add_kernel(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "kernel", 0);
    struct utsname system;
    uname(&system);
    doctor_found(f, "%s %s on %s", system.sysname, system.release, system.machine);
    if (is_before(system.release, 5, 9))
        doctor_hint(f, "XDP needs Linux 5.9 (leat esp 5.8): leat uses sockets, which are slower; "
                       "update the kernel for XDP");
    else if (is_before(system.release, 6, 3))
        doctor_hint(f, "before Linux 6.3 the kernel does not say which devices send what native "
                       "XDP hands to them: leat uses generic XDP where it is in doubt");
}

/* The smallest XDP program, which passes all frames: loaded, attached to nothing, and closed. */
static bool load_program(void)
{
    const struct bpf_insn pass[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
                                     { .code = BPF_JMP | BPF_EXIT } };
    union bpf_attr attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.prog_type = BPF_PROG_TYPE_XDP;
    attribute.insns = (uint64_t)(uintptr_t)pass;
    attribute.insn_cnt = sizeof pass / sizeof *pass;
    attribute.license = (uint64_t)(uintptr_t) "GPL";
    const long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attribute, sizeof attribute);
    if (fd < 0) return false;
    close((int)fd);
    return true;
}

static void add_bpf(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "BPF", 0);
    char unprivileged[DOCTOR_WORD_LEN], why[LIVE_WHY_LEN];
    if (load_program()) {
        doctor_found(f, "the kernel takes XDP programs");
    } else {
        live_refused(why, "the kernel takes no XDP program", LIVE_NET_ADMIN | LIVE_BPF, "");
        doctor_found(f, "%s", why);
        doctor_hint(f, "leat uses sockets instead, which are slower");
    }
    if (doctor_read("/proc/sys/kernel/unprivileged_bpf_disabled", unprivileged,
                    sizeof unprivileged))
        doctor_found(f, ", kernel.unprivileged_bpf_disabled is %s", unprivileged);
}

static void add_jit(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "BPF compiler", 0);
    char on[DOCTOR_WORD_LEN];
    if (!doctor_read("/proc/sys/net/core/bpf_jit_enable", on, sizeof on)) {
        doctor_found(f, "not visible here (net.core.bpf_jit_enable)");
        return;
    }
    doctor_found(f, "net.core.bpf_jit_enable is %s", on);
    if (atoi(on) == 0)
        doctor_hint(f, "the kernel interprets programs, which is slower: as root, "
                       "sysctl net.core.bpf_jit_enable=1");
}

static void add_build(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "XDP in this leat", 0);
#ifdef HAVE_XDP
    doctor_found(f, "built in");
#else
    doctor_found(f, "not built in");
    doctor_hint(f, "leat uses sockets, which are slower; for XDP install clang, bpftool, "
                   "libbpf-dev and linux-libc-dev, and build leat again");
#endif
}

/* ---- rights ---------------------------------------------------------------------------------- */

static const struct {
    enum live_right right;
    const char *name, *what;
    unsigned parts; /* that do not work without */
    const char *instead;
} rights[] = {
    { LIVE_NET_RAW, "CAP_NET_RAW", "packet sockets", DOCTOR_RING,
      "without it, leat esp has --driver udp, leat pktway SANs of udp:, and leat ring a station "
      "that root lends by leat ring join --allow GROUP" },
    { LIVE_NET_ADMIN, "CAP_NET_ADMIN", "XDP, routing rules of leat esp, TUN devices", DOCTOR_ATM,
      "without it, leat ring and leat pktway use packet sockets, leat esp --driver udp" },
    { LIVE_BPF, "CAP_BPF", "XDP", 0, "without it, leat uses sockets, which are slower" },
    { LIVE_PERFMON, "CAP_PERFMON", "XDP", 0, "without it, leat uses sockets, which are slower" },
    { LIVE_SYS_ADMIN, "CAP_SYS_ADMIN",
      "XDP stations of leat ring and routers of leat esp, new network namespaces", DOCTOR_ATM,
      "without it, leat ring and leat esp use sockets, which are slower" },
};

static void add_rights(struct doctor_report *report)
{
    char why[LIVE_WHY_LEN];
    struct doctor_finding *f = doctor_add(report, "user", 0);
    doctor_found(f, geteuid() ? "%u, not root" : "%u, root", (unsigned)geteuid());
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        f = doctor_add(report, rights[i].name, rights[i].parts);
        doctor_found(f, "for %s", rights[i].what);
        if (live_may("this process", rights[i].right, why)) continue;
        if (rights[i].parts)
            doctor_lack(f, "%s", why);
        else
            doctor_hint(f, "%s", why);
        doctor_hint(f, "%s", rights[i].instead);
    }
}

/* ---- sockets, files, namespaces -------------------------------------------------------------- */

/* ESP uses one socket for both, IPv4 addresses as ::ffff:a.b.c.d. */
static void add_ipv6(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "IPv6 sockets", DOCTOR_ESP);
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        doctor_found(f, "there; leat esp uses them for IPv4, too");
        close(fd);
        return;
    }
    doctor_found(f, "%s", strerror(errno));
    doctor_lack(f, "leat esp uses IPv6 sockets for IPv4, too: boot without ipv6.disable=1");
}

static bool is_writable(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

static void add_shared(struct doctor_report *report)
{
    static const char path[] = "/dev/shm";
    struct doctor_finding *f = doctor_add(report, path, DOCTOR_RING | DOCTOR_ESP);
    struct statvfs room;
    if (!is_writable(path) || statvfs(path, &room)) {
        doctor_found(f, "%s", strerror(errno));
        doctor_lack(f, "stations and routers keep their files there: mount a tmpfs that you may "
                       "write to");
        return;
    }
    const uint64_t free_mib = (uint64_t)room.f_bavail * room.f_frsize / MIB;
    doctor_found(f, "writable, %llu MiB are free", (unsigned long long)free_mib);
    if (free_mib < SHARED_MIB_LOW)
        doctor_hint(f, "the stores of leat esp --capacity may not fit: remove files, or as root "
                       "mount -o remount,size=256M /dev/shm");
}

static void add_run(struct doctor_report *report)
{
    const bool is_there = access("/run/netns", F_OK) == 0;
    struct doctor_finding *f = doctor_add(report, "/run/netns", DOCTOR_ATM);
    if (is_writable(is_there ? "/run/netns" : "/run")) {
        doctor_found(f, is_there ? "writable" : "not there yet, /run is writable");
        return;
    }
    doctor_found(f, "%s", strerror(errno));
    doctor_lack(f, "leat atm tun and ip netns name their namespaces there: use sudo");
}

static void add_namespaces(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "network namespaces", DOCTOR_ATM);
    char most[DOCTOR_WORD_LEN], why[LIVE_WHY_LEN];
    if (access("/proc/self/ns/net", F_OK) != 0) {
        doctor_found(f, "this kernel has none, or /proc is not mounted");
        doctor_lack(f, "hosts of leat atm tun are network namespaces: mount /proc, or take a "
                       "kernel with CONFIG_NET_NS");
        return;
    }
    doctor_found(f, "the kernel has them");
    if (doctor_read("/proc/sys/user/max_net_namespaces", most, sizeof most)) {
        doctor_found(f, ", up to %s", most);
        if (atoi(most) == 0)
            doctor_lack(f, "none may be created: as root, sysctl user.max_net_namespaces=1024");
    }
    if (!live_may("to create one", LIVE_SYS_ADMIN, why)) doctor_lack(f, "%s", why);
}

static void add_tun(struct doctor_report *report)
{
    static const char path[] = "/dev/net/tun";
    struct doctor_finding *f = doctor_add(report, path, DOCTOR_ATM);
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0) {
        const bool is_loaded = access("/sys/class/misc/tun", F_OK) == 0;
        doctor_found(f, is_loaded ? "there" : "there; the kernel loads its module on first use");
        return;
    }
    const int err = errno;
    doctor_found(f, "%s", strerror(err));
    doctor_lack(f, err == ENOENT
                       ? "leat atm tun and leat pktway tun need it: as root, modprobe tun; a "
                         "container must be given this device"
                       : "leat atm tun and leat pktway tun need it: use sudo");
}

static void add_cores(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "processors", 0);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t ours;
    doctor_found(f, "%ld", online);
    if (sched_getaffinity(0, sizeof ours, &ours) == 0 && CPU_COUNT(&ours) < online)
        doctor_found(f, ", of which this process may use %d", CPU_COUNT(&ours));
}

void doctor_system(struct doctor_report *report)
{
    add_kernel(report);
    add_bpf(report);
    add_jit(report);
    add_build(report);
    add_rights(report);
    add_ipv6(report);
    add_shared(report);
    add_run(report);
    add_namespaces(report);
    add_tun(report);
    add_cores(report);
}
