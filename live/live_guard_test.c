/*
 * A confined process, in a child each: what it may still do, what is refused, what ends it. The
 * kernel is the judge, by /proc/PID/status and by the errors of real system calls.
 */
#include "live_guard.h"
#include "tap.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, KILLED_BY = 128 };

/* The exit code of a child that does this, or KILLED_BY and the signal. */
static int in_child(int (*deed)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(deed());
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? KILLED_BY + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether this build and this kernel filter at all; if not, the other tests say so and pass. */
static int is_filtered(void)
{
    leat_live_guard(0, NULL);
    return leat_live_guard_own()->filtered ? DONE : 1;
}

static bool skips(void)
{
    static int filtered = -1;
    if (filtered < 0) filtered = in_child(is_filtered);
    if (filtered != DONE) printf("# no filter of system calls here: %s\n", __FILE__);
    return filtered != DONE;
}

/* The exit code of a child: the last two digits, and one, of the first line that is wrong. */
#define MUST(true_thing) \
    if (!(true_thing)) return __LINE__ % 100 + 1

static int confine_and_look(void)
{
    struct leat_live_guard before, after;
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    MUST(leat_live_guard_inspect(getpid(), &before));
    MUST(!before.filtered);
    leat_live_guard(0, NULL);
    after = *leat_live_guard_own();
    MUST(after.no_new_privs);
    MUST(after.capabilities == 0);
    MUST(leat_live_guard_text(&after, text) == after.filtered);
    return DONE;
}

static void a_confined_process_has_no_capability_and_gains_none(void)
{
    EQ(in_child(confine_and_look), DONE);
}

static int keep_for_xdp(void)
{
    struct leat_live_guard before;
    const uint64_t net_admin = UINT64_C(1) << 12, bpf = UINT64_C(1) << 39;
    MUST(leat_live_guard_inspect(getpid(), &before));
    leat_live_guard(LEAT_LIVE_XDP, NULL);
    const uint64_t after = leat_live_guard_own()->capabilities;
    MUST((after & ~(net_admin | bpf)) == 0);
    MUST((after & net_admin) == (before.capabilities & net_admin));
    return DONE;
}

static void who_puts_programs_on_devices_keeps_that_right_alone(void)
{
    EQ(in_child(keep_for_xdp), DONE);
}

/* The loop of a daemon, in small. */
static int serve(void)
{
    int pair[2];
    char octets[8];
    MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    leat_live_guard(0, NULL);
    struct pollfd wait = { .fd = pair[0], .events = POLLIN };
    struct timespec now, pause = { .tv_nsec = 1000 };
    MUST(poll(&wait, 1, 1) == 0);
    MUST(send(pair[1], "hello", 5, 0) == 5 && poll(&wait, 1, 1000) == 1);
    MUST(recv(pair[0], octets, sizeof octets, MSG_DONTWAIT) == 5);
    MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && nanosleep(&pause, NULL) == 0);
    char *memory = malloc(1 << 20), *more = malloc(100);
    MUST(memory && more);
    memset(memory, 1, 1 << 20);
    free(memory);
    free(more);
    struct ifreq request = { .ifr_name = "lo" };
    MUST(ioctl(pair[0], 0x8933 /* SIOCGIFINDEX */, &request) == 0);
    return close(pair[0]) || close(pair[1]);
}

static void the_loop_goes_on(void)
{
    EQ(in_child(serve), DONE);
}

#define REFUSED(call)         \
    do {                      \
        errno = 0;            \
        MUST((call) < 0);     \
        MUST(errno == EPERM); \
    } while (0)

static int try_what_is_not_in_the_list(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    leat_live_guard(0, NULL);
    REFUSED(open("/dev/null", O_RDONLY));
    REFUSED(open("/tmp/leat_live_guard_test", O_WRONLY | O_CREAT, 0600));
    REFUSED(unlink("/tmp/leat_live_guard_test"));
    REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
    REFUSED(connect(pair[0], (struct sockaddr *)&at, sizeof at));
    REFUSED(bind(pair[0], (struct sockaddr *)&at, sizeof at));
    REFUSED(listen(pair[0], 1));
    REFUSED(kill(getppid(), 0));
    REFUSED(chmod("/tmp", 0700));
    REFUSED(ioctl(pair[0], 0x5412 /* TIOCSTI */, "x"));
    REFUSED(syscall(SYS_bpf, 0, NULL, 0));
    REFUSED(mprotect((void *)((uintptr_t)&at & ~UINT64_C(4095)), 4096, PROT_READ | PROT_EXEC));
    MUST(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    return DONE;
}

static void what_is_not_in_the_list_is_refused(void)
{
    if (skips()) return;
    EQ(in_child(try_what_is_not_in_the_list), DONE);
}

static int look_at_devices(void)
{
    leat_live_guard(LEAT_LIVE_DEVICES, NULL);
    MUST(if_nametoindex("lo") > 0);
    MUST(socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
    MUST(socket(AF_PACKET, SOCK_RAW, 0) < 0);
    return DONE;
}

static void who_looks_at_devices_may(void)
{
    EQ(in_child(look_at_devices), DONE);
}

static int ask_for_my_address(void)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6,
                               .sin6_port = htons(4253),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    leat_live_guard(LEAT_LIVE_ADDRESS, NULL);
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    MUST(fd >= 0 || errno == EAFNOSUPPORT);
    MUST(fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) == 0 || errno != EPERM);
    if (leat_live_guard_own()->filtered) MUST(socket(AF_INET6, SOCK_STREAM, 0) < 0);
    return DONE;
}

