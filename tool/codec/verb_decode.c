/* leat decode: finds packets in hex text, raw octets or captures, and shows each. */
#include "atm_text.h"
#include "carriage.h"
#include "cells.h"
#include "decode_frame.h"
#include "format_find.h"
#include "input.h"
#include "json_out.h"
#include "leat_format.h"
#include "leat_json.h"
#include "output.h"
#include "tool.h"
#include <leat/capture.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMPLAINTS_MAX = 20, PEEK = 4096, FRAME_TEXT_CAP = 1 << 20 };

struct decoder {
    const struct leat_format *format; /* requested; NULL: any */
    bool json, lenient, quiet;
    struct input in;
    uint64_t packets; /* number of the current packet; in a capture, of the frame */
    uint64_t damaged, passed_over;
    struct cells cells;
    struct leat_fields fields;
    struct leat_json object; /* of the current packet */
    struct output out;
};

/* One packet as found. Members after `captured` apply to captures only. */
struct packet {
    const struct leat_format *format;
    const uint8_t *octets;
    size_t len;
    uint64_t line;       /* of hex text; 0 elsewhere */
    size_t original_len; /* more than the capture kept; 0 elsewhere */
    bool captured;
    uint64_t time_ns;
    const struct carried *carried;      /* around it, its format's own frame */
    const struct cells_packet *channel; /* or cells of this channel */
};

/* ---- one packet --------------------------------------------------------------------------- */

static void begin(struct decoder *d, const struct packet *p)
{
    struct leat_text *t = &d->out.text;
    output_checkpoint(&d->out);
    if (d->json) {
        json_begin(&d->object, t);
        leat_json_string(&d->object, "format", p->format->name);
        leat_json_uint(&d->object, "packet", d->packets);
        if (p->captured) leat_json_uint(&d->object, "time_ns", p->time_ns);
        if (p->carried && p->carried->ether) leat_json_string(&d->object, "via", "ethernet");
    } else {
        leat_text_puts(t, d->packets > 1 ? "\npacket " : "packet ");
        leat_text_decimal(t, d->packets);
        leat_text_puts(t, ": ");
        leat_text_puts(t, p->format->name);
        leat_text_puts(t, ", ");
        leat_text_decimal(t, p->len);
        leat_text_puts(t, " octets\n");
    }
}

static void end_sound(struct decoder *d)
{
    leat_fields_finish(&d->fields);
    if (!d->json) return;
    leat_json_null(&d->object, "error");
    json_finish(&d->object, "done");
}

/* Counts a damaged packet; the first ones are reported, the others only counted. */
static bool may_complain(struct decoder *d)
{
    if (d->quiet) return false;
    if (++d->damaged == COMPLAINTS_MAX + 1)
        complain("%s: more damaged packets follow; only their number will be reported", d->in.name);
    return d->damaged <= COMPLAINTS_MAX;
}

/* The message on standard error; *fault_at is in the packet or its frame. */
static void report_damaged(struct decoder *d, const struct packet *p, leat_err err, size_t fault_at)
{
    char line[24] = "", cut[64] = "";
    if (p->line) snprintf(line, sizeof line, ":%llu", (unsigned long long)p->line);
    if (p->original_len)
        snprintf(cut, sizeof cut, "; the capture cut it from %zu octets", p->original_len);
    if (may_complain(d))
        complain("%s%s: packet %llu: %s: octet %zu: %s (%s)%s", d->in.name, line,
                 (unsigned long long)d->packets, p->format->name, fault_at, leat_err_text(err),
                 leat_err_name(err), cut);
}

static void put_error(struct decoder *d, leat_err err, size_t at)
{
    leat_json_string(&d->object, "code", leat_err_name(err));
    leat_json_uint(&d->object, "offset", at);
    leat_json_string(&d->object, "text", leat_err_text(err));
}

/* A damaged packet keeps its octets in the output, so that nothing is lost. */
static void end_damaged(struct decoder *d, const struct packet *p, leat_err err, size_t fault_at,
                        bool frame)
{
    if (d->json) {
        leat_json_null(&d->object, "fields");
        leat_json_object(&d->object, "error");
        put_error(d, err, fault_at);
        leat_json_end(&d->object);
        leat_json_octets(&d->object, frame ? "frame" : "octets", p->octets, p->len);
        json_finish(&d->object, "damaged");
    } else {
        leat_fields_init_tree(&d->fields, &d->out.text);
        leat_fields_derived_name(&d->fields, leat_err_name(err), fault_at, leat_err_text(err));
        const uint8_t *octets = p->octets;
        size_t len = p->len;
        leat_fields_octets(&d->fields, "octets", 0, len, &octets, &len);
    }
    report_damaged(d, p, err, fault_at);
}

