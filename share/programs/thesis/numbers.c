#include "numbers.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"
enum { LINE_CAP = 65536 };

void source_open(struct source *source, const char *name)
{
    *source = (struct source){ .name = name, .file = fopen(name, "r+") };
    if (source->file) return;
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
    exit(2);
}

void source_refuse(const struct source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", source->name, source->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* The next line, without its comment and the blanks around it; NULL: there is none. */
static char *next_line(struct source *source)
{
    static char line[LINE_CAP];
    if (!fgets(line, sizeof line, source->file)) return NULL;
    source->line++;
    if (strlen(line) + 1 == sizeof line)
        source_refuse(source, "a line of more than %d characters", LINE_CAP - 2);
    const bool is_comment = line[strspn(line, BLANKS)] == '#';
    size_t len = strcspn(line, "#\n");
    while (len && strchr(BLANKS, line[len - 1]))
        len--;
    line[len] = '\0';
    return is_comment ? next_line(source) : line + strspn(line, BLANKS);
}

static void append(struct rows *rows, int place, int number)
{
    if ((place & (place - 1)) == 0) /* all powers of two */
        rows->value = realloc(rows->value, (place ? 2 * (size_t)place : 1) * sizeof(int));
    if (!rows->value) {
        fprintf(stderr, "no memory for %d numbers\n", place);
        exit(1);
    }
    rows->value[place] = number;
}

static void read_row(const struct source *source, const char *line, struct rows *rows)
{
    int count = 0;
    while (*line) {
        char *end;
        errno = 0;
        const long number = strtol(line, &end, 10);
        if (end == line || (*end && !strchr(BLANKS, *end)))
            source_refuse(source, "'%.20s' is no integer", line);
        if (errno || number < INT_MIN || number > INT_MAX)
            source_refuse(source, "'%.20s' does not fit into 32 bits", line);
        append(rows, rows->count * rows->columns + count++, (int)number);
        line = end + strspn(end, BLANKS);
    }
    if (rows->count && count != rows->columns)
        source_refuse(source, "%d numbers, expected %d as in the row before", count, rows->columns);
    rows->columns = count;
    rows->count++;
}

struct rows source_rows(struct source *source, const char *end)
{
    struct rows rows = { 0 };
    const char *line;
    while ((line = next_line(source))) {
        if (strcmp(line, end) == 0 && (*end || rows.count)) break;
        if (*line) read_row(source, line, &rows);
    }
    if (!rows.count) source_refuse(source, "no row of numbers, expected one at least");
    return rows;
}

bool source_is_over(const struct source *source)
{
    return feof(source->file);
}

FILE *source_append(struct source *source)
{
    fseek(source->file, -1, SEEK_END);
    const bool is_complete = getc(source->file) == '\n';
    fseek(source->file, 0, SEEK_END);
    if (!is_complete) fputc('\n', source->file);
    return source->file;
}

void source_close(struct source *source)
{
    const bool is_written = !ferror(source->file);
    if (!fclose(source->file) && is_written) return;
    fprintf(stderr, "%s: %s\n", source->name, strerror(errno));
    exit(1);
}
