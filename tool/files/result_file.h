/*
 * A file of results appears under its name only when it is complete. It is written next to that
 * name (NAME.part.XXXXXX) and renamed. Links are followed, and the mode of an existing file is
 * kept. Pipes, devices and dangling links are written directly.
 *
 *   apart   before all else: are the names on the command line those of different files?
 *   open    then write to file->out.text
 *   finish  all is written and closed, but not under its name yet
 *   keep    it appears            drop  it never was; right also where it is not open
 */
#ifndef LEAT_RESULT_FILE_H
#define LEAT_RESULT_FILE_H

#include "output.h"
#include "tool.h"
#include <stdbool.h>

enum { RESULT_FILE_PATH_CAP = 4096 };

struct result_file {
    struct output out; /* output goes here */
    const char *name;  /* as the user wrote it; NULL: not open */
    bool finished;
    char target[RESULT_FILE_PATH_CAP];
    char part[RESULT_FILE_PATH_CAP]; /* empty if the file is written directly */
    struct result_file *next_part;   /* result_file.c's own */
};

/* A result that a command line requests. */
struct result_name {
    const char *option; /* that names it, for messages */
    const char *path;   /* NULL or "-": standard output */
};

/*
 * Has each result a name, are all different files, and is none of them the input ("-": standard
 * input, NULL: there is none)? Names are compared by their targets; devices may be written twice.
 * False after a complaint: the command line is wrong.
 */
bool result_names_apart(const struct verb *verb, const struct result_name *names, size_t count,
                        const char *input);

/* The same for the file of one option and those of all others, results and inputs. */
bool result_apart_from_options(const struct arguments *args, const char *option);

/* NULL or "-" is standard output. Each is false after a complaint. */
bool result_file_open(struct result_file *file, const char *path);
bool result_file_finish(struct result_file *file);
bool result_file_keep(struct result_file *file);
void result_file_drop(struct result_file *file);

/* Finishes it, and keeps it if that succeeded and `keep` is set. */
bool result_file_close(struct result_file *file, bool keep);

#endif
