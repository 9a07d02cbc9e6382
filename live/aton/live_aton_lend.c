#include "live_aton_lend.h"
#include "live_home.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* since 4.13 */
#endif

enum {
    NAME_LEN = 96,
    SOCKETS = 2, /* to send by and to receive from: after those of the driver */
    LENT_MAX = ATON_LENT_MAX + SOCKETS,
    GROUPS_MAX = 65536, /* of a user: NGROUPS_MAX */
    WAITING_MAX = 64,
    VERSION = 2,
    ANSWER_S = 2,
};

static const char owner[] = "lender";

/* What a borrower receives, beside the descriptors. */
struct loan {
    uint32_t version;
    uint32_t is_granted; /* otherwise `why` */
    struct aton_config config;
    char why[LIVE_WHY_LEN];
};

union control {
    struct cmsghdr head; /* for its alignment */
    char octets[CMSG_SPACE(sizeof(int) * LENT_MAX)];
};

static void close_all(const int *fd, int count)
{
    for (int i = 0; i < count; i++)
        if (fd[i] >= 0) close(fd[i]);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The file that tells whether there is a lender. */
static int open_file(uint32_t device, int flags, char *why)
{
    char mark[LIVE_HOME_MARK_LEN], name[NAME_LEN];
    if (!live_home_mark(mark)) {
        live_because(why, "/proc/self/ns/net: %s", strerror(errno));
        return -1;
    }
    live_home_sweep("leat-ring-lender");
    snprintf(name, sizeof name, "/leat-ring-lender.%s.%u", mark, device);
    return live_file_open(name, flags, owner, false, why);
}

static socklen_t socket_name(uint32_t device, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    const int len = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "leat-ring.%u.lender",
                             device);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

/* ---- the lender ------------------------------------------------------------------------------ */

static bool is_member(int client, gid_t group)
{
    struct ucred who;
    socklen_t len = sizeof who;
    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &len)) return false;
    if (who.uid == 0 || who.gid == group) return true;
    static gid_t groups[GROUPS_MAX];
    len = sizeof groups;
    if (getsockopt(client, SOL_SOCKET, SO_PEERGROUPS, groups, &len)) return false;
    for (size_t i = 0; i < len / sizeof *groups; i++)
        if (groups[i] == group) return true;
    return false;
}

static void send_loan(int client, const struct loan *loan, const int *fd, int count)
{
    union control control;
    struct iovec octets = { (void *)loan, sizeof *loan };
    struct msghdr message = { .msg_iov = &octets, .msg_iovlen = 1 };
    if (count) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.octets;
        message.msg_controllen = CMSG_SPACE(sizeof *fd * (size_t)count);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof *fd * (size_t)count);
        memcpy(CMSG_DATA(head), fd, sizeof *fd * (size_t)count);
    }
    /* A borrower that has gone, or does not read, is no concern of ours. */
    if (sendmsg(client, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

/* Everything is opened anew, so that borrowers do not share a queue. */
static void lend_to(int client, const char *device, gid_t group)
{
    struct loan loan = { .version = VERSION };
    int fd[LENT_MAX], count = 0;
    struct leat_aton_host *station = NULL;
    if (!is_member(client, group)) {
        live_because(loan.why,
                     "%s: the station is lent to group %u, of which this user is no "
                     "member, expected a member: usermod -aG",
                     device, (unsigned)group);
    } else if (leat_aton_host_open(device, &station, loan.why) == LEAT_ATON_HOST_OK) {
        loan.config = station->seat.config;
        count = station->driver->lend(&station->seat, fd);
        loan.is_granted = count > 0;
        if (!loan.is_granted) live_because(loan.why, "%s: its maps cannot be lent", device);
        fd[count] = station->send_fd;
        fd[count + 1] = station->receive_fd;
    }
    send_loan(client, &loan, fd, loan.is_granted ? count + SOCKETS : 0);
    close_all(fd, count);
    leat_aton_host_close(station);
}

struct start {
    uint32_t device;
    gid_t group;
    int file;
};

static int listen_at(uint32_t device, char *why)
{
    const struct timeval turn = { .tv_sec = 1 }; /* then it checks whether its device exists */
    struct sockaddr_un name;
    const socklen_t len = socket_name(device, &name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn) == 0 &&
        bind(fd, (const struct sockaddr *)&name, len) == 0 && listen(fd, WAITING_MAX) == 0)
        return fd;
    live_because(why, "the lender's socket: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

_Noreturn static void become_lender(void *context, int ready)
{
    const struct start *start = context;
    char why[LIVE_WHY_LEN] = "", device[IF_NAMESIZE] = "";
    struct live_home home;
    const int listening = listen_at(start->device, why);
    if (!*why && !live_file_lock(start->file)) live_because(why, "another process lends it");
    if (!if_indextoname(start->device, device)) live_because(why, "the device has gone");
    live_process_detach();
    if (chdir("/")) live_because(why, "/: %s", strerror(errno));
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    live_home_open(&home, start->file);
    live_home_needs(&home, listening, start->device, 0);
    if (write(ready, why, sizeof why) != (ssize_t)sizeof why || *why) _exit(1);
    close(ready);
    while (!live_home_is_gone(&home)) {
        const int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0) continue;
        lend_to(client, device, start->group);
        close(client);
    }
    live_home_leave(&home, "the lender of a station");
    _exit(0);
}

bool aton_lend_start(uint32_t device, gid_t group, char *why)
{
    const int file = open_file(device, O_CREAT, why);
    if (file < 0) return false;
    struct start start = { device, group, file };
    const bool is_started = live_file_end_holder(file, owner, why) &&
                            live_process_start(become_lender, &start, why, LIVE_WHY_LEN, why) &&
                            !*why;
    close(file);
    return is_started;
}

bool aton_lend_stop(uint32_t device, char *why)
{
    char ignored[LIVE_WHY_LEN], path[NAME_LEN + 32], link[NAME_LEN + 32];
    const int file = open_file(device, 0, ignored);
    if (file < 0) return true; /* there is none, or it is not ours */
    const bool is_stopped = live_file_end_holder(file, owner, why);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t len = readlink(link, path, sizeof path - 1);
    if (is_stopped && len > 0) {
        path[len] = 0;
        unlink(path);
    }
    close(file);
    return is_stopped;
}

/* ---- borrowing ------------------------------------------------------------------------------- */

static bool is_of_root(int fd)
{
    struct ucred who;
    socklen_t len = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           (who.uid == 0 || who.uid == geteuid());
}

/* Returns how many descriptors came; -1: no loan. */
static int receive_loan(int from, struct loan *loan, int fd[LENT_MAX])
{
    union control control;
    struct iovec octets = { loan, sizeof *loan };
    struct msghdr message = { .msg_iov = &octets,
                              .msg_iovlen = 1,
                              .msg_control = control.octets,
                              .msg_controllen = sizeof control.octets };
    const ssize_t got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int count = 0;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof *fd);
        memcpy(fd, CMSG_DATA(head), sizeof *fd * (size_t)count);
    }
    if (got == (ssize_t)sizeof *loan && loan->version == VERSION) return count;
    close_all(fd, count);
    return -1;
}

