#include "graph_streams.h"
#include "graph_run_parts.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

bool leat_poets_streams_make(struct leat_poets_streams *streams, struct leat_poets_link *link)
{
    *streams = (struct leat_poets_streams){ .link = link };
    if (!link) return true;
    if (link->rank)
        streams->mine = calloc(1, sizeof *streams->mine);
    else
        streams->of = calloc(link->rank_count, sizeof(struct leat_poets_piece *));
    return streams->mine || streams->of;
}

void leat_poets_streams_free(struct leat_poets_streams *streams)
{
    for (uint32_t r = 0; streams->of && r < streams->link->rank_count; r++)
        free(streams->of[r]);
    free(streams->of);
    free(streams->mine);
}

void leat_poets_streams_wait(struct leat_poets_link *link, uint32_t kind,
                             struct leat_poets_note *note)
{
    uint32_t from;
    while (!leat_poets_link_receive_note(link, &from, note) || note->kind != kind)
        sched_yield();
}

void leat_poets_streams_end(struct leat_poets_streams *streams)
{
    struct leat_poets_link *link = streams->link;
    struct leat_poets_piece *mine = streams->mine;
    struct leat_poets_note note;
    if (!mine->len) return;
    leat_poets_streams_wait(link, LEAT_POETS_NOTE_PULL, &note);
    while (!link->send(link, 0, LEAT_POETS_LINK_DATA, mine->octets, mine->len))
        sched_yield();
    mine->len = 0;
}

void leat_poets_streams_put(void *context, const uint8_t *octets, size_t len)
{
    struct leat_poets_streams *streams = context;
    struct leat_poets_piece *mine = streams->mine;
    while (len) {
        const size_t room = sizeof mine->octets - mine->len, some = len < room ? len : room;
        memcpy(mine->octets + mine->len, octets, some);
        mine->len += some;
        octets += some;
        len -= some;
        if (mine->len == sizeof mine->octets) leat_poets_streams_end(streams);
    }
}

bool leat_poets_streams_take(struct leat_poets_streams *streams, uint32_t rank, size_t len,
                             void (*use)(void *context, const uint8_t *octets, size_t len),
                             void *context)
{
    static const struct leat_poets_note note = { .kind = LEAT_POETS_NOTE_PULL };
    struct leat_poets_link *link = streams->link;
    if (!streams->of[rank]) streams->of[rank] = calloc(1, sizeof(struct leat_poets_piece));
    struct leat_poets_piece *piece = streams->of[rank];
    while (piece && len) {
        if (piece->at == piece->len) {
            uint32_t from;
            leat_poets_link_send_note(link, rank, &note);
            while (!link->receive(link, LEAT_POETS_LINK_DATA, piece->octets, &from, &piece->len))
                sched_yield();
            piece->at = 0;
        }
        const size_t have = piece->len - piece->at, some = len < have ? len : have;
        use(context, piece->octets + piece->at, some);
        piece->at += some;
        len -= some;
    }
    return piece;
}
