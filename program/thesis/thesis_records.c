#include "thesis_records.h"
#include "child.h"
#include <stdlib.h>
#include <string.h>

struct leat_atm_cursor {
    struct leat_atm_task_id task;
    int32_t type;
    size_t next; /* record */
};

void leat_atm_records_free(struct leat_atm_records *records)
{
    free(records->record);
    free(records->cursor);
    *records = (struct leat_atm_records){ 0 };
}

static void note(struct leat_atm_records *records, const struct leat_atm_record *record)
{
    if (records->count == records->cap) {
        records->cap = records->cap ? 2 * records->cap : 256;
        records->record = leat_child_grown(records->record, records->cap, sizeof *records->record);
    }
    records->record[records->count] = *record;
    records->record[records->count].number = records->count;
    records->count++;
}

void leat_atm_records_sent(struct leat_atm_records *records, uint64_t cycle, int32_t type,
                           const struct leat_atm_task_id *from, const struct leat_atm_task_id *to)
{
    note(records, &(struct leat_atm_record){ .cycle = cycle,
                                             .type = type,
                                             .from = *from,
                                             .to = *to,
                                             .is_with_first = from->is_first || to->is_first });
}

/* ---- senders --------------------------------------------------------------------------------- */

static bool is_of_name(const struct leat_atm_task_id *a, const struct leat_atm_task_id *b)
{
    return !memcmp(a->name, b->name, sizeof a->name);
}

static struct leat_atm_cursor *cursor_of(struct leat_atm_records *records,
                                         const struct leat_atm_task_id *task, int32_t type)
{
    for (size_t i = 0; i < records->cursors; i++) {
        struct leat_atm_cursor *c = &records->cursor[i];
        if (c->type == type && c->task.instance == task->instance && is_of_name(&c->task, task))
            return c;
    }
    if (records->cursors == records->cursors_cap) {
        records->cursors_cap = records->cursors_cap ? 2 * records->cursors_cap : 64;
        records->cursor = leat_child_grown(records->cursor, records->cursors_cap,
                                           sizeof *records->cursor);
    }
    records->cursor[records->cursors] = (struct leat_atm_cursor){ .task = *task, .type = type };
    return &records->cursor[records->cursors++];
}

static bool is_sent_to(const struct leat_atm_record *r, const struct leat_atm_cursor *to)
{
    return !r->is_received && r->type == to->type && is_of_name(&r->to, &to->task) &&
           (r->to.instance == LEAT_ATM_ALL || r->to.instance == to->task.instance);
}

static bool came_from_first(struct leat_atm_records *records, const struct leat_atm_task_id *to,
                            int32_t type)
{
    struct leat_atm_cursor *cursor = cursor_of(records, to, type);
    while (cursor->next < records->count) {
        const struct leat_atm_record *r = &records->record[cursor->next++];
        if (is_sent_to(r, cursor)) return r->from.is_first;
    }
    return false;
}

void leat_atm_records_received(struct leat_atm_records *records, uint64_t cycle, int32_t type,
                               const struct leat_atm_task_id *to)
{
    const bool is_with_first = to->is_first || came_from_first(records, to, type);
    note(records, &(struct leat_atm_record){ .cycle = cycle,
                                             .is_received = true,
                                             .type = type,
                                             .to = *to,
                                             .is_with_first = is_with_first });
}

/* ---- the file -------------------------------------------------------------------------------- */

static int by_cycle(const void *a, const void *b)
{
    const struct leat_atm_record *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void put_task_id(struct leat_text *out, const struct leat_atm_task_id *id)
{
    leat_text_puts(out, id->name);
    leat_text_puts(out, id->instance < 0 ? ":-" : ":");
    leat_text_decimal(out, (uint64_t)(id->instance < 0 ? -(int64_t)id->instance : id->instance));
}

static void put_record(struct leat_text *out, const struct leat_atm_record *r)
{
    leat_text_decimal(out, r->cycle);
    leat_text_puts(out, r->is_received ? ",rcv," : ",snd,");
    leat_text_decimal(out, (uint64_t)r->type);
    leat_text_putc(out, ',');
    if (!r->is_received) put_task_id(out, &r->from);
    leat_text_putc(out, ',');
    put_task_id(out, &r->to);
    leat_text_puts(out, r->is_with_first ? ",start\n" : ",\n");
}

void leat_atm_records_write(struct leat_atm_records *records, struct leat_text *out)
{
    if (records->count) qsort(records->record, records->count, sizeof *records->record, by_cycle);
    leat_text_puts(out, "cycle,op,tag,src_task,dst_task,note\n");
    for (size_t i = 0; i < records->count; i++)
        put_record(out, &records->record[i]);
}
