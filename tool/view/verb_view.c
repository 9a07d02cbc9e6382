/* leat view: a page that shows recordings, or a part of a live network. */
#include "decode_frame.h"
#include "recording_expected.h"
#include "result_file.h"
#include "view_drawing.h"
#include "view_http.h"
#include "view_live.h"
#include "view_octets.h"
#include "view_reader.h"
#include "view_single.h"
#include "view_token.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WHY_CAP = 1024, CHECK_EVENTS = 20000, WAIT_MS = 1000 };

static struct {
    const struct arguments *args;
    struct view_site site;
    struct view_http_config config;
    char token[VIEW_TOKEN_LEN_MAX + 1];
    char live_name[256];
    bool is_live;
    struct view_live live;
    struct view_drawings drawings;
    struct view_reader reader; /* checks recordings, one after the other: */
    unsigned checked;          /* that many are */
    bool is_damaged;
    bool told[VIEW_REFUSALS];
} v;

/* ---- what is shown -------------------------------------------------------------------------- */

static bool decode(uint32_t link_type, const uint8_t *octets, size_t len, struct leat_text *out)
{
    return decode_frame((uint16_t)link_type, octets, len, out);
}

static bool open_recordings(void)
{
    for (int i = 0; i < v.args->operand_count; i++) {
        struct leat_text why = LEAT_TEXT(WHY_CAP);
        if (!view_source_open(&v.site.source[i], v.args->operand[i], &why))
            return complain("%.*s", (int)why.len, why.buf);
        v.site.count++;
    }
    if (!view_drawings_make(&v.drawings, v.args, &v.site, &v.reader)) return false;
    view_reader_init(&v.reader, &v.site.source[0]);
    return true;
}

static bool open_live(void)
{
    char *const *word = v.args->operand;
    snprintf(v.live_name, sizeof v.live_name, "%s %s", word[0], word[1]);
    v.site.source[0] = (struct view_source){ .name = v.live_name, .fd = -1 };
    v.site.count = 1;
    return view_live_open(&v.live, word[0], word[1]);
}

