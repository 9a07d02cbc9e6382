/* Means over runs, and how sure they are. */
#ifndef LEAT_MEAN_H
#define LEAT_MEAN_H

#include <stdint.h>

/* Of zeros: none yet. */
struct mean {
    uint32_t count;
    double mean;
    double squares; /* the sum of squared distances from it */
};

/* One more value; what is no number does not count. */
void mean_add(struct mean *mean, double value);

/* Half of the interval that holds the true mean with 95 % confidence, by Student's t; NAN: it is
 * not known from less than two values. */
double mean_half(const struct mean *mean);

#endif
