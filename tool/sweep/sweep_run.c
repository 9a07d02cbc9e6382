/* leat sweep: one child per run, some at a time; its output is stored if it succeeded. */
#include "sim_mpi.h"
#include "sweep.h"
#include "watch.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    RESULT_LEN_MAX = 1 << 26, /* of one run */
    TALK_LEN_MAX = 1 << 12,   /* its messages; the rest is discarded */
    PIECE_LEN = 1 << 16,
    POLL_MS = 100,    /* interval of checks for interrupts and of progress */
    REPORTS_MAX = 20, /* of runs that failed; the others are counted */
};

/* The output of a pipe. */
struct stream {
    int fd; /* -1: at its end */
    char *text;
    size_t len, len_max;
    bool cut;
};

/* One that runs here, or on another rank of mpirun. */
struct child {
    bool is_busy;
    pid_t pid; /* 0: it is on another rank */
    bool only_checks;
    bool is_device;  /* it runs many on a device: */
    uint32_t fabric; /* of this one */
    uint32_t run;
    struct stream result, talk;
};

struct sweep {
    const struct sweep_plan *plan;
    struct store *store; /* NULL: this rank works for rank 0 */
    struct leat_sim_ranks *ranks;
    uint32_t slots; /* children at a time; on rank r those from r * jobs on */
    int64_t id;
    bool *taken;     /* [runs] begun, or already stored */
    uint32_t check;  /* of next_check */
    uint64_t cursor; /* of next_run */
    uint32_t device; /* the next fabric to run on the device */
    uint32_t running, checking, failed;
    int code; /* why no more are begun; DONE: no reason */
    bool store_failed;
    struct sweep_progress progress;
    struct child child[SWEEP_JOBS_MAX];
};

/* ---- talking --------------------------------------------------------------------------------- */

static void report(struct sweep *s, const struct child *child, const char *what)
{
    progress_make_way();
    if (child->talk.len) fwrite(child->talk.text, 1, child->talk.len, stderr);
    if (child->talk.len && child->talk.text[child->talk.len - 1] != '\n') putc('\n', stderr);
    fprintf(stderr, "leat: this run %s: ", what);
    sweep_put_command(stderr, s->plan, child->run);
    putc('\n', stderr);
}

static void report_failure(struct sweep *s, const struct child *child, const char *what)
{
    if (s->failed < REPORTS_MAX) report(s, child, what);
    if (++s->failed == REPORTS_MAX) complain("(more that fail are only counted)");
}

/* No more runs; does not wait for active ones. */
static void stop(struct sweep *s, int code)
{
    if (s->code != DONE) return;
    s->code = code;
    for (uint32_t i = 0; i < s->slots; i++)
        if (s->child[i].is_busy && s->child[i].pid) kill(s->child[i].pid, SIGKILL);
}

/* ---- a child --------------------------------------------------------------------------------- */