static void close_sources(void)
{
    if (v.is_live)
        view_live_close(&v.live);
    else
        for (unsigned i = 0; i < v.site.count; i++)
            view_source_close(&v.site.source[i]);
    view_drawings_free(&v.drawings);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void tell_end(const struct view_source *source, enum view_read end)
{
    const struct view_reader *r = &v.reader;
    const unsigned long long at = r->offset;
    v.is_damaged |= end != VIEW_READ_END;
    if (end == VIEW_READ_CUT)
        complain("%s: octet %llu: the recording ends here (SHORT), expected records up to a CLOSE; "
                 "the page shows what is before",
                 source->path, at);
    if (end == VIEW_READ_DAMAGED)
        complain("%s: octet %llu: %s (%s), expected %s; the page shows what is before",
                 source->path, at, leat_err_text(r->err), leat_err_name(r->err),
                 recording_expected(&r->rec, r->kind));
    if (end == VIEW_READ_LOST) complain("%s: has changed while it was read", source->path);
}

/* Reads some events. True: there are more. */
static bool check_some(void)
{
    struct leat_sim_event e;
    enum view_read end = VIEW_READ_EVENT;
    if (v.is_live || v.checked == v.site.count) return false;
    const struct view_source *source = &v.site.source[v.checked];
    for (int i = 0; i < CHECK_EVENTS && end == VIEW_READ_EVENT; i++)
        end = view_reader_next(&v.reader, &e);
    if (end == VIEW_READ_EVENT) return true;
    tell_end(source, end);
    if (++v.checked == v.site.count) return false;
    view_reader_init(&v.reader, source + 1);
    return true;
}

/* ---- a page in one file --------------------------------------------------------------------- */

static int write_page(const char *path)
{
    static struct result_file file;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    const struct result_name name = { "-o", path };
    for (int i = 0; i < v.args->operand_count; i++)
        if (!result_names_apart(v.args->verb, &name, 1, v.args->operand[i])) return WRONG;
    while (check_some() && !interrupted)
        ;
    if (interrupted) return SIGNALLED + interrupted;
    if (!result_file_open(&file, path)) return FAILED;
    const bool written = view_single_write(&v.site, &view_page, &file.out.text, &why);
    if (!written) complain("%.*s", (int)why.len, why.buf);
    if (!result_file_close(&file, written && !interrupted) && written) return FAILED;
    return finish(written && !v.is_damaged ? DONE : WRONG);
}

/* ---- serving -------------------------------------------------------------------------------- */

static bool read_address(void)
{
    const char *text = argument(v.args, "--listen"), *file = argument(v.args, "--token-file");
    if (!text) text = "127.0.0.1:0";
    if (!view_address_read(text, &v.config.listen))
        return misused(v.args->verb,
                       "--listen %s: expected ADDRESS or ADDRESS:PORT, as 127.0.0.1:0 "
                       "or [::1]:8080",
                       text);
    const bool is_local = view_address_is_loopback(v.config.listen.host);
    if (file ? !view_token_read(file, v.token) : !is_local && !view_token_draw(v.token))
        return false;
    if (*v.token) v.config.token = v.token;
    if (!is_local)
        caution(
            "--listen %s: whoever has the token can read what is shown, and so can those on the "
            "wire: it is not encrypted",
            text);
    return true;
}

/* By the browser of the desktop, which outlives this command. */
static void open_browser(const char *address)
{
    const pid_t child = fork();
    if (child == 0) {
        let_signals_end();
        if (fork() != 0) _exit(0);
        setsid();
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execlp("xdg-open", "xdg-open", address, (char *)NULL);
        caution("--open: xdg-open: %s; open the address yourself", strerror(errno));
        _exit(FAILED);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

/* Once per kind. */
static void tell_refusals(const struct view_http *http)
{
    for (enum view_refusal kind = 0; kind < VIEW_REFUSALS; kind++)
        if (!v.told[kind] && view_http_refused(http, kind)) {
            v.told[kind] = true;
            caution("a request was refused: %s (further ones are counted)",
                    view_refusal_text(kind));
        }
}

static void tell_counts(const struct view_http *http)
{
    unsigned long long all = 0;
    for (enum view_refusal kind = 0; kind < VIEW_REFUSALS; kind++)
        all += view_http_refused(http, kind);
    if (all) caution("requests refused: %llu", all);
}

static void serve(struct view_http *http)
{
    if (v.is_live) view_http_tell(http, 0, v.live.status, v.live.len);
    while (!interrupted) {
        const bool has_more = check_some();
        const int most = has_more ? 0 : v.is_live ? view_live_wait_ms(&v.live) : WAIT_MS;
        struct pollfd fds[] = { { .fd = view_http_fd(http), .events = POLLIN },
                                { .fd = v.is_live ? v.live.fd : -1, .events = POLLIN } };
        poll(fds, sizeof fds / sizeof *fds, view_http_wait_ms(http, most));
        view_http_serve(http);
        if (v.is_live) view_live_step(&v.live, http, 0);
        tell_refusals(http);
    }
    tell_counts(http);
}

static int serve_page(void)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP), address = LEAT_TEXT(WHY_CAP);
    v.config.site = &v.site;
    v.config.files = &view_page;
    struct view_http *http = view_http_open(&v.config, &why);
    if (!http) {
        complain("%.*s", (int)why.len, why.buf);
        return WRONG;
    }
    view_http_address(http, &address);
    leat_text_putc(&address, '\0');
    printf("%s\n", address.buf);
    int code = FAILED;
    if (flush_printed()) {
        if (argument(v.args, "--open")) open_browser(address.buf);
        serve(http);
        code = finish(DONE);
    }
    view_http_close(http);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int check_usage(const struct arguments *args)
{
    const char *page = argument(args, "-o"), *serving = argument_in(args, "--listen --token-file "
                                                                          "--open");
    const int count = args->operand_count;
    v.is_live = count && word_is_in(args->operand[0], VIEW_LIVE_KINDS);
    if (!count || count > VIEW_SOURCES_MAX)
        return misuse(args->verb, "expected a recording, two of them, or one of " VIEW_LIVE_KINDS
                                  " and the name of a part of this host");
    if (v.is_live && count != 2)
        return misuse(args->verb, "%s: expected the %s of a part of this host (./%s is a file)",
                      args->operand[0], strcmp(args->operand[0], "ring") == 0 ? "device" : "name",
                      args->operand[0]);
    if (page && serving) return misuse(args->verb, "-o serves nothing, expected no %s", serving);
    if (v.is_live && (page || argument(args, "--fabric")))
        return misuse(args->verb, "%s: -o and --fabric go with recordings", args->operand[0]);
    return DONE;
}

static int run_view(const struct arguments *args)
{
    const char *page = argument(args, "-o");
    v.args = args;
    v.site = (struct view_site){ .version = LEAT_VERSION, .decode = decode };
    int code = check_usage(args);
    if (code) return code;
    if (!page && !read_address()) return WRONG;
    code = WRONG;
    if (v.is_live ? open_live() : open_recordings()) code = page ? write_page(page) : serve_page();
    close_sources();
    return code;
}

const struct verb verb_view = {
    .name = "view",
    .summary = "open a page that shows a recording, two, or a part of a live network",
    .synopsis = "FILE [FILE] | ring|esp|pktway NAME [-o FILE] [--listen ADDRESS:PORT]",
    .help = help_view,
    .options = {
        { "-o", "FILE", "write the page in one file, with the recordings; nothing is served" },
        { "--fabric", "FABRIC", "draw this fabric, not the one that the recording names" },
        { "--listen", "ADDRESS[:PORT]", "where the page is served (unless given: 127.0.0.1, a free port)" },
        { "--token-file", "FILE", "the page needs the token in FILE" },
        { "--open", NULL, "open the page in the browser of the desktop" },
    },
    .run = run_view,
};
