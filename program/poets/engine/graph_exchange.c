#include "graph_exchange.h"
#include "leat_bytes.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 256, WORD_LEN = 4 };

/* ---- parcels -------------------------------------------------------------------------------- */

static uint8_t *room_for(struct leat_poets_parcel *p, size_t len)
{
    if (p->len + len > p->cap) {
        const size_t cap = CAP_MIN + p->cap + p->cap / 2 + len;
        uint8_t *grown = realloc(p->octets, cap);
        p->damaged = p->damaged || !grown;
        if (!grown) return NULL;
        p->octets = grown;
        p->cap = cap;
    }
    p->len += len;
    return p->octets + p->len - len;
}

static void add(struct leat_poets_parcel *p, const void *octets, size_t len)
{
    uint8_t *room = len ? room_for(p, len) : NULL;
    if (room) memcpy(room, octets, len);
}

void leat_poets_parcel_put(struct leat_poets_parcel *parcel, uint32_t word)
{
    uint8_t octets[WORD_LEN];
    leat_put_le32(octets, word);
    add(parcel, octets, sizeof octets);
}

void leat_poets_parcel_put_text(struct leat_poets_parcel *parcel, const char *text, size_t len)
{
    leat_poets_parcel_put(parcel, (uint32_t)len);
    add(parcel, text, len);
}

void leat_poets_parcel_put_all(struct leat_poets_parcel *parcel,
                               const struct leat_poets_parcel *other)
{
    add(parcel, other->octets, other->len);
    parcel->damaged = parcel->damaged || other->damaged;
}

/* NULL: there are fewer. */
static const uint8_t *take(struct leat_poets_parcel *p, size_t len)
{
    p->damaged = p->damaged || p->len - p->at < len;
    if (p->damaged) return NULL;
    p->at += len;
    return p->octets + p->at - len;
}

uint32_t leat_poets_parcel_take(struct leat_poets_parcel *parcel)
{
    const uint8_t *octets = take(parcel, WORD_LEN);
    return octets ? leat_get_le32(octets) : 0;
}

const char *leat_poets_parcel_take_text(struct leat_poets_parcel *parcel, size_t *len)
{
    *len = leat_poets_parcel_take(parcel);
    const uint8_t *octets = *len ? take(parcel, *len) : NULL;
    if (!octets) *len = 0;
    return octets ? (const char *)octets : "";
}

bool leat_poets_parcel_is_empty(const struct leat_poets_parcel *parcel)
{
    return parcel->damaged || parcel->at == parcel->len;
}

void leat_poets_parcel_free(struct leat_poets_parcel *parcel)
{
    free(parcel->octets);
    *parcel = (struct leat_poets_parcel){ 0 };
}

struct leat_poets_parcel *leat_poets_parcels(const struct leat_poets_link *link)
{
    return calloc(link->rank_count, sizeof(struct leat_poets_parcel));
}

void leat_poets_parcels_free(struct leat_poets_parcel *parcel, const struct leat_poets_link *link)
{
    for (uint32_t r = 0; parcel && r < link->rank_count; r++)
        leat_poets_parcel_free(&parcel[r]);
    free(parcel);
}

/* ---- the exchange --------------------------------------------------------------------------- */

struct exchange {
    struct leat_poets_link *link;
    struct leat_poets_parcel *in;
    uint32_t ended; /* parcels that have arrived */
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
};

/* An empty piece ends a parcel. */
static void receive_some(struct exchange *x)
{
    uint32_t from;
    size_t len;
    if (!x->link->receive(x->link, LEAT_POETS_LINK_DATA, x->octets, &from, &len)) {
        sched_yield();
        return;
    }
    add(&x->in[from], x->octets, len);
    x->ended += !len;
}

static void send_parcel(struct exchange *x, uint32_t to, const struct leat_poets_parcel *p)
{
    size_t at = 0, len;
    do {
        len = p->len - at < LEAT_POETS_LINK_LEN_MAX ? p->len - at : LEAT_POETS_LINK_LEN_MAX;
        while (!x->link->send(x->link, to, LEAT_POETS_LINK_DATA, len ? p->octets + at : x->octets,
                              len))
            receive_some(x);
        at += len;
    } while (len);
}

bool leat_poets_exchange(struct leat_poets_link *link, struct leat_poets_parcel *parcel, bool good)
{
    const uint32_t count = link->rank_count;
    struct exchange *x = calloc(1, sizeof *x);
    if (x) x->in = leat_poets_parcels(link);
    if (!x || !x->in) {
        free(x);
        link->abort(link, 1); /* the others would wait for it */
        return false;
    }
    x->link = link;
    for (uint32_t k = 1; k < count; k++) {
        struct leat_poets_parcel *p = &parcel[(link->rank + k) % count];
        send_parcel(x, (link->rank + k) % count, p);
        good = good && !p->damaged;
        leat_poets_parcel_free(p);
    }
    while (x->ended < count - 1)
        receive_some(x);
    for (uint32_t r = 0; r < count; r++) {
        if (r != link->rank) parcel[r] = x->in[r];
        good = good && !parcel[r].damaged;
    }
    free(x->in);
    free(x);
    return leat_poets_link_agree(link, good, 0).good;
}
