/* The subverbs of packets of one's own. An exit code. */
#ifndef LEAT_ESP_EXEC_H
#define LEAT_ESP_EXEC_H

#include "tool.h"

int esp_send(const struct arguments *args);
int esp_exec(const struct arguments *args);

#endif
