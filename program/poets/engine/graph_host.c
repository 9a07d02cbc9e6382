#include "graph_host.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EARLY_MAX = 1 << 20 }; /* packets of the supervisor before the application runs */

static const char *const reason_name[] = {
#define X(id, name) name,
    LEAT_POETS_RUN_REASON_LIST(X)
#undef X
};

const char *leat_poets_run_reason_name(enum leat_poets_run_reason reason)
{
    return reason_name[reason];
}

/* ---- output ---------------------------------------------------------------------------------- */

static void find_exit(struct leat_poets_graph_host *host, const char *text, size_t len)
{
    static const char success[] = "_HANDLER_EXIT_SUCCESS_9be65737_";
    static const char fail[] = "_HANDLER_EXIT_FAIL_9be65737_";
    if (memmem(text, len, success, strlen(success)))
        leat_poets_graph_host_end(host, LEAT_POETS_RUN_SUCCESS, 0);
    if (memmem(text, len, fail, strlen(fail)))
        leat_poets_graph_host_end(host, LEAT_POETS_RUN_FAILED, 1);
}

const char *leat_poets_graph_host_prefix(const struct leat_poets_graph_host *host)
{
    return host->options.prefix ? host->options.prefix : "";
}

/* With terminal control characters made harmless. */
static void print_text(FILE *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fputc((unsigned char)text[i] >= ' ' || text[i] == '\t' ? text[i] : ' ', out);
}

/* Of a device, or (LEAT_GRAPH_NONE) of the supervisor. */
static void print_line(struct leat_poets_graph_host *host, uint32_t index, const char *text,
                       size_t len, bool truncated)
{
    const struct leat_poets_machine *m = host->machine;
    FILE *out = host->options.lines;
    host->lines++;
    if (host->options.before_line) host->options.before_line();
    if (host->options.line) {
        host->options.line(host->options.context, index, text, len);
    } else {
        fputs(leat_poets_graph_host_prefix(host), out);
        if (index != LEAT_GRAPH_NONE)
            fprintf(out, "%s (Thread 0x%x): ", leat_poets_machine_name(m, index),
                    m->address[m->seat[index].thread]);
        print_text(out, text, len);
        fputs(truncated ? " [truncated]\n" : "\n", out);
    }
    find_exit(host, text, len);
}

static void post(struct leat_poets_host *api, const char *text)
{
    print_line(api->engine, LEAT_GRAPH_NONE, text, strlen(text), false);
}

static void stop_application(struct leat_poets_host *api)
{
    leat_poets_graph_host_end(api->engine, LEAT_POETS_RUN_STOPPED, 0);
}

static void fail(struct leat_poets_host *api, const char *what)
{
    struct leat_poets_graph_host *host = api->engine;
    struct leat_text text = LEAT_TEXT(1024);
    leat_poets_run_tell_thrown(host->machine, what, api->thrown, api->thrown_count, &text);
    fprintf(host->options.lines, "%ssupervisor: ", leat_poets_graph_host_prefix(host));
    print_text(host->options.lines, text.buf, text.len);
    fputc('\n', host->options.lines);
    leat_poets_graph_host_end(host, LEAT_POETS_RUN_ASSERTION, 1);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Creates the parent folders of a path, which is modified and restored. */
static bool make_parents(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
        if (!made) return false;
    }
    return true;
}

/* A folder that only the user can write, created if missing, as a descriptor. -1: `why` says why;
 * another user may have made it, or a link of this name. */
static int own_folder(const char *path, char *why, size_t cap)
{
    struct stat s;
    const bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    const int fd = made ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &s) != 0)
        snprintf(why, cap, "%s: %s", path,
                 errno == ENOTDIR || errno == ELOOP ? "expected a folder, and no link"
                                                    : strerror(errno));
    else if (s.st_uid != geteuid())
        snprintf(why, cap, "%s belongs to user %u, expected user %u", path, (unsigned)s.st_uid,
                 (unsigned)geteuid());
    else if (s.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, cap, "%s: others may write there, expected mode go-w", path);
    else
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static const char default_folder[] = "poets_output";

