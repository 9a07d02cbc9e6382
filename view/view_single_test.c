/* A page in one file. Its hashes and recordings are checked by other programs in
 * tool/view/view_test.sh; here, what it is made of. */
#include "tap.h"
#include "view_decoded.h"
#include "view_octets.h"
#include "view_recording_test.h"
#include "view_single.h"

static struct view_buffer page;
static char why_text[256];
static unsigned decoded;

/* A decoder that knows frames that end with 3. */
static bool decode(uint32_t link_type, const uint8_t *octets, size_t len, struct leat_text *out)
{
    EQ(link_type, RECORDING_LINK);
    decoded++;
    leat_text_puts(out, "{\"is\":\"<b>\"}");
    return octets[len - 1] == 3;
}

#define FILE_OF(name, text)                              \
    {                                                    \
        name, (const uint8_t *)(text), sizeof(text) - 1, \
    }

/* The page of a recording with so many frames; NULL: see why_text. */
static const char *write_page(const struct view_file *file, size_t count, const char *name)
{
    const struct view_files files = { file, count };
    struct view_site site = { .version = "9", .count = 1, .decode = decode };
    struct leat_text why;
    decoded = 0;
    memset(why_text, 0, sizeof why_text);
    leat_text_init(&why, why_text, sizeof why_text - 1, NULL, NULL);
    recording_write(recording.octets, recording.len);
    OK(view_source_open(&site.source[0], recording.path, &why));
    site.source[0].name = name;
    view_buffer_free(&page);
    view_buffer_init(&page);
    const bool written = view_single_write(&site, &files, &page.text, &why);
    leat_text_putc(&page.text, '\0');
    OK(view_buffer_end(&page));
    view_source_close(&site.source[0]);
    unlink(recording.path);
    return written ? page.octets : NULL;
}

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    printf("# '%s' is not in %s\n", part, text ? text : why_text);
    return false;
}

static const struct view_file small[] = {
    FILE_OF("index.html", "<head>\n<meta charset=\"utf-8\">\n"
                          "<link rel=\"stylesheet\" href=\"page/style.css\">\n"
                          "<script type=\"module\" src=\"page/main.js\"></script>\n"
                          "</head>\n<body>\n</body>\n"),
    FILE_OF("main.js", "import { x } from \"./x.js\";\ngo(x, \"</script><!--\");\n"),
    FILE_OF("style.css", "a { color: red }\n"),
    FILE_OF("worker.js", "work(\"</SCRIPT>\");\n"),
    FILE_OF("x.js", "export const x = 1 <2;\n"),
};
enum { SMALL = sizeof small / sizeof *small };

static void the_page_has_all_inside_and_a_policy_first(void)
{
    recording_make(1);
    const char *text = write_page(small, SMALL, "run.leatrec");
    OK(has(text, "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; script-src 'sha256-"));
    OK(has(text, "; worker-src blob:; style-src 'sha256-"));
    OK(has(text, "; img-src data:; base-uri 'none'; form-action 'none'\">\n<style>a { color: red "
                 "}\n</style>\n<script type=\"module\">\"use strict\";"));
    OK(has(text, "const x = 1 <2;\n"));
    OK(has(text, "go(x, \"<\\/script><\\!--\");\n"));
    OK(has(text, "id=\"worker\">\"use strict\";"));
    OK(has(text, "work(\"<\\/SCRIPT>\");\n"));
    OK(has(text, "</script>\n</body>\n"));
    OK(text && !strstr(text, "page/"));
}

static void names_of_recordings_end_nothing(void)
{
    recording_make(1);
    const char *text = write_page(small, SMALL, "\"><script>&.leatrec");
    OK(has(text,
           "data-name=\"&quot;>&lt;script>&amp;.leatrec\">TEVBVFJFQw")); /* base64 of LEATREC */
    OK(has(text, "\"name\":\"\\\">\\u003cscript>&.leatrec\""));
}

static void each_frame_is_decoded_once(void)
{
    recording_make(100);
    const char *text = write_page(small, SMALL, "run.leatrec");
    OK(has(text, "id=\"decoded\">{\n\"149:010203\":{\"is\":\"\\u003cb>\"}}</script>"));
    EQ(decoded, 2);
}

static void the_same_recording_gives_the_same_page(void)
{
    recording_make(9);
    const char *text = write_page(small, SMALL, "run.leatrec");
    char *first = text ? strdup(text) : NULL;
    text = write_page(small, SMALL, "run.leatrec");
    OK(first && text && strcmp(first, text) == 0);
    free(first);
}

static bool is_refused(const char *index, const char *why)
{
    struct view_file files[SMALL];
    memcpy(files, small, sizeof small);
    files[0] = (struct view_file){ "index.html", (const uint8_t *)index, strlen(index) };
    if (!write_page(files, SMALL, "run.leatrec") && strstr(why_text, why)) return true;
    printf("# %s\n", why_text);
    return false;
}

static void a_page_that_would_load_something_is_refused(void)
{
    recording_make(1);
    OK(is_refused("<img src=\"page/x.js\">\n", "index.html: expected <link rel"));
    OK(is_refused("<img src=\"page/nosuch.svg\">\n", "index.html: expected <link rel"));
    OK(is_refused("<link rel=\"stylesheet\" href=\"https://example.org/style.css\">\n",
                  "expected"));
    OK(is_refused("<script type=\"module\" src=\"page/nosuch.js\"></script>\n", "expected"));
    OK(!write_page(small + 1, SMALL - 1, "run.leatrec"));
    OK(strcmp(why_text, "index.html: no such file") == 0);
}

static void json_in_a_page_ends_no_script(void)
{
    char buf[128];
    struct leat_text text;
    leat_text_init(&text, buf, sizeof buf, NULL, NULL);
    view_put_json(&text, "[\"</script>\"]", 13);
    EQ(text.len, 18);
    OK(memcmp(buf, "[\"\\u003c/script>\"]", 18) == 0);
}

TAP_MAIN(T(the_page_has_all_inside_and_a_policy_first), T(names_of_recordings_end_nothing),
         T(each_frame_is_decoded_once), T(the_same_recording_gives_the_same_page),
         T(a_page_that_would_load_something_is_refused), T(json_in_a_page_ends_no_script))
