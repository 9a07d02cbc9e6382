/*
 * Differential campaign: the AAL unit, stepped in every cycle and stepped only at wake_at, against
 * the plain model of atm_aal_unit_model_test.h. One unit runs among a random host, random peers and
 * a random network; the test compares every register that note 5.6 names in every cycle.
 */
#include "atm_aal_unit_model_test.h"
#include "tap.h"
#include <leat/random.h>

enum {
    UNITS = 2, /* [0] is stepped every cycle, [1] at wake_at */
    MEMORY_OCTETS = 1 << 17,
    POOL_OCTETS = 4096,
    SENT_COUNT = 16,
    CYCLES_PER_ROUND = 4,
    LIVES_MIN = 20,
};

/* A message that the host writes: its commands, issued one after the other. */
struct writer {
    struct leat_atm_aal_command command[12];
    unsigned count, issued;
    uint64_t next_at;
    bool open;  /* not yet written, not yet discarded */
    bool hasty; /* the commands of the next one follow at once */
};

struct reader {
    enum { READER_IDLE, READER_ASKING, READER_GETTING, READER_ENDING } state;
    uint64_t next_at;
};

struct bench {
    struct model model;
    struct leat_atm_aal_unit unit[UNITS];
    struct leat_random random;
    uint64_t seed, now;
    bool failed;
    uint32_t promised[UNITS]; /* flags of reports to come */

    struct writer writer;
    struct reader reader;
    uint32_t pace; /* how busy host and peers are: gaps are below it */
    bool confused;

    /* The arriving cell: its fourth and its last octet */
    uint8_t in_cell[53];
    uint64_t in_next_at, in_check_at, in_last_at;
    /* Per peer and type: how many cells of its stream have been sent in order. */
    uint32_t stream[MODEL_PORTS][MODEL_STREAMS];
    uint32_t stream_base[MODEL_PORTS][MODEL_STREAMS];
    uint64_t members[MODEL_GROUPS][(MODEL_PORTS + 63) / 64];
    uint32_t set_up; /* groups, also once more */

    struct model_cell resync; /* the last one sent */
    struct model_cell sent[SENT_COUNT];
    unsigned sent_count;
    uint64_t refuse_at;
    bool line_reported;          /* by the units, of a future cell */
    uint32_t reported, happened; /* in this cycle, in this run */
};

static uint8_t pool[POOL_OCTETS];
static _Alignas(max_align_t) uint8_t memory[UNITS][MEMORY_OCTETS];

static uint32_t draw(struct bench *b, uint32_t bound)
{
    return (uint32_t)leat_random_below(&b->random, bound);
}

static bool chance(struct bench *b, uint32_t percent)
{
    return draw(b, 100) < percent;
}

static void same(struct bench *b, int u, const char *what, uint64_t got, uint64_t want)
{
    if (got == want || b->failed) return;
    b->failed = true;
    printf("# seed %llu, cycle %llu, unit stepped %s: %s is %llu, want %llu\n",
           (unsigned long long)b->seed, (unsigned long long)b->now, u ? "when due" : "always", what,
           (unsigned long long)got, (unsigned long long)want);
}

/* The peers */

static uint32_t mix(struct bench *b, uint32_t peer, uint32_t point, uint32_t index)
{
    uint64_t state = b->seed ^ (uint64_t)peer << 40 ^ (uint64_t)point << 36 ^ index;
    return (uint32_t)(leat_random_splitmix(&state) >> 16);
}

/* The message boundaries of a stream follow from the stream alone, in whatever order it arrives. */
static bool begins(struct bench *b, uint32_t peer, uint32_t point, uint32_t index)
{
    return index == 0 || mix(b, peer, point, index) % 5 < 2;
}

static struct leat_atm_task_message some_message(uint32_t r)
{
    return (struct leat_atm_task_message){ .name = { 'a', 'b', 'c' + (r & 1) },
                                           .instance = r >> 1 & 2 ? 0xffffffff : r >> 3 & 3,
                                           .id = r >> 5 & 1 };
}

