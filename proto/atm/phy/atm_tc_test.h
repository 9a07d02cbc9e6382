/* For the tests of transmission convergence: numbered cells, and their fate. */
#ifndef LEAT_ATM_TC_TEST_H
#define LEAT_ATM_TC_TEST_H

#include "atm_stream.h"
#include "atm_tc.h"
#include "leat_bytes.h"
#include "tap.h"

static inline uint32_t number_of(const uint8_t *cell)
{
    return leat_get_be32(cell + LEAT_ATM_HEADER_LEN);
}

static inline leat_err put_cell(struct leat_atm_stream *stream, uint32_t n)
{
    uint8_t cell[LEAT_ATM_CELL_LEN] = { 0x00, 0x10, 0x00, 0x50 };
    leat_put_be32(cell + LEAT_ATM_HEADER_LEN, n);
    return leat_atm_stream_put(stream, cell);
}

/* So many cells wait in a stream, numbered from 0. */
static inline struct leat_atm_stream stream_of(uint8_t *memory, size_t len, uint32_t cells)
{
    struct leat_atm_stream stream;
    EQ(leat_atm_stream_init(&stream, memory, len), LEAT_ERR_OK);
    for (uint32_t n = 0; n < cells; n++)
        EQ(put_cell(&stream, n), LEAT_ERR_OK);
    return stream;
}

/* Word `index` of a line code whose words have so many bits, the first one highest. */
static inline unsigned word_at(const uint8_t *line, size_t bits, size_t index)
{
    unsigned word = 0;
    for (size_t i = 0; i < bits; i++)
        word = word << 1 | leat_bit_get(line, index * bits + i);
    return word;
}

static inline void put_word(uint8_t *line, size_t bits, size_t index, unsigned word)
{
    for (size_t i = 0; i < bits; i++)
        leat_bit_put(line, index * bits + i, word >> (bits - 1 - i) & 1);
}

struct tally {
    unsigned events[LEAT_ATM_TC_PARITY + 1];
    uint32_t first, last; /* numbers of cells */
    unsigned gaps;        /* where they did not increase by one */
    unsigned corrected;
};

static inline void tally_add(struct tally *t, const struct leat_atm_tc_out *out)
{
    t->events[out->event]++;
    if (out->event != LEAT_ATM_TC_CELL) return;
    const uint32_t number = number_of(out->cell);
    if (t->events[LEAT_ATM_TC_CELL] == 1)
        t->first = number;
    else
        t->gaps += number != t->last + 1;
    t->last = number;
    t->corrected += out->corrected;
}

#endif