static const char *folder_of(const struct leat_poets_graph_host *host)
{
    return host->options.folder ? host->options.folder : default_folder;
}

/* Opens the folder for files. A folder that the user named may belong to anybody; in a shared
 * working folder, somebody else may have made one with the default name. */
static bool open_files(struct leat_poets_graph_host *host, char *why, size_t cap)
{
    char path[4200];
    if (host->files >= 0) return true;
    if (!host->options.folder) {
        host->files = own_folder(default_folder, why, cap);
        if (host->files < 0)
            snprintf(why + strlen(why), cap - strlen(why), " (or name another folder: --output)");
        return host->files >= 0;
    }
    snprintf(path, sizeof path, "%s/", folder_of(host));
    make_parents(path);
    host->files = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (host->files < 0) snprintf(why, cap, "%s: %s", folder_of(host), strerror(errno));
    return host->files >= 0;
}

/* FOLDER/APP__INSTANCE/TIME SUFFIX, new; with _2, _3, ... if it exists already. */
static const char *output_folder(struct leat_poets_host *api, const char *suffix)
{
    struct leat_poets_graph_host *host = api->engine;
    const struct leat_poets_machine *m = host->machine;
    char when[32], why[400];
    struct tm now;
    const time_t seconds = time(NULL);
    if (!open_files(host, why, sizeof why)) {
        post(api, why);
        return "";
    }
    localtime_r(&seconds, &now);
    strftime(when, sizeof when, "%Y_%m_%dT%H_%M_%S", &now);
    for (int try = 1; !strchr(suffix, '/') && try < 1000; try++) {
        char number[16] = "";
        if (try > 1) snprintf(number, sizeof number, "_%d", try);
        const int len = snprintf(host->folder, sizeof host->folder, "%s/%s__%s/%s%s%s",
                                 folder_of(host), m->graph->id, m->instance->id, when, suffix,
                                 number);
        if (len < 0 || (size_t)len >= sizeof host->folder || !make_parents(host->folder)) break;
        if (mkdir(host->folder, 0777) == 0) return host->folder;
        if (errno != EEXIST) break;
    }
    post(api, "the output directory cannot be made");
    return "";
}

/* ---- packets to threads --------------------------------------------------------------------- */

static void send_control(struct leat_poets_graph_host *host, uint8_t opcode)
{
    const struct leat_poets_packet packet = { .packet_class = LEAT_POETS_CLASS_CTL,
                                              .task = host->machine->task,
                                              .opcode = opcode,
                                              .device = LEAT_POETS_DEVICE_ALL };
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len;
    leat_poets_packet_encode(&packet, octets, sizeof octets, &len);
    for (uint32_t t = 0; t < host->machine->thread_count; t++)
        host->send(host, t, octets, (unsigned)(len / LEAT_POETS_FLIT_LEN));
}

/* A reply goes to the sender, a broadcast to all. */
static void send_answer(struct leat_poets_graph_host *host, uint32_t index, const uint8_t *payload,
                        bool all)
{
    const struct leat_poets_machine *m = host->machine;
    const struct leat_poets_seat seat = m->seat[index];
    struct leat_poets_packet packet = {
        .packet_class = LEAT_POETS_CLASS_CTL,
        .task = m->task,
        .compat = host->options.reply_cnc0 ? LEAT_POETS_COMPAT_REPLY_CNC0 : 0,
        .opcode = LEAT_POETS_OP_IMPL,
        .payload_len = (uint16_t)m->handlers->supervisor->out_len,
    };
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len;
    if (host->options.reply_1flit && packet.payload_len > 8) packet.payload_len = 8;
    memcpy(packet.payload, payload, packet.payload_len);
    packet.device = all ? LEAT_POETS_DEVICE_ALL : seat.device;
    if (leat_poets_packet_encode(&packet, octets, sizeof octets, &len)) return;
    const unsigned nflit = (unsigned)(len / LEAT_POETS_FLIT_LEN);
    for (uint32_t t = all ? 0 : seat.thread; t < (all ? m->thread_count : seat.thread + 1U); t++)
        host->send(host, t, octets, nflit);
}

