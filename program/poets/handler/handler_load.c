/* Loads compiled handlers. Code of the file runs from here on. */
#include "graph_run_parts.h"
#include "handler.h"
#include "handler_cache.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 300 };

/* Where it is in memory, for reports of crashes; its lines, if there are any. */
static void find_place(struct leat_handler_object *object)
{
    const struct link_map *map = NULL;
    struct stat s;
    if (dlinfo(object->loaded, RTLD_DI_LINKMAP, &map) != 0 || fstat(object->file, &s) != 0) return;
    object->base = map->l_addr;
    object->extent = (uintptr_t)s.st_size; /* its code comes first */
    leat_handler_lines_open(&object->lines, object->file);
}

/* The loader keeps one object for each file, with one set of static variables: a second task that
 * is made of the same file gets a copy, under the same number. False: see errno. */
static bool set_apart(int file)
{
    struct stat s;
    off_t at = 0;
    char name[64]; /* another one: the loader keeps all names of an object */
    snprintf(name, sizeof name, "/proc/self/fd/./%d", file);
    void *same = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!same) return true;
    dlclose(same);
    const int copy = fstat(file, &s) == 0 ? memfd_create("handlers", MFD_CLOEXEC) : -1;
    ssize_t sent = copy < 0 ? -1 : 1;
    while (sent > 0 && at < s.st_size)
        sent = sendfile(copy, file, &at, (size_t)(s.st_size - at));
    const bool good = sent > 0 && dup3(copy, file, O_CLOEXEC) >= 0;
    if (copy >= 0) close(copy);
    return good;
}

/* By descriptor: the checked file is the loaded one. */
static bool load(struct leat_graph *graph, struct leat_handler_object *object,
                 struct leat_handlers *handlers)
{
    char name[64];
    uint32_t abi = 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", object->file);
    leat_handler_set_run(object->file);
    if (!set_apart(object->file))
        return leat_graph_wrong(&graph->report, object->place, "E_CC",
                                "no copy of its object for another task: %s", strerror(errno));
    object->loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!object->loaded)
        return leat_graph_wrong(&graph->report, object->place, "E_CC", "%.*s", SHOWN, dlerror());
    find_place(object);
    const void *table = dlsym(object->loaded, object->symbol);
    if (table) memcpy(&abi, table, sizeof abi);
    if (abi != LEAT_POETS_ABI)
        return leat_graph_wrong(&graph->report, object->place, "E_CC",
                                "not an object of this version, expected ABI %d", LEAT_POETS_ABI);
    if (object->type == LEAT_GRAPH_NONE)
        handlers->values = table;
    else if (graph->type[object->type].kind == LEAT_GRAPH_SUPERVISOR)
        handlers->supervisor = table;
    else
        handlers->type[object->type] = table;
    return true;
}

bool leat_handlers_load(struct leat_graph *graph, const struct leat_poets_run_options *options,
                        struct leat_handlers *handlers)
{
    struct leat_poets_run_guard guard;
    bool good = true;
    handlers->guard = options;
    leat_poets_run_guard_begin(&guard, options, NULL);
    for (uint32_t i = 0; good && i < handlers->object_count; i++)
        good = load(graph, &handlers->object[i], handlers);
    leat_poets_run_guard_end(&guard);
    return good;
}

void leat_handlers_close(struct leat_handlers *handlers)
{
    struct leat_poets_run_guard guard;
    if (handlers->guard) leat_poets_run_guard_begin(&guard, handlers->guard, NULL);
    for (uint32_t i = 0; i < handlers->object_count; i++)
        if (handlers->object[i].loaded) dlclose(handlers->object[i].loaded);
    for (uint32_t i = 0; i < handlers->object_count; i++)
        leat_handler_lines_close(&handlers->object[i].lines);
    if (handlers->guard) leat_poets_run_guard_end(&guard);
    /* Only now: of two objects loaded through the same descriptor number, the loader sees one. */
    for (uint32_t i = 0; i < handlers->object_count; i++)
        if (handlers->object[i].file >= 0) close(handlers->object[i].file);
    for (uint32_t i = 0; i < handlers->table_count; i++) {
        free(handlers->table[i].name);
        free(handlers->table[i].value);
    }
    free(handlers->table);
    free(handlers->type);
    free(handlers->object);
    *handlers = (struct leat_handlers){ 0 };
}
