/*
 * The reading half of leat_fields.c, a function for each kind of field. Private: formats call the
 * functions of leat_fields.h, which work in both directions.
 */
#ifndef LEAT_FIELDS_PARTS_H
#define LEAT_FIELDS_PARTS_H

#include "leat_fields.h"

/* Each returns the user's value, or the value passed; an error goes into f. */
uint64_t leat_fields_read_uint(struct leat_fields *f, const char *name, unsigned bits,
                               uint64_t value);
uint64_t leat_fields_read_enum(struct leat_fields *f, const char *name, unsigned bits,
                               const struct leat_name *names, uint64_t value);
uint64_t leat_fields_read_mask(struct leat_fields *f, const char *name, unsigned bits,
                               const struct leat_name *names, uint64_t value);
void leat_fields_read_fixed(struct leat_fields *f, const char *name, unsigned bits, uint64_t value);
void leat_fields_read_pass_over(struct leat_fields *f, const char *name);
void leat_fields_read_octets(struct leat_fields *f, const char *name, size_t len_max,
                             const uint8_t **octets, size_t *len);
void leat_fields_read_octets_fixed(struct leat_fields *f, const char *name, uint8_t *octets,
                                   size_t len, bool pad);
void leat_fields_read_string(struct leat_fields *f, const char *name, size_t len_max,
                             const uint8_t **octets, size_t *len);
bool leat_fields_read_open(struct leat_fields *f, const char *name);
void leat_fields_read_close(struct leat_fields *f);
size_t leat_fields_read_list(struct leat_fields *f, const char *name, size_t max);
void leat_fields_read_finish(struct leat_fields *f);

#endif
