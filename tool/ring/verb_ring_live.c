/* leat ring join, stop, set, get, status, query, and the algorithms on a ring of real hosts;
 * messages are in ring_mail.c. */
#include "aton_live.h"
#include "foreground.h"
#include "leat_tree.h"
#include "number.h"
#include "pieces.h"
#include "ring_job.h"
#include "ring_live.h"
#include <grp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char ring_why[LEAT_ATON_HOST_WHY_LEN];

static const char *const driver_names[] = { "any", "xdp", "packet" };

int ring_exit_code(enum leat_aton_host_end end)
{
    if (end == LEAT_ATON_HOST_OK) return DONE;
    complain("%s", ring_why);
    return end == LEAT_ATON_HOST_WRONG || end == LEAT_ATON_HOST_ABSENT ? WRONG : FAILED;
}

/* ---- which station ------------------------------------------------------------------------ */

/* The device of the only station of this host. False after a complaint. */
static bool find_the_only(char device[IF_NAMESIZE])
{
    struct if_nameindex *all = if_nameindex();
    char reason[LEAT_ATON_HOST_WHY_LEN] =
        "no station on this host, expected one from leat ring join";
    int stations = 0;
    for (struct if_nameindex *i = all; i && i->if_index; i++) {
        struct leat_aton_host *station;
        const enum leat_aton_host_end end = leat_aton_host_open(i->if_name, &station, ring_why);
        if (end == LEAT_ATON_HOST_FAILED) memcpy(reason, ring_why, sizeof reason);
        if (end != LEAT_ATON_HOST_OK) continue;
        leat_aton_host_close(station);
        snprintf(device, IF_NAMESIZE, "%s", i->if_name);
        stations++;
    }
    if (all) if_freenameindex(all);
    if (stations > 1)
        complain("this host has %d stations, expected --dev with one of their devices", stations);
    else if (!stations)
        complain("%s", reason);
    return stations == 1;
}

/* Of --dev, or of the only station; NULL after a complaint. */
static const char *device_of(const struct arguments *args)
{
    static char only[IF_NAMESIZE];
    const char *device = argument(args, "--dev");
    return device ? device : find_the_only(only) ? only : NULL;
}

static struct leat_aton_host *open_station(const struct arguments *args)
{
    const char *device = device_of(args);
    struct leat_aton_host *station = NULL;
    if (device && leat_aton_host_open(device, &station, ring_why) != LEAT_ATON_HOST_OK)
        complain("%s", ring_why);
    return station;
}

static bool takes_nothing(const struct arguments *args)
{
    return args->operand_count == 1 || misused(args->verb, "'%s' behind %s, expected nothing",
                                               args->operand[1], args->operand[0]);
}

static FILE *text_of(const struct arguments *args)
{
    return argument(args, "--json") ? NULL : stdout;
}

/* ---- join --------------------------------------------------------------------------------- */

static bool read_mac(const struct arguments *args, const char *option, uint8_t mac[6])
{
    const char *text = argument(args, option);
    unsigned octet[6];
    int used = 0;
    if (!text) return misused(args->verb, "join needs %s with an Ethernet address", option);
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &octet[0], &octet[1], &octet[2], &octet[3],
               &octet[4], &octet[5], &used) != 6 ||
        text[used])
        return misused(args->verb,
                       "%s '%s', expected an Ethernet address such as 02:00:00:00:00:01", option,
                       text);
    for (int i = 0; i < 6; i++)
        mac[i] = (uint8_t)octet[i];
    return true;
}

static enum leat_aton_host_driver read_driver(const struct arguments *args)
{
    const char *text = argument(args, "--driver");
    unsigned i = LEAT_ATON_HOST_XDP;
    if (!text) return LEAT_ATON_HOST_ANY;
    while (strcmp(text, driver_names[i]) != 0)
        i++;
    return (enum leat_aton_host_driver)i;
}

/* Its process may not be confined. */
static void warn_of_station(const char *device)
{
    char ignored[LEAT_ATON_HOST_WHY_LEN];
    struct leat_aton_host *station;
    if (leat_aton_host_open(device, &station, ignored) == LEAT_ATON_HOST_OK)
        warn_if_unconfined(leat_aton_host_process(station));
    leat_aton_host_close(station);
}

