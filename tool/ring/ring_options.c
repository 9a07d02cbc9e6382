/* leat ring on a simulated ring: reads the options. */
#include "leat_tree.h"
#include "lines.h"
#include "number.h"
#include "ring_job.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

static const char *const opcode_names[] = { "",   "add", "and", "or",   "max",      "min",
                                            "eq", "lt",  "le",  "sort", "bitcount", "tree" };

uint8_t ring_opcode(const char *name, size_t len)
{
    for (uint8_t i = LEAT_ATON_ADD; i <= LEAT_ATON_TREE; i++)
        if (strlen(opcode_names[i]) == len && strncmp(opcode_names[i], name, len) == 0) return i;
    return 0;
}

const char *ring_opcode_name(unsigned opcode)
{
    return opcode_names[opcode];
}

uint8_t ring_read_width(const struct arguments *args)
{
    const char *text = argument(args, "--width");
    return text ? (uint8_t)atoi(text) : 32;
}

static bool read_model(struct ring_job *job)
{
    const char *text = argument(job->args, "--model");
    job->vcd = argument(job->args, "--vcd");
    job->record = argument(job->args, "--record");
    job->model = job->vcd ? LEAT_SIM_ATON_BIT : LEAT_SIM_ATON_WORD;
    if (!text) return true;
    job->model = strcmp(text, "bit") == 0 ? LEAT_SIM_ATON_BIT : LEAT_SIM_ATON_WORD;
    if (job->vcd && job->model == LEAT_SIM_ATON_WORD)
        return misused(job->args->verb,
                       "--vcd with --model word, expected bit: words have no waveforms");
    return true;
}

static bool read_command(struct ring_job *job)
{
    const char *text = argument(job->args, "--command");
    uint32_t reg = strcmp(job->word, "least-loaded") == 0 ? RING_LOAD_REGISTER : 0;
    if (!text && strcmp(job->word, "sim") == 0)
        return misused(job->args->verb, "sim needs --command, one of " RING_COMMANDS);
    job->command.opcode = text ? ring_opcode(text, strlen(text)) : 0;
    if (!number_take_small(job->args, "--register", &reg)) return false;
    job->command.reg = (uint8_t)reg;
    return true;
}

static bool read_value(struct ring_job *job)
{
    const unsigned opcode = job->command.opcode;
    if (!argument(job->args, "--value")) return true;
    if (opcode < LEAT_ATON_EQ)
        return misused(job->args->verb, "--value is for the commands eq, lt and le");
    job->command.value_given = true;
    return number_take_within(job->args, "--value", 0, leat_aton_mask(job->command.width_bits),
                              &job->command.value);
}

/* ---- lists on the command line -------------------------------------------------------------- */

bool ring_next_piece(const char **list, struct word *piece)
{
    if (!**list) return false;
    piece->text = *list;
    piece->len = strcspn(*list, ",");
    *list += piece->len;
    if (**list) (*list)++;
    return true;
}

/* Gives this value to the stations that an option lists. */
static bool read_list(struct ring_job *job, const char *option, uint8_t *stations, uint8_t value)
{
    const char *list = argument(job->args, option);
    struct word piece = { "", 0 };
    for (bool more = list; more; more = *list) {
        uint64_t station;
        ring_next_piece(&list, &piece);
        if (!leat_tree_number(piece.text, piece.len, &station) || station < 1 ||
            station > job->stations)
            return misused(job->args->verb, "%s '%s', expected stations of 1 to %u", option,
                           show(piece).text, job->stations);
        stations[station - 1] = value;
    }
    return true;
}

/* Who takes part: the whole ring, one station, a group, or the leaves of an expression; and whether
 * the querying station does. */
static bool read_region(struct ring_job *job)
{
    const char *only = argument(job->args, "--only"), *sender = argument(job->args, "--sender");
    const char *expression = argument(job->args, "--expression");
    if ((only != NULL) + (expression != NULL) + (argument(job->args, "--to") != NULL) > 1)
        return misused(job->args->verb, "--to, --only and --expression all say who takes part, "
                                        "expected one of them");
    if (expression && (sender || argument(job->args, "--tree")))
        return misused(job->args->verb, "--expression says what each station does, expected "
                                        "neither --tree nor --sender with it");
    job->command.sender_out = sender && strcmp(sender, "out") == 0;
    if (!only && !expression) return true;
    job->member = calloc(job->stations, 1);
    if (!job->member) return complain("no memory for %u stations", job->stations);
    if (only ? !read_list(job, "--only", job->member, 1) : !ring_read_expression(job)) return false;
    job->command.group = true;
    job->command.da = 0;
    if (!sender) job->command.sender_out = !job->member[job->from];
    return true;
}

bool ring_is_meant(const struct ring_job *job, uint32_t station)
{
    if (!job->enabled[station]) return false;
    if (station == job->from) return !job->command.sender_out;
    return ring_is_addressed(job, station);
}

bool ring_is_addressed(const struct ring_job *job, uint32_t station)
{
    if (job->member) return job->member[station];
    return job->command.da == LEAT_ATON_DA_ALL || job->command.da == station + 1;
}

static void count_parts(struct ring_job *job)
{
    for (uint32_t i = 0; i < job->stations; i++)
        job->taking_part += ring_is_meant(job, i);
}

static bool read_tree(struct ring_job *job)
{
    const char *list = argument(job->args, "--tree");
    uint8_t op = LEAT_ATON_ADD;
    struct word piece = { 0 };
    for (unsigned h = 0; h < LEAT_ATON_SLOTS_MAX; h++) {
        if (list && ring_next_piece(&list, &piece)) op = ring_opcode(piece.text, piece.len);
        if (!op || op > LEAT_ATON_LE)
            return misused(job->args->verb, "--tree '%s', expected " RING_COMMANDS,
                           show(piece).text);
        job->tree[h] = op;
    }
    if (!list || !*list) return true;
    return misused(job->args->verb, "--tree has too many heights, expected at most %d",
                   LEAT_ATON_SLOTS_MAX);
}

