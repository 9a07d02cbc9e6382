/*
 * The thesis' calls in a PVM program (leat run of a program that is linked with libpvm3 and
 * libleat-atm): PVM's library is the task, and its messages carry theirs, over any fabric.
 */
#ifndef LEAT_THESIS_PVM_H
#define LEAT_THESIS_PVM_H

#include "thesis_library.h"
#include <stdbool.h>

/* Set by `leat run` for PVM programs. */
#define LEAT_ATM_OVER_PVM_VARIABLE "LEAT_ATM_OVER_PVM"

enum { LEAT_PVM_PORT_SHIFT = 18 }; /* of a tid: the port, counted from 1 */

/* Is this process a task of PVM? */
bool leat_atm_is_over_pvm(void);

/* Instead of a question to the run. Failures end the run. */
struct leat_atm_answer leat_atm_pvm_ask(const struct leat_atm_question *question,
                                        const struct leat_atm_cargo *cargo);
_Noreturn void leat_atm_pvm_fail(const char *reason);
/* The task leaves the process table; it goes on as a task of PVM. */
void leat_atm_pvm_leave(void);

#endif
