/* What ranks connect to each other by (fi_meet.c). */
#ifndef LEAT_FI_PORT_H
#define LEAT_FI_PORT_H

/* Writes the name of a new port, which is the same in every run; room for MPI_MAX_PORT_NAME. */
void leat_fi_port_name(char *name);
/* The name by which the library knows a port; lent until the next call. */
const char *leat_fi_port_of(const char *name);
/* Waits, in simulated time, until the rank at the other end of this socket does the same. Returns
 * the socket. */
int leat_fi_meet_over(int file);

#endif