static enum leat_aton_host_end take(const struct loan *loan, int fd[LENT_MAX], int count,
                                    const struct aton_driver *driver, struct leat_aton_host *s,
                                    char *why)
{
    const int own = count - SOCKETS;
    s->driver = driver;
    s->seat = (struct aton_seat){ .config = loan->config };
    if (own > 0 && driver->borrow(fd, own, &s->seat)) {
        s->send_fd = fd[own];
        s->receive_fd = fd[own + 1];
        return LEAT_ATON_HOST_OK;
    }
    live_because(why, "what the station's lender sends is of another version of leat, expected "
                      "leat ring join --allow again");
    close_all(fd, count);
    return LEAT_ATON_HOST_FAILED;
}

static const struct aton_driver *driver_of(const struct loan *loan,
                                           const struct aton_driver *const *drivers, int count)
{
    const char *name = loan->config.driver == LEAT_ATON_HOST_XDP ? "xdp" : "packet";
    for (int i = 0; i < count; i++)
        if (strcmp(drivers[i]->name, name) == 0) return drivers[i];
    return NULL;
}

enum leat_aton_host_end aton_borrow(uint32_t device, const struct aton_driver *const *drivers,
                                    int count, struct leat_aton_host *s, char *why)
{
    const struct timeval wait = { .tv_sec = ANSWER_S };
    struct sockaddr_un name;
    struct loan loan = { .version = 0 };
    int fd[LENT_MAX];
    const socklen_t len = socket_name(device, &name);
    const int from = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    enum leat_aton_host_end end = LEAT_ATON_HOST_ABSENT;
    if (from >= 0 && setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
        connect(from, (const struct sockaddr *)&name, len) == 0 && is_of_root(from)) {
        const int fds = receive_loan(from, &loan, fd);
        const struct aton_driver *driver = driver_of(&loan, drivers, count);
        end = LEAT_ATON_HOST_FAILED;
        live_because(why, "the station's lender does not answer");
        if (fds >= 0 && !loan.is_granted) live_because(why, "%.*s", LIVE_WHY_LEN - 1, loan.why);
        if (fds >= SOCKETS && loan.is_granted && driver)
            end = take(&loan, fd, fds, driver, s, why);
        else if (fds > 0)
            close_all(fd, fds);
    }
    if (from >= 0) close(from);
    return end;
}