/* The group that --allow names, by its number. */
static bool read_group(const struct arguments *args, uint32_t *group)
{
    const char *text = argument(args, "--allow");
    if (!text) return true;
    const struct group *known = getgrnam(text);
    uint64_t number = 0;
    const bool is_number = leat_tree_number(text, strlen(text), &number) && number < UINT32_MAX;
    *group = known ? known->gr_gid : (uint32_t)number;
    return known || is_number ||
           complain("--allow %s: no such group, expected one of: getent group", text);
}

/* After it has joined. */
static int lend(const struct arguments *args, const char *device, uint32_t group)
{
    if (!argument(args, "--allow")) return DONE;
    char why[LEAT_ATON_HOST_WHY_LEN];
    if (leat_aton_host_lend(device, group, why) == LEAT_ATON_HOST_OK) return DONE;
    complain("the station has joined, but --allow has no effect: %s", why);
    return FAILED;
}

/* ---- join --foreground -------------------------------------------------------------------- */

/* Its context is the command line. */
static const char *device_of_part(void *context)
{
    return argument(context, "--dev");
}

static bool station_runs(void *context, const char **why)
{
    struct leat_aton_host *station;
    const bool runs = leat_aton_host_open(device_of_part(context), &station, ring_why) ==
                          LEAT_ATON_HOST_OK &&
                      leat_aton_host_works(station, ring_why);
    leat_aton_host_close(station);
    *why = "the station has ended: leat ring stop, or its process was killed";
    return runs;
}

static int end_station(void *context)
{
    return ring_exit_code(leat_aton_host_leave(device_of_part(context), ring_why));
}

/* Of --key-file. DONE, or an exit code after a complaint. */
static int change_keys(const struct arguments *args, const char *device)
{
    struct leat_keys keys;
    if (!key_file_read(argument(args, "--key-file"), &keys)) return WRONG;
    return ring_exit_code(
        leat_aton_host_change_keys(device, keys.key[0], leat_keys_other(&keys), ring_why));
}

static bool renew_keys(void *context)
{
    return !argument(context, "--key-file") ||
           change_keys(context, device_of_part(context)) == DONE;
}

static int stay(const struct arguments *args, const char *device)
{
    const struct foreground part = { station_runs, end_station, renew_keys,
                                     argument(args, "--config"), (void *)(uintptr_t)args };
    char status[LEAT_ATON_HOST_WHY_LEN + 64];
    snprintf(status, sizeof status, "station at %s: %s", device, ring_why);
    return foreground_stay(&part, status);
}

int ring_join(const struct arguments *args)
{
    uint32_t group = 0;
    uint32_t address = 0;
    struct leat_keys keys;
    const char *key_file = argument(args, "--key-file");
    struct leat_aton_host_config config = { .device = argument(args, "--dev"),
                                            .out = argument(args, "--out"),
                                            .driver = read_driver(args),
                                            .ring_id = 1,
                                            .rate_per_s = 100000 };
    if (!takes_nothing(args)) return WRONG;
    if (!config.device) return misuse(args->verb, "join needs --dev with a network device");
    if (!argument(args, "--address"))
        return misuse(args->verb, "join needs --address, another one for each station");
    if (!read_mac(args, "--next", config.next) || !read_mac(args, "--previous", config.previous) ||
        !number_take_small(args, "--ring", &config.ring_id) ||
        !number_take_small(args, "--address", &address) ||
        !number_take_small(args, "--rate", &config.rate_per_s) || !read_group(args, &group))
        return WRONG;
    if (key_file && !key_file_read(key_file, &keys)) return WRONG;
    config.address = (uint16_t)address;
    config.key = key_file ? keys.key[0] : NULL;
    config.other_key = key_file ? leat_keys_other(&keys) : NULL;
    enum leat_aton_host_driver used = LEAT_ATON_HOST_ANY;
    int slower_at;
    const int code = ring_exit_code(leat_aton_host_join(&config, &used, &slower_at, ring_why));
    if (code != DONE) return code;
    warn_if_slower(ring_why, slower_at);
    warn_of_station(config.device);
    FILE *text = text_of(args);
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_string(j, "device", config.device);
    leat_json_uint(j, "ring", config.ring_id);
    leat_json_uint(j, "station", config.address);
    leat_json_string(j, "driver", driver_names[used]);
    leat_json_string(j, "why", ring_why);
    json_close(&out, json_status());
    text_print(text, "%s: station %u of ring %u, driver %s: %s\n", config.device, config.address,
               config.ring_id, driver_names[used], ring_why);
    const int lent = finish(lend(args, config.device, group));
    return lent == DONE && argument(args, "--foreground") ? stay(args, config.device) : lent;
}