static void close_two(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* A run must not outlive its sweep: its result would be lost, and the next sweep repeats it. */
static void die_with(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(FAILED);
}

static _Noreturn void be_child(const struct sweep *s, const struct child *child, pid_t parent,
                               const int result[2], const int talk[2])
{
    const int nothing = open("/dev/null", O_RDONLY);
    die_with(parent);
    if (s->store) store_leave(s->store);
    watch_leave();
    let_signals_end();
    sim_leave_mpi();
    dup2(nothing, STDIN_FILENO);
    dup2(result[1], STDOUT_FILENO);
    dup2(talk[1], STDERR_FILENO);
    const int code = child->is_device ? sweep_device_here(s->plan, child->fabric, s->taken)
                                      : sweep_run_here(s->plan, child->run, child->only_checks);
    _exit(fflush(stdout) == 0 ? code : FAILED);
}

/* `what`: what it shall do. */
static bool begin_child(struct sweep *s, struct child *child, struct child what)
{
    const pid_t parent = getpid();
    int result[2], talk[2];
    if (pipe(result) != 0) return false;
    if (pipe(talk) != 0) {
        close_two(result);
        return false;
    }
    fflush(stdout);
    fflush(stderr);
    *child = what;
    child->is_busy = true;
    const pid_t pid = fork();
    if (pid == 0) be_child(s, child, parent, result, talk);
    if (pid < 0) {
        child->is_busy = false;
        close_two(result);
        close_two(talk);
        return false;
    }
    close(result[1]);
    close(talk[1]);
    child->pid = pid;
    child->result = (struct stream){ .fd = result[0], .len_max = RESULT_LEN_MAX };
    child->talk = (struct stream){ .fd = talk[0], .len_max = TALK_LEN_MAX };
    s->running++;
    s->checking += what.only_checks;
    return true;
}

static void read_stream(struct stream *stream)
{
    char piece[PIECE_LEN];
    const ssize_t got = read(stream->fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return;
    }
    const size_t room = stream->len_max - stream->len;
    const size_t len = (size_t)got < room ? (size_t)got : room;
    char *text = realloc(stream->text, stream->len + len + 1);
    stream->cut = stream->cut || !text || len < (size_t)got;
    if (!text) return;
    memcpy(text + stream->len, piece, len);
    stream->text = text;
    stream->len += len;
    stream->text[stream->len] = '\0';
}

/* ---- the end of a run ------------------------------------------------------------------------ */

static void keep_result(struct sweep *s, const struct child *child)
{
    const struct store_key key = sweep_run_at(s->plan, child->run);
    size_t len = child->result.len;
    while (len && child->result.text[len - 1] == '\n')
        len--;
    const enum store_put put = child->result.cut || !len
                                   ? STORE_PUT_NO_JSON
                                   : store_put(s->store, s->id, &key, child->result.text, len);
    s->taken[child->run] = true;
    switch (put) {
    case STORE_PUT: sweep_progress_end(&s->progress, key.load, true); return;
    case STORE_PUT_NO_JSON:
        sweep_progress_end(&s->progress, key.load, false);
        report_failure(s, child,
                       child->result.cut ? "printed more than can be kept"
                                         : "did not print a result");
        return;
    case STORE_PUT_FAILED:
        s->store_failed = true;
        stop(s, FAILED);
        return;
    }
}

/* Should this run be stored? A deadlock is a result, even if `leat sim` calls it a failure. */
static bool has_result(const struct sweep *s, const struct child *child, int status)
{
    if (!WIFEXITED(status)) return false;
    if (WEXITSTATUS(status) == DONE) return true;
    return WEXITSTATUS(status) == FAILED && child->result.text && !s->store_failed &&
           store_flag(s->store, child->result.text, "$.deadlock") == 1;
}

/* Messages of runs after a stop do not matter, unless they were done before it. */
static void end_badly(struct sweep *s, const struct child *child, int status)
{
    char what[80] = "failed";
    if (s->code != DONE || interrupted) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == WRONG) {
        report(s, child, "was refused");
        stop(s, WRONG);
        return;
    }
    if (child->only_checks) return; /* the run itself will report it */
    if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    sweep_progress_end(&s->progress, sweep_run_at(s->plan, child->run).load, false);
    report_failure(s, child, what);
}

/* The results that a device has printed so far: of each run a line with its number, and one with
 * its JSON. */
static void keep_results(struct sweep *s, struct child *child)
{
    struct stream *all = &child->result;
    size_t used = 0;
    while (!s->store_failed) {
        char *number = all->text + used, *json, *end;
        if (!all->len || !(json = memchr(number, '\n', all->len - used))) break;
        json++;
        if (!(end = memchr(json, '\n', (size_t)(all->text + all->len - json)))) break;
        struct child one = { .run = (uint32_t)strtoul(number, NULL, 10) };
        one.result = (struct stream){ .text = json, .len = (size_t)(end - json) };
        if (one.run < s->plan->runs && !s->taken[one.run]) keep_result(s, &one);
        used = (size_t)(end + 1 - all->text);
    }
    if (used) memmove(all->text, all->text + used, all->len - used);
    all->len -= used;
}

/* What a device has not run is run by the processor, or was refused, or is told as lost. */
static void end_device(struct sweep *s, struct child *child, int status)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
    keep_results(s, child);
    child->is_busy = false;
    s->running--;
    if (s->code == DONE && !interrupted && child->talk.len) {
        progress_make_way();
        fwrite(child->talk.text, 1, child->talk.len, stderr);
    }
    if (code != DONE) stop(s, code == WRONG ? WRONG : FAILED);
    free(child->result.text);
    free(child->talk.text);
}

/* A run has ended, here or on another rank. */
static void end_run(struct sweep *s, struct child *child, int status)
{
    child->is_busy = false;
    s->running--;
    s->checking -= child->only_checks;
    if (!has_result(s, child, status))
        end_badly(s, child, status);
    else if (!s->store_failed && !child->only_checks)
        keep_result(s, child);
    free(child->result.text);
    free(child->talk.text);
}

