/* leat esp exec: reads a script; packets from FIELD=VALUE words. */
#include "esp_script.h"
#include "duration.h"
#include "esp_query.h"
#include "esp_text.h"
#include "leat_arena.h"
#include "lines.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_LEN_MAX = 128, ARENA_LEN = 1 << 14, WHY_LEN = 512 };

/* ---- packets from words -------------------------------------------------------------------- */

/* The field that people call tag. */
static const char tag[] = "compValTag";

static bool is_short_tag(const char *word)
{
    return strncmp(word, "tag=", 4) == 0;
}

/* The word with the host's number for each '@'. False: it is too long. */
static bool fill_in(const char *word, uint64_t number, char out[WORD_LEN_MAX])
{
    size_t len = 0;
    if (is_short_tag(word)) {
        len = strlen(strcpy(out, tag));
        word += strcspn(word, "=");
    }
    for (; *word; word++) {
        if (*word == '@')
            len += (size_t)snprintf(out + len, WORD_LEN_MAX - len, "%" PRIu64, number);
        else
            out[len++] = *word;
        if (len >= WORD_LEN_MAX - 1) return false;
    }
    out[len] = 0;
    return true;
}

static bool say(struct leat_text *why, const char *text)
{
    leat_text_puts(why, text);
    return false;
}

/* The text form of an instruction, as leat encode esp reads it. */
static bool build(struct leat_tree *root, struct leat_arena *arena, struct leat_esp_packet *packet,
                  struct leat_text *why)
{
    static struct leat_fields f;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len = 0;
    leat_fields_init_read(&f, root, arena);
    const leat_err err = leat_esp_format.build(&f, octets, sizeof octets, &len);
    if (leat_fields_finish(&f)) return say(why, f.message);
    if (err) return say(why, leat_err_text(err));
    if (octets[LEAT_ESP_OPCODE_AT] < LEAT_ESP_QUERY)
        return leat_esp_packet_decode(octets, len, packet, NULL) == LEAT_ERR_OK;
    return say(why, "opcode: a management packet, expected an instruction");
}

bool esp_words_packet(char *const *word, unsigned words, uint64_t number,
                      struct leat_esp_packet *packet, struct leat_text *why)
{
    char filled[ESP_STEP_WORDS_MAX][WORD_LEN_MAX];
    static uint64_t memory[ARENA_LEN / sizeof(uint64_t)];
    struct leat_arena arena;
    leat_arena_init(&arena, memory, sizeof memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    if (words > ESP_STEP_WORDS_MAX) return say(why, "too many words");
    for (unsigned i = 0; i < words; i++) {
        if (!fill_in(word[i], number, filled[i])) return say(why, "a word is too long");
        if (leat_tree_add_pair(&arena, root, filled[i], strlen(filled[i]))) {
            leat_text_puts(why, "'");
            leat_text_puts(why, filled[i]);
            return say(why, "', expected FIELD=VALUE, each field once");
        }
    }
    return build(root, &arena, packet, why);
}

/* ---- matching ------------------------------------------------------------------------------ */

static bool same_field(struct word name, const struct leat_esp_packet *a,
                       const struct leat_esp_packet *b)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(a->opcode);
    if (is_word(name, "loc")) return a->loc == b->loc;
    if (is_word(name, "flags")) return a->flags == b->flags;
    if (is_word(name, "computationId")) return a->computationId == b->computationId;
    if (a->opcode != b->opcode) return false; /* the others are of this opcode */
    if (is_word(name, "op")) return a->op == b->op;
    for (int i = 0; i < row->words / 2; i++)
        if (row->operand[i].kind <= LEAT_ESP_KIND_VALUE && is_word(name, row->operand[i].name))
            return leat_esp_operand_get(a, &row->operand[i]) ==
                   leat_esp_operand_get(b, &row->operand[i]);
    return true; /* opcode, and what is derived: length and crc */
}

bool esp_words_match(char *const *word, unsigned words, const struct leat_esp_packet *wanted,
                     const struct leat_esp_packet *packet)
{
    for (unsigned i = 0; i < words; i++) {
        const bool is_short = is_short_tag(word[i]);
        const struct word name = { is_short ? tag : word[i],
                                   is_short ? strlen(tag) : strcspn(word[i], "=") };
        if (!same_field(name, wanted, packet)) return false;
    }
    return true;
}

/* ---- for people ---------------------------------------------------------------------------- */

static void put_mask(struct leat_text *out, const char *what, const struct leat_name *names,
                     unsigned mask)
{
    if (!mask) return;
    leat_text_puts(out, what);
    const char *between = "";
    for (; names->name; names++) {
        if (!(mask & names->value)) continue;
        leat_text_puts(out, between);
        leat_text_puts(out, names->name);
        between = "|";
    }
}

static void put_operand(struct leat_text *out, const struct leat_esp_operand *operand,
                        const struct leat_esp_packet *p)
{
    char text[40];
    leat_text_puts(out, " ");
    leat_text_puts(out, operand->kind <= LEAT_ESP_KIND_VALUE ? operand->name : "op");
    leat_text_puts(out, "=");
    if (operand->kind == LEAT_ESP_KIND_COMPARE || operand->kind == LEAT_ESP_KIND_FOLD) {
        leat_text_puts(out,
                       leat_name_of(operand->kind == LEAT_ESP_KIND_FOLD ? leat_esp_fold_names
                                                                        : leat_esp_compare_names,
                                    p->op));
        return;
    }
    snprintf(text, sizeof text, operand->kind == LEAT_ESP_KIND_TAG ? "0x%" PRIx64 : "%" PRIu64,
             leat_esp_operand_get(p, operand));
    leat_text_puts(out, text);
}

