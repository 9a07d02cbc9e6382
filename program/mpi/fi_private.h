/*
 * Which messages are the library's own. A certificate describes what the program did. It covers the
 * octets of the program's messages. Of the library's messages it covers only number and time, since
 * they contain addresses, job numbers and unset memory. The library's own are
 *
 *     - what it sends in a call that makes a communicator or a window, or is about a file,
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

/* Such a message may contain process names, with job number and host name as text. leat pads it on
 * the network so that it takes as long as if these had LEAT_FI_JOB_LEN and LEAT_FI_HOST_LEN
 * characters each, on every machine and in every run. */
enum { LEAT_FI_JOB_LEN = 10, LEAT_FI_HOST_LEN = 64 };
uint32_t leat_fi_private_padding(const void *octets, uint64_t len);

/* Is a message with this tag, sent now, the library's own? */
bool leat_fi_private_is(uint64_t tag);
/* ... or what is collective in the communicator of this number? */
bool leat_fi_private_is_in(uint32_t communicator);

#endif
