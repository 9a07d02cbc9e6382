/* Questions of a rank to the run (mpi_question.h), which are answered in simulated time. */
#ifndef LEAT_FI_ASK_H
#define LEAT_FI_ASK_H

#include "mpi_question.h"
#include "task.h"

struct leat_fi_answer {
    bool is_good;
    uint32_t number;
    uint8_t *value; /* to be freed */
    size_t len;
};

/* Waits for the answer. `key`: as long as the question says; `value`: NULL: none. */
struct leat_fi_answer leat_fi_ask(const struct leat_mpi_question *question, const char *key,
                                  const void *value, size_t len);

/* An answer has come. */
void leat_fi_ask_note(const struct leat_task_event *event);

#endif