/* Threads hold only few packets at the barrier, so the host keeps those that come before it opens.
 * False: there are too many. */
static bool keep_early(struct leat_poets_graph_host *host, uint32_t thread, const uint8_t *packet,
                       unsigned nflit)
{
    if (host->early_count == host->early_cap) {
        const uint32_t cap = host->early_cap ? 2 * host->early_cap : 64;
        struct leat_poets_early *grown = cap <= EARLY_MAX
                                             ? realloc(host->early, cap * sizeof *grown)
                                             : NULL;
        if (!grown) return false;
        host->early = grown;
        host->early_cap = cap;
    }
    struct leat_poets_early *e = &host->early[host->early_count++];
    e->thread = thread;
    e->slot.nflit = (uint8_t)nflit;
    memcpy(e->slot.packet, packet, (size_t)nflit * LEAT_POETS_FLIT_LEN);
    return true;
}

static void send_early(struct leat_poets_graph_host *host)
{
    for (uint32_t i = 0; i < host->early_count; i++)
        host->send(host, host->early[i].thread, host->early[i].slot.packet,
                   host->early[i].slot.nflit);
    host->early_count = 0;
}

/* To OnCtl of a device, or of all. */
static bool send_opcode(struct leat_poets_host *api, uint32_t index, uint8_t opcode,
                        const void *payload, size_t payload_len)
{
    struct leat_poets_graph_host *host = api->engine;
    const struct leat_poets_machine *m = host->machine;
    const bool all = index == LEAT_POETS_ALL;
    struct leat_poets_packet packet = { .packet_class = LEAT_POETS_CLASS_CTL,
                                        .task = m->task,
                                        .opcode = opcode,
                                        .device = LEAT_POETS_DEVICE_ALL,
                                        .payload_len = (uint16_t)payload_len };
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len;
    if (!opcode || opcode >= LEAT_POETS_OP_RESERVED || payload_len > sizeof packet.payload ||
        (!all && index >= m->device_count))
        return false;
    if (payload_len) memcpy(packet.payload, payload, payload_len);
    if (!all) packet.device = m->seat[index].device;
    if (leat_poets_packet_encode(&packet, octets, sizeof octets, &len)) return false;
    const uint32_t from = all ? 0 : m->seat[index].thread, to = all ? m->thread_count : from + 1;
    const unsigned nflit = (unsigned)(len / LEAT_POETS_FLIT_LEN);
    const bool early = host->app.state < LEAT_POETS_APP_RUNNING;
    for (uint32_t t = from; t < to; t++) {
        if (early && !keep_early(host, t, octets, nflit)) return false;
        if (!early) host->send(host, t, octets, nflit);
    }
    return true;
}

static void on_opcode(struct leat_poets_graph_host *host, const struct leat_poets_packet *packet)
{
    const struct leat_poets_supervisor *s = host->machine->handlers->supervisor;
    if (!s || !s->control) {
        host->mothership.cause[LEAT_POETS_HOST_SUP_DROP]++;
        return;
    }
    if (!host->object) return; /* creation failed, which ends the run */
    host->supervisor_packets++;
    atomic_store(&host->supervising, true);
    const int said = s->control(&host->api, host->object, packet->opcode, packet->payload);
    atomic_store(&host->supervising, false);
    if (said < 0) post(&host->api, "the supervisor's OnCTL reports an error");
}

