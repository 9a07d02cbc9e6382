/* leat esp sim --record (esp_record.c). */
#ifndef LEAT_ESP_RECORD_H
#define LEAT_ESP_RECORD_H

#include "esp_sim.h"
#include "tool.h"

/* From now on; `fabric`: its name, or NULL. False after a complaint. */
bool esp_record_open(const char *path, const char *fabric, struct leat_sim_esp *sim);
/* Also allowed if there is none. False after a complaint. */
bool esp_record_close(bool keep);

#endif
