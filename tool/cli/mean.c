#include "mean.h"
#include "net_steady.h"
#include <math.h>

/* Welford 1962: avoids the cancellation of large sums. */
void mean_add(struct mean *mean, double value)
{
    if (!isfinite(value)) return;
    const double from_old = value - mean->mean;
    mean->count++;
    mean->mean += from_old / mean->count;
    mean->squares += from_old * (value - mean->mean);
}

double mean_half(const struct mean *mean)
{
    if (mean->count < 2) return NAN;
    const uint32_t freedom = mean->count - 1;
    return leat_net_steady_student(freedom) * sqrt(mean->squares / freedom / mean->count);
}
