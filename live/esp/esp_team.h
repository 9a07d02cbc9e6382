/* A group of hosts (leat/esp_team.h): what its files share. */
#ifndef ESP_TEAM_H
#define ESP_TEAM_H

#include "esp_host.h"
#include <leat/esp_team.h>

enum {
    ESP_TEAM_PLACES = 32, /* computations of an epoch and identity: more than words */
    ESP_TEAM_KEPT = 2 * LEAT_ESP_TEAM_CASTS, /* results: hosts differ by fewer operations */
};

/* The root: what has arrived for a word. */
struct esp_team_total {
    uint64_t value;
    uint32_t parts;
};

struct esp_team_result {
    uint64_t next; /* the number of the operation after it; 0: none */
    uint32_t words;
    uint64_t word[LEAT_ESP_TEAM_WORDS_MAX];
};

struct leat_esp_team {
    struct leat_esp_host_root *root;     /* before it leads or joins, too, if the port was free */
    struct leat_esp_host_member *member; /* NULL: the root */
    struct leat_keys keys;
    uint64_t id;
    uint64_t tag; /* chldCntTag of the node above, or of the root itself */
    uint64_t patience_ns;
    struct leat_esp_team_counts counts;

    /* The current operation, or the next one. */
    uint64_t number;
    uint32_t epoch;
    enum leat_port_fold fold;
    uint64_t *word;
    uint32_t words;
    uint64_t own[LEAT_ESP_TEAM_WORDS_MAX];
    bool is_entered, is_broken;
    bool is_cast, is_sender;
    uint64_t entered_ns, ask_ns, ask_after_ns;

    struct esp_team_result kept[ESP_TEAM_KEPT]; /* by number; others may want it, or it is early */

    /* The root. */
    uint32_t children; /* in the tree; itself is one more */
    uint32_t members;  /* without itself */
    struct esp_team_total total[2][ESP_TEAM_PLACES];
    uint64_t epoch_ns, renew_ns;
    uint8_t asks[LEAT_ESP_TEAM_MEMBERS_MAX]; /* 1: has asked for the current operation */
    uint32_t asking;
    char why[LEAT_ESP_HOST_WHY_LEN];
};

static inline struct esp_socket *esp_team_socket(struct leat_esp_team *g)
{
    return g->member ? &g->member->socket : &g->root->socket;
}

#endif
