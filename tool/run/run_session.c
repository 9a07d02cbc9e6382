/* The folder in which mpirun keeps what its ranks share: if mpirun is killed, or interrupted before
 * it is ready, the folder stays behind. */
#define _XOPEN_SOURCE 700
#include "run.h"
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_away(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status, (void)flag, (void)place;
    remove(path);
    return 0;
}

/* Where Open MPI 4 makes it. */
static const char *base(void)
{
    static const char *const names[] = { "TMPDIR", "TEMP", "TMP" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *folder = getenv(names[i]);
        if (folder && *folder) return folder;
    }
    return "/tmp";
}

/* In /tmp anybody may take such a name first, and then change what is below while it is removed. */
static bool is_own(const char *folder)
{
    struct stat status;
    return !lstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

void run_session_remove(pid_t launcher)
{
    enum { FOLDERS_OPEN = 8 };
    char pattern[RUN_PATH_CAP];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/ompi.*.%u/pid.%d", base(), (unsigned)geteuid(), launcher);
    if (glob(pattern, GLOB_NOSORT, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i], *name = strrchr(path, '/');
        *name = '\0';
        if (!is_own(path)) continue;
        *name = '/';
        nftw(path, take_away, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
        *name = '\0';
        rmdir(path); /* if no other mpirun of this user has it */
    }
    globfree(&found);
}
