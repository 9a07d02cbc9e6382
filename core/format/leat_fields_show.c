#include "leat_fields_parts.h"
#include <assert.h>

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

static void tree_value(struct leat_fields *f)
{
    if (f->mode == LEAT_FIELDS_TREE) leat_text_put(f->text, ": ", 2);
}

static void line_end(struct leat_fields *f)
{
    if (f->mode == LEAT_FIELDS_TREE) leat_text_putc(f->text, '\n');
}

void leat_fields_show_uint(struct leat_fields *f, const char *name, size_t at, uint64_t value)
{
    lead_in(f, name, at);
    tree_value(f);
    leat_text_decimal(f->text, value);
    line_end(f);
}

void leat_fields_show_hex(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value)
{
    lead_in(f, name, at);
    tree_value(f);
    if (f->mode == LEAT_FIELDS_JSON) {
        leat_text_decimal(f->text, value);
    } else {
        leat_text_put(f->text, "0x", 2);
        leat_text_hex_number(f->text, value, (bits + 3) / 4);
    }
    line_end(f);
}

static void show_word(struct leat_fields *f, const char *word)
{
    const bool json = f->mode == LEAT_FIELDS_JSON;
    if (json) leat_text_putc(f->text, '"');
    leat_text_puts(f->text, word);
    if (json) leat_text_putc(f->text, '"');
}

void leat_fields_show_enum(struct leat_fields *f, const char *name, size_t at,
                           const struct leat_name *names, uint64_t value)
{
    const char *word = leat_name_of(names, value);
    if (!word) {
        leat_fields_show_uint(f, name, at, value);
        return;
    }
    lead_in(f, name, at);
    tree_value(f);
    show_word(f, word);
    if (f->mode == LEAT_FIELDS_TREE) {
        leat_text_put(f->text, " (", 2);
        leat_text_decimal(f->text, value);
        leat_text_putc(f->text, ')');
    }
    line_end(f);
}

void leat_fields_show_mask(struct leat_fields *f, const char *name, size_t at,
                           const struct leat_name *names, uint64_t value)
{
    const bool json = f->mode == LEAT_FIELDS_JSON;
    bool more = false;
    lead_in(f, name, at);
    tree_value(f);
    if (json) leat_text_putc(f->text, '"');
    for (; names->name; names++) {
        if (!names->value || (value & names->value) != names->value) continue;
        if (more) leat_text_putc(f->text, '|');
        leat_text_puts(f->text, names->name);
        value &= ~names->value;
        more = true;
    }
    if (value) {
        if (more) leat_text_putc(f->text, '|');
        leat_text_put(f->text, "0x", 2);
        leat_text_hex_number(f->text, value, 1);
    } else if (!more && !json) {
        leat_text_putc(f->text, '-');
    }
    if (json) leat_text_putc(f->text, '"');
    line_end(f);
}

/* A tree breaks long octets into lines, each with its own offset. */
void leat_fields_show_octets(struct leat_fields *f, const char *name, size_t at,
                             const uint8_t *octets, size_t len)
{
    enum { LINE = 32 };
    lead_in(f, name, at);
    if (f->mode == LEAT_FIELDS_JSON) {
        leat_text_putc(f->text, '"');
        leat_text_hex(f->text, octets, len);
        leat_text_putc(f->text, '"');
        return;
    }
    tree_value(f);
    leat_text_hex(f->text, octets, len < LINE ? len : LINE);
    line_end(f);
    for (size_t i = LINE; i < len; i += LINE) {
        lead_in(f, "  ", at + i);
        leat_text_hex(f->text, octets + i, len - i < LINE ? len - i : LINE);
        line_end(f);
    }
}

void leat_fields_show_flag(struct leat_fields *f, const char *name, size_t at, bool value)
{
    lead_in(f, name, at);
    tree_value(f);
    leat_text_puts(f->text, value ? "true" : "false");
    line_end(f);
}

void leat_fields_show_name(struct leat_fields *f, const char *name, size_t at, const char *value)
{
    lead_in(f, name, at);
    tree_value(f);
    show_word(f, value);
    line_end(f);
}

void leat_fields_show_string(struct leat_fields *f, const char *name, size_t at,
                             const uint8_t *octets, size_t len)
{
    lead_in(f, name, at);
    tree_value(f);
    leat_text_quoted(f->text, (const char *)octets, len);
    line_end(f);
}

void leat_fields_show_open(struct leat_fields *f, const char *name, size_t at, bool is_list)
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

void leat_fields_show_close(struct leat_fields *f)
{
    assert(f->depth > 0);
    if (f->mode == LEAT_FIELDS_JSON) leat_json_end(&f->json);
    f->depth--;
}
