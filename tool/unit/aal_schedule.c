#include "aal_schedule.h"
#include "leat_bytes.h"
#include "leat_text.h"
#include "lines.h"
#include "stimuli.h"
#include "tool.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_LEN_MAX = 60, VALUES_SHOWN_MAX = 32 };
enum { MESSAGE_LEN_MAX = LEAT_ATM_AAL_BLOCKS * LEAT_ATM_TASK_PAYLOAD_LEN - 20 };

enum section { BEFORE, INPUTS, OUTPUTS };

struct reader {
    struct aal_schedule *schedule;
    struct leat_fabric_place place;
    const char *at, *end; /* the rest of the line */
    enum section section;
    int unit; /* whose orders are being read; -1: none was named yet */
    bool named[AAL_SCHEDULE_PORTS], has_destination;
    enum leat_sim_atm_aal_phase phase;
    uint64_t cycle; /* of the previous order */
    uint32_t cycle_line;
    size_t begin[AAL_SCHEDULE_PORTS]; /* of a unit's orders among all */
    size_t order_count, order_cap, octet_count, octet_cap;
};

/* ---- words -------------------------------------------------------------------------------- */

/* The next word of the line; a quoted one keeps its quotes. False: the end, or a comment. */
static bool next_word(struct reader *r, struct word *w)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
    const char *begin = r->at;
    if (begin == r->end || *begin == '#') return false;
    if (*begin == '"') {
        const char *quote = memchr(begin + 1, '"', (size_t)(r->end - begin - 1));
        r->at = quote ? quote + 1 : r->end;
    }
    while (r->at < r->end && !is_blank(*r->at) && *r->at != '#')
        r->at++;
    *w = (struct word){ begin, (size_t)(r->at - begin) };
    return true;
}

static bool ends_here(struct reader *r)
{
    struct word w;
    return !next_word(r, &w) ||
           wrong(&r->place, "'%s' and more, expected the end of the line", show(w).text);
}

/* A whole number from min to max, with a sign if it has one. */
static bool whole(struct word w, int64_t min, int64_t max, int64_t *out)
{
    const bool negative = w.len > 0 && w.text[0] == '-';
    int64_t value = 0;
    if (w.len == (size_t)negative) return false;
    for (size_t i = negative; i < w.len; i++) {
        if (w.text[i] < '0' || w.text[i] > '9' || value > INT64_MAX / 20) return false;
        value = value * 10 + (w.text[i] - '0');
    }
    *out = negative ? -value : value;
    return *out >= min && *out <= max;
}

static bool next_whole(struct reader *r, const char *what, int64_t min, int64_t max, int64_t *out)
{
    struct word w;
    if (!next_word(r, &w))
        return wrong(&r->place, "no %s, expected %lld..%lld", what, (long long)min, (long long)max);
    return whole(w, min, max, out) || wrong(&r->place, "%s '%s', expected %lld..%lld", what,
                                            show(w).text, (long long)min, (long long)max);
}

/* ---- orders ------------------------------------------------------------------------------- */

static const struct order_name {
    const char *name;
    enum leat_atm_aal_verb verb;
    enum aal_data data;
} order_names[] = {
    { "initsend", LEAT_ATM_AAL_INITSEND, NO_DATA },  { "putnint", LEAT_ATM_AAL_PUT, INT },
    { "putnshort", LEAT_ATM_AAL_PUT, SHORT },        { "putnlong", LEAT_ATM_AAL_PUT, LONG },
    { "putnfloat", LEAT_ATM_AAL_PUT, FLOAT },        { "putndfloat", LEAT_ATM_AAL_PUT, DFLOAT },
    { "putncplx", LEAT_ATM_AAL_PUT, CPLX },          { "putndcplx", LEAT_ATM_AAL_PUT, DCPLX },
    { "putbytes", LEAT_ATM_AAL_PUT, BYTES },         { "putstring", LEAT_ATM_AAL_PUT, STRING },
    { "setdst", LEAT_ATM_AAL_DESTINATION, NO_DATA }, { "snd", LEAT_ATM_AAL_SEND, NO_DATA },
    { "rcv", LEAT_ATM_AAL_RECEIVE, NO_DATA },        { "getnint", LEAT_ATM_AAL_GET, INT },
    { "getnshort", LEAT_ATM_AAL_GET, SHORT },        { "getnlong", LEAT_ATM_AAL_GET, LONG },
    { "getnfloat", LEAT_ATM_AAL_GET, FLOAT },        { "getndfloat", LEAT_ATM_AAL_GET, DFLOAT },
    { "getncplx", LEAT_ATM_AAL_GET, CPLX },          { "getndcplx", LEAT_ATM_AAL_GET, DCPLX },
    { "getbytes", LEAT_ATM_AAL_GET, BYTES },         { "getstring", LEAT_ATM_AAL_GET, STRING },
};
enum { ORDER_NAMES = sizeof order_names / sizeof *order_names };

