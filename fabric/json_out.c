#include "json_out.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

static void flush(struct leat_text *text)
{
    /* A stream error is reported when it is closed. */
    if (text->user) fwrite(text->buf, 1, text->len, text->user);
    text->len = 0;
}

static const char *schema;

void json_schema(const char *name)
{
    schema = name;
}

void json_begin(struct leat_json *json, struct leat_text *text)
{
    leat_json_init(json, text);
    leat_json_object(json, NULL);
    if (schema) leat_json_string(json, "schema", schema);
}

void json_finish(struct leat_json *json, const char *status)
{
    if (schema) leat_json_string(json, "status", status);
    leat_json_end(json);
    leat_text_putc(json->text, '\n');
}

struct leat_json *json_open(struct json_out *out, FILE *file)
{
    leat_text_init(&out->text, out->buf, sizeof out->buf, flush, file);
    json_begin(&out->json, &out->text);
    return &out->json;
}

void json_close(struct json_out *out, const char *status)
{
    json_finish(&out->json, status);
    flush(&out->text);
}

void text_print(FILE *file, const char *format, ...)
{
    va_list list;
    if (!file) return;
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
}

void json_fixed(struct leat_json *json, const char *key, double value, int decimals)
{
    char number[JSON_STRING_CAP];
    snprintf(number, sizeof number, "%.*f", decimals, value);
    leat_json_number(json, key, isfinite(value) ? number : "null");
}

void json_general(struct leat_json *json, const char *key, double value, int digits)
{
    char number[JSON_STRING_CAP];
    snprintf(number, sizeof number, "%.*g", digits, value);
    leat_json_number(json, key, isfinite(value) ? number : "null");
}

void json_format(struct leat_json *json, const char *key, const char *format, ...)
{
    char string[JSON_STRING_CAP];
    va_list list;
    va_start(list, format);
    vsnprintf(string, sizeof string, format, list);
    va_end(list);
    leat_json_string(json, key, string);
}

const char *json_key(uint64_t number, char key[JSON_KEY_CAP])
{
    snprintf(key, JSON_KEY_CAP, "%" PRIu64, number);
    return key;
}

void json_certificate(struct leat_json *json, const char *key, uint64_t certificate)
{
    leat_json_hex(json, key, "", certificate, 16);
}
