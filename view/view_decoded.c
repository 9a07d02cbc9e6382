#include "view_decoded.h"
#include "leat_fnv.h"
#include "view_octets.h"
#include "view_reader.h"
#include "view_single.h"
#include <stdlib.h>

enum { SLOTS = 4 * VIEW_DECODED_MAX };

struct decoded {
    const struct view_site *site;
    struct leat_text *out;
    size_t count, octets;
    uint64_t seen[SLOTS]; /* hashes of frames; 0: none. One of two with the same hash is left out */
    struct view_buffer json;
    struct view_reader reader;
};

/* A '<' is in strings only. */
void view_put_json(struct leat_text *out, const char *json, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (json[i] == '<')
            leat_text_puts(out, "\\u003c");
        else
            leat_text_putc(out, json[i]);
}

static bool is_new(struct decoded *d, uint16_t link_type, const struct leat_sim_event *e)
{
    uint64_t hash = leat_fnv(LEAT_FNV_EMPTY, &link_type, sizeof link_type);
    hash = leat_fnv(hash, e->octets, e->len) | 1;
    size_t i = (hash >> 16) % SLOTS;
    while (d->seen[i] && d->seen[i] != hash)
        i = (i + 1) % SLOTS;
    if (d->seen[i]) return false;
    d->seen[i] = hash;
    return true;
}

static bool put_frame(struct decoded *d, uint16_t link_type, const struct leat_sim_event *e)
{
    view_buffer_init(&d->json);
    const bool is_known = d->site->decode(link_type, e->octets, e->len, &d->json.text);
    const bool has_memory = view_buffer_end(&d->json);
    if (is_known && has_memory) {
        leat_text_puts(d->out, d->octets ? ",\n\"" : "\n\"");
        leat_text_decimal(d->out, link_type);
        leat_text_putc(d->out, ':');
        leat_text_hex(d->out, e->octets, e->len);
        leat_text_puts(d->out, "\":");
        view_put_json(d->out, d->json.octets, d->json.len);
        d->octets += 2 * e->len + d->json.len;
    }
    view_buffer_free(&d->json);
    return has_memory;
}

static bool put_recording(struct decoded *d, const struct view_source *source)
{
    struct leat_sim_event e;
    view_reader_init(&d->reader, source);
    while (d->count < VIEW_DECODED_MAX && d->octets < VIEW_DECODED_OCTETS_MAX &&
           view_reader_next(&d->reader, &e) == VIEW_READ_EVENT) {
        if (e.kind != LEAT_SIM_FRAME) continue;
        const uint16_t link_type = d->reader.rec.tracks[e.track].link_type;
        if (!is_new(d, link_type, &e)) continue;
        d->count++;
        if (!put_frame(d, link_type, &e)) return false;
    }
    return true;
}

bool view_decoded_put(const struct view_site *site, struct leat_text *out)
{
    struct decoded *d = calloc(1, sizeof *d);
    bool done = d != NULL;
    if (d) {
        d->site = site;
        d->out = out;
    }
    leat_text_putc(out, '{');
    for (unsigned i = 0; done && i < site->count; i++)
        done = !site->source[i].path || put_recording(d, &site->source[i]);
    leat_text_putc(out, '}');
    free(d);
    return done;
}
