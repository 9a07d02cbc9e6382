/*
 * What a task sends to several. Its query:
 *
 *     call (text) | octets of the program | messages, if hosts send it | receivers | slot of each
 *     (32 bits each) | the message, unless it is longer than the network takes
 */
#include "pvm_service_parts.h"
#include <stdlib.h>

int leat_pvm_on_cast(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_octets *q = &entry->question;
    struct leat_hub_multicast m = { .task = leat_pvm_slot(service, entry) };
    m.call = leat_pvm_get_text(q);
    m.octets = (uint32_t)leat_pvm_get_i32(q);
    const int messages = leat_pvm_get_i32(q), receivers = leat_pvm_get_i32(q);
    if (q->failed || receivers < 1 || (size_t)receivers > (q->len - q->read_at) / 4 ||
        service->config.collectives == LEAT_PVM_BY_HOSTS)
        return PvmBadParam;
    uint32_t *to = leat_child_grown(NULL, (size_t)receivers, sizeof *to);
    bool is_good = messages >= receivers;
    for (int i = 0; i < receivers; i++) {
        to[i] = (uint32_t)leat_pvm_get_i32(q);
        is_good &= to[i] < service->config.slots;
    }
    m.to = to;
    m.receivers = (uint32_t)receivers;
    m.len = q->len - q->read_at;
    m.message = m.len ? q->at + q->read_at : NULL;
    enum leat_collect_carrier carrier = LEAT_COLLECT_CHOSEN;
    int result = is_good ? 0 : PvmBadParam;
    if (is_good && service->config.collectives == LEAT_PVM_BY_NETWORK)
        carrier = leat_hub_multicast(service->hub, &m, service->at);
    if (is_good && carrier != LEAT_COLLECT_BY_NETWORK)
        result = (int)leat_hub_multicast_by_hosts(service->hub, &m, carrier, (uint32_t)messages,
                                                  service->at);
    free(to);
    return result;
}