static void who_asks_for_its_address_may(void)
{
    EQ(in_child(ask_for_my_address), DONE);
}

static int start_a_program(void)
{
    char *const words[] = { "/bin/true", NULL };
    leat_live_guard(LEAT_LIVE_XDP, NULL);
    execv(words[0], words);
    return 1;
}

static int start_a_process(void)
{
    leat_live_guard(LEAT_LIVE_XDP, NULL);
    return fork() == 0 ? 2 : 1;
}

static void programs_and_processes_are_its_end(void)
{
    if (skips()) return;
    EQ(in_child(start_a_program), KILLED_BY + SIGSYS);
    EQ(in_child(start_a_process), KILLED_BY + SIGSYS);
}

static int fail_an_assertion(void)
{
    leat_live_guard(0, NULL);
    abort();
}

static void an_assertion_ends_it_as_ever(void)
{
    EQ(in_child(fail_an_assertion), KILLED_BY + SIGABRT);
}

static void end_soon(int number)
{
    _exit(number);
}

static int be_terminated(void)
{
    signal(SIGTERM, end_soon);
    leat_live_guard(0, NULL);
    raise(SIGTERM);
    return 0;
}

static void a_signal_ends_it_in_order(void)
{
    EQ(in_child(be_terminated), SIGTERM);
}

/* ---- the file it leaves, and where it lives ------------------------------------------------- */

static char own_path[] = "/dev/shm/leat-guard-test.XXXXXX";
static char other_path[] = "/tmp/leat-guard-test.XXXXXX";
static int own_file;

static int take_the_file_away(void)
{
    struct live_home home;
    live_home_open(&home, own_file);
    MUST(home.folder >= 0 && strcmp(home.file, own_path + strlen("/dev/shm/")) == 0);
    leat_live_guard(0, &home);
    MUST(!live_home_is_gone(&home));
    MUST(strcmp(leat_live_guard_own()->root, geteuid() ? "/" : "/dev/shm") == 0);
    if (geteuid() == 0) MUST(unlinkat(home.folder, other_path, 0) < 0);
    live_home_leave(&home, "a test that is heard");
    return DONE;
}

/* As root: its root is the folder of the file, and no name leads elsewhere. */
static void it_takes_its_own_file_away_and_no_other(void)
{
    own_file = mkstemp(own_path);
    const int other = mkstemp(other_path);
    OK(own_file >= 0 && other >= 0);
    EQ(in_child(take_the_file_away), DONE);
    if (geteuid() == 0) OK(access(own_path, F_OK) != 0);
    OK(access(other_path, F_OK) == 0);
    unlink(own_path);
    unlink(other_path);
    close(own_file);
    close(other);
}

/* Users may not chroot: the filter then forbids them to remove anything. */
static int look_as_a_user(void)
{
    struct live_home home;
    if (geteuid() == 0) MUST(setuid(65534) == 0);
    live_home_open(&home, own_file);
    leat_live_guard(0, &home);
    MUST(strcmp(leat_live_guard_own()->root, "/") == 0);
    if (leat_live_guard_own()->filtered)
        MUST(unlinkat(home.folder, home.file, 0) < 0 && errno == EPERM);
    return DONE;
}

static void without_the_right_to_it_its_root_stays(void)
{
    char path[] = "/dev/shm/leat-guard-test.XXXXXX";
    own_file = mkstemp(path);
    OK(own_file >= 0);
    if (geteuid() == 0) OK(fchown(own_file, 65534, (gid_t)-1) == 0);
    EQ(in_child(look_as_a_user), DONE);
    unlink(path);
    close(own_file);
}

static void a_device_that_is_not_there_is_gone(void)
{
    struct live_home home;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    live_home_open(&home, -1);
    live_home_needs(&home, fd, if_nametoindex("lo"), 0);
    OK(!live_home_is_gone(&home));
    live_home_needs(&home, fd, if_nametoindex("lo"), 0x7ffffff0);
    home.check_at_s = 0;
    OK(live_home_is_gone(&home));
    OK(strstr(home.reason, "2147483632") != NULL);
    close(fd);
}

/* ---- files of namespaces --------------------------------------------------------------------- */

static char mark_before[LIVE_HOME_MARK_LEN];

