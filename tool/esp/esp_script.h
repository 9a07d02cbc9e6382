/*
 * Packets of one's own: leat esp send, and scripts of leat esp exec. A line is a step, a word has
 * no blanks, a comment begins with '#':
 *
 *   send HOST [to HOST] FIELD=VALUE...                  to root, unless given
 *   wait TIME
 *   expect HOST FIELD=VALUE... [within TIME]            consumes one packet that has arrived there
 *   silence HOST [FIELD=VALUE...] [within TIME]         none arrives; those that expect consumed do
 *                                                       not count
 *
 * A stage (esp_stage.h) knows the hosts and carries the packets: simulated routers, or the network
 * of this host. '@' in a value stands for the number of the host.
 */
#ifndef LEAT_ESP_SCRIPT_H
#define LEAT_ESP_SCRIPT_H

#include "json_out.h"
#include "tool.h"
#include <leat/esp.h>

enum {
    ESP_STEPS_MAX = 1 << 16,
    ESP_STEP_WORDS_MAX = 24,
    ESP_HOST_NAME_LEN = 64,
    ESP_ARRIVALS_MAX = 1 << 20, /* of a run */
};

enum esp_step_kind { ESP_STEP_SEND, ESP_STEP_WAIT, ESP_STEP_EXPECT, ESP_STEP_SILENCE };

struct esp_step {
    uint32_t line;
    enum esp_step_kind kind;
    bool has_time;
    uint64_t time_ps;
    char *host, *to; /* NULL: the step has none; the root */
    unsigned words;  /* FIELD=VALUE */
    char *word[ESP_STEP_WORDS_MAX];
};

struct esp_script {
    const char *file;
    struct esp_step *step;
    uint32_t steps, cap;
};

/* Reads and checks a script, "-": standard input. False after a complaint; call esp_script_free in
 * either case. */
bool esp_script_read(const char *file, struct esp_script *script);
void esp_script_free(struct esp_script *script);

/* The packet of a step's words at host `number`. False: `why` says what is wrong. */
bool esp_words_packet(char *const *word, unsigned words, uint64_t number,
                      struct leat_esp_packet *packet, struct leat_text *why);

/* Has the packet all fields that the words name? */
bool esp_words_match(char *const *word, unsigned words, const struct leat_esp_packet *wanted,
                     const struct leat_esp_packet *packet);

/* "COUNT 0x1 compValTag=0x101 thresh=1 flags=X", for people. */
void esp_packet_text(const struct leat_esp_packet *packet, struct leat_text *out);

#endif
