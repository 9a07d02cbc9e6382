#include "net_steady.h"
#include "leat_arena.h"
#include <assert.h>

enum { BATCHES = LEAT_NET_STEADY_BATCHES };
enum {
    GROUPS_MIN = 8,    /* for intervals, batches are merged to this number up to twice that */
    ERRORS_EQUAL = 2,  /* squared errors within this factor are equivalent */
    DRIFT_ERRORS = 4,  /* standard errors between two halves that are significant */
    GROWTH_ERRORS = 3, /* standard errors of growth that are significant */
    GROWTH_PART = 200, /* of the offered load: growth that matters */
    SETTLED_BATCHES_MIN = 4,
    GROWTH_BATCHES_MIN = 4,         /* to judge growth */
    LOOK_BATCHES = BATCHES / 4 * 3, /* in the table at every other look; all at the others */
    LOOK_LATENCIES = 50,     /* mean latencies in each of GROUPS_MIN parts of what is measured */
    LOOK_GROWTH_BATCHES = 8, /* in each half of what is measured, to judge growth in both */
};

/* ---- mathematics ----------------------------------------------------------------------------- */

double leat_net_steady_root(double square)
{
    double scale = 1, root = 1;
    if (square <= 0) return 0;
    for (; square > 4; square /= 4)
        scale *= 2;
    for (; square < 1; square *= 4)
        scale /= 2;
    for (int i = 0; i < 6; i++) /* Newton: 1 .. 4 has one digit at first, then twice as many */
        root = (root + square / root) / 2;
    return scale * root;
}

double leat_net_steady_student(uint32_t freedom)
{
    static const double t[] = {
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
        2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
        2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    };
    enum { COUNT = sizeof t / sizeof *t };
    assert(freedom > 0);
    /* Beyond the table: the normal value and its first correction (Cornish and Fisher 1937). */
    return freedom <= COUNT ? t[freedom - 1]
                            : 1.95996 + 2.3723 / freedom + 2.82 / freedom / freedom;
}

/* A sum over batches divided by another: latency per packet, flits per cycle. */
struct ratio {
    double sum[BATCHES], per[BATCHES];
    uint32_t count;
};

static double mean_of(const struct ratio *r)
{
    double sum = 0, per = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        sum += r->sum[i];
        per += r->per[i];
    }
    return per > 0 ? sum / per : 0;
}

/* The standard error of that mean, as of a ratio estimator: batches differ in size. */
static double error_of(const struct ratio *r)
{
    const double mean = mean_of(r);
    double squares = 0, per = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const double off = r->sum[i] - mean * r->per[i];
        squares += off * off;
        per += r->per[i];
    }
    if (r->count < 2 || per <= 0) return 0;
    return leat_net_steady_root(squares * r->count / (r->count - 1)) / per;
}

/* Merges neighbours; an odd one at the beginning is omitted. */
static void join(struct ratio *r)
{
    const uint32_t odd = r->count % 2;
    for (uint32_t i = 0; i < r->count / 2; i++) {
        r->sum[i] = r->sum[2 * i + odd] + r->sum[2 * i + odd + 1];
        r->per[i] = r->per[2 * i + odd] + r->per[2 * i + odd + 1];
    }
    r->count /= 2;
}

/* The factor by which autocorrelation of adjacent batches increases the squared error. */
static double leaning(const struct ratio *r)
{
    const double mean = mean_of(r);
    double products = 0, squares = 0, before = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const double off = r->sum[i] - mean * r->per[i];
        squares += off * off;
        products += before * off;
        before = off;
    }
    return products > 0 ? 1 + 2 * products / squares : 1;
}

static double half_interval(struct ratio r)
{
    while (r.count >= 2 * GROUPS_MIN)
        join(&r);
    if (r.count < 2) return 0;
    return leat_net_steady_student(r.count - 1) * error_of(&r) * leat_net_steady_root(leaning(&r));
}

/* What MSER minimises: the squared standard error of the mean of the batches from each one on, as
 * if they were independent. Only for the first half. */
static void errors_without_first(const struct ratio *r, double *error)
{
    const double mean = mean_of(r);
    double weight = 0, sum = 0, squares = 0;
    for (uint32_t i = r->count; i-- > 0;) {
        if (r->per[i] > 0) {
            const double off = r->sum[i] / r->per[i] - mean;
            weight += r->per[i];
            sum += r->per[i] * off;
            squares += r->per[i] * off * off;
        }
        error[i] = weight > 0 ? (squares - sum * sum / weight) / (weight * weight) : 0;
    }
}

