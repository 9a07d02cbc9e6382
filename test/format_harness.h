/*
 * Both directions of a format, as the tools use them: octets are shown as text, and a user's text
 * is encoded to octets. The latest call leaves its result in format_shown (text) and format_fields
 * (with the error message).
 */
#ifndef LEAT_FORMAT_HARNESS_H
#define LEAT_FORMAT_HARNESS_H

#include "leat_format.h"
#include "tap.h"
#include <string.h>

enum { FORMAT_PACKET_MAX = 1 << 18, FORMAT_SHOWN_MAX = 1 << 20, FORMAT_ARENA_MAX = 1 << 24 };

static struct leat_fields format_fields;
static struct leat_text format_text;
static char format_shown[FORMAT_SHOWN_MAX];

/* Output between the two becomes format_shown; `init` chooses JSON or a tree. */
static inline void format_show_begin(void (*init)(struct leat_fields *, struct leat_text *))
{
    leat_text_init(&format_text, format_shown, sizeof format_shown - 1, NULL, NULL);
    init(&format_fields, &format_text);
}

static inline void format_show_end(void)
{
    EQ(leat_fields_finish(&format_fields), LEAT_ERR_OK);
    OK(!format_text.overflowed);
    format_shown[format_text.len] = '\0';
}

static inline leat_err format_show(const struct leat_format *format,
                                   void (*init)(struct leat_fields *, struct leat_text *),
                                   const uint8_t *octets, size_t len, size_t *fault_at)
{
    format_show_begin(init);
    const size_t before = format_text.len;
    const leat_err err = format->show(octets, len, &format_fields, fault_at);
    if (err) EQ(format_text.len, before); /* nothing is shown of a damaged packet */
    format_show_end();
    return err;
}

static inline leat_err format_show_json(const struct leat_format *format, const uint8_t *octets,
                                        size_t len, size_t *fault_at)
{
    return format_show(format, leat_fields_init_json, octets, len, fault_at);
}

static inline leat_err format_show_tree(const struct leat_format *format, const uint8_t *octets,
                                        size_t len, size_t *fault_at)
{
    return format_show(format, leat_fields_init_tree, octets, len, fault_at);
}

/* An empty arena, which replaces the one before. */
static inline struct leat_arena format_arena(void)
{
    static uint8_t memory[FORMAT_ARENA_MAX];
    struct leat_arena arena;
    leat_arena_init(&arena, memory, sizeof memory);
    return arena;
}

/* An error of the user takes precedence over one of the encoder. */
static inline leat_err format_build(const struct leat_format *format, struct leat_tree *tree,
                                    struct leat_arena *arena, uint8_t *octets, size_t cap,
                                    size_t *len)
{
    leat_fields_init_read(&format_fields, tree, arena);
    const leat_err built = format->build(&format_fields, octets, cap, len);
    const leat_err read = leat_fields_finish(&format_fields);
    if (!built && format->unit_len) EQ(*len, format->unit_len);
    return read ? read : built;
}

static inline leat_err format_build_json(const struct leat_format *format, const char *json,
                                         uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_arena arena = format_arena();
    struct leat_tree *tree = NULL;
    const leat_err err = leat_tree_parse_json(&arena, json, strlen(json), &tree, NULL);
    EQ(err, LEAT_ERR_OK);
    return err ? err : format_build(format, tree, &arena, octets, cap, len);
}

/* FIELD=VALUE as on a command line, one blank between two words. */
static inline leat_err format_build_words(const struct leat_format *format, const char *words,
                                          uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_arena arena = format_arena();
    struct leat_tree *tree = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    while (*words) {
        const size_t n = strcspn(words, " ");
        EQ(leat_tree_add_pair(&arena, tree, words, n), LEAT_ERR_OK);
        words += n + (words[n] == ' ');
    }
    return format_build(format, tree, &arena, octets, cap, len);
}

/*
 * What is shown as JSON encodes to the same octets again, in exactly their room: it ends with the
 * array, so that a sanitizer detects an octet too many.
 */
static inline void format_round_trip(const struct leat_format *format, const uint8_t *octets,
                                     size_t len)
{
    static uint8_t room[FORMAT_PACKET_MAX];
    uint8_t *back = room + sizeof room - len;
    const int before = tap_checks_failed;
    size_t back_len = 0;
    EQ(format_show_json(format, octets, len, NULL), LEAT_ERR_OK);
    EQ(format_build_json(format, format_shown, back, len, &back_len), LEAT_ERR_OK);
    EQ(back_len, len);
    OK(back_len == len && memcmp(back, octets, len) == 0);
    if (tap_checks_failed != before)
        printf("# %s: %s\n# %s\n", format->name, format_shown, format_fields.message);
}

#endif
