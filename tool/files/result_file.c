#include "result_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names -------------------------------------------------------------------------------- */

/* The target of a name: a file, or a name in a folder where none exists yet. */
struct identity {
    struct stat stat; /* of the file, or of the folder */
    const char *name; /* in the folder; NULL: there is a file */
};

static bool is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* False: it has no target, which is reported when it is opened. */
static bool identify(const char *path, int standard_fd, struct identity *out)
{
    char folder[RESULT_FILE_PATH_CAP] = ".";
    out->name = NULL;
    if (is_standard(path)) return fstat(standard_fd, &out->stat) == 0;
    if (stat(path, &out->stat) == 0) return true;
    const char *slash = strrchr(path, '/');
    const size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    if (len >= sizeof folder) return false;
    memcpy(folder, path, len);
    if (len) folder[len] = '\0';
    out->name = path + len;
    return stat(folder, &out->stat) == 0;
}

/* Devices and sockets store nothing that could be overwritten; a socket may be input and output. */
static bool is_one_file(const struct identity *a, const struct identity *b)
{
    if (S_ISCHR(a->stat.st_mode) || S_ISSOCK(a->stat.st_mode)) return false;
    if (a->stat.st_dev != b->stat.st_dev || a->stat.st_ino != b->stat.st_ino) return false;
    return a->name && b->name ? strcmp(a->name, b->name) == 0 : a->name == b->name;
}

static bool are_apart(const struct verb *verb, const struct result_name *a,
                      const struct result_name *b)
{
    struct identity x, y;
    const bool one = is_standard(a->path) && is_standard(b->path);
    if (!one && !(identify(a->path, STDOUT_FILENO, &x) && identify(b->path, STDOUT_FILENO, &y) &&
                  is_one_file(&x, &y)))
        return true;
    return misused(verb, "%s and %s name one file, expected two", a->option, b->option);
}

static bool is_not_input(const struct verb *verb, const struct result_name *result,
                         const char *input)
{
    struct identity x, y;
    if (!input || !identify(input, STDIN_FILENO, &x) ||
        !identify(result->path, STDOUT_FILENO, &y) || !is_one_file(&x, &y))
        return true;
    return misused(verb, "%s and the input name one file, expected two", result->option);
}

bool result_names_apart(const struct verb *verb, const struct result_name *names, size_t count,
                        const char *input)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].path && !*names[i].path)
            return misused(verb, "%s: '' is no file name, expected one", names[i].option);
        for (size_t k = 0; k < i; k++)
            if (!are_apart(verb, &names[k], &names[i])) return false;
        if (!is_not_input(verb, &names[i], input)) return false;
    }
    return true;
}

bool result_apart_from_options(const struct arguments *args, const char *option)
{
    struct result_name names[] = { { option, argument(args, option) }, { 0 } };
    for (const struct option *o = args->verb->options; names[0].path && o->name; o++) {
        const char *path = argument(args, o->name);
        if (!path || !*path || !o->argument || strcmp(o->argument, "FILE") != 0) continue;
        if (strcmp(path, "-") == 0 || strcmp(o->name, option) == 0) continue;
        names[1] = (struct result_name){ o->name, path };
        if (!result_names_apart(args->verb, names, 2, NULL)) return false;
    }
    return true;
}

/* ---- files -------------------------------------------------------------------------------- */

/* Parts of open files, which an exit from elsewhere removes: of this process, not of children. */
static struct result_file *first_part;
static pid_t owner;

static void remove_parts(void)
{
    for (const struct result_file *file = getpid() == owner ? first_part : NULL; file;
         file = file->next_part)
        unlink(file->part);
}

static void remember_part(struct result_file *file)
{
    if (owner != getpid()) first_part = NULL;
    if (!owner) atexit(remove_parts);
    owner = getpid();
    file->next_part = first_part;
    first_part = file;
}

static void forget_part(const struct result_file *file)
{
    struct result_file **at = &first_part;
    while (*at && *at != file)
        at = &(*at)->next_part;
    if (*at) *at = file->next_part;
}

/* As open() would set it. */
static mode_t mode_of_new_files(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int open_beside(struct result_file *file, const char *path)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists ? !S_ISREG(old.st_mode) : lstat(path, &old) == 0)
        return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    char *real = exists ? realpath(path, NULL) : NULL;
    const int len = snprintf(file->target, sizeof file->target, "%s", real ? real : path);
    free(real);
    if (len < 0 || (size_t)len + sizeof ".part.XXXXXX" > sizeof file->part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(file->part, sizeof file->part, "%.*s.part.XXXXXX", len, file->target);
    const int fd = mkstemp(file->part);
    if (fd < 0) {
        file->part[0] = '\0'; /* nothing to remove */
        return -1;
    }
    remember_part(file);
    /* Another user's file may be there to let others write in ours. */
    (void)!fchmod(fd,
                  exists && old.st_uid == geteuid() ? old.st_mode & 07777 : mode_of_new_files());
    signal(SIGPIPE, SIG_IGN); /* a reader that closes must not leave the part behind */
    return fd;
}

bool result_file_open(struct result_file *file, const char *path)
{
    const bool standard = is_standard(path);
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
    if (file->part[0] && rename(file->part, file->target) != 0)
        return complain("%s: %s", file->name, strerror(errno));
    forget_part(file);
    file->name = NULL;
    return true;
}

void result_file_drop(struct result_file *file)
{
    if (!file->name) return;
    if (!file->finished && file->out.fd != STDOUT_FILENO) close(file->out.fd);
    if (file->part[0]) unlink(file->part);
    forget_part(file);
    file->name = NULL;
}

bool result_file_close(struct result_file *file, bool keep)
{
    bool done = result_file_finish(file);
    if (done && keep) done = result_file_keep(file);
    result_file_drop(file);
    return done;
}
