#include "fabric_error.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fill(struct leat_fabric_error *error, enum leat_fabric_fault code, const char *file,
                 const char *text, va_list list)
{
    error->code = code;
    error->line = 0;
    error->offset = error->len = 0;
    error->expected[0] = '\0';
    snprintf(error->file, sizeof error->file, "%s", file);
    vsnprintf(error->text, sizeof error->text, text, list);
    return false;
}

bool leat_fabric_wrong(const struct leat_fabric_place *place, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    fill(place->error, LEAT_FABRIC_FILE, place->file, text, list);
    va_end(list);
    place->error->line = place->line;
    return false;
}

bool leat_fabric_wrong_name(struct leat_fabric_error *error, size_t offset, size_t len,
                            const char *text, ...)
{
    va_list list;
    va_start(list, text);
    fill(error, LEAT_FABRIC_NAME, "", text, list);
    va_end(list);
    error->offset = offset;
    error->len = len;
    return false;
}

bool leat_fabric_refuse(struct leat_fabric_error *error, enum leat_fabric_fault code,
                        const char *name, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    fill(error, code, name, text, list);
    va_end(list);
    return false;
}

bool leat_fabric_no_memory(struct leat_fabric_error *error, double octets)
{
    return leat_fabric_refuse(error, LEAT_FABRIC_NO_MEMORY, "",
                              "no memory: the fabric needs %.1f MB more", octets / 1e6);
}

bool leat_fabric_is_interrupted(const struct leat_fabric_place *place)
{
    if (!place->interrupted || !place->interrupted()) return false;
    leat_fabric_refuse(place->error, LEAT_FABRIC_INTERRUPTED, place->file, "interrupted");
    return true;
}

void leat_fabric_error_text(const struct leat_fabric_error *error, const char *name, char *out,
                            size_t cap)
{
    const char *before = error->code == LEAT_FABRIC_NAME ? name : error->file;
    if (error->code == LEAT_FABRIC_UNKNOWN || !*before)
        snprintf(out, cap, "%s", error->text);
    else if (error->line)
        snprintf(out, cap, "%s:%u: %s", before, error->line, error->text);
    else
        snprintf(out, cap, "%s: %s", before, error->text);
}

void *leat_fabric_take(size_t count, size_t size, struct leat_fabric_error *error)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) leat_fabric_no_memory(error, (double)count * (double)size);
    return memory;
}

void *leat_fabric_grow(void *memory, size_t count, size_t size, struct leat_fabric_error *error)
{
    if (count & (count - 1)) return memory; /* it doubles at powers of two */
    const size_t cap = count ? 2 * count : 1;
    void *grown = realloc(memory, cap * size);
    if (!grown) leat_fabric_no_memory(error, (double)cap * (double)size);
    return grown;
}
