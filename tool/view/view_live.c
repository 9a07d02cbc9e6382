#include "view_live.h"
#include "tool.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_MS = 1000, PATIENCE_MS = 10000 };

static int print_status(void *context)
{
    const struct view_live *live = context;
    char *const words[] = { (char *)"leat",
                            (char *)(uintptr_t)live->kind,
                            (char *)"status",
                            (char *)(strcmp(live->kind, "ring") == 0 ? "--dev" : "--name"),
                            (char *)(uintptr_t)live->name,
                            (char *)"--json",
                            NULL };
    execv("/proc/self/exe", words);
    return FAILED;
}

/* `may_complain`: the first one says itself that there is no such part. */
static bool ask(struct view_live *live, bool may_complain)
{
    return view_ask_begin(&live->ask, print_status, live, may_complain, PATIENCE_MS);
}

bool view_live_open(struct view_live *live, const char *kind, const char *name)
{
    *live = (struct view_live){ .kind = kind, .name = name };
    view_ask_init(&live->ask, VIEW_STATUS_LEN_MAX);
    if (!ask(live, true)) return complain("%s %s: %s", kind, name, strerror(errno));
    const enum view_ask_state state = view_ask_finish(&live->ask);
    live->due_ms = view_now_ms() + EVERY_MS;
    if (state == VIEW_ASK_ANSWERED) return true;
    if (live->ask.is_late) complain("%s %s: no status after %d s", kind, name, PATIENCE_MS / 1000);
    return false; /* otherwise the child has told why */
}

int view_live_wait_ms(const struct view_live *live)
{
    const int64_t wait = live->due_ms - view_now_ms();
    return wait < 0 || live->ended || live->ask.child || wait > EVERY_MS ? EVERY_MS : (int)wait;
}

static void end(struct view_live *live, struct view_http *http, unsigned source)
{
    live->ended = true;
    caution("%s %s: has ended", live->kind, live->name);
    view_http_tell(http, source, NULL, 0);
}

void view_live_step(struct view_live *live, struct view_http *http, unsigned source)
{
    if (live->ended) return;
    if (live->ask.child) {
        const enum view_ask_state state = view_ask_step(&live->ask);
        if (state == VIEW_ASK_WAITS) return;
        live->due_ms = view_now_ms() + EVERY_MS;
        if (state == VIEW_ASK_ANSWERED)
            view_http_tell(http, source, live->ask.text, live->ask.len);
        else
            end(live, http, source);
    } else if (view_now_ms() >= live->due_ms && view_http_is_heard(http, source) &&
               !ask(live, false)) {
        end(live, http, source);
    }
}

void view_live_close(struct view_live *live)
{
    view_ask_close(&live->ask);
}
