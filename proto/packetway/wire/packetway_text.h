/*
 * PacketWay messages as text, RRP and ERR included. One walk names the fields:
 *
 *   leading[{kind type octets}] priority dt pt te e pl dl h sa oh[{type mandatory octets crc}]
 *   data, or records[..]; ot[{type mandatory octets}] ei
 *
 * pl, dl, h and crc are derived. An empty list is not shown. A record is one of
 *
 *   ADDR  address | min max | value mask; records      LADR  addresses[{address | ..}]
 *   NAME  name                                         SRQR  q routes[octets]
 *   CAPA  cc parameters                                MTUR  mtu
 *   RTHD  sn records                                   RCVF  addresses[address]
 *   SNID  sanId                                        all: type, and rl (derived)
 *
 * Damaged messages, shown leniently, may have a priority in a leading record, and after ot extra:
 * words that nothing announced.
 *
 * Defaults: pt RRP, te WRU? (UNK under pt ERR, 0 under the rest), dt 0x7ffffe, sa 0.
 */
#ifndef LEAT_PACKETWAY_TEXT_H
#define LEAT_PACKETWAY_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_packetway_format;

#endif
