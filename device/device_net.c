#include "device_net.h"
#include "device_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WORD = sizeof(uint32_t),
    PLACES_PER_UNIT = 16,
    GROUP_STEP = 32,       /* threads of a group: a multiple of this */
    CYCLES_AT_ONCE = 64,   /* of the first launch */
    CLOSE_SPARE = 1 << 10, /* octets of close memory that the compiler may need */
    LOG_CAP = 2000,        /* of a compiler's messages */
    OPTIONS_CAP = 4096,    /* of the text of a compiler's options */
    GROUP_OF_PROCESSORS = 8,
};

/* A launch shorter or longer than this has twice or half the cycles next time. */
static const double launch_min = 0.05, launch_max = 0.2;

/* Of net.cl. */
struct order {
    uint64_t state, store;
    uint32_t job;
    struct leat_net_lockstep_leg leg;
};

struct place {
    bool is_busy;
    bool may_end; /* before all cycles: its work is finite */
    bool is_deadlocked;
    uint32_t now, cycles;
    struct leat_net_lockstep_table table;
    struct leat_net_load *load;
};

struct leat_device_nets {
    struct leat_device *device;
    const uint32_t *words;                     /* of the plan, */
    const struct leat_net_lockstep_plan *plan; /* which begin with this */
    struct leat_device_nets_shape shape;
    void *program, *kernel;
    void *plan_buffer, *jobs, *states, *stores, *orders, *sums;
    uint32_t job_words; /* of the largest job */
    uint32_t cycles_at_once;
    bool is_filled; /* some network ran so many in the last launch */
    struct place *place;
    struct order *order;
    struct leat_net_lockstep_round *round; /* of each place */
    uint32_t *job, *state, *store;         /* of one network; store: what is read back, */
    uint32_t store_words;                  /* so many words */
    uint8_t *doomed;                       /* of each lane, if the plan is watched */
};

static bool out_of_memory(struct leat_text *why)
{
    leat_text_puts(why, "no memory");
    return false;
}

/* A thread per port and terminal, as far as there are threads. Those of a processor's group take
 * turns: more of them would only need more memory. */
