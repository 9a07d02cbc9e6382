/*
 * For esp_crowd_live_test.sh: many end systems in one process, since a process for each would need
 * a machine of its own.
 *
 *   esp_crowd join ROOT KEYFILE GROUP MEMBERS            members, until they are killed; tells when
 *                                                        all have a welcome, and a cast
 *   esp_crowd lead NETWORK KEYFILE SEAT HOSTS SUMS       the root of a team of so many hosts, which
 *   esp_crowd follow NETWORK KEYFILE SEAT HOSTS SUMS     writes its seat to a file; the others
 *
 * Host i of a team adds i + 1 + the number of the sum; the root is the last one.
 */
#include <errno.h>
#include <leat/esp_team.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { KEY_DIGITS = 2 * LEAT_ESP_KEY_LEN, PATIENCE_US = 60000000, WAIT_S = 120, STEP_US = 1000 };

static char why[LEAT_ESP_HOST_WHY_LEN];

static void must(bool is_so, const char *what)
{
    if (is_so) return;
    fprintf(stderr, "esp_crowd: %s: %s\n", what, *why ? why : strerror(errno));
    exit(1);
}

static uint32_t number_of(const char *text)
{
    const unsigned long number = strtoul(text, NULL, 10);
    must(number >= 1 && number <= LEAT_ESP_TEAM_MEMBERS_MAX, text);
    return (uint32_t)number;
}

static void allow_sockets(uint32_t count)
{
    const struct rlimit limit = { count + 64, count + 64 };
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "open files");
}

/* ---- members of a group ---------------------------------------------------------------------- */

static void read_key(const char *path, uint8_t key[LEAT_ESP_KEY_LEN])
{
    FILE *file = fopen(path, "r");
    must(file, path);
    for (int digits = 0, digit; digits < KEY_DIGITS && (digit = fgetc(file)) != EOF;) {
        const char one[2] = { (char)digit, 0 };
        if (digit == ' ' || digit == '\n') continue;
        key[digits / 2] = (uint8_t)(key[digits / 2] << 4 | (int)strtol(one, NULL, 16));
        digits++;
    }
    fclose(file);
}

static void say_once(const char *what, uint32_t count, uint32_t all, bool *said)
{
    if (count == all && !*said) printf("%s %u\n", what, count);
    *said = *said || count == all;
}

static void join(const char *root, const char *key_file, const char *group, uint32_t members)
{
    static uint8_t key[LEAT_ESP_KEY_LEN];
    struct leat_esp_host_member **member = calloc(members, sizeof *member);
    struct leat_esp_host_member_counts counts;
    const uint8_t *text;
    bool is_welcome = false, has_cast = false;
    const struct leat_esp_host_config config = {
        .group = strtoull(group, NULL, 10), .any_port = true, .key = key, .root = root, .value = 3
    };
    must(member, "members");
    read_key(key_file, key);
    for (uint32_t m = 0; m < members; m++)
        must(leat_esp_host_member_open(&config, &member[m], why) == LEAT_ESP_HOST_OK, "member");
    for (;;) {
        uint32_t welcome = 0, casts = 0;
        for (uint32_t m = 0; m < members; m++) {
            leat_esp_host_member_serve(member[m], 0, why);
            leat_esp_host_member_counts(member[m], &counts);
            welcome += counts.welcome;
            casts += leat_esp_host_member_cast(member[m], &text) != 0;
        }
        say_once("welcome", welcome, members, &is_welcome);
        say_once("cast", casts, members, &has_cast);
        usleep(STEP_US);
    }
}

/* ---- hosts of a team ------------------------------------------------------------------------- */

static struct leat_esp_team **open_all(const char *network, const char *key_file, uint32_t hosts,
                                       struct leat_esp_team_seat *seat)
{
    struct leat_esp_team **team = calloc(hosts, sizeof *team);
    must(team, "hosts");
    for (uint32_t i = 0; i < hosts; i++)
        must(leat_esp_team_open(network, key_file, &team[i], seat, why) == LEAT_ESP_HOST_OK,
             "open");
    return team;
}

