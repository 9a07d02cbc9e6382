/*
 * XDP programs of ours on network devices. They are found by their names and hold their maps, so
 * that nothing needs to be pinned:
 *
 *   device --> live_xdp_attached() --> live_xdp_program() --> live_xdp_map()
 */
#ifndef LEAT_LIVE_XDP_H
#define LEAT_LIVE_XDP_H

#include <stdint.h>

/* What libbpf would print, our own messages say. */
void live_xdp_quiet(void);

/* The program on a device and its mode, native or generic; 0: none. */
uint32_t live_xdp_attached(uint32_t device, uint32_t *flags);

/* A descriptor of a program, if that is its name; else -1. */
int live_xdp_program(uint32_t id, const char *name);

/* A descriptor of a program's map, by its name and the shape that it must have (`entries` 0: any
 * number); else -1. */
int live_xdp_map(int program, const char *name, uint32_t value_len, uint32_t entries);

#endif
