/*
 * Receives of messages that a matched probe has found, into types with gaps. Open MPI's mtl ofi
 * receives the octets of such a type into memory of its own, but never unpacks them if a probe has
 * found the message. So they are received here as octets, and unpacked.
 */
#ifndef LEAT_FI_MATCHED_H
#define LEAT_FI_MATCHED_H

#include <mpi.h>
#include <stdbool.h>

/* Would Open MPI have to unpack them? */
bool leat_fi_matched_has_gaps(int count, MPI_Datatype type);

/* MPI_Mrecv and MPI_Imrecv of these. The octets of a message that was found wait to be fetched,
 * so the second may fetch them too; its request is complete. */
int leat_fi_matched_receive(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                            MPI_Status *status);
int leat_fi_matched_start(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                          MPI_Request *request);

#endif