/* Some peers are faulty: their flags do not fit together. */
static uint16_t flag_of(struct bench *b, uint32_t peer, uint32_t point, uint32_t index)
{
    const uint32_t r = mix(b, peer, point, index ^ 0x40000000);
    if (b->confused && r % 8 == 0) return (uint16_t)(r >> 8 & 3);
    return (uint16_t)((begins(b, peer, point, index) ? LEAT_ATM_TASK_FIRST : 0) |
                      (begins(b, peer, point, index + 1) ? LEAT_ATM_TASK_LAST : 0));
}

static uint16_t stream_destination(const struct bench *b, uint32_t stream)
{
    if (stream == 1) return (uint16_t)b->model.config.port;
    return (uint16_t)(stream ? LEAT_ATM_TASK_GROUP - (stream - 2) : LEAT_ATM_TASK_BROADCAST);
}

static void stream_cell(struct bench *b, uint32_t peer, uint32_t point, uint32_t index,
                        uint8_t *cell)
{
    const struct model_cell c = {
        LEAT_ATM_TASK_MESSAGE,
        flag_of(b, peer, point, index),
        (b->stream_base[peer][point] + index + 1) & model_mask,
        (uint16_t)peer,
        stream_destination(b, point),
    };
    const uint32_t r = mix(b, peer, point, index ^ 0x80000000);
    uint8_t payload[36];
    for (unsigned i = 0; i < 36; i++)
        payload[i] = (uint8_t)(r >> 8 * (i % 4)) ^ (uint8_t)i;
    if (c.flag & LEAT_ATM_TASK_FIRST) {
        const struct leat_atm_task_message to = some_message(r);
        leat_atm_task_message_encode(&to, payload, sizeof payload);
    }
    model_cell_write(&c, payload, cell);
}

/* In order, a copy of an old one, or ahead of a hole. */
static void make_data(struct bench *b, uint8_t *cell)
{
    const uint32_t peer = chance(b, 70) ? draw(b, 3) % b->model.config.ports
                                        : draw(b, b->model.config.ports);
    const uint32_t point = draw(b, 2 + model_groups), blocks = b->model.config.send_blocks;
    uint32_t *next = &b->stream[peer][point], index = *next;
    if (chance(b, 15))
        index += 1 + draw(b, chance(b, 20) ? blocks + 2 : 3);
    else if (chance(b, 15) && index)
        index -= 1 + draw(b, index < 40 ? index : 40);
    else
        *next = index + 1;
    if (index != *next - 1 && chance(b, 30) && *next) index = *next - 1;
    stream_cell(b, peer, point, index, cell);
}

static void make_ack(struct bench *b, uint8_t *cell)
{
    const unsigned kept = b->sent_count < SENT_COUNT ? b->sent_count : SENT_COUNT;
    const struct model_cell sent = b->sent[draw(b, kept)];
    const unsigned stream = model_stream_to(sent.dst);
    struct model_cell c = { LEAT_ATM_TASK_ACK, model_stream_flag(stream), sent.sqn,
                            stream == 1 ? sent.dst : (uint16_t)draw(b, b->model.config.ports),
                            (uint16_t)b->model.config.port };
    /* No block waits for this one, nor will soon: numbers become valid only after the label. */
    if (chance(b, 4)) c.sqn = (c.sqn + 20000) & model_mask;
    model_cell_write(&c, NULL, cell);
}

/* A peer has discarded cells that it sent, or did not even send; or it repeats an earlier
 * RESYNC. */
static void make_resync(struct bench *b, uint8_t *cell)
{
    const uint32_t peer = chance(b, 70) ? draw(b, 3) % b->model.config.ports
                                        : draw(b, b->model.config.ports);
    const uint32_t point = draw(b, 2 + model_groups);
    uint32_t *next = &b->stream[peer][point], index = *next + draw(b, 5);
    if (chance(b, 40)) index = *next - draw(b, *next < 6 ? *next + 1 : 6);
    if (index > *next) *next = index;
    const struct model_cell c = { LEAT_ATM_TASK_RESYNC, model_stream_flag(point),
                                  (b->stream_base[peer][point] + index) & model_mask,
                                  (uint16_t)peer, (uint16_t)b->model.config.port };
    model_cell_write(&c, NULL, cell);
}

