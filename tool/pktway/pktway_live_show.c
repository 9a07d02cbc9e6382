/* State of a router (its SANs, tables and counters) and of a host, as text and as JSON. */
#include "pktway_live_parts.h"
#include <inttypes.h>
#include <string.h>

/* ---- pieces -------------------------------------------------------------------------------- */

void pktway_live_name(const uint8_t *name, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] >= ' ' && name[i] < 127 && name[i] != '"' && name[i] != '\\')
            text_print(out, "%c", name[i]);
        else
            text_print(out, "\\x%02x", name[i]);
}

/* The next record of a type; false: there are no more. */
static bool next_of(uint8_t type, struct leat_packetway_records *records,
                    struct leat_packetway_record *record)
{
    while (leat_packetway_records_next(records, record))
        if (record->type == type) return true;
    return false;
}

void pktway_live_about(struct leat_packetway_records about, struct leat_json *j, FILE *out)
{
    struct leat_packetway_records names = about;
    struct leat_packetway_record record;
    const uint8_t *octets;
    size_t len;
    while (next_of(LEAT_PACKETWAY_RTYP_NAME, &names, &record)) {
        octets = leat_packetway_record_name(&record, &len);
        leat_json_chars(j, "name", (const char *)octets, len);
        text_print(out, "  ");
        pktway_live_name(octets, len, out);
    }
    bool listed = false;
    for (; next_of(LEAT_PACKETWAY_RTYP_CAPA, &about, &record); listed = true) {
        const unsigned code = leat_packetway_record_capability(&record, &octets, &len);
        if (!listed) leat_json_array(j, "capabilities");
        leat_json_object(j, NULL);
        leat_json_uint(j, "capability", code);
        leat_json_octets(j, "parameters", octets, len);
        leat_json_end(j);
        text_print(out, ", capability %u%s", code, len ? ":" : "");
        pktway_put_hex(octets, len, out);
    }
    if (listed) leat_json_end(j);
}

void pktway_live_node(const struct leat_packetway_address *address,
                      struct leat_packetway_records about, const char *indent, struct leat_json *j,
                      FILE *out)
{
    char text[PKTWAY_ADDRESS_CAP];
    pktway_address_text(address, text);
    leat_json_object(j, NULL);
    leat_json_string(j, "address", text);
    text_print(out, "%s%s", indent, text);
    pktway_live_about(about, j, out);
    text_print(out, "\n");
    leat_json_end(j);
}

/* ---- status -------------------------------------------------------------------------------- */

void pktway_live_count(uint64_t number, const char *name, const char *text, struct leat_json *j,
                       FILE *out)
{
    leat_json_uint(j, name, number);
    if (number) text_print(out, "%12" PRIu64 "  %s\n", number, text);
}

static void show_counts(const struct packetway_router *r, uint32_t half, struct leat_json *j,
                        FILE *out)
{
    static const char *const names[] = {
#define X(id, text) #id,
        LEAT_PACKETWAY_REASON_LIST(X)
#undef X
    };
    const struct packetway_half *h = &r->half[half];
    const struct packetway_counts *n = &h->san.counts;
    const struct leat_packetway_auth_counts *k = &h->san.auth.counts;
    const struct leat_packetway_router_counts *c = leat_packetway_router_counts(h->engine);
    const uint64_t in_kernel = packetway_router_in_kernel(r, half);
    leat_json_object(j, "counts");
#define X(id, text) pktway_live_count(n->id, #id, text, j, out);
    PACKETWAY_COUNT_LIST(X)
#undef X
#define X(id, text) pktway_live_count(k->id, #id, text, j, out);
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
    pktway_live_count(h->refused, "refused_routes", "native routes that this SAN does not take", j,
                      out);
    pktway_live_count(in_kernel, "in_kernel", "packets that the kernel sent on by itself", j, out);
#define X(id, text) pktway_live_count(c->id, #id, text, j, out);
    LEAT_PACKETWAY_COUNT_LIST(X)
#undef X
    leat_json_object(j, "reasons");
    for (int i = 1; i < LEAT_PACKETWAY_REASON_COUNT; i++)
        pktway_live_count(c->reason[i], names[i],
                          leat_packetway_reason_text((enum leat_packetway_reason)i), j, out);
    leat_json_end(j);
    leat_json_end(j);
}

/* A node that was rejected since it claims the address of another. */
static void show_dispute(const struct packetway_san *san, struct leat_json *j, FILE *out)
{
    char at[PACKETWAY_ENDPOINT_MAX];
    if (!san->dispute.address) return;
    packetway_native_text(&san->dispute.at, san->plan.udp, at);
    leat_json_object(j, "dispute");
    leat_json_hex(j, "address", "0x", san->dispute.address, 6);
    leat_json_string(j, "claimed_by", at);
    leat_json_end(j);
    text_print(out, "  DUPLICATE: 0x%06x is claimed by %s, too, which is rejected\n",
               san->dispute.address, at);
}

