#include "graph_report.h"
#include "leat_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leat_graph_report_free(struct leat_graph_report *report)
{
    for (uint16_t i = 0; i < report->file_count; i++)
        free(report->file[i]);
    report->file_count = 0;
}

bool leat_graph_report_file(struct leat_graph_report *report, const char *name, uint16_t *out)
{
    for (uint16_t i = 0; i < report->file_count; i++)
        if (strcmp(report->file[i], name) == 0) {
            *out = i;
            return true;
        }
    if (report->file_count == LEAT_GRAPH_FILES_MAX) return false;
    char *copy = strdup(name);
    if (!copy) return false;
    *out = report->file_count;
    report->file[report->file_count++] = copy;
    return true;
}

/* Where the next one goes; NULL: there is no room for its kind. */
static struct leat_graph_mistake *room_for(struct leat_graph_report *report, bool warning)
{
    if (report->kept < LEAT_GRAPH_MISTAKES_MAX) return &report->mistake[report->kept++];
    for (uint32_t i = report->kept; !warning && i-- > 0;)
        if (report->mistake[i].warning) return &report->mistake[i];
    return NULL;
}

static void put(struct leat_graph_report *report, struct leat_graph_place place, bool warning,
                const char *code, const char *text, va_list list)
{
    struct leat_graph_mistake *m = room_for(report, warning);
    const uint32_t order = report->error_count + report->warning_count;
    *(warning ? &report->warning_count : &report->error_count) += 1;
    if (!m) return;
    *m = (struct leat_graph_mistake){
        .place = place, .order = order, .warning = warning, .code = code
    };
    char said[LEAT_GRAPH_TEXT_LEN_MAX];
    struct leat_text shown; /* names and texts of the file, made harmless for terminals */
    vsnprintf(said, sizeof said, text, list);
    leat_text_init(&shown, m->text, sizeof m->text - 1, NULL, NULL);
    leat_text_harmless(&shown, said, strlen(said));
    m->text[shown.len] = '\0';
}

bool leat_graph_wrong(struct leat_graph_report *report, struct leat_graph_place place,
                      const char *code, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    put(report, place, false, code, text, list);
    va_end(list);
    return false;
}

void leat_graph_warn(struct leat_graph_report *report, struct leat_graph_place place,
                     const char *code, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    put(report, place, true, code, text, list);
    va_end(list);
}

static int by_place(const void *a, const void *b)
{
    const struct leat_graph_mistake *x = a, *y = b;
    if (x->place.file != y->place.file) return x->place.file < y->place.file ? -1 : 1;
    if (x->place.line != y->place.line) return x->place.line < y->place.line ? -1 : 1;
    if (x->place.column != y->place.column) return x->place.column < y->place.column ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void leat_graph_report_sort(struct leat_graph_report *report)
{
    qsort(report->mistake, report->kept, sizeof *report->mistake, by_place);
}
