/* ESP packets: where they wait, how they become flits, and how they get lost. */
#include "net_esp_parts.h"
#include <assert.h>
#include <leat/random.h>

/* A packet's number in the flit network: this bit, the serial, the index. Messages have no such
 * bit. */
#define ESP_BIT (UINT64_C(1) << 63)
enum { INDEX_BITS = 24, SERIAL_BITS = 39 };

void leat_net_esp_packets_lay(struct leat_net_esp *esp, struct leat_arena *arena,
                              uint32_t terminals)
{
    esp->packets_max = (uint32_t)leat_smaller((uint64_t)terminals * LEAT_NET_ESP_PACKETS_EACH,
                                              UINT64_C(1) << INDEX_BITS);
    esp->queue = leat_arena_lay(arena, terminals, sizeof *esp->queue);
    esp->packet = leat_arena_lay(arena, esp->packets_max, sizeof *esp->packet);
}

/* ---- a packet -------------------------------------------------------------------------------- */

uint64_t leat_net_esp_payload_of(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet)
{
    const struct leat_port_part *what =
        &leat_net_esp_meaning(esp, packet->group, packet->operation)->what;
    if (packet->what == LEAT_NET_ESP_RESULT) return what->words ? sizeof(uint64_t) : 0;
    return leat_smaller(esp->chunk, what->len - (uint64_t)packet->index * esp->chunk);
}

static size_t len_of(struct leat_net_esp *esp, const struct leat_net_esp_packet *packet)
{
    return packet->what == LEAT_NET_ESP_VALUE
               ? leat_esp_packet_len(LEAT_ESP_COLLECT)
               : leat_esp_cast_len(leat_net_esp_payload_of(esp, packet));
}

/* ---- the pool -------------------------------------------------------------------------------- */

/* LEAT_NET_NONE: there is no room. */
static uint32_t take(struct leat_net_esp *esp)
{
    if (!esp->free) return esp->top < esp->packets_max ? esp->top++ : LEAT_NET_NONE;
    const uint32_t index = esp->free - 1;
    esp->free = esp->packet[index].next;
    return index;
}

static void give_back(struct leat_net_esp *esp, uint32_t index)
{
    esp->packet[index].next = esp->free;
    esp->free = index + 1;
}

void leat_net_esp_end_packet(struct leat_net_esp *esp, uint32_t index)
{
    const struct leat_net_esp_packet packet = esp->packet[index];
    give_back(esp, index);
    leat_net_esp_count_down(esp, packet.group, packet.operation);
}

/* It no longer counts. Its entry is free once its flits have ended and its terminal has let go. */
static void lose(struct leat_net_esp *esp, uint32_t index)
{
    struct leat_net_esp_packet *packet = &esp->packet[index];
    if (packet->is_lost) return;
    packet->is_lost = true;
    leat_net_esp_count_down(esp, packet->group, packet->operation);
}

