/* The frames of recordings as leat decodes them, each once: for a page without a leat. */
#ifndef VIEW_DECODED_H
#define VIEW_DECODED_H

#include "view_site.h"

/* An object of JSON with the first frames that differ, by "LINK:HEX". False: no memory. */
bool view_decoded_put(const struct view_site *site, struct leat_text *out);

/* JSON inside of a page: no string of it ends the script. */
void view_put_json(struct leat_text *out, const char *json, size_t len);

#endif
