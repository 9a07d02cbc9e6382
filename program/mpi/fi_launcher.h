/*
 * The connection of a rank to its launcher, by which ranks find each other in MPI_Init and take
 * leave of each other in MPI_Finalize. A program that closes descriptors which are not its own, as
 * daemons do, closes it: then MPI_Finalize would wait for ever, in real time.
 */
#ifndef LEAT_FI_LAUNCHER_H
#define LEAT_FI_LAUNCHER_H

#include <stdbool.h>

/* At the end of MPI_Init: finds the connection. */
void leat_fi_launcher_note(void);

/* Was there one, and is it there no more? */
bool leat_fi_launcher_is_lost(void);

#endif
