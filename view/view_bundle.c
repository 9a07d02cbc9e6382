#include "view_bundle.h"

/* Part of a module's text. */
struct piece {
    const char *at, *end;
};

struct bundle {
    const struct view_files *files;
    struct leat_text *out, *why;
    const struct view_file *module[VIEW_MODULES_MAX]; /* written, or begun: */
    bool is_open[VIEW_MODULES_MAX];
    size_t modules;
};

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

static void skip_blanks(struct piece *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n'))
        p->at++;
}

/* Takes these characters and the blanks behind them, if they are next. */
static bool take(struct piece *p, const char *text)
{
    const size_t len = strlen(text);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0) return false;
    if (is_word(text[len - 1]) && p->at + len < p->end && is_word(p->at[len])) return false;
    p->at += len;
    skip_blanks(p);
    return true;
}

/* A name; empty: there is none. */
static struct piece take_name(struct piece *p)
{
    struct piece name = { p->at, p->at };
    while (name.end < p->end && is_word(*name.end))
        name.end++;
    p->at = name.end;
    skip_blanks(p);
    return name;
}

static bool is_same(struct piece a, struct piece b)
{
    return a.end - a.at == b.end - b.at && memcmp(a.at, b.at, (size_t)(a.end - a.at)) == 0;
}

static void put(struct leat_text *out, struct piece p)
{
    leat_text_put(out, p.at, (size_t)(p.end - p.at));
}

static struct piece text_of(const struct view_file *file)
{
    const char *text = (const char *)file->octets;
    return (struct piece){ text, text + file->len };
}

static struct piece next_line(struct piece *rest)
{
    const char *end = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    struct piece line = { rest->at, end ? end + 1 : rest->end };
    rest->at = line.end;
    return line;
}

static bool refuse(struct bundle *b, const struct view_file *file, const char *at, const char *what)
{
    uint64_t line = 1;
    for (const char *c = (const char *)file->octets; c < at; c++)
        line += *c == '\n';
    leat_text_puts(b->why, file->name);
    leat_text_putc(b->why, ':');
    leat_text_decimal(b->why, line);
    leat_text_puts(b->why, ": ");
    leat_text_puts(b->why, what);
    return false;
}

/* ---- exports -------------------------------------------------------------------------------- */

/* The name that a line exports, if it begins so; the rest of the line stays in *line. */
static bool take_export(struct piece *line, struct piece *name)
{
    struct piece p = *line;
    if (!take(&p, "export")) return false;
    line->at = p.at;
    take(&p, "async");
    if (take(&p, "function"))
        take(&p, "*");
    else if (!take(&p, "const") && !take(&p, "class"))
        p.at = p.end;
    *name = take_name(&p);
    return true;
}

static bool has_export(const struct view_file *file, struct piece name)
{
    for (struct piece rest = text_of(file), own; rest.at < rest.end;) {
        struct piece line = next_line(&rest);
        if (take_export(&line, &own) && is_same(own, name)) return true;
    }
    return false;
}

static void put_exports(struct bundle *b, const struct view_file *file)
{
    const char *before = "return { ";
    for (struct piece rest = text_of(file), name; rest.at < rest.end;) {
        struct piece line = next_line(&rest);
        if (!take_export(&line, &name)) continue;
        leat_text_puts(b->out, before);
        put(b->out, name);
        before = ", ";
    }
    leat_text_puts(b->out, *before == ',' ? " };\n" : "return {};\n");
}

/* ---- imports -------------------------------------------------------------------------------- */

static bool put_module(struct bundle *b, const struct view_file *file);

struct import {
    struct piece names; /* "a, b as c" */
    struct piece whole; /* the name for all of the module; both may be empty */
    const struct view_file *from;
};

/* `import { a, b as c } from "./x.js";` and what is like it. */
static bool read_import(struct bundle *b, struct piece *p, struct import *out)
{
    *out = (struct import){ .from = NULL };
    bool named = false;
    if (take(p, "{")) {
        const char *end = memchr(p->at, '}', (size_t)(p->end - p->at));
        if (!end) return false;
        out->names = (struct piece){ p->at, end };
        p->at = end;
        named = take(p, "}");
    } else if (take(p, "*") && take(p, "as")) {
        out->whole = take_name(p);
        named = true;
    }
    if (named && !take(p, "from")) return false;
    if (!take(p, "\"./")) return false;
    const char *end = memchr(p->at, '"', (size_t)(p->end - p->at));
    if (!end) return false;
    out->from = view_file_find(b->files, p->at, (size_t)(end - p->at));
    p->at = end + 1;
    if (!out->from || p->at == p->end || *p->at != ';') return false;
    p->at++;
    if (p->at < p->end && *p->at == '\n') p->at++;
    return true;
}

