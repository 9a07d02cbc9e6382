/* Can this process use a ring, and can all others? A process whose component is for another Open
 * MPI, or finds no library, has no calls of ours. The others must know that before they wait for it
 * in calls of their own: each that can says so when it starts, with what processes tell each other
 * about their connections. */
#include "coll_ring.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <opal/mca/pmix/pmix.h>

enum { PROTOCOL = 2 }; /* of ranks among each other: coll_ring.h */

static char key[] = "leat.coll.ring";

struct ring_library ring_library;

bool leat_coll_find_ring(void)
{
    void *library = dlopen(LEAT_ATON_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = library;
#define X(NAME)                                                                           \
    if (library) *(void **)&ring_library.NAME = dlsym(library, "leat_aton_group_" #NAME); \
    is_whole = is_whole && ring_library.NAME;
    RING_CALLS(X)
#undef X
    if (!is_whole)
        fprintf(stderr,
                "leat: ring: %s: %s: collective calls go by host messages. Expected the library "
                "of this leat: install both together\n",
                LEAT_ATON_LIBRARY, library ? "is of another version" : dlerror());
    return is_whole;
}

void leat_coll_announce_ring(void)
{
    uint32_t protocol = PROTOCOL;
    int result;
    OPAL_MODEX_SEND_VALUE(result, OPAL_PMIX_GLOBAL, key, &protocol, OPAL_UINT32);
    (void)result; /* others see that it is missing */
}

static bool has_ring(opal_process_name_t process)
{
    uint32_t protocol = 0, *out = &protocol;
    int result;
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(result, key, &process, &out, OPAL_UINT32);
    return result == OPAL_SUCCESS && protocol == PROTOCOL;
}

int ring_find_missing(const struct leat_ring *r)
{
    for (int i = 0; i < r->ranks; i++)
        if (i != r->rank && !has_ring(ompi_group_get_proc_name(r->m->comm->c_local_group, i)))
            return i;
    return -1;
}
