/* MPI_Abort with status 7, or with that of the argument. */
#include "fault.h"
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (fault_begin(&argc, &argv)) MPI_Abort(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 7);
    MPI_Finalize();
    return 0;
}
