#define _GNU_SOURCE /* renameat2 */
#include "export_otf2.h"
#include <stdio.h>

#ifdef HAVE_OTF2
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PS_PER_SECOND UINT64_C(1000000000000)
enum {
    CHUNK_LEN = 256 * 1024,            /* of a location's events in memory: the minimum */
    DEFINITIONS_LEN = 4 * 1024 * 1024, /* ten octets of it for each location, at least */
    COMMUNICATOR = 0,
    ALL_LOCATIONS = 0, /* groups */
    ALL_RANKS = 1,
};

/* ---- errors --------------------------------------------------------------------------------- */

/* The library's message about its first error. */
static OTF2_ErrorCode on_error(void *context, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct export_otf2 *x = context;
    char text[512] = "";
    (void)file;
    (void)line;
    (void)function;
    if (x->failed) return code;
    x->failed = true;
    if (format) vsnprintf(text, sizeof text, format, arguments);
    complain("%s: %s%s%s", x->name, OTF2_Error_GetDescription(code), *text ? ": " : "", text);
    return code;
}

/* If the library did not report the error. */
static void check(struct export_otf2 *x, OTF2_ErrorCode code)
{
    if (code == OTF2_SUCCESS || x->failed) return;
    x->failed = true;
    complain("%s: %s", x->name, OTF2_Error_GetDescription(code));
}

/* ---- memory: a chunk for each location, written when it is full ------------------------------ */

struct chunk {
    void *memory;
    bool is_used;
};

static void *give_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location, void **own,
                        uint64_t len)
{
    struct chunk *chunk = *own;
    (void)context;
    (void)type;
    (void)location;
    if (!chunk) {
        chunk = calloc(1, sizeof *chunk);
        if (!chunk) return NULL;
        chunk->memory = malloc(len);
        *own = chunk;
    }
    if (chunk->is_used) return NULL;
    chunk->is_used = chunk->memory;
    return chunk->memory;
}

static void take_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location, void **own,
                       bool is_last)
{
    struct chunk *chunk = *own;
    (void)context;
    (void)type;
    (void)location;
    if (!chunk) return;
    chunk->is_used = false;
    if (!is_last) return;
    free(chunk->memory);
    free(chunk);
    *own = NULL;
}

static OTF2_FlushType before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_last)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_last;
    return OTF2_FLUSH;
}

/* ---- the folder ----------------------------------------------------------------------------- */

#define CREATOR "leat " /* and the version: an archive's main file has it */

static bool is_of_archive(const char *name)
{
    return !strcmp(name, "traces") || !strcmp(name, "traces.otf2") || !strcmp(name, "traces.def");
}

static bool is_of_location(const char *name)
{
    return word_ends_with(name, ".evt") || word_ends_with(name, ".def");
}

static bool is_of_nothing(const char *name)
{
    (void)name;
    return false;
}

/* Is this a folder with only such files? */
static bool has_only(const char *path, bool (*may_be_there)(const char *name))
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool only = folder;
    while (folder && (entry = readdir(folder)) != NULL)
        only &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
                may_be_there(entry->d_name);
    if (folder) closedir(folder);
    return only;
}

/* An archive written by leat and nothing else, so it may be replaced. */
static bool is_ours(const char *path)
{
    enum { HEAD_LEN = 4096 };
    char name[EXPORT_OTF2_PATH_CAP], head[HEAD_LEN];
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || !has_only(path, is_of_archive))
        return false;
    if (snprintf(name, sizeof name, "%s/traces", path) >= (int)sizeof name ||
        !has_only(name, is_of_location))
        return false;
    snprintf(name, sizeof name, "%s/traces.otf2", path);
    FILE *file = fopen(name, "rb");
    const size_t len = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    return memmem(head, len, "OTF2", 4) && memmem(head, len, CREATOR, strlen(CREATOR));
}

bool export_otf2_check(const struct verb *verb, const char *path)
{
    struct stat old;
    if (strcmp(path, "-") == 0)
        return misused(verb, "--otf2 '-', expected a folder: an archive is several files");
    if (*path && lstat(path, &old) == 0 && !has_only(path, is_of_nothing) && !is_ours(path))
        return misused(verb,
                       "--otf2 %s: exists, expected a new folder, an empty one, or an archive that "
                       "leat wrote",
                       path);
    return true;
}

