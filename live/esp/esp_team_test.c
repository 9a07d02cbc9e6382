/*
 * Teams over real loopback sockets, without routers: how they meet, what they refuse; and their
 * operations, in a tree whose root has all hosts as its children. In a network namespace of its own
 * where the system allows one, so that UDP port 4253 is free.
 */
#include "esp_gather.h"
#include "esp_limits.h"
#include "esp_octets.h"
#include "esp_team.h"
#include "live_system.h"
#include "tap.h"
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOSTS = 3, TEAM = HOSTS + 1 };
static const char *const network = "127.0.0.0/8";
static char key_file[] = "/tmp/leat-team-test.XXXXXX", why[LEAT_ESP_HOST_WHY_LEN];
static bool is_taken; /* the port, by somebody else */

static void a_network_of_its_own(void)
{
    struct ifreq request = { .ifr_name = "lo" };
    const char digits[] = "000102030405060708090a0b0c0d0e0f";
    const int file = mkstemp(key_file);
    OK(file >= 0 && write(file, digits, sizeof digits - 1) == sizeof digits - 1);
    close(file);
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
        printf("# no network namespace of its own: %s\n", __FILE__);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(LEAT_ESP_UDP_PORT) };
    if (ioctl(fd, SIOCGIFFLAGS, &request) == 0 && !(request.ifr_flags & IFF_UP)) {
        request.ifr_flags |= IFF_UP;
        OK(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    }
    is_taken = bind(fd, (const struct sockaddr *)&at, sizeof at) != 0;
    if (is_taken) printf("# SKIPPED, AND LOUDLY: UDP port 4253 is taken: %s\n", __FILE__);
    close(fd);
}

static struct leat_esp_team *open_team(struct leat_esp_team_seat *seat)
{
    struct leat_esp_team *g = NULL;
    EQ(leat_esp_team_open(network, key_file, &g, seat, why), LEAT_ESP_HOST_OK);
    return g;
}

/* ---- how they meet --------------------------------------------------------------------------- */

static void is_wrong(const char *where, const char *file, const char *because)
{
    struct leat_esp_team_seat seat = { .can_lead = true };
    struct leat_esp_team *g = (struct leat_esp_team *)&seat;
    EQ(leat_esp_team_open(where, file, &g, &seat, why), LEAT_ESP_HOST_WRONG);
    OK(!g && !seat.can_lead);
    OK(strstr(why, because) != NULL);
}

static void a_wrong_network_or_key_is_told(void)
{
    is_wrong("127.0.0/8", key_file, "network '127.0.0/8', expected ADDRESS/BITS");
    is_wrong("127.0.0.0/33", key_file, "expected ADDRESS/BITS");
    is_wrong("", key_file, "expected ADDRESS/BITS");
    is_wrong(NULL, key_file, "expected ADDRESS/BITS");
    is_wrong("192.0.2.0/24", key_file, "this host has no address in 192.0.2.0/24");
    is_wrong("127.0.0.2", key_file, "this host has no address in 127.0.0.2");
    is_wrong(network, "/nowhere/key", "/nowhere/key: cannot be opened");
    is_wrong(network, "/dev/null", "not a regular file");
    leat_esp_team_close(NULL);
}

static void who_does_not_get_the_port_cannot_lead(void)
{
    static const uint8_t local[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1 };
    struct leat_esp_team_seat seat[3];
    struct leat_esp_team_counts counts;
    if (is_taken) return;
    struct leat_esp_team *first = open_team(&seat[0]), *second = open_team(&seat[1]);
    OK(seat[0].can_lead && !seat[1].can_lead);
    OK(seat[0].id && seat[0].id != seat[1].id);
    for (int i = 0; i < 2; i++)
        OK(memcmp(seat[i].address, local, sizeof local) == 0);
    EQ(leat_esp_team_lead(second, 2, 10, 1000, why), LEAT_ESP_HOST_WRONG);
    OK(strstr(why, "a root with a free UDP port 4253") != NULL);
    EQ(leat_esp_team_lead(first, 1, 10, 1000, why), LEAT_ESP_HOST_WRONG);
    EQ(leat_esp_team_lead(first, LEAT_ESP_TEAM_MEMBERS_MAX + 1, 10, 1000, why),
       LEAT_ESP_HOST_WRONG);
    EQ(leat_esp_team_lead(first, 2, 10, 1000, why), LEAT_ESP_HOST_SILENT);
    OK(strstr(why, "0 of 1 other hosts have joined in time") != NULL);
    leat_esp_team_count(second, &counts);
    EQ(counts.sent + counts.received + counts.asked + counts.repeated, 0);
    leat_esp_team_close(first);
    struct leat_esp_team *third = open_team(&seat[2]);
    OK(seat[2].can_lead);
    leat_esp_team_close(second);
    leat_esp_team_close(third);
}

