/*
 * ESP for programs: this host as a member of a group, or as its root that asks all members at once.
 * Packets go over UDP; the routers on their way (leat esp route) count, compare and sum.
 *
 *   struct leat_esp_host_member *member = leat_esp_host_member_open(&config, why);     on every
 * host leat_esp_host_member_set(member, load); leat_esp_host_member_serve(member, 1000, why); again
 * and again
 *
 *   struct leat_esp_host_root *root = leat_esp_host_root_open(&config, why);           on one
 *   leat_esp_host_root_gather(root, 16, 5000);                                until 16 members have
 * joined request = leat_esp_host_root_request(LEAT_ESP_SERVICE_SUM, true);         robust
 *   leat_esp_host_root_ask(root, &request, &result, &cost, why);              result.answer
 *
 * Without a key anybody can join and announce; a tree map and multicast need the key of the
 * routers. With a key the root must see the members' own addresses: none may be translated on the
 * way.
 *
 * `why` is always room for LEAT_ESP_HOST_WHY_LEN characters: what is wrong, for people.
 */
#ifndef LEAT_ESP_HOST_H
#define LEAT_ESP_HOST_H

#include "esp_service.h"

enum {
    LEAT_ESP_HOST_WHY_LEN = 320,
    LEAT_ESP_HOST_MEMBERS_MAX = 4096,
    LEAT_ESP_HOST_NODES_MAX = 1024,
};

struct leat_esp_host_config {
    uint64_t group;
    const char *bind;       /* ADDRESS[:PORT]; NULL: any address, port 4253 */
    const uint8_t *key;     /* the network's, LEAT_ESP_KEY_LEN octets; NULL: nothing is keyed */
    const char *root;       /* members: ADDRESS[:PORT] */
    const char *via;        /* members: the first router of an overlay; NULL: routers are on the
                               way to the root */
    uint64_t value;         /* members: the first one; leat_esp_host_member_set changes it */
    uint64_t join_every_ns; /* members; 0: a second */
    uint64_t tau_ns;        /* root: lifetime of bindings at the routers; 0: ten seconds */
};

enum leat_esp_host_end {
    LEAT_ESP_HOST_OK,
    LEAT_ESP_HOST_WRONG,  /* the request cannot be right */
    LEAT_ESP_HOST_FAILED, /* the system refuses */
    LEAT_ESP_HOST_SILENT, /* no answer, or not from all */
};

/* ---- a member ------------------------------------------------------------------------------- */

struct leat_esp_host_member;

/* NULL: why. */
struct leat_esp_host_member *leat_esp_host_member_open(const struct leat_esp_host_config *config,
                                                       char *why);

/* Leaves the group, too. */
void leat_esp_host_member_close(struct leat_esp_host_member *member);

/* Its value from now on. */
void leat_esp_host_member_set(struct leat_esp_host_member *member, uint64_t value);

/* Serves the group for so long; a cast, or an interrupt (EINTR), ends it earlier. */
enum leat_esp_host_end leat_esp_host_member_serve(struct leat_esp_host_member *member,
                                                  uint64_t for_ms, char *why);

struct leat_esp_host_member_counts {
    bool welcome;            /* the root has answered */
    uint64_t sent, received; /* packets */
    uint64_t announced;      /* of them, announcements that it acts by */
    uint64_t refused;        /* ... that made no sense, had another key or were past */
    uint64_t casts;          /* texts to the group, each counted once */
};
void leat_esp_host_member_counts(const struct leat_esp_host_member *member,
                                 struct leat_esp_host_member_counts *counts);

/* The text of the latest cast; its length, 0: none yet. Lent until the next serve. */
size_t leat_esp_host_member_cast(const struct leat_esp_host_member *member, const uint8_t **text);

/* ---- the root ------------------------------------------------------------------------------- */

struct leat_esp_host_root;

struct leat_esp_host_root *leat_esp_host_root_open(const struct leat_esp_host_config *config,
                                                   char *why);
void leat_esp_host_root_close(struct leat_esp_host_root *root);

/* Hears JOINs until there are so many members, or for so long. How many there are. */
uint32_t leat_esp_host_root_gather(struct leat_esp_host_root *root, uint32_t members,
                                   uint64_t for_ms);

/* What is usual in a local network: 8 rounds 20 ms apart, 100 ms for a packet on its way. */
struct leat_esp_request leat_esp_host_root_request(enum leat_esp_announced kind, bool robust);

/* What asking took, beside the result. */
struct leat_esp_host_root_cost {
    uint64_t sent, received; /* packets, of this host */
    uint64_t took_ns;
    /* Since the root was opened: */
    uint64_t refused;    /* packets that made no sense or had another key; JOINs without room */
    uint64_t forged;     /* keyed JOINs and farewells from elsewhere than they say */
    uint64_t replayed;   /* ... that were sent before */
    uint64_t unproven;   /* JOINs of hosts not known yet, which must answer the root's challenge */
    uint64_t unanswered; /* of them, those that came when no challenge was left to send */
    bool in_doubt;       /* since one of those, members may be there that were not asked */
};

/*
 * Asks all members that are known. SILENT: no answer, or one that is not of all of them, and `why`
 * tells what is missing; the result is filled in all the same.
 */
enum leat_esp_host_end leat_esp_host_root_ask(struct leat_esp_host_root *root,
                                              const struct leat_esp_request *request,
                                              struct leat_esp_service_result *result,
                                              struct leat_esp_host_root_cost *cost, char *why);

/* The tree of the last request that was for one, and the members. Lent until the next. */
const struct leat_esp_map *leat_esp_host_root_map(const struct leat_esp_host_root *root);
const struct leat_esp_roster *leat_esp_host_root_roster(const struct leat_esp_host_root *root);

/*
 * A text to all members: over the duplicates of the last request for MULTICAST while they live,
 * else one by one. *packets is how many the root sent.
 */
enum leat_esp_host_end leat_esp_host_root_cast(struct leat_esp_host_root *root, const uint8_t *text,
                                               uint16_t len, uint32_t *packets, char *why);

#endif
