/*
 * ESP packets as text. One walk names the fields, for showing and for building:
 *
 *   loc flags opcode length computationId, the operands of the opcode, crc
 *
 * length and crc are derived; octets after the CRC are not shown. Defaults: opcode COUNT, flags X,
 * loc 0, computationId 1, thresh 1, val 1, pktVal 0, fwdThresh 8, op 1 (LT, ADD), and a distinct
 * number for each tag,
 *
 *   compValTag 0x101  chldCntTag 0x102  pktId 0x103  sibCntTag 0x104  fwdCntTag 0x105
 *   compIdTag 0x106   collectFwdTag 0x107
 *
 * the same in every opcode, so that the packets of one computation fit together, and far from the
 * small numbers people type. Equal tags are refused by name. Signed values are written as their 64
 * bits.
 *
 * Management packets have opcode length computationId, the fields of esp_query.h in camelCase, mac
 * and crc; bindings, next hops and the announced instruction (task) are objects. The MAC is written
 * as a number: the text form has no keys.
 */
#ifndef LEAT_ESP_TEXT_H
#define LEAT_ESP_TEXT_H

#include "leat_format.h"

extern const struct leat_name leat_esp_loc_names[];
extern const struct leat_name leat_esp_flag_names[];
extern const struct leat_name leat_esp_opcode_names[];
extern const struct leat_name leat_esp_compare_names[];
extern const struct leat_name leat_esp_fold_names[];

extern const struct leat_name leat_esp_service_names[];
extern const struct leat_name leat_esp_value_names[];
extern const struct leat_name leat_esp_result_names[];

extern const struct leat_format leat_esp_format;

#endif
