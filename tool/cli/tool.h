/* Shared by the verbs of the `leat` command: their list, arguments and exit codes. */
#ifndef LEAT_TOOL_H
#define LEAT_TOOL_H

#include "leat_json.h"
#include "leat_keys.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DONE = 0, FAILED = 1, WRONG = 2, SIGNALLED = 128 /* plus the signal's number */ };
enum { OPTION_MAX = 56 };

enum option_type {
    OPTION_ANY,    /* what the verb says; files and names among them */
    OPTION_COUNT,  /* a whole number: 10000, 1e4, 10k, 0x2710 */
    OPTION_OCTETS, /* the same, where k, M and G are powers of 1024 */
    OPTION_TIME,   /* 10s, 250ms; counted in picoseconds */
    OPTION_SHARE,  /* 0 to 1, as 0.25 or 25e-2 */
    OPTION_WORD,   /* one of a list */
};

/* One row of a verb's options. The columns behind `repeats` are written by name, or by a macro
 * below. A name has one type in all verbs. */
struct option {
    const char *name; /* with its dashes */
    const char
        *argument; /* NULL: a switch; "[FILE]": optional, behind =, named *.json or *.jsonl, or
                             before a "--" */
    const char *text;
    bool repeats; /* may be repeated: its values are then joined by newlines */
    enum option_type type;
    uint64_t least, most; /* of counts, octets and times */
    unsigned decimals;    /* of a share: it is counted in parts of 10^decimals */
    const char *words;    /* to choose from, separated by blanks */
    const char *unit;   /* of a time that has none, as it was written once: accepted with a hint */
    const char *preset; /* the value if it is not given, as a user would write it; NULL: none */
    const char *kinds;  /* the kinds of fabrics that have it; NULL: all */
    const char *former; /* its former name, accepted with a hint */
};

#define COUNT(from, to)  .type = OPTION_COUNT, .least = (from), .most = (to)
#define OCTETS(from, to) .type = OPTION_OCTETS, .least = (from), .most = (to)
#define TIME(from, to)   .type = OPTION_TIME, .least = (from), .most = (to)
#define SHARE(digits)    .type = OPTION_SHARE, .decimals = (digits)
#define WORD(list)       .type = OPTION_WORD, .words = (list)

struct arguments;

/* What the first operand of some verbs says: leat esp route. Its page of help has its name. */
struct subverb {
    const char *name, *summary;
    const char *synopsis; /* after its name */
    const char *options;  /* those of the verb that it takes, separated by blanks */
    int (*run)(const struct arguments *args);
    const char *former; /* its former name, accepted with a hint */
};

struct verb {
    const char *name, *summary;
    const char *synopsis;              /* after "leat NAME" */
    const char *const *help;           /* the lines of NAME.help: help_page.h */
    const struct subverb *subverbs;    /* or NULL; ends with a NULL name */
    struct option options[OPTION_MAX]; /* ends with a NULL name */
    const char *operands;              /* for completion: $fabrics, $formats, $verbs; NULL: files */
    int (*run)(const struct arguments *args); /* NULL: its subverbs do */
};

struct arguments {
    const struct verb *verb;
    const struct subverb *subverb; /* NULL: the verb has none */
    const char *value[OPTION_MAX]; /* by the option's place; "" for a switch that was given */
    char **operand;
    int operand_count;
    const char *maybe_json; /* the operand that follows --json at once, or NULL */
    bool wants_help;        /* --help or -h: the words behind it are not read */
    bool only_check;        /* sim: only check the command line; nothing is run */
};

/* Reads the words behind the verb's name, which end with NULL; operands are moved to their front.
 * The first of them may be a subverb, which takes only its own options. DONE, or WRONG after a
 * complaint. Values of repeated options live until the next call. */
int arguments_read(const struct verb *verb, char **words, struct arguments *args);

/* The value of an option, NULL if absent. */
const char *argument(const struct arguments *args, const char *option);

/* By its name, not a former one; NULL: the verb has none of this name. */
const struct subverb *subverb_find(const struct verb *verb, const char *name);

/* By a former name, with a hint at the new one. */
const struct subverb *subverb_find_former(const struct verb *verb, const char *name);

/* The row of an option; NULL: the verb has none of this name. */
const struct option *option_find(const struct verb *verb, const char *name);

/* The first given option that is in a list of names, separated by blanks, or not in it; NULL: there
 * is none. */
const char *argument_in(const struct arguments *args, const char *options);
const char *argument_not_in(const struct arguments *args, const char *options);

