/* Any octets, read in any two pieces, give the same packets, and none lies outside the file. */
#include <leat/capture.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned long read_all(const uint8_t *data, size_t len)
{
    static struct leat_capture capture;
    unsigned long sum = 0;
    leat_capture_init(&capture);
    for (size_t at = 0; at < len;) {
        struct leat_capture_packet p;
        bool found;
        size_t used, wanted = 0;
        if (leat_capture_next(&capture, data + at, len - at, &p, &found, &used, &wanted)) break;
        if (found && (p.octets < data || p.octets + p.len > data + len)) abort();
        if (used > len - at || (!used && wanted <= len - at)) abort();
        if (found) sum = sum * 31 + p.len + p.link_type + (p.len ? p.octets[p.len - 1] : 0);
        if (!used) break;
        at += used;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (read_all(data, len) != read_all(data, len)) abort();
    return 0;
}