static void close_all(struct leat_esp_team **team, uint32_t hosts)
{
    for (uint32_t i = 0; i < hosts; i++)
        leat_esp_team_close(team[i]);
    free(team);
}

/* Sums of all hosts of this process, from host `first` on; each time all must have the same. */
static void fold(struct leat_esp_team **team, uint32_t first, uint32_t hosts, uint32_t sums)
{
    uint64_t *word = calloc(hosts, sizeof *word);
    must(word, "words");
    for (uint32_t sum = 0; sum < sums; sum++) {
        for (uint32_t i = 0; i < hosts; i++) {
            word[i] = first + i + 1 + sum;
            leat_esp_team_enter(team[i], LEAT_PORT_SUM, &word[i], 1);
        }
        for (uint32_t over = 0; over < hosts;) {
            over = 0;
            for (uint32_t i = 0; i < hosts; i++) {
                const enum leat_esp_team_state state = leat_esp_team_step(team[i]);
                must(state != LEAT_ESP_TEAM_BROKEN, leat_esp_team_why(team[i]));
                over += state == LEAT_ESP_TEAM_OVER;
            }
            if (over < hosts) leat_esp_team_wait(team[0], STEP_US);
        }
        for (uint32_t i = 1; i < hosts; i++)
            must(word[i] == word[0], "hosts differ");
        printf("sum %llu\n", (unsigned long long)word[0]);
    }
    free(word);
}

static void lead(const char *network, const char *key_file, const char *path, uint32_t hosts,
                 uint32_t sums)
{
    struct leat_esp_team_seat seat;
    struct leat_esp_team_counts counts;
    struct leat_esp_team **team = open_all(network, key_file, 1, &seat);
    FILE *file = fopen(path, "w");
    must(seat.can_lead && file, path);
    must(fwrite(&seat, sizeof seat, 1, file) == 1 && fclose(file) == 0, path);
    must(leat_esp_team_lead(team[0], hosts, WAIT_S * 1000, PATIENCE_US, why) == LEAT_ESP_HOST_OK,
         "lead");
    fold(team, hosts - 1, 1, sums);
    /* Whoever has lost the last result asks for it. */
    for (uint32_t i = 0; i < 1000; i++) {
        leat_esp_team_step(team[0]);
        leat_esp_team_wait(team[0], STEP_US);
    }
    leat_esp_team_count(team[0], &counts);
    printf("received %llu\n", (unsigned long long)counts.received);
    close_all(team, 1);
}

static void follow(const char *network, const char *key_file, const char *path, uint32_t hosts,
                   uint32_t sums)
{
    struct leat_esp_team_seat seat, root;
    struct leat_esp_team **team = open_all(network, key_file, hosts - 1, &seat);
    bool *has_joined = calloc(hosts, sizeof *has_joined);
    FILE *file = fopen(path, "r");
    must(file && has_joined && fread(&root, sizeof root, 1, file) == 1, path);
    fclose(file);
    /* The root waits for all, then installs the group. */
    const time_t gives_up_at = time(NULL) + 2 * WAIT_S;
    for (uint32_t joined = 0; joined < hosts - 1;) {
        must(time(NULL) < gives_up_at, "join: the root has not installed the group in time");
        for (uint32_t i = 0; i < hosts - 1; i++) {
            if (has_joined[i]) continue;
            const enum leat_esp_host_end end = leat_esp_team_join(team[i], &root, 0, PATIENCE_US,
                                                                  why);
            must(end == LEAT_ESP_HOST_OK || end == LEAT_ESP_HOST_SILENT, "join");
            has_joined[i] = end == LEAT_ESP_HOST_OK;
            joined += has_joined[i];
        }
    }
    fold(team, 0, hosts - 1, sums);
    close_all(team, hosts - 1);
    free(has_joined);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(argc >= 6, "expected join, lead or follow, and what the head of its source says");
    const uint32_t count = number_of(argv[5]);
    allow_sockets(count);
    if (strcmp(argv[1], "join") == 0) join(argv[2], argv[3], argv[4], count);
    must(argc == 7, "expected the number of sums");
    (strcmp(argv[1], "lead") == 0 ? lead : follow)(argv[2], argv[3], argv[4], count,
                                                   number_of(argv[6]));
    return 0;
}
