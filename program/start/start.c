/*
 * leat-start RANK TERMINAL COUNT TOOL... PROGRAM...: becomes the tool with the program (the COUNT
 * words of TOOL, then all the others) in the process of this rank, and the program alone in all
 * others. leat run starts it for --gdb and --wrap-rank (tool/run/run_tool.c).
 *
 * TERMINAL is 1 for a debugger: mpirun gives a rank no terminal and a process group in the
 * background, which may not read one.
 */
#include "task.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, WORD_RANK = 1, WORD_TERMINAL, WORD_COUNT, WORD_TOOL };

static const char *rank_here(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : getenv(LEAT_TASK_SLOT_VARIABLE);
}

static int fail(const char *what)
{
    fprintf(stderr, "leat: %s: %s\n", what, strerror(errno));
    return EXIT_NOT_STARTED;
}

/* Standard input, output and error are the terminal, and this process group is in its foreground:
 * keys, an interrupt among them, are for the debugger. */
static bool take_terminal(void)
{
    const int terminal = open("/dev/tty", O_RDWR);
    if (terminal < 0) return false;
    if (getpgrp() != getpid()) setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    const bool is_ours = !tcsetpgrp(terminal, getpgrp());
    signal(SIGTTOU, SIG_DFL);
    for (int i = STDIN_FILENO; is_ours && i <= STDERR_FILENO; i++)
        dup2(terminal, i);
    if (terminal > STDERR_FILENO) close(terminal);
    return is_ours;
}

int main(int argc, char **argv)
{
    if (argc <= WORD_TOOL) return EXIT_NOT_STARTED;
    const char *rank = rank_here();
    const long count = strtol(argv[WORD_COUNT], NULL, 10);
    char **words = argv + WORD_TOOL;
    if (count < 0 || count >= argc - WORD_TOOL) return EXIT_NOT_STARTED;
    const bool is_chosen = rank && strcmp(rank, argv[WORD_RANK]) == 0;
    if (!is_chosen) words += count;
    if (is_chosen && strcmp(argv[WORD_TERMINAL], "1") == 0) {
        if (!take_terminal()) return fail("/dev/tty");
        unsetenv("LD_PRELOAD"); /* the debugger gives it to the program alone */
    }
    execvp(words[0], words);
    return fail(words[0]);
}
