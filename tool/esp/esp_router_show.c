/* A router, as text and as JSON: packets by outcome, contents of its stores, passing packets. */
#include "duration.h"
#include "esp_live.h"
#include "esp_plan.h"
#include "esp_text.h"
#include "json_out.h"
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BINDINGS_MAX = LEAT_ESP_GROUP_SLOTS };
static const uint64_t ps_per_ns = 1000;

static const struct {
    const char *name, *text;
} reasons[] = {
#define X(id, name, text) { name, text },
    ESP_REASONS(X)
#undef X
};
static const char no_process[] = "no process";
static const char *const verdict_names[] = { "pass", "stop", "aborted", "full", "limited" };
_Static_assert(sizeof verdict_names / sizeof *verdict_names == LEAT_ESP_VERDICTS,
               "a name for each verdict");

const char *esp_driver_name(uint32_t driver)
{
    static const char *const names[] = { "any", "xdp", "packet", "udp" };
    return driver < sizeof names / sizeof *names ? names[driver] : "?";
}

static const char *instruction_name(unsigned opcode)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(opcode);
    return row ? row->name : "management";
}

static uint64_t clock_grain_ns(void)
{
    struct timespec grain;
    clock_getres(CLOCK_MONOTONIC_COARSE, &grain);
    return (uint64_t)grain.tv_nsec;
}

/* ---- status ------------------------------------------------------------------------------- */

static void show_config(const struct leat_esp_router *router, const struct esp_config *c,
                        struct leat_json *j, FILE *out)
{
    const int process = leat_esp_router_process(router);
    char why[LEAT_ESP_ROUTER_WHY_LEN];
    leat_esp_router_why(router, why);
    leat_json_hex(j, "node", "0x", c->node_id, 16);
    leat_json_string(j, "driver", esp_driver_name(c->driver));
    leat_json_string(j, "why", why);
    leat_json_int(j, "process", process);
    leat_json_bool(j, "keyed", c->has_key);
    LEAT_JSON_UINTS(j, { "tau_ns", c->tau_ns }, { "clock_grain_ns", clock_grain_ns() });
    text_print(out, "router 0x%016llx, driver %s: %s\n", (unsigned long long)c->node_id,
               esp_driver_name(c->driver), why);
    text_print(out, "%s, ",
               c->keyed_only ? "keyed computations only"
               : c->has_key  ? "keyed"
                             : "no key");
    if (process)
        text_print(out, "process %d\n", process);
    else
        text_print(out, "its process has ended: expected leat esp route again\n");
    show_confined(process, no_process, NULL, out);
    for (uint32_t i = 0; i < c->port_count; i++) {
        const uint32_t device = c->port[i].device;
        const bool gone = device && if_nametoindex(c->port[i].name) != device;
        text_print(out, "%s%s%s", i ? ", " : "ports ", c->port[i].name, gone ? " (gone)" : "");
    }
    text_print(out, "; bindings live %s", duration_text(c->tau_ns * ps_per_ns));
    text_print(out, ", by a clock of %s steps\n", duration_text(clock_grain_ns() * ps_per_ns));
}

/* A member, and a line unless it is 0. */
static void show_count(uint64_t count, const char *name, const char *text, struct leat_json *j,
                       FILE *out)
{
    leat_json_uint(j, name, count);
    if (count) text_print(out, "%12llu  %-10s %s\n", (unsigned long long)count, name, text);
}

static void show_instruction(unsigned opcode, const uint64_t verdict[LEAT_ESP_VERDICTS],
                             struct leat_json *j, FILE *out)
{
    uint64_t all = 0;
    for (int v = 0; v < LEAT_ESP_VERDICTS; v++)
        all += verdict[v];
    if (!all) out = NULL;
    leat_json_object(j, instruction_name(opcode));
    text_print(out, "%12llu  %-10s", (unsigned long long)all, instruction_name(opcode));
    for (int v = 0; v < LEAT_ESP_VERDICTS; v++) {
        leat_json_uint(j, verdict_names[v], verdict[v]);
        if (verdict[v])
            text_print(out, " %s %llu", verdict_names[v], (unsigned long long)verdict[v]);
    }
    text_print(out, "\n");
    leat_json_end(j);
}