static uint32_t size_group(const struct leat_device_nets *nets)
{
    const struct leat_device_info *info = &nets->device->info;
    const uint64_t ports = (uint64_t)nets->plan->routers * nets->plan->radix +
                           nets->plan->terminals;
    const uint64_t wanted = (ports + GROUP_STEP - 1) / GROUP_STEP * GROUP_STEP;
    const uint32_t most = info->is_processor ? GROUP_OF_PROCESSORS : info->group_max;
    return (uint32_t)leat_smaller(wanted, most);
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool tell_log(struct leat_device_nets *nets, struct leat_text *why, int32_t error)
{
    const struct leat_device *d = nets->device;
    static char log[LOG_CAP];
    memset(log, 0, sizeof log);
    d->cl->GetProgramBuildInfo(nets->program, d->info.id, OPENCL_PROGRAM_BUILD_LOG, sizeof log - 1,
                               log, NULL);
    leat_device_fail(why, "its compiler", error);
    leat_text_puts(why, "\n");
    leat_text_puts(why, log);
    return false;
}

/* How the compiler is called. A GPU is faster if it knows the plan. */
static void put_options(const struct leat_device_nets *nets, char out[OPTIONS_CAP])
{
    /* More groups at once are worth more than the registers of a thread. */
    const bool is_nvidia = strncmp(nets->device->info.platform, "NVIDIA", 6) == 0;
    int len = snprintf(out, OPTIONS_CAP,
                       "-w -cl-std=CL1.2 -DLEAT_DEVICE_GROUP=%u -DLEAT_NET_LOCKSTEP_FAULTY=%u%s%s",
                       nets->shape.group, nets->plan->outages > 1,
                       nets->shape.is_near ? " -DLEAT_DEVICE_NEAR" : "",
                       is_nvidia ? " -DLEAT_DEVICE_NVIDIA -cl-nv-maxrregcount=56" : "");
    if (!nets->device->info.is_gpu) return;
    len += snprintf(out + len, OPTIONS_CAP - (size_t)len, " -DLEAT_NET_LOCKSTEP_KNOWN");
#define PUT(name)                                                                               \
    len += snprintf(out + len, OPTIONS_CAP - (size_t)len, " -DLEAT_NET_LOCKSTEP_" #name "=%uu", \
                    nets->plan->name);
    LEAT_NET_LOCKSTEP_FIELDS(PUT)
#undef PUT
}

static bool build(struct leat_device_nets *nets, struct leat_text *why)
{
    char options[OPTIONS_CAP];
    const struct leat_device *d = nets->device;
    const char **line = (const char **)leat_device_net_text;
    uint32_t lines = 0;
    int32_t error;
    while (leat_device_net_text[lines])
        lines++;
    nets->program = d->cl->CreateProgramWithSource(d->context, lines, line, NULL, &error);
    if (error) return leat_device_fail(why, "its program", error);
    put_options(nets, options);
    error = d->cl->BuildProgram(nets->program, 1, (void *const *)&d->info.id, options, NULL, NULL);
    if (error) return tell_log(nets, why, error);
    nets->kernel = d->cl->CreateKernel(nets->program, "run", &error);
    return !error || leat_device_fail(why, "its kernel", error);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* As many networks as are useful and have room; half of the memory is left to others. */
static uint32_t count_places(const struct leat_device_nets *nets, uint32_t networks)
{
    const struct leat_device_info *info = &nets->device->info;
    const struct leat_net_lockstep_plan *p = nets->plan;
    const uint64_t each = ((uint64_t)p->state_words + p->store_words) * WORD;
    uint64_t places = leat_smaller(networks, (uint64_t)info->units * PLACES_PER_UNIT);
    places = leat_smaller(places, info->memory / 2 / each);
    return (uint32_t)leat_smaller(places, info->allocation_max / ((uint64_t)p->store_words * WORD));
}

static void *buffer(struct leat_device_nets *nets, uint64_t octets, int32_t *error)
{
    const struct leat_device *d = nets->device;
    if (*error) return NULL;
    return d->cl->CreateBuffer(d->context, OPENCL_MEM_READ_WRITE, (size_t)octets, NULL, error);
}

static bool allocate(struct leat_device_nets *nets, struct leat_text *why)
{
    const struct leat_net_lockstep_plan *p = nets->plan;
    const struct leat_device *d = nets->device;
    const uint64_t places = nets->shape.places;
    int32_t error = 0;
    nets->plan_buffer = buffer(nets, (uint64_t)p->plan_words * WORD, &error);
    nets->jobs = buffer(nets, places * nets->job_words * WORD, &error);
    nets->states = buffer(nets, places * p->state_words * WORD, &error);
    nets->stores = buffer(nets, places * p->store_words * WORD, &error);
    nets->orders = buffer(nets, places * sizeof *nets->order, &error);
    nets->sums = buffer(nets, places * nets->shape.group * sizeof(struct leat_net_lockstep_sums),
                        &error);
    if (!error)
        error = d->cl->EnqueueWriteBuffer(d->queue, nets->plan_buffer, 1, 0,
                                          (size_t)p->plan_words * WORD, nets->words, 0, NULL, NULL);
    if (error) return leat_device_fail(why, "its memory", error);
    nets->place = calloc(places, sizeof *nets->place);
    nets->order = calloc(places, sizeof *nets->order);
    nets->job = calloc(nets->job_words, WORD);
    nets->state = calloc(p->state_words, WORD);
    nets->store_words = p->watched ? p->free : p->buffers;
    nets->store = calloc(nets->store_words, WORD);
    nets->round = calloc(places, sizeof *nets->round);
    nets->doomed = calloc(p->ins, (size_t)1 << p->shift);
    return (nets->place && nets->order && nets->job && nets->state && nets->store && nets->round &&
            nets->doomed) ||
           out_of_memory(why);
}

static bool set_arguments(struct leat_device_nets *nets, struct leat_text *why)
{
    const struct leat_device *d = nets->device;
    void *const argument[] = { nets->plan_buffer, nets->jobs,   nets->states,
                               nets->stores,      nets->orders, nets->sums };
    const uint32_t count = sizeof argument / sizeof *argument;
    int32_t error = 0;
    for (uint32_t i = 0; i < count && !error; i++)
        error = d->cl->SetKernelArg(nets->kernel, i, sizeof argument[i], &argument[i]);
    if (!error && nets->shape.is_near)
        error = d->cl->SetKernelArg(nets->kernel, count, (size_t)nets->plan->state_words * WORD,
                                    NULL);
    return !error || leat_device_fail(why, "its kernel", error);
}

static bool is_near(const struct leat_device_nets *nets, enum leat_device_near near)
{
    const uint64_t room = nets->device->info.close_memory;
    const bool fits = (uint64_t)nets->plan->state_words * WORD + CLOSE_SPARE <= room;
    return near == LEAT_DEVICE_NEAR_AUTO ? fits : near == LEAT_DEVICE_NEAR_GROUP;
}

struct leat_device_nets *leat_device_nets_open(struct leat_device *device, const uint32_t *plan,
                                               uint32_t job_words, uint32_t networks,
                                               enum leat_device_near near, struct leat_text *why)
{
    struct leat_device_nets *nets = calloc(1, sizeof *nets);
    if (!nets) {
        out_of_memory(why);
        return NULL;
    }
    nets->device = device;
    nets->words = plan;
    nets->plan = (const void *)plan;
    nets->job_words = job_words;
    nets->cycles_at_once = CYCLES_AT_ONCE;
    nets->shape.is_near = is_near(nets, near);
    nets->shape.group = size_group(nets);
    nets->shape.places = count_places(nets, networks);
    if (!nets->shape.places) leat_text_puts(why, "one network does not fit into its memory");
    if (nets->shape.places && build(nets, why) && allocate(nets, why) && set_arguments(nets, why))
        return nets;
    leat_device_nets_close(nets);
    return NULL;
}

void leat_device_nets_close(struct leat_device_nets *nets)
{
    if (!nets) return;
    const struct opencl *cl = nets->device->cl;
    void *const buffers[] = { nets->plan_buffer, nets->jobs,   nets->states,
                              nets->stores,      nets->orders, nets->sums };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i]) cl->ReleaseMemObject(buffers[i]);
    if (nets->kernel) cl->ReleaseKernel(nets->kernel);
    if (nets->program) cl->ReleaseProgram(nets->program);
    void *const own[] = { nets->place, nets->order, nets->round,  nets->job,
                          nets->state, nets->store, nets->doomed, nets };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
}

