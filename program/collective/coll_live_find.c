/* Can this process use the network, and can all others? A process whose component is for another
 * Open MPI, or finds no library, has no calls of ours. The others must know that before they wait
 * for it in calls of their own: each that can says so when it starts, with what processes tell each
 * other about their connections. */
#include "coll_live.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <opal/mca/pmix/pmix.h>

enum { PROTOCOL = 4 }; /* of ranks among each other: coll_live.h */

const struct live_network *live_by;
static char key[] = "leat.coll.live";

bool live_load(const char *file, const struct live_call *call, size_t calls)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = library;
    for (size_t i = 0; i < calls && is_whole; i++) {
        void *found = dlsym(library, call[i].name);
        memcpy(call[i].address, &found, sizeof found);
        is_whole = found;
    }
    if (!is_whole)
        fprintf(stderr,
                "leat: %s: %s: %s: collective calls go by host messages. Expected the library "
                "of this leat: install both together\n",
                live_by->name, file, library ? "is of another version" : dlerror());
    return is_whole;
}

bool leat_coll_find_live(void)
{
    live_by = *leat_coll_esp_network ? &live_esp : &live_ring;
    return live_by->find_library();
}

void leat_coll_announce_live(void)
{
    uint32_t protocol = PROTOCOL;
    int result;
    OPAL_MODEX_SEND_VALUE(result, OPAL_PMIX_GLOBAL, key, &protocol, OPAL_UINT32);
    (void)result; /* others see that it is missing */
}

static bool has_network(opal_process_name_t process)
{
    uint32_t protocol = 0, *out = &protocol;
    int result;
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(result, key, &process, &out, OPAL_UINT32);
    return result == OPAL_SUCCESS && protocol == PROTOCOL;
}

int live_find_missing(const struct leat_live *r)
{
    for (int i = 0; i < r->ranks; i++)
        if (i != r->rank && !has_network(ompi_group_get_proc_name(r->m->comm->c_local_group, i)))
            return i;
    return -1;
}
