/*
 * How ranks of different jobs find each other: by names of ports, and by what Open MPI publishes
 * under them. It would do so through mpirun, in real time: while one rank waits there for another,
 * simulated time could not go on, and the other might never come. So the run does it.
 *
 *     MPI_Comm_accept, MPI_Lookup_name ---> libmpi ---> PMIx_Publish, PMIx_Lookup here ---> the run
 */
#include "fi_ask.h"
#include "fi_behind.h"
#include "fi_pool.h"
#include "fi_port.h"
#include "fi_rank.h"
#include "fi_threads.h"
#include "task.h"
#include <mpi.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FIND(next, name) \
    if (!next) *(void **)(void *)&next = leat_fi_behind_pmix(name)

/* ---- ports ----------------------------------------------------------------------------------- */

/* Open MPI's names have the number of the job, a random number, and differ in every run; programs
 * send them to each other. It wants the job in front, and uses the rest as a key. */
#define OWN_NAME "leat:"

void leat_fi_port_name(char *name)
{
    static uint32_t count;
    snprintf(name, MPI_MAX_PORT_NAME, OWN_NAME "%u.%u", leat_task_number(), count++);
}

const char *leat_fi_port_of(const char *name)
{
    static char known[MPI_MAX_PORT_NAME];
    const char *job = getenv("PMIX_NAMESPACE");
    if (!name || !job || strncmp(name, OWN_NAME, strlen(OWN_NAME)) != 0) return name;
    snprintf(known, sizeof known, "%s.0:%s", job, name);
    return known;
}

static const char *key_of(const char *key)
{
    const char *own = strstr(key, ":" OWN_NAME);
    return own ? own + 1 : key;
}

/* ---- what is published ----------------------------------------------------------------------- */

/* Before its octets. */
struct head {
    pmix_proc_t from;
    pmix_data_type_t type;
};

static bool is_key(const pmix_info_t *info, const char *key)
{
    return !strncmp(info->key, key, PMIX_MAX_KEYLEN);
}

/* An instruction, not a value. */
static bool is_order(const pmix_info_t *info)
{
    return is_key(info, PMIX_PERSISTENCE) || is_key(info, PMIX_RANGE) ||
           is_key(info, PMIX_TIMEOUT) || is_key(info, PMIX_WAIT);
}

static bool goes_when_read(const pmix_info_t *info, size_t infos)
{
    for (size_t i = 0; i < infos; i++)
        if (is_key(&info[i], PMIX_PERSISTENCE) && info[i].value.type == PMIX_PERSIST &&
            info[i].value.data.persist == PMIX_PERSIST_FIRST_READ)
            return true;
    return false;
}

static bool waits(const pmix_info_t *info, size_t infos)
{
    for (size_t i = 0; i < infos; i++)
        if (is_key(&info[i], PMIX_WAIT)) return true;
    return false;
}

static bool can_carry(const pmix_info_t *info, size_t infos)
{
    for (size_t i = 0; i < infos; i++)
        if (!is_order(&info[i]) && info[i].value.type != PMIX_STRING &&
            info[i].value.type != PMIX_BYTE_OBJECT)
            return false;
    return true;
}

static pmix_proc_t own_process(void)
{
    const char *job = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");
    pmix_proc_t self = { .rank = rank ? (pmix_rank_t)strtoul(rank, NULL, 10) : 0 };
    snprintf(self.nspace, sizeof self.nspace, "%s", job ? job : "");
    return self;
}

static pmix_status_t publish(const pmix_info_t *info, bool goes)
{
    const bool is_text = info->value.type == PMIX_STRING;
    const char *octets = is_text ? info->value.data.string : info->value.data.bo.bytes;
    const size_t len = is_text ? strlen(octets) + 1 : info->value.data.bo.size;
    const char *key = key_of(info->key);
    const struct head head = { own_process(), info->value.type };
    const struct leat_mpi_question question = { .kind = LEAT_MPI_PUBLISH,
                                                .number = goes,
                                                .key_len = (uint32_t)strlen(key) };
    uint8_t *value = leat_fi_grown(NULL, sizeof head + len, 1);
    memcpy(value, &head, sizeof head);
    if (len) memcpy(value + sizeof head, octets, len);
    const struct leat_fi_answer answer = leat_fi_ask(&question, key, value, sizeof head + len);
    free(value);
    return answer.is_good ? PMIX_SUCCESS : PMIX_ERR_DUPLICATE_KEY;
}

pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t infos)
{
    static pmix_status_t (*next)(const pmix_info_t[], size_t);
    pmix_status_t status = PMIX_SUCCESS;
    FIND(next, "PMIx_Publish");
    if (!leat_fi_may_ask() || !can_carry(info, infos)) return next(info, infos);
    for (size_t i = 0; i < infos && status == PMIX_SUCCESS; i++)
        if (!is_order(&info[i])) status = publish(&info[i], goes_when_read(info, infos));
    return status;
}

/* The program may try again and again: time has to pass. */
static void charge_poll(void)
{
    leat_fi_lock();
    leat_task_charge(LEAT_TASK_POLL_PS);
    leat_fi_unlock();
}