struct leat_device_nets_shape leat_device_nets_shape(const struct leat_device_nets *nets)
{
    return nets->shape;
}

/* ---- networks -------------------------------------------------------------------------------- */

/* Words of a network: zero, but for those in [from, from + len). */
static int32_t put(const struct leat_device_nets *nets, void *to, uint64_t first, uint32_t words,
                   const uint32_t *from, uint32_t at, uint32_t len)
{
    const struct leat_device *d = nets->device;
    const uint32_t zero = 0;
    int32_t error = 0;
    if (words)
        error = d->cl->EnqueueFillBuffer(d->queue, to, &zero, sizeof zero, (size_t)first * WORD,
                                         (size_t)words * WORD, 0, NULL, NULL);
    if (error || !len) return error;
    return d->cl->EnqueueWriteBuffer(d->queue, to, 1, (size_t)(first + at) * WORD,
                                     (size_t)len * WORD, from + at, 0, NULL, NULL);
}

/* Words [from, until) of a network. */
static int32_t get(const struct leat_device_nets *nets, void *buffer, uint64_t first, uint32_t from,
                   uint32_t until, uint32_t *to)
{
    const struct leat_device *d = nets->device;
    return d->cl->EnqueueReadBuffer(d->queue, buffer, 1, (size_t)(first + from) * WORD,
                                    (size_t)(until - from) * WORD, to + from, 0, NULL, NULL);
}

