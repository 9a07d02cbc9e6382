#include "config.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

struct config_line {
    const char *file;
    unsigned number;
    char name[CONFIG_LINE_MAX];
};

/* Without blanks at both ends. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t len = strlen(text); len && isspace((unsigned char)text[len - 1]); len--)
        text[len - 1] = '\0';
    return text;
}

/* A comment begins with '#' at the start or behind a blank, and not within quotes. */
static void cut_comment(char *line)
{
    char quote = 0;
    for (char *c = line; *c; c++) {
        if (quote ? *c == quote : *c == '"' || *c == '\'')
            quote = quote ? 0 : *c;
        else if (!quote && *c == '#' && (c == line || isspace((unsigned char)c[-1])))
            *c = '\0', c--;
    }
}

/* Without its quotes; NULL: they do not match. */
static char *unquote(char *value)
{
    const size_t len = strlen(value);
    if (*value != '"' && *value != '\'') return value;
    if (len < 2 || value[len - 1] != *value) return NULL;
    value[len - 1] = '\0';
    return value + 1;
}

static int refuse(const struct config_line *l, const char *what)
{
    complain("%s:%u: %s", l->file, l->number, what);
    return WRONG;
}

static int hand_over(const struct config_line *l, struct arguments *args, char *text,
                     config_give *give)
{
    static const char *const nothing = "expected a value behind the name";
    char *value = unquote(text);
    if (!value) return refuse(l, "the quotes do not match, expected '...' or \"...\"");
    if (strchr("[{&*!|>%@`", *value) && *value && value == text)
        return refuse(l, "expected a value, or a list with a line \"- value\" for each");
    if (!*value && value == text) return refuse(l, nothing);
    if (give(args, l->name, value) == DONE) return DONE;
    complain("%s:%u: the option is in this line", l->file, l->number);
    return WRONG;
}

/* "name: value", "name:" before a list, or "- value" of one. */
static int read_line(struct config_line *l, struct arguments *args, char *text, config_give *give)
{
    const bool inner = isspace((unsigned char)*text);
    cut_comment(text);
    text = trim(text);
    if (!*text || strcmp(text, "---") == 0) return DONE;
    if (text[0] == '-' && (text[1] == ' ' || !text[1])) {
        if (!*l->name) return refuse(l, "a value of a list, expected a line \"name:\" before it");
        return hand_over(l, args, trim(text + 1), give);
    }
    char *colon = strchr(text, ':');
    if (inner || !colon || (colon[1] && !isspace((unsigned char)colon[1])))
        return refuse(l, "expected \"name: value\" at the beginning of the line, or \"- value\"");
    *colon = '\0';
    snprintf(l->name, sizeof l->name, "%s", trim(text));
    text = trim(colon + 1);
    return *text ? hand_over(l, args, text, give) : DONE;
}

int config_read(const char *file, struct arguments *args, config_give *give)
{
    struct config_line line = { .file = file };
    char text[CONFIG_LINE_MAX];
    size_t octets = 0;
    int code = DONE;
    FILE *in = fopen(file, "re");
    if (!in) {
        complain("--config %s: %s", file, strerror(errno));
        return WRONG;
    }
    while (code == DONE && fgets(text, sizeof text, in)) {
        line.number++;
        octets += strlen(text);
        if (octets > CONFIG_LEN_MAX || (!strchr(text, '\n') && !feof(in)))
            code = refuse(&line, "too long, expected lines below 1024 octets, 64 KiB in all");
        else
            code = read_line(&line, args, text, give);
    }
    if (code == DONE && ferror(in)) {
        complain("--config %s: %s", file, strerror(errno));
        code = WRONG;
    }
    fclose(in);
    return code;
}