const char *aal_order_name(enum leat_atm_aal_verb verb, enum aal_data data)
{
    for (size_t i = 0; i < ORDER_NAMES; i++)
        if (order_names[i].verb == verb && order_names[i].data == data) return order_names[i].name;
    return "";
}

/* One value of these kinds (spec/atm.md, 5.2): its count of numbers, and their octets. */
static const struct kind {
    uint8_t numbers, len;
    bool real;
} kinds[] = {
    [INT] = { 1, 4, false },  [SHORT] = { 1, 2, false }, [LONG] = { 1, 4, false },
    [FLOAT] = { 1, 4, true }, [DFLOAT] = { 1, 8, true }, [CPLX] = { 2, 4, true },
    [DCPLX] = { 2, 8, true }, [BYTES] = { 0, 0, false },
};

/* Both arrays have the same length. */
static bool grow_orders(struct reader *r)
{
    struct aal_schedule *s = r->schedule;
    enum { MAX = AAL_SCHEDULE_ORDERS_MAX };
    size_t cap = r->order_cap;
    void *data = stimuli_grow(s->all_data, sizeof *s->all_data, r->order_count, 1, MAX, &cap);
    if (data) s->all_data = data;
    void *orders = data ? stimuli_grow(s->all_orders, sizeof *s->all_orders, r->order_count, 1, MAX,
                                       &r->order_cap)
                        : NULL;
    if (orders) s->all_orders = orders;
    return orders;
}

static bool add_order(struct reader *r, struct leat_sim_atm_aal_order order, enum aal_data data)
{
    if (!grow_orders(r))
        return wrong(&r->place, "no room, expected at most %d orders", AAL_SCHEDULE_ORDERS_MAX);
    order.command.not_before = r->cycle;
    r->schedule->all_orders[r->order_count] = order;
    r->schedule->all_data[r->order_count] = (uint8_t)data;
    r->order_count++;
    r->schedule->hosts[r->unit].count++;
    return true;
}

/* Room for `len` octets; NULL after a complaint: there is none. */
static uint8_t *add_octets(struct reader *r, size_t len)
{
    uint8_t *octets = stimuli_grow(r->schedule->octets, 1, r->octet_count, len,
                                   AAL_SCHEDULE_LEN_MAX, &r->octet_cap);
    if (!octets) {
        wrong(&r->place, "no room, expected at most %d octets to put", AAL_SCHEDULE_LEN_MAX);
        return NULL;
    }
    r->schedule->octets = octets;
    r->octet_count += len;
    return octets + r->octet_count - len;
}

static void put_real(double value, unsigned len, uint8_t *out)
{
    const float single = (float)value;
    uint32_t bits;
    uint64_t bits64;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&bits64, &value, sizeof bits64);
    if (len == 4)
        leat_put_be32(out, bits);
    else
        leat_put_be64(out, bits64);
}

/* A single is rounded once, from the text. */
static bool real(struct word w, unsigned len, double *out)
{
    char text[NUMBER_LEN_MAX + 1], *end;
    if (w.len > NUMBER_LEN_MAX) return false;
    memcpy(text, w.text, w.len);
    text[w.len] = '\0';
    if (strspn(text, "0123456789.eE+-") != w.len) return false;
    *out = len == 4 ? (double)strtof(text, &end) : strtod(text, &end);
    return w.len > 0 && *end == '\0' && isfinite(*out);
}