static void show_counts(const struct esp_counts *counts, struct leat_json *j, FILE *out)
{
    leat_json_object(j, "counts");
    for (uint32_t i = 0; i < ESP_REASON_COUNT; i++)
        show_count(counts->reason[i], reasons[i].name, reasons[i].text, j, out);
    show_count(counts->host, "host", "handed to this host, of all", j, out);
    leat_json_end(j);
    leat_json_uint(j, "created", counts->created);
    leat_json_object(j, "instructions");
    for (unsigned op = 1; op < ESP_OPCODES; op++)
        show_instruction(op, counts->verdict[op], j, out);
    leat_json_end(j);
}

static void show_survey(const char *name, uint64_t slots, const struct leat_esp_survey *s,
                        struct leat_json *j, FILE *out)
{
    leat_json_object(j, NULL);
    leat_json_string(j, "store", name);
    LEAT_JSON_UINTS(j, { "slots", slots }, { "live", s->live }, { "full_buckets", s->full_buckets },
                    { "busiest", s->busiest });
    text_print(out, "store %-18s %llu of %llu bindings live (%.1f %%), fullest group %llu of %d",
               name, (unsigned long long)s->live, (unsigned long long)slots,
               100.0 * (double)s->live / (double)slots, (unsigned long long)s->busiest,
               LEAT_ESP_GROUP_SLOTS);
    if (s->full_buckets)
        text_print(out, ", %llu full buckets", (unsigned long long)s->full_buckets);
    text_print(out, "\n");
    if (!s->live) out = NULL;
    leat_json_array(j, "ages");
    text_print(out, "  age in sixteenths of their life:");
    for (int i = 0; i < LEAT_ESP_AGES; i++) {
        leat_json_uint(j, NULL, s->age[i]);
        text_print(out, " %llu", (unsigned long long)s->age[i]);
    }
    text_print(out, "\n");
    leat_json_end(j);
    leat_json_end(j);
}

static bool show_stores(struct leat_esp_router *router, const struct esp_config *c,
                        struct leat_json *j, FILE *out)
{
    for (uint32_t i = 0; i < leat_esp_router_stores(router); i++) {
        struct leat_esp_survey survey;
        char name[32];
        const uint64_t slots = ((uint64_t)c->store[i].mask + 1) * LEAT_ESP_GROUP_SLOTS;
        leat_esp_router_store_name(router, i, name);
        if (!leat_esp_router_survey(router, i, &survey)) return false;
        show_survey(name, slots, &survey, j, out);
    }
    return true;
}

bool esp_show_status(struct leat_esp_router *router, bool json)
{
    static const char unreadable[] = "the router's counters and stores cannot be read";
    static struct esp_config c;
    struct esp_counts counts;
    const uint64_t refused = leat_esp_router_refused(router),
                   unsent = leat_esp_router_unsent(router);
    FILE *out = json ? NULL : stdout;
    struct json_out object;
    leat_esp_router_describe(router, &c);
    if (!leat_esp_router_counts(router, &counts)) return complain("%s", unreadable);
    struct leat_json *j = json_open(&object, json ? stdout : NULL);
    show_config(router, &c, j, out);
    LEAT_JSON_UINTS(j, { "refused", refused }, { "unsent", unsent });
    show_counts(&counts, j, out);
    if (refused)
        text_print(out, "%12llu  %-10s management packets for it with a wrong key, or malformed\n",
                   (unsigned long long)refused, "refused");
    if (unsent)
        text_print(out, "%12llu  %-10s answers and copies of its own that could not be sent\n",
                   (unsigned long long)unsent, "unsent");
    show_confined(leat_esp_router_process(router), no_process, j, NULL);
    leat_json_array(j, "stores");
    const bool shown = show_stores(router, &c, j, out);
    leat_json_end(j);
    json_close(&object, json_status());
    return shown || complain("%s", unreadable);
}

/* ---- bindings ----------------------------------------------------------------------------- */

