/* The thesis' test of two units: receives what snd has sent. */
#include <leat/atm_task.h>
#include <stdio.h>

int main(void)
{
    struct shmst *dev;
    struct prcsdescstr *prcstab;
    int x;
    float y;

    if (atmjoin(&dev, &prcstab)) return 1;
    atmrcv(dev, 1);
    atmgetnint(dev, &x, 1);
    dev->rlcked = 0;
    printf("(cycle = %llu, x1 = %d)\n", atmcycle(dev), x);

    atmrcv(dev, 1);
    atmgetnint(dev, &x, 1);
    atmgetnfloat(dev, &y, 1);
    dev->rlcked = 0;
    printf("(cycle = %llu, x2 = %d, x3 = %f)\n", atmcycle(dev), x, y);
    return 0;
}