static bool put_number(struct reader *r, const struct order_name *n, struct word w, uint8_t *out)
{
    const struct kind k = kinds[n->data];
    const int64_t max = k.len == 2 ? INT16_MAX : INT32_MAX;
    int64_t value;
    double value_real;
    if (k.real) {
        if (!real(w, k.len, &value_real))
            return wrong(&r->place, "%s '%s', expected a number that %d octets can hold", n->name,
                         show(w).text, k.len);
        put_real(value_real, k.len, out);
        return true;
    }
    if (!whole(w, -max - 1, max, &value))
        return wrong(&r->place, "%s '%s', expected %lld..%lld", n->name, show(w).text,
                     -(long long)max - 1, (long long)max);
    if (k.len == 2)
        leat_put_be16(out, (uint16_t)value);
    else
        leat_put_be32(out, (uint32_t)value);
    return true;
}

/* Every value is an order of its own: the unit takes them word by word in any case. */
static bool read_put_numbers(struct reader *r, const struct order_name *n)
{
    const struct kind k = kinds[n->data];
    const uint32_t len = (uint32_t)k.numbers * k.len;
    const struct leat_sim_atm_aal_order order = { .command = { .verb = n->verb, .len = len } };
    struct word w;
    size_t values = 0;
    for (; next_word(r, &w); values++) {
        uint8_t *out = add_octets(r, len);
        if (!out) return false;
        for (unsigned i = 0; i < k.numbers; i++) {
            if (i > 0 && !next_word(r, &w))
                return wrong(&r->place,
                             "%s: a real part alone, expected an imaginary part behind it",
                             n->name);
            if (!put_number(r, n, w, out + i * k.len)) return false;
        }
        if (!add_order(r, order, n->data)) return false;
    }
    return values > 0 || wrong(&r->place, "%s without a value, expected one or more", n->name);
}

static bool read_put_bytes(struct reader *r, const struct order_name *n)
{
    struct word w = { "", 0 };
    if (!next_word(r, &w) || w.len % 2)
        return wrong(&r->place, "%s '%s', expected two hexadecimal digits per octet", n->name,
                     show(w).text);
    uint8_t *out = add_octets(r, w.len / 2);
    if (!out) return false;
    for (size_t i = 0; i < w.len; i++) {
        if (hex_digit(w.text[i]) < 0)
            return wrong(&r->place, "%s '%s', expected two hexadecimal digits per octet", n->name,
                         show(w).text);
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] << 4 | hex_digit(w.text[i])
                                     : hex_digit(w.text[i]));
    }
    const struct leat_sim_atm_aal_order order = { .command = { .verb = n->verb,
                                                               .len = (uint32_t)(w.len / 2) } };
    return add_order(r, order, n->data) && ends_here(r);
}

static bool read_put_string(struct reader *r, const struct order_name *n)
{
    struct word w = { "", 0 };
    if (!next_word(r, &w) || w.len < 2 || w.text[0] != '"' || w.text[w.len - 1] != '"')
        return wrong(&r->place, "%s '%s', expected a text in quotes", n->name, show(w).text);
    const size_t len = w.len - 2;
    uint8_t *out = add_octets(r, len + 1);
    if (!out) return false;
    memcpy(out, w.text + 1, len);
    out[len] = 0;
    const struct leat_sim_atm_aal_order order = { .command = { .verb = n->verb,
                                                               .len = (uint32_t)len + 1 } };
    return add_order(r, order, n->data) && ends_here(r);
}

static bool read_get(struct reader *r, const struct order_name *n)
{
    const struct kind k = kinds[n->data == STRING ? BYTES : n->data];
    struct leat_sim_atm_aal_order order = {
        .command = { .verb = n->verb, .len = k.len * k.numbers }, .string = n->data == STRING
    };
    struct word w;
    int64_t count = 1;
    const bool given = !order.string && next_word(r, &w);
    if ((given || n->data == BYTES) && !(given && whole(w, 1, MESSAGE_LEN_MAX, &count)))
        return wrong(&r->place, "%s '%s', expected how many, 1..%d", n->name,
                     given ? show(w).text : "", MESSAGE_LEN_MAX);
    if (n->data == BYTES) {
        order.command.len = (uint32_t)count;
        count = 1;
    }
    while (count--)
        if (!add_order(r, order, n->data)) return false;
    return ends_here(r);
}

