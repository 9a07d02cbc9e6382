#include "clock_owner.h"
#include "leat_fnv.h"
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum {
    OBJECTS_MAX = 1024,
    NEEDS_MAX = 16384,
    REMEMBERED = 256, /* addresses */
};

/* Who needs an object. OURS is the library that contains this code, if it is one. */
enum side { PROGRAM, LIBRARY, OURS, SIDES };

/* A loaded object. Names are kept as hashes, since it may be unloaded at any time. */
struct object {
    uintptr_t low, high;
    uint64_t name;
    dev_t device; /* of its folder */
    ino_t folder;
    uint32_t need, needs; /* in the list of needs */
    bool is_old;          /* loaded before the library started */
    bool is_brought;      /* the library loads it by itself */
    bool of[SIDES];
};

/* Only accessed with the loader's lock. */
static struct {
    struct object object[OBJECTS_MAX], before[OBJECTS_MAX];
    uint32_t objects, objects_before;
    uint64_t need[NEEDS_MAX]; /* names of objects */
    uint32_t needs;
    uint32_t reached[OBJECTS_MAX]; /* a queue, for the search */
    unsigned long long loads;      /* the loader's count when this was read */
    const void *library;
} all;

/* ---- loaded objects -------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    return leat_fnv(LEAT_FNV_EMPTY, text, strlen(text));
}

/* The same folder has several paths: /lib and /usr/lib. */
static void read_folder(const char *path, struct object *out)
{
    char folder[4096];
    struct stat status;
    const char *slash = strrchr(path, '/');
    const size_t len = slash ? (size_t)(slash - path) : sizeof folder;
    if (len >= sizeof folder) return;
    memcpy(folder, path, len);
    folder[len] = '\0';
    if (stat(folder, &status)) return;
    out->device = status.st_dev;
    out->folder = status.st_ino;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* The loader has relocated this address, except in the kernel's own object. */
static const char *strings_of(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        const uintptr_t at = d->d_un.d_ptr, base = info->dlpi_addr;
        if (d->d_tag == DT_STRTAB) return (const char *)(at < base ? base + at : at);
    }
    return NULL;
}

static void read_names(const struct dl_phdr_info *info, struct object *out)
{
    const ElfW(Dyn) *dynamic = dynamic_of(info);
    const char *strings = strings_of(info, dynamic), *slash = strrchr(info->dlpi_name, '/');
    out->name = hash_of(slash ? slash + 1 : info->dlpi_name);
    out->need = all.needs;
    for (const ElfW(Dyn) *d = dynamic; strings && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SONAME) out->name = hash_of(strings + d->d_un.d_val);
        if (d->d_tag == DT_NEEDED && all.needs < NEEDS_MAX)
            all.need[all.needs++] = hash_of(strings + d->d_un.d_val);
    }
    out->needs = all.needs - out->need;
}

static void read_segments(const struct dl_phdr_info *info, struct object *out)
{
    out->low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t low = info->dlpi_addr + header->p_vaddr, high = low + header->p_memsz;
        if (header->p_type != PT_LOAD) continue;
        if (low < out->low) out->low = low;
        if (high > out->high) out->high = high;
    }
}

static int read_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    if (all.objects == OBJECTS_MAX) return 1;
    struct object *o = &all.object[all.objects++];
    *o = (struct object){ 0 };
    read_names(info, o);
    read_segments(info, o);
    read_folder(info->dlpi_name, o);
    for (uint32_t i = 0; i < all.objects_before; i++) {
        const struct object *old = &all.before[i];
        if (old->low != o->low || old->name != o->name) continue;
        o->is_old = old->is_old;
        o->is_brought = old->is_brought;
    }
    return 0;
}

static void read_all(void)
{
    memcpy(all.before, all.object, all.objects * sizeof *all.object);
    all.objects_before = all.objects;
    all.objects = all.needs = 0;
    dl_iterate_phdr(read_object, NULL);
}

static struct object *object_at(const void *address)
{
    const uintptr_t where = (uintptr_t)address;
    for (uint32_t i = 0; i < all.objects; i++)
        if (where >= all.object[i].low && where < all.object[i].high) return &all.object[i];
    return NULL;
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* Marks the dependencies of the first `count` objects of the queue, recursively. The program's
 * dependencies end where the library begins. */
static void mark_needs(uint32_t count, enum side side)
{
    for (uint32_t next = 0; next < count; next++) {
        const struct object *o = &all.object[all.reached[next]];
        for (uint32_t n = 0; n < o->needs; n++)
            for (uint32_t i = 0; i < all.objects; i++) {
                struct object *found = &all.object[i];
                if (found->name != all.need[o->need + n] || found->of[side]) continue;
                if (side == PROGRAM && found->is_brought) continue;
                found->of[side] = true;
                all.reached[count++] = i;
            }
    }
}

static bool is_beside_plugins(const struct object *o)
{
    bool is_beside = false;
    for (uint32_t i = 0; o->folder && i < all.objects; i++) {
        const struct object *other = &all.object[i];
        if (other->folder != o->folder || other->device != o->device) continue;
        if (other->is_old) return false; /* a folder of libraries of all kinds */
        is_beside |= other->is_brought;
    }
    return is_beside;
}

static void mark_library(void)
{
    uint32_t count = 0;
    struct object *library = all.library ? object_at(all.library) : NULL;
    if (library) library->is_brought = true;
    for (uint32_t i = 0; i < all.objects; i++) {
        struct object *o = &all.object[i];
        o->is_brought |= is_beside_plugins(o);
        o->of[LIBRARY] = o->is_brought;
        if (o->is_brought) all.reached[count++] = i;
    }
    mark_needs(count, LIBRARY);
}

static void mark_program(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all.objects; i++) {
        struct object *o = &all.object[i];
        o->of[PROGRAM] = i == 0 || !o->of[LIBRARY]; /* the first is the program */
        if (o->of[PROGRAM]) all.reached[count++] = i;
    }
    mark_needs(count, PROGRAM);
}

