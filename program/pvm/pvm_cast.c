/* A message to several tasks: by a cast of the network, if the run says so, or one copy after the
 * other. And the report of all collective calls. */
#include "pvm_library.h"

/* Slots of the receivers, and the number of messages by which hosts send it. */
static int put_receivers(struct leat_pvm_octets *q, const struct leat_pvm_buffer *buffer,
                         const int *tids, int count)
{
    const size_t len = leat_pvm_buffer_len(buffer);
    const int pieces = len ? (int)((len - 1) / LEAT_PVM_PIECE_LEN + 1) : 1;
    int receivers = 0;
    for (int i = 0; i < count; i++)
        receivers += tids[i] != leat_pvm_self.tid && leat_pvm_is_reachable(tids[i]);
    leat_pvm_put_i32(q, receivers * pieces);
    leat_pvm_put_i32(q, receivers);
    for (int i = 0; i < count; i++)
        if (tids[i] != leat_pvm_self.tid && leat_pvm_is_reachable(tids[i]))
            leat_pvm_put_i32(q, (int)leat_pvm_slot_of(tids[i]));
    return receivers;
}

/* 0: the network carries it out. Otherwise the number of the multicast that the caller is to send;
 * or an error. */
static int hand_over(const char *call, const struct leat_pvm_buffer *buffer, const int *tids,
                     int count, int tag)
{
    struct leat_pvm_octets q = { 0 };
    const size_t len = leat_pvm_buffer_len(buffer);
    int result = PvmOk;
    leat_pvm_put_text(&q, call);
    leat_pvm_put_i32(&q, (int)len);
    const int receivers = put_receivers(&q, buffer, tids, count);
    if (LEAT_PVM_PIECE_HEAD + len <= leat_pvm_self.cast_len) {
        uint8_t *room = leat_pvm_octets_extend(&q, LEAT_PVM_PIECE_HEAD + len);
        if (room) leat_pvm_put_head(room, buffer, 0, tag);
        if (room) leat_pvm_buffer_copy(buffer, 0, room + LEAT_PVM_PIECE_HEAD, len);
    }
    if (receivers) result = leat_pvm_hand_over(LEAT_PVM_CAST, &q, call);
    if (receivers && !result) leat_task_spend_overhead();
    leat_pvm_octets_free(&q);
    return result;
}

int leat_pvm_transfer_to_many(const char *call, struct leat_pvm_buffer *buffer, const int *tids,
                              int count, int tag)
{
    int result = PvmOk;
    if (leat_pvm_self.collectives != LEAT_PVM_BY_HOSTS) {
        const int cast = hand_over(call, buffer, tids, count, tag);
        if (cast <= 0) return cast;
        leat_task_set_cast((uint32_t)cast);
    }
    for (int i = 0; i < count && result >= 0; i++)
        if (tids[i] != leat_pvm_self.tid) result = leat_pvm_transfer(buffer, tids[i], tag);
    leat_task_set_cast(0);
    return result;
}

leat_time leat_pvm_count_from(void)
{
    return leat_pvm_enrol() < 0 ? 0 : leat_task_now();
}

void leat_pvm_count(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                    leat_time from)
{
    if (leat_pvm_self.collectives == LEAT_PVM_BY_HOSTS || !leat_pvm_self.is_enrolled) return;
    if (carrier == LEAT_COLLECT_BY_NETWORK && octets) leat_task_spend_overhead();
    leat_task_count_collective(call, carrier, octets, leat_task_now() - from);
}
