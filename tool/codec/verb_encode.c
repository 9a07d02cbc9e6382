/* leat encode: packets from FIELD=VALUE words or from JSON, the inverse of leat decode. */
#include "atm_text.h"
#include "carriage.h"
#include "cells.h"
#include "format_find.h"
#include "input.h"
#include "leat_bytes.h"
#include "leat_format.h"
#include "result_file.h"
#include "tool.h"
#include <leat/capture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_COST = 32,        /* octets of tree per character of JSON, in the worst case */
    ARENA_EXTRA = 1 << 16, /* and additional memory of a walk */
    ARENA_MAX = 1 << 28,
    PACKET_EXTRA = 1 << 17, /* a packet may be longer than its text by headers and padding */
    TIME_STEP_NS = 1000,    /* between packets without a time */
    BLOCK_EXTRA = 64,
    ETHER_EXTRA = 64, /* an Ethernet header and padding may be added to a frame */
};

enum shape { HEX, RAW, PCAPNG };

struct encoder {
    const struct arguments *args;
    const struct leat_format *format; /* from the command line; NULL: as objects say */
    enum shape shape;
    const char *source; /* of JSON; NULL: words of the command line */
    uint64_t line;      /* where the current object begins */
    uint64_t packets;
    const char *path; /* of the capture */
    struct leat_fields fields;
    struct result_file file;
};

/* The members of an object of `leat decode --json` besides its fields. */
struct envelope {
    const struct leat_format *format;
    struct leat_tree *carriage; /* NULL: not given */
    uint64_t time_ns;
    bool ether; /* it was directly behind an Ethernet type */
};

/* One packet's worth of memory, sized by its text. */
struct scratch {
    struct leat_arena arena;
    void *memory;
    uint8_t *packet, *frame, *block;
    size_t packet_cap;
};

static bool scratch_open(struct scratch *s, size_t text_len)
{
    const size_t nodes = text_len < ARENA_MAX / NODE_COST ? text_len * NODE_COST : ARENA_MAX;
    const size_t arena_len = nodes + text_len + ARENA_EXTRA;
    s->packet_cap = text_len + PACKET_EXTRA;
    s->memory = malloc(arena_len + 3 * s->packet_cap + BLOCK_EXTRA);
    if (!s->memory) return complain("no memory for a packet of %zu characters", text_len);
    leat_arena_init(&s->arena, s->memory, arena_len);
    s->packet = (uint8_t *)s->memory + arena_len;
    s->frame = s->packet + s->packet_cap;
    s->block = s->frame + s->packet_cap;
    return true;
}

static void scratch_close(struct scratch *s)
{
    free(s->memory);
}

/* ---- the capture -------------------------------------------------------------------------- */

/* Where the current fields were written, as a prefix of messages. */
static const char *place(const struct encoder *e)
{
    static char text[300];
    if (!e->source) return "";
    snprintf(text, sizeof text, "%.200s:%llu: packet %llu: ", e->source,
             (unsigned long long)e->line, (unsigned long long)e->packets);
    return text;
}

static void put_octets(struct encoder *e, const uint8_t *octets, size_t len)
{
    leat_text_put(&e->file.out.text, (const char *)octets, len);
}

/* Every link type of ours is an interface, in the order of the link types; then Ethernet. */
static void put_capture_head(struct encoder *e)
{
    uint8_t block[256];
    put_octets(e, block, leat_capture_put_section(block, sizeof block));
    const struct leat_format *f;
    for (size_t i = 0; (f = leat_format_at(i)); i++)
        if (f->link_type)
            put_octets(e, block,
                       leat_capture_put_interface(block, sizeof block, f->link_type, f->name));
    put_octets(e, block,
               leat_capture_put_interface(block, sizeof block, LEAT_LINK_ETHERNET, "ethernet"));
}

static bool put_captured(struct encoder *e, struct scratch *s, uint16_t link_type, uint64_t time_ns,
                         const uint8_t *octets, size_t len)
{
    const uint32_t interface = link_type == LEAT_LINK_ETHERNET
                                   ? LEAT_LINK_USER5 - LEAT_LINK_USER0 + 1
                                   : (uint32_t)link_type - LEAT_LINK_USER0;
    const size_t n = leat_capture_put_packet(s->block, s->packet_cap + BLOCK_EXTRA, interface,
                                             time_ns, octets, len);
    if (!n) complain("%stoo long for a capture", place(e));
    put_octets(e, s->block, n);
    return n > 0;
}