/* ---- faults --------------------------------------------------------------------------------- */

/* "bit:STATION@TIME" */
static bool read_fault(const struct ring_job *job, const char *text, size_t len,
                       struct leat_sim_aton_fault *out)
{
    static const char *const kinds[] = { "bit", "forget", "leave", "join" };
    const char *colon = memchr(text, ':', len), *at = memchr(text, '@', len);
    uint64_t station, time;
    if (!colon || !at || at < colon) return false;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t kind_len = strlen(kinds[i]);
        if ((size_t)(colon - text) != kind_len || strncmp(text, kinds[i], kind_len) != 0) continue;
        if (!leat_tree_number(colon + 1, (size_t)(at - colon - 1), &station) ||
            !leat_tree_number(at + 1, (size_t)(text + len - at - 1), &time))
            return false;
        if (station < 1 || station > job->stations || time == LEAT_NEVER) return false;
        *out = (struct leat_sim_aton_fault){
            .at = time, .kind = i, .station = (uint32_t)station - 1, .flip = 1
        };
        return true;
    }
    return false;
}

static bool read_faults(struct ring_job *job)
{
    const char *text = argument(job->args, "--fault");
    if (!text) return true;
    job->fault = calloc(RING_FAULTS_MAX, sizeof *job->fault);
    if (!job->fault) return complain("no memory");
    while (*text) {
        const size_t len = strcspn(text, "\n");
        if (job->faults == RING_FAULTS_MAX)
            return misused(job->args->verb, "--fault, expected at most %d of them",
                           RING_FAULTS_MAX);
        if (!read_fault(job, text, len, &job->fault[job->faults++]))
            return misused(
                job->args->verb,
                "--fault '%.*s', expected bit, forget, leave or join:STATION@TIME with stations "
                "of 1 to %u",
                (int)len, text, job->stations);
        text += len + (text[len] != 0);
    }
    return true;
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Loads are at least 0.01 and at most 4.00, in hundredths. */
static uint64_t random_operand(const struct ring_job *job, struct leat_random *r)
{
    const uint64_t any = leat_random_next(r);
    if (strcmp(job->word, "least-loaded") == 0) return 1 + any % RING_RANDOM_LOAD_MAX;
    return any & leat_aton_mask(job->command.width_bits);
}

static bool read_operands(struct ring_job *job)
{
    const char *file = argument(job->args, "--operands");
    if (!file || strcmp(file, "random") == 0) {
        struct leat_random r;
        leat_random_seed(&r, job->seed);
        for (uint32_t i = 0; i < job->stations; i++)
            job->operand[i] = random_operand(job, &r);
        return true;
    }
    const struct lines_numbers operands = { "operand", "stations", job->stations,
                                            job->command.width_bits, job->operand };
    return lines_read_numbers(file, &operands);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool read_stations(struct ring_job *job)
{
    uint32_t from = 1, to = 0;
    if (!argument(job->args, "--stations"))
        return misused(job->args->verb, "%s needs --stations N%s", job->word,
                       strcmp(job->word, "sim") == 0 ? "" : ", or --live for this host's ring");
    if (!number_take_small(job->args, "--stations", &job->stations) ||
        !number_take_small_within(job->args, "--quorum", 1, job->stations, &job->quorum) ||
        !number_take_small_within(job->args, "--from", 1, job->stations, &from) ||
        !number_take_small_within(job->args, "--to", 1, job->stations, &to) ||
        !number_take_small(job->args, "--propagation", &job->propagation) ||
        !number_take_small(job->args, "--hold", &job->delay) ||
        !number_take(job->args, "--seed", &job->seed))
        return false;
    job->from = from - 1;
    job->command.da = to ? (uint16_t)to : LEAT_ATON_DA_ALL;
    const uint64_t bits = (uint64_t)job->propagation + job->delay - 1;
    if (bits * job->stations <= LEAT_SIM_ATON_BITS_MAX) return true;
    return misused(
        job->args->verb,
        "--propagation %u and --hold %u for %u stations, expected at most %d bits in all",
        job->propagation, job->delay, job->stations, LEAT_SIM_ATON_BITS_MAX);
}

static bool make_room(struct ring_job *job)
{
    job->operand = calloc(job->stations, sizeof *job->operand);
    job->enabled = malloc(job->stations);
    if (!job->operand || !job->enabled) return complain("no memory for %u stations", job->stations);
    memset(job->enabled, 1, job->stations);
    return true;
}

bool ring_read_job(const struct arguments *args, struct ring_job *job)
{
    *job = (struct ring_job){ .args = args, .word = args->operand[0], .seed = 1, .delay = 1 };
    job->json = argument(args, "--json") != NULL;
    if (args->operand_count > 1)
        return misused(args->verb, "'%s', expected nothing behind %s", args->operand[1], job->word);
    job->command.width_bits = ring_read_width(args);
    const bool read = read_stations(job) && read_model(job) && read_command(job) &&
                      read_value(job) && make_room(job) && read_operands(job) &&
                      read_list(job, "--disabled", job->enabled, 0) && read_tree(job) &&
                      read_region(job) && read_faults(job);
    if (read) count_parts(job);
    return read;
}

void ring_job_free(struct ring_job *job)
{
    free(job->operand);
    free(job->enabled);
    free(job->member);
    free(job->program);
    free(job->fault);
}
