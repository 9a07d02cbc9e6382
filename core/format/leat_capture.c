#include "leat_bytes.h"
#include <leat/capture.h>
#include <string.h>

enum {
    PCAP_HEADER_LEN = 24,
    PCAP_RECORD_LEN = 16,
    NG_SECTION = 0x0a0d0d0a,
    NG_ORDER = 0x1a2b3c4d,
    NG_INTERFACE = 1,
    NG_PACKET_OLD = 2,
    NG_PACKET_SIMPLE = 3,
    NG_PACKET = 6,
    NG_BLOCK_LEN_MIN = 12,
    NG_SECTION_LEN_MIN = 28,
    NG_OPTION_END = 0,
    NG_OPTION_NAME = 2,
    NG_OPTION_RESOLUTION = 9,
};
#define PCAP_MICRO UINT32_C(0xa1b2c3d4)
#define PCAP_NANO  UINT32_C(0xa1b23c4d)
#define NANO       UINT64_C(1000000000)

static uint32_t get32(const struct leat_capture *c, const uint8_t *p)
{
    return c->big ? leat_get_be32(p) : leat_get_le32(p);
}

static uint16_t get16(const struct leat_capture *c, const uint8_t *p)
{
    return c->big ? leat_get_be16(p) : leat_get_le16(p);
}

static bool is_pcap(uint32_t magic)
{
    return magic == PCAP_MICRO || magic == PCAP_NANO;
}

bool leat_capture_recognise(const uint8_t *buf, size_t len)
{
    if (len < LEAT_CAPTURE_MAGIC_LEN) return false;
    return is_pcap(leat_get_le32(buf)) || is_pcap(leat_get_be32(buf)) ||
           leat_get_be32(buf) == NG_SECTION;
}

void leat_capture_init(struct leat_capture *capture)
{
    capture->state = LEAT_CAPTURE_START;
    capture->big = false;
    capture->interface_count = 0;
}

static leat_err start_pcap(struct leat_capture *c, const uint8_t *buf, size_t len, size_t *used,
                           size_t *wanted)
{
    if (len < PCAP_HEADER_LEN) {
        *wanted = PCAP_HEADER_LEN;
        return LEAT_ERR_OK;
    }
    c->big = is_pcap(leat_get_be32(buf));
    c->interface[0] = (struct leat_capture_interface){
        .link_type = (uint16_t)get32(c, buf + 20), /* the upper bits describe an FCS */
        .ticks_per_second = get32(c, buf) == PCAP_NANO ? NANO : 1000000,
    };
    c->interface_count = 1;
    c->state = LEAT_CAPTURE_PCAP;
    *used = PCAP_HEADER_LEN;
    return LEAT_ERR_OK;
}

static leat_err next_record(struct leat_capture *c, const uint8_t *buf, size_t len,
                            struct leat_capture_packet *out, bool *found, size_t *used,
                            size_t *wanted)
{
    *wanted = PCAP_RECORD_LEN;
    if (len < PCAP_RECORD_LEN) return LEAT_ERR_OK;
    const uint32_t captured = get32(c, buf + 8);
    if (captured > LEAT_CAPTURE_BLOCK_LEN_MAX) return LEAT_ERR_LENGTH;
    *wanted = PCAP_RECORD_LEN + (size_t)captured;
    if (len < *wanted) return LEAT_ERR_OK;
    *out = (struct leat_capture_packet){
        .octets = buf + PCAP_RECORD_LEN,
        .len = captured,
        .original_len = get32(c, buf + 12),
        .link_type = c->interface[0].link_type,
        .time_ns = get32(c, buf) * NANO +
                   get32(c, buf + 4) * (NANO / c->interface[0].ticks_per_second),
    };
    *found = true;
    *used = *wanted;
    return LEAT_ERR_OK;
}

static size_t padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

/* Ticks of one second from if_tsresol: 10^-n, or 2^-n where the top bit is set. */
static uint64_t ticks_of(uint8_t resolution)
{
    if (resolution & 0x80) return UINT64_C(1) << (resolution & 0x3f);
    uint64_t ticks = 1;
    for (unsigned i = 0; i < resolution && ticks < NANO * NANO; i++)
        ticks *= 10;
    return ticks;
}

