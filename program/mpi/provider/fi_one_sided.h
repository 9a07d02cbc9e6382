/*
 * The endpoint of one-sided operations, beside that of messages; one per process, which Open MPI's
 * btl ofi opens. Both share the rank's port and address. All operations report their completion,
 * which means that the target's memory has been read or written.
 */
#ifndef LEAT_FI_ONE_SIDED_H
#define LEAT_FI_ONE_SIDED_H

#include <rdma/fi_endpoint.h>
#include <stdbool.h>

#define LEAT_FI_ONE_SIDED_CAPS                                                                    \
    (FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_LOCAL_COMM | \
     FI_REMOTE_COMM)

/* `like`: what it has in common with the other endpoint. */
int leat_fi_one_sided_open(const struct fid_ep *like, struct fid_ep **ep);

#endif
