/*
 * Echo, the source: how many cycles does a message take, one way? (spec/atm.md, 7.2)
 *
 *     leat run --fabric clos444 -- ecs WORDS [OCTETS]
 *
 * The message has so many integers, followed by so many octets. Time starts when this task has the
 * write lock of its port. That cycle is the first of the integers, from which the destination, ecd,
 * computes how long the message took.
 */
#include <leat/atm_task.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE = 1, WORDS_MAX = 20000, OCTETS_MAX = 100000 };

static struct shmst *dev;
static struct prcsdescstr *prcstab;

static void send(int words, int octets)
{
    static int word[WORDS_MAX];
    static char octet[OCTETS_MAX];
    for (int i = 0; i < words; i++)
        word[i] = i;
    atminitsend(dev);
    word[0] = (int)(unsigned)atmcycle(dev);
    atmputnint(dev, word, words);
    atmputbytes(dev, octet, octets);
    atmsnd(dev, prcstab, "ecd", 0, MESSAGE);
}

/* -1: not a number, or too large. */
static int number(const char *text, int max)
{
    char *end;
    const long value = strtol(text, &end, 10);
    return end != text && !*end && value >= 0 && value <= max ? (int)value : -1;
}

int main(int argc, char **argv)
{
    if (atmjoin(&dev, &prcstab)) return 1;
    const int words = argc > 1 ? number(argv[1], WORDS_MAX) : -1;
    const int octets = argc > 2 ? number(argv[2], OCTETS_MAX) : 0;
    if (words < 0 || octets < 0 || argc > 3) {
        fprintf(stderr, "ecs: expected a number of integers, up to %d, as in: ecs 1\n", WORDS_MAX);
        return 2;
    }
    atmstart(dev, prcstab, "ecd", 0);
    send(words, octets);
    return 0;
}
