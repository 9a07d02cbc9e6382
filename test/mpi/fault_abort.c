/* MPI_Abort with status 7. */
#include "fault.h"

int main(int argc, char **argv)
{
    if (fault_begin(&argc, &argv)) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Finalize();
    return 0;
}
