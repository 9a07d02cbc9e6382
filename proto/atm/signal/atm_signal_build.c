#include "atm_signal_build.h"

enum { TRANSFER_CBR = 5, TRANSFER_VBR_RT = 9, TRANSFER_VBR_NRT = 10, TRANSFER_ABR = 12 };
enum { CELLS_MAX = (1 << 24) - 1, QOS_ANY = 0 };

void leat_atm_signal_build(struct leat_atm_signal_builder *b, enum leat_atm_signal_type type,
                           uint32_t call, bool to_originator)
{
    b->message.call = call;
    b->message.to_originator = to_originator;
    b->message.type = (uint8_t)type;
    b->message.instruction = LEAT_ATM_SIGNAL_INSTRUCTION;
    b->message.element_count = 0;
}

leat_err leat_atm_signal_build_carry(struct leat_atm_signal_builder *b,
                                     const struct leat_atm_signal_element *element)
{
    if (b->message.element_count == LEAT_ATM_SIGNAL_ELEMENTS_MAX) return LEAT_ERR_FULL;
    b->message.element[b->message.element_count++] = *element;
    return LEAT_ERR_OK;
}

leat_err leat_atm_signal_build_add(struct leat_atm_signal_builder *b,
                                   const struct leat_atm_signal_content *content)
{
    if (b->message.element_count == LEAT_ATM_SIGNAL_ELEMENTS_MAX) return LEAT_ERR_FULL;
    uint8_t *store = b->store[b->message.element_count];
    struct leat_atm_signal_element e = { .id = content->id,
                                         .instruction = LEAT_ATM_SIGNAL_INSTRUCTION,
                                         .octets = store };
    const leat_err err = leat_atm_signal_content_encode(content, store,
                                                        LEAT_ATM_SIGNAL_CONTENT_LEN_MAX, &e.len);
    return err ? err : leat_atm_signal_build_carry(b, &e);
}

/* ---- contracts into elements ---------------------------------------------------------------- */

static bool put_cells(struct leat_atm_signal_content *c, unsigned field, uint64_t cells)
{
    if (cells > CELLS_MAX) return false;
    leat_atm_signal_content_set(c, field, (uint32_t)cells);
    return true;
}

static uint64_t whole(uint64_t rate)
{
    return (rate + LEAT_ATM_RATE_UNIT - 1) / LEAT_ATM_RATE_UNIT;
}

static bool is_vbr(enum leat_atm_class class)
{
    return class == LEAT_ATM_VBR_RT || class == LEAT_ATM_VBR_NRT;
}

/* The items of one direction; `way` is 0 forward, 1 backward. */
static leat_err put_contract(struct leat_atm_signal_content *c, unsigned way,
                             const struct leat_atm_contract *contract)
{
    if (!contract) {
        leat_atm_signal_content_set(c, LEAT_ATM_SIGNAL_PEAK + way, 0);
        return LEAT_ERR_OK;
    }
    const leat_err err = leat_atm_contract_check(contract);
    if (err) return err;
    const bool any = contract->class == LEAT_ATM_UBR && contract->pcr == 0;
    bool fits = put_cells(c, LEAT_ATM_SIGNAL_PEAK + way, any ? CELLS_MAX : whole(contract->pcr));
    if (is_vbr(contract->class)) {
        fits &= put_cells(c, LEAT_ATM_SIGNAL_SUSTAINABLE + way, whole(contract->scr));
        fits &= put_cells(c, LEAT_ATM_SIGNAL_BURST + way, contract->mbs);
    }
    return fits ? LEAT_ERR_OK : LEAT_ERR_RANGE;
}

static uint32_t qos_of(const struct leat_atm_contract *contract)
{
    if (!contract || contract->clr_e12 == LEAT_ATM_CLR_ONE) return QOS_ANY;
    return (uint32_t)contract->class + 1; /* I.356 leaves the classes to networks: ours */
}

leat_err leat_atm_signal_contract_add(struct leat_atm_signal_builder *b,
                                      const struct leat_atm_contract *forward,
                                      const struct leat_atm_contract *backward, bool multipoint)
{
    static const uint8_t transfers[LEAT_ATM_CLASS_COUNT] = {
        [LEAT_ATM_CBR] = TRANSFER_CBR,
        [LEAT_ATM_VBR_RT] = TRANSFER_VBR_RT,
        [LEAT_ATM_VBR_NRT] = TRANSFER_VBR_NRT,
        [LEAT_ATM_ABR] = TRANSFER_ABR,
    };
    struct leat_atm_signal_content traffic = { .id = LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR },
                                   bearer = { .id = LEAT_ATM_SIGNAL_BEARER_CAPABILITY },
                                   qos = { .id = LEAT_ATM_SIGNAL_QOS };
    if (backward && (backward->class != forward->class || multipoint)) return LEAT_ERR_FIELD;
    leat_err err = put_contract(&traffic, 0, forward);
    if (!err) err = put_contract(&traffic, 1, backward);
    if (err) return err;
    bearer.value[LEAT_ATM_SIGNAL_BEARER_CLASS] = LEAT_ATM_SIGNAL_CLASS_X;
    bearer.value[LEAT_ATM_SIGNAL_BEARER_CONFIGURATION] = multipoint;
    if (forward->class == LEAT_ATM_UBR)
        leat_atm_signal_content_set(&traffic, LEAT_ATM_SIGNAL_BEST_EFFORT, 0);
    else
        leat_atm_signal_content_set(&bearer, LEAT_ATM_SIGNAL_BEARER_TRANSFER,
                                    transfers[forward->class]);
    qos.value[LEAT_ATM_SIGNAL_QOS_FORWARD] = qos_of(forward);
    qos.value[LEAT_ATM_SIGNAL_QOS_BACKWARD] = qos_of(backward);
    err = leat_atm_signal_build_add(b, &traffic);
    if (!err) err = leat_atm_signal_build_add(b, &bearer);
    return err ? err : leat_atm_signal_build_add(b, &qos);
}

