#include "esp_service.h"
#include "esp_service_parts.h"
#include "leat_arena.h"
#include <string.h>

static const leat_time ps_per_us = 1000000, ps_per_ms = 1000000000, ps_per_s = 1000000000000;
static const leat_time announcing_max = UINT32_MAX * UINT64_C(1000000) / 4;
static const leat_time pace_max = 1000000000; /* of announcements */

/* Announcements count in microseconds, rounded up: two of them may differ by one. */
static const leat_time grain_ps = 2000000;

enum { PHASE_REGISTER, PHASE_COLLECT, PHASES };

/* ---- memory ---------------------------------------------------------------------------------- */

struct layout {
    void *own, *roster, *map;
    struct leat_esp_computing *computing;
};

/* A node has a list in each shard. */
static uint32_t lists_of(const struct leat_esp_service_config *c)
{
    const uint64_t lists = (uint64_t)c->nodes_max * leat_esp_service_shards_max(c->members_max);
    return lists < LEAT_ESP_MAP_LISTS_MAX ? (uint32_t)lists : LEAT_ESP_MAP_LISTS_MAX;
}

static uint32_t own_groups(const struct leat_esp_service_config *c)
{
    return c->own_groups ? c->own_groups : 1;
}

static struct layout lay_out(const struct leat_esp_service_config *c, struct leat_arena *arena)
{
    struct layout l;
    l.own = leat_arena_lay(arena, 1, leat_esp_store_footprint(own_groups(c)));
    l.computing = leat_arena_lay(
        arena, (size_t)leat_esp_service_shards_max(c->members_max) * LEAT_ESP_PARTS_MAX,
        sizeof *l.computing);
    l.roster = leat_arena_lay(arena, 1, leat_esp_roster_footprint(c->members_max));
    l.map = leat_arena_lay(arena, 1,
                           leat_esp_map_footprint(c->nodes_max, c->members_max, lists_of(c)));
    return l;
}

size_t leat_esp_service_footprint(const struct leat_esp_service_config *config)
{
    struct leat_arena arena = { 0 };
    lay_out(config, &arena);
    return arena.used;
}

void leat_esp_service_init(struct leat_esp_service *s, const struct leat_esp_service_config *config,
                           void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const struct layout l = lay_out(config, &arena);
    *s = (struct leat_esp_service){ .config = *config,
                                    .serial = config->serial,
                                    .computing = l.computing };
    leat_esp_store_init(&s->own, &config->node, own_groups(config), l.own);
    leat_esp_roster_init(&s->roster, config->members_max, l.roster);
    leat_esp_map_init(&s->map, config->nodes_max, config->members_max, lists_of(config), l.map);
    leat_random_seed(&s->random, config->seed);
}

static bool is_running(const struct leat_esp_service *s)
{
    return s->state != LEAT_ESP_SERVICE_IDLE && s->state != LEAT_ESP_SERVICE_ENDED;
}

/* ---- who is a member ------------------------------------------------------------------------- */

/* A hash that others cannot compute: they lack the key or, if that is the member's, the seed. */
static uint64_t secret_hash(const struct leat_esp_service *s, const struct leat_esp_next *from,
                            uint64_t port, uint64_t member, uint64_t forgotten)
{
    static const uint8_t no_key[LEAT_SIP_KEY_LEN];
    struct leat_sip sip;
    leat_sip_start(&sip, s->config.challenge_key ? s->config.challenge_key : no_key);
    leat_sip_word(&sip, leat_get_be64(from->address));
    leat_sip_word(&sip, leat_get_be64(from->address + 8));
    leat_sip_word(&sip, port);
    leat_sip_word(&sip, member);
    leat_sip_word(&sip, forgotten);
    return leat_sip_finish(&sip, 0, 40);
}

/* The challenge that a member at this address must present before the root accepts it as new. */
static uint64_t challenge_of(const struct leat_esp_service *s, const struct leat_esp_next *from,
                             uint64_t member)
{
    if (!s->config.challenge_key) return 0;
    return secret_hash(s, from, from->port, member, s->roster.forgotten);
}

