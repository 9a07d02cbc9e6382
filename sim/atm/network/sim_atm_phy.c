#include "sim_atm_phy.h"
#include "sim_draw.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    HEADER_LEN = LEAT_ATM_HEADER_LEN,
    VCI_MIN = 32,
    TYPE_AT = 3, /* the octet with payload type and CLP in its lower half */
    CHUNK_BITS = LEAT_SIM_ATM_PHY_CHUNK_BITS,
    CHUNK_LEN = (1 << CHUNK_BITS) / 8 - 1,
};

void leat_sim_atm_phy_lay(struct leat_sim_atm_phy *phy, uint32_t lines, struct leat_arena *arena)
{
    phy->lines = lines;
    phy->line = leat_arena_lay(arena, lines, sizeof *phy->line);
}

void leat_sim_atm_phy_init(struct leat_sim_atm_phy *phy, const struct leat_atm_line *line,
                           uint64_t seed)
{
    phy->seed = seed;
    leat_atm_trunk_init(&phy->ready, line);
}

/* ---- bit errors ------------------------------------------------------------------------------ */

struct damage {
    struct leat_sim_atm_phy_line *line;
    uint64_t *bits;
};

/* How many of `left` bits, at most 2^CHUNK_BITS - 1, come before an error? One draw. */
static uint32_t draw_sound_run(struct leat_sim_atm_phy_line *line, uint32_t left)
{
    const uint64_t draw = leat_random_next(&line->random);
    uint64_t sound = UINT64_MAX;
    uint32_t run = 0;
    for (int i = CHUNK_BITS - 1; i >= 0; i--) {
        const uint64_t longer = leat_sim_fixed_multiply(sound, line->sound[i]);
        if (run + (UINT32_C(1) << i) > left || draw >= longer) continue;
        sound = longer;
        run += UINT32_C(1) << i;
    }
    return run;
}

static void damage_chunk(struct damage *d, uint8_t *octets, uint32_t bits)
{
    for (uint32_t at = 0; (at += draw_sound_run(d->line, bits - at)) < bits; at++) {
        octets[at / 8] ^= (uint8_t)(0x80 >> at % 8);
        ++*d->bits;
    }
}

static void damage(void *context, uint8_t *octets, size_t len)
{
    for (size_t done = 0, n; done < len; done += n) {
        n = len - done < CHUNK_LEN ? len - done : CHUNK_LEN;
        damage_chunk(context, octets + done, (uint32_t)(8 * n));
    }
}

static void set_errors(struct leat_sim_atm_phy_line *line, uint64_t errors)
{
    if (errors == line->errors) return;
    line->errors = errors;
    line->sound[0] = UINT64_MAX - errors;
    for (int i = 1; i < CHUNK_BITS; i++)
        line->sound[i] = leat_sim_fixed_multiply(line->sound[i - 1], line->sound[i - 1]);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void step(struct leat_sim_atm_phy *phy, struct leat_sim_atm_phy_line *line,
                 const uint8_t *cell, struct leat_atm_trunk_out *out)
{
    struct damage d = { line, &phy->counts.bits };
    const struct leat_atm_trunk_errors errors = { &d, damage };
    leat_atm_trunk_step(&line->trunk, cell, line->errors ? &errors : NULL, out);
    line->slot++;
    line->calm = line->errors ? 0 : line->calm + 1;
    phy->counts.strays += out->strays;
    phy->counts.lost_bounds += out->losses;
}

static void begin(struct leat_sim_atm_phy *phy, uint32_t number, uint64_t slot)
{
    const uint64_t lines_from = UINT64_C(1) << 33; /* lower entities are others' */
    struct leat_sim_atm_phy_line *line = &phy->line[number];
    if (!line->seeded) leat_random_seed_entity(&line->random, phy->seed, lines_from + number);
    line->seeded = true;
    leat_atm_trunk_copy(&line->trunk, &phy->ready);
    line->begun = true;
    line->slot = slot;
    line->calm = 0;
}

/* Empty slots up to this one. */
static void catch_up(struct leat_sim_atm_phy *phy, struct leat_sim_atm_phy_line *line,
                     uint64_t slot)
{
    struct leat_atm_trunk_out out;
    if (slot - line->slot > LEAT_SIM_ATM_PHY_SILENCE)
        line->slot += leat_atm_trunk_skip(&line->trunk,
                                          slot - line->slot - LEAT_SIM_ATM_PHY_SILENCE);
    while (line->slot < slot)
        step(phy, line, NULL, &out);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_header(uint8_t *header, uint32_t number, uint8_t type)
{
    const uint32_t vci = VCI_MIN + number;
    header[0] = (uint8_t)(vci >> 24 & 0xf); /* VPI bits, for large numbers */
    header[1] = (uint8_t)(vci >> 16 << 4 | (vci >> 12 & 0xf));
    header[2] = (uint8_t)(vci >> 4);
    header[TYPE_AT] = (uint8_t)(vci << 4 | (type & 0xf));
}

/* What has arrived, in place of what was sent. False: it has another label. */
static bool take(struct leat_sim_atm_phy *phy, const uint8_t *sent, const uint8_t *got,
                 uint8_t *cell)
{
    if (memcmp(sent, got, TYPE_AT) != 0 || (sent[TYPE_AT] ^ got[TYPE_AT]) >> 4) {
        phy->counts.misrouted++;
        return false;
    }
    phy->counts.altered += memcmp(cell + HEADER_LEN, got + HEADER_LEN, CELL_LEN - HEADER_LEN) != 0;
    cell[TYPE_AT] = (uint8_t)((cell[TYPE_AT] & 0xf0) | (got[TYPE_AT] & 0xf));
    memcpy(cell + HEADER_LEN, got + HEADER_LEN, CELL_LEN - HEADER_LEN);
    return true;
}

bool leat_sim_atm_phy_carry(struct leat_sim_atm_phy *phy, uint32_t number, uint64_t slot,
                            uint64_t errors, uint32_t label, uint8_t *cell)
{
    struct leat_sim_atm_phy_line *line = &phy->line[number];
    struct leat_atm_trunk_out out;
    uint8_t sent[CELL_LEN];
    assert(number < phy->lines && (!line->begun || slot >= line->slot));
    if (line->begun && !errors && line->calm > LEAT_SIM_ATM_PHY_SILENCE) line->begun = false;
    if (!line->begun && !errors) return true;
    set_errors(line, errors);
    if (!line->begun) begin(phy, number, slot);
    catch_up(phy, line, slot);
    memcpy(sent, cell, CELL_LEN);
    put_header(sent, label, cell[TYPE_AT]);
    step(phy, line, sent, &out);
    phy->counts.cells++;
    switch (out.fate) {
    case LEAT_ATM_TRUNK_CORRECTED: phy->counts.corrected++; return take(phy, sent, out.cell, cell);
    case LEAT_ATM_TRUNK_PASSED: return take(phy, sent, out.cell, cell);
    case LEAT_ATM_TRUNK_DISCARDED: phy->counts.discarded++; return false;
    case LEAT_ATM_TRUNK_MISSED: phy->counts.missed++; return false;
    }
    abort();
}
