/*
 * A plain model of PPD, SPD and BMX for the tests: the rules of spec/atm.md, 4.1 to 4.6, phase by
 * phase, with every register separate and without optimisation.
 */
#ifndef LEAT_ATM_SWITCH_MODEL_TEST_H
#define LEAT_ATM_SWITCH_MODEL_TEST_H

#include "atm_bmx.h"
#include "tap.h"
#include <string.h>

enum { MODEL_PORTS = 64, MODEL_CAPACITY = 53 * 16 };

struct model_xpm {
    int head, tail, size;
    uint8_t mem[MODEL_CAPACITY];
};

struct model_ppd {
    uint8_t header[4], pipe[5], translated[MODEL_PORTS][4];
    bool header_ind[4], pipe_ind[5], translated_ind[4];
    bool unknown, select[MODEL_PORTS];
    int count;
    bool suspend;
    uint64_t dropped, refused;
};

struct model_spd {
    uint8_t buf, byte;
    bool bufind, byteind, trsmit;
    int siqnum, lsthead, iqcnt[MODEL_PORTS];
};

struct model {
    int inputs, outputs, capacity, h;
    /* The label's translation: a VPOUT or a label per output. False: no entry. */
    bool (*look_up)(int input, uint32_t label, bool *select, uint32_t *labels);
    struct model_ppd ppd[MODEL_PORTS];
    struct model_spd spd[MODEL_PORTS];
    struct model_xpm xpm[MODEL_PORTS][MODEL_PORTS];
};

static inline void model_push(const struct model *m, struct model_xpm *x, uint8_t byte)
{
    x->mem[x->tail] = byte;
    x->tail = (x->tail + 1) % m->capacity;
    x->size++;
}

static inline bool model_forward(struct model *m, int input)
{
    struct model_ppd *p = &m->ppd[input];
    bool full = false;
    p->dropped += p->translated_ind[0] && p->unknown;
    for (int u = 0; u < m->outputs; u++)
        full |= p->select[u] && m->xpm[input][u].size >= m->capacity - (m->h + 3);
    if (p->translated_ind[0] && full) {
        memset(p->select, 0, sizeof p->select);
        p->refused++;
        return true;
    }
    for (int u = 0; u < m->outputs; u++) {
        if (!p->select[u]) continue;
        if (p->pipe_ind[m->h]) {
            model_push(m, &m->xpm[input][u], p->pipe[m->h]);
            continue;
        }
        for (int k = 0; k < m->h; k++) {
            if (!p->translated_ind[k]) continue;
            model_push(m, &m->xpm[input][u], p->translated[u][k]);
            break;
        }
    }
    return false;
}

static inline void model_translate(struct model *m, int input)
{
    struct model_ppd *p = &m->ppd[input];
    uint32_t word = 0, labels[MODEL_PORTS] = { 0 };
    bool select[MODEL_PORTS] = { false };
    for (int k = 0; k < m->h; k++)
        word = word * 256 + p->header[k];
    p->unknown = !m->look_up(input, word / 16, select, labels);
    if (p->unknown) {
        memset(select, 0, sizeof select);
        memset(labels, 0, sizeof labels);
    }
    for (int u = 0; u < m->outputs; u++) {
        uint32_t w = labels[u] * 16 + word % 16;
        for (int k = m->h - 1; k >= 0; k--, w /= 256)
            p->translated[u][k] = (uint8_t)(w % 256);
        p->select[u] = select[u];
    }
}

static inline void model_ppd_step(struct model *m, int input, uint8_t byte, bool byteind)
{
    struct model_ppd *p = &m->ppd[input];
    const bool r = model_forward(m, input);
    if (p->header_ind[m->h - 1]) model_translate(m, input);
    for (int k = m->h - 1; k > 0; k--)
        p->translated_ind[k] = k == 1 && r ? false : p->translated_ind[k - 1];
    p->translated_ind[0] = p->header_ind[m->h - 1];
    for (int k = m->h; k > 0; k--) {
        p->pipe[k] = p->pipe[k - 1];
        p->pipe_ind[k] = k == 1 && (r || p->suspend) ? false : p->pipe_ind[k - 1];
    }
    memset(p->header_ind, 0, sizeof p->header_ind);
    p->pipe_ind[0] = false;
    if (byteind && p->count < m->h) {
        p->header[p->count] = byte;
        p->header_ind[p->count++] = true;
    } else if (byteind && p->suspend) {
        p->count = 0;
    } else if (byteind) {
        p->pipe[0] = byte;
        p->pipe_ind[0] = true;
        p->count = (p->count + 1) % 53;
    }
    p->suspend = r;
}

