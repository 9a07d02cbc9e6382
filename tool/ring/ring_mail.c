/* leat ring send and receive: messages from station to station of a live ring. */
#include "json_out.h"
#include "leat_tree.h"
#include "number.h"
#include "ring_live.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The longest delay of an interrupt. */
enum { SLICE_US = 100000 };

/* ---- sending ------------------------------------------------------------------------------ */

static bool read_address(const struct ring_live_request *a, const char *text, uint16_t *to)
{
    uint64_t number;
    if (strcmp(text, "all") == 0) {
        *to = LEAT_ATON_DA_ALL;
        return true;
    }
    if (leat_tree_number(text, strlen(text), &number) && number < LEAT_ATON_DA_ALL) {
        *to = (uint16_t)number;
        return true;
    }
    return misused(a->args->verb, "send to '%s', expected a station's address, 0 to 65534, or all",
                   text);
}

/* A whole file of at most `cap` octets; "-" is standard input. */
static bool read_file(const char *path, uint8_t *octets, size_t cap, size_t *len)
{
    const bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    if (!file) return complain("%s: %s", path, strerror(errno));
    *len = fread(octets, 1, cap, file);
    const bool is_longer = *len == cap && fgetc(file) != EOF, failed = ferror(file);
    if (!is_input) fclose(file);
    if (failed)
        complain("%s: cannot be read", path);
    else if (is_longer)
        complain("%s: longer than %zu octets, expected what one frame holds", path, cap);
    return !failed && !is_longer;
}

int ring_ack_code(uint16_t to, const struct leat_aton_host_ack *ack)
{
    if (ack->copied) return DONE;
    if (to == LEAT_ATON_DA_ALL)
        complain(ack->recognised ? "no station has room in its mailbox"
                                 : "no other station on this ring");
    else if (ack->recognised)
        complain(
            "station %u has no room in its mailbox, expected leat ring receive there (or, with "
            "a key, a clock that has not gone back here)",
            to);
    else
        complain("no station %u on this ring", to);
    return FAILED;
}

static void show_ack(const struct ring_live_request *a, uint16_t to, size_t len,
                     const struct leat_aton_host_ack *ack)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    leat_json_uint(j, "to", to);
    leat_json_uint(j, "bytes", len);
    leat_json_bool(j, "recognised", ack->recognised);
    leat_json_bool(j, "copied", ack->copied);
    leat_json_uint(j, "took_ns", ack->took_ns);
    json_close(&out, json_status());
    if (!ack->copied || !a->text) return;
    if (to == LEAT_ATON_DA_ALL)
        printf("one station at least has it\n");
    else
        printf("station %u has it\n", to);
    fprintf(stderr, "octets: %zu, one packet, %.1f us\n", len, (double)ack->took_ns / 1000);
}

int ring_send(const struct ring_live_request *a, struct leat_aton_host *station)
{
    const char *path = argument(a->args, "--file");
    const int operands = a->args->operand_count;
    char **operand = a->args->operand;
    uint8_t buffer[LEAT_ATON_HOST_OCTETS_MAX];
    const void *octets = buffer;
    struct leat_aton_host_ack ack = { 0 };
    uint16_t to;
    size_t len = 0;
    if (operands != (path ? 2 : 3))
        return misuse(a->args->verb, "expected send A TEXT or send A --file FILE");
    if (!read_address(a, operand[1], &to)) return WRONG;
    if (path) {
        if (!read_file(path, buffer, sizeof buffer, &len)) return WRONG;
    } else {
        octets = operand[2];
        len = strlen(operand[2]);
    }
    const int code = ring_exit_code(
        leat_aton_host_send(station, to, octets, len, a->timeout_us, &ack, ring_why));
    if (code != DONE) return code;
    show_ack(a, to, len, &ack);
    return ring_ack_code(to, &ack);
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* Text as it is; other octets as numbers. */
static void show_octets(const uint8_t *octets, size_t len, FILE *text)
{
    for (size_t i = 0; i < len; i++) {
        if (octets[i] == '\\')
            text_print(text, "\\\\");
        else if (octets[i] >= ' ' && octets[i] <= '~')
            text_print(text, "%c", octets[i]);
        else
            text_print(text, "\\x%02x", octets[i]);
    }
}

static void show_message(const struct ring_live_request *a, uint16_t from, const uint8_t *octets,
                         size_t len)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    leat_json_uint(j, "from", from);
    leat_json_uint(j, "bytes", len);
    leat_json_octets(j, "octets", octets, len);
    json_close(&out, json_status());
    text_print(a->text, "station %u: ", from);
    show_octets(octets, len, a->text);
    text_print(a->text, "\n");
}

/* One message within the requested time. */
static int receive_one(const struct ring_live_request *a, struct leat_aton_host *station)
{
    uint8_t octets[LEAT_ATON_HOST_OCTETS_MAX];
    uint16_t from = 0;
    size_t len = 0;
    enum leat_aton_host_end end = LEAT_ATON_HOST_SILENT;
    for (uint64_t left_us = a->timeout_us;
         end == LEAT_ATON_HOST_SILENT && left_us && !interrupted;) {
        const uint64_t slice_us = left_us < SLICE_US ? left_us : SLICE_US;
        end = leat_aton_host_receive(station, slice_us, &from, octets, sizeof octets, &len,
                                     ring_why);
        left_us -= slice_us;
    }
    if (interrupted && end == LEAT_ATON_HOST_SILENT) return SIGNALLED + interrupted;
    if (end == LEAT_ATON_HOST_SILENT)
        return fail("no message within %llu ms", (unsigned long long)(a->timeout_us / 1000));
    const int code = ring_exit_code(end);
    if (code == DONE) show_message(a, from, octets, len);
    return code == DONE && !flush_printed() ? FAILED : code;
}

int ring_receive(const struct ring_live_request *a, struct leat_aton_host *station)
{
    uint64_t count = 1;
    int code = DONE;
    if (!number_take(a->args, "--count", &count)) return WRONG;
    for (uint64_t i = 0; i < count && code == DONE; i++)
        code = receive_one(a, station);
    return code;
}
