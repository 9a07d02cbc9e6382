#include "handler_seal.h"
#include "leat_fnv.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAMP_LEN = 160, END_LEN = 64 };

static const char end_form[] = "leat-object %016llx %016llx %016llx\n";

/* ---- stamps --------------------------------------------------------------------------------- */

struct timespec leat_handler_file_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* False: it has none, since it does not exist or is not a regular file. */
static bool stamp(const char *path, char *out, struct stat *s)
{
    if (stat(path, s) != 0 || !S_ISREG(s->st_mode)) return false;
    snprintf(out, STAMP_LEN, "%llx %llx %llx %lld.%09ld %lld.%09ld", (unsigned long long)s->st_dev,
             (unsigned long long)s->st_ino, (unsigned long long)s->st_size,
             (long long)s->st_mtim.tv_sec, s->st_mtim.tv_nsec, (long long)s->st_ctim.tv_sec,
             s->st_ctim.tv_nsec);
    return true;
}

/* The next path and its stamp; modifies the lines. NULL: no more. */
static char *next_read(char **at, char **stamp_there)
{
    char *path = *at, *end = strchr(path, '\n');
    if (!end) return NULL;
    *stamp_there = end + 1;
    char *last = strchr(*stamp_there, '\n');
    if (!last) return NULL;
    *end = *last = '\0';
    *at = last + 1;
    return path;
}

static void join_read(char *path, char *stamp_there)
{
    path[strlen(path)] = '\n';
    stamp_there[strlen(stamp_there)] = '\n';
}

/* ---- the compiler's list -------------------------------------------------------------------- */

/* A word of a rule for make: blanks, # and $ are escaped there. False: no more. */
static bool next_word(const char **at, char *out, size_t cap)
{
    size_t len = 0;
    const char *c = *at;
    for (;; c++) {
        const bool split = *c == '\\' && c[1] == '\n';
        const bool blank = split || *c == ' ' || *c == '\t' || *c == '\n';
        if (!*c || (blank && len)) break;
        if (split) c++;
        if (blank) continue;
        if ((*c == '\\' && c[1] && strchr(" \t#", c[1])) || (*c == '$' && c[1] == '$')) c++;
        if (len + 1 < cap) out[len++] = *c;
    }
    out[len] = '\0';
    *at = c;
    return len > 0;
}

static void put_reads(const char *rule, const char *made, struct timespec began, FILE *out)
{
    char path[4096], text[STAMP_LEN];
    while (next_word(&rule, path, sizeof path)) {
        struct stat s;
        if (strncmp(path, made, strlen(made)) == 0) continue;
        const bool known = stamp(path, text, &s) && is_before(s.st_mtim, began) &&
                           is_before(s.st_ctim, began);
        fprintf(out, "%s\n%s\n", path, known ? text : "-");
    }
}

static char *read_file(int fd, size_t *len)
{
    struct stat s;
    size_t got = 0;
    if (fstat(fd, &s) != 0) return NULL;
    char *octets = malloc((size_t)s.st_size + 1);
    while (octets && got < (size_t)s.st_size) {
        const ssize_t n = pread(fd, octets + got, (size_t)s.st_size - got, (off_t)got);
        if (n <= 0) break;
        got += (size_t)n;
    }
    if (octets) octets[got] = '\0';
    *len = got;
    return octets;
}

/* Paths and stamps as text, to be freed. */
static char *reads_of(int folder, const char *list, const char *made, struct timespec began,
                      bool all)
{
    char *reads = NULL;
    size_t len;
    FILE *out = open_memstream(&reads, &len);
    const int fd = openat(folder, list, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *rule = fd < 0 ? NULL : read_file(fd, &len);
    const char *words = rule ? strchr(rule, ':') : NULL;
    if (fd >= 0) close(fd);
    if (out && words) put_reads(words + 1, made, began, out);
    if (out && (!words || !all)) fputs("?\n-\n", out);
    free(rule);
    if (!out || fclose(out) == 0) return reads;
    free(reads);
    return NULL;
}

/* ---- seals ---------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *octets, size_t len)
{
    return leat_fnv(LEAT_FNV_EMPTY, octets, len);
}

bool leat_handler_seal_put(int folder, const char *object, const char *list, const char *made,
                           struct timespec began, bool all)
{
    const int fd = openat(folder, object, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    char *reads = fd < 0 ? NULL : reads_of(folder, list, made, began, all);
    const size_t reads_len = reads ? strlen(reads) : 0;
    size_t code_len = 0;
    char *code = reads ? read_file(fd, &code_len) : NULL;
    bool good = false;
    if (code) {
        const uint64_t hash = leat_fnv(hash_of(code, code_len), reads, reads_len);
        good = dprintf(fd, "%s", reads) == (int)reads_len &&
               dprintf(fd, end_form, (unsigned long long)code_len, (unsigned long long)reads_len,
                       (unsigned long long)hash) == END_LEN - 1;
    }
    free(code);
    free(reads);
    return (fd < 0 || close(fd) == 0) && good;
}

struct leat_handler_seal leat_handler_seal_read(int object)
{
    struct leat_handler_seal seal = { 0 };
    unsigned long long code_len = 0, reads_len = 0, hash = 0;
    size_t len = 0;
    char *octets = read_file(object, &len);
    char *end = octets && len >= END_LEN ? octets + len - (END_LEN - 1) : NULL;
    if (end && sscanf(end, "leat-object %16llx %16llx %16llx", &code_len, &reads_len, &hash) == 3 &&
        code_len <= len && reads_len <= len && code_len + reads_len + END_LEN - 1 == len &&
        hash == hash_of(octets, (size_t)(code_len + reads_len))) {
        *end = '\0';
        seal = (struct leat_handler_seal){ octets, (size_t)code_len, octets + code_len };
    } else {
        free(octets);
    }
    return seal;
}

bool leat_handler_seal_holds(const struct leat_handler_seal *seal)
{
    char *at = seal->reads, *path, *before, now[STAMP_LEN];
    bool holds = seal->octets;
    struct stat s;
    while (holds && (path = next_read(&at, &before))) {
        holds = stamp(path, now, &s) && strcmp(now, before) == 0;
        join_read(path, before);
    }
    return holds;
}

/* A header next to the application's file that belongs to another user or is writable by all.
 * Relative paths start in a folder that may also be anybody's. */
static bool is_foreign(const char *path, const struct leat_handler_own *own, uid_t root)
{
    struct stat s;
    if (*path == '/' && strncmp(path, own->folder, strlen(own->folder)) != 0) return false;
    if (stat(path, &s) != 0) return false;
    return (s.st_uid != geteuid() && s.st_uid != 0 && s.st_uid != root && s.st_uid != own->owner) ||
           s.st_mode & S_IWOTH;
}

const char *leat_handler_seal_foreign(const struct leat_handler_seal *seal,
                                      const struct leat_handler_own *own)
{
    struct stat top = { 0 };
    char *at = seal->reads, *path, *before;
    if (stat("/", &top) != 0) top.st_uid = 0; /* root's uid in a container */
    while (seal->octets && (path = next_read(&at, &before))) {
        if (is_foreign(path, own, top.st_uid)) return path;
        join_read(path, before);
    }
    return NULL;
}

bool leat_handler_seal_same(int a, int b)
{
    struct leat_handler_seal x = leat_handler_seal_read(a), y = leat_handler_seal_read(b);
    const bool same = x.octets && y.octets && x.code_len == y.code_len &&
                      memcmp(x.octets, y.octets, x.code_len) == 0;
    free(x.octets);
    free(y.octets);
    return same;
}
