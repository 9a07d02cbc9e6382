#include "fi_rank.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* SIGTERM is what mpirun sends to all other ranks when one has died. */
static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
enum { FATAL = sizeof fatal / sizeof *fatal };

static struct sigaction before[FATAL];

/* What the library or the system does on this signal follows: a fault happens again when this
 * returns. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == number) sigaction(number, &before[i], NULL);
    leat_task_note_signal(number);
    if (info->si_code <= 0) raise(number); /* it was sent */
}

/* mpirun's exit code is that of the first rank that it sees end with one other than 0. If several
 * do, that is the lowest. */
static void end_in_turn(int code)
{
    if (code && !leat_task_is_copy()) leat_fi_ranks_settle(leat_task_number());
}

static void on_exit_of_process(int code, void *unused)
{
    char why[64];
    (void)unused;
    if (!leat_fi_is_simulated()) {
        end_in_turn(code);
        return;
    }
    snprintf(why, sizeof why, "it ended with code %d, without MPI_Finalize", code);
    leat_task_abort(why);
}

/* Handlers of Open MPI, which print a stack, come after ours. The program may replace ours. */
void leat_fi_end_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_NODEFER | SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL; i++) {
        sigaction(fatal[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(fatal[i], &action, NULL);
    }
    on_exit(on_exit_of_process, NULL);
}