/* Behind the fields that are known, all damage. */
static void put_damage(struct decoder *d, const struct leat_damage *damage)
{
    char text[160];
    if (d->json) {
        leat_json_object(&d->object, NULL);
        put_error(d, damage->err, damage->at);
        leat_json_string(&d->object, "wanted", damage->expected);
        leat_json_end(&d->object);
        return;
    }
    snprintf(text, sizeof text, "%s, expected %s", leat_err_text(damage->err), damage->expected);
    leat_fields_derived_name(&d->fields, leat_err_name(damage->err), damage->at, text);
}

static void end_lenient(struct decoder *d, const struct packet *p,
                        const struct leat_damages *damages)
{
    const struct leat_damage *first = &damages->item[0];
    leat_fields_finish(&d->fields);
    if (d->json) {
        leat_json_object(&d->object, "error");
        put_error(d, first->err, first->at);
        leat_json_end(&d->object);
        leat_json_array(&d->object, "damage");
    }
    for (unsigned i = 0; i < damages->count; i++)
        put_damage(d, &damages->item[i]);
    if (d->json) {
        leat_json_end(&d->object);
        leat_json_octets(&d->object, "octets", p->octets, p->len);
        json_finish(&d->object, "damaged");
    }
    report_damaged(d, p, first->err, first->at);
}

static void begin_fields(struct decoder *d, const char *key)
{
    if (!d->json) {
        leat_fields_init_tree(&d->fields, &d->out.text);
        return;
    }
    leat_json_key(&d->object, key);
    leat_fields_init_json(&d->fields, &d->out.text);
}

/* The format's own frame around a captured packet; *p becomes its content. */
static leat_err take_off_frame(struct decoder *d, const struct leat_framing *framing,
                               struct packet *p, size_t *fault_at)
{
    size_t at = 0, len = 0;
    const size_t mark = d->out.text.len;
    begin_fields(d, "carriage");
    if (!d->json) leat_fields_open(&d->fields, "carriage", 0);
    const leat_err err = framing->unframe(p->octets, p->len, &d->fields, &at, &len, fault_at);
    if (err) {
        d->out.text.len = mark;
        return err;
    }
    if (!d->json) {
        char text[64];
        snprintf(text, sizeof text, "%zu octets, offsets count from here", len);
        leat_fields_close(&d->fields);
        leat_fields_derived_name(&d->fields, "packet", at, text);
    }
    leat_fields_finish(&d->fields);
    p->octets += at;
    p->len = len;
    return LEAT_ERR_OK;
}

static void show_channel(struct decoder *d, const struct cells_packet *c)
{
    begin_fields(d, "carriage");
    if (!d->json) leat_fields_open(&d->fields, "carriage", 0);
    leat_fields_enum(&d->fields, "interface", 0, 1, leat_atm_interface_names, d->cells.interface);
    leat_fields_uint(&d->fields, "vpi", 0, 12, c->vpi);
    leat_fields_uint(&d->fields, "vci", 0, 16, c->vci);
    if (!d->json) leat_fields_close(&d->fields);
    leat_fields_finish(&d->fields);
}

static void show(struct decoder *d, struct packet *p)
{
    size_t fault_at = 0;
    begin(d, p);
    const struct leat_framing *framing = p->carried ? carriage_framing(p->format, p->carried->ether)
                                                    : NULL;
    leat_err err = framing ? take_off_frame(d, framing, p, &fault_at) : LEAT_ERR_OK;
    if (err) {
        end_damaged(d, p, err, fault_at, true);
        return;
    }
    if (p->channel) show_channel(d, p->channel);
    const size_t mark = d->out.text.len;
    begin_fields(d, "fields");
    struct leat_damages damages = { .count = 0 };
    if (d->lenient && p->format->show_lenient)
        err = p->format->show_lenient(p->octets, p->len, &d->fields, &damages, &fault_at);
    else
        err = p->format->show(p->octets, p->len, &d->fields, &fault_at);
    if (!err) {
        end_sound(d);
        return;
    }
    if (damages.count) {
        end_lenient(d, p, &damages);
        return;
    }
    d->out.text.len = mark; /* show writes nothing unless the packet is sound */
    end_damaged(d, p, err, fault_at, false);
}

