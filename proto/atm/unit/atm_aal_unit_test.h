/*
 * For the tests of the adaptation layer unit: one or two units on an ideal wire; or the test itself
 * is the network and hands in cells.
 */
#ifndef LEAT_ATM_AAL_UNIT_TEST_H
#define LEAT_ATM_AAL_UNIT_TEST_H

#include "atm_aal_unit.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/crc.h>
#include <string.h>

enum { MEMORY_OCTETS = 1 << 20, LINES = 4096, EVENTS = 64, FLAGS = 11, WIRE = 71 /* note R4 */ };
enum { HERE = 1, THERE = 5, PORTS = 16, PATHS = 4 };

struct line {
    uint64_t at;
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN];
};

struct events {
    uint64_t at[EVENTS];
    unsigned count;
};

struct station {
    struct leat_atm_aal_unit unit;
    struct events events[FLAGS];
    struct line lines[LINES];
    unsigned line_count, arrived_count; /* of those, put on the wire so far */
};

static struct station stations[2];
static unsigned station_count;
static bool wired;
static uint64_t now;
static _Alignas(max_align_t) uint8_t memory[2][MEMORY_OCTETS];

static inline struct leat_atm_aal_config thesis(uint32_t port)
{
    struct leat_atm_aal_config c;
    leat_atm_aal_config_default(&c, port, PORTS, PATHS);
    return c;
}

static inline void set_up(const struct leat_atm_aal_config *config)
{
    struct station *s = &stations[station_count];
    OK(leat_atm_aal_unit_footprint(config) <= MEMORY_OCTETS);
    memset(memory[station_count], 0, sizeof memory[0]);
    memset(s, 0, sizeof *s);
    leat_atm_aal_unit_init(&s->unit, config, memory[station_count++]);
}

static inline struct leat_atm_aal_unit *alone_with(struct leat_atm_aal_config config)
{
    now = station_count = 0;
    wired = false;
    set_up(&config);
    return &stations[0].unit;
}

static inline struct leat_atm_aal_unit *alone(void)
{
    return alone_with(thesis(HERE));
}

static inline void collect(struct station *s)
{
    for (unsigned flag = 0; flag < FLAGS; flag++)
        if (s->unit.reported >> flag & 1)
            s->events[flag].at[s->events[flag].count++ % EVENTS] = now;
    if (s->unit.reported & LEAT_ATM_AAL_LINE) {
        struct line *l = &s->lines[s->line_count++ % LINES];
        l->at = s->unit.line_at;
        memcpy(l->cell, s->unit.line_cell, sizeof l->cell);
    }
    s->unit.reported = 0;
}

static inline unsigned bit_of(enum leat_atm_aal_reported flag)
{
    unsigned bit = 0;
    while (1u << bit != (unsigned)flag)
        bit++;
    return bit;
}

static inline unsigned reported_count(enum leat_atm_aal_reported flag)
{
    return stations[0].events[bit_of(flag)].count;
}

/* The cycle in which this was reported for the i-th time; never: 0. */
static inline uint64_t reported_at(enum leat_atm_aal_reported flag, unsigned i)
{
    return i < reported_count(flag) ? stations[0].events[bit_of(flag)].at[i] : 0;
}

static inline const struct line *line(unsigned i)
{
    static const struct line none;
    return i < stations[0].line_count ? &stations[0].lines[i] : &none;
}

static inline uint16_t line_word(unsigned i, size_t at)
{
    return leat_get_be16(line(i)->cell + at);
}

/* The ideal network: the destination has the last octet of a cell 71 cycles after its first. */
static inline void carry(struct station *from)
{
    if (!wired || from->arrived_count == from->line_count) return;
    const struct line *l = &from->lines[from->arrived_count % LINES];
    if (l->at + WIRE != now) return;
    const uint16_t to = leat_get_be16(l->cell + 13);
    for (unsigned i = 0; i < station_count; i++)
        if (to == LEAT_ATM_TASK_BROADCAST || to == stations[i].unit.config.port)
            leat_atm_aal_unit_receive(&stations[i].unit, l->cell, now);
    from->arrived_count++;
}

