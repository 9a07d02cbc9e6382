#include "handler_lines.h"
#include "tap.h"
#include <elf.h>
#include <fcntl.h>
#include <leat/random.h>
#include <string.h>
#include <unistd.h>

enum { FUNCTIONS = 40, ADDRESSES = 0x1800 };
static char folder[64];
static struct leat_handler_lines lines;

static void path_of(char *out, size_t cap, const char *name)
{
    snprintf(out, cap, "%s/%s", folder, name);
}

static bool run(const char *command)
{
    char text[400];
    snprintf(text, sizeof text, "cd %s && %s", folder, command);
    return system(text) == 0;
}

/* Functions whose lines and files jump about. */
static void write_source(struct leat_random *r)
{
    char path[100];
    path_of(path, sizeof path, "t.c");
    FILE *out = fopen(path, "w");
    fprintf(out, "int g(int);\n");
    for (int i = 0; i < FUNCTIONS; i++) {
        const unsigned file = (unsigned)leat_random_below(r, 4);
        fprintf(out, "#line %u \"%s%u.xml\"\n", 1 + (unsigned)leat_random_below(r, 100000),
                file & 1 ? "some/folder/" : "", file);
        fprintf(out, "int f%d(int *p, int n) {\n\n  for (int i = 0; i < n; i++) {\n", i);
        for (unsigned k = (unsigned)leat_random_below(r, 6); k--;)
            fprintf(out, "%sp[i + %u] += g(n * %u);", k & 1 ? "\n\n\n" : "", k, k + 3);
        fprintf(out, "\n  }\n  return p[n];\n}\n");
    }
    fclose(out);
}

static bool open_object(void)
{
    char path[100];
    path_of(path, sizeof path, "t.so");
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool good = leat_handler_lines_open(&lines, file);
    close(file);
    return good;
}

static bool make(uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    snprintf(folder, sizeof folder, "/tmp/leat_lines_XXXXXX");
    if (!mkdtemp(folder)) return false;
    write_source(&r);
    return run("cc -g1 -gdwarf-4 -O2 -fPIC -shared -w -o t.so t.c") && open_object();
}

static void unmake(void)
{
    leat_handler_lines_close(&lines);
    run("rm -f t.c t.so addresses && rmdir ../$(basename $PWD)");
}

/* addr2line, of the binutils, reads the same table. */
static void every_address_has_the_line_that_addr2line_gives(void)
{
    char path[100], command[200], text[400];
    unsigned found = 0;
    OK(make(tap_seed()));
    path_of(path, sizeof path, "addresses");
    FILE *out = fopen(path, "w");
    for (unsigned a = 0; a < ADDRESSES; a++)
        fprintf(out, "%x\n", a);
    fclose(out);
    snprintf(command, sizeof command, "cd %s && addr2line -e t.so < addresses", folder);
    FILE *in = popen(command, "r");
    for (unsigned a = 0; a < ADDRESSES && in && fgets(text, sizeof text, in); a++) {
        struct leat_handler_line line;
        char *colon = strrchr(text, ':');
        const unsigned want = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        const bool has = leat_handler_lines_find(&lines, a, &line);
        EQ(has ? line.line : 0, want);
        if (!has) continue;
        found++;
        if (colon) *colon = '\0';
        char mine[300];
        snprintf(mine, sizeof mine, "%s%s%s", line.folder, *line.folder ? "/" : "", line.name);
        /* addr2line puts the folder of the compiler before relative names. */
        const size_t len = strlen(text), mine_len = strlen(mine);
        OK(len >= mine_len && strcmp(text + len - mine_len, mine) == 0);
    }
    if (in) pclose(in);
    OK(found > 500);
    unmake();
}

static void damaged_tables_are_survived(void)
{
    struct leat_random r;
    struct leat_handler_line line;
    OK(make(tap_seed() + 1));
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS / 10; round++) {
        /* A copy that ends with the table: whoever reads on is noticed. */
        uint8_t *copy = malloc(lines.table_len);
        memcpy(copy, lines.octets + lines.table_at, lines.table_len);
        for (unsigned k = 1 + (unsigned)leat_random_below(&r, 8); k--;) {
            const uint64_t at = leat_random_below(&r, lines.table_len);
            copy[at] = (uint8_t)leat_random_next(&r);
        }
        const struct leat_handler_lines damaged = {
            .octets = copy,
            .len = lines.table_len,
            .table_len = (size_t)leat_random_below(&r, lines.table_len + 1),
        };
        if (leat_handler_lines_find(&damaged, 0x1000 + leat_random_below(&r, 0x1000), &line))
            OK(line.line && *line.name);
        free(copy);
    }
    unmake();
}

static void damaged_objects_are_refused_or_have_lines(void)
{
    struct leat_random r;
    char path[100];
    OK(make(tap_seed() + 2));
    path_of(path, sizeof path, "t.so");
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 300; round++) {
        struct leat_handler_lines damaged;
        const int file = open(path, O_RDWR | O_CLOEXEC);
        const off_t end = lseek(file, 0, SEEK_END);
        const off_t at = round & 1 ? (off_t)leat_random_below(&r, sizeof(Elf64_Ehdr))
                                   : end - 1 - (off_t)leat_random_below(&r, 64 * 30);
        uint8_t before = 0, after = (uint8_t)leat_random_next(&r);
        OK(pread(file, &before, 1, at) == 1 && pwrite(file, &after, 1, at) == 1);
        if (leat_handler_lines_open(&damaged, file)) {
            OK(damaged.table_at + damaged.table_len <= damaged.len);
            leat_handler_lines_close(&damaged);
        }
        OK(pwrite(file, &before, 1, at) == 1);
        close(file);
    }
    unmake();
}

TAP_MAIN(T(every_address_has_the_line_that_addr2line_gives), T(damaged_tables_are_survived),
         T(damaged_objects_are_refused_or_have_lines))