static struct leat_esp_team *team[TEAM]; /* the last is the root */
static struct leat_esp_team_seat root_seat;
static uint64_t join_ms;
enum { SLICE_MS = 20 };

struct joining {
    pthread_t thread;
    struct leat_esp_team *team;
    enum leat_esp_host_end end;
    char why[LEAT_ESP_HOST_WHY_LEN];
};

/* Looks now and then whether it is still to wait. */
static void *join(void *of)
{
    struct joining *j = of;
    for (uint64_t waited_ms = 0; waited_ms < join_ms; waited_ms += SLICE_MS) {
        j->end = leat_esp_team_join(j->team, &root_seat, SLICE_MS, 10000000, j->why);
        if (j->end != LEAT_ESP_HOST_SILENT) break;
    }
    return NULL;
}

/* All hosts join while the root leads; ready: and then it tells them that it has finished. */
static void meet(bool ready, enum leat_esp_host_end want)
{
    static struct joining joining[HOSTS];
    struct leat_esp_team_seat seat;
    uint32_t packets = 0;
    team[HOSTS] = open_team(&root_seat);
    join_ms = ready ? 20000 : 1500;
    for (int i = 0; i < HOSTS; i++) {
        joining[i].team = team[i] = open_team(&seat);
        OK(!seat.can_lead);
        pthread_create(&joining[i].thread, NULL, join, &joining[i]);
    }
    EQ(leat_esp_team_lead(team[HOSTS], TEAM, 10000, 10000000, why), LEAT_ESP_HOST_SILENT);
    /* "there is no ESP router"; or, if answers took too long, "expected running ESP routers" */
    OK(strstr(why, "ESP router") != NULL);
    if (ready) { /* as if the root were the node above all hosts */
        struct leat_esp_team *root = team[HOSTS];
        const uint64_t own = leat_esp_host_root_map(root->root)->node[0].id;
        uint8_t tag[LEAT_ESP_OPERAND_LEN];
        root->tag = leat_esp_children_tag(root->id, own);
        leat_put_be64(tag, root->tag);
        leat_esp_host_root_cast(root->root, tag, sizeof tag, &packets, why);
        EQ(packets, HOSTS);
    }
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(joining[i].thread, NULL);
        EQ(joining[i].end, want);
        if (want) OK(strstr(joining[i].why, "has not finished in time") != NULL);
    }
}

static void part(void)
{
    for (int i = 0; i < TEAM; i++)
        leat_esp_team_close(team[i]);
}

static void without_a_router_there_is_no_team(void)
{
    if (is_taken) return;
    meet(false, LEAT_ESP_HOST_SILENT);
    part();
}

/* ---- operations: the root folds what its children send, here the hosts themselves ------------ */

static uint64_t word[TEAM][LEAT_ESP_TEAM_WORDS_MAX];

/* What has arrived there is lost. Returns how many packets; the last one is in *letter. */
static unsigned lose(int host, struct esp_letter *letter)
{
    unsigned lost = 0;
    while (esp_socket_receive(esp_team_socket(team[host]), letter))
        lost++;
    return lost;
}

/* As leat_esp_team_lead would have begun with these children. */
static void meet_as_a_tree(void)
{
    struct esp_letter letter;
    meet(true, LEAT_ESP_HOST_OK);
    for (int i = 0; i < TEAM; i++)
        lose(i, &letter); /* the last JOINs, and their answers */
    struct leat_esp_team *root = team[HOSTS];
    root->children = root->members = HOSTS;
    root->patience_ns = UINT64_C(10000000000);
    root->epoch_ns = live_now_ns(CLOCK_MONOTONIC);
    root->renew_ns = UINT64_MAX;
}

static void enter(int host, enum leat_port_fold fold, uint32_t words)
{
    leat_esp_team_enter(team[host], fold, words ? word[host] : NULL, words);
}

/* Steps these hosts until it is over for some of them: bit i is host i. */
static bool finish_while(unsigned some, unsigned hosts)
{
    const uint64_t until = live_now_ns(CLOCK_MONOTONIC) + UINT64_C(5000000000);
    for (unsigned over = 0; (over & some) != some;) {
        over = 0;
        for (int i = 0; i < TEAM; i++) {
            if (!(hosts >> i & 1)) continue;
            const enum leat_esp_team_state state = leat_esp_team_step(team[i]);
            OK(state == LEAT_ESP_TEAM_OVER || state == LEAT_ESP_TEAM_WORKS);
            over |= (unsigned)(state == LEAT_ESP_TEAM_OVER) << i;
        }
        if (live_now_ns(CLOCK_MONOTONIC) > until) return false;
    }
    return true;
}