static inline void model_spd_step(struct model *m, int output, bool suspend)
{
    struct model_spd *s = &m->spd[output];
    struct model_xpm *x = &m->xpm[s->siqnum][output];
    s->byte = s->buf;
    s->byteind = s->bufind;
    if (suspend) {
        x->head = s->lsthead;
        x->size += m->h + 3;
        s->iqcnt[s->siqnum] = 0;
        s->trsmit = false;
    }
    s->bufind = false;
    if (s->trsmit) {
        s->buf = x->mem[x->head];
        s->bufind = true;
        if (s->iqcnt[s->siqnum] == 0) s->lsthead = x->head;
        x->head = (x->head + 1) % m->capacity;
        x->size--;
        if (s->iqcnt[s->siqnum] == 52) s->trsmit = false;
        s->iqcnt[s->siqnum] = (s->iqcnt[s->siqnum] + 1) % 53;
    }
    for (int i = 1; i <= m->inputs && !s->trsmit; i++) {
        const int candidate = (s->siqnum + i) % m->inputs;
        if (m->xpm[candidate][output].size == 0) continue;
        s->siqnum = candidate;
        s->trsmit = true;
        break;
    }
}

/* ---- the engine's registers, one group of valid bits each ---------------------------------- */

static inline unsigned held_of(const struct leat_atm_ppd *e)
{
    return e->valid >> LEAT_ATM_VALID_HELD & ((1u << e->header_len) - 1);
}

static inline unsigned ready_of(const struct leat_atm_ppd *e)
{
    return e->valid >> leat_atm_valid_ready(e->header_len) & ((1u << e->header_len) - 1);
}

static inline unsigned piped_of(const struct leat_atm_ppd *e)
{
    return e->valid >> LEAT_ATM_VALID_PIPE & ((2u << e->header_len) - 1);
}

/* All registers; octets of `pipe` beyond its stages do not count. */
static inline bool same_ppd(struct leat_atm_ppd a, struct leat_atm_ppd b)
{
    const uint64_t stages = UINT64_MAX >> (56 - 8 * a.header_len);
    a.pipe &= stages;
    b.pipe &= stages;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- and against the model's -------------------------------------------- */

static inline bool model_ppd_agrees(const struct model *m, int input, const struct leat_atm_ppd *e)
{
    const struct model_ppd *p = &m->ppd[input];
    bool same = p->count == e->count && p->suspend == e->suspend && p->dropped == e->dropped &&
                p->refused == e->refused;
    for (int k = 0; k < m->h; k++) {
        same &= p->header[k] == e->header[k] && p->header_ind[k] == (held_of(e) >> k & 1);
        same &= p->translated_ind[k] == (ready_of(e) >> k & 1);
        for (int u = 0; u < m->outputs; u++) /* VC: all outputs have one label */
            same &= p->translated[u][k] == e->translated[(m->h == 2 ? 2 * u : 0) + k];
    }
    for (int k = 0; k <= m->h; k++)
        same &= p->pipe[k] == (e->pipe >> 8 * k & 0xff) && p->pipe_ind[k] == (piped_of(e) >> k & 1);
    for (int u = 0; u < m->outputs; u++)
        same &= p->select[u] == (e->select >> u & 1);
    return same;
}

static inline bool model_spd_agrees(const struct model *m, int output, const struct leat_atm_spd *e)
{
    const struct model_spd *s = &m->spd[output];
    bool same = s->buf == e->buf && s->byte == e->byte && s->bufind == e->bufind &&
                s->byteind == e->byteind && s->trsmit == e->trsmit && s->siqnum == e->siqnum &&
                s->lsthead == e->lsthead;
    for (int i = 0; i < m->inputs; i++)
        same &= s->iqcnt[i] == (int)leat_atm_spd_iqcnt(e, (unsigned)i);
    return same;
}

static inline bool model_xpms_agree(const struct model *m, const struct leat_atm_matrix *e)
{
    bool same = true;
    for (int i = 0; i < m->inputs; i++)
        for (int o = 0; o < m->outputs; o++) {
            const struct model_xpm *x = &m->xpm[i][o];
            const struct leat_atm_xpm *y = leat_atm_xpm_at(e, (unsigned)i, (unsigned)o);
            same &= x->head == y->head && x->tail == y->tail && x->size == y->size;
            same &= (x->size != 0) == (e->waiting[o] >> i & 1);
            same &= x->mem[(x->tail + m->capacity - 1) % m->capacity] ==
                    y->mem[leat_atm_xpm_last_at(e, (unsigned)i, (unsigned)o)];
        }
    return same;
}

static inline bool model_agrees(const struct model *m, const struct leat_atm_bmx *e)
{
    bool same = model_xpms_agree(m, &e->matrix);
    for (int i = 0; i < m->inputs; i++)
        same &= model_ppd_agrees(m, i, &e->ppd[i]);
    for (int o = 0; o < m->outputs; o++)
        same &= model_spd_agrees(m, o, &e->spd[o]);
    return same;
}

#endif