static leat_err on_interface(struct leat_capture *c, const uint8_t *body, size_t len)
{
    if (len < 8) return LEAT_ERR_SHORT;
    if (c->interface_count >= LEAT_CAPTURE_INTERFACE_MAX) return LEAT_ERR_FULL;
    struct leat_capture_interface i = { .link_type = get16(c, body),
                                        .snap_len = get32(c, body + 4),
                                        .ticks_per_second = 1000000 };
    for (size_t at = 8; at + 4 <= len;) {
        const uint16_t code = get16(c, body + at), option_len = get16(c, body + at + 2);
        if (code == NG_OPTION_END) break;
        if (padded(option_len) > len - at - 4) return LEAT_ERR_LENGTH;
        if (code == NG_OPTION_RESOLUTION && option_len >= 1)
            i.ticks_per_second = ticks_of(body[at + 4]);
        at += 4 + padded(option_len);
    }
    c->interface[c->interface_count++] = i;
    return LEAT_ERR_OK;
}

/* Seconds and remainder apart, so that no product overflows for any date up to the year 2554. */
static uint64_t nanoseconds(uint64_t ticks, uint64_t ticks_per_second)
{
    const uint64_t rest = ticks % ticks_per_second;
    const uint64_t part = ticks_per_second <= NANO ? rest * NANO / ticks_per_second
                                                   : rest / (ticks_per_second / NANO);
    return ticks / ticks_per_second * NANO + part;
}

static leat_err on_packet(const struct leat_capture *c, const uint8_t *body, size_t len, bool old,
                          struct leat_capture_packet *out)
{
    enum { HEAD = 20 };
    if (len < HEAD) return LEAT_ERR_SHORT;
    const uint32_t index = old ? get16(c, body) : get32(c, body);
    const uint32_t captured = get32(c, body + 12);
    if (index >= c->interface_count) return LEAT_ERR_FIELD;
    if (captured > len - HEAD) return LEAT_ERR_LENGTH;
    const struct leat_capture_interface *i = &c->interface[index];
    const uint64_t ticks = (uint64_t)get32(c, body + 4) << 32 | get32(c, body + 8);
    *out = (struct leat_capture_packet){
        .octets = body + HEAD,
        .len = captured,
        .original_len = get32(c, body + 16),
        .link_type = i->link_type,
        .interface = (uint32_t)(i - c->interface),
        .time_ns = nanoseconds(ticks, i->ticks_per_second),
    };
    return LEAT_ERR_OK;
}

static leat_err on_simple_packet(const struct leat_capture *c, const uint8_t *body, size_t len,
                                 struct leat_capture_packet *out)
{
    if (len < 4) return LEAT_ERR_SHORT;
    if (!c->interface_count) return LEAT_ERR_FIELD;
    const uint32_t original = get32(c, body);
    const uint32_t snap = c->interface[0].snap_len;
    const uint32_t captured = snap && snap < original ? snap : original;
    if (captured > len - 4) return LEAT_ERR_LENGTH;
    *out = (struct leat_capture_packet){ .octets = body + 4,
                                         .len = captured,
                                         .original_len = original,
                                         .link_type = c->interface[0].link_type };
    return LEAT_ERR_OK;
}

/* A section header defines the byte order of everything after it, so it is read before its
 * length. */
static leat_err begin_section(struct leat_capture *c, const uint8_t *buf)
{
    if (leat_get_be32(buf + 8) == NG_ORDER)
        c->big = true;
    else if (leat_get_le32(buf + 8) == NG_ORDER)
        c->big = false;
    else
        return LEAT_ERR_MAGIC;
    c->state = LEAT_CAPTURE_PCAPNG;
    c->interface_count = 0;
    return LEAT_ERR_OK;
}

static leat_err next_block(struct leat_capture *c, const uint8_t *buf, size_t len,
                           struct leat_capture_packet *out, bool *found, size_t *used,
                           size_t *wanted)
{
    *wanted = NG_BLOCK_LEN_MIN;
    if (len < NG_BLOCK_LEN_MIN) return LEAT_ERR_OK;
    const bool section = leat_get_be32(buf) == NG_SECTION;
    if (section) {
        const leat_err err = begin_section(c, buf);
        if (err) return err;
    }
    const uint32_t block_len = get32(c, buf + 4);
    if (block_len < (section ? NG_SECTION_LEN_MIN : NG_BLOCK_LEN_MIN) || block_len % 4 ||
        block_len > LEAT_CAPTURE_BLOCK_LEN_MAX)
        return LEAT_ERR_LENGTH;
    *wanted = block_len;
    if (len < block_len) return LEAT_ERR_OK;
    if (get32(c, buf + block_len - 4) != block_len) return LEAT_ERR_LENGTH;

    const uint8_t *body = buf + 8;
    const size_t body_len = block_len - NG_BLOCK_LEN_MIN;
    leat_err err = LEAT_ERR_OK;
    if (!section) {
        switch (get32(c, buf)) {
        case NG_INTERFACE: err = on_interface(c, body, body_len); break;
        case NG_PACKET:
        case NG_PACKET_OLD:
            err = on_packet(c, body, body_len, get32(c, buf) == NG_PACKET_OLD, out);
            *found = !err;
            break;
        case NG_PACKET_SIMPLE:
            err = on_simple_packet(c, body, body_len, out);
            *found = !err;
            break;
        default: break;
        }
    }
    *used = block_len;
    return err;
}