static bool finish(unsigned hosts)
{
    return finish_while(hosts, hosts);
}

static uint64_t fold_plainly(enum leat_port_fold fold, uint64_t a, uint64_t b)
{
    switch (fold) {
    case LEAT_PORT_SUM: return a + b;
    case LEAT_PORT_AND: return a & b;
    case LEAT_PORT_OR: return a | b;
    case LEAT_PORT_XOR: return a ^ b;
    case LEAT_PORT_MAX: return a > b ? a : b;
    case LEAT_PORT_MIN: return a < b ? a : b;
    case LEAT_PORT_FOLDS: break;
    }
    return 0;
}

enum { ALL = (1 << TEAM) - 1, ROOT_BIT = 1 << HOSTS, HOST_BITS = ROOT_BIT - 1 };

/* A sum of one word: host i has 10^i, so that the digits show whose words are in it. */
static const uint64_t sum_of_all = 1111;

static void enter_a_sum(unsigned hosts)
{
    uint64_t value = 1;
    for (int i = 0; i < TEAM; i++, value *= 10) {
        if (!(hosts >> i & 1)) continue;
        word[i][0] = value;
        enter(i, LEAT_PORT_SUM, 1);
    }
}

static void all_have_the_sum(void)
{
    for (int i = 0; i < TEAM; i++)
        EQ(word[i][0], sum_of_all);
}

static uint64_t repeated(int host)
{
    struct leat_esp_team_counts counts;
    leat_esp_team_count(team[host], &counts);
    return counts.repeated;
}

static void folds_are_those_of_plain_arithmetic(void)
{
    struct leat_random r;
    if (is_taken) return;
    leat_random_seed(&r, tap_seed());
    meet_as_a_tree();
    for (unsigned round = 0; round < 300 && !tap_checks_failed; round++) {
        const enum leat_port_fold fold = (enum leat_port_fold)(round % LEAT_PORT_FOLDS);
        const uint32_t words = (uint32_t)leat_random_below(&r, LEAT_ESP_TEAM_WORDS_MAX + 1);
        uint64_t want[LEAT_ESP_TEAM_WORDS_MAX] = { 0 };
        for (int i = 0; i < TEAM; i++) {
            for (uint32_t k = 0; k < words; k++) {
                word[i][k] = leat_random_next(&r);
                want[k] = i ? fold_plainly(fold, want[k], word[i][k]) : word[i][k];
            }
            enter(i, fold, words);
        }
        OK(finish(ALL));
        for (int i = 0; i < TEAM; i++)
            OK(memcmp(word[i], want, words * sizeof *want) == 0);
        if (round % 100 == 50) team[HOSTS]->epoch_ns = 0; /* the next result has another epoch */
        if (round % 100 == 51)
            for (int i = 0; i < TEAM; i++)
                EQ(team[i]->epoch, 1 + round / 100);
    }
    struct leat_esp_team_counts counts;
    leat_esp_team_count(team[HOSTS], &counts);
    OK(counts.sent >= 300 * HOSTS && counts.received >= 300 * HOSTS);
    EQ(counts.repeated, 0);
    part();
}

/* spec/esp.md, "Groups of hosts", 2: computations of another epoch, identity or word are apart. */
static void words_are_computations_of_their_own(void)
{
    struct esp_letter letter;
    struct leat_esp_packet packet;
    if (is_taken) return;
    meet_as_a_tree();
    for (uint32_t round = 0; round < 2 * LEAT_PORT_FOLDS; round++) {
        const enum leat_port_fold fold = (enum leat_port_fold)(round % LEAT_PORT_FOLDS);
        const uint32_t epoch = round / LEAT_PORT_FOLDS, words = 1 + round,
                       ones = fold == LEAT_PORT_AND || fold == LEAT_PORT_MIN;
        team[0]->epoch = epoch;
        word[0][round] = 1000 + round;
        enter(0, fold, words);
        EQ(lose(HOSTS, &letter), words);
        EQ(leat_esp_packet_decode(letter.octets, letter.len, &packet, NULL), LEAT_ERR_OK);
        EQ(packet.opcode, LEAT_ESP_COLLECT);
        EQ(packet.op, leat_esp_gather_fold(fold));
        EQ(packet.val, 1000 + round);
        OK(packet.chldCntTag == team[HOSTS]->tag && packet.compValTag == (root_seat.id ^ 1));
        OK(packet.computationId ==
           leat_esp_computation_keyed(team[0]->keys.key[0],
                                      (uint32_t)root_seat.id + 64 * epoch + 32 * ones + round));
    }
    part();
}

