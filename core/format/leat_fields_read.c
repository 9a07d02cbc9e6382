#include "leat_bytes.h"
#include "leat_fields_parts.h"
#include "leat_near.h"
#include <assert.h>

/* ---- error texts -------------------------------------------------------------------------- */

static void say(struct leat_fields *f, const char *text, size_t len)
{
    const size_t used = strlen(f->message), room = sizeof f->message - 1 - used;
    if (len > room) len = room;
    memcpy(f->message + used, text, len);
    f->message[used + len] = '\0';
}

static void say_string(struct leat_fields *f, const char *text)
{
    say(f, text, strlen(text));
}

static void say_number(struct leat_fields *f, uint64_t value)
{
    struct leat_text text = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    leat_text_decimal(&text, value);
    say(f, text.buf, text.len);
}

/* The path of a field, as a user would type it: records.0.address */
static void say_place(struct leat_fields *f, const char *name)
{
    for (unsigned d = 1; d <= f->depth; d++) {
        if (f->level[d].name)
            say_string(f, f->level[d].name);
        else
            say_number(f, f->level[d].index);
        if (d < f->depth || name) say_string(f, ".");
    }
    if (name) say_string(f, name);
}

static bool is_list(const struct leat_fields_level *l)
{
    return l->node && l->node->kind == LEAT_TREE_LIST;
}

/* When an item of a list is found wrong, it has already been counted. */
static void say_item(struct leat_fields *f)
{
    const size_t index = f->level[f->depth].index;
    if (f->depth) say_string(f, ".");
    say_number(f, index ? index - 1 : 0);
}

static bool blame(struct leat_fields *f, leat_err err, const char *name)
{
    if (f->err) return false;
    f->err = err;
    f->message[0] = '\0';
    say_place(f, name);
    if (!name && is_list(&f->level[f->depth])) say_item(f);
    say_string(f, ": ");
    return true;
}

void leat_fields_refuse(struct leat_fields *f, leat_err err, const char *name, const char *text)
{
    if (blame(f, err, name)) say_string(f, text);
}

/* ---- the user's text -------------------------------------------------------------------- */

static void remember(struct leat_fields_level *l, const char *name)
{
    for (unsigned i = l->known_count; i-- > 0;)
        if (l->known[i] == name || strcmp(l->known[i], name) == 0) return;
    if (l->known_count < LEAT_FIELDS_KNOWN_MAX) l->known[l->known_count++] = name;
}

/* The user's node for a field. Fields usually come in the walk's order, so the cursor is right. */
static struct leat_tree *find(struct leat_fields *f, const char *name)
{
    struct leat_fields_level *l = &f->level[f->depth];
    if (f->err || !l->node) return NULL;
    if (!name) return l->cursor;
    remember(l, name);
    const size_t len = strlen(name);
    struct leat_tree *c = l->cursor;
    for (; c; c = c->next)
        if (c->key_len == len && memcmp(c->key, name, len) == 0) return c;
    for (c = l->node->child; c != l->cursor; c = c->next)
        if (c->key_len == len && memcmp(c->key, name, len) == 0) return c;
    return NULL;
}

static struct leat_tree *use(struct leat_fields *f, const char *name)
{
    struct leat_tree *node = find(f, name);
    if (node) {
        node->used = true;
        f->level[f->depth].cursor = node->next;
        if (!name) f->level[f->depth].index++;
    }
    return node;
}

bool leat_fields_has(struct leat_fields *f, const char *name)
{
    return !leat_fields_reading(f) || find(f, name);
}

static bool number_of(const struct leat_tree *node, uint64_t *out)
{
    if (node->kind == LEAT_TREE_NUMBER || node->kind == LEAT_TREE_BOOL) {
        *out = node->number;
        return true;
    }
    return node->kind == LEAT_TREE_STRING && leat_tree_number(node->text, node->text_len, out);
}

static bool in_width(struct leat_fields *f, const char *name, unsigned bits, uint64_t value)
{
    if (leat_fits(value, bits)) return true;
    if (blame(f, LEAT_ERR_RANGE, name)) {
        say_number(f, value);
        say_string(f, " does not fit, expected 0..");
        say_number(f, bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
    }
    return false;
}

uint64_t leat_fields_read_uint(struct leat_fields *f, const char *name, unsigned bits,
                               uint64_t value)
{
    struct leat_tree *node = use(f, name);
    uint64_t given;
    if (!node) return value;
    if (!number_of(node, &given)) {
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name,
                           "expected a number of at most 64 bits (decimal, 0x.. or 0b..)");
        return value;
    }
    return in_width(f, name, bits, given) ? given : value;
}

static bool same_word(const char *text, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i++) {
        const char a = text[i], b = word[i];
        const bool letter = (a | 32) >= 'a' && (a | 32) <= 'z';
        if (a != b && !(letter && (a ^ b) == 32)) return false;
        if (!b) return false;
    }
    return word[len] == '\0';
}