int ring_stop(const struct arguments *args)
{
    if (!takes_nothing(args)) return WRONG;
    const char *device = device_of(args);
    return device ? ring_exit_code(leat_aton_host_leave(device, ring_why)) : WRONG;
}

int ring_key(const struct arguments *args)
{
    if (!takes_nothing(args)) return WRONG;
    if (!argument(args, "--key-file"))
        return misuse(args->verb, "key needs --key-file with one key, or two");
    const char *device = device_of(args);
    return device ? change_keys(args, device) : WRONG;
}

/* ---- registers ---------------------------------------------------------------------------- */

static bool read_register(const struct arguments *args, const char *text, unsigned *reg)
{
    uint64_t number;
    if (leat_tree_number(text, strlen(text), &number) && number <= LEAT_ATON_REGISTER_MAX) {
        *reg = (unsigned)number;
        return true;
    }
    return misused(args->verb, "register '%s', expected 0 to 63", text);
}

/* The load average of the last minute, in hundredths, at least one. */
static bool load_now(uint64_t *hundredths)
{
    double load;
    FILE *file = fopen("/proc/loadavg", "r");
    const bool is_known = file && fscanf(file, "%lf", &load) == 1;
    if (file) fclose(file);
    if (!is_known) return complain("/proc/loadavg: this system does not report its load");
    *hundredths = (uint64_t)(100 * load + 0.5);
    if (!*hundredths) *hundredths = 1; /* 0 is a register that was never set */
    return true;
}

static int set_tree(const struct arguments *args, struct leat_aton_host *station, const char *names)
{
    uint8_t tree[LEAT_ATON_SLOTS_MAX] = { 0 };
    int h = 0;
    struct word piece = { "", 0 };
    for (const char *list = names; h == 0 || *list;) {
        ring_next_piece(&list, &piece);
        const bool passes = piece.len == 4 && strncmp(piece.text, "pass", piece.len) == 0;
        const uint8_t opcode = passes ? LEAT_ATON_PASS : ring_opcode(piece.text, piece.len);
        if (!opcode || (opcode > LEAT_ATON_LE && !passes) || h == LEAT_ATON_SLOTS_MAX)
            return misuse(args->verb,
                          "tree '%s', expected 1 to 17 of " RING_COMMANDS " pass, commas between",
                          names);
        tree[h++] = opcode;
    }
    for (; h < LEAT_ATON_SLOTS_MAX; h++)
        tree[h] = tree[h - 1]; /* the last applies to all heights above */
    memcpy(leat_aton_host_interface(station)->tree, tree, sizeof tree);
    return DONE;
}

/* Numbers of groups, or none. */
static int set_groups(const struct arguments *args, struct leat_aton_host *station,
                      const char *list)
{
    uint32_t groups = 0;
    struct word piece = { "", 0 };
    const char *at = list;
    for (bool more = strcmp(list, "none") != 0; more; more = *at) {
        uint64_t group;
        ring_next_piece(&at, &piece);
        if (!leat_tree_number(piece.text, piece.len, &group) || group >= LEAT_ATON_GROUPS_MAX)
            return misuse(args->verb, "groups '%s', expected numbers of 0 to 31, or none", list);
        groups |= UINT32_C(1) << group;
    }
    leat_aton_host_interface(station)->groups = groups;
    return DONE;
}

static int set_enabled(const struct arguments *args, struct leat_aton_host *station,
                       const char *text)
{
    const bool on = strcmp(text, "on") == 0;
    if (!on && strcmp(text, "off") != 0)
        return misuse(args->verb, "enabled '%s', expected on or off", text);
    leat_aton_host_interface(station)->enabled = on;
    return DONE;
}

