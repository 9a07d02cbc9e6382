/* What a router has: its SANs, tables and counts; what a host has; as text and as JSON. */
#include "pktway_live_parts.h"
#include <inttypes.h>
#include <string.h>

/* ---- pieces -------------------------------------------------------------------------------- */

void pktway_live_number(uint32_t address, bool json, FILE *out)
{
    fprintf(out, json ? "\"0x%06" PRIx32 "\"" : "0x%06" PRIx32, address);
}

void pktway_live_hex(const uint8_t *octets, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++)
        fprintf(out, "%02x", octets[i]);
}

/* A name is any octets: what is not plain is shown as its number. */
void pktway_live_name(const uint8_t *name, size_t len, bool json, FILE *out)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] >= ' ' && name[i] < 127 && name[i] != '"' && name[i] != '\\')
            fputc(name[i], out);
        else
            fprintf(out, json ? "\\u%04x" : "\\x%02x", name[i]);
}

void pktway_live_address(const struct leat_packetway_address *a, bool json, FILE *out)
{
    static const char *const forms[] = { "0x%06" PRIx32, "0x%06" PRIx32 "-0x%06" PRIx32,
                                         "0x%06" PRIx32 "/0x%06" PRIx32 };
    const int form = a->at == LEAT_PACKETWAY_AT_SINGLE ? 0 : a->at == LEAT_PACKETWAY_AT_MIN ? 1 : 2;
    if (json) fputc('"', out);
    fprintf(out, forms[form], a->low, a->high);
    if (json) fputc('"', out);
}

static void show_capability(const struct leat_packetway_record *record, bool json, FILE *out)
{
    const uint8_t *parameters;
    size_t len;
    const uint8_t cc = leat_packetway_record_capability(record, &parameters, &len);
    fprintf(out, json ? "{\"code\":%u,\"parameters\":\"" : ", capability %u", cc);
    if (!json && len) fputc(':', out);
    pktway_live_hex(parameters, len, out);
    if (json) fputs("\"}", out);
}

void pktway_live_about(struct leat_packetway_records about, bool json, FILE *out)
{
    struct leat_packetway_record record;
    const char *between = ",\"capabilities\":[";
    bool listed = false;
    while (leat_packetway_records_next(&about, &record)) {
        if (record.type == LEAT_PACKETWAY_RTYP_NAME) {
            size_t len;
            const uint8_t *name = leat_packetway_record_name(&record, &len);
            fputs(json ? ",\"name\":\"" : "  ", out);
            pktway_live_name(name, len, json, out);
            if (json) fputc('"', out);
        } else if (record.type == LEAT_PACKETWAY_RTYP_CAPA) {
            if (json) fputs(between, out);
            show_capability(&record, json, out);
            between = ",";
            listed = true;
        }
    }
    if (json && listed) fputc(']', out);
}

/* ---- status -------------------------------------------------------------------------------- */

/* One count: `number` of what `name` says. Text has only those that are not 0. */
static void show_count(uint64_t number, const char *name, const char *text, bool json, bool *first,
                       FILE *out)
{
    if (json) {
        fprintf(out, "%s\"%s\":%" PRIu64, *first ? "" : ",", name, number);
        *first = false;
    } else if (number) {
        fprintf(out, "%12" PRIu64 "  %s\n", number, text);
    }
}

static void show_counts(const struct packetway_router *r, uint32_t half, bool json, FILE *out)
{
    const struct packetway_half *h = &r->half[half];
    const struct packetway_counts *n = &h->san.counts;
    const struct leat_packetway_auth_counts *k = &h->san.auth.counts;
    const struct leat_packetway_router_counts *c = leat_packetway_router_counts(h->engine);
    bool first = true;
    const uint64_t in_kernel = packetway_router_in_kernel(r, half);
#define X(id, text) show_count(n->id, #id, text, json, &first, out);
    PACKETWAY_COUNT_LIST(X)
#undef X
#define X(id, text) show_count(k->id, #id, text, json, &first, out);
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
    show_count(h->refused, "refused_routes", "native routes that this SAN does not take", json,
               &first, out);
    show_count(in_kernel, "in_kernel", "packets that the kernel sent on by itself", json, &first,
               out);
#define X(id, text) show_count(c->id, #id, text, json, &first, out);
    LEAT_PACKETWAY_COUNT_LIST(X)
#undef X
    if (json) fputs(",\"reasons\":{", out);
    first = true;
    static const char *const names[] = {
#define X(id, text) #id,
        LEAT_PACKETWAY_REASON_LIST(X)
#undef X
    };
    for (int i = 1; i < LEAT_PACKETWAY_REASON_COUNT; i++)
        show_count(c->reason[i], names[i],
                   leat_packetway_reason_text((enum leat_packetway_reason)i), json, &first, out);
    if (json) fputc('}', out);
}

