/* For tests of the hub: tasks are real processes, the network is the cell network of the thesis. */
#ifndef LEAT_HUB_SCENE_TEST_H
#define LEAT_HUB_SCENE_TEST_H

#include "hub.h"
#include "leat_text.h"
#include "share.h"
#include "sim_atm_ports.h"
#include "tap.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MAX = 40 };

typedef void task_body(void);

static volatile sig_atomic_t alarm_came;

static bool has_alarm_come(void)
{
    return alarm_came;
}

static struct leat_hub_service scene_service; /* of the next run */
static const struct leat_hub_watch *scene_watch;
static int64_t scene_turn_ns; /* 0: turns end only after seconds, which no loaded machine needs */
static leat_time scene_patience;
static bool scene_limits_polls, scene_has_casts;

struct scene {
    struct leat_sim_atm_ports port;
    void *memory;
    struct leat_hub *hub;
    pid_t pid[TASKS_MAX];
    uint32_t tasks;
    char reason[256];
    enum leat_hub_end end;
};

static struct leat_sim_atm_ports_config config_of(const char *name, enum leat_sim_atm_model model)
{
    struct leat_sim_atm_ports_config config = { .model = model, .messages_max = 10000 };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse(name, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

static _Noreturn void be_task(const char *path, uint32_t slot, task_body *body)
{
    const char *why;
    setenv(LEAT_TASK_RUN_VARIABLE, path, 1);
    if (!leat_task_attach(slot, &why)) _exit(3);
    leat_task_begin();
    body();
    leat_task_leave();
    _exit(0);
}

static bool nobody_runs_ahead; /* of the network, with a message that is certain to arrive */

static void run_on(struct scene *scene, const struct leat_sim_atm_ports_config *config,
                   uint32_t tasks, task_body *body)
{
    char why[200];
    memset(scene, 0, sizeof *scene);
    scene->tasks = tasks;
    scene->memory = calloc(1, leat_sim_atm_ports_footprint(config));
    if (!scene->memory) abort();
    leat_sim_atm_ports_init(&scene->port, config, scene->memory);
    const struct leat_hub_config hub = { .net = &scene->port.net,
                                         .slots = tasks,
                                         .expected = tasks,
                                         .service = scene_service,
                                         .watch = scene_watch,
                                         .patience = scene_patience,
                                         .limits_polls = scene_limits_polls,
                                         .has_casts = scene_has_casts,
                                         .turn_ns = scene_turn_ns,
                                         .interrupted = has_alarm_come };
    scene->hub = leat_hub_create(&hub, why, sizeof why);
    if (!scene->hub) abort();
    if (nobody_runs_ahead) scene->port.net.observer.coming = NULL;
    for (uint32_t i = 0; i < tasks; i++) {
        scene->pid[i] = fork();
        if (scene->pid[i] == 0) be_task(leat_hub_path(scene->hub), i, body);
    }
    scene->end = leat_hub_run(scene->hub, scene->reason, sizeof scene->reason);
    for (uint32_t i = 0; i < tasks; i++) {
        if (scene->end != LEAT_HUB_DONE) kill(scene->pid[i], SIGKILL);
        int status;
        waitpid(scene->pid[i], &status, 0);
        if (scene->end == LEAT_HUB_DONE) EQ(status, 0);
    }
}

static void run_scene(struct scene *scene, const char *fabric, uint32_t tasks, task_body *body)
{
    const struct leat_sim_atm_ports_config config = config_of(fabric, LEAT_SIM_ATM_CELL);
    run_on(scene, &config, tasks, body);
}

static void ended(const struct scene *scene, enum leat_hub_end end)
{
    EQ(scene->end, end);
    if (scene->end != end) printf("# %s\n", scene->reason);
}

static void tear_down(struct scene *scene)
{
    leat_hub_destroy(scene->hub);
    free(scene->memory);
}

/* ---- for tasks ---- */

static void check_that(bool condition)
{
    if (!condition) leat_task_fail("a check in a task does not hold");
}

static inline void send_pattern(uint32_t to, uint64_t len, uint8_t first)
{
    uint8_t *octets = leat_task_room(len);
    check_that(octets != NULL);
    for (uint64_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(first + i * 7);
    leat_task_send(to, octets, len, first, false);
}

#endif
