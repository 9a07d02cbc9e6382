#include "leat_fields.h"
#include "leat_fields_parts.h"
#include <assert.h>

bool leat_fields_reading(const struct leat_fields *f)
{
    return f->mode == LEAT_FIELDS_READ;
}

const char *leat_name_of(const struct leat_name *names, uint64_t value)
{
    for (; names->name; names++)
        if (names->value == value) return names->name;
    return NULL;
}

/* The levels are large: reading sets them one by one. */
static void init(struct leat_fields *f)
{
    f->text = NULL;
    f->arena = NULL;
    f->depth = 0;
    f->err = LEAT_ERR_OK;
    f->message[0] = '\0';
}

void leat_fields_init_json(struct leat_fields *f, struct leat_text *text)
{
    init(f);
    f->mode = LEAT_FIELDS_JSON;
    f->text = text;
    leat_json_init(&f->json, text);
    leat_json_object(&f->json, NULL);
}

void leat_fields_init_tree(struct leat_fields *f, struct leat_text *text)
{
    init(f);
    f->mode = LEAT_FIELDS_TREE;
    f->text = text;
}

void leat_fields_init_read(struct leat_fields *f, struct leat_tree *object,
                           struct leat_arena *arena)
{
    init(f);
    f->mode = LEAT_FIELDS_READ;
    f->arena = arena;
    static const char text[] = "expected an object of fields";
    f->level[0] = (struct leat_fields_level){ .node = object, .cursor = object->child };
    if (object->kind != LEAT_TREE_OBJECT) {
        f->level[0].node->child = f->level[0].cursor = NULL;
        f->err = LEAT_ERR_SYNTAX;
        memcpy(f->message, text, sizeof text);
    }
}

leat_err leat_fields_finish(struct leat_fields *f)
{
    assert(f->err || f->depth == 0);
    switch (f->mode) {
    case LEAT_FIELDS_JSON: leat_json_end(&f->json); break;
    case LEAT_FIELDS_TREE: break;
    case LEAT_FIELDS_READ: leat_fields_read_finish(f); break;
    }
    return f->err;
}

/* ---- showing ------------------------------------------------------------------------------- */

/* Everything before a value: a comma and a key in JSON, an offset and an indent in a tree. */
static void lead_in(struct leat_fields *f, const char *name, size_t at)
{
    struct leat_text *t = f->text;
    if (f->mode == LEAT_FIELDS_JSON) {
        leat_json_key(&f->json, name);
        return;
    }
    struct leat_text number = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    leat_text_decimal(&number, at);
    for (size_t pad = number.len; pad < 6; pad++)
        leat_text_putc(t, ' ');
    leat_text_put(t, number.buf, number.len);
    leat_text_put(t, "  ", 2);
    for (unsigned d = 0; d < f->depth; d++)
        leat_text_put(t, "  ", 2);
    leat_text_puts(t, name ? name : "-");
}

static void begin_value(struct leat_fields *f, const char *name, size_t at)
{
    lead_in(f, name, at);
    if (f->mode == LEAT_FIELDS_TREE) leat_text_put(f->text, ": ", 2);
}

static void line_end(struct leat_fields *f)
{
    if (f->mode == LEAT_FIELDS_TREE) leat_text_putc(f->text, '\n');
}

/* Only strings of JSON have them. */
static void put_quote(struct leat_fields *f)
{
    if (f->mode == LEAT_FIELDS_JSON) leat_text_putc(f->text, '"');
}

static void put_word(struct leat_fields *f, const char *word)
{
    put_quote(f);
    leat_text_puts(f->text, word);
    put_quote(f);
}

/* A tree breaks long octets into lines, each with its own offset. */
static void show_octets(struct leat_fields *f, const char *name, size_t at, const uint8_t *octets,
                        size_t len)
{
    const size_t line = f->mode == LEAT_FIELDS_TREE ? 32 : SIZE_MAX;
    begin_value(f, name, at);
    put_quote(f);
    leat_text_hex(f->text, octets, len < line ? len : line);
    put_quote(f);
    line_end(f);
    for (size_t i = line; i < len; i += line) {
        lead_in(f, "  ", at + i);
        leat_text_hex(f->text, octets + i, len - i < line ? len - i : line);
        line_end(f);
    }
}

static void show_open(struct leat_fields *f, const char *name, size_t at, bool is_list)
{
    if (f->mode == LEAT_FIELDS_TREE) {
        lead_in(f, name, at);
        line_end(f);
    } else if (is_list) {
        leat_json_array(&f->json, name);
    } else {
        leat_json_object(&f->json, name);
    }
    f->depth++;
}

static void show_close(struct leat_fields *f)
{
    assert(f->depth > 0);
    if (f->mode == LEAT_FIELDS_JSON) leat_json_end(&f->json);
    f->depth--;
}