static bool read_destination(struct reader *r, const struct order_name *n)
{
    struct word w = { "", 0 };
    int64_t port = LEAT_ATM_TASK_BROADCAST;
    if (!next_word(r, &w) ||
        !(is_word(w, "broadcast") || whole(w, 0, AAL_SCHEDULE_PORTS - 1, &port)))
        return wrong(&r->place, "%s '%s', expected a port, 0..%d, or broadcast", n->name,
                     show(w).text, AAL_SCHEDULE_PORTS - 1);
    const struct leat_sim_atm_aal_order order = { .command = { .verb = n->verb,
                                                               .destination = (uint16_t)port } };
    r->has_destination = true;
    return add_order(r, order, n->data) && ends_here(r);
}

/* name instance id: of a message to send or receive */
static bool read_message(struct reader *r, const struct order_name *n)
{
    struct leat_sim_atm_aal_order order = { .command = { .verb = n->verb } };
    struct leat_atm_task_message *m = &order.command.message;
    struct word w = { "", 0 };
    int64_t instance, id;
    if (n->verb == LEAT_ATM_AAL_SEND && !r->has_destination)
        return wrong(&r->place, "%s without a destination, expected setdst before it", n->name);
    if (!next_word(r, &w) || w.len > LEAT_ATM_TASK_NAME_COUNT)
        return wrong(&r->place, "%s '%s', expected a task's name of 1..%d characters", n->name,
                     show(w).text, LEAT_ATM_TASK_NAME_COUNT);
    for (size_t i = 0; i < w.len; i++)
        m->name[i] = (uint8_t)w.text[i];
    if (!next_whole(r, "instance", n->verb == LEAT_ATM_AAL_SEND ? -1 : 0, INT32_MAX, &instance) ||
        !next_whole(r, "message id", 0, INT32_MAX, &id))
        return false;
    m->instance = (uint32_t)instance;
    m->id = (uint32_t)id;
    if (n->verb == LEAT_ATM_AAL_RECEIVE && next_word(r, &w)) {
        if (!is_word(w, "poll"))
            return wrong(&r->place, "'%s' behind the message id, expected poll or nothing",
                         show(w).text);
        order.poll = true;
    }
    return add_order(r, order, n->data) && ends_here(r);
}

static bool read_arguments(struct reader *r, const struct order_name *n)
{
    const struct leat_sim_atm_aal_order plain = { .command = { .verb = n->verb } };
    switch (n->verb) {
    case LEAT_ATM_AAL_INITSEND: return add_order(r, plain, n->data) && ends_here(r);
    case LEAT_ATM_AAL_PUT:
        return n->data == BYTES    ? read_put_bytes(r, n)
               : n->data == STRING ? read_put_string(r, n)
                                   : read_put_numbers(r, n);
    case LEAT_ATM_AAL_DESTINATION: return read_destination(r, n);
    case LEAT_ATM_AAL_SEND:
    case LEAT_ATM_AAL_RECEIVE: return read_message(r, n);
    case LEAT_ATM_AAL_GET: return read_get(r, n);
    case LEAT_ATM_AAL_WRITE:
    case LEAT_ATM_AAL_READ: break; /* schedules order bus words */
    }
    return false;
}

static bool unknown_order(const struct reader *r, struct word w)
{
    char list[400];
    size_t used = 0;
    for (size_t i = 0; i < ORDER_NAMES && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, i ? " %s" : "%s",
                                 order_names[i].name);
    return wrong(&r->place, "unknown order '%s', expected one of %s", show(w).text, list);
}

