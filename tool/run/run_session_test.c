/* What mpirun left is removed, and nothing that another user put at its place. */
#define _XOPEN_SOURCE 700
#include "run.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAUNCHER = 4711, STRANGER = 65534 };

static char base[64];

static const char *at(const char *text)
{
    static char path[4][256];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", base, text);
    return out;
}

static const char *session(const char *below)
{
    char text[128];
    snprintf(text, sizeof text, "ompi.host.%u%s", (unsigned)geteuid(), below);
    return at(text);
}

static void put(const char *path)
{
    FILE *file = fopen(path, "w");
    OK(file && fclose(file) == 0);
}

static void make_base(void)
{
    snprintf(base, sizeof base, "/tmp/run_session_test.XXXXXX");
    OK(mkdtemp(base) && setenv("TMPDIR", base, 1) == 0);
}

/* What is left of pid.LAUNCHER/1/file in a folder of a session, 0 or 1. */
static int left_of(const char *folder)
{
    char path[300];
    OK(mkdir(folder, 0700) == 0);
    snprintf(path, sizeof path, "%s/pid.%d", folder, LAUNCHER);
    OK(mkdir(path, 0700) == 0);
    strcat(path, "/1");
    OK(mkdir(path, 0700) == 0);
    strcat(path, "/file");
    put(path);
    return access(path, F_OK) == 0;
}

static void what_its_mpirun_left_is_removed(void)
{
    make_base();
    OK(left_of(session("")));
    run_session_remove(LAUNCHER);
    OK(rmdir(base) == 0); /* empty */
}

static void another_mpirun_keeps_its_files(void)
{
    make_base();
    OK(left_of(session("")));
    run_session_remove(LAUNCHER + 1);
    OK(access(session("/pid.4711/1/file"), F_OK) == 0);
    run_session_remove(LAUNCHER);
    OK(rmdir(base) == 0);
}

static void a_link_is_not_followed(void)
{
    make_base();
    OK(left_of(at("elsewhere")));
    OK(symlink(at("elsewhere"), session("")) == 0);
    run_session_remove(LAUNCHER);
    OK(access(at("elsewhere/pid.4711/1/file"), F_OK) == 0);
    OK(unlink(session("")) == 0);
    OK(rename(at("elsewhere"), session("")) == 0);
    run_session_remove(LAUNCHER);
    OK(rmdir(base) == 0);
}

/* Who can write in the folder could put links there meanwhile. */
static void a_folder_of_others_is_left_alone(void)
{
    make_base();
    OK(left_of(session("")));
    OK(chmod(session(""), 0777) == 0);
    run_session_remove(LAUNCHER);
    OK(access(session("/pid.4711/1/file"), F_OK) == 0);
    OK(chmod(session(""), 0700) == 0);
    if (geteuid() == 0) {
        OK(chown(session(""), STRANGER, STRANGER) == 0);
        run_session_remove(LAUNCHER);
        OK(access(session("/pid.4711/1/file"), F_OK) == 0);
        OK(chown(session(""), 0, 0) == 0);
    } else {
        printf("# no root: no folder of another user\n");
    }
    run_session_remove(LAUNCHER);
    OK(rmdir(base) == 0);
}

TAP_MAIN(T(what_its_mpirun_left_is_removed), T(another_mpirun_keeps_its_files),
         T(a_link_is_not_followed), T(a_folder_of_others_is_left_alone))
