#include "fabric_word_parts.h"
#include "leat_tree.h"
#include <stdlib.h>

enum { WHY_CAP = 1024 };

struct word leat_fabric_piece(const char **rest)
{
    const struct word piece = { *rest, strcspn(*rest, "/") };
    *rest += piece.len;
    if (**rest) (*rest)++;
    return piece;
}

bool leat_fabric_value(struct word piece, const char *key, struct word *value)
{
    const size_t len = strlen(key);
    if (piece.len <= len || strncmp(piece.text, key, len) != 0 || piece.text[len] != '=')
        return false;
    *value = (struct word){ piece.text + len + 1, piece.len - len - 1 };
    return true;
}

bool leat_fabric_number(struct word value, uint64_t least, uint64_t most, uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(value.text, value.len, &number) || number < least || number > most)
        return false;
    *out = (uint32_t)number;
    return true;
}

/* The first piece that makes a name invalid; `begin` has room for the name. */
static struct word find_wrong_piece(const char *name, char *begin, leat_fabric_parser *parse,
                                    void *out)
{
    for (const char *rest = name; *rest;) {
        const struct word piece = leat_fabric_piece(&rest);
        const size_t len = (size_t)(piece.text - name) + piece.len;
        struct leat_text why = LEAT_TEXT(WHY_CAP);
        memcpy(begin, name, len);
        begin[len] = '\0';
        if (parse(begin, out, &why)) return piece;
    }
    return (struct word){ name, strlen(name) };
}

bool leat_fabric_parse(const char *name, leat_fabric_parser *parse, void *out,
                       struct leat_fabric_error *error)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (!parse(name, out, &why)) return true;
    char *begin = leat_fabric_take(1, strlen(name) + 1, error);
    if (!begin) return false;
    const struct word piece = find_wrong_piece(name, begin, parse, out);
    free(begin);
    return leat_fabric_wrong_name(error, (size_t)(piece.text - name), piece.len, "%.*s",
                                  (int)why.len, why.buf);
}
