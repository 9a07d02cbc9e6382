#include "comm.h"
#include "lines.h"
#include "tool.h"
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MAX = 1 << 24, NOTE = 5, FIELDS };

/* ---- the list -------------------------------------------------------------------------------- */

static bool add(struct comm_records *records, const struct comm_record *record)
{
    if (records->count == records->cap) {
        const size_t cap = records->cap ? 2 * records->cap : 1024;
        struct comm_record *grown = cap <= RECORDS_MAX
                                        ? realloc(records->record, cap * sizeof *grown)
                                        : NULL;
        if (!grown)
            return complain("no memory for %zu communication records, expected at most %d", cap,
                            RECORDS_MAX);
        records->record = grown;
        records->cap = cap;
    }
    records->record[records->count++] = *record;
    return true;
}

void comm_free(struct comm_records *records)
{
    free(records->record);
    *records = (struct comm_records){ 0 };
}

/* ---- files ----------------------------------------------------------------------------------- */

struct reader {
    struct comm_records *records;
    bool headed, all;
};

/* The next field of a line. */
static struct word take_field(struct word *line)
{
    const char *comma = memchr(line->text, ',', line->len);
    struct word field = { line->text, comma ? (size_t)(comma - line->text) : line->len };
    const size_t used = field.len + (comma != NULL);
    line->text += used;
    line->len -= used;
    while (field.len && is_blank(field.text[field.len - 1]))
        field.len--;
    return field;
}

static bool read_number(struct word w, int64_t min, int64_t max, int64_t *out)
{
    char text[24], *end;
    if (!w.len || w.len >= sizeof text) return false;
    memcpy(text, w.text, w.len);
    text[w.len] = '\0';
    const long long value = strtoll(text, &end, 10);
    *out = value;
    return !*end && !is_blank(*text) && value >= min && value <= max;
}

/* "srp:4" */
static bool read_task(struct word w, struct comm_task *out)
{
    int64_t instance;
    if (w.len <= COMM_NAME_LEN + 1 || w.text[COMM_NAME_LEN] != ':') return false;
    const struct word number = { w.text + COMM_NAME_LEN + 1, w.len - COMM_NAME_LEN - 1 };
    if (!read_number(number, COMM_ALL, INT32_MAX, &instance)) return false;
    memcpy(out->name, w.text, COMM_NAME_LEN);
    out->name[COMM_NAME_LEN] = '\0';
    out->instance = (int32_t)instance;
    return true;
}

static bool read_record(struct comm_records *records, const struct leat_fabric_place *place,
                        const struct word field[FIELDS])
{
    struct comm_record r = { .cycle = COMM_CYCLE_UNKNOWN, .receives = is_word(field[1], "rcv") };
    int64_t cycle = 0, tag;
    if (field[0].len && !read_number(field[0], 0, INT64_MAX, &cycle))
        return wrong(place, "cycle '%s', expected a number, or nothing where it is not known",
                     show(field[0]).text);
    if (!r.receives && !is_word(field[1], "snd"))
        return wrong(place, "operation '%s', expected snd or rcv", show(field[1]).text);
    if (!read_number(field[2], 0, INT32_MAX, &tag))
        return wrong(place, "tag '%s', expected a number", show(field[2]).text);
    if (!r.receives && (!read_task(field[3], &r.task) || r.task.instance == COMM_ALL))
        return wrong(place, "source '%s', expected NAME:INSTANCE, a name of %d characters",
                     show(field[3]).text, COMM_NAME_LEN);
    if (!read_task(field[4], r.receives ? &r.task : &r.to) ||
        (r.receives && r.task.instance == COMM_ALL))
        return wrong(place, "destination '%s', expected NAME:INSTANCE, as in srp:4",
                     show(field[4]).text);
    if (field[0].len) r.cycle = (uint64_t)cycle;
    r.tag = (uint32_t)tag;
    return add(records, &r);
}

static bool read_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    static const char head[] = "cycle,op,tag,src_task,dst_task";
    struct reader *reader = context;
    struct word field[FIELDS];
    if (!reader->headed) {
        reader->headed = true;
        if (line.len >= sizeof head - 1 && !memcmp(line.text, head, sizeof head - 1)) return true;
        return wrong(place, "'%s', expected the line %s", show(line).text, head);
    }
    for (int i = 0; i < FIELDS; i++)
        field[i] = take_field(&line);
    if (!reader->all && is_word(field[NOTE], "start")) return true;
    return read_record(reader->records, place, field);
}

bool comm_read(const char *file, bool all, struct comm_records *out)
{
    struct reader reader = { .records = out, .all = all };
    uint32_t lines;
    if (!lines_read(file, read_line, &reader, &lines)) return false;
    if (out->count) return true;
    return complain("%s: no records, expected some behind the line with their names", file);
}

/* ---- numbers found by what they stand for ---------------------------------------------------- */

/* A table of a power of two, at least twice as many places as records; 0: a free place. */
struct index {
    struct place_of {
        uint64_t key;
        uint32_t value; /* + 1 */
    } * place;
    size_t mask;
};

