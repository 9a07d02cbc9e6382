#include "leat_json.h"
#include "tap.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char written[1 << 12];
static struct leat_text text;
static struct leat_json json;

static void begin(void)
{
    leat_text_init(&text, written, sizeof written, NULL, NULL);
    leat_json_init(&json, &text);
}

static bool reads(const char *want)
{
    const bool same = text.len == strlen(want) && memcmp(written, want, text.len) == 0;
    if (!same) printf("# got:\n%.*s\n", (int)text.len, written);
    return same;
}

static void commas_stand_between_values_and_nowhere_else(void)
{
    begin();
    leat_json_object(&json, NULL);
    leat_json_object(&json, "none");
    leat_json_end(&json);
    leat_json_array(&json, "list");
    leat_json_uint(&json, NULL, 1);
    leat_json_array(&json, NULL);
    leat_json_end(&json);
    leat_json_object(&json, NULL);
    leat_json_null(&json, "x");
    leat_json_end(&json);
    leat_json_end(&json);
    leat_json_bool(&json, "yes", true);
    leat_json_bool(&json, "no", false);
    leat_json_end(&json);
    OK(reads("{\"none\":{},\"list\":[1,[],{\"x\":null}],\"yes\":true,\"no\":false}"));
}

static void numbers_of_64_bits_are_exact(void)
{
    begin();
    leat_json_array(&json, NULL);
    leat_json_uint(&json, NULL, UINT64_MAX);
    leat_json_int(&json, NULL, INT64_MIN);
    leat_json_int(&json, NULL, INT64_MAX);
    leat_json_int(&json, NULL, 0);
    leat_json_micro(&json, NULL, 1000001);
    leat_json_micro(&json, NULL, UINT64_MAX);
    leat_json_number(&json, NULL, "1.5e-3");
    leat_json_end(&json);
    OK(reads("[18446744073709551615,-9223372036854775808,9223372036854775807,0,1.000001,"
             "18446744073709.551615,1.5e-3]"));
}

static void several_numbers_stand_in_their_order(void)
{
    begin();
    leat_json_object(&json, NULL);
    LEAT_JSON_UINTS(&json, { "b", 1 }, { "a", UINT64_MAX }, { "c", 0 }); /* leat_json_uints */
    leat_json_end(&json);
    OK(reads("{\"b\":1,\"a\":18446744073709551615,\"c\":0}"));
}

static void strings_are_escaped_and_utf8_stays(void)
{
    begin();
    leat_json_array(&json, NULL);
    leat_json_string(&json, NULL, "a\"b\\c/\n\x7f\xc2\x85");
    leat_json_string(&json, NULL, "\xc3\xa9 \xf0\x9f\x98\x80");
    leat_json_string(&json, NULL, "\xc3\xa9\xff"); /* not UTF-8: octet by octet */
    leat_json_key(&json, NULL);
    leat_text_quoted_utf8(&text, "\xc3\xa9", 2);
    leat_json_chars(&json, NULL, "\0z", 2);
    leat_json_string(&json, NULL, "");
    leat_json_string(&json, NULL, NULL);
    leat_json_end(&json);
    OK(reads("[\"a\\\"b\\\\c/\\u000a\\u007f\\u0085\",\"\xc3\xa9 \xf0\x9f\x98\x80\","
             "\"\\u00c3\\u00a9\\u00ff\",\"\xc3\xa9\",\"\\u0000z\",\"\",null]"));
}

static void keys_are_escaped_too(void)
{
    begin();
    leat_json_object(&json, NULL);
    leat_json_uint(&json, "a\"\n", 1);
    leat_json_end(&json);
    OK(reads("{\"a\\\"\\u000a\":1}"));
}

static void octets_and_hexadecimal_numbers_are_strings(void)
{
    begin();
    leat_json_object(&json, NULL);
    leat_json_hex(&json, "certificate", "", 0xab, 16);
    leat_json_hex(&json, "tag", "0x", UINT64_MAX, 1);
    leat_json_octets(&json, "octets", (const uint8_t[]){ 0, 0xff }, 2);
    leat_json_octets(&json, "none", NULL, 0);
    leat_json_end(&json);
    OK(reads("{\"certificate\":\"00000000000000ab\",\"tag\":\"0xffffffffffffffff\","
             "\"octets\":\"00ff\",\"none\":\"\"}"));
}

