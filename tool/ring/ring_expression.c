/*
 * leat ring tree --expression: the text of an expression over stations, as a plan for every
 * interface (aton_expression.h).
 *
 *   expression   STATION, or COMMAND(item, item, ...)
 *   item         an expression, or FIRST..LAST: all these stations
 *
 * add, and, or, max and min take any number of items. leat pairs them in the order in which they
 * are complete, so that the tree stays low and few values wait; where interfaces hold back a whole
 * slot they become a chain, in which one value waits. eq, lt and le take two. Each station is
 * a leaf at most once.
 */
#include "aton_expression.h"
#include "ring_job.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_MAX = LEAT_ATON_SLOTS_MAX - 1, /* where each needs a slot of its own */
    DEPTH_MAX = 200,                      /* of parentheses */
};

struct parser {
    struct ring_job *job;
    const char *at;
    struct leat_aton_node *node; /* [2 * stations] */
    uint32_t nodes;
    uint32_t *item, items; /* [2 * stations]: nodes that wait for their command, the newest last */
    uint64_t *used;
    bool with_back;                       /* interfaces hold back a whole slot */
    uint8_t (*tree)[LEAT_ATON_SLOTS_MAX]; /* by place */
};

static bool refuse(const struct parser *p, const char *expected)
{
    return misused(p->job->args->verb, "--expression at '%s', expected %s",
                   *p->at ? p->at : "its end", expected);
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

/* Is this character next? Then it is passed. */
static bool takes(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static bool read_station(struct parser *p, uint32_t *station)
{
    uint64_t number = 0;
    skip_blanks(p);
    const char *start = p->at;
    while (isdigit((unsigned char)*p->at) && number <= p->job->stations)
        number = 10 * number + (uint64_t)(*p->at++ - '0');
    if (p->at != start && number >= 1 && number <= p->job->stations) {
        *station = (uint32_t)number - 1;
        return true;
    }
    p->at = start;
    return misused(p->job->args->verb,
                   "--expression at '%s', expected a station of 1 to %u, or one of " RING_COMMANDS
                   " and '('",
                   *p->at ? p->at : "its end", p->job->stations);
}

static void add_node(struct parser *p, struct leat_aton_node node)
{
    p->node[p->nodes] = node;
    p->item[p->items++] = p->nodes++;
}

/* Stations first .. last become leaves. */
static bool add_leaves(struct parser *p, uint32_t first, uint32_t last)
{
    struct ring_job *job = p->job;
    for (uint32_t i = first; i <= last; i++) {
        if (job->member[i])
            return misused(job->args->verb,
                           "--expression has station %u twice, expected each once at most", i + 1);
        job->member[i] = 1;
        const uint32_t place = (i + job->stations - job->from) % job->stations;
        add_node(p, (struct leat_aton_node){ .left = place, .done_at = place });
    }
    return true;
}

static const struct leat_aton_node *sorted_by; /* for qsort, which has no context */

static int by_completion(const void *a, const void *b)
{
    const uint32_t x = sorted_by[*(const uint32_t *)a].done_at,
                   y = sorted_by[*(const uint32_t *)b].done_at;
    return (x > y) - (x < y);
}

static uint32_t join(struct parser *p, uint8_t opcode, uint32_t left, uint32_t right)
{
    const uint32_t a = p->node[left].done_at, b = p->node[right].done_at;
    p->node[p->nodes] = (struct leat_aton_node){
        .opcode = opcode, .left = left, .right = right, .done_at = a > b ? a : b
    };
    return p->nodes++;
}

/* Items first .. first + count - 1 become one, in pairs of equal size. */
static uint32_t pair(struct parser *p, uint8_t opcode, uint32_t first, uint32_t count)
{
    if (count == 1) return p->item[first];
    const uint32_t left = pair(p, opcode, first, count / 2);
    const uint32_t right = pair(p, opcode, first + count / 2, count - count / 2);
    return join(p, opcode, left, right);
}

static uint32_t chain(struct parser *p, uint8_t opcode, uint32_t first, uint32_t count)
{
    uint32_t root = p->item[first];
    for (uint32_t i = 1; i < count; i++)
        root = join(p, opcode, root, p->item[first + i]);
    return root;
}

static bool read_expression(struct parser *p, unsigned depth, bool may_be_range);

/* After the name of a command. */
static bool read_items(struct parser *p, uint8_t opcode, unsigned depth)
{
    const uint32_t first = p->items;
    if (!takes(p, '(')) return refuse(p, "'(' after a command");
    do {
        if (!read_expression(p, depth + 1, true)) return false;
    } while (takes(p, ','));
    const uint32_t count = p->items - first;
    if (opcode >= LEAT_ATON_EQ && count != 2) return refuse(p, "two operands of eq, lt and le");
    if (!takes(p, ')')) return refuse(p, "',' or ')'");
    sorted_by = p->node;
    if (opcode < LEAT_ATON_EQ) qsort(p->item + first, count, sizeof *p->item, by_completion);
    const uint32_t root = p->with_back ? chain(p, opcode, first, count)
                                       : pair(p, opcode, first, count);
    p->items = first;
    p->item[p->items++] = root;
    return true;
}

static bool read_leaves(struct parser *p, bool may_be_range)
{
    uint32_t first, last;
    if (!read_station(p, &first)) return false;
    last = first;
    skip_blanks(p);
    if (may_be_range && strncmp(p->at, "..", 2) == 0) {
        p->at += 2;
        if (!read_station(p, &last)) return false;
        if (last < first) return refuse(p, "a last station that is not before the first");
    }
    return add_leaves(p, first, last);
}

static bool read_expression(struct parser *p, unsigned depth, bool may_be_range)
{
    skip_blanks(p);
    size_t len = 0;
    while (isalpha((unsigned char)p->at[len]))
        len++;
    if (!len) return read_leaves(p, may_be_range);
    const uint8_t opcode = ring_opcode(p->at, len);
    if (!opcode || opcode > LEAT_ATON_LE)
        return refuse(p, "a station, or one of " RING_COMMANDS " and '('");
    const unsigned most = p->with_back ? DEPTH_MAX : LEVELS_MAX;
    if (depth == most)
        return refuse(p, most == DEPTH_MAX ? "at most 200 levels" : "at most 16 levels");
    p->at += len;
    return read_items(p, opcode, depth);
}

static bool make_room(struct parser *p)
{
    const uint32_t n = p->job->stations;
    p->node = calloc(2 * (size_t)n, sizeof *p->node);
    p->item = calloc(2 * (size_t)n, sizeof *p->item);
    p->used = calloc(leat_aton_expression_words(n), sizeof *p->used);
    p->tree = calloc(n, sizeof *p->tree);
    p->job->program = calloc(n, sizeof *p->job->program);
    if (p->node && p->item && p->used && p->tree && p->job->program) return true;
    return complain("no memory for an expression over %u stations", n);
}

static bool plan(struct parser *p)
{
    struct ring_job *job = p->job;
    const uint32_t n = job->stations;
    uint32_t fault;
    const leat_err err = leat_aton_expression_plan(p->node, p->nodes, n, p->with_back, p->used,
                                                   p->tree, &job->slots, &fault);
    if (err == LEAT_ERR_FULL)
        return misused(job->args->verb,
                       "--expression needs more than %d slots, expected a lower tree, of at most "
                       "%d levels, or --hold %u, with which results need no slots of their own",
                       LEAT_ATON_SLOTS_MAX, LEVELS_MAX, job->command.width_bits + 1u);
    if (err) return complain("--expression: %s", leat_err_text(err));
    for (uint32_t i = 0; i < n; i++)
        memcpy(job->program[i], p->tree[(i + n - job->from) % n], sizeof *job->program);
    job->leaves = (p->nodes + 1) / 2;
    return true;
}

static void free_room(struct parser *p)
{
    free(p->node);
    free(p->item);
    free(p->used);
    free(p->tree);
}

bool ring_read_expression(struct ring_job *job)
{
    struct parser p = { .job = job,
                        .at = argument(job->args, "--expression"),
                        .with_back = job->delay > job->command.width_bits };
    bool read = make_room(&p) && read_expression(&p, 0, false);
    skip_blanks(&p);
    if (read && *p.at) read = refuse(&p, "nothing more");
    read = read && plan(&p);
    free_room(&p);
    return read;
}
