/* leat mpi: options of stock mpirun: collective calls of its programs go by a live network. */
#include "number.h"
#include "run.h"
#include "tool.h"
#include <leat/aton_group.h>
#include <leat/esp_team.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The id of the ring of this host's only station; or the one that is given, unless this host has a
 * station of another ring. Without any, it is the ring of the other hosts. */
static bool find_ring(const struct arguments *args, uint32_t *ring_id)
{
    const bool is_given = argument(args, "--ring");
    char why[LEAT_ATON_HOST_WHY_LEN];
    struct leat_aton_group *group;
    struct leat_aton_group_seat seat;
    if (is_given && !number_take_small(args, "--ring", ring_id)) return false;
    const enum leat_aton_host_end end = leat_aton_group_open(*ring_id, &group, &seat, why);
    if (is_given && end == LEAT_ATON_HOST_WRONG) return complain("--ring %u: %s", *ring_id, why);
    if (!is_given && end != LEAT_ATON_HOST_OK)
        return complain("%s; without a station here, name the ring of the other hosts: --ring ID",
                        why);
    leat_aton_group_close(group);
    if (!is_given) *ring_id = seat.ring_id;
    return true;
}

/* Can this host be part of a team? The command has no blanks or quotes left to protect. */
static bool check_esp(const struct arguments *args)
{
    const char *key = argument(args, "--key-file");
    char why[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_team *team;
    struct leat_esp_team_seat seat;
    if (!key) return complain("--esp needs --key-file with the key of the ESP routers");
    if (strpbrk(key, " \t\n'\""))
        return complain("%s: mpirun cannot read this path, expected one without blanks and quotes",
                        key);
    if (leat_esp_team_open(argument(args, "--esp"), key, &team, &seat, why) != LEAT_ESP_HOST_OK)
        return complain("%s", why);
    leat_esp_team_close(team);
    return true;
}

static bool print_network(const struct arguments *args, const char *component)
{
    static const char common[] =
        "--mca mca_base_component_path %s:SYSTEM_DEFAULT:USER_DEFAULT --mca coll_leat_priority 90 ";
    char path[PATH_MAX];
    uint32_t ring_id = 0;
    if (argument(args, "--key-file") && !argument(args, "--esp"))
        return complain("--key-file is the key of ESP routers: expected --esp NETWORK with it");
    if (argument(args, "--esp")) {
        if (argument(args, "--ring"))
            return complain("--esp and --ring, expected one of them: hosts use one network");
        if (!check_esp(args)) return false;
        if (!realpath(argument(args, "--key-file"), path)) return complain("no such key file");
        printf(common, component);
        printf("--mca coll_leat_esp %s --mca coll_leat_esp_key %s\n", argument(args, "--esp"),
               path);
        return true;
    }
    if (!find_ring(args, &ring_id)) return false;
    printf(common, component);
    printf("--mca coll_leat_ring %u\n", ring_id);
    return true;
}

static int print_options(const struct arguments *args)
{
    char component[RUN_PATH_CAP];
    if (args->operand_count > 1)
        return misuse(args->verb, "'%s' behind options, expected nothing", args->operand[1]);
    if (!run_find_part("mca_coll_leat.so", component, sizeof component)) return WRONG;
    *strrchr(component, '/') = '\0';
    if (strpbrk(component, " \t\n:'\"")) {
        complain("%s: mpirun cannot read this path, expected one without blanks, colons and quotes",
                 component);
        return WRONG;
    }
    return print_network(args, component) ? finish(DONE) : WRONG;
}

static const struct subverb subverbs[] = {
    { "options", "print the options of mpirun for a live network",
      "[--ring ID | --esp NETWORK --key-file FILE]", "--ring --esp --key-file", print_options },
    { NULL },
};

const struct verb verb_mpi = {
    .name = "mpi",
    .summary = "collective calls of stock MPI programs on a live network",
    .synopsis = "SUBVERB [OPTIONS]",
    .help = help_mpi,
    .subverbs = subverbs,
    .options = {
        { "--ring", "ID", "number of the ring (unless given: that of this host's only station)",
          COUNT(0, UINT32_MAX) },
        { "--esp", "NETWORK", "ADDRESS/BITS: hosts below ESP routers, and their network" },
        { "--key-file", "FILE", "32 hex digits, mode 600: the key of the ESP network" },
    },
    .operands = "",
};
