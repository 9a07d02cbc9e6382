/*
 * The AAL unit a second time, only for the test: from note 5, as plainly as possible. Every
 * controller is stepped in every cycle in the order of note 5.1, every timer is decremented in
 * every cycle, lists are arrays, and every search starts at the beginning.
 *
 * In one cycle: `ogsuspend` is set if the network refuses, model_step, model_receive if the last
 * octet of a cell arrives, then the host's commands.
 *
 * Where the note is silent, both have made the same choices:
 * - STATE7 chooses its next cell in the cycle of a join, a cycle before that service ends; what it
 *   looks for (place of an acknowledgement, "already holds a block") it looks for then.
 * - A copy of a parked cell is a duplicate. A cell without a begin is released when it is its turn.
 * - A block is discarded in the cycle in which its timer expires; an acknowledgement after that
 *   changes nothing. An acknowledged block is never discarded.
 * - A walk passes blocks that are being written only while nomem is raised.
 * - A writer that waits for a block continues when one is free and no reader has the unit.
 * - An exit discards the pending commands after it, and so does a denied request.
 * - With resync (README): a RESYNC waits while a cell before its number may still be acknowledged;
 *   of several that are due that of the lowest stream goes first; those of groups come last.
 * - A message is obsolete in the cycle in which its timer is 0, before STATE8 looks; if it is being
 *   read then, or was never served, it is discarded when the reading ends.
 */
#ifndef LEAT_ATM_AAL_UNIT_MODEL_TEST_H
#define LEAT_ATM_AAL_UNIT_MODEL_TEST_H

#include "atm_aal_unit_model_receive_test.h"
#include "atm_aal_unit_model_send_test.h"

/* STATE9 */

/* A message's timer continues below 0, which shows how long it has been obsolete. */
static inline void model_state9(struct model *m, uint64_t now)
{
    for (uint16_t i = 0; i < m->config.send_blocks; i++) {
        struct model_send_block *b = &m->send[i];
        const bool runs_out = b->blktime == 1;
        b->blktime -= b->blktime > 0;
        if (!runs_out || !b->acknum || b->ogblktofr ||
            b->transmissions < m->config.transmissions_max)
            continue;
        model_give_up(m, i, now);
    }
    model_ask_resync(m, now);
    for (unsigned i = 0; i < m->config.receive_blocks; i++)
        if (m->message[i].used && m->message[i].complete) m->message[i].timeout--;
}

static inline void model_command(struct model *m, const struct leat_atm_aal_command *c,
                                 uint64_t now)
{
    const bool reads = c->verb == LEAT_ATM_AAL_RECEIVE || c->verb == LEAT_ATM_AAL_GET;
    struct model_host *h = reads ? &m->read : &m->write;
    assert(h->waiting_count < MODEL_COMMANDS);
    h->waiting[h->waiting_count] = *c;
    h->issued_at[h->waiting_count++] = now;
}

/* Multicast groups: nothing of this one is under way, neither out nor in. */
static inline bool model_group_is_quiet(const struct model *m, unsigned group)
{
    const unsigned stream = 2 + group;
    for (unsigned i = 0; i < m->og.busy.count; i++) {
        const struct model_send_block *b = &m->send[m->og.busy.item[i]];
        if (b->blktime >= 0 && model_stream_to(b->dst) == stream) return false;
    }
    for (unsigned i = 0; i < m->ic.busy.count; i++) {
        const uint16_t block = m->ic.busy.item[i];
        const struct model_cell c = model_cell_read(m->receive[block].cell);
        bool is_complete = false;
        for (unsigned k = 0; k < m->config.receive_blocks; k++) {
            const struct model_message *g = &m->message[k];
            is_complete |= g->used && g->complete &&
                           model_list_find(&g->blocks, block) < g->blocks.count;
        }
        if (model_stream(&c) == stream && !is_complete) return false;
    }
    for (unsigned port = 0; port < m->config.ports; port++)
        if (m->gap[port][stream].open || m->skips[port][stream]) return false;
    return true;
}

/* Note 5.1: the order of the controllers. STATE6 is model_receive. */
static inline void model_step(struct model *m, uint64_t now)
{
    model_state5(m, now);
    m->ogsuspend = false;
    model_state2(m);
    model_state1(m);
    model_state9(m, now);
    model_state10(m); /* discards in the cycle whose timer is 0, so it runs after STATE9 */
    model_state8(m, now);
    model_state7(m, now);
    model_write(m, now);
    model_read(m, now);
}

#endif
