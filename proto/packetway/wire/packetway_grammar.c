#include "packetway_grammar.h"
#include <assert.h>

/* A cursor with a current record. */
struct reader {
    struct leat_packetway_records rest;
    struct leat_packetway_record now;
    bool more;            /* is there a current record? */
    const uint8_t *fault; /* position of the current record, or of the end */
};

static void advance(struct reader *r)
{
    r->more = leat_packetway_records_next(&r->rest, &r->now);
    r->fault = r->more ? r->now.octets : r->rest.end;
}

static struct reader reader_of(struct leat_packetway_records records)
{
    struct reader r = { .rest = records };
    advance(&r);
    return r;
}

static bool sees(const struct reader *r, enum leat_packetway_rtyp type)
{
    return r->more && r->now.type == type;
}

/* Consumes the current record if it is of this type. */
static bool take(struct reader *r, enum leat_packetway_rtyp type)
{
    const bool seen = sees(r, type);
    if (seen) advance(r);
    return seen;
}

/* Consumes the current record if those nested under it are right. */
static leat_err leave(struct reader *r, const struct reader *inner, leat_err err)
{
    if (err)
        r->fault = inner->fault;
    else
        advance(r);
    return err;
}

/* No record is left: all of WRU? and GVRT. */
static leat_err at_end(struct reader *r)
{
    return r->more ? LEAT_ERR_PACKETWAY_MSG : LEAT_ERR_OK;
}

static bool is_lenient(const struct reader *r)
{
    return r->rest.mode == LEAT_PACKETWAY_LENIENT;
}

/* ---- parts ---- */

/* Is the current record an ADDR for one node, physical? */
static leat_err one_node(const struct reader *r)
{
    if (!sees(r, LEAT_PACKETWAY_RTYP_ADDR)) return LEAT_ERR_PACKETWAY_MSG;
    const struct leat_packetway_address a = leat_packetway_record_address(&r->now);
    if (a.at != LEAT_PACKETWAY_AT_SINGLE) return LEAT_ERR_PACKETWAY_AT;
    return leat_packetway_address_is_node(a.low) ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_ADDR;
}

/* Consumes an ADDR with nothing nested. */
static leat_err bare_address(struct reader *r)
{
    if (!sees(r, LEAT_PACKETWAY_RTYP_ADDR)) return LEAT_ERR_PACKETWAY_MSG;
    const struct leat_packetway_records nested = leat_packetway_record_nested(&r->now);
    if (leat_packetway_records_count(&nested)) return LEAT_ERR_PACKETWAY_MSG;
    advance(r);
    return LEAT_ERR_OK;
}

static leat_err bare_node(struct reader *r)
{
    const leat_err err = one_node(r);
    return err ? err : bare_address(r);
}

static bool route_is_empty(const struct leat_packetway_record *srqr)
{
    const struct leat_packetway_route route = leat_packetway_record_route(srqr);
    return route.at == route.end;
}

/*
 * The records nested under the ADDR of INFO and RTBL come in the order of this enum; lenient INFO
 * accepts any order.
 */
enum rank { RANK_NAME, RANK_CAPA, RANK_LADR, RANK_ROUTE, RANK_NONE };

static enum rank rank_of(enum leat_packetway_rtyp type)
{
    switch (type) {
    case LEAT_PACKETWAY_RTYP_NAME: return RANK_NAME;
    case LEAT_PACKETWAY_RTYP_CAPA: return RANK_CAPA;
    case LEAT_PACKETWAY_RTYP_LADR: return RANK_LADR;
    case LEAT_PACKETWAY_RTYP_SRQR: return RANK_ROUTE;
    case LEAT_PACKETWAY_RTYP_ADDR:
    case LEAT_PACKETWAY_RTYP_MTUR:
    case LEAT_PACKETWAY_RTYP_RCVF:
    case LEAT_PACKETWAY_RTYP_RTHD:
    case LEAT_PACKETWAY_RTYP_SNID: break;
    }
    return RANK_NONE;
}

static leat_err node_content(struct reader *r, bool any_order, bool range, bool route_needed)
{
    unsigned seen[RANK_NONE] = { 0 };
    enum rank last = RANK_NAME;
    while (r->more) {
        const enum rank rank = rank_of(r->now.type);
        if (rank == RANK_NONE || (rank < last && !any_order)) return LEAT_ERR_PACKETWAY_MSG;
        if (rank == RANK_NAME && range) return LEAT_ERR_PACKETWAY_MSG;
        if (seen[rank]++ && (rank == RANK_NAME || rank == RANK_LADR)) return LEAT_ERR_PACKETWAY_MSG;
        last = rank;
        advance(r);
        if (rank == RANK_ROUTE) take(r, LEAT_PACKETWAY_RTYP_MTUR);
    }
    return route_needed && !seen[RANK_ROUTE] ? LEAT_ERR_PACKETWAY_MSG : LEAT_ERR_OK;
}

/* Consumes an ADDR{..} that describes a node or a range of nodes. */
static leat_err node(struct reader *r, bool any_order, bool route_needed)
{
    if (!sees(r, LEAT_PACKETWAY_RTYP_ADDR)) return LEAT_ERR_PACKETWAY_MSG;
    const struct leat_packetway_address a = leat_packetway_record_address(&r->now);
    struct reader inner = reader_of(leat_packetway_record_nested(&r->now));
    const bool range = a.at != LEAT_PACKETWAY_AT_SINGLE;
    return leave(r, &inner, node_content(&inner, any_order, range, route_needed));
}

/* ---- messages ---- */

/* GVL2, HRTO */
static leat_err question(struct reader *r)
{
    const leat_err err = bare_node(r);
    return err ? err : at_end(r);
}

