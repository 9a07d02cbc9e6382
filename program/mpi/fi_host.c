/*
 * The host that a rank is on: a port of the fabric. Ranks of one port share memory, others do not,
 * though all of them run on this machine.
 *
 *     Open MPI ---> PMIx_Get here ---> PMIx_Get of PMIx: who is on my host? The ranks of my port.
 *     anybody ---> gethostname, uname here: port3; gethostbyname, getaddrinfo: where it is
 */
#include "fi_behind.h"
#include "fi_pool.h"
#include "fi_rank.h"
#include "fi_threads.h"
#include "fi_wire.h"
#include "task.h"
#include <errno.h>
#include <netdb.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- its name -------------------------------------------------------------------------------- */

enum { NAME_CAP = 32 };

static void write_name(char name[NAME_CAP], uint32_t port)
{
    snprintf(name, NAME_CAP, "port%u", port);
}

/* The name of this rank's host, also before MPI_Init and in programs that the rank starts; NULL:
 * this process belongs to no rank. */
static const char *own_name(void)
{
    static char name[NAME_CAP];
    uint32_t slot, port;
    if (!*name && leat_fi_slot(&slot) && leat_task_find_port(slot, &port)) write_name(name, port);
    return *name ? name : NULL;
}

int gethostname(char *out, size_t cap)
{
    static int (*next)(char *, size_t);
    const char *name = own_name();
    LEAT_FI_FIND(next, "gethostname");
    if (!name) return next(out, cap);
    if (cap > strlen(name)) {
        strcpy(out, name);
        return 0;
    }
    errno = ENAMETOOLONG;
    return -1;
}

int uname(struct utsname *out)
{
    static int (*next)(struct utsname *);
    const char *name = own_name();
    LEAT_FI_FIND(next, "uname");
    const int result = next(out);
    if (!result && name) snprintf(out->nodename, sizeof out->nodename, "%s", name);
    return result;
}

/* Hosts are ports of the fabric, but all of them are this machine. */
static const char *real_name(const char *name)
{
    uint32_t port;
    char rest;
    const bool is_port = name && own_name() && sscanf(name, "port%u%c", &port, &rest) == 1;
    return is_port ? "localhost" : name;
}

struct hostent *gethostbyname(const char *name)
{
    static struct hostent *(*next)(const char *);
    LEAT_FI_FIND(next, "gethostbyname");
    return next(real_name(name));
}

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    LEAT_FI_FIND(next, "getaddrinfo");
    return next(real_name(name), service, hints, out);
}

/* ---- who is on it ---------------------------------------------------------------------------- */

static uint32_t own_port(void)
{
    return leat_task_port_of(leat_task_number());
}

static uint32_t port_of(uint32_t rank)
{
    return leat_task_port_of(leat_fi_first() + rank);
}

/* Ranks of a port before this one. */
static uint32_t count_before(uint32_t end, uint32_t port)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < end; i++)
        count += port_of(i) == port;
    return count;
}

static uint32_t count_hosts(void)
{
    const uint32_t ranks = leat_fi_ranks(), ports = leat_task_ports();
    bool *is_used = leat_fi_grown(NULL, ports, sizeof *is_used);
    uint32_t count = 0;
    memset(is_used, 0, ports * sizeof *is_used);
    for (uint32_t i = 0; i < ranks; i++) {
        count += !is_used[port_of(i)];
        is_used[port_of(i)] = true;
    }
    free(is_used);
    return count;
}

/* "0,3,7": the ranks of a port, in new memory. */
static char *list_ranks(uint32_t port)
{
    enum { NUMBER_CAP = 12 };
    char *list = leat_fi_grown(NULL, (size_t)leat_fi_ranks() * NUMBER_CAP + 1, 1);
    char *end = list;
    *end = '\0';
    for (uint32_t i = 0; i < leat_fi_ranks(); i++)
        if (port_of(i) == port) end += snprintf(end, NUMBER_CAP, "%s%u", end == list ? "" : ",", i);
    return list;
}

/* As many ranks as are there, or would have a port each. */
static uint32_t universe(void)
{
    const uint32_t ranks = leat_task_expected(), ports = leat_task_ports();
    return ranks > ports ? ranks : ports;
}

static bool is(const char *key, const char *wanted)
{
    return strncmp(key, wanted, PMIX_MAX_KEYLEN) == 0;
}

/* Of a rank, or of this one if the question is about the whole job. */
static uint32_t port_asked(const pmix_proc_t *proc)
{
    const bool is_rank = proc && proc->rank < leat_fi_ranks();
    return is_rank ? port_of(proc->rank) : own_port();
}