/* "cycle order ..." */
static bool read_order(struct reader *r, struct word first)
{
    struct word w;
    int64_t cycle;
    if (r->unit < 0)
        return wrong(&r->place, "an order for no unit, expected a unit first: aal34[0..%d]",
                     AAL_SCHEDULE_PORTS - 1);
    if (!whole(first, 1, AAL_SCHEDULE_CYCLE_MAX, &cycle))
        return wrong(&r->place, "cycle %s, expected 1..%d", show(first).text,
                     AAL_SCHEDULE_CYCLE_MAX);
    if ((uint64_t)cycle < r->cycle)
        return wrong(&r->place,
                     "cycle %lld after line %u with cycle %llu, expected none that is earlier",
                     (long long)cycle, r->cycle_line, (unsigned long long)r->cycle);
    r->cycle = (uint64_t)cycle;
    r->cycle_line = r->place.line;
    if (!next_word(r, &w)) return wrong(&r->place, "a cycle alone, expected an order behind it");
    for (size_t i = 0; i < ORDER_NAMES; i++) {
        const struct order_name *n = &order_names[i];
        static const char *const before[] = {
            [LEAT_SIM_ATM_AAL_BETWEEN] = "initsend or rcv before it",
            [LEAT_SIM_ATM_AAL_WRITING] = "snd before it, for the message being written",
            [LEAT_SIM_ATM_AAL_READING] = "initsend before it",
        };
        if (!is_word(w, n->name)) continue;
        if (!leat_sim_atm_aal_order_fits(n->verb, &r->phase))
            return wrong(&r->place, "%s here, expected %s", n->name, before[r->phase]);
        return read_arguments(r, n);
    }
    return unknown_order(r, w);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* "aal34[5]": its number, or -1 after a message. */
static int unit_number(const struct reader *r, struct word w)
{
    static const char before[] = "aal34[";
    const size_t len = sizeof before - 1;
    const bool framed = w.len > len + 1 && memcmp(w.text, before, len) == 0 &&
                        w.text[w.len - 1] == ']';
    const struct word number = { w.text + len, framed ? w.len - len - 1 : 0 };
    int64_t unit;
    if (framed && whole(number, 0, AAL_SCHEDULE_PORTS - 1, &unit)) return (int)unit;
    wrong(&r->place, "'%s', expected a unit, aal34[0..%d]%s", show(w).text, AAL_SCHEDULE_PORTS - 1,
          r->section == INPUTS ? ", an order with its cycle, or the keyword outputs" : "");
    return -1;
}

static bool read_unit(struct reader *r, struct word w)
{
    const int unit = unit_number(r, w);
    if (unit < 0) return false;
    if (r->named[unit])
        return wrong(&r->place, "'%s' for the second time, expected each unit once", show(w).text);
    r->named[unit] = true;
    r->unit = unit;
    r->begin[unit] = r->order_count;
    r->has_destination = false;
    r->phase = LEAT_SIM_ATM_AAL_BETWEEN;
    r->cycle = 0;
    return ends_here(r);
}

static bool read_shown(struct reader *r, struct word w)
{
    const int unit = unit_number(r, w);
    int64_t blocks = AAL_SCHEDULE_BLOCKS;
    if (unit < 0) return false;
    if (r->schedule->shown[unit].shown)
        return wrong(&r->place, "'%s' for the second time, expected each unit once", show(w).text);
    if (next_word(r, &w) && !whole(w, 0, LEAT_ATM_AAL_BLOCKS, &blocks))
        return wrong(&r->place, "'%s', expected how many blocks are shown, 0..%d", show(w).text,
                     LEAT_ATM_AAL_BLOCKS);
    r->schedule->shown[unit] = (struct aal_shown){ true, (uint16_t)blocks };
    return ends_here(r);
}

static bool read_line(struct reader *r)
{
    struct word w;
    if (!next_word(r, &w)) return true;
    switch (r->section) {
    case BEFORE:
        if (!is_word(w, "inputs"))
            return wrong(&r->place, "'%s', expected the keyword inputs", show(w).text);
        r->section = INPUTS;
        return ends_here(r);
    case INPUTS:
        if (is_word(w, "outputs") || is_word(w, "ouputs")) {
            r->section = OUTPUTS;
            return ends_here(r);
        }
        return *w.text >= '0' && *w.text <= '9' ? read_order(r, w) : read_unit(r, w);
    case OUTPUTS: return read_shown(r, w);
    }
    return false;
}

/* ---- the file ----------------------------------------------------------------------------- */

static bool read_lines(struct reader *r, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        r->at = text + at;
        r->end = end ? end : text + len;
        at = (size_t)(r->end - text) + 1;
        r->place.line++;
        if (!read_line(r)) return false;
    }
    if (r->section == BEFORE) {
        r->place.line++;
        return wrong(&r->place, "the end of the file, expected the keyword inputs");
    }
    if (r->section == INPUTS)
        for (int i = 0; i < AAL_SCHEDULE_PORTS; i++)
            r->schedule->shown[i] = (struct aal_shown){ r->named[i], AAL_SCHEDULE_BLOCKS };
    return true;
}

