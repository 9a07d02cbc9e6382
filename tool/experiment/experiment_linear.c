/*
 * leat experiment linear, matrix and contention: runs programs of the thesis and measures how much
 * of their time is contention (spec/atm.md, 7.3 to 7.5; seed 001, 11.2 and 11.4).
 */
#include "experiment_linear.h"
#include "experiment.h"
#include "json_out.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRANSFER = 193, /* T(4): messages of these programs have one word */
    APART = 40,     /* the time to read one */
    THESIS_PORTS = 16,
};

/* Records of a run, and figures derived from them. */
struct timeline {
    size_t sends, receives;
    uint64_t last;    /* cycle of the last one in time */
    uint64_t by_rule; /* of the last one without contention, by the rule */
};

/* ---- timelines ------------------------------------------------------------------------------- */

static void count_records(const struct comm_records *records, struct timeline *out)
{
    *out = (struct timeline){ 0 };
    for (size_t i = 0; i < records->count; i++) {
        const struct comm_record *r = &records->record[i];
        out->sends += !r->receives;
        out->receives += r->receives;
        if (r->cycle != COMM_CYCLE_UNKNOWN && r->cycle > out->last) out->last = r->cycle;
    }
}

/* `cycle` by the rule, of each record: free it. NULL after a complaint. */
static uint64_t *study(const struct comm_records *records, const char *what, uint32_t ports,
                       struct timeline *out)
{
    const struct comm_rule rule = { TRANSFER, APART, ports };
    uint64_t *cycle = calloc(records->count + 1, sizeof *cycle);
    count_records(records, out);
    if (!cycle) complain("%s: no memory for %zu records", what, records->count);
    if (!cycle || !comm_without_contention(records, &rule, what, cycle)) {
        free(cycle);
        return NULL;
    }
    for (size_t i = 0; i < records->count; i++)
        if (cycle[i] > out->by_rule) out->by_rule = cycle[i];
    return cycle;
}

static double share(uint64_t with, uint64_t without)
{
    return with ? 100 * ((double)with - (double)without) / (double)with : 0;
}

static void put_difference(const char *name, uint64_t with, uint64_t without)
{
    printf("%-46s %8" PRIu64 "  contention %6" PRId64 ", %.1f %%\n", name, without,
           (int64_t)(with - without), share(with, without));
}

/* ---- a program, with and without contention -------------------------------------------------- */

struct work {
    const char *name, *program, *input; /* of the command; that begins it; where no file is given */
    bool published;                     /* the thesis' own study is of this input */
};

struct done {
    struct timeline with, without;
    struct comm_records all; /* with contention, and with the task that starts the others */
    size_t reordered;        /* of these, at another position at their port without contention */
    bool is_compared;        /* with the run without contention; else it was interrupted */
    uint64_t certificate, cells_lost, cells_again;
    uint32_t tasks;
    char *written;                            /* what the program appended to its input */
    struct linear_track track[LINEAR_TRACKS]; /* what a page draws */
};

/* The content of the file from `from` on; NULL after a complaint. */
static char *read_tail(const char *path, long from)
{
    FILE *file = fopen(path, "rb");
    long len = -1;
    char *text = NULL;
    if (file && !fseek(file, 0, SEEK_END)) len = ftell(file) - from;
    if (len >= 0 && !fseek(file, from, SEEK_SET)) text = calloc((size_t)len + 1, 1);
    if (text && fread(text, 1, (size_t)len, file) != (size_t)len) len = -1;
    if (file) fclose(file);
    if (text && len >= 0) return text;
    free(text);
    complain("%s: what the program wrote cannot be read", path);
    return NULL;
}

/* Moves the records into a track, and their cycles by the rule into the next one. */
static void keep_tracks(struct comm_records *records, uint64_t *by_rule, struct linear_track *out)
{
    out[0] = (struct linear_track){ *records, NULL };
    out[1] = (struct linear_track){ *records, by_rule };
    *records = (struct comm_records){ 0 };
}

static void free_tracks(struct linear_track *track)
{
    comm_free(&track[LINEAR_MEASURED].records); /* shared by those of the rule */
    comm_free(&track[LINEAR_APART].records);
    comm_free(&track[LINEAR_PUBLISHED].records);
    free(track[LINEAR_RULE].by_rule);
    free(track[LINEAR_PUBLISHED_RULE].by_rule);
}

/* Keeps the records of the measured run, and the program's output. */
static int keep(const struct experiment *e, const struct work *w, long input_len,
                struct comm_records *records, struct done *out)
{
    const bool own = e->args->operand_count > 1;
    uint64_t *by_rule = study(records, own ? e->args->operand[1] : w->name, e->ports, &out->with);
    if (!by_rule) return FAILED;
    keep_tracks(records, by_rule, &out->track[LINEAR_MEASURED]);
    out->written = read_tail(e->input, input_len);
    return out->written ? DONE : FAILED;
}

/* The port of a task: the one that starts the others is at the first port, worker i at port i + 1.
 */
