/*
 * Every packet format of leat by its name: octets to JSON and back, as `leat decode` and
 * `leat encode` do it.
 *
 *   const struct leat_format *esp = leat_format_find("esp");
 *   leat_format_decode(esp, octets, len, json, sizeof json, &fault_at);
 *   leat_format_encode(esp, json, memory, sizeof memory, octets, sizeof octets, &len, why);
 *
 * No heap: all memory is the caller's. `leat formats NAME` lists the fields of a format.
 */
#ifndef LEAT_FORMAT_H
#define LEAT_FORMAT_H

#include <leat/err.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room that decode needs beyond its text, and room for `why`. */
enum { LEAT_FORMAT_JSON_SPARE = 64, LEAT_FORMAT_WHY_LEN = 400 };

/* A packet format; opaque, static. */
struct leat_format;

/* In a fixed order; NULL past the last. */
LEAT_API const struct leat_format *leat_format_at(size_t index);

/* By the name users type; NULL if there is none. */
LEAT_API const struct leat_format *leat_format_find(const char *name);

/* The name that users type, and what the format is, in one line. Static. */
LEAT_API const char *leat_format_name(const struct leat_format *format);
LEAT_API const char *leat_format_summary(const struct leat_format *format);

/*
 * One packet of exactly `len` octets as a JSON object, terminated by a 0. On error `json` is "" and
 * *fault_at (may be NULL) is the offset of the error. SPACE: `cap` is less than the text's length
 * plus LEAT_FORMAT_JSON_SPARE.
 */
LEAT_API leat_err leat_format_decode(const struct leat_format *format, const uint8_t *octets,
                                     size_t len, char *json, size_t cap, size_t *fault_at);

/* Memory that encode needs for a text of this length. */
static inline size_t leat_format_memory_len(size_t json_len)
{
    return 4096 + 64 * json_len; /* a value of two characters becomes a node of the tree */
}

/*
 * The inverse: missing fields take their defaults. Writes *len octets. On error `why` says what is
 * wrong, in at most LEAT_FORMAT_WHY_LEN characters, and `octets` are undefined. `memory` is aligned
 * as by malloc, and used for the call only. MEMORY: it is too small.
 */
LEAT_API leat_err leat_format_encode(const struct leat_format *format, const char *json,
                                     void *memory, size_t memory_len, uint8_t *octets, size_t cap,
                                     size_t *len, char *why);

#ifdef __cplusplus
}
#endif

#endif