static int set_load(const struct arguments *args, struct leat_aton_host *station, unsigned reg)
{
    const uint64_t ps_per_ns = 1000, ns_per_s = 1000000000;
    uint64_t every_ps = 0, load = 0;
    if (!number_take(args, "--every", &every_ps)) return WRONG;
    const uint64_t every_ns = every_ps / ps_per_ns;
    const struct timespec pause = { .tv_sec = (time_t)(every_ns / ns_per_s),
                                    .tv_nsec = (long)(every_ns % ns_per_s) };
    do {
        if (!load_now(&load)) return FAILED;
        leat_aton_host_registers(station)[reg] = load;
        if (every_ns) nanosleep(&pause, NULL); /* an interrupt ends it */
    } while (every_ns && !interrupted);
    return DONE;
}

static int set_register(const struct arguments *args, struct leat_aton_host *station,
                        const char *name, const char *text)
{
    unsigned reg;
    uint64_t value;
    if (!read_register(args, name, &reg)) return WRONG;
    if (strcmp(text, "load") == 0) return set_load(args, station, reg);
    if (argument(args, "--every")) return misuse(args->verb, "--every goes with: set R load");
    if (!leat_tree_number(text, strlen(text), &value))
        return misuse(args->verb, "value '%s', expected 0 to 2^64-1, or load", text);
    leat_aton_host_registers(station)[reg] = value;
    return DONE;
}

int ring_set(const struct arguments *args)
{
    if (args->operand_count != 3)
        return misuse(args->verb, "expected set R VALUE, set R load, set enabled on|off, set tree "
                                  "OPERATIONS or set groups LIST");
    const char *name = args->operand[1], *text = args->operand[2];
    struct leat_aton_host *station = open_station(args);
    if (!station) return WRONG;
    int code;
    if (strcmp(name, "tree") == 0)
        code = set_tree(args, station, text);
    else if (strcmp(name, "groups") == 0)
        code = set_groups(args, station, text);
    else if (strcmp(name, "enabled") == 0)
        code = set_enabled(args, station, text);
    else
        code = set_register(args, station, name, text);
    leat_aton_host_close(station);
    return finish(code);
}

int ring_get(const struct arguments *args)
{
    unsigned first = 0, last = LEAT_ATON_REGISTER_MAX;
    const bool one = args->operand_count == 2;
    if (args->operand_count > 2) return misuse(args->verb, "expected get [R]");
    if (one && !read_register(args, args->operand[1], &first)) return WRONG;
    if (one) last = first;
    struct leat_aton_host *station = open_station(args);
    if (!station) return WRONG;
    const volatile uint64_t *operand = leat_aton_host_registers(station);
    FILE *text = text_of(args);
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_object(j, "registers");
    for (unsigned r = first; r <= last; r++) {
        const unsigned long long value = operand[r];
        char key[JSON_KEY_CAP];
        if (!one && !value) continue; /* all that are not 0 */
        leat_json_uint(j, json_key(r, key), value);
        if (!one) text_print(text, "R%-2u ", r);
        text_print(text, "%llu\n", value);
    }
    leat_json_end(j);
    json_close(&out, json_status());
    leat_aton_host_close(station);
    return finish(DONE);
}

/* ---- status ------------------------------------------------------------------------------- */

static void print_mac(const uint8_t mac[6], FILE *text)
{
    text_print(text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
               mac[5]);
}