/* How many batches at the beginning to omit: at least 1, at most half. The fewest that are almost
 * as good as the best: in a steady run the best is accidental. */
static uint32_t truncation(const struct ratio *r)
{
    double error[BATCHES];
    const uint32_t half = r->count / 2;
    if (half < 2) return half;
    errors_without_first(r, error);
    double least = error[half];
    for (uint32_t i = 1; i < half; i++)
        if (error[i] < least) least = error[i];
    for (uint32_t i = 1; i < half; i++)
        if (error[i] <= least * ERRORS_EQUAL) return i;
    return half;
}

/* Does the mean of the second half differ from that of the first? */
static bool drifts(const struct ratio *r)
{
    struct ratio half[2] = { { .count = r->count / 2 }, { .count = r->count - r->count / 2 } };
    for (uint32_t i = 0; i < r->count; i++) {
        const uint32_t second = i >= half[0].count, k = second ? i - half[0].count : i;
        half[second].sum[k] = r->sum[i];
        half[second].per[k] = r->per[i];
    }
    const double off = mean_of(&half[1]) - mean_of(&half[0]);
    const double error[2] = { error_of(&half[0]), error_of(&half[1]) };
    return off * off > DRIFT_ERRORS * DRIFT_ERRORS * (error[0] * error[0] + error[1] * error[1]);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void lay_out(struct leat_net_steady *steady, struct leat_arena *arena)
{
    for (uint32_t i = 0; i < BATCHES; i++)
        steady->latency[i] = leat_arena_lay(arena, 1, sizeof *steady->latency[i]);
    steady->all = leat_arena_lay(arena, 1, sizeof *steady->all);
}

size_t leat_net_steady_footprint(void)
{
    struct leat_net_steady steady;
    struct leat_arena arena = { 0 };
    lay_out(&steady, &arena);
    return arena.used;
}

void leat_net_steady_init(struct leat_net_steady *steady, uint64_t warmup, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *steady = (struct leat_net_steady){
        .finds = warmup == LEAT_NET_STEADY_FIND,
        .begin = warmup == LEAT_NET_STEADY_FIND ? 0 : warmup,
        .batch_cycles = LEAT_NET_STEADY_BATCH_CYCLES,
        .count = 1,
    };
    steady->batch_end = steady->begin + steady->batch_cycles;
    lay_out(steady, &arena);
}

/* Both read no bin beyond the last one in use, and do not write empty ones: most latencies are
 * small, and pages that were never written stay so. */
static void add_histogram(struct leat_sim_histogram *to, const struct leat_sim_histogram *from)
{
    uint64_t left = from->count;
    to->count += from->count;
    to->sum += from->sum;
    if (from->max > to->max) to->max = from->max;
    for (uint32_t i = 0; left; i++) {
        if (!from->bin[i]) continue;
        to->bin[i] += from->bin[i];
        left -= from->bin[i];
    }
}

static void clear_histogram(struct leat_sim_histogram *h)
{
    uint64_t left = h->count;
    for (uint32_t i = 0; left; i++) {
        if (!h->bin[i]) continue;
        left -= h->bin[i];
        h->bin[i] = 0;
    }
    h->count = h->sum = h->max = 0;
}

static void add_batch(struct leat_net_steady_batch *to, const struct leat_net_steady_batch *from)
{
    to->packets += from->packets;
    to->latency += from->latency;
    to->hops += from->hops;
    to->flits += from->flits;
    to->flits_no_room += from->flits_no_room;
    to->flits_faulty += from->flits_faulty;
    to->created += from->created;
}

/* Merges neighbours; histograms that become free move behind those in use. */
static void halve_table(struct leat_net_steady *steady)
{
    struct leat_sim_histogram *free[BATCHES / 2];
    for (uint32_t i = 0; i < BATCHES / 2; i++) {
        struct leat_net_steady_batch both = steady->batch[2 * i];
        add_batch(&both, &steady->batch[2 * i + 1]);
        steady->batch[i] = both;
        free[i] = steady->latency[2 * i + 1];
        add_histogram(steady->latency[2 * i], free[i]);
        clear_histogram(free[i]);
        steady->latency[i] = steady->latency[2 * i];
    }
    for (uint32_t i = 0; i < BATCHES / 2; i++) {
        steady->batch[BATCHES / 2 + i] = (struct leat_net_steady_batch){ 0 };
        steady->latency[BATCHES / 2 + i] = free[i];
    }
    steady->count = BATCHES / 2;
    steady->batch_cycles *= 2;
}

/* Makes the batch of cycle `at` the last one of the table. */
static void advance(struct leat_net_steady *steady, uint64_t at)
{
    while (at >= steady->batch_end) {
        if (steady->count == BATCHES) {
            halve_table(steady);
            continue;
        }
        steady->count++;
        steady->batch_end += steady->batch_cycles;
    }
}

void leat_net_steady_add(struct leat_net_steady *steady, const struct leat_net_arrival *arrival)
{
    const struct leat_net_packet *packet = &arrival->packet;
    if (arrival->tail_at < steady->begin) return;
    if (arrival->tail_at >= steady->batch_end) advance(steady, arrival->tail_at);
    struct leat_net_steady_batch *batch = &steady->batch[steady->count - 1];
    if (arrival->fate == LEAT_NET_DELIVERED) {
        const uint64_t latency = arrival->tail_at - packet->created_at;
        batch->packets++;
        batch->latency += latency;
        batch->hops += arrival->hops;
        batch->flits += packet->flits;
        leat_sim_histogram_add(steady->latency[steady->count - 1], latency);
    } else if (arrival->fate == LEAT_NET_NO_ROOM) {
        batch->flits_no_room += packet->flits;
    } else {
        batch->flits_faulty += packet->flits;
    }
}

void leat_net_steady_created(struct leat_net_steady *steady, uint64_t at)
{
    if (at < steady->begin) {
        steady->early++;
        return;
    }
    if (at >= steady->batch_end) advance(steady, at);
    /* Most are new; those of a saturated source are late. */
    const bool new = steady->batch_end - at <= steady->batch_cycles;
    const uint64_t i = new ? steady->count - 1 : (at - steady->begin) / steady->batch_cycles;
    steady->batch[i].created++;
}

void leat_net_steady_reach(struct leat_net_steady *steady, uint64_t now)
{
    if (now > steady->begin) advance(steady, now - 1);
}

/* The table of a time depends on that time alone, so the batches are the same. */
void leat_net_steady_move(struct leat_net_steady *to, struct leat_net_steady *from, uint64_t now)
{
    to->early += from->early;
    from->early = 0;
    if (now <= to->begin) return;
    assert(to->begin == from->begin);
    advance(to, now - 1);
    advance(from, now - 1);
    for (uint32_t i = 0; i < to->count; i++) {
        add_batch(&to->batch[i], &from->batch[i]);
        from->batch[i] = (struct leat_net_steady_batch){ 0 };
        add_histogram(to->latency[i], from->latency[i]);
        clear_histogram(from->latency[i]);
    }
}

/* The maximum is no sum. */
static void gather_histogram(struct leat_sim_histogram *h, struct leat_sim_ranks *ranks)
{
    const uint64_t max = leat_sim_ranks_most(ranks, h->max);
    leat_sim_ranks_add(ranks, &h->count, 1);
    if (!h->count) return;
    leat_sim_ranks_add(ranks, &h->sum, 1);
    leat_sim_ranks_add(ranks, h->bin, LEAT_SIM_HISTOGRAM_BINS);
    h->max = max;
    if (ranks->rank) clear_histogram(h);
}

void leat_net_steady_gather(struct leat_net_steady *steady, struct leat_sim_ranks *ranks,
                            uint64_t now)
{
    enum { NUMBERS = sizeof *steady->batch / sizeof(uint64_t) };
    _Static_assert(sizeof *steady->batch == NUMBERS * sizeof(uint64_t), "a batch is numbers");
    leat_sim_ranks_add(ranks, &steady->early, 1);
    if (ranks->rank) steady->early = 0;
    if (now <= steady->begin) return;
    advance(steady, now - 1);
    for (uint32_t i = 0; i < steady->count; i++) {
        leat_sim_ranks_add(ranks, (uint64_t *)&steady->batch[i], NUMBERS);
        if (ranks->rank) steady->batch[i] = (struct leat_net_steady_batch){ 0 };
        gather_histogram(steady->latency[i], ranks);
    }
}

/* An incomplete last batch is merged with the one before it. */
uint32_t leat_net_steady_bounds(struct leat_net_steady *steady, uint64_t now, uint64_t *bound)
{
    bound[0] = steady->begin;
    if (now <= steady->begin) return 0;
    advance(steady, now - 1);
    const uint32_t pieces = steady->count - (steady->count > 1 && now < steady->batch_end);
    for (uint32_t i = 1; i < pieces; i++)
        bound[i] = steady->begin + i * steady->batch_cycles;
    bound[pieces] = now;
    return pieces;
}

/* ---- what came of it ------------------------------------------------------------------------- */

/* The batches as measured, starting from one of them. */
struct view {
    struct leat_net_steady_batch batch[BATCHES];
    uint64_t bound[BATCHES + 1];
    const uint64_t *offered; /* flits; NULL: unknown */
    uint32_t count;
};

static struct view view_of(struct leat_net_steady *steady, uint64_t now, const uint64_t *offered)
{
    struct view v = { .offered = offered };
    v.count = leat_net_steady_bounds(steady, now, v.bound);
    for (uint32_t i = 0; v.count && i < steady->count; i++)
        add_batch(&v.batch[i < v.count ? i : v.count - 1], &steady->batch[i]);
    return v;
}

static struct ratio latency_of(const struct view *v, uint32_t from)
{
    struct ratio r = { .count = v->count - from };
    for (uint32_t i = from; i < v->count; i++) {
        r.sum[i - from] = (double)v->batch[i].latency;
        r.per[i - from] = (double)v->batch[i].packets;
    }
    return r;
}

static struct ratio flits_of(const struct view *v, uint32_t from)
{
    struct ratio r = { .count = v->count - from };
    for (uint32_t i = from; i < v->count; i++) {
        r.sum[i - from] = (double)v->batch[i].flits;
        r.per[i - from] = (double)(v->bound[i + 1] - v->bound[i]);
    }
    return r;
}

/* Flits that were offered in a batch and neither arrived nor were lost by a fault, minus those that
 * left the queues. Losses at full buffers count as if they waited. */
static struct ratio growth_of(const struct view *v, uint32_t from)
{
    struct ratio r = flits_of(v, from);
    for (uint32_t i = from; i < v->count; i++)
        r.sum[i - from] = (double)v->offered[i] - r.sum[i - from] -
                          (double)v->batch[i].flits_faulty;
    return r;
}

static struct ratio waiting_of(const struct view *v)
{
    struct ratio r = growth_of(v, 0);
    double waiting = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        waiting += r.sum[i] - (double)v->batch[i].flits_no_room;
        r.sum[i] = waiting * r.per[i];
    }
    return r;
}

