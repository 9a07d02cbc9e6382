/* leat run: the objects of its runs, on standard output or in a file, and in a store. */
#include "option_text.h"
#include "run.h"
#include "shell.h"
#include "watch.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a store says about a run ----------------------------------------------------------- */

static void put_command(FILE *out, const struct run_job *job)
{
    for (char **word = job->words; *word; word++) {
        if (word != job->words) putc(' ', out);
        shell_put_word(out, *word, strlen(*word));
    }
}

static void put_options(FILE *out, const struct run_job *job)
{
    const struct option *all = job->verb->options;
    const char *blank = "";
    for (const struct option *o = all; o->name; o++) {
        const char *value = job->args->value[o - all];
        if (!value || word_is_in(o->name, "--fabric --store --json " WATCH_OPTIONS)) continue;
        fputs(blank, out);
        option_put(out, o, value);
        blank = " ";
    }
}

static bool write_text(const struct run_job *job, char **text,
                       void (*put)(FILE *, const struct run_job *))
{
    size_t len;
    FILE *out = open_memstream(text, &len);
    if (!out) return complain("no memory");
    put(out, job);
    return (fclose(out) == 0 && *text) || complain("no memory");
}

/* ---- opening --------------------------------------------------------------------------------- */

int run_results_open(const struct run_job *job, struct run_results *results)
{
    const bool to_file = job->json && *job->json && strcmp(job->json, "-") != 0;
    int code = DONE;
    *results = (struct run_results){ .job = job };
    if (job->store) {
        results->store = store_open(job->store, STORE_WRITE, &code);
        if (!results->store) return code;
        if (!write_text(job, &results->command, put_command) ||
            !write_text(job, &results->options, put_options))
            return FAILED;
    }
    return !to_file || result_file_open(&results->file, job->json) ? DONE : FAILED;
}

int run_results_close(struct run_results *results)
{
    bool done = true;
    if (results->file.name) done = result_file_close(&results->file, results->objects > 0);
    store_close(results->store);
    free(results->command);
    free(results->options);
    return done ? DONE : FAILED;
}

/* ---- one more -------------------------------------------------------------------------------- */

/* Does the next output begin a line? Only a file can be checked for how it ends. */
static bool is_at_line_start(void)
{
    struct stat info;
    const off_t at = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode) || at < 0) return false;
    if (at == 0) return true;
    const int file = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
    char last = 0;
    const bool is_read = file >= 0 && pread(file, &last, 1, at - 1) == 1;
    if (file >= 0) close(file);
    return is_read && last == '\n';
}

/* To standard output or to its file. */
static bool print(struct run_results *results, const char *object)
{
    static struct result_file standard; /* large */
    if (results->file.name) {
        leat_text_puts(&results->file.out.text, object);
        return true;
    }
    if (!is_at_line_start()) putchar('\n');
    fflush(stdout);
    if (!result_file_open(&standard, NULL)) return false;
    leat_text_puts(&standard.out.text, object);
    return result_file_close(&standard, true);
}

static bool keep(const struct run_results *results, const struct run_outcome *out, char *object)
{
    const struct store_program program = { .version = LEAT_VERSION,
                                           .command = results->command,
                                           .options = results->options,
                                           .fabric = results->job->fabric,
                                           .tasks = out->begun,
                                           .result = object };
    object[strcspn(object, "\n")] = '\0';
    switch (store_put_program(results->store, &program)) {
    case STORE_PUT: return true;
    case STORE_PUT_NO_JSON: return complain("%s: the result is no JSON", results->job->store);
    case STORE_PUT_FAILED: break;
    }
    return false;
}

bool run_results_add(struct run_results *results, const struct run_outcome *out,
                     const struct run_outcome *alone)
{
    bool done = true;
    if (!results->job->json && !results->store) return true;
    char *object = run_object(results->job, out, alone);
    if (!object) return false;
    if (results->job->json) done = print(results, object);
    if (results->store && !interrupted) done = keep(results, out, object) && done;
    results->objects++;
    free(object);
    return done;
}