static void show_status(const struct leat_aton_host_config *c, const struct leat_aton_interface *it,
                        int process, const uint64_t counts[LEAT_ATON_HOST_COUNTS], FILE *text)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_string(j, "device", c->device);
    leat_json_string(j, "out", c->out);
    leat_json_uint(j, "ring", c->ring_id);
    leat_json_uint(j, "station", c->address);
    leat_json_string(j, "driver", driver_names[c->driver]);
    leat_json_string(j, "why", c->why);
    leat_json_bool(j, "enabled", it->enabled);
    leat_json_array(j, "groups");
    for (unsigned g = 0; g < LEAT_ATON_GROUPS_MAX; g++)
        if (it->groups >> g & 1) leat_json_uint(j, NULL, g);
    leat_json_end(j);
    text_print(text, "station %u of ring %u, %s, driver %s: %s\n", c->address, c->ring_id,
               it->enabled ? "enabled" : "disabled", driver_names[c->driver], c->why);
    text_print(text, "in %s from ", c->device);
    print_mac(c->previous, text);
    text_print(text, ", out %s to ", c->out);
    print_mac(c->next, text);
    leat_json_bool(j, "keyed", c->key);
    leat_json_uint(j, "rate_per_second", c->rate_per_s);
    text_print(text, "\n%s, ", c->key ? "keyed" : "no key");
    if (c->rate_per_s)
        text_print(text, "at most %u packets a second of one sender\n", c->rate_per_s);
    else
        text_print(text, "no rate limit\n");
    show_confined(process, "no process, the kernel serves", j, text);
    leat_json_object(j, "counts");
    for (unsigned i = 0; i < LEAT_ATON_HOST_COUNTS; i++) {
        leat_json_uint(j, leat_aton_host_reason(i), counts[i]);
        if (counts[i])
            text_print(text, "%12llu  %-12s %s\n", (unsigned long long)counts[i],
                       leat_aton_host_reason(i), leat_aton_host_reason_text(i));
    }
    leat_json_end(j);
    json_close(&out, json_status());
}

int ring_status(const struct arguments *args)
{
    struct leat_aton_host_config config;
    char device[16], out[16];
    uint64_t counts[LEAT_ATON_HOST_COUNTS] = { 0 };
    if (!takes_nothing(args)) return WRONG;
    struct leat_aton_host *station = open_station(args);
    if (!station) return WRONG;
    leat_aton_host_describe(station, &config, device, out);
    const bool counted = leat_aton_host_counts(station, counts);
    if (!counted)
        complain("%s: its counters cannot be read", device);
    else
        show_status(&config, leat_aton_host_interface(station), leat_aton_host_process(station),
                    counts, text_of(args));
    if (!leat_aton_host_works(station, ring_why)) complain("%s", ring_why);
    leat_aton_host_close(station);
    return finish(counted ? DONE : FAILED);
}

/* ---- commands ----------------------------------------------------------------------------- */

/* The beginning of an object, and the answer of the word's packet. */
static struct leat_json *open_json(struct json_out *out, const struct ring_live_request *a,
                                   const struct leat_aton_host_answer *answer)
{
    struct ring_field field[RING_FIELDS_MAX];
    const unsigned count = ring_fields(a->word, &answer->result, field);
    struct leat_json *j = ring_json_open(out, a->text ? NULL : stdout, a->word, answer->stations,
                                         &answer->result);
    for (unsigned i = 0; i < count; i++)
        ring_json_field(j, &field[i]);
    return j;
}

static void close_json(struct json_out *out, unsigned packets, uint64_t took_ns)
{
    leat_json_uint(&out->json, "packets", packets);
    leat_json_uint(&out->json, "took_ns", took_ns);
    json_close(out, json_status());
}

static void show_cost(const struct ring_live_request *a, const struct leat_aton_host_answer *answer)
{
    text_print(a->text ? stderr : NULL, "stations that took part: %u, one packet, %.1f us\n",
               answer->result.counter, (double)answer->took_ns / 1000);
}

/* The whole object of one packet. */
static void show_json(const struct ring_live_request *a, const struct leat_aton_host_answer *answer)
{
    struct json_out out;
    struct leat_json *j = open_json(&out, a, answer);
    if (a->is_query) {
        leat_json_uint(j, "variable1", answer->result.variable1);
        leat_json_uint(j, "variable2", answer->result.variable2);
    }
    close_json(&out, 1, answer->took_ns);
}

static void show_text(const struct ring_live_request *a, const struct leat_aton_host_answer *answer)
{
    const struct leat_aton_packet *p = &answer->result;
    const unsigned long long v1 = p->variable1, v2 = p->variable2;
    if ((p->opcode == LEAT_ATON_MAX || p->opcode == LEAT_ATON_MIN) && v2 == LEAT_ATON_DA_ALL)
        text_print(a->text, "%s: nobody takes part\n", a->word);
    else if (p->opcode == LEAT_ATON_MAX || p->opcode == LEAT_ATON_MIN)
        text_print(a->text, "%s %llu at station %llu\n", a->word, v1, v2);
    else if (p->opcode >= LEAT_ATON_EQ)
        text_print(a->text, "%s %llu: %llu of %u\n", a->word, v1, v2, p->counter);
    else if (p->opcode == LEAT_ATON_ADD && v2)
        text_print(a->text, "%s %llu, carries %llu\n", a->word, v1, v2);
    else
        text_print(a->text, "%s %llu\n", a->word, v1);
    show_cost(a, answer);
}