/* With an Ethernet header without addresses, padded to Ethernet's minimum. */
static bool put_ethernet(struct encoder *e, struct scratch *s, const struct leat_format *format,
                         uint64_t time_ns, size_t len)
{
    enum { HEADER = 14, TYPE_AT = 12, FRAME_MIN = 60 };
    memmove(s->frame + HEADER, s->frame, len);
    memset(s->frame, 0, HEADER);
    leat_put_be16(s->frame + TYPE_AT, format->ether_type);
    len += HEADER;
    if (len < FRAME_MIN) memset(s->frame + len, 0, FRAME_MIN - len);
    return put_captured(e, s, LEAT_LINK_ETHERNET, time_ns, s->frame,
                        len < FRAME_MIN ? FRAME_MIN : len);
}

/* Writes s->frame, a frame or the cells of an adaptation layer, into the capture. */
static int put_frame(struct encoder *e, struct scratch *s, const struct leat_format *format,
                     bool ether, uint64_t time_ns, size_t len)
{
    if (ether) return put_ethernet(e, s, format, time_ns, len) ? DONE : WRONG;
    if (format->link_type)
        return put_captured(e, s, format->link_type, time_ns, s->frame, len) ? DONE : WRONG;
    for (size_t at = 0; at < len; at += CELL_LEN)
        if (!put_captured(e, s, LEAT_LINK_USER0, time_ns, s->frame + at, CELL_LEN)) return WRONG;
    return DONE;
}

/*
 * The packet in its format's frame. It goes to Ethernet if it came from there, or if only Ethernet
 * has a frame for the given carriage; else to the format's link type.
 */
static int put_framed(struct encoder *e, struct scratch *s, const struct envelope *v, size_t len)
{
    const struct leat_format *format = v->format;
    struct leat_tree none = { .kind = LEAT_TREE_OBJECT };
    if (!format->link_type && !format->in_cells && format != &leat_atmtask_format) {
        complain("%s%s: no capture carries it, expected its octets: --hex or --raw", place(e),
                 format->name);
        return WRONG;
    }
    const bool ether = v->ether || (v->carriage && format->ether_framing && !format->framing);
    const struct leat_framing *framing = carriage_framing(format, ether);
    const size_t cap = s->packet_cap - ETHER_EXTRA;
    size_t frame_len = len;
    leat_err err = LEAT_ERR_OK;
    leat_fields_init_read(&e->fields, v->carriage ? v->carriage : &none, &s->arena);
    if (framing)
        err = framing->frame(&e->fields, s->packet, len, s->frame, cap, &frame_len);
    else if (!format->link_type)
        err = cells_frame(format, &e->fields, s->packet, len, s->frame, cap, &frame_len);
    else
        memcpy(s->frame, s->packet, len);
    const leat_err read_err = leat_fields_finish(&e->fields);
    if (!err && !read_err) return put_frame(e, s, format, ether, v->time_ns, frame_len);
    complain("%s%s: carriage: %s (%s)", place(e), format->name,
             read_err ? e->fields.message : leat_err_text(err),
             leat_err_name(read_err ? read_err : err));
    return WRONG;
}

/* ---- one packet --------------------------------------------------------------------------- */

static int refuse(const struct encoder *e, const struct leat_format *format, leat_err err,
                  const char *text)
{
    complain("%s%s: %s (%s)", place(e), format->name, text, leat_err_name(err));
    return WRONG;
}

static void put_plain(struct encoder *e, const uint8_t *octets, size_t len)
{
    if (e->shape == RAW) {
        put_octets(e, octets, len);
        return;
    }
    leat_text_hex(&e->file.out.text, octets, len);
    leat_text_putc(&e->file.out.text, '\n');
}

/* A damaged packet passes through as its original octets. */
static int encode_octets(struct encoder *e, struct scratch *s, const struct envelope *v,
                         struct leat_tree *root)
{
    const bool frame = leat_tree_find(root, "frame") != NULL;
    const uint8_t *octets = NULL;
    size_t len = 0;
    leat_fields_init_read(&e->fields, root, &s->arena);
    leat_fields_octets(&e->fields, frame ? "frame" : "octets", 0, s->packet_cap - ETHER_EXTRA,
                       &octets, &len);
    if (e->fields.err) return refuse(e, v->format, e->fields.err, e->fields.message);
    if (!octets)
        return refuse(e, v->format, LEAT_ERR_FIELD, "the object has neither fields nor octets");
    memcpy(frame ? s->frame : s->packet, octets, len);
    if (e->shape == PCAPNG)
        return frame ? put_frame(e, s, v->format, v->ether, v->time_ns, len)
                     : put_framed(e, s, v, len);
    put_plain(e, octets, len);
    return DONE;
}

