#include "fi_behind.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* A library that was loaded for one object only (by a language that loads MPI at run time) is not
 * in the search order: it is then found by its name. */
static void *find(void *from, const char *name)
{
    void *found = dlsym(from, name);
    if (found) return found;
    void *library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    found = library ? dlsym(library, name) : NULL;
    if (found) return found;
    fprintf(stderr, "leat: the MPI library has no %s\n", name);
    abort();
}

void *leat_fi_behind(const char *name)
{
    return find(RTLD_NEXT, name);
}

void *leat_fi_object(const char *name)
{
    return find(RTLD_DEFAULT, name);
}

void *leat_fi_behind_pmix(const char *name)
{
    void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : leat_fi_behind(name);
}
