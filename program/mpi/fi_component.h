/*
 * Which component of Open MPI makes a window: osc rdma, except where that of 4.1 fails.
 *
 *     dynamic windows            an access takes the lock of the target's list of memory for itself
 *                                alone, and then, to read the list, waits for ever to share it
 *     all ranks are on one host  MPI_Compare_and_swap uses memory that was not opened
 *     5 ranks on 4 hosts         unless the hosts divide the ranks, it looks for a rank on a host
 *                                that another one was said to be on, and reads wrong memory
 *
 * These are left to osc sm, if they can be in shared memory, and else to osc pt2pt, whose targets
 * serve others while they call MPI.
 */
#ifndef LEAT_FI_COMPONENT_H
#define LEAT_FI_COMPONENT_H

/* Between these calls osc rdma makes no windows. */
void leat_fi_component_leave_rdma(void);
void leat_fi_component_resume_rdma(void);

#endif