/* Who was not believed, as he has the address of another. */
static void show_dispute(const struct packetway_san *san, bool json, FILE *out)
{
    char at[PACKETWAY_ENDPOINT_MAX];
    if (!san->dispute.address) return;
    packetway_native_text(&san->dispute.at, san->plan.udp, at);
    fprintf(out,
            json ? ",\"dispute\":{\"address\":\"0x%06x\",\"at\":\"%s\"}"
                 : "  DUPLICATE: 0x%06x is claimed by %s, too, who is not believed\n",
            san->dispute.address, at);
}

static void show_key_hint(const char *hint, FILE *out)
{
    if (*hint) fprintf(out, "  KEY: %s\n", hint);
}

static void show_san(const struct packetway_half *h, bool json, FILE *out)
{
    const struct packetway_plan *p = &h->san.plan;
    char place[PACKETWAY_ENDPOINT_MAX];
    if (p->udp)
        packetway_native_text(&p->bind, true, place);
    else
        memcpy(place, p->device, sizeof p->device);
    fprintf(out,
            json ? "{\"san\":\"%s%s\",\"bias\":\"0x%06x\",\"nodes\":%u,\"address\":\"0x%06x\","
                   "\"mtu\":%u,\"up\":%s,\"keyed\":%s,\"counts\":{"
                 : "%s%s: bias 0x%06x, %u nodes at most, half-router 0x%06x, MTU %u words, %s%s\n",
            p->udp ? "udp:" : "", place, p->block.bias, p->block.count, p->address,
            h->san.mtu_words, json ? (h->up ? "true" : "false") : (h->up ? "up" : "down"),
            json ? (p->keyed ? "true" : "false") : (p->keyed ? ", keyed" : ""));
    if (!json) show_key_hint(packetway_san_key_hint(&h->san), out);
}

void pktway_live_status(struct packetway_router *r, bool json, FILE *out)
{
    const char *driver = packetway_driver_name(r->driver);
    fprintf(out, json ? "{\"name\":\"%s\",\"driver\":\"%s\",\"why\":\"" : "router %s, driver %s: ",
            r->config.name, driver);
    pktway_live_name((const uint8_t *)r->why, strlen(r->why), json, out);
    fputs(json ? "\"," : "\n", out);
    write_confined_here(out, json);
    if (json) fputs(",\"sans\":[", out);
    for (uint32_t i = 0; i < r->count; i++) {
        if (json && i) fputc(',', out);
        show_san(&r->half[i], json, out);
        show_counts(r, i, json, out);
        if (json) fputc('}', out);
        show_dispute(&r->half[i].san, json, out);
        if (json) fputc('}', out);
    }
    if (json) fputs("]}\n", out);
}

/* ---- status of a host ---------------------------------------------------------------------- */

static void show_tun(const struct packetway_tun *t, bool json, FILE *out)
{
    fprintf(out,
            json ? ",\"device\":\"%s\",\"ip_sent\":%llu,\"ip_received\":%llu,\"ip_no_way\":%llu,"
                   "\"ip_spoofed\":%llu,\"ip_unsent\":%llu,\"ip_too_long\":%llu"
                 : "%s: %llu IP packets sent, %llu received, %llu without a way, %llu from another "
                   "node than their source's, %llu not sent, %llu told to be too long\n",
            t->device, (unsigned long long)t->sent, (unsigned long long)t->received,
            (unsigned long long)t->no_way, (unsigned long long)t->spoofed,
            (unsigned long long)t->unsent, (unsigned long long)t->too_long);
}

static void show_host_counts(const struct leat_live_packetway *host, bool json, FILE *out)
{
    const struct leat_packetway_host_counts *c = leat_live_packetway_counts(host);
    const struct leat_packetway_auth_counts *k = leat_live_packetway_key_counts(host);
    bool first = false; /* behind the half-routers */
#define X(id, text) show_count(c->id, #id, text, json, &first, out);
    LEAT_PACKETWAY_HOST_COUNT_LIST(X)
#undef X
#define X(id, text) show_count(k->id, #id, text, json, &first, out);
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
}

