/* A station as programs see it: joining, registers, commands, messages, status. */
#include "live_aton_station.h"
#include "live_aton_lend.h"
#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert((int)LEAT_ATON_HOST_COUNTS == (int)ATON_REASON_COUNT, "one count per reason");
_Static_assert((int)LEAT_ATON_HOST_WHY_LEN == (int)LIVE_WHY_LEN, "one length of reasons");
_Static_assert((int)ATON_WHY_LEN == (int)LIVE_WHY_LEN, "one length of reasons");
_Static_assert((int)LEAT_ATON_HOST_OCTETS_MAX == (int)ATON_OCTETS_MAX, "what a frame holds");

/* If both could be on a device, XDP sees the frames first. */
static const struct aton_driver *const drivers[] = {
#ifdef HAVE_XDP
    &aton_xdp_driver,
#endif
    &aton_packet_driver
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

/* ---- devices ------------------------------------------------------------------------------ */

/* The MTU of a device: its longest frame, and ours. */
static bool frame_max_of(const char *device, uint32_t *frame_max, char *why)
{
    struct ifreq request = { 0 };
    if (!live_device_query(-1, device, SIOCGIFMTU, &request))
        return live_because(why, "%s: no longest frame: %s", device, strerror(errno));
    const uint32_t len = ATON_HEADER_AT + (uint32_t)request.ifr_mtu;
    *frame_max = len < ATON_FRAME_MAX ? len : ATON_FRAME_MAX;
    if (len < ATON_LONGEST_FOLD)
        return live_because(why, "%s: its frames are too short for the ring", device);
    return true;
}

static uint32_t index_of(const char *device, char *why)
{
    const uint32_t index = device ? if_nametoindex(device) : 0;
    if (!index) live_because(why, "no network device '%s'", device ? device : "");
    return index;
}

static enum leat_aton_host_end absent(const char *device, char *why)
{
    live_because(why, "%s: no station here, expected one from leat ring join", device);
    return LEAT_ATON_HOST_ABSENT;
}

/* ---- joining ------------------------------------------------------------------------------ */

static bool config_make(const struct leat_aton_host_config *from, struct aton_config *c, char *why)
{
    const char *out = from->out ? from->out : from->device;
    *c = (struct aton_config){ .ring_id = from->ring_id,
                               .rate_per_s = from->rate_per_s,
                               .has_key = from->key != NULL };
    if (from->address == LEAT_ATON_DA_ALL)
        return live_because(why, "address 65535 is that of the whole ring, expected 0 to 65534");
    if ((from->previous[0] | from->next[0]) & 1)
        return live_because(why,
                            "a neighbour's Ethernet address is a group's, expected a station's");
    if (!(c->device = index_of(from->device, why)) || !(c->out = index_of(out, why))) return false;
    if (!live_device_mac(from->device, c->own, why) || !live_device_mac(out, c->from, why) ||
        !frame_max_of(out, &c->frame_max, why))
        return false;
    memcpy(c->previous, from->previous, ATON_MAC_LEN);
    memcpy(c->next, from->next, ATON_MAC_LEN);
    return true;
}

/* Of the other drivers: a device has one station. What cannot be found cannot interfere. */
static void leave_others(const struct aton_driver *chosen, uint32_t device)
{
    char ignored[LEAT_ATON_HOST_WHY_LEN] = "";
    for (int i = 0; i < DRIVERS; i++)
        if (drivers[i] != chosen) drivers[i]->leave(device, ignored);
}

/* With c->why, the reason for this driver. */
static bool join_by(const struct aton_driver *driver, struct aton_config *c,
                    const struct leat_aton_interface *fresh, const struct leat_keys *keys,
                    int *slower_at, char *why)
{
    if (!driver->join(c, fresh, keys, slower_at, why)) return false;
    leave_others(driver, c->device);
    aton_lend_stop(c->device, why); /* it lends what was */
    memcpy(why, c->why, sizeof c->why);
    return true;
}

enum leat_aton_host_end leat_aton_host_join(const struct leat_aton_host_config *config,
                                            enum leat_aton_host_driver *used, int *slower_at,
                                            char *why)
{
    struct aton_config c;
    const struct leat_aton_interface fresh = { .address = config->address, .enabled = 1 };
    const struct leat_keys keys = leat_keys_of(config->key, config->other_key);
    char refused[LEAT_ATON_HOST_WHY_LEN] = "this leat was built without XDP";
    *why = 0;
    *slower_at = -1;
    if (!config_make(config, &c, why)) return LEAT_ATON_HOST_WRONG;
    live_because(c.why, "it was asked for");
    if (config->driver != LEAT_ATON_HOST_PACKET) {
#ifdef HAVE_XDP
        *used = LEAT_ATON_HOST_XDP;
        c.driver = LEAT_ATON_HOST_XDP;
        if (config->driver == LEAT_ATON_HOST_ANY) live_because(c.why, "the kernel takes it");
        if (join_by(&aton_xdp_driver, &c, &fresh, &keys, slower_at, refused)) {
            memcpy(why, refused, sizeof refused);
            return LEAT_ATON_HOST_OK;
        }
#endif
        if (config->driver == LEAT_ATON_HOST_XDP) {
            live_because(why, "no XDP: %.300s", refused);
            return LEAT_ATON_HOST_FAILED;
        }
        live_because(c.why, "slower: no XDP: %.200s", refused);
        *slower_at = 0;
    }
    *used = LEAT_ATON_HOST_PACKET;
    c.driver = LEAT_ATON_HOST_PACKET;
    return join_by(&aton_packet_driver, &c, &fresh, &keys, slower_at, why) ? LEAT_ATON_HOST_OK
                                                                           : LEAT_ATON_HOST_FAILED;
}

enum leat_aton_host_end leat_aton_host_leave(const char *device, char *why)
{
    bool left = false;
    *why = 0;
    const uint32_t index = index_of(device, why);
    if (!index) return LEAT_ATON_HOST_WRONG;
    if (!aton_lend_stop(index, why)) return LEAT_ATON_HOST_FAILED;
    for (int i = 0; i < DRIVERS; i++) {
        const enum leat_aton_host_end end = drivers[i]->leave(index, why);
        if (end == LEAT_ATON_HOST_FAILED) return end;
        left |= end == LEAT_ATON_HOST_OK;
    }
    return left ? LEAT_ATON_HOST_OK : absent(device, why);
}

enum leat_aton_host_end leat_aton_host_lend(const char *device, uint32_t group, char *why)
{
    *why = 0;
    const uint32_t index = index_of(device, why);
    if (!index) return LEAT_ATON_HOST_WRONG;
    return aton_lend_start(index, group, why) ? LEAT_ATON_HOST_OK : LEAT_ATON_HOST_FAILED;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* With its sockets, if it is lent. */
static enum leat_aton_host_end find(struct leat_aton_host *s, const char *device, char *why)
{
    char refused[LEAT_ATON_HOST_WHY_LEN];
    const uint32_t index = index_of(device, why);
    if (!index) return LEAT_ATON_HOST_WRONG;
    for (int i = 0; i < DRIVERS; i++) {
        s->driver = drivers[i];
        const enum leat_aton_host_end end = s->driver->find(index, &s->seat, why);
        if (end == LEAT_ATON_HOST_OK) return end;
        if (end != LEAT_ATON_HOST_FAILED) continue;
        const enum leat_aton_host_end lent = aton_borrow(index, drivers, DRIVERS, s, refused);
        if (lent == LEAT_ATON_HOST_ABSENT) return end;
        memcpy(why, refused, sizeof refused);
        return lent;
    }
    return absent(device, why);
}

/* Only frames with these flags: those of other groups would fill the queue of a process that does
 * not read at the moment. */
static bool filter_flags(int fd, uint8_t flags, char *why)
{
    struct sock_filter only[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ATON_FLAGS_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT16_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog program = { sizeof only / sizeof *only, only };
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 ||
           live_because(why, "a filter for a packet socket: %s", strerror(errno));
}

enum leat_aton_host_end leat_aton_host_open(const char *device, struct leat_aton_host **out,
                                            char *why)
{
    struct leat_aton_host *s = calloc(1, sizeof *s);
    *why = 0;
    *out = NULL;
    if (!s) return live_because(why, "no memory"), LEAT_ATON_HOST_FAILED;
    s->send_fd = s->receive_fd = -1;
    const enum leat_aton_host_end end = find(s, device, why);
    if (end != LEAT_ATON_HOST_OK) {
        free(s);
        return end;
    }
    if (s->send_fd < 0) s->send_fd = aton_socket(s->seat.config.out, why);
    if (s->receive_fd < 0) s->receive_fd = aton_socket(s->seat.config.device, why);
    if (s->send_fd < 0 || s->receive_fd < 0 || !filter_flags(s->receive_fd, 0, why)) {
        leat_aton_host_close(s);
        return LEAT_ATON_HOST_FAILED;
    }
    *out = s;
    return LEAT_ATON_HOST_OK;
}

enum leat_aton_host_end leat_aton_host_change_keys(const char *device, const uint8_t *key,
                                                   const uint8_t *other_key, char *why)
{
    struct leat_aton_host *s;
    const struct leat_keys keys = leat_keys_of(key, other_key);
    enum leat_aton_host_end end = leat_aton_host_open(device, &s, why);
    if (end != LEAT_ATON_HOST_OK) return end;
    if (!key || !s->seat.config.has_key) {
        live_because(why, "%s: the station %s, expected leat ring join again to change that",
                     device, key ? "has no key" : "has a key");
        end = LEAT_ATON_HOST_WRONG;
    } else {
        leat_key_ring_set(&s->seat.page->keys, &keys);
    }
    leat_aton_host_close(s);
    return end;
}

bool aton_station_turn_to_group(struct leat_aton_host *s, uint8_t group, char *why)
{
    s->flags = (uint8_t)(group + 1);
    return filter_flags(s->receive_fd, s->flags, why) &&
           s->driver->turn_to_group(&s->seat, group, why);
}

void leat_aton_host_close(struct leat_aton_host *s)
{
    if (!s) return;
    s->driver->let_go(&s->seat);
    if (s->send_fd >= 0) close(s->send_fd);
    if (s->receive_fd >= 0) close(s->receive_fd);
    free(s);
}

volatile uint64_t *leat_aton_host_registers(struct leat_aton_host *s)
{
    return s->seat.page->interface.operand;
}

struct leat_aton_interface *leat_aton_host_interface(struct leat_aton_host *s)
{
    return &s->seat.page->interface;
}

/* ---- commands ----------------------------------------------------------------------------- */

/* The next frame into s->frame; false when the time is up. */
static bool receive(struct leat_aton_host *s, uint64_t until_ns)
{
    struct aton_frame *f = &s->frame;
    for (;;) {
        const ssize_t got = recv(s->receive_fd, f->octets, ATON_FRAME_MAX + 1, MSG_DONTWAIT);
        if (got >= 0) {
            f->len = (uint32_t)got;
            return true;
        }
        const uint64_t now = live_now_ns(CLOCK_MONOTONIC);
        if ((errno != EAGAIN && errno != EINTR && errno != ENETDOWN) || now >= until_ns)
            return false;
        struct pollfd wait = { .fd = s->receive_fd, .events = POLLIN };
        const uint64_t left_ms = (until_ns - now + 999999) / 1000000;
        if (poll(&wait, 1, left_ms > 1000 ? 1000 : (int)left_ms) < 0 && errno != EINTR)
            return false;
    }
}

/* A ring of one has no wire: what is sent is what comes back. */
static bool is_alone(const struct aton_config *c)
{
    return aton_same_mac(c->next, c->own);
}

static bool is_among(uint32_t sequence, const uint32_t *awaited, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (awaited[i] == sequence) return true;
    return false;
}

bool aton_station_await(struct leat_aton_host *s, const uint32_t *sequence, unsigned count,
                        uint64_t until_ns)
{
    struct aton_frame *f = &s->frame;
    while (receive(s, until_ns)) {
        /* The packet driver's station is not before this socket: all checks are made here, too. */
        if (aton_user_gate(f, &s->seat.config, s->seat.page, NULL, NULL) == ATON_OWN &&
            is_among(leat_get_be32(f->octets + ATON_SEQUENCE_AT), sequence, count))
            return true;
    }
    return false;
}

static enum leat_aton_host_end silent(struct leat_aton_host *s, uint64_t timeout_us, char *why)
{
    uint64_t counts[ATON_REASON_COUNT] = { 0 };
    const unsigned long long ms = timeout_us / 1000;
    if (s->driver->counts(&s->seat, counts) && counts[ATON_UNASKED])
        live_because(why,
                     "no answer within %llu ms; packets with our address %u that we did not send "
                     "came by (unasked: %llu): another station has this address, or lies about it",
                     ms, s->seat.page->interface.address, (unsigned long long)counts[ATON_UNASKED]);
    else
        live_because(why, "no answer within %llu ms, expected a ring whose stations all joined",
                     ms);
    return LEAT_ATON_HOST_SILENT;
}

/* Octets of an image that a frame has room for. */
uint32_t aton_station_image_max(const struct aton_config *c)
{
    return c->frame_max - ATON_IMAGE_AT - aton_mac_len(c);
}

bool aton_station_send(struct leat_aton_host *s, size_t len, uint32_t *sequence, char *why)
{
    struct aton_frame *f = &s->frame;
    const struct aton_config *c = &s->seat.config;
    *sequence = __atomic_add_fetch(&s->seat.page->issued, 1, __ATOMIC_RELAXED);
    f->image_len = (uint32_t)len;
    aton_user_begin(f, c, s->seat.page, *sequence, s->flags);
    return is_alone(c) || send(s->send_fd, f->octets, f->len, 0) >= 0 ||
           live_because(why, "the packet cannot be sent: %s", strerror(errno));
}

/* Sends the image in s->frame once around; what came back replaces it. */
static enum leat_aton_host_end go_round(struct leat_aton_host *s, size_t len, uint64_t timeout_us,
                                        uint64_t *took_ns, char *why)
{
    uint32_t sequence;
    const uint64_t start = live_now_ns(CLOCK_MONOTONIC);
    if (!aton_station_send(s, len, &sequence, why)) return LEAT_ATON_HOST_FAILED;
    if (!is_alone(&s->seat.config) &&
        !aton_station_await(s, &sequence, 1, start + timeout_us * 1000))
        return silent(s, timeout_us, why);
    *took_ns = live_now_ns(CLOCK_MONOTONIC) - start;
    return LEAT_ATON_HOST_OK;
}

enum leat_aton_host_end leat_aton_host_command(struct leat_aton_host *s,
                                               const struct leat_aton_command *command,
                                               uint64_t timeout_us,
                                               struct leat_aton_host_answer *answer, char *why)
{
    const struct aton_frame *f = &s->frame;
    uint8_t *image = aton_image(&s->frame);
    size_t len = 0;
    leat_err err = leat_aton_begin(&s->seat.page->interface, command, image,
                                   aton_station_image_max(&s->seat.config), &len);
    if (err) {
        live_because(why, "the command cannot be sent: %s", leat_err_text(err));
        return LEAT_ATON_HOST_WRONG;
    }
    const enum leat_aton_host_end end = go_round(s, len, timeout_us, &answer->took_ns, why);
    if (end != LEAT_ATON_HOST_OK) return end;
    answer->stations = 1u + ATON_HOPS_MAX - f->octets[ATON_HOPS_AT];
    memcpy(answer->image, image, f->image_len);
    err = leat_aton_take(&s->seat.page->interface, command, answer->image, f->image_len,
                         &answer->result, NULL);
    if (!err) return LEAT_ATON_HOST_OK;
    live_because(why, "what came back is no answer: %s", leat_err_text(err));
    return LEAT_ATON_HOST_FAILED;
}

enum leat_aton_host_end leat_aton_host_count(struct leat_aton_host *s, uint64_t timeout_us,
                                             uint32_t *stations, char *why)
{
    const struct leat_aton_command command = { .opcode = LEAT_ATON_OR,
                                               .width_bits = 16,
                                               .da = LEAT_ATON_DA_ALL };
    struct leat_aton_host_answer answer;
    const enum leat_aton_host_end end = leat_aton_host_command(s, &command, timeout_us, &answer,
                                                               why);
    if (end == LEAT_ATON_HOST_OK) *stations = answer.result.counter;
    return end;
}

/* ---- messages ----------------------------------------------------------------------------- */

/* The time of day, which advances across restarts; but never the same value twice. */
static uint64_t next_serial(struct aton_page *page)
{
    const uint64_t now = live_now_ns(CLOCK_REALTIME);
    uint64_t last = __atomic_load_n(&page->serial, __ATOMIC_RELAXED), next;
    do
        next = now > last ? now : last + 1;
    while (!__atomic_compare_exchange_n(&page->serial, &last, next, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    return next;
}

/* The contents of the packet: with a key, a serial first. */
size_t aton_station_letter(struct leat_aton_host *s, const void *octets, size_t len,
                           uint8_t *letter)
{
    const size_t at = s->seat.config.has_key ? ATON_SERIAL_LEN : 0;
    if (at) leat_put_be64(letter, next_serial(s->seat.page));
    if (len) memcpy(letter + at, octets, len);
    return at + len;
}

/* Is this the packet that was sent, except for A and C? */
static bool is_returned(const struct leat_aton_packet *back, const struct leat_aton_packet *sent)
{
    return !back->active && back->da == sent->da && back->payload_len == sent->payload_len &&
           (!sent->payload_len || memcmp(back->payload, sent->payload, sent->payload_len) == 0);
}

enum leat_aton_host_end leat_aton_host_send(struct leat_aton_host *s, uint16_t to,
                                            const void *octets, size_t len, uint64_t timeout_us,
                                            struct leat_aton_host_ack *ack, char *why)
{
    const uint32_t serial_len = s->seat.config.has_key ? ATON_SERIAL_LEN : 0;
    const uint32_t max = aton_station_image_max(&s->seat.config) - LEAT_ATON_IMAGE_LEN_MIN -
                         serial_len;
    uint8_t letter[ATON_OCTETS_MAX];
    struct leat_aton_packet packet = { .da = to,
                                       .sa = s->seat.page->interface.address,
                                       .payload = letter };
    struct leat_aton_packet back;
    size_t image_len = 0;
    if (to == packet.sa) {
        live_because(why, "address %u is this station's own, expected another", to);
        return LEAT_ATON_HOST_WRONG;
    }
    if (len > max) {
        live_because(why, "a message of %zu octets, expected at most %u: what one frame holds", len,
                     max);
        return LEAT_ATON_HOST_WRONG;
    }
    packet.payload_len = aton_station_letter(s, octets, len, letter);
    leat_err err = leat_aton_packet_encode(&packet, aton_image(&s->frame), LEAT_ATON_HOST_IMAGE_MAX,
                                           &image_len);
    if (err) abort(); /* all fields are ours */
    const enum leat_aton_host_end end = go_round(s, image_len, timeout_us, &ack->took_ns, why);
    if (end != LEAT_ATON_HOST_OK) return end;
    err = leat_aton_packet_decode(aton_image(&s->frame), s->frame.image_len, &back, NULL);
    if (err || !is_returned(&back, &packet)) {
        live_because(why, "what came back is not what was sent");
        return LEAT_ATON_HOST_FAILED;
    }
    ack->recognised = back.recognised;
    ack->copied = back.copied;
    return LEAT_ATON_HOST_OK;
}

enum leat_aton_host_end leat_aton_host_receive(struct leat_aton_host *s, uint64_t timeout_us,
                                               uint16_t *from, void *octets, size_t cap,
                                               size_t *len, char *why)
{
    const uint64_t until_ns = live_now_ns(CLOCK_MONOTONIC) + timeout_us * 1000;
    for (;;) {
        const enum aton_mail mail = aton_mailbox_take(&s->seat.mailbox, from, octets, cap, len);
        if (mail == ATON_MAIL_TAKEN) return LEAT_ATON_HOST_OK;
        if (mail == ATON_MAIL_LONG) {
            live_because(why, "a message of %zu octets is there, expected room for them", *len);
            return LEAT_ATON_HOST_WRONG;
        }
        const uint64_t now = live_now_ns(CLOCK_MONOTONIC);
        if (now >= until_ns) break;
        const uint64_t left_ms = (until_ns - now + 999999) / 1000000;
        s->driver->wait_for_mail(&s->seat, left_ms > 1000 ? 1000 : (int)left_ms);
    }
    live_because(why, "no message within %llu ms", (unsigned long long)(timeout_us / 1000));
    return LEAT_ATON_HOST_SILENT;
}

/* ---- status ------------------------------------------------------------------------------- */

bool leat_aton_host_counts(struct leat_aton_host *s, uint64_t counts[LEAT_ATON_HOST_COUNTS])
{
    return s->driver->counts(&s->seat, counts);
}

static const struct {
    const char *name, *text;
} reasons[] = {
#define X(id, name, text) { name, text },
    ATON_REASONS(X)
#undef X
};

const char *leat_aton_host_reason(unsigned index)
{
    return index < ATON_REASON_COUNT ? reasons[index].name : "";
}

const char *leat_aton_host_reason_text(unsigned index)
{
    return index < ATON_REASON_COUNT ? reasons[index].text : "";
}

void leat_aton_host_describe(const struct leat_aton_host *s, struct leat_aton_host_config *config,
                             char device[16], char out[16])
{
    static const uint8_t secret[LEAT_ATON_KEY_LEN];
    const struct aton_config *c = &s->seat.config;
    *config = (struct leat_aton_host_config){ .device = device,
                                              .out = out,
                                              .ring_id = c->ring_id,
                                              .address = s->seat.page->interface.address,
                                              .key = c->has_key ? secret : NULL,
                                              .rate_per_s = c->rate_per_s,
                                              .driver = (enum leat_aton_host_driver)c->driver,
                                              .why = c->why };
    memcpy(config->previous, c->previous, ATON_MAC_LEN);
    memcpy(config->next, c->next, ATON_MAC_LEN);
    if (!if_indextoname(c->device, device)) snprintf(device, 16, "%u", c->device);
    if (!if_indextoname(c->out, out)) snprintf(out, 16, "%u", c->out);
}

int leat_aton_host_process(const struct leat_aton_host *s)
{
    return s->seat.process;
}

bool leat_aton_host_works(const struct leat_aton_host *s, char *why)
{
    return !s->driver->works || s->driver->works(&s->seat.config, why);
}
