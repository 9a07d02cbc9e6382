/* Sources are compiled, kept by their content, and opened. */
#include "graph_parts.h"
#include "handler.h"
#include "poets_hash.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH_LEN = 4096, WORDS_MAX = 64, ERRORS_MAX = 20, SHOWN = 300 };

static const char standard_flags[] =
    "-O2 -fPIC -shared -pthread -ffp-contract=off -fvisibility=hidden -fno-gnu-unique "
    "-Wl,-Bsymbolic -w -fno-diagnostics-show-caret -fdiagnostics-color=never";

/* One object on its way. */
struct job {
    uint32_t type; /* LEAT_GRAPH_NONE: values */
    const char *symbol;
    struct leat_graph_place place; /* for what has no line */
    char *source;
    size_t source_len;
    bool keeps;          /* what it includes of its own may change: compiled every time */
    char path[PATH_LEN]; /* without its ending */
    pid_t child;
    bool again; /* with a newer C++ */
};

struct build {
    struct leat_graph *graph;
    const struct leat_handler_options *options;
    char folder[PATH_LEN - 128];
    char version[200];
    struct job *job;
    uint32_t count;
};

/* ---- values that a compiler makes ----------------------------------------------------------- */

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
    if (t->count == t->cap) {
        const uint32_t cap = t->cap ? 2 * t->cap : 16;
        uint32_t *grown = realloc(t->value, cap * sizeof *grown);
        if (!grown) return false;
        t->value = grown;
        t->cap = cap;
    }
    if (!t->count) t->place = place;
    t->value[t->count++] = value;
    return true;
}

struct collecting {
    struct leat_graph *graph;
    struct leat_handlers *handlers;
    uint8_t *scratch;
};

/* Only what the loader cannot make. A struct that it does not know needs a table in any case. */
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

/* ---- where objects are kept ----------------------------------------------------------------- */

static bool choose_folder(struct build *b)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int len;
    if (b->options->folder)
        len = snprintf(b->folder, sizeof b->folder, "%s", b->options->folder);
    else if (cache && *cache == '/')
        len = snprintf(b->folder, sizeof b->folder, "%s/leat/poets", cache);
    else
        len = snprintf(b->folder, sizeof b->folder, "%s/.cache/leat/poets",
                       home && *home == '/' ? home : "/tmp");
    const struct leat_graph_place nowhere = { 0 };
    if (len <= 0 || (size_t)len >= sizeof b->folder || !leat_graph_make_parents(b->folder) ||
        (mkdir(b->folder, 0777) != 0 && errno != EEXIST))
        return leat_graph_wrong(&b->graph->report, nowhere, "E_CC", "%.*s: cannot be made: %s",
                                SHOWN, b->folder, strerror(errno));
    /* For #include "tinsel.h": what it has is there already. */
    char name[PATH_LEN];
    snprintf(name, sizeof name, "%s/tinsel.h", b->folder);
    FILE *shim = fopen(name, "a");
    if (!shim)
        return leat_graph_wrong(&b->graph->report, nowhere, "E_CC", "%.*s: cannot be written: %s",
                                SHOWN, name, strerror(errno));
    fclose(shim);
    return true;
}

static const char *compiler_of(const struct build *b)
{
    return b->options->compiler ? b->options->compiler : "c++";
}

/* The first line of --version; an object of another compiler is another object. */
static bool ask_version(struct build *b)
{
    char command[PATH_LEN];
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", compiler_of(b));
    FILE *pipe = strchr(compiler_of(b), '\'') ? NULL : popen(command, "r");
    const bool heard = pipe && fgets(b->version, sizeof b->version, pipe);
    if (pipe) {
        while (fgetc(pipe) != EOF) {
        }
        pclose(pipe);
    }
    if (heard) return true;
    return leat_graph_wrong(&b->graph->report, (struct leat_graph_place){ 0 }, "E_CC",
                            "%s does not run, expected a C++ compiler (package g++)",
                            compiler_of(b));
}

/* "#include "...": of the application's own files, but for the one that we make. */
static bool includes_own(const char *source)
{
    for (const char *at = source; (at = strstr(at, "#include")); at++) {
        const char *name = at + strlen("#include");
        name += strspn(name, " \t");
        if (*name == '"' && strncmp(name, "\"tinsel.h\"", 10) != 0) return true;
    }
    return false;
}

