#include "run_view.h"
#include "run.h"
#include <stdio.h>

enum { SIMULATED = WATCH_SECONDS + 1, MESSAGES, OCTETS, COLUMNS };

void run_view_begin(void)
{
    static const struct watch_curves curves = {
        .x_name = "real seconds",
        .x = WATCH_SECONDS,
        .x_factor = 1,
        .columns = COLUMNS,
        .curves = 4,
        .curve = { { .name = "Simulated time", .unit = "s", .of = SIMULATED, .factor = 1 },
                   { .name = "Messages",
                     .unit = "per real second",
                     .of = MESSAGES,
                     .per = WATCH_SECONDS,
                     .is_ratio = true,
                     .factor = 1 },
                   { .name = "Throughput",
                     .unit = "MB per simulated second",
                     .of = OCTETS,
                     .per = SIMULATED,
                     .is_ratio = true,
                     .factor = 1e-6 },
                   { .name = "Speed",
                     .unit = "simulated per real second",
                     .of = SIMULATED,
                     .per = WATCH_SECONDS,
                     .is_ratio = true,
                     .factor = 1 } },
    };
    watch_begin(&curves);
}

static double seconds_of(leat_time clock)
{
    return clock > RUN_START_PS ? run_seconds(clock - RUN_START_PS) : 0;
}

static void take_task(const struct leat_hub *hub, uint32_t slot, struct watch_task *out)
{
    const struct leat_hub_task *task = leat_hub_task(hub, slot);
    const char *call = leat_hub_call(hub, slot);
    *out = (struct watch_task){ .port = leat_hub_port(hub, slot),
                                .seconds = seconds_of(task->clock),
                                .sent = task->messages_sent,
                                .received = task->messages_received };
    snprintf(out->does, sizeof out->does, "%.*s", WATCH_NAME_CAP - 1,
             task->left      ? "ended"
             : !task->begun  ? "not begun"
             : call && *call ? call
             : call          ? "waiting"
                             : "computing");
}

void run_view_put(const struct leat_hub *hub)
{
    static struct watch_task task[WATCH_TASKS_MAX];
    const uint32_t used = leat_hub_next_slots(hub, 1);
    struct watch_sample *sample = watch_blank();
    uint64_t octets = 0, messages = 0;
    uint32_t left = 0, begun = 0;
    for (uint32_t i = 0; i < used; i++) {
        const struct leat_hub_task *of = leat_hub_task(hub, i);
        messages += of->messages_sent;
        octets += of->octets_sent;
        begun += of->begun;
        left += of->left;
        if (i < WATCH_TASKS_MAX) take_task(hub, i, &task[i]);
    }
    sample->column[SIMULATED] = seconds_of(leat_hub_now(hub));
    sample->column[MESSAGES] = (double)messages;
    sample->column[OCTETS] = (double)octets;
    snprintf(sample->text, sizeof sample->text, "%.9f s simulated.", sample->column[SIMULATED]);
    watch_fact(sample, "tasks", used);
    watch_fact(sample, "begun", begun);
    watch_fact(sample, "ended", left);
    watch_fact(sample, "messages", (double)messages);
    watch_fact(sample, "octets", (double)octets);
    watch_put_tasks(sample, task, used);
}