bool leat_device_nets_begin(struct leat_device_nets *nets, uint32_t place,
                            struct leat_net_load *load, uint64_t cycles, struct leat_text *why)
{
    const struct leat_net_lockstep_plan *p = nets->plan;
    const uint64_t state = (uint64_t)place * p->state_words;
    const uint64_t store = (uint64_t)place * p->store_words;
    const uint32_t job_words = leat_net_lockstep_job_words(load);
    if (job_words > nets->job_words) {
        leat_text_puts(why, "its traffic is larger than that of the first network");
        return false;
    }
    leat_net_lockstep_job(load, nets->job);
    memset(nets->store, 0, (size_t)p->delivered * WORD);
    memset(nets->state + p->host, 0, (size_t)(p->entry - p->host) * WORD);
    const struct leat_net_lockstep_table table = leat_net_lockstep_start(nets->words, load,
                                                                         nets->state, nets->store);
    int32_t error = put(nets, nets->jobs, (uint64_t)place * nets->job_words, 0, nets->job, 0,
                        job_words);
    if (!error)
        error = put(nets, nets->states, state, p->state_words, nets->state, p->host,
                    p->entry - p->host);
    if (!error) error = put(nets, nets->stores, store, p->buffers, nets->store, 0, p->delivered);
    if (error) return leat_device_fail(why, "writing a network", error);
    nets->place[place] = (struct place){ .is_busy = true,
                                         .may_end = load->config.traffic.rounds ||
                                                    load->config.traffic.trace_count,
                                         .cycles = (uint32_t)cycles,
                                         .table = table,
                                         .load = load };
    nets->order[place] =
        (struct order){ .state = state, .store = store, .job = place * nets->job_words };
    return true;
}

/* Every network runs to the end of its leg, or as far as one launch goes. */
static uint32_t give_orders(struct leat_device_nets *nets)
{
    uint32_t busy = 0;
    nets->is_filled = false;
    for (uint32_t i = 0; i < nets->shape.places; i++) {
        struct place *place = &nets->place[i];
        struct leat_net_lockstep_leg *leg = &nets->order[i].leg;
        if (place->is_busy && place->now < place->cycles) {
            *leg = leat_net_lockstep_next(nets->words, place->table, place->now, place->cycles);
            if (leg->until - leg->now >= nets->cycles_at_once) {
                leg->until = leg->now + nets->cycles_at_once;
                nets->is_filled = true;
            }
            place->table = leg->table;
            busy++;
        } else {
            *leg = (struct leat_net_lockstep_leg){ .now = place->now,
                                                   .until = place->now,
                                                   .table = place->table };
        }
    }
    return busy;
}

static bool may_end_early(const struct leat_device_nets *nets, const struct place *place)
{
    return place->is_busy && (place->may_end || nets->plan->watched);
}

/* All are asked at once: each question takes longer than its answer. */
static int32_t read_rounds(struct leat_device_nets *nets)
{
    const struct leat_device *d = nets->device;
    const struct leat_net_lockstep_plan *p = nets->plan;
    int32_t error = 0;
    for (uint32_t i = 0; i < nets->shape.places && !error; i++) {
        const uint64_t at = (uint64_t)i * p->store_words + p->round;
        if (!may_end_early(nets, &nets->place[i])) continue;
        error = d->cl->EnqueueReadBuffer(d->queue, nets->stores, 0, (size_t)at * WORD,
                                         sizeof *nets->round, &nets->round[i], 0, NULL, NULL);
    }
    const int32_t last = d->cl->Finish(d->queue);
    return error ? error : last;
}

/* Some end before their last cycle: their work is done, or they are dead. */
static int32_t find_ends(struct leat_device_nets *nets)
{
    const int32_t error = read_rounds(nets);
    if (error) return error;
    for (uint32_t i = 0; i < nets->shape.places; i++) {
        struct place *place = &nets->place[i];
        if (!may_end_early(nets, place)) continue;
        memcpy(nets->store + nets->plan->round, &nets->round[i], sizeof *nets->round);
        const uint32_t done = leat_net_lockstep_done(nets->words, nets->store);
        if (done) place->now = place->cycles = done;
        place->is_deadlocked = leat_net_lockstep_is_deadlocked(nets->words, nets->store,
                                                               place->now);
        if (place->is_deadlocked) place->cycles = place->now;
    }
    return 0;
}