static void name_object(struct build *b, struct job *job)
{
    const char *flags = b->options->flags ? b->options->flags : "";
    uint64_t half[2];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t hash = leat_poets_hash(LEAT_POETS_HASH_EMPTY, &i, sizeof i);
        hash = leat_poets_hash(hash, b->version, strlen(b->version) + 1);
        hash = leat_poets_hash(hash, compiler_of(b), strlen(compiler_of(b)) + 1);
        hash = leat_poets_hash(hash, standard_flags, sizeof standard_flags);
        hash = leat_poets_hash(hash, flags, strlen(flags) + 1);
        hash = leat_poets_hash(hash, &b->options->single_precision, sizeof(bool));
        half[i] = leat_poets_hash(hash, job->source, job->source_len);
    }
    snprintf(job->path, sizeof job->path, "%s/%016llx%016llx", b->folder,
             (unsigned long long)half[0], (unsigned long long)half[1]);
    job->keeps = !includes_own(job->source);
}

/* The object is there, and it is that of this very source. */
static bool is_kept(const struct job *job)
{
    char name[PATH_LEN + 16];
    struct stat object;
    snprintf(name, sizeof name, "%s.so", job->path);
    if (!job->keeps || stat(name, &object) != 0) return false;
    snprintf(name, sizeof name, "%s.cpp", job->path);
    FILE *in = fopen(name, "r");
    bool same = in;
    for (size_t i = 0; same && i < job->source_len; i++)
        same = fgetc(in) == (unsigned char)job->source[i];
    same = same && fgetc(in) == EOF;
    if (in) fclose(in);
    return same;
}

/* ---- compiling ------------------------------------------------------------------------------ */

static bool write_source(const struct job *job)
{
    char name[PATH_LEN + 16];
    snprintf(name, sizeof name, "%s.%d.cpp", job->path, (int)getpid());
    FILE *out = fopen(name, "w");
    if (!out) return false;
    const bool written = fwrite(job->source, 1, job->source_len, out) == job->source_len;
    return fclose(out) == 0 && written;
}

/* Blanks between words; the text is cut up. */
static uint32_t split(char *text, char **word, uint32_t count)
{
    for (char *at = strtok(text, " "); at && count < WORDS_MAX - 1; at = strtok(NULL, " "))
        word[count++] = at;
    return count;
}

/* Our environment, with messages in one language; the answer is to be freed. */
static char **environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0)
            copy[kept++] = environ[i];
    if (copy) copy[kept] = (char *)"LC_ALL=C";
    return copy;
}

static bool start_compiler(const struct build *b, struct job *job)
{
    char source[PATH_LEN + 16], object[PATH_LEN + 16], errors[PATH_LEN + 16];
    char standard[sizeof standard_flags],
        *more = strdup(b->options->flags ? b->options->flags : "");
    char own[PATH_LEN + 8], shim[PATH_LEN + 8];
    const char *slash = strrchr(b->graph->file, '/');
    char *word[WORDS_MAX] = { (char *)compiler_of(b) };
    if (!more) return false;
    snprintf(source, sizeof source, "%s.%d.cpp", job->path, (int)getpid());
    snprintf(object, sizeof object, "%s.%d.so", job->path, (int)getpid());
    snprintf(errors, sizeof errors, "%s.%d.err", job->path, (int)getpid());
    snprintf(own, sizeof own, "-I%.*s", slash ? (int)(slash - b->graph->file) + 1 : 1,
             slash ? b->graph->file : ".");
    snprintf(shim, sizeof shim, "-I%s", b->folder);
    memcpy(standard, standard_flags, sizeof standard);
    uint32_t count = split(standard, word, 1);
    if (b->options->single_precision) word[count++] = (char *)"-fsingle-precision-constant";
    word[count++] = (char *)(job->again ? "-std=gnu++17" : "-std=gnu++14");
    word[count++] = own;
    word[count++] = shim;
    word[count++] = source;
    word[count++] = (char *)"-o";
    word[count++] = object;
    split(more, word, count);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    char **env = environment();
    const int failed = posix_spawnp(&job->child, word[0], &actions, NULL, word,
                                    env ? env : environ);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    free(more);
    return failed == 0;
}

/* A line of the compiler, "FILE:LINE:COLUMN: error: TEXT": whose is the file? */
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

/* What is wrong in our own text follows from what is wrong in the application's. */
static void tell_errors(struct build *b, const struct job *job)
{
    static const char mark[] = " error: ";
    char name[PATH_LEN + 16], line[2048], first[SHOWN] = "the compiler failed";
    snprintf(name, sizeof name, "%s.%d.err", job->path, (int)getpid());
    FILE *in = fopen(name, "r");
    int told = 0;
    for (bool begun = false; in && told < ERRORS_MAX && fgets(line, sizeof line, in);) {
        const char *error = strstr(line, mark);
        struct leat_graph_place place;
        line[strcspn(line, "\n")] = '\0';
        if (!begun || (error && !strstr(first, mark)))
            snprintf(first, sizeof first, "%.*s", SHOWN - 1, line);
        begun = true;
        if (!error || !place_of(b, line, &place)) continue;
        leat_graph_wrong(&b->graph->report, place, "E_CC", "%.*s", SHOWN, error + strlen(mark));
        told++;
    }
    if (in) fclose(in);
    if (!told) leat_graph_wrong(&b->graph->report, job->place, "E_CC", "%s", first);
}

