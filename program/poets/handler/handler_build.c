/* Compiles sources and caches the objects by content. */
#include "graph_parts.h"
#include "handler.h"
#include "handler_cache.h"
#include "handler_compiler.h"
#include "handler_seal.h"
#include "leat_fnv.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_LEN = 4096, NAME_LEN = 40, WORDS_MAX = 64, ERRORS_MAX = 20, SHOWN = 300 };

static const char standard_flags[] =
    "-O2 -fPIC -shared -pthread -ffp-contract=off -fvisibility=hidden "
    "-Wl,-Bsymbolic -Wl,-z,defs -w -fdiagnostics-color=never "
    "-g1 -gdwarf-4"; /* lines, for reports of crashes */
/* g++ would never unload an object with unique symbols; clang++ has none. An endless handler is
 * reported as such; clang++ would remove its loop and run into the code behind it. */
static const char gcc_flags[] = "-fno-diagnostics-show-caret -fno-gnu-unique",
                  clang_flags[] = "-fno-caret-diagnostics -fno-finite-loops";

/* An object being compiled. */
struct job {
    struct leat_handler_object *object;
    char *source;
    size_t source_len;
    char cpp[NAME_LEN], so[NAME_LEN], err[NAME_LEN], list[NAME_LEN]; /* names of its files */
    struct timespec began; /* on the clock of file times */
    pid_t child;
    bool again; /* with a newer C++ */
};

struct build {
    struct leat_graph *graph;
    const struct leat_handler_options *options;
    struct leat_handler_cache cache;
    struct leat_handler_own own;
    char folder[PATH_LEN]; /* own.folder */
    char version[200];
    struct job *job;
    uint32_t count;
};

/* ---- values that a compiler evaluates -------------------------------------------------------- */