static bool value_of_name(const struct leat_name *names, const char *text, size_t len,
                          uint64_t *out)
{
    for (; names->name; names++) {
        if (!same_word(text, len, names->name)) continue;
        *out = names->value;
        return true;
    }
    return false;
}

static void refuse_word(struct leat_fields *f, const char *name, const char *text, size_t len,
                        const struct leat_name *names)
{
    if (!blame(f, LEAT_ERR_FIELD, name)) return;
    struct leat_near near = leat_near_to(text, len);
    for (const struct leat_name *n = names; n->name; n++)
        leat_near_try(&near, n->name, strlen(n->name));
    say_string(f, "unknown value '");
    say(f, text, len < 40 ? len : 40);
    say_string(f, "', ");
    say_string(f, near.text);
    say_string(f, "expected a number or one of");
    for (; names->name; names++) {
        say_string(f, " ");
        say_string(f, names->name);
    }
}

uint64_t leat_fields_read_enum(struct leat_fields *f, const char *name, unsigned bits,
                               const struct leat_name *names, uint64_t value)
{
    struct leat_tree *node = use(f, name);
    uint64_t given;
    if (!node) return value;
    if (node->kind == LEAT_TREE_STRING && value_of_name(names, node->text, node->text_len, &given))
        return given;
    if (number_of(node, &given)) return in_width(f, name, bits, given) ? given : value;
    if (node->kind == LEAT_TREE_STRING)
        refuse_word(f, name, node->text, node->text_len, names);
    else
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected a name or a number");
    return value;
}

uint64_t leat_fields_read_mask(struct leat_fields *f, const char *name, unsigned bits,
                               const struct leat_name *names, uint64_t value)
{
    struct leat_tree *node = use(f, name);
    uint64_t given = 0;
    if (!node) return value;
    if (node->kind != LEAT_TREE_STRING) {
        if (number_of(node, &given)) return in_width(f, name, bits, given) ? given : value;
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected names joined by '|', or a number");
        return value;
    }
    const char *p = node->text, *end = p + node->text_len;
    if (node->text_len == 1 && *p == '-') return 0; /* as the tree shows an empty mask */
    while (p < end) {
        const char *word = p;
        while (p < end && *p != '|' && *p != '+' && *p != ',')
            p++;
        uint64_t bit;
        const size_t len = (size_t)(p - word);
        if (!value_of_name(names, word, len, &bit) && !leat_tree_number(word, len, &bit)) {
            refuse_word(f, name, word, len, names);
            return value;
        }
        given |= bit;
        if (p < end) p++;
    }
    return in_width(f, name, bits, given) ? given : value;
}

static bool is_gap(char c)
{
    return c == ' ' || c == ':' || c == '-' || c == '_';
}

/* Hex text into the arena; NULL (and an error text) if it is not hex. */
static const uint8_t *unhex(struct leat_fields *f, const char *name, const struct leat_tree *node,
                            size_t *len)
{
    if (node->kind != LEAT_TREE_STRING) {
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected octets as a string of hex digits");
        return NULL;
    }
    const char *p = node->text, *end = p + node->text_len;
    if (end - p >= 2 && p[0] == '0' && (p[1] | 32) == 'x') p += 2;
    uint8_t *out = leat_arena_take_octets(f->arena, (size_t)(end - p) / 2 + 1);
    size_t n = 0;
    if (!out) {
        leat_fields_refuse(f, LEAT_ERR_MEMORY, name, "too many octets");
        return NULL;
    }
    while (p < end) {
        if (is_gap(*p)) {
            p++;
            continue;
        }
        const unsigned high = leat_tree_digit(*p), low = end - p > 1 ? leat_tree_digit(p[1]) : 16;
        if (high > 15 || low > 15) {
            if (blame(f, LEAT_ERR_SYNTAX, name)) {
                say_string(f, high <= 15 && end - p == 1 ? "odd number of hex digits"
                                                         : "expected pairs of hex digits");
                say_string(f, " (character ");
                say_number(f, (uint64_t)(p - node->text) + 1);
                say_string(f, ")");
            }
            return NULL;
        }
        out[n++] = (uint8_t)(high << 4 | low);
        p += 2;
    }
    *len = n;
    return out;
}

static void refuse_length(struct leat_fields *f, const char *name, size_t len, const char *word,
                          size_t max)
{
    if (!blame(f, LEAT_ERR_LENGTH, name)) return;
    say_number(f, len);
    say_string(f, " octets, expected ");
    say_string(f, word);
    say_number(f, max);
}

static void enter(struct leat_fields *f, struct leat_tree *node, const char *name, size_t index)
{
    assert(f->depth + 1 < LEAT_FIELDS_DEPTH_MAX);
    struct leat_fields_level *l = &f->level[++f->depth];
    l->node = node;
    l->cursor = node ? node->child : NULL;
    l->name = name;
    l->index = index;
    l->known_count = 0;
}

