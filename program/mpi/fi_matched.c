#include "fi_matched.h"
#include "fi_behind.h"
#include <limits.h>
#include <stdlib.h>

/* The types and communicators of mpi.h are objects of the library. */
static MPI_Datatype byte_type(void)
{
    static MPI_Datatype type;
    LEAT_FI_OBJECT(type, "ompi_mpi_byte");
    return type;
}

static MPI_Comm own_comm(void)
{
    static MPI_Comm comm;
    LEAT_FI_OBJECT(comm, "ompi_mpi_comm_self");
    return comm;
}

/* Negative: it is no type, which the call itself reports. */
static int size_of(MPI_Datatype type)
{
    static int (*next)(MPI_Datatype, int *);
    int size = 0;
    LEAT_FI_FIND(next, "PMPI_Type_size");
    return next(type, &size) == MPI_SUCCESS ? size : -1;
}

bool leat_fi_matched_has_gaps(int count, MPI_Datatype type)
{
    static int (*extent_of)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
    static int (*true_extent_of)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
    MPI_Aint begin, extent, true_extent;
    const int size = size_of(type);
    if (count <= 0 || size < 0) return false;
    LEAT_FI_FIND(extent_of, "PMPI_Type_get_extent");
    LEAT_FI_FIND(true_extent_of, "PMPI_Type_get_true_extent");
    extent_of(type, &begin, &extent);
    true_extent_of(type, &begin, &true_extent);
    return true_extent != size || (count > 1 && extent != size);
}

/* A message to oneself carries the octets into the type, whole or in part. */
static int unpack(const void *octets, int len, void *buf, int count, MPI_Datatype type)
{
    static const int self = 0, tag = 0;
    return PMPI_Sendrecv(octets, len, byte_type(), self, tag, buf, count, type, self, tag,
                         own_comm(), MPI_STATUS_IGNORE);
}

int leat_fi_matched_receive(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                            MPI_Status *status)
{
    static int (*count_of)(const MPI_Status *, MPI_Datatype, int *);
    MPI_Status own;
    int len = 0;
    const int size = size_of(type);
    LEAT_FI_FIND(count_of, "PMPI_Get_count");
    if (size && count > INT_MAX / size) return MPI_ERR_COUNT; /* MPI counts octets by an int */
    void *octets = malloc((size_t)count * (size_t)size + 1);
    if (!octets) return MPI_ERR_NO_MEM;
    int result = PMPI_Mrecv(octets, count * size, byte_type(), message, &own);
    if (result == MPI_SUCCESS) result = count_of(&own, byte_type(), &len);
    if (result == MPI_SUCCESS) result = unpack(octets, len, buf, count, type);
    free(octets);
    if (status == MPI_STATUS_IGNORE) return result;
    own.MPI_ERROR = status->MPI_ERROR; /* a call for one message leaves it alone */
    *status = own;
    return result;
}

/* ---- a request that is complete -------------------------------------------------------------- */

static int tell(void *state, MPI_Status *status)
{
    *status = *(MPI_Status *)state;
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    free(state);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS; /* too late */
}

int leat_fi_matched_start(void *buf, int count, MPI_Datatype type, MPI_Message *message,
                          MPI_Request *request)
{
    static int (*start)(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                        MPI_Grequest_cancel_function *, void *, MPI_Request *);
    static int (*complete)(MPI_Request);
    MPI_Status *state = calloc(1, sizeof *state);
    LEAT_FI_FIND(start, "PMPI_Grequest_start");
    LEAT_FI_FIND(complete, "PMPI_Grequest_complete");
    if (!state) return MPI_ERR_NO_MEM;
    int result = leat_fi_matched_receive(buf, count, type, message, state);
    if (result == MPI_SUCCESS) result = start(tell, forget, cancel, state, request);
    if (result == MPI_SUCCESS) return complete(*request);
    free(state);
    return result;
}
