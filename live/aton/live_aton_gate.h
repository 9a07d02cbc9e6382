/*
 * The gate of a live station: everything that happens to a frame between its arrival and its
 * departure, without a system call. XDP (live_aton_xdp.bpf.c) and the packet-socket station
 * (live_aton_packet.c) compile this one source; they differ in how a frame arrives and leaves.
 *
 *   aton_check   for us? from the previous station? of our ring? image, MAC, CRC, payload valid?
 *   aton_admit   our own, back again: up to the host (OWN); hops left? within the rate?
 *   aton_fold    this station's part (FOLDED, REPEATED, NO_ROOM); of a passive packet that is
 *                addressed to it, a copy for the host's mailbox (COPIED, MAILBOX_FULL); with a key,
 *                once (REPLAYED)
 *   aton_seal    next address, hops, CRC, MAC: forwarded
 *
 * If any check fails, the frame is dropped and counted by the reason.
 *
 * The includer provides what depends on its platform: aton_frame_crc, aton_frame_mac,
 * aton_rate_allows, aton_window_of, aton_mailbox_takes and, for a verifier, LEAT_ATON_BOUND.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_LIVE_ATON_GATE_H
#define LEAT_LIVE_ATON_GATE_H

#include "live_aton_frame.h"

/* CRC of the image in f; MAC of header and image, by one of the keys of a turn. */
static uint32_t aton_frame_crc(struct aton_frame *f);
static uint64_t aton_frame_mac(struct aton_frame *f, const struct aton_page *page, uint32_t turn,
                               uint32_t key);
static bool aton_rate_allows(const struct aton_config *c, uint16_t sender);

/* The messages received from a sender; NULL: unknown. */
static struct aton_window *aton_window_of(uint16_t sender);

/* Copies octets of the image into a record of the mailbox that aton_group_of names. False: no
 * room. */
static bool aton_mailbox_takes(struct aton_frame *f, uint32_t at, uint32_t len);

/* 0: a packet of no group, for the station's own mailbox; otherwise the number of its group plus
 * one. */
static inline uint32_t aton_group_of(const struct aton_frame *f)
{
    const uint32_t flags = f->octets[ATON_FLAGS_AT];
    return flags <= ATON_GROUPS ? flags : 0;
}

/* A group's packets are for its members, whose first register is not 0 (spec/aton.md). */
static inline bool aton_is_concerned(const struct aton_frame *f, const struct aton_page *page)
{
    const uint32_t group = aton_group_of(f);
    if (!group) return true;
    const uint32_t at = (group - 1) * ATON_GROUP_REGISTERS & LEAT_ATON_REGISTER_MAX;
    return *(const volatile uint64_t *)&page->interface.operand[at] != 0;
}

static inline uint32_t aton_mac_at(const struct aton_frame *f)
{
    return LEAT_ATON_BOUND(f->image_len);
}

/* The header of the image: is there such a packet, and where does it end? */
static inline enum aton_reason aton_measure(struct aton_frame *f, const struct aton_config *c)
{
    struct leat_aton_packet p = { 0 };
    struct leat_aton_shape shape = { 0 };
    const uint8_t *image = aton_image(f);
    if (image[LEAT_ATON_AC_AT] >> LEAT_ATON_AC_TOKEN & 1) return ATON_MALFORMED;
    if (leat_aton_ctl_decode(leat_get_be16(image + LEAT_ATON_CTL_AT), &p)) return ATON_MALFORMED;
    p.da = leat_get_be16(image + LEAT_ATON_DA_AT);
    if (!leat_aton_region_is_valid(&p)) return ATON_MALFORMED;
    uint32_t head_len = LEAT_ATON_LONG_PAYLOAD_AT;
    p.counter = leat_get_be16(image + LEAT_ATON_COUNTER_AT);
    if (!p.active) {
        head_len = LEAT_ATON_PASSIVE_PAYLOAD_AT;
        p.payload_len = p.counter; /* position of `length` */
    } else if (p.counter > LEAT_ATON_INTERFACES_MAX) {
        return ATON_MALFORMED;
    } else if (p.opcode < LEAT_ATON_SORT) {
        head_len = LEAT_ATON_VARIABLE_AT + p.width_bits / 4u;
    } else {
        p.param = leat_get_be16(image + LEAT_ATON_PARAM_AT);
    }
    if (leat_aton_packet_shape(&p, &shape)) return ATON_MALFORMED;
    const uint32_t item_len = (uint32_t)shape.flag_len + shape.value_len;
    f->image_len = head_len + (uint32_t)shape.count * item_len + LEAT_ATON_TRAILER_LEN;
    return f->image_len + ATON_IMAGE_AT + aton_mac_len(c) > f->len ? ATON_SHORT : ATON_FOLDED;
}

