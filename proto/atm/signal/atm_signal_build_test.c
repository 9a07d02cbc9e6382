#include "atm_signal_build.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { UNIT = LEAT_ATM_RATE_UNIT };

static struct leat_atm_contract contract_of(enum leat_atm_class class, uint64_t pcr, uint64_t scr,
                                            uint64_t mbs)
{
    const bool vbr = class == LEAT_ATM_VBR_RT || class == LEAT_ATM_VBR_NRT;
    return (struct leat_atm_contract){ .class = class,
                                       .pcr = pcr * UNIT,
                                       .scr = vbr ? scr * UNIT : 0,
                                       .mbs = vbr ? mbs : 0,
                                       .cdvt_ps = class <= LEAT_ATM_VBR_NRT ? 9 : 0,
                                       .clr_e12 = class <= LEAT_ATM_VBR_NRT ? 0 : LEAT_ATM_CLR_ONE,
                                       .ctd_ps = LEAT_NEVER,
                                       .cdv_ps = LEAT_NEVER };
}

static void is_contract(const struct leat_atm_contract *got, const struct leat_atm_contract *want)
{
    EQ(got->class, want->class);
    EQ(got->pcr, want->pcr);
    EQ(got->scr, want->scr);
    EQ(got->mbs, want->mbs);
    EQ(got->cdvt_ps, want->cdvt_ps);
    EQ(got->clr_e12, want->clr_e12);
    EQ(got->ctd_ps, want->ctd_ps);
}

static void contracts_of_every_class_come_back(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        struct leat_atm_contract c[2];
        const enum leat_atm_class class = (enum leat_atm_class)(i % LEAT_ATM_CLASS_COUNT);
        for (int k = 0; k < 2; k++) {
            const uint64_t pcr = 1 + leat_random_below(&r, (1 << 24) - 1);
            const uint64_t scr = 1 + leat_random_below(&r, pcr);
            const uint64_t mbs = 1 + leat_random_below(&r, LEAT_ATM_CONTRACT_MBS_MAX);
            c[k] = contract_of(class, pcr, scr, mbs);
        }
        const uint64_t multipoint = leat_random_below(&r, 2);
        struct leat_atm_signal_builder b;
        struct leat_atm_signal_contract found = { 0 };
        leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 1, false);
        EQ(leat_atm_signal_contract_add(&b, &c[0], multipoint ? NULL : &c[1], multipoint),
           LEAT_ERR_OK);
        EQ(leat_atm_signal_contract_find(&b.message, 9, &found), LEAT_ERR_OK);
        EQ(found.multipoint, multipoint);
        EQ(found.has[1], !multipoint);
        is_contract(&found.contract[0], &c[0]);
        if (!multipoint) is_contract(&found.contract[1], &c[1]);
    }
}

/* No source may send faster than it was admitted for. */
static void fractions_of_a_cell_are_rounded_up(void)
{
    struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 1000, 0, 0);
    struct leat_atm_signal_builder b;
    struct leat_atm_signal_contract found;
    c.pcr++;
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 1, false);
    EQ(leat_atm_signal_contract_add(&b, &c, NULL, false), LEAT_ERR_OK);
    EQ(leat_atm_signal_contract_find(&b.message, 0, &found), LEAT_ERR_OK);
    EQ(found.contract[0].pcr, 1001 * UNIT);
    c = contract_of(LEAT_ATM_UBR, 0, 0, 0); /* UBR needs no rate, but its cells go that way */
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 1, false);
    EQ(leat_atm_signal_contract_add(&b, &c, NULL, false), LEAT_ERR_OK);
    EQ(leat_atm_signal_contract_find(&b.message, 0, &found), LEAT_ERR_OK);
    EQ(found.contract[0].class, LEAT_ATM_UBR);
    OK(found.has[0] && !found.has[1]);
}

static void what_no_setup_can_say_is_refused(void)
{
    struct leat_atm_contract c = contract_of(LEAT_ATM_CBR, 1 << 24, 0, 0),
                             d = contract_of(LEAT_ATM_ABR, 5, 0, 0);
    struct leat_atm_signal_builder b;
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 1, false);
    EQ(leat_atm_signal_contract_add(&b, &c, NULL, false), LEAT_ERR_RANGE);
    c.pcr = UNIT;
    EQ(leat_atm_signal_contract_add(&b, &c, &d, false), LEAT_ERR_FIELD);
    EQ(leat_atm_signal_contract_add(&b, &c, &c, true), LEAT_ERR_FIELD);
    c.pcr = 0;
    EQ(leat_atm_signal_contract_add(&b, &c, NULL, false), LEAT_ERR_RANGE);
    EQ(b.message.element_count, 0);
}

static leat_err found_in(const char *traffic, uint16_t len, const char *bearer, uint16_t bearer_len)
{
    struct leat_atm_signal_message m = { .element_count = 3 };
    struct leat_atm_signal_contract found = { .multipoint = true };
    m.element[0] = (struct leat_atm_signal_element){ LEAT_ATM_SIGNAL_TRAFFIC_DESCRIPTOR, 0x80,
                                                     (const uint8_t *)traffic, len };
    m.element[1] = (struct leat_atm_signal_element){ LEAT_ATM_SIGNAL_BEARER_CAPABILITY, 0x80,
                                                     (const uint8_t *)bearer, bearer_len };
    m.element[2] = (struct leat_atm_signal_element){ LEAT_ATM_SIGNAL_QOS, 0x80,
                                                     (const uint8_t *)"\0\0", 2 };
    const leat_err err = leat_atm_signal_contract_find(&m, 0, &found);
    if (err) OK(found.multipoint);
    return err;
}

static void setups_of_others_are_read_or_refused(void)
{
    EQ(found_in("\x82\0\0\x09\x88\0\0\x05\xa0\0\0\x04", 12, "\x90\x80", 2),
       LEAT_ERR_OK);                                    /* CLP 0 */
    EQ(found_in("", 0, "\x90\x80", 2), LEAT_ERR_FIELD); /* cells go no way */
    EQ(found_in("\x84\0\0\x09\x85\0\0\x09", 8, "\x90\x81", 2),
       LEAT_ERR_FIELD); /* a tree backward */
    EQ(found_in("\x84\0\0\x09\x90\0\0\x0a\xb0\0\0\x04", 12, "\x90\x80", 2), LEAT_ERR_RANGE);
    EQ(found_in("\x84\0\0", 3, "\x90\x80", 2), LEAT_ERR_SHORT);
    const struct leat_atm_signal_message none = { .element_count = 0 };
    struct leat_atm_signal_contract found;
    EQ(leat_atm_signal_contract_find(&none, 0, &found), LEAT_ERR_FIELD);
}

static void a_message_has_room_for_so_many_elements(void)
{
    struct leat_atm_signal_builder b;
    const struct leat_atm_signal_element e = { .id = 1 };
    const struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_QOS };
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 1, false);
    for (unsigned i = 0; i < LEAT_ATM_SIGNAL_ELEMENTS_MAX; i++)
        EQ(leat_atm_signal_build_carry(&b, &e), LEAT_ERR_OK);
    EQ(leat_atm_signal_build_carry(&b, &e), LEAT_ERR_FULL);
    EQ(leat_atm_signal_build_add(&b, &c), LEAT_ERR_FULL);
}

TAP_MAIN(T(contracts_of_every_class_come_back), T(fractions_of_a_cell_are_rounded_up),
         T(what_no_setup_can_say_is_refused), T(setups_of_others_are_read_or_refused),
         T(a_message_has_room_for_so_many_elements))