void esp_packet_text(const struct leat_esp_packet *p, struct leat_text *out)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(p->opcode);
    char text[24];
    snprintf(text, sizeof text, " 0x%" PRIx64, p->computationId);
    leat_text_puts(out, row->name);
    leat_text_puts(out, text);
    for (int i = 0; i < row->words / 2; i++)
        put_operand(out, &row->operand[i], p);
    put_mask(out, " loc=", leat_esp_loc_names, p->loc);
    put_mask(out, " flags=", leat_esp_flag_names, p->flags);
}

/* ---- scripts ------------------------------------------------------------------------------- */

static const char *const kind_names[] = { "send", "wait", "expect", "silence" };

/* Splits a line into words of their own. False after a complaint. */
static bool split(const struct leat_fabric_place *place, struct word line,
                  char *word[ESP_STEP_WORDS_MAX], unsigned *words)
{
    struct word next;
    for (*words = 0; lines_word(&line, &next);) {
        if (*words == ESP_STEP_WORDS_MAX)
            return wrong(place, "more than %d words", ESP_STEP_WORDS_MAX);
        word[*words] = strndup(next.text, next.len);
        if (!word[(*words)++]) return complain("no memory for the script");
    }
    return true;
}

/* Takes "WORD VALUE" out of the words, from `first` on; NULL: they are not there. */
static char *take_value(struct esp_step *s, unsigned first, const char *word)
{
    for (unsigned i = first; i + 1 < s->words; i++) {
        if (strcmp(s->word[i], word) != 0) continue;
        char *value = s->word[i + 1];
        free(s->word[i]);
        memmove(&s->word[i], &s->word[i + 2], (s->words - i - 2) * sizeof *s->word);
        s->words -= 2;
        return value;
    }
    return NULL;
}

static bool take_time(const struct leat_fabric_place *place, struct esp_step *s, char *value)
{
    if (!value) return true;
    s->has_time = duration_read(value, &s->time_ps);
    if (!s->has_time) wrong(place, "'%.40s', expected a time, as 20ms", value);
    free(value);
    return s->has_time;
}

static char *take_first(struct esp_step *s)
{
    char *first = s->word[0];
    s->words--;
    memmove(&s->word[0], &s->word[1], s->words * sizeof *s->word);
    return first;
}

static bool read_wait(const struct leat_fabric_place *place, struct esp_step *s)
{
    if (s->words != 1) return wrong(place, "expected: wait TIME");
    return take_time(place, s, take_first(s));
}

static bool read_step(const struct leat_fabric_place *place, struct esp_step *s)
{
    struct leat_esp_packet ignored;
    struct leat_text why = LEAT_TEXT(WHY_LEN);
    if (s->kind == ESP_STEP_WAIT) return read_wait(place, s);
    if (!s->words || strchr(s->word[0], '='))
        return wrong(place, "expected: %s HOST FIELD=VALUE ...", kind_names[s->kind]);
    s->host = take_first(s);
    if (s->kind == ESP_STEP_SEND)
        s->to = take_value(s, 0, "to");
    else if (!take_time(place, s, take_value(s, 0, "within")))
        return false;
    if (!s->words && s->kind != ESP_STEP_SILENCE)
        return wrong(place, "no field, expected some, as opcode=COUNT");
    if (esp_words_packet(s->word, s->words, 0, &ignored, &why)) return true;
    return wrong(place, "%.*s", (int)why.len, why.buf);
}

static bool find_kind(const struct leat_fabric_place *place, struct esp_step *s)
{
    for (unsigned i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
        if (strcmp(s->word[0], kind_names[i]) != 0) continue;
        s->kind = (enum esp_step_kind)i;
        free(take_first(s));
        return true;
    }
    return wrong(place, "'%.40s', expected one of send, wait, expect, silence", s->word[0]);
}

static bool read_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct esp_script *script = context;
    if (script->steps == ESP_STEPS_MAX) return wrong(place, "more than %d steps", ESP_STEPS_MAX);
    if (script->steps == script->cap) {
        const uint32_t cap = script->cap ? 2 * script->cap : 16;
        struct esp_step *more = realloc(script->step, cap * sizeof *more);
        if (!more) return complain("no memory for the script");
        script->step = more;
        script->cap = cap;
    }
    struct esp_step *s = &script->step[script->steps++];
    *s = (struct esp_step){ .line = place->line };
    return split(place, line, s->word, &s->words) && find_kind(place, s) && read_step(place, s);
}

bool esp_script_read(const char *file, struct esp_script *script)
{
    uint32_t lines;
    *script = (struct esp_script){ .file = file };
    if (!lines_read(file, read_line, script, &lines)) return false;
    return script->steps || interrupted || complain("%s: no step, expected some", file);
}

void esp_script_free(struct esp_script *script)
{
    for (uint32_t i = 0; i < script->steps; i++) {
        struct esp_step *s = &script->step[i];
        for (unsigned w = 0; w < s->words; w++)
            free(s->word[w]);
        free(s->host);
        free(s->to);
    }
    free(script->step);
}