/*
 * A sender with a forged address must not flood the owner of that address with WELCOMEs. In a keyed
 * group nobody can: each JOIN is answered once. A limit per address there would help an attacker
 * who replays a member's old JOINs to keep it out.
 */
static bool may_welcome(struct leat_esp_service *s, leat_time now, const struct leat_esp_next *from)
{
    const uint64_t class = secret_hash(s, from, 0, s->config.seed, 0) % LEAT_ESP_WELCOME_CLASSES;
    if (!s->config.welcomes || s->welcomes == LEAT_ESP_WELCOMES_MAX) return false;
    if (now / ps_per_s != s->welcome_s) {
        s->welcome_s = now / ps_per_s;
        s->welcomed = 0;
        memset(s->welcomed_class, 0, sizeof s->welcomed_class);
    }
    if (s->welcomed == LEAT_ESP_WELCOMES_PER_S ||
        (!s->config.challenge_key && s->welcomed_class[class] == LEAT_ESP_WELCOMES_PER_SOURCE))
        return false;
    s->welcomed++;
    s->welcomed_class[class]++;
    return true;
}

/* False: none is left. */
static bool welcome(struct leat_esp_service *s, leat_time now, const struct leat_esp_next *from,
                    const struct leat_esp_join *join, uint8_t flags)
{
    if (!may_welcome(s, now, from)) return false;
    struct leat_esp_post *post = &s->welcome[s->welcomes++];
    *post = (struct leat_esp_post){ .to = *from, .opcode = LEAT_ESP_WELCOME };
    post->welcome = (struct leat_esp_welcome){
        .group = s->config.group,
        .member = join->member,
        .serial = join->serial,
        .challenge = challenge_of(s, from, join->member),
        /* The current announcement is also for members that join meanwhile. */
        .announced = is_running(s) ? s->first_serial - 1 : s->serial,
        .flags = flags,
    };
    return true;
}

/* How many of a JOIN's places are marked; `mark`: marks all of them afterwards. */
static uint32_t marks(struct leat_esp_service *s, uint64_t hash, bool mark)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < LEAT_ESP_MARK_ROWS; row++, hash >>= 16) {
        const uint32_t place = hash % LEAT_ESP_MARK_PLACES;
        const uint8_t bit = (uint8_t)(1 << place % 8);
        count += (s->mark[row][place / 8] & bit) != 0;
        if (mark) s->mark[row][place / 8] |= bit;
    }
    return count;
}

/* The JOIN of an unknown member that has no challenge yet. */
static void challenge(struct leat_esp_service *s, leat_time now, const struct leat_esp_next *from,
                      const struct leat_esp_join *join, leat_time until)
{
    const uint64_t hash = secret_hash(s, from, from->port, join->member, join->serial);
    if (marks(s, hash, false) == LEAT_ESP_MARK_ROWS) {
        s->replayed++;
        return;
    }
    s->unproven++;
    if (!welcome(s, now, from, join, 0)) {
        s->unanswered++;
        if (until > s->doubt_until) s->doubt_until = until;
        return;
    }
    if (s->marked == LEAT_ESP_MARKED_MAX) {
        memset(s->mark, 0, sizeof s->mark);
        s->marked = 0;
    }
    marks(s, hash, true);
    s->marked++;
}

/* In a keyed group: is it this member's own, sent now and from this address? */
static bool is_believed(struct leat_esp_service *s, leat_time now, const struct leat_esp_next *from,
                        const struct leat_esp_join *join, leat_time until)
{
    const struct leat_esp_roster_entry *entry = leat_esp_roster_find(&s->roster, from);
    if (!s->config.challenge_key) return true;
    if (!leat_esp_next_equal(from, &join->from)) {
        s->forged++;
        return false;
    }
    if (entry && entry->id == join->member) {
        s->replayed += join->serial <= entry->serial;
        return join->serial > entry->serial;
    }
    if (join->challenge == challenge_of(s, from, join->member)) return true;
    if (join->lifetime_ms)
        challenge(s, now, from, join, until);
    else
        s->unproven++;
    return false;
}