/* The answer to the last RESYNC, or to one that was never sent. */
static void make_resynced(struct bench *b, uint8_t *cell)
{
    struct model_cell c = b->resync;
    c.type = LEAT_ATM_TASK_RESYNCED;
    c.source = b->resync.dst;
    c.dst = (uint16_t)b->model.config.port;
    if (chance(b, 10)) c.sqn = (c.sqn - 1) & model_mask;
    if (chance(b, 5)) c.flag = model_stream_flag(draw(b, 2 + model_groups));
    model_cell_write(&c, NULL, cell);
}

static void make_cell(struct bench *b)
{
    if (b->resync.type && chance(b, 20))
        make_resynced(b, b->in_cell);
    else if (b->model.config.resync && chance(b, 15))
        make_resync(b, b->in_cell);
    else if (b->sent_count && chance(b, 60))
        make_ack(b, b->in_cell);
    else
        make_data(b, b->in_cell);
    if (chance(b, 3)) {
        const uint32_t at = 5 + draw(b, 48);
        b->in_cell[at] ^= (uint8_t)(1 + draw(b, 255));
    }
    if (chance(b, 2)) {
        struct model_cell c = model_cell_read(b->in_cell);
        c.dst = (uint16_t)(b->model.config.port + 1);
        model_cell_write(&c, NULL, b->in_cell);
    }
    leat_put_be16(b->in_cell, (uint16_t)(draw(b, 4096) << 4));
}

/* A cell that finds no room is stopped after its fourth octet and is sent again. */
static void link_in(struct bench *b)
{
    if (b->now == b->in_last_at) {
        model_receive(&b->model, b->in_cell, b->now);
        for (int u = 0; u < UNITS; u++)
            leat_atm_aal_unit_receive(&b->unit[u], b->in_cell, b->now);
        b->in_last_at = 0;
        b->in_next_at = b->now + 1 + (chance(b, 40) ? 0 : draw(b, b->pace));
    } else if (b->now == b->in_check_at && !model_room(&b->model)) {
        b->in_check_at += 6;
        b->in_last_at += 6;
    } else if (!b->in_last_at && b->now >= b->in_next_at) {
        make_cell(b);
        b->in_check_at = b->now + 3;
        b->in_last_at = b->now + 52;
    }
}

static void link_out(struct bench *b)
{
    if (b->line_reported && chance(b, 5)) {
        b->model.held = draw(b, 120);
        for (int u = 0; u < UNITS; u++)
            leat_atm_aal_unit_hold(&b->unit[u], b->model.held);
    }
    b->line_reported = false;
    if (!(b->reported & LEAT_ATM_AAL_LINE)) return;
    const struct model_cell c = model_cell_read(b->model.line_cell);
    if (c.type == LEAT_ATM_TASK_RESYNC) b->resync = c;
    if (c.type == LEAT_ATM_TASK_MESSAGE) b->sent[b->sent_count++ % SENT_COUNT] = c;
    /* Note R3: a PPD has read the label, in two octets or in four. */
    if (chance(b, 15)) b->refuse_at = b->now + b->model.config.header_octets + 3;
}

/* The host */

/* The model knows bus words only: several of them for one of these commands. */
static void model_words(struct bench *b, struct leat_atm_aal_command c)
{
    static const enum leat_atm_aal_verb write[] = { LEAT_ATM_AAL_INITSEND, LEAT_ATM_AAL_PUT,
                                                    LEAT_ATM_AAL_DESTINATION, LEAT_ATM_AAL_SEND };
    static const enum leat_atm_aal_verb read[] = { LEAT_ATM_AAL_RECEIVE, LEAT_ATM_AAL_GET };
    const bool writes = c.verb == LEAT_ATM_AAL_WRITE;
    if (!writes && c.verb != LEAT_ATM_AAL_READ) {
        model_command(&b->model, &c, b->now);
        return;
    }
    for (unsigned i = 0; i < (writes ? 4 : 2); i++) {
        c.verb = (writes ? write : read)[i];
        if (c.verb != LEAT_ATM_AAL_PUT || c.len > 0) model_command(&b->model, &c, b->now);
        c.not_before = 0;
    }
}

