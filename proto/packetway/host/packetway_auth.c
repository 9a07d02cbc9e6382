#include "packetway_auth.h"
#include "leat_siphash.h"
#include "packetway_forward.h"
#include "packetway_wire.h"
#include <string.h>

enum {
    FIELD_AT = LEAT_PACKETWAY_HEADER_LEN, /* after the beginning of PH */
    FROM_AT = FIELD_AT + 2,
    TO_AT = FIELD_AT + 5,
    SERIAL_AT = FIELD_AT + 8,
    MAC_AT = FIELD_AT + 16,
    H = 0x80,
    LAST = 0x40, /* of a field: C */
};
static const uint64_t ns_per_s = 1000000000;

void leat_packetway_auth_init(struct leat_packetway_auth *auth, const struct leat_keys *keys)
{
    memset(auth, 0, sizeof *auth);
    auth->keys = *keys;
}

bool leat_packetway_is_control(const uint8_t *message, uint32_t len, uint32_t *header_at)
{
    if (len % LEAT_PACKETWAY_WORD_LEN ||
        leat_packetway_find_header(message, len, 0, LEAT_PACKETWAY_FRONT_MAX, header_at))
        return false;
    return leat_packetway_pt_is_keyed(leat_get_be16(message + *header_at + LEAT_PACKETWAY_PT_AT));
}

bool leat_packetway_auth_is_there(const uint8_t *message, uint32_t len, uint32_t header_at)
{
    const uint8_t *ph = message + header_at;
    return len - header_at >= FIELD_AT + LEAT_PACKETWAY_AUTH_LEN + LEAT_PACKETWAY_TAIL_LEN &&
           (ph[LEAT_PACKETWAY_H_AT] & H) &&
           (ph[FIELD_AT] & ~LAST) == LEAT_PACKETWAY_OH_CRYPTOGRAPHIC &&
           ph[FIELD_AT + 1] == LEAT_PACKETWAY_AUTH_L;
}

/* A WRU? without SA asks who has an address, and changes nothing (spec 6.1). */
static bool is_claim(const uint8_t *ph)
{
    return leat_get_be16(ph + LEAT_PACKETWAY_PT_AT) == LEAT_PACKETWAY_PT_RRP &&
           leat_get_be16(ph + LEAT_PACKETWAY_TE_AT) == LEAT_PACKETWAY_TE_WRU &&
           leat_get_be24(ph + LEAT_PACKETWAY_SA_AT) == 0;
}

static uint64_t mac_of(const uint8_t *key, uint64_t link, const uint8_t *message, uint32_t len,
                       uint32_t mac_at)
{
    uint8_t front[16] = "leatpkwy";
    struct leat_sip s;
    leat_put_be64(front + 8, link);
    leat_sip_start(&s, key);
    leat_sip_word(&s, leat_get_le64(front));
    leat_sip_word(&s, leat_get_le64(front + 8));
    for (uint32_t at = 0; at < len; at += 8)
        leat_sip_word(&s, at == mac_at ? 0 : leat_get_le64(message + at));
    return leat_sip_finish(&s, 0, sizeof front + (uint64_t)len);
}

static bool is_keyed(const struct leat_keys *keys, uint64_t link, const uint8_t *message,
                     uint32_t len, uint32_t mac_at)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (mac_of(keys->key[i], link, message, len, mac_at) == leat_get_be64(message + mac_at))
            return true;
    return false;
}

/* Broadcast, so it could come back to this node. */
static void remember(struct leat_packetway_auth *auth)
{
    auth->sent[auth->sent_at] = auth->serial;
    auth->sent_at = (auth->sent_at + 1) % LEAT_PACKETWAY_SENT_MAX;
}

uint32_t leat_packetway_auth_seal(struct leat_packetway_auth *auth,
                                  const struct leat_packetway_hop *hop, const uint8_t *message,
                                  uint32_t len, uint8_t *out)
{
    uint32_t at;
    if (!auth->keys.count || !leat_packetway_is_control(message, len, &at)) return 0;
    const uint32_t front = at + FIELD_AT, all = len + LEAT_PACKETWAY_AUTH_LEN;
    uint8_t *ph = out + at;
    const bool only = !(message[at + LEAT_PACKETWAY_H_AT] & H);
    auth->serial = hop->now > auth->serial ? hop->now : auth->serial + 1;
    if (hop->to == LEAT_PACKETWAY_ADDRESS_BROADCAST) remember(auth);
    memcpy(out, message, front);
    memcpy(out + front + LEAT_PACKETWAY_AUTH_LEN, message + front, len - front);
    ph[LEAT_PACKETWAY_H_AT] |= H;
    ph[FIELD_AT] = (uint8_t)(LEAT_PACKETWAY_OH_CRYPTOGRAPHIC | (only ? LAST : 0));
    ph[FIELD_AT + 1] = LEAT_PACKETWAY_AUTH_L;
    leat_put_be24(ph + FROM_AT, is_claim(ph) ? 0 : hop->me);
    leat_put_be24(ph + TO_AT, hop->to);
    leat_put_be64(ph + SERIAL_AT, auth->serial);
    leat_put_be64(ph + MAC_AT, mac_of(auth->keys.key[0], hop->link, out, all, at + MAC_AT));
    return all;
}

