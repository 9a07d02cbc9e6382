/*
 * Ranks that a rank starts. They become tasks of the same run, in slots that the run has given to
 * their parent.
 *
 *     MPI_Comm_spawn --> libmpi --> PMIx_Spawn here --> PMIx_Spawn of PMIx --> mpirun --> ranks
 *                                    `-- asks the run for slots
 */
#include "clock.h"
#include "fi_ask.h"
#include "fi_behind.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_rank.h"
#include "fi_threads.h"
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the environment of new ranks ------------------------------------------------------------ */

#define PRELOAD "LD_PRELOAD"

static bool is_named(const char *variable, const char *name)
{
    const size_t len = strlen(name);
    return !strncmp(variable, name, len) && variable[len] == '=';
}

/* "NAME=value", or with what it is already: "LD_PRELOAD=value:old". In new memory. */
static char *written(const char *name, const char *value, const char *old)
{
    const size_t cap = strlen(name) + strlen(value) + (old ? strlen(old) : 0) + 3;
    char *text = leat_fi_grown(NULL, cap, 1);
    snprintf(text, cap, "%s=%s%s%s", name, value, old ? ":" : "", old ? old : "");
    return text;
}

/* In a list that ends with NULL and has room for one more. */
static void set(char **list, const char *name, const char *value)
{
    while (*list && !is_named(*list, name))
        list++;
    const bool is_there = *list, joins = is_there && !strcmp(name, PRELOAD);
    char *text = written(name, value, joins ? *list + strlen(name) + 1 : NULL);
    free(*list);
    *list = text;
    if (!is_there) list[1] = NULL;
}

static size_t length_of(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* What makes a process a task: as this one has it, and the first slot. */
static char **extended(char *const *given, uint32_t first)
{
    static const char *const own[] = { PRELOAD, "FI_PROVIDER_PATH", LEAT_TASK_RUN_VARIABLE,
                                       LEAT_REAL_CLOCK_VARIABLE, LEAT_FI_EAGER_VARIABLE };
    enum { OWN = sizeof own / sizeof *own };
    const size_t count = length_of(given);
    char **list = leat_fi_grown(NULL, count + OWN + 2, sizeof *list);
    char number[16];
    for (size_t i = 0; i < count; i++)
        list[i] = strdup(given[i]);
    list[count] = NULL;
    for (size_t i = 0; i < OWN; i++)
        if (getenv(own[i])) set(list, own[i], getenv(own[i]));
    snprintf(number, sizeof number, "%u", first);
    set(list, LEAT_TASK_FIRST_VARIABLE, number);
    return list;
}

static void free_list(char **list)
{
    for (char **at = list; *at; at++)
        free(*at);
    free(list);
}

/* ---- start ----------------------------------------------------------------------------------- */

typedef pmix_status_t spawner(const pmix_info_t[], size_t, const pmix_app_t[], size_t,
                              pmix_nspace_t);

static uint32_t count_processes(const pmix_app_t *app, size_t apps)
{
    uint32_t count = 0;
    for (size_t i = 0; i < apps; i++)
        count += app[i].maxprocs > 0 ? (uint32_t)app[i].maxprocs : 0;
    return count;
}

/* Of programs that will not call MPI. */
static bool are_no_ranks(const pmix_info_t *info, size_t infos)
{
    for (size_t i = 0; i < infos; i++)
        if (!strncmp(info[i].key, PMIX_NON_PMI, PMIX_MAX_KEYLEN)) return true;
    return false;
}

static pmix_status_t refuse(uint32_t wanted, uint32_t left)
{
    fprintf(stderr,
            "leat: %s of %u processes: the run has places for %u more; it gives %u in all to "
            "processes that ranks start\n",
            leat_fi_call_name(), wanted, left, leat_task_slots() - leat_task_expected());
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* In real time: meanwhile the run waits for this rank, and for those that begin. */
static pmix_status_t start(spawner *next, const pmix_info_t *info, size_t infos,
                           const pmix_app_t *app, size_t apps, char *nspace, uint32_t first)
{
    pmix_app_t *own = leat_fi_grown(NULL, apps, sizeof *own);
    for (size_t i = 0; i < apps; i++) {
        own[i] = app[i];
        own[i].env = extended(app[i].env, first);
    }
    leat_fi_threads_go_outside();
    const pmix_status_t status = next(info, infos, own, apps, nspace);
    leat_fi_threads_come_back();
    for (size_t i = 0; i < apps; i++)
        free_list(own[i].env);
    free(own);
    return status;
}

static void give_back(uint32_t first, uint32_t count)
{
    const struct leat_mpi_question back = { .kind = LEAT_MPI_NO_SLOTS,
                                            .number = first,
                                            .count = count };
    for (uint32_t i = 0; i < count; i++)
        leat_task_give_up(first + i);
    leat_fi_ask(&back, NULL, NULL, 0);
}

pmix_status_t PMIx_Spawn(const pmix_info_t info[], size_t infos, const pmix_app_t app[],
                         size_t apps, pmix_nspace_t nspace)
{
    static spawner *next;
    const uint32_t count = count_processes(app, apps);
    if (!next) *(void **)(void *)&next = leat_fi_behind_pmix("PMIx_Spawn");
    if (!leat_fi_is_simulated() || !count || are_no_ranks(info, infos))
        return next(info, infos, app, apps, nspace);
    const struct leat_mpi_question wanted = { .kind = LEAT_MPI_SLOTS, .count = count };
    const struct leat_fi_answer slots = leat_fi_ask(&wanted, NULL, NULL, 0);
    if (!slots.is_good) return refuse(count, slots.number);
    const pmix_status_t status = start(next, info, infos, app, apps, nspace, slots.number);
    if (status != PMIX_SUCCESS) give_back(slots.number, count);
    return status;
}
