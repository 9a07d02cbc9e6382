/*
 * The thesis' test of two units (spec/atm.md, 5.5): a message to all tasks called rcv, then one
 * only to the first of them. In the thesis they are at ports 1 and 5:
 *
 *     leat run --fabric clos444 --placement 1,5 -- snd
 */
#include <leat/atm_task.h>

int main(void)
{
    struct shmst *dev;
    struct prcsdescstr *prcstab;
    const int val1 = 285, val2 = 544;
    const float val3 = 1297.456f;

    if (atmjoin(&dev, &prcstab)) return 1;
    atmstart(dev, prcstab, "rcv", 1);

    atminitsend(dev);
    atmputnint(dev, &val1, 1);
    atmsnd(dev, prcstab, "rcv", -1, 1);

    atminitsend(dev);
    atmputnint(dev, &val2, 1);
    atmputnfloat(dev, &val3, 1);
    atmsnd(dev, prcstab, "rcv", 1, 1);
    return 0;
}
