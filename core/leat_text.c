#include "leat_text.h"
#include <assert.h>

static const char digits[] = "0123456789abcdef";

void leat_text_init(struct leat_text *text, char *buf, size_t cap,
                    void (*flush)(struct leat_text *), void *user)
{
    assert(cap >= LEAT_TEXT_CAP_MIN);
    *text = (struct leat_text){ .buf = buf, .cap = cap, .flush = flush, .user = user };
}

char *leat_text_reserve(struct leat_text *text, size_t n)
{
    assert(n <= LEAT_TEXT_CAP_MIN);
    if (text->cap - text->len >= n) return text->buf + text->len;
    if (!text->flush) {
        text->overflowed = true;
        return NULL;
    }
    text->flush(text);
    return text->buf + text->len;
}

void leat_text_put(struct leat_text *text, const char *chars, size_t len)
{
    while (len > text->cap - text->len) {
        const size_t part = text->cap - text->len;
        memcpy(text->buf + text->len, chars, part);
        text->len += part;
        if (!text->flush) {
            text->overflowed = true;
            return;
        }
        text->flush(text);
        chars += part;
        len -= part;
    }
    memcpy(text->buf + text->len, chars, len);
    text->len += len;
}

void leat_text_decimal(struct leat_text *text, uint64_t value)
{
    char reversed[20];
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + value % 10);
    while (value /= 10);

    char *out = leat_text_reserve(text, sizeof reversed);
    if (!out) return;
    text->len += n;
    while (n)
        *out++ = reversed[--n];
}

void leat_text_hex_number(struct leat_text *text, uint64_t value, unsigned digits_min)
{
    unsigned n = digits_min < 1 ? 1 : digits_min > 16 ? 16 : digits_min;
    while (n < 16 && value >> 4 * n)
        n++;
    char *out = leat_text_reserve(text, 16);
    if (!out) return;
    text->len += n;
    while (n)
        *out++ = digits[value >> 4 * --n & 15];
}

void leat_text_hex(struct leat_text *text, const uint8_t *octets, size_t len)
{
    enum { PIECE = LEAT_TEXT_CAP_MIN / 2 };
    while (len) {
        const size_t n = len < PIECE ? len : PIECE;
        char *out = leat_text_reserve(text, 2 * n);
        if (!out) return;
        for (size_t i = 0; i < n; i++) {
            out[2 * i] = digits[octets[i] >> 4];
            out[2 * i + 1] = digits[octets[i] & 15];
        }
        text->len += 2 * n;
        octets += n;
        len -= n;
    }
}

size_t leat_text_utf8(const void *octets, size_t len, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *octet = octets;
    if (len == 0) return 0;
    const size_t own = octet[0] < 0x80   ? 1
                       : octet[0] < 0xc0 ? 0
                       : octet[0] < 0xe0 ? 2
                       : octet[0] < 0xf0 ? 3
                       : octet[0] < 0xf8 ? 4
                                         : 0;
    if (!own || own > len) return 0;
    *code = own == 1 ? octet[0] : octet[0] & (0xffU >> (own + 1));
    for (size_t i = 1; i < own; i++) {
        if ((octet[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (octet[i] & 0x3f);
    }
    const bool is_surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code >= least[own] && *code <= 0x10ffff && !is_surrogate ? own : 0;
}

bool leat_text_is_control(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0);
}

/* How many characters stand for themselves in a string: most of them do. */
static size_t plain_len(const char *chars, size_t len)
{
    size_t plain = 0;
    while (plain < len && chars[plain] >= ' ' && (unsigned char)chars[plain] < 0x7f &&
           chars[plain] != '"' && chars[plain] != '\\')
        plain++;
    return plain;
}

static void put_quoted(struct leat_text *text, const char *chars, size_t len, bool is_utf8)
{
    leat_text_putc(text, '"');
    for (size_t own; len; chars += own, len -= own) {
        own = plain_len(chars, len);
        leat_text_put(text, chars, own);
        if (own) continue;
        uint32_t code = (unsigned char)*chars;
        own = is_utf8 ? leat_text_utf8(chars, len, &code) : 1;
        if (leat_text_is_control(code) || (!is_utf8 && code >= 0x80)) {
            leat_text_put(text, "\\u", 2);
            leat_text_hex_number(text, code, 4);
            continue;
        }
        if (code == '"' || code == '\\') leat_text_putc(text, '\\');
        leat_text_put(text, chars, own);
    }
    leat_text_putc(text, '"');
}

void leat_text_quoted(struct leat_text *text, const char *chars, size_t len)
{
    put_quoted(text, chars, len, false);
}

void leat_text_quoted_utf8(struct leat_text *text, const char *chars, size_t len)
{
    const size_t plain = plain_len(chars, len);
    uint32_t code;
    size_t own = 1;
    for (size_t at = plain; at < len && own; at += own)
        own = leat_text_utf8(chars + at, len - at, &code);
    if (plain < len) {
        put_quoted(text, chars, len, own);
        return;
    }
    leat_text_putc(text, '"');
    leat_text_put(text, chars, len);
    leat_text_putc(text, '"');
}

/* The length of the first character if a terminal only displays it; 0: there is none. */
static size_t harmless_len(const unsigned char *at, size_t len)
{
    uint32_t code;
    const size_t own = leat_text_utf8(at, len, &code);
    return own && leat_text_is_control(code) && code != '\n' && code != '\t' ? 0 : own;
}

void leat_text_harmless(struct leat_text *text, const void *octets, size_t len)
{
    const unsigned char *at = octets, *end = at + len;
    while (at < end) {
        const size_t plain = harmless_len(at, (size_t)(end - at));
        if (plain) {
            leat_text_put(text, (const char *)at, plain);
        } else {
            leat_text_put(text, "\\x", 2);
            leat_text_hex_number(text, *at, 2);
        }
        at += plain ? plain : 1;
    }
}

leat_err leat_text_out_of_range(struct leat_text *text, const char *what, uint64_t value,
                                uint64_t least, uint64_t most)
{
    leat_text_puts(text, what);
    leat_text_putc(text, ' ');
    leat_text_decimal(text, value);
    leat_text_puts(text, ", expected ");
    leat_text_decimal(text, least);
    leat_text_puts(text, " to ");
    leat_text_decimal(text, most);
    return LEAT_ERR_RANGE;
}

leat_err leat_text_check_ranges(struct leat_text *text, const struct leat_text_range *range,
                                size_t count)
{
    for (const struct leat_text_range *r = range; r < range + count; r++)
        if (r->value < r->least || r->value > r->most)
            return leat_text_out_of_range(text, r->what, r->value, r->least, r->most);
    return LEAT_ERR_OK;
}
