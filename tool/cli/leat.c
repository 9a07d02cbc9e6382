/* The main program: finds the verb, reads its arguments, runs it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tool.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file must not get the number of a closed standard one, or what is printed goes into it. What is
 * printed to a closed standard output still fails. */
static bool hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* The deepest verb needs 700 KiB. */
enum { STACK_KIB = 1024 };

/* A stack that overflows kills the command without a word, so it is refused before. */
static bool check_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_KIB * (rlim_t)1024) return true;
    return complain("the stack may have %llu KiB, expected at least %d (ulimit -s)",
                    (unsigned long long)limit.rlim_cur / 1024, STACK_KIB);
}

static __attribute__((noinline)) void touch_stack(void)
{
    volatile char deep[(STACK_KIB - 128) * 1024];
    for (size_t at = 0; at < sizeof deep; at += 4096)
        deep[at] = 0;
}

/* Where memory is limited (ulimit -v), a stack that cannot grow kills the command as well. So it
 * grows at the beginning, and what lacks memory later can say so. */
static bool take_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return true;
    void *room = mmap(NULL, STACK_KIB * 1024, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return complain("no memory: the stack needs %d KiB (ulimit -v)", STACK_KIB);
    munmap(room, STACK_KIB * 1024);
    touch_stack();
    return true;
}

/* What a verb refuses may be an operand that was meant as the file of --json. Files that exist are
 * operands of verbs that read files. */
static void hint_at_json(const struct arguments *args)
{
    const char *word = args->maybe_json;
    if (!word || strchr(word, ':') || (!args->verb->operands && access(word, F_OK) == 0)) return;
    fprintf(stderr, "(if %s is the file for JSON: --json=%s)\n", word, word);
}

static int run_verb(const struct verb *verb, char **words)
{
    struct arguments args;
    const int wrong = arguments_read(verb, words, &args);
    if (wrong) return wrong;
    if (!args.wants_help) {
        if (!json_prepare(&args)) return WRONG;
        const int code = json_end((args.subverb ? args.subverb->run : verb->run)(&args));
        if (code == WRONG) hint_at_json(&args);
        return code;
    }
    const bool names_sub = verb->subverbs && args.operand_count;
    char *help[] = { (char *)verb->name, names_sub ? args.operand[0] : NULL, NULL };
    return run_verb(&verb_help, help);
}

int main(int argc, char **argv)
{
    static char help[] = "help";
    if (!hold_standard_files()) return FAILED;
    const char *name = argc > 1 ? argv[1] : help;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = help;
    if (strcmp(name, "--version") == 0) {
        puts("leat " LEAT_VERSION);
        return flush_printed() ? DONE : FAILED;
    }
    const struct verb *verb = verb_find(name);
    if (!verb) {
        const char *known = verb_names();
        complain("unknown verb '%s', %sexpected one of %s", name, did_you_mean(name, known), known);
        fputs("(see leat help)\n", stderr);
        return WRONG;
    }
    if (!check_stack() || !take_stack()) return WRONG;
    catch_signals();
    return run_verb(verb, argv + (argc > 1 ? 2 : 1));
}
