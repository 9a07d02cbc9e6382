/*
 * The connection of a rank to its launcher. Ranks find each other through it in MPI_Init and sign
 * off in MPI_Finalize. A program that closes descriptors it does not own, as daemons do, closes it
 * too: MPI_Finalize would then wait for ever, in real time.
 */
#ifndef LEAT_FI_LAUNCHER_H
#define LEAT_FI_LAUNCHER_H

#include <stdbool.h>

/* At the end of MPI_Init: finds the connection. */
void leat_fi_launcher_note(void);

/* Was there a connection that is now gone? */
bool leat_fi_launcher_is_lost(void);

#endif
