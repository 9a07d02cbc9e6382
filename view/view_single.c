#include "view_single.h"
#include "view_bundle.h"
#include "view_decoded.h"
#include "view_octets.h"
#include <stdlib.h>
#include <strings.h>

enum { INLINES_MAX = 8, PIECE = 3 << 14 };

struct line {
    const char *at, *end;
};
static const char page[] = "=\"page/"; /* before the name of a file of the page */

/* A style or a module of the page, which is inside of it now. */
struct inlined {
    bool is_style;
    struct view_buffer text;
};

struct single {
    const struct view_site *site;
    const struct view_files *files;
    struct leat_text *out, *why;
    const struct view_file *index;
    struct inlined part[INLINES_MAX];
    size_t parts, next; /* next: the one to be written */
    char piece[PIECE];
};

static bool because(struct single *s, const char *what, const char *text)
{
    leat_text_puts(s->why, what);
    leat_text_puts(s->why, ": ");
    leat_text_puts(s->why, text);
    return false;
}

/* ---- lines of index.html -------------------------------------------------------------------- */

static const char *find(struct line line, const char *text)
{
    const size_t len = strlen(text);
    for (const char *at = line.at; (size_t)(line.end - at) >= len; at++)
        if (memcmp(at, text, len) == 0) return at;
    return NULL;
}

static bool next_line(const struct view_file *file, struct line *line)
{
    const char *end = (const char *)file->octets + file->len;
    if (line->end == end) return false;
    const char *at = memchr(line->end, '\n', (size_t)(end - line->end));
    *line = (struct line){ line->end, at ? at + 1 : end };
    return true;
}

static struct line no_line(const struct view_file *file)
{
    return (struct line){ (const char *)file->octets, (const char *)file->octets };
}

/* The file of the page that a line refers to; NULL: none. */
static const struct view_file *referred(const struct single *s, struct line line)
{
    const char *at = find(line, page);
    if (!at) return NULL;
    at += strlen(page);
    const char *end = memchr(at, '"', (size_t)(line.end - at));
    return end ? view_file_find(s->files, at, (size_t)(end - at)) : NULL;
}

/* ---- what is inside ------------------------------------------------------------------------- */

static bool begins(const char *octets, size_t len, const char *text)
{
    return len >= strlen(text) && strncasecmp(octets, text, strlen(text)) == 0;
}

/* Octets of a script or a style, of which none ends it: these are in strings only, where a '\\'
 * before the second one changes nothing. */
static void put_script(struct leat_text *out, const char *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char *at = octets + i;
        const size_t rest = len - i;
        leat_text_putc(out, *at);
        if (begins(at, rest, "</script") || begins(at, rest, "</style") || begins(at, rest, "<!--"))
            leat_text_putc(out, '\\');
    }
}

static bool bundle(struct single *s, const char *name, struct leat_text *out)
{
    static struct view_buffer text;
    view_buffer_init(&text);
    bool done = view_bundle(s->files, name, &text.text, s->why);
    if (!view_buffer_end(&text)) done = because(s, name, "no memory");
    if (done) put_script(out, text.octets, text.len);
    view_buffer_free(&text);
    return done;
}

static bool inline_part(struct single *s, const struct view_file *file, bool is_style)
{
    if (s->parts == INLINES_MAX) return because(s, file->name, "one style or script too many");
    struct inlined *part = &s->part[s->parts++];
    part->is_style = is_style;
    view_buffer_init(&part->text);
    bool done = true;
    if (is_style)
        put_script(&part->text.text, (const char *)file->octets, file->len);
    else
        done = bundle(s, file->name, &part->text.text);
    return (view_buffer_end(&part->text) || because(s, file->name, "no memory")) && done;
}

/* All that the policy has hashes of, before it is written. */
static bool inline_all(struct single *s)
{
    for (struct line line = no_line(s->index); next_line(s->index, &line);) {
        const bool is_style = find(line, "<link rel=\"stylesheet\" ");
        const bool is_script = find(line, "<script type=\"module\" ");
        const struct view_file *file = referred(s, line);
        if (!file && !is_style && !is_script && !find(line, page)) continue;
        if (!file || is_style == is_script)
            return because(s, s->index->name,
                           "expected <link rel=\"stylesheet\" href=\"page/X.css\"> or <script "
                           "type=\"module\" src=\"page/X.js\"></script> on a line of its own");
        if (!inline_part(s, file, is_style)) return false;
    }
    return true;
}

static void put_hashes(struct single *s, bool of_styles)
{
    for (size_t i = 0; i < s->parts; i++) {
        uint8_t hash[VIEW_SHA256_LEN];
        if (s->part[i].is_style != of_styles) continue;
        view_sha256(s->part[i].text.octets, s->part[i].text.len, hash);
        leat_text_puts(s->out, " 'sha256-");
        view_base64(s->out, hash, sizeof hash);
        leat_text_putc(s->out, '\'');
    }
}

