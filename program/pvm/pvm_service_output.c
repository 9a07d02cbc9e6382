/*
 * What tasks print. It goes into a file in memory, which never makes them wait, and is taken from
 * there when the task, or who catches its output, is served: so it comes in an order that does not
 * depend on who is faster. The file grows, but what was told is given back.
 */
#include "pvm_service_parts.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int leat_pvm_output_open(void)
{
    return memfd_create("output of a task", MFD_CLOEXEC);
}

/* ---- to the log ------------------------------------------------------------------------------ */

static void log_line(const struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    if (service->config.log >= 0)
        dprintf(service->config.log, "[t%x] %.*s\n", (unsigned)entry->tid, (int)entry->line.len,
                (const char *)entry->line.at);
    leat_pvm_octets_clear(&entry->line);
}

static void log_octets(const struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                       const uint8_t *octets, size_t len)
{
    while (len) {
        const uint8_t *end = memchr(octets, '\n', len);
        const size_t here = end ? (size_t)(end - octets) : len;
        leat_pvm_put(&entry->line, octets, here);
        if (end) log_line(service, entry);
        octets += here + (end != NULL);
        len -= here + (end != NULL);
    }
}

/* ---- to a task ------------------------------------------------------------------------------- */

static void tell_octets(struct leat_pvm_service *service, const struct leat_pvm_entry *entry,
                        struct leat_pvm_entry *to, int count, const uint8_t *octets)
{
    static const uint8_t padding[3];
    struct leat_pvm_octets body = { 0 };
    leat_pvm_put_i32(&body, entry->tid);
    leat_pvm_put_i32(&body, count);
    if (count > 0) {
        leat_pvm_put(&body, octets, (size_t)count);
        leat_pvm_put(&body, padding, -(size_t)count & 3);
    } else if (count < 0) {
        leat_pvm_put_i32(&body, entry->parent < 0 ? 0 : entry->parent);
    }
    if (!body.failed) leat_pvm_tell(service, to, entry->sink.context, entry->sink.tag, &body);
    leat_pvm_octets_free(&body);
}

static struct leat_pvm_entry *catcher_of(struct leat_pvm_service *service,
                                         const struct leat_pvm_entry *entry)
{
    return entry->sink.tid ? leat_pvm_find(service, entry->sink.tid) : NULL;
}

void leat_pvm_output_begin(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_entry *catcher = catcher_of(service, entry);
    if (!catcher) return;
    tell_octets(service, entry, catcher, LEAT_PVM_OUTPUT_BEGUN, NULL);
    tell_octets(service, entry, catcher, LEAT_PVM_OUTPUT_SPAWNED, NULL);
}

void leat_pvm_output_take(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    enum { PART = 400 }; /* of a signal, with its head and padding */
    uint8_t octets[PART];
    const uint64_t before = entry->output_told;
    if (entry->output < 0) return;
    for (;;) {
        const ssize_t got = pread(entry->output, octets, sizeof octets, (off_t)entry->output_told);
        struct leat_pvm_entry *catcher = catcher_of(service, entry);
        if (got <= 0) break;
        if (catcher)
            tell_octets(service, entry, catcher, (int)got, octets);
        else
            log_octets(service, entry, octets, (size_t)got);
        entry->output_told += (uint64_t)got;
    }
    if (entry->output_told > before)
        fallocate(entry->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)entry->output_told);
}

void leat_pvm_output_take_for(struct leat_pvm_service *service, int tid)
{
    for (uint32_t i = 0; i < service->config.slots && service->entry[i].is_used; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->sink.tid == tid && !entry->has_left) leat_pvm_output_take(service, entry);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool is_awaited_by(const struct leat_pvm_entry *entry, int tid)
{
    return entry->is_used && !entry->has_left && entry->output >= 0 && entry->sink.tid == tid;
}

static bool is_awaited(const struct leat_pvm_service *service, int tid)
{
    for (uint32_t i = 0; i < service->config.slots; i++)
        if (is_awaited_by(&service->entry[i], tid) && service->entry[i].tid != tid) return true;
    return false;
}

int leat_pvm_on_await_output(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    if (!is_awaited(service, entry->tid)) return PvmOk;
    entry->waits = LEAT_PVM_WAITS_OUTPUT;
    return LEAT_PVM_LATER;
}

void leat_pvm_output_end(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    if (entry->output < 0) return;
    leat_pvm_output_take(service, entry);
    if (entry->line.len) log_line(service, entry);
    struct leat_pvm_entry *catcher = catcher_of(service, entry);
    if (!catcher) return;
    tell_octets(service, entry, catcher, LEAT_PVM_OUTPUT_END, NULL);
    if (catcher->waits == LEAT_PVM_WAITS_OUTPUT && !is_awaited(service, catcher->tid))
        leat_pvm_reply(service, catcher, PvmOk);
}
