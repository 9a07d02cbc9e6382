/*
 * Shared by the benchmarks of routers in the kernel: namespaces, devices, bursts of frames by live
 * test runs, the rate that arrives at a sink.
 */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include <bpf/libbpf.h>
#include <stdint.h>

enum { BENCH_BURST = 20000 }; /* frames sent per call */

/* Prints the system's error and ends the process. */
_Noreturn void bench_fail(const char *what);

void bench_enter(const char *namespace);
void bench_mac_of(const char *device, uint8_t mac[6]);
void bench_put_on(struct bpf_program *program, const char *device);

/* The program gets `frame` each time; it may send another. */
void bench_send_burst(const struct bpf_program *program, const uint8_t *frame, uint32_t len);

/* Rate counted at *sunk per second during bursts: the best of five parts of `seconds`. */
double bench_rate(const struct bpf_program *program, const uint8_t *frame, uint32_t len,
                  const volatile uint64_t *sunk, double seconds);

#endif
