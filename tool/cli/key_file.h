/* Keys of live networks: files of 32 hex digits that only their owner may read or change. */
#ifndef LEAT_KEY_FILE_H
#define LEAT_KEY_FILE_H

#include "leat_siphash.h"
#include <stdbool.h>
#include <stdint.h>

/* False after a complaint that says how to correct it; the command then exits with WRONG. */
bool key_file_read(const char *path, uint8_t key[LEAT_SIP_KEY_LEN]);

#endif
