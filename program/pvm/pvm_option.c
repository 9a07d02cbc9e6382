/* Options, contexts and trace masks. */
#include "pvm_library.h"
#include <stdio.h>
#include <string.h>

#include <pvmtev.h>

int pvmshowtaskid = 1;

/* Stored but without effect: routes (see note_route), fragments and traces do not exist in this
 * machine. Numbers as
 * in pvm3.h. */
static int kept[PvmNoReset + 1] = {
    [PvmRoute] = PvmAllowDirect,
    [PvmFragSize] = 4080,
    [PvmPollType] = PvmPollConstant,
    [PvmPollTime] = 0,
};

enum { FRAGMENT_MIN = 1024, FRAGMENT_MAX = 1 << 20 };

static bool is_valid(int option, int value)
{
    switch (option) {
    case PvmRoute: return value >= PvmDontRoute && value <= PvmRouteDirect;
    case PvmAutoErr: return value >= 0 && value <= 3;
    case PvmFragSize: return value >= FRAGMENT_MIN && value <= FRAGMENT_MAX;
    case PvmOutputTid:
    case PvmSelfOutputTid:
    case PvmTraceTid:
    case PvmSelfTraceTid: return !value || leat_pvm_is_task_tid(value);
    case PvmPollType: return value == PvmPollConstant || value == PvmPollSleep;
    default: return true;
    }
}

/* Where an option's value is. */
static int *place_of(int option)
{
    struct leat_pvm_self *self = &leat_pvm_self;
    switch (option) {
    case PvmAutoErr: return &pvmautoerr;
    case PvmShowTids: return &pvmshowtaskid;
    case PvmOutputTid: return &self->children_output.tid;
    case PvmOutputContext: return &self->children_output.context;
    case PvmOutputCode: return &self->children_output.tag;
    case PvmSelfOutputTid: return &self->output.tid;
    case PvmSelfOutputContext: return &self->output.context;
    case PvmSelfOutputCode: return &self->output.tag;
    default: return option >= PvmRoute && option <= PvmNoReset ? &kept[option] : NULL;
    }
}

/* Redirects the output of the task and of its future children. */
static int redirect(void)
{
    struct leat_pvm_self *self = &leat_pvm_self;
    const int numbers[] = { self->output.tid, self->output.context, self->output.tag };
    self->children_output = self->output;
    return leat_pvm_query(LEAT_PVM_SET_OUTPUT, NULL, numbers, 3, NULL, "pvm_setopt");
}

int pvm_getopt(int option)
{
    const int *place = place_of(option);
    return place ? *place : lpvmerr("pvm_getopt", PvmBadParam);
}

/* There is no daemon that could route a message: all go directly. Who asks for another route is
 * told, once. */
static void note_route(int route)
{
    static bool is_told;
    if (route != PvmDontRoute || is_told) return;
    is_told = true;
    fputs("leat: PvmDontRoute has no effect: there is no daemon, each message goes directly "
          "from task to task, as with PvmRouteDirect\n",
          stderr);
}

int pvm_setopt(int option, int value)
{
    int *place = place_of(option);
    if (!place || !is_valid(option, value)) return lpvmerr("pvm_setopt", PvmBadParam);
    const bool is_own_output = option == PvmSelfOutputTid || option == PvmSelfOutputContext ||
                               option == PvmSelfOutputCode;
    const int enrolled = is_own_output ? leat_pvm_enrol() : PvmOk;
    if (enrolled < 0) return lpvmerr("pvm_setopt", enrolled);
    const int old = *place;
    *place = value;
    if (option == PvmRoute) note_route(value);
    const int result = is_own_output ? redirect() : PvmOk;
    return result < 0 ? lpvmerr("pvm_setopt", result) : old;
}

/* The name that PVM 3.2 had for an option of pvm_setopt, and the thesis uses. */
int pvm_advise(int route)
{
    const int result = pvm_setopt(PvmRoute, route);
    return result < 0 ? result : PvmOk;
}

/* ---- contexts -------------------------------------------------------------------------------- */

int pvm_getcontext(void)
{
    const int result = leat_pvm_enrol();
    return result < 0 ? lpvmerr("pvm_getcontext", result) : leat_pvm_self.context;
}

int pvm_setcontext(int context)
{
    const int result = leat_pvm_enrol();
    const int old = leat_pvm_self.context;
    if (result < 0) return lpvmerr("pvm_setcontext", result);
    leat_pvm_self.context = pvmmyctx = context;
    return old;
}

int pvm_newcontext(void)
{
    return leat_pvm_result("pvm_newcontext", leat_pvm_query(LEAT_PVM_NEW_CONTEXT, NULL, NULL, 0,
                                                            NULL, "pvm_newcontext"));
}

int pvm_freecontext(int context)
{
    return leat_pvm_result("pvm_freecontext", leat_pvm_query(LEAT_PVM_FREE_CONTEXT, NULL, &context,
                                                             1, NULL, "pvm_freecontext"));
}

/* ---- trace masks: kept; runs are traced by recording them ------------------------------------ */

static char mask[PvmTaskChild + 1][sizeof(Pvmtmask)];

static char *mask_of(int who)
{
    if (who != PvmTaskSelf && who != PvmTaskChild) return NULL;
    if (!mask[who][0]) TEV_MASK_INIT(mask[who]);
    return mask[who];
}

int pvm_gettmask(int who, Pvmtmask out)
{
    const char *from = mask_of(who);
    if (!from || !out) return lpvmerr("pvm_gettmask", PvmBadParam);
    memcpy(out, from, sizeof(Pvmtmask));
    return PvmOk;
}

int pvm_settmask(int who, Pvmtmask value)
{
    char *to = mask_of(who);
    if (!to || !value) return lpvmerr("pvm_settmask", PvmBadParam);
    memcpy(to, value, sizeof(Pvmtmask));
    to[sizeof(Pvmtmask) - 1] = 0;
    return PvmOk;
}
