/*
 * The frame of a self-contained page in HTML that is well-formed as XML, too: its head with the
 * styles of pages and charts, and its end.
 *
 *   page_begin        then rules of one's own
 *   page_begin_body   then a header and <main>
 *   page_end          ends <main> and the page
 */
#ifndef LEAT_TOOL_PAGE_H
#define LEAT_TOOL_PAGE_H

#include "leat_text.h"

void page_begin(const char *title, struct leat_text *text);
void page_begin_body(struct leat_text *text);
void page_end(struct leat_text *text);

#endif
