#include "poets_external.h"
#include <string.h>

static const char *const refusal_name[] = {
#define X(id, name, text) name,
    LEAT_POETS_REFUSAL_LIST(X)
#undef X
};

static const char *const refusal_text[] = {
#define X(id, name, text) text,
    LEAT_POETS_REFUSAL_LIST(X)
#undef X
};

const char *leat_poets_refusal_name(unsigned refusal)
{
    return refusal < LEAT_POETS_REFUSAL_COUNT ? refusal_name[refusal] : NULL;
}

const char *leat_poets_refusal_text(unsigned refusal)
{
    return refusal < LEAT_POETS_REFUSAL_COUNT ? refusal_text[refusal] : NULL;
}

void leat_poets_externals_refuse(struct leat_poets_externals *externals,
                                 enum leat_poets_refusal refusal,
                                 struct leat_poets_external_event *out)
{
    externals->refused[refusal]++;
    out->kind = LEAT_POETS_EXTERNAL_REFUSED;
    out->refusal = refusal;
}

static size_t text_len(const char *text, size_t most)
{
    size_t len = 0;
    while (len < most && text[len])
        len++;
    return len;
}

/* The external that a SUP packet names: by its payload, or by its sender. `count`: none. */
static uint32_t named(const struct leat_poets_externals *x, const struct leat_poets_packet *packet)
{
    const char *name = (const char *)packet->payload;
    const size_t len = text_len(name, packet->payload_len);
    if (!len) return packet->sender < x->count ? packet->sender : x->count;
    for (uint32_t i = 0; i < x->count; i++)
        if (strlen(x->external[i].name) == len && memcmp(x->external[i].name, name, len) == 0)
            return i;
    return x->count;
}

static void attach(struct leat_poets_externals *x, uint32_t peer,
                   struct leat_poets_external_event *out)
{
    struct leat_poets_external *e = &x->external[out->external];
    if (e->peer != LEAT_POETS_PEER_NONE && e->peer != peer) {
        leat_poets_externals_refuse(x, LEAT_POETS_REFUSED_TAKEN, out);
        return;
    }
    e->attached += e->peer == LEAT_POETS_PEER_NONE;
    e->peer = peer;
    out->kind = LEAT_POETS_EXTERNAL_ATTACHED;
}

static void detach(struct leat_poets_externals *x, uint32_t peer,
                   struct leat_poets_external_event *out)
{
    if (x->external[out->external].peer != peer) {
        leat_poets_externals_refuse(x, LEAT_POETS_REFUSED_FOREIGN, out);
        return;
    }
    x->external[out->external].peer = LEAT_POETS_PEER_NONE;
    out->kind = LEAT_POETS_EXTERNAL_DETACHED;
}

static void on_control(struct leat_poets_externals *x, uint32_t peer,
                       struct leat_poets_external_event *out)
{
    const uint8_t opcode = out->packet.opcode;
    if (opcode != LEAT_POETS_OP_BARRIER && opcode != LEAT_POETS_OP_STOP) {
        leat_poets_externals_refuse(x, LEAT_POETS_REFUSED_CLASS, out);
        return;
    }
    out->external = named(x, &out->packet);
    if (out->external == x->count)
        leat_poets_externals_refuse(x, LEAT_POETS_REFUSED_UNKNOWN, out);
    else if (opcode == LEAT_POETS_OP_BARRIER)
        attach(x, peer, out);
    else
        detach(x, peer, out);
}

/* What is wrong with a packet along an output pin; LEAT_POETS_REFUSAL_COUNT: nothing. */
static enum leat_poets_refusal check_pin(const struct leat_poets_external *e,
                                         const struct leat_poets_packet *p)
{
    if (p->pin >= e->output_count) return LEAT_POETS_REFUSED_PIN;
    if (p->edge) return LEAT_POETS_REFUSED_EDGE;
    const uint32_t len = e->payload_len[p->pin];
    const bool any = len == LEAT_POETS_EXTERNAL_ANY_LEN;
    return any || p->nflit >= leat_poets_nflit(len) ? LEAT_POETS_REFUSAL_COUNT
                                                    : LEAT_POETS_REFUSED_SHORT;
}

