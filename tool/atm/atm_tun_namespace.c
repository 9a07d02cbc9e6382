#define _GNU_SOURCE /* setns, unshare */
#include "atm_tun.h"
#include "live_tun.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* As ip-netns(8) keeps them: a file of the namespace's name, on which the namespace is mounted. */
static const char folder[] = "/run/netns", here[] = "/proc/thread-self/ns/net";
enum { PATH_LEN = 64, NEEDED = LIVE_NET_ADMIN | LIVE_SYS_ADMIN };

static void path_of(const struct tun_host *host, char path[PATH_LEN])
{
    snprintf(path, PATH_LEN, "%s/%s", folder, host->name);
}

/* Mounts in the folder are seen in all mount namespaces, so that their removal is, too. */
static bool share_folder(void)
{
    if (mkdir(folder, 0755) && errno != EEXIST) return false;
    if (mount("", folder, "none", MS_SHARED | MS_REC, NULL) == 0) return true;
    return mount(folder, folder, "none", MS_BIND | MS_REC, NULL) == 0 &&
           mount("", folder, "none", MS_SHARED | MS_REC, NULL) == 0;
}

/* This thread is in the new namespace then. */
static bool make(struct tun_host *host, char *why)
{
    char path[PATH_LEN];
    path_of(host, path);
    if (!share_folder()) return live_refused(why, folder, NEEDED, "");
    const int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (fd < 0 && errno == EEXIST)
        return live_because(why,
                            "namespace %s exists: expected another --name, or ip netns delete %s",
                            host->name, host->name);
    if (fd < 0) return live_refused(why, path, NEEDED, "");
    close(fd);
    host->has_namespace = true;
    if (unshare(CLONE_NEWNET) || mount(here, path, "none", MS_BIND, NULL))
        return live_refused(why, path, NEEDED, "");
    return true;
}

static bool bring_up_loopback(char *why)
{
    struct ifreq request = { .ifr_flags = IFF_UP };
    return live_device_query(-1, "lo", SIOCSIFFLAGS, &request) ||
           live_refused(why, "lo", LIVE_NET_ADMIN, "");
}

static bool open_there(struct tun_host *host, const struct tun_job *job, char *why)
{
    char device[IF_NAMESIZE];
    if (!make(host, why) || !bring_up_loopback(why)) return false;
    host->fd = live_tun_open(host->name, job->mtu, device, why);
    return host->fd >= 0 && live_tun_address(device, host->ipv4, TUN_IPV4_LEN, job->bits, why) &&
           live_tun_address(device, host->ipv6, TUN_IPV6_LEN, TUN_IPV6_BITS, why);
}

bool tun_host_open(struct tun_host *host, const struct tun_job *job, char *why)
{
    const int back = open(here, O_RDONLY | O_CLOEXEC);
    if (back < 0) return live_refused(why, here, NEEDED, "");
    bool good = open_there(host, job, why);
    if (setns(back, CLONE_NEWNET)) good = live_refused(why, here, NEEDED, "");
    close(back);
    return good;
}

void tun_host_close(struct tun_host *host)
{
    char path[PATH_LEN];
    if (host->fd >= 0) close(host->fd);
    host->fd = -1;
    if (!host->has_namespace) return;
    path_of(host, path);
    umount2(path, MNT_DETACH);
    unlink(path);
    host->has_namespace = false;
}
