/*
 * Teams: groups of hosts below ESP routers that fold words of 64 bits together (spec/esp.md,
 * "Installed groups" and "Groups of hosts"): sums, extremes, barriers, by COLLECT packets that the
 * routers fold on the way. One host of the group is its root.
 *
 *   every host                       the root                        the others
 *   leat_esp_team_open   ------->   leat_esp_team_lead   <------   leat_esp_team_join
 *   can it be the root?              maps the tree of routers, tells each how many children it has
 *
 *   leat_esp_team_enter(group, LEAT_PORT_SUM, word, words);        lent until it is over
 *   while ((state = leat_esp_team_step(group)) == LEAT_ESP_TEAM_WORKS)
 *       leat_esp_team_wait(group, 1000);                           or something else
 *
 * Each host sends a packet for each word; each router folds those of its children into one. The
 * root tells all hosts the result, and passes on casts. If a packet is lost, all hosts send their
 * words again, when all have noticed. Between operations the root calls leat_esp_team_step now and
 * then, for hosts that have lost a result.
 *
 * DOUBTS: an operation has taken longer than the patience; it goes on. If all hosts say so, all
 * have entered, and the network does not carry it out: they need another way to agree.
 *
 * In libleat_esp. Needs no rights, but the network's key. A root needs UDP port 4253 for itself, so
 * a host can be the root of one group at a time. `why`: LEAT_ESP_HOST_WHY_LEN characters.
 */
#ifndef LEAT_ESP_TEAM_H
#define LEAT_ESP_TEAM_H

#include <leat/esp.h>
#include <leat/port.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_ESP_TEAM_WORDS_MAX = 24,
    LEAT_ESP_TEAM_MEMBERS_MAX = LEAT_ESP_HOST_MEMBERS_MAX,
    LEAT_ESP_TEAM_CASTS = 16,       /* fewer casts than this between two folds */
    LEAT_ESP_TEAM_ADDRESS_LEN = 16, /* IPv4 as ::ffff:a.b.c.d */
};

/* The process's way to a group; opaque. */
struct leat_esp_team;

struct leat_esp_team_seat {
    uint8_t address[LEAT_ESP_TEAM_ADDRESS_LEN];
    bool can_lead;
    uint64_t id; /* of the group, if this host leads it */
};

enum leat_esp_team_state {
    LEAT_ESP_TEAM_WORKS,
    LEAT_ESP_TEAM_OVER,
    LEAT_ESP_TEAM_DOUBTS, /* leat_esp_team_why */
    LEAT_ESP_TEAM_BROKEN,
};

/* What happened to a group's packets. */
struct leat_esp_team_counts {
    uint64_t sent, received;
    uint64_t asked;    /* packets that asked for a result */
    uint64_t repeated; /* operations that were started again */
};

/*
 * Finds this host's address in a network (ADDRESS/BITS), and takes UDP port 4253 there if it is
 * free. key_file: the network's key. WRONG: see `why`.
 */
LEAT_API enum leat_esp_host_end leat_esp_team_open(const char *network, const char *key_file,
                                                   struct leat_esp_team **out,
                                                   struct leat_esp_team_seat *seat, char *why);

/*
 * The root: waits for the other hosts to join, finds the routers between them, and tells these how
 * many children they have. SILENT: see `why`. `members`: with itself. An operation that takes
 * longer than patience_us is in doubt.
 */
LEAT_API enum leat_esp_host_end leat_esp_team_lead(struct leat_esp_team *group, uint32_t members,
                                                   uint64_t timeout_ms, uint64_t patience_us,
                                                   char *why);

/*
 * Another host: joins the root, which has this seat. SILENT: the root has not finished in time; the
 * same call goes on to wait.
 */
LEAT_API enum leat_esp_host_end leat_esp_team_join(struct leat_esp_team *group,
                                                   const struct leat_esp_team_seat *root,
                                                   uint64_t timeout_ms, uint64_t patience_us,
                                                   char *why);

/* Hands over this host's words, lent until it is over; none: a barrier. One at a time. */
LEAT_API void leat_esp_team_enter(struct leat_esp_team *group, enum leat_port_fold fold,
                                  uint64_t *word, uint32_t words);

/*
 * Words of one host, the sender, for all. The sender does not wait for the others: it is over when
 * the root has the words. The others' words become these. Otherwise as enter.
 */
LEAT_API void leat_esp_team_cast(struct leat_esp_team *team, bool is_sender, uint64_t *word,
                                 uint32_t words);

/* Goes on as far as possible without waiting. OVER: the words are the result, or there is no
 * operation. */
LEAT_API enum leat_esp_team_state leat_esp_team_step(struct leat_esp_team *group);

/* Sleeps until something may have happened, at most this long. */
LEAT_API void leat_esp_team_wait(struct leat_esp_team *group, uint64_t timeout_us);

/* Why it is broken or in doubt: a sentence without a full stop. */
LEAT_API const char *leat_esp_team_why(const struct leat_esp_team *group);

/* What has happened in it so far. */
LEAT_API void leat_esp_team_count(const struct leat_esp_team *group,
                                  struct leat_esp_team_counts *out);

/* The routers forget the group. NULL is allowed. */
LEAT_API void leat_esp_team_close(struct leat_esp_team *group);

#ifdef __cplusplus
}
#endif

#endif
