#include "live_guard.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_XDP
#include <bpf/libbpf.h>
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    NET_ADMIN = CAP_NET_ADMIN,
    BPF = 39 /* CAP_BPF, since 5.8 */,
    STATUS_LEN = 8192,
    CAPABILITIES_LEN = 48
};
#define ONE(capability) (UINT64_C(1) << (capability))

static struct leat_live_guard own;

/* ---- capabilities ------------------------------------------------------------------------- */

static bool set_capabilities(uint64_t permitted, uint64_t effective)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct now[2], then[2] = { { 0 } };
    if (syscall(SYS_capget, &header, now)) return false;
    for (int i = 0; i < 2; i++) { /* it cannot keep what it does not have */
        then[i].permitted = now[i].permitted & (uint32_t)(permitted >> 32 * i);
        then[i].effective = then[i].permitted & (uint32_t)(effective >> 32 * i);
    }
    return syscall(SYS_capset, &header, then) == 0;
}

/* Does this kernel refuse any use of maps without CAP_BPF? No map has this descriptor. */
static bool maps_need_bpf(void)
{
    union bpf_attr attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.map_fd = (uint32_t)-1;
    return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attribute, sizeof attribute) && errno == EPERM;
}

static void drop_capabilities(bool xdp)
{
    uint64_t keep = xdp ? ONE(NET_ADMIN) : 0;
    for (unsigned long c = 0; c < 64 && prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        if (!((keep | ONE(BPF)) >> c & 1)) prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (xdp && set_capabilities(keep | ONE(BPF), keep) && maps_need_bpf()) keep |= ONE(BPF);
    set_capabilities(keep, keep);
}

/* ---- system calls ------------------------------------------------------------------------- */

#if defined(ARCH) && !defined(LEAT_LIVE_WITHOUT_FILTER)

/* Calls that only one of the architectures has are -1 on the other. */
#ifndef SYS_poll
#define SYS_poll (-1)
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait (-1)
#endif
#ifndef SYS_time
#define SYS_time (-1)
#endif

static const int harmful[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_clone,
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_fork
    SYS_fork,   SYS_vfork,
#endif
};

static const int harmless[] = {
    /* what is open */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_close, SYS_lseek, SYS_fstat,
    SYS_newfstatat, SYS_fcntl,
    /* packets */
    SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_accept,
    SYS_accept4, SYS_shutdown, SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername,
    /* waiting */
    SYS_poll, SYS_ppoll, SYS_epoll_wait, SYS_epoll_pwait, SYS_pselect6, SYS_futex, SYS_nanosleep,
    SYS_clock_nanosleep, SYS_restart_syscall, SYS_sched_yield,
    /* time, random numbers, oneself */
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_getrandom, SYS_getpid,
    SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    /* memory: mmap and mprotect are below */
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
    /* signals and the end */
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit,
    SYS_exit_group
};

/* Queries about devices, and whether a descriptor is a terminal. */
static const unsigned questions[] = { SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFHWADDR,
                                      SIOCGIFMTU,  SIOCETHTOOL,  0x5401 /* TCGETS */ };
static const struct {
    uint32_t family, type;
} sockets[] = { { AF_UNIX, SOCK_DGRAM },
                { AF_INET, SOCK_DGRAM },
                { AF_INET6, SOCK_DGRAM },
                { AF_NETLINK, SOCK_RAW } };
static const int uses_of_bpf[] = { BPF_MAP_LOOKUP_ELEM,    BPF_MAP_UPDATE_ELEM,
                                   BPF_MAP_DELETE_ELEM,    BPF_MAP_GET_NEXT_KEY,
                                   BPF_OBJ_GET_INFO_BY_FD, BPF_LINK_CREATE };

enum { CODE_MAX = 512 };
struct code {
    struct sock_filter line[CODE_MAX];
    unsigned short len;
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void add(struct code *code, struct sock_filter line)
{
    if (code->len == CODE_MAX) abort(); /* the lists above are ours */
    code->line[code->len++] = line;
}

static void load(struct code *code, size_t at)
{
    add(code, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

static void answer(struct code *code, uint32_t verdict)
{
    add(code, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* The next `count` lines apply to this value only. */
static void if_is(struct code *code, uint32_t value, uint8_t count)
{
    add(code, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
}

static void on(struct code *code, int call, uint32_t verdict)
{
    if (call < 0) return;
    if_is(code, (uint32_t)call, 1);
    answer(code, verdict);
}

/* An argument, of 32 bits that matter, equals `value` under a mask. */
struct where {
    uint32_t argument, mask, value;
};

static void allow_where(struct code *code, int call, const struct where *all, uint8_t count)
{
    enum { LINES = 3 }; /* of each condition */
    if_is(code, (uint32_t)call, (uint8_t)(LINES * count + 2));
    for (uint8_t i = 0; i < count; i++) {
        /* Both architectures have the low half first. */
        load(code, offsetof(struct seccomp_data, args) + 8 * (size_t)all[i].argument);
        add(code, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, all[i].mask));
        if_is(code, all[i].value, (uint8_t)(LINES * (count - 1 - i) + 1));
    }
    answer(code, SECCOMP_RET_ALLOW);
    load(code, offsetof(struct seccomp_data, nr));
}

static void allow_with(struct code *code, int call, uint32_t argument, uint32_t value)
{
    allow_where(code, call, &(struct where){ argument, UINT32_MAX, value }, 1);
}

static void allow_sockets(struct code *code)
{
    for (size_t i = 0; i < COUNT(sockets); i++) {
        const struct where is[] = { { 0, UINT32_MAX, sockets[i].family },
                                    { 1, 0xf /* but SOCK_CLOEXEC and the like */,
                                      sockets[i].type } };
        allow_where(code, SYS_socket, is, 2);
    }
}

static void write_filter(struct code *code, unsigned needs, int folder)
{
    code->len = 0;
    load(code, offsetof(struct seccomp_data, arch));
    add(code, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
    answer(code, SECCOMP_RET_KILL_PROCESS); /* another instruction set has other numbers */
    load(code, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT(harmless); i++)
        on(code, harmless[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < COUNT(harmful); i++)
        on(code, harmful[i], SECCOMP_RET_KILL_PROCESS);
    const struct where no_code = { 2, PROT_EXEC, 0 };
    allow_where(code, SYS_mmap, &no_code, 1);
    allow_where(code, SYS_mprotect, &no_code, 1);
    allow_with(code, SYS_tgkill, 0, (uint32_t)getpid()); /* abort() */
    for (size_t i = 0; i < COUNT(questions); i++)
        allow_with(code, SYS_ioctl, 1, questions[i]);
    if (folder >= 0) allow_with(code, SYS_unlinkat, 0, (uint32_t)folder);
    if (needs) allow_sockets(code);
    if (needs) on(code, SYS_bind, SECCOMP_RET_ALLOW);
    if (needs & LEAT_LIVE_ADDRESS) on(code, SYS_connect, SECCOMP_RET_ALLOW);
    for (size_t i = 0; needs & LEAT_LIVE_XDP && i < COUNT(uses_of_bpf); i++)
        allow_with(code, SYS_bpf, 0, (uint32_t)uses_of_bpf[i]);
    answer(code, SECCOMP_RET_ERRNO | EPERM);
}

static void install_filter(unsigned needs, int folder)
{
    static struct code code;
    write_filter(&code, needs, folder);
    const struct sock_fprog program = { code.len, code.line };
    /* SPEC_ALLOW: otherwise some kernels slow the process down, to keep code that it runs for
     * others from reading its memory by speculation. It runs none. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
static void install_filter(unsigned needs, int folder)
{
    (void)needs, (void)folder;
}
#endif

bool leat_live_guard_is_for_tests(void)
{
#ifdef LEAT_LIVE_WITHOUT_FILTER
    return true;
#else
    return false;
#endif
}

/* Why there is no filter, as far as known. */
static const char *reason(void)
{
#if defined(LEAT_LIVE_WITHOUT_FILTER)
    return " (this build has none)";
#elif !defined(ARCH)
    return " (there is none for this processor)";
#else
    return " (the system refuses it)";
#endif
}

/* ---- what holds ---------------------------------------------------------------------------- */

/* A line of /proc/PID/status; 0 if it is missing. */
static uint64_t number_of(const char *status, const char *name, int base)
{
    const char *line = strstr(status, name);
    return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

/* *filters is their number: a container may have had one before. */
static bool read_status(int fd, struct leat_live_guard *guard, uint64_t *filters)
{
    char status[STATUS_LEN];
    const ssize_t len = pread(fd, status, sizeof status - 1, 0);
    if (len <= 0) return false;
    status[len] = 0;
    guard->capabilities = number_of(status, "\nCapEff:", 16);
    guard->no_new_privs = number_of(status, "\nNoNewPrivs:", 10) == 1;
    *filters = number_of(status, "\nSeccomp_filters:", 10); /* since 5.9 */
    if (!*filters) *filters = number_of(status, "\nSeccomp:", 10) == SECCOMP_MODE_FILTER;
    return true;
}

static bool inspect(const char *path, struct leat_live_guard *guard, uint64_t *filters)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool is_read = read_status(fd, guard, filters);
    close(fd);
    return is_read;
}

static void read_root(const char *path, char root[LEAT_LIVE_GUARD_ROOT_LEN])
{
    const ssize_t len = readlink(path, root, LEAT_LIVE_GUARD_ROOT_LEN - 1);
    root[len > 0 ? len : 0] = 0;
}

bool leat_live_guard_inspect(int process, struct leat_live_guard *guard)
{
    struct leat_live_guard here;
    uint64_t filters, filters_here;
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/status", process);
    if (!inspect(path, guard, &filters) || !inspect("/proc/self/status", &here, &filters_here))
        return false;
    guard->filtered = filters > filters_here;
    snprintf(path, sizeof path, "/proc/%d/root", process);
    read_root(path, guard->root);
    return true;
}

const struct leat_live_guard *leat_live_guard_own(void)
{
    return &own;
}

/* Those that a process may keep have names. */
static void name_capabilities(uint64_t all, char text[CAPABILITIES_LEN])
{
    const char *name = all == 0                             ? "no capability"
                       : all == ONE(NET_ADMIN)              ? "CAP_NET_ADMIN"
                       : all == ONE(BPF)                    ? "CAP_BPF"
                       : all == (ONE(NET_ADMIN) | ONE(BPF)) ? "CAP_NET_ADMIN CAP_BPF"
                                                            : NULL;
    if (name)
        snprintf(text, CAPABILITIES_LEN, "%s", name);
    else
        snprintf(text, CAPABILITIES_LEN, "capabilities 0x%llx", (unsigned long long)all);
}

bool leat_live_guard_text(const struct leat_live_guard *g, char text[LEAT_LIVE_GUARD_TEXT_LEN])
{
    const bool few = !(g->capabilities & ~(ONE(NET_ADMIN) | ONE(BPF)));
    const bool confined = g->no_new_privs && g->filtered && few;
    char kept[CAPABILITIES_LEN];
    name_capabilities(g->capabilities, kept);
    snprintf(text, LEAT_LIVE_GUARD_TEXT_LEN, "%s%s%s%s, keeps %s%s%s", confined ? "yes" : "no",
             g->no_new_privs ? "" : ", may gain privileges",
             g->filtered ? "" : ", no filter of system calls", g->filtered ? "" : reason(), kept,
             *g->root ? ", root " : "", g->root);
    return confined;
}

/* Makes this folder the root; false: not permitted, or there is none. */
static bool make_root(int folder)
{
    char path[32], root[LEAT_LIVE_GUARD_ROOT_LEN];
    read_root("/proc/self/root", own.root);
    if (folder < 0) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    read_root(path, root); /* while there is a /proc */
    if (fchdir(folder) || chroot(".") || chdir("/")) return false;
    memcpy(own.root, root, sizeof root);
    return true;
}

void leat_live_guard(unsigned needs, const struct live_home *home)
{
    const int status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    int folder = home ? home->folder : -1;
    uint64_t before = 0, after = 0;
    if (status >= 0) read_status(status, &own, &before);
#ifdef HAVE_XDP
    if (needs & LEAT_LIVE_XDP) libbpf_num_possible_cpus(); /* from a file, and remembered */
#endif
    /* The filter sees the folder's descriptor, but unlinkat ignores that if a name begins with /.
     * The folder therefore becomes /; where that is impossible, the file stays. */
    if (!make_root(folder)) folder = -1;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_capabilities(needs & LEAT_LIVE_XDP);
    install_filter(needs, folder);
    if (status < 0) return;
    own.filtered = read_status(status, &own, &after) && after > before;
    close(status);
}
