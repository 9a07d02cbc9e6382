#include "fabric_word.h"
#include "leat_tree.h"
#include <string.h>

struct fabric_piece fabric_next_piece(const char **rest)
{
    const struct fabric_piece piece = { *rest, strcspn(*rest, "/") };
    *rest += piece.len;
    if (**rest) (*rest)++;
    return piece;
}

bool fabric_is_key(struct fabric_piece piece, const char *key, struct fabric_piece *value)
{
    const size_t len = strlen(key);
    if (piece.len <= len || strncmp(piece.text, key, len) != 0 || piece.text[len] != '=')
        return false;
    *value = (struct fabric_piece){ piece.text + len + 1, piece.len - len - 1 };
    return true;
}

bool fabric_number(struct fabric_piece value, uint64_t least, uint64_t most, uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(value.text, value.len, &number) || number < least || number > most)
        return false;
    *out = (uint32_t)number;
    return true;
}

double fabric_ns(const struct leat_sim_clock *clock, uint64_t periods)
{
    return (double)periods * (double)clock->num / (double)clock->den / 1000;
}

const char *fabric_foreign_option(const struct arguments *args, const char *const *known)
{
    for (int i = 0; args->verb->options[i].name; i++) {
        const char *const *each = known;
        while (*each && strcmp(*each, args->verb->options[i].name) != 0)
            each++;
        if (args->value[i] && !*each) return args->verb->options[i].name;
    }
    return NULL;
}

bool fabric_refuse_foreign(const struct arguments *args, const char *word, const char *what,
                           const char *const *known)
{
    const char *foreign = fabric_foreign_option(args, known);
    if (!foreign) return true;
    misuse(args->verb, "%s has no meaning for %s, which is %s", foreign, word, what);
    return false;
}