static void remove_traces(const struct job *job)
{
    static const char *const ending[] = { "cpp", "so", "err" };
    char name[PATH_LEN + 16];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s.%d.%s", job->path, (int)getpid(), ending[i]);
        unlink(name);
    }
}

/* Both get their names when both are complete, the object last. */
static bool keep_object(const struct job *job)
{
    char from[PATH_LEN + 16], to[PATH_LEN + 16];
    snprintf(from, sizeof from, "%s.%d.cpp", job->path, (int)getpid());
    snprintf(to, sizeof to, "%s.cpp", job->path);
    if (rename(from, to) != 0) return false;
    snprintf(from, sizeof from, "%s.%d.so", job->path, (int)getpid());
    snprintf(to, sizeof to, "%s.so", job->path);
    return rename(from, to) == 0;
}

static bool begin_job(struct build *b, struct job *job)
{
    if (write_source(job) && start_compiler(b, job)) return true;
    remove_traces(job);
    return leat_graph_wrong(&b->graph->report, job->place, "E_CC",
                            "%s in %.*s: cannot be started: %s", compiler_of(b), SHOWN / 2,
                            b->folder, strerror(errno));
}

/* Waits for it; true: the object is there. */
static bool end_job(struct build *b, struct job *job)
{
    int status = 0;
    while (waitpid(job->child, &status, 0) < 0 && errno == EINTR) {
    }
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good && !job->again && b->graph->dialect != LEAT_GRAPH_ORCH) {
        job->again = true; /* graph_schema was compiled with what was newest */
        return start_compiler(b, job) && end_job(b, job);
    }
    if (!good)
        tell_errors(b, job);
    else if (!keep_object(job))
        good = leat_graph_wrong(&b->graph->report, job->place, "E_CC", "%.*s: cannot be kept: %s",
                                SHOWN, job->path, strerror(errno));
    remove_traces(job);
    return good;
}

