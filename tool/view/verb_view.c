/* leat view: a page that shows recordings, stores, or a part of a live network. */
#include "decode_frame.h"
#include "recording_expected.h"
#include "result_file.h"
#include "view_drawing.h"
#include "view_live.h"
#include "view_octets.h"
#include "view_reader.h"
#include "view_serve.h"
#include "view_single.h"
#include "view_store.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WHY_CAP = 1024, CHECK_EVENTS = 20000, WAIT_MS = 1000 };

enum shown { SHOWS_RECORDINGS, SHOWS_STORES, SHOWS_LIVE };

static struct {
    const struct arguments *args;
    struct view_site site;
    struct view_serve serve;
    char live_name[256];
    enum shown shows;
    struct view_live live;
    struct view_drawings drawings;
    struct where where;
    struct view_store store[VIEW_SOURCES_MAX];
    struct view_reader reader; /* checks recordings, one after the other: */
    unsigned checked;          /* that many are */
    bool is_damaged;
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
    v.site.source[0] = (struct view_source){ .name = v.live_name, .fd = -1, .kind = "live" };
    v.site.count = 1;
    return view_live_open(&v.live, word[0], word[1]);
}

static bool open_stores(void)
{
    for (int i = 0; i < v.args->operand_count; i++) {
        const char *path = v.args->operand[i], *slash = strrchr(path, '/');
        v.site.source[i] =
            (struct view_source){ .name = slash ? slash + 1 : path, .fd = -1, .kind = "store" };
        v.site.count++;
        if (!view_store_open(&v.store[i], path, &v.where)) return false;
        v.site.source[i].json = v.store[i].ask.text;
        v.site.source[i].json_len = v.store[i].ask.len;
    }
    return true;
}

static bool open_sources(void)
{
    switch (v.shows) {
    case SHOWS_RECORDINGS: return open_recordings();
    case SHOWS_STORES: return open_stores();
    case SHOWS_LIVE: return open_live();
    }
    return false;
}

static void close_sources(void)
{
    if (v.shows == SHOWS_LIVE) view_live_close(&v.live);
    for (unsigned i = 0; i < v.site.count; i++)
        if (v.shows == SHOWS_STORES)
            view_store_close(&v.store[i]);
        else
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
    if (v.shows != SHOWS_RECORDINGS || v.checked == v.site.count) return false;
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

/* What is told at first. */
static void tell_sources(struct view_http *http)
{
    if (v.shows == SHOWS_LIVE) view_http_tell(http, 0, v.live.ask.text, v.live.ask.len);
    for (unsigned i = 0; v.shows == SHOWS_STORES && i < v.site.count; i++)
        view_http_tell(http, i, v.store[i].ask.text, v.store[i].ask.len);
}

/* Goes on with what is told; sets the descriptors that tell more, and returns how long there is
 * nothing to do. */
static int step_sources(struct view_http *http, int more[VIEW_SERVE_MORE_MAX])
{
    int wait = WAIT_MS;
    for (int i = 0; i < VIEW_SERVE_MORE_MAX; i++)
        more[i] = -1;
    if (v.shows == SHOWS_LIVE) {
        view_live_step(&v.live, http, 0);
        more[0] = v.live.ask.fd;
        wait = view_live_wait_ms(&v.live);
    }
    for (unsigned i = 0; v.shows == SHOWS_STORES && i < v.site.count; i++) {
        view_store_step(&v.store[i], http, i);
        more[i] = v.store[i].ask.fd;
        const int own = view_store_wait_ms(&v.store[i]);
        if (own < wait) wait = own;
    }
    return check_some() ? 0 : wait;
}

static void serve(void)
{
    int more[VIEW_SERVE_MORE_MAX];
    tell_sources(v.serve.http);
    while (!interrupted) {
        const int wait = step_sources(v.serve.http, more);
        view_serve_wait(&v.serve, wait, more, VIEW_SERVE_MORE_MAX);
    }
}

static int serve_page(void)
{
    struct leat_text address = LEAT_TEXT(WHY_CAP);
    if (!view_serve_open(&v.serve, &v.site, &address)) return WRONG;
    printf("%s\n", address.buf);
    int code = FAILED;
    if (flush_printed()) {
        if (argument(v.args, "--open")) open_browser(address.buf);
        serve();
        code = finish(DONE);
    }
    view_serve_close(&v.serve);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------- */

/* Stores are recognised by their content; both operands must be of one kind. */
static int find_shown(const struct arguments *args)
{
    const int count = args->operand_count;
    int stores = 0;
    if (!count || count > VIEW_SOURCES_MAX)
        return misuse(args->verb, "expected a recording or a store, two of a kind, or one "
                                  "of " VIEW_LIVE_KINDS " and the name of a part of this host");
    if (word_is_in(args->operand[0], VIEW_LIVE_KINDS)) {
        v.shows = SHOWS_LIVE;
        return DONE;
    }
    for (int i = 0; i < count; i++)
        stores += view_store_is_one(args->operand[i]);
    v.shows = stores ? SHOWS_STORES : SHOWS_RECORDINGS;
    return stores == 0 || stores == count
               ? DONE
               : misuse(args->verb, "expected two recordings or two stores, not one of each");
}

static int check_usage(const struct arguments *args)
{
    const char *page = argument(args, "-o"), *serving = argument_in(args, "--listen --token-file "
                                                                          "--open");
    const int code = find_shown(args);
    if (code) return code;
    if (v.shows == SHOWS_LIVE && args->operand_count != 2)
        return misuse(args->verb, "%s: expected the %s of a part of this host (./%s is a file)",
                      args->operand[0], strcmp(args->operand[0], "ring") == 0 ? "device" : "name",
                      args->operand[0]);
    if (page && serving) return misuse(args->verb, "-o serves nothing, expected no %s", serving);
    if (v.shows == SHOWS_LIVE && page)
        return misuse(args->verb, "%s: -o goes with recordings and stores", args->operand[0]);
    if (v.shows != SHOWS_RECORDINGS && argument(args, "--fabric"))
        return misuse(args->verb, "%s: --fabric goes with recordings", args->operand[0]);
    if (v.shows != SHOWS_STORES && argument(args, "--where"))
        return misuse(args->verb, "%s: --where goes with stores", args->operand[0]);
    return where_read(args->verb, argument(args, "--where"), &v.where) ? DONE : WRONG;
}

static int run_view(const struct arguments *args)
{
    const char *page = argument(args, "-o");
    v.args = args;
    v.site = (struct view_site){ .version = LEAT_VERSION, .decode = decode };
    int code = check_usage(args);
    if (code) return code;
    if (!page && !view_serve_read(&v.serve, args, "--listen")) return WRONG;
    code = WRONG;
    if (open_sources()) code = page ? write_page(page) : serve_page();
    close_sources();
    return code;
}

const struct verb verb_view = {
    .name = "view",
    .summary = "open a page that shows recordings, sweeps, or a part of a live network",
    .synopsis = "FILE [FILE] | ring|esp|pktway NAME [-o FILE] [--listen ADDRESS:PORT]",
    .help = help_view,
    .options = {
        { "-o", "FILE", "write the page in one file, with what it shows; nothing is served" },
        { "--fabric", "FABRIC", "draw this fabric, not the one that the recording names" },
        { "--where", "KEY=VALUE", "of a store: only runs that match (leat help report where)", .repeats = true },
        { "--listen", "ADDRESS[:PORT]", "where the page is served (unless given: 127.0.0.1, a free port)" },
        { "--token-file", "FILE", "the page needs the token in FILE" },
        { "--open", NULL, "open the page in the browser of the desktop" },
    },
    .run = run_view,
};
