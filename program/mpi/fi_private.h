/*
 * Which messages are the library's own. A certificate tells what the program did: it takes the
 * octets of the program's messages into account, and of the library's only their number and time,
 * since there are addresses, job numbers and unset memory in them. The library's own are
 *
 *     - what it sends in a call that makes a communicator or a window,
 *     - what goes over a communicator that such a call made for the window alone.
 */
#ifndef LEAT_FI_PRIVATE_H
#define LEAT_FI_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* Before and after a call that makes a window; after one that frees it. */
void leat_fi_private_window_begins(void);
void leat_fi_private_window_made(void);
void leat_fi_private_window_freed(void);

/* Such a message may tell names of processes, with the number of the job and the name of the host
 * as text. The network carries so many octets more that it takes as long as if these had
 * LEAT_FI_JOB_LEN and LEAT_FI_HOST_LEN characters each, on every machine and in every run. */
enum { LEAT_FI_JOB_LEN = 10, LEAT_FI_HOST_LEN = 64 };
uint32_t leat_fi_private_padding(const void *octets, uint64_t len);

/* Is a message with this tag, sent now, the library's own? */
bool leat_fi_private_is(uint64_t tag);

#endif