/* Whoever is last, nobody leaves before. */
static void nobody_leaves_before_all_have_entered(void)
{
    if (is_taken) return;
    meet_as_a_tree();
    for (unsigned last = 0; last < TEAM; last++) {
        for (unsigned i = 0; i < TEAM; i++)
            if (i != last) enter((int)i, LEAT_PORT_SUM, 0);
        for (int round = 0; round < 20; round++) {
            for (unsigned i = 0; i < TEAM; i++)
                EQ(leat_esp_team_step(team[i]),
                   i == last ? LEAT_ESP_TEAM_OVER : LEAT_ESP_TEAM_WORKS);
            leat_esp_team_wait(team[last], 1000);
        }
        enter((int)last, LEAT_PORT_SUM, 0);
        OK(finish(ALL));
    }
    EQ(repeated(HOSTS), 0);
    part();
}

static void a_lost_word_starts_the_operation_again_in_a_new_epoch(void)
{
    struct esp_letter old, letter;
    if (is_taken) return;
    meet_as_a_tree();
    enter_a_sum(ALL);
    EQ(lose(HOSTS, &old), HOSTS);
    OK(finish(ALL));
    all_have_the_sum();
    for (int i = 0; i < TEAM; i++) {
        EQ(repeated(i), 1);
        EQ(team[i]->epoch, 1);
    }
    /* A packet of the old epoch that is late is no part of the next sum. */
    esp_socket_send(esp_team_socket(team[0]), &team[0]->member->root, old.octets, old.len);
    enter_a_sum(ALL);
    OK(finish(ALL));
    all_have_the_sum();
    EQ(repeated(HOSTS), 1);
    /* A word is lost, and so is what tells the first host to send it again. */
    enter_a_sum(ALL);
    EQ(lose(HOSTS, &letter), HOSTS);
    for (int round = 0; round < 1000 && repeated(HOSTS) == 1; round++) {
        for (int i = 0; i < TEAM; i++)
            EQ(leat_esp_team_step(team[i]), LEAT_ESP_TEAM_WORKS);
        leat_esp_team_wait(team[HOSTS], 1000);
    }
    EQ(lose(0, &letter), 1);
    EQ(repeated(0), 1);
    OK(finish(ALL));
    all_have_the_sum();
    EQ(repeated(0), 2);
    EQ(repeated(HOSTS), 2);
    part();
}

static void a_lost_result_is_sent_again(void)
{
    struct esp_letter letter;
    struct leat_esp_team_counts before, after;
    if (is_taken) return;
    meet_as_a_tree();
    leat_esp_team_count(team[1], &before);
    enter_a_sum(ALL);
    OK(finish(ROOT_BIT));
    EQ(lose(1, &letter), 1);
    OK(finish(ALL));
    all_have_the_sum();
    leat_esp_team_count(team[1], &after);
    OK(after.asked > before.asked);
    EQ(repeated(HOSTS), 0);
    /* The root has left already, and another has entered the next one. */
    enter_a_sum(ALL);
    OK(finish(ROOT_BIT));
    EQ(lose(1, &letter), 1);
    OK(finish(HOST_BITS & ~2u));
    enter_a_sum(ROOT_BIT | 1);
    OK(finish_while(2, ROOT_BIT | 2));
    EQ(word[1][0], sum_of_all);
    enter_a_sum(ALL & ~ROOT_BIT & ~1u);
    OK(finish(ALL));
    all_have_the_sum();
    EQ(repeated(HOSTS), 0);
    part();
}

static void a_host_that_waits_too_long_is_in_doubt_and_goes_on(void)
{
    if (is_taken) return;
    meet_as_a_tree();
    enter_a_sum(HOST_BITS);
    EQ(leat_esp_team_step(team[0]), LEAT_ESP_TEAM_WORKS);
    team[0]->patience_ns = 0;
    EQ(leat_esp_team_step(team[0]), LEAT_ESP_TEAM_DOUBTS);
    OK(strstr(leat_esp_team_why(team[0]), "have not carried out a call in time") != NULL);
    team[0]->patience_ns = UINT64_C(10000000000);
    enter_a_sum(ROOT_BIT);
    OK(finish(ALL));
    all_have_the_sum();
    part();
}

