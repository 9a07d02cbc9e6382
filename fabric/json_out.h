/*
 * JSON to a stdio file, with numbers and strings formatted as by printf.
 *
 * A function that shows something in either form makes the calls for both, JSON and text_print. The
 * file of the form that was not requested is NULL: nothing is written to it.
 */
#ifndef LEAT_JSON_OUT_H
#define LEAT_JSON_OUT_H

#include "leat_json.h"
#include <stdio.h>

enum { JSON_STRING_CAP = 512, JSON_KEY_CAP = 21 };

struct json_out {
    struct leat_json json;
    struct leat_text text;
    char buf[1024];
};

/* Begins an object. Nothing else is written to the file until json_close. NULL: nothing at all. */
struct leat_json *json_open(struct json_out *out, FILE *file);

/* The same for an array. */
struct leat_json *json_open_array(struct json_out *out, FILE *file);

/* Ends the object or array and its line. */
void json_close(struct json_out *out);

/* Like fprintf; NULL: nothing is written. */
void text_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like %.*f and %.*g; null if it is not a number. */
void json_fixed(struct leat_json *json, const char *key, double value, int decimals);
void json_general(struct leat_json *json, const char *key, double value, int digits);

/* A string as by printf, truncated to JSON_STRING_CAP - 1 octets. */
void json_format(struct leat_json *json, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number as a key. */
const char *json_key(uint64_t number, char key[JSON_KEY_CAP]);

/* 16 hexadecimal digits, as all certificates are shown. */
void json_certificate(struct leat_json *json, const char *key, uint64_t certificate);

#endif
