/*
 * Which records form which message (spec section 3). `X{..}` = nested under X's RL.
 *
 *   GVL2 HRTO         ADDR, single and physical
 *   L2SR              ADDR{ 1*( SRQR [MTUR] ) }, single and physical, no SRQR empty
 *   RDRC              ADDR ADDR, the second single and physical
 *   WRU? GVRT         nothing
 *   INFO              1*( ADDR{ [NAME] *CAPA [LADR] *( SRQR [MTUR] ) } )
 *   TELL UNK          1*( ADDR / NAME / CAPA )
 *   RTBL              RTHD{ SNID RCVF SRQR MTUR
 *                           *( ADDR{ [NAME] *CAPA [LADR] 1*( SRQR [MTUR] ) } ) }
 *   HRDOWN LINKDOWN   ADDR ADDR, both single and physical
 *   GENERAL           no records: the offending message from PH on, at least 2 words
 *
 * An ADDR without braces has nothing nested; an ADDR for many nodes has no NAME. Lenient (spec
 * 2.3): INFO's nested records in any order, RCVF after MTUR in RTBL, unknown records ignored.
 */
#ifndef LEAT_PACKETWAY_GRAMMAR_H
#define LEAT_PACKETWAY_GRAMMAR_H

#include "packetway_record.h"

/* Is there a message of this PT and TE? PT is RRP or ERR. */
bool leat_packetway_grammar_exists(uint16_t pt, uint16_t te);

/* Does this message consist of records? Not GENERAL, nor any other PT. */
bool leat_packetway_grammar_has_records(uint16_t pt, uint16_t te);

/* The grammar as a line of text for people; "" if there is no such message. */
const char *leat_packetway_grammar_text(uint16_t pt, uint16_t te);

/*
 * Checks all records and then that they form the message; E_TE if there is no such message. `len`
 * is in whole words. *fault_at is the offset of the offending record, or the end of the records
 * among which one is missing.
 */
leat_err leat_packetway_grammar_check(uint16_t pt, uint16_t te, const uint8_t *db, size_t len,
                                      enum leat_packetway_mode mode, size_t *fault_at);

#endif