static void cast(int host, int sender)
{
    leat_esp_team_cast(team[host], host == sender, word[host], 2);
}

static void all_have_the_words_of(int sender)
{
    for (int i = 0; i < TEAM; i++) {
        EQ(word[i][0], (uint64_t)sender + 100);
        EQ(word[i][1], ~(uint64_t)sender);
    }
}

/* The others come later, even to a fold after it; lost packets are sent again. */
static void a_cast_does_not_wait_for_the_others(void)
{
    struct esp_letter letter;
    if (is_taken) return;
    meet_as_a_tree();
    for (int round = 0; round < 8 * TEAM; round++) {
        const int sender = round % TEAM;
        const unsigned bit = 1u << sender;
        word[sender][0] = (uint64_t)sender + 100;
        word[sender][1] = ~(uint64_t)sender;
        cast(sender, sender);
        if (round / TEAM % 4 == 1) lose(HOSTS, &letter);
        OK(finish_while(bit, bit | ROOT_BIT));
        if (round / TEAM % 4 == 2) lose((sender + 1) % HOSTS, &letter);
        const uint64_t kept[2] = { word[sender][0], word[sender][1] };
        if (round / TEAM % 4 == 3) enter(sender, LEAT_PORT_SUM, 0);
        for (int i = 0; i < TEAM; i++)
            if (i != sender) cast(i, sender);
        OK(finish_while(ALL & ~bit, ALL));
        memcpy(word[sender], kept, sizeof kept);
        all_have_the_words_of(sender);
        if (round / TEAM % 4 != 3) continue;
        for (int i = 0; i < TEAM; i++)
            if (i != sender) enter(i, LEAT_PORT_SUM, 0);
        OK(finish(ALL));
    }
    part();
}

/* The packet of a child whose router has stopped has the tag of that router. */
static void a_word_for_another_node_ends_the_team(void)
{
    if (is_taken) return;
    meet_as_a_tree();
    team[1]->tag ^= 4;
    enter_a_sum(1 << 1 | ROOT_BIT);
    leat_esp_team_wait(team[HOSTS], 1000000);
    EQ(leat_esp_team_step(team[HOSTS]), LEAT_ESP_TEAM_BROKEN);
    OK(strstr(leat_esp_team_why(team[HOSTS]), "has stopped") != NULL);
    part();
}

/* It has passed a router that had no room. */
static void a_word_with_an_error_ends_the_team(void)
{
    struct esp_letter letter;
    struct leat_esp_packet packet;
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len = 0;
    if (is_taken) return;
    meet_as_a_tree();
    enter_a_sum(ALL);
    EQ(lose(HOSTS, &letter), HOSTS);
    EQ(leat_esp_packet_decode(letter.octets, letter.len, &packet, NULL), LEAT_ERR_OK);
    packet.flags |= LEAT_ESP_FLAG_E;
    packet.chldCntTag ^= 1; /* of another group: no matter */
    packet.compValTag ^= 1;
    for (int i = 0; i < 2; i++) {
        EQ(leat_esp_packet_encode(&packet, octets, sizeof octets, &len), LEAT_ERR_OK);
        esp_socket_send(esp_team_socket(team[0]), &team[0]->member->root, octets, len);
        leat_esp_team_wait(team[HOSTS], 1000000);
        EQ(leat_esp_team_step(team[HOSTS]), i ? LEAT_ESP_TEAM_BROKEN : LEAT_ESP_TEAM_WORKS);
        packet.chldCntTag ^= 1;
        packet.compValTag ^= 1;
    }
    OK(strstr(leat_esp_team_why(team[HOSTS]), "leat esp status there") != NULL);
    part();
}

static void no_file_is_left(void)
{
    OK(unlink(key_file) == 0);
}

TAP_MAIN(T(a_network_of_its_own), T(a_wrong_network_or_key_is_told),
         T(who_does_not_get_the_port_cannot_lead), T(without_a_router_there_is_no_team),
         T(folds_are_those_of_plain_arithmetic), T(words_are_computations_of_their_own),
         T(nobody_leaves_before_all_have_entered),
         T(a_lost_word_starts_the_operation_again_in_a_new_epoch), T(a_lost_result_is_sent_again),
         T(a_host_that_waits_too_long_is_in_doubt_and_goes_on),
         T(a_cast_does_not_wait_for_the_others), T(a_word_for_another_node_ends_the_team),
         T(a_word_with_an_error_ends_the_team), T(no_file_is_left))