/* As many at a time as there are processors. */
static void run_jobs(struct build *b, struct leat_handlers *out)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t at_once = processors > 1 ? (uint32_t)processors : 1;
    uint32_t ended = 0, begun = 0;
    for (; begun < b->count; begun++) {
        struct job *job = &b->job[begun];
        if (is_kept(job)) {
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

/* ---- opening -------------------------------------------------------------------------------- */

static bool open_object(struct build *b, const struct job *job, struct leat_handlers *out)
{
    char name[PATH_LEN + 16];
    snprintf(name, sizeof name, "%s.so", job->path);
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return leat_graph_wrong(&b->graph->report, job->place, "E_CC", "%.*s", SHOWN, dlerror());
    out->object[out->object_count++] = object;
    const void *table = dlsym(object, job->symbol);
    uint32_t abi = 0;
    if (table) memcpy(&abi, table, sizeof abi);
    if (abi != LEAT_POETS_ABI)
        return leat_graph_wrong(&b->graph->report, job->place, "E_CC",
                                "%.*s: not an object of this version, expected ABI %d", SHOWN, name,
                                LEAT_POETS_ABI);
    if (job->type == LEAT_GRAPH_NONE)
        out->values = table;
    else if (b->graph->type[job->type].kind == LEAT_GRAPH_SUPERVISOR)
        out->supervisor = table;
    else
        out->type[job->type] = table;
    return true;
}

static void check_length(struct build *b, uint32_t len, struct leat_graph_place place,
                         const char *pin)
{
    if (len > LEAT_GRAPH_MESSAGE_LEN_MAX)
        leat_graph_wrong(&b->graph->report, place, "E_LIMIT",
                         "the message of pin %.40s has %u octets, expected at most %d", pin, len,
                         LEAT_GRAPH_MESSAGE_LEN_MAX);
}

/* Of messages that only the compiler could measure. */
static bool check_lengths(struct build *b, const struct leat_handlers *h)
{
    for (uint32_t t = 0; t < b->graph->type_count; t++) {
        const struct leat_poets_type *type = h->type[t];
        const struct leat_graph_place place = b->graph->type[t].place;
        if (b->graph->type[t].kind == LEAT_GRAPH_SUPERVISOR && h->supervisor) {
            check_length(b, h->supervisor->in_len, place, "SupervisorInPin");
            check_length(b, h->supervisor->out_len, place, "SupervisorOutPin");
        }
        if (!type) continue;
        for (uint32_t i = 0; i < type->input_count; i++)
            check_length(b, type->input[i].payload_len, place, type->input[i].name);
        for (uint32_t i = 0; i < type->output_count; i++)
            check_length(b, type->output[i].payload_len, place, type->output[i].name);
        check_length(b, type->from_supervisor_len, place, "SupervisorInPin");
    }
    return !b->graph->report.error_count;
}

static bool add_job(struct build *b, uint32_t type, const struct leat_handlers *handlers)
{
    struct job *job = &b->job[b->count];
    const struct leat_graph_type *t = type == LEAT_GRAPH_NONE ? NULL : &b->graph->type[type];
    const bool supervisor = t && t->kind == LEAT_GRAPH_SUPERVISOR;
    *job = (struct job){ .type = type,
                         .symbol = supervisor ? "leat_supervisor"
                                   : t        ? "leat_type"
                                              : "leat_values",
                         .place = t ? t->place : b->graph->place };
    FILE *out = open_memstream(&job->source, &job->source_len);
    if (!out) return false;
    const bool made = supervisor ? leat_handler_supervisor_source(b->graph, type, out)
                      : t        ? leat_handler_type_source(b->graph, type, out)
                                 : leat_handler_values_source(b->graph, handlers, out);
    if (fclose(out) != 0 || !made) return false;
    name_object(b, job);
    b->count++;
    return true;
}

static bool is_needed(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                      uint32_t type)
{
    if (graph->type[type].kind == LEAT_GRAPH_EXTERNAL) return false;
    if (!instance || graph->type[type].kind == LEAT_GRAPH_SUPERVISOR) return true;
    for (uint32_t d = 0; d < instance->device_count; d++)
        if (instance->device[d].type == type) return true;
    return false;
}

static bool make_jobs(struct build *b, const struct leat_graph_instance *instance,
                      struct leat_handlers *out)
{
    struct collecting c = { .graph = b->graph, .handlers = out };
    bool good = true;
    if (instance && b->graph->dialect == LEAT_GRAPH_ORCH) good = collect_instance(&c, instance);
    free(c.scratch);
    for (uint32_t t = 0; good && t < b->graph->type_count; t++)
        if (is_needed(b->graph, instance, t)) good = add_job(b, t, out);
    if (good && out->table_count) good = add_job(b, LEAT_GRAPH_NONE, out);
    if (!good)
        leat_graph_wrong(&b->graph->report, b->graph->place, "E_LIMIT",
                         "no memory for the handlers");
    return good;
}

bool leat_handlers_build(struct leat_graph *graph, const struct leat_graph_instance *instance,
                         const struct leat_handler_options *options, struct leat_handlers *out)
{
    struct build b = { .graph = graph, .options = options };
    struct timespec from, to;
    *out = (struct leat_handlers){ 0 };
    clock_gettime(CLOCK_MONOTONIC, &from);
    b.job = calloc(graph->type_count + 1, sizeof *b.job);
    out->type = calloc(graph->type_count + 1, sizeof *out->type);
    out->object = calloc(graph->type_count + 1, sizeof *out->object);
    if (!b.job || !out->type || !out->object)
        leat_graph_wrong(&graph->report, graph->place, "E_LIMIT", "no memory for the handlers");
    else if (choose_folder(&b) && ask_version(&b) && make_jobs(&b, instance, out))
        run_jobs(&b, out);
    bool good = !graph->report.error_count;
    for (uint32_t i = 0; good && i < b.count; i++)
        good = open_object(&b, &b.job[i], out);
    good = good && check_lengths(&b, out);
    for (uint32_t i = 0; i < b.count; i++)
        free(b.job[i].source);
    free(b.job);
    clock_gettime(CLOCK_MONOTONIC, &to);
    out->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    leat_graph_report_sort(&graph->report);
    if (!good) leat_handlers_close(out);
    return good;
}

void leat_handlers_close(struct leat_handlers *handlers)
{
    for (uint32_t i = 0; i < handlers->object_count; i++)
        dlclose(handlers->object[i]);
    for (uint32_t i = 0; i < handlers->table_count; i++) {
        free(handlers->table[i].name);
        free(handlers->table[i].value);
    }
    free(handlers->table);
    free(handlers->type);
    free(handlers->object);
    *handlers = (struct leat_handlers){ 0 };
}
