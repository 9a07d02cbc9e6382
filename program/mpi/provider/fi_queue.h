/*
 * Completion queues, and what happens when one is empty: the rank waits.
 *
 *     in a blocking MPI call      until something happens, without end
 *     elsewhere (MPI_Test ...)    as long as a poll takes
 *     outside of simulated time   not at all
 *
 * The message layer of Open MPI reads until its queue is empty before it checks whether it has what
 * it waits for. So the read after an entry returns at once, of each queue: the library reads all of
 * them in turn before it checks. Some operations consist of others, nested several levels deep, and
 * advance one level each time Open MPI polls its components, of which a queue is one. While such
 * operations may be pending, more reads return at once: after an entry, after anything was started,
 * and when a call begins (leat_fi_call_is_deep). So do some in a call of one-sided communication,
 * where the library also polls when it has tried in vain to get a lock or a buffer.
 */
#ifndef LEAT_FI_QUEUE_H
#define LEAT_FI_QUEUE_H

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <stdbool.h>

struct leat_fi_queue;

/* Of this object of libfabric, which leat_fi_queue_open has made. */
struct leat_fi_queue *leat_fi_queue_of(struct fid *cq);

/* The completion of an operation; err 0: success. */
void leat_fi_queue_push(struct leat_fi_queue *queue, const struct fi_cq_err_entry *entry);
bool leat_fi_queue_all_are_empty(void);
/* Another rank may have changed memory of this one: the library must see for itself whether it has
 * what it waits for. */
void leat_fi_queue_rouse(void);
/* The library has started something and may have more to do before it can wait. */
void leat_fi_queue_stir(void);

int leat_fi_queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                       void *context);

#endif
