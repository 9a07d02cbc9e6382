/* Text and octets to a file descriptor; a failure is remembered and reported once, at the end. */
#ifndef LEAT_OUTPUT_H
#define LEAT_OUTPUT_H

#include "leat_text.h"
#include <stdbool.h>

enum { OUTPUT_CAP = 1 << 17, OUTPUT_ROLLBACK = 1 << 12 };

struct output {
    struct leat_text text;
    int fd;
    int error; /* errno of the first failure */
    char buf[OUTPUT_CAP];
};

void output_init(struct output *out, int fd);

/* Leaves OUTPUT_ROLLBACK octets of room, so that the next output can be rolled back. */
void output_checkpoint(struct output *out);

/* Writes what is buffered: before waiting for more input, so that a pipe shows all output so far.
 */
void output_flush(struct output *out);

/* Writes the rest. False after a complaint that names `name`: something was not written, or could
 * not be made, for which its writer has set text.overflowed. */
bool output_finish(struct output *out, const char *name);

#endif