static void put_policy(struct single *s)
{
    leat_text_puts(s->out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "'none'; script-src");
    put_hashes(s, false);
    leat_text_puts(s->out, "; worker-src blob:; style-src");
    put_hashes(s, true);
    leat_text_puts(s->out, "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
}

static void put_part(struct single *s)
{
    const struct inlined *part = &s->part[s->next++];
    leat_text_puts(s->out, part->is_style ? "<style>" : "<script type=\"module\">");
    leat_text_put(s->out, part->text.octets, part->text.len);
    leat_text_puts(s->out, part->is_style ? "</style>\n" : "</script>\n");
}

/* ---- data ----------------------------------------------------------------------------------- */

static bool put_sources(struct single *s)
{
    static struct view_buffer json;
    view_buffer_init(&json);
    view_site_describe(s->site, false, &json.text);
    const bool done = view_buffer_end(&json);
    leat_text_puts(s->out, "<script type=\"application/json\" id=\"sources\">");
    if (done) view_put_json(s->out, json.octets, json.len);
    leat_text_puts(s->out, "</script>\n<script type=\"application/json\" id=\"decoded\">");
    view_buffer_free(&json);
    if (!done || !view_decoded_put(s->site, s->out)) return because(s, "packets", "no memory");
    leat_text_puts(s->out, "</script>\n");
    return true;
}

static bool put_worker(struct single *s)
{
    static const char name[] = "worker.js";
    if (!view_file_find(s->files, name, strlen(name))) return true;
    leat_text_puts(s->out, "<script type=\"text/plain\" id=\"worker\">");
    if (!bundle(s, name, s->out)) return false;
    leat_text_puts(s->out, "</script>\n");
    return true;
}

/* A name as the value of an attribute. */
static void put_attribute(struct leat_text *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            leat_text_puts(out, entity);
        else
            leat_text_putc(out, *text);
    }
}

static void begin_source(struct single *s, unsigned i, const char *type)
{
    leat_text_puts(s->out, "<script type=\"application/");
    leat_text_puts(s->out, type);
    leat_text_puts(s->out, "\" id=\"source-");
    leat_text_decimal(s->out, i);
    leat_text_puts(s->out, "\" data-name=\"");
    put_attribute(s->out, s->site->source[i].name);
    leat_text_puts(s->out, "\">");
}

static bool put_recording(struct single *s, unsigned i)
{
    const struct view_source *source = &s->site->source[i];
    const uint64_t len = view_source_octets(source);
    begin_source(s, i, "octet-stream");
    for (uint64_t at = 0; at < len; at += PIECE) {
        const ssize_t got = view_source_read(source, at, s->piece, sizeof s->piece);
        const uint64_t wanted = len - at < sizeof s->piece ? len - at : sizeof s->piece;
        if (got < 0 || (uint64_t)got != wanted)
            return because(s, source->path, "has changed while it was read");
        view_base64(s->out, s->piece, (size_t)got);
    }
    leat_text_puts(s->out, "</script>\n");
    return view_source_is_same(source) || because(s, source->path, "has changed while it was read");
}

static bool put_source(struct single *s, unsigned i)
{
    const struct view_source *source = &s->site->source[i];
    if (source->path) return put_recording(s, i);
    begin_source(s, i, "json");
    view_put_json(s->out, source->json, source->json_len);
    leat_text_puts(s->out, "</script>\n");
    return true;
}

static bool put_data(struct single *s)
{
    if (!put_sources(s) || !put_worker(s)) return false;
    for (unsigned i = 0; i < s->site->count; i++)
        if (!put_source(s, i)) return false;
    return true;
}

/* ---- the page ------------------------------------------------------------------------------- */

static bool put_line(struct single *s, struct line line)
{
    if (referred(s, line)) {
        put_part(s);
        return true;
    }
    if (find(line, "</body>") && !put_data(s)) return false;
    leat_text_put(s->out, line.at, (size_t)(line.end - line.at));
    if (find(line, "<meta charset=")) put_policy(s);
    return true;
}

static bool write_page(struct single *s)
{
    static const char index[] = "index.html";
    s->index = view_file_find(s->files, index, strlen(index));
    if (!s->index) return because(s, index, "no such file");
    for (unsigned i = 0; i < s->site->count; i++)
        if (s->site->source[i].path &&
            view_source_octets(&s->site->source[i]) > VIEW_SINGLE_OCTETS_MAX)
            return because(s, s->site->source[i].path,
                           "has more than 256 MiB, which is all that browsers take in one file: "
                           "without -o, leat serves recordings of any size");
    if (!inline_all(s)) return false;
    for (struct line line = no_line(s->index); next_line(s->index, &line);)
        if (!put_line(s, line)) return false;
    return true;
}

bool view_single_write(const struct view_site *site, const struct view_files *files,
                       struct leat_text *out, struct leat_text *why)
{
    struct single *s = calloc(1, sizeof *s);
    if (!s) {
        leat_text_puts(why, "no memory");
        return false;
    }
    s->site = site;
    s->files = files;
    s->out = out;
    s->why = why;
    const bool done = write_page(s);
    for (size_t i = 0; i < s->parts; i++)
        view_buffer_free(&s->part[i].text);
    free(s);
    return done;
}
