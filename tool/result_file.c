#include "result_file.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_beside(struct result_file *file, const char *path)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists ? !S_ISREG(old.st_mode) : lstat(path, &old) == 0)
        return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    char *real = exists ? realpath(path, NULL) : NULL;
    const int len = snprintf(file->target, sizeof file->target, "%s", real ? real : path);
    free(real);
    if (len < 0 || (size_t)len + sizeof ".part" > sizeof file->part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(file->part, sizeof file->part, "%.*s.part", len, file->target);
    const int fd = open(file->part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        file->part[0] = '\0'; /* nothing to take away */
    else if (exists)
        (void)!fchmod(fd, old.st_mode & 07777);
    return fd;
}

bool result_file_open(struct result_file *file, const char *path)
{
    const bool standard = !path || strcmp(path, "-") == 0;
    file->name = standard ? "standard output" : path;
    file->finished = false;
    file->part[0] = '\0';
    const int fd = standard ? STDOUT_FILENO : open_beside(file, path);
    if (fd < 0) {
        complain("%s: %s", path, strerror(errno));
        file->name = NULL;
        return false;
    }
    output_init(&file->out, fd);
    return true;
}

bool result_file_finish(struct result_file *file)
{
    bool done = output_finish(&file->out, file->name);
    if (file->out.fd != STDOUT_FILENO && close(file->out.fd) != 0 && done) {
        complain("%s: %s", file->name, strerror(errno));
        done = false;
    }
    file->finished = true;
    return done;
}

bool result_file_keep(struct result_file *file)
{
    if (file->part[0] && rename(file->part, file->target) != 0) {
        complain("%s: %s", file->name, strerror(errno));
        return false;
    }
    file->name = NULL;
    return true;
}

void result_file_drop(struct result_file *file)
{
    if (!file->name) return;
    if (!file->finished && file->out.fd != STDOUT_FILENO) close(file->out.fd);
    if (file->part[0]) unlink(file->part);
    file->name = NULL;
}

bool result_file_close(struct result_file *file, bool keep)
{
    bool done = result_file_finish(file);
    if (done && keep) done = result_file_keep(file);
    result_file_drop(file);
    return done;
}
