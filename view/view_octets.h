/* What a page in one file is made of: text of any length in memory, base64, and the hashes by which
 * a browser knows its scripts. */
#ifndef VIEW_OCTETS_H
#define VIEW_OCTETS_H

#include "leat_text.h"

/* Text that grows. Begin with a zeroed struct and view_buffer_init; its address stays. */
struct view_buffer {
    struct leat_text text;
    char *octets; /* all that was written, after view_buffer_end */
    size_t len, cap;
    bool failed; /* no memory */
    char stage[4096];
};

void view_buffer_init(struct view_buffer *buffer);
/* False: no memory. */
bool view_buffer_end(struct view_buffer *buffer);
void view_buffer_free(struct view_buffer *buffer);

/* RFC 4648, section 4, with padding. Pieces of a longer text have a multiple of 3 octets. */
void view_base64(struct leat_text *text, const void *octets, size_t len);

enum { VIEW_SHA256_LEN = 32 };
/* FIPS 180-4. */
void view_sha256(const void *octets, size_t len, uint8_t hash[VIEW_SHA256_LEN]);

#endif