static void show_key_hint(const char *hint, FILE *out)
{
    if (*hint) text_print(out, "  KEY: %s\n", hint);
}

static void show_san(const struct packetway_half *h, struct leat_json *j, FILE *out)
{
    const struct packetway_plan *p = &h->san.plan;
    char place[PACKETWAY_ENDPOINT_MAX];
    if (p->udp)
        packetway_native_text(&p->bind, true, place);
    else
        memcpy(place, p->device, sizeof p->device);
    text_print(out, "%s%s: bias 0x%06x, %u nodes at most, half-router 0x%06x, MTU %u words, %s%s\n",
               p->udp ? "udp:" : "", place, p->block.bias, p->block.count, p->address,
               h->san.mtu_words, h->up ? "up" : "down",
               packetway_san_is_keyed(&h->san) ? ", keyed" : "");
    show_key_hint(packetway_san_key_hint(&h->san), out);
    json_format(j, "san", "%s%s", p->udp ? "udp:" : "", place);
    leat_json_hex(j, "bias", "0x", p->block.bias, 6);
    leat_json_uint(j, "node_count", p->block.count);
    leat_json_hex(j, "address", "0x", p->address, 6);
    leat_json_uint(j, "mtu_words", h->san.mtu_words);
    leat_json_bool(j, "up", h->up);
    leat_json_bool(j, "keyed", packetway_san_is_keyed(&h->san));
}

void pktway_live_status(struct packetway_router *r, bool json, FILE *out)
{
    const char *driver = packetway_driver_name(r->driver);
    struct json_out object;
    struct leat_json *j = json_open(&object, json ? out : NULL);
    if (json) out = NULL;
    leat_json_string(j, "name", r->config.name);
    leat_json_string(j, "driver", driver);
    leat_json_string(j, "why", r->why);
    text_print(out, "router %s, driver %s: ", r->config.name, driver);
    pktway_live_name((const uint8_t *)r->why, strlen(r->why), out);
    text_print(out, "\n");
    show_confined_here(j, out);
    leat_json_array(j, "sans");
    for (uint32_t i = 0; i < r->count; i++) {
        leat_json_object(j, NULL);
        show_san(&r->half[i], j, out);
        show_counts(r, i, j, out);
        show_dispute(&r->half[i].san, j, out);
        leat_json_end(j);
    }
    leat_json_end(j);
    json_close(&object, json_status());
}

/* ---- status of a host ---------------------------------------------------------------------- */

static void show_tun(const struct packetway_tun *t, struct leat_json *j, FILE *out)
{
    text_print(out,
               "%s: %llu IP packets sent, %llu received, %llu without a route, %llu from another "
               "node than their source's, %llu not sent, %llu reported as too long\n",
               t->device, (unsigned long long)t->sent, (unsigned long long)t->received,
               (unsigned long long)t->no_way, (unsigned long long)t->spoofed,
               (unsigned long long)t->unsent, (unsigned long long)t->too_long);
    leat_json_string(j, "device", t->device);
    LEAT_JSON_UINTS(j, { "ip_sent", t->sent }, { "ip_received", t->received },
                    { "ip_no_way", t->no_way }, { "ip_spoofed", t->spoofed },
                    { "ip_unsent", t->unsent }, { "ip_too_long", t->too_long });
}

/* Of the nodes on all SANs together. */
static void show_host_counts(const struct pktway_homes *homes, struct leat_json *j, FILE *out)
{
    struct leat_packetway_host_counts c = { 0 };
    struct leat_packetway_auth_counts k = { 0 };
    for (uint32_t i = 0; i < homes->count; i++) {
        const struct leat_packetway_host_counts *one = leat_packetway_node_counts(homes->node[i]);
        const struct leat_packetway_auth_counts *key = leat_packetway_node_key_counts(
            homes->node[i]);
#define X(id, text) c.id += one->id;
        LEAT_PACKETWAY_HOST_COUNT_LIST(X)
#undef X
#define X(id, text) k.id += key->id;
        LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
    }
#define X(id, text) pktway_live_count(c.id, #id, text, j, out);
    LEAT_PACKETWAY_HOST_COUNT_LIST(X)
#undef X
#define X(id, text) pktway_live_count(k.id, #id, text, j, out);
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
}

static void show_routers(const struct leat_packetway_node *node, struct leat_json *j, FILE *out)
{
    for (uint32_t i = 0, router; (router = leat_packetway_node_router(node, i)); i++) {
        leat_json_hex(j, NULL, "0x", router, 6);
        text_print(out, " 0x%06" PRIx32, router);
    }
}

