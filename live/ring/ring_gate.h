/*
 * The gate of a live station: everything that happens to a frame between its arrival and its
 * departure, without a system call. XDP (ring_xdp.bpf.c) and the packet-socket station
 * (ring_packet.c) compile this one source; they differ in how a frame comes and goes.
 *
 *   ring_check   for us? from the previous station? of our ring? image, MAC, CRC, payload sound?
 *   ring_admit   our own, gone round: up to the host (OWN); hops left? not too often?
 *   ring_fold    this station's part (FOLDED, REPEATED, NO_ROOM); of a passive packet that is
 *                addressed to it, a copy for the host's mailbox (COPIED, MAILBOX_FULL); with a key,
 *                once (REPLAYED)
 *   ring_seal    next address, hops, CRC, MAC: on its way
 *
 * Any "no" on the way: dropped, and counted by the reason.
 *
 * The includer gives what its ground has: ring_frame_crc, ring_frame_mac, ring_rate_allows,
 * ring_window_of, ring_mailbox_takes and, for a verifier, LEAT_ATON_BOUND.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_RING_GATE_H
#define LEAT_RING_GATE_H

#include "ring_frame.h"

/* CRC of the image in f; MAC of header and image. */
static uint32_t ring_frame_crc(struct ring_frame *f);
static uint64_t ring_frame_mac(struct ring_frame *f, const struct ring_config *c);
static bool ring_rate_allows(const struct ring_config *c, uint16_t sender);

/* What has come of a sender's messages; NULL: it is not known. */
static struct ring_window *ring_window_of(uint16_t sender);

/* A record for the mailbox: so many octets of the image from there on. False: it has no room. */
static bool ring_mailbox_takes(struct ring_frame *f, uint32_t at, uint32_t len);

static inline uint32_t ring_mac_at(const struct ring_frame *f)
{
    return LEAT_ATON_BOUND(f->image_len);
}

/* The head of the image: is there such a packet, and where does it end? */
static inline enum ring_reason ring_measure(struct ring_frame *f, const struct ring_config *c)
{
    struct leat_aton_packet p = { 0 };
    struct leat_aton_shape shape = { 0 };
    const uint8_t *image = ring_image(f);
    if (image[LEAT_ATON_AC_AT] >> LEAT_ATON_AC_TOKEN & 1) return RING_MALFORMED;
    if (leat_aton_ctl_decode(leat_get_be16(image + LEAT_ATON_CTL_AT), &p)) return RING_MALFORMED;
    uint32_t head_len = LEAT_ATON_LONG_PAYLOAD_AT;
    p.counter = leat_get_be16(image + LEAT_ATON_COUNTER_AT);
    if (!p.active) {
        head_len = LEAT_ATON_PASSIVE_PAYLOAD_AT;
        p.payload_len = p.counter; /* `length` stands there */
    } else if (p.counter > LEAT_ATON_INTERFACES_MAX) {
        return RING_MALFORMED;
    } else if (p.opcode < LEAT_ATON_SORT) {
        head_len = LEAT_ATON_VARIABLE_AT + p.width_bits / 4u;
    } else {
        p.param = leat_get_be16(image + LEAT_ATON_PARAM_AT);
    }
    if (leat_aton_packet_shape(&p, &shape)) return RING_MALFORMED;
    const uint32_t item_len = (uint32_t)shape.flag_len + shape.value_len;
    f->image_len = head_len + (uint32_t)shape.count * item_len + LEAT_ATON_TRAILER_LEN;
    return f->image_len + RING_IMAGE_AT + ring_mac_len(c) > f->len ? RING_SHORT : RING_FOLDED;
}

