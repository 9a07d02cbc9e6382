/*
 * The public API: the libraries of leat export the functions marked LEAT_API, and nothing else.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_API_H
#define LEAT_API_H

/* Marks a function that a library exports. */
#define LEAT_API __attribute__((visibility("default")))

#endif