static void set_text(pmix_value_t *value, char *text)
{
    if (value->type != PMIX_STRING) {
        free(text);
        return;
    }
    free(value->data.string);
    value->data.string = text;
}

static void set_number(pmix_value_t *value, uint32_t number)
{
    if (value->type == PMIX_UINT16) value->data.uint16 = (uint16_t)number;
    if (value->type == PMIX_UINT32) value->data.uint32 = number;
}

/* What the launcher says about this machine, as it is in the run. */
static void adapt(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    const uint32_t port = port_asked(proc);
    const uint32_t rank = proc && proc->rank < leat_fi_ranks()
                              ? proc->rank
                              : leat_task_number() - leat_fi_first();
    if (is(key, PMIX_LOCAL_PEERS)) set_text(value, list_ranks(port));
    if (is(key, PMIX_LOCAL_SIZE) || is(key, PMIX_NODE_SIZE))
        set_number(value, count_before(leat_fi_ranks(), port));
    if (is(key, PMIX_LOCAL_RANK) || is(key, PMIX_NODE_RANK))
        set_number(value, count_before(rank, port));
    if (is(key, PMIX_NODEID)) set_number(value, port);
    if (is(key, PMIX_NUM_NODES)) set_number(value, count_hosts());
    if (is(key, PMIX_UNIV_SIZE)) set_number(value, universe());
}

/* A rank of another job shares no memory with this one, wherever it is. */
static bool is_of_other_job(const pmix_proc_t *proc)
{
    const char *job = getenv("PMIX_NAMESPACE");
    return proc && job && *proc->nspace && strncmp(proc->nspace, job, PMIX_MAX_NSLEN) != 0;
}

/* Where on its host a rank is tells how near it is, but not from another host. */
static bool is_unknown(const pmix_proc_t *proc, const char *key)
{
    const bool is_place = is(key, PMIX_LOCALITY_STRING) || is(key, "pmix.loc");
    if (is_of_other_job(proc))
        return is_place || is(key, PMIX_LOCAL_PEERS) || is(key, PMIX_HOSTNAME);
    return is_place && port_asked(proc) != own_port();
}

static pmix_value_t *text_value(const char *text)
{
    pmix_value_t *value = leat_fi_grown(NULL, 1, sizeof *value);
    *value = (pmix_value_t){ .type = PMIX_STRING, .data.string = strdup(text) };
    return value;
}

static pmix_value_t *address_value(uint32_t slot)
{
    pmix_value_t *value = leat_fi_grown(NULL, 1, sizeof *value);
    uint8_t *octets = leat_fi_grown(NULL, LEAT_FI_ADDRESS_LEN, 1);
    leat_put_be64(octets, slot);
    *value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT,
                             .data.bo = { .bytes = (char *)octets, .size = LEAT_FI_ADDRESS_LEN } };
    return value;
}

/* Each rank asks for the host's name and the address of every other one. The launcher's answers
 * take two switches of threads each, a minute for 1,024 ranks, and hold nothing that is not known
 * here. NULL: another question. */
static pmix_value_t *known_answer(const pmix_proc_t *proc, const char *key)
{
    static const char address_key[] = "mtl.ofi.";
    const bool is_rank = proc && proc->rank < leat_fi_ranks();
    char name[NAME_CAP];
    if (is_of_other_job(proc)) return NULL;
    if (is_rank && !strncmp(key, address_key, sizeof address_key - 1))
        return address_value(leat_fi_first() + proc->rank);
    if (!is(key, PMIX_HOSTNAME)) return NULL;
    write_name(name, port_asked(proc));
    return text_value(name);
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                       size_t infos, pmix_value_t **value)
{
    static pmix_status_t (*next)(const pmix_proc_t *, const char[], const pmix_info_t[], size_t,
                                 pmix_value_t **);
    if (!next) *(void **)(void *)&next = leat_fi_behind_pmix("PMIx_Get");
    const bool is_ours = leat_fi_is_wanted() && leat_task_is_attached() && key;
    if (is_ours && is_unknown(proc, key)) return PMIX_ERR_NOT_FOUND;
    if (is_ours && value && (*value = known_answer(proc, key))) return PMIX_SUCCESS;
    leat_fi_threads_go_outside();
    const pmix_status_t status = next(proc, key, info, infos, value);
    leat_fi_threads_come_back();
    if (is_ours && status == PMIX_SUCCESS && value && *value && !is_of_other_job(proc))
        adapt(proc, key, *value);
    return status;
}