/* What the CRC does not tell: counters that do not fit, valid octets that are none, FLG. */
static inline bool ring_payload_is_sound(struct ring_frame *f)
{
    uint8_t *image = ring_image(f);
    const uint32_t ctl = leat_get_be16(image + LEAT_ATON_CTL_AT);
    const uint32_t param = leat_get_be16(image + LEAT_ATON_PARAM_AT);
    const uint32_t opcode = ctl >> LEAT_ATON_CTL_OPCODE & 15;
    const uint32_t width_bits = 16u << (ctl >> LEAT_ATON_CTL_WIDTH & 3);
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    const uint8_t flg = image[LEAT_ATON_BOUND(flg_at)];
    uint32_t at = LEAT_ATON_LONG_PAYLOAD_AT;
    if (flg & LEAT_ATON_FLG_ZERO || flg >> 4 != (flg & 15)) return false;
    if (opcode == LEAT_ATON_BITCOUNT && param % 8) {
        /* The highest octet of a counter holds the bits that are left over. */
        for (uint32_t j = 0; j < 64 && j < width_bits; j++, at += (param + 7) / 8)
            if (image[LEAT_ATON_BOUND(at)] >> param % 8) return false;
    } else if (opcode == LEAT_ATON_TREE) {
        for (uint32_t h = 0; h < LEAT_ATON_SLOTS_MAX && h < param; h++, at += 1 + width_bits / 8)
            if (image[LEAT_ATON_BOUND(at)] > 1) return false;
    }
    return true;
}

/* All that can be wrong with a frame of our Ethernet type. FOLDED: nothing. */
static inline enum ring_reason ring_check(struct ring_frame *f, const struct ring_config *c)
{
    const uint8_t *o = f->octets;
    if (f->len > RING_FRAME_MAX) return RING_LONG;
    if (f->len < RING_FRAME_MIN) return RING_SHORT;
    if (!ring_same_mac(o + RING_TO_AT, c->own)) return RING_ELSEWHERE;
    if (!ring_same_mac(o + RING_FROM_AT, c->previous)) return RING_STRANGER;
    if (leat_get_be32(o + RING_HEADER_AT) != c->ring_id) return RING_FOREIGN;
    if (leat_get_be16(o + RING_ZERO_AT) != 0) return RING_MALFORMED;
    const enum ring_reason measured = ring_measure(f, c);
    if (measured != RING_FOLDED) return measured;
    uint8_t *image = ring_image(f);
    if (c->has_key && ring_frame_mac(f, c) != leat_get_be64(image + ring_mac_at(f)))
        return RING_MAC;
    const uint32_t crc_at = f->image_len - LEAT_ATON_CRC_LEN;
    if (ring_frame_crc(f) != leat_get_be32(image + LEAT_ATON_BOUND(crc_at))) return RING_CRC;
    return ring_payload_is_sound(f) ? RING_FOLDED : RING_MALFORMED;
}

/* A frame that has been checked: may it go on? FOLDED: it may. */
static inline enum ring_reason ring_admit(struct ring_frame *f, const struct ring_config *c,
                                          const struct ring_page *page)
{
    const uint8_t *image = ring_image(f);
    if (leat_aton_is_own(&page->interface, image)) {
        const uint32_t sequence = leat_get_be32(f->octets + RING_SEQUENCE_AT);
        const uint32_t age = *(const volatile uint32_t *)&page->issued - sequence;
        return age < RING_AWAITED_MAX ? RING_OWN : RING_UNASKED;
    }
    if (f->octets[RING_HOPS_AT] == 0) return RING_HOPS;
    if (c->rate_per_s && !ring_rate_allows(c, leat_get_be16(image + LEAT_ATON_SA_AT)))
        return RING_RATE;
    return RING_FOLDED;
}

/* A message of a keyed ring, which has a serial, for the first time? */
static inline bool ring_is_new(struct ring_frame *f, uint32_t flg_at)
{
    const uint8_t *image = ring_image(f);
    struct ring_window *window = ring_window_of(leat_get_be16(image + LEAT_ATON_SA_AT));
    return window && flg_at >= LEAT_ATON_PASSIVE_PAYLOAD_AT + RING_SERIAL_LEN &&
           ring_window_take(window, leat_get_be64(image + LEAT_ATON_PASSIVE_PAYLOAD_AT));
}