static leat_err routes(struct reader *r)
{
    do {
        if (!sees(r, LEAT_PACKETWAY_RTYP_SRQR)) return LEAT_ERR_PACKETWAY_MSG;
        if (route_is_empty(&r->now)) return LEAT_ERR_PACKETWAY_SR;
        advance(r);
        take(r, LEAT_PACKETWAY_RTYP_MTUR);
    } while (r->more);
    return LEAT_ERR_OK;
}

static leat_err l2sr(struct reader *r)
{
    leat_err err = one_node(r);
    if (err) return err;
    struct reader inner = reader_of(leat_packetway_record_nested(&r->now));
    err = leave(r, &inner, routes(&inner));
    return err ? err : at_end(r);
}

static leat_err rdrc(struct reader *r)
{
    leat_err err = bare_address(r);
    if (!err) err = bare_node(r);
    return err ? err : at_end(r);
}

/* HRDOWN, LINKDOWN */
static leat_err two_nodes(struct reader *r)
{
    leat_err err = bare_node(r);
    if (!err) err = bare_node(r);
    return err ? err : at_end(r);
}

static leat_err info(struct reader *r)
{
    leat_err err;
    do {
        err = node(r, is_lenient(r), false);
    } while (!err && r->more);
    return err;
}

/* TELL, UNK */
static leat_err wanted(struct reader *r)
{
    leat_err err;
    do {
        const bool leaf = take(r, LEAT_PACKETWAY_RTYP_NAME) || take(r, LEAT_PACKETWAY_RTYP_CAPA);
        err = leaf ? LEAT_ERR_OK : bare_address(r);
    } while (!err && r->more);
    return err;
}

/* The errata (spec 8, row 15) put RCVF after MTUR; lenient reading accepts it there too. */
static bool table_begins(struct reader *r)
{
    if (!take(r, LEAT_PACKETWAY_RTYP_SNID)) return false;
    const bool early = take(r, LEAT_PACKETWAY_RTYP_RCVF);
    if (!early && !is_lenient(r)) return false;
    if (!take(r, LEAT_PACKETWAY_RTYP_SRQR) || !take(r, LEAT_PACKETWAY_RTYP_MTUR)) return false;
    return early || take(r, LEAT_PACKETWAY_RTYP_RCVF);
}

static leat_err table(struct reader *r)
{
    leat_err err = table_begins(r) ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_MSG;
    while (!err && r->more)
        err = node(r, false, true);
    return err;
}

static leat_err rtbl(struct reader *r)
{
    if (!sees(r, LEAT_PACKETWAY_RTYP_RTHD)) return LEAT_ERR_PACKETWAY_MSG;
    struct reader inner = reader_of(leat_packetway_record_nested(&r->now));
    const leat_err err = leave(r, &inner, table(&inner));
    return err ? err : at_end(r);
}

/* ---- the list ---- */

#define WANTED "1*( ADDR / NAME / CAPA ), nothing nested"
#define NODE   "[NAME] *CAPA [LADR] "

struct grammar {
    uint16_t pt, te;
    leat_err (*read)(struct reader *r); /* NULL: a quoted message instead of records */
    const char *text;
};

static const struct grammar grammars[] = {
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_GVL2, question, "one ADDR, single and physical" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_L2SR, l2sr,
      "ADDR{ 1*( SRQR [MTUR] ) }, single and physical, no SRQR empty" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_RDRC, rdrc,
      "ADDR ADDR, the second single and physical" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_TELL, wanted, WANTED },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO, info,
      "1*( ADDR{ " NODE "*( SRQR [MTUR] ) } )" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_HRTO, question, "one ADDR, single and physical" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_WRU, at_end, "no records" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_GVRT, at_end, "no records" },
    { LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_RTBL, rtbl,
      "RTHD{ SNID RCVF SRQR MTUR *( ADDR{ " NODE "1*( SRQR [MTUR] ) } ) }" },
    { LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_UNK, wanted, WANTED },
    { LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_HRDOWN, two_nodes,
      "ADDR ADDR, both single and physical" },
    { LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_LINKDOWN, two_nodes,
      "ADDR ADDR, both single and physical" },
    { LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_GENERAL, NULL,
      "a quoted message of at least 16 octets" },
};

static const struct grammar *find(uint16_t pt, uint16_t te)
{
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++)
        if (grammars[i].pt == pt && grammars[i].te == te) return &grammars[i];
    return NULL;
}

bool leat_packetway_grammar_exists(uint16_t pt, uint16_t te)
{
    return find(pt, te) != NULL;
}

bool leat_packetway_grammar_has_records(uint16_t pt, uint16_t te)
{
    const struct grammar *g = find(pt, te);
    return g && g->read;
}

const char *leat_packetway_grammar_text(uint16_t pt, uint16_t te)
{
    const struct grammar *g = find(pt, te);
    return g ? g->text : "";
}

leat_err leat_packetway_grammar_check(uint16_t pt, uint16_t te, const uint8_t *db, size_t len,
                                      enum leat_packetway_mode mode, size_t *fault_at)
{
    const struct grammar *g = find(pt, te);
    assert(len % LEAT_PACKETWAY_WORD_LEN == 0);
    if (fault_at) *fault_at = 0;
    if (!g) return LEAT_ERR_PACKETWAY_TE;
    if (!g->read) return len < LEAT_PACKETWAY_HEADER_LEN ? LEAT_ERR_PACKETWAY_MSG : LEAT_ERR_OK;

    leat_err err = leat_packetway_records_check(db, len, mode, fault_at);
    if (err) return err;
    struct reader r = reader_of(leat_packetway_records_of(db, len, mode));
    err = g->read(&r);
    if (err && fault_at) *fault_at = (size_t)(r.fault - db);
    return err;
}