/* The unit limits how many commands may be pending; the model accepts more. */
static bool command(struct bench *b, const struct leat_atm_aal_command *c)
{
    const bool taken = leat_atm_aal_unit_command(&b->unit[0], c, b->now);
    same(b, 1, "taken", leat_atm_aal_unit_command(&b->unit[1], c, b->now), taken);
    if (taken) model_words(b, *c);
    return taken;
}

static void write_add(struct bench *b, struct leat_atm_aal_command c)
{
    if (chance(b, 10)) c.not_before = b->now + draw(b, 400);
    b->writer.command[b->writer.count++] = c;
}

/* A unit sends to groups that it is in. */
static uint16_t some_destination(struct bench *b)
{
    const uint32_t group = draw(b, MODEL_GROUPS);
    if (group < model_groups && b->model.member[group][b->model.config.port] && chance(b, 50))
        return (uint16_t)(LEAT_ATM_TASK_GROUP - group);
    return chance(b, 30) ? LEAT_ATM_TASK_BROADCAST : (uint16_t)draw(b, b->model.config.ports);
}

static void write_at_once(struct bench *b)
{
    const uint32_t len = draw(b, chance(b, 10) ? 400 : 50);
    struct leat_atm_aal_command c = { .verb = LEAT_ATM_AAL_WRITE, .len = len };
    c.octets = pool + draw(b, POOL_OCTETS - len);
    c.destination = some_destination(b);
    c.message = some_message((uint32_t)leat_random_next(&b->random));
    write_add(b, c);
}

static void write_compose(struct bench *b)
{
    struct writer *w = &b->writer;
    *w = (struct writer){ .open = true, .hasty = chance(b, 20), .next_at = b->now };
    if (chance(b, 15)) {
        write_at_once(b);
        return;
    }
    write_add(b, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND });
    const unsigned puts = draw(b, 4), len_max = chance(b, 10) ? 400 : 50;
    for (unsigned i = 0; i < puts; i++) {
        const uint32_t len = draw(b, len_max);
        write_add(b, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_PUT,
                                                    .octets = pool + draw(b, POOL_OCTETS - len),
                                                    .len = len });
    }
    const uint16_t to = some_destination(b);
    write_add(b,
              (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_DESTINATION, .destination = to });
    write_add(b, (struct leat_atm_aal_command){
                     .verb = LEAT_ATM_AAL_SEND,
                     .message = some_message((uint32_t)leat_random_next(&b->random)) });
}

static void host_write(struct bench *b)
{
    struct writer *w = &b->writer;
    if (b->reported & (w->hasty ? LEAT_ATM_AAL_EXIT : LEAT_ATM_AAL_EXIT | LEAT_ATM_AAL_WRITTEN)) {
        w->open = false;
        w->next_at = b->now + (chance(b, 40) ? 0 : draw(b, b->pace));
    }
    if (b->now < w->next_at) return;
    if (!w->open) write_compose(b);
    while (w->issued < w->count && b->now >= w->next_at && command(b, &w->command[w->issued])) {
        w->issued++;
        if (chance(b, 20)) w->next_at = b->now + draw(b, 200);
    }
    if (w->hasty && w->issued == w->count) w->open = false;
}

static void read_get(struct bench *b)
{
    const unsigned gets = 1 + draw(b, 3);
    for (unsigned i = 0; i < gets; i++)
        command(b,
                &(struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_GET, .len = 1 + draw(b, 60) });
    b->reader.state = READER_GETTING;
}

static void read_ask(struct bench *b)
{
    const bool at_once = chance(b, 30);
    struct leat_atm_aal_command c = { .verb = at_once ? LEAT_ATM_AAL_READ : LEAT_ATM_AAL_RECEIVE };
    if (at_once) c.len = 1 + draw(b, 60);
    c.message = some_message((uint32_t)leat_random_next(&b->random));
    if (c.message.instance == 0xffffffff) c.message.instance = 4;
    if (chance(b, 10)) c.not_before = b->now + draw(b, 100);
    command(b, &c);
    b->reader.state = at_once ? READER_GETTING : READER_ASKING;
    if (!at_once && chance(b, 20)) read_get(b); /* speculatively */
}

