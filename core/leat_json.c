#include "leat_json.h"
#include <assert.h>

void leat_json_init(struct leat_json *json, struct leat_text *text)
{
    *json = (struct leat_json){ .text = text };
}

static uint32_t level(const struct leat_json *json)
{
    return UINT32_C(1) << json->depth;
}

static void put_break(struct leat_json *json)
{
    if (json->breaks) leat_text_putc(json->text, '\n');
    json->breaks = false;
}

/* ---- nesting -------------------------------------------------------------------------------- */

void leat_json_key(struct leat_json *json, const char *key)
{
    const bool in_object = json->depth && json->is_object & level(json);
    assert(in_object == (key != NULL));
    if (json->has_value & level(json)) {
        assert(json->depth); /* one outermost value */
        leat_text_putc(json->text, ',');
    }
    json->has_value |= level(json);
    put_break(json);
    if (!key) return;
    leat_text_quoted_utf8(json->text, key, strlen(key));
    leat_text_putc(json->text, ':');
}

static void open(struct leat_json *json, const char *key, bool is_object)
{
    leat_json_key(json, key);
    assert(json->depth < LEAT_JSON_DEPTH_MAX);
    json->depth++;
    json->has_value &= ~level(json);
    json->is_object = is_object ? json->is_object | level(json) : json->is_object & ~level(json);
    leat_text_putc(json->text, is_object ? '{' : '[');
}

void leat_json_object(struct leat_json *json, const char *key)
{
    open(json, key, true);
}

void leat_json_array(struct leat_json *json, const char *key)
{
    open(json, key, false);
}

void leat_json_end(struct leat_json *json)
{
    assert(json->depth);
    put_break(json);
    leat_text_putc(json->text, json->is_object & level(json) ? '}' : ']');
    json->depth--;
}

void leat_json_break(struct leat_json *json)
{
    json->breaks = true;
}

/* ---- values --------------------------------------------------------------------------------- */

void leat_json_uint(struct leat_json *json, const char *key, uint64_t value)
{
    leat_json_key(json, key);
    leat_text_decimal(json->text, value);
}

void leat_json_uints(struct leat_json *json, const struct leat_json_member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        leat_json_uint(json, member[i].key, member[i].value);
}

void leat_json_int(struct leat_json *json, const char *key, int64_t value)
{
    leat_json_key(json, key);
    if (value < 0) leat_text_putc(json->text, '-');
    leat_text_decimal(json->text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void leat_json_bool(struct leat_json *json, const char *key, bool value)
{
    leat_json_key(json, key);
    leat_text_puts(json->text, value ? "true" : "false");
}

void leat_json_null(struct leat_json *json, const char *key)
{
    leat_json_key(json, key);
    leat_text_puts(json->text, "null");
}

void leat_json_string(struct leat_json *json, const char *key, const char *string)
{
    if (string)
        leat_json_chars(json, key, string, strlen(string));
    else
        leat_json_null(json, key);
}

void leat_json_chars(struct leat_json *json, const char *key, const char *chars, size_t len)
{
    leat_json_key(json, key);
    leat_text_quoted_utf8(json->text, chars, len);
}

void leat_json_hex(struct leat_json *json, const char *key, const char *prefix, uint64_t value,
                   unsigned digits)
{
    leat_json_key(json, key);
    leat_text_putc(json->text, '"');
    leat_text_puts(json->text, prefix);
    leat_text_hex_number(json->text, value, digits);
    leat_text_putc(json->text, '"');
}

void leat_json_octets(struct leat_json *json, const char *key, const uint8_t *octets, size_t len)
{
    leat_json_key(json, key);
    leat_text_putc(json->text, '"');
    leat_text_hex(json->text, octets, len);
    leat_text_putc(json->text, '"');
}

void leat_json_micro(struct leat_json *json, const char *key, uint64_t millionths)
{
    char digits[6];
    uint64_t fraction = millionths % 1000000;
    for (int i = sizeof digits; i--; fraction /= 10)
        digits[i] = (char)('0' + fraction % 10);
    leat_json_uint(json, key, millionths / 1000000);
    leat_text_putc(json->text, '.');
    leat_text_put(json->text, digits, sizeof digits);
}

void leat_json_number(struct leat_json *json, const char *key, const char *number)
{
    leat_json_key(json, key);
    leat_text_puts(json->text, number);
}
