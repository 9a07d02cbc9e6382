/* pvm_catchout: the output of other tasks, line by line, with the task that printed it. */
#include "pvm_library.h"
#include <stdlib.h>
#include <string.h>

/* A task whose output comes here, and its last, still incomplete line. */
struct printer {
    int tid;
    bool has_begun;
    struct leat_pvm_octets line;
    struct printer *next;
};

static struct printer *printers;
static FILE *file;
static bool is_on;

int pvm_catchout(FILE *to)
{
    struct leat_pvm_sink *output = &leat_pvm_self.children_output;
    const int result = leat_pvm_enrol();
    if (result < 0) return lpvmerr("pvm_catchout", result);
    is_on = to != NULL;
    if (to) file = to;
    *output = (struct leat_pvm_sink){ 0 };
    if (to)
        *output = (struct leat_pvm_sink){ leat_pvm_self.tid, LEAT_PVM_OUTPUT_CONTEXT,
                                          LEAT_PVM_OUTPUT_TAG };
    return PvmOk;
}

bool leat_pvm_output_is_collected(void)
{
    return is_on;
}

bool leat_pvm_output_is_caught(const struct leat_pvm_buffer *message)
{
    return file && message->context == LEAT_PVM_OUTPUT_CONTEXT &&
           message->tag == LEAT_PVM_OUTPUT_TAG;
}

static struct printer *printer_of(int tid)
{
    struct printer **p = &printers;
    while (*p && (*p)->tid != tid)
        p = &(*p)->next;
    if (!*p && (*p = calloc(1, sizeof **p))) (*p)->tid = tid;
    return *p;
}

static void printer_forget(int tid)
{
    for (struct printer **p = &printers; *p; p = &(*p)->next) {
        struct printer *gone = *p;
        if (gone->tid != tid) continue;
        *p = gone->next;
        leat_pvm_octets_free(&gone->line);
        free(gone);
        return;
    }
}

static void print_line(const struct printer *printer)
{
    fprintf(file, "[t%x] %.*s\n", (unsigned)printer->tid, (int)printer->line.len,
            (const char *)printer->line.at);
}

static void print_note(int tid, const char *note)
{
    if (pvmshowtaskid) fprintf(file, "[t%x] %s\n", (unsigned)tid, note);
}

static void print_octets(struct printer *printer, const uint8_t *octets, size_t len)
{
    if (!pvmshowtaskid) {
        fwrite(octets, 1, len, file);
        return;
    }
    while (len) {
        const uint8_t *end = memchr(octets, '\n', len);
        const size_t here = end ? (size_t)(end - octets) : len;
        leat_pvm_put(&printer->line, octets, here);
        if (end) {
            print_line(printer);
            leat_pvm_octets_clear(&printer->line);
        }
        octets += here + (end != NULL);
        len -= here + (end != NULL);
    }
}

void leat_pvm_output_show(struct leat_pvm_buffer *message)
{
    const int tid = leat_pvm_get_i32(&message->body);
    const int count = leat_pvm_get_i32(&message->body);
    struct printer *printer = printer_of(tid);
    if (printer && !message->body.failed) {
        if (!printer->has_begun) print_note(tid, "BEGIN");
        printer->has_begun = true;
        const uint8_t *octets = count > 0 ? leat_pvm_get(&message->body, (size_t)count) : NULL;
        if (octets) print_octets(printer, octets, (size_t)count);
        if (count == LEAT_PVM_OUTPUT_END) {
            if (printer->line.len) print_line(printer);
            print_note(tid, "EOF");
            printer_forget(tid);
        }
        fflush(file);
    }
    leat_pvm_buffer_free(message);
}