static bool is_known(const struct leat_fields_level *l, const struct leat_tree *c)
{
    for (unsigned i = 0; i < l->known_count; i++)
        if (strlen(l->known[i]) == c->key_len && memcmp(l->known[i], c->key, c->key_len) == 0)
            return true;
    return false;
}

static void refuse_key(struct leat_fields *f, const struct leat_fields_level *l,
                       const struct leat_tree *c)
{
    struct leat_near near = leat_near_to(c->key, c->key_len);
    for (unsigned i = 0; i < l->known_count; i++)
        leat_near_try(&near, l->known[i], strlen(l->known[i]));
    say_string(f, ": no such field here, ");
    say_string(f, near.text);
    say_string(f, "expected one of");
    for (unsigned i = 0; i < l->known_count; i++) {
        say_string(f, " ");
        say_string(f, l->known[i]);
    }
}

/* A field that the walk does not name is a mistake, most often a misspelling. */
static void refuse_unknown(struct leat_fields *f)
{
    const struct leat_fields_level *l = &f->level[f->depth];
    for (const struct leat_tree *c = l->node->child; c && !f->err; c = c->next) {
        if (c->used || !c->key) continue;
        f->err = LEAT_ERR_FIELD;
        f->message[0] = '\0';
        say_place(f, NULL);
        if (f->depth) say_string(f, ".");
        say(f, c->key, c->key_len < 40 ? c->key_len : 40);
        if (is_known(l, c)) {
            say_string(f, ": the field is given twice");
            return;
        }
        refuse_key(f, l, c);
    }
}

void leat_fields_read_pass_over(struct leat_fields *f, const char *name)
{
    use(f, name);
}

void leat_fields_read_fixed(struct leat_fields *f, const char *name, unsigned bits, uint64_t value)
{
    if (leat_fields_read_uint(f, name, bits, value) != value && blame(f, LEAT_ERR_FIELD, name)) {
        say_string(f, "expected ");
        say_number(f, value);
    }
}

void leat_fields_read_octets(struct leat_fields *f, const char *name, size_t len_max,
                             const uint8_t **octets, size_t *len)
{
    const struct leat_tree *node = use(f, name);
    if (!node) return;
    size_t given_len;
    const uint8_t *given = unhex(f, name, node, &given_len);
    if (!given) return;
    if (given_len > len_max) {
        refuse_length(f, name, given_len, "at most ", len_max);
        return;
    }
    *octets = given;
    *len = given_len;
}

void leat_fields_read_octets_fixed(struct leat_fields *f, const char *name, uint8_t *octets,
                                   size_t len, bool pad)
{
    const uint8_t *given = NULL;
    size_t given_len = 0;
    leat_fields_read_octets(f, name, len, &given, &given_len);
    if (!given || f->err) return;
    if (given_len < len && !pad) {
        refuse_length(f, name, given_len, "", len);
        return;
    }
    memcpy(octets, given, given_len);
    memset(octets + given_len, 0, len - given_len);
}

void leat_fields_read_string(struct leat_fields *f, const char *name, size_t len_max,
                             const uint8_t **octets, size_t *len)
{
    const struct leat_tree *node = use(f, name);
    if (!node) return;
    if (node->kind != LEAT_TREE_STRING) {
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected a string");
        return;
    }
    if (node->text_len > len_max) {
        refuse_length(f, name, node->text_len, "at most ", len_max);
        return;
    }
    *octets = (const uint8_t *)node->text;
    *len = node->text_len;
}

bool leat_fields_read_open(struct leat_fields *f, const char *name)
{
    const size_t index = f->level[f->depth].index;
    struct leat_tree *node = use(f, name);
    if (!node) return false;
    if (node->kind != LEAT_TREE_OBJECT) {
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected an object of fields");
        return false;
    }
    enter(f, node, name, index);
    return true;
}

void leat_fields_read_close(struct leat_fields *f)
{
    if (!f->err) refuse_unknown(f);
    f->depth--;
}

size_t leat_fields_read_list(struct leat_fields *f, const char *name, size_t max)
{
    struct leat_tree *node = use(f, name);
    size_t given = 0;
    if (node && node->kind != LEAT_TREE_LIST) {
        leat_fields_refuse(f, LEAT_ERR_SYNTAX, name, "expected a list");
        node = NULL;
    }
    for (const struct leat_tree *c = node ? node->child : NULL; c; c = c->next)
        given++;
    if (given > max && blame(f, LEAT_ERR_RANGE, name)) {
        say_number(f, given);
        say_string(f, " items, expected at most ");
        say_number(f, max);
    }
    enter(f, node, name, 0);
    return f->err ? 0 : given;
}

void leat_fields_read_finish(struct leat_fields *f)
{
    if (!f->err) refuse_unknown(f);
}
