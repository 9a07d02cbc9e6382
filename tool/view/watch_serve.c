/* The child of a run with --view: serves its page, and makes curves of what the run writes. */
#include "json_out.h"
#include "view_octets.h"
#include "view_store.h"
#include "watch_share.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    EVERY_MS = 500,   /* between samples */
    LOOK_MS = 100,    /* for one that is asked for */
    LINGER_MS = 3000, /* after the end, for browsers that have not heard of it */
    TRIES_MAX = 1000, /* to read what is being written */
    DIGITS = 9,
};

enum { PROGRESS, STORE }; /* sources */

static struct {
    const struct watch_page *page;
    struct view_site site;
    struct view_store store;
    struct watch_share copy;
    uint64_t told; /* the change that was */
    int64_t due_ms;
    bool is_over;
} w;

/* ---- what the run has written ---------------------------------------------------------------- */

/* A copy of one moment. False: it is being written all the time, or for good. */
static bool take_copy(uint64_t *change)
{
    struct watch_share *s = w.page->share;
    for (int i = 0; i < TRIES_MAX; i++) {
        *change = atomic_load_explicit(&s->change, memory_order_acquire);
        if (*change % 2) continue;
        memcpy(&w.copy, s, sizeof w.copy);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&s->change, memory_order_relaxed) == *change) return true;
    }
    return false;
}

static double value_of(const struct watch_curve *c, uint32_t sample)
{
    const double *now = w.copy.kept[sample];
    if (!c->is_ratio) return c->factor * now[c->of];
    if (!sample) return NAN;
    const double *before = w.copy.kept[sample - 1];
    const double growth = now[c->per] - before[c->per];
    return growth > 0 ? c->factor * (now[c->of] - before[c->of]) / growth : NAN;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void put_curves(struct leat_json *j)
{
    const struct watch_curves *of = &w.copy.of;
    const uint32_t samples = w.copy.samples + w.copy.has_last;
    leat_json_object(j, "x");
    leat_json_string(j, "name", of->x_name);
    leat_json_array(j, "values");
    for (uint32_t i = 0; i < samples; i++)
        json_general(j, NULL, of->x_factor * w.copy.kept[i][of->x], DIGITS);
    leat_json_end(j);
    leat_json_end(j);
    leat_json_array(j, "curves");
    for (uint32_t c = 0; c < of->curves; c++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "name", of->curve[c].name);
        leat_json_string(j, "unit", of->curve[c].unit);
        leat_json_array(j, "values");
        for (uint32_t i = 0; i < samples; i++)
            json_general(j, NULL, value_of(&of->curve[c], i), DIGITS);
        leat_json_end(j);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_facts(struct leat_json *j)
{
    leat_json_array(j, "facts");
    for (uint32_t i = 0; i < w.copy.last.facts; i++) {
        leat_json_array(j, NULL);
        leat_json_string(j, NULL, w.copy.last.fact[i].key);
        json_general(j, NULL, w.copy.last.fact[i].value, DIGITS);
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_array(j, "lines");
    for (uint32_t i = 0; i < w.copy.last.lines; i++)
        leat_json_string(j, NULL, w.copy.last.line[i]);
    leat_json_end(j);
}

static void put_tasks(struct leat_json *j)
{
    leat_json_array(j, "tasks");
    for (uint32_t i = 0; i < w.copy.tasks; i++) {
        const struct watch_task *task = &w.copy.task[i];
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "task", i }, { "port", task->port });
        leat_json_string(j, "does", task->does);
        json_fixed(j, "seconds", task->seconds, 9);
        LEAT_JSON_UINTS(j, { "sent", task->sent }, { "received", task->received });
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_status(struct leat_text *text)
{
    static const char *const state[] = { [WATCH_RUNS] = "running",
                                         [WATCH_DONE] = "done",
                                         [WATCH_FAILED] = "failed",
                                         [WATCH_INTERRUPTED] = "interrupted" };
    struct leat_json json, *j = &json;
    leat_json_init(j, text);
    leat_json_object(j, NULL);
    leat_json_string(j, "state",
                     w.is_over && w.copy.end == WATCH_RUNS ? "lost" : state[w.copy.end]);
    leat_json_uint(j, "run", w.copy.run);
    json_fixed(j, "seconds", w.copy.seconds, 3);
    json_general(j, "share", w.copy.last.share, DIGITS);
    leat_json_string(j, "text", w.copy.last.text);
    put_curves(j);
    put_facts(j);
    put_tasks(j);
    leat_json_end(j);
}

/* ---- serving --------------------------------------------------------------------------------- */

static void tell_progress(void)
{
    static struct view_buffer json;
    uint64_t change;
    if (!w.is_over && atomic_load(&w.page->share->change) == w.told) return;
    if (!take_copy(&change) && !w.is_over) return;
    w.told = change;
    view_buffer_init(&json);
    put_status(&json.text);
    if (view_buffer_end(&json))
        view_http_tell(w.page->serve->http, PROGRESS, json.octets, json.len);
    view_buffer_free(&json);
}

static bool has_ended(void)
{
    char octet;
    const ssize_t n = read(w.page->run, &octet, 1);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void serve_once(void)
{
    int more[] = { w.page->run, -1 };
    if (view_now_ms() >= w.due_ms) {
        atomic_store(&w.page->share->is_wanted, true);
        w.due_ms = view_now_ms() + EVERY_MS;
    }
    if (w.page->store) {
        view_store_step(&w.store, w.page->serve->http, STORE);
        more[1] = w.store.ask.fd;
    }
    tell_progress();
    view_serve_wait(w.page->serve, LOOK_MS, more, sizeof more / sizeof *more);
}

/* Until all browsers have heard of it; those that do not read are not waited for. */
static void tell_end(void)
{
    struct view_http *http = w.page->serve->http;
    w.is_over = true;
    tell_progress();
    view_http_tell(http, PROGRESS, NULL, 0);
    if (w.page->store) view_store_end(&w.store, http, STORE);
    const int64_t until = view_now_ms() + LINGER_MS;
    while ((view_http_is_heard(http, PROGRESS) || view_http_is_heard(http, STORE)) &&
           view_now_ms() < until)
        view_serve_wait(w.page->serve, LOOK_MS, NULL, 0);
}

static bool open_page(void)
{
    const struct watch_page *page = w.page;
    struct leat_text address = LEAT_TEXT(1024);
    const char *slash = page->store ? strrchr(page->store, '/') : NULL;
    w.site = (struct view_site){ .version = LEAT_VERSION, .count = page->store ? 2 : 1 };
    w.site.source[PROGRESS] =
        (struct view_source){ .name = page->name, .fd = -1, .kind = "progress" };
    if (page->store) {
        w.site.source[STORE] = (struct view_source){ .name = slash ? slash + 1 : page->store,
                                                     .fd = -1,
                                                     .kind = "store" };
        view_store_await(&w.store, page->store);
    }
    if (!view_serve_open(page->serve, &w.site, &address)) return false;
    const size_t len = strlen(address.buf);
    return write(page->report, address.buf, len) == (ssize_t)len;
}

/* Signals of the terminal are for the run: its end is that of the page. */
static void ignore_signals(void)
{
    static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        signal(all[i], SIG_IGN);
}

_Noreturn void watch_serve(const struct watch_page *page)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    w.page = page;
    ignore_signals();
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    fcntl(page->run, F_SETFL, O_NONBLOCK);
    if (!open_page()) _exit(FAILED);
    close(page->report);
    while (!has_ended())
        serve_once();
    tell_end();
    view_store_close(&w.store);
    view_serve_close(page->serve);
    _exit(DONE);
}
