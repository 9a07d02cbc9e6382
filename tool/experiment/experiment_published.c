/* Figures that the thesis printed (seed 001; spec/atm.md has its errata). */
#include "experiment.h"

/* Table 11.1: one-way delays, in cycles. */
const struct published_delay published_delays[PUBLISHED_DELAYS] = {
    { 1000, 19460 },   { 5000, 94410 },   { 10000, 190441 },  { 15000, 281160 },  { 20000, 370003 },
    { 25000, 460233 }, { 30000, 534713 }, { 35000, 620481 },  { 40000, 685766 },  { 45000, 758368 },
    { 50000, 863335 }, { 55000, 964429 }, { 60000, 1069154 }, { 65000, 1157703 },
};

/* Example 4 of appendix K.3. */
const char published_system[] = "1 2 3 4 1\n"
                                "5 6 7 8 1\n"
                                "9 10 18 17 1\n"
                                "13 14 15 19 1\n";

/* Example 2 of the matrix products. */
const char published_product[] = "1 2\n3 5\n*\n1 0\n0 1\n";
