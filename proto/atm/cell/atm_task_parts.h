/* Where the fields of a prototype's cell begin (note 2.5), and those of a message in its first. */
#ifndef LEAT_ATM_TASK_PARTS_H
#define LEAT_ATM_TASK_PARTS_H

enum {
    VPI_AT = 0,
    VPI_BITS = 12,
    ZERO_AT = 2, /* octets 2..4 */
    TYPE_AT = 5,
    FLAG_AT = 7,
    SEQUENCE_AT = 9,
    SOURCE_AT = 11,
    DESTINATION_AT = 13,
    PAYLOAD_AT = 15,
    CRC_AT = 51,
};

enum { /* in the payload: words of 32 bits */
       WORD_LEN = 4,
       NAME_AT = 0, /* three of them */
       INSTANCE_AT = 12,
       ID_AT = 16,
};

#endif