static int have_another_mark(void)
{
    char mark[LIVE_HOME_MARK_LEN];
    MUST(unshare(CLONE_NEWNET) == 0);
    MUST(live_home_mark(mark));
    MUST(strcmp(mark, mark_before) != 0);
    const char *cookie = strchr(mark, '.'), *before = strchr(mark_before, '.');
    MUST(cookie && before);
    MUST(strcmp(cookie, ".0") == 0 || strcmp(cookie, before) != 0); /* .0: an old kernel */
    return DONE;
}

static void a_namespace_has_one_mark_and_no_other_has_it(void)
{
    char again[LIVE_HOME_MARK_LEN];
    OK(live_home_mark(mark_before) && live_home_mark(again));
    OK(strcmp(mark_before, again) == 0);
    if (geteuid() == 0) EQ(in_child(have_another_mark), DONE);
}

static void only_files_of_an_earlier_namespace_with_this_number_go(void)
{
    char mark[LIVE_HOME_MARK_LEN], prefix[32], path[5][128];
    unsigned long long number = 0, cookie = 0;
    OK(live_home_mark(mark) && sscanf(mark, "%llu.%llu", &number, &cookie) == 2);
    if (!cookie) {
        printf("# namespaces have no cookies here: %s\n", __FILE__);
        return;
    }
    snprintf(prefix, sizeof prefix, "leat-sweep%d", (int)getpid());
    snprintf(path[0], sizeof path[0], "/dev/shm/%s.%llu.%llu.a", prefix, number, cookie + 1);
    snprintf(path[1], sizeof path[1], "/dev/shm/%s.%llu.%llu.a", prefix, number, cookie);
    snprintf(path[2], sizeof path[2], "/dev/shm/%s.%llu.%llu.a", prefix, number + 1, cookie + 1);
    snprintf(path[3], sizeof path[3], "/dev/shm/%s.%llu.0.a", prefix, number);
    snprintf(path[4], sizeof path[4], "/dev/shm/%sx.%llu.%llu.a", prefix, number, cookie + 1);
    for (int i = 0; i < 5; i++)
        close(open(path[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    live_home_sweep(prefix);
    for (int i = 0; i < 5; i++) {
        EQ(access(path[i], F_OK) != 0, i == 0);
        unlink(path[i]);
    }
}

static void what_holds_is_reported_in_words(void)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    struct leat_live_guard g = { .no_new_privs = true, .filtered = true };
    OK(leat_live_guard_text(&g, text));
    OK(strcmp(text, "yes, keeps no capability") == 0);
    g.capabilities = UINT64_C(1) << 12;
    OK(leat_live_guard_text(&g, text));
    OK(strcmp(text, "yes, keeps CAP_NET_ADMIN") == 0);
    g.capabilities |= UINT64_C(1) << 39;
    OK(leat_live_guard_text(&g, text));
    OK(strcmp(text, "yes, keeps CAP_NET_ADMIN CAP_BPF") == 0);
    g.capabilities = UINT64_C(1) << 39;
    OK(leat_live_guard_text(&g, text));
    OK(strcmp(text, "yes, keeps CAP_BPF") == 0);
    g.capabilities = UINT64_C(1) << 21;
    OK(!leat_live_guard_text(&g, text));
    OK(strcmp(text, "no, keeps capabilities 0x200000") == 0);
    g = (struct leat_live_guard){ .filtered = true };
    OK(!leat_live_guard_text(&g, text));
    OK(strcmp(text, "no, may gain privileges, keeps no capability") == 0);
    g = (struct leat_live_guard){ .no_new_privs = true };
    OK(!leat_live_guard_text(&g, text));
    OK(strncmp(text, "no, no filter of system calls", 29) == 0);
    OK((strstr(text, "this build has none") != NULL) == leat_live_guard_is_for_tests());
    OK(!leat_live_guard_inspect(-1, &g));
    OK(leat_live_guard_inspect(getpid(), &g));
    OK(strcmp(g.root, "/") == 0);
    g = (struct leat_live_guard){ .no_new_privs = true, .filtered = true, .root = "/dev/shm" };
    OK(leat_live_guard_text(&g, text));
    OK(strcmp(text, "yes, keeps no capability, root /dev/shm") == 0);
}

TAP_MAIN(T(a_confined_process_has_no_capability_and_gains_none),
         T(who_puts_programs_on_devices_keeps_that_right_alone), T(the_loop_goes_on),
         T(what_is_not_in_the_list_is_refused), T(who_looks_at_devices_may),
         T(who_asks_for_its_address_may), T(programs_and_processes_are_its_end),
         T(an_assertion_ends_it_as_ever), T(a_signal_ends_it_in_order),
         T(it_takes_its_own_file_away_and_no_other), T(without_the_right_to_it_its_root_stays),
         T(a_device_that_is_not_there_is_gone), T(a_namespace_has_one_mark_and_no_other_has_it),
         T(only_files_of_an_earlier_namespace_with_this_number_go),
         T(what_holds_is_reported_in_words))
