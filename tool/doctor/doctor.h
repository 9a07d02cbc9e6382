/*
 * leat doctor: what the parts of leat find on this host. Each file below reads facts of one kind
 * and adds a line for each to the report:
 *
 *   doctor_system    kernel, BPF, rights, files, namespaces, processors
 *   doctor_devices   network devices (doctor_link.c asks the kernel about one)
 *   doctor_ports     the UDP ports of leat
 *   doctor_programs  MPI, PVM, OpenCL, tshark, the jail for programs of strangers
 *
 * Nothing is changed, and nothing needs a right.
 */
#ifndef LEAT_DOCTOR_H
#define LEAT_DOCTOR_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DOCTOR_FINDINGS_MAX = 160,
    DOCTOR_DEVICES_MAX = 64,
    DOCTOR_ADDRESSES_MAX = 4, /* of a device */
    DOCTOR_ADDRESS_LEN = 56,
    DOCTOR_TEXT_LEN = 640,
    DOCTOR_WORD_LEN = 32,
};

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_HINT,    /* leat works without, slower or not everywhere */
    DOCTOR_MISSING, /* some part of leat does not work without */
};

/* Parts of leat that somebody may need, and their words for --need. */
#define DOCTOR_PARTS_LIST(X) \
    X(RING, "ring")          \
    X(ESP, "esp")            \
    X(PKTWAY, "pktway")      \
    X(ATM, "atm")            \
    X(MPI, "mpi")            \
    X(PVM, "pvm")            \
    X(GPU, "gpu")            \
    X(JAIL, "jail")

enum doctor_place {
#define X(name, word) DOCTOR_##name##_PLACE,
    DOCTOR_PARTS_LIST(X)
#undef X
        DOCTOR_PARTS
};

enum doctor_part { /* a set of bits */
#define X(name, word) DOCTOR_##name = 1 << DOCTOR_##name##_PLACE,
                   DOCTOR_PARTS_LIST(X)
#undef X
};

struct doctor_device {
    char name[IF_NAMESIZE];
    char kind[DOCTOR_WORD_LEN]; /* veth, bridge, tun, ...; empty: the kernel names none */
    char driver[DOCTOR_WORD_LEN];
    uint32_t number, mtu_bytes;
    uint32_t peer;         /* the number of a veth's other end; 0: it has none */
    uint32_t xdp_program;  /* 0: none */
    bool is_peer_far;      /* it is in another network namespace */
    bool is_xdp_in_driver; /* else behind it */
    bool is_ethernet, is_loopback;
    bool up;      /* switched on */
    bool carries; /* and has a carrier */
    bool gro;     /* receives several packets at once; a veth polls then */
    bool leaves_checksums;
    char address[DOCTOR_ADDRESSES_MAX][DOCTOR_ADDRESS_LEN];
    uint32_t address_count;
};

struct doctor_finding {
    char name[DOCTOR_WORD_LEN];
    enum doctor_state state;
    unsigned parts;              /* what does not work if it is missing */
    char found[DOCTOR_TEXT_LEN]; /* what is here */
    char advice[DOCTOR_TEXT_LEN];
    const struct doctor_device *device; /* that it is about, or NULL */
};

struct doctor_report {
    struct doctor_finding finding[DOCTOR_FINDINGS_MAX];
    uint32_t count;
};

/* A further line, which is well so far. `parts`: those that need it. Past the limit, the last line
 * is replaced. */
struct doctor_finding *doctor_add(struct doctor_report *report, const char *name, unsigned parts);

/* Further text of a line. */
void doctor_found(struct doctor_finding *finding, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* What to do about it; more than one piece of advice is joined by semicolons. */
void doctor_hint(struct doctor_finding *finding, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
void doctor_lack(struct doctor_finding *finding, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* A short file of /proc, without the end of its line. False: it cannot be read. */
bool doctor_read(const char *path, char *text, uint32_t cap);

void doctor_system(struct doctor_report *report);
void doctor_devices(struct doctor_report *report);
void doctor_ports(struct doctor_report *report);
void doctor_programs(struct doctor_report *report);

/* What the kernel says about a device. False: it is gone. */
bool doctor_link(struct doctor_device *device);

#endif
