/* leat graph run --engine mpi: the library that speaks MPI, and the agreement of ranks before a
 * run. */
#include "graph_job.h"
#include "run.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#ifdef HAVE_EXPAT

bool graph_link_open(struct leat_poets_link *link)
{
    char why[200] = "it is of another leat";
    void *symbol = run_load_mpi("libleat-mpi.so", LEAT_POETS_LINK_OPEN, "--engine mpi");
    if (!symbol) return false;
    leat_poets_link_open_fn open_link = *(leat_poets_link_open_fn *)&symbol;
    if (open_link(link, why, sizeof why) && link->abi == LEAT_POETS_LINK_ABI) return true;
    return complain("--engine mpi: %s", why);
}

int graph_mute(void)
{
    const int before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fflush(stderr);
    if (before >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
    return before;
}

void graph_unmute(int before)
{
    fflush(stderr);
    if (before < 0) return;
    dup2(before, STDERR_FILENO);
    close(before);
}

bool graph_agree(struct leat_poets_link *link, const struct leat_graph_report *report, bool good,
                 uint64_t fingerprint)
{
    struct leat_poets_agreement all = { good, good, true };
    if (link) all = leat_poets_link_agree(link, good, fingerprint);
    const bool first = !link || !link->rank;
    if (!good && (first || all.first_good)) graph_print_report(report);
    if (first && good && !all.good) complain("not all ranks can load it");
    if (first && all.good && !all.same)
        complain("the ranks have read different files or options, expected the same everywhere");
    return all.good && all.same;
}

#endif