bool esp_show_bindings(struct leat_esp_router *router, uint64_t computation, bool json)
{
    static struct leat_esp_binding binding[BINDINGS_MAX];
    uint32_t all = 0;
    struct json_out out;
    struct leat_json *j = json_open(&out, json ? stdout : NULL);
    leat_json_array(j, "bindings");
    FILE *text = json ? NULL : stdout;
    for (uint32_t s = 0; s < leat_esp_router_stores(router); s++) {
        char name[32];
        uint32_t count;
        leat_esp_router_store_name(router, s, name);
        if (!leat_esp_router_bindings(router, s, computation, binding, BINDINGS_MAX, &count))
            return complain("the router's stores cannot be read");
        for (uint32_t i = 0; i < count; i++, all++) {
            const struct leat_esp_binding *b = &binding[i];
            leat_json_object(j, NULL);
            leat_json_string(j, "store", name);
            leat_json_hex(j, "tag", "0x", b->tag, 1);
            leat_json_uint(j, "value", b->value);
            leat_json_uint(j, "remaining_ns", b->remaining);
            leat_json_end(j);
            text_print(text, "%-16s tag 0x%-16llx %20llu  lives %s more\n", name,
                       (unsigned long long)b->tag, (unsigned long long)b->value,
                       duration_text(b->remaining / 1000000 * 1000000 * ps_per_ns));
        }
    }
    leat_json_end(j);
    json_close(&out, json_status());
    if (!all) text_print(text, "no live bindings of this computation\n");
    return true;
}

/* ---- what passes -------------------------------------------------------------------------- */

static const char *address_text(uint32_t carriage, const uint64_t address[2],
                                char text[ESP_ENDPOINT_TEXT_LEN])
{
    uint8_t octets[LEAT_ESP_ADDRESS_LEN];
    if (carriage != ESP_BARE) {
        esp_plan_endpoint_text(address, 0, text);
        return text;
    }
    esp_address_write(address, octets);
    snprintf(text, ESP_ENDPOINT_TEXT_LEN, "%02x:%02x:%02x:%02x:%02x:%02x", octets[10], octets[11],
             octets[12], octets[13], octets[14], octets[15]);
    return text;
}

static void show_operands(const struct leat_esp_words *w, struct leat_json *j, FILE *out)
{
    const struct leat_esp_instruction *row = leat_esp_instruction_of(w->opcode);
    for (int i = 0; row && i < row->words / 2; i++) {
        const uint64_t value = row->operand[i].kind >= LEAT_ESP_KIND_COMPARE ? w->operand[i] >> 32
                                                                             : w->operand[i];
        const bool tag = row->operand[i].kind == LEAT_ESP_KIND_TAG;
        const char *name = row->operand[i].name;
        text_print(out, tag ? " %s=0x%llx" : " %s=%llu", name, (unsigned long long)value);
        if (tag) /* 64 bits, which not every JSON reader keeps */
            leat_json_hex(j, name, "0x", value, 1);
        else
            leat_json_uint(j, name, value);
    }
}

void esp_show_sight(const struct esp_config *c, const struct esp_sight *s, bool json)
{
    static const char *const carriages[] = { "bare", "ipv4", "udp", "ipv6", "udp6" };
    char from[ESP_ENDPOINT_TEXT_LEN], to[ESP_ENDPOINT_TEXT_LEN];
    const char *device = s->port < ESP_PORTS_MAX ? c->port[s->port].name : "?";
    const char *reason = s->reason < ESP_REASON_COUNT ? reasons[s->reason].name : "?";
    const char *carriage = s->carriage < 5 ? carriages[s->carriage] : "?";
    address_text(s->carriage, s->source, from);
    address_text(s->carriage, s->destination, to);
    /* Nothing is certain about a refused packet. */
    const bool known = s->reason <= ESP_LIMITED || s->reason == ESP_STOPPED;
    FILE *text = json ? NULL : stdout;
    struct json_out out;
    struct leat_json *j = json_open(&out, json ? stdout : NULL);
    leat_json_uint(j, "at_ns", s->at_ns);
    leat_json_string(j, "device", device);
    leat_json_string(j, "carried_in", carriage);
    leat_json_string(j, "source_address", from);
    leat_json_string(j, "destination_address", to);
    leat_json_string(j, "verdict", reason);
    text_print(text, "%llu.%06llu %s %s %s > %s %s", (unsigned long long)(s->at_ns / 1000000000),
               (unsigned long long)(s->at_ns / 1000 % 1000000), device, carriage, from, to, reason);
    if (known) {
        leat_json_string(j, "opcode", instruction_name(s->words.opcode));
        leat_json_hex(j, "computationId", "0x", s->words.computation, 1);
        text_print(text, " %s 0x%llx", instruction_name(s->words.opcode),
                   (unsigned long long)s->words.computation);
        show_operands(&s->words, j, text);
    }
    text_print(text, "\n");
    json_close(&out, json_status());
}
