/* The encoding of elements on the bus, and round trips; against octets written by hand. The unit is
 * a plain list of words here. */
#include "tap.h"
#include "thesis_library.h"
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

/* ---- replacement of the task ----------------------------------------------------------------- */

static struct shmst dev;
static uint8_t message[4096];
static size_t written, read_at;
static char words[256]; /* octets of each word that was written, then of each that was read */
static char reason[256];
static jmp_buf failed;

uint8_t *leat_atm_room(size_t len)
{
    static uint8_t room[4096];
    OK(len <= sizeof room);
    return room;
}

/* As the unit counts: a sequence of words of four octets, the last may have fewer. */
static void note_words(size_t len)
{
    const size_t at = strlen(words);
    for (size_t i = 0; i < len; i += 4)
        words[at + i / 4] = (char)('0' + (len - i < 4 ? len - i : 4));
}

void leat_atm_put(struct shmst *at, const char *call, const uint8_t *octets, size_t len)
{
    OK(at == &dev && !strncmp(call, "atmput", 6));
    memcpy(message + written, octets, len);
    written += len;
    note_words(len);
}

void leat_atm_get(struct shmst *at, const char *call, uint8_t *octets, size_t len)
{
    OK(at == &dev && !strncmp(call, "atmget", 6));
    memcpy(octets, message + read_at, len);
    read_at += len;
    note_words(len);
}

void leat_atm_fail(const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int len = snprintf(reason, sizeof reason, "%s: ", call);
    vsnprintf(reason + len, sizeof reason - (size_t)len, format, arguments);
    va_end(arguments);
    longjmp(failed, 1);
}

/* ---- octets by hand -------------------------------------------------------------------------- */

static void begin(void)
{
    written = read_at = 0;
    memset(words, 0, sizeof words);
}

/* The message so far, and the words that it was written as. */
static void is(const char *hex, const char *in_words)
{
    char text[256] = "";
    for (size_t i = 0; i < written && i < 100; i++)
        snprintf(text + 2 * i, 3, "%02x", message[i]);
    OK(!strcmp(text, hex));
    OK(!strcmp(words, in_words));
    if (strcmp(text, hex) || strcmp(words, in_words))
        printf("# is %s in %s, want %s in %s\n", text, words, hex, in_words);
    memset(words, 0, sizeof words);
}

/* All has been read, in the same words. */
static void is_read(const char *in_words)
{
    EQ(read_at, written);
    OK(!strcmp(words, in_words));
}

static void integers_are_words_big_end_first(void)
{
    const int x[] = { 285, -2, INT_MIN };
    int y[3] = { 0 };
    begin();
    EQ(atmputnint(&dev, x, 3), 0);
    is("0000011dfffffffe80000000", "444");
    EQ(atmgetnint(&dev, y, 3), 0);
    is_read("444");
    OK(!memcmp(x, y, sizeof x));
}

static void shorts_have_words_of_two_octets(void)
{
    const short x[] = { 1, -2, SHRT_MIN };
    short y[3] = { 0 };
    begin();
    atmputnshort(&dev, x, 3);
    is("0001fffe8000", "222");
    atmgetnshort(&dev, y, 3);
    is_read("222");
    OK(!memcmp(x, y, sizeof x));
}

static void longs_have_four_octets_and_keep_their_sign(void)
{
    const long x[] = { 5, -2147483647L - 1 };
    long y[2] = { 0 };
    begin();
    atmputnlong(&dev, x, 2);
    is("0000000580000000", "44");
    atmgetnlong(&dev, y, 2);
    is_read("44");
    OK(!memcmp(x, y, sizeof x));
}

static void numbers_with_a_point_are_those_of_ieee(void)
{
    const float f[] = { 1297.456f, -2.5f };
    const double d[] = { 1, -2.5 };
    float g[2] = { 0 };
    double e[2] = { 0 };
    begin();
    atmputnfloat(&dev, f, 2);
    is("44a22e98c0200000", "44"); /* the first is published */
    atmputndfloat(&dev, d, 2);
    is("44a22e98c02000003ff0000000000000c004000000000000", "4444");
    atmgetnfloat(&dev, g, 2);
    atmgetndfloat(&dev, e, 2);
    is_read("444444");
    OK(!memcmp(f, g, sizeof f) && !memcmp(d, e, sizeof d));
}

static void complex_numbers_are_pairs(void)
{
    const struct atmcplx c[] = { { 1, 2 } };
    const struct atmdcplx d[] = { { 1, 2 } };
    struct atmcplx e[1] = { { 0 } };
    struct atmdcplx f[1] = { { 0 } };
    begin();
    atmputncplx(&dev, c, 1);
    is("3f80000040000000", "44");
    atmputndcplx(&dev, d, 1);
    is("3f800000400000003ff00000000000004000000000000000", "4444");
    atmgetncplx(&dev, e, 1);
    atmgetndcplx(&dev, f, 1);
    is_read("444444");
    OK(!memcmp(c, e, sizeof c) && !memcmp(d, f, sizeof d));
}

static void bytes_are_not_padded_and_strings_are(void)
{
    char bytes[6] = "", text[16] = "";
    begin();
    atmputbytes(&dev, "abcde", 5);
    is("6162636465", "41");
    atmputstring(&dev, "hello");
    is("616263646568656c6c6f000000", "44");
    atmputstring(&dev, "abc");
    is("616263646568656c6c6f00000061626300", "4");
    atmputstring(&dev, "");
    is("616263646568656c6c6f0000006162630000000000", "4");
    atmgetbytes(&dev, bytes, 5);
    OK(!strcmp(bytes, "abcde"));
    atmgetstring(&dev, text);
    OK(!strcmp(text, "hello"));
    atmgetstring(&dev, text);
    OK(!strcmp(text, "abc"));
    atmgetstring(&dev, text);
    OK(!strcmp(text, ""));
    is_read("414444");
}

static void nothing_is_nothing(void)
{
    begin();
    atmputnint(&dev, NULL, 0);
    atmputnshort(&dev, NULL, 0);
    atmputbytes(&dev, NULL, 0);
    atmgetnint(&dev, NULL, 0);
    atmgetbytes(&dev, NULL, 0);
    is("", "");
}

static void what_cannot_be_put_is_refused_with_the_reason(void)
{
    const long x[] = { 2147483648L };
    begin();
    if (!setjmp(failed)) {
        atmputnint(&dev, (int[]){ 1 }, -1);
        tap_checks_failed++;
    }
    OK(!strcmp(reason, "atmputnint: -1 elements, expected 0 or more"));
    if (!setjmp(failed)) {
        atmgetbytes(&dev, NULL, -7);
        tap_checks_failed++;
    }
    OK(!strcmp(reason, "atmgetbytes: -7 elements, expected 0 or more"));
    if (sizeof(long) > 4 && !setjmp(failed)) {
        atmputnlong(&dev, x, 1);
        tap_checks_failed++;
    }
    if (sizeof(long) > 4)
        OK(!strcmp(reason, "atmputnlong: 2147483648, expected a number that 4 octets hold"));
    EQ(written, 0);
}

TAP_MAIN(T(integers_are_words_big_end_first), T(shorts_have_words_of_two_octets),
         T(longs_have_four_octets_and_keep_their_sign), T(numbers_with_a_point_are_those_of_ieee),
         T(complex_numbers_are_pairs), T(bytes_are_not_padded_and_strings_are),
         T(nothing_is_nothing), T(what_cannot_be_put_is_refused_with_the_reason))
