#include "poets_path.h"
#include "leat_err.h"

static bool is_of_identifier(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool leat_poets_identifier(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_of_identifier(text[i])) return false;
    return len;
}

struct walk {
    const char *text;
    size_t len, at;
    bool blanks;
};

static void skip(struct walk *w)
{
    while (w->blanks && w->at < w->len && (w->text[w->at] == ' ' || w->text[w->at] == '\t'))
        w->at++;
}

static struct leat_poets_path_part part(struct walk *w)
{
    skip(w);
    const size_t from = w->at;
    while (w->at < w->len && is_of_identifier(w->text[w->at]))
        w->at++;
    const struct leat_poets_path_part found = { w->text + from, w->at - from };
    skip(w);
    return found;
}

static bool take(struct walk *w, char c)
{
    if (w->at == w->len || w->text[w->at] != c) return false;
    w->at++;
    return true;
}

leat_err leat_poets_path_parse(const char *text, size_t len, bool blanks,
                               struct leat_poets_path *out, size_t *fault_at)
{
    struct walk w = { text, len, 0, blanks };
    struct leat_poets_path path;
    path.to = part(&w);
    if (!take(&w, ':')) return leat_fault(LEAT_ERR_SYNTAX, w.at, fault_at);
    path.to_pin = part(&w);
    if ((path.to.len && !path.to_pin.len) || !take(&w, '-'))
        return leat_fault(LEAT_ERR_SYNTAX, w.at, fault_at);
    path.from = part(&w);
    if (!take(&w, ':')) return leat_fault(LEAT_ERR_SYNTAX, w.at, fault_at);
    path.from_pin = part(&w);
    if ((path.from.len && !path.from_pin.len) || w.at != len)
        return leat_fault(LEAT_ERR_SYNTAX, w.at, fault_at);
    *out = path;
    return LEAT_ERR_OK;
}
