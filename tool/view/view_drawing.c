#include "view_drawing.h"
#include "fabric.h"
#include "fabric_draw.h"
#include "record_fabric.h"
#include <stdlib.h>
#include <string.h>

enum {
    WHY_CAP = 1024,
    EVENTS_LOOKED_AT = 10000, /* for the name, which is among the first */
    MEMORY_MAX = 256 << 20,   /* octets of a topology */
};

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_lane_of_fabric(const struct leat_sim_recording *rec, uint32_t track)
{
    const struct leat_sim_track *t = &rec->tracks[track];
    return t->string_len == strlen(RECORD_FABRIC) &&
           memcmp(rec->strings + t->string_at, RECORD_FABRIC, t->string_len) == 0;
}

/* False: it names none. */
static bool find_name(const struct view_source *source, struct view_reader *reader,
                      char name[LEAT_SIM_PATH_LEN_MAX + 1])
{
    struct leat_sim_event e;
    view_reader_init(reader, source);
    for (int left = EVENTS_LOOKED_AT; left && view_reader_next(reader, &e) == VIEW_READ_EVENT;) {
        size_t len;
        left -= e.kind >= LEAT_SIM_BEGIN;
        if (e.at) return false;
        if (e.kind != LEAT_SIM_PLACE || !is_lane_of_fabric(&reader->rec, e.track)) continue;
        const char *text = leat_sim_recording_name(&reader->rec, e.name, &len);
        memcpy(name, text, len);
        name[len] = '\0';
        return true;
    }
    return false;
}

/* Recordings come from others, who may name any file: only names that mean the same everywhere are
 * followed. */
static bool is_built_in(const char *name)
{
    static const char *const of_files[] = { ".yaml", ".yml", ".edges", "..", "/." };
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (strstr(name, of_files[i])) return false;
    if (*name == '/' || *name == '.') return false;
    const struct leat_fabric_kind *kind = leat_fabric_kind_of(name);
    return kind && kind->shape;
}

/* ---- drawings ------------------------------------------------------------------------------- */

/* False: `why`. */
static bool draw(struct leat_fabric *fabric, struct view_buffer *out, struct leat_text *why)
{
    struct leat_net_topology t;
    if (fabric->kind->shape &&
        leat_net_topology_footprint(fabric->kind->shape(fabric)) > MEMORY_MAX) {
        leat_text_puts(why, "too large to be drawn");
        return false;
    }
    void *memory = fabric_topology(fabric, &t, why);
    const bool fits = memory && fabric_draw_fits(&t, why);
    if (fits) {
        view_buffer_init(out);
        fabric_draw_places(&t, &out->text);
        leat_text_putc(&out->text, '\0');
    }
    free(memory);
    if (fits && !view_buffer_end(out)) leat_text_puts(why, "no memory");
    return fits && !out->failed;
}

static bool draw_given(const struct arguments *args, const char *word, struct view_buffer *out)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct leat_fabric *fabric = fabric_read(args->verb, word);
    if (!fabric) return false;
    const bool done = draw(fabric, out, &why);
    leat_fabric_close(fabric);
    return done || complain("--fabric %s: %.*s", word, (int)why.len, why.buf);
}

/* A drawing that cannot be made is left out. */
static void draw_named(const struct view_source *source, const char *name, struct view_buffer *out)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct leat_fabric_error error;
    if (!is_built_in(name)) return;
    struct leat_fabric *fabric = leat_fabric_read(name, NULL, &error);
    if (!fabric) {
        caution("%s: is of the fabric %s, which this leat does not know: it is not drawn",
                source->path, name);
        return;
    }
    if (!draw(fabric, out, &why))
        caution("%s: %s is not drawn: %.*s", source->path, name, (int)why.len, why.buf);
    leat_fabric_close(fabric);
}

bool view_drawings_make(struct view_drawings *d, const struct arguments *args,
                        struct view_site *site, struct view_reader *scratch)
{
    const char *word = argument(args, "--fabric");
    char name[LEAT_SIM_PATH_LEN_MAX + 1];
    if (word && !draw_given(args, word, &d->given)) return false;
    for (unsigned i = 0; i < site->count; i++) {
        struct view_source *source = &site->source[i];
        if (!word && find_name(source, scratch, name)) draw_named(source, name, &d->of[i]);
        source->drawing = word ? d->given.octets : d->of[i].octets;
    }
    return true;
}

void view_drawings_free(struct view_drawings *d)
{
    for (unsigned i = 0; i < VIEW_SOURCES_MAX; i++)
        view_buffer_free(&d->of[i]);
    view_buffer_free(&d->given);
}
