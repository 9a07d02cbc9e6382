/*
 * The service of a run for MPI programs whose ranks start others, or connect to each other by name.
 * Open MPI would do this through its launcher, in real time; here it is in simulated time, and
 * takes none.
 */
#ifndef LEAT_MPI_SERVICE_H
#define LEAT_MPI_SERVICE_H

#include "hub.h"

struct leat_mpi_service;

/* `slots`: of the hub. Ends the process if out of memory. */
struct leat_mpi_service *leat_mpi_service_create(uint32_t slots);
void leat_mpi_service_destroy(struct leat_mpi_service *service);
/* For the hub; it only answers. */
struct leat_hub_service leat_mpi_service_hooks(struct leat_mpi_service *service);

#endif