void pktway_live_host_status(const struct leat_live_packetway *host,
                             const struct packetway_tun *tun,
                             const struct leat_packetway_store *store, bool json, FILE *out)
{
    fputs(json ? "{\"routers\":[" : "half-routers:", out);
    for (uint32_t i = 0; leat_live_packetway_router(host, i); i++) {
        if (i || !json) fputc(json ? ',' : ' ', out);
        pktway_live_number(leat_live_packetway_router(host, i), json, out);
    }
    fputs(json ? "]" : "\n", out);
    if (!json) show_key_hint(leat_live_packetway_key_hint(host), out);
    show_host_counts(host, json, out);
    if (tun) show_tun(tun, json, out);
    if (store) pktway_live_store_status(store, json, out);
    if (json) fputc(',', out);
    write_confined_here(out, json);
    if (json) fputs("}\n", out);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void show_node(const struct packetway_half *h, const struct leat_packetway_node_view *v,
                      bool json, FILE *out)
{
    struct leat_packetway_native native = { .len = (uint8_t)v->node.route_len };
    char text[PACKETWAY_ENDPOINT_MAX];
    memcpy(native.octets, v->node.route, v->node.route_len);
    packetway_native_text(&native, h->san.plan.udp, text);
    fputs(json ? "{\"address\":" : "  ", out);
    pktway_live_address(&v->node.address, json, out);
    fprintf(out, json ? ",\"native\":\"%s\",\"buddy\":%s" : "  %s%s", text,
            json ? (v->node.buddy ? "true" : "false") : (v->node.buddy ? "  half-router" : ""));
    pktway_live_about(v->about, json, out);
    fputs(json ? "}" : "\n", out);
}

static void show_table(const struct leat_packetway_table_view *t, bool json, FILE *out)
{
    struct leat_packetway_records nodes = t->nodes;
    struct leat_packetway_record record;
    fprintf(out,
            json ? "{\"san\":\"0x%06x\",\"sn\":%u,\"q\":%u,\"mtu\":%u,\"lost\":%s,\"rcvf\":["
                 : "  SAN 0x%06x, SN %u, quality %u, MTU %u%s, by",
            t->san, t->sequence, t->q, t->mtu_words,
            json ? (t->lost ? "true" : "false") : (t->lost ? ", LOST" : ""));
    for (uint32_t i = 0; i < t->received_from_count; i++) {
        fputs(json ? (i ? "," : "") : " ", out);
        pktway_live_number(t->received_from[i], json, out);
    }
    fputs(json ? "],\"nodes\":[" : "\n", out);
    for (bool first = true; leat_packetway_records_next(&nodes, &record); first = false) {
        const struct leat_packetway_address a = leat_packetway_record_address(&record);
        fputs(json ? (first ? "{\"address\":" : ",{\"address\":") : "    ", out);
        pktway_live_address(&a, json, out);
        pktway_live_about(leat_packetway_record_nested(&record), json, out);
        fputs(json ? "}" : "\n", out);
    }
    if (json) fputs("]}", out);
}

static void show_half(const struct packetway_half *h, bool json, FILE *out)
{
    struct leat_packetway_node_view node;
    struct leat_packetway_table_view table;
    const char *between = "";
    fprintf(out,
            json ? "{\"address\":\"0x%06x\",\"bias\":\"0x%06x\",\"nodes\":["
                 : "half-router 0x%06x of SAN 0x%06x: nodes here\n",
            h->san.plan.address, h->san.plan.block.bias);
    for (uint32_t i = 0; i < PACKETWAY_NODES_MAX; i++) {
        if (!leat_packetway_router_node_at(h->engine, i, &node)) continue;
        if (json) fputs(between, out);
        show_node(h, &node, json, out);
        between = ",";
    }
    fputs(json ? "],\"tables\":[" : " tables of other SANs\n", out);
    between = "";
    for (uint32_t i = 0; i < LEAT_PACKETWAY_XRT_MAX; i++) {
        if (!leat_packetway_router_table(h->engine, i, &table)) continue;
        if (json) fputs(between, out);
        show_table(&table, json, out);
        between = ",";
    }
    if (json) fputs("]}", out);
}

void pktway_live_tables(struct packetway_router *r, bool json, FILE *out)
{
    if (json) fputc('[', out);
    for (uint32_t i = 0; i < r->count; i++) {
        if (json && i) fputc(',', out);
        show_half(&r->half[i], json, out);
    }
    if (json) fputs("]\n", out);
}
