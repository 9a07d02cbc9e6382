/*
 * The thesis' platform on a simulated cell network (port/platform.h; spec/atm.md, 7.1): an
 * adaptation layer unit at each port, shared by tasks.
 *
 *     task --+                                                                   +-- task
 *     task --+-- locks, commands --> AAL unit --> network --> AAL unit <-- ... --+-- task
 *     task --+                                                                   +-- task
 *
 * Tasks get a lock in the order of their requests, then of their numbers. A task that wants a
 * message waits until its unit has one for it, and only then asks the unit (host mode `ideal`); or
 * it asks the unit repeatedly until there is one (`polls`), and keeps the lock meanwhile.
 */
#ifndef LEAT_SIM_ATM_PLATFORM_H
#define LEAT_SIM_ATM_PLATFORM_H

#include "platform.h"
#include "sim_atm_ports.h"

/* What a task waits for. */
enum leat_sim_atm_platform_wait {
    LEAT_SIM_ATM_PLATFORM_NOTHING,
    LEAT_SIM_ATM_PLATFORM_WRITE_LOCK, /* these three wait for other tasks */
    LEAT_SIM_ATM_PLATFORM_READ_LOCK,
    LEAT_SIM_ATM_PLATFORM_MESSAGE,
    LEAT_SIM_ATM_PLATFORM_UNIT,   /* the unit is busy with it, and will report, or be seen to have
                                     ended */
    LEAT_SIM_ATM_PLATFORM_REPLY,  /* at reply_at */
    LEAT_SIM_ATM_PLATFORM_DENIAL, /* at reply_at: there is no message for it */
};

struct leat_sim_atm_platform_task {
    struct leat_atm_task_message wants; /* RECEIVE: the message that it wants */
    enum leat_platform_verb verb;       /* its last request */
    enum leat_sim_atm_platform_wait waits;
    uint32_t port;
    uint32_t next;     /* next task of the same port + 1; in the order of numbers */
    uint64_t since;    /* when it requested the lock */
    uint64_t reply_at; /* cycle */
    uint32_t len;      /* of a GET */
    uint32_t instance;
    uint32_t name[LEAT_ATM_TASK_NAME_COUNT];
    bool joined;
};

struct leat_sim_atm_platform_port {
    uint32_t first_task;     /* + 1 */
    uint32_t writer, reader; /* task + 1 that has the lock; 0: none */
    bool sent;               /* the writer is done; the unit now holds the lock */
    uint8_t *octets;         /* of the message being written */
    uint32_t len;            /* of them */
    uint32_t read;           /* octets got of the message being read */
};

struct leat_sim_atm_platform {
    struct leat_platform base;
    struct leat_sim_atm_load load;
    struct leat_sim_clock clock;
    struct leat_sim_atm_platform_task *task;
    struct leat_sim_atm_platform_port *port;
    uint32_t tasks_max;
    bool polls;
    bool has_called; /* a callback was made in this run */
    uint64_t replies;
    struct leat_sim_atm_load_arrivals arrivals;
    struct leat_sim_atm_load_progress progress;
};

size_t leat_sim_atm_platform_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, lent for the object's lifetime. */
void leat_sim_atm_platform_init(struct leat_sim_atm_platform *platform,
                                const struct leat_sim_atm_ports_config *config, void *memory);

#endif
