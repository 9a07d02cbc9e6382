/*
 * Where the packets of leat esp send and exec travel: over simulated routers (esp_stage_sim.c), or
 * over the network of this host (esp_stage_live.c). esp_play.c performs a script on either.
 */
#ifndef LEAT_ESP_STAGE_H
#define LEAT_ESP_STAGE_H

#include "esp_script.h"

struct esp_play;

/* Hosts that a name of the script stands for, by their numbers on the stage. None: another machine
 * plays them. */
struct esp_cast {
    uint32_t first, count;
};

/* A packet that has reached a host. */
struct esp_arrival {
    uint32_t host;
    uint64_t at_ps;
    char from[ESP_HOST_NAME_LEN];
    struct leat_esp_packet packet;
    bool is_consumed;
};

/* Functions that return bool: false after a complaint. */
struct esp_stage {
    void *context;
    /* False: *why says what was expected. */
    bool (*find)(void *context, const char *name, struct esp_cast *cast, const char **why);
    /* Can packets be sent to it? As find. */
    bool (*find_target)(void *context, const char *name, const char **why);
    /* '@' of a host; what the script calls it. */
    uint64_t (*number)(void *context, uint32_t host);
    void (*name)(void *context, uint32_t host, char name[ESP_HOST_NAME_LEN]);
    bool (*send)(void *context, uint32_t from, const char *to,
                 const struct leat_esp_packet *packet);
    /* Until `until_ps`, or until something arrives: then the stage calls esp_play_arrived. */
    bool (*run)(void *context, uint64_t until_ps);
    uint64_t (*now_ps)(void *context);
    /* Its own members of a JSON object and lines of text, behind those of the play. */
    void (*show)(void *context, struct leat_json *json, FILE *text);
};

struct esp_play {
    const struct esp_stage *stage;
    uint64_t patience_ps; /* of a step without a time */
    struct esp_arrival *arrival;
    uint32_t arrivals, cap;
    uint32_t consumed; /* at least so many of the first ones */
    bool is_full;      /* arrivals were dropped */
    uint64_t sent;
    uint32_t met; /* steps that went as expected */
};

/* A stage has received a packet. */
void esp_play_arrived(struct esp_play *play, const struct esp_arrival *arrival);

/* Opens the stage of the command line. False after a complaint; *code is then the exit code. */
bool esp_stage_sim_open(const struct arguments *args, struct esp_play *play,
                        struct esp_stage *stage, int *code);
void esp_stage_sim_close(struct esp_stage *stage);

/* `player`: the host of the script that this host plays. */
bool esp_stage_live_open(const struct arguments *args, const char *player, struct esp_play *play,
                         struct esp_stage *stage, int *code);
void esp_stage_live_close(struct esp_stage *stage);

#endif
