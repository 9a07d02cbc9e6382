/* The gate of live_aton_gate.h in user space, and what both sides of a socket need. */
#include "live_aton_driver.h"
#include "live_aton_gate.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of the current call. */
static struct aton_bucket *budget;
static const struct aton_mailbox *mail;

void aton_report_join(struct aton_config *c, const char *note, bool kept)
{
    const size_t len = strlen(c->why);
    snprintf(c->why + len, sizeof c->why - len, "%s%s", note,
             kept ? "; took over the registers of an earlier station" : "");
}

static uint32_t aton_frame_crc(struct aton_frame *f)
{
    return leat_aton_packet_crc(aton_image(f), f->image_len - LEAT_ATON_TRAILER_LEN);
}

static uint64_t aton_frame_mac(struct aton_frame *f, const struct aton_page *page, uint32_t turn,
                               uint32_t key)
{
    return leat_aton_live_mac(page->keys.of_turn[turn].key[key], f->octets + ATON_HEADER_AT,
                              LEAT_ATON_LIVE_HEADER_LEN + f->image_len);
}

static bool aton_rate_allows(const struct aton_config *c, uint16_t sender)
{
    return !budget ||
           aton_bucket_take(&budget[sender], c->rate_per_s, live_now_ns(CLOCK_MONOTONIC));
}

static struct aton_window *aton_window_of(uint16_t sender)
{
    return mail && mail->windows ? &mail->windows[sender] : NULL;
}

static bool aton_mailbox_takes(struct aton_frame *f, uint32_t at, uint32_t len)
{
    const uint32_t group = aton_group_of(f);
    if (!mail || (group && !mail->groups)) return false;
    return aton_mailbox_put(group ? &mail->groups[group - 1] : mail, aton_image(f) + at, len);
}

enum aton_reason aton_user_gate(struct aton_frame *f, const struct aton_config *c,
                                const struct aton_page *page, struct aton_bucket *buckets,
                                const struct aton_mailbox *mailbox)
{
    budget = buckets;
    mail = mailbox;
    enum aton_reason reason = aton_check(f, c, page);
    if (reason == ATON_FOLDED) reason = aton_admit(f, c, page);
    if (reason == ATON_FOLDED) reason = aton_fold(f, c, page);
    if (reason <= ATON_NO_ROOM) aton_seal(f, c, page, reason <= ATON_REPLAYED);
    return reason;
}

void aton_user_begin(struct aton_frame *f, const struct aton_config *c,
                     const struct aton_page *page, uint32_t sequence, uint8_t flags)
{
    const struct leat_aton_live header = { .ring_id = c->ring_id,
                                           .sequence = sequence,
                                           .flags = flags };
    /* A list grows into padding: in the kernel a frame cannot always be made longer. */
    const bool grows = (leat_get_be16(aton_image(f) + LEAT_ATON_CTL_AT) >> LEAT_ATON_CTL_OPCODE &
                        LEAT_ATON_CTL_OPCODE_MASK) == LEAT_ATON_SORT;
    const uint32_t len = ATON_IMAGE_AT + f->image_len + aton_mac_len(c);
    const uint32_t padded = grows ? c->frame_max : ATON_ETHERNET_MIN;
    leat_put_be16(f->octets + ATON_TYPE_AT, LEAT_ATON_ETHER_TYPE);
    leat_aton_live_header_encode(&header, f->octets + ATON_HEADER_AT, LEAT_ATON_LIVE_HEADER_LEN);
    f->len = len > padded ? len : padded;
    memset(f->octets + ATON_IMAGE_AT + f->image_len, 0, f->len - ATON_IMAGE_AT - f->image_len);
    f->octets[ATON_HOPS_AT] = 0;
    aton_seal(f, c, page, true);
    f->octets[ATON_HOPS_AT] = ATON_HOPS_MAX;
}

int aton_socket(uint32_t device, char *why)
{
    /* Without a protocol at first: to change it, the kernel would wait for all processors, which
     * takes tens of milliseconds. */
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    /* Bursts are queued here; if the system wants a shorter queue, it holds less. */
    const int queue_bytes = 4 << 20;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue_bytes, sizeof queue_bytes);
    if (fd >= 0 && live_packet_bind(fd, device, LEAT_ATON_ETHER_TYPE)) return fd;
    live_refused(why, "a packet socket", LIVE_NET_RAW, "");
    if (fd >= 0) close(fd);
    return -1;
}
