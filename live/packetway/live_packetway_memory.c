/* Memory: this node's, for others; others', for the program. */
#include "live_packetway_node_parts.h"
#include <string.h>

enum { TRIES = 3, WORD = 8, ENDS_WORDS = LEAT_PACKETWAY_MESSAGE_LEN_MIN / WORD };

static bool is_memory_pt(uint16_t pt)
{
    return pt == LEAT_PACKETWAY_PT_MEM_READ || pt == LEAT_PACKETWAY_PT_MEM_WRITE;
}

/* ---- this node's --------------------------------------------------------------------------- */

bool packetway_memory_takes(const struct leat_packetway_node *p, const uint8_t *octets)
{
    const uint16_t pt = leat_get_be16(octets + LEAT_PACKETWAY_PT_AT);
    const bool from_peer = p->awaited.peer &&
                           leat_get_be24(octets + LEAT_PACKETWAY_SA_AT) == p->awaited.peer;
    return is_memory_pt(pt) && (p->store || (from_peer && pt == LEAT_PACKETWAY_PT_MEM_WRITE));
}

static bool is_awaited(const struct leat_packetway_node *p, const struct leat_packetway_event *e)
{
    struct leat_packetway_memory m;
    return p->awaited.peer && e->peer == p->awaited.peer && !e->accused &&
           e->message.header.pt == LEAT_PACKETWAY_PT_MEM_WRITE &&
           !leat_packetway_memory_decode(LEAT_PACKETWAY_PT_MEM_WRITE, e->message.data,
                                         e->message.data_len, &m) &&
           m.address == p->awaited.reply;
}

bool packetway_memory_serve(struct leat_packetway_node *p, const struct leat_packetway_event *e,
                            leat_time now)
{
    static uint8_t data[PACKETWAY_MESSAGE_MAX];
    if (e->kind != LEAT_PACKETWAY_EVENT_DATA || !p->store || !is_memory_pt(e->message.header.pt) ||
        is_awaited(p, e))
        return false;
    if (e->accused) { /* also by the message around it */
        p->store->counts[LEAT_PACKETWAY_MEMORY_ACCUSED]++;
        return true;
    }
    leat_packetway_store_serve(p->store, &e->message, now, WORD * (p->san.mtu_words - ENDS_WORDS),
                               data, sizeof data, &p->reply);
    if (p->reply.header.pt) packetway_node_reply(p, &p->reply, now);
    return true;
}

void leat_packetway_node_lend(struct leat_packetway_node *p, struct leat_packetway_store *store)
{
    p->store = store;
}

/* ---- others' ------------------------------------------------------------------------------- */

/* A requested piece of memory, and what to write there first, if anything. */
struct piece {
    uint32_t peer;
    uint64_t address;
    size_t count;         /* octets to be read */
    const uint8_t *write; /* NULL: only read */
    size_t write_len;
    uint8_t *into; /* NULL: nowhere */
};

static enum leat_packetway_node_end send_request(struct leat_packetway_node *p, uint32_t peer,
                                                 uint16_t pt, const struct leat_packetway_memory *m,
                                                 leat_time until, char *why)
{
    static uint8_t db[PACKETWAY_MESSAGE_MAX];
    static struct leat_packetway_message message;
    const leat_time now = packetway_now();
    const uint32_t left_ms = until > now ? (uint32_t)((until - now) / 1000000000) : 0;
    memset(&message, 0, sizeof message);
    message.header = (struct leat_packetway_header){ .dt = peer, .pt = pt };
    message.data = db;
    if (leat_packetway_memory_encode(pt, m, db, sizeof db, &message.data_len))
        return LEAT_PACKETWAY_NODE_WRONG;
    return leat_packetway_node_send(p, &message, LEAT_PACKETWAY_SEND_PLANNED, left_ms, why);
}