/* A record of the mailbox is sender, length and octets, as in the image. With a key a serial stands
 * between them, which is not for the reader: while the record is copied, sender and length stand in
 * the serial's last four octets. */
static inline bool ring_deliver(struct ring_frame *f, const struct ring_config *c, uint32_t flg_at)
{
    enum { HEAD_AT = LEAT_ATON_PASSIVE_PAYLOAD_AT + RING_SERIAL_LEN - 4 };
    uint8_t *image = ring_image(f);
    if (!c->has_key) return ring_mailbox_takes(f, LEAT_ATON_SA_AT, flg_at - LEAT_ATON_SA_AT);
    const uint32_t head = leat_get_be32(image + LEAT_ATON_SA_AT);
    const uint32_t kept = leat_get_be32(image + HEAD_AT);
    leat_put_be32(image + HEAD_AT, head - RING_SERIAL_LEN);
    const bool taken = ring_mailbox_takes(f, HEAD_AT, flg_at - HEAD_AT);
    leat_put_be32(image + HEAD_AT, kept);
    return taken;
}

/*
 * A passive packet passes, and its sender learns by A that its station is there, by C that it has
 * the octets. Of several that are addressed, one that has no room leaves C as the others made it.
 */
static inline enum ring_reason ring_copy(struct ring_frame *f, const struct ring_config *c,
                                         const struct ring_page *page)
{
    uint8_t *image = ring_image(f);
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    if (!leat_aton_is_addressed(&page->interface, image)) return RING_REPEATED;
    image[LEAT_ATON_BOUND(flg_at)] |= LEAT_ATON_FLG_A;
    if (c->has_key && !ring_is_new(f, flg_at)) return RING_REPLAYED;
    if (!ring_deliver(f, c, flg_at)) return RING_MAILBOX_FULL;
    image[LEAT_ATON_BOUND(flg_at)] |= LEAT_ATON_FLG_C;
    return RING_COPIED;
}

/* The visit itself: what changes a frame (up to REPLAYED), REPEATED or NO_ROOM. */
static inline enum ring_reason ring_fold(struct ring_frame *f, const struct ring_config *c,
                                         const struct ring_page *page)
{
    const uint32_t ctl = leat_get_be16(ring_image(f) + LEAT_ATON_CTL_AT);
    if (!(ctl >> LEAT_ATON_CTL_ACTIVE)) return ring_copy(f, c, page);
    const uint32_t room = c->frame_max - RING_IMAGE_AT - ring_mac_len(c);
    const enum leat_aton_visit visit = leat_aton_visit(&page->interface, ring_image(f),
                                                       &f->image_len, room);
    if (visit == LEAT_ATON_NO_ROOM) return RING_NO_ROOM;
    return visit == LEAT_ATON_TAKES_PART ? RING_FOLDED : RING_REPEATED;
}

/* Addresses and hops of what leaves; CRC, MAC and length where it has changed. */
static inline void ring_seal(struct ring_frame *f, const struct ring_config *c, bool changed)
{
    uint8_t *image = ring_image(f);
    ring_put_mac(f->octets + RING_TO_AT, c->next);
    ring_put_mac(f->octets + RING_FROM_AT, c->from);
    f->octets[RING_HOPS_AT]--;
    if (!changed) return;
    const uint32_t crc_at = f->image_len - LEAT_ATON_CRC_LEN;
    const uint32_t len = RING_IMAGE_AT + f->image_len + ring_mac_len(c);
    leat_put_be32(image + LEAT_ATON_BOUND(crc_at), ring_frame_crc(f));
    if (c->has_key) leat_put_be64(image + ring_mac_at(f), ring_frame_mac(f, c));
    if (len > f->len) f->len = len; /* a short frame's padding stays */
}

#endif