static void read_end(struct bench *b)
{
    model_read_end(&b->model, b->now);
    for (int u = 0; u < UNITS; u++)
        leat_atm_aal_unit_read_end(&b->unit[u], b->now);
    b->reader.state = READER_IDLE;
    b->reader.next_at = b->now + draw(b, b->pace);
}

static void host_read(struct bench *b)
{
    struct reader *r = &b->reader;
    const uint32_t reported = b->reported;
    if (reported & LEAT_ATM_AAL_DENIED) {
        r->state = READER_IDLE;
        r->next_at = b->now + draw(b, b->pace);
    }
    if (reported & LEAT_ATM_AAL_GRANTED) {
        r->next_at = b->now + 7 + draw(b, 100);
        if (r->state == READER_ASKING && chance(b, 70)) read_get(b);
        if (r->state == READER_ASKING) r->state = READER_ENDING;
    }
    if (reported & LEAT_ATM_AAL_GOT) {
        r->state = READER_ENDING;
        r->next_at = b->now + (chance(b, 50) ? 0 : draw(b, 300));
    }
    if (r->state == READER_IDLE && b->now >= r->next_at) read_ask(b);
    if (r->state == READER_ENDING && b->now >= r->next_at) read_end(b);
}

/* Groups */

/* Of any members; then numbers go on from where the peers are. */
static void set_up_group(struct bench *b, uint32_t group)
{
    const uint32_t ports = b->model.config.ports, stream = 2 + group;
    uint32_t number[MODEL_PORTS];
    memset(b->members[group], 0, sizeof b->members[group]);
    for (uint32_t p = 0; p < ports; p++) {
        const bool is_member = chance(b, p == b->model.config.port ? 90 : 50);
        b->members[group][p / 64] |= (uint64_t)is_member << p % 64;
        b->model.member[group][p] = is_member;
        number[p] = (b->stream_base[p][stream] + b->stream[p][stream]) & model_mask;
        b->model.received[p][stream] = number[p];
    }
    for (int u = 0; u < UNITS; u++)
        leat_atm_aal_unit_set_group(&b->unit[u], group, b->members[group], number);
    b->set_up++;
}

/* Rarely, and only while no message is being written. */
static void tend_groups(struct bench *b)
{
    const bool writes = b->writer.open || b->model.write.active || b->model.write.waiting_count ||
                        b->model.segmenting || b->model.written.count;
    for (uint32_t group = 0; group < model_groups && b->now % 32 == 0; group++) {
        const bool is_quiet = model_group_is_quiet(&b->model, group);
        for (int u = 0; u < UNITS; u++) {
            leat_atm_aal_unit_settle(&b->unit[u], b->now);
            if (!writes)
                same(b, u, "is_quiet", leat_atm_aal_unit_group_is_quiet(&b->unit[u], group),
                     is_quiet);
        }
        if (is_quiet && !writes && chance(b, 5)) set_up_group(b, group);
    }
}

/* The comparison */

static void same_chain(struct bench *b, int u, const struct leat_atm_aal_chain *chain,
                       const struct model_buffer *want)
{
    same(b, u, "busy_count", chain->busy_count, want->busy.count);
    uint16_t block = chain->busy_head;
    for (unsigned i = 0; i < want->busy.count && !b->failed; i++, block = chain->link[block].next)
        same(b, u, "block of the busy list", block, want->busy.item[i]);
    if (want->busy.count)
        same(b, u, "busy_tail", chain->busy_tail, want->busy.item[want->busy.count - 1]);
    block = chain->free_head;
    for (unsigned i = 0; i < want->free.count && !b->failed; i++, block = chain->link[block].next)
        same(b, u, "block of the free list", block, want->free.item[i]);
    if (want->free.count)
        same(b, u, "free_tail", chain->free_tail, want->free.item[want->free.count - 1]);
}

