/*
 * What the MPI library has under a name that this object has too, or that it cannot link with: it
 * is loaded into every process that a rank starts, most of which have no MPI library.
 */
#ifndef LEAT_FI_BEHIND_H
#define LEAT_FI_BEHIND_H

/* The next function of this name after ours; without one the process ends. */
void *leat_fi_behind(const char *name);

/* An object of the MPI library, such as that of MPI_COMM_WORLD. A program that is not linked as
 * position-independent code may have a copy of it, and on x86-64 mostly has: then the library uses
 * the copy, too, and its own object stays empty. */
void *leat_fi_object(const char *name);

/* The same of PMIx, which is loaded by a plug-in, for this plug-in only. */
void *leat_fi_behind_pmix(const char *name);

/* Once per function; writes the pointer by way of memory, as POSIX wants it. */
#define LEAT_FI_FIND(next, name) \
    if (!next) *(void **)(void *)&next = leat_fi_behind(name)
#define LEAT_FI_OBJECT(object, name) \
    if (!object) object = leat_fi_object(name)

#endif
