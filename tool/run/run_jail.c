/* leat run --jail: programs of strangers. */
#include "number.h"
#include "run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_PS UINT64_C(1000000000000)

bool run_jail_read(const struct arguments *args, struct run_job *job)
{
    static char folder[RUN_PATH_CAP];
    const char *writable = argument(args, "--jail-write");
    uint64_t memory = UINT64_C(4) << 30;
    leat_time time = 3600 * SECOND_PS;
    const char *needless = argument_in(args, "--jail-write --jail-memory --jail-time");
    if (!argument(args, "--jail"))
        return !needless || misused(args->verb, "%s without --jail, expected both", needless);
    if (argument(args, "--gdb"))
        return misused(
            args->verb,
            "--gdb with --jail, expected one of them: a debugger needs the terminal's process");
    if (!number_take(args, "--jail-memory", &memory) || !number_take(args, "--jail-time", &time))
        return false;
    if (writable) {
        char *whole = realpath(writable, NULL);
        if (!whole || strlen(whole) >= sizeof folder) {
            free(whole);
            return misused(args->verb, "--jail-write '%s', expected a folder that exists",
                           writable);
        }
        strcpy(folder, whole);
        free(whole);
    }
    job->jail = (struct leat_jail_limits){ .writable = writable ? folder : NULL,
                                           .memory = memory,
                                           .seconds = (uint32_t)(time / SECOND_PS) };
    return true;
}

bool run_jail_open(const struct run_job *job, struct leat_jail **out)
{
    char why[256];
    *out = NULL;
    if (!job->jail.memory) return true;
    if (!leat_jail_keeps_signals())
        caution("--jail: this kernel lets the program signal your other processes, expected Linux "
                "6.12 or later");
    *out = leat_jail_open(&job->jail, why, sizeof why);
    return *out || complain("--jail: this system refuses %s", why);
}