static uint32_t warmup_of(const struct view *v)
{
    const struct ratio latency = latency_of(v, 0);
    const uint32_t from = truncation(&latency);
    if (!v->offered) return from;
    const struct ratio waiting = waiting_of(v);
    const uint32_t other = truncation(&waiting);
    return from > other ? from : other;
}

static void put_rate(struct leat_text *text, double flits)
{
    const uint64_t parts = (uint64_t)(flits * 10000 + 0.5);
    leat_text_decimal(text, parts / 10000);
    leat_text_putc(text, '.');
    for (uint64_t digit = 1000; digit; digit /= 10)
        leat_text_putc(text, (char)('0' + parts / digit % 10));
}

static void say_why(const struct view *v, uint32_t from, double growth,
                    struct leat_net_steady_result *out)
{
    struct leat_text text;
    double no_room = 0;
    for (uint32_t i = from; i < v->count; i++)
        no_room += (double)v->batch[i].flits_no_room;
    leat_text_init(&text, out->reason, sizeof out->reason - 1, NULL, NULL);
    leat_text_puts(&text, "of ");
    put_rate(&text, out->offered);
    leat_text_puts(&text, " flits offered per terminal and cycle ");
    put_rate(&text, out->accepted);
    leat_text_puts(&text, " came through after the warm-up; the others ");
    leat_text_puts(&text, no_room * 2 > growth ? "found full buffers and were lost"
                                               : "wait, more and more of them");
    out->reason[text.len] = '\0';
}

