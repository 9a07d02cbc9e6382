#include "bench_live.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 5, BATCH = 64 };

_Noreturn void bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_enter(const char *namespace)
{
    char path[128];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET)) bench_fail(namespace);
    close(fd);
}

void bench_mac_of(const char *device, uint8_t mac[6])
{
    struct ifreq request = { 0 };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request)) bench_fail(device);
    close(fd);
    memcpy(mac, request.ifr_hwaddr.sa_data, 6);
}

void bench_put_on(struct bpf_program *program, const char *device)
{
    if (!bpf_program__attach_xdp(program, (int)if_nametoindex(device))) bench_fail(device);
}

void bench_send_burst(const struct bpf_program *program, const uint8_t *frame, uint32_t len)
{
    struct bpf_test_run_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.sz = sizeof opts;
    opts.data_in = frame;
    opts.data_size_in = len;
    opts.repeat = BENCH_BURST;
    opts.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
    opts.batch_size = BATCH;
    if (bpf_prog_test_run_opts(bpf_program__fd(program), &opts)) bench_fail("a live test run");
}

double bench_rate(const struct bpf_program *program, const uint8_t *frame, uint32_t len,
                  const volatile uint64_t *sunk, double seconds)
{
    double best = 0;
    for (int part = 0; part < PARTS; part++) {
        const uint64_t before = *sunk;
        const double start = now_s();
        do
            bench_send_burst(program, frame, len);
        while (now_s() < start + seconds / PARTS);
        const double rate = (double)(*sunk - before) / (now_s() - start);
        if (rate > best) best = rate;
    }
    return best;
}