/* ---- hex text ----------------------------------------------------------------------------- */

static bool begins_with(const struct input *in, const uint8_t *octets, size_t len)
{
    return input_len(in) >= len && memcmp(input_octets(in), octets, len) == 0;
}

static bool is_gap(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == ':' || c == '-' || c == '_' || c == ',';
}

/* Reads more input, but first shows the output so far: a pipe may wait long. */
static bool more(struct decoder *d, size_t wanted)
{
    if (wanted > input_len(&d->in)) output_flush(&d->out);
    return input_fill(&d->in, wanted);
}

/* One line to octets, in place. False after a complaint: it is not hex. */
static bool unhex_line(struct decoder *d, uint8_t *line, size_t len, uint64_t number, size_t *out)
{
    size_t n = 0, digits = 0, high_at = 0;
    for (size_t i = 0; i < len && line[i] != '#'; i++) {
        if (is_gap(line[i])) continue;
        if (digits % 2 == 0 && line[i] == '0' && i + 1 < len && (line[i + 1] | 32) == 'x') {
            i++;
            continue;
        }
        const int digit = hex_digit((char)line[i]);
        if (digit < 0) {
            if (may_complain(d))
                complain("%s:%llu:%zu: '%c' is no hex digit, expected pairs of hex digits",
                         d->in.name, (unsigned long long)number, i + 1, line[i]);
            return false;
        }
        if (digits++ % 2 == 0) {
            high_at = i;
            line[n] = (uint8_t)(digit << 4); /* n <= i: never ahead of what was read */
        } else {
            line[n] = (uint8_t)(line[n] | digit);
            n++;
        }
    }
    if (digits % 2 && may_complain(d))
        complain("%s:%llu:%zu: odd number of hex digits, expected pairs", d->in.name,
                 (unsigned long long)number, high_at + 1);
    *out = n;
    return digits % 2 == 0;
}

/* The length of the next line without its end; false at the end of the input. */
static bool next_line(struct decoder *d, size_t *len, bool *ended)
{
    const uint8_t *end = NULL;
    *len = 0;
    while (!(end = memchr(input_octets(&d->in) + *len, '\n', input_len(&d->in) - *len))) {
        *len = input_len(&d->in);
        if (d->in.at_end || !more(d, *len + 1)) break;
    }
    *ended = end != NULL;
    if (end) *len = (size_t)(end - input_octets(&d->in));
    return end || *len;
}

static int decode_hex(struct decoder *d)
{
    static const uint8_t byte_order_mark[] = { 0xef, 0xbb, 0xbf };
    size_t len, octets_len;
    bool ended;
    if (begins_with(&d->in, byte_order_mark, sizeof byte_order_mark))
        input_skip(&d->in, sizeof byte_order_mark);
    for (uint64_t number = 1; !interrupted && next_line(d, &len, &ended); number++) {
        uint8_t *line = d->in.buf + d->in.begin;
        if (unhex_line(d, line, len, number, &octets_len) && octets_len) {
            d->packets++;
            show(d, &(struct packet){
                        .format = d->format, .octets = line, .len = octets_len, .line = number });
        }
        input_skip(&d->in, len + ended);
    }
    return d->damaged || d->in.failed ? WRONG : DONE;
}

/* ---- raw octets --------------------------------------------------------------------------- */

/* Where the next packet ends, as far as the format can determine; else all the input. */
static size_t raw_packet_len(const struct decoder *d)
{
    const size_t left = input_len(&d->in);
    size_t len = d->format->unit_len;
    if (d->format->measure) len = d->format->measure(input_octets(&d->in), left);
    return len && len < left ? len : left;
}

static int decode_raw(struct decoder *d)
{
    const size_t unit = d->format->unit_len;
    while (!interrupted) {
        while (!d->in.at_end && (!unit || input_len(&d->in) < unit) && !interrupted)
            if (!more(d, input_len(&d->in) + 1)) return WRONG;
        if (!input_len(&d->in)) break;
        const size_t len = raw_packet_len(d);
        d->packets++;
        show(d,
             &(struct packet){ .format = d->format, .octets = input_octets(&d->in), .len = len });
        input_skip(&d->in, len);
    }
    return d->damaged ? WRONG : DONE;
}

/* ---- captures ----------------------------------------------------------------------------- */

static size_t cut_from(const struct leat_capture_packet *c)
{
    return c->original_len > c->len ? c->original_len : 0;
}

