/* The folds of leat/port.h, for whoever carries them out: switches, interfaces, hosts. */
#ifndef LEAT_PORT_FOLD_H
#define LEAT_PORT_FOLD_H

#include <leat/port.h>

static inline uint64_t leat_port_fold_one(enum leat_port_fold fold, uint64_t a, uint64_t b)
{
    switch (fold) {
    case LEAT_PORT_SUM: return a + b;
    case LEAT_PORT_AND: return a & b;
    case LEAT_PORT_OR: return a | b;
    case LEAT_PORT_XOR: return a ^ b;
    case LEAT_PORT_MAX: return a > b ? a : b;
    case LEAT_PORT_MIN: return a < b ? a : b;
    case LEAT_PORT_FOLDS: break;
    }
    return 0;
}

/* The word that changes no other one. */
static inline uint64_t leat_port_fold_identity(enum leat_port_fold fold)
{
    return fold == LEAT_PORT_AND || fold == LEAT_PORT_MIN ? UINT64_MAX : 0;
}

/* Folds `more` into `word`. */
static inline void leat_port_fold_words(enum leat_port_fold fold, uint64_t *word,
                                        const uint64_t *more, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        word[i] = leat_port_fold_one(fold, word[i], more[i]);
}

#endif