static bool index_open(struct index *index, size_t records)
{
    size_t places = 16;
    while (places < 2 * records)
        places *= 2;
    index->mask = places - 1;
    index->place = calloc(places, sizeof *index->place);
    return index->place != NULL;
}

/* Of the key; 0 where it is new. */
static uint32_t *index_find(struct index *index, uint64_t key)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)((key * golden) >> 32) & index->mask;
    while (index->place[at].value && index->place[at].key != key)
        at = (at + 1) & index->mask;
    index->place[at].key = key;
    return &index->place[at].value;
}

/* ---- the rule -------------------------------------------------------------------------------- */

struct study {
    const struct comm_records *records;
    const struct comm_rule *rule;
    const char *what;
    uint64_t *cycle;
    struct index number; /* of tasks, from 1 */
    uint32_t tasks;
    /* Records + 1: the last rcv at a port; of a tag the first and the last snd; of a task and a tag
     * the snd of its last rcv. */
    struct index last_at_port, first_snd, last_snd, last_rcv;
    uint32_t *last_of_task; /* record + 1, by number */
    uint32_t *next_snd;     /* of the same tag, + 1 */
};

static uint32_t number_of(struct study *s, const struct comm_task *task)
{
    uint64_t key = (uint32_t)task->instance;
    for (int i = 0; i < COMM_NAME_LEN; i++)
        key = key << 8 | (uint8_t)task->name[i];
    uint32_t *number = index_find(&s->number, key);
    if (!*number) *number = ++s->tasks;
    return *number;
}

static bool is_for(const struct comm_record *snd, const struct comm_task *task)
{
    return !memcmp(snd->to.name, task->name, COMM_NAME_LEN) &&
           (snd->to.instance == COMM_ALL || snd->to.instance == task->instance);
}

static bool place_snd(struct study *s, uint32_t i, uint32_t task)
{
    const struct comm_record *r = &s->records->record[i];
    const uint32_t before = s->last_of_task[task];
    const uint64_t was = before ? s->records->record[before - 1].cycle : 0;
    if (r->cycle == COMM_CYCLE_UNKNOWN || (before && was == COMM_CYCLE_UNKNOWN))
        return complain(
            "%s: record %u: the cycle of this snd or of what %s:%d did before it is not known",
            s->what, i + 1, r->task.name, r->task.instance);
    if (before && was > r->cycle)
        return complain(
            "%s: record %u: %s:%d did something later before it, expected the order of time",
            s->what, i + 1, r->task.name, r->task.instance);
    s->cycle[i] = before ? s->cycle[before - 1] + (r->cycle - was) : r->cycle;
    uint32_t *first = index_find(&s->first_snd, r->tag), *last = index_find(&s->last_snd, r->tag);
    if (*last)
        s->next_snd[*last - 1] = i + 1;
    else
        *first = i + 1;
    *last = i + 1;
    return true;
}

static bool place_rcv(struct study *s, uint32_t i, uint32_t task)
{
    const struct comm_record *all = s->records->record, *r = &all[i];
    uint32_t *last = index_find(&s->last_rcv, (uint64_t)task << 32 | r->tag);
    uint32_t snd = *last ? s->next_snd[*last - 1] : *index_find(&s->first_snd, r->tag);
    while (snd && !is_for(&all[snd - 1], &r->task))
        snd = s->next_snd[snd - 1];
    if (!snd)
        return complain("%s: record %u: tag %u comes to %s:%d, but was not sent to it before",
                        s->what, i + 1, r->tag, r->task.name, r->task.instance);
    *last = snd;
    uint32_t *before = index_find(&s->last_at_port,
                                  ((uint32_t)r->task.instance + 1) % s->rule->ports);
    s->cycle[i] = s->cycle[snd - 1] + s->rule->transfer;
    if (*before && s->cycle[*before - 1] + s->rule->apart > s->cycle[i])
        s->cycle[i] = s->cycle[*before - 1] + s->rule->apart;
    *before = i + 1;
    return true;
}

static bool place_all(struct study *s)
{
    for (uint32_t i = 0; i < s->records->count; i++) {
        const struct comm_record *r = &s->records->record[i];
        const uint32_t task = number_of(s, &r->task);
        if (!(r->receives ? place_rcv(s, i, task) : place_snd(s, i, task))) return false;
        s->last_of_task[task] = i + 1;
    }
    return true;
}

bool comm_without_contention(const struct comm_records *records, const struct comm_rule *rule,
                             const char *what, uint64_t *cycle)
{
    struct study s = { .records = records, .rule = rule, .what = what, .cycle = cycle };
    struct index *all[] = { &s.number, &s.last_at_port, &s.first_snd, &s.last_snd, &s.last_rcv };
    s.next_snd = calloc(records->count + 1, sizeof *s.next_snd);
    s.last_of_task = calloc(records->count + 1, sizeof *s.last_of_task);
    bool room = s.next_snd && s.last_of_task;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        room = index_open(all[i], records->count) && room;
    if (!room) complain("%s: no memory for %zu records", what, records->count);
    const bool done = room && place_all(&s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->place);
    free(s.next_snd);
    free(s.last_of_task);
    return done;
}
