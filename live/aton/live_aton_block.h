/*
 * Who owns which block of a station's registers: whoever has bound a local socket to the block's
 * name. Such names belong to a network namespace and end with the process: no file is left behind,
 * and no right is needed. page->used has a bit for each block that is used, so that the next owner
 * knows that registers which are not 0 were left by a killed process, and are not those of somebody
 * who uses the ring without groups.
 */
#ifndef LEAT_LIVE_ATON_BLOCK_H
#define LEAT_LIVE_ATON_BLOCK_H

#include "live_aton_driver.h"

/* Locks a block, if it is free and its registers are, or were left by a killed process. Returns a
 * descriptor, which holds the lock until it is closed; -1: it is not free. */
int aton_block_lock(const struct aton_config *config, uint8_t block, struct aton_page *page);

/* The block is used from now on: its registers will not be 0. */
void aton_block_use(struct aton_page *page, uint8_t block);

/* Sets the registers of a block to 0; it is not used any more. */
void aton_block_clear(struct aton_page *page, uint8_t block);

#endif
