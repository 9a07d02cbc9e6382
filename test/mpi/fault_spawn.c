/*
 * usage: fault_spawn KIND. A rank starts a process:
 *   absent  no such program       many    more than there is room for
 *   killed  it kills itself       exits   it exits without MPI_Finalize
 *   early   it never calls MPI    alone   nobody connects to a port
 * Errors are returned; after `many` it goes on, and says so.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 1000 };

static int run_child(int argc, char **argv)
{
    if (strcmp(argv[2], "early") == 0) return 0;
    MPI_Init(&argc, &argv);
    if (strcmp(argv[2], "killed") == 0) raise(SIGKILL);
    if (strcmp(argv[2], "exits") == 0) exit(3);
    MPI_Finalize();
    return 0;
}

static int start(const char *program, char *kind, int count)
{
    char *words[] = { "child", kind, NULL };
    MPI_Comm between;
    return MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between,
                          MPI_ERRCODES_IGNORE);
}

int main(int argc, char **argv)
{
    char *kind = argc > 1 ? argv[1] : "";
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm between;
    int word;
    if (argc > 2) return run_child(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(kind, "many") == 0) {
        printf("%s\n", start(argv[0], kind, MANY) == MPI_SUCCESS ? "started" : "not started");
        MPI_Finalize();
        return 0;
    }
    if (strcmp(kind, "alone") == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    }
    start(strcmp(kind, "absent") == 0 ? "./no-such-program" : argv[0], kind, 1);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("expected a failure\n");
    MPI_Finalize();
    return 0;
}