static bool make_folder(struct export_otf2 *x, const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    const int target_len = snprintf(x->target, sizeof x->target, "%.*s", (int)len, path);
    const int part_len = snprintf(x->part, sizeof x->part, "%.*s.part.XXXXXX", (int)len, path);
    if (target_len < 0 || part_len < 0 || (size_t)part_len >= sizeof x->part) {
        errno = ENAMETOOLONG;
        x->part[0] = '\0';
        return false;
    }
    if (!mkdtemp(x->part)) {
        x->part[0] = '\0';
        return false;
    }
    const mode_t mask = umask(0);
    umask(mask);
    return chmod(x->part, 0777 & ~mask) == 0;
}

/* The library keeps the file of every location open. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

bool export_otf2_open(struct export_otf2 *x, const char *path, const struct leat_sim_recording *rec)
{
    static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = before_flush };
    static const OTF2_MemoryCallbacks memory = { give_chunk, take_chunk };
    x->name = path;
    x->rec = rec;
    if (!make_folder(x, path)) {
        complain("%s: %s", path, strerror(errno));
        export_otf2_drop(x);
        return false;
    }
    raise_file_limit();
    OTF2_Error_RegisterCallback(on_error, x);
    OTF2_Archive *archive = OTF2_Archive_Open(x->part, "traces", OTF2_FILEMODE_WRITE, CHUNK_LEN,
                                              DEFINITIONS_LEN, OTF2_SUBSTRATE_POSIX,
                                              OTF2_COMPRESSION_NONE);
    x->archive = archive;
    if (archive) {
        check(x, OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
        check(x, OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL));
        check(x, OTF2_Archive_SetSerialCollectiveCallbacks(archive));
        check(x, OTF2_Archive_SetCreator(archive, CREATOR LEAT_VERSION));
        check(x, OTF2_Archive_OpenEvtFiles(archive));
    }
    if (archive && !x->failed) return true;
    export_otf2_drop(x);
    return false;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Of a lane, or of the group of a signal; NULL: it has failed. */
static OTF2_EvtWriter *writer_of(struct export_otf2 *x, uint32_t track)
{
    struct export_otf2_track *t = &x->track[track];
    if (t->writer || x->failed) return t->writer;
    t->writer = OTF2_Archive_GetEvtWriter(x->archive, track);
    if (!t->writer) check(x, OTF2_ERROR_INVALID);
    return t->writer;
}

static OTF2_EvtWriter *writer_of_lane(struct export_otf2 *x, uint32_t lane)
{
    struct export_otf2_track *t = &x->track[lane];
    if (!t->writer && !x->failed) {
        t->number = x->ranks;
        x->rank_track[x->ranks++] = lane;
    }
    return writer_of(x, lane);
}

static uint32_t rank_of(struct export_otf2 *x, uint32_t lane)
{
    if (!lane) return OTF2_UNDEFINED_UINT32;
    writer_of_lane(x, lane);
    return x->track[lane].number;
}

static OTF2_RegionRef region_of(struct export_otf2 *x, uint32_t name)
{
    uint32_t *region = &x->named[name].region;
    if (!*region) {
        x->region_name[x->regions++] = name;
        *region = x->regions;
    }
    return *region - 1;
}

/* Neither operations nor packets of the network are messages. */
static void on_flow(struct export_otf2 *x, const struct leat_sim_event *e)
{
    if (leat_sim_is_packet(&e->flow)) return;
    OTF2_EvtWriter *writer = writer_of_lane(x, e->track);
    const uint32_t peer = rank_of(x, e->flow.peer), tag = e->flow.tag;
    if (x->failed || e->step == LEAT_SIM_PASSES || leat_sim_is_operation(&e->flow)) return;
    check(x,
          e->step == LEAT_SIM_LEAVES
              ? OTF2_EvtWriter_MpiSend(writer, NULL, e->at, peer, COMMUNICATOR, tag, e->flow.len)
              : OTF2_EvtWriter_MpiRecv(writer, NULL, e->at, peer, COMMUNICATOR, tag, e->flow.len));
}

static void on_value(struct export_otf2 *x, const struct leat_sim_event *e)
{
    const OTF2_Type type = OTF2_TYPE_UINT64;
    const OTF2_MetricValue value = { .unsigned_int = e->value };
    OTF2_EvtWriter *writer = writer_of(x, x->rec->tracks[e->track].parent);
    const OTF2_MetricRef metric = x->track[e->track].number;
    if (!x->failed) check(x, OTF2_EvtWriter_Metric(writer, NULL, e->at, metric, 1, &type, &value));
}