static void same_blocks(struct bench *b, int u)
{
    const struct leat_atm_aal_unit *unit = &b->unit[u];
    for (unsigned i = 0; i < b->model.og.busy.count; i++) {
        const uint16_t block = b->model.og.busy.item[i];
        const struct model_send_block *want = &b->model.send[block];
        same(b, u, "blktime", (uint64_t)leat_atm_aal_unit_blktime(unit, block, b->now),
             (uint64_t)want->blktime);
        if (want->blktime < 0) continue;
        same(b, u, "acknum", unit->send_block[block].acks_missing, want->acknum);
        same(b, u, "ogblktofr", leat_atm_aal_unit_blktofr(unit, block, b->now), want->ogblktofr);
    }
}

static void same_registers(struct bench *b, int u)
{
    const struct leat_atm_aal_unit *unit = &b->unit[u];
    const struct model *m = &b->model;
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(unit, b->now, &view);
    same(b, u, "state5", view.state5, m->state5);
    if (m->og.busy.count) same(b, u, "cursnd", view.cursnd, m->cursnd);
    if (m->service != MODEL_IDLE && b->now > m->t0)
        same(b, u, "iccurb", view.iccurb, m->service_block);
    else if (m->ic.busy.count)
        same(b, u, "iccurb", view.iccurb, m->ic.busy.item[0]);
    same(b, u, "messages_busy", unit->messages_busy, m->ogmsgnum);
    same(b, u, "in_message_count", unit->in_message_count, m->icblkinmsgnum);
    same(b, u, "room", leat_atm_aal_unit_room(unit), model_room(m));
    same(b, u, "nomem", unit->nomem, m->nomem);
}

/* State that a unit may update lazily. Reading it must change nothing, so one unit is read
 * rarely. */
static void same_settled(struct bench *b, int u)
{
    if (u == 1 && b->now % 64) return;
    leat_atm_aal_unit_settle(&b->unit[u], b->now);
    same(b, u, "path", b->unit[u].path, b->model.path);
}

static void same_message(struct bench *b, int u, uint16_t message)
{
    const struct model_list *blocks = &b->model.message[message].blocks;
    uint8_t want[36 * MODEL_BLOCKS], got[36 * MODEL_BLOCKS];
    for (unsigned i = 0; i < blocks->count; i++)
        memcpy(want + 36 * i, b->model.receive[blocks->item[i]].cell + 15, 36);
    const uint32_t len = 36 * blocks->count - 20, from = draw(b, len + 1);
    leat_atm_aal_unit_copy(&b->unit[u], message, from, got, len - from);
    same(b, u, "content of the message", memcmp(got, want + 20 + from, len - from) != 0, 0);
}

static void same_reported(struct bench *b, int u)
{
    const struct leat_atm_aal_unit *unit = &b->unit[u];
    const struct model *m = &b->model;
    const uint32_t early = LEAT_ATM_AAL_LINE | LEAT_ATM_AAL_TOOLONG;
    b->promised[u] |= unit->reported & early;
    same(b, u, "reported", unit->reported & ~early, m->reported & ~early);
    same(b, u, "promised", b->promised[u] & m->reported & early, m->reported & early);
    if (m->reported & (LEAT_ATM_AAL_WRITTEN | LEAT_ATM_AAL_EXIT))
        same(b, u, "promised", b->promised[u] & ~m->reported & LEAT_ATM_AAL_TOOLONG, 0);
    b->promised[u] &= ~m->reported;
    if (b->promised[u] & LEAT_ATM_AAL_LINE) same(b, u, "line_at", unit->line_at <= b->now, false);
    if (b->failed) return;
    if (m->reported & LEAT_ATM_AAL_LINE) {
        same(b, u, "line_at", unit->line_at, m->line_at);
        same(b, u, "difference of line_cell", memcmp(unit->line_cell, m->line_cell, 53) != 0, 0);
    }
    if (m->reported & LEAT_ATM_AAL_COMPLETE) {
        same(b, u, "message_reported", unit->message_reported, m->message_reported);
        same_message(b, u, m->message_reported);
    }
    if (m->reported & (LEAT_ATM_AAL_GRANTED | LEAT_ATM_AAL_DENIED))
        same(b, u, "reply_at", unit->reply_at, m->reply_at);
    if (m->reported & LEAT_ATM_AAL_GRANTED) {
        same(b, u, "message_read", unit->message_read, m->message_read);
        same_message(b, u, m->message_read);
    }
    if (m->reported & LEAT_ATM_AAL_UNDELIVERABLE)
        same(b, u, "block_reported", unit->block_reported, m->block_reported);
}

