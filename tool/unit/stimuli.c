#include "stimuli.h"
#include "lines.h"
#include "tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 3, LIST_LEN = 400 };

enum section { BEFORE, INPUTS, OUTPUTS };

struct reader {
    struct stimuli *stimuli;
    const struct stimulus_name *names;
    size_t name_count;
    struct leat_fabric_place place;
    enum section section;
    struct stimuli_track *track; /* whose values are being read; NULL: no signal was named yet */
};

/* ---- complaints --------------------------------------------------------------------------- */

/* "byte byteind fifo0..3" */
static const char *all_names(const struct reader *r, char list[LIST_LEN])
{
    size_t used = 0;
    for (size_t i = 0; i < r->name_count && used < LIST_LEN; i++) {
        const struct stimulus_name *n = &r->names[i];
        char indices[24] = "";
        if (n->count) snprintf(indices, sizeof indices, "0..%u", n->count - 1);
        used += (size_t)snprintf(list + used, LIST_LEN - used, "%s%s%s%s", i ? " " : "", n->before,
                                 indices, n->after);
    }
    return list;
}

/* The current signal, for messages. */
static const char *track_name(const struct stimuli_track *t, char name[LIST_LEN])
{
    char index[12] = "";
    if (t->name->count) snprintf(index, sizeof index, "%u", t->index);
    snprintf(name, LIST_LEN, "%s%s%s", t->name->before, index, t->name->after);
    return name;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static bool is_number(struct word w, unsigned base)
{
    for (size_t i = 0; i < w.len; i++)
        if ((unsigned)hex_digit(w.text[i]) >= base) return false;
    return w.len > 0;
}

/* Of digits only; values above `max` become max + 1. */
static uint32_t number(struct word w, unsigned base, uint32_t max)
{
    uint64_t value = 0;
    for (size_t i = 0; i < w.len && value <= max; i++)
        value = value * base + (unsigned)hex_digit(w.text[i]);
    return value <= max ? (uint32_t)value : max + 1;
}

/* ---- memory ------------------------------------------------------------------------------- */

void *stimuli_grow(void *items, size_t size, size_t count, size_t more, size_t max, size_t *cap)
{
    if (more > max - count) return NULL;
    if (count + more <= *cap) return items;
    size_t wanted = *cap ? *cap : 1024;
    while (wanted < count + more)
        wanted *= 2;
    void *grown = realloc(items, wanted * size);
    if (grown) *cap = wanted;
    return grown;
}

static bool add_value(struct reader *r, struct stimuli_value value)
{
    struct stimuli *s = r->stimuli;
    struct stimuli_value *values = stimuli_grow(s->values, sizeof *values, s->value_count, 1,
                                                STIMULI_VALUES_MAX, &s->value_cap);
    if (!values) return wrong(&r->place, "no room, expected at most %d values", STIMULI_VALUES_MAX);
    const uint32_t last = value.cycle + value.len - 1;
    if (last > s->last_cycle) s->last_cycle = last;
    s->values = values;
    s->values[s->value_count++] = value;
    r->track->end = s->value_count;
    return true;
}

static bool add_octets(struct reader *r, struct word w, uint32_t *at)
{
    struct stimuli *s = r->stimuli;
    const size_t len = (w.len + 1) / 2;
    uint8_t *octets = stimuli_grow(s->octets, 1, s->octet_count, len, STIMULI_BYTES_MAX,
                                   &s->octet_cap);
    if (!octets)
        return wrong(&r->place, "no room, expected at most %d bytes in all", STIMULI_BYTES_MAX);
    s->octets = octets;
    *at = (uint32_t)s->octet_count;
    size_t i = w.len % 2;
    if (i) octets[s->octet_count++] = (uint8_t)hex_digit(w.text[0]); /* one digit is a byte, too */
    for (; i < w.len; i += 2)
        octets[s->octet_count++] = (uint8_t)(hex_digit(w.text[i]) << 4 | hex_digit(w.text[i + 1]));
    return true;
}

/* ---- lines -------------------------------------------------------------------------------- */

static bool read_number(struct reader *r, struct word w, struct stimuli_value *value)
{
    const struct stimulus_name *n = r->track->name;
    const bool hex = n->kind == STIMULUS_HEX;
    char name[LIST_LEN];
    if (!is_number(w, hex ? 16 : 10))
        return wrong(&r->place,
                     hex ? "%s: '%s' is no hexadecimal number, expected 0..%x"
                         : "%s: '%s' is no decimal number, expected 0..%u",
                     track_name(r->track, name), show(w).text, n->max);
    value->at = number(w, hex ? 16 : 10, n->max);
    if (value->at > n->max)
        return wrong(&r->place,
                     hex ? "%s: %s is out of range, expected 0..%x in hexadecimal"
                         : "%s: %s is out of range, expected 0..%u",
                     track_name(r->track, name), show(w).text, n->max);
    return add_value(r, *value);
}

static bool read_octets(struct reader *r, struct word w, struct stimuli_value *value)
{
    const struct stimulus_name *n = r->track->name;
    char name[LIST_LEN];
    if (!is_number(w, 16))
        return wrong(&r->place, "%s: '%s' is not hexadecimal, expected two digits per byte",
                     track_name(r->track, name), show(w).text);
    if (n->kind == STIMULUS_OCTETS && w.len != 2 * (size_t)n->max)
        return wrong(&r->place, "%s: %zu digits, expected %u", track_name(r->track, name), w.len,
                     2 * n->max);
    if (w.len > 1 && w.len % 2)
        return wrong(&r->place, "%s: odd number of digits (%zu), expected two per byte",
                     track_name(r->track, name), w.len);
    if (n->kind == STIMULUS_BYTES) value->len = (uint32_t)((w.len + 1) / 2);
    if (value->len > STIMULI_CYCLE_MAX - value->cycle + 1)
        return wrong(&r->place, "%s: the stream goes on after cycle %d, expected none that does",
                     track_name(r->track, name), STIMULI_CYCLE_MAX);
    return add_octets(r, w, &value->at) && add_value(r, *value);
}

/* "cycle value" */
static bool read_value(struct reader *r, struct word cycle, struct word w)
{
    struct stimuli_value value = { .len = 1, .line = r->place.line };
    char name[LIST_LEN];
    if (!r->track)
        return wrong(&r->place, "a value of no signal, expected a name first: one of %s",
                     all_names(r, name));
    if (!is_number(cycle, 10))
        return wrong(&r->place, "'%s' is no cycle, expected a decimal number from 1",
                     show(cycle).text);
    value.cycle = number(cycle, 10, STIMULI_CYCLE_MAX);
    if (value.cycle < 1 || value.cycle > STIMULI_CYCLE_MAX)
        return wrong(&r->place, "cycle %s is out of range, expected 1..%d", show(cycle).text,
                     STIMULI_CYCLE_MAX);
    if (r->track->end > r->track->begin) {
        const struct stimuli_value *before = &r->stimuli->values[r->track->end - 1];
        const uint32_t last = before->cycle + before->len - 1;
        if (value.cycle <= last)
            return wrong(&r->place,
                         "%s: cycle %u after line %u, which reaches to cycle %u, expected a "
                         "later one",
                         track_name(r->track, name), value.cycle, before->line, last);
    }
    const enum stimulus_kind kind = r->track->name->kind;
    return kind == STIMULUS_BYTES || kind == STIMULUS_OCTETS ? read_octets(r, w, &value)
                                                             : read_number(r, w, &value);
}

/* Is the word this signal's name? Its index may be out of the bench's range. */
static bool is_name(struct word w, const struct stimulus_name *n, uint32_t *index)
{
    const size_t before = strlen(n->before), after = strlen(n->after);
    *index = 0;
    if (w.len < before + after || memcmp(w.text, n->before, before) != 0 ||
        memcmp(w.text + w.len - after, n->after, after) != 0)
        return false;
    const struct word middle = { w.text + before, w.len - before - after };
    if (!n->count) return middle.len == 0;
    if (!is_number(middle, 10) || (middle.len > 1 && middle.text[0] == '0')) return false;
    *index = number(middle, 10, n->count - 1);
    return true;
}

static bool read_name(struct reader *r, struct word w)
{
    char list[LIST_LEN];
    struct stimuli *s = r->stimuli;
    for (size_t i = 0; i < r->name_count; i++) {
        const struct stimulus_name *n = &r->names[i];
        uint32_t index;
        if (!is_name(w, n, &index)) continue;
        if (n->count && index >= n->count)
            return wrong(&r->place, "'%s': index out of range, expected 0..%u", show(w).text,
                         n->count - 1);
        for (size_t t = 0; t < s->track_count; t++)
            if (s->tracks[t].name == n && s->tracks[t].index == index)
                return wrong(&r->place, "'%s' for the second time, expected each signal once",
                             show(w).text);
        r->track = &s->tracks[s->track_count++];
        *r->track = (struct stimuli_track){ .name = n,
                                            .index = index,
                                            .begin = s->value_count,
                                            .end = s->value_count,
                                            .next = s->value_count };
        return true;
    }
    return wrong(&r->place, "unknown signal '%s', expected one of %s", show(w).text,
                 all_names(r, list));
}

static bool read_words(struct reader *r, const struct word *w, size_t count)
{
    switch (r->section) {
    case BEFORE:
        if (count != 1 || !is_word(w[0], "inputs"))
            return wrong(&r->place, "'%s', expected the keyword inputs", show(w[0]).text);
        r->section = INPUTS;
        return true;
    case INPUTS:
        if (count == 1 && (is_word(w[0], "outputs") || is_word(w[0], "ouputs"))) {
            r->section = OUTPUTS;
            return true;
        }
        if (count == 1 && !is_number(w[0], 10)) return read_name(r, w[0]);
        if (count == 2) return read_value(r, w[0], w[1]);
        return wrong(&r->place, "'%s' %s, expected a signal's name, or cycle and value",
                     show(w[0]).text, count == 1 ? "without a value" : "and more than a value");
    case OUTPUTS: return true; /* any request: all signals are shown */
    }
    return false;
}

static bool read_line(struct reader *r, const char *text, size_t len)
{
    struct word words[WORDS_MAX];
    size_t count = 0, i = 0;
    r->place.line++;
    while (count < WORDS_MAX) {
        while (i < len && is_blank(text[i]))
            i++;
        const size_t begin = i;
        while (i < len && !is_blank(text[i]) && text[i] != '#')
            i++;
        if (i == begin) break; /* the end, or a comment */
        words[count++] = (struct word){ text + begin, i - begin };
    }
    return count == 0 || read_words(r, words, count);
}

/* ---- the file ----------------------------------------------------------------------------- */

/* Reads until one line is unread as a whole, or the rest of the file. *len: without its end. */
static bool fill_line(struct reader *r, struct input *in, size_t *len, bool *ended)
{
    const char *end = NULL;
    for (size_t seen = 0;;) {
        const char *text = (const char *)input_octets(in);
        if (seen < input_len(in)) end = memchr(text + seen, '\n', input_len(in) - seen);
        seen = input_len(in);
        *ended = end != NULL;
        *len = end ? (size_t)(end - text) : seen;
        if (*len > STIMULI_LINE_LEN_MAX) {
            r->place.line++;
            return wrong(&r->place, "a longer line than %d characters, expected none",
                         STIMULI_LINE_LEN_MAX);
        }
        if (end || in->at_end) return true;
        if (!input_fill(in, seen + 1)) return false;
    }
}

bool stimuli_read(struct stimuli *stimuli, struct input *in, const struct stimulus_name *names,
                  size_t name_count)
{
    struct reader r = {
        .stimuli = stimuli, .names = names, .name_count = name_count, .place.file = in->name
    };
    size_t len = 0;
    bool ended = true;
    *stimuli = (struct stimuli){ 0 };
    while (ended && !interrupted) {
        if (!fill_line(&r, in, &len, &ended)) return false;
        if (!read_line(&r, (const char *)input_octets(in), len)) return false;
        input_skip(in, len + ended);
    }
    if (r.section == BEFORE && !interrupted)
        return wrong(&r.place, "the end of the file, expected the keyword inputs");
    return true;
}

bool stimuli_at(struct stimuli *stimuli, size_t track, uint32_t cycle, struct stimulus *out)
{
    struct stimuli_track *t = &stimuli->tracks[track];
    if (t->next == t->end) return false;
    const struct stimuli_value *v = &stimuli->values[t->next];
    if (cycle < v->cycle) return false;
    const bool octets = t->name->kind == STIMULUS_OCTETS, bytes = t->name->kind == STIMULUS_BYTES;
    out->id = t->name->id;
    out->index = t->index;
    out->octets = octets ? stimuli->octets + v->at : NULL;
    out->number = bytes ? stimuli->octets[v->at + (cycle - v->cycle)] : octets ? 0 : v->at;
    if (cycle == v->cycle + v->len - 1) t->next++;
    return true;
}

void stimuli_close(struct stimuli *stimuli)
{
    free(stimuli->values);
    free(stimuli->octets);
    *stimuli = (struct stimuli){ 0 };
}