static uint32_t port_of(const struct comm_record *r, const struct work *w, uint32_t ports)
{
    if (memcmp(r->task.name, w->program, COMM_NAME_LEN) == 0) return 0;
    return ((uint32_t)r->task.instance + 1) % ports;
}

/* The next message sent or received at a port, from *at on; NULL: none. */
static const struct comm_record *next_at(const struct comm_records *records, const struct work *w,
                                         uint32_t ports, uint32_t port, size_t *at)
{
    while (*at < records->count) {
        const struct comm_record *r = &records->record[(*at)++];
        if (port_of(r, w, ports) == port) return r;
    }
    return NULL;
}

/* Records of one run whose position at their port differs in the other run. */
static size_t count_reordered(const struct comm_records *a, const struct comm_records *b,
                              const struct work *w, uint32_t ports)
{
    size_t count = 0;
    for (uint32_t port = 0; port < ports; port++) {
        size_t at_a = 0, at_b = 0;
        for (;;) {
            const struct comm_record *x = next_at(a, w, ports, port, &at_a);
            const struct comm_record *y = next_at(b, w, ports, port, &at_b);
            if (!x || !y) break;
            count += x->tag != y->tag || x->receives != y->receives ||
                     x->task.instance != y->task.instance ||
                     memcmp(x->task.name, y->task.name, COMM_NAME_LEN) != 0;
        }
    }
    return count;
}

static int run_program(struct experiment *e, const struct work *w, bool contention_free,
                       struct done *out)
{
    const char *file = e->args->operand_count > 1 ? e->args->operand[1] : NULL;
    struct comm_records records = { 0 }, all = { 0 };
    struct run_outcome outcome = { 0 };
    long len;
    snprintf(e->title, sizeof e->title, "%s", contention_free ? "without contention" : w->name);
    if (!experiment_copy_input(e, file, w->input, &len)) return WRONG;
    int code = experiment_run(e, w->program, e->input, contention_free, false, &records, &outcome);
    if (!code) code = comm_read(e->records, true, &all) ? DONE : FAILED;
    if (contention_free && !code) {
        count_records(&records, &out->without);
        out->reordered = count_reordered(&out->all, &all, w, e->ports);
        out->is_compared = true;
        out->track[LINEAR_APART].records = records;
        records = (struct comm_records){ 0 };
        comm_free(&all);
    } else if (!contention_free) {
        if (!code) code = keep(e, w, len, &records, out);
        out->certificate = outcome.certificate;
        out->cells_lost = outcome.cells_lost;
        out->cells_again = outcome.cells_again;
        out->tasks = outcome.begun;
        out->all = all;
    }
    comm_free(&records);
    run_outcome_free(&outcome);
    return code;
}

static bool study_published(const struct experiment *e, struct timeline *out,
                            struct linear_track *track)
{
    struct comm_records records = { 0 };
    uint64_t *by_rule = NULL;
    long len;
    if (experiment_copy_input(e, NULL, published_records, &len) &&
        comm_read(e->input, false, &records))
        by_rule = study(&records, "the published records", THESIS_PORTS, out);
    if (by_rule) keep_tracks(&records, by_rule, &track[LINEAR_PUBLISHED]);
    comm_free(&records);
    return by_rule != NULL;
}

static const char explanation[] =
    "\nWhere cells never meet, tasks still wait for the locks of their ports and for units that "
    "send,\n"
    "acknowledge and put together one cell after the other. The rule grants each message its 193\n"
    "cycles whatever they have to do, and calls all of that contention. The published run also\n"
    "waits for its processes to be scheduled, which takes no time here. A timeline made by hand\n"
    "decides more than the rule says, hence its other figure; the thesis prints 5107 cycles, "
    "nearly\n"
    "36 %, for its own difference of 5017.\n";

static void put_text(const struct experiment *e, const struct work *w, const struct done *d,
                     const struct timeline *published)
{
    printf("%s over %s: %u tasks, %zu messages sent and %zu received among the workers, "
           "certificate %016" PRIx64 "\n%s\n\n",
           w->name, e->job.fabric, d->tasks, d->with.sends, d->with.receives, d->certificate,
           d->written);
    printf("%-46s %8" PRIu64 "\n", "cycle of the workers' last record", d->with.last);
    if (d->is_compared)
        put_difference("the same run where cells never meet", d->with.last, d->without.last);
    else
        printf("%-46s %8s\n", "the same run where cells never meet", "interrupted");
    put_difference("by the thesis' rule, from these records", d->with.last, d->with.by_rule);
    if (d->cells_lost)
        printf("%-46s %8" PRIu64 "  sent again by units %" PRIu64 "\n",
               "cells that the network lost", d->cells_lost, d->cells_again);
    if (d->without.last > d->with.last)
        printf(
            "\nThe run where cells never meet takes longer: %zu messages are sent or received in "
            "another order\nat their ports. Tasks and units still serve one after the other, and "
            "this order takes longer.\n",
            d->reordered);
    if (!published) return;
    printf("\n%-46s %8" PRIu64 "\n", "published: cycle of the last record", published->last);
    put_difference("published: timeline made by hand", published->last,
                   PUBLISHED_WITHOUT_CONTENTION);
    put_difference("by the same rule, from the published records", published->last,
                   published->by_rule);
    fputs(explanation, stdout);
}

