/*
 * Non-blocking file operations. Open MPI starts them with aio_read and aio_write, and later asks
 * whether they are done, whenever it polls its components. A file is not on the network, so it
 * takes no simulated time: here the operation is done before the call returns. When a request is
 * complete then depends on the program alone, and not on the disk.
 *
 *     MPI_File_iwrite ---> aio_write ---> done, in real time
 *     MPI_Wait ---> polls: network (fi_queue.h: returns at once), files: done
 */
#include "clock.h"
#include "fi_behind.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include <aio.h>
#include <errno.h>
#include <stddef.h>

typedef int start_aio(struct aiocb *operation);

/* The library asks after it has read an empty queue: a rank that waits there would never ask. */
static void let_library_ask(void)
{
    leat_fi_call_starts_deep();
    leat_fi_lock();
    leat_fi_queue_rouse();
    leat_fi_unlock();
}

static int start(start_aio *next, struct aiocb *operation, const void *caller)
{
    const struct aiocb *const all[] = { operation };
    if (next(operation)) return -1;
    if (!leat_fi_is_simulated() || leat_clock_is_program(caller)) return 0;
    while (aio_error(operation) == EINPROGRESS)
        aio_suspend(all, 1, NULL);
    let_library_ask();
    return 0;
}

int aio_read(struct aiocb *operation)
{
    static start_aio *next;
    LEAT_FI_FIND(next, "aio_read");
    return start(next, operation, __builtin_return_address(0));
}

int aio_write(struct aiocb *operation)
{
    static start_aio *next;
    LEAT_FI_FIND(next, "aio_write");
    return start(next, operation, __builtin_return_address(0));
}
