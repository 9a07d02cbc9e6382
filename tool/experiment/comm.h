/*
 * Communication records (spec/atm.md, 7.3 and 7.5): which task sent or received what in which
 * cycle, and when the same would have happened without contention in the network.
 *
 *     cycle,op,tag,src_task,dst_task,note
 *     4548,snd,0,srp:0,srp:-1,              to all tasks srp
 *     4789,rcv,0,,srp:18,
 *     5230,snd,4,srp:4,srl:0,start          with the task that started the others
 *
 * An unknown cycle is left empty.
 */
#ifndef LEAT_TOOL_COMM_H
#define LEAT_TOOL_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMM_NAME_LEN = 3, COMM_ALL = -1 };
#define COMM_CYCLE_UNKNOWN UINT64_MAX

struct comm_task {
    char name[COMM_NAME_LEN + 1];
    int32_t instance; /* of a destination, COMM_ALL: all of the name */
};

struct comm_record {
    uint64_t cycle;
    bool receives;
    uint32_t tag;
    struct comm_task task; /* the task of the record */
    struct comm_task to;   /* snd */
};

struct comm_records { /* in the order of time; all zeros: none */
    struct comm_record *record;
    size_t count, cap;
};

/* `all`: also those marked `start`. False after a complaint. */
bool comm_read(const char *file, bool all, struct comm_records *out);
void comm_free(struct comm_records *records);

/*
 * The cycles of the same records without contention, by the rule of 7.5:
 *
 *   the first record of a task keeps its cycle
 *   snd   at the same distance from the task's previous record
 *   rcv   `transfer` cycles after its snd, and at least `apart` after the previous rcv at
 *         that port
 *
 * Task i sits at port i + 1 modulo `ports`. The k-th rcv of a tag by a task belongs to the k-th snd
 * of it to that task or to all. False after a complaint that names the record (`what`: a file).
 */
struct comm_rule {
    uint32_t transfer, apart, ports;
};
bool comm_without_contention(const struct comm_records *records, const struct comm_rule *rule,
                             const char *what, uint64_t *cycle);

#endif