/* The list of verbs, NULL past the last. */
const struct verb *verb_at(size_t index);
const struct verb *verb_find(const char *name);
/* Separated by blanks. */
const char *verb_names(void);

/* `--json [FILE]`: what the verb prints goes to FILE (json_file.c). */
#define OPTION_JSON(text)                                       \
    {                                                           \
        "--json", "[FILE]", text ", to FILE or standard output" \
    }

/* `--prometheus [FILE]`, beside --json: the object as metrics (prometheus.h). */
#define OPTION_PROMETHEUS                                                              \
    {                                                                                  \
        "--prometheus", "[FILE]", "metrics for Prometheus, to FILE or standard output" \
    }

/* Before the verb runs, names the schema of its objects and redirects them to their file. False
 * after a complaint. */
bool json_prepare(struct arguments *args);
/* After it: the file appears, unless nothing was printed. Returns the exit code. */
int json_end(int code);
/* The status of an object: "done" or "interrupted". */
const char *json_status(void);

/* One line on stderr: "leat: ..." complain returns false, fail FAILED. */
bool complain(const char *text, ...) __attribute__((format(printf, 1, 2)));
#define fail(...) ((void)complain(__VA_ARGS__), FAILED)
/* The same of what does not end the verb. */
void caution(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Complains if a live network's driver is slower than it could be, for the reason at slower_at; -1:
 * it is not. */
void warn_if_slower(const char *why, int slower_at);

/* Complains if a serving process (0: there is none), or this one, has more rights than it needs
 * (live_guard.h). */
void warn_if_unconfined(int process);
void warn_if_not_confined_here(void);

/* "confined" of a status, as two members of a JSON object and as a line of text, each unless NULL:
 * of a process (`none`: why there is none), or of this one. */
void show_confined(int process, const char *none, struct leat_json *json, FILE *out);
void show_confined_here(struct leat_json *json, FILE *out);

/* The keys of a live network, in a file that only its owner may read or change (live_system.h).
 * False after a complaint that says how to correct it; the command then exits with WRONG. */
bool key_file_read(const char *path, struct leat_keys *keys);

/* A wrong command line: reports it, refers to the verb's help. misuse returns WRONG, misused false.
 */
int misuse(const struct verb *verb, const char *text, ...) __attribute__((format(printf, 2, 3)));
#define misused(...) ((void)misuse(__VA_ARGS__), false)

/* Flushes standard output. False after a complaint: it cannot be written. */
bool flush_printed(void);

/* The end of a verb that has printed: `code`, or SIGNALLED and more after an interrupt, or FAILED
 * if standard output cannot be written. */
int finish(int code);

/* Prints text from a network or another user, with all terminal control characters made harmless.
 */
void print_harmless(const void *octets, size_t len);

/* Is it one of the words of the list, which are separated by blanks? */
bool word_is_in(const char *word, const char *list);

/* It ends so, and has more before that. */
bool word_ends_with(const char *word, const char *end);

/* "did you mean NAME? " if one of the words of the list is nearly this one, or "". Lent until the
 * next call. */
const char *did_you_mean(const char *word, const char *list);

/* The value of a hexadecimal digit; -1: it is none. */
int hex_digit(char c);

/* "atm aal1 ..." for error texts. */
const char *format_names(void);

/* The number of SIGINT, SIGTERM or SIGHUP, once received; loops check it between packets,
 * and threads beside them. */
extern atomic_int interrupted;
bool is_interrupted(void);
void catch_signals(void);
/* For a verb that waits elsewhere and leaves nothing half done: signals end the process from now
 * on, and so does one that came before. */
void let_signals_end(void);

/* The verbs, each in its own folder; cli/verbs.c lists them. */
extern const struct verb verb_atm, verb_decode, verb_devices, verb_doctor, verb_encode, verb_esp,
    verb_experiment, verb_export, verb_fabric, verb_formats, verb_graph, verb_help, verb_mpi,
    verb_pktway, verb_report, verb_ring, verb_run, verb_sim, verb_sweep, verb_unit, verb_view;

extern const char *const help_atm[],
    *const help_decode[],
        *const help_devices[],
            *const help_doctor[],
                *const help_encode[],
                    *const help_esp[],
                        *const help_experiment[],
                            *const help_export[],
                                *const help_fabric[],
                                    *const help_formats[],
                                        *const help_graph[],
                                            *const help_help[],
                                                *const help_mpi[],
                                                    *const help_pktway[],
                                                        *const help_report[],
                                                            *const help_ring[],
                                                                *const help_run[],
                                                                    *const help_sim[],
                                                                        *const help_sweep[],
                                                                            *const help_unit[],
                                                                                *const help_view[];

#endif
