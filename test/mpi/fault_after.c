/* What ranks do after MPI_Finalize, outside the network: they, or their forks, continue for ever.
 * fault_after DEED FOLDER: each rank creates a file in FOLDER to show that it is there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void stay(void)
{
    for (;;)
        pause();
}

static void report(const char *folder, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/rank.%d", folder, rank);
    FILE *file = fopen(path, "w");
    if (!file) exit(1);
    fprintf(file, "%ld\n", (long)getpid());
    fclose(file);
}

int main(int argc, char **argv)
{
    int me;
    char command[4096];
    const char *deed = argc > 2 ? argv[1] : "";
    if (!strcmp(deed, "stay")) stay();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(deed, "fork") && !fork()) stay();
    if (!strcmp(deed, "compute")) {
        report(argv[2], me);
        for (volatile int forever = 1; forever;) {
        }
    }
    MPI_Finalize();
    snprintf(command, sizeof command, "%s stay . &", argv[0]);
    if (!strcmp(deed, "system") && system(command)) return 1;
    report(argv[2], me);
    if (!strcmp(deed, "pause") || (!strcmp(deed, "one") && me == 1)) stay();
    if (!strcmp(deed, "spin"))
        for (volatile int forever = 1; forever;) {
        }
    return 0;
}