static void same_counts(struct bench *b, int u)
{
    const struct leat_atm_aal_counts *got = &b->unit[u].counts, *want = &b->model.counts;
#define SAME_COUNT(name) same(b, u, #name, got->name, want->name)
    SAME_COUNT(cells_sent);
    SAME_COUNT(acks_sent);
    SAME_COUNT(retransmissions);
    SAME_COUNT(refusals);
    SAME_COUNT(cells_received);
    SAME_COUNT(acks_received);
    SAME_COUNT(bad_cells);
    SAME_COUNT(misdelivered);
    SAME_COUNT(duplicates);
    SAME_COUNT(parked);
    SAME_COUNT(acks_unmatched);
    SAME_COUNT(undeliverable);
    SAME_COUNT(discarded);
    SAME_COUNT(discarded_unread);
    SAME_COUNT(beyond);
    SAME_COUNT(given_up);
    SAME_COUNT(resyncs_sent);
    SAME_COUNT(resynchronised);
    SAME_COUNT(cut_short);
#undef SAME_COUNT
}

/* One run */

static void one_cycle(struct bench *b)
{
    b->now++;
    const bool refused = b->now == b->refuse_at;
    b->model.ogsuspend = refused;
    model_step(&b->model, b->now);
    for (int u = 0; u < UNITS; u++) {
        struct leat_atm_aal_unit *unit = &b->unit[u];
        if (refused) leat_atm_aal_unit_refuse(unit, b->now);
        if (u == 0 || b->now >= unit->wake_at) leat_atm_aal_unit_step(unit, b->now);
    }
    link_in(b);
    for (int u = 0; u < UNITS && !b->failed; u++) {
        same_reported(b, u);
        same_chain(b, u, &b->unit[u].send, &b->model.og);
        same_chain(b, u, &b->unit[u].receive, &b->model.ic);
        same_blocks(b, u);
        same_registers(b, u);
        same_settled(b, u);
        b->line_reported |= b->unit[u].reported & LEAT_ATM_AAL_LINE;
        b->unit[u].reported = 0;
    }
    b->reported = b->model.reported;
    b->happened |= b->reported;
    b->model.reported = 0; /* from here on it belongs to the next cycle */
    link_out(b);
    tend_groups(b);
    host_write(b);
    host_read(b);
}

/* Or, with resync, soon to have more than 16 bits. */
static uint32_t soon_to_wrap(struct bench *b)
{
    const uint32_t last = chance(b, 50) ? model_mask : 0xffff;
    return last - draw(b, 8);
}

/* Cells are discarded at once, and there is room for the peers' answers: gaps come and go. */
static void hurry(struct leat_atm_aal_config *c)
{
    c->resync = true;
    c->transmissions_max = 1;
    c->retransmit_cycles = 200;
    c->obsolete_cycles = 200;
    c->receive_blocks = 20;
    c->descriptors = 4;
}

/* Numbers that are soon to wrap, as after a long run. */
static void count_from_high(struct bench *b)
{
    b->model.broadcast_number = soon_to_wrap(b);
    for (uint32_t p = 0; p < b->model.config.ports; p++) {
        b->model.number[p] = soon_to_wrap(b);
        for (uint32_t stream = 0; stream < MODEL_STREAMS; stream++)
            b->stream_base[p][stream] = b->model.received[p][stream] = soon_to_wrap(b);
    }
    for (uint32_t g = 0; g < model_groups; g++)
        b->model.group_number[g] = soon_to_wrap(b);
    for (int u = 0; u < UNITS; u++) {
        struct leat_atm_aal_unit *unit = &b->unit[u];
        unit->broadcast_number = b->model.broadcast_number;
        for (uint32_t g = 0; g < model_groups; g++)
            unit->group[g].number = b->model.group_number[g];
        for (uint32_t p = 0; p < b->model.config.ports; p++) {
            unit->peer[p].number = b->model.number[p];
            unit->all_stream[p].received = b->model.received[p][LEAT_ATM_AAL_TO_ALL];
            unit->peer[p].stream.received = b->model.received[p][LEAT_ATM_AAL_TO_ONE];
        }
    }
}

