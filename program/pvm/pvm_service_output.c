/* The output of tasks: it is taken when the task, or the one that catches its output, is served. */
#include "pvm_service_parts.h"

enum { NAME_CAP = 16 };

/* As in the log. */
static const char *name_of(const struct leat_pvm_entry *entry, char *out)
{
    snprintf(out, NAME_CAP, "t%x", (unsigned)entry->tid);
    return out;
}

static void report_output(struct leat_pvm_service *service, const struct leat_pvm_entry *entry,
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
    if (!body.failed)
        leat_pvm_send_message(service, to, entry->sink.context, entry->sink.tag, &body);
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
    report_output(service, entry, catcher, LEAT_PVM_OUTPUT_BEGUN, NULL);
    report_output(service, entry, catcher, LEAT_PVM_OUTPUT_SPAWNED, NULL);
}

void leat_pvm_output_take(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    enum { PART = 400 }; /* of a signal, with its head and padding */
    struct leat_pvm_entry *catcher = catcher_of(service, entry);
    char name[NAME_CAP];
    uint8_t octets[PART];
    size_t len;
    while ((len = leat_child_read(entry->process, octets, sizeof octets)) > 0)
        if (catcher)
            report_output(service, entry, catcher, (int)len, octets);
        else
            leat_child_log(entry->process, service->config.log, name_of(entry, name), octets, len);
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
    return entry->is_used && !entry->has_left && entry->process->output >= 0 &&
           entry->sink.tid == tid;
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
    char name[NAME_CAP];
    if (entry->process->output < 0) return;
    leat_pvm_output_take(service, entry);
    leat_child_log_end(entry->process, service->config.log, name_of(entry, name));
    struct leat_pvm_entry *catcher = catcher_of(service, entry);
    if (!catcher) return;
    report_output(service, entry, catcher, LEAT_PVM_OUTPUT_END, NULL);
    if (catcher->waits == LEAT_PVM_WAITS_OUTPUT && !is_awaited(service, catcher->tid))
        leat_pvm_reply(service, catcher, PvmOk);
}