/* The octets of the answer become the value's. */
static void take_value(pmix_pdata_t *data, const struct leat_fi_answer *answer)
{
    struct head head;
    memcpy(&head, answer->value, sizeof head);
    const size_t len = answer->len - sizeof head;
    char *octets = leat_fi_grown(NULL, len + 1, 1);
    memcpy(octets, answer->value + sizeof head, len);
    octets[len] = '\0';
    data->proc = head.from;
    data->value.type = head.type;
    if (head.type == PMIX_STRING)
        data->value.data.string = octets;
    else
        data->value.data.bo = (pmix_byte_object_t){ .bytes = octets, .size = len };
}

static pmix_status_t look_up(pmix_pdata_t *data, bool waits_for_it)
{
    const char *key = key_of(data->key);
    const struct leat_mpi_question question = { .kind = LEAT_MPI_LOOKUP,
                                                .number = waits_for_it,
                                                .key_len = (uint32_t)strlen(key) };
    const struct leat_fi_answer answer = leat_fi_ask(&question, key, NULL, 0);
    const bool is_good = answer.is_good && answer.len >= sizeof(struct head);
    if (is_good)
        take_value(data, &answer);
    else
        charge_poll();
    free(answer.value);
    return is_good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t count, const pmix_info_t info[], size_t infos)
{
    static pmix_status_t (*next)(pmix_pdata_t[], size_t, const pmix_info_t[], size_t);
    pmix_status_t status = PMIX_SUCCESS;
    FIND(next, "PMIx_Lookup");
    if (!leat_fi_may_ask()) return next(data, count, info, infos);
    for (size_t i = 0; i < count && status == PMIX_SUCCESS; i++)
        status = look_up(&data[i], waits(info, infos));
    return status;
}

pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t infos)
{
    static pmix_status_t (*next)(char **, const pmix_info_t[], size_t);
    bool are_good = true;
    FIND(next, "PMIx_Unpublish");
    if (!leat_fi_may_ask() || !keys) return next(keys, info, infos);
    for (; *keys; keys++) {
        const char *key = key_of(*keys);
        const struct leat_mpi_question question = { .kind = LEAT_MPI_UNPUBLISH,
                                                    .key_len = (uint32_t)strlen(key) };
        are_good &= leat_fi_ask(&question, key, NULL, 0).is_good;
    }
    return are_good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* ---- meetings -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const pmix_proc_t *one = a, *other = b;
    const int jobs = strncmp(one->nspace, other->nspace, PMIX_MAX_NSLEN);
    return jobs ? jobs : (one->rank > other->rank) - (one->rank < other->rank);
}

/* Waits until so many have come with this key, in simulated time. */
static void meet_by(const void *key, size_t len, size_t count)
{
    const struct leat_mpi_question question = { .kind = LEAT_MPI_MEET,
                                                .count = (uint32_t)count,
                                                .key_len = (uint32_t)len };
    leat_fi_ask(&question, key, NULL, 0);
}

/* Of sorted ones; returns how many are left. */
static size_t drop_doubles(pmix_proc_t *proc, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || compare(&proc[kept - 1], &proc[i]) != 0) proc[kept++] = proc[i];
    return kept;
}

/* All of these. Open MPI names the ranks of an intracommunicator twice. */
static void meet(const pmix_proc_t *proc, size_t count)
{
    pmix_proc_t *key = leat_fi_grown(NULL, count, sizeof *key);
    memset(key, 0, count * sizeof *key);
    for (size_t i = 0; i < count; i++) {
        snprintf(key[i].nspace, sizeof key[i].nspace, "%s", proc[i].nspace);
        key[i].rank = proc[i].rank;
    }
    qsort(key, count, sizeof *key, compare);
    count = drop_doubles(key, count);
    meet_by(key, count * sizeof *key, count);
    free(key);
}

/* MPI_Comm_join reads what the other rank writes, in real time: so it has to be there. Both know
 * the two addresses of the connection. */
int leat_fi_meet_over(int file)
{
    struct sockaddr_storage end[2] = { 0 };
    socklen_t own_len = sizeof end[0], other_len = sizeof end[1];
    if (!leat_fi_is_simulated() || getsockname(file, (struct sockaddr *)&end[0], &own_len) ||
        getpeername(file, (struct sockaddr *)&end[1], &other_len) || end[0].ss_family == AF_UNIX)
        return file;
    if (memcmp(&end[0], &end[1], sizeof end[0]) > 0) {
        const struct sockaddr_storage first = end[0];
        end[0] = end[1];
        end[1] = first;
    }
    meet_by(end, sizeof end, 2);
    return file;
}

/* PMIx waits for the same ranks, in real time: all of them are there then. */
pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                           size_t infos)
{
    static pmix_status_t (*next)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t);
    FIND(next, "PMIx_Connect");
    if (leat_fi_may_ask() && procs) meet(procs, count);
    leat_fi_threads_go_outside();
    const pmix_status_t status = next(procs, count, info, infos);
    leat_fi_threads_come_back();
    return status;
}

/* MPI_Comm_disconnect only waits for the others. */
pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                         size_t infos)
{
    static pmix_status_t (*next)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t);
    FIND(next, "PMIx_Fence");
    if (!leat_fi_is_simulated() || !procs) return next(procs, count, info, infos);
    meet(procs, count);
    return PMIX_SUCCESS;
}
