/*
 * Colours of text on terminals, named by what they mean. Files, pipes and terminals of users who
 * want none (NO_COLOR, TERM=dumb) get the text alone.
 *
 *     printf("%sdeadlock%s: ...\n", style(stdout, STYLE_BAD), style_end(stdout));
 */
#ifndef LEAT_STYLE_H
#define LEAT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum style { STYLE_HEADING, STYLE_DOUBTFUL, STYLE_BAD };

/* What begins and what ends such text; "" where there are no colours. */
const char *style(FILE *to, enum style style);
const char *style_end(FILE *to);
/* Such text. */
void style_put(FILE *to, enum style style, const char *text);

/* Is this descriptor a terminal that can erase and colour text? */
bool is_screen(int file);

#endif
