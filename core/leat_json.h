/*
 * A JSON writer over bounded text output. It sets commas, nests, and escapes; the caller names
 * members and values in their order. No heap, no stdio.
 *
 *     leat_json_object(&json, NULL);            {
 *     leat_json_uint(&json, "ports", 16);           "ports":16,
 *     leat_json_array(&json, "hops");               "hops":[
 *     leat_json_uint(&json, NULL, 3);                   3
 *     leat_json_end(&json);                         ]
 *     leat_json_end(&json);                     }
 *
 * A member of an object has a key, a value of an array or the outermost one has NULL; all else,
 * and more depth than LEAT_JSON_DEPTH_MAX, is a mistake of the caller (assertion).
 */
#ifndef LEAT_JSON_H
#define LEAT_JSON_H

#include "leat_text.h"

enum { LEAT_JSON_DEPTH_MAX = 31 };

struct leat_json {
    struct leat_text *text;
    uint32_t depth;     /* of open objects and arrays */
    uint32_t is_object; /* a bit per depth */
    uint32_t has_value; /* a bit per depth: the next value needs a comma */
    bool breaks;        /* a line end before the next value */
};

void leat_json_init(struct leat_json *json, struct leat_text *text);

void leat_json_object(struct leat_json *json, const char *key);
void leat_json_array(struct leat_json *json, const char *key);

/* Closes the innermost object or array. */
void leat_json_end(struct leat_json *json);

/* A line end before the next value or before the closing bracket. */
void leat_json_break(struct leat_json *json);

void leat_json_uint(struct leat_json *json, const char *key, uint64_t value);
/* Several: LEAT_JSON_UINTS(json, { "sent", 3 }, { "lost", 0 }). */
struct leat_json_member {
    const char *key;
    uint64_t value;
};
#define LEAT_JSON_UINTS(json, ...)                                             \
    leat_json_uints(json, (const struct leat_json_member[]){ __VA_ARGS__ },    \
                    sizeof((const struct leat_json_member[]){ __VA_ARGS__ }) / \
                        sizeof(struct leat_json_member))
void leat_json_uints(struct leat_json *json, const struct leat_json_member *member, size_t count);

void leat_json_int(struct leat_json *json, const char *key, int64_t value);
void leat_json_bool(struct leat_json *json, const char *key, bool value);
void leat_json_null(struct leat_json *json, const char *key);

/* UTF-8 stays as it is except for control characters, quotes and backslashes. A string that is not
 * UTF-8 has each octet outside ASCII as \u00XX. NULL is null. */
void leat_json_string(struct leat_json *json, const char *key, const char *string);
void leat_json_chars(struct leat_json *json, const char *key, const char *chars, size_t len);

/* A string: the prefix and at least so many hexadecimal digits. */
void leat_json_hex(struct leat_json *json, const char *key, const char *prefix, uint64_t value,
                   unsigned digits);

/* A string: two hexadecimal digits for each octet. */
void leat_json_octets(struct leat_json *json, const char *key, const uint8_t *octets, size_t len);

/* A number of millionths, as a number with six decimals: exact. */
void leat_json_micro(struct leat_json *json, const char *key, uint64_t millionths);

/* A number that the caller has formatted. */
void leat_json_number(struct leat_json *json, const char *key, const char *number);

/* All that stands before a value, which the caller then writes to the text. */
void leat_json_key(struct leat_json *json, const char *key);

#endif
