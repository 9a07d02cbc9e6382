/*
 * What a page shows: one recording or two beside each other, or what is told while the page is open
 * (a part of a live network, a store, a run). A recording stays open, is read where it is needed
 * and never written; if its file has changed since, it is not served any more.
 */
#ifndef VIEW_SITE_H
#define VIEW_SITE_H

#include "leat_text.h"
#include <sys/stat.h>
#include <sys/types.h>

enum { VIEW_SOURCES_MAX = 2, VIEW_FRAME_LEN_MAX = 65535 };

struct view_source {
    const char *name;    /* for people: a file's, without its folder, or "ring eth0" */
    const char *path;    /* of a recording; NULL: it is told (view_http_tell) */
    int fd;              /* of a recording */
    struct stat about;   /* when it was opened */
    const char *drawing; /* of its network: places as JSON (fabric_draw.h); NULL: none */
    const char *kind;    /* of what is told: "live", "store", "progress" */
    const char *json;    /* for a page in one file: what it tells */
    size_t json_len;
};

/* A frame as `leat decode --json` shows it. False: it is of no format that is known. */
typedef bool view_decode(uint32_t link_type, const uint8_t *octets, size_t len,
                         struct leat_text *out);

struct view_site {
    const char *version; /* of leat */
    unsigned count;
    struct view_source source[VIEW_SOURCES_MAX];
    view_decode *decode;
};

/* False: `why` says what was expected. It is a recording by its head; the rest may be damaged. */
bool view_source_open(struct view_source *source, const char *path, struct leat_text *why);
void view_source_close(struct view_source *source);

uint64_t view_source_octets(const struct view_source *source);

/* Octets of a recording from an offset on: as many as wanted, but none behind the end that it had
 * when it was opened. Less, or -1: the file is not what it was. */
ssize_t view_source_read(const struct view_source *source, uint64_t at, void *octets, size_t len);

/* Is the file of this name still the one that was opened, unchanged? */
bool view_source_is_same(const struct view_source *source);

/* The JSON of sources.json: in a page that is served, with the addresses of the sources. */
void view_site_describe(const struct view_site *site, bool is_served, struct leat_text *out);

#endif
