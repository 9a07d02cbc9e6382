/* What the text forms of instructions and of management packets share. */
#ifndef LEAT_ESP_TEXT_PARTS_H
#define LEAT_ESP_TEXT_PARTS_H

#include "esp_query.h"
#include "leat_fields.h"

enum { LEAT_ESP_LOC_BITS = 3, LEAT_ESP_FLAGS_BITS = 4, LEAT_ESP_OPCODE_BITS = 8 };

/* Defaults of an instruction. */
extern const struct leat_esp_packet leat_esp_preset;

void leat_esp_control_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p);

/* The opcode; an unknown one is refused. `management`: management opcodes are accepted, too. */
unsigned leat_esp_opcode_walk(struct leat_fields *f, size_t at, unsigned opcode, bool management);

/* The operands of a known opcode. */
void leat_esp_operands_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p);

void leat_esp_tags_check(struct leat_fields *f, const struct leat_esp_packet *p);

/* The two directions of leat_format for a management packet. */
leat_err leat_esp_management_show(const uint8_t *octets, size_t len, struct leat_fields *f,
                                  size_t *fault_at);
leat_err leat_esp_management_build(struct leat_fields *f, unsigned opcode, uint8_t *octets,
                                   size_t cap, size_t *len);

#endif
