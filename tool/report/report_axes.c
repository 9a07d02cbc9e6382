#include "report_axes.h"
#include "number.h"
#include "shell.h"
#include "tool.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_CAP = 512 };

/* A number in whole: "4", "1e4", "0.25". */
static bool read_value(const char *text, double *out)
{
    uint64_t whole;
    char *end;
    if (number_read(text, false, &whole)) {
        *out = (double)whole;
        return true;
    }
    if (!strchr("0123456789.", *text) || !*text) return false;
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

/* False: it is no axis, or one too many. */
static bool add_axis(struct axes *axes, const char *name, size_t name_len, const char *value)
{
    struct axes_axis *axis = &axes->axis[axes->count];
    if (axes->count == AXES_MAX || name_len >= AXES_NAME_CAP || !read_value(value, &axis->value))
        return false;
    memcpy(axis->name, name, name_len);
    axis->name[name_len] = '\0';
    axes->count++;
    return true;
}

/* The pieces of a name, between slashes; all of them if memory lacks. */
static void read_fabric(const char *fabric, struct axes *axes, struct leat_text *stem)
{
    char *pieces = strdup(fabric), *rest = pieces;
    leat_text_put(stem, fabric, pieces ? 0 : strlen(fabric));
    while (rest) {
        char *piece = rest, *slash = strchr(rest, '/');
        const char *value = piece + strcspn(piece, "=/");
        rest = slash ? slash + 1 : NULL;
        if (slash) *slash = '\0';
        if (piece > pieces && *value == '=' &&
            add_axis(axes, piece, (size_t)(value - piece), value + 1))
            continue;
        if (piece > pieces) leat_text_putc(stem, '/');
        leat_text_puts(stem, piece);
    }
    free(pieces);
}

/* Options with their values; as they are if they cannot be taken apart. */
static void read_options(const char *options, struct axes *axes, struct leat_text *stem)
{
    char *words[AXES_WORDS_MAX + 1];
    const int count = shell_split(options, words, AXES_WORDS_MAX);
    if (count < 0) leat_text_puts(stem, options);
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], "--", 2) == 0 && i + 1 < count &&
            add_axis(axes, words[i], strlen(words[i]), words[i + 1])) {
            i++;
            continue;
        }
        leat_text_putc(stem, ' ');
        leat_text_puts(stem, words[i]);
    }
    if (count > 0) free(words[0]);
}

void axes_read(const char *fabric, const char *options, struct axes *out)
{
    struct leat_text stem, why = LEAT_TEXT(WHY_CAP);
    *out = (struct axes){ .has_plan = leat_net_plan_is(fabric) };
    leat_text_init(&stem, out->stem, sizeof out->stem - 1, NULL, NULL);
    read_fabric(fabric, out, &stem);
    read_options(options, out, &stem);
    out->stem[stem.len] = '\0';
    out->is_cut = stem.overflowed;
    if (out->has_plan) out->has_plan = !leat_net_plan_parse(fabric, &out->plan, &why);
}

static const struct option *option_of(const char *name)
{
    return option_find(verb_find("sim"), name);
}

double axes_value(const struct axes *axes, const char *name)
{
    uint32_t number;
    double value;
    for (size_t i = 0; i < axes->count; i++)
        if (strcmp(axes->axis[i].name, name) == 0) return axes->axis[i].value;
    if (axes->has_plan && leat_net_plan_number(&axes->plan, name, &number)) return number;
    const struct option *option = option_of(name);
    return option && option->preset && read_value(option->preset, &value) ? value : NAN;
}

static bool knows_axes_of(const struct axes *axes, const struct axes *other)
{
    for (size_t i = 0; i < other->count; i++)
        if (isnan(axes_value(axes, other->axis[i].name))) return false;
    return true;
}

bool axes_match(const struct axes *one, const struct axes *other)
{
    return !one->is_cut && !other->is_cut && strcmp(one->stem, other->stem) == 0 &&
           knows_axes_of(one, other) && knows_axes_of(other, one);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *axes_short_name(const char *name)
{
    return name + strspn(name, "-");
}

/* "FLITS" of "/buffer=FLITS"; NULL: it is not in the list. */
static const char *unit_of_parameter(const char *name)
{
    const struct leat_net_plan_spelling *s;
    const size_t len = strlen(name);
    for (size_t i = 0; (s = leat_net_plan_list(i)); i++)
        if (s->name[0] == '/' && strncmp(s->name + 1, name, len) == 0 && s->name[1 + len] == '=')
            return s->name + len + 2;
    return NULL;
}

void axes_put_name(const char *name, struct leat_text *text)
{
    const struct option *option = option_of(name);
    const char *unit = option ? option->argument : unit_of_parameter(name);
    leat_text_puts(text, axes_short_name(name));
    if (!unit || strcmp(unit, "N") == 0) return;
    leat_text_puts(text, ", ");
    for (; *unit; unit++)
        leat_text_putc(text, (char)tolower((unsigned char)*unit));
}
