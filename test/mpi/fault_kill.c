/* Killed by SIGKILL: no handler, no exit function, no message. */
#include "fault.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (fault_begin(&argc, &argv)) kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