/* An incomplete packet of a channel: its octets so far, and why. */
static void show_cut_short(struct decoder *d, const struct cells_packet *c, uint64_t time_ns,
                           leat_err err)
{
    struct packet p = { .format = d->format,
                        .octets = c->octets,
                        .len = c->len,
                        .captured = true,
                        .time_ns = time_ns,
                        .channel = c };
    begin(d, &p);
    show_channel(d, c);
    end_damaged(d, &p, err, c->len, false);
}

/* Cells of a capture, if their content was requested. */
static void show_cell(struct decoder *d, const struct leat_format *atm,
                      const struct leat_capture_packet *c)
{
    struct cells_packet packet;
    bool found;
    size_t fault_at = 0;
    struct packet cell = { .format = atm,
                           .octets = c->octets,
                           .len = c->len,
                           .original_len = cut_from(c),
                           .captured = true,
                           .time_ns = c->time_ns };
    d->cells.line = c->interface;
    const leat_err err = cells_take(&d->cells, d->format, c->octets, c->len, &packet, &found,
                                    &fault_at);
    if (err && packet.len) {
        show_cut_short(d, &packet, c->time_ns, err);
    } else if (err) {
        begin(d, &cell);
        end_damaged(d, &cell, err, fault_at, false);
    } else if (found) {
        cell.format = d->format;
        cell.octets = packet.octets;
        cell.len = packet.len;
        cell.channel = &packet;
        show(d, &cell);
    }
}

/* An explicit request for prototype cells, or for the NNI's, overrides the octets of a cell. */
static const struct leat_format *as_requested(const struct decoder *d,
                                              const struct leat_format *found)
{
    const bool cell = found == &leat_atm_format || found == &leat_atmtask_format;
    if (cell && (d->format == &leat_atmtask_format || d->format == &leat_atm_nni_format))
        return d->format;
    return found;
}

static void show_captured(struct decoder *d, const struct leat_capture_packet *c)
{
    struct carried carried;
    const bool ours = carriage_find(c->link_type, c->octets, c->len, &carried);
    d->packets++;
    if (ours) carried.format = as_requested(d, carried.format);
    if (ours && (!d->format || d->format == carried.format))
        show(d, &(struct packet){ .format = carried.format,
                                  .octets = carried.frame,
                                  .len = carried.len,
                                  .original_len = cut_from(c),
                                  .captured = true,
                                  .time_ns = c->time_ns,
                                  .carried = &carried });
    else if (ours && carried.format == &leat_atm_format && d->format->in_cells)
        show_cell(d, carried.format, c);
    else
        d->passed_over++;
}

static void damaged_file(struct decoder *d, leat_err err)
{
    if (may_complain(d))
        complain("%s: octet %llu: damaged capture: %s (%s)", d->in.name,
                 (unsigned long long)d->in.offset, leat_err_text(err), leat_err_name(err));
}

/* The final messages after all input has been read. */
static void end_capture(struct decoder *d)
{
    struct cells_packet packet;
    while (cells_take_unfinished(&d->cells, &packet))
        show_cut_short(d, &packet, 0, LEAT_ERR_SHORT);
    if (d->passed_over)
        caution("%s: packets of other formats, passed over: %llu", d->in.name,
                (unsigned long long)d->passed_over);
}

static int decode_capture(struct decoder *d)
{
    static struct leat_capture capture;
    leat_capture_init(&capture);
    size_t wanted = LEAT_CAPTURE_MAGIC_LEN;
    while (!interrupted) {
        struct leat_capture_packet packet;
        bool found;
        size_t used;
        leat_err err = leat_capture_next(&capture, input_octets(&d->in), input_len(&d->in), &packet,
                                         &found, &used, &wanted);
        if (!err && !used && d->in.at_end && input_len(&d->in)) err = LEAT_ERR_SHORT;
        if (err) damaged_file(d, err);
        if (err && !used) return WRONG;
        if (found) show_captured(d, &packet);
        input_skip(&d->in, used);
        if (used) continue;
        if (d->in.at_end) break;
        if (!more(d, wanted)) return WRONG;
    }
    end_capture(d);
    return d->damaged ? FAILED : DONE;
}

/* ---- one frame, for leat view --------------------------------------------------------------- */

