/*
 * Other functions that a stock libpvm3 exports and programs use: memory, environment, sleeping,
 * logs. Functions that need a daemon, which this machine does not have, return PvmNotImpl.
 */
#include "pvm_library.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pvmtev.h>

#define SECOND_PS UINT64_C(1000000000000)

/* ---- declared nowhere else ------------------------------------------------------------------- */

char *pvm_alloc(unsigned len, char *what);
char *pvm_realloc(char *old, unsigned len, char *what);
int pvm_free(char *old);
int pvm_tc_noop(int id);
int pvmsleep(int seconds);
int pvmgetclock(struct timeval *out);
char *pvmnametag(int tag, int *is_known);
int pvmdisplaymhfinfo(void);
int pvmlogerror(char *text);
int pvmlogperror(char *text);
int pvmlogprintf(const char *format, ...);
int pvmbeatask(void);
int tev_begin(int kind, int entry);
int tev_fin(void);

/* A program with the stock group library built in checks these before it traces. */
extern int pvmtoplvl;
extern char pvmtrc[68], pvmctrc[68];
extern void *pvmtrccodef;
int pvmtoplvl = 1;
char pvmtrc[68], pvmctrc[68];
void *pvmtrccodef;

/* ---- time ------------------------------------------------------------------------------------ */

int pvmsleep(int seconds)
{
    if (seconds < 0) return PvmBadParam;
    if (leat_pvm_self.is_enrolled)
        leat_task_charge((leat_time)seconds * SECOND_PS);
    else
        sleep((unsigned)seconds);
    return PvmOk;
}

int pvmgetclock(struct timeval *out)
{
    return gettimeofday(out, NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static char *or_die(void *memory, const char *what)
{
    if (memory) return memory;
    fprintf(stderr, "libpvm: no memory for %s\n", what ? what : "something");
    abort();
}

char *pvm_alloc(unsigned len, char *what)
{
    return or_die(malloc(len ? len : 1), what);
}

char *pvm_realloc(char *old, unsigned len, char *what)
{
    return or_die(realloc(old, len ? len : 1), what);
}

int pvm_free(char *old)
{
    free(old);
    return PvmOk;
}

/* ---- environment and version ----------------------------------------------------------------- */

char *pvm_version(void)
{
    static char version[] = PVM_VER;
    return version;
}

char *pvmgetrsh(void)
{
    char *given = getenv("PVM_RSH");
    static char usual[] = "ssh";
    return given ? given : usual;
}

char *pvmgettmp(void)
{
    char *given = getenv("PVM_TMP");
    static char usual[] = "/tmp";
    return given ? given : usual;
}

/* PVM_EXPORT without the name: a list in new memory. */
static char *exports_without(const char *name)
{
    const char *list = getenv("PVM_EXPORT");
    char *out = calloc(1, (list ? strlen(list) : 0) + strlen(name) + 2);
    const size_t len = strlen(name);
    while (out && list && *list) {
        const size_t here = strcspn(list, ":");
        if (here && (here != len || strncmp(list, name, len) != 0)) {
            if (*out) strcat(out, ":");
            strncat(out, list, here);
        }
        list += here + (list[here] == ':');
    }
    return out;
}

int pvm_export(char *name)
{
    if (!name) return lpvmerr("pvm_export", PvmBadParam);
    char *list = exports_without(name);
    if (!list) return lpvmerr("pvm_export", PvmNoMem);
    if (*list) strcat(list, ":");
    strcat(list, name);
    setenv("PVM_EXPORT", list, 1);
    free(list);
    return PvmOk;
}

int pvm_unexport(char *name)
{
    if (!name) return lpvmerr("pvm_unexport", PvmBadParam);
    char *list = exports_without(name);
    if (!list) return lpvmerr("pvm_unexport", PvmNoMem);
    setenv("PVM_EXPORT", list, 1);
    free(list);
    return PvmOk;
}

/* ---- waiting for files and messages together ------------------------------------------------- */

/* Always ready: a program that waits for it returns at once and polls for messages, which costs
 * simulated time. */
int pvm_getfds(int **fds)
{
    static int ready = -1;
    const int result = leat_pvm_enrol();
    if (result < 0) return lpvmerr("pvm_getfds", result);
    if (!fds) return lpvmerr("pvm_getfds", PvmBadParam);
    if (ready < 0) ready = eventfd(1, EFD_CLOEXEC);
    if (ready < 0) return lpvmerr("pvm_getfds", PvmOutOfRes);
    *fds = &ready;
    return 1;
}

/* ---- logs ------------------------------------------------------------------------------------ */

int pvmlogprintf(const char *format, ...)
{
    va_list list;
    fprintf(stderr, "[t%x] ", (unsigned)leat_pvm_self.tid);
    va_start(list, format);
    const int written = vfprintf(stderr, format, list);
    va_end(list);
    return written;
}

int pvmlogerror(char *text)
{
    return pvmlogprintf("%s", text);
}

int pvmlogperror(char *text)
{
    return pvmlogprintf("%s: %m\n", text);
}

char *pvmnametag(int tag, int *is_known)
{
    static char text[16];
    if (is_known) *is_known = 0;
    snprintf(text, sizeof text, "%d", tag);
    return text;
}

int pvmdisplaymhfinfo(void)
{
    leat_pvm_handlers_show();
    return PvmOk;
}

int pvmbeatask(void)
{
    return leat_pvm_enrol();
}

int tev_begin(int kind, int entry)
{
    (void)kind, (void)entry;
    return 0;
}

int tev_fin(void)
{
    return 0;
}

int pvm_tc_noop(int id)
{
    return pvm_freebuf(id);
}

int pvm_start_pvmd(int count, char **arguments, int block)
{
    (void)count, (void)arguments, (void)block;
    return lpvmerr("pvm_start_pvmd", leat_pvm_enrol() < 0 ? PvmCantStart : PvmDupHost);
}

/* ---- not supported by this machine ----------------------------------------------------------- */

#define NOT_HERE(name, ...)                \
    int name(__VA_ARGS__);                 \
    int name(__VA_ARGS__)                  \
    {                                      \
        return lpvmerr(#name, PvmNotImpl); \
    }

/* The arguments are ignored. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

NOT_HERE(pvm_reg_hoster, void)
NOT_HERE(pvm_reg_rm, struct pvmhostinfo **hosts)
NOT_HERE(pvm_reg_tasker, void)
NOT_HERE(pvm_reg_tracer, int context, int tag, int output_context, int output_tag, char *mask,
         int buffer, int options)
NOT_HERE(pvm_tickle, int count, int *arguments, int *result_count, int *results)
NOT_HERE(pvm_getnoresets, int **tids, int *count)
NOT_HERE(pvm_fd_add, int fd, int sets)
NOT_HERE(pvm_fd_delete, int fd, int sets)
NOT_HERE(pvm_tc_settmask, int id)
NOT_HERE(pvm_tc_settrace, int id)
NOT_HERE(pvm_tc_settrcbuf, int id)
NOT_HERE(pvm_tc_settrcopt, int id)
NOT_HERE(pvm_tc_siblings, int id)
