/* Errors: their texts, and how they are reported. */
#include "pvm_library.h"
#include <stdlib.h>

char *pvm_errlist[] = {
    [0] = "Error 0",
    [1] = "Error 1",
    [-PvmBadParam] = "Bad parameter",
    [-PvmMismatch] = "Parameter mismatch",
    [-PvmOverflow] = "Value too large",
    [-PvmNoData] = "End of buffer",
    [-PvmNoHost] = "No such host",
    [-PvmNoFile] = "No such file",
    [-PvmDenied] = "Permission denied",
    [9] = "Error 9",
    [-PvmNoMem] = "Malloc failed",
    [11] = "Error 11",
    [-PvmBadMsg] = "Can't decode message",
    [13] = "Error 13",
    [-PvmSysErr] = "Can't contact local daemon",
    [-PvmNoBuf] = "No current buffer",
    [-PvmNoSuchBuf] = "No such buffer",
    [-PvmNullGroup] = "Null group name",
    [-PvmDupGroup] = "Already in group",
    [-PvmNoGroup] = "No such group",
    [-PvmNotInGroup] = "Not in group",
    [-PvmNoInst] = "No such instance",
    [-PvmHostFail] = "Host failed",
    [-PvmNoParent] = "No parent task",
    [-PvmNotImpl] = "Not implemented",
    [-PvmDSysErr] = "Pvmd system error",
    [-PvmBadVersion] = "Version mismatch",
    [-PvmOutOfRes] = "Out of resources",
    [-PvmDupHost] = "Duplicate host",
    [-PvmCantStart] = "Can't start pvmd",
    [-PvmAlready] = "Already in progress",
    [-PvmNoTask] = "No such task",
    [-PvmNotFound] = "Not Found",
    [-PvmExists] = "Already Exists",
    [-PvmHostrNMstr] = "Hoster must run on master host",
    [-PvmParentNotSet] = "Spawning parent set PvmNoParent",
    [-PvmIPLoopback] = "Master Host IP Address is Loopback! (See pvm3/Readme)",
};
int pvm_nerr = (int)(sizeof pvm_errlist / sizeof *pvm_errlist);
int pvm_errno;
int pvmautoerr = 1;

static const char *text_of(int code)
{
    return code <= 0 && code > -pvm_nerr ? pvm_errlist[-code] : "Unknown error";
}

static void show(const char *what, const char *after)
{
    if (leat_pvm_self.tid)
        fprintf(stderr, "libpvm [t%x]: %s%s: %s\n", (unsigned)leat_pvm_self.tid, what, after,
                text_of(pvm_errno));
    else
        fprintf(stderr, "libpvm: %s%s: %s\n", what, after, text_of(pvm_errno));
}

int lpvmerr(const char *function, int code)
{
    enum { SAY = 1, EXIT = 2, ABORT = 3 };
    pvm_errno = code;
    if (pvmautoerr >= SAY) show(function, "()");
    if (pvmautoerr == EXIT) exit(code);
    if (pvmautoerr == ABORT) abort();
    return code;
}

int pvm_perror(char *message)
{
    show(message ? message : "(null)", "");
    return PvmOk;
}

char *pvm_strerror(void)
{
    return (char *)text_of(pvm_errno);
}
