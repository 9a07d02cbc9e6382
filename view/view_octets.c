#include "view_octets.h"
#include "leat_bytes.h"
#include <stdlib.h>

/* ---- text of any length --------------------------------------------------------------------- */

static bool grow(struct view_buffer *b, size_t len)
{
    size_t cap = b->cap ? b->cap : sizeof b->stage;
    while (cap < len)
        cap *= 2;
    if (cap == b->cap) return true;
    char *octets = realloc(b->octets, cap);
    if (!octets) return false;
    b->octets = octets;
    b->cap = cap;
    return true;
}

static void flush(struct leat_text *text)
{
    struct view_buffer *b = text->user;
    if (!b->failed && !grow(b, b->len + text->len)) b->failed = true;
    if (!b->failed) memcpy(b->octets + b->len, text->buf, text->len);
    if (!b->failed) b->len += text->len;
    text->len = 0;
}

void view_buffer_init(struct view_buffer *b)
{
    b->octets = NULL;
    b->len = b->cap = 0;
    b->failed = false;
    leat_text_init(&b->text, b->stage, sizeof b->stage, flush, b);
}

bool view_buffer_end(struct view_buffer *b)
{
    flush(&b->text);
    return !b->failed;
}

void view_buffer_free(struct view_buffer *b)
{
    free(b->octets);
    b->octets = NULL;
    b->len = b->cap = 0;
}

/* ---- base64 --------------------------------------------------------------------------------- */

void view_base64(struct leat_text *text, const void *octets, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = octets;
    for (size_t i = 0; i < len; i += 3) {
        const size_t n = len - i < 3 ? len - i : 3;
        const uint32_t bits = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                              (n > 2 ? p[i + 2] : 0);
        char *out = leat_text_reserve(text, 4);
        if (!out) return;
        for (size_t k = 0; k < 4; k++)
            out[k] = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
        text->len += 4;
    }
}

/* ---- SHA-256 -------------------------------------------------------------------------------- */

enum { BLOCK = 64, ROUNDS = 64 };

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

/* FIPS 180-4, 6.2.2. */
static void add_block(uint32_t state[8], const uint8_t *block)
{
    static const uint32_t k[ROUNDS] = {
        /* 4.2.2 */
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2
    };
    uint32_t w[ROUNDS], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = leat_get_be32(block + 4 * t);
    for (int t = 16; t < ROUNDS; t++)
        w[t] = (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7] +
               (rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
    memcpy(v, state, sizeof v);
    for (int t = 0; t < ROUNDS; t++) {
        const uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                            ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[t] + w[t];
        const uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                            ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void view_sha256(const void *octets, size_t len, uint8_t hash[VIEW_SHA256_LEN])
{
    uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, /* 5.3.3 */
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    uint8_t last[2 * BLOCK] = { 0 };
    const uint8_t *p = octets;
    const size_t rest = len % BLOCK, padded = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK; /* 5.1.1 */
    for (size_t i = 0; i + BLOCK <= len; i += BLOCK)
        add_block(state, p + i);
    if (rest) memcpy(last, p + len - rest, rest);
    last[rest] = 0x80;
    leat_put_be64(last + padded - 8, (uint64_t)len * 8);
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(state, last + i);
    for (int i = 0; i < 8; i++)
        leat_put_be32(hash + 4 * i, state[i]);
}
