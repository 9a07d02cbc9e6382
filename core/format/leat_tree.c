#include "leat_tree.h"
#include <string.h>

/* A reader of JSON text: `at` is its position; the first error ends it. */
struct reader {
    struct leat_arena *arena;
    const char *text;
    size_t len, at;
    leat_err err;
};

static struct leat_tree *fail(struct reader *r, leat_err err)
{
    if (!r->err) r->err = err;
    return NULL;
}

struct leat_tree *leat_tree_new(struct leat_arena *arena, enum leat_tree_kind kind)
{
    struct leat_tree *node = leat_arena_take(arena, sizeof *node);
    if (node) node->kind = kind;
    return node;
}

static void append(struct leat_tree *parent, struct leat_tree *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at])
        r->at++;
}

static bool take(struct reader *r, char c)
{
    if (r->at >= r->len || r->text[r->at] != c) return false;
    r->at++;
    return true;
}

unsigned leat_tree_digit(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (unsigned)((c | 32) - 'a' + 10);
    return 99;
}

bool leat_tree_number(const char *text, size_t len, uint64_t *out)
{
    unsigned base = 10;
    if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) base = 16;
    if (len > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) base = 2;
    const size_t start = base == 10 ? 0 : 2;
    uint64_t value = 0;
    for (size_t i = start; i < len; i++) {
        const unsigned digit = leat_tree_digit(text[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    if (len == start) return false;
    *out = value;
    return true;
}

static struct leat_tree *read_number(struct reader *r)
{
    const size_t start = r->at;
    while (r->at < r->len && r->text[r->at] >= '0' && r->text[r->at] <= '9')
        r->at++;
    struct leat_tree *node = leat_tree_new(r->arena, LEAT_TREE_NUMBER);
    if (!node) return fail(r, LEAT_ERR_MEMORY);
    if (!leat_tree_number(r->text + start, r->at - start, &node->number)) {
        r->at = start;
        return fail(r, LEAT_ERR_RANGE);
    }
    if (r->at < r->len && strchr(".eE", r->text[r->at]) && r->text[r->at])
        return fail(r, LEAT_ERR_SYNTAX); /* no field of any format is a fraction */
    return node;
}

/* \uXXXX: octets of a packet, so only the first 256 code points are legal. */
static bool read_escape(struct reader *r, uint8_t *out)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (r->at >= r->len) return false;
    const char c = r->text[r->at++];
    if (c == 'u') {
        unsigned code = 0;
        for (int i = 0; i < 4; i++) {
            const unsigned digit = r->at < r->len ? leat_tree_digit(r->text[r->at++]) : 99;
            if (digit > 15) return false;
            code = code << 4 | digit;
        }
        *out = (uint8_t)code;
        return code <= 0xff;
    }
    for (const char *p = plain; *p; p += 2) {
        if (p[0] != c) continue;
        *out = (uint8_t)p[1];
        return true;
    }
    return false;
}

/*
 * A character of a string is an octet of a packet: U+0000..U+00FF, plain, escaped, or as the two
 * octets of UTF-8 that other JSON writers produce.
 */
static bool read_character(struct reader *r, uint8_t *out)
{
    const uint8_t c = (uint8_t)r->text[r->at++];
    *out = c;
    if (c == '\\') return read_escape(r, out);
    if (c < 0x80) return true;
    if ((c != 0xc2 && c != 0xc3) || r->at >= r->len) return false;
    const uint8_t next = (uint8_t)r->text[r->at++];
    *out = (uint8_t)(c << 6 | (next & 0x3f));
    return next >> 6 == 2;
}

/* The text between the quotes: lent from the input unless a character is more than one octet. */
static bool read_string(struct reader *r, const char **text, size_t *len)
{
    if (!take(r, '"')) return fail(r, LEAT_ERR_SYNTAX), false;
    const size_t start = r->at;
    size_t end = start;
    bool plain = true;
    for (; end < r->len && r->text[end] != '"'; end++) {
        const unsigned char c = (unsigned char)r->text[end];
        if (c < ' ') return r->at = end, fail(r, LEAT_ERR_SYNTAX), false;
        if (c == '\\' || c >= 0x80) plain = false;
        if (c == '\\') end++;
    }
    if (end >= r->len) return fail(r, LEAT_ERR_SYNTAX), false;
    if (plain) {
        *text = r->text + start;
        *len = end - start;
        r->at = end + 1;
        return true;
    }
    uint8_t *copy = leat_arena_take_octets(r->arena, end - start);
    if (!copy) return fail(r, LEAT_ERR_MEMORY), false;
    size_t n = 0;
    while (r->at < end)
        if (!read_character(r, &copy[n++])) return fail(r, LEAT_ERR_SYNTAX), false;
    r->at = end + 1;
    *text = (const char *)copy;
    *len = n;
    return true;
}

static struct leat_tree *read_value(struct reader *r, unsigned depth);

static struct leat_tree *read_members(struct reader *r, unsigned depth, bool object)
{
    struct leat_tree *node = leat_tree_new(r->arena, object ? LEAT_TREE_OBJECT : LEAT_TREE_LIST);
    if (!node) return fail(r, LEAT_ERR_MEMORY);
    const char close = object ? '}' : ']';
    r->at++;
    skip_blanks(r);
    if (take(r, close)) return node;
    do {
        const char *key = NULL;
        size_t key_len = 0;
        skip_blanks(r);
        if (object) {
            if (!read_string(r, &key, &key_len)) return NULL;
            skip_blanks(r);
            if (!take(r, ':')) return fail(r, LEAT_ERR_SYNTAX);
        }
        struct leat_tree *child = read_value(r, depth + 1);
        if (!child) return NULL;
        child->key = key;
        child->key_len = key_len;
        append(node, child);
        skip_blanks(r);
    } while (take(r, ','));
    return take(r, close) ? node : fail(r, LEAT_ERR_SYNTAX);
}

static struct leat_tree *read_word(struct reader *r, const char *word, enum leat_tree_kind kind,
                                   uint64_t number)
{
    const size_t len = strlen(word);
    if (r->len - r->at < len || memcmp(r->text + r->at, word, len) != 0)
        return fail(r, LEAT_ERR_SYNTAX);
    struct leat_tree *node = leat_tree_new(r->arena, kind);
    if (!node) return fail(r, LEAT_ERR_MEMORY);
    node->number = number;
    r->at += len;
    return node;
}

static struct leat_tree *read_value(struct reader *r, unsigned depth)
{
    if (depth >= LEAT_TREE_DEPTH_MAX) return fail(r, LEAT_ERR_RANGE);
    skip_blanks(r);
    if (r->at >= r->len) return fail(r, LEAT_ERR_SYNTAX);
    switch (r->text[r->at]) {
    case '{': return read_members(r, depth, true);
    case '[': return read_members(r, depth, false);
    case 't': return read_word(r, "true", LEAT_TREE_BOOL, 1);
    case 'f': return read_word(r, "false", LEAT_TREE_BOOL, 0);
    case 'n': return read_word(r, "null", LEAT_TREE_NULL, 0);
    case '"': {
        const char *text;
        size_t len;
        if (!read_string(r, &text, &len)) return NULL;
        struct leat_tree *node = leat_tree_new(r->arena, LEAT_TREE_STRING);
        if (!node) return fail(r, LEAT_ERR_MEMORY);
        node->text = text;
        node->text_len = len;
        return node;
    }
    default:
        if (leat_tree_digit(r->text[r->at]) < 10) return read_number(r);
        return fail(r, LEAT_ERR_SYNTAX);
    }
}

leat_err leat_tree_parse_json(struct leat_arena *arena, const char *text, size_t len,
                              struct leat_tree **out, size_t *fault_at)
{
    struct reader r = { .arena = arena, .text = text, .len = len };
    struct leat_tree *root = read_value(&r, 0);
    skip_blanks(&r);
    if (root && r.at != len) fail(&r, LEAT_ERR_SYNTAX);
    if (r.err) {
        if (fault_at) *fault_at = r.at;
        return r.err;
    }
    *out = root;
    return LEAT_ERR_OK;
}

size_t leat_tree_json_extent(const char *text, size_t len)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
            continue;
        }
        if (c == '"') quoted = true;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') {
            if (depth <= 1) return i + 1;
            depth--;
        }
    }
    return 0;
}

