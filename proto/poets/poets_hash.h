/* FNV-1a, 64 bits (Fowler, Noll, Vo): the hash of payloads and final states (spec/poets.md, 5.4).
 */
#ifndef LEAT_POETS_HASH_H
#define LEAT_POETS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define LEAT_POETS_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Start with LEAT_POETS_HASH_EMPTY and feed the pieces in order. */
uint64_t leat_poets_hash(uint64_t hash, const void *octets, size_t len);

#endif