bool leat_esp_service_join(struct leat_esp_service *s, leat_time now,
                           const struct leat_esp_next *from, const struct leat_esp_join *join)
{
    const leat_time until = leat_time_add(now, join->lifetime_ms * ps_per_ms);
    if (join->group != s->config.group || !join->member) {
        s->refused++;
        return false;
    }
    if (!is_believed(s, now, from, join, until)) return false;
    if (!join->lifetime_ms) {
        leat_esp_roster_leave(&s->roster, from, join->member, join->serial);
        return true;
    }
    /* Entries do not move while members are being queried. */
    if (s->roster.count == s->roster.cap && !is_running(s)) leat_esp_roster_expire(&s->roster, now);
    if (!leat_esp_roster_join(&s->roster, from, join->member, join->serial, until)) {
        s->refused++;
        return false;
    }
    welcome(s, now, from, join, LEAT_ESP_WELCOME_KNOWN);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool is_collected(const struct leat_esp_request *r)
{
    return r->kind == LEAT_ESP_SERVICE_CENSUS || r->kind == LEAT_ESP_SERVICE_SUM ||
           r->kind == LEAT_ESP_SERVICE_AVERAGE;
}

static bool is_mapped(const struct leat_esp_request *r)
{
    return r->kind == LEAT_ESP_SERVICE_TREE || r->kind == LEAT_ESP_SERVICE_MULTICAST;
}

/* Of these services a router needs a binding for each child. */
static bool is_sharded(const struct leat_esp_request *r)
{
    return is_mapped(r) || (r->robust && is_collected(r));
}

/* COUNT and COLLECT count every packet: they always have one round. */
static uint32_t rounds_of(const struct leat_esp_request *r)
{
    return is_collected(r) && !r->robust ? 1 : r->rounds;
}

static uint32_t phases_of(const struct leat_esp_request *r)
{
    return is_collected(r) ? PHASES : 1;
}

static leat_time phase_ps(const struct leat_esp_request *r)
{
    return (rounds_of(r) - 1) * r->gap_ps + 2 * r->settle_ps + grain_ps;
}

leat_time leat_esp_request_span(const struct leat_esp_request *r)
{
    const leat_time querying = is_mapped(r) ? 2 * r->settle_ps : 0;
    return phases_of(r) * phase_ps(r) + querying;
}

static leat_err check_numbers(const struct leat_esp_request *r, struct leat_text *why)
{
    /* Delays are 32 bits of microseconds. */
    const bool is_cast = r->kind == LEAT_ESP_SERVICE_MULTICAST;
    const uint64_t ps_max = UINT32_MAX * ps_per_us / (4 * LEAT_ESP_ROUNDS_MAX);
    const struct leat_text_range row[] = {
        { "rounds", r->rounds, 1, LEAT_ESP_ROUNDS_MAX },
        { "attempts", r->attempts, 1, LEAT_ESP_ATTEMPTS_MAX },
        { "copies of announcements", r->copies, 1, LEAT_ESP_ANNOUNCEMENTS_MAX },
        { "most rounds", r->rounds_max, 0, LEAT_ESP_ROUNDS_MAX },
        { "most copies of announcements", r->copies_max, 0, LEAT_ESP_ANNOUNCEMENTS_MAX },
        { "bits of a value", r->value_bits, 1, LEAT_ESP_VALUE_BITS },
        { "settling time in us", r->settle_ps / ps_per_us, 1, ps_max / ps_per_us },
        { "gap between rounds in us", r->gap_ps / ps_per_us, 1, ps_max / ps_per_us },
        { "pace of announcements in us", r->pace_ps / ps_per_us, 0, pace_max / ps_per_us },
        { "lifetime of duplicates in ms", r->lifetime_ms, is_cast, LEAT_ESP_DUPLICATE_MS_MAX },
    };
    return leat_text_check_ranges(why, row, sizeof row / sizeof *row);
}

static leat_err check(const struct leat_esp_service *s, const struct leat_esp_request *r,
                      struct leat_text *why)
{
    if (!is_collected(r) && !is_mapped(r) && r->kind != LEAT_ESP_SERVICE_MAX &&
        r->kind != LEAT_ESP_SERVICE_MIN) {
        leat_text_puts(
            why,
            "no service of this kind, expected census, max, min, sum, average, tree, multicast");
        return LEAT_ERR_RANGE;
    }
    const leat_err err = check_numbers(r, why);
    if (err) return err;
    if (leat_esp_request_span(r) > s->config.node.tau) {
        leat_text_puts(why, "an attempt takes ");
        leat_text_decimal(why, leat_esp_request_span(r) / ps_per_us);
        leat_text_puts(why, " us, expected at most tau, ");
        leat_text_decimal(why, s->config.node.tau / ps_per_us);
        leat_text_puts(why, " us");
        return LEAT_ERR_RANGE;
    }
    if (is_mapped(r) && !s->config.nodes_max) {
        leat_text_puts(why, "no room for nodes, expected some for a tree");
        return LEAT_ERR_FULL;
    }
    return LEAT_ERR_OK;
}

/* ---- announcements ------------------------------------------------------------------------- */

static unsigned plan_parts(const struct leat_esp_request *r, uint32_t members,
                           struct leat_esp_part part[LEAT_ESP_PARTS_MAX])
{
    const bool has_value = is_collected(r) && r->kind != LEAT_ESP_SERVICE_CENSUS;
    return leat_esp_part_plan(members, has_value ? r->value_bits : 0, part);
}

/* From one copy of so many announcements to the next. */
static leat_time spacing(const struct leat_esp_request *r, uint64_t announcements)
{
    const leat_time paced = r->pace_ps * announcements;
    return paced > r->gap_ps ? paced : r->gap_ps;
}

/* The first copies say how long it takes until the last, in 32 bits of microseconds. */
static leat_err check_announcing(const struct leat_esp_request *r, uint32_t members,
                                 struct leat_text *why)
{
    struct leat_esp_part part[LEAT_ESP_PARTS_MAX];
    const unsigned parts = plan_parts(r, members, part);
    if (spacing(r, (uint64_t)members * parts * phases_of(r)) <= announcing_max / r->copies)
        return LEAT_ERR_OK;
    leat_text_puts(why, "copies of announcements take longer than 1073 s, expected less");
    return LEAT_ERR_RANGE;
}

static uint32_t announcements(const struct leat_esp_service *s)
{
    return leat_esp_service_targets(s) * s->parts * phases_of(&s->request);
}

static leat_time copy_ps(const struct leat_esp_service *s)
{
    return spacing(&s->request, announcements(s));
}

/* When announcement `next` of copy `copy` is sent. */
static leat_time announce_at(const struct leat_esp_service *s, uint32_t copy, uint32_t next)
{
    return s->began_at + copy * copy_ps(s) + next * s->request.pace_ps;
}

/* When the last one has been sent. */
static leat_time last_at(const struct leat_esp_service *s)
{
    return announce_at(s, s->request.copies - 1, announcements(s));
}

/* ---- attempts -------------------------------------------------------------------------------- */

static void attempt(struct leat_esp_service *s, leat_time now)
{
    const struct leat_esp_request *r = &s->request;
    struct leat_esp_part part[LEAT_ESP_PARTS_MAX] = { { 0 } };
    s->state = LEAT_ESP_SERVICE_COMPUTING;
    s->parts = plan_parts(r, s->result.members, part);
    s->computings = s->parts * s->shards;
    for (uint32_t i = 0; i < s->computings; i++)
        s->computing[i] = (struct leat_esp_computing){ .part = part[i % s->parts] };
    s->result.attempts++;
    s->result.shards = s->shards;
    s->result.branches = s->result.branches_missing = 0;
    s->first_serial = s->serial + 1;
    s->serial += s->parts * phases_of(r);
    s->copy = s->next = 0;
    leat_esp_service_deal(s);
    s->began_at = now;
    s->is_crowded = s->is_cast = false;
    s->is_cast = leat_esp_service_can_cast(s, last_at(s)) && !is_mapped(r) && s->shards == 1;
    s->act_at = last_at(s) + r->settle_ps; /* time that the host may take to send them */
    s->collect_at = s->act_at + phase_ps(r);
    s->end_at = s->act_at + phases_of(r) * phase_ps(r);
}

leat_err leat_esp_service_begin(struct leat_esp_service *s, leat_time now,
                                const struct leat_esp_request *request, struct leat_text *why)
{
    leat_err err = check(s, request, why);
    if (err) return err;
    leat_esp_roster_expire(&s->roster, now);
    if (!s->roster.count) {
        leat_text_puts(why, "no members, expected at least one that has joined");
        return LEAT_ERR_FULL;
    }
    if (request->collects && s->roster.count > LEAT_ESP_CHILDREN_MAX)
        return leat_text_out_of_range(why, "members of a group that collects", s->roster.count, 1,
                                      LEAT_ESP_CHILDREN_MAX);
    err = check_announcing(request, s->roster.count, why);
    if (err) return err;
    s->request = *request;
    s->result = (struct leat_esp_service_result){ .members = s->roster.count,
                                                  .rounds = rounds_of(request),
                                                  .began_at = now };
    const uint32_t shards_max = leat_esp_service_shards_max(s->result.members);
    s->shards = !is_sharded(request) || !request->shards ? 1
                : request->shards < shards_max           ? request->shards
                                                         : shards_max;
    attempt(s, now);
    return LEAT_ERR_OK;
}

void leat_esp_service_end(struct leat_esp_service *s, leat_time now, enum leat_esp_end how)
{
    s->state = LEAT_ESP_SERVICE_ENDED;
    s->result.end = how;
    s->result.ended_at = now;
}

static uint32_t twice(uint32_t number, uint32_t most)
{
    return 2 * number <= most ? 2 * number : number < most ? most : number;
}

/* Members act already, and the host has not yet sent all announcements. */
static bool is_behind(const struct leat_esp_service *s, leat_time now)
{
    return s->state == LEAT_ESP_SERVICE_COMPUTING && s->copy < s->request.copies && now > s->act_at;
}

/* A busy host gets twice the time that it took. */
static void slow_down(struct leat_esp_service *s, leat_time now)
{
    struct leat_esp_request slower = s->request;
    const uint64_t sent = (uint64_t)s->copy * announcements(s) + s->next;
    const leat_time pace = 2 * (now - s->began_at) / (sent + 1);
    slower.pace_ps = pace < pace_max ? pace : pace_max;
    if (slower.pace_ps > s->request.pace_ps &&
        spacing(&slower, announcements(s)) <= announcing_max / slower.copies)
        s->request = slower;
}

/*
 * How many rounds and copies the links need is not known beforehand: an attempt that has failed is
 * repeated with twice as many. All of it must end within tau, and a delay in an announcement has 32
 * bits of microseconds. Where a store had no room for a child, the members are divided among more
 * computations, which are in different groups.
 */
static void grow(struct leat_esp_service *s)
{
    struct leat_esp_request *r = &s->request, more = *r;
    const uint32_t copies = twice(r->copies, r->copies_max);
    more.rounds = twice(r->rounds, r->rounds_max);
    if (leat_esp_request_span(&more) <= s->config.node.tau) r->rounds = more.rounds;
    if (copy_ps(s) <= announcing_max / copies) r->copies = copies;
    if (s->is_crowded) s->shards = leat_esp_service_more_shards(s);
    s->result.rounds = rounds_of(r);
}

/* This attempt has failed. */
static void again(struct leat_esp_service *s, leat_time now, enum leat_esp_end why)
{
    s->result.voids += why == LEAT_ESP_VOID;
    if (s->result.attempts < s->request.attempts) {
        if (is_behind(s, now))
            slow_down(s, now);
        else
            grow(s);
        attempt(s, now);
    } else {
        leat_esp_service_end(s, now, why);
    }
}

/* ---- what comes in --------------------------------------------------------------------------- */

static bool voids(const struct leat_esp_service *s)
{
    return s->request.robust && is_collected(&s->request) && !s->request.is_trusting;
}

/* A map in which children are missing is of use if no other attempt can have them. */
static bool voids_map(const struct leat_esp_service *s)
{
    return is_mapped(&s->request) && leat_esp_service_shards_max(s->result.members) > 1 &&
           s->result.attempts < s->request.attempts;
}

/* RCHLD never aborts: with E it has found a store full, or was not allowed more. */
static void on_error(struct leat_esp_service *s, leat_time now, uint8_t opcode)
{
    s->result.errors++;
    if (opcode == LEAT_ESP_RCHLD && is_sharded(&s->request)) s->is_crowded = true;
    if (voids(s) || voids_map(s)) again(s, now, LEAT_ESP_VOID);
}

/* Adds the members in a shard, and its sum. False: they are not all, or its parts disagree. */
static bool add_shard(const struct leat_esp_service *s, const struct leat_esp_computing *c,
                      uint64_t *counted, uint64_t *low, uint64_t *high)
{
    const uint64_t members = leat_esp_part_count(&c[0].part, c[0].val);
    bool agree = members == c[0].members;
    for (uint32_t i = 0; i < s->parts; i++) {
        const uint64_t share = leat_esp_part_share(&c[i].part, c[i].val);
        agree = agree && leat_esp_part_count(&c[i].part, c[i].val) == members;
        *low += share;
        *high += leat_esp_part_share_high(&c[i].part, c[i].val) + (*low < share);
    }
    *counted += members;
    return agree;
}

/* All parts are present: combine them into the answer, if it is valid. */
static void conclude(struct leat_esp_service *s, leat_time now)
{
    uint64_t counted = 0, answer = 0, high = 0;
    bool agree = true;
    for (uint32_t shard = 0; shard < s->shards; shard++) {
        const struct leat_esp_computing *c = &s->computing[shard * s->parts];
        if (c->members && !add_shard(s, c, &counted, &answer, &high)) agree = false;
    }
    if (voids(s) && !agree) {
        again(s, now, LEAT_ESP_VOID);
        return;
    }
    s->result.counted = counted;
    s->result.answer = s->request.kind == LEAT_ESP_SERVICE_CENSUS ? counted : answer;
    s->result.answer_high = s->request.kind == LEAT_ESP_SERVICE_CENSUS ? 0 : high;
    leat_esp_service_end(s, now, LEAT_ESP_ANSWERED);
}

static void on_answer(struct leat_esp_service *s, leat_time now, struct leat_esp_computing *c,
                      uint64_t val)
{
    if (c->is_answered) return; /* a copy */
    c->is_answered = true;
    c->val = val;
    if (!--s->missing) conclude(s, now);
}

/* Children that the root's own store waits for in a computation. */
static uint32_t children_of(struct leat_esp_service *s, leat_time now, uint64_t computation)
{
    struct leat_esp_turn turn = { .computation = computation,
                                  .mark = leat_esp_mark(&s->own.node, computation) };
    turn.group = leat_esp_store_group(&s->own, turn.mark);
    leat_esp_turn_begin(&turn, now, s->own.node.tau);
    return (uint32_t)leat_esp_cell_find(&turn, LEAT_ESP_TAG_CHILDREN).value;
}

/* In the first computation of each shard. */
static uint32_t children(struct leat_esp_service *s, leat_time now)
{
    uint32_t sum = 0;
    for (uint32_t shard = 0; shard < s->shards; shard++)
        sum += children_of(s, now, s->computing[shard * s->parts].computation);
    return sum;
}

/* The root's own store executes it, as the last node of the route. What it passes is the answer. */
static void execute(struct leat_esp_service *s, leat_time now, struct leat_esp_computing *c,
                    const struct leat_esp_words *words)
{
    struct leat_esp_words w = *words;
    const struct leat_esp_outcome out = leat_esp_store_execute(&s->own, now, &w);
    const bool passed = out.verdict == LEAT_ESP_PASS;
    if (!passed && out.verdict != LEAT_ESP_STOP) {
        on_error(s, now, w.opcode);
    } else if (w.opcode == LEAT_ESP_COUNT || w.opcode == LEAT_ESP_RCHLD) {
        s->result.branches += w.opcode == LEAT_ESP_COUNT || out.created;
    } else if (passed && w.opcode == LEAT_ESP_COMPARE) {
        c->is_answered = true; /* and a better one may come */
        c->val = w.operand[1];
    } else if (passed) {
        on_answer(s, now, c, w.operand[w.opcode == LEAT_ESP_COLLECT ? 1 : 3]);
    }
}

/* The instruction of a phase. */
static uint8_t opcode_of(const struct leat_esp_request *r, uint32_t phase)
{
    if (!is_collected(r)) return is_mapped(r) ? LEAT_ESP_RCHLD : LEAT_ESP_COMPARE;
    if (phase == PHASE_REGISTER) return r->robust ? LEAT_ESP_RCHLD : LEAT_ESP_COUNT;
    return r->robust ? LEAT_ESP_RCOLLECT : LEAT_ESP_COLLECT;
}

/* Is it what the members were asked to send? Anything else could come from anybody. */
static bool is_expected(const struct leat_esp_service *s, const struct leat_esp_words *w)
{
    for (uint32_t phase = 0; phase < phases_of(&s->request); phase++)
        if (w->opcode == opcode_of(&s->request, phase)) return true;
    return false;
}

void leat_esp_service_receive(struct leat_esp_service *s, leat_time now,
                              const struct leat_esp_words *words)
{
    if (s->state != LEAT_ESP_SERVICE_COMPUTING || !is_expected(s, words)) return;
    struct leat_esp_computing *c = leat_esp_service_computing(s, words->computation);
    if (!c) return;
    s->result.received++;
    if (words->control & LEAT_ESP_FLAG_E)
        on_error(s, now, words->opcode);
    else if (words->control & LEAT_ESP_FLAG_X)
        execute(s, now, c, words);
}

/* ---- what goes out --------------------------------------------------------------------------- */

/*
 * spec/esp.md: LT for a maximum, GT for a minimum. Where a value is retransmitted because packets
 * are lost, an equal value must be forwarded, or the second copy would stop where the first one
 * passed.
 */
static uint32_t operator_of(const struct leat_esp_request *r)
{
    const uint32_t is_signed = r->is_signed ? LEAT_ESP_OP_SIGNED : 0;
    if (is_collected(r)) return LEAT_ESP_FOLD_ADD;
    if (r->kind == LEAT_ESP_SERVICE_MAX)
        return is_signed + (r->rounds > 1 ? LEAT_ESP_COMPARE_LE : LEAT_ESP_COMPARE_LT);
    return is_signed + (r->rounds > 1 ? LEAT_ESP_COMPARE_GE : LEAT_ESP_COMPARE_GT);
}

static struct leat_esp_packet task_of(const struct leat_esp_request *r, uint32_t phase,
                                      const struct leat_esp_computing *c)
{
    const bool is_collect = opcode_of(r, phase) == LEAT_ESP_COLLECT;
    return (struct leat_esp_packet){
        .flags = LEAT_ESP_FLAG_X,
        .opcode = opcode_of(r, phase),
        .op = operator_of(r),
        .computationId = c->computation,
        .compValTag = opcode_of(r, phase) == LEAT_ESP_COUNT ? LEAT_ESP_TAG_CHILDREN
                                                            : LEAT_ESP_TAG_TOTAL,
        .thresh = 1,
        .val = leat_esp_part_base(&c->part),
        .chldCntTag = is_collect ? LEAT_ESP_TAG_CHILDREN : 0,
        .sibCntTag = LEAT_ESP_TAG_CHILDREN,
        .fwdCntTag = LEAT_ESP_TAG_FORWARDED,
        .fwdThresh = r->rounds,
        .compIdTag = LEAT_ESP_TAG_TOTAL,
        .collectFwdTag = LEAT_ESP_TAG_COLLECTED,
    };
}

static uint8_t value_from(const struct leat_esp_request *r, const struct leat_esp_computing *c)
{
    if (!is_collected(r)) return LEAT_ESP_VALUE_OWN;
    return c->part.count_at ? LEAT_ESP_VALUE_PART : LEAT_ESP_VALUE_TASK;
}

/* For people and logs. */
static uint8_t service_of(const struct leat_esp_request *r)
{
    if (r->robust && r->kind == LEAT_ESP_SERVICE_SUM) return LEAT_ESP_SERVICE_ROBUST_SUM;
    if (r->robust && r->kind == LEAT_ESP_SERVICE_AVERAGE) return LEAT_ESP_SERVICE_ROBUST_AVERAGE;
    return (uint8_t)r->kind;
}

/* Microseconds from now, rounded up; 0 for the past. */
static uint32_t us_until(leat_time at, leat_time now)
{
    return at > now ? (uint32_t)((at - now + ps_per_us - 1) / ps_per_us) : 0;
}

/* Announcement `next` of a copy: of all members the first computation's first phase, ... */
static void announce(struct leat_esp_service *s, leat_time now, struct leat_esp_post *post)
{
    const struct leat_esp_request *r = &s->request;
    const uint32_t targets = leat_esp_service_targets(s), which = s->next / targets;
    const uint32_t phase = which % phases_of(r),
                   shard = leat_esp_service_shard(s, s->next % targets);
    const struct leat_esp_computing *c = &s->computing[shard * s->parts + which / phases_of(r)];
    *post = (struct leat_esp_post){ .computation = c->computation };
    post->announce = (struct leat_esp_announce){
        .group = s->config.group,
        .serial = s->first_serial + which,
        .service = service_of(r),
        .phase = (uint8_t)phase,
        .value_from = value_from(r, c),
        .value_shift = c->part.shift,
        .rounds = (uint16_t)rounds_of(r),
        .delay_us = us_until(phase == PHASE_REGISTER ? s->act_at : s->collect_at, now),
        .interval_us = us_until(r->gap_ps, 0),
        .task = task_of(r, phase, c),
    };
    leat_esp_service_target(s, s->next % targets, post);
    s->result.announced++;
    if (++s->next == announcements(s)) {
        s->next = 0;
        s->copy++;
    }
}

/* The end of the schedule. */
static void on_end(struct leat_esp_service *s, leat_time now)
{
    const struct leat_esp_computing *c = &s->computing[0];
    if (is_mapped(&s->request)) {
        leat_esp_service_begin_queries(s, now);
    } else if (!is_collected(&s->request) && c->is_answered) {
        s->result.answer = c->val;
        leat_esp_service_end(s, now, LEAT_ESP_ANSWERED);
    } else {
        s->result.branches_missing = is_collected(&s->request) ? children(s, now) : 0;
        again(s, now, LEAT_ESP_LATE);
    }
}

bool leat_esp_service_next(struct leat_esp_service *s, leat_time now, struct leat_esp_post *post)
{
    if (s->welcomes) {
        *post = s->welcome[--s->welcomes];
        return true;
    }
    if (s->state == LEAT_ESP_SERVICE_COMPUTING && now >= s->end_at) on_end(s, now);
    /* Too late: a member that receives it now would act when others already collect. */
    if (is_behind(s, now)) again(s, now, LEAT_ESP_VOID);
    if (s->state == LEAT_ESP_SERVICE_QUERYING && now >= s->wave_at) leat_esp_service_wave(s, now);
    if (s->state == LEAT_ESP_SERVICE_INSTALLING && now >= s->wave_at)
        leat_esp_service_install_wave(s, now);
    if (s->state == LEAT_ESP_SERVICE_QUERYING) return leat_esp_service_query(s, post);
    if (s->state == LEAT_ESP_SERVICE_INSTALLING) return leat_esp_service_install(s, post);
    if (s->state != LEAT_ESP_SERVICE_COMPUTING || s->copy == s->request.copies ||
        now < announce_at(s, s->copy, s->next))
        return false;
    announce(s, now, post);
    return true;
}

leat_time leat_esp_service_wake_at(const struct leat_esp_service *s)
{
    if (s->welcomes) return 0;
    if (s->state == LEAT_ESP_SERVICE_QUERYING || s->state == LEAT_ESP_SERVICE_INSTALLING)
        return s->wave_at;
    if (s->state != LEAT_ESP_SERVICE_COMPUTING) return LEAT_NEVER;
    return s->copy < s->request.copies ? announce_at(s, s->copy, s->next) : s->end_at;
}