/* ---- other ranks ----------------------------------------------------------------------------- */

/* To rank r: run this, or (slot NO_SLOT) stop and end. */
#define NO_SLOT UINT32_MAX
enum { RANK_POLL_MS = 2 };
struct order {
    uint32_t slot, run, only_checks;
};

/* Back: how it ended, followed by its output and its messages. */
struct outcome {
    uint32_t slot;
    int32_t status;
    uint64_t result_len, talk_len;
    uint32_t result_cut;
};

static uint32_t rank_of(const struct sweep *s, uint32_t slot)
{
    return slot / s->plan->jobs;
}

static void begin_elsewhere(struct sweep *s, uint32_t slot, uint32_t run, bool only_checks)
{
    const struct order order = { slot, run, only_checks };
    s->child[slot] = (struct child){ .is_busy = true, .run = run, .only_checks = only_checks };
    s->running++;
    s->checking += only_checks;
    s->ranks->send(s->ranks, rank_of(s, slot), &order, sizeof order);
}

/* What a rank has sent; NULL: nothing. */
static uint8_t *take_message(struct leat_sim_ranks *ranks, size_t *len)
{
    uint32_t from;
    if (!ranks || !ranks->probe(ranks, &from, len)) return NULL;
    uint8_t *octets = malloc(*len + 1);
    if (!octets) {
        complain("no memory for a message of rank %u", from);
        ranks->abort(ranks, FAILED);
        return NULL;
    }
    ranks->take(ranks, from, octets, *len);
    octets[*len] = 0;
    return octets;
}

static struct stream stream_of(const uint8_t *octets, size_t len)
{
    struct stream stream = { .fd = -1, .text = malloc(len + 1), .len = len };
    if (!stream.text) return (struct stream){ .fd = -1, .cut = true };
    memcpy(stream.text, octets, len);
    stream.text[len] = '\0';
    return stream;
}

/* Runs that have ended on other ranks. */
static void hear_others(struct sweep *s)
{
    uint8_t *octets;
    size_t len;
    while ((octets = take_message(s->ranks, &len))) {
        struct outcome outcome;
        memcpy(&outcome, octets, sizeof outcome);
        struct child *child = &s->child[outcome.slot];
        child->result = stream_of(octets + sizeof outcome, (size_t)outcome.result_len);
        child->result.cut |= outcome.result_cut;
        child->talk = stream_of(octets + sizeof outcome + outcome.result_len,
                                (size_t)outcome.talk_len);
        free(octets);
        end_run(s, child, outcome.status);
    }
}

static void tell_first(struct sweep *s, uint32_t slot, int status)
{
    struct child *child = &s->child[slot];
    const struct outcome outcome = { .slot = slot,
                                     .status = status,
                                     .result_len = child->result.len,
                                     .talk_len = child->talk.len,
                                     .result_cut = child->result.cut };
    const size_t len = sizeof outcome + child->result.len + child->talk.len;
    uint8_t *octets = malloc(len);
    if (!octets) {
        complain("no memory for a result");
        s->ranks->abort(s->ranks, FAILED);
        return;
    }
    memcpy(octets, &outcome, sizeof outcome);
    if (child->result.len) memcpy(octets + sizeof outcome, child->result.text, child->result.len);
    if (child->talk.len)
        memcpy(octets + sizeof outcome + child->result.len, child->talk.text, child->talk.len);
    s->ranks->send(s->ranks, 0, octets, len);
    free(octets);
    free(child->result.text);
    free(child->talk.text);
    child->is_busy = false;
    s->running--;
}