/* Is the growth of these batches significant, and does it matter? */
static bool grows(const struct ratio *growth, double flits_offered)
{
    const double mean = mean_of(growth), error = error_of(growth);
    double cycles = 0;
    for (uint32_t i = 0; i < growth->count; i++)
        cycles += growth->per[i];
    return growth->count >= GROWTH_BATCHES_MIN && mean > GROWTH_ERRORS * error &&
           mean * cycles * GROWTH_PART > flits_offered;
}

static double flits_offered(const struct view *v, uint32_t from, uint32_t to)
{
    double flits = 0;
    for (uint32_t i = from; i < to; i++)
        flits += (double)v->offered[i];
    return flits;
}

static void find_saturation(const struct view *v, uint32_t from, uint32_t terminals,
                            struct leat_net_steady_result *out)
{
    const struct ratio growth = growth_of(v, from);
    const double flits = flits_offered(v, from, v->count);
    out->offered = flits / (double)out->cycles / terminals;
    out->saturated = grows(&growth, flits);
    if (out->saturated) say_why(v, from, mean_of(&growth) * (double)out->cycles, out);
}

/* Histograms of the table's batches: the last measured batch may have two of them. */
static void find_latency(struct leat_net_steady *steady, const struct view *v, uint32_t from,
                         struct leat_net_steady_result *out)
{
    const struct ratio latency = latency_of(v, from);
    uint64_t hops = 0;
    clear_histogram(steady->all);
    for (uint32_t i = from; i < steady->count; i++)
        add_histogram(steady->all, steady->latency[i]);
    for (uint32_t i = from; i < v->count; i++)
        hops += v->batch[i].hops;
    out->packets = steady->all->count;
    out->latency_mean = leat_sim_histogram_mean(steady->all);
    out->latency_p50 = leat_sim_histogram_quantile(steady->all, 500);
    out->latency_p99 = leat_sim_histogram_quantile(steady->all, 990);
    out->latency_max = steady->all->max;
    out->hops_mean = out->packets ? (double)hops / (double)out->packets : 0;
    out->latency_half = half_interval(latency);
    out->settled = latency.count >= SETTLED_BATCHES_MIN && !drifts(&latency);
}

