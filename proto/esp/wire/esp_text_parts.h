/* What the codec of management packets and the text forms share. */
#ifndef LEAT_ESP_TEXT_PARTS_H
#define LEAT_ESP_TEXT_PARTS_H

#include "esp_query.h"
#include "leat_fields.h"

enum { LEAT_ESP_LOC_BITS = 3, LEAT_ESP_FLAGS_BITS = 4, LEAT_ESP_OPCODE_BITS = 8 };

void leat_esp_control_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p);

/* The opcode; an unknown one is refused. `management`: management opcodes are accepted, too. */
unsigned leat_esp_opcode_walk(struct leat_fields *f, size_t at, unsigned opcode, bool management);

/* The operands of a known opcode. */
void leat_esp_operands_walk(struct leat_fields *f, size_t at, struct leat_esp_packet *p);

void leat_esp_tags_check(struct leat_fields *f, const struct leat_esp_packet *p);

/*
 * One walk over the operands of a management packet in order: it reads or writes the octets, or
 * shows or reads the text. So the layout and the names of the fields are written down once. The
 * first fault in the octets stops the walk; faults in the text are in `text`.
 */
struct leat_esp_walk {
    struct leat_fields *text; /* NULL: octets */
    const uint8_t *from;      /* octets; NULL: writing */
    uint8_t *to;
    size_t at, end; /* end: of the operands, where the MAC begins */
    leat_err err;
    size_t fault_at;
};
void leat_esp_management_walk(struct leat_esp_walk *walk, struct leat_esp_management *management);

#endif
