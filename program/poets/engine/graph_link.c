#include "graph_link.h"
#include "leat_bytes.h"
#include <sched.h>
#include <time.h>

enum { KIND_AT = 0, COUNT_AT = 4, WORDS_AT = 8, NAP_NS = 100000 };
enum { READY = 0x100, AGREED };

static void nap(void)
{
    static const struct timespec time = { .tv_nsec = NAP_NS };
    nanosleep(&time, NULL);
}

void leat_poets_link_send_note(struct leat_poets_link *link, uint32_t to,
                               const struct leat_poets_note *note)
{
    uint8_t octets[WORDS_AT + 8 * LEAT_POETS_NOTE_WORDS_MAX];
    leat_put_le32(octets + KIND_AT, note->kind);
    leat_put_le32(octets + COUNT_AT, note->count);
    for (uint32_t i = 0; i < note->count; i++)
        leat_put_le64(octets + WORDS_AT + 8 * i, note->word[i]);
    const size_t len = WORDS_AT + 8 * (size_t)note->count;
    while (!link->send(link, to, LEAT_POETS_LINK_CONTROL, octets, len))
        sched_yield();
}

void leat_poets_link_send_note_to_all(struct leat_poets_link *link,
                                      const struct leat_poets_note *note)
{
    for (uint32_t r = 0; r < link->rank_count; r++)
        if (r != link->rank) leat_poets_link_send_note(link, r, note);
}

bool leat_poets_link_receive_note(struct leat_poets_link *link, uint32_t *from,
                                  struct leat_poets_note *out)
{
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
    size_t len;
    while (link->receive(link, LEAT_POETS_LINK_CONTROL, octets, from, &len)) {
        if (len < WORDS_AT) continue;
        *out = (struct leat_poets_note){ .kind = leat_get_le32(octets + KIND_AT),
                                         .count = leat_get_le32(octets + COUNT_AT) };
        if (out->count > LEAT_POETS_NOTE_WORDS_MAX || len != WORDS_AT + 8 * (size_t)out->count)
            continue;
        for (uint32_t i = 0; i < out->count; i++)
            out->word[i] = leat_get_le64(octets + WORDS_AT + 8 * i);
        return true;
    }
    return false;
}

/* ---- agreement ------------------------------------------------------------------------------ */

/* The next note of that kind; there is no other traffic yet. */
static struct leat_poets_note wait_for(struct leat_poets_link *link, uint32_t kind)
{
    struct leat_poets_note note;
    uint32_t from;
    for (;;) {
        if (!leat_poets_link_receive_note(link, &from, &note))
            nap();
        else if (note.kind == kind && note.count == 3)
            return note;
    }
}

struct leat_poets_agreement leat_poets_link_agree(struct leat_poets_link *link, bool good,
                                                  uint64_t fingerprint)
{
    struct leat_poets_agreement is = { good, good, true };
    struct leat_poets_note note = { .kind = READY, .count = 3, .word = { good, fingerprint } };
    if (link->rank) {
        leat_poets_link_send_note(link, 0, &note);
        note = wait_for(link, AGREED);
        return (struct leat_poets_agreement){ note.word[0], note.word[1], note.word[2] };
    }
    for (uint32_t r = 1; r < link->rank_count; r++) {
        note = wait_for(link, READY);
        is.good = is.good && note.word[0];
        is.same = is.same && note.word[1] == fingerprint;
    }
    note = (struct leat_poets_note){ .kind = AGREED,
                                     .count = 3,
                                     .word = { is.good, is.first_good, is.same } };
    leat_poets_link_send_note_to_all(link, &note);
    return is;
}
