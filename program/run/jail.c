#include "jail.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROCESSES_MAX = 16384,
    WHY_LEN = 200,
    NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC
};

static const char own_memory[] = "/dev/shm";

struct leat_jail {
    struct leat_jail_limits limits;
    pid_t keeper;
    int handle; /* of the keeper: a pidfd */
};

/* ---- the keeper ------------------------------------------------------------------------------ */

/* What went wrong, from the keeper to leat; nothing: it is ready. */
struct report {
    char text[WHY_LEN];
};

static bool failed(struct report *report, const char *what)
{
    snprintf(report->text, sizeof report->text, "%s: %s", what, strerror(errno));
    return false;
}

static bool write_text(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return is_written;
}

/* The user is who they were, and nobody else. */
static bool keep_ids(uid_t user, gid_t group)
{
    char users[32], groups[32];
    snprintf(users, sizeof users, "%u %u 1", user, user);
    snprintf(groups, sizeof groups, "%u %u 1", group, group);
    return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups);
}

static bool set_read_only(const char *folder, unsigned flags, bool on)
{
    struct mount_attr attributes = { 0 };
    *(on ? &attributes.attr_set : &attributes.attr_clr) = MOUNT_ATTR_RDONLY;
    return !syscall(SYS_mount_setattr, AT_FDCWD, folder, flags, &attributes, sizeof attributes);
}

static bool arrange_files(const struct leat_jail_limits *limits, struct report *report)
{
    char size[48];
    snprintf(size, sizeof size, "size=%llu,mode=1777", (unsigned long long)limits->memory);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return failed(report, "mounts of its own");
    if (limits->writable && mount(limits->writable, limits->writable, NULL, MS_BIND | MS_REC, NULL))
        return failed(report, limits->writable);
    if (!set_read_only("/", AT_RECURSIVE, true)) return failed(report, "files that are read only");
    /* With what is mounted below, unless some of that is read only outside, too. */
    if (limits->writable && !set_read_only(limits->writable, AT_RECURSIVE, false) &&
        !set_read_only(limits->writable, 0, false))
        return failed(report, limits->writable);
    if (mount("leat", own_memory, "tmpfs", MS_NOSUID | MS_NODEV, size))
        return failed(report, "a memory at /dev/shm");
    return true;
}

static bool raise_loopback(void)
{
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool is_up = file >= 0 && !ioctl(file, SIOCSIFFLAGS, &request);
    if (file >= 0) close(file);
    return is_up;
}

static bool arrange(const struct leat_jail_limits *limits, struct report *report)
{
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(NAMESPACES)) return failed(report, "namespaces for users");
    if (!keep_ids(user, group)) return failed(report, "a user of a namespace");
    if (!raise_loopback()) return failed(report, "a loopback");
    return arrange_files(limits, report);
}

static _Noreturn void keep(const struct leat_jail_limits *limits, int to_leat, pid_t leat)
{
    struct report report = { { 0 } };
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leat) _exit(1);
    arrange(limits, &report);
    if (write(to_leat, &report, sizeof report) != sizeof report || *report.text) _exit(1);
    close(to_leat);
    for (;;)
        pause();
}

/* Once the keeper is ready, or has failed; signals do not end the wait. */
static bool await_report(int from_keeper, struct report *report)
{
    ssize_t len;
    while ((len = read(from_keeper, report, sizeof *report)) < 0 && errno == EINTR) {
    }
    return len == sizeof *report;
}

static bool start_keeper(struct leat_jail *jail, char *why, size_t why_cap)
{
    struct report report = { "its keeper has ended" };
    const pid_t leat = getpid();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(why, why_cap, "%s", strerror(errno));
        return false;
    }
    fflush(NULL);
    jail->keeper = fork();
    if (!jail->keeper) keep(&jail->limits, ends[1], leat);
    close(ends[1]);
    const bool is_told = jail->keeper > 0 && await_report(ends[0], &report);
    close(ends[0]);
    if (is_told && !*report.text) {
        jail->handle = (int)syscall(SYS_pidfd_open, jail->keeper, 0);
        if (jail->handle >= 0) return true;
        failed(&report, "the keeper of the jail");
    }
    snprintf(why, why_cap, "%s", report.text);
    return false;
}

/* By the jail's own memory. */
static bool is_hidden(const char *folder)
{
    const size_t len = strlen(own_memory);
    return strncmp(folder, own_memory, len) == 0 && (!folder[len] || folder[len] == '/');
}

static bool check_folder(const char *folder, char *why, size_t why_cap)
{
    struct stat status;
    if (stat(folder, &status))
        snprintf(why, why_cap, "%s: %s", folder, strerror(errno));
    else if (!S_ISDIR(status.st_mode) || folder[0] != '/')
        snprintf(why, why_cap, "%s: expected a folder, from / on", folder);
    else if (is_hidden(folder))
        snprintf(why, why_cap, "%s: expected a folder outside %s, which the jail hides", folder,
                 own_memory);
    else
        return true;
    return false;
}