/* What the CRC does not detect: counters that do not fit, invalid valid octets, FLG. */
static inline bool aton_payload_is_sound(struct aton_frame *f)
{
    uint8_t *image = aton_image(f);
    const uint32_t ctl = leat_get_be16(image + LEAT_ATON_CTL_AT);
    const uint32_t param = leat_get_be16(image + LEAT_ATON_PARAM_AT);
    const uint32_t opcode = ctl >> LEAT_ATON_CTL_OPCODE & LEAT_ATON_CTL_OPCODE_MASK;
    const uint32_t width_bits = 16u << (ctl >> LEAT_ATON_CTL_WIDTH & 3);
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    const uint8_t flg = image[LEAT_ATON_BOUND(flg_at)];
    uint32_t at = LEAT_ATON_LONG_PAYLOAD_AT;
    if (flg & LEAT_ATON_FLG_ZERO || flg >> 4 != (flg & 15)) return false;
    if (opcode == LEAT_ATON_BITCOUNT && param % 8) {
        /* The highest octet of a counter holds the remaining bits. */
        for (uint32_t j = 0; j < 64 && j < width_bits; j++, at += (param + 7) / 8)
            if (image[LEAT_ATON_BOUND(at)] >> param % 8) return false;
    } else if (opcode == LEAT_ATON_TREE) {
        for (uint32_t h = 0; h < LEAT_ATON_SLOTS_MAX && h < param; h++, at += 1 + width_bits / 8)
            if (image[LEAT_ATON_BOUND(at)] > 1) return false;
    }
    return true;
}

/* Is the MAC that of one of our keys? */
static inline bool aton_is_keyed(struct aton_frame *f, const struct aton_page *page)
{
    const uint64_t mac = leat_get_be64(aton_image(f) + aton_mac_at(f));
    const uint32_t turn = leat_key_ring_turn(&page->keys);
    for (uint32_t i = 0; i < LEAT_KEYS_MAX; i++)
        if (i < page->keys.of_turn[turn].count && aton_frame_mac(f, page, turn, i) == mac)
            return true;
    return false;
}

/* All checks of a frame of our Ethernet type. FOLDED: no error. */
static inline enum aton_reason aton_check(struct aton_frame *f, const struct aton_config *c,
                                          const struct aton_page *page)
{
    const uint8_t *o = f->octets;
    if (f->len > ATON_FRAME_MAX) return ATON_LONG;
    if (f->len < ATON_FRAME_MIN) return ATON_SHORT;
    if (!aton_same_mac(o + ATON_TO_AT, c->own)) return ATON_ELSEWHERE;
    if (!aton_same_mac(o + ATON_FROM_AT, c->previous)) return ATON_STRANGER;
    if (leat_get_be32(o + ATON_HEADER_AT) != c->ring_id) return ATON_FOREIGN;
    if (leat_get_be16(o + ATON_ZERO_AT) != 0) return ATON_MALFORMED;
    const enum aton_reason measured = aton_measure(f, c);
    if (measured != ATON_FOLDED) return measured;
    if (c->has_key && !aton_is_keyed(f, page)) return ATON_MAC;
    const uint8_t *image = aton_image(f);
    const uint32_t crc_at = f->image_len - LEAT_ATON_CRC_LEN;
    if (aton_frame_crc(f) != leat_get_be32(image + LEAT_ATON_BOUND(crc_at))) return ATON_CRC;
    return aton_payload_is_sound(f) ? ATON_FOLDED : ATON_MALFORMED;
}

/* A checked frame: may it be forwarded? FOLDED: it may. */
static inline enum aton_reason aton_admit(struct aton_frame *f, const struct aton_config *c,
                                          const struct aton_page *page)
{
    const uint8_t *image = aton_image(f);
    if (leat_aton_is_own(&page->interface, image)) {
        const uint32_t sequence = leat_get_be32(f->octets + ATON_SEQUENCE_AT);
        const uint32_t age = *(const volatile uint32_t *)&page->issued - sequence;
        return age < ATON_AWAITED_MAX ? ATON_OWN : ATON_UNASKED;
    }
    if (f->octets[ATON_HOPS_AT] == 0) return ATON_HOPS;
    if (c->rate_per_s && !aton_rate_allows(c, leat_get_be16(image + LEAT_ATON_SA_AT)))
        return ATON_RATE;
    return ATON_FOLDED;
}

