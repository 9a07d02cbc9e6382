/* An MPI program that never calls MPI_Init: it must end, not be waited for. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun) printf("expected that MPI has not begun\n");
    return begun;
}
