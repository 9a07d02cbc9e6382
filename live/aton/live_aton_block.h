/*
 * Who owns which block of a station's registers: locks on one octet for each block of a file in
 * /dev/shm. They end with the process. The octet is 1 while the block is used, so that the next
 * owner knows that registers which are not 0 were left by a killed process, and are not those of
 * somebody who uses the ring without groups.
 */
#ifndef LEAT_LIVE_ATON_BLOCK_H
#define LEAT_LIVE_ATON_BLOCK_H

#include "live_aton_driver.h"

/* A descriptor of the file of a device; -1: see `why`. */
int aton_blocks_open(uint32_t device, char *why);

/* `leat ring stop`: the file is not needed any more. */
void aton_blocks_remove(uint32_t device);

/* Locks a block, if it is free and its registers are, or were left by a killed process. */
bool aton_block_lock(int file, uint8_t block, volatile uint64_t *operand);

/* Its registers are 0. */
void aton_block_unlock(int file, uint8_t block);

/* The block is used from now on: its registers will not be 0. */
void aton_block_use(int file, uint8_t block, bool is_used);

/* Sets the registers of a block to 0. */
void aton_block_clear(uint8_t block, volatile uint64_t *operand);

#endif