static void on_supervisor_packet(struct leat_poets_graph_host *host,
                                 const struct leat_poets_packet *packet)
{
    _Alignas(16) uint8_t reply[LEAT_POETS_PACKET_LEN_MAX] = { 0 };
    _Alignas(16) uint8_t bcast[LEAT_POETS_PACKET_LEN_MAX] = { 0 };
    _Alignas(16) uint8_t payload[LEAT_POETS_PACKET_LEN_MAX] = { 0 };
    const struct leat_poets_supervisor *s = host->machine->handlers->supervisor;
    if (!host->object) return; /* creation failed, which ends the run */
    host->supervisor_packets++;
    host->api.reply = host->api.bcast = false;
    memcpy(payload, packet->payload, LEAT_POETS_PAYLOAD_LEN_MAX);
    atomic_store(&host->supervising, true);
    const int said = s->receive(&host->api, host->object, payload, reply, bcast);
    atomic_store(&host->supervising, false);
    if (said < 0) post(&host->api, "the supervisor's OnReceive reports an error");
    if (host->api.reply) send_answer(host, packet->sender, reply, false);
    if (host->api.bcast) send_answer(host, 0, bcast, true);
}

static void on_external(struct leat_poets_graph_host *host, const struct leat_poets_packet *packet)
{
    if (host->options.externals)
        leat_poets_graph_externals_packet(host, packet);
    else
        host->mothership.cause[LEAT_POETS_HOST_NO_EXTERNAL]++;
}

/* ---- instrumentation ------------------------------------------------------------------------ */

static double rate(uint32_t count, double seconds)
{
    return seconds > 0 ? count / seconds : 0;
}

