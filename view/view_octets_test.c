/* Text that grows, base64 and SHA-256, with the examples of their standards. */
#include "tap.h"
#include "view_octets.h"
#include <string.h>

static void text_grows_as_far_as_it_is_written(void)
{
    static struct view_buffer b;
    view_buffer_init(&b);
    for (int i = 0; i < 20000; i++)
        leat_text_decimal(&b.text, 7);
    OK(view_buffer_end(&b));
    EQ(b.len, 20000);
    size_t sevens = 0;
    for (size_t i = 0; i < b.len; i++)
        sevens += b.octets[i] == '7';
    EQ(sevens, 20000);
    view_buffer_free(&b);
    OK(!b.octets);
}

static bool is_base64(const char *octets, const char *want)
{
    char buf[128];
    struct leat_text text;
    leat_text_init(&text, buf, sizeof buf, NULL, NULL);
    view_base64(&text, octets, strlen(octets));
    return text.len == strlen(want) && memcmp(buf, want, text.len) == 0;
}

/* RFC 4648, section 10. */
static void base64_is_that_of_rfc_4648(void)
{
    OK(is_base64("", ""));
    OK(is_base64("f", "Zg=="));
    OK(is_base64("fo", "Zm8="));
    OK(is_base64("foo", "Zm9v"));
    OK(is_base64("foob", "Zm9vYg=="));
    OK(is_base64("fooba", "Zm9vYmE="));
    OK(is_base64("foobar", "Zm9vYmFy"));
    OK(is_base64("\xff\xef\xfe", "/+/+"));
}

static bool is_hash(const char *octets, size_t len, const char *want)
{
    uint8_t hash[VIEW_SHA256_LEN];
    char hex[2 * VIEW_SHA256_LEN + 1];
    view_sha256(octets, len, hash);
    for (int i = 0; i < VIEW_SHA256_LEN; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    return strcmp(hex, want) == 0;
}

/* The examples of NIST for FIPS 180-4; the last one is a million times "a". */
static void sha256_is_that_of_fips_180(void)
{
    static char many[1000000];
    memset(many, 'a', sizeof many);
    OK(is_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    OK(is_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    OK(is_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    OK(is_hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
               "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
               112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"));
    OK(is_hash(many, sizeof many,
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TAP_MAIN(T(text_grows_as_far_as_it_is_written), T(base64_is_that_of_rfc_4648),
         T(sha256_is_that_of_fips_180))
