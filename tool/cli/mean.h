/* Means over runs, with confidence intervals. */
#ifndef LEAT_MEAN_H
#define LEAT_MEAN_H

#include <stdint.h>

/* All zeros: no values yet. */
struct mean {
    uint32_t count;
    double mean;
    double squares; /* the sum of squared distances from it */
};

/* Adds a value; NAN does not count. */
void mean_add(struct mean *mean, double value);

/* Half-width of the 95 % confidence interval of the mean, by Student's t; NAN: fewer than two
 * values. */
double mean_half(const struct mean *mean);

#endif
