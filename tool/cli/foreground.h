/*
 * --foreground: the command stays while a part of a live network runs, as service managers want it.
 *
 *   starts    tells the manager that it is ready (NOTIFY_SOCKET of systemd)
 *   runs      looks after the part once a second, and tells the watchdog (WATCHDOG_USEC)
 *   SIGHUP    takes the keys of its file anew; then, if the program's file or that of --config has
 *             changed, becomes the command again: the part takes over what it has
 *   SIGTERM, SIGINT   ends the part
 */
#ifndef LEAT_FOREGROUND_H
#define LEAT_FOREGROUND_H

#include "tool.h"

#define OPTION_FOREGROUND                                                    \
    {                                                                        \
        "--foreground", NULL, "stay until interrupted, for service managers" \
    }

struct foreground {
    /* Does it still run? False: see `why`, a text for people. */
    bool (*runs)(void *context, const char **why);
    /* Ends it; the exit code, with a complaint unless DONE. */
    int (*end)(void *context);
    /* Gives it the keys of its file, which may have changed. False after a complaint: everything
     * stays as it is. */
    bool (*renew_keys)(void *context);
    const char *config; /* the file of further options; NULL: none */
    void *context;
};

/* Stays. `status`: one line about the part, for the manager. The exit code. */
int foreground_stay(const struct foreground *part, const char *status);

/* For loops of their own: it is ready (before the process confines itself), and it is alive. */
void foreground_ready(const char *status);
void foreground_alive(void);

#endif
