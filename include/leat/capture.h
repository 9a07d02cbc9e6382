/*
 * Capture files, as octets in and octets out: reads pcap and pcapng, writes pcapng. The caller
 * reads and writes the file itself.
 *
 *   state     octets                      next
 *   --------  --------------------------  --------
 *   START     pcap magic                  PCAP
 *             section header block        PCAPNG
 *   PCAP      record                      PCAP, a packet
 *   PCAPNG    interface block             PCAPNG, nothing
 *             enhanced, simple, old block PCAPNG, a packet
 *             section header block        PCAPNG, interfaces discarded
 *             any other block             PCAPNG, skipped
 */
#ifndef LEAT_CAPTURE_H
#define LEAT_CAPTURE_H

#include <leat/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits: octets of a block, interfaces of a section. Octets that show the kind of file. */
enum {
    LEAT_CAPTURE_BLOCK_LEN_MAX = 16 << 20,
    LEAT_CAPTURE_INTERFACE_MAX = 256,
    LEAT_CAPTURE_MAGIC_LEN = 4,
};

/* Link types that leat reads or writes (pcap's numbers). */
enum {
    LEAT_LINK_NULL = 0,
    LEAT_LINK_ETHERNET = 1,
    LEAT_LINK_RAW = 101,
    LEAT_LINK_LOOP = 108,
    LEAT_LINK_LINUX_SLL = 113,
    LEAT_LINK_USER0 = 147, /* ATM, then ATON, ESP, PacketWay, POETS */
    LEAT_LINK_USER4 = 151,
    LEAT_LINK_USER5 = 152,
    LEAT_LINK_IPV4 = 228,
    LEAT_LINK_IPV6 = 229,
    LEAT_LINK_LINUX_SLL2 = 276,
};

/* An interface of the file: what its packets are, and the unit of its times. */
struct leat_capture_interface {
    uint16_t link_type;
    uint32_t snap_len;
    uint64_t ticks_per_second;
};

/* Where the reader is; see the table above. */
enum leat_capture_state { LEAT_CAPTURE_START, LEAT_CAPTURE_PCAP, LEAT_CAPTURE_PCAPNG };

/* The reader; leat_capture_init begins a file. */
struct leat_capture {
    enum leat_capture_state state;
    bool big; /* the file's numbers are big-endian */
    uint32_t interface_count;
    struct leat_capture_interface interface[LEAT_CAPTURE_INTERFACE_MAX];
};

/* A packet of the file. */
struct leat_capture_packet {
    const uint8_t *octets; /* lent from the buffer */
    size_t len;            /* as captured */
    size_t original_len;   /* as sent; more than len if the capture truncated it */
    uint16_t link_type;
    uint32_t interface; /* that it was captured on; 0 unless the file has several */
    uint64_t time_ns;   /* since 1970; 0 if the file does not say */
};

/* Is this the beginning of a capture file? False if len < LEAT_CAPTURE_MAGIC_LEN. */
LEAT_API bool leat_capture_recognise(const uint8_t *buf, size_t len);

/* Begins a file. */
LEAT_API void leat_capture_init(struct leat_capture *capture);

/*
 * Takes the next piece of the file from the front of `buf` and consumes *used octets.
 *   OK, *found                 a packet is in *out
 *   OK, !*found, *used > 0     something else was read: go on
 *   OK, !*found, *used == 0    more octets are needed: *wanted of them in the buffer
 *   an error, *used > 0        this block is damaged; the next one can be read
 *   an error, *used == 0       the file is damaged from here on
 * A file that ends while octets are wanted is truncated, unless the buffer is empty.
 */
LEAT_API leat_err leat_capture_next(struct leat_capture *capture, const uint8_t *buf, size_t len,
                                    struct leat_capture_packet *out, bool *found, size_t *used,
                                    size_t *wanted);

/* Writers of pcapng blocks, little-endian. Each returns the octets written, or 0 if there is no
 * room. */
LEAT_API size_t leat_capture_put_section(uint8_t *buf, size_t cap);
LEAT_API size_t leat_capture_put_interface(uint8_t *buf, size_t cap, uint16_t link_type,
                                           const char *name);
LEAT_API size_t leat_capture_put_packet(uint8_t *buf, size_t cap, uint32_t interface,
                                        uint64_t time_ns, const uint8_t *octets, size_t len);

#ifdef __cplusplus
}
#endif

#endif
