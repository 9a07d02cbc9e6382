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

/* The schema of the objects that this process writes from now on, such as "leat.esp.census/1";
 * share/schema describes them. Lent. */
void json_schema(const char *name);

/* Begins an object with its schema. Nothing else is written to the file until json_close. NULL:
 * nothing at all. */
struct leat_json *json_open(struct json_out *out, FILE *file);
/* The same where the caller has a text. */
void json_begin(struct leat_json *json, struct leat_text *text);

/* Ends the object and its line. `status`: one word, "done" if all is as requested. */
void json_close(struct json_out *out, const char *status);
void json_finish(struct leat_json *json, const char *status);

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
