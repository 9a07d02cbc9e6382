/* leat mpi: what stock mpirun needs so that collective calls of its programs go by a live ring. */
#include "number.h"
#include "run.h"
#include "tool.h"
#include <leat/aton_group.h>
#include <stdio.h>
#include <string.h>

/* The id of the ring of this host's only station. */
static bool find_ring(uint32_t *ring_id)
{
    char why[LEAT_ATON_HOST_WHY_LEN];
    struct leat_aton_group *group;
    struct leat_aton_group_seat seat;
    if (leat_aton_group_open(0, &group, &seat, why) != LEAT_ATON_HOST_OK)
        return complain("%s; without a station here, name the ring of the other hosts: --ring ID",
                        why);
    leat_aton_group_close(group);
    *ring_id = seat.ring_id;
    return true;
}

static int print_options(const struct arguments *args)
{
    char component[RUN_PATH_CAP];
    uint32_t ring_id = 0;
    if (args->operand_count > 1)
        return misuse(args->verb, "'%s' behind options, expected nothing", args->operand[1]);
    if (!run_find_part("mca_coll_leat.so", component, sizeof component)) return WRONG;
    *strrchr(component, '/') = '\0';
    if (strpbrk(component, " \t\n:'\"")) {
        complain("%s: mpirun cannot read this path, expected one without blanks, colons and quotes",
                 component);
        return WRONG;
    }
    if (argument(args, "--ring") ? !number_take_small(args, "--ring", &ring_id)
                                 : !find_ring(&ring_id))
        return WRONG;
    printf(
        "--mca mca_base_component_path %s:SYSTEM_DEFAULT:USER_DEFAULT --mca coll_leat_priority 90 "
        "--mca coll_leat_ring %u\n",
        component, ring_id);
    return finish(DONE);
}

static const struct subverb subverbs[] = {
    { "options", "print the options of mpirun for a live ring", "[--ring ID]", "--ring",
      print_options },
    { NULL },
};

const struct verb verb_mpi = {
    .name = "mpi",
    .summary = "collective calls of stock MPI programs on a live ring",
    .synopsis = "SUBVERB [OPTIONS]",
    .help = help_mpi,
    .subverbs = subverbs,
    .options = {
        { "--ring", "ID", "number of the ring (unless given: that of this host's only station)",
          COUNT(0, UINT32_MAX) },
    },
    .operands = "",
};