static void end_child(struct sweep *s, uint32_t slot)
{
    int status = 0;
    while (waitpid(s->child[slot].pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (s->child[slot].is_device)
        end_device(s, &s->child[slot], status);
    else if (s->store)
        end_run(s, &s->child[slot], status);
    else
        tell_first(s, slot, status);
}

void sweep_dismiss(struct leat_sim_ranks *ranks)
{
    const struct order order = { .slot = NO_SLOT };
    for (uint32_t r = 1; r < leat_sim_ranks_count(ranks); r++)
        ranks->send(ranks, r, &order, sizeof order);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Checks one run of each fabric and traffic before any is begun, so that an impossible one does not
 * fail after hours. A single pair needs no check: its first run is one. */
static bool next_check(struct sweep *s, uint32_t *run)
{
    const uint32_t runs = s->plan->runs, pair = s->plan->loads * s->plan->seeds;
    if (pair == runs) return false;
    for (; s->check < runs; s->check++) {
        *run = s->check;
        if (!s->taken[*run]) return true;
    }
    return false;
}

/* Continues the checks with the next pair. */
static void end_check(struct sweep *s)
{
    const uint32_t pair = s->plan->loads * s->plan->seeds;
    s->check += pair - s->check % pair;
}

/* The next run that has not begun. First one of each fabric and traffic, so that errors show early;
 * then the others, in order. */
static bool next_run(struct sweep *s, uint32_t *run)
{
    const uint32_t runs = s->plan->runs, pair = s->plan->loads * s->plan->seeds;
    for (; s->cursor < 2 * (uint64_t)runs; s->cursor++) {
        *run = (uint32_t)(s->cursor % runs);
        if (s->cursor < runs && *run % pair) continue;
        if (!s->taken[*run]) return true;
    }
    return false;
}

/* Runs begin when all checks have ended. */
static bool next_child(struct sweep *s, uint32_t *run, bool *only_checks)
{
    *only_checks = next_check(s, run);
    return *only_checks || (!s->checking && next_run(s, run));
}

/* Devices first, one fabric after the other; the processor runs what they leave. */
static bool begin_device(struct sweep *s)
{
    if (!s->plan->uses_device || s->device > s->plan->fabrics) return false;
    if (s->running) return true;
    if (s->device == s->plan->fabrics) {
        s->device++;
        return false;
    }
    if (!begin_child(s, &s->child[0], (struct child){ .is_device = true, .fabric = s->device++ })) {
        complain("cannot begin a run: %s", strerror(errno));
        stop(s, FAILED);
    }
    return true;
}

static void begin_some(struct sweep *s)
{
    uint32_t run;
    bool only_checks;
    if (s->code != DONE || begin_device(s)) return;
    for (uint32_t i = 0; i < s->slots && s->code == DONE; i++) {
        if (s->child[i].is_busy) continue;
        if (!next_child(s, &run, &only_checks)) return;
        if (rank_of(s, i)) begin_elsewhere(s, i, run, only_checks);
        if (rank_of(s, i) ||
            begin_child(s, &s->child[i],
                        (struct child){ .run = run, .only_checks = only_checks })) {
            if (only_checks)
                end_check(s);
            else
                s->taken[run] = true;
        } else if (!s->running) {
            complain("cannot begin a run: %s", strerror(errno));
            stop(s, FAILED);
        } else {
            return; /* once another has ended */
        }
    }
}

static void wait_for_some(struct sweep *s)
{
    struct pollfd ends[2 * SWEEP_JOBS_MAX];
    struct stream *stream[2 * SWEEP_JOBS_MAX];
    nfds_t count = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        struct stream *both[] = { &s->child[i].result, &s->child[i].talk };
        for (int k = 0; s->child[i].is_busy && s->child[i].pid && k < 2; k++) {
            if (both[k]->fd < 0) continue;
            ends[count] = (struct pollfd){ .fd = both[k]->fd, .events = POLLIN };
            stream[count++] = both[k];
        }
    }
    if (poll(ends, count, s->ranks ? RANK_POLL_MS : POLL_MS) < 0) return;
    for (nfds_t i = 0; i < count; i++)
        if (ends[i].revents) read_stream(stream[i]);
    if (s->child[0].is_busy && s->child[0].is_device) keep_results(s, &s->child[0]);
    for (uint32_t i = 0; i < s->slots; i++) {
        const struct child *child = &s->child[i];
        if (child->is_busy && child->pid && child->result.fd < 0 && child->talk.fd < 0)
            end_child(s, i);
    }
}

/* Which runs are already stored? */
static bool find_stored(struct sweep *s)
{
    for (uint32_t run = 0; run < s->plan->runs && !interrupted; run++) {
        const struct store_key key = sweep_run_at(s->plan, run);
        const int there = store_has(s->store, s->id, &key);
        if (there < 0) return false;
        s->taken[run] = there;
        sweep_progress_add(&s->progress, key.load, there);
    }
    return true;
}

/* After a stop: runs on other ranks are ended with these. */
static void forget_others(struct sweep *s)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        if (!s->child[i].is_busy || s->child[i].pid) continue;
        s->child[i].is_busy = false;
        s->running--;
    }
}

/* ---- the page of --view ---------------------------------------------------------------------- */

enum { VIEW_DONE = WATCH_SECONDS + 1, VIEW_COLUMNS };

