/* leat report: a walk over the scalar values of a JSON text. Total: it accepts any text. */
#include "report.h"
#include <stdlib.h>
#include <string.h>

enum { NUMBER_LEN_MAX = 63 };

struct walk {
    const char *at;
    char path[REPORT_KEY_CAP];
    size_t path_len, depth, lists;
    uint32_t index[REPORT_JSON_DEPTH_MAX];
    bool (*visit)(void *context, const char *path, const struct report_value *value);
    void *context;
};

static bool walk_value(struct walk *w);

static void blanks(struct walk *w)
{
    w->at += strspn(w->at, " \t\r\n");
}

static bool take(struct walk *w, char c)
{
    blanks(w);
    if (*w->at != c) return false;
    w->at++;
    return true;
}

/* Between the quotes, escapes as they are written. */
static bool take_string(struct walk *w, const char **text, size_t *len)
{
    if (!take(w, '"')) return false;
    *text = w->at;
    for (; *w->at != '"'; w->at++) {
        if ((unsigned char)*w->at < ' ') return false; /* the end of the text, too */
        if (*w->at == '\\' && (unsigned char)*++w->at < ' ') return false;
    }
    *len = (size_t)(w->at++ - *text);
    return true;
}

/* The path grows by a member's name. */
static bool enter(struct walk *w, const char *join, const char *name, size_t len)
{
    const size_t room = sizeof w->path - 1 - w->path_len, join_len = strlen(join);
    if (join_len + len > room) return false;
    memcpy(w->path + w->path_len, join, join_len);
    memcpy(w->path + w->path_len + join_len, name, len);
    w->path_len += join_len + len;
    w->path[w->path_len] = '\0';
    return true;
}

static void leave(struct walk *w, size_t path_len)
{
    w->path_len = path_len;
    w->path[path_len] = '\0';
}

static bool walk_members(struct walk *w)
{
    if (take(w, '}')) return true;
    do {
        const char *name;
        size_t len;
        const size_t outer = w->path_len;
        if (!take_string(w, &name, &len) || !take(w, ':')) return false;
        if (!enter(w, outer ? "." : "", name, len) || !walk_value(w)) return false;
        leave(w, outer);
    } while (take(w, ','));
    return take(w, '}');
}

static bool walk_items(struct walk *w)
{
    const size_t outer = w->path_len;
    if (take(w, ']')) return true;
    if (!enter(w, "[]", "", 0)) return false;
    uint32_t *index = &w->index[w->lists++];
    *index = 0;
    do
        if (!walk_value(w)) return false;
    while (take(w, ',') && ++*index);
    w->lists--;
    leave(w, outer);
    return take(w, ']');
}

static bool give(struct walk *w, enum report_kind kind, const char *text, size_t len)
{
    const struct report_value value = { .kind = kind, .text = text, .len = len, .index = w->index };
    return w->visit(w->context, w->path, &value);
}

static bool walk_word(struct walk *w, const char *word, enum report_kind kind)
{
    const size_t len = strlen(word);
    if (strncmp(w->at, word, len) != 0) return false;
    w->at += len;
    return give(w, kind, word, len);
}

static bool walk_number(struct walk *w)
{
    const size_t len = strspn(w->at, "+-.0123456789eE");
    char digits[NUMBER_LEN_MAX + 1], *end;
    if (len == 0 || len > NUMBER_LEN_MAX) return false;
    memcpy(digits, w->at, len);
    digits[len] = '\0';
    const struct report_value value = { .kind = REPORT_NUMBER,
                                        .text = w->at,
                                        .len = len,
                                        .number = strtod(digits, &end),
                                        .index = w->index };
    w->at += len;
    return !*end && w->visit(w->context, w->path, &value);
}

static bool walk_value(struct walk *w)
{
    bool done;
    blanks(w);
    switch (*w->at) {
    case '{':
    case '[':
        if (++w->depth > REPORT_JSON_DEPTH_MAX) return false;
        done = *w->at++ == '{' ? walk_members(w) : walk_items(w);
        w->depth--;
        return done;
    case '"': {
        const char *text;
        size_t len;
        return take_string(w, &text, &len) && give(w, REPORT_STRING, text, len);
    }
    case 't': return walk_word(w, "true", REPORT_TRUE);
    case 'f': return walk_word(w, "false", REPORT_FALSE);
    case 'n': return walk_word(w, "null", REPORT_NULL);
    default: return walk_number(w);
    }
}

bool report_json_each(const char *json,
                      bool (*visit)(void *context, const char *path,
                                    const struct report_value *value),
                      void *context)
{
    struct walk w = { .at = json, .visit = visit, .context = context };
    if (!walk_value(&w)) return false;
    blanks(&w);
    return *w.at == '\0';
}