/* Arrays no longer move: pointers into them are now valid. */
static void settle(struct reader *r)
{
    struct aal_schedule *s = r->schedule;
    const uint8_t *octets = s->octets; /* those of one order after the other */
    for (size_t i = 0; i < r->order_count; i++) {
        if (s->all_orders[i].command.verb != LEAT_ATM_AAL_PUT) continue;
        s->all_orders[i].command.octets = octets;
        octets += s->all_orders[i].command.len;
    }
    for (int i = 0; i < AAL_SCHEDULE_PORTS; i++) {
        if (!s->hosts[i].count) continue;
        s->hosts[i].orders = s->all_orders + r->begin[i];
        s->data[i] = s->all_data + r->begin[i];
    }
}

bool aal_schedule_read(struct aal_schedule *schedule, struct input *in)
{
    struct reader r = { .schedule = schedule, .place.file = in->name, .unit = -1 };
    *schedule = (struct aal_schedule){ 0 };
    if (!input_fill(in, AAL_SCHEDULE_LEN_MAX + 1) || interrupted) return false;
    if (input_len(in) > AAL_SCHEDULE_LEN_MAX)
        return complain("%s: a longer file than %d octets, expected none", in->name,
                        AAL_SCHEDULE_LEN_MAX);
    const bool sound = read_lines(&r, (const char *)input_octets(in), input_len(in));
    if (sound) settle(&r);
    return sound;
}

void aal_schedule_two_messages(struct aal_schedule *schedule)
{
    static const uint8_t writer[] = { NO_DATA, INT,   NO_DATA, NO_DATA, NO_DATA,
                                      INT,     FLOAT, NO_DATA, NO_DATA };
    static const uint8_t reader[] = { NO_DATA, INT, NO_DATA, INT, FLOAT };
    *schedule = (struct aal_schedule){ .data = { [1] = writer, [5] = reader } };
    memcpy(schedule->hosts, leat_sim_atm_aal_two_messages(), sizeof schedule->hosts);
    schedule->shown[1] = schedule->shown[5] = (struct aal_shown){ true, AAL_SCHEDULE_BLOCKS };
}

void aal_schedule_close(struct aal_schedule *schedule)
{
    free(schedule->all_orders);
    free(schedule->all_data);
    free(schedule->octets);
    *schedule = (struct aal_schedule){ 0 };
}

/* ---- what was got ------------------------------------------------------------------------- */

/* The shortest text that reads back as this number. */
static void show_real(double value, unsigned len, struct leat_text *text)
{
    char number[NUMBER_LEN_MAX];
    const int digits_max = len == 4 ? 9 : 17;
    for (int digits = 1; digits <= digits_max; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if ((len == 4 ? (double)strtof(number, NULL) : strtod(number, NULL)) == value) break;
    }
    leat_text_puts(text, number);
}

static void show_number(const struct kind k, const uint8_t *octets, struct leat_text *text)
{
    if (k.real && k.len == 4) {
        const uint32_t bits = leat_get_be32(octets);
        float value;
        memcpy(&value, &bits, sizeof value);
        show_real((double)value, k.len, text);
    } else if (k.real) {
        const uint64_t bits = leat_get_be64(octets);
        double value;
        memcpy(&value, &bits, sizeof value);
        show_real(value, k.len, text);
    } else {
        const int32_t value = k.len == 2 ? (int16_t)leat_get_be16(octets)
                                         : (int32_t)leat_get_be32(octets);
        if (value < 0) leat_text_putc(text, '-');
        leat_text_decimal(text, (uint64_t)(value < 0 ? -(int64_t)value : value));
    }
}

void aal_data_show(enum aal_data data, const uint8_t *octets, uint32_t len, struct leat_text *text)
{
    const uint32_t some = len < VALUES_SHOWN_MAX ? len : VALUES_SHOWN_MAX;
    const struct kind k = kinds[data == STRING ? BYTES : data];
    if (k.len && len == (uint32_t)k.numbers * k.len) {
        for (unsigned i = 0; i < k.numbers; i++) {
            if (i > 0) leat_text_putc(text, ' ');
            show_number(k, octets + i * k.len, text);
        }
        return;
    }
    if (data == STRING)
        leat_text_quoted(text, (const char *)octets, some && !octets[some - 1] ? some - 1 : some);
    else
        leat_text_hex(text, octets, some);
    if (some < len) leat_text_puts(text, "...");
}