void leat_net_steady_result(struct leat_net_steady *steady, uint64_t now, uint32_t terminals,
                            const uint64_t *offered, struct leat_net_steady_result *out)
{
    const struct view v = view_of(steady, now, offered);
    *out = (struct leat_net_steady_result){ .warmup = steady->begin };
    if (v.count == 0) return;
    const uint32_t from = steady->finds ? warmup_of(&v) : 0;
    const struct ratio flits = flits_of(&v, from);
    out->warmup = v.bound[from];
    out->cycles = now - out->warmup;
    out->has_intervals = flits.count >= 2;
    out->accepted = mean_of(&flits) / terminals;
    out->accepted_half = half_interval(flits) / terminals;
    find_latency(steady, &v, from, out);
    if (offered) find_saturation(&v, from, terminals, out);
}

/* ---- precision ------------------------------------------------------------------------------- */

uint64_t leat_net_steady_look_after(const struct leat_net_steady *steady, uint64_t now)
{
    uint64_t batch = LEAT_NET_STEADY_BATCH_CYCLES;
    while (steady->begin + BATCHES * batch <= now)
        batch *= 2;
    const uint64_t early = steady->begin + LOOK_BATCHES * batch;
    return now < early ? early : steady->begin + BATCHES * batch;
}

static bool is_precise(const struct ratio *r, uint32_t precision_ppm)
{
    const double share = precision_ppm / 1e6;
    return half_interval(*r) <= share / (1 + share) * mean_of(r);
}

/* In both halves: a queue that only fills up at first does not grow in the second. */
static bool is_saturated_for_good(const struct view *v, uint32_t from)
{
    const uint32_t middle = from + (v->count - from) / 2;
    if (!v->offered || middle < from + LOOK_GROWTH_BATCHES) return false;
    struct ratio first = growth_of(v, from);
    const struct ratio second = growth_of(v, middle);
    first.count = middle - from;
    return grows(&first, flits_offered(v, from, middle)) &&
           grows(&second, flits_offered(v, middle, v->count));
}

/* By the rule of the result. */
static bool seems_saturated(const struct view *v, uint32_t from)
{
    if (!v->offered) return false;
    const struct ratio growth = growth_of(v, from);
    return grows(&growth, flits_offered(v, from, v->count));
}

enum leat_net_steady_verdict leat_net_steady_judge(struct leat_net_steady *steady, uint64_t now,
                                                   const uint64_t *offered, uint32_t precision_ppm)
{
    const struct view v = view_of(steady, now, offered);
    const uint32_t from = steady->finds ? warmup_of(&v) : 0;
    const struct ratio latency = latency_of(&v, from), flits = flits_of(&v, from);
    const double cycles = (double)(now - v.bound[from]);
    const double needed = GROUPS_MIN * LOOK_LATENCIES * mean_of(&latency);
    if (mean_of(&latency) <= 0 || !is_precise(&flits, precision_ppm))
        return LEAT_NET_STEADY_GOES_ON;
    if (is_saturated_for_good(&v, from)) return LEAT_NET_STEADY_SATURATED;
    if (seems_saturated(&v, from) || cycles < needed || drifts(&latency) ||
        !is_precise(&latency, precision_ppm))
        return LEAT_NET_STEADY_GOES_ON;
    return LEAT_NET_STEADY_PRECISE;
}
