/*
 * Pages of help. Each verb has a file NAME.help beside its code, compiled in as its lines:
 *
 *     Paragraphs of the first page; the first of them is on the verb's first screen.
 *
 *         leat NAME ...          an example: a line of its own, indented
 *
 *     == route                   a page of its own: of a subverb, or a topic
 *     ...
 */
#ifndef LEAT_HELP_PAGE_H
#define LEAT_HELP_PAGE_H

#include "tool.h"

/* The lines of a page, up to help_ends; NULL: there is none. `name` NULL: the first page. */
const char *const *help_page(const struct verb *verb, const char *name);
bool help_ends(const char *line);

/* The names of topics, pages that are not of a subverb; NULL past the last. */
const char *help_topic(const struct verb *verb, size_t index);

/* A command line of a page; NULL past the last. */
const char *help_example(const char *const *page, size_t index);

/* The next paragraph: its first line, and how many it has; *page is moved past it. NULL: there is
 * none left. */
const char *const *help_paragraph(const char *const **page, size_t *lines);

#endif