/* Counter shows what no checksum can: did all stations take part that the packet passed? */
static int judge(const struct ring_live_request *a, struct leat_aton_host *station,
                 const struct leat_aton_command *command,
                 const struct leat_aton_host_answer *answer)
{
    const struct leat_aton_interface *self = leat_aton_host_interface(station);
    const uint32_t counter = answer->result.counter, all = answer->stations;
    const bool to_all = command->group || command->da == LEAT_ATON_DA_ALL;
    const uint32_t others = to_all ? all - 1 : command->da != self->address;
    const uint32_t expected = others + leat_aton_sender_takes_part(self, command);
    const uint32_t least = a->quorum ? a->quorum : command->group ? 0 : expected;
    if (counter >= least && counter <= expected) return DONE;
    if (to_all)
        complain("%u of the %u stations of this ring took part, expected %s%u: the others are "
                 "disabled or at fault; --quorum N is content with N",
                 counter, all, a->quorum ? "at least " : "", least);
    else
        complain("station %u did not take part: it is disabled, or not on this ring", command->da);
    return FAILED;
}

/* One packet once round, in which all take part: DONE or, after a complaint, an exit code. */
static int issue(const struct ring_live_request *a, struct leat_aton_host *station,
                 const struct leat_aton_command *command, struct leat_aton_host_answer *answer)
{
    const int code = ring_exit_code(
        leat_aton_host_command(station, command, a->timeout_us, answer, ring_why));
    return code == DONE ? judge(a, station, command, answer) : code;
}

/* One command whose answer is its Variables. */
static int plain(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    const int code = issue(a, station, &a->command, &answer);
    if (code != DONE) return code;
    show_json(a, &answer);
    show_text(a, &answer);
    return DONE;
}

static int least_loaded(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    const int code = issue(a, station, &a->command, &answer);
    if (code != DONE) return code;
    if (!ring_is_set(&answer.result)) return FAILED;
    if (a->text && !answer.result.counter) return fail("nobody takes part");
    show_json(a, &answer);
    text_print(a->text, "station %llu, load %.2f\n", (unsigned long long)answer.result.variable2,
               (double)answer.result.variable1 / 100);
    show_cost(a, &answer);
    return DONE;
}

static int average(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    uint64_t quotient, rest;
    const int code = issue(a, station, &a->command, &answer);
    if (code != DONE) return code;
    if (!leat_aton_average(&answer.result, &quotient, &rest)) return fail("nobody takes part");
    show_json(a, &answer);
    text_print(a->text, "average %llu and %llu/%u\n", (unsigned long long)quotient,
               (unsigned long long)rest, answer.result.counter);
    show_cost(a, &answer);
    return DONE;
}

static int sort(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    struct leat_aton_shape shape;
    uint32_t stations = 0;
    int code = ring_exit_code(leat_aton_host_count(station, a->timeout_us, &stations, ring_why));
    if (code == DONE)
        code = ring_exit_code(
            leat_aton_host_command(station, &a->command, a->timeout_us, &answer, ring_why));
    if (code != DONE) return code;
    if (!a->command.group && a->command.da == LEAT_ATON_DA_ALL &&
        answer.result.counter + (a->command.sender_out ? 1u : 0) < stations)
        return fail(
            "a frame holds %u of the %u values, expected a smaller --width or fewer stations",
            answer.result.counter, stations);
    code = judge(a, station, &a->command, &answer);
    if (code != DONE) return code;
    leat_aton_packet_shape(&answer.result, &shape);
    struct json_out out;
    struct leat_json *j = open_json(&out, a, &answer);
    leat_json_array(j, "values");
    for (size_t i = 0; i < shape.count; i++) {
        unsigned valid;
        const uint64_t value = leat_aton_item_get(answer.result.payload, &shape, i, &valid);
        leat_json_uint(j, NULL, value);
        text_print(a->text, "%llu\n", (unsigned long long)value);
    }
    leat_json_end(j);
    close_json(&out, 2, answer.took_ns);
    show_cost(a, &answer);
    return DONE;
}