static void enter(struct export_otf2 *x, uint32_t lane, uint32_t name, leat_time at)
{
    OTF2_EvtWriter *writer = writer_of_lane(x, lane);
    if (!x->failed) check(x, OTF2_EvtWriter_Enter(writer, NULL, at, region_of(x, name)));
}

static void leave(struct export_otf2 *x, uint32_t lane, uint32_t name, leat_time at)
{
    OTF2_EvtWriter *writer = writer_of_lane(x, lane);
    if (!x->failed) check(x, OTF2_EvtWriter_Leave(writer, NULL, at, region_of(x, name)));
}

static void leave_all(struct export_otf2 *x, leat_time at)
{
    for (uint32_t track = 1; track <= x->rec->track_count; track++) {
        const struct leat_sim_track *t = &x->rec->tracks[track];
        for (unsigned depth = t->depth; depth--;)
            leave(x, track, t->open[depth], at);
    }
}

void export_otf2_event(struct export_otf2 *x, const struct leat_sim_event *e)
{
    switch (e->kind) {
    case LEAT_SIM_BEGIN: enter(x, e->track, e->name, e->at); break;
    case LEAT_SIM_END: leave(x, e->track, e->name, e->at); break;
    case LEAT_SIM_INSTANT:
        enter(x, e->track, e->name, e->at);
        leave(x, e->track, e->name, e->at);
        break;
    case LEAT_SIM_SIGNAL: x->track[e->track].number = x->metrics++; break;
    case LEAT_SIM_VALUE: on_value(x, e); break;
    case LEAT_SIM_FLOW: on_flow(x, e); break;
    case LEAT_SIM_PLACE:
        if (!x->track[e->track].place) x->track[e->track].place = e->name;
        break;
    case LEAT_SIM_CLOSE: leave_all(x, e->at); break;
    case LEAT_SIM_CLOCK:
    case LEAT_SIM_GROUP:
    case LEAT_SIM_LANE:
    case LEAT_SIM_NAME:
    case LEAT_SIM_TIME:
    case LEAT_SIM_FRAME: break;
    }
}

/* ---- definitions ---------------------------------------------------------------------------- */

static OTF2_StringRef put_string(struct export_otf2 *x, OTF2_GlobalDefWriter *to, const char *text)
{
    check(x, OTF2_GlobalDefWriter_WriteString(to, x->strings, text));
    return x->strings++;
}

static void copy_name(const struct export_otf2 *x, uint32_t name,
                      char text[LEAT_SIM_PATH_LEN_MAX + 1])
{
    size_t len;
    const char *from = leat_sim_recording_name(x->rec, name, &len);
    memcpy(text, from, len);
    text[len] = '\0';
}

static void copy_own_name(const struct export_otf2 *x, uint32_t track,
                          char text[LEAT_SIM_PATH_LEN_MAX + 1])
{
    const struct leat_sim_track *t = &x->rec->tracks[track];
    memcpy(text, x->rec->strings + t->string_at, t->string_len);
    text[t->string_len] = '\0';
}

static void put_regions(struct export_otf2 *x, OTF2_GlobalDefWriter *to, OTF2_StringRef none)
{
    for (uint32_t region = 0; region < x->regions; region++) {
        char text[LEAT_SIM_PATH_LEN_MAX + 1];
        copy_name(x, x->region_name[region], text);
        const OTF2_StringRef string = put_string(x, to, text);
        const OTF2_Paradigm paradigm = strncmp(text, "MPI_", 4) ? OTF2_PARADIGM_USER
                                                                : OTF2_PARADIGM_MPI;
        check(x, OTF2_GlobalDefWriter_WriteRegion(to, region, string, string, none,
                                                  OTF2_REGION_ROLE_FUNCTION, paradigm,
                                                  OTF2_REGION_FLAG_NONE, none, 0, 0));
    }
}

static uint32_t put_node(struct export_otf2 *x, OTF2_GlobalDefWriter *to, const char *name,
                         OTF2_StringRef class, uint32_t parent)
{
    const OTF2_StringRef string = put_string(x, to, name);
    check(x, OTF2_GlobalDefWriter_WriteSystemTreeNode(to, x->nodes, string, class, parent));
    return x->nodes++;
}