static void put_json(const struct experiment *e, const struct work *w, const struct done *d,
                     const struct timeline *published)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "experiment", w->name);
    leat_json_string(j, "fabric", e->job.fabric);
    LEAT_JSON_UINTS(j, { "tasks", d->tasks }, { "snd", d->with.sends },
                    { "rcv", d->with.receives });
    json_certificate(j, "certificate", d->certificate);
    leat_json_string(j, "result", d->written);
    LEAT_JSON_UINTS(j, { "last_cycle", d->with.last }, { "last_cycle_by_rule", d->with.by_rule },
                    { "lost", d->cells_lost }, { "retransmissions", d->cells_again });
    if (d->is_compared)
        LEAT_JSON_UINTS(j, { "last_cycle_contention_free", d->without.last },
                        { "reordered", d->reordered });
    if (published) {
        leat_json_object(j, "published");
        LEAT_JSON_UINTS(j, { "last_cycle", published->last },
                        { "last_cycle_by_hand", PUBLISHED_WITHOUT_CONTENTION },
                        { "last_cycle_by_rule", published->by_rule });
        leat_json_end(j);
    }
    json_close(&out, json_status());
}

static void draw(struct experiment *e, const struct work *w, const struct done *d)
{
    if (!e->page.name) return;
    linear_page(e->job.fabric, w->name, d->track, &e->page.out.text);
    e->is_drawn = true;
}

static int run_work(struct experiment *e, const struct work *w)
{
    struct timeline published;
    struct done done = { 0 };
    const bool own = e->args->operand_count > 1;
    if (e->args->operand_count > 2)
        return misuse(e->args->verb, "%s: expected one file at most", w->name);
    int code = run_program(e, w, false, &done);
    if (!code) code = run_program(e, w, true, &done);
    run_screen_title(NULL);
    const bool is_finished = !code || (interrupted && done.written);
    if (is_finished && w->published && !own && !study_published(e, &published, done.track))
        code = FAILED;
    if (!code || (is_finished && code != FAILED)) {
        (e->json ? put_json : put_text)(e, w, &done, w->published && !own ? &published : NULL);
        draw(e, w, &done);
    }
    free(done.written);
    comm_free(&done.all);
    free_tracks(done.track);
    return code;
}

static const struct work linear = { "linear", "srl", published_system, true };
static const struct work matrix = { "matrix", "mml", published_product, false };

int experiment_linear(struct experiment *e)
{
    return run_work(e, &linear);
}

int experiment_matrix(struct experiment *e)
{
    return run_work(e, &matrix);
}

int linear_measure(struct experiment *e, bool is_matrix, const char *input,
                   struct linear_outcome *out)
{
    struct work work = is_matrix ? matrix : linear;
    struct done done = { 0 };
    if (input) work.input = input;
    int code = run_program(e, &work, false, &done);
    if (!code) code = run_program(e, &work, true, &done);
    *out = (struct linear_outcome){ .cycle = done.with.last,
                                    .cycle_alone = done.without.last,
                                    .cells_lost = done.cells_lost,
                                    .cells_again = done.cells_again,
                                    .certificate = done.certificate,
                                    .reordered = done.reordered,
                                    .tasks = done.tasks,
                                    .written = done.written };
    comm_free(&done.all);
    free_tracks(done.track);
    return code;
}

/* ---- records of a file ----------------------------------------------------------------------- */

int experiment_contention(struct experiment *e)
{
    struct comm_records records = { 0 };
    struct timeline t;
    if (e->args->operand_count != 2)
        return misuse(e->args->verb, "contention: expected one file of records, as `leat run "
                                     "--messages` writes them");
    const char *file = e->args->operand[1];
    struct linear_track track[LINEAR_TRACKS] = { { { 0 }, NULL } };
    uint64_t *by_rule = NULL;
    if (comm_read(file, false, &records)) by_rule = study(&records, file, e->ports, &t);
    if (by_rule) keep_tracks(&records, by_rule, &track[LINEAR_MEASURED]);
    comm_free(&records);
    if (!by_rule) return WRONG;
    if (e->page.name) linear_page(NULL, file, track, &e->page.out.text);
    e->is_drawn = true;
    free_tracks(track);
    if (e->json) {
        struct json_out out;
        struct leat_json *j = json_open(&out, stdout);
        leat_json_string(j, "experiment", "contention");
        leat_json_string(j, "records", file);
        LEAT_JSON_UINTS(j, { "snd", t.sends }, { "rcv", t.receives }, { "last_cycle", t.last },
                        { "last_cycle_by_rule", t.by_rule });
        json_close(&out, json_status());
        return DONE;
    }
    printf("%s: %zu messages sent, %zu received\n%-46s %8" PRIu64 "\n", file, t.sends, t.receives,
           "cycle of the last record", t.last);
    put_difference("by the thesis' rule", t.last, t.by_rule);
    return DONE;
}