/* Those that are precise enough end, too. */
static int32_t find_verdicts(struct leat_device_nets *nets)
{
    const struct leat_net_lockstep_plan *p = nets->plan;
    for (uint32_t i = 0; i < nets->shape.places; i++) {
        struct place *place = &nets->place[i];
        if (!place->is_busy || place->is_deadlocked || place->now != place->load->look_at) continue;
        const int32_t error = get(nets, nets->stores, (uint64_t)i * p->store_words, 0, p->bins,
                                  nets->store);
        if (error) return error;
        leat_net_lockstep_judge(nets->words, nets->store, place->now, place->load);
        if (place->load->verdict) place->cycles = place->now;
    }
    return 0;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void learn(struct leat_device_nets *nets, double took)
{
    if (took < launch_min && nets->is_filled &&
        nets->cycles_at_once < LEAT_NET_LOCKSTEP_CYCLES_MAX / 2)
        nets->cycles_at_once *= 2;
    if (took > launch_max && nets->cycles_at_once > 1) nets->cycles_at_once /= 2;
}

bool leat_device_nets_step(struct leat_device_nets *nets, struct leat_text *why)
{
    const struct leat_device *d = nets->device;
    const size_t group = nets->shape.group, items = group * nets->shape.places;
    const double begun = seconds();
    if (!give_orders(nets)) return true;
    int32_t error = d->cl->EnqueueWriteBuffer(d->queue, nets->orders, 1, 0,
                                              nets->shape.places * sizeof *nets->order, nets->order,
                                              0, NULL, NULL);
    if (!error)
        error = d->cl->EnqueueNDRangeKernel(d->queue, nets->kernel, 1, NULL, &items, &group, 0,
                                            NULL, NULL);
    if (!error) error = d->cl->Finish(d->queue);
    if (error) return leat_device_fail(why, "running networks", error);
    for (uint32_t i = 0; i < nets->shape.places; i++)
        nets->place[i].now = nets->order[i].leg.until;
    learn(nets, seconds() - begun);
    error = find_ends(nets);
    if (!error) error = find_verdicts(nets);
    return !error || leat_device_fail(why, "reading networks", error);
}

bool leat_device_nets_is_done(const struct leat_device_nets *nets, uint32_t place)
{
    return nets->place[place].now == nets->place[place].cycles;
}

bool leat_device_nets_is_deadlocked(const struct leat_device_nets *nets, uint32_t place)
{
    return nets->place[place].is_deadlocked;
}

bool leat_device_nets_stuck(struct leat_device_nets *nets, uint32_t place,
                            const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap,
                            uint32_t *len, struct leat_text *why)
{
    const struct leat_net_lockstep_plan *p = nets->plan;
    int32_t error = get(nets, nets->states, (uint64_t)place * p->state_words, 0, p->state_words,
                        nets->state);
    if (!error)
        error = get(nets, nets->stores, (uint64_t)place * p->store_words, p->buffers,
                    nets->store_words, nets->store);
    if (error) return leat_device_fail(why, "reading a network", error);
    *len = leat_net_lockstep_stuck(net, nets->words, nets->state, nets->store, nets->doomed, out,
                                   cap);
    return true;
}

uint32_t leat_device_nets_now(const struct leat_device_nets *nets, uint32_t place)
{
    return nets->place[place].now;
}

bool leat_device_nets_end(struct leat_device_nets *nets, uint32_t place, struct leat_net *net,
                          struct leat_net_load *load, struct leat_text *why)
{
    const struct leat_net_lockstep_plan *p = nets->plan;
    const int32_t error = get(nets, nets->stores, (uint64_t)place * p->store_words, 0, p->buffers,
                              nets->store);
    if (error) return leat_device_fail(why, "reading a network", error);
    leat_net_lockstep_end(nets->words, nets->store, nets->place[place].now, net, load);
    nets->place[place].is_busy = false;
    return true;
}