static int encode_fields(struct encoder *e, struct scratch *s, const struct envelope *v,
                         struct leat_tree *fields)
{
    size_t len = 0;
    leat_fields_init_read(&e->fields, fields, &s->arena);
    const leat_err err = v->format->build(&e->fields, s->packet, s->packet_cap, &len);
    const leat_err read_err = leat_fields_finish(&e->fields);
    if (read_err) return refuse(e, v->format, read_err, e->fields.message);
    if (err) return refuse(e, v->format, err, leat_err_text(err));
    if (e->shape == PCAPNG) return put_framed(e, s, v, len);
    put_plain(e, s->packet, len);
    return DONE;
}

/* The format that an object names, or the command line; NULL after a message. */
static const struct leat_format *format_of(const struct encoder *e, const struct leat_tree *named)
{
    if (!named || named->kind != LEAT_TREE_STRING) {
        if (!e->format)
            complain("%sno format given, expected \"format\" in the object or FORMAT on the "
                     "command line",
                     place(e));
        return e->format;
    }
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)named->text_len, named->text);
    const struct leat_format *format = leat_format_find(name);
    if (format && (!e->format || e->format == format)) return format;
    complain("%sformat '%s', expected %s", place(e), name,
             e->format ? e->format->name : format_names());
    return NULL;
}

static bool is_word(const struct leat_tree *node, const char *word)
{
    return node && node->kind == LEAT_TREE_STRING && node->text_len == strlen(word) &&
           memcmp(node->text, word, node->text_len) == 0;
}

static int encode_envelope(struct encoder *e, struct scratch *s, struct leat_tree *root)
{
    if (root->kind != LEAT_TREE_OBJECT) {
        complain("%sexpected an object of fields", place(e));
        return WRONG;
    }
    const struct leat_tree *named = leat_tree_find(root, "format");
    const struct leat_tree *time = leat_tree_find(root, "time_ns");
    struct leat_tree *fields = leat_tree_find(root, "fields");
    struct envelope v = { .carriage = leat_tree_find(root, "carriage"),
                          .time_ns = (e->packets - 1) * TIME_STEP_NS };
    if (!(v.format = format_of(e, named))) return WRONG;
    if (time && time->kind == LEAT_TREE_NUMBER) v.time_ns = time->number;
    if (v.carriage) v.carriage->used = true;
    v.ether = v.format->ether_type && is_word(leat_tree_find(root, "via"), "ethernet");
    if (!fields && !named) fields = root; /* bare fields */
    const bool damaged = fields != root && leat_tree_find(root, "octets");
    if (fields && fields->kind == LEAT_TREE_OBJECT && !damaged)
        return encode_fields(e, s, &v, fields);
    return encode_octets(e, s, &v, root);
}

static int encode_pairs(struct encoder *e, char **pairs, int count)
{
    struct scratch s;
    size_t text_len = 0;
    for (int i = 0; i < count; i++)
        text_len += strlen(pairs[i]);
    if (!scratch_open(&s, text_len)) return FAILED;
    int result = DONE;
    struct leat_tree *root = leat_tree_new(&s.arena, LEAT_TREE_OBJECT);
    for (int i = 0; i < count && !result; i++) {
        const leat_err err = leat_tree_add_pair(&s.arena, root, pairs[i], strlen(pairs[i]));
        if (err == LEAT_ERR_DUPLICATE)
            result = misuse(e->args->verb, "'%s': the field is given twice, expected it once",
                            pairs[i]);
        else if (err)
            result = misuse(e->args->verb,
                            "'%s': expected FIELD=VALUE, or FIELD.FIELD=VALUE, or "
                            "FIELD.0.FIELD=VALUE with indexes in order",
                            pairs[i]);
    }
    e->packets = 1;
    if (!result) result = encode_envelope(e, &s, root);
    scratch_close(&s);
    return result;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static const char *what_json_was_expected(leat_err err)
{
    switch ((int)err) {
    case LEAT_ERR_SYNTAX:
        return "expected JSON: objects, whole numbers from 0 on, strings of U+0000..U+00FF";
    case LEAT_ERR_RANGE: return "expected numbers of at most 64 bits, at most 16 levels";
    default: return leat_err_text(err);
    }
}

static int encode_object(struct encoder *e, const char *text, size_t len)
{
    struct scratch s;
    if (!scratch_open(&s, len)) return FAILED;
    struct leat_tree *root = NULL;
    size_t fault_at = 0;
    e->packets++;
    int result;
    const leat_err err = leat_tree_parse_json(&s.arena, text, len, &root, &fault_at);
    if (err) {
        uint64_t line = e->line;
        size_t line_at = 0;
        for (size_t i = 0; i < fault_at && i < len; i++)
            if (text[i] == '\n') line++, line_at = i + 1;
        complain("%s:%llu:%zu: %s", e->source, (unsigned long long)line, fault_at - line_at + 1,
                 what_json_was_expected(err));
        result = WRONG;
    } else {
        result = encode_envelope(e, &s, root);
    }
    scratch_close(&s);
    return result;
}

static size_t blanks(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && (text[n] == ' ' || text[n] == '\t' || text[n] == '\r' || text[n] == '\n'))
        n++;
    return n;
}