static struct leat_handler_table *table_for(struct leat_handlers *h,
                                            const struct leat_graph_struct *data, const char *name,
                                            struct leat_graph_place place)
{
    for (uint32_t i = h->table_count; i-- > 0;)
        if (h->table[i].data == data && h->table[i].count < LEAT_HANDLER_VALUES_MAX)
            return &h->table[i];
    struct leat_handler_table *grown = realloc(h->table, (h->table_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    h->table = grown;
    grown[h->table_count] =
        (struct leat_handler_table){ .data = data, .name = strdup(name), .place = place };
    return grown[h->table_count].name ? &grown[h->table_count++] : NULL;
}

static bool has_value(const struct leat_handler_table *t, uint32_t value)
{
    for (uint32_t i = t->count; i-- > 0;)
        if (t->value[i] == value) return true;
    return false;
}

static bool add_value(struct leat_handlers *h, const struct leat_graph_struct *data,
                      const char *name, uint32_t value, struct leat_graph_place place)
{
    for (uint32_t i = 0; value && i < h->table_count; i++)
        if (h->table[i].data == data && has_value(&h->table[i], value)) return true;
    struct leat_handler_table *t = table_for(h, data, name, place);
    if (!t || !value) return t;
    if (!leat_graph_grow((void **)&t->value, t->count, &t->cap, sizeof *t->value, UINT32_MAX))
        return false;
    if (!t->count) t->place = place;
    t->value[t->count++] = value;
    return true;
}

struct collecting {
    struct leat_graph *graph;
    struct leat_handlers *handlers;
    uint8_t *scratch;
};

/* Only values that the loader cannot make. A struct of unknown layout always needs a table. */
static bool collect(struct collecting *c, const struct leat_graph_struct *data, uint32_t value,
                    struct leat_graph_place place, const char *part, const char *pin,
                    const char *suffix)
{
    char name[400];
    bool compiled = !data->plain;
    if (data->plain && !value) return true;
    if (data->plain) {
        uint8_t *octets = realloc(c->scratch, data->layout.size);
        if (!octets) return false;
        c->scratch = octets;
        leat_graph_value(c->graph, data, value, place, octets, &compiled);
    }
    if (!compiled) return true;
    snprintf(name, sizeof name, "%s%s%s%s%s%s", c->graph->id, *part ? "_" : "", part,
             *pin ? "_" : "", pin, suffix);
    return add_value(c->handlers, data, name, value, place);
}

static bool collect_instance(struct collecting *c, const struct leat_graph_instance *i)
{
    const struct leat_graph *g = c->graph;
    bool good = collect(c, &g->properties, i->properties, i->place, "", "", "_properties_t");
    for (uint32_t d = 0; good && d < i->device_count; d++) {
        const struct leat_graph_device *device = &i->device[d];
        const struct leat_graph_type *t = &g->type[device->type];
        good = collect(c, &t->properties, device->properties, device->place, t->id, "",
                       "_properties_t") &&
               collect(c, &t->state, device->state, device->place, t->id, "", "_state_t");
    }
    for (uint32_t e = 0; good && e < i->edge_count; e++) {
        const struct leat_graph_edge *edge = &i->edge[e];
        const struct leat_graph_type *t = &g->type[i->device[edge->to].type];
        const struct leat_graph_pin *pin = &t->input.pin[edge->to_pin];
        good = collect(c, &pin->properties, edge->properties, edge->place, t->id, pin->name,
                       "_properties_t") &&
               collect(c, &pin->state, edge->state, edge->place, t->id, pin->name, "_state_t");
    }
    return good;
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char *compiler_of(const struct build *b)
{
    return b->options->compiler ? b->options->compiler : "c++";
}

static bool is_interrupted(const struct build *b)
{
    return b->options->interrupted && *b->options->interrupted;
}

/* The compiler's version is part of an object's identity. What ends leat may end the compiler,
 * too. */
static bool query_version(struct build *b)
{
    if (leat_poets_compiler_version(compiler_of(b), b->version, sizeof b->version)) return true;
    if (is_interrupted(b)) return false;
    return leat_graph_wrong(&b->graph->report, (struct leat_graph_place){ 0 }, "E_CC",
                            "%s does not run, %s", compiler_of(b),
                            *b->version ? b->version : "--version says nothing");
}

/* What the compiler's list of files does not contain: files that were searched for and not found,
 * and those that the assembler reads. */
static bool is_listed(const char *source)
{
    return !strstr(source, "__has_include") && !strstr(source, "incbin");
}

/* The folder whose headers the application may include with "...". */
static void find_own(struct build *b)
{
    const char *file = b->graph->file, *slash = strrchr(file, '/');
    struct stat s;
    snprintf(b->folder, sizeof b->folder, "%.*s", slash ? (int)(slash - file) + 1 : 1,
             slash ? file : ".");
    b->own = (struct leat_handler_own){ .folder = b->folder,
                                        .owner = stat(file, &s) == 0 ? s.st_uid : geteuid() };
}

static void name_object(struct build *b, struct job *job)
{
    const char *flags = b->options->flags ? b->options->flags : "";
    uint64_t half[2];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t hash = leat_fnv(LEAT_FNV_EMPTY, &i, sizeof i);
        hash = leat_fnv(hash, b->version, strlen(b->version) + 1);
        hash = leat_fnv(hash, compiler_of(b), strlen(compiler_of(b)) + 1);
        hash = leat_fnv(hash, standard_flags, sizeof standard_flags);
        hash = leat_fnv(hash, gcc_flags, sizeof gcc_flags);
        hash = leat_fnv(hash, clang_flags, sizeof clang_flags);
        hash = leat_fnv(hash, flags, strlen(flags) + 1);
        hash = leat_fnv(hash, &b->options->single_precision, sizeof(bool));
        half[i] = leat_fnv(hash, job->source, job->source_len);
    }
    const unsigned long long a = half[0], z = half[1];
    snprintf(job->cpp, sizeof job->cpp, "%016llx%016llx.cpp", a, z);
    snprintf(job->so, sizeof job->so, "%016llx%016llx.so", a, z);
    snprintf(job->err, sizeof job->err, "%016llx%016llx.err", a, z);
    snprintf(job->list, sizeof job->list, "%016llx%016llx.d", a, z);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static bool open_cache(struct build *b)
{
    return leat_handler_cache_open(&b->cache) ||
           leat_graph_wrong(&b->graph->report, (struct leat_graph_place){ 0 }, "E_CC", "%s",
                            b->cache.why);
}

static bool is_source_of(const struct build *b, const struct job *job)
{
    const int fd = leat_handler_cache_find(&b->cache, job->cpp);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    bool same = in;
    for (size_t i = 0; same && i < job->source_len; i++)
        same = fgetc(in) == (unsigned char)job->source[i];
    same = same && fgetc(in) == EOF;
    if (in) fclose(in);
    return same;
}

/* Code in headers that another user can change would run with this user's rights. */
static bool is_ours(struct build *b, const struct job *job, const struct leat_handler_seal *seal)
{
    struct stat s = { 0 };
    const char *foreign = leat_handler_seal_foreign(seal, &b->own);
    if (!foreign) return true;
    if (stat(foreign, &s) == 0 && s.st_mode & S_IWOTH)
        return leat_graph_wrong(&b->graph->report, job->object->place, "E_CC",
                                "%.*s: others may write it, and its code runs with your rights: "
                                "look at it, then chmod o-w",
                                SHOWN, foreign);
    return leat_graph_wrong(&b->graph->report, job->object->place, "E_CC",
                            "%.*s belongs to user %u, and its code runs with your rights: expected "
                            "a header of yours, of root, or of the owner of the graph's file",
                            SHOWN, foreign, (unsigned)s.st_uid);
}

/* Is the object cached, for exactly this source and unchanged headers? */
static bool is_kept(struct build *b, const struct job *job)
{
    const int file = is_source_of(b, job) ? leat_handler_cache_find(&b->cache, job->so) : -1;
    if (file < 0) return false;
    struct leat_handler_seal seal = leat_handler_seal_read(file);
    const bool kept = leat_handler_seal_holds(&seal);
    if (kept && is_ours(b, job, &seal))
        job->object->file = file;
    else
        close(file);
    free(seal.octets);
    return kept;
}

/* The object is renamed last: a cached object is complete. */
static bool keep(struct build *b, const struct job *job)
{
    char made[64];
    snprintf(made, sizeof made, "/proc/self/fd/%d/", b->cache.build);
    const int source = leat_handler_seal_put(b->cache.build, job->so, job->list, made, job->began,
                                             is_listed(job->source))
                           ? leat_handler_cache_keep(&b->cache, job->cpp)
                           : -1;
    if (source < 0) return false;
    close(source);
    job->object->file = leat_handler_cache_keep(&b->cache, job->so);
    if (job->object->file < 0) return false;
    struct leat_handler_seal seal = leat_handler_seal_read(job->object->file);
    is_ours(b, job, &seal);
    free(seal.octets);
    return true;
}

/* ---- compiling ------------------------------------------------------------------------------ */

/* A new file in the folder of the build. */
static FILE *create(const struct build *b, const char *name)
{
    const int fd = openat(b->cache.build, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");
    if (fd >= 0 && !out) close(fd);
    return out;
}

/* For #include "tinsel.h" there is an empty file: its content is built in. */
static bool make_folder(struct build *b)
{
    if (b->cache.build >= 0) return true;
    FILE *shim = leat_handler_cache_build(&b->cache) ? create(b, "tinsel.h") : NULL;
    return shim && fclose(shim) == 0;
}

static bool write_source(const struct build *b, const struct job *job)
{
    FILE *out = create(b, job->cpp);
    if (!out) return false;
    const bool written = fwrite(job->source, 1, job->source_len, out) == job->source_len;
    return fclose(out) == 0 && written;
}

/* Words separated by blanks; the text is modified. */
static uint32_t split(char *text, char **word, uint32_t count)
{
    for (char *at = strtok(text, " "); at && count < WORDS_MAX - 1; at = strtok(NULL, " "))
        word[count++] = at;
    return count;
}

static bool spawn(const struct build *b, struct job *job, char *const *word)
{
    const int errors = openat(b->cache.build, job->err,
                              O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (errors < 0) return false;
    const struct leat_poets_compiler_start start = { word, b->cache.build, errors };
    const pid_t child = leat_poets_compiler_begin(&start);
    job->child = child > 0 ? child : 0;
    close(errors);
    return child > 0;
}

static bool start_compiler(struct build *b, struct job *job)
{
    char folder[64], source[128], object[128], list[128], shim[80];
    char standard[sizeof standard_flags + sizeof gcc_flags + sizeof clang_flags],
        *more = strdup(b->options->flags ? b->options->flags : "");
    char *word[WORDS_MAX] = { (char *)compiler_of(b) };
    if (!more) return false;
    snprintf(folder, sizeof folder, "/proc/self/fd/%d", b->cache.build);
    snprintf(source, sizeof source, "%s/%s", folder, job->cpp);
    snprintf(object, sizeof object, "%s/%s", folder, job->so);
    snprintf(shim, sizeof shim, "-I%s", folder);
    snprintf(list, sizeof list, "%s/%s", folder, job->list);
    snprintf(standard, sizeof standard, "%s %s", standard_flags,
             strstr(b->version, "clang") ? clang_flags : gcc_flags);
    uint32_t count = split(standard, word, 1);
    if (b->options->single_precision) word[count++] = (char *)"-fsingle-precision-constant";
    word[count++] = (char *)(job->again ? "-std=gnu++17" : "-std=gnu++14");
    word[count++] = (char *)"-iquote"; /* not -I: a file there must not replace <cstdint> */
    word[count++] = (char *)b->own.folder;
    word[count++] = shim;
    word[count++] = (char *)"-MD";
    word[count++] = (char *)"-MF";
    word[count++] = list;
    word[count++] = (char *)"-MT";
    word[count++] = (char *)"object";
    word[count++] = source;
    word[count++] = (char *)"-o";
    word[count++] = object;
    split(more, word, count);
    job->began = leat_handler_file_time();
    const bool started = spawn(b, job, word);
    free(more);
    return started;
}

/* A line of the compiler, "FILE:LINE:COLUMN: error: TEXT": which file is it? */
static bool place_of(const struct build *b, const char *line, struct leat_graph_place *place)
{
    for (uint16_t i = 0; i < b->graph->report.file_count; i++) {
        const char *file = b->graph->report.file[i];
        const size_t len = strlen(file);
        unsigned row = 0, column = 0;
        if (strncmp(line, file, len) != 0 || sscanf(line + len, ":%u:%u:", &row, &column) != 2)
            continue;
        *place = (struct leat_graph_place){ .line = row,
                                            .column = (uint16_t)(column < UINT16_MAX ? column : 0),
                                            .file = i };
        return true;
    }
    return false;
}

/* The error text in a line of the compiler or the linker; NULL: none. */
static char *error_in(char *line, const char **code)
{
    static const char compiler[] = " error: ", linker[] = "undefined ",
                      limit[] = LEAT_HANDLER_LIMIT ": ";
    char *error = strstr(line, compiler);
    *code = "E_CC";
    if (strstr(line, "ld returned") || strstr(line, "linker command failed")) return NULL;
    if (!error) return strstr(line, linker); /* the reason of a linker error is in earlier lines */
    char *ours = strstr(error, limit);       /* handler_structs.c; clang puts it into quotes */
    if (!ours) return error + strlen(compiler);
    *code = LEAT_HANDLER_LIMIT;
    ours += strlen(limit);
    ours[strcspn(ours, "\"")] = '\0';
    return ours;
}

/* An error of the file at this line, or the same one of another object: it is known already. */
static bool is_known(const struct build *b, struct leat_graph_place place, const char *text)
{
    const struct leat_graph_report *r = &b->graph->report;
    for (uint32_t i = 0; i < r->kept; i++) {
        const struct leat_graph_mistake *m = &r->mistake[i];
        if (m->warning || m->place.file != place.file || m->place.line != place.line) continue;
        if (strcmp(m->code, "E_CC") != 0) return true;
        if (m->place.column == place.column && strncmp(m->text, text, SHOWN) == 0) return true;
    }
    return false;
}

/* One error; those that are known already count, but are not repeated. */
static void report_error(struct build *b, struct leat_graph_place place, const char *code,
                         const char *error)
{
    if (!is_known(b, place, error))
        leat_graph_wrong(&b->graph->report, place, code, "%.*s", SHOWN, error);
}

/* Errors in our own text follow from errors in the application's; but one in a macro of ours, such
 * as RTS, belongs to the line that uses it, which a note of the compiler tells. */
static void report_errors(struct build *b, const struct job *job)
{
    char line[2048], first[SHOWN] = "the compiler failed", in_macro[SHOWN] = "";
    const int fd = openat(b->cache.build, job->err, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    int reported = 0;
    for (bool begun = false, found = false;
         in && reported < ERRORS_MAX && fgets(line, sizeof line, in); begun = true) {
        const char *code;
        struct leat_graph_place place;
        line[strcspn(line, "\n")] = '\0';
        const bool placed = place_of(b, line, &place);
        const char *error = error_in(line, &code);
        if (!begun || (error && !found))
            snprintf(first, sizeof first, "%.*s", SHOWN - 1, error ? error : line);
        found = found || error;
        if (error && !placed) snprintf(in_macro, sizeof in_macro, "%.*s", SHOWN - 1, error);
        if (!placed) continue;
        if (error)
            report_error(b, place, code, error);
        else if (*in_macro && strstr(line, " in expansion of macro "))
            report_error(b, place, "E_CC", in_macro);
        else
            continue;
        *in_macro = '\0';
        reported++;
    }
    if (in) fclose(in);
    if (!reported) leat_graph_wrong(&b->graph->report, job->object->place, "E_CC", "%s", first);
}

static bool begin_job(struct build *b, struct job *job)
{
    if (make_folder(b) && write_source(b, job) && start_compiler(b, job)) return true;
    return leat_graph_wrong(&b->graph->report, job->object->place, "E_CC",
                            "%s: cannot be started: %s", compiler_of(b), strerror(errno));
}

/* Waits for it; true: the object was made. */
static bool end_job(struct build *b, struct job *job)
{
    const bool good = leat_poets_compiler_end(job->child, b->options->interrupted);
    if (!good && is_interrupted(b)) return false;
    if (!good && !job->again && b->graph->dialect != LEAT_GRAPH_ORCH) {
        job->again = true; /* graph_schema was compiled with the newest standard */
        if (start_compiler(b, job)) return end_job(b, job);
    }
    if (!good) {
        report_errors(b, job);
        return false;
    }
    return keep(b, job) ||
           leat_graph_wrong(&b->graph->report, job->object->place, "E_CC",
                            "a compiled handler cannot be kept: %s", strerror(errno));
}

/* As many at a time as there are processors. */
static void run_jobs(struct build *b, struct leat_handlers *out)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t at_once = processors > 1 ? (uint32_t)processors : 1;
    uint32_t ended = 0, begun = 0;
    for (; begun < b->count && !is_interrupted(b); begun++) {
        struct job *job = &b->job[begun];
        if (is_kept(b, job)) {
            out->reused++;
        } else if (begin_job(b, job)) {
            out->compiled++;
        }
        for (; begun - ended + 1 >= at_once && ended <= begun; ended++)
            if (b->job[ended].child) end_job(b, &b->job[ended]);
    }
    for (; ended < b->count; ended++)
        if (b->job[ended].child) end_job(b, &b->job[ended]);
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static bool add_job(struct build *b, uint32_t type, struct leat_handlers *handlers)
{
    struct job *job = &b->job[b->count];
    const struct leat_graph_type *t = type == LEAT_GRAPH_NONE ? NULL : &b->graph->type[type];
    const bool supervisor = t && t->kind == LEAT_GRAPH_SUPERVISOR;
    job->object = &handlers->object[b->count];
    *job->object = (struct leat_handler_object){ .type = type,
                                                 .symbol = supervisor ? "leat_supervisor"
                                                           : t        ? "leat_type"
                                                                      : "leat_values",
                                                 .place = t ? t->place : b->graph->place,
                                                 .file = -1 };
    handlers->object_count++;
    FILE *out = open_memstream(&job->source, &job->source_len);
    if (!out) return false;
    const bool made = supervisor ? leat_handler_supervisor_source(b->graph, type, out)
                      : t        ? leat_handler_type_source(b->graph, type, out)
                                 : leat_handler_values_source(b->graph, handlers, out);
    if (fclose(out) != 0 || !made || !job->source) return false;
    name_object(b, job);
    b->count++;
    return true;
}

/* Of a file with errors the devices may have no types yet, but names of types. */
static bool is_needed(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                      uint32_t type, bool sound)
{
    const struct leat_graph_type *t = &graph->type[type];
    if (t->kind == LEAT_GRAPH_EXTERNAL) return false;
    if (!instance || t->kind == LEAT_GRAPH_SUPERVISOR) return true;
    for (uint32_t d = 0; d < instance->device_count; d++)
        if (sound ? instance->device[d].type == type
                  : strcmp(leat_graph_string(&graph->pin_names, instance->device[d].type_name),
                           t->id) == 0)
            return true;
    return false;
}

/* What an error of this code leaves out, other code may refer to. */
static bool leaves_out(const struct leat_graph *graph, const char *code)
{
    static const char *const codes[] = { "E_ATTR", "E_IDENT", "E_DUP", "E_UNSUP" };
    static const char *const codes_v3[] = { "E_STRUCT", "E_REF", "E_LIMIT" }; /* no layout */
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(code, codes[i]) == 0) return true;
    for (size_t i = 0; i < sizeof codes_v3 / sizeof *codes_v3; i++)
        if (graph->dialect == LEAT_GRAPH_V3 && strcmp(code, codes_v3[i]) == 0) return true;
    return false;
}

/* The first line of the instances; types come before. */
static uint32_t end_of_types(const struct leat_graph *graph)
{
    return graph->instance_count && graph->instance[0].place.file == graph->place.file
               ? graph->instance[0].place.line
               : UINT32_MAX;
}

/* The type on whose lines a place is; LEAT_GRAPH_NONE: it belongs to all. */
static uint32_t type_at(const struct leat_graph *graph, struct leat_graph_place place)
{
    uint32_t found = LEAT_GRAPH_NONE;
    for (uint32_t t = 0; t < graph->type_count; t++)
        if (graph->type[t].place.file == place.file && graph->type[t].place.line <= place.line)
            found = t;
    return found;
}

/* An error in a type, or before all types, whose consequences would be reported as errors, too. */
static bool is_spoilt(const struct leat_graph *graph, uint32_t type, uint32_t mistakes)
{
    const struct leat_graph_report *r = &graph->report;
    for (uint32_t i = 0; i < mistakes; i++) {
        const struct leat_graph_mistake *m = &r->mistake[i];
        if (m->warning || m->place.file != graph->place.file) continue;
        if (m->place.line >= end_of_types(graph) || !leaves_out(graph, m->code)) continue;
        const uint32_t at = type_at(graph, m->place);
        /* Structs of a type are part of all sources. */
        if (at == type || at == LEAT_GRAPH_NONE || graph->dialect == LEAT_GRAPH_V3) return true;
    }
    return false;
}

static bool make_jobs(struct build *b, const struct leat_graph_instance *instance,
                      struct leat_handlers *out)
{
    struct collecting c = { .graph = b->graph, .handlers = out };
    const uint32_t mistakes = b->graph->report.kept;
    const bool sound = !b->graph->report.error_count;
    bool good = true;
    if (instance && sound && b->graph->dialect == LEAT_GRAPH_ORCH)
        good = collect_instance(&c, instance);
    free(c.scratch);
    for (uint32_t t = 0; good && t < b->graph->type_count; t++)
        if (is_needed(b->graph, instance, t, sound) && !is_spoilt(b->graph, t, mistakes))
            good = add_job(b, t, out);
    if (good && out->table_count) good = add_job(b, LEAT_GRAPH_NONE, out);
    if (!good)
        leat_graph_wrong(&b->graph->report, b->graph->place, "E_LIMIT",
                         "no memory for the handlers");
    return good;
}

bool leat_handlers_build(struct leat_graph *graph, const struct leat_graph_instance *instance,
                         const struct leat_handler_options *options, struct leat_handlers *out)
{
    struct build b = { .graph = graph, .options = options, .cache = { .folder = -1, .build = -1 } };
    struct timespec from, to;
    *out = (struct leat_handlers){ 0 };
    clock_gettime(CLOCK_MONOTONIC, &from);
    find_own(&b);
    b.job = calloc(graph->type_count + 1, sizeof *b.job);
    out->type = calloc(graph->type_count + 1, sizeof *out->type);
    out->object = calloc(graph->type_count + 1, sizeof *out->object);
    if (!b.job || !out->type || !out->object)
        leat_graph_wrong(&graph->report, graph->place, "E_LIMIT", "no memory for the handlers");
    else if (open_cache(&b) && query_version(&b) && make_jobs(&b, instance, out))
        run_jobs(&b, out);
    leat_handler_cache_close(&b.cache);
    const bool good = !graph->report.error_count && !is_interrupted(&b);
    for (uint32_t i = 0; good && i < out->object_count; i++)
        out->unseen += !leat_handler_has_run(out->object[i].file);
    for (uint32_t i = 0; i < b.count; i++)
        free(b.job[i].source);
    free(b.job);
    clock_gettime(CLOCK_MONOTONIC, &to);
    out->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    leat_graph_report_sort(&graph->report);
    if (!good) leat_handlers_close(out);
    return good;
}
