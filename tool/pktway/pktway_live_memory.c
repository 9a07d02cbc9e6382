/* leat pktway memory, read and write on live networks. */
#include "leat_tree.h"
#include "number.h"
#include "pktway_live_parts.h"
#include "pktway_shared.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALLOW_EXPECTED "expected r, w or rw, then ,range=FIRST-LAST and ,nodes=FIRST-LAST"

/* ---- a memory node ------------------------------------------------------------------------- */

/* "FIRST-LAST", or one number for both. */
static bool read_pair(const char *text, size_t len, uint64_t most, uint64_t *first, uint64_t *last)
{
    const char *dash = memchr(text, '-', len);
    const size_t first_len = dash ? (size_t)(dash - text) : len;
    if (!leat_tree_number(text, first_len, first)) return false;
    *last = *first;
    if (dash && !leat_tree_number(dash + 1, len - first_len - 1, last)) return false;
    return *first <= *last && *last <= most;
}

static bool read_permissions(const char *text, size_t len, uint8_t *permissions)
{
    const bool read = len && text[0] == 'r', write = len && text[len - 1] == 'w';
    if (len < 1 || len != (size_t)read + write) return false;
    *permissions = (uint8_t)((read ? LEAT_PACKETWAY_MAY_READ : 0) |
                             (write ? LEAT_PACKETWAY_MAY_WRITE : 0));
    return true;
}

/* "rw,range=0-0xfff,nodes=0x101-0x1ff" of `len` characters. */
static bool read_grant(const char *text, size_t len, struct leat_packetway_grant *g)
{
    uint64_t first = 1, last = LEAT_PACKETWAY_ADDRESS_MAX;
    const char *end = text + len;
    size_t word = strcspn(text, ",\n");
    *g = (struct leat_packetway_grant){ .first = 0, .last = UINT64_MAX };
    if (!read_permissions(text, word, &g->permissions)) return false;
    for (text += word; text < end; text += word) {
        text++; /* the comma */
        word = (size_t)(end - text) < strcspn(text, ",") ? (size_t)(end - text)
                                                         : strcspn(text, ",");
        if (word > 6 && strncmp(text, "range=", 6) == 0) {
            if (!read_pair(text + 6, word - 6, UINT64_MAX, &g->first, &g->last)) return false;
        } else if (word > 6 && strncmp(text, "nodes=", 6) == 0) {
            if (!read_pair(text + 6, word - 6, LEAT_PACKETWAY_ADDRESS_MAX, &first, &last) || !first)
                return false;
        } else {
            return false;
        }
    }
    g->node_first = (uint32_t)first;
    g->node_last = (uint32_t)last;
    return true;
}

static bool read_grants(const struct arguments *args, struct leat_packetway_store *store, char *why)
{
    const char *at = argument(args, "--allow");
    if (!at) return live_because(why, "memory needs --allow, " ALLOW_EXPECTED);
    for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        const size_t len = strcspn(at, "\n");
        if (store->grant_count == LEAT_PACKETWAY_GRANTS_MAX)
            return live_because(why, "more than %d of --allow", LEAT_PACKETWAY_GRANTS_MAX);
        if (!read_grant(at, len, &store->grants[store->grant_count++]))
            return live_because(why, "--allow '%.*s', " ALLOW_EXPECTED, len < 80 ? (int)len : 80,
                                at);
    }
    return true;
}

bool pktway_live_store(const struct arguments *args, struct leat_packetway_store *store, char *why)
{
    store->len = 64 << 10;
    if (!number_take(args, "--memory", &store->len) ||
        !number_take_within(args, "--base", 0, UINT64_MAX - store->len + 1, &store->address))
        return false;
    if (!read_grants(args, store, why)) return false;
    store->octets = calloc(1, (size_t)store->len);
    return store->octets || live_because(why, "no memory for %" PRIu64 " octets", store->len);
}

void pktway_live_store_status(const struct leat_packetway_store *s, struct leat_json *j, FILE *out)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define X(id, text) { #id, text },
        LEAT_PACKETWAY_MEMORY_REASON_LIST(X)
#undef X
    };
    text_print(out,
               "memory at 0x%" PRIx64 ", %" PRIu64 " octets; %" PRIu64 " octets read, %" PRIu64
               " written; %" PRIu64 " ERR messages above the rate\n",
               s->address, s->len, s->octets_read, s->octets_written, s->err_limited);
    leat_json_object(j, "memory");
    LEAT_JSON_UINTS(j, { "address", s->address }, { "octets", s->len }, { "read", s->octets_read },
                    { "written", s->octets_written }, { "err_limited", s->err_limited });
    leat_json_object(j, "requests");
    for (size_t i = 0; i < LEAT_PACKETWAY_MEMORY_REASON_COUNT; i++)
        pktway_live_count(s->counts[i], reasons[i].name, reasons[i].text, j, out);
    leat_json_end(j);
    leat_json_end(j);
}

/* ---- read and write ------------------------------------------------------------------------ */

bool pktway_live_memory_words(const struct arguments *args, struct packetway_request *q)
{
    static struct pktway_octets o;
    if (!pktway_octets_read(args, &o)) return false;
    q->memory_at = o.at;
    q->size = (uint32_t)o.len;
    if (o.write) memcpy(q->text, o.octets, o.len);
    return true;
}

int pktway_live_memory_query(struct leat_packetway_node *node, const struct packetway_request *q,
                             FILE *out, FILE *error)
{
    char why[LEAT_PACKETWAY_NODE_WHY_LEN] = "no memory";
    enum leat_packetway_node_end end = LEAT_PACKETWAY_NODE_FAILED;
    const struct pktway_octets shown = { .node = q->address,
                                         .at = q->memory_at,
                                         .len = q->size,
                                         .write = strcmp(q->word, "write") == 0,
                                         .blind = q->blind,
                                         .json = q->json };
    uint8_t *octets = malloc((size_t)q->size + 1);
    const leat_time begun = packetway_now();
    if (octets && shown.write)
        end = leat_packetway_node_write(node, q->address, q->memory_at, (const uint8_t *)q->text,
                                        q->size, q->blind, q->timeout_ms, why);
    else if (octets)
        end = leat_packetway_node_read(node, q->address, q->memory_at, octets, q->size,
                                       q->timeout_ms, why);
    if (end == LEAT_PACKETWAY_NODE_OK)
        pktway_octets_show(&shown, octets, (packetway_now() - begun) / 1000000, out);
    else
        fprintf(error, "leat: %s\n", why);
    free(octets);
    if (end == LEAT_PACKETWAY_NODE_OK) return DONE;
    return end == LEAT_PACKETWAY_NODE_WRONG ? WRONG : FAILED;
}
