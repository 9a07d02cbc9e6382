/* MAP_ANONYMOUS */
#define _DEFAULT_SOURCE
#include "watch.h"
#include "progress.h"
#include "watch_share.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    struct watch_share *share; /* NULL: nobody watches */
    struct view_serve serve;
    double begun_at;
    int run; /* its end is that of the run */
    pid_t page;
} watch;

/* ---- opening --------------------------------------------------------------------------------- */

/* The line of the child; false: it had to complain. */
static bool read_address(int report, char *line, size_t cap)
{
    size_t len = 0;
    ssize_t n = 1;
    while (n > 0 && len + 1 < cap) {
        n = read(report, line + len, cap - 1 - len);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            len += (size_t)n;
    }
    line[len] = '\0';
    return len > 0;
}

static int start_page(const char *name, const char *store, int run[2], int report[2])
{
    char line[1024];
    fflush(NULL);
    watch.page = fork();
    if (watch.page == 0) {
        close(run[1]);
        close(report[0]);
        watch_serve(
            &(struct watch_page){ watch.share, &watch.serve, name, store, run[0], report[1] });
    }
    close(run[0]);
    close(report[1]);
    watch.run = run[1];
    const bool good = watch.page > 0 && read_address(report[0], line, sizeof line);
    close(report[0]);
    if (watch.page < 0) return fail("--view: %s", strerror(errno));
    if (!good) return WRONG;
    caution("the page of this run: %s", line);
    return DONE;
}

static void forget(void)
{
    if (watch.share) munmap(watch.share, sizeof *watch.share);
    watch.share = NULL;
}

int watch_open(const struct arguments *args, const char *name, const char *store)
{
    int run[2], report[2], code = FAILED;
    if (args->only_check) return DONE;
    if (!argument(args, "--view")) {
        if (!argument(args, "--token-file")) return DONE;
        return misuse(args->verb, "--token-file: expected --view with it");
    }
    if (!view_serve_read(&watch.serve, args, "--view")) return WRONG;
    void *memory = mmap(NULL, sizeof *watch.share, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fail("--view: no memory");
    watch.share = memory;
    watch.begun_at = seconds_now();
    if (pipe(run) != 0) {
        forget();
        return fail("--view: %s", strerror(errno));
    }
    if (pipe(report) == 0) {
        fcntl(run[1], F_SETFD, FD_CLOEXEC);
        code = start_page(name, store, run, report);
    } else {
        complain("--view: %s", strerror(errno));
    }
    if (code != DONE) forget();
    return code;
}

void watch_leave(void)
{
    if (!watch.share) return;
    close(watch.run);
    forget();
}

/* ---- writing --------------------------------------------------------------------------------- */

static void begin_change(struct watch_share *s)
{
    atomic_fetch_add_explicit(&s->change, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(struct watch_share *s)
{
    atomic_fetch_add_explicit(&s->change, 1, memory_order_release);
}

void watch_begin(const struct watch_curves *curves)
{
    struct watch_share *s = watch.share;
    if (!s) return;
    begin_change(s);
    s->of = *curves;
    s->samples = s->skipped = s->tasks = 0;
    s->every = 1;
    s->has_last = false;
    s->run++;
    end_change(s);
}

bool watch_wants(void)
{
    return watch.share && atomic_load_explicit(&watch.share->is_wanted, memory_order_relaxed);
}

struct watch_sample *watch_blank(void)
{
    static struct watch_sample sample;
    sample = (struct watch_sample){ .share = -1 };
    return &sample;
}

void watch_fact(struct watch_sample *sample, const char *key, double value)
{
    if (sample->facts == WATCH_FACTS_MAX) return;
    struct watch_fact *fact = &sample->fact[sample->facts++];
    snprintf(fact->key, sizeof fact->key, "%s", key);
    fact->value = value;
}

/* Half of them go; the first stays. */
static void thin(struct watch_share *s)
{
    for (uint32_t i = 1; 2 * i < s->samples; i++)
        memcpy(s->kept[i], s->kept[2 * i], sizeof s->kept[i]);
    s->samples = (s->samples + 1) / 2;
    s->every *= 2;
}

static void keep(struct watch_share *s, const double column[WATCH_COLUMNS_MAX])
{
    if (s->has_last && ++s->skipped >= s->every) {
        s->samples++;
        s->skipped = 0;
    }
    if (s->samples == WATCH_SAMPLES) thin(s);
    memcpy(s->kept[s->samples], column, sizeof s->kept[0]);
    s->has_last = true;
}

void watch_put_tasks(const struct watch_sample *sample, const struct watch_task *task,
                     uint32_t tasks)
{
    struct watch_share *s = watch.share;
    if (!s) return;
    const double seconds = seconds_now() - watch.begun_at;
    begin_change(s);
    s->last = *sample;
    s->seconds = s->last.column[WATCH_SECONDS] = seconds;
    keep(s, s->last.column);
    s->tasks = tasks < WATCH_TASKS_MAX ? tasks : WATCH_TASKS_MAX;
    if (s->tasks) memcpy(s->task, task, s->tasks * sizeof *task);
    end_change(s);
    atomic_store_explicit(&s->is_wanted, false, memory_order_relaxed);
}

void watch_put(const struct watch_sample *sample)
{
    watch_put_tasks(sample, NULL, 0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The page's process ends by itself, soon: browsers hear of the end. Nobody waits for it. */
int watch_close(int code)
{
    struct watch_share *s = watch.share;
    if (!s) return code;
    begin_change(s);
    s->end = interrupted ? WATCH_INTERRUPTED : code == DONE ? WATCH_DONE : WATCH_FAILED;
    s->seconds = seconds_now() - watch.begun_at;
    end_change(s);
    close(watch.run);
    waitpid(watch.page, NULL, WNOHANG);
    forget();
    return code;
}
