#include "graph_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool leat_graph_make_parents(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
        if (!made) return false;
    }
    return true;
}

int leat_graph_own_folder(const char *path, char *why, size_t cap)
{
    struct stat s;
    const bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    const int fd = made ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &s) != 0)
        snprintf(why, cap, "%s: %s", path,
                 errno == ENOTDIR || errno == ELOOP ? "expected a folder, and no link"
                                                    : strerror(errno));
    else if (s.st_uid != geteuid())
        snprintf(why, cap, "%s belongs to user %u, expected user %u", path, (unsigned)s.st_uid,
                 (unsigned)geteuid());
    else if (s.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, cap, "%s: others may write there, expected mode go-w", path);
    else
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}
