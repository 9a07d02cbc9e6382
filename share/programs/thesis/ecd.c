/* Echo, the destination: unpacks the message and prints how many cycles it took. Started by ecs,
 * with the same arguments. */
#include <leat/atm_task.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE = 1, WORDS_MAX = 20000, OCTETS_MAX = 100000 };

int main(int argc, char **argv)
{
    static int word[WORDS_MAX];
    static char octet[OCTETS_MAX];
    struct shmst *dev;
    struct prcsdescstr *prcstab;
    if (atmjoin(&dev, &prcstab)) return 1;
    const int words = atoi(argv[1]), octets = argc > 2 ? atoi(argv[2]) : 0;

    atmrcv(dev, MESSAGE);
    atmgetnint(dev, word, words);
    atmgetbytes(dev, octet, octets);
    dev->rlcked = 0;
    if (words)
        printf("%d octets: %u cycles\n", 4 * words + octets,
               (unsigned)atmcycle(dev) - (unsigned)word[0]);

    for (int i = 1; i < words; i++)
        if (word[i] != i) atmfail(dev, "the message is not the one that was sent");
    return 0;
}