static int majority(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    struct leat_aton_command command = a->command;
    uint32_t stations = 0;
    int code = ring_exit_code(leat_aton_host_count(station, a->timeout_us, &stations, ring_why));
    if (code != DONE) return code;
    command.param = leat_aton_counter_bits(stations ? stations : 1);
    code = issue(a, station, &command, &answer);
    if (code != DONE) return code;
    command = a->command;
    command.opcode = LEAT_ATON_EQ;
    command.value_given = true;
    command.value = leat_aton_candidate(&answer.result);
    const uint64_t took_ns = answer.took_ns;
    code = issue(a, station, &command, &answer);
    if (code != DONE) return code;
    const struct leat_aton_packet *p = &answer.result;
    struct json_out out;
    open_json(&out, a, &answer);
    close_json(&out, 3, took_ns + answer.took_ns);
    if (leat_aton_is_majority(p))
        text_print(a->text, "majority %llu: %llu of %u\n", (unsigned long long)p->variable1,
                   (unsigned long long)p->variable2, p->counter);
    else
        text_print(a->text, "no majority among %u\n", p->counter);
    return DONE;
}

static int tree(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    struct leat_aton_command command = a->command;
    uint32_t stations = 0;
    uint64_t value;
    int code = ring_exit_code(leat_aton_host_count(station, a->timeout_us, &stations, ring_why));
    command.param = leat_aton_slots(stations);
    if (code == DONE) code = issue(a, station, &command, &answer);
    if (code != DONE) return code;
    if (!leat_aton_tree(leat_aton_host_interface(station), &answer.result, &value))
        return fail("nobody takes part");
    struct json_out out;
    leat_json_uint(open_json(&out, a, &answer), "value", value);
    close_json(&out, 2, answer.took_ns);
    text_print(a->text, "tree %llu\n", (unsigned long long)value);
    show_cost(a, &answer);
    return DONE;
}

/* Raises this station's flag, then queries until every flag is up. It stays up: others query too.
 */
static int barrier(const struct ring_live_request *a, struct leat_aton_host *station)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    struct leat_aton_host_answer answer;
    const double start = seconds_now();
    leat_aton_host_registers(station)[a->command.reg] = 1;
    for (;;) {
        const int code = issue(a, station, &a->command, &answer);
        if (code != DONE) return code;
        if (answer.result.variable1 & 1) break;
        const double waited = seconds_now() - start;
        if (interrupted) return SIGNALLED + interrupted;
        if (waited * 1e6 > (double)a->timeout_us)
            return fail("not all of %u stations are here after %.1f s", answer.result.counter,
                        waited);
        nanosleep(&pause, NULL);
    }
    show_json(a, &answer);
    text_print(a->text, "all %u stations are here\n", answer.result.counter);
    return DONE;
}

/*
 * The seed's DIB: requests work from the station with the highest priority, by a message of two
 * octets, the address of the requester; no message is sent if that is this station itself.
 */
static int work(const struct ring_live_request *a, struct leat_aton_host *station)
{
    struct leat_aton_host_answer answer;
    struct leat_aton_host_ack ack = { 0 };
    int code = issue(a, station, &a->command, &answer);
    if (code != DONE) return code;
    const uint16_t own = leat_aton_host_interface(station)->address;
    const uint16_t holder = (uint16_t)answer.result.variable2;
    const uint8_t request[2] = { (uint8_t)(own >> 8), (uint8_t)own };
    const bool requests = answer.result.counter && holder != own;
    if (requests)
        code = ring_exit_code(leat_aton_host_send(station, holder, request, sizeof request,
                                                  a->timeout_us, &ack, ring_why));
    if (code != DONE) return code;
    struct json_out out;
    const struct ring_field requested = { .key = "requested",
                                          .is_there = requests,
                                          .value = ack.copied };
    ring_json_field(open_json(&out, a, &answer), &requested);
    close_json(&out, 1 + requests, answer.took_ns + ack.took_ns);
    show_text(a, &answer);
    if (ack.copied) text_print(a->text, "station %u has the request\n", holder);
    return requests ? ring_ack_code(holder, &ack) : DONE;
}