static void begin_view(void)
{
    watch_begin(&(struct watch_curves){
        .x_name = "seconds",
        .x = WATCH_SECONDS,
        .x_factor = 1,
        .columns = VIEW_COLUMNS,
        .curves = 1,
        .curve = { { .name = "Runs done", .unit = "runs", .of = VIEW_DONE, .factor = 1 } } });
}

static void put_running(const struct sweep *s, struct watch_sample *sample)
{
    char load[SWEEP_LOAD_CAP];
    for (uint32_t i = 0; i < s->slots && sample->lines < WATCH_LINES_MAX; i++) {
        const struct child *child = &s->child[i];
        if (!child->is_busy) continue;
        char *line = sample->line[sample->lines++];
        const struct store_key key = sweep_run_at(s->plan, child->run);
        sweep_load_text(key.load, load);
        if (child->is_device)
            snprintf(line, WATCH_TEXT_CAP, "%s, on the device", s->plan->fabric[child->fabric]);
        else
            snprintf(line, WATCH_TEXT_CAP, "%s, %s, load %s, seed %llu%s", key.fabric, key.traffic,
                     load, (unsigned long long)key.seed, child->only_checks ? ": checked" : "");
    }
}

static void put_view(const struct sweep *s)
{
    const struct sweep_progress *p = &s->progress;
    const double work = p->work_done + p->work_left;
    struct watch_sample *sample = watch_blank();
    sample->share = work > 0 ? p->work_done / work : 1;
    sample->column[VIEW_DONE] = p->done;
    snprintf(sample->text, sizeof sample->text, "%u of %u runs are done.", p->done, p->runs);
    watch_fact(sample, "done", p->done);
    watch_fact(sample, "running", s->running);
    watch_fact(sample, "failed", s->failed);
    put_running(s, sample);
    watch_put(sample);
}

static void run_all(struct sweep *s)
{
    uint32_t run;
    bool only_checks;
    begin_view();
    put_view(s);
    while (s->running || (s->code == DONE && next_child(s, &run, &only_checks))) {
        if (interrupted) stop(s, SIGNALLED + interrupted);
        begin_some(s);
        sweep_progress_show(&s->progress, s->running);
        if (watch_wants()) put_view(s);
        if (s->running) wait_for_some(s);
        hear_others(s);
        if (s->code != DONE) forget_others(s);
    }
    put_view(s);
    progress_end(&s->progress.line);
}

static void report_end(const struct sweep *s)
{
    if (s->failed)
        complain("%u of %u runs failed; the same command tries them again", s->failed,
                 s->plan->runs);
    if (s->code != DONE && s->code != WRONG)
        complain("%u of %u runs are done and kept in %s; the same command continues",
                 s->progress.done, s->plan->runs, s->plan->store);
}

static bool obey(struct sweep *s)
{
    uint8_t *octets;
    size_t len;
    while ((octets = take_message(s->ranks, &len))) {
        struct order order;
        memcpy(&order, octets, sizeof order);
        free(octets);
        if (order.slot == NO_SLOT) return false;
        if (begin_child(s, &s->child[order.slot],
                        (struct child){ .run = order.run, .only_checks = order.only_checks }))
            continue;
        complain("cannot begin a run: %s", strerror(errno));
        s->ranks->abort(s->ranks, FAILED);
    }
    return true;
}

void sweep_serve(const struct sweep_plan *plan, struct leat_sim_ranks *ranks)
{
    static struct sweep s;
    s = (struct sweep){ .plan = plan, .ranks = ranks, .slots = plan->jobs * ranks->count };
    while (!interrupted && obey(&s))
        wait_for_some(&s);
    stop(&s, FAILED);
}

int sweep_run(const struct sweep_plan *plan, struct store *store, int64_t sweep,
              struct leat_sim_ranks *ranks, bool *partly)
{
    static struct sweep s;
    s = (struct sweep){ .plan = plan, .store = store, .id = sweep, .ranks = ranks };
    s.slots = plan->jobs * leat_sim_ranks_count(ranks);
    s.taken = calloc(plan->runs, sizeof *s.taken);
    if (!s.taken) return fail("no memory");
    sweep_progress_begin(&s.progress, plan->runs);
    if (find_stored(&s)) {
        run_all(&s);
        report_end(&s);
    } else {
        s.code = FAILED;
    }
    free(s.taken);
    *partly = s.code == DONE && s.failed;
    return s.code == DONE && s.failed ? FAILED : s.code;
}