static uint64_t lines(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

static int encode_json(struct encoder *e, const char *path)
{
    struct input in;
    if (!input_open(&in, path)) return WRONG;
    e->source = in.name;
    int result = DONE;
    e->line = 1;
    while (!result && !interrupted) {
        size_t len = leat_tree_json_extent((const char *)input_octets(&in), input_len(&in));
        if (!len && !in.at_end) {
            const size_t wanted = input_len(&in) ? 2 * input_len(&in) : INPUT_PIECE;
            if (!input_fill(&in, wanted)) result = WRONG;
            continue;
        }
        if (!len) len = input_len(&in); /* the rest: blank, or not JSON */
        const char *text = (const char *)input_octets(&in);
        if (in.at_end && blanks(text, len) == len) break;
        const size_t blank = blanks(text, len);
        e->line += lines(text, blank);
        result = encode_object(e, text + blank, len - blank);
        e->line += lines(text + blank, len - blank);
        input_skip(&in, len);
    }
    if (!result && !e->packets && !interrupted) {
        complain("%s: empty, expected JSON objects", in.name);
        result = WRONG;
    }
    input_close(&in);
    return result;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static bool output_open(struct encoder *e)
{
    if (!result_file_open(&e->file, e->path)) return false;
    if (e->shape == PCAPNG) put_capture_head(e);
    return true;
}

static int output_close(struct encoder *e, int result)
{
    const bool closed = result_file_close(&e->file, result == DONE && !interrupted);
    return closed || result != DONE ? result : FAILED;
}

static int run_encode(const struct arguments *args)
{
    static struct encoder e;
    const char *json = argument(args, "--from-json");
    const bool hex = argument(args, "--hex"), raw = argument(args, "--raw");
    int taken = 0;
    e.args = args;
    e.path = argument(args, "--pcapng");
    e.shape = e.path ? PCAPNG : raw ? RAW : HEX;
    if (hex + raw + (e.path != NULL) > 1)
        return misuse(args->verb, "expected one of --hex, --raw and --pcapng");
    if (args->operand_count && !strchr(args->operand[0], '=')) {
        e.format = format_find(args->verb, args->operand[0]);
        if (!e.format) return WRONG;
        taken = 1;
    }
    if (!e.format && !json)
        return misuse(args->verb, "expected a format: one of %s", format_names());
    if (json && args->operand_count > taken)
        return misuse(args->verb, "fields come from --json %s; '%s' is one too many", json,
                      args->operand[taken]);
    const struct result_name name = { e.path ? "--pcapng" : "standard output", e.path };
    if (!result_names_apart(args->verb, &name, 1, json)) return WRONG;
    if (!output_open(&e)) return FAILED;
    const int result = json ? encode_json(&e, json)
                            : encode_pairs(&e, args->operand + taken, args->operand_count - taken);
    const int closed = output_close(&e, result);
    return interrupted ? SIGNALLED + interrupted : closed;
}

const struct verb verb_encode = {
    .name = "encode",
    .summary = "make packets from fields",
    .synopsis = "[FORMAT] [FIELD=VALUE...] [--json FILE] [--hex|--raw|--pcapng FILE]",
    .help = help_encode,
    .options = {
        { "--from-json", "FILE", "read the fields from JSON objects", .former = "--json" },
        { "--hex", NULL, "print hex text (the default)" },
        { "--raw", NULL, "print the octets" },
        { "--pcapng", "FILE", "write a capture" },
    },
    .operands = "$formats",
    .run = run_encode,
};
