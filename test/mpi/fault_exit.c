/* Ends with status 0, but without MPI_Finalize. */
#include "fault.h"
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (fault_begin(&argc, &argv)) exit(0);
    MPI_Finalize();
    return 0;
}