static struct leat_tree *find_len(const struct leat_tree *object, const char *key, size_t len)
{
    for (struct leat_tree *c = object->child; c; c = c->next)
        if (c->key && c->key_len == len && memcmp(c->key, key, len) == 0) return c;
    return NULL;
}

struct leat_tree *leat_tree_find(const struct leat_tree *object, const char *key)
{
    return object->kind == LEAT_TREE_OBJECT ? find_len(object, key, strlen(key)) : NULL;
}

/* The child that a step of a path selects; lists accept only the next index. */
static struct leat_tree *step_into(struct leat_arena *arena, struct leat_tree *node,
                                   const char *step, size_t len, enum leat_tree_kind kind)
{
    uint64_t index;
    if (leat_tree_number(step, len, &index)) {
        if (node->kind == LEAT_TREE_OBJECT && !node->child) node->kind = LEAT_TREE_LIST;
        if (node->kind != LEAT_TREE_LIST) return NULL;
        struct leat_tree *c = node->child;
        for (; c && index; c = c->next)
            index--;
        if (c || index) return c;
    } else {
        if (node->kind != LEAT_TREE_OBJECT) return NULL;
        struct leat_tree *c = find_len(node, step, len);
        if (c) return c;
    }
    struct leat_tree *child = leat_tree_new(arena, kind);
    if (!child) return NULL;
    if (node->kind == LEAT_TREE_OBJECT) {
        child->key = step;
        child->key_len = len;
    }
    append(node, child);
    return child;
}

leat_err leat_tree_add_pair(struct leat_arena *arena, struct leat_tree *root, const char *pair,
                            size_t len)
{
    const char *equals = memchr(pair, '=', len);
    if (!equals || equals == pair) return LEAT_ERR_SYNTAX;
    struct leat_tree *node = root;
    const char *step = pair;
    for (unsigned depth = 0;; depth++) {
        if (depth >= LEAT_TREE_DEPTH_MAX) return LEAT_ERR_RANGE;
        const char *dot = memchr(step, '.', (size_t)(equals - step));
        const char *end = dot ? dot : equals;
        if (end == step) return LEAT_ERR_SYNTAX;
        node = step_into(arena, node, step, (size_t)(end - step),
                         dot ? LEAT_TREE_OBJECT : LEAT_TREE_STRING);
        if (!node) return LEAT_ERR_FIELD;
        if (!dot) break;
        step = dot + 1;
    }
    if (node->kind != LEAT_TREE_STRING) return LEAT_ERR_FIELD;
    if (node->text) return LEAT_ERR_DUPLICATE;
    node->text = equals + 1;
    node->text_len = len - (size_t)(equals + 1 - pair);
    return LEAT_ERR_OK;
}