/* Processes stay in the folder in which they are. */
static bool check_folders(const char *writable, char *why, size_t why_cap)
{
    char *here = getcwd(NULL, 0);
    if (!here) snprintf(why, why_cap, "this folder: %s", strerror(errno));
    const bool good = here && check_folder(here, why, why_cap) &&
                      (!writable || check_folder(writable, why, why_cap));
    free(here);
    return good;
}

struct leat_jail *leat_jail_open(const struct leat_jail_limits *limits, char *why, size_t why_cap)
{
    struct leat_jail *jail = calloc(1, sizeof *jail);
    if (!jail) {
        snprintf(why, why_cap, "no memory");
        return NULL;
    }
    *jail = (struct leat_jail){ .limits = *limits, .handle = -1 };
    if (check_folders(limits->writable, why, why_cap) && start_keeper(jail, why, why_cap))
        return jail;
    leat_jail_close(jail);
    return NULL;
}

void leat_jail_close(struct leat_jail *jail)
{
    if (!jail) return;
    if (jail->handle >= 0) close(jail->handle);
    if (jail->keeper > 0) {
        kill(jail->keeper, SIGKILL);
        while (waitpid(jail->keeper, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(jail);
}

int leat_jail_file(const struct leat_jail *jail, const char *inside)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%ld/root%s", (long)jail->keeper, inside);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* ---- entering -------------------------------------------------------------------------------- */

/* The shadow of sanitizers is more than any limit; what becomes another program has none. */
static uint64_t memory_of(const struct leat_jail_limits *limits)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    if (limits->is_alone) return RLIM_INFINITY;
#endif
    return limits->memory;
}

static const struct rlimit *lower(struct rlimit *now, uint64_t soft, uint64_t hard)
{
    if (now->rlim_max == RLIM_INFINITY || now->rlim_max > hard) now->rlim_max = hard;
    now->rlim_cur = soft < now->rlim_max ? soft : now->rlim_max;
    return now;
}

/* A macro: C libraries differ in the type of `what`. */
#define LIMIT(what, soft, hard) \
    (!getrlimit(what, &now) && !setrlimit(what, lower(&now, soft, hard)))

/* SIGXCPU says which limit it was; SIGKILL ends those that ignore it. */
static bool limit_all(const struct leat_jail_limits *limits)
{
    const uint64_t memory = memory_of(limits), seconds = limits->seconds;
    struct rlimit now;
    return LIMIT(RLIMIT_CORE, 0, 0) && LIMIT(RLIMIT_DATA, memory, memory) &&
           LIMIT(RLIMIT_CPU, seconds, seconds + 1) &&
           LIMIT(RLIMIT_NPROC, PROCESSES_MAX, PROCESSES_MAX);
}

/* Also for root, and for programs that are root's. */
static bool drop_privileges(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { { 0 } };
    for (int i = 0; prctl(PR_CAPBSET_READ, i) >= 0; i++)
        if (prctl(PR_CAPBSET_DROP, i)) return false;
    return !syscall(SYS_capset, &header, none) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Landlock's structures of Linux 6.12; older headers have only the beginning of the first. */
struct ruleset {
    uint64_t files, ports, scoped;
};
struct __attribute__((packed)) file_rule {
    uint64_t allowed;
    int32_t folder;
};
enum {
    LANDLOCK_VERSION = 1,
    LANDLOCK_FILES = 2, /* from Linux 5.19 on it lets files change their folder */
    LANDLOCK_SCOPES = 6,
    SCOPE_SIGNALS = 2,
    RULE_PATH_BENEATH = 1,
    WRITE_AND_MOVE = 1 << 1 | 1 << 13,
};
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

static long landlock_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
}

bool leat_jail_keeps_signals(void)
{
    return landlock_version() >= LANDLOCK_SCOPES;
}

static bool allow_writing(int rules, const char *folder)
{
    const struct file_rule rule = { WRITE_AND_MOVE,
                                    open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) };
    const bool is_allowed = rule.folder >= 0 &&
                            !syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0);
    if (rule.folder >= 0) close(rule.folder);
    return is_allowed;
}

/* Through a pipe in a folder a process would reach others, though the folder is read only. */
static bool allow_folders(int rules, const char *writable)
{
    return allow_writing(rules, "/dev") && allow_writing(rules, own_memory) &&
           allow_writing(rules, "/proc") && (!writable || allow_writing(rules, writable));
}