leat_err leat_capture_next(struct leat_capture *c, const uint8_t *buf, size_t len,
                           struct leat_capture_packet *out, bool *found, size_t *used,
                           size_t *wanted)
{
    *found = false;
    *used = 0;
    switch (c->state) {
    case LEAT_CAPTURE_START:
        *wanted = LEAT_CAPTURE_MAGIC_LEN;
        if (len < LEAT_CAPTURE_MAGIC_LEN) return LEAT_ERR_OK;
        if (!leat_capture_recognise(buf, len)) return LEAT_ERR_MAGIC;
        if (leat_get_be32(buf) != NG_SECTION) return start_pcap(c, buf, len, used, wanted);
        return next_block(c, buf, len, out, found, used, wanted);
    case LEAT_CAPTURE_PCAP: return next_record(c, buf, len, out, found, used, wanted);
    case LEAT_CAPTURE_PCAPNG: return next_block(c, buf, len, out, found, used, wanted);
    }
    return LEAT_ERR_MAGIC;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Type and both lengths around a body of `body_len` octets; NULL if there is no room. */
static uint8_t *begin_block(uint8_t *buf, size_t cap, uint32_t type, size_t body_len)
{
    const size_t len = body_len + NG_BLOCK_LEN_MIN;
    if (body_len > LEAT_CAPTURE_BLOCK_LEN_MAX - NG_BLOCK_LEN_MIN || len > cap) return NULL;
    leat_put_le32(buf, type);
    leat_put_le32(buf + 4, (uint32_t)len);
    leat_put_le32(buf + len - 4, (uint32_t)len);
    return buf + 8;
}

size_t leat_capture_put_section(uint8_t *buf, size_t cap)
{
    enum { BODY = 16 };
    uint8_t *body = begin_block(buf, cap, NG_SECTION, BODY);
    if (!body) return 0;
    leat_put_le32(body, NG_ORDER);
    leat_put_le16(body + 4, 1);
    leat_put_le16(body + 6, 0);
    leat_put_le64(body + 8, UINT64_MAX); /* the section's length is not given */
    return BODY + NG_BLOCK_LEN_MIN;
}

size_t leat_capture_put_interface(uint8_t *buf, size_t cap, uint16_t link_type, const char *name)
{
    const size_t name_len = strlen(name), body_len = 8 + 4 + padded(name_len) + 8 + 4;
    if (name_len > UINT16_MAX) return 0;
    uint8_t *body = begin_block(buf, cap, NG_INTERFACE, body_len);
    if (!body) return 0;
    memset(body, 0, body_len);
    leat_put_le16(body, link_type);
    leat_put_le16(body + 8, NG_OPTION_NAME);
    leat_put_le16(body + 10, (uint16_t)name_len);
    memcpy(body + 12, name, name_len);
    uint8_t *option = body + 12 + padded(name_len);
    leat_put_le16(option, NG_OPTION_RESOLUTION);
    leat_put_le16(option + 2, 1);
    option[4] = 9; /* nanoseconds */
    return body_len + NG_BLOCK_LEN_MIN;
}

size_t leat_capture_put_packet(uint8_t *buf, size_t cap, uint32_t interface, uint64_t time_ns,
                               const uint8_t *octets, size_t len)
{
    enum { HEAD = 20 };
    if (len > LEAT_CAPTURE_BLOCK_LEN_MAX) return 0;
    uint8_t *body = begin_block(buf, cap, NG_PACKET, HEAD + padded(len));
    if (!body) return 0;
    leat_put_le32(body, interface);
    leat_put_le32(body + 4, (uint32_t)(time_ns >> 32));
    leat_put_le32(body + 8, (uint32_t)time_ns);
    leat_put_le32(body + 12, (uint32_t)len);
    leat_put_le32(body + 16, (uint32_t)len);
    memcpy(body + HEAD, octets, len);
    memset(body + HEAD + len, 0, padded(len) - len);
    return HEAD + padded(len) + NG_BLOCK_LEN_MIN;
}
