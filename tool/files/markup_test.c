/* Names made safe for pages and pictures. */
#include "markup.h"
#include "tap.h"
#include <string.h>

static char made[4096];

static const char *escaped(const char *name, size_t most)
{
    struct leat_text text;
    leat_text_init(&text, made, sizeof made - 1, NULL, NULL);
    if (most)
        text_escape_short(&text, name, most);
    else
        text_escape(&text, name);
    made[text.len] = '\0';
    return made;
}

static bool is(const char *name, const char *as)
{
    return strcmp(escaped(name, 0), as) == 0;
}

static void markup_is_escaped(void)
{
    OK(is("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"));
    OK(is("&amp;", "&amp;amp;"));
    OK(is("plain 'text'", "plain 'text'"));
}

static void what_xml_may_not_hold_becomes_a_replacement(void)
{
    OK(is("a\x01z", "a\xef\xbf\xbdz"));
    OK(is("a\xffz", "a\xef\xbf\xbdz"));                             /* never in UTF-8 */
    OK(is("a\xc3", "a\xef\xbf\xbd"));                               /* cut */
    OK(is("\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")); /* U+FFFF: three octets */
    OK(is("tab\tend\n", "tab\tend\n"));
    OK(is("\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac")); /* é€ */
}

static void a_long_name_is_cut_by_characters(void)
{
    OK(strcmp(escaped("abcdef", 6), "abcdef") == 0);
    OK(strcmp(escaped("abcdefg", 6), "abcdef\xe2\x80\xa6") == 0);
    OK(strcmp(escaped("<\xc3\xa9>!", 2), "&lt;\xc3\xa9\xe2\x80\xa6") == 0);
}

static void width_counts_characters(void)
{
    EQ(text_width(""), 0);
    EQ(text_width("a<b"), 3);
    EQ(text_width("\xc3\xa9\xe2\x82\xac"), 2);
    EQ(text_width("\xff\xff"), 2);
}

static void a_piece_that_is_too_long_is_cut(void)
{
    struct leat_text text;
    leat_text_init(&text, made, sizeof made - 1, NULL, NULL);
    text_format(&text, "%02000d", 7);
    EQ(text.len, MARKUP_PIECE_CAP - 1);
    text_format(&text, "%s-%u", "x", 5u);
    EQ(text.len, MARKUP_PIECE_CAP + 2);
    OK(memcmp(made + MARKUP_PIECE_CAP - 1, "x-5", 3) == 0);
}

TAP_MAIN(T(markup_is_escaped), T(what_xml_may_not_hold_becomes_a_replacement),
         T(a_long_name_is_cut_by_characters), T(width_counts_characters),
         T(a_piece_that_is_too_long_is_cut))
