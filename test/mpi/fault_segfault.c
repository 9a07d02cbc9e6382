/* Writes to unmapped memory. */
#include "fault.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
    if (fault_begin(&argc, &argv)) {
        volatile char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *nothing = 1;
    }
    MPI_Finalize();
    return 0;
}