/* Is it about this piece? A truncated quote is accepted by its header. */
static bool is_about(const struct leat_packetway_node *p, const struct piece *piece,
                     const struct leat_packetway_event *e)
{
    const uint8_t *quote = e->message.data;
    if (e->dt != piece->peer) return false;
    if (e->message.header.te != LEAT_PACKETWAY_TE_GENERAL || e->message.data_len < 24) return true;
    const uint16_t pt = leat_get_be16(quote + LEAT_PACKETWAY_PT_AT);
    const uint64_t first = leat_get_be64(quote + LEAT_PACKETWAY_HEADER_LEN);
    return (pt == LEAT_PACKETWAY_PT_MEM_READ && first == p->awaited.reply) ||
           (pt == LEAT_PACKETWAY_PT_MEM_WRITE && first == piece->address);
}

static enum leat_packetway_node_end on_err(const struct piece *piece,
                                           const struct leat_packetway_event *e, char *why)
{
    if (e->peer != piece->peer) {
        live_because(why, "no answer of 0x%06x: an ERR (%u) from 0x%06x", piece->peer,
                     e->message.header.te, e->peer);
        return LEAT_PACKETWAY_NODE_UNKNOWN;
    }
    const bool written = leat_get_be16(e->message.data + LEAT_PACKETWAY_PT_AT) ==
                         LEAT_PACKETWAY_PT_MEM_WRITE;
    const char *what = written ? "write" : piece->write ? "read back" : "read";
    live_because(
        why,
        "0x%06x does not let this node %s %zu octets at 0x%llx: none of its memory, or not "
        "allowed",
        piece->peer, what, written ? piece->write_len : piece->count,
        (unsigned long long)piece->address);
    return LEAT_PACKETWAY_NODE_REFUSED;
}

static bool is_answer(const struct leat_packetway_node *p, const struct piece *piece,
                      const struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_DATA && is_awaited(p, e) &&
           e->message.data_len - LEAT_PACKETWAY_MEMORY_WRITE_HEAD == piece->count;
}

/* Waits for the answer, an ERR about it, or `until`. */
static enum leat_packetway_node_end await(struct leat_packetway_node *p, const struct piece *piece,
                                          leat_time until, char *why)
{
    static struct leat_packetway_event e;
    do {
        for (int i = 0; i < PACKETWAY_TURN && packetway_node_step(p, true, &e); i++) {
            if (e.kind == LEAT_PACKETWAY_EVENT_ERR && is_about(p, piece, &e))
                return on_err(piece, &e, why);
            if (!is_answer(p, piece, &e)) continue;
            const uint8_t *found = e.message.data + LEAT_PACKETWAY_MEMORY_WRITE_HEAD;
            if (piece->into && piece->count) memcpy(piece->into, found, piece->count);
            if (!piece->write || !piece->count || memcmp(piece->write, found, piece->count) == 0)
                return LEAT_PACKETWAY_NODE_OK;
            live_because(why, "0x%06x does not hold what was written at 0x%llx", piece->peer,
                         (unsigned long long)piece->address);
            return LEAT_PACKETWAY_NODE_SILENT;
        }
    } while (packetway_node_pause(p, until));
    live_because(why, "no answer of 0x%06x about its memory", piece->peer);
    return LEAT_PACKETWAY_NODE_SILENT;
}

static enum leat_packetway_node_end try_piece(struct leat_packetway_node *p,
                                              const struct piece *piece, leat_time until, char *why)
{
    enum leat_packetway_node_end end = LEAT_PACKETWAY_NODE_OK;
    const struct leat_packetway_memory write = { .address = piece->address,
                                                 .count = piece->write_len,
                                                 .data = piece->write };
    const struct leat_packetway_memory read = { .address = piece->address,
                                                .reply = p->reply_next,
                                                .count = piece->count };
    p->awaited = (struct packetway_awaited){ piece->peer, p->reply_next };
    p->reply_next += piece->count + 1; /* a late answer to an earlier request does not count */
    if (piece->write)
        end = send_request(p, piece->peer, LEAT_PACKETWAY_PT_MEM_WRITE, &write, until, why);
    if (end == LEAT_PACKETWAY_NODE_OK)
        end = send_request(p, piece->peer, LEAT_PACKETWAY_PT_MEM_READ, &read, until, why);
    if (end == LEAT_PACKETWAY_NODE_OK) end = await(p, piece, until, why);
    p->awaited.peer = 0;
    return end;
}