/* ---- contracts out of elements -------------------------------------------------------------- */

static leat_err find(const struct leat_atm_signal_message *m, enum leat_atm_signal_id id,
                     struct leat_atm_signal_content *out)
{
    const struct leat_atm_signal_element *e = leat_atm_signal_message_find(m, id);
    return e ? leat_atm_signal_content_decode(e, out) : LEAT_ERR_FIELD;
}

static enum leat_atm_class class_of(const struct leat_atm_signal_content *traffic,
                                    const struct leat_atm_signal_content *bearer)
{
    if (leat_atm_signal_content_has(traffic, LEAT_ATM_SIGNAL_BEST_EFFORT)) return LEAT_ATM_UBR;
    if (leat_atm_signal_content_has(bearer, LEAT_ATM_SIGNAL_BEARER_TRANSFER)) {
        switch (bearer->value[LEAT_ATM_SIGNAL_BEARER_TRANSFER]) {
        case TRANSFER_CBR: return LEAT_ATM_CBR;
        case TRANSFER_VBR_RT: return LEAT_ATM_VBR_RT;
        case TRANSFER_VBR_NRT: return LEAT_ATM_VBR_NRT;
        case TRANSFER_ABR: return LEAT_ATM_ABR;
        default: break;
        }
    }
    const bool varies = leat_atm_signal_content_has(traffic, LEAT_ATM_SIGNAL_SUSTAINABLE) ||
                        leat_atm_signal_content_has(traffic, LEAT_ATM_SIGNAL_SUSTAINABLE_CLP0);
    return varies ? LEAT_ATM_VBR_NRT : LEAT_ATM_CBR;
}

/* The parameter of both classes of CLP, or that of CLP 0 if there is no other. */
static uint64_t cells_of(const struct leat_atm_signal_content *traffic, unsigned both,
                         unsigned clp0)
{
    return traffic->value[leat_atm_signal_content_has(traffic, both) ? both : clp0];
}

static struct leat_atm_contract contract_of(const struct leat_atm_signal_content *traffic,
                                            enum leat_atm_class class, unsigned way, uint32_t qos,
                                            uint64_t cdvt_ps)
{
    struct leat_atm_contract c = { .class = class,
                                   .clr_e12 = qos == QOS_ANY ? LEAT_ATM_CLR_ONE : 0,
                                   .ctd_ps = LEAT_NEVER,
                                   .cdv_ps = LEAT_NEVER };
    c.pcr = LEAT_ATM_RATE_UNIT *
            cells_of(traffic, LEAT_ATM_SIGNAL_PEAK + way, LEAT_ATM_SIGNAL_PEAK_CLP0 + way);
    if (is_vbr(class)) {
        c.scr = LEAT_ATM_RATE_UNIT * cells_of(traffic, LEAT_ATM_SIGNAL_SUSTAINABLE + way,
                                              LEAT_ATM_SIGNAL_SUSTAINABLE_CLP0 + way);
        c.mbs = cells_of(traffic, LEAT_ATM_SIGNAL_BURST + way, LEAT_ATM_SIGNAL_BURST_CLP0 + way);
    }
    if (class <= LEAT_ATM_VBR_NRT) c.cdvt_ps = cdvt_ps;
    return c;
}

leat_err leat_atm_signal_contract_find(const struct leat_atm_signal_message *m, uint64_t cdvt_ps,
                                       struct leat_atm_signal_contract *out)
{
    struct leat_atm_signal_content traffic, bearer, qos;
    struct leat_atm_signal_contract found = { 0 };
    leat_err err = find(m, LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, &traffic);
    if (!err) err = find(m, LEAT_ATM_SIGNAL_BEARER_CAPABILITY, &bearer);
    if (!err) err = find(m, LEAT_ATM_SIGNAL_QOS, &qos);
    if (err) return err;
    found.multipoint = bearer.value[LEAT_ATM_SIGNAL_BEARER_CONFIGURATION] == 1;
    for (unsigned way = 0; way < 2; way++) {
        found.contract[way] = contract_of(&traffic, class_of(&traffic, &bearer), way,
                                          qos.value[LEAT_ATM_SIGNAL_QOS_FORWARD + way], cdvt_ps);
        found.has[way] = found.contract[way].pcr > 0;
        if (!found.has[way]) continue;
        err = leat_atm_contract_check(&found.contract[way]);
        if (err) return err;
    }
    if (!found.has[0] && !found.has[1]) return LEAT_ERR_FIELD;
    if (found.multipoint && found.has[1]) return LEAT_ERR_FIELD;
    *out = found;
    return LEAT_ERR_OK;
}
