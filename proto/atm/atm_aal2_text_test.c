#include "atm_aal2.h"
#include "atm_aal2_text.h"
#include "leat_random.h"
#include "tap.h"
#include <string.h>

static uint8_t arena_memory[8192];
static char text_memory[1024];

static const char *shown(const uint8_t *octets, bool json)
{
    struct leat_text text;
    struct leat_fields f;
    leat_text_init(&text, text_memory, sizeof text_memory - 1, NULL, NULL);
    if (json)
        leat_fields_init_json(&f, &text);
    else
        leat_fields_init_tree(&f, &text);
    OK(leat_aal2_format.show(octets, LEAT_ATM_AAL2_PDU_LEN, &f, NULL) == LEAT_ERR_OK);
    OK(leat_fields_finish(&f) == LEAT_ERR_OK && !text.overflowed);
    text_memory[text.len] = '\0';
    return text_memory;
}

static leat_err built(struct leat_tree *tree, struct leat_arena *arena, uint8_t *octets,
                      struct leat_fields *f)
{
    size_t len = 0;
    leat_fields_init_read(f, tree, arena);
    leat_err err = leat_aal2_format.build(f, octets, LEAT_ATM_AAL2_PDU_LEN, &len);
    if (!err) err = leat_fields_finish(f);
    if (!err) OK(len == LEAT_ATM_AAL2_PDU_LEN);
    return err;
}

/* As a user types them: words between blanks. */
static leat_err from_words(const char *words, uint8_t *octets, struct leat_fields *f)
{
    struct leat_arena arena;
    leat_arena_init(&arena, arena_memory, sizeof arena_memory);
    struct leat_tree *root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    while (*words) {
        const size_t len = strcspn(words, " ");
        EQ(leat_tree_add_pair(&arena, root, words, len), LEAT_ERR_OK);
        words += len + (words[len] == ' ');
    }
    return built(root, &arena, octets, f);
}

static leat_err from_json(const char *json, uint8_t *octets, struct leat_fields *f)
{
    struct leat_arena arena;
    struct leat_tree *tree = NULL;
    leat_arena_init(&arena, arena_memory, sizeof arena_memory);
    const leat_err err = leat_tree_parse_json(&arena, json, strlen(json), &tree, NULL);
    return err ? err : built(tree, &arena, octets, f);
}

/* The note, 2.2: SN 1, IT 3, payload 00..2c. */
static void published_octets(uint8_t pdu[48])
{
    pdu[0] = 0x13;
    for (uint8_t i = 0; i < 45; i++)
        pdu[1 + i] = i;
    pdu[46] = 0xb6;
    pdu[47] = 0xb3;
}

static void fields_are_shown_by_name(void)
{
    uint8_t pdu[48];
    published_octets(pdu);
    const char *json = shown(pdu, true);
    OK(strstr(json, "{\"sn\":1,\"it\":\"SSM\",\"payload\":\"000102") == json);
    OK(strstr(json, "2c\",\"li\":45,\"crc\":691}") != NULL);
    OK(strstr(shown(pdu, false), "crc: 0x2b3") != NULL);
}

static void few_words_make_a_pdu(void)
{
    struct leat_fields f;
    uint8_t pdu[48], want[48];
    published_octets(want);
    EQ(from_words("sn=1 payload=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c",
                  pdu, &f),
       LEAT_ERR_OK);
    OK(memcmp(pdu, want, sizeof pdu) == 0);

    struct leat_atm_aal2_pdu meaning;
    EQ(from_words("", pdu, &f), LEAT_ERR_OK);
    EQ(leat_atm_aal2_pdu_decode(pdu, sizeof pdu, &meaning, NULL), LEAT_ERR_OK);
    OK(meaning.it == LEAT_ATM_AAL2_SSM && meaning.li == 45 && meaning.sn == 0);
    EQ(from_words("it=bom sn=15 payload=ff:ee", pdu, &f), LEAT_ERR_OK);
    EQ(leat_atm_aal2_pdu_decode(pdu, sizeof pdu, &meaning, NULL), LEAT_ERR_OK);
    OK(meaning.it == LEAT_ATM_AAL2_BOM && meaning.li == 2 && meaning.sn == 15);
}

static void mistakes_are_explained(void)
{
    struct leat_fields f;
    uint8_t pdu[48];
    EQ(from_words("sn=16", pdu, &f), LEAT_ERR_RANGE);
    OK(strstr(f.message, "0..15") != NULL);
    EQ(from_words("it=FIRST", pdu, &f), LEAT_ERR_FIELD);
    OK(strstr(f.message, "BOM") != NULL);
    EQ(from_words("it=4", pdu, &f), LEAT_ERR_RANGE);
    EQ(from_words("payload=", pdu, &f), LEAT_ERR_LENGTH);
    OK(strstr(f.message, "1 to 45") != NULL);
    EQ(from_words("payload=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c2d",
                  pdu, &f),
       LEAT_ERR_LENGTH);
    EQ(from_words("mid=1", pdu, &f), LEAT_ERR_FIELD);
}

static void a_small_buffer_is_refused(void)
{
    struct leat_arena arena;
    struct leat_fields f;
    uint8_t pdu[48];
    size_t len = 99;
    leat_arena_init(&arena, arena_memory, sizeof arena_memory);
    leat_fields_init_read(&f, leat_tree_new(&arena, LEAT_TREE_OBJECT), &arena);
    EQ(leat_aal2_format.build(&f, pdu, 47, &len), LEAT_ERR_SPACE);
    EQ(len, 99);
}

static void damaged_octets_show_nothing(void)
{
    uint8_t pdu[48];
    published_octets(pdu);
    pdu[7] ^= 1;
    struct leat_text text;
    struct leat_fields f;
    size_t at = 99;
    leat_text_init(&text, text_memory, sizeof text_memory, NULL, NULL);
    leat_fields_init_json(&f, &text);
    const size_t before = text.len;
    EQ(leat_aal2_format.show(pdu, sizeof pdu, &f, &at), LEAT_ERR_CHECKSUM);
    EQ(at, 46);
    EQ(text.len, before);
}

static void what_is_shown_builds_the_same_octets(void)
{
    struct leat_random r;
    struct leat_fields f;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_atm_aal2_pdu pdu = { .sn = (uint8_t)leat_random_below(&r, 16),
                                         .it = (enum leat_atm_aal2_it)leat_random_below(&r, 4),
                                         .li = (uint8_t)(1 + leat_random_below(&r, 45)) };
        uint8_t octets[48], back[48];
        leat_random_fill(&r, pdu.payload, pdu.li);
        OK(leat_atm_aal2_pdu_encode(&pdu, octets, sizeof octets) == LEAT_ERR_OK);
        OK(from_json(shown(octets, true), back, &f) == LEAT_ERR_OK);
        OK(memcmp(octets, back, sizeof back) == 0);
    }
}

static void the_format_travels_in_cells(void)
{
    OK(strcmp(leat_aal2_format.name, "aal2") == 0);
    EQ(leat_aal2_format.unit_len, 48);
    EQ(leat_aal2_format.link_type, 0);
}

TAP_MAIN(T(fields_are_shown_by_name), T(few_words_make_a_pdu), T(mistakes_are_explained),
         T(a_small_buffer_is_refused), T(damaged_octets_show_nothing),
         T(what_is_shown_builds_the_same_octets), T(the_format_travels_in_cells))