static void free_if_gone(struct leat_net_esp *esp, uint32_t index)
{
    const struct leat_net_esp_packet *packet = &esp->packet[index];
    if (packet->is_lost && !packet->in_wires && esp->queue[packet->from].sending != index + 1)
        give_back(esp, index);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void append(struct leat_net_esp *esp, uint32_t index)
{
    struct leat_net_esp_packet *packet = &esp->packet[index];
    struct leat_net_esp_queue *queue = &esp->queue[packet->from];
    packet->next = 0;
    *(queue->first ? &esp->packet[queue->last - 1].next : &queue->first) = index + 1;
    queue->last = index + 1;
    leat_net_wake(esp->net, packet->from);
}

void leat_net_esp_send_on(struct leat_net_esp *esp, uint32_t index, uint32_t from, uint32_t to)
{
    struct leat_net_esp_packet *packet = &esp->packet[index];
    packet->from = from;
    packet->to = to;
    packet->begun = packet->in_wires = 0;
    packet->pieces = packet->missing = (uint32_t)leat_net_port_packets(esp->port,
                                                                       len_of(esp, packet));
    packet->serial = esp->serials++;
    if (esp->net->terminal_dead[from])
        leat_net_esp_end_packet(esp, index);
    else
        append(esp, index);
}

void leat_net_esp_send(struct leat_net_esp *esp, const struct leat_net_esp_packet *like,
                       uint32_t from, uint32_t to)
{
    const uint32_t index = esp->is_dead ? LEAT_NET_NONE : take(esp);
    if (index == LEAT_NET_NONE) {
        leat_net_esp_count_down(esp, like->group, like->operation);
        return;
    }
    esp->packet[index] = *like;
    leat_net_esp_send_on(esp, index, from, to);
}

/* All flits of the packet that this terminal sends have left it, or are no longer to be sent. */
static void let_go(struct leat_net_esp *esp, struct leat_net_esp_queue *queue)
{
    const uint32_t index = queue->sending - 1;
    const struct leat_net_esp_packet *packet = &esp->packet[index];
    queue->sending = 0;
    if (packet->is_lost)
        free_if_gone(esp, index);
    else if (packet->from < leat_net_esp_host_count(esp))
        leat_net_esp_all_left(esp, packet);
}

bool leat_net_esp_next(struct leat_net_esp *esp, uint32_t terminal, struct leat_net_packet *out)
{
    struct leat_net_esp_queue *queue = &esp->queue[terminal];
    esp->now = esp->net->now;
    if (queue->sending) {
        const struct leat_net_esp_packet *sent = &esp->packet[queue->sending - 1];
        if (sent->begun == sent->pieces || sent->is_lost) let_go(esp, queue);
    }
    if (!queue->sending) {
        if (!queue->first) return false;
        queue->sending = queue->first;
        queue->first = esp->packet[queue->first - 1].next;
    }
    struct leat_net_esp_packet *packet = &esp->packet[queue->sending - 1];
    uint64_t random = packet->serial;
    *out = (struct leat_net_packet){
        .created_at = esp->net->now,
        .number = ESP_BIT | (packet->serial & ((UINT64_C(1) << SERIAL_BITS) - 1)) << INDEX_BITS |
                  (queue->sending - 1),
        .random = leat_random_splitmix(&random),
        .source = terminal,
        .destination = packet->to,
        .flits = leat_net_port_piece_flits(esp->port, len_of(esp, packet), packet->begun),
    };
    if (!packet->begun) leat_net_esp_show(esp, packet, false);
    packet->begun++;
    packet->in_wires++;
    return true;
}

/* ---- the other end --------------------------------------------------------------------------- */

static void arrive_whole(struct leat_net_esp *esp, uint32_t index)
{
    const struct leat_net_esp_packet *packet = &esp->packet[index];
    const uint32_t hosts = leat_net_esp_host_count(esp);
    struct leat_net_esp_queue *queue = &esp->queue[packet->from];
    if (queue->sending == index + 1) let_go(esp, queue);
    leat_net_esp_show(esp, packet, true);
    if (packet->to >= hosts) {
        leat_net_esp_take_in(esp, packet->to - hosts, index);
        return;
    }
    leat_net_esp_deliver(esp, packet);
    leat_net_esp_end_packet(esp, index);
}

bool leat_net_esp_arrive(struct leat_net_esp *esp, const struct leat_net_arrival *arrival)
{
    if (!(arrival->packet.number & ESP_BIT)) return false;
    const uint32_t index = arrival->packet.number & ((1u << INDEX_BITS) - 1);
    struct leat_net_esp_packet *packet = &esp->packet[index];
    esp->now = esp->net->now;
    packet->in_wires--;
    if (arrival->fate != LEAT_NET_DELIVERED) lose(esp, index);
    if (packet->is_lost)
        free_if_gone(esp, index);
    else if (!--packet->missing)
        arrive_whole(esp, index);
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

void leat_net_esp_lose_unsent(struct leat_net_esp *esp, uint32_t terminal)
{
    struct leat_net_esp_queue *queue = &esp->queue[terminal];
    esp->now = esp->net->now;
    while (queue->first) {
        const uint32_t index = queue->first - 1;
        queue->first = esp->packet[index].next;
        leat_net_esp_end_packet(esp, index);
    }
    if (queue->sending) lose(esp, queue->sending - 1);
}