bool decode_frame(uint16_t link_type, const uint8_t *octets, size_t len, struct leat_text *out)
{
    static struct decoder d;
    static char buf[FRAME_TEXT_CAP];
    struct carried carried;
    if (!carriage_find(link_type, octets, len, &carried)) return false;
    d.json = d.quiet = true;
    d.packets = 1;
    json_schema("leat.decode/1");
    leat_text_init(&d.out.text, buf, sizeof buf, NULL, NULL);
    show(&d, &(struct packet){ .format = carried.format,
                               .octets = carried.frame,
                               .len = carried.len,
                               .carried = &carried });
    if (d.out.text.overflowed) return false;
    leat_text_put(out, buf, d.out.text.len - 1); /* without its line end */
    return true;
}

/* ---- the verb ----------------------------------------------------------------------------- */

/* Printable ASCII; in comments, any text. */
static bool is_text(const uint8_t *p, size_t len)
{
    bool comment = false;
    size_t i = len >= 3 && p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf ? 3 : 0;
    for (; i < len; i++) {
        if (p[i] == '\n') comment = false;
        if (p[i] == '#') comment = true;
        if (p[i] < ' ' && p[i] != '\n' && p[i] != '\r' && p[i] != '\t') return false;
        if (p[i] > '~' && !comment) return false;
    }
    return len > 0;
}

static const char *kind_of_input(const struct decoder *d)
{
    const size_t len = input_len(&d->in) < PEEK ? input_len(&d->in) : PEEK;
    if (leat_capture_recognise(input_octets(&d->in), len)) return "capture";
    return is_text(input_octets(&d->in), len) ? "hex" : "raw";
}

static int decode(struct decoder *d, const struct arguments *args)
{
    if (!input_fill(&d->in, LEAT_CAPTURE_MAGIC_LEN)) return WRONG;
    if (!input_len(&d->in)) {
        complain("%s: empty, expected hex text, octets or a capture", d->in.name);
        return WRONG;
    }
    const char *kind = argument(args, "--input");
    if (!kind) kind = kind_of_input(d);
    if (strcmp(kind, "capture") == 0) return decode_capture(d);
    const bool hex = strcmp(kind, "hex") == 0;
    if (!d->format)
        return misuse(args->verb,
                      "%s: %s does not determine the format, expected --format with one of %s",
                      d->in.name, hex ? "hex text" : "a file of octets", format_names());
    return hex ? decode_hex(d) : decode_raw(d);
}

static int run_decode(const struct arguments *args)
{
    static struct decoder d;
    const char *format = argument(args, "--format");
    if (format && !(d.format = format_find(args->verb, format))) return WRONG;
    if (argument(args, "--nni")) {
        d.cells.interface = LEAT_ATM_NNI;
        if (d.format == &leat_atm_format) d.format = &leat_atm_nni_format;
        if (!d.format || !(d.format->in_cells || d.format == &leat_atm_nni_format))
            return misuse(args->verb, "--nni goes with --format atm or an adaptation layer");
    }
    d.lenient = argument(args, "--lenient") != NULL;
    if (d.lenient && d.format && !d.format->show_lenient)
        return misuse(args->verb,
                      "--lenient: the rules of %s do not say which fields of a damaged packet are "
                      "known, expected --format packetway",
                      d.format->name);
    if (args->operand_count > 1) return misuse(args->verb, "expected one file");
    if (!input_open(&d.in, args->operand_count ? args->operand[0] : NULL)) return WRONG;

    d.json = argument(args, "--json") != NULL;
    output_init(&d.out, STDOUT_FILENO);
    int result = decode(&d, args);
    if (d.damaged > COMPLAINTS_MAX)
        complain("%s: damaged packets in all: %llu", d.in.name, (unsigned long long)d.damaged);
    if (!output_finish(&d.out, "standard output") && result == DONE) result = FAILED;
    input_close(&d.in);
    cells_close(&d.cells);
    return interrupted ? SIGNALLED + interrupted : result;
}

const struct verb verb_decode = {
    .name = "decode",
    .summary = "show the packets of a file, a capture or a pipe",
    .synopsis = "[--format FORMAT] [--json] [--lenient] [--nni] [--input KIND] [FILE]",
    .help = help_decode,
    .options = {
        { "--format", "FORMAT", "the format of the packets; `leat formats` lists them" },
        OPTION_JSON("one JSON object per packet: format, fields, error"),
        { "--lenient", NULL, "packetway: show the fields of damaged packets, too" },
        { "--nni", NULL, "cells are a network-network interface's: VPI of 12 bits" },
        { "--input", "KIND", "what FILE is, if detection fails", WORD("hex raw capture") },
    },
    .run = run_decode,
};