/* ---- the verb ----------------------------------------------------------------------------- */

/* The command of each word. */
static const struct {
    const char *word;
    int (*query)(const struct ring_live_request *a, struct leat_aton_host *station);
    uint8_t opcode, reg;
} words[] = {
    { "query", plain, 0, 0 },
    { "least-loaded", least_loaded, LEAT_ATON_MIN, RING_LOAD_REGISTER },
    { "sort", sort, LEAT_ATON_SORT, 0 },
    { "majority", majority, LEAT_ATON_BITCOUNT, 0 },
    { "tree", tree, LEAT_ATON_TREE, 0 },
    { "average", average, LEAT_ATON_ADD, 0 },
    { "gvt", plain, LEAT_ATON_MIN, 0 },
    { "barrier", barrier, LEAT_ATON_AND, 0 },
    { "elect", plain, LEAT_ATON_MAX, 0 },
    { "work", work, LEAT_ATON_MAX, 0 },
    { "send", ring_send, 0, 0 },
    { "receive", ring_receive, 0, 0 },
};

/* The members of a group, and whether this station takes part. */
static bool read_region(struct ring_live_request *a)
{
    const char *group = argument(a->args, "--group"), *sender = argument(a->args, "--sender");
    uint32_t number = 0;
    a->command.sender_out = sender && strcmp(sender, "out") == 0;
    if (!group) return true;
    if (argument(a->args, "--to"))
        return misused(a->args->verb, "--to and --group both say who takes part, expected one");
    if (!number_take_small(a->args, "--group", &number)) return false;
    a->command.group = true;
    a->command.da = (uint16_t)number;
    return true;
}

static bool read_command(struct ring_live_request *a)
{
    struct leat_aton_command *c = &a->command;
    const uint64_t ps_per_us = 1000000;
    uint32_t reg = c->reg, to = LEAT_ATON_DA_ALL;
    uint64_t timeout_ps = 1000000 * ps_per_us;
    c->width_bits = ring_read_width(a->args);
    if (!number_take_small(a->args, "--register", &reg) ||
        !number_take_small(a->args, "--to", &to) ||
        !number_take_small(a->args, "--quorum", &a->quorum) ||
        !number_take(a->args, "--timeout", &timeout_ps))
        return false;
    c->value_given = argument(a->args, "--value") != NULL;
    if (c->value_given && (c->opcode < LEAT_ATON_EQ || c->opcode > LEAT_ATON_LE))
        return misused(a->args->verb, "--value goes with query eq, lt or le");
    if (!number_take_within(a->args, "--value", 0, leat_aton_mask(c->width_bits), &c->value))
        return false;
    c->reg = (uint8_t)reg;
    c->da = (uint16_t)to;
    if (!read_region(a)) return false;
    a->timeout_us = timeout_ps / ps_per_us;
    return true;
}

/* The command of `query`: its own operand. */
static bool read_query(struct ring_live_request *a)
{
    const char *name = a->args->operand_count == 2 ? a->args->operand[1] : "";
    if (!word_is_in(name, RING_COMMANDS))
        return misused(a->args->verb, "query '%s', %sexpected one of " RING_COMMANDS, name,
                       did_you_mean(name, RING_COMMANDS));
    a->command.opcode = ring_opcode(name, strlen(name));
    a->word = ring_opcode_name(a->command.opcode);
    return true;
}

int ring_live(const struct arguments *args)
{
    struct ring_live_request a = { .args = args, .word = args->operand[0], .text = text_of(args) };
    size_t i = 0;
    while (strcmp(words[i].word, a.word) != 0) /* the verb has a row for each */
        i++;
    if (!word_is_in(a.word, "query send") && !takes_nothing(args)) return WRONG;
    a.command.opcode = words[i].opcode;
    a.command.reg = words[i].reg;
    a.is_query = strcmp(a.word, "query") == 0;
    if (a.is_query && !read_query(&a)) return WRONG;
    if (!read_command(&a)) return WRONG;
    struct leat_aton_host *station = open_station(args);
    if (!station) return WRONG;
    const int code = words[i].query(&a, station);
    leat_aton_host_close(station);
    return finish(code);
}