/* The root, the groups, each below its parent, and the places below the root. */
static void put_tree(struct export_otf2 *x, OTF2_GlobalDefWriter *to)
{
    const OTF2_StringRef group = put_string(x, to, "group"), place = put_string(x, to, "place");
    const uint32_t root = put_node(x, to, "leat", put_string(x, to, "machine"),
                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    char text[LEAT_SIM_PATH_LEN_MAX + 1];
    x->track[0].number = root;
    for (uint32_t track = 1; track <= x->rec->track_count; track++) {
        const struct leat_sim_track *t = &x->rec->tracks[track];
        struct export_otf2_name *where = &x->named[x->track[track].place];
        if (t->kind == LEAT_SIM_GROUP) {
            copy_own_name(x, track, text);
            x->track[track].number = put_node(x, to, text, group, x->track[t->parent].number);
        } else if (x->track[track].place && x->track[track].writer && !where->node) {
            copy_name(x, x->track[track].place, text);
            where->node = put_node(x, to, text, place, root) + 1;
        }
    }
}

/* A lane, or the signals of a group; in a group of locations of its own. */
static void put_location(struct export_otf2 *x, OTF2_GlobalDefWriter *to, uint32_t track)
{
    const struct leat_sim_track *t = &x->rec->tracks[track];
    const bool is_lane = track && t->kind == LEAT_SIM_LANE;
    const uint32_t place = x->track[track].place;
    const uint32_t node = place ? x->named[place].node - 1
                                : x->track[is_lane ? t->parent : track].number;
    char text[LEAT_SIM_PATH_LEN_MAX + 1] = "counters";
    uint64_t events = 0;
    if (is_lane) copy_own_name(x, track, text);
    const OTF2_StringRef name = put_string(x, to, text);
    check(x, OTF2_EvtWriter_GetNumberOfEvents(x->track[track].writer, &events));
    check(x, OTF2_GlobalDefWriter_WriteLocationGroup(to, x->groups, name,
                                                     OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
    check(x, OTF2_GlobalDefWriter_WriteLocation(to, track, name,
                                                is_lane ? OTF2_LOCATION_TYPE_CPU_THREAD
                                                        : OTF2_LOCATION_TYPE_METRIC,
                                                events, x->groups++));
}

static void put_communicator(struct export_otf2 *x, OTF2_GlobalDefWriter *to, OTF2_StringRef none)
{
    static uint64_t rank[LEAT_SIM_TRACKS_MAX];
    const OTF2_StringRef name = put_string(x, to, "all lanes");
    for (uint32_t i = 0; i < x->ranks; i++)
        rank[i] = i;
    check(x, OTF2_GlobalDefWriter_WriteParadigm(to, OTF2_PARADIGM_MPI, put_string(x, to, "MPI"),
                                                OTF2_PARADIGM_CLASS_PROCESS));
    check(x, OTF2_GlobalDefWriter_WriteGroup(to, ALL_LOCATIONS, none,
                                             OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                             OTF2_GROUP_FLAG_NONE, x->ranks, x->rank_track));
    check(x,
          OTF2_GlobalDefWriter_WriteGroup(to, ALL_RANKS, none, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, x->ranks, rank));
    check(x, OTF2_GlobalDefWriter_WriteComm(to, COMMUNICATOR, name, ALL_RANKS, OTF2_UNDEFINED_COMM,
                                            OTF2_COMM_FLAG_NONE));
}

static void put_metrics(struct export_otf2 *x, OTF2_GlobalDefWriter *to, OTF2_StringRef none)
{
    const OTF2_StringRef unit = put_string(x, to, "#");
    for (uint32_t track = 1; track <= x->rec->track_count; track++) {
        char path[LEAT_SIM_PATH_LEN_MAX + 1];
        const OTF2_MetricMemberRef member = x->track[track].number;
        if (x->rec->tracks[track].kind != LEAT_SIM_SIGNAL) continue;
        leat_sim_recording_path(x->rec, track, path);
        check(x, OTF2_GlobalDefWriter_WriteMetricMember(
                     to, member, put_string(x, to, path), none, OTF2_METRIC_TYPE_USER,
                     OTF2_METRIC_ABSOLUTE_LAST, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
        check(x, OTF2_GlobalDefWriter_WriteMetricClass(to, member, 1, &member,
                                                       OTF2_METRIC_ASYNCHRONOUS,
                                                       OTF2_RECORDER_KIND_ABSTRACT));
    }
}

static void put_definitions(struct export_otf2 *x)
{
    OTF2_GlobalDefWriter *to = OTF2_Archive_GetGlobalDefWriter(x->archive);
    if (!to) {
        check(x, OTF2_ERROR_INVALID);
        return;
    }
    check(x, OTF2_GlobalDefWriter_WriteClockProperties(to, PS_PER_SECOND, 0, x->rec->now,
                                                       OTF2_UNDEFINED_TIMESTAMP));
    const OTF2_StringRef none = put_string(x, to, "");
    put_regions(x, to, none);
    put_tree(x, to);
    for (uint32_t track = 0; track <= x->rec->track_count; track++)
        if (x->track[track].writer) put_location(x, to, track);
    put_communicator(x, to, none);
    put_metrics(x, to, none);
}

/* Readers expect a file of definitions for each location, even an empty one. */
static void put_no_definitions(struct export_otf2 *x)
{
    check(x, OTF2_Archive_OpenDefFiles(x->archive));
    for (uint32_t track = 0; track <= x->rec->track_count && !x->failed; track++) {
        if (!x->track[track].writer) continue;
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(x->archive, track);
        check(x, writer ? OTF2_Archive_CloseDefWriter(x->archive, writer) : OTF2_ERROR_INVALID);
    }
    check(x, OTF2_Archive_CloseDefFiles(x->archive));
}

/* ---- the end -------------------------------------------------------------------------------- */

bool export_otf2_finish(struct export_otf2 *x)
{
    if (!x->failed && !x->ranks) {
        complain(
            "%s: the recording has no lane with spans or messages, which an archive would show",
            x->name);
        x->failed = true;
    }
    if (!x->failed) put_definitions(x);
    for (uint32_t track = 0; track <= x->rec->track_count && !x->failed; track++)
        if (x->track[track].writer)
            check(x, OTF2_Archive_CloseEvtWriter(x->archive, x->track[track].writer));
    if (!x->failed) check(x, OTF2_Archive_CloseEvtFiles(x->archive));
    if (!x->failed) put_no_definitions(x);
    check(x, OTF2_Archive_Close(x->archive));
    x->archive = NULL;
    return !x->failed;
}

/* Exchanges two folders: atomically or, if the file system has no such call, in three steps, each
 * of which is undone if the next one fails. */
static bool swap_folders(const char *a, const char *b)
{
    char aside[EXPORT_OTF2_PATH_CAP + 4];
    if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    snprintf(aside, sizeof aside, "%s.old", a);
    if (rename(b, aside) != 0) return false;
    if (rename(a, b) != 0) {
        (void)!rename(aside, b);
        return false;
    }
    return rename(aside, a) == 0;
}

/* Afterwards the part holds the old content, and is removed with it. Only an archive of ours,
 * checked again: somebody may have put something else there since. */
static bool replace(const struct export_otf2 *x)
{
    return is_ours(x->target) && swap_folders(x->part, x->target);
}

bool export_otf2_keep(struct export_otf2 *x)
{
    if (rename(x->part, x->target) == 0) {
        x->part[0] = '\0';
        return true;
    }
    const int why = errno;
    if (replace(x)) return true;
    return complain("%s: %s", x->name, strerror(why));
}

static int take_away(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

void export_otf2_drop(struct export_otf2 *x)
{
    enum { FOLDERS_OPEN = 8 };
    if (!x->name) return;
    x->failed = true; /* already reported */
    if (x->archive) OTF2_Archive_Close(x->archive);
    x->archive = NULL;
    if (x->part[0]) nftw(x->part, take_away, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    x->part[0] = '\0';
    x->name = NULL;
}

#else

bool export_otf2_check(const struct verb *verb, const char *path)
{
    (void)verb;
    (void)path;
    return complain("--otf2: this leat was built without libotf2-trace-dev");
}

bool export_otf2_open(struct export_otf2 *x, const char *path, const struct leat_sim_recording *rec)
{
    (void)x;
    (void)path;
    (void)rec;
    return false;
}

void export_otf2_event(struct export_otf2 *x, const struct leat_sim_event *e)
{
    (void)x;
    (void)e;
}

bool export_otf2_finish(struct export_otf2 *x)
{
    (void)x;
    return false;
}

bool export_otf2_keep(struct export_otf2 *x)
{
    (void)x;
    return false;
}

void export_otf2_drop(struct export_otf2 *x)
{
    (void)x;
}

#endif