/* The addresses, and the half-routers of each SAN. */
static void show_homes(const struct pktway_homes *homes, struct leat_json *j, FILE *out)
{
    leat_json_array(j, "host_addresses");
    for (uint32_t i = 0; i < homes->count; i++)
        leat_json_hex(j, NULL, "0x", leat_packetway_node_address(homes->node[i]), 6);
    leat_json_end(j);
    leat_json_array(j, "router_addresses");
    for (uint32_t i = 0; i < homes->count; i++) {
        text_print(out, "address 0x%06" PRIx32 ", half-routers:",
                   leat_packetway_node_address(homes->node[i]));
        show_routers(homes->node[i], j, out);
        text_print(out, "\n");
        show_key_hint(leat_packetway_node_key_hint(homes->node[i]), out);
    }
    leat_json_end(j);
}

void pktway_live_host_status(const struct pktway_homes *homes,
                             const struct pktway_live_mail_counts *mail,
                             const struct packetway_tun *tun,
                             const struct leat_packetway_store *store, bool json, FILE *out)
{
    struct json_out object;
    struct leat_json *j = json_open(&object, json ? out : NULL);
    if (json) out = NULL;
    show_homes(homes, j, out);
    leat_json_object(j, "counts");
    show_host_counts(homes, j, out);
    pktway_live_count(mail->received, "data_received", "messages of data received by a program", j,
                      out);
    pktway_live_count(mail->unclaimed, "data_unclaimed",
                      "messages of data dropped: nobody receives here", j, out);
    leat_json_end(j);
    if (tun) show_tun(tun, j, out);
    if (store) pktway_live_store_status(store, j, out);
    show_confined_here(j, out);
    json_close(&object, json_status());
}

/* ---- tables -------------------------------------------------------------------------------- */

static void show_node(const struct packetway_half *h, const struct leat_packetway_san_node_view *v,
                      struct leat_json *j, FILE *out)
{
    struct leat_packetway_native native = { .len = (uint8_t)v->node.route_len };
    char text[PACKETWAY_ENDPOINT_MAX], address[PKTWAY_ADDRESS_CAP];
    memcpy(native.octets, v->node.route, v->node.route_len);
    packetway_native_text(&native, h->san.plan.udp, text);
    pktway_address_text(&v->node.address, address);
    leat_json_object(j, NULL);
    leat_json_string(j, "address", address);
    leat_json_string(j, "native", text);
    leat_json_bool(j, "buddy", v->node.buddy);
    text_print(out, "  %s  %s%s", address, text, v->node.buddy ? "  half-router" : "");
    pktway_live_about(v->about, j, out);
    text_print(out, "\n");
    leat_json_end(j);
}

static void show_table(const struct leat_packetway_table_view *t, struct leat_json *j, FILE *out)
{
    struct leat_packetway_records nodes = t->nodes;
    struct leat_packetway_record record;
    text_print(out, "  SAN 0x%06x, SN %u, quality %u, MTU %u%s, by", t->san, t->sequence, t->q,
               t->mtu_words, t->lost ? ", LOST" : "");
    leat_json_object(j, NULL);
    pktway_put_table(t, j, out);
    text_print(out, "\n");
    leat_json_array(j, "nodes");
    while (leat_packetway_records_next(&nodes, &record)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&record);
        pktway_live_node(&a, leat_packetway_record_nested(&record), "    ", j, out);
    }
    leat_json_end(j);
    leat_json_end(j);
}

static void show_half(const struct packetway_half *h, struct leat_json *j, FILE *out)
{
    struct leat_packetway_san_node_view node;
    struct leat_packetway_table_view table;
    leat_json_object(j, NULL);
    leat_json_hex(j, "address", "0x", h->san.plan.address, 6);
    leat_json_hex(j, "bias", "0x", h->san.plan.block.bias, 6);
    leat_json_array(j, "nodes");
    text_print(out, "half-router 0x%06x of SAN 0x%06x: nodes here\n", h->san.plan.address,
               h->san.plan.block.bias);
    for (uint32_t i = 0; i < PACKETWAY_NODES_MAX; i++)
        if (leat_packetway_router_node_at(h->engine, i, &node)) show_node(h, &node, j, out);
    leat_json_end(j);
    leat_json_array(j, "tables");
    text_print(out, " tables of other SANs\n");
    for (uint32_t i = 0; i < LEAT_PACKETWAY_XRT_MAX; i++)
        if (leat_packetway_router_table(h->engine, i, &table)) show_table(&table, j, out);
    leat_json_end(j);
    leat_json_end(j);
}

void pktway_live_tables(struct packetway_router *r, bool json, FILE *out)
{
    struct json_out object;
    struct leat_json *j = json_open(&object, json ? out : NULL);
    leat_json_array(j, "half_routers");
    for (uint32_t i = 0; i < r->count; i++)
        show_half(&r->half[i], j, json ? NULL : out);
    leat_json_end(j);
    json_close(&object, json_status());
}
