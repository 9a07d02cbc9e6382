/*
 * A system of linear equations: the task of one coefficient (spec/atm.md, 7.3). srl starts one for
 * each, `me` counts them row by row:
 *
 *      0  1  2 |  3        step 1: pivot 0, pivot row 1 2 3, rows below 4 .. 7 and 8 .. 11
 *      4  5  6 |  7        step 2: pivot 5, pivot row 6 7,   row below 9 10 11
 *      8  9 10 | 11        x3 is found by 11, then x2 by 7, then x1 by 3
 *
 * Messages have the number of the sender as their type, in the second phase with all workers added.
 */
#include <leat/atm_task.h>
#include <stdio.h>

static struct shmst *dev;
static struct prcsdescstr *prcstab;
static int n, width, workers; /* unknowns; of a row; coefficients */
static int me;
static float v; /* the current coefficient */

/* ---- messages -------------------------------------------------------------------------------- */

static void send(const char *name, int inst, int type, float value)
{
    atminitsend(dev);
    atmputnfloat(dev, &value, 1);
    atmsnd(dev, prcstab, name, inst, type);
}

static void report_all(void)
{
    send("srp", -1, me, v);
}

static float receive(int type)
{
    float value;
    atmrcv(dev, type);
    atmgetnfloat(dev, &value, 1);
    dev->rlcked = 0;
    return value;
}

/* ---- triangulation --------------------------------------------------------------------------- */

/* One step, which makes the column below its pivot 0. */
struct step {
    int pivot; /* its task */
    int below; /* rows */
};

/* The pivot is 0. The tasks below it send their coefficients, in turn, until one is not 0. Returns
 * its row, counted from the pivot's, and its value in *out; 0: there is none. */
static int find_other_pivot(struct step step, float *out)
{
    for (int i = 1; i <= step.below; i++) {
        const int candidate = step.pivot + i * width;
        if (me == candidate) report_all();
        *out = me == candidate ? v : receive(candidate);
        if (*out != 0) return i;
    }
    return 0;
}

static void be_pivot(struct step step)
{
    report_all();
    if (v == 0 && !find_other_pivot(step, &v)) return;
    report_all();
}

/* Swaps its row with the one that has the other pivot. */
static void be_in_pivot_row(struct step step)
{
    float pivot = receive(step.pivot);
    if (pivot == 0) {
        const int row = find_other_pivot(step, &pivot);
        if (!row) return;
        send("srp", me + row * width, me, v);
        v = receive(me + row * width);
    }
    report_all();
}

static void be_below(struct step step, int row)
{
    const int first = step.pivot + row * width; /* of its row, in the column of the pivot */
    float pivot = receive(step.pivot);
    if (pivot == 0) {
        const int other = find_other_pivot(step, &pivot);
        if (!other) return;
        if (row == other && me == first) {
            v = 0;
        } else if (row == other) {
            send("srp", me - row * width, me, v);
            v = receive(me - row * width);
        }
    }
    const float above = receive(me - row * width);
    if (me == first) report_all();
    const float left = me == first ? v : receive(first);
    v = v - left * above / pivot;
}

static void triangulate(void)
{
    for (int t = 1; t < n; t++) {
        const struct step step = { .pivot = (t - 1) * (width + 1), .below = n - t };
        const int row = me / width - (t - 1), column = me % width - (t - 1);
        if (row < 0 || column < 0) continue; /* already eliminated */
        if (row > 0)
            be_below(step, row);
        else if (column > 0)
            be_in_pivot_row(step);
        else
            be_pivot(step);
    }
}

/* ---- result calculation ---------------------------------------------------------------------- */

/* The last task of row t computes x of that row; `known` are those of the rows below. */
static float find_x(int last, int known)
{
    const int diagonal = last - known - 1;
    float s = 0;
    for (int i = 1; i <= known; i++) {
        const float coefficient = receive(diagonal + i + workers);
        const float x = receive(last + i * width + workers);
        const float product = coefficient * x; /* rounded separately, as all products are */
        s = s - product;
    }
    s = s + v;
    const float divisor = receive(diagonal + workers);
    if (divisor != 0) return s / divisor;
    if (s != 0) atmfail(dev, "solution impossible");
    return 1;
}

static float calculate_result(void)
{
    float x = 0;
    for (int t = n; t >= 1; t--) {
        const int last = t * width - 1, known = n - t;
        if (me == last)
            x = find_x(last, known);
        else if (me < last && me >= last - known - 1)
            send("srp", last, me + workers, v);
        else if (me > last && me % width == n)
            send("srp", last, me + workers, x);
    }
    return x;
}

int main(void)
{
    if (atmjoin(&dev, &prcstab)) return 1;
    me = atminst(dev);
    atmrcv(dev, me);
    atmgetnint(dev, &n, 1);
    atmgetnfloat(dev, &v, 1);
    dev->rlcked = 0;
    width = n + 1;
    workers = n * width;

    triangulate();
    send("srl", 0, me, v);
    const float x = calculate_result();
    if (me % width == n) send("srl", 0, me, x);
    return 0;
}
