/*
 * Octets from every rank to every other, before a run: parcels are packed, exchanged, and unpacked
 * in the order in which they were packed.
 */
#ifndef LEAT_GRAPH_EXCHANGE_H
#define LEAT_GRAPH_EXCHANGE_H

#include "graph_link.h"

struct leat_poets_parcel {
    uint8_t *octets;
    size_t len, cap, at; /* at: what is unpacked next */
    bool damaged;        /* there was no memory for some of it, or it ended too early */
};

/* All zero is an empty parcel. A text is not ended by a NUL. */
void leat_poets_parcel_put(struct leat_poets_parcel *parcel, uint32_t word);
void leat_poets_parcel_put_text(struct leat_poets_parcel *parcel, const char *text, size_t len);
void leat_poets_parcel_put_all(struct leat_poets_parcel *parcel,
                               const struct leat_poets_parcel *other);
/* 0 or "" behind the end. A text is lent until the parcel is freed. */
uint32_t leat_poets_parcel_take(struct leat_poets_parcel *parcel);
const char *leat_poets_parcel_take_text(struct leat_poets_parcel *parcel, size_t *len);
bool leat_poets_parcel_is_empty(const struct leat_poets_parcel *parcel);

void leat_poets_parcel_free(struct leat_poets_parcel *parcel); /* it is empty then */

/* All ranks call it, with a parcel for each rank, this one too. They are replaced by those from
 * each rank. True: all ranks were `good` and have everything. */
bool leat_poets_exchange(struct leat_poets_link *link, struct leat_poets_parcel *parcel, bool good);

/* One for each rank; NULL: no memory. */
struct leat_poets_parcel *leat_poets_parcels(const struct leat_poets_link *link);
void leat_poets_parcels_free(struct leat_poets_parcel *parcel, const struct leat_poets_link *link);

#endif
