#include "leat_near.h"
#include <stdbool.h>
#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool same(char a, char b)
{
    return lower(a) == lower(b);
}

/* How many letters must be changed, inserted, removed or swapped with their neighbour to turn one
 * word into the other (optimal string alignment). */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[3][LEAT_NEAR_LEN_MAX + 1]; /* before the last, the last, this one */
    for (size_t j = 0; j <= b_len; j++)
        row[1][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        row[2][0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t least = row[1][j - 1] + !same(a[i - 1], b[j - 1]);
            if (row[1][j] + 1 < least) least = row[1][j] + 1;
            if (row[2][j - 1] + 1 < least) least = row[2][j - 1] + 1;
            const bool is_swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                                    same(a[i - 2], b[j - 1]);
            if (is_swapped && row[0][j - 2] + 1 < least) least = row[0][j - 2] + 1;
            row[2][j] = least;
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[1]);
    }
    return row[1][b_len];
}

struct leat_near leat_near_to(const char *word, size_t len)
{
    return (struct leat_near){ .word = word, .len = len, .changes = len / 3 < 2 ? len / 3 + 1 : 3 };
}

void leat_near_try(struct leat_near *near, const char *name, size_t len)
{
    static const char before[] = "did you mean ", after[] = "? ";
    if (near->len > LEAT_NEAR_LEN_MAX || len > LEAT_NEAR_LEN_MAX) return;
    const size_t changes = distance(near->word, near->len, name, len);
    if (changes >= near->changes) return;
    near->changes = changes;
    memcpy(near->text, before, sizeof before - 1);
    memcpy(near->text + sizeof before - 1, name, len);
    memcpy(near->text + sizeof before - 1 + len, after, sizeof after);
}

static size_t word_len(const char *list)
{
    size_t len = 0;
    while (list[len] && list[len] != ' ' && list[len] != ',')
        len++;
    return len;
}

void leat_near_try_all(struct leat_near *near, const char *list)
{
    while (*list) {
        const size_t len = word_len(list);
        if (len) leat_near_try(near, list, len);
        list += len + (list[len] != '\0');
    }
}
