/*
 * Messages that tasks of leat/atm_task.h have sent and received, as records (spec/atm.md, 7.3):
 *
 *     cycle,op,tag,src_task,dst_task,note
 *     0,snd,20,srp:0,srp:4,                  when the write lock was granted
 *     193,rcv,20,,srp:4,                     after the last get
 *     200,snd,0,srp:0,srl:0,start            an exchange with a task that the run began with
 *
 * A receiver does not know its sender, which matters only for the note. There the k-th reception of
 * a type by a task is that of the k-th message of this type sent to it, alone or with all of its
 * name.
 */
#ifndef LEAT_THESIS_RECORDS_H
#define LEAT_THESIS_RECORDS_H

#include "leat_text.h"
#include "thesis_shared.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A task, or (instance -1) all tasks of a name. */
struct leat_atm_task_id {
    char name[LEAT_ATM_NAME_CAP];
    int32_t instance;
    bool is_first; /* the run began with it */
};

struct leat_atm_record {
    uint64_t cycle;
    size_t number; /* in the order of recording */
    bool is_received, is_with_first;
    int32_t type;
    struct leat_atm_task_id from, to;
};

struct leat_atm_records {
    struct leat_atm_record *record;
    size_t count, cap;
    struct leat_atm_cursor *cursor; /* how many of a type a task has received */
    size_t cursors, cursors_cap;
};

void leat_atm_records_free(struct leat_atm_records *records);

void leat_atm_records_sent(struct leat_atm_records *records, uint64_t cycle, int32_t type,
                           const struct leat_atm_task_id *from, const struct leat_atm_task_id *to);
void leat_atm_records_received(struct leat_atm_records *records, uint64_t cycle, int32_t type,
                               const struct leat_atm_task_id *to);

/* By cycle, then in the order of recording; frees the records. */
void leat_atm_records_write(struct leat_atm_records *records, struct leat_text *out);

#endif