/* Is this the first copy of a message of a keyed ring, which has a serial? */
static inline bool aton_is_new(struct aton_frame *f, uint32_t flg_at)
{
    const uint8_t *image = aton_image(f);
    struct aton_window *window = aton_window_of(leat_get_be16(image + LEAT_ATON_SA_AT));
    return window && flg_at >= LEAT_ATON_PASSIVE_PAYLOAD_AT + ATON_SERIAL_LEN &&
           aton_window_take(window, leat_get_be64(image + LEAT_ATON_PASSIVE_PAYLOAD_AT));
}

/* A record of the mailbox is sender, length and octets, as in the image. With a key a serial
 * precedes the octets, which is not for the reader: while the record is copied, sender and length
 * occupy the serial's last four octets. */
static inline bool aton_deliver(struct aton_frame *f, const struct aton_config *c, uint32_t flg_at)
{
    enum { HEAD_AT = LEAT_ATON_PASSIVE_PAYLOAD_AT + ATON_SERIAL_LEN - 4 };
    uint8_t *image = aton_image(f);
    if (!c->has_key) return aton_mailbox_takes(f, LEAT_ATON_SA_AT, flg_at - LEAT_ATON_SA_AT);
    const uint32_t head = leat_get_be32(image + LEAT_ATON_SA_AT);
    const uint32_t kept = leat_get_be32(image + HEAD_AT);
    leat_put_be32(image + HEAD_AT, head - ATON_SERIAL_LEN);
    const bool taken = aton_mailbox_takes(f, HEAD_AT, flg_at - HEAD_AT);
    leat_put_be32(image + HEAD_AT, kept);
    return taken;
}

/*
 * A passive packet passes; its sender learns from A that the station exists, from C that it has the
 * octets. If several are addressed, one without room leaves C as the others set it.
 */
static inline enum aton_reason aton_copy(struct aton_frame *f, const struct aton_config *c,
                                         const struct aton_page *page)
{
    uint8_t *image = aton_image(f);
    const uint32_t flg_at = f->image_len - LEAT_ATON_TRAILER_LEN;
    if (!leat_aton_is_addressed(&page->interface, image) || !aton_is_concerned(f, page))
        return ATON_REPEATED;
    image[LEAT_ATON_BOUND(flg_at)] |= LEAT_ATON_FLG_A;
    if (c->has_key && !aton_is_new(f, flg_at)) return ATON_REPLAYED;
    if (!aton_deliver(f, c, flg_at)) return ATON_MAILBOX_FULL;
    image[LEAT_ATON_BOUND(flg_at)] |= LEAT_ATON_FLG_C;
    return ATON_COPIED;
}

/* The visit itself: an outcome that changes a frame (up to REPLAYED), REPEATED or NO_ROOM. */
static inline enum aton_reason aton_fold(struct aton_frame *f, const struct aton_config *c,
                                         const struct aton_page *page)
{
    const uint32_t ctl = leat_get_be16(aton_image(f) + LEAT_ATON_CTL_AT);
    if (!(ctl >> LEAT_ATON_CTL_ACTIVE)) return aton_copy(f, c, page);
    const uint32_t room = c->frame_max - ATON_IMAGE_AT - aton_mac_len(c);
    const enum leat_aton_visit visit = leat_aton_visit(&page->interface, aton_image(f),
                                                       &f->image_len, room);
    if (visit == LEAT_ATON_NO_ROOM) return ATON_NO_ROOM;
    return visit == LEAT_ATON_TAKES_PART ? ATON_FOLDED : ATON_REPEATED;
}

/* Addresses and hops of an outgoing frame; CRC, MAC and length if it has changed. */
static inline void aton_seal(struct aton_frame *f, const struct aton_config *c,
                             const struct aton_page *page, bool changed)
{
    uint8_t *image = aton_image(f);
    aton_put_mac(f->octets + ATON_TO_AT, c->next);
    aton_put_mac(f->octets + ATON_FROM_AT, c->from);
    f->octets[ATON_HOPS_AT]--;
    if (!changed) return;
    const uint32_t crc_at = f->image_len - LEAT_ATON_CRC_LEN;
    const uint32_t len = ATON_IMAGE_AT + f->image_len + aton_mac_len(c);
    leat_put_be32(image + LEAT_ATON_BOUND(crc_at), aton_frame_crc(f));
    if (c->has_key)
        leat_put_be64(image + aton_mac_at(f),
                      aton_frame_mac(f, page, leat_key_ring_turn(&page->keys), 0));
    if (len > f->len) f->len = len; /* a short frame's padding stays */
}

#endif