uint32_t leat_packetway_auth_blank(struct leat_packetway_auth *auth,
                                   const struct leat_packetway_hop *hop, const uint8_t *message,
                                   uint32_t len, uint8_t *out)
{
    uint32_t at;
    const uint32_t all = leat_packetway_auth_seal(auth, hop, message, len, out);
    if (all && leat_packetway_is_control(message, len, &at)) leat_put_be64(out + at + MAC_AT, 0);
    return all;
}

/* ---- taking in ---- */

static bool is_fresh(uint64_t serial, uint64_t now)
{
    const uint64_t apart = serial > now ? serial - now : now - serial;
    return apart <= LEAT_PACKETWAY_AUTH_SECONDS * ns_per_s;
}

/* Is it one of our own messages that came back? In our name, anything older than all that is
 * remembered, or too old for anybody, counts as ours. */
static bool is_mine(const struct leat_packetway_auth *auth, const struct leat_packetway_hop *hop,
                    uint32_t from, uint64_t serial)
{
    if (from && from != hop->me) return false;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SENT_MAX; i++)
        if (auth->sent[i] == serial) return true;
    const bool old = serial < auth->sent[auth->sent_at] ||
                     (serial <= auth->serial && !is_fresh(serial, hop->now));
    return from && old;
}

/* Only messages that nobody forwards are broadcast: otherwise a copy for one node could return by
 * another. */
static bool is_for(uint32_t me, const uint8_t *ph)
{
    const uint32_t to = leat_get_be24(ph + TO_AT), dt = leat_get_be24(ph + LEAT_PACKETWAY_DT_AT);
    if (to != LEAT_PACKETWAY_ADDRESS_BROADCAST) return to == me;
    return dt == LEAT_PACKETWAY_ADDRESS_BROADCAST || dt == me || is_claim(ph);
}

static bool is_from_here(const struct leat_packetway_block *block, const uint8_t *ph)
{
    const uint32_t from = leat_get_be24(ph + FROM_AT);
    return from ? leat_packetway_block_holds(block, from) : is_claim(ph);
}

static uint64_t newest(const struct leat_packetway_sender *s)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SERIALS_MAX; i++)
        if (s->serials[i] > most) most = s->serials[i];
    return most;
}

/* The entry of this address, or a free one: that of a sender whose messages are all too old by now
 * and need not be remembered. NULL: there is none. */
static struct leat_packetway_sender *sender_of(struct leat_packetway_auth *auth, uint32_t address,
                                               uint64_t now)
{
    struct leat_packetway_sender *room = NULL;
    for (uint32_t i = 0; i < auth->sender_count; i++)
        if (auth->senders[i].address == address) return &auth->senders[i];
    if (auth->sender_count < LEAT_PACKETWAY_SENDERS_MAX)
        room = &auth->senders[auth->sender_count++];
    for (uint32_t i = 0; !room && i < auth->sender_count; i++)
        if (newest(&auth->senders[i]) < now && !is_fresh(newest(&auth->senders[i]), now))
            room = &auth->senders[i];
    if (room) *room = (struct leat_packetway_sender){ .address = address };
    return room;
}

/* Accepts every serial once. The last few may come in any order; older ones are refused. */
static bool is_first(struct leat_packetway_sender *s, uint64_t serial)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SERIALS_MAX; i++) {
        if (s->serials[i] == serial) return false;
        if (s->serials[i] < s->serials[least]) least = i;
    }
    if (serial < s->serials[least]) return false;
    s->serials[least] = serial;
    return true;
}

/* The counter of the error; NULL: no error. */
static uint64_t *fault_of(struct leat_packetway_auth *auth, const struct leat_packetway_hop *hop,
                          const uint8_t *message, uint32_t len, uint32_t at)
{
    const uint8_t *ph = message + at;
    const bool there = leat_packetway_auth_is_there(message, len, at);
    if (!auth->keys.count) return there ? &auth->counts.locked : NULL;
    if (!there) return &auth->counts.bare;
    const uint32_t from = leat_get_be24(ph + FROM_AT);
    const uint64_t serial = leat_get_be64(ph + SERIAL_AT);
    if (!is_keyed(&auth->keys, hop->link, message, len, at + MAC_AT)) return &auth->counts.forged;
    if (is_mine(auth, hop, from, serial)) return &auth->counts.replayed;
    if (!is_fresh(serial, hop->now)) return &auth->counts.late;
    if (!is_for(hop->me, ph) || !is_from_here(hop->block, ph)) return &auth->counts.misdirected;
    /* In our name, but not from us: another node has our address, which is only reported. */
    if (!from || from == hop->me) return NULL;
    struct leat_packetway_sender *sender = sender_of(auth, from, hop->now);
    if (!sender) return &auth->counts.crowded;
    return is_first(sender, serial) ? NULL : &auth->counts.replayed;
}

bool leat_packetway_auth_open(struct leat_packetway_auth *auth,
                              const struct leat_packetway_hop *hop, uint8_t *message, uint32_t *len)
{
    uint32_t at;
    if (!leat_packetway_is_control(message, *len, &at)) return true;
    uint64_t *fault = fault_of(auth, hop, message, *len, at);
    if (fault) {
        ++*fault;
        return false;
    }
    if (!auth->keys.count) return true;
    const uint32_t front = at + FIELD_AT, behind = front + LEAT_PACKETWAY_AUTH_LEN;
    if (message[front] & LAST) message[at + LEAT_PACKETWAY_H_AT] &= (uint8_t)~H;
    memmove(message + front, message + behind, *len - behind);
    *len -= LEAT_PACKETWAY_AUTH_LEN;
    return true;
}
