/*
 * The product of two matrices: the task of one element (spec/atm.md, 7.4). mml starts one for each
 * of the first matrix, m x p, row by row, then one for each of the second, p x n.
 *
 * Tasks of the second matrix broadcast their elements. In each row of the first, for each column of
 * the second, all tasks multiply and the first of the row adds the products.
 */
#include <leat/atm_task.h>

static struct shmst *dev;
static struct prcsdescstr *prcstab;

static void send(const char *name, int inst, int type, int value)
{
    atminitsend(dev);
    atmputnint(dev, &value, 1);
    atmsnd(dev, prcstab, name, inst, type);
}

static int receive(int type)
{
    int value;
    atmrcv(dev, type);
    atmgetnint(dev, &value, 1);
    dev->rlcked = 0;
    return value;
}

/* Results of more than 32 bits lose their upper bits. */
static int product(int a, int b)
{
    return (int)((unsigned)a * (unsigned)b);
}

static int sum(int a, int b)
{
    return (int)((unsigned)a + (unsigned)b);
}

static void multiply(int me, int m, int p, int n, int own)
{
    const int column = me % p, first = me - column;
    for (int j = 0; j < n; j++) {
        int r = product(own, receive(m * p + n * column + j));
        if (column) {
            send("mmp", first, me, r);
            continue;
        }
        for (int d = 1; d < p; d++)
            r = sum(r, receive(me + d));
        send("mml", 0, me, r);
    }
}

int main(void)
{
    int shape[3], own;
    if (atmjoin(&dev, &prcstab)) return 1;
    const int me = atminst(dev);
    atmrcv(dev, me);
    atmgetnint(dev, shape, 3);
    atmgetnint(dev, &own, 1);
    dev->rlcked = 0;
    if (me < shape[0] * shape[1])
        multiply(me, shape[0], shape[1], shape[2], own);
    else
        send("mmp", -1, me, own);
    return 0;
}
