/*
 * --prometheus [FILE]: what a status prints with --json, as Prometheus and the textfile
 * collector of its node exporter read it. The object alone says how:
 *
 *   "refused": 3                                    leat_esp_refused 3
 *   "keyed": true                                   leat_esp_keyed 1
 *   "counts": { "crc": 2 }                          leat_esp_counts_total{reason="crc"} 2
 *   "stores": [ { "store": "centre", "live": 7 } ]  leat_esp_stores_live{store="centre"} 7
 *   "driver": "xdp"                                 leat_esp_info{driver="xdp"} 1
 */
#ifndef LEAT_PROMETHEUS_H
#define LEAT_PROMETHEUS_H

#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>

enum { PROMETHEUS_SAMPLES_MAX = 16384, PROMETHEUS_TEXT_MAX = 1 << 22 };

/* One JSON object of a verb. False: it is none, or has more samples than that. */
bool prometheus_put(const char *verb, const char *json, size_t len, struct leat_text *out);

#endif
