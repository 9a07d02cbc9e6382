/* Performs the steps of a script on a stage. */
#ifndef LEAT_ESP_PLAY_H
#define LEAT_ESP_PLAY_H

#include "esp_stage.h"

/* Does the stage know all hosts, and can all packets be made? False after a complaint. */
bool esp_play_check(const struct esp_play *play, const struct esp_script *script);

/* False after a complaint: the step failed. */
bool esp_play_step(struct esp_play *play, const char *file, const struct esp_step *step);

/* Runs the stage; false after a complaint: it failed, or more has arrived than is kept. */
bool esp_play_run(struct esp_play *play, uint64_t until_ps);

/* What has arrived, as members of a JSON object and as lines of text. */
void esp_play_show(const struct esp_play *play, struct leat_json *json, FILE *text);

#endif