static void a_line_end_stands_behind_the_comma(void)
{
    begin();
    leat_json_array(&json, NULL);
    leat_json_break(&json);
    leat_json_uint(&json, NULL, 1);
    leat_json_break(&json);
    leat_json_uint(&json, NULL, 2);
    leat_json_break(&json);
    leat_json_end(&json);
    OK(reads("[\n1,\n2\n]"));
}

static void the_caller_may_write_a_value(void)
{
    begin();
    leat_json_object(&json, NULL);
    leat_json_uint(&json, "a", 1);
    leat_json_key(&json, "b");
    leat_text_puts(&text, "{}");
    leat_json_uint(&json, "c", 3);
    leat_json_end(&json);
    OK(reads("{\"a\":1,\"b\":{},\"c\":3}"));
}

static size_t flushed;

static void flush(struct leat_text *t)
{
    memcpy(written + flushed, t->buf, t->len);
    flushed += t->len;
    t->len = 0;
}

static void a_short_buffer_is_flushed_as_often_as_it_takes(void)
{
    char buf[LEAT_TEXT_CAP_MIN], want[1 << 10] = "[";
    leat_text_init(&text, buf, sizeof buf, flush, NULL);
    leat_json_init(&json, &text);
    leat_json_array(&json, NULL);
    for (int i = 0; i < 50; i++) {
        leat_json_string(&json, NULL, "\xc3\xa9\n");
        strcat(want, i ? ",\"\xc3\xa9\\u000a\"" : "\"\xc3\xa9\\u000a\"");
    }
    leat_json_end(&json);
    flush(&text);
    strcat(want, "]");
    EQ(flushed, strlen(want));
    OK(memcmp(written, want, flushed) == 0);
}

/* ---- mistakes of the caller ------------------------------------------------------------------ */

static void too_deep(void)
{
    for (int i = 0; i <= LEAT_JSON_DEPTH_MAX; i++)
        leat_json_array(&json, NULL);
}

static void member_without_key(void)
{
    leat_json_object(&json, NULL);
    leat_json_uint(&json, NULL, 1);
}

static void key_in_array(void)
{
    leat_json_array(&json, NULL);
    leat_json_uint(&json, "a", 1);
}

static void two_outermost(void)
{
    leat_json_uint(&json, NULL, 1);
    leat_json_uint(&json, NULL, 2);
}

static void end_of_nothing(void)
{
    leat_json_end(&json);
}

static bool aborts(void (*mistake)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        begin();
        mistake();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void mistakes_of_the_caller_are_assertions(void)
{
    OK(aborts(too_deep));
    OK(aborts(member_without_key));
    OK(aborts(key_in_array));
    OK(aborts(two_outermost));
    OK(aborts(end_of_nothing));
}

static void the_deepest_nesting_is_written(void)
{
    begin();
    for (int i = 0; i < LEAT_JSON_DEPTH_MAX; i++)
        leat_json_array(&json, NULL);
    for (int i = 0; i < LEAT_JSON_DEPTH_MAX; i++)
        leat_json_end(&json);
    EQ(text.len, 2 * LEAT_JSON_DEPTH_MAX);
}

TAP_MAIN(T(commas_stand_between_values_and_nowhere_else), T(numbers_of_64_bits_are_exact),
         T(several_numbers_stand_in_their_order), T(strings_are_escaped_and_utf8_stays),
         T(keys_are_escaped_too), T(octets_and_hexadecimal_numbers_are_strings),
         T(a_line_end_stands_behind_the_comma), T(the_caller_may_write_a_value),
         T(a_short_buffer_is_flushed_as_often_as_it_takes),
         T(mistakes_of_the_caller_are_assertions), T(the_deepest_nesting_is_written))