static void on_packet(struct leat_poets_externals *x, uint32_t peer,
                      struct leat_poets_external_event *out)
{
    const struct leat_poets_packet *p = &out->packet;
    out->external = p->device;
    if (p->device >= x->count) {
        leat_poets_externals_refuse(x, LEAT_POETS_REFUSED_UNKNOWN, out);
        return;
    }
    struct leat_poets_external *e = &x->external[p->device];
    enum leat_poets_refusal why = check_pin(e, p);
    if (!x->running) why = LEAT_POETS_REFUSED_UNTIMELY;
    if (e->peer != peer) why = LEAT_POETS_REFUSED_FOREIGN;
    if (why != LEAT_POETS_REFUSAL_COUNT) {
        leat_poets_externals_refuse(x, why, out);
        return;
    }
    e->received++;
    out->kind = LEAT_POETS_EXTERNAL_SENT;
}

void leat_poets_externals_receive(struct leat_poets_externals *externals, uint32_t peer,
                                  const uint8_t *frame, size_t len,
                                  struct leat_poets_external_event *out)
{
    const uint8_t *packet;
    size_t packet_len;
    out->external = externals->count;
    if (leat_poets_carriage_get(frame, len, &packet, &packet_len, NULL) ||
        leat_poets_packet_decode(packet, packet_len, &out->packet, NULL))
        leat_poets_externals_refuse(externals, LEAT_POETS_REFUSED_FRAME, out);
    else if (out->packet.task != externals->task)
        leat_poets_externals_refuse(externals, LEAT_POETS_REFUSED_UNKNOWN, out);
    else if (out->packet.packet_class == LEAT_POETS_CLASS_SUP)
        on_control(externals, peer, out);
    else if (out->packet.packet_class == LEAT_POETS_CLASS_EXT)
        on_packet(externals, peer, out);
    else
        leat_poets_externals_refuse(externals, LEAT_POETS_REFUSED_CLASS, out);
}

void leat_poets_externals_leave(struct leat_poets_externals *externals, uint32_t peer)
{
    for (uint32_t i = 0; i < externals->count; i++)
        if (externals->external[i].peer == peer) externals->external[i].peer = LEAT_POETS_PEER_NONE;
}

uint32_t leat_poets_externals_missing(const struct leat_poets_externals *externals)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < externals->count; i++)
        missing += externals->external[i].peer == LEAT_POETS_PEER_NONE;
    return missing;
}

uint32_t leat_poets_externals_attached(const struct leat_poets_externals *externals)
{
    uint32_t attached = 0;
    for (uint32_t i = 0; i < externals->count; i++)
        attached += externals->external[i].peer < LEAT_POETS_PEER_HOST;
    return attached;
}

size_t leat_poets_external_control(uint8_t task, uint8_t opcode, uint32_t number, const char *text,
                                   uint8_t frame[LEAT_POETS_EXTERNAL_FRAME_MAX])
{
    struct leat_poets_packet packet = { .packet_class = LEAT_POETS_CLASS_CTL,
                                        .task = task,
                                        .opcode = opcode,
                                        .device = number & LEAT_POETS_DEVICE_MAX };
    uint8_t octets[LEAT_POETS_PACKET_LEN_MAX];
    size_t len = 0;
    if (text) {
        const size_t said = text_len(text, LEAT_POETS_EXTERNAL_NAME_MAX);
        memcpy(packet.payload, text, said);
        packet.payload_len = (uint16_t)(said + 1);
    }
    leat_poets_packet_encode(&packet, octets, sizeof octets, &len);
    return leat_poets_carriage_put(true, 0, octets, len, frame);
}