/* ---- a function per kind of field, both directions ---------------------------------------- */

uint64_t leat_fields_uint(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_uint(f, name, bits, value);
    begin_value(f, name, at);
    leat_text_decimal(f->text, value);
    line_end(f);
    return value;
}

uint64_t leat_fields_hex(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value)
{
    if (f->mode != LEAT_FIELDS_TREE) return leat_fields_uint(f, name, at, bits, value);
    begin_value(f, name, at);
    leat_text_put(f->text, "0x", 2);
    leat_text_hex_number(f->text, value, (bits + 3) / 4);
    line_end(f);
    return value;
}

uint64_t leat_fields_enum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_enum(f, name, bits, names, value);
    const char *word = leat_name_of(names, value);
    if (!word) return leat_fields_uint(f, name, at, bits, value);
    begin_value(f, name, at);
    put_word(f, word);
    if (f->mode == LEAT_FIELDS_TREE) {
        leat_text_put(f->text, " (", 2);
        leat_text_decimal(f->text, value);
        leat_text_putc(f->text, ')');
    }
    line_end(f);
    return value;
}

uint64_t leat_fields_mask(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_mask(f, name, bits, names, value);
    uint64_t rest = value;
    bool more = false;
    begin_value(f, name, at);
    put_quote(f);
    for (; names->name; names++) {
        if (!names->value || (rest & names->value) != names->value) continue;
        if (more) leat_text_putc(f->text, '|');
        leat_text_puts(f->text, names->name);
        rest &= ~names->value;
        more = true;
    }
    if (rest) {
        if (more) leat_text_putc(f->text, '|');
        leat_text_put(f->text, "0x", 2);
        leat_text_hex_number(f->text, rest, 1);
    } else if (!more && f->mode == LEAT_FIELDS_TREE) {
        leat_text_putc(f->text, '-');
    }
    put_quote(f);
    line_end(f);
    return value;
}

bool leat_fields_flag(struct leat_fields *f, const char *name, size_t at, bool value)
{
    static const struct leat_name names[] = {
        { 0, "false" }, { 1, "true" }, { 0, "no" }, { 1, "yes" }, { 0, NULL }
    };
    if (leat_fields_reading(f)) return leat_fields_read_enum(f, name, 1, names, value);
    begin_value(f, name, at);
    leat_text_puts(f->text, value ? "true" : "false");
    line_end(f);
    return value;
}

/* The number is ignored, but must still fit its field. */
void leat_fields_derived(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value)
{
    (void)leat_fields_uint(f, name, at, bits, value);
}

void leat_fields_checksum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value)
{
    (void)leat_fields_hex(f, name, at, bits, value);
}

void leat_fields_fixed(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                       uint64_t value)
{
    if (leat_fields_reading(f))
        leat_fields_read_fixed(f, name, bits, value);
    else
        (void)leat_fields_uint(f, name, at, bits, value);
}

void leat_fields_derived_name(struct leat_fields *f, const char *name, size_t at, const char *value)
{
    if (leat_fields_reading(f)) {
        leat_fields_read_pass_over(f, name);
        return;
    }
    begin_value(f, name, at);
    put_word(f, value);
    line_end(f);
}

void leat_fields_octets(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len)
{
    if (leat_fields_reading(f))
        leat_fields_read_octets(f, name, len_max, octets, len);
    else
        show_octets(f, name, at, *octets, *len);
}

void leat_fields_octets_fixed(struct leat_fields *f, const char *name, size_t at, uint8_t *octets,
                              size_t len, bool pad)
{
    if (leat_fields_reading(f))
        leat_fields_read_octets_fixed(f, name, octets, len, pad);
    else
        show_octets(f, name, at, octets, len);
}

void leat_fields_string(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len)
{
    if (leat_fields_reading(f)) {
        leat_fields_read_string(f, name, len_max, octets, len);
        return;
    }
    begin_value(f, name, at);
    leat_text_quoted(f->text, (const char *)*octets, *len);
    line_end(f);
}

bool leat_fields_open(struct leat_fields *f, const char *name, size_t at)
{
    if (leat_fields_reading(f)) return leat_fields_read_open(f, name);
    show_open(f, name, at, false);
    return true;
}

void leat_fields_close(struct leat_fields *f)
{
    if (leat_fields_reading(f))
        leat_fields_read_close(f);
    else
        show_close(f);
}

size_t leat_fields_list(struct leat_fields *f, const char *name, size_t at, size_t count,
                        size_t max)
{
    if (leat_fields_reading(f)) return leat_fields_read_list(f, name, max);
    show_open(f, name, at, true);
    return count;
}

void leat_fields_list_end(struct leat_fields *f)
{
    if (leat_fields_reading(f))
        f->depth--;
    else
        show_close(f);
}