/* The kernel's object reads the counter for whoever calls it. */
static void mark_kernel(void)
{
    struct object *o = object_at((const void *)getauxval(AT_SYSINFO_EHDR));
    if (!o) return;
    o->of[LIBRARY] = true;
    o->of[PROGRAM] = false;
}

/* If this code is part of the program itself, nothing is ours. */
static void mark_ours(void)
{
    struct object *ours = object_at(&all);
    if (!ours || ours == all.object) return;
    ours->of[OURS] = true;
    all.reached[0] = (uint32_t)(ours - all.object);
    mark_needs(1, OURS);
}

static void sort_out(void)
{
    mark_library();
    mark_program();
    mark_kernel();
    mark_ours();
}

/* ---- the loader's lock ----------------------------------------------------------------------- */

struct work {
    void (*what)(void *);
    void *argument;
};

/* For the first object, which is enough. */
static int work_locked(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct work *work = context;
    (void)size;
    if (!all.objects || info->dlpi_adds != all.loads) {
        read_all();
        sort_out();
        all.loads = info->dlpi_adds;
    }
    work->what(work->argument);
    return 1;
}

/* While objects are being walked, the loader loads none, and no other thread can walk. */
static void with_loader_locked(void (*what)(void *), void *argument)
{
    struct work work = { what, argument };
    dl_iterate_phdr(work_locked, &work);
}

static void note_start(void *library)
{
    all.library = library;
    for (uint32_t i = 0; i < all.objects; i++)
        all.object[i].is_old = true;
    sort_out();
}

static void note_started(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < all.objects; i++)
        all.object[i].is_brought |= !all.object[i].is_old;
    sort_out();
}

struct question {
    const void *address;
    enum leat_clock_owner owner;
};

static void find_owner(void *argument)
{
    struct question *q = argument;
    const struct object *o = object_at(q->address);
    q->owner = !o || !o->of[LIBRARY] ? LEAT_CLOCK_PROGRAM
               : o->of[PROGRAM]      ? LEAT_CLOCK_SHARED
                                     : LEAT_CLOCK_LIBRARY;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Finding an owner takes long, so results are cached by address, in one word. Objects that are
 * loaded while the library starts may change their owner afterwards. */
static _Atomic uintptr_t remembered[REMEMBERED];

static void forget_all(void)
{
    for (size_t i = 0; i < REMEMBERED; i++)
        atomic_store_explicit(&remembered[i], 0, memory_order_relaxed);
}

void leat_clock_owner_starts(const void *library)
{
    with_loader_locked(note_start, (void *)(uintptr_t)library);
    forget_all();
}

void leat_clock_owner_started(void)
{
    with_loader_locked(note_started, NULL);
    forget_all();
}

enum leat_clock_owner leat_clock_owner_of(const void *address)
{
    const uintptr_t where = (uintptr_t)address;
    _Atomic uintptr_t *place = &remembered[(where >> 2 ^ where >> 12) % REMEMBERED];
    const uintptr_t known = atomic_load_explicit(place, memory_order_relaxed);
    if (known >> 2 == (where & UINTPTR_MAX >> 2)) return (enum leat_clock_owner)(known & 3);
    struct question question = { address, LEAT_CLOCK_PROGRAM };
    with_loader_locked(find_owner, &question);
    atomic_store_explicit(place, where << 2 | (uintptr_t)question.owner, memory_order_relaxed);
    return question.owner;
}

struct search {
    bool (*wanted)(const uint8_t *code, size_t len);
    bool found;
};

/* Our library reads clocks for the program (pvmgetclock does). The C library that it needs is not
 * the program's own code either, and on x86-64 contains many octets that look like rdtsc. */
static bool is_ours(const void *code)
{
    const struct object *o = object_at(code);
    return o && o->of[OURS];
}

static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !search->found; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const void *code = (const void *)(info->dlpi_addr + header->p_vaddr);
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || !(header->p_flags & PF_R))
            continue;
        struct question question = { code, LEAT_CLOCK_SHARED };
        find_owner(&question);
        if (question.owner != LEAT_CLOCK_PROGRAM || is_ours(code)) break;
        search->found = search->wanted(code, header->p_filesz);
    }
    return search->found;
}

static void search_all(void *argument)
{
    dl_iterate_phdr(search_object, argument);
}

bool leat_clock_owner_program_has(bool (*wanted)(const uint8_t *code, size_t len))
{
    struct search search = { wanted, false };
    with_loader_locked(search_all, &search);
    return search.found;
}
