/* leat run --gdb RANK, --wrap TOOL: tasks under a debugger or another tool. */
#include "number.h"
#include "run.h"
#include "shell.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options --------------------------------------------------------------------------------- */

/* As a shell finds it. */
static bool is_there(const char *name)
{
    char *file = leat_child_find_named(name, NULL);
    free(file);
    return file != NULL;
}

static bool read_wrap(const struct arguments *args, struct run_tool *tool)
{
    const char *text = argument(args, "--wrap");
    if (!text) return true;
    const int count = shell_split(text, tool->word, RUN_TOOL_WORDS_CAP);
    if (count == SHELL_OPEN_QUOTE)
        return misused(args->verb, "--wrap %s: a quote without an end", text);
    if (count == SHELL_NO_MEMORY) return complain("no memory");
    if (count <= 0)
        return misused(args->verb,
                       "--wrap '%s', expected a command of up to %d words, as in --wrap \"valgrind "
                       "--leak-check=full\"",
                       text, RUN_TOOL_WORDS_CAP - 1);
    tool->words = (size_t)count;
    if (is_there(tool->word[0])) return true;
    return misused(args->verb,
                   "--wrap %s: there is no such program, expected one on PATH or its path: is its "
                   "package installed?",
                   tool->word[0]);
}

/* A debugger needs somebody who uses it. */
static bool read_gdb(const struct arguments *args, struct run_tool *tool)
{
    static char *words[] = { "gdb", "-q", "--args" };
    if (!argument(args, "--gdb")) return true;
    if (tool->words)
        return misused(args->verb, "--gdb with --wrap, expected one of them: as in --wrap \"gdb "
                                   "--args\" for all ranks, or --wrap-rank");
    if (!is_there(words[0]))
        return misused(args->verb, "--gdb: gdb is not installed, expected it on PATH: as root, "
                                   "apt install gdb");
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        return misused(args->verb, "--gdb: there is no terminal, expected one where gdb can be "
                                   "used");
    close(terminal);
    memcpy(tool->word, words, sizeof words);
    tool->words = sizeof words / sizeof *words;
    tool->needs_terminal = true;
    return true;
}

bool run_tool_read(const struct arguments *args, struct run_job *job)
{
    struct run_tool *tool = &job->tool;
    const char *one = argument(args, "--gdb") ? "--gdb" : "--wrap-rank";
    tool->rank = RUN_TOOL_ALL;
    if (argument(args, "--wrap-rank") && !argument(args, "--wrap"))
        return misused(args->verb, "--wrap-rank without --wrap, expected the tool, too");
    if (!number_take_small(args, one, &tool->rank) || !read_wrap(args, tool) ||
        !read_gdb(args, tool))
        return false;
    if (!tool->words || job->library != RUN_ATM) return true;
    return misused(args->verb,
                   "%s has no meaning for programs of leat/atm_task.h, whose tasks are known by "
                   "their programs' names, expected one of MPI or PVM",
                   argument(args, "--gdb") ? "--gdb" : "--wrap");
}

bool run_tool_check(const struct run_job *job)
{
    const struct run_tool *tool = &job->tool;
    if (!tool->words || tool->rank == RUN_TOOL_ALL || tool->rank < job->tasks) return true;
    return misused(job->verb, "%s %u: there are %u tasks, expected 0 to %u",
                   tool->needs_terminal ? "--gdb" : "--wrap-rank", tool->rank, job->tasks,
                   job->tasks - 1);
}

void run_tool_free(struct run_job *job)
{
    if (!job->tool.needs_terminal) free(job->tool.word[0]);
    job->tool.words = 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The debugger itself runs without our library: it alone gives it to the program. */
static const char *debugger_gives(const char *preload)
{
    static char command[RUN_PATH_CAP + 40];
    snprintf(command, sizeof command, "set environment LD_PRELOAD %s", preload);
    return command;
}

/* What leat-start expects before the tool (program/start/start.c). */
static bool append_start(const struct run_tool *tool, size_t tool_words,
                         struct leat_child_words *out)
{
    char start[RUN_PATH_CAP], rank[16], count[32];
    if (!run_find_part("leat-start", start, sizeof start)) return false;
    snprintf(rank, sizeof rank, "%u", tool->rank);
    snprintf(count, sizeof count, "%zu", tool_words);
    leat_child_words_append(out, start);
    leat_child_words_append(out, rank);
    leat_child_words_append(out, tool->needs_terminal ? "1" : "0");
    leat_child_words_append(out, count);
    return true;
}

bool run_tool_command(const struct run_job *job, const char *preload, struct leat_child_words *out)
{
    const struct run_tool *tool = &job->tool;
    const bool gives = tool->needs_terminal && preload;
    *out = leat_child_words_of(NULL);
    if (tool->rank != RUN_TOOL_ALL && tool->words &&
        !append_start(tool, tool->words + (gives ? 2 : 0), out))
        return false;
    for (size_t i = 0; i < tool->words; i++) {
        leat_child_words_append(out, tool->word[i]);
        if (i || !gives) continue;
        leat_child_words_append(out, "-iex");
        leat_child_words_append(out, debugger_gives(preload));
    }
    leat_child_words_append(out, job->program);
    for (char *const *word = job->words + 1; *word; word++)
        leat_child_words_append(out, *word);
    return true;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

/* A debugger that has ended leaves the terminal to nobody. */
void run_tool_take_terminal_back(const struct run_job *job)
{
    const int terminal = job->tool.needs_terminal ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
    if (terminal < 0) return;
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(terminal, getpgrp());
    signal(SIGTTOU, SIG_DFL);
    close(terminal);
}
