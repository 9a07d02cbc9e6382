/* The token of a page that others than this host can reach: drawn, or from a file that only its
 * owner may read. */
#ifndef LEAT_VIEW_TOKEN_H
#define LEAT_VIEW_TOKEN_H

#include "view_request.h"

/* Each is false after a complaint. */
bool view_token_draw(char token[VIEW_TOKEN_LEN_MAX + 1]);
bool view_token_read(const char *path, char token[VIEW_TOKEN_LEN_MAX + 1]);

#endif