static int by_address(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Addresses ascend. thread_count: not found. */
static uint32_t thread_of(const struct leat_poets_machine *m, uint32_t address)
{
    const uint32_t *found = bsearch(&address, m->address, m->thread_count, sizeof address,
                                    by_address);
    return found ? (uint32_t)(found - m->address) : m->thread_count;
}

/* Reports only the first. */
static void report_table_error(struct leat_poets_graph_host *host, const char *why)
{
    if (!host->table_failed) fprintf(stderr, "leat: %s\n", why);
    host->table_failed = true;
}

static FILE *open_table(struct leat_poets_graph_host *host, uint32_t address, bool begun)
{
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (begun ? O_APPEND : O_TRUNC) |
                      (host->options.folder ? 0 : O_NOFOLLOW);
    char name[64], why[400], text[500];
    snprintf(name, sizeof name, "instrumentation_thread_%u.csv", address);
    if (!open_files(host, why, sizeof why)) {
        snprintf(text, sizeof text, "%s: %s", name, why);
        report_table_error(host, text);
        return NULL;
    }
    const int fd = openat(host->files, name, flags, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out) return out;
    snprintf(text, sizeof text, "%.300s/%s: %s", folder_of(host), name, strerror(errno));
    report_table_error(host, text);
    if (fd >= 0) close(fd);
    return NULL;
}

/* A row of a thread's file, in the original's columns. */
static void on_instr(struct leat_poets_graph_host *host, uint32_t address,
                     const struct leat_poets_instr *instr)
{
    const uint32_t *c = instr->counter;
    const double delta = (double)c[LEAT_POETS_INSTR_CYCLES] / (double)host->options.interval;
    const uint32_t thread = thread_of(host->machine, address);
    if (!host->options.instrument || thread == host->machine->thread_count) return;
    FILE *out = open_table(host, address, host->instr_begun[thread]);
    if (!out) return;
    if (!host->instr_begun[thread])
        fprintf(out,
                "ThreadID, cIDX, Time, cycles, deltaT, RX, OnRX, TX, SupTX, OnTX, Idle, OnIdle, "
                "Blocked, CacheMiss, CacheHit, CacheWB, CPUIdle, RX/s, TX/s, Sup/s\n"
                "%u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n",
                address);
    host->instr_begun[thread] = true;
    host->instr_time[thread] += delta;
    fprintf(out, "%u, %u, %g, %u, %g", address, c[0], host->instr_time[thread], c[1], delta);
    for (int i = LEAT_POETS_INSTR_RX_CNT; i < LEAT_POETS_INSTR_COUNT_MAX; i++)
        fprintf(out, ", %u", c[i]);
    fprintf(out, ", %g, %g, %g\n", rate(c[LEAT_POETS_INSTR_RX_CNT], delta),
            rate(c[LEAT_POETS_INSTR_TX_CNT], delta), rate(c[LEAT_POETS_INSTR_SUP_CNT], delta));
    if (fclose(out) != 0) report_table_error(host, strerror(errno));
}

/* ---- life cycle of the application ----------------------------------------------------------- */

/* Calls a handler of the supervisor, if there is one; `name` is for messages. */
static void call_supervisor(struct leat_poets_graph_host *host,
                            int (*handler)(struct leat_poets_host *, void *), const char *name)
{
    char text[80];
    if (!host->object || !handler) return;
    atomic_store(&host->supervising, true);
    const int result = handler(&host->api, host->object);
    atomic_store(&host->supervising, false);
    if (result >= 0) return;
    snprintf(text, sizeof text, "the supervisor's %s reports an error", name);
    post(&host->api, text);
}

/* In the order of their values; each may cause more. */
static void act(struct leat_poets_graph_host *host, uint32_t actions)
{
    const struct leat_poets_supervisor *s = host->machine->handlers->supervisor;
    if (actions & LEAT_POETS_ACTION_LOAD && s) {
        atomic_store(&host->supervising, true);
        host->object = s->create(&host->api);
        atomic_store(&host->supervising, false);
        call_supervisor(host, s->init, "OnInit");
    }
    if (actions & LEAT_POETS_ACTION_RELEASE) {
        send_control(host, LEAT_POETS_OP_BARRIER);
        send_early(host);
        if (host->options.externals) leat_poets_graph_externals_release(host->options.externals);
    }
    if (actions & LEAT_POETS_ACTION_STOP) {
        if (host->app.failed && host->reason == LEAT_POETS_RUN_RUNNING) {
            host->reason = LEAT_POETS_RUN_ASSERTION;
            host->exit_code = 1;
        }
        if (host->options.instrument) send_control(host, LEAT_POETS_OP_INSTR);
        send_control(host, LEAT_POETS_OP_STOP);
        if (host->options.externals) leat_poets_graph_externals_stop(host->options.externals);
        call_supervisor(host, s ? s->stop : NULL, "OnStop");
    }
    if (actions & LEAT_POETS_ACTION_END && host->object) {
        atomic_store(&host->supervising, true);
        s->destroy(&host->api, host->object);
        atomic_store(&host->supervising, false);
        host->object = NULL;
    }
}

void leat_poets_graph_host_begin(struct leat_poets_graph_host *host)
{
    leat_poets_app_define(&host->app, LEAT_POETS_PART_SPEC, host->machine->task, 0);
    leat_poets_app_define(&host->app, LEAT_POETS_PART_SUPD, 0, 0);
    act(host, leat_poets_app_command(&host->app, LEAT_POETS_COMMAND_INIT));
    if (host->options.externals && leat_poets_graph_externals_begin(host->options.externals))
        return;
    act(host, leat_poets_app_command(&host->app, LEAT_POETS_COMMAND_RUN));
}

void leat_poets_graph_host_go(struct leat_poets_graph_host *host, double waited_seconds)
{
    host->waited_seconds = waited_seconds;
    host->options.externals->waits = false;
    act(host, leat_poets_app_command(&host->app, LEAT_POETS_COMMAND_RUN));
}

bool leat_poets_graph_host_waits(const struct leat_poets_graph_host *host)
{
    return host->options.externals && host->options.externals->waits;
}

void leat_poets_graph_host_packet(struct leat_poets_graph_host *host, const uint8_t *packet,
                                  unsigned nflit)
{
    struct leat_poets_event event;
    leat_poets_mothership_receive(&host->mothership, packet, (size_t)nflit * LEAT_POETS_FLIT_LEN,
                                  &event);
    switch (event.kind) {
    case LEAT_POETS_EVENT_NOTHING:
    case LEAT_POETS_EVENT_WARNING: break; /* counted */
    case LEAT_POETS_EVENT_EXTERNAL: on_external(host, &event.packet); break;
    case LEAT_POETS_EVENT_SUPERVISOR: on_supervisor_packet(host, &event.packet); break;
    case LEAT_POETS_EVENT_CONTROL: on_opcode(host, &event.packet); break;
    case LEAT_POETS_EVENT_LINES:
        for (unsigned i = 0; i < event.lines.count; i++)
            print_line(host, event.packet.sender, event.lines.line[i].text, event.lines.line[i].len,
                       event.lines.line[i].truncated);
        break;
    case LEAT_POETS_EVENT_INSTR: on_instr(host, event.packet.sender, &event.instr); break;
    case LEAT_POETS_EVENT_ACTIONS: act(host, event.actions); break;
    }
}

void leat_poets_graph_host_idle(struct leat_poets_graph_host *host)
{
    const struct leat_poets_supervisor *s = host->machine->handlers->supervisor;
    if (s && host->app.state == LEAT_POETS_APP_RUNNING)
        call_supervisor(host, s->idle, "OnSupervisorIdle");
}

void leat_poets_graph_host_flush(struct leat_poets_graph_host *host)
{
    if (host->lines_flushed == host->lines || host->options.line) return;
    host->lines_flushed = host->lines;
    fflush(host->options.lines);
}

void leat_poets_graph_host_hold(struct leat_poets_graph_host *host)
{
    send_control(host, LEAT_POETS_OP_HOLD);
    if (host->options.externals) leat_poets_graph_externals_stop(host->options.externals);
}

void leat_poets_graph_host_end(struct leat_poets_graph_host *host,
                               enum leat_poets_run_reason reason, int exit_code)
{
    if (host->reason == LEAT_POETS_RUN_RUNNING) {
        host->reason = reason;
        host->exit_code = exit_code;
    }
    /* One that has not run yet stops at the barrier. */
    if (leat_poets_graph_host_waits(host)) host->app.failed = true;
    act(host, leat_poets_app_command(&host->app, LEAT_POETS_COMMAND_STOP));
}

bool leat_poets_graph_host_is_over(const struct leat_poets_graph_host *host)
{
    return host->app.state == LEAT_POETS_APP_STOPPED || host->app.state == LEAT_POETS_APP_BROKEN;
}

bool leat_poets_graph_host_init(struct leat_poets_graph_host *host,
                                struct leat_poets_machine *machine,
                                const struct leat_poets_graph_host_options *options)
{
    const struct leat_poets_supervisor *s = machine->handlers->supervisor;
    *host = (struct leat_poets_graph_host){ .machine = machine, .options = *options, .files = -1 };
    host->api = (struct leat_poets_host){ .graph = machine->graph_properties,
                                          .post = post,
                                          .stop = stop_application,
                                          .fail = fail,
                                          .folder = output_folder,
                                          .control = send_opcode,
                                          .engine = host };
    host->reported = calloc(machine->thread_count + 1, 1);
    host->instr_time = calloc(machine->thread_count + 1, sizeof *host->instr_time);
    host->instr_begun = calloc(machine->thread_count + 1, sizeof *host->instr_begun);
    if (!host->reported || !host->instr_time || !host->instr_begun) return false;
    leat_poets_mothership_init(&host->mothership, machine->device_count, machine->external_count,
                               s && s->receive);
    leat_poets_app_init(&host->app, machine->address, machine->thread_count, host->reported,
                        options->stop_ack);
    if (options->externals) options->externals->table.task = machine->task;
    host->mothership.app[machine->task] = &host->app;
    return true;
}

void leat_poets_graph_host_free(struct leat_poets_graph_host *host)
{
    if (host->files >= 0) close(host->files);
    free(host->early);
    free(host->reported);
    free(host->instr_time);
    free(host->instr_begun);
}
