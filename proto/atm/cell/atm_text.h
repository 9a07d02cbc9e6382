/*
 * ATM cells as text. One walk names the fields, for showing and for building:
 *
 *   interface gfc vpi vci pt clp hec kind payload, and depending on pt
 *   oam { type function specific crc }
 *   rm  { ID DIR BN CI NI RA ERrate ER CCRrate CCR MCRrate MCR QL SN crc }
 *
 * hec and crc are derived. The octets do not show the interface, so cells are shown as the UNI's,
 * which has a field for every bit: building from these fields gives the same octets.
 * leat_atm_nni_format shows them as the NNI's; a user may write interface=NNI.
 *
 * Building, kind=idle presets the idle cell, oam and rm preset pt. The payload is the user's, or
 * built from oam or rm, or 0; a coded rate such as ER is built from ERrate, in cells per second. If
 * both are given they must agree, and kind (idle, unassigned, assigned) must agree with the header.
 * Defaults: oam is a continuity check with a field of 6a, rm a forward cell with an ER of 353207
 * cells/s, the speed of an STM-1.
 */
#ifndef LEAT_ATM_TEXT_H
#define LEAT_ATM_TEXT_H

#include "leat_format.h"

extern const struct leat_name leat_atm_interface_names[];
extern const struct leat_name leat_atm_pt_names[];

extern const struct leat_format leat_atm_format;

/* The payloads of cells: SAR-PDUs, AAL5's whole CPCS-PDU, cells of the prototype's own AAL. */
extern const struct leat_format leat_aal1_format;
extern const struct leat_format leat_aal2_format;
extern const struct leat_format leat_aal34_format;
extern const struct leat_format leat_aal5_format;
extern const struct leat_format leat_atmtask_format;

/* The payloads of AAL5 (RFC 2684), and packets in the first of them (RFC 2225). */
extern const struct leat_format leat_atmllc_format;
extern const struct leat_format leat_atmvcmux_format;
extern const struct leat_format leat_atmarp_format;
/* Signalling messages, in AAL5 on VCI 5 (signal/atm_signal_text.c). */
extern const struct leat_format leat_q2931_format;

/* Not in the list of formats: the same octets, read as the NNI's. */
extern const struct leat_format leat_atm_nni_format;

#endif
