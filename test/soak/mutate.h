/* Preloaded into leat: main runs again and again, each time with other octets in the file that it
 * reads.
 *
 *   mutate.c          the server: draws cases, starts processes, judges how they end
 *   mutate_draw.c     case number -> octets, the same in every build
 *   mutate_again.c    one process runs main many times: what a run changed is undone
 *   mutate_memory.c   allocations of such a process, with checks
 */
#ifndef LEAT_TEST_MUTATE_H
#define LEAT_TEST_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_OCTETS_MAX = 8 << 20, MESSAGE_MAX = 16 << 10, PAGES_MAX = 8192, PAGE = 4096 };

/* How a run of main ended. */
struct ending {
    int code;         /* 0 to 255 */
    uint64_t message; /* a hash of what it wrote to standard error; 0: nothing */
    char said[160];   /* the beginning of that, on one line */
};

typedef int main_function(int, char **, char **);

/* Shared by the server and its children; nothing here is undone. */
struct shared {
    /* The octets that all cases come from, and those of one case. */
    uint8_t seed_octets[CASE_OCTETS_MAX], octets[2 * CASE_OCTETS_MAX];
    size_t seed_len, len;
    uint64_t seed;
    /* main, and what it is called with. */
    main_function *main;
    int argc;
    char **argv, **environment;
    char *texts; /* of argv and environment, in this order */
    size_t texts_len;
    const char *path;  /* of the file that it reads */
    int null, message; /* descriptors: /dev/null, a file in memory for standard error */
    /* What a child is at, and what it has found. */
    _Atomic uint64_t number; /* the case that it runs */
    uint64_t codes[3];       /* cases of its batch by exit code */
    struct ending last;      /* of the last case that it ran to its end */
    char unsuited[32];       /* the last call that could not be undone */
    uint64_t slowest;        /* the case that took the longest time */
    int64_t slowest_ns;
    size_t dirty; /* octets of mutate_memory.c that are not zero */
    size_t page_count;
    uintptr_t pages[PAGES_MAX]; /* what runs change */
    uint8_t copies[PAGES_MAX][PAGE];
    char words_copy[128 << 10]; /* of argv, environment and their texts */
    uint64_t words[64 << 10];   /* a place to read /proc to */
};
extern struct shared *shared;

/* Statuses of a child that ran a batch. */
enum { BATCH_DONE = 0, BATCH_PAGES = 101, BATCH_SUSPECT = 102, BATCH_UNSUITED = 103 };

/* shared->octets of this case: the first seed_len are cuts, then come mutations. */
void case_draw(uint64_t number);
/* Writes them to shared->path. */
void case_write(void);
/* Standard input, output and error of the next run. */
void case_files(void);
/* Takes what it wrote to standard error. */
struct ending case_ending(int code);

/* Before the first batch: which memory is watched. */
void again_prepare(void);
/* Runs the cases shared->number to `end`, at most for `seconds`; ends this process. */
_Noreturn void again_run(uint64_t end, int64_t seconds);
/* Ends this case in the process that runs a batch; returns elsewhere. */
void again_exit(int code, bool flushes);
/* The case does what cannot be undone; returns where there is no batch. */
void again_unsuited(const char *call);

/* From here on allocations are of a process that runs a batch. */
void memory_begin(void);
/* Aborts if somebody wrote behind an allocation; frees all. */
void memory_end_case(void);
void memory_range(uintptr_t *from, uintptr_t *to);

int64_t now_ns(void);

#endif
