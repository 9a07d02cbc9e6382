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

/* ---- a function per kind of field, both directions ---------------------------------------- */

uint64_t leat_fields_uint(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_uint(f, name, bits, value);
    leat_fields_show_uint(f, name, at, value);
    return value;
}

uint64_t leat_fields_hex(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_uint(f, name, bits, value);
    leat_fields_show_hex(f, name, at, bits, value);
    return value;
}

uint64_t leat_fields_enum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_enum(f, name, bits, names, value);
    leat_fields_show_enum(f, name, at, names, value);
    return value;
}

uint64_t leat_fields_mask(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value)
{
    if (leat_fields_reading(f)) return leat_fields_read_mask(f, name, bits, names, value);
    leat_fields_show_mask(f, name, at, names, value);
    return value;
}

bool leat_fields_flag(struct leat_fields *f, const char *name, size_t at, bool value)
{
    static const struct leat_name names[] = {
        { 0, "false" }, { 1, "true" }, { 0, "no" }, { 1, "yes" }, { 0, NULL }
    };
    if (leat_fields_reading(f)) return leat_fields_read_enum(f, name, 1, names, value);
    leat_fields_show_flag(f, name, at, value);
    return value;
}

/* The number is ignored, but must still fit its field. */
void leat_fields_derived(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value)
{
    if (leat_fields_reading(f))
        (void)leat_fields_read_uint(f, name, bits, value);
    else
        leat_fields_show_uint(f, name, at, value);
}

void leat_fields_checksum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value)
{
    if (leat_fields_reading(f))
        (void)leat_fields_read_uint(f, name, bits, value);
    else
        leat_fields_show_hex(f, name, at, bits, value);
}

void leat_fields_fixed(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                       uint64_t value)
{
    if (leat_fields_reading(f))
        leat_fields_read_fixed(f, name, bits, value);
    else
        leat_fields_show_uint(f, name, at, value);
}

void leat_fields_derived_name(struct leat_fields *f, const char *name, size_t at, const char *value)
{
    if (leat_fields_reading(f))
        leat_fields_read_pass_over(f, name);
    else
        leat_fields_show_name(f, name, at, value);
}

void leat_fields_octets(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len)
{
    if (leat_fields_reading(f))
        leat_fields_read_octets(f, name, len_max, octets, len);
    else
        leat_fields_show_octets(f, name, at, *octets, *len);
}

void leat_fields_octets_fixed(struct leat_fields *f, const char *name, size_t at, uint8_t *octets,
                              size_t len, bool pad)
{
    if (leat_fields_reading(f))
        leat_fields_read_octets_fixed(f, name, octets, len, pad);
    else
        leat_fields_show_octets(f, name, at, octets, len);
}

void leat_fields_string(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len)
{
    if (leat_fields_reading(f))
        leat_fields_read_string(f, name, len_max, octets, len);
    else
        leat_fields_show_string(f, name, at, *octets, *len);
}

bool leat_fields_open(struct leat_fields *f, const char *name, size_t at)
{
    if (leat_fields_reading(f)) return leat_fields_read_open(f, name);
    leat_fields_show_open(f, name, at, false);
    return true;
}

void leat_fields_close(struct leat_fields *f)
{
    if (leat_fields_reading(f))
        leat_fields_read_close(f);
    else
        leat_fields_show_close(f);
}

size_t leat_fields_list(struct leat_fields *f, const char *name, size_t at, size_t count,
                        size_t max)
{
    if (leat_fields_reading(f)) return leat_fields_read_list(f, name, max);
    leat_fields_show_open(f, name, at, true);
    return count;
}

void leat_fields_list_end(struct leat_fields *f)
{
    if (leat_fields_reading(f))
        f->depth--;
    else
        leat_fields_show_close(f);
}
