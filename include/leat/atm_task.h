/*
 * The thesis' own calls (seed 001, Table 10.2; spec/atm.md, 7.1): a program as tasks, ordinary
 * processes, each bound to a port of an ATM fabric. A task drives the adaptation layer unit of its
 * port itself, word by word, and shares it with the other tasks there: two locks separate them.
 *
 *     struct shmst *dev;
 *     struct prcsdescstr *prcstab;
 *     int x = 285, y;
 *
 *     atmjoin(&dev, &prcstab);                    atmjoin(&dev, &prcstab);
 *     atmstart(dev, prcstab, "rcv", 1);           |
 *     atminitsend(dev);              wlcked       atmrcv(dev, 7);            rlcked
 *     atmputnint(dev, &x, 1);        |            atmgetnint(dev, &y, 1);    |
 *     atmsnd(dev, prcstab, "rcv", 1, 7);          dev->rlcked = 0;
 *
 * Tasks have a name of three letters and an instance number. The first is (beginning of its
 * program's name, 0), and starts the others; index i of the process table is at port i modulo the
 * ports, unless `leat run --placement` says otherwise.
 *
 * A message goes to one task, or to all of a name (instance -1), and has a type, 0 or more. All
 * numbers travel as XDR, big-endian. Computing takes no time. Each octet that a task writes or
 * reads takes the unit's cycles; waiting for locks and messages takes the simulated time of the
 * wait.
 *
 * Programs of the thesis ignore return values. So a call that fails ends the run, with the reason,
 * and all calls return 0. Only atmjoin returns -1 if there is no run.
 *
 * A PVM program (-lpvm3 -lleat-atm, in this order) may call these functions, too, except atmstart:
 * pvm_spawn starts its tasks, atmjoin makes each the next instance of its program's name, and PVM's
 * messages carry theirs, over any fabric.
 *
 *     cc -o srl srl.c $(pkg-config --cflags --libs leat-atm)
 *     leat run --fabric clos444 -- ./srl system.in
 */
#ifndef LEAT_ATM_TASK_H
#define LEAT_ATM_TASK_H

#include <leat/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A task's view of the unit of its port. */
struct shmst {
    int rlcked; /* 1 from the arrival of a message until the task has read it and sets this to 0 */
    int wlcked; /* 1 from atminitsend to atmsnd; read only */
};

/* The process table. It belongs to the run. */
struct prcsdescstr;

/* Complex numbers: single and double precision. */
struct atmcplx {
    float re, im;
};
struct atmdcplx {
    double re, im;
};

/* ---- joining and leaving --------------------------------------------------------------------- */

/* Makes this process the task that `leat run` or atmstart started. Returns -1, with a message on
 * standard error, if neither started it. */
LEAT_API int atmjoin(struct shmst **dev, struct prcsdescstr **prcstab);

/* Enters (name, inst) into the process table and starts the program of that name as this task: the
 * one in the first program's folder, or else the one that a shell finds. It gets the arguments of
 * the first program. Simulated time stops until it has joined. */
LEAT_API int atmstart(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst);

/* The port of a task, or -1 if it is not in the table. */
LEAT_API int atmport(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst);

/* This task's own instance number. */
LEAT_API int atminst(struct shmst *dev);

/* The network's current cycle. Right after atminitsend: the cycle in which the lock was granted. */
LEAT_API unsigned long long atmcycle(struct shmst *dev);

/* Ends the task and releases its read lock; exit() does the same. */
LEAT_API int atmleave(struct shmst *dev);

/* Ends the run as a failure, with this reason ("solution impossible"). */
LEAT_API void atmfail(struct shmst *dev, const char *reason) __attribute__((noreturn));

/* ---- sending --------------------------------------------------------------------------------- */

/* Begins a message: waits until no other task of the port writes or reads. */
LEAT_API int atminitsend(struct shmst *dev);

/* Each of these adds `cnt` elements to it; the sum of a message is limited by the send buffer
 * (67,912 octets). As the unit counts, a word of the bus with b octets takes 4b + 3 cycles:
 *
 *     int, float, long (its value in 4 octets)     a word each
 *     short                                        a word of 2 octets each
 *     dfloat (double), cplx                        two words each
 *     dcplx                                        four words each
 *     bytes                                        words of 4, the last may have less
 *     string, with its final zero                  words of 4, the last filled with zeros
 */
LEAT_API int atmputnint(struct shmst *dev, const int *np, int cnt);
LEAT_API int atmputnshort(struct shmst *dev, const short *np, int cnt);
LEAT_API int atmputnlong(struct shmst *dev, const long *np, int cnt);
LEAT_API int atmputnfloat(struct shmst *dev, const float *np, int cnt);
LEAT_API int atmputndfloat(struct shmst *dev, const double *np, int cnt);
LEAT_API int atmputncplx(struct shmst *dev, const struct atmcplx *np, int cnt);
LEAT_API int atmputndcplx(struct shmst *dev, const struct atmdcplx *np, int cnt);
LEAT_API int atmputbytes(struct shmst *dev, const char *np, int cnt);
LEAT_API int atmputstring(struct shmst *dev, const char *np);

/* Sends the message. Returns as soon as the unit knows the destination; the cells follow later. */
LEAT_API int atmsnd(struct shmst *dev, struct prcsdescstr *prcstab, const char *name, int inst,
                    int type);

/* ---- receiving ------------------------------------------------------------------------------- */

/* Waits for a message of this type for this task. From here until dev->rlcked = 0 no other task of
 * the port reads or writes. */
LEAT_API int atmrcv(struct shmst *dev, int type);

/* The next elements of the message, in the order in which they were put. Reading beyond its end, up
 * to the end of its last cell, returns 0. */
LEAT_API int atmgetnint(struct shmst *dev, int *np, int cnt);
LEAT_API int atmgetnshort(struct shmst *dev, short *np, int cnt);
LEAT_API int atmgetnlong(struct shmst *dev, long *np, int cnt);
LEAT_API int atmgetnfloat(struct shmst *dev, float *np, int cnt);
LEAT_API int atmgetndfloat(struct shmst *dev, double *np, int cnt);
LEAT_API int atmgetncplx(struct shmst *dev, struct atmcplx *np, int cnt);
LEAT_API int atmgetndcplx(struct shmst *dev, struct atmdcplx *np, int cnt);
LEAT_API int atmgetbytes(struct shmst *dev, char *np, int cnt);
/* With its final zero: there must be room for it. */
LEAT_API int atmgetstring(struct shmst *dev, char *np);

#ifdef __cplusplus
}
#endif

#endif
