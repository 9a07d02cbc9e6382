/*
 * A PVM program that uses the thesis' calls as well: the first task spawns workers by PVM, sends
 * each a number by atmsnd and to all of them one by a broadcast; each sends their product back by
 * PVM, and its instance by atmsnd. Both kinds of messages have the same number as tag and type.
 * With a word as argument, it asks for the route that does not exist; with two, it calls atmstart.
 */
#include <leat/atm_task.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

int pvm_advise(int route); /* of PVM 3.2: not in its present header */

enum { WORKERS = 3, TAG = 5, ALL = 6 };

static struct shmst *dev;
static struct prcsdescstr *table;

static void send_number(const char *name, int instance, int type, int number)
{
    atminitsend(dev);
    atmputnint(dev, &number, 1);
    atmsnd(dev, table, name, instance, type);
}

static int receive_number(int type)
{
    int number;
    atmrcv(dev, type);
    atmgetnint(dev, &number, 1);
    dev->rlcked = 0;
    return number;
}

static void work(const char *name)
{
    const int own = receive_number(TAG), common = receive_number(ALL);
    int product = own * common;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&product, 1, 1);
    pvm_send(pvm_parent(), TAG);
    send_number(name, 0, TAG, atminst(dev));
}

/* The master is instance 0 of their name, the workers the ones after it. */
static int lead(const char *program, const char *name)
{
    int tid[WORKERS], sum = 0, instances = 0, product;
    if (pvm_spawn((char *)program, NULL, PvmTaskDefault, NULL, WORKERS, tid) != WORKERS) return 1;
    for (int i = 1; i <= WORKERS; i++)
        send_number(name, i, TAG, i);
    send_number(name, -1, ALL, 100);
    for (int i = 0; i < WORKERS; i++) {
        pvm_recv(-1, TAG);
        pvm_upkint(&product, 1, 1);
        sum += product;
        instances += receive_number(TAG);
    }
    printf("sum %d, instances %d, own copy %d, own port %s, cycles %s\n", sum, instances,
           receive_number(ALL), atmport(dev, table, name, 0) == 0 ? "known" : "unknown",
           atmcycle(dev) > 193 ? "passed" : "missing");
    return atmport(dev, table, "xyz", 0) != -1;
}

int main(int argc, char **argv)
{
    if (pvm_advise(PvmRouteDirect) != PvmOk || pvm_getopt(PvmRoute) != PvmRouteDirect) return 1;
    if (argc > 1) pvm_advise(PvmDontRoute);
    if (atmjoin(&dev, &table)) return 1;
    if (argc > 2) atmstart(dev, table, "bot", 9);
    const int code = pvm_parent() == PvmNoParent ? lead(argv[0], "bot") : (work("bot"), 0);
    atmleave(dev);
    pvm_exit();
    return code;
}