static void begin_life(struct bench *b, uint64_t seed, bool hurries)
{
    memset(b, 0, sizeof *b);
    b->seed = seed;
    leat_random_seed(&b->random, seed);
    struct leat_atm_aal_config c;
    const uint32_t ports = 2 + draw(b, chance(b, 20) ? MODEL_PORTS - 1 : 5);
    const uint32_t port = draw(b, ports), paths = 1 + draw(b, 6);
    leat_atm_aal_config_default(&c, port, ports, paths);
    c.header_octets = 2 + 2 * draw(b, 2);
    c.send_blocks = 3 + draw(b, 18);
    c.receive_blocks = 3 + draw(b, 18);
    c.descriptors = 1 + draw(b, 4);
    c.retransmit_cycles = 100 + draw(b, 3000);
    c.obsolete_cycles = 1 + draw(b, 3000);
    c.transmissions_max = 1 + draw(b, 8);
    c.resync = chance(b, 50);
    c.groups = draw(b, MODEL_GROUPS + 1);
    if (hurries) hurry(&c);
    b->pace = 1 + draw(b, chance(b, 40) ? 60 : chance(b, 80) ? 1000 : 5000);
    b->confused = chance(b, 20);
    OK(leat_atm_aal_config_check(&c) == LEAT_ERR_OK);
    OK(leat_atm_aal_unit_footprint(&c) <= MEMORY_OCTETS);
    model_init(&b->model, &c);
    memset(memory, 0, sizeof memory);
    for (int u = 0; u < UNITS; u++)
        leat_atm_aal_unit_init(&b->unit[u], &c, memory[u]);
    if (chance(b, 50)) count_from_high(b);
    for (uint32_t group = 0; group < c.groups; group++)
        set_up_group(b, group);
}

static uint32_t live(struct bench *b, uint64_t seed, bool hurries, uint64_t cycles)
{
    begin_life(b, seed, hurries);
    while (b->now < cycles && !b->failed)
        one_cycle(b);
    /* Units count a cell when they decide to send it: compare in the middle of one. */
    while (b->now < 2 * cycles && b->model.byte != 10 && !b->failed)
        one_cycle(b);
    for (int u = 0; u < UNITS && b->model.byte == 10; u++)
        same_counts(b, u);
    OK(!b->failed);
    return b->happened;
}

static void unit_and_plain_model_agree_in_every_cycle(void)
{
    static struct bench b;
    leat_random_seed(&b.random, tap_seed());
    leat_random_fill(&b.random, pool, sizeof pool);
    const uint64_t cycles = 10000;
    const uint64_t lives = LIVES_MIN + (uint64_t)LEAT_ROUNDS * CYCLES_PER_ROUND / cycles;
    uint32_t happened = 0;
    const uint32_t all = 0x7ff; /* that a unit can report */
    struct leat_atm_aal_counts sum = { 0 };
    uint32_t set_up = 0;
    bool met = false; /* every requested case: some are rare, and runs continue until then */
    for (uint64_t i = 0; (i < lives || (!met && i < 20 * lives)) && !b.failed; i++) {
        happened |= live(&b, tap_seed() * 1000003 + i, i % 4 == 0, cycles);
        sum.resyncs_sent += b.model.counts.resyncs_sent;
        sum.resynchronised += b.model.counts.resynchronised;
        sum.cut_short += b.model.counts.cut_short;
        set_up += b.set_up - model_groups;
        met = happened == all && set_up > 0 && sum.resynchronised > 0 && sum.cut_short > 0;
    }
    EQ(happened, all);
    OK(sum.resyncs_sent > sum.resynchronised && sum.resynchronised > 0 && sum.cut_short > 0);
    OK(set_up > 0); /* groups with other members, during a life */
    printf("# %u groups set up again, %llu RESYNC cells sent, %llu gaps closed, %llu messages cut "
           "short\n",
           set_up, (unsigned long long)sum.resyncs_sent, (unsigned long long)sum.resynchronised,
           (unsigned long long)sum.cut_short);
}

TAP_MAIN(T(unit_and_plain_model_agree_in_every_cycle))
