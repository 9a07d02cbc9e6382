/*
 * What is promised: LEAT_API stands in front of each function that a library of leat exports, and
 * nothing else is exported.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_API_H
#define LEAT_API_H

#define LEAT_API __attribute__((visibility("default")))

#endif