static void put_module_name(struct bundle *b, const struct view_file *file)
{
    leat_text_puts(b->out, " = modules[\"");
    leat_text_puts(b->out, file->name);
    leat_text_puts(b->out, "\"];\n");
}

static bool put_names(struct bundle *b, const struct view_file *file, const struct import *import)
{
    struct piece rest = import->names;
    skip_blanks(&rest);
    leat_text_puts(b->out, "const { ");
    for (const char *before = ""; rest.at < rest.end; before = ", ") {
        const struct piece name = take_name(&rest);
        if (name.at == name.end || !has_export(import->from, name))
            return refuse(b, file, name.at, "imports what the other module does not export");
        leat_text_puts(b->out, before);
        put(b->out, name);
        if (take(&rest, "as")) {
            leat_text_puts(b->out, ": ");
            put(b->out, take_name(&rest));
        }
        if (!take(&rest, ",") && rest.at < rest.end)
            return refuse(b, file, rest.at, "expected names separated by commas");
    }
    leat_text_puts(b->out, " }");
    put_module_name(b, import->from);
    return true;
}

/* The statements at the front of a module and elsewhere; what they import was written before. */
static bool put_import(struct bundle *b, const struct view_file *file, const struct import *import)
{
    if (import->whole.at < import->whole.end) {
        leat_text_puts(b->out, "const ");
        put(b->out, import->whole);
        put_module_name(b, import->from);
    }
    return import->names.at == import->names.end || put_names(b, file, import);
}

/* Takes the import at the front of the rest, if there is one. */
static bool find_import(struct bundle *b, const struct view_file *file, struct piece *rest,
                        struct import *import, bool *found)
{
    struct piece p = *rest;
    *found = take(&p, "import") && *rest->at == 'i' && p.at < p.end && *p.at != '(' && *p.at != '.';
    if (!*found) return true;
    if (!read_import(b, &p, import))
        return refuse(b, file, rest->at,
                      "expected import { NAME, NAME as NAME } from \"./MODULE.js\";");
    rest->at = p.at;
    return true;
}

/* ---- modules -------------------------------------------------------------------------------- */

static bool put_imported(struct bundle *b, const struct view_file *file)
{
    struct piece rest = text_of(file);
    while (rest.at < rest.end) {
        struct import import;
        const char *at = rest.at;
        bool found;
        if (!find_import(b, file, &rest, &import, &found)) return false;
        if (!found) next_line(&rest);
        for (size_t i = 0; found && i < b->modules; i++)
            if (b->module[i] == import.from && b->is_open[i])
                return refuse(b, file, at, "imports a module that imports it, expected no circle");
        if (found && !put_module(b, import.from)) return false;
    }
    return true;
}

static bool put_line(struct bundle *b, const struct view_file *file, struct piece line)
{
    struct piece name;
    const char *at = line.at;
    if (take_export(&line, &name) && name.at == name.end)
        return refuse(b, file, at, "expected export function, const or class with a name");
    put(b->out, line);
    return true;
}

static bool put_body(struct bundle *b, const struct view_file *file)
{
    struct piece rest = text_of(file);
    while (rest.at < rest.end) {
        struct import import;
        bool found;
        if (!find_import(b, file, &rest, &import, &found)) return false;
        if (found ? !put_import(b, file, &import) : !put_line(b, file, next_line(&rest)))
            return false;
    }
    if (file->len && rest.end[-1] != '\n') leat_text_putc(b->out, '\n');
    return true;
}

/* After the modules that it imports, once. */
static bool put_module(struct bundle *b, const struct view_file *file)
{
    const size_t own = b->modules;
    for (size_t i = 0; i < own; i++)
        if (b->module[i] == file) return true;
    if (own == VIEW_MODULES_MAX)
        return refuse(b, file, (const char *)file->octets, "is one module too many");
    b->module[b->modules++] = file;
    b->is_open[own] = true;
    if (!put_imported(b, file)) return false;
    leat_text_puts(b->out, "modules[\"");
    leat_text_puts(b->out, file->name);
    leat_text_puts(b->out, "\"] = (() => {\n");
    if (!put_body(b, file)) return false;
    put_exports(b, file);
    leat_text_puts(b->out, "})();\n");
    b->is_open[own] = false;
    return true;
}

bool view_bundle(const struct view_files *files, const char *entry, struct leat_text *out,
                 struct leat_text *why)
{
    struct bundle b = { .files = files, .out = out, .why = why };
    const struct view_file *file = view_file_find(files, entry, strlen(entry));
    if (!file) {
        leat_text_puts(why, entry);
        leat_text_puts(why, ": no such module");
        return false;
    }
    leat_text_puts(out, "\"use strict\";\nconst modules = {};\n");
    return put_module(&b, file);
}