static enum leat_packetway_node_end transfer_piece(struct leat_packetway_node *p,
                                                   const struct piece *piece, uint32_t timeout_ms,
                                                   char *why)
{
    enum leat_packetway_node_end end = LEAT_PACKETWAY_NODE_SILENT;
    const uint32_t part_ms = timeout_ms < TRIES ? 1 : timeout_ms / TRIES;
    for (int i = 0; i < TRIES; i++) {
        end = try_piece(p, piece, packetway_node_deadline(part_ms), why);
        if (end != LEAT_PACKETWAY_NODE_SILENT && end != LEAT_PACKETWAY_NODE_UNKNOWN) break;
    }
    return end;
}

/* Octets of memory that fit into a message on the route to a node, both ways. */
static enum leat_packetway_node_end find_room(struct leat_packetway_node *p, uint32_t peer,
                                              uint32_t timeout_ms, size_t *room, char *why)
{
    const struct leat_packetway_plan *plan;
    uint32_t words = p->san.mtu_words, leading = 0;
    const enum leat_packetway_node_end end = leat_packetway_node_plan(p, peer, timeout_ms, &plan,
                                                                      why);
    if (end != LEAT_PACKETWAY_NODE_OK) return end;
    if (plan->state == LEAT_PACKETWAY_PLAN_ROUTES) {
        words = leat_packetway_mtu_min(words, plan->routes[0].mtu_words);
        leading = plan->routes[0].len / WORD;
    }
    if (words < leading + ENDS_WORDS + 3) { /* the DB of a MEM-READ */
        live_because(why, "an MTU of %u words on the route to 0x%06x, too few for a MEM-READ",
                     words, peer);
        return LEAT_PACKETWAY_NODE_WRONG;
    }
    *room = WORD * (words - leading - ENDS_WORDS) - LEAT_PACKETWAY_MEMORY_WRITE_HEAD;
    return LEAT_PACKETWAY_NODE_OK;
}

static enum leat_packetway_node_end transfer(struct leat_packetway_node *p, uint32_t peer,
                                             uint64_t address, uint8_t *into, const uint8_t *from,
                                             size_t len, bool blind, uint32_t timeout_ms, char *why)
{
    size_t room = 0, at = 0;
    if (len && len - 1 > UINT64_MAX - address) {
        live_because(why, "%zu octets at 0x%llx, expected an end at 2^64 or below", len,
                     (unsigned long long)address);
        return LEAT_PACKETWAY_NODE_WRONG;
    }
    enum leat_packetway_node_end end = find_room(p, peer, timeout_ms, &room, why);
    if (!p->reply_next) p->reply_next = packetway_now();
    do {
        const size_t part = end == LEAT_PACKETWAY_NODE_OK && len - at > room ? room : len - at;
        const struct piece piece = { .peer = peer,
                                     .address = address + at,
                                     .count = blind ? 0 : part,
                                     .write = from ? from + at : NULL,
                                     .write_len = part,
                                     .into = into ? into + at : NULL };
        if (end == LEAT_PACKETWAY_NODE_OK) end = transfer_piece(p, &piece, timeout_ms, why);
        at += part;
    } while (end == LEAT_PACKETWAY_NODE_OK && at < len);
    return end;
}

enum leat_packetway_node_end leat_packetway_node_read(struct leat_packetway_node *p, uint32_t peer,
                                                      uint64_t address, uint8_t *octets, size_t len,
                                                      uint32_t timeout_ms, char *why)
{
    return transfer(p, peer, address, octets, NULL, len, false, timeout_ms, why);
}

enum leat_packetway_node_end leat_packetway_node_write(struct leat_packetway_node *p, uint32_t peer,
                                                       uint64_t address, const uint8_t *octets,
                                                       size_t len, bool blind, uint32_t timeout_ms,
                                                       char *why)
{
    return transfer(p, peer, address, NULL, octets, len, blind, timeout_ms, why);
}
