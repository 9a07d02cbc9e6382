/*
 * --config FILE: options of a verb from a file, with the names that they have on the command line:
 *
 *   # /etc/leat/esp-eth0.yaml
 *   dev:
 *     - eth0
 *     - eth1
 *   tau: 10s
 *   keyed-only: yes
 *
 * It is the part of YAML that this needs: "name: value", a list below a name, comments, and quotes
 * round a value. What the command line says goes before what the file says.
 */
#ifndef LEAT_CONFIG_H
#define LEAT_CONFIG_H

#include "tool.h"

enum { CONFIG_LEN_MAX = 1 << 16, CONFIG_LINE_MAX = 1024 };

#define OPTION_CONFIG                                                                             \
    {                                                                                             \
        "--config", "FILE", "further options from a file: lines \"name: value\", or a list below" \
    }

/* Gives one option the value of one line; DONE, or WRONG after a complaint. */
typedef int config_give(struct arguments *args, const char *name, const char *value);

/* Hands all lines of the file over. DONE, or WRONG after a complaint with the line. */
int config_read(const char *file, struct arguments *args, config_give *give);

#endif