static bool confine(const char *writable)
{
    const long version = landlock_version();
    const struct ruleset confined = { .files = WRITE_AND_MOVE,
                                      .scoped = version >= LANDLOCK_SCOPES ? SCOPE_SIGNALS : 0 };
    if (version < LANDLOCK_FILES) return true;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &confined, sizeof confined, 0);
    const bool is_confined = rules >= 0 && allow_folders(rules, writable) &&
                             !syscall(SYS_landlock_restrict_self, rules, 0);
    if (rules >= 0) close(rules);
    return is_confined;
}

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_CALLS  0x40000000 /* those of x32 */
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_CALLS  UINT32_MAX
#endif

#ifdef ARCHITECTURE
/* Local sockets lead to other processes, as that of the session's services; the rest is much of the
 * kernel that programs do without. */
static const uint32_t refused[] = {
    SYS_bpf,     SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_keyctl,
    SYS_add_key, SYS_request_key,     SYS_mount,       SYS_umount2,        SYS_mount_setattr,
    SYS_setns,   SYS_unshare,         SYS_pivot_root,  SYS_chroot,         SYS_pidfd_getfd,
};
/* In namespaces of its own a process has all privileges, and with them much more of the kernel. */
#define OWN_NAMESPACES                                                                         \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID | \
     CLONE_NEWCGROUP)
/* Puts words into the terminal, as if the user had typed them for the shell. */
static const uint32_t typing[] = { TIOCSTI, TIOCLINUX };
static const uint32_t families[] = { AF_INET, AF_INET6, AF_NETLINK };

static const uint32_t refused_alone[] = {
    SYS_execve,
    SYS_execveat,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
};

struct filter {
    struct sock_filter code[128];
    unsigned short len;
};

static void put(struct filter *f, struct sock_filter instruction)
{
    f->code[f->len++] = instruction;
}

static void put_end(struct filter *f, uint32_t action)
{
    put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void put_load(struct filter *f, size_t at)
{
    put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

/* Ends with the action if the loaded word is this. */
static void put_case(struct filter *f, uint32_t word, uint32_t action)
{
    put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0, 1));
    put_end(f, action);
}

static void put_cases(struct filter *f, const uint32_t *word, size_t count, uint32_t action)
{
    for (size_t i = 0; i < count; i++)
        put_case(f, word[i], action);
}

/* The words that follow are those of an argument of one call; others skip them. */
static unsigned begin_call(struct filter *f, uint32_t call, unsigned argument)
{
    put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0));
    put_load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
    return f->len;
}

static void end_call(struct filter *f, unsigned began)
{
    f->code[began - 2].jf = (uint8_t)(f->len - began + 1);
}

#define COUNT(LIST) (sizeof(LIST) / sizeof *(LIST))

static bool filter_calls(bool is_alone)
{
    const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, unknown = SECCOMP_RET_ERRNO | ENOSYS;
    struct filter f = { .len = 0 };
    put_load(&f, offsetof(struct seccomp_data, arch));
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    put_end(&f, SECCOMP_RET_KILL_PROCESS);
    put_load(&f, offsetof(struct seccomp_data, nr));
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1));
    put_end(&f, refuse);
    put_cases(&f, refused, COUNT(refused), refuse);
    if (is_alone) put_cases(&f, refused_alone, COUNT(refused_alone), refuse);
    put_case(&f, SYS_clone3, unknown); /* its flags are out of reach: libc takes clone */
    const unsigned clone = begin_call(&f, SYS_clone, 0);
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, OWN_NAMESPACES, 0, 1));
    put_end(&f, refuse);
    if (is_alone) {
        put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
        put_end(&f, refuse);
    }
    put_end(&f, SECCOMP_RET_ALLOW);
    end_call(&f, clone);
    const unsigned ioctl = begin_call(&f, SYS_ioctl, 1);
    put_cases(&f, typing, COUNT(typing), refuse);
    put_end(&f, SECCOMP_RET_ALLOW);
    end_call(&f, ioctl);
    const unsigned limits = begin_call(&f, SYS_prlimit64, 0);
    put_case(&f, 0, SECCOMP_RET_ALLOW); /* its own; those of others may end them */
    put_end(&f, refuse);
    end_call(&f, limits);
    const unsigned socket = begin_call(&f, SYS_socket, 0);
    put_cases(&f, families, COUNT(families), SECCOMP_RET_ALLOW);
    put_end(&f, refuse);
    end_call(&f, socket);
    put_end(&f, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { .len = f.len, .filter = f.code };
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
static bool filter_calls(bool is_alone)
{
    (void)is_alone;
    errno = ENOSYS;
    return false;
}
#endif

bool leat_jail_enter(const struct leat_jail *jail)
{
    char *here = getcwd(NULL, 0);
    const bool is_inside = here && !setns(jail->handle, NAMESPACES) && !chdir(here);
    free(here);
    return is_inside && limit_all(&jail->limits) && drop_privileges() &&
           confine(jail->limits.writable) && filter_calls(jail->limits.is_alone);
}