static inline uint64_t next_deed(void)
{
    uint64_t at = LEAT_NEVER;
    for (unsigned i = 0; i < station_count; i++) {
        const struct station *s = &stations[i];
        if (s->unit.wake_at < at) at = s->unit.wake_at;
        if (!wired || s->arrived_count == s->line_count) continue;
        const uint64_t arrives_at = s->lines[s->arrived_count % LINES].at + WIRE;
        if (arrives_at < at) at = arrives_at;
    }
    return at;
}

/* Up to and with step `until`. */
static inline void run(uint64_t until)
{
    while (now < until) {
        const uint64_t at = next_deed();
        now = at < until ? at : until;
        for (unsigned i = 0; i < station_count; i++) {
            leat_atm_aal_unit_step(&stations[i].unit, now);
            collect(&stations[i]);
        }
        for (unsigned i = 0; i < station_count; i++)
            carry(&stations[i]);
    }
}

/* The host */

static const struct leat_atm_task_message for_rcv = { { 'r', 'c', 'v' }, 1, 1 };
static const struct leat_atm_task_message for_all = { { 'r', 'c', 'v' }, UINT32_MAX, 1 };

static inline bool command(struct leat_atm_aal_unit *unit, struct leat_atm_aal_command c)
{
    const bool taken = leat_atm_aal_unit_command(unit, &c, now);
    collect(&stations[unit == &stations[1].unit]);
    return taken;
}

static uint8_t octets[LEAT_ATM_AAL_BLOCKS * 36];

static inline void write_to(struct leat_atm_aal_unit *unit, uint16_t to, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(i * 7 + i / 256);
    command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND });
    if (len)
        command(unit, (struct leat_atm_aal_command){
                          .verb = LEAT_ATM_AAL_PUT, .octets = octets, .len = len });
    command(unit,
            (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_DESTINATION, .destination = to });
    command(unit, (struct leat_atm_aal_command){
                      .verb = LEAT_ATM_AAL_SEND,
                      .message = to == LEAT_ATM_TASK_BROADCAST ? for_all : for_rcv });
}

static inline void ask(struct leat_atm_aal_unit *unit, struct leat_atm_task_message message)
{
    command(unit,
            (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE, .message = message });
}

static inline void get(struct leat_atm_aal_unit *unit, uint32_t len)
{
    command(unit, (struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_GET, .len = len });
}

static inline void end_reading(struct leat_atm_aal_unit *unit)
{
    leat_atm_aal_unit_read_end(unit, now);
    collect(&stations[0]);
}

/* The network: the last octet of this cell arrives in step `at`. */

static inline void arrive(uint64_t at, uint16_t type, uint16_t flag, uint16_t number, uint16_t from,
                          uint16_t to)
{
    uint8_t cell[LEAT_ATM_TASK_CELL_LEN] = { 0 };
    leat_put_be16(cell + 5, type);
    leat_put_be16(cell + 7, flag);
    leat_put_be16(cell + 9, number);
    leat_put_be16(cell + 11, from);
    leat_put_be16(cell + 13, to);
    if (type == LEAT_ATM_TASK_MESSAGE && (flag & LEAT_ATM_TASK_FIRST))
        leat_atm_task_message_encode(to == LEAT_ATM_TASK_BROADCAST ? &for_all : &for_rcv, cell + 15,
                                     36);
    cell[50] = (uint8_t)number;
    leat_put_be16(cell + 51, leat_crc16(0, cell + 5, 46));
    run(at);
    leat_atm_aal_unit_receive(&stations[0].unit, cell, at);
}

enum { BEGIN = LEAT_ATM_TASK_FIRST, MIDDLE = 0, END = LEAT_ATM_TASK_LAST, SINGLE = 3 };

static inline void data(uint64_t at, uint16_t flag, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_MESSAGE, flag, number, from, HERE);
}

static inline void data_for_all(uint64_t at, uint16_t flag, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_MESSAGE, flag, number, from, LEAT_ATM_TASK_BROADCAST);
}

static inline void ack(uint64_t at, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_ACK, LEAT_ATM_TASK_ACK_POINT, number, from, HERE);
}

static inline void ack_of_broadcast(uint64_t at, uint16_t number, uint16_t from)
{
    arrive(at, LEAT_ATM_TASK_ACK, 0, number, from, HERE);
}

static inline uint8_t state5(void)
{
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&stations[0].unit, now, &view);
    return view.state5;
}

static inline uint16_t cursnd(void)
{
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&stations[0].unit, now, &view);
    return view.cursnd;
}

#endif
