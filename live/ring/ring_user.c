/* The gate of ring_gate.h in user space, and what both sides of a socket need. */
#include "ring_driver.h"
#include "ring_gate.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of the call at hand. */
static struct ring_bucket *budget;
static const struct ring_mailbox *mail;

bool ring_because(char *why, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    vsnprintf(why, LEAT_STATION_WHY_LEN, text, list);
    va_end(list);
    return false;
}

void ring_tell(struct ring_config *c, const char *note, bool kept)
{
    const size_t len = strlen(c->why);
    snprintf(c->why + len, sizeof c->why - len, "%s%s", note,
             kept ? "; took over the registers of an earlier station" : "");
}

uint64_t ring_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t ring_frame_crc(struct ring_frame *f)
{
    return leat_aton_packet_crc(ring_image(f), f->image_len - LEAT_ATON_TRAILER_LEN);
}

static uint64_t ring_frame_mac(struct ring_frame *f, const struct ring_config *c)
{
    return leat_aton_live_mac(c->key, f->octets + RING_HEADER_AT,
                              LEAT_ATON_LIVE_HEADER_LEN + f->image_len);
}

static bool ring_rate_allows(const struct ring_config *c, uint16_t sender)
{
    return !budget || ring_bucket_take(&budget[sender], c->rate_per_s, ring_now_ns());
}

static struct ring_window *ring_window_of(uint16_t sender)
{
    return mail && mail->windows ? &mail->windows[sender] : NULL;
}

static bool ring_mailbox_takes(struct ring_frame *f, uint32_t at, uint32_t len)
{
    return mail && ring_mailbox_put(mail, ring_image(f) + at, len);
}

enum ring_reason ring_user_gate(struct ring_frame *f, const struct ring_config *c,
                                const struct ring_page *page, struct ring_bucket *buckets,
                                const struct ring_mailbox *mailbox)
{
    budget = buckets;
    mail = mailbox;
    enum ring_reason reason = ring_check(f, c);
    if (reason == RING_FOLDED) reason = ring_admit(f, c, page);
    if (reason == RING_FOLDED) reason = ring_fold(f, c, page);
    if (reason <= RING_NO_ROOM) ring_seal(f, c, reason <= RING_REPLAYED);
    return reason;
}

void ring_user_begin(struct ring_frame *f, const struct ring_config *c, uint32_t sequence)
{
    const struct leat_aton_live header = { .ring_id = c->ring_id, .sequence = sequence };
    /* A list grows into padding: in the kernel a frame cannot always be made longer. */
    const bool grows = (leat_get_be16(ring_image(f) + LEAT_ATON_CTL_AT) >> LEAT_ATON_CTL_OPCODE &
                        15) == LEAT_ATON_SORT;
    const uint32_t len = RING_IMAGE_AT + f->image_len + ring_mac_len(c);
    const uint32_t padded = grows ? c->frame_max : RING_ETHERNET_MIN;
    leat_put_be16(f->octets + RING_TYPE_AT, LEAT_ATON_ETHER_TYPE);
    leat_aton_live_header_encode(&header, f->octets + RING_HEADER_AT, LEAT_ATON_LIVE_HEADER_LEN);
    f->len = len > padded ? len : padded;
    memset(f->octets + RING_IMAGE_AT + f->image_len, 0, f->len - RING_IMAGE_AT - f->image_len);
    f->octets[RING_HOPS_AT] = 0;
    ring_seal(f, c, true);
    f->octets[RING_HOPS_AT] = RING_HOPS_MAX;
}

int ring_socket(uint32_t device, char *why)
{
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(LEAT_ATON_ETHER_TYPE));
    const struct sockaddr_ll at = { .sll_family = AF_PACKET,
                                    .sll_protocol = htons(LEAT_ATON_ETHER_TYPE),
                                    .sll_ifindex = (int)device };
    /* Bursts wait here; where the system wants a shorter queue, they wait less. */
    const int queue_bytes = 4 << 20;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue_bytes, sizeof queue_bytes);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0) return fd;
    ring_because(why, "a packet socket: %s%s", strerror(errno),
                 errno == EPERM ? ", expected root" : "");
    if (fd >= 0) close(fd);
    return -1;
}
