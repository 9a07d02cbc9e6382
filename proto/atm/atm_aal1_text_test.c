#include "atm_aal1.h"
#include "atm_aal1_text.h"
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
    OK(leat_aal1_format.show(octets, LEAT_ATM_AAL1_PDU_LEN, &f, NULL) == LEAT_ERR_OK);
    OK(leat_fields_finish(&f) == LEAT_ERR_OK && !text.overflowed);
    text_memory[text.len] = '\0';
    return text_memory;
}

static leat_err built(struct leat_tree *tree, struct leat_arena *arena, uint8_t *octets,
                      struct leat_fields *f)
{
    size_t len = 0;
    leat_fields_init_read(f, tree, arena);
    leat_err err = leat_aal1_format.build(f, octets, LEAT_ATM_AAL1_PDU_LEN, &len);
    if (!err) err = leat_fields_finish(f);
    if (!err) OK(len == LEAT_ATM_AAL1_PDU_LEN);
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

static void fields_are_shown_by_name(void)
{
    uint8_t pdu[48] = { 0xa6, 5, 0xff };
    const char *json = shown(pdu, true);
    OK(strstr(json, "{\"csi\":1,\"sc\":2,\"crc\":3,\"parity\":0,\"pointer\":5,"
                    "\"payload\":\"ff00") == json);
    pdu[0] = 0x17;
    json = shown(pdu, true);
    OK(strstr(json, "pointer") == NULL);
    OK(strstr(json, "\"payload\":\"05ff00") != NULL);
    OK(strstr(shown(pdu, false), "sc: 1") != NULL);
}

static void few_words_make_a_pdu(void)
{
    struct leat_fields f;
    uint8_t pdu[48];
    EQ(from_words("", pdu, &f), LEAT_ERR_OK);
    EQ(pdu[0], 0x00);
    EQ(from_words("sc=3 payload=0102", pdu, &f), LEAT_ERR_OK);
    OK(memcmp(pdu, "\x3a\x01\x02\x00", 4) == 0);
    EQ(from_words("csi=1 sc=6 pointer=127 payload=ff", pdu, &f), LEAT_ERR_OK);
    OK(memcmp(pdu, "\xe8\x7f\xff\x00", 4) == 0);
}

static void mistakes_are_explained(void)
{
    struct leat_fields f;
    uint8_t pdu[48];
    EQ(from_words("sc=8", pdu, &f), LEAT_ERR_RANGE);
    OK(strstr(f.message, "0..7") != NULL);
    EQ(from_words("sc=2 pointer=1", pdu, &f), LEAT_ERR_FIELD);
    OK(strstr(f.message, "csi=1") != NULL);
    EQ(from_words("csi=1 sc=2 pointer=94", pdu, &f), LEAT_ERR_RANGE);
    OK(strstr(f.message, "0..93") != NULL);
    EQ(from_words("snc=2", pdu, &f), LEAT_ERR_FIELD);
    EQ(from_words("csi=1 payload="
                  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                  "202122232425262728292a2b2c2d2e",
                  pdu, &f),
       LEAT_ERR_LENGTH); /* 47 octets beside a pointer */
}

static void a_small_buffer_is_refused(void)
{
    struct leat_arena arena;
    struct leat_fields f;
    uint8_t pdu[48];
    size_t len = 99;
    leat_arena_init(&arena, arena_memory, sizeof arena_memory);
    leat_fields_init_read(&f, leat_tree_new(&arena, LEAT_TREE_OBJECT), &arena);
    EQ(leat_aal1_format.build(&f, pdu, 47, &len), LEAT_ERR_SPACE);
    EQ(len, 99);
}

static void damaged_octets_show_nothing(void)
{
    const uint8_t pdu[48] = { 0x01 };
    struct leat_text text;
    struct leat_fields f;
    size_t at = 99;
    leat_text_init(&text, text_memory, sizeof text_memory, NULL, NULL);
    leat_fields_init_json(&f, &text);
    const size_t before = text.len;
    EQ(leat_aal1_format.show(pdu, sizeof pdu, &f, &at), LEAT_ERR_CHECKSUM);
    EQ(at, 0);
    EQ(text.len, before);
}

static void what_is_shown_builds_the_same_octets(void)
{
    struct leat_random r;
    struct leat_fields f;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t pdu[48], back[48];
        leat_random_fill(&r, pdu, sizeof pdu);
        pdu[0] = leat_atm_aal1_sn_encode((uint8_t)leat_random_below(&r, 16));
        pdu[1] %= 94; /* a legal pointer, if it is one */
        OK(from_json(shown(pdu, true), back, &f) == LEAT_ERR_OK);
        OK(memcmp(pdu, back, sizeof pdu) == 0);
    }
}

static void the_format_travels_in_cells(void)
{
    OK(strcmp(leat_aal1_format.name, "aal1") == 0);
    EQ(leat_aal1_format.unit_len, 48);
    EQ(leat_aal1_format.link_type, 0);
}

TAP_MAIN(T(fields_are_shown_by_name), T(few_words_make_a_pdu), T(mistakes_are_explained),
         T(a_small_buffer_is_refused), T(damaged_octets_show_nothing),
         T(what_is_shown_builds_the_same_octets), T(the_format_travels_in_cells))
