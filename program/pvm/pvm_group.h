/* What the two files of the group library share. */
#ifndef LEAT_PVM_GROUP_H
#define LEAT_PVM_GROUP_H

#include "pvm_library.h"

/* Asks about a group, with up to one number. `answer`: NULL: not wanted. */
int leat_pvm_group_ask(enum leat_pvm_op op, const char *name, int number,
                       struct leat_pvm_octets *answer, const char *function);

/* The members in the order of instances; a list in new memory. Their number, or an error. */
struct leat_pvm_member {
    int instance, tid;
};
int leat_pvm_group_members(const char *name, struct leat_pvm_member **out, const char *function);

#endif
