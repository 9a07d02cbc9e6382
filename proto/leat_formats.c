#include "atm_text.h"
#include "aton_text.h"
#include "esp_text.h"
#include "leat_format.h"
#include "packetway_text.h"
#include "poets_text.h"

static const struct leat_format *const all[] = {
    &leat_atm_format,        &leat_aal1_format,    &leat_aal2_format,        &leat_aal34_format,
    &leat_aal5_format,       &leat_atmtask_format, &leat_atmllc_format,      &leat_atmvcmux_format,
    &leat_atmarp_format,     &leat_aton_format,    &leat_esp_format,         &leat_packetway_format,
    &leat_poets_format,      &leat_q2931_format,   &leat_aton_serial_format, &leat_poetsaddr_format,
    &leat_poetsdebug_format,
};

const struct leat_format *leat_format_at(size_t index)
{
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

const struct leat_format *leat_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

const char *leat_format_name(const struct leat_format *format)
{
    return format->name;
}

const char *leat_format_summary(const struct leat_format *format)
{
    return format->summary;
}

leat_err leat_format_decode(const struct leat_format *format, const uint8_t *octets, size_t len,
                            char *json, size_t cap, size_t *fault_at)
{
    struct leat_fields f;
    struct leat_text text;
    size_t at = 0;
    if (cap) json[0] = '\0';
    if (cap < LEAT_FORMAT_JSON_SPARE) return leat_fault(LEAT_ERR_SPACE, 0, fault_at);
    leat_text_init(&text, json, cap, NULL, NULL);
    leat_fields_init_json(&f, &text);
    leat_err err = format->show(octets, len, &f, &at);
    leat_fields_finish(&f);
    if (!err && (text.overflowed || text.len == cap)) err = LEAT_ERR_SPACE;
    json[err ? 0 : text.len] = '\0';
    return err ? leat_fault(err, at, fault_at) : LEAT_ERR_OK;
}

/* "TEXT", truncated to the room in `why`. */
static leat_err refuse(leat_err err, const char *message, char *why)
{
    const size_t len = strlen(message);
    const size_t kept = len < LEAT_FORMAT_WHY_LEN ? len : LEAT_FORMAT_WHY_LEN - 1;
    memcpy(why, message, kept);
    why[kept] = '\0';
    return err;
}

leat_err leat_format_encode(const struct leat_format *format, const char *json, void *memory,
                            size_t memory_len, uint8_t *octets, size_t cap, size_t *len, char *why)
{
    struct leat_arena arena;
    struct leat_tree *tree;
    struct leat_fields f;
    size_t fault_at;
    leat_arena_init(&arena, memory, memory_len);
    leat_err err = leat_tree_parse_json(&arena, json, strlen(json), &tree, &fault_at);
    if (!err && tree->kind != LEAT_TREE_OBJECT) err = LEAT_ERR_SYNTAX;
    if (err) return refuse(err, leat_err_text(err), why);
    leat_fields_init_read(&f, tree, &arena);
    const leat_err built = format->build(&f, octets, cap, len);
    err = leat_fields_finish(&f);
    if (err) return refuse(err, f.message, why);
    return built ? refuse(built, leat_err_text(built), why) : LEAT_ERR_OK;
}
