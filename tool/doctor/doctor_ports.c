/*
 * The UDP ports of leat esp and leat pktway, and who uses them. The kernel lists its sockets by
 * number; a process has such a number among its descriptors, which only its user and root see.
 */
#define _GNU_SOURCE /* DT_LNK */
#include "doctor.h"
#include "packetway_codes.h"
#include <ctype.h>
#include <dirent.h>
#include <leat/esp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 1 << 16,     /* lines that are read */
    PROCESSES_MAX = 1 << 15,   /* that are looked at */
    DESCRIPTORS_MAX = 1 << 12, /* of each */
    LINE_LEN = 512,
};

struct user {
    unsigned long long socket; /* 0: nobody uses the port */
    unsigned uid;
    long process; /* 0: not visible */
    char name[DOCTOR_WORD_LEN];
};

/* The first socket of a file of /proc/self/net that is bound to a port. */
static bool find_socket(const char *path, unsigned port, struct user *user)
{
    char line[LINE_LEN];
    FILE *file = fopen(path, "re");
    bool found = false;
    for (int i = 0; file && !found && i < SOCKETS_MAX && fgets(line, sizeof line, file); i++) {
        unsigned bound = 0;
        found = sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %u %*s %llu", &bound,
                       &user->uid, &user->socket) == 3 &&
                bound == port && user->socket;
    }
    if (file) fclose(file);
    if (!found) user->socket = 0;
    return found;
}

/* Does this process have the socket among its descriptors? */
static bool has_socket(const char *process, const char *wanted)
{
    char path[PATH_MAX], target[64];
    snprintf(path, sizeof path, "/proc/%.16s/fd", process);
    DIR *all = opendir(path);
    bool has = false;
    struct dirent *entry;
    for (int i = 0; all && !has && i < DESCRIPTORS_MAX && (entry = readdir(all)); i++) {
        const ssize_t len = readlinkat(dirfd(all), entry->d_name, target, sizeof target - 1);
        if (len <= 0) continue;
        target[len] = 0;
        has = strcmp(target, wanted) == 0;
    }
    if (all) closedir(all);
    return has;
}

static void find_process(struct user *user)
{
    char wanted[64], path[64];
    DIR *all = opendir("/proc");
    struct dirent *entry;
    snprintf(wanted, sizeof wanted, "socket:[%llu]", user->socket);
    for (int i = 0; all && !user->process && i < PROCESSES_MAX && (entry = readdir(all)); i++) {
        if (!isdigit((unsigned char)*entry->d_name) || !has_socket(entry->d_name, wanted)) continue;
        user->process = atol(entry->d_name);
        snprintf(path, sizeof path, "/proc/%ld/comm", user->process);
        if (!doctor_read(path, user->name, sizeof user->name)) *user->name = 0;
    }
    if (all) closedir(all);
}

/* Who uses a port. */
enum use { FREE, LEAT, OTHER, HIDDEN };

static enum use use_of(struct doctor_finding *f, unsigned port)
{
    struct user user = { 0 };
    if (!find_socket("/proc/self/net/udp", port, &user) &&
        !find_socket("/proc/self/net/udp6", port, &user)) {
        doctor_found(f, "free");
        return FREE;
    }
    find_process(&user);
    if (!user.process) {
        doctor_found(f, "used by a process of user %u that is not visible here", user.uid);
        doctor_hint(f, "only that user and root see whether it is leat: use sudo");
        return HIDDEN;
    }
    doctor_found(f, "used by %s, process %ld of user %u", user.name, user.process, user.uid);
    return strcmp(user.name, "leat") == 0 ? LEAT : OTHER;
}

void doctor_ports(struct doctor_report *report)
{
    char name[DOCTOR_WORD_LEN];
    snprintf(name, sizeof name, "UDP port %d", LEAT_ESP_UDP_PORT);
    struct doctor_finding *f = doctor_add(report, name, DOCTOR_ESP);
    if (use_of(f, LEAT_ESP_UDP_PORT) == OTHER)
        doctor_lack(f, "leat esp join and queries, and routers with --driver udp, use this port: "
                       "end that process, or bind it to one address and leat to another: --bind, "
                       "or --listen of a router");
    snprintf(name, sizeof name, "UDP port %u", (unsigned)LEAT_PACKETWAY_UDP_PORT);
    f = doctor_add(report, name, 0);
    if (use_of(f, LEAT_PACKETWAY_UDP_PORT) == OTHER)
        doctor_hint(f, "leat pktway uses it if you name no other: choose one, as in "
                       "--san udp:127.0.0.1:4999");
}
